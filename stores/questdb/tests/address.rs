//! QuestDB on an address that other hosts reach: everything that reads or writes by HTTP asks for the password. A write that it refuses while lines still come
//! ends at once.

use sensormark_conformance::address::{Reachable, main as on_another_address};
use sensormark_kit::url::basic_authorization;
use sensormark_questdb::Questdb;
use sensormark_store::{
    Batch, DatabaseName, Durability, ErrorKind, Family, Field, FieldType, Plan, Schema, Series,
    Store, StoreError, Table, TimeResolution, Value,
};
use std::sync::Arc;
use std::time::{Duration, Instant};

fn main() {
    on_another_address(Questdb::new(), |reachable| {
        asks_by_http(reachable)?;
        refuses_while_lines_come(reachable)
    });
}

/// A table that is gone refuses the first line. Two megabytes are more than the sockets hold, so the rest has not been sent then.
fn refuses_while_lines_come(reachable: &Reachable<'_, Questdb>) -> Result<(), String> {
    const READINGS: i64 = 70_000;
    let field = Field {
        name: "value".to_owned(),
        kind: FieldType::F64,
        nullable: false,
    };
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
        pushed.map_err(|error| error.to_string())?;
    }
    let schema = Schema {
        tables: vec![table],
    };
    let offered = reachable.store.layouts(&schema, Family::PerReading);
    let layout = offered
        .into_iter()
        .next()
        .ok_or("no layout is offered")?
        .layout;
    let plan = Plan {
        endpoint: reachable.server.endpoint().clone(),
        database: DatabaseName::new("refuses").map_err(|error| error.to_string())?,
        owner: "refuses".to_owned(),
        schema: Arc::new(schema),
        layout,
        durability: Durability::Default,
        clients: 1,
        timeout_ms: 60_000,
    };
    let write = async {
        let mut administrator = reachable.store.administrator(&plan).await?;
        administrator.create().await?;
        let mut session = reachable.store.connect(&plan).await?;
        let written = session.write(&batch).await?;
        assert_eq!((written.readings, written.statements), (70_000, 1));
        // QuestDB goes on acknowledging writes of a connection that has written to the table before.
        let mut session = reachable.store.connect(&plan).await?;
        administrator.drop_database().await?;
        let began = Instant::now();
        Ok::<_, StoreError>((session.write(&batch).await, began.elapsed()))
    };
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build();
    let done = runtime.map_err(|error| error.to_string())?.block_on(write);
    match done.map_err(|error| error.to_string())? {
        (Err(error), took)
            if error.kind() == ErrorKind::NotFound && took < Duration::from_secs(20) =>
        {
            Ok(())
        }
        other => Err(format!("a write to a table that is gone: {other:?}")),
    }
}

fn asks_by_http(reachable: &Reachable<'_, Questdb>) -> Result<(), String> {
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
