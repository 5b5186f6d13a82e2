//! The database that a case is measured on: its deployment, how it is reached, and its end.

use crate::benchmark_case::BenchmarkCase;
use crate::context::{RunContext, RunEvent};
use crate::deployment::Deployment;
use sensormark_result::measurement::unbroken;
use sensormark_store::{DatabaseName, ErrorKind, Plan, Schema, ServerOptions, StoreError};
use std::sync::Arc;
use std::time::Duration;

/// Connections that a server has to offer besides the clients': the coordinator's.
const FURTHER_CONNECTIONS: u32 = 8;

/// How long a database may take to be dropped. A server that hangs at the end of a run must not hold the run, whose results are whole by then.
const DROPS_WITHIN: Duration = Duration::from_secs(120);

/// Opens the deployment of a case for this many clients.
///
/// # Errors
/// When the server cannot be started or reached.
pub fn open_deployment(
    context: &RunContext<'_>,
    case: &BenchmarkCase,
    clients: u32,
) -> Result<Deployment, StoreError> {
    context.observer.event(RunEvent::Opening { title: case.choice.title() });
    let options = ServerOptions {
        durability: case.durability,
        clients: context.server.clients.max(clients + FURTHER_CONNECTIONS),
        ..context.server.clone()
    };
    let data = context.data_folder.as_deref();
    match context.placement.server() {
        Some(launcher) if case.choice.url.is_none() => {
            Deployment::elsewhere_by(launcher, &case.choice, &options)
        }
        _ => Deployment::open(context.supervisor, &case.choice, &options, data),
    }
}

/// Makes a case's database.
///
/// # Errors
/// When it cannot be made.
pub fn make_database(deployment: &Deployment, plan: &Plan) -> Result<(), StoreError> {
    let _unbroken = unbroken::begin();
    deployment.administer(plan, async |administrator| administrator.create().await)
}

/// Drops a case's database. A failure becomes a note to the observer and does not count against the case's trials.
pub fn drop_database(context: &RunContext<'_>, deployment: &Deployment, plan: &Plan) {
    // Two that drop it at once would be in each other's way.
    let _unbroken = unbroken::begin();
    let dropped = deployment.administer(plan, async |administrator| {
        let dropping = tokio::time::timeout(DROPS_WITHIN, administrator.drop_database());
        dropping.await.unwrap_or_else(|_| Err(drops_too_slowly()))
    });
    // One of a server of ours goes with it, also when the user ends that at once.
    if let Err(error) = dropped
        && !(context.is_interrupted() && plan.endpoint.managed)
    {
        let name = &plan.database;
        let text = format!("the database {name} could not be dropped: {error}");
        context.observer.event(RunEvent::Note(text));
    }
}

fn drops_too_slowly() -> StoreError {
    let seconds = DROPS_WITHIN.as_secs();
    let text = format!("no answer within {seconds} s; is the server at work?");
    StoreError::new(ErrorKind::Timeout, "drop the database", text)
}

/// How a case's database is reached by this many clients.
///
/// # Errors
/// When the owner's mark makes no database's name.
pub fn plan(
    deployment: &Deployment,
    case: &BenchmarkCase,
    schema: Arc<Schema>,
    clients: u32,
    (owner, timeout_ms): (&str, u64),
) -> Result<Plan, StoreError> {
    Ok(Plan {
        endpoint: deployment.endpoint().clone(),
        database: DatabaseName::new(owner)?,
        owner: owner.to_owned(),
        schema,
        layout: case.layout,
        durability: case.durability,
        clients,
        timeout_ms,
    })
}
