//! The database that a case is measured on: its deployment, how it is reached, and its end.

use crate::engine::benchmark_case::BenchmarkCase;
use crate::engine::context::{RunContext, RunEvent};
use crate::engine::deployment::Deployment;
use sensormark_store::{DatabaseName, Plan, Schema, ServerOptions, StoreError};
use std::sync::Arc;

/// Connections that a server has to offer besides the clients': the coordinator's.
const FURTHER_CONNECTIONS: u32 = 8;

/// Opens the deployment of a case for this many clients.
///
/// # Errors
/// When the server cannot be started or reached.
pub fn open_deployment(
    context: &RunContext<'_>,
    case: &BenchmarkCase,
    clients: u32,
) -> Result<Deployment, StoreError> {
    context.observer.event(RunEvent::Opening {
        title: case.choice.title(),
    });
    let options = ServerOptions {
        durability: case.durability,
        clients: context.server.clients.max(clients + FURTHER_CONNECTIONS),
        ..context.server.clone()
    };
    let data = context.data_folder.as_deref();
    Deployment::open(context.supervisor, &case.choice, &options, data)
}

/// Drops a case's database. A failure becomes a note to the observer and does not count against the case's trials.
pub fn drop_database(context: &RunContext<'_>, deployment: &Deployment, plan: &Plan) {
    let dropped = deployment.administer(plan, async |administrator| {
        administrator.drop_database().await
    });
    if let Err(error) = dropped
        && !context.is_interrupted()
    {
        let text = format!("the database could not be dropped: {error}");
        context.observer.event(RunEvent::Note(text));
    }
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
