//! What the conformance suite cannot see from outside: files, locks, plans, classes of durability, and records that are damaged.

use rusqlite::{Connection, StatementStatus};
use sensormark_sqlite::{Sqlite, config};
use sensormark_store::{
    Administrator, Answer, Ask, Batch, Comparison, DatabaseName, Durability, ErrorKind, Family, Field,
    FieldSet, FieldType, Layout, LocalFuture, Plan, Predicate, Query, Schema, Selection, Series, Session,
    Store, StoreError, Table, Tag, TagColumn, TimeRange, TimeResolution, Value,
};
use std::fs;
use std::path::PathBuf;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};
use std::time::{Duration, Instant};
use tempfile::TempDir;

const SECOND: i64 = 1_000_000_000;

/// Takes the result of a future that is ready when first polled.
fn now<T>(mut future: LocalFuture<'_, Result<T, StoreError>>) -> Result<T, StoreError> {
    match future.as_mut().poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(result) => result,
        Poll::Pending => panic!("sessions that block are ready when first polled"),
    }
}

fn schema() -> Schema {
    let field = |name: &str, kind, nullable| Field { name: name.into(), kind, nullable };
    Schema {
        tables: vec![Table {
            name: "readings".into(),
            tags: vec![Tag { name: "sensor".into() }],
            fields: vec![field("number", FieldType::F64, false), field("words", FieldType::Text, true)],
            entity: None,
            time_resolution: TimeResolution::Nanoseconds,
            series: Series::new(vec![TagColumn::Integer(vec![7, 8])]),
        }],
    }
}

fn layout(family: Family, variant: &str) -> Layout {
    let offers = Sqlite::new().layouts(&schema(), family);
    let offer = offers.iter().find(|offer| offer.variant == variant);
    offer.expect("the variant is offered").layout
}

const SPANS: Family = Family::PerSpan { span_ns: SECOND };

struct Database {
    plan: Plan,
    folder: TempDir,
}

impl Database {
    fn new(layout: Layout) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let plan = Plan {
            endpoint: Sqlite::new().endpoint(folder.path().to_str().unwrap()).unwrap(),
            database: DatabaseName::new("test").unwrap(),
            owner: "owner".into(),
            schema: Arc::new(schema()),
            layout,
            durability: Durability::Default,
            clients: 1,
            timeout_ms: 5_000,
        };
        Self { plan, folder }
    }

    fn created(layout: Layout) -> Self {
        let database = Self::new(layout);
        now(database.administrator().create()).unwrap();
        database
    }

    fn administrator(&self) -> Box<dyn Administrator> {
        now(Sqlite::new().administrator(&self.plan)).unwrap()
    }

    fn connect(&self) -> Box<dyn Session> {
        now(Sqlite::new().connect(&self.plan)).unwrap()
    }

    fn file(&self) -> PathBuf {
        config::file(&self.plan.endpoint, &self.plan.database)
    }

    fn raw(&self) -> Connection {
        Connection::open(self.file()).unwrap()
    }

    fn names(&self) -> Vec<String> {
        let entries = fs::read_dir(self.folder.path()).unwrap();
        let mut names: Vec<String> =
            entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }
}

fn batch(count: i64, number: impl Fn(i64) -> f64) -> Batch {
    let mut batch = Batch::new(0, &schema().tables[0]);
    for row in 0..count {
        batch.times_ns.push(row * 1_000_000 + row % 7);
        batch.series.push(u32::from(row % 3 == 0));
        batch.columns[0].push(Value::F64(number(row))).unwrap();
        batch.columns[1].push(Value::Text(format!("\"{row}\\ \u{1}ü☀"))).unwrap();
    }
    batch
}

fn query(ask: Ask) -> Query {
    Query { table: 0, series: Selection::One(0), range: TimeRange::new(0, 100 * SECOND), ask }
}

#[test]
fn files_that_are_not_ours_stay_as_they_are() {
    let database = Database::new(layout(Family::PerReading, ""));
    let plain = b"somebody's notes".to_vec();
    fs::write(database.file(), &plain).unwrap();
    for kind in [
        now(database.administrator().create()).unwrap_err().kind(),
        now(database.administrator().drop_database()).unwrap_err().kind(),
    ] {
        assert_eq!(kind, ErrorKind::Foreign);
    }
    assert_eq!(fs::read(database.file()).unwrap(), plain);
    assert_eq!(database.names(), ["sensormark_test.sqlite"]);

    fs::remove_file(database.file()).unwrap();
    database
        .raw()
        .execute_batch("PRAGMA journal_mode = WAL; CREATE TABLE t (x); INSERT INTO t VALUES (1)")
        .unwrap();
    let before = fs::read(database.file()).unwrap();
    assert_eq!(now(database.administrator().create()).unwrap_err().kind(), ErrorKind::Foreign);
    assert_eq!(now(database.administrator().drop_database()).unwrap_err().kind(), ErrorKind::Foreign);
    assert!(now(database.administrator().databases()).unwrap().is_empty());
    assert_eq!(fs::read(database.file()).unwrap(), before);
    assert_eq!(database.names(), ["sensormark_test.sqlite"]);
}

#[test]
fn a_database_with_tables_of_others_is_foreign() {
    let database = Database::created(layout(Family::PerReading, ""));
    now(database.administrator().create()).unwrap();
    database.raw().execute_batch("CREATE TABLE somebody (x)").unwrap();
    assert_eq!(now(database.administrator().create()).unwrap_err().kind(), ErrorKind::Foreign);
}

#[test]
fn a_drop_leaves_nothing_and_a_made_folder_goes_with_its_last_database() {
    let parent = tempfile::tempdir().unwrap();
    let folder = parent.path().join("new");
    let mut plan = Database::new(layout(Family::PerReading, "")).plan;
    plan.endpoint = Sqlite::new().endpoint(folder.to_str().unwrap()).unwrap();
    assert!(plan.endpoint.managed);
    let mut administrator = now(Sqlite::new().administrator(&plan)).unwrap();
    now(administrator.create()).unwrap();
    let mut session = now(Sqlite::new().connect(&plan)).unwrap();
    now(session.write(&batch(1_000, |row| row as f64))).unwrap();
    now(administrator.drop_database()).unwrap();
    assert!(!folder.exists());
    now(administrator.drop_database()).unwrap();
}

#[test]
fn another_process_that_writes_is_waited_for_and_not_for_ever() {
    let mut database = Database::created(layout(Family::PerReading, ""));
    database.plan.timeout_ms = 200;
    let mut session = database.connect();
    let other = database.raw();
    other.execute_batch("BEGIN IMMEDIATE").unwrap();
    for count in [1, 10] {
        let start = Instant::now();
        let error = now(session.write(&batch(count, |_| 1.0))).unwrap_err();
        assert!(start.elapsed() < Duration::from_secs(2));
        assert_eq!(error.kind(), ErrorKind::Timeout, "{error}");
        assert!(!error.is_in_doubt() && error.acknowledged() == 0);
    }
    other.execute_batch("COMMIT").unwrap();
    assert_eq!(now(session.write(&batch(10, |_| 1.0))).unwrap().readings, 10);
}

#[test]
fn a_question_that_takes_too_long_is_cut() {
    let mut database = Database::created(layout(Family::PerReading, "no-index"));
    now(database.connect().write(&batch(300_000, |row| row as f64))).unwrap();
    database.plan.timeout_ms = 1;
    let mut session = database.connect();
    let error = now(session.query(&query(Ask::Minimum { field: 0 }))).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Timeout, "{error}");
}

#[test]
fn a_refused_batch_leaves_nothing_behind() {
    for family in [
        Family::PerReading,
        Family::Summary {
            per_ns: SECOND,
            split: sensormark_store::DaySplit { day_start_ns: 0, day_end_ns: 1 },
        },
    ] {
        let database = Database::created(layout(family, ""));
        let mut wrong = batch(100, |row| row as f64);
        wrong.columns[0].present = Some((0..100).map(|row| row != 60).collect());
        let error = now(database.connect().write(&wrong)).unwrap_err();
        assert_eq!((error.kind(), error.acknowledged()), (ErrorKind::Rejected, 0), "{error}");
        let mut stored = 0;
        now(database.connect().scan(0, &mut |batch| stored += batch.len())).unwrap();
        assert_eq!(stored, 0);
    }
}

#[test]
fn durability_classes_are_read_back() {
    for (class, expected) in
        [(Durability::Default, "NORMAL"), (Durability::Durable, "FULL"), (Durability::Relaxed, "OFF")]
    {
        let mut database = Database::new(layout(Family::PerReading, ""));
        database.plan.durability = class;
        now(database.administrator().create()).unwrap();
        let settings = now(database.administrator().settings()).unwrap();
        let value = |name: &str| {
            settings.iter().find(|setting| setting.name == name).map(|setting| setting.value.as_str())
        };
        assert_eq!(value("synchronous"), Some(expected));
        assert_eq!(value("journal_mode"), Some("wal"));
        assert_eq!(value("query_planner_stability_guarantee"), Some("on"));
    }
    let mut database = Database::created(layout(Family::PerReading, ""));
    database.plan.durability = Durability::Unacknowledged;
    let error = now(Sqlite::new().connect(&database.plan)).err().unwrap();
    assert_eq!(error.kind(), ErrorKind::Unsupported);
}

/// The reason for the planner's guarantee: without it this fails, and each execution costs several times as much.
#[test]
fn bound_values_do_not_plan_statements_anew() {
    let database = Database::created(layout(Family::PerReading, ""));
    let connection = config::open(&database.plan).unwrap();
    let sql = "SELECT number FROM readings WHERE sensor = ?1 AND time_ns >= ?2 AND time_ns < ?3 ORDER BY time_ns LIMIT 1";
    let mut statement = connection.prepare(sql).unwrap();
    for start in 0..100_i64 {
        statement.clear_bindings();
        assert!(!statement.exists((start % 2, start, start * 2)).unwrap());
    }
    assert_eq!(statement.get_status(StatementStatus::RePrepare), 0);
}

#[test]
fn numbers_in_json_are_exact_for_sqlite_too() {
    let bits = |row: i64| {
        let mixed = (row + 1).cast_unsigned().wrapping_mul(0x9e37_79b9_7f4a_7c15);
        let value = f64::from_bits(mixed ^ (mixed >> 29));
        if value.is_finite() { value } else { row as f64 * 0.1 }
    };
    for variant in ["", "jsonb"] {
        let database = Database::created(layout(SPANS, variant));
        let mut written = batch(20_000, bits);
        written.series.fill(0);
        now(database.connect().write(&written)).unwrap();
        let mut session = database.connect();
        let Answer::Readings(read) =
            now(session.query(&query(Ask::Range { fields: FieldSet::first(2), coarse_filter: false })))
                .unwrap()
        else {
            panic!("a range is answered by readings")
        };
        assert_eq!(read, written);
        let raw = database.raw();
        let mut statement = raw
            .prepare("SELECT e.value ->> '$.m[0]' FROM readings AS r, json_each(r.data, '$.measurements') AS e ORDER BY r.span, e.key")
            .unwrap();
        let mut rows = statement.query([]).unwrap();
        for row in 0..20_000 {
            let value: f64 = rows.next().unwrap().unwrap().get(0).unwrap();
            assert_eq!(value.to_bits(), bits(row).to_bits(), "{:?}", bits(row));
        }
    }
}

#[test]
fn records_are_read_with_any_whitespace_and_order_of_keys() {
    let database = Database::created(layout(SPANS, ""));
    let record = "\n{ \"v\" : [ {\"x\":\"]}\"}, null ],\t\"measurements\" : [ { \"m\" : [ -1.5e3 , \"a\\u00fc\\ud83d\\ude00\\n\" ] , \"ns\" : 5 } ,\r\n{\"ns\":7,\"m\":[2,null]} ] } ";
    database
        .raw()
        .execute("INSERT INTO readings (sensor, span, size, data) VALUES (7, 3, 2, ?1)", [record])
        .unwrap();
    let mut session = database.connect();
    let Answer::Readings(read) =
        now(session.query(&query(Ask::Range { fields: FieldSet::first(2), coarse_filter: false }))).unwrap()
    else {
        panic!("a range is answered by readings")
    };
    assert_eq!(read.times_ns, [3 * SECOND + 5, 3 * SECOND + 7]);
    assert_eq!(read.columns[0].value(0), Value::F64(-1_500.0));
    assert_eq!(read.columns[1].value(0), Value::Text("aü😀\n".into()));
    assert_eq!(read.columns[0].value(1), Value::F64(2.0));
    assert_eq!(read.columns[1].value(1), Value::Null);
}

#[test]
fn damaged_records_are_errors() {
    for variant in ["", "blob"] {
        let database = Database::created(layout(SPANS, variant));
        let mut session = database.connect();
        let mut written = batch(5, |row| row as f64 + 0.5);
        written.series.fill(0);
        now(session.write(&written)).unwrap();
        let raw = database.raw();
        let whole: Vec<u8> =
            raw.query_row("SELECT CAST(data AS BLOB) FROM readings", [], |row| row.get(0)).unwrap();
        let kind = if variant.is_empty() { "TEXT" } else { "BLOB" };
        let update = format!("UPDATE readings SET data = CAST(?1 AS {kind})");
        let everything = query(Ask::Range { fields: FieldSet::first(2), coarse_filter: false });
        for length in 0..whole.len() {
            raw.execute(&update, [&whole[..length]]).unwrap();
            let error = now(session.query(&everything)).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::Protocol, "cut at {length}: {error}");
        }
        for place in 0..whole.len() {
            let mut changed = whole.clone();
            changed[place] ^= 0x11;
            raw.execute(&update, [&changed]).unwrap();
            // A changed digit is another number; what matters is that nothing panics or hangs.
            drop(now(session.query(&everything)));
        }
        raw.execute(&update, [&whole]).unwrap();
        assert_eq!(now(session.query(&everything)).unwrap().len(), 5);
    }
}

#[test]
fn a_repeated_key_is_kept_in_clustered_tables_in_the_order_of_writing() {
    let database = Database::created(layout(Family::PerReading, "clustered"));
    let mut session = database.connect();
    for number in [3.0, 1.0, 2.0] {
        now(session.write(&batch(1, |_| number))).unwrap();
    }
    let mut question = query(Ask::LastReading { fields: FieldSet::one(0) });
    question.series = Selection::One(1);
    let Answer::Readings(last) = now(session.query(&question)).unwrap() else { panic!("readings answer it") };
    assert_eq!(last.columns[0].value(0), Value::F64(2.0));
    question.ask = Ask::First(Predicate { field: 0, comparison: Comparison::Above, threshold: 0.0 });
    let Answer::Moment(Some(first)) = now(session.query(&question)).unwrap() else {
        panic!("a moment answers it")
    };
    assert_eq!(first.value, Value::F64(3.0));
}
