//! Starting a server's process, the commands after it, and waiting until it answers.

use super::inner::{Inner, Phase};
use super::ports;
use sensormark_store::Endpoint;
use sensormark_store::error::{ErrorKind, StoreError};
use sensormark_store::store::Store;
use std::net::{Ipv4Addr, SocketAddr, TcpStream};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// How long one answer to the question for the version may take before it is asked again.
const ANSWER_LIMIT: Duration = Duration::from_secs(10);

/// How often the server is asked whether it is ready.
const POLL: Duration = Duration::from_millis(50);

/// Starts the process and waits until it is ready; `first` says whether the commands after the start are run.
pub(super) fn bring_up(
    inner: &Arc<Inner>,
    store: &dyn Store,
    first: bool,
) -> Result<(), StoreError> {
    let endpoint = &inner.launch.endpoint;
    let taken = ports::taken_lastingly(&endpoint.ports);
    if !taken.is_empty() {
        let text = format!(
            "another program has taken port {taken:?} meanwhile; see which (ss -ltnp), and start again"
        );
        return Err(StoreError::new(
            ErrorKind::Unavailable,
            format!("start {}", inner.title),
            text,
        )
        .with_doubt(false));
    }
    let started = Instant::now();
    let deadline = started + Duration::from_secs(inner.launch.start_seconds);
    inner.start_process()?;
    if first && !inner.launch.after.is_empty() {
        wait_for_port(inner, endpoint, deadline)?;
        for command in &inner.launch.after {
            inner.run_to_end(command)?;
        }
    }
    // On a thread of its own: the caller may be inside a runtime, where another cannot be entered.
    let version = std::thread::scope(|scope| {
        scope
            .spawn(|| wait_for_version(inner, store, endpoint, deadline))
            .join()
            .unwrap_or_else(|_| {
                let text =
                    "the store failed while it asked for the version (its panic message is above)";
                Err(StoreError::new(
                    ErrorKind::Protocol,
                    format!("start {}", inner.title),
                    text,
                ))
            })
    })?;
    still_wanted(inner, deadline, "")?;
    inner.ready(version, started.elapsed())
}

/// Fails when the server has ended, is being stopped, or has taken too long; `last` is the last answer, in words.
fn still_wanted(inner: &Inner, deadline: Instant, last: &str) -> Result<(), StoreError> {
    if inner.phase() != Phase::Starting {
        return Err(inner.interrupted());
    }
    if let Some(exit) = inner.exit() {
        return Err(inner.failure(
            ErrorKind::Crashed,
            &format!("the server {exit} before it was ready"),
        ));
    }
    if Instant::now() > deadline {
        let seconds = inner.launch.start_seconds;
        let what = format!(
            "the server did not answer within {seconds} s{last}; look into its log, and whether the machine is overloaded"
        );
        return Err(inner.failure(ErrorKind::Timeout, &what));
    }
    Ok(())
}

fn wait_for_port(inner: &Inner, endpoint: &Endpoint, deadline: Instant) -> Result<(), StoreError> {
    let Some(port) = endpoint.ports.first() else {
        return Ok(());
    };
    let address = SocketAddr::from((Ipv4Addr::LOCALHOST, *port));
    loop {
        still_wanted(inner, deadline, "")?;
        if TcpStream::connect_timeout(&address, POLL).is_ok() {
            return Ok(());
        }
        std::thread::sleep(POLL);
    }
}

fn wait_for_version(
    inner: &Inner,
    store: &dyn Store,
    endpoint: &Endpoint,
    deadline: Instant,
) -> Result<String, StoreError> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(|error| {
            StoreError::new(
                ErrorKind::Overload,
                format!("start {}", inner.title),
                error.to_string(),
            )
            .with_source(error)
        })?;
    let answer = runtime.block_on(async {
        let mut last = String::new();
        loop {
            match ask_version(inner, store, endpoint, deadline, &last).await? {
                Ok(version) => return Ok(version),
                Err(error) if is_final(error.kind()) => return Err(error),
                Err(error) => last = format!(" (last answer: {error})"),
            }
            tokio::time::sleep(POLL).await;
        }
    });
    runtime.shutdown_timeout(Duration::from_secs(1));
    answer
}

/// Asks once; the outer error says that waiting has no sense any more.
async fn ask_version(
    inner: &Inner,
    store: &dyn Store,
    endpoint: &Endpoint,
    deadline: Instant,
    last: &str,
) -> Result<Result<String, StoreError>, StoreError> {
    let asked = Instant::now();
    let mut answer = store.version(endpoint);
    loop {
        still_wanted(inner, deadline, last)?;
        if let Ok(answer) = tokio::time::timeout(POLL, &mut answer).await {
            return Ok(answer);
        }
        if asked.elapsed() > ANSWER_LIMIT {
            let text = format!("no answer within {} s", ANSWER_LIMIT.as_secs());
            return Ok(Err(StoreError::new(
                ErrorKind::Timeout,
                "ask for the version",
                text,
            )));
        }
    }
}

/// Whether asking again cannot help. (A refused password can: some servers make their users after they listen.)
const fn is_final(kind: ErrorKind) -> bool {
    matches!(
        kind,
        ErrorKind::Configuration | ErrorKind::Unsupported | ErrorKind::NotInstalled
    )
}
