//! SQLite as files beside SQLite in Rust: a load of devops and its questions, in turns. Run by
//! `cargo test --release -p sensormark-statements --test speed -- --ignored --nocapture`.

use rustix::time::{ClockId, clock_gettime};
use sensormark_drivers::sqlite::Sqlite;
use sensormark_statements::FileStore;
use sensormark_store::{
    Aggregate, Answer, Ask, Batch, Comparison, DatabaseName, Durability, Family, Field, FieldSet, FieldType,
    Function, Grouping, LocalFuture, Plan, Predicate, Query, Schema, Selection, Series, Session, Store,
    StoreError, Table, Tag, TagColumn, TimeRange, TimeResolution, Value, Window,
};
use std::sync::Arc;
use std::task::{Context, Poll, Waker};
use std::time::Instant;

const HOSTS: u32 = 100;
const BATCH: i64 = 10_000;
const TURNS: usize = 12;
const BATCHES: i64 = 12; // a turn
const STEP_NS: i64 = 10_000_000_000;

fn now<T>(mut future: LocalFuture<'_, Result<T, StoreError>>) -> T {
    match future.as_mut().poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(result) => result.unwrap(),
        Poll::Pending => panic!("sessions that block are ready when first polled"),
    }
}

fn schema() -> Schema {
    let field = |number| Field { name: format!("usage_{number}"), kind: FieldType::F64, nullable: false };
    let texts = |name: &str, of: u32| {
        TagColumn::Text((0..HOSTS).map(|host| format!("{name}_{}", host % of)).collect())
    };
    Schema {
        tables: vec![Table {
            name: "cpu".into(),
            tags: ["hostname", "region", "datacenter"].map(|name| Tag { name: name.into() }).to_vec(),
            fields: (0..10).map(field).collect(),
            entity: None,
            time_resolution: TimeResolution::Seconds,
            series: Series::new(vec![texts("host", HOSTS), texts("region", 9), texts("dc", 20)]),
        }],
    }
}

fn batch(schema: &Schema, number: i64) -> Batch {
    let mut batch = Batch::new(0, &schema.tables[0]);
    let hosts = i64::from(HOSTS);
    for row in number * BATCH..(number + 1) * BATCH {
        batch.times_ns.push(row / hosts * STEP_NS);
        batch.series.push(u32::try_from(row % hosts).unwrap());
        for (field, column) in (0_i64..).zip(&mut batch.columns) {
            let mixed = (row * 31 + field * 17) % 10_007;
            column.push(Value::F64(mixed as f64 / 100.07)).unwrap();
        }
    }
    batch
}

struct Side {
    _folder: tempfile::TempDir,
    session: Box<dyn Session>,
    wall: f64,
    cpu: f64,
}

fn side(store: &dyn Store, schema: &Arc<Schema>) -> Side {
    let folder = tempfile::tempdir().unwrap();
    let plan = Plan {
        endpoint: store.endpoint(folder.path().to_str().unwrap()).unwrap(),
        database: DatabaseName::new("speed").unwrap(),
        owner: "owner".into(),
        layout: store.layouts(schema, Family::PerReading)[0].layout,
        schema: Arc::clone(schema),
        durability: Durability::Default,
        clients: 1,
        timeout_ms: 60_000,
    };
    now(now(store.administrator(&plan)).create());
    Side { session: now(store.connect(&plan)), _folder: folder, wall: 0.0, cpu: 0.0 }
}

fn cpu() -> f64 {
    let time = clock_gettime(ClockId::ProcessCPUTime);
    time.tv_sec as f64 + time.tv_nsec as f64 / 1e9
}

impl Side {
    fn timed<T>(&mut self, work: impl FnOnce(&mut dyn Session) -> T) -> T {
        let (start, used) = (Instant::now(), cpu());
        let result = work(&mut *self.session);
        self.cpu += cpu() - used;
        self.wall += start.elapsed().as_secs_f64();
        result
    }

    fn take(&mut self) -> (f64, f64) {
        (std::mem::take(&mut self.wall), std::mem::take(&mut self.cpu))
    }
}

/// Mean ratio and its interval of 95 %, over the logarithms of ratios.
fn interval(ratios: &[f64]) -> (f64, f64, f64) {
    let logs: Vec<f64> = ratios.iter().map(|ratio| ratio.ln()).collect();
    let count = logs.len() as f64;
    let mean = logs.iter().sum::<f64>() / count;
    let variance = logs.iter().map(|log| (log - mean).powi(2)).sum::<f64>() / (count - 1.0);
    let half = 2.201 * (variance / count).sqrt(); // Student's t of 11 degrees of freedom
    (mean.exp(), (mean - half).exp(), (mean + half).exp())
}

/// Seconds of time and of CPU.
type Measured = (f64, f64);

fn shown(what: &str, times: &[(Measured, Measured)]) {
    let rate: Vec<f64> = times.iter().map(|(old, new)| old.0 / new.0).collect();
    let cpu: Vec<f64> = times.iter().map(|(old, new)| new.1 / old.1).collect();
    let (rate, cpu) = (interval(&rate), interval(&cpu));
    let old: f64 = times.iter().map(|(old, _)| old.1).sum();
    println!(
        "{what:<24} rate new/old {:.3} ({:.3} to {:.3})   CPU new/old {:.3} ({:.3} to {:.3})   old {old:.2} s of CPU",
        rate.0, rate.1, rate.2, cpu.0, cpu.1, cpu.2
    );
}

fn questions(turn: usize) -> Vec<(&'static str, usize, Query)> {
    let start = turn as i64 * 977 % 300 * STEP_NS;
    let query = |series, hours: i64, ask| Query {
        table: 0,
        series,
        range: TimeRange::new(start, start + hours * 3_600_000_000_000),
        ask,
    };
    let windows =
        |width| Grouping { window: Some(Window { width_ns: width, origin_ns: 0 }), ..Grouping::default() };
    let aggregate = |function, grouping| Ask::Aggregate {
        aggregates: vec![Aggregate { function, field: 0 }],
        grouping,
        from_sums: false,
    };
    let minute = 60_000_000_000;
    let host = Selection::Tagged { tag: 0, value: format!("host_{}", turn % 100) };
    let above = Predicate { field: 0, comparison: Comparison::Above, threshold: 90.0 };
    vec![
        ("max-1-host", 40, query(host.clone(), 1, aggregate(Function::Max, windows(minute)))),
        (
            "max-several-hosts",
            10,
            query(Selection::Set((0..8).collect()), 1, aggregate(Function::Max, windows(minute))),
        ),
        (
            "mean-all-hosts",
            1,
            query(
                Selection::All,
                12,
                aggregate(Function::Mean, Grouping { by_tag: Some(0), ..windows(60 * minute) }),
            ),
        ),
        ("last-reading", 10, query(Selection::All, 1_000, Ask::LastReading { fields: FieldSet::first(10) })),
        ("busy-hosts", 10, query(Selection::All, 12, Ask::SeriesMatching(above))),
        (
            "range of one host",
            10,
            query(host, 6, Ask::Range { fields: FieldSet::first(10), coarse_filter: false }),
        ),
        ("point", 200, query(Selection::One(7), 1, Ask::Point { fields: FieldSet::first(10) })),
    ]
}

#[test]
#[ignore = "takes a minute, and measures"]
fn files_are_as_fast_as_rust() {
    let (config, statements) = (
        include_str!("../../../stores/sqlite/store.toml"),
        include_str!("../../../stores/sqlite/statements.sql"),
    );
    let new = FileStore::new(config, "statements.sql", statements, Arc::new(Sqlite)).unwrap();
    let old = sensormark_sqlite::Sqlite::new();
    let schema = Arc::new(schema());
    let (mut old, mut new) = (side(&old, &schema), side(&new, &schema));
    let mut loads = Vec::new();
    for turn in 0..TURNS {
        for number in 0..BATCHES {
            let batch = batch(&schema, turn as i64 * BATCHES + number);
            let sides = if number % 2 == 0 { [&mut old, &mut new] } else { [&mut new, &mut old] };
            for side in sides {
                side.timed(|session| now(session.write(&batch)));
            }
        }
        loads.push((old.take(), new.take()));
    }
    println!("{} readings of 10 fields each, in batches of {BATCH}", TURNS as i64 * BATCHES * BATCH);
    shown("load", &loads);
    for what in 0..questions(0).len() {
        let (mut times, mut name) = (Vec::new(), "");
        for turn in 0..=TURNS {
            let (title, repeats, query) = questions(turn).swap_remove(what);
            name = title;
            let mut answers: Vec<Answer> = Vec::new();
            for number in 0..repeats {
                let sides =
                    if (number + turn) % 2 == 0 { [&mut old, &mut new] } else { [&mut new, &mut old] };
                for side in sides {
                    answers.push(side.timed(|session| now(session.query(&query))));
                }
            }
            assert!(answers.windows(2).all(|pair| pair[0] == pair[1]) && !answers[0].is_empty(), "{title}");
            let taken = (old.take(), new.take());
            // The first turn prepares statements.
            if turn > 0 {
                times.push(taken);
            }
        }
        shown(name, &times);
    }
}
