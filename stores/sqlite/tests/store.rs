//! What the conformance suite cannot see from outside: files, locks, plans, classes of durability, and records that are damaged.

use rusqlite::Connection;
use sensormark_statements::FileStore;
use sensormark_store::{
    Administrator, Aggregate, Answer, Ask, Batch, Comparison, DatabaseName, Durability, ErrorKind, Family,
    Field, FieldSet, FieldType, Function, Grouping, Layout, LocalFuture, Plan, Predicate, Query, Question,
    Schema, Selection, Series, Session, Store, StoreError, Table, Tag, TagColumn, TimeRange, TimeResolution,
    Value, Window,
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

fn store() -> FileStore {
    sensormark_stores::sqlite()
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
    let offers = store().layouts(&schema(), family);
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
            endpoint: store().endpoint(folder.path().to_str().unwrap()).unwrap(),
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
        now(store().administrator(&self.plan)).unwrap()
    }

    fn connect(&self) -> Box<dyn Session> {
        now(store().connect(&self.plan)).unwrap()
    }

    fn file(&self) -> PathBuf {
        self.folder.path().join(format!("{}.sqlite", self.plan.database))
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

/// A run that is killed before it has marked what it made leaves an empty file, or one with a header alone.
#[test]
fn what_was_made_and_not_marked_is_found_and_goes() {
    let mut database = Database::new(layout(Family::PerReading, ""));
    let mark = "6608b01611240000001";
    database.plan.database = DatabaseName::new(mark).unwrap();
    for header in ["", "PRAGMA journal_mode = WAL"] {
        fs::write(database.file(), "").unwrap();
        database.raw().execute_batch(header).unwrap();
        assert!(header.is_empty() || fs::metadata(database.file()).unwrap().len() > 0);
        let listed = now(database.administrator().databases()).unwrap();
        assert_eq!(listed, [(format!("sensormark_{mark}"), mark.to_owned())], "{header}");
        now(database.administrator().drop_database()).unwrap();
        assert!(database.names().is_empty(), "{header}");
    }
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
    plan.endpoint = store().endpoint(folder.to_str().unwrap()).unwrap();
    assert!(plan.endpoint.managed);
    let mut administrator = now(store().administrator(&plan)).unwrap();
    now(administrator.create()).unwrap();
    let mut session = now(store().connect(&plan)).unwrap();
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
    let error = now(store().connect(&database.plan)).err().unwrap();
    assert_eq!(error.kind(), ErrorKind::Unsupported);
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

/// 40 hosts with one tag, or three.
fn hosts(tags: usize) -> Schema {
    let column = |tag: usize| {
        TagColumn::Text((0..40).map(|host| format!("{}-{}", host / (1 + 10 * tag), tag)).collect())
    };
    Schema {
        tables: vec![Table {
            name: "cpu".into(),
            tags: (0..tags).map(|tag| Tag { name: format!("tag{tag}") }).collect(),
            fields: vec![Field { name: "usage".into(), kind: FieldType::F64, nullable: false }],
            entity: None,
            time_resolution: TimeResolution::Nanoseconds,
            series: Series::new((0..tags).map(column).collect()),
        }],
    }
}

fn questions() -> Vec<Query> {
    let passes = Predicate { field: 0, comparison: Comparison::Above, threshold: 90.0 };
    let fields = FieldSet::one(0);
    let coarse_filter = true;
    let asks = [
        Ask::Point { fields },
        Ask::Range { fields, coarse_filter },
        Ask::First(passes),
        Ask::Last(passes),
        Ask::Minimum { field: 0 },
        Ask::LastReading { fields },
        Ask::SeriesMatching(passes),
        Ask::Aggregate {
            aggregates: vec![Aggregate { function: Function::Max, field: 0 }],
            grouping: Grouping { window: Some(Window { width_ns: 60, origin_ns: 0 }), ..Grouping::default() },
            from_sums: false,
        },
    ];
    let selections = [
        Selection::One(3),
        Selection::Set(vec![3, 5]),
        Selection::Tagged { tag: 0, value: "3-0".into() },
        Selection::All,
    ];
    let mut questions = Vec::new();
    for ask in asks {
        for series in &selections {
            questions.push(Query {
                table: 0,
                series: series.clone(),
                range: TimeRange::new(1_000, 2_000),
                ask: ask.clone(),
            });
        }
    }
    questions.retain(|query| Question::of(query).is_some());
    questions
}

/// The plans of all questions' statements, with what was asked.
fn plans(tags: usize, variant: &str) -> Vec<(Query, String)> {
    let store = store();
    let schema = hosts(tags);
    let offers = store.layouts(&schema, Family::PerReading);
    let mut database = Database::new(offers.iter().find(|offer| offer.variant == variant).unwrap().layout);
    database.plan.schema = Arc::new(schema);
    now(database.administrator().create()).unwrap();
    let mut session = database.connect();
    let mut batch = Batch::new(0, &database.plan.schema.tables[0]);
    for row in 0..20_000_i64 {
        batch.times_ns.push(row / 40);
        batch.series.push(u32::try_from(row % 40).unwrap());
        batch.columns[0].push(Value::F64(row as f64)).unwrap();
    }
    now(session.write(&batch)).unwrap();
    now(database.administrator().settle()).unwrap();
    let mut session = database.connect();
    session.keep_statements().unwrap();
    let mut plans = Vec::new();
    for query in questions() {
        now(session.query(&query)).unwrap();
        for statement in now(session.take_statements(true)).unwrap() {
            plans.push((query.clone(), statement.plan.unwrap()));
        }
    }
    plans
}

#[test]
fn what_an_index_is_for_goes_through_it() {
    for (tags, variant) in [(1, ""), (1, "clustered"), (3, ""), (3, "clustered"), (3, "tags-inline")] {
        for (query, plan) in plans(tags, variant) {
            // All series without a table of tags: the range of time alone is no help, and a scan is right.
            let scans = query.series == Selection::All && plan.contains("SCAN r");
            let inline = tags == 1 || variant == "tags-inline";
            assert!(
                !plan.contains("SCAN r") || (scans && inline),
                "{tags} tags, {variant}: {query:?}: {plan}"
            );
            let sorts = matches!(query.ask, Ask::Minimum { .. } | Ask::Aggregate { .. });
            if matches!(query.series, Selection::One(_)) && !sorts {
                assert!(!plan.contains("TEMP B-TREE"), "{tags} tags, {variant}: {query:?}: {plan}");
            }
            if matches!(query.ask, Ask::LastReading { .. } | Ask::SeriesMatching(_)) {
                assert!(!plan.contains("SCAN r"), "{tags} tags, {variant}: {query:?}: {plan}");
            }
        }
    }
}
