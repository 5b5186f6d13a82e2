//! Single operations for a few seconds: rate and the client's CPU time an operation, to set beside pgbench.
//!
//! `SENSORMARK_POSTGRESQL_URL=… single_operations insert|select|range CLIENTS SECONDS [relaxed]`. It makes and drops a database of its own, unless
//! `keep` is given: then it says its name, for pgbench to work on the same table.

use sensormark_postgresql::Postgresql;
use sensormark_store::{
    Ask, Batch, Column, DatabaseName, Durability, Field, FieldSet, FieldType, Layout, Plan, Query,
    Schema, Selection, Series, Store, Table, Tag, TagColumn, TimeRange, TimeResolution, Values,
};
use std::rc::Rc;
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::task::LocalSet;

const SERIES: u32 = 100;
const LOADED: i64 = 100_000;
const SECOND: i64 = 1_000_000_000;

fn schema() -> Schema {
    Schema {
        tables: vec![Table {
            name: "readings".into(),
            tags: vec![Tag { name: "sensor".into() }],
            fields: vec![Field { name: "value".into(), kind: FieldType::F64, nullable: false }],
            entity: None,
            time_resolution: TimeResolution::Milliseconds,
            series: Series::new(vec![TagColumn::Integer((0..i64::from(SERIES)).collect())]),
        }],
    }
}

fn batch(first: i64, count: i64) -> Batch {
    Batch {
        table: 0,
        times_ns: (first..first + count).map(|one| one / i64::from(SERIES) * SECOND).collect(),
        series: (first..first + count).map(|one| u32::try_from(one % i64::from(SERIES)).unwrap()).collect(),
        columns: vec![Column {
            values: Values::F64((first..first + count).map(|one| one as f64 * 0.5).collect()),
            present: None,
        }],
    }
}

fn cpu() -> Duration {
    let text = std::fs::read_to_string("/proc/self/schedstat").unwrap();
    Duration::from_nanos(text.split_whitespace().next().unwrap().parse().unwrap())
}

fn main() {
    let arguments: Vec<String> = std::env::args().collect();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    LocalSet::new().block_on(&runtime, run(&arguments));
}

async fn run(arguments: &[String]) {
    let mode = arguments[1].clone();
    let clients: u32 = arguments[2].parse().unwrap();
    let seconds: u64 = arguments[3].parse().unwrap();
    let has = |word: &str| arguments.iter().any(|argument| argument == word);
    let store = Postgresql::new();
    let plan = Plan {
        endpoint: store.endpoint(&std::env::var("SENSORMARK_POSTGRESQL_URL").unwrap()).unwrap(),
        database: DatabaseName::new("single").unwrap(),
        owner: "single_operations".into(),
        schema: Arc::new(schema()),
        layout: Layout::row_per_reading(),
        durability: if has("relaxed") { Durability::Relaxed } else { Durability::Default },
        clients,
        timeout_ms: 30_000,
    };
    let mut administrator = store.administrator(&plan).await.unwrap();
    administrator.create().await.unwrap();
    let mut session = store.connect(&plan).await.unwrap();
    session.write(&batch(0, LOADED)).await.unwrap();
    session.close().await.unwrap();
    administrator.settle().await.unwrap();
    let mut sessions = Vec::new();
    for _ in 0..clients {
        sessions.push(store.connect(&plan).await.unwrap());
    }
    let counter = Rc::new(std::cell::Cell::new(0_u64));
    let mut tasks = Vec::new();
    let (before, start) = (cpu(), Instant::now());
    let end = start + Duration::from_secs(seconds);
    for (client, mut session) in (0_i64..).zip(sessions) {
        let (mode, counter) = (mode.clone(), Rc::clone(&counter));
        tasks.push(tokio::task::spawn_local(async move {
            let mut number = LOADED + client * 1_000_000_000;
            let mut random = 12_345_u64 + client.unsigned_abs();
            while Instant::now() < end {
                random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
                let key = i64::try_from((random >> 33) % LOADED.unsigned_abs()).unwrap();
                let time = key / i64::from(SERIES) * SECOND;
                if mode == "insert" {
                    session.write(&batch(number, 1)).await.unwrap();
                    number += 1;
                } else {
                    let long = if mode == "range" { 1000 * SECOND } else { 1 };
                    let query = Query {
                        table: 0,
                        series: Selection::One(u32::try_from(key % i64::from(SERIES)).unwrap()),
                        range: TimeRange::new(if mode == "range" { 0 } else { time }, time + long),
                        ask: if mode == "range" {
                            Ask::Range { fields: FieldSet::one(0), coarse_filter: false }
                        } else {
                            Ask::Point { fields: FieldSet::one(0) }
                        },
                    };
                    assert!(session.query(&query).await.unwrap().len() >= 1);
                }
                counter.set(counter.get() + 1);
            }
            session.close().await.unwrap();
        }));
    }
    for task in tasks {
        task.await.unwrap();
    }
    let (spent, lasted) = (cpu() - before, start.elapsed());
    let done = counter.get();
    println!(
        "{mode} {clients} clients: {:.0} operations/s, client CPU {:.2} us/operation",
        done as f64 / lasted.as_secs_f64(),
        spent.as_secs_f64() * 1e6 / done as f64
    );
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    println!("{}", status.lines().find(|line| line.starts_with("VmRSS")).unwrap());
    if !has("keep") {
        administrator.drop_database().await.unwrap();
    }
}
