//! QuestDB on an address that other hosts reach: everything that reads or writes by HTTP asks for the password. A write that it refuses while lines still come
//! ends at once.

use sensormark_conformance::address::{Reachable, main as on_another_address};
use sensormark_kit::url::basic_authorization;
use sensormark_statements::FileStore;
use sensormark_store::{
    Acknowledgement, Batch, DatabaseName, Durability, ErrorKind, Family, Field, FieldType, Plan, Schema,
    Series, Store, StoreError, Table, TimeResolution, Value,
};
use std::sync::Arc;
use std::time::{Duration, Instant};

fn main() {
    on_another_address(sensormark_stores::questdb(), |reachable| {
        asks_by_http(reachable)?;
        refuses_while_lines_come(reachable)
    });
}

/// Readings of one sensor, of two megabytes as lines.
fn readings() -> (Schema, Batch) {
    let field = Field { name: "value".to_owned(), kind: FieldType::F64, nullable: false };
    let table = Table {
        name: "readings".to_owned(),
        tags: Vec::new(),
        fields: vec![field],
        entity: None,
        time_resolution: TimeResolution::Nanoseconds,
        series: Series::single(),
    };
    let mut batch = Batch::new(0, &table);
    for time_ns in 0..READINGS {
        batch.times_ns.push(time_ns);
        batch.series.push(0);
        let pushed = batch.columns[0].push(Value::F64(0.5));
        pushed.expect("a field of numbers");
    }
    let tables = vec![table];
    (Schema { tables }, batch)
}

const READINGS: i64 = 70_000;

/// A table that is gone refuses the first line. Two megabytes are more than the sockets hold, so the rest has not been sent then.
async fn write_to_what_is_gone(reachable: &Reachable<'_, FileStore>) -> Result<Gone, StoreError> {
    let (schema, batch) = readings();
    let mut offered = reachable.store.layouts(&schema, Family::PerReading);
    let plan = Plan {
        endpoint: reachable.server.endpoint().clone(),
        database: DatabaseName::new("refuses")?,
        owner: "refuses".to_owned(),
        schema: Arc::new(schema),
        layout: offered.swap_remove(0).layout,
        durability: Durability::Default,
        clients: 1,
        timeout_ms: 60_000,
    };
    let mut administrator = reachable.store.administrator(&plan).await?;
    administrator.create().await?;
    let mut session = reachable.store.connect(&plan).await?;
    let written = session.write(&batch).await?;
    // QuestDB goes on acknowledging writes of a connection that has written to the table before.
    let mut session = reachable.store.connect(&plan).await?;
    administrator.drop_database().await?;
    let began = Instant::now();
    let refused = session.write(&batch).await;
    Ok((written, refused, began.elapsed()))
}

/// What was written, then what came of a write to a table that is gone, and how long that took.
type Gone = (Acknowledgement, Result<Acknowledgement, StoreError>, Duration);

fn refuses_while_lines_come(reachable: &Reachable<'_, FileStore>) -> Result<(), String> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let runtime = runtime.map_err(|error| error.to_string())?;
    let done = runtime.block_on(write_to_what_is_gone(reachable));
    match done.map_err(|error| error.to_string())? {
        (written, Err(error), took)
            if (written.readings, written.statements) == (70_000, 1)
                && error.kind() == ErrorKind::NotFound
                && took < Duration::from_secs(20) =>
        {
            Ok(())
        }
        other => Err(format!("a write to a table that is gone: {other:?}")),
    }
}

fn asks_by_http(reachable: &Reachable<'_, FileStore>) -> Result<(), String> {
    let port = reachable.server.endpoint().ports[1];
    let ours = basic_authorization("sensormark", &reachable.server.folder().password);
    let ours = format!("Authorization: {}\r\n", ours.expose());
    let line = "readings,sensor=a value=1\n";
    for (request, body) in [
        ("GET /exec?query=select%201", ""),
        ("GET /exec?query=create%20table%20theirs(a%20int)", ""),
        ("GET /exp?query=select%201", ""),
        ("GET /chk?f=json&j=readings", ""),
        ("POST /write", line),
        ("POST /api/v2/write", line),
        ("POST /imp?name=theirs", line),
        ("PUT /settings?version=0", "{}"),
    ] {
        let status = reachable.status(port, request, ("", body))?;
        if status != 401 {
            return Err(format!("{request} without a password is answered {status}"));
        }
    }
    let asked = reachable.status(port, "GET /exec?query=select%201", (&ours, ""))?;
    if asked != 200 {
        return Err(format!("with the password it is answered {asked}"));
    }
    Ok(())
}
