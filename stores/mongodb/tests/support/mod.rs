//! What the tests with a server of their own share: a server, a runtime, a plan, and a client of the driver beside the store's.

#![allow(dead_code, reason = "each of the tests uses a part of it")]

use mongodb::Client;
use mongodb::bson::{Document, doc};
use sensormark_server::{ManagedServer, Supervisor};
use sensormark_statements::FileStore;
use sensormark_store::{
    Batch, DatabaseName, Durability, Endpoint, Family, Field, FieldType, Plan, Schema, Series, ServerOptions,
    Session, Store, Table, Tag, TagColumn, TimeResolution,
};
use std::path::Path;
use std::sync::Arc;

/// Starts a server with this profile, its data in this folder or a scratch folder.
pub fn server(
    store: &FileStore,
    profile: Option<&str>,
    data: Option<&Path>,
) -> Result<ManagedServer, String> {
    let options = ServerOptions {
        memory_bytes: 256 << 20,
        clients: 4,
        profile: profile.map(str::to_owned),
        ..ServerOptions::default()
    };
    Supervisor::new(None)
        .and_then(|supervisor| supervisor.start(store, &options, data))
        .map_err(|error| error.to_string())
}

/// Runs a future on a runtime of its own.
pub fn block_on<T>(future: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .expect("a runtime of one thread")
        .block_on(future)
}

/// A field that is always there.
pub fn field(name: &str, kind: FieldType) -> Field {
    Field { name: name.into(), kind, nullable: false }
}

/// A table of series that one tag of whole numbers tells apart.
pub fn table(name: &str, tag: &str, values: Vec<i64>, fields: Vec<Field>) -> Table {
    Table {
        name: name.into(),
        tags: vec![Tag { name: tag.into() }],
        fields,
        entity: None,
        time_resolution: TimeResolution::Nanoseconds,
        series: Series::new(vec![TagColumn::Integer(values)]),
    }
}

/// A plan for a database of this name in the family's layout of this variant.
pub fn plan(
    store: &FileStore,
    endpoint: &Endpoint,
    name: &str,
    tables: Vec<Table>,
    (family, variant): (Family, &str),
) -> Plan {
    let schema = Arc::new(Schema { tables });
    let offers = store.layouts(&schema, family);
    let offer = offers.iter().find(|offer| offer.variant == variant);
    Plan {
        endpoint: endpoint.clone(),
        database: DatabaseName::new(name).expect("a short name"),
        owner: "store-test".into(),
        layout: offer.expect("a layout of that name").layout,
        schema,
        durability: Durability::Default,
        clients: 2,
        timeout_ms: 20_000,
    }
}

/// Runs a command of the plan's database by a client beside the store's.
pub async fn command(plan: &Plan, command: Document) -> mongodb::error::Result<Document> {
    on(plan, plan.database.as_str(), command).await
}

/// Runs a command of this database by a client beside the store's.
pub async fn on(plan: &Plan, database: &str, command: Document) -> mongodb::error::Result<Document> {
    let client = Client::with_uri_str(plan.endpoint.url.expose()).await?;
    let answer = client.database(database).run_command(command).await;
    client.shutdown().await;
    answer
}

/// Everything that is stored in the first table.
pub async fn stored(session: &mut dyn Session, plan: &Plan) -> Result<Batch, sensormark_store::StoreError> {
    let mut all = Batch::new(0, &plan.schema.tables[0]);
    let mut sink = |batch: &Batch| {
        for row in 0..batch.len() {
            all.push_row(batch, row);
        }
    };
    session.scan(0, &mut sink).await?;
    Ok(all.sorted())
}

/// Makes the plan's collections of this name refuse documents that lack what `rule` asks for.
pub async fn refuse_unless(plan: &Plan, collection: &str, rule: Document) -> mongodb::error::Result<()> {
    command(plan, doc! { "collMod": collection, "validator": rule }).await?;
    Ok(())
}
