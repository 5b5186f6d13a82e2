//! How many prepared statements a session keeps on a real server: as many as it keeps plans of questions, and none of them is closed before.

use libtest_mimic::{Arguments, Trial};
use mysql_async::prelude::Queryable;
use mysql_async::{Conn, Opts};
use sensormark_kit::MOST_SHAPES;
use sensormark_server::Supervisor;
use sensormark_statements::FileStore;
use sensormark_store::{
    Aggregate, Ask, DatabaseName, Durability, Endpoint, Family, Field, FieldType, Function, Grouping, Plan,
    Query, Schema, Selection, Series, ServerOptions, Session, Store, Table, Tag, TagColumn, TimeRange,
    TimeResolution, Window,
};
use std::error::Error;
use std::sync::Arc;

type Outcome<T> = Result<T, Box<dyn Error>>;

/// Shapes of questions that are asked. A session prepares a few statements of its own besides.
const SHAPES: usize = MOST_SHAPES - 12;

fn main() {
    let arguments = Arguments::from_args();
    let store = Arc::new(sensormark_stores::mariadb());
    let missing = store.installation().err().map(|error| error.to_string());
    if let Some(reason) = &missing {
        eprintln!("ignored: {reason}");
    }
    let test = Trial::test("a session keeps every planned statement", move || {
        let options = ServerOptions { memory_bytes: 256 << 20, clients: 4, ..ServerOptions::default() };
        let server = Supervisor::new(None)?.start(store.as_ref(), &options, None)?;
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        runtime.block_on(all_are_kept(&store, server.endpoint())).map_err(|error| error.to_string().into())
    });
    libtest_mimic::run(&arguments, vec![test.with_ignored_flag(missing.is_some())]).exit();
}

/// A plan for one table with a series for each shape.
fn plan(store: &FileStore, endpoint: &Endpoint) -> Outcome<Plan> {
    let sensors = (0..i64::try_from(SHAPES)?).collect();
    let schema = Arc::new(Schema {
        tables: vec![Table {
            name: "readings".into(),
            tags: vec![Tag { name: "sensor".into() }],
            fields: vec![Field { name: "value".into(), kind: FieldType::F64, nullable: false }],
            entity: None,
            time_resolution: TimeResolution::Nanoseconds,
            series: Series::new(vec![TagColumn::Integer(sensors)]),
        }],
    });
    let offers = store.layouts(&schema, Family::PerReading);
    Ok(Plan {
        endpoint: endpoint.clone(),
        database: DatabaseName::new("kept_statements")?,
        owner: "store-test".into(),
        layout: offers.first().ok_or("no layout")?.layout,
        schema,
        durability: Durability::Default,
        clients: 1,
        timeout_ms: 20_000,
    })
}

/// Asks for sets of one series, of two, and so on. Each has a text of its own, because MariaDB has no arrays to bind.
async fn ask_all(session: &mut dyn Session) -> Outcome<()> {
    for series in 1..=u32::try_from(SHAPES)? {
        let query = Query {
            table: 0,
            series: Selection::Set((0..series).collect()),
            range: TimeRange::new(0, 1_000),
            ask: Ask::Aggregate {
                aggregates: vec![Aggregate { function: Function::Count, field: 0 }],
                grouping: Grouping {
                    window: Some(Window { width_ns: 100, origin_ns: 0 }),
                    ..Grouping::default()
                },
                from_sums: false,
            },
        };
        session.query(&query).await?;
    }
    Ok(())
}

/// A counter of the server's own.
async fn status(conn: &mut Conn, name: &str) -> Outcome<usize> {
    let question = format!("SHOW GLOBAL STATUS LIKE '{name}'");
    let row: Option<(String, String)> = conn.query_first(question).await?;
    Ok(row.ok_or("no such counter")?.1.parse()?)
}

async fn all_are_kept(store: &FileStore, endpoint: &Endpoint) -> Outcome<()> {
    let url = endpoint.url.expose().replace("mariadb://", "mysql://");
    let url = url.split('?').next().unwrap_or(&url);
    let mut beside = Conn::new(Opts::from_url(url)?).await?;
    let plan = plan(store, endpoint)?;
    let mut administrator = store.administrator(&plan).await?;
    administrator.create().await?;
    let mut session = store.connect(&plan).await?;
    ask_all(session.as_mut()).await?;
    let kept = status(&mut beside, "Prepared_stmt_count").await?;
    assert!(kept >= SHAPES, "{kept} of {SHAPES} statements are kept");
    let prepared = status(&mut beside, "Com_stmt_prepare").await?;
    ask_all(session.as_mut()).await?;
    let again = status(&mut beside, "Com_stmt_prepare").await?;
    assert_eq!(again, prepared, "nothing is prepared a second time");
    session.close().await?;
    administrator.drop_database().await?;
    beside.disconnect().await?;
    Ok(())
}
