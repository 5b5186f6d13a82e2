//! How near the store is to the library beneath it: single writes and reads beside the same by rusqlite alone, and bulk loads.
//!
//! `cargo bench -p sensormark-stores`; the folder is a temporary one ($TMPDIR chooses the disk). It compares no databases.

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use rusqlite::Connection;
use sensormark_store::{
    Answer, Ask, Batch, Comparison, DatabaseName, Durability, Family, Field, FieldSet, FieldType, Layout,
    LocalFuture, Plan, Predicate, Query, Schema, Selection, Series, Session, Store, StoreError, Table, Tag,
    TagColumn, TimeRange, TimeResolution, Value,
};
use std::hint::black_box;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};
use tempfile::TempDir;

const MILLISECOND: i64 = 1_000_000;
const SECOND: i64 = 1_000_000_000;
const START: i64 = 1_700_000_000 * SECOND;
const SENSORS: u32 = 100;

/// Takes the result of a future that is ready when first polled.
fn now<T>(mut future: LocalFuture<'_, Result<T, StoreError>>) -> T {
    match future.as_mut().poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(result) => result.expect("the operation succeeds"),
        Poll::Pending => panic!("sessions that block are ready when first polled"),
    }
}

/// 100 sensors with one floating point value each.
fn values() -> Schema {
    Schema {
        tables: vec![Table {
            name: "readings".into(),
            tags: vec![Tag { name: "sensor_id".into() }],
            fields: vec![field("value", FieldType::F64)],
            entity: None,
            time_resolution: TimeResolution::Nanoseconds,
            series: Series::new(vec![TagColumn::Integer((0..i64::from(SENSORS)).collect())]),
        }],
    }
}

/// One series of five 16-bit channels.
fn channels() -> Schema {
    Schema {
        tables: vec![Table {
            name: "samples".into(),
            tags: Vec::new(),
            fields: (0..5).map(|number| field(&format!("c{number}"), FieldType::U16)).collect(),
            entity: None,
            time_resolution: TimeResolution::Nanoseconds,
            series: Series::single(),
        }],
    }
}

fn field(name: &str, kind: FieldType) -> Field {
    Field { name: name.into(), kind, nullable: false }
}

struct Database {
    plan: Plan,
    session: Box<dyn Session>,
    _folder: TempDir,
}

impl Database {
    fn new(schema: Schema, layout: impl Fn(&Schema) -> Layout) -> Self {
        let folder = tempfile::tempdir().expect("a temporary folder can be made");
        let store = sensormark_stores::sqlite();
        let url = folder.path().to_str().expect("temporary folders have plain names");
        let plan = Plan {
            endpoint: store.endpoint(url).expect("the folder is there"),
            database: DatabaseName::new("bench").expect("the name is short"),
            owner: "bench".into(),
            layout: layout(&schema),
            schema: Arc::new(schema),
            durability: Durability::Default,
            clients: 1,
            timeout_ms: 10_000,
        };
        now(now(store.administrator(&plan)).create());
        let session = now(store.connect(&plan));
        Self { plan, session, _folder: folder }
    }

    fn write(&mut self, batch: &Batch) {
        black_box(now(self.session.write(batch)));
    }

    fn ask(&mut self, query: &Query) -> Answer {
        now(self.session.query(query))
    }

    fn raw(&self) -> Connection {
        let file = format!("{}/{}.sqlite", self.plan.endpoint.url.expose(), self.plan.database.as_str());
        let connection = Connection::open(file).expect("the file is there");
        connection
            .execute_batch("PRAGMA synchronous = NORMAL; PRAGMA cache_size = -262144")
            .expect("pragmas are set");
        connection
    }
}

fn usual(schema: &Schema) -> Layout {
    variant(schema, Family::PerReading, "")
}

fn variant(schema: &Schema, family: Family, variant: &str) -> Layout {
    let offers = sensormark_stores::sqlite().layouts(schema, family);
    let offer = offers.iter().find(|offer| offer.variant == variant);
    offer.expect("the variant is offered").layout
}

/// Readings `from` to `from + count`, the sensors in turn.
fn value_batch(schema: &Schema, from: i64, count: i64) -> Batch {
    let mut batch = Batch::new(0, &schema.tables[0]);
    for number in from..from + count {
        batch.times_ns.push(START + number / i64::from(SENSORS) * SECOND);
        batch.series.push(u32::try_from(number % i64::from(SENSORS)).unwrap_or(0));
        let value = Value::F64((number % 977) as f64 * 0.125);
        batch.columns[0].push(value).expect("the value fits");
    }
    batch
}

/// Samples `from` to `from + count`, a millisecond apart.
fn sample_batch(schema: &Schema, from: i64, count: i64) -> Batch {
    let mut batch = Batch::new(0, &schema.tables[0]);
    for number in from..from + count {
        batch.times_ns.push(START + number * MILLISECOND);
        batch.series.push(0);
        for (channel, column) in (0..).zip(&mut batch.columns) {
            let value = (number * 12 + channel * 700) % 4_096;
            column.push(Value::I64(value)).expect("the value fits");
        }
    }
    batch
}

fn single(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("single");
    for name in ["", "clustered"] {
        let mut database = Database::new(values(), |schema| variant(schema, Family::PerReading, name));
        let schema = Arc::clone(&database.plan.schema);
        let mut next = 0;
        group.bench_function(format!("write {name}"), |bencher| {
            bencher.iter_batched_ref(
                || {
                    next += 1;
                    value_batch(&schema, next, 1)
                },
                |batch| database.write(batch),
                criterion::BatchSize::SmallInput,
            );
        });
    }
    let database = Database::new(values(), usual);
    let raw = database.raw();
    let mut insert = raw
        .prepare("INSERT INTO readings (sensor_id, time_ns, value) VALUES (?1, ?2, ?3)")
        .expect("the table is there");
    let mut next = 0_i64;
    group.bench_function("write by rusqlite", |bencher| {
        bencher.iter(|| {
            next += 1;
            insert.execute((next % 100, START + next / 100 * SECOND, 0.125)).expect("it is written")
        });
    });
    group.finish();
}

fn point(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("point");
    for name in ["", "clustered"] {
        let mut database = Database::new(values(), |schema| variant(schema, Family::PerReading, name));
        let schema = Arc::clone(&database.plan.schema);
        for part in 0..50 {
            database.write(&value_batch(&schema, part * 20_000, 20_000));
        }
        now(now(sensormark_stores::sqlite().administrator(&database.plan)).settle());
        let mut key = 0_i64;
        let mut next = || {
            key = (key + 7_919) % 1_000_000;
            (key % 100, START + key / 100 * SECOND)
        };
        group.bench_function(format!("read {name}"), |bencher| {
            bencher.iter(|| {
                let (sensor, time) = next();
                let query = Query {
                    table: 0,
                    series: Selection::One(u32::try_from(sensor).unwrap_or(0)),
                    range: TimeRange::new(time, time + 1),
                    ask: Ask::Point { fields: FieldSet::one(0) },
                };
                assert_eq!(database.ask(&query).len(), 1);
            });
        });
        let raw = database.raw();
        let mut select = raw
            .prepare("SELECT value FROM readings WHERE sensor_id = ?1 AND time_ns = ?2")
            .expect("the table is there");
        group.bench_function(format!("read by rusqlite {name}"), |bencher| {
            bencher.iter(|| {
                let key = next();
                select.query_row(key, |row| row.get::<_, f64>(0)).expect("the reading is there")
            });
        });
    }
    group.finish();
}

fn bulk(criterion: &mut Criterion) {
    const ROWS: i64 = 10_000;
    let mut group = criterion.benchmark_group("bulk");
    group.sample_size(20).throughput(Throughput::Elements(ROWS.unsigned_abs()));
    for name in ["", "clustered", "no-index", "multi-row", "concatenated", "row-per-field"] {
        let mut database = Database::new(values(), |schema| variant(schema, Family::PerReading, name));
        let schema = Arc::clone(&database.plan.schema);
        let mut next = 0;
        group.bench_function(format!("values {name}"), |bencher| {
            bencher.iter_batched_ref(
                || {
                    next += ROWS;
                    value_batch(&schema, next, ROWS)
                },
                |batch| database.write(batch),
                criterion::BatchSize::LargeInput,
            );
        });
    }
    for (family, name) in [
        (Family::PerReading, ""),
        (Family::PerReading, "clustered"),
        (Family::PerSpan { span_ns: SECOND }, ""),
        (Family::PerSpan { span_ns: SECOND }, "blob"),
        (Family::PerSpan { span_ns: SECOND }, "jsonb"),
    ] {
        let mut database = Database::new(channels(), |schema| variant(schema, family, name));
        let schema = Arc::clone(&database.plan.schema);
        let mut next = 0;
        group.bench_function(format!("channels {family:?} {name}"), |bencher| {
            bencher.iter_batched_ref(
                || {
                    next += ROWS;
                    sample_batch(&schema, next, ROWS)
                },
                |batch| database.write(batch),
                criterion::BatchSize::LargeInput,
            );
        });
    }
    group.finish();
}

fn questions(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("channels");
    let spans = Family::PerSpan { span_ns: SECOND };
    for (family, name) in [
        (Family::PerReading, ""),
        (Family::PerReading, "clustered"),
        (Family::PerReading, "row-per-field"),
        (spans, ""),
        (spans, "blob"),
        (spans, "jsonb"),
    ] {
        let mut database = Database::new(channels(), |schema| variant(schema, family, name));
        let schema = Arc::clone(&database.plan.schema);
        for second in 0..120 {
            database.write(&sample_batch(&schema, second * 1_000, 1_000));
        }
        now(now(sensormark_stores::sqlite().administrator(&database.plan)).settle());
        let kind = if family == spans { "span" } else { "reading" };
        let middle = START + 60 * SECOND + 300 * MILLISECOND;
        let query = |length: i64, ask: Ask| Query {
            table: 0,
            series: Selection::One(0),
            range: TimeRange::new(middle, middle + length * MILLISECOND),
            ask,
        };
        let range = |fields| Ask::Range { fields, coarse_filter: true };
        let passes = Predicate { field: 0, comparison: Comparison::Above, threshold: 4_000.0 };
        for (what, query) in [
            ("range of 333", query(333, range(FieldSet::first(5)))),
            ("range of 2,000", query(2_000, range(FieldSet::first(5)))),
            ("first", query(1_000, Ask::First(passes))),
            ("last", query(1_000, Ask::Last(passes))),
            ("minimum of 333", query(333, Ask::Minimum { field: 0 })),
        ] {
            group.bench_function(format!("{kind} {name} {what}"), |bencher| {
                bencher.iter(|| assert!(!database.ask(&query).is_empty()));
            });
        }
    }
    group.finish();
}

criterion_group!(benches, single, point, bulk, questions);
criterion_main!(benches);
