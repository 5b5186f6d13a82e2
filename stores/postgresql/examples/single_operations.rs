//! Operations for a few seconds: rate and the client's CPU time an operation, to set beside pgbench.
//!
//! `SENSORMARK_POSTGRESQL_URL=… single_operations insert|select|range CLIENTS SECONDS [relaxed] [keep] [multi-row|concatenated] [batch=N]`. It makes and drops
//! the database sensormark_single. With `keep` it leaves the database, so that pgbench can work on the same table.

use sensormark_postgresql::Postgresql;
use sensormark_store::{
    Ask, Batch, Column, DatabaseName, Durability, FieldSet, Layout, Plan, Query, Schema, Selection, Session,
    Store, TimeRange, TimeResolution, Values, WriteMethod,
};
use std::cell::Cell;
use std::rc::Rc;
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::task::LocalSet;

const SERIES: i64 = 100;
const LOADED: i64 = 100_000;
const SECOND: i64 = 1_000_000_000;

fn schema() -> Schema {
    Schema::of_sensors(0..SERIES, TimeResolution::Milliseconds)
}

fn series(number: i64) -> u32 {
    u32::try_from(number % SERIES).expect("few series")
}

fn batch(first: i64, count: i64) -> Batch {
    let numbers = first..first + count;
    Batch {
        table: 0,
        times_ns: numbers.clone().map(|one| one / SERIES * SECOND).collect(),
        series: numbers.clone().map(series).collect(),
        columns: vec![Column {
            values: Values::F64(numbers.map(|one| one as f64 * 0.5).collect()),
            present: None,
        }],
    }
}

fn question(kind: &str, number: i64) -> Query {
    let (time, fields) = (number / SERIES * SECOND, FieldSet::one(0));
    let (start, length, ask) = if kind == "range" {
        let coarse_filter = false;
        (0, 1000 * SECOND, Ask::Range { fields, coarse_filter })
    } else {
        (time, 1, Ask::Point { fields })
    };
    Query {
        table: 0,
        series: Selection::One(series(number)),
        range: TimeRange::new(start, time + length),
        ask,
    }
}

fn plan(store: &Postgresql, arguments: &[String]) -> Plan {
    let has = |word: &str| arguments.iter().any(|argument| argument == word);
    let url = std::env::var("SENSORMARK_POSTGRESQL_URL").expect("the server's URL");
    Plan {
        endpoint: store.endpoint(&url).expect("a URL"),
        database: DatabaseName::new("single").expect("a name"),
        owner: "single_operations".into(),
        schema: Arc::new(schema()),
        layout: Layout {
            write: match () {
                () if has("multi-row") => WriteMethod::MultiRow,
                () if has("concatenated") => WriteMethod::ConcatenatedStatements,
                () => WriteMethod::Usual,
            },
            ..Layout::row_per_reading()
        },
        durability: if has("relaxed") { Durability::Relaxed } else { Durability::Default },
        clients: 16,
        timeout_ms: 30_000,
    }
}

fn cpu() -> Duration {
    let text = std::fs::read_to_string("/proc/self/schedstat").expect("/proc");
    let spent = text.split_whitespace().next().and_then(|word| word.parse().ok());
    Duration::from_nanos(spent.expect("nanoseconds"))
}

/// One client's loop until the end; counts what it did.
async fn client(
    mut session: Box<dyn Session>,
    kind: String,
    number: i64,
    size: i64,
    end: Instant,
    done: Rc<Cell<u64>>,
) {
    let mut next = LOADED + number * 1_000_000_000;
    let mut random = number.unsigned_abs() + 12_345;
    while Instant::now() < end {
        if kind == "insert" {
            session.write(&batch(next, size)).await.expect("written");
            next += size;
        } else {
            random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            let wanted = i64::try_from((random >> 33) % LOADED.unsigned_abs()).expect("small");
            let answer = session.query(&question(&kind, wanted)).await.expect("answered");
            assert!(!answer.is_empty(), "what was loaded is found");
        }
        done.set(done.get() + 1);
    }
    session.close().await.expect("closed");
}

async fn run(arguments: &[String]) {
    let [_, kind, clients, seconds, ..] = arguments else {
        panic!("insert|select|range CLIENTS SECONDS");
    };
    let (clients, seconds): (i64, u64) =
        (clients.parse().expect("clients"), seconds.parse().expect("seconds"));
    let size =
        arguments.iter().find_map(|argument| argument.strip_prefix("batch=")?.parse().ok()).unwrap_or(1);
    let store = Postgresql::new();
    let plan = plan(&store, arguments);
    let mut administrator = store.administrator(&plan).await.expect("connected");
    administrator.create().await.expect("created");
    let mut session = store.connect(&plan).await.expect("connected");
    session.write(&batch(0, LOADED)).await.expect("loaded");
    session.close().await.expect("closed");
    administrator.settle().await.expect("settled");
    let mut sessions = Vec::new();
    for _ in 0..clients {
        sessions.push(store.connect(&plan).await.expect("connected"));
    }
    let done = Rc::new(Cell::new(0));
    let (before, start) = (cpu(), Instant::now());
    let end = start + Duration::from_secs(seconds);
    let mut tasks = Vec::new();
    for (number, session) in (0..).zip(sessions) {
        let done = Rc::clone(&done);
        let client = client(session, kind.clone(), number, size, end, done);
        tasks.push(tokio::task::spawn_local(client));
    }
    for task in tasks {
        task.await.expect("a client's end");
    }
    let (spent, lasted) = (cpu().saturating_sub(before), start.elapsed());
    let operations = done.get() as f64;
    let status = std::fs::read_to_string("/proc/self/status").expect("/proc");
    println!(
        "{kind}: {:.0} operations/s, client CPU {:.2} us/operation, {}",
        operations / lasted.as_secs_f64(),
        spent.as_secs_f64() * 1e6 / operations,
        status.lines().find(|line| line.starts_with("VmRSS")).unwrap_or_default()
    );
    if !arguments.iter().any(|argument| argument == "keep") {
        administrator.drop_database().await.expect("dropped");
    }
}

fn main() {
    let arguments: Vec<String> = std::env::args().collect();
    let mut builder = tokio::runtime::Builder::new_current_thread();
    let runtime = builder.enable_all().build().expect("a runtime");
    LocalSet::new().block_on(&runtime, run(&arguments));
}
