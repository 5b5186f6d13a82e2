//! The database that a cell is measured on: its site, how it is reached, and its end.

use crate::engine::context::{Cell, RunContext, RunEvent};
use crate::engine::site::Site;
use sensormark_store::{DatabaseName, Plan, Schema, ServerOptions, StoreError};
use std::sync::Arc;

/// Connections that a server has to offer besides the clients': the coordinator's.
const FURTHER_CONNECTIONS: u32 = 8;

/// Opens the site of a cell for this many clients.
///
/// # Errors
/// When the server cannot be started or reached.
pub fn open_site(context: &RunContext<'_>, cell: &Cell, clients: u32) -> Result<Site, StoreError> {
    context.observer.event(RunEvent::Opening {
        title: cell.choice.title(),
    });
    let options = ServerOptions {
        durability: cell.durability,
        clients: context.server.clients.max(clients + FURTHER_CONNECTIONS),
        ..context.server.clone()
    };
    let data = context.data_folder.as_deref();
    Site::open(context.supervisor, &cell.choice, &options, data)
}

/// Drops a cell's database. A failure becomes a note to the observer and does not count against the cell's trials.
pub fn drop_database(context: &RunContext<'_>, site: &Site, plan: &Plan) {
    let dropped = site.administer(plan, async |administrator| {
        administrator.drop_database().await
    });
    if let Err(error) = dropped
        && !context.is_interrupted()
    {
        let text = format!("the database could not be dropped: {error}");
        context.observer.event(RunEvent::Note(text));
    }
}

/// How a cell's database is reached by this many clients.
///
/// # Errors
/// When the owner's mark makes no database's name.
pub fn plan(
    site: &Site,
    cell: &Cell,
    schema: Arc<Schema>,
    clients: u32,
    (owner, timeout_ms): (&str, u64),
) -> Result<Plan, StoreError> {
    Ok(Plan {
        endpoint: site.endpoint().clone(),
        database: DatabaseName::new(owner)?,
        owner: owner.to_owned(),
        schema,
        layout: cell.layout,
        durability: cell.durability,
        clients,
        timeout_ms,
    })
}
