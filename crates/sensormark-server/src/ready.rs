//! Starting a server's process, the commands after it, and waiting until it answers.

use super::inner::{Inner, Phase};
use super::ports;
use sensormark_store::Endpoint;
use sensormark_store::error::{ErrorKind, StoreError};
use sensormark_store::server::SetUp;
use sensormark_store::store::Store;
use std::net::{SocketAddr, TcpStream};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// How long one answer to the question for the version may take before it is asked again.
const ANSWER_LIMIT: Duration = Duration::from_secs(10);

/// How often the server is asked whether it is ready.
const POLL: Duration = Duration::from_millis(50);

/// Starts the process and waits until it is ready. The commands after the start are run where it `is_first`.
pub(super) fn bring_up(inner: &Arc<Inner>, store: &dyn Store, is_first: bool) -> Result<(), StoreError> {
    let endpoint = &inner.launch.endpoint;
    let taken = ports::taken_lastingly(inner.server_folder.address, &endpoint.ports);
    if !taken.is_empty() {
        let text = format!(
            "another program has taken port {taken:?} meanwhile; see which (ss -ltnp), and start again"
        );
        return Err(
            StoreError::new(ErrorKind::Unavailable, format!("start {}", inner.title), text).with_doubt(false)
        );
    }
    let started = Instant::now();
    let deadline = started + Duration::from_secs(inner.launch.start_seconds);
    inner.start_process(&inner.launch.server)?;
    if is_first && !inner.launch.after.is_empty() {
        wait_for_port(inner, endpoint, deadline)?;
        for command in &inner.launch.after {
            inner.run_to_end(command)?;
        }
    }
    let version = version_by(inner, store, endpoint, deadline)?;
    still_wanted(inner, deadline, "")?;
    inner.ready(version, started.elapsed())
}

/// Starts the server on loopback, has the store make its accounts there, and ends it in good order within `grace`.
pub(super) fn set_up(
    inner: &Arc<Inner>,
    store: &dyn Store,
    set_up: &SetUp,
    grace: Duration,
) -> Result<(), StoreError> {
    let deadline = Instant::now() + Duration::from_secs(inner.launch.start_seconds);
    inner.start_process(&set_up.server)?;
    version_by(inner, store, &set_up.endpoint, deadline)?;
    still_wanted(inner, deadline, "")?;
    inner.end_set_up(grace)
}

/// Asks for the version until the server answers, on a thread of its own: the caller may be inside a runtime, where another cannot be entered.
fn version_by(
    inner: &Arc<Inner>,
    store: &dyn Store,
    endpoint: &Endpoint,
    deadline: Instant,
) -> Result<String, StoreError> {
    std::thread::scope(|scope| {
        std::thread::Builder::new()
            .spawn_scoped(scope, || wait_for_version(inner, store, endpoint, deadline))
            .map_err(|error| inner.no_thread(error))?
            .join()
            .unwrap_or_else(|_| {
                let text = "the store failed while it asked for the version (its panic message is above)";
                Err(StoreError::new(ErrorKind::Protocol, format!("start {}", inner.title), text))
            })
    })
}

/// Brings one server up that is down.
pub(super) fn bring_up_again(inner: &Arc<Inner>, store: &dyn Store) -> Result<(), StoreError> {
    {
        let _guard = inner.lifecycle();
        inner.begin_again()?;
    }
    let result = bring_up(inner, store, false);
    if result.is_err() {
        let _guard = inner.lifecycle();
        inner.kill_all().ok();
        let mut state = inner.state();
        if state.phase == Phase::Starting {
            state.phase = Phase::Down;
        }
    }
    result
}

/// A runtime of this thread.
fn runtime(operation: &str) -> Result<tokio::runtime::Runtime, StoreError> {
    super::runtime::runtime().map_err(|error| {
        StoreError::new(ErrorKind::Overload, operation, error.to_string()).with_source(error)
    })
}

/// Fails when the server has ended, is being stopped, or has taken too long; `last` is the last answer, in words.
fn still_wanted(inner: &Inner, deadline: Instant, last: &str) -> Result<(), StoreError> {
    if inner.phase() != Phase::Starting {
        return Err(inner.interrupted());
    }
    if let Some(exit) = inner.exit() {
        return Err(inner.failure(ErrorKind::Crashed, &format!("the server {exit} before it was ready")));
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
    let address = SocketAddr::from((inner.server_folder.address, *port));
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
    let runtime = runtime(&format!("start {}", inner.title))?;
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
            return Ok(Err(StoreError::new(ErrorKind::Timeout, "ask for the version", text)));
        }
    }
}

/// Whether asking again cannot help. (A refused password can: some servers make their users after they listen.)
const fn is_final(kind: ErrorKind) -> bool {
    matches!(kind, ErrorKind::Configuration | ErrorKind::Unsupported | ErrorKind::NotInstalled)
}
