//! What the C client says when there is no server to speak to: tried without GridDB's server, and ignored, with the reason, where the client is missing.

use libtest_mimic::{Arguments, Completion, Failed, Trial};
use sensormark_statements::FileStore;
use sensormark_store::{
    DatabaseName, Durability, ErrorKind, Family, Field, FieldType, Plan, Schema, Series, Session, Store,
    StoreError, Table, TimeResolution,
};
use std::net::{Ipv4Addr, TcpListener};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// How long an operation may take.
const ALLOWED: Duration = Duration::from_millis(1_500);

/// How much longer the contract lets it take.
const GRACE: Duration = Duration::from_secs(2);

fn plan(store: &FileStore, port: u16) -> Plan {
    let url = format!("griddb://admin:hunter2@127.0.0.1:{port}/cluster?rest={port}");
    let table = Table {
        name: "t".to_owned(),
        tags: Vec::new(),
        fields: vec![Field { name: "f".to_owned(), kind: FieldType::F64, nullable: false }],
        entity: None,
        time_resolution: TimeResolution::Nanoseconds,
        series: Series::single(),
    };
    let schema = Arc::new(Schema { tables: vec![table] });
    Plan {
        endpoint: store.endpoint(&url).expect("the URL is right"),
        database: DatabaseName::new("client").expect("the name is right"),
        owner: "client".to_owned(),
        layout: store.layouts(&schema, Family::PerReading)[0].layout,
        schema,
        durability: Durability::Default,
        clients: 1,
        timeout_ms: ALLOWED.as_millis().try_into().expect("it is short"),
    }
}

/// The failure to connect at a port.
fn refused(port: u16) -> Result<StoreError, Failed> {
    let store = sensormark_stores::griddb();
    let plan = plan(&store, port);
    let started = Instant::now();
    let runtime = tokio::runtime::Builder::new_current_thread().build()?;
    let connected: Result<Box<dyn Session>, StoreError> = runtime.block_on(store.connect(&plan));
    let took = started.elapsed();
    let Err(error) = connected else {
        return Err("a session without a server".into());
    };
    if took > ALLOWED + GRACE {
        return Err(format!("it took {} ms: {error}", took.as_millis()).into());
    }
    if error.is_in_doubt() || format!("{error} {error:?}").contains("hunter2") {
        return Err(format!("in doubt, or with a password: {error:?}").into());
    }
    Ok(error)
}

fn expect(error: &StoreError, kind: ErrorKind) -> Result<Completion, Failed> {
    if error.kind() == kind {
        return Ok(Completion::Completed);
    }
    Err(format!("expected {kind:?}, got {error:?}").into())
}

/// Nobody listens.
fn gone() -> Result<Completion, Failed> {
    let free = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
    let port = free.local_addr()?.port();
    drop(free);
    expect(&refused(port)?, ErrorKind::Unavailable)
}

/// Somebody listens, and never answers.
fn silent() -> Result<Completion, Failed> {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
    expect(&refused(listener.local_addr()?.port())?, ErrorKind::Timeout)
}

/// Why the client cannot be tried, if so.
fn missing() -> Option<String> {
    let store = sensormark_stores::griddb();
    let plan = plan(&store, 1);
    let runtime = tokio::runtime::Builder::new_current_thread().build().ok()?;
    let error = runtime.block_on(store.connect(&plan)).err()?;
    (error.kind() == ErrorKind::NotInstalled).then(|| error.to_string())
}

fn main() {
    let arguments = Arguments::from_args();
    let reason = missing();
    let trial = |name: &str, check: fn() -> Result<Completion, Failed>| {
        let reason = reason.clone();
        Trial::ignorable_test(name, move || match reason {
            Some(reason) => Ok(Completion::ignored_with(reason)),
            None => check(),
        })
    };
    let trials = vec![
        trial("nobody_listens_is_unavailable_at_once", gone),
        trial("a_silent_server_is_a_time_out_in_bounded_time", silent),
    ];
    libtest_mimic::run(&arguments, trials).exit();
}
