//! PostgreSQL as files beside PostgreSQL in Rust, on one server: 16 clients that read points and insert single readings, in turns. Run by
//! `SENSORMARK_SPEED_URL=postgresql://… cargo test --release -p sensormark-statements --test speed_postgresql -- --ignored --nocapture`.

use futures_util::future::join_all;
use rustix::time::{ClockId, clock_gettime};
use sensormark_drivers::postgres::Postgres;
use sensormark_statements::FileStore;
use sensormark_store::{
    Answer, Ask, Batch, DatabaseName, Durability, Family, FieldSet, Plan, Query, Schema, Selection, Session,
    Store, TimeRange, TimeResolution, Value,
};
use std::sync::Arc;
use std::time::Instant;

const CLIENTS: u32 = 16;
const READINGS: i64 = 100_000;
const TURNS: usize = 60;
const READS: i64 = 400; // a client and turn
const WRITES: i64 = 100;

struct Side {
    sessions: Vec<Box<dyn Session>>,
    written: i64,
}

fn batch(schema: &Schema, numbers: std::ops::Range<i64>) -> Batch {
    let mut batch = Batch::new(0, &schema.tables[0]);
    for number in numbers {
        batch.times_ns.push(number * 1_000_000_000);
        batch.series.push(u32::try_from(number % i64::from(CLIENTS)).unwrap());
        for column in &mut batch.columns {
            column.push(Value::F64(number as f64 / 8.0)).unwrap();
        }
    }
    batch
}

async fn side(store: &dyn Store, url: &str, schema: &Arc<Schema>, name: &str) -> Side {
    let plan = Plan {
        endpoint: store.endpoint(url).unwrap(),
        database: DatabaseName::new(name).unwrap(),
        owner: "owner".into(),
        layout: store.layouts(schema, Family::PerReading)[0].layout,
        schema: Arc::clone(schema),
        durability: Durability::Relaxed,
        clients: CLIENTS,
        timeout_ms: 60_000,
    };
    let mut administrator = store.administrator(&plan).await.unwrap();
    administrator.drop_database().await.unwrap();
    administrator.create().await.unwrap();
    let mut sessions = Vec::new();
    for _ in 0..CLIENTS {
        sessions.push(store.connect(&plan).await.unwrap());
    }
    sessions[0].write(&batch(schema, 0..READINGS)).await.unwrap();
    administrator.settle().await.unwrap();
    Side { sessions, written: READINGS }
}

fn cpu() -> f64 {
    let time = clock_gettime(ClockId::ProcessCPUTime);
    time.tv_sec as f64 + time.tv_nsec as f64 / 1e9
}

impl Side {
    /// Time and CPU of all clients' reads.
    async fn read(&mut self, turn: usize) -> (f64, f64) {
        let (start, used) = (Instant::now(), cpu());
        let clients = (0_i64..).zip(&mut self.sessions).map(async |(client, session)| {
            for number in 0..READS {
                let place = (number * 7_919 + client * 104_729 + turn as i64 * 31) % READINGS;
                let query = Query {
                    table: 0,
                    series: Selection::One(u32::try_from(place % i64::from(CLIENTS)).unwrap()),
                    range: TimeRange::new(place * 1_000_000_000, place * 1_000_000_000),
                    ask: Ask::Point { fields: FieldSet::first(1) },
                };
                let Answer::Readings(found) = session.query(&query).await.unwrap() else {
                    panic!("readings")
                };
                assert_eq!(found.len(), 1);
            }
        });
        join_all(clients).await;
        (start.elapsed().as_secs_f64(), cpu() - used)
    }

    /// The same of their inserts.
    async fn write(&mut self, schema: &Schema) -> (f64, f64) {
        let first = self.written;
        self.written += i64::from(CLIENTS) * WRITES;
        let (start, used) = (Instant::now(), cpu());
        let clients = (0_i64..).zip(&mut self.sessions).map(async |(client, session)| {
            for number in 0..WRITES {
                let place = first + client * WRITES + number;
                let done = session.write(&batch(schema, place..place + 1)).await.unwrap();
                assert_eq!(done.readings, 1);
            }
        });
        join_all(clients).await;
        (start.elapsed().as_secs_f64(), cpu() - used)
    }
}

/// Mean ratio and its interval of 95 %, over the logarithms of ratios.
fn interval(ratios: &[f64]) -> (f64, f64, f64) {
    let logs: Vec<f64> = ratios.iter().map(|ratio| ratio.ln()).collect();
    let count = logs.len() as f64;
    let mean = logs.iter().sum::<f64>() / count;
    let variance = logs.iter().map(|log| (log - mean).powi(2)).sum::<f64>() / (count - 1.0);
    let half = 2.001 * (variance / count).sqrt(); // Student's t of 59 degrees of freedom
    (mean.exp(), (mean - half).exp(), (mean + half).exp())
}

/// Seconds of time and of CPU.
type Measured = (f64, f64);

fn shown(what: &str, times: &[(Measured, Measured)]) {
    let rate: Vec<f64> = times.iter().map(|(old, new)| old.0 / new.0).collect();
    let cpu: Vec<f64> = times.iter().map(|(old, new)| new.1 / old.1).collect();
    let (rate, cpu) = (interval(&rate), interval(&cpu));
    println!(
        "{what:<10} rate new/old {:.3} ({:.3} to {:.3})   CPU new/old {:.3} ({:.3} to {:.3})",
        rate.0, rate.1, rate.2, cpu.0, cpu.1, cpu.2
    );
}

#[test]
#[ignore = "takes a minute, measures, and wants a server"]
fn files_are_as_fast_as_rust() {
    let url = std::env::var("SENSORMARK_SPEED_URL").expect("SENSORMARK_SPEED_URL names a server");
    let (config, statements) = (
        include_str!("../../../stores/postgresql/store.toml"),
        include_str!("../../../stores/postgresql/statements.sql"),
    );
    let new = FileStore::new(config, "statements.sql", statements, Arc::new(Postgres)).unwrap();
    let old = sensormark_postgresql::Postgresql::new();
    let schema = Arc::new(Schema::of_sensors(0..i64::from(CLIENTS), TimeResolution::Seconds));
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let mut old = side(&old, &url, &schema, "speed_old").await;
        let mut new = side(&new, &url, &schema, "speed_new").await;
        let (mut reads, mut writes) = (Vec::new(), Vec::new());
        // The first turn prepares statements.
        for turn in 0..=TURNS {
            let pair = if turn % 2 == 0 {
                let first = old.read(turn).await;
                (first, new.read(turn).await)
            } else {
                let first = new.read(turn).await;
                (old.read(turn).await, first)
            };
            let written = if turn % 2 == 0 {
                let first = old.write(&schema).await;
                (first, new.write(&schema).await)
            } else {
                let first = new.write(&schema).await;
                (old.write(&schema).await, first)
            };
            if turn > 0 {
                reads.push(pair);
                writes.push(written);
            }
        }
        shown("points", &reads);
        shown("inserts", &writes);
    });
}
