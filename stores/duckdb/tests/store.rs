//! What the conformance suite cannot see from outside: files, locks, other processes, time-outs, and classes of durability.

use libtest_mimic::{Arguments, Completion, Failed, Trial};
use sensormark_statements::FileStore;
use sensormark_store::{
    Administrator, Answer, Ask, Batch, DatabaseName, DaySplit, Durability, ErrorKind, Family, Field,
    FieldSet, FieldType, Layout, LocalFuture, Plan, Query, Schema, Selection, Series, Session, Store,
    StoreError, Table, Tag, TagColumn, TimeRange, TimeResolution, Value,
};
use std::fs;
use std::io::{BufRead, BufReader, Read};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll, Waker};
use tempfile::TempDir;

const SECOND: i64 = 1_000_000_000;
/// Names the folder whose database a process of ours is to hold open.
const HOLD: &str = "SENSORMARK_RUN_HOLDS_DATABASE_IN";
/// Names the folder in which a process of ours is to make databases until it is killed.
const MAKE: &str = "SENSORMARK_RUN_MAKES_DATABASES_IN";

fn main() {
    if let Some(folder) = std::env::var_os(HOLD) {
        return hold(Path::new(&folder));
    }
    if let Some(folder) = std::env::var_os(MAKE) {
        return make_for_ever(Path::new(&folder));
    }
    let tests: [(&str, fn()); 9] = [
        ("what is killed while it makes a database is found", killed_while_it_makes),
        ("files that are not ours stay as they are", foreign_files),
        ("a drop reaches open sessions and leaves nothing", dropped),
        ("one process at a time has a database open", one_process),
        ("who lists databases keeps none from being closed and opened", listed_meanwhile),
        ("a question that takes too long is cut", time_out),
        ("a refused batch leaves nothing behind", refused),
        ("what is refused is told apart", meanings),
        ("durability classes are read back", durability),
    ];
    let trial = |(name, test): (&'static str, fn())| {
        Trial::ignorable_test(name, move || match store().installation() {
            Ok(_) => {
                test();
                Ok::<_, Failed>(Completion::Completed)
            }
            Err(missing) => Ok(Completion::ignored_with(missing.to_string())),
        })
    };
    let trials = tests.into_iter().map(trial).collect();
    libtest_mimic::run(&Arguments::from_args(), trials).exit();
}

/// Takes the result of a future that is ready when first polled.
fn now<T>(mut future: LocalFuture<'_, Result<T, StoreError>>) -> Result<T, StoreError> {
    match future.as_mut().poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(result) => result,
        Poll::Pending => panic!("sessions that block are ready when first polled"),
    }
}

fn store() -> FileStore {
    sensormark_stores::duckdb()
}

fn schema() -> Schema {
    Schema {
        tables: vec![Table {
            name: "readings".into(),
            tags: vec![Tag { name: "sensor".into() }],
            fields: vec![Field { name: "number".into(), kind: FieldType::F64, nullable: false }],
            entity: None,
            time_resolution: TimeResolution::Nanoseconds,
            series: Series::new(vec![TagColumn::Integer(vec![7, 8])]),
        }],
    }
}

fn usual(family: Family) -> Layout {
    store().layouts(&schema(), family)[0].layout
}

fn plan(folder: &Path, layout: Layout) -> Plan {
    Plan {
        endpoint: store().endpoint(folder.to_str().unwrap()).unwrap(),
        database: DatabaseName::new("test").unwrap(),
        owner: "owner".into(),
        schema: Arc::new(schema()),
        layout,
        durability: Durability::Default,
        clients: 1,
        timeout_ms: 5_000,
    }
}

struct Database {
    plan: Plan,
    folder: TempDir,
}

impl Database {
    fn new(family: Family) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let plan = plan(folder.path(), usual(family));
        Self { plan, folder }
    }

    fn created(family: Family) -> Self {
        let database = Self::new(family);
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
        self.folder.path().join(format!("{}.duckdb", self.plan.database))
    }

    fn stored(&self) -> usize {
        let mut stored = 0;
        let mut count = |batch: &Batch| stored += batch.len();
        now(self.connect().scan(0, &mut count)).unwrap();
        stored
    }
}

fn batch(count: i64) -> Batch {
    let mut batch = Batch::new(0, &schema().tables[0]);
    for row in 0..count {
        batch.times_ns.push(row * 1_000_000);
        batch.series.push(u32::from(row % 3 == 0));
        batch.columns[0].push(Value::F64(row as f64)).unwrap();
    }
    batch
}

fn range() -> Query {
    Query {
        table: 0,
        series: Selection::All,
        range: TimeRange::new(0, i64::MAX),
        ask: Ask::Range { fields: FieldSet::one(0), coarse_filter: false },
    }
}

fn foreign_files() {
    let database = Database::new(Family::PerReading);
    let plain = b"somebody's notes".to_vec();
    fs::write(database.file(), &plain).unwrap();
    let mut administrator = database.administrator();
    for kind in [
        now(administrator.create()).unwrap_err().kind(),
        now(administrator.drop_database()).unwrap_err().kind(),
    ] {
        assert_eq!(kind, ErrorKind::Foreign);
    }
    assert!(now(administrator.databases()).unwrap().is_empty());
    assert_eq!(fs::read(database.file()).unwrap(), plain);
    assert_eq!(fs::read_dir(database.folder.path()).unwrap().count(), 1);
}

fn dropped() {
    let database = Database::created(Family::PerReading);
    let mut session = database.connect();
    now(session.write(&batch(10))).unwrap();
    now(database.administrator().drop_database()).unwrap();
    assert_eq!(fs::read_dir(database.folder.path()).unwrap().count(), 0);
    now(database.administrator().create()).unwrap();
    // The old session is of a database that is no more; the new one has the name and none of the readings.
    let error = now(session.write(&batch(10))).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::NotFound, "{error}");
    now(database.connect().write(&batch(5))).unwrap();
    drop(session);
    assert_eq!(database.stored(), 5);
}

/// A run's database in a folder.
fn numbered(folder: &Path, number: usize) -> Plan {
    let database = DatabaseName::new(&format!("6608b0161124{number:07x}")).unwrap();
    Plan { database, ..plan(folder, usual(Family::PerReading)) }
}

fn make_for_ever(folder: &Path) {
    println!("begun");
    for number in 0.. {
        let plan = numbered(folder, number);
        now(now(store().administrator(&plan)).unwrap().create()).unwrap();
    }
}

/// Whatever it was doing: of every file it is known whose it is.
fn killed_while_it_makes() {
    for after_ms in (0..200).step_by(10) {
        let folder = tempfile::tempdir().unwrap();
        let mut child = Command::new(std::env::current_exe().unwrap())
            .env(MAKE, folder.path())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
        std::thread::sleep(std::time::Duration::from_millis(after_ms));
        child.kill().unwrap();
        child.wait().unwrap();
        let is_file = |entry: &fs::DirEntry| entry.path().extension().is_some_and(|end| end == "duckdb");
        let files = || fs::read_dir(folder.path()).unwrap().flatten().filter(is_file).count();
        let there = files();
        let mut administrator = now(store().administrator(&numbered(folder.path(), there))).unwrap();
        let found = now(administrator.databases()).unwrap();
        assert_eq!(found.len(), there, "after {after_ms} ms: {found:?}");
        for number in 0..there {
            let plan = numbered(folder.path(), number);
            now(now(store().administrator(&plan)).unwrap().drop_database()).unwrap();
        }
        assert_eq!(files(), 0, "after {after_ms} ms");
    }
}

/// Holds a folder's database open until nobody listens any more.
fn hold(folder: &Path) {
    let plan = plan(folder, usual(Family::PerReading));
    let session = now(store().connect(&plan)).unwrap();
    println!("open");
    std::io::stdin().read_to_end(&mut Vec::new()).unwrap();
    drop(session);
}

fn one_process() {
    let database = Database::created(Family::PerReading);
    let mut other = Command::new(std::env::current_exe().unwrap())
        .env(HOLD, database.folder.path())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut said = String::new();
    let output = other.stdout.take().unwrap();
    BufReader::new(output).read_line(&mut said).unwrap();
    assert_eq!(said, "open\n");
    let refused = now(store().connect(&database.plan));
    let error = refused.err().expect("the other process has it open");
    assert_eq!(error.kind(), ErrorKind::Unavailable, "{error}");
    assert!(!error.is_in_doubt());
    assert!(error.to_string().contains("one process"), "{error}");
    assert!(store().one_process().is_some());
    // One that ends meanwhile is waited for.
    drop(other.stdin.take());
    assert_eq!(database.stored(), 0);
    assert!(other.wait().unwrap().success());
}

/// A database that is open twice in one process loses its log: the one that is closed first removes it.
fn listed_meanwhile() {
    const TIMES: usize = 300;
    let database = Database::created(Family::PerReading);
    let is_over = AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            while !is_over.load(Ordering::Relaxed) {
                assert_eq!(now(database.administrator().databases()).unwrap().len(), 1);
            }
        });
        let write = || now(store().connect(&database.plan)).and_then(|mut one| now(one.write(&batch(10))));
        let written: Result<Vec<_>, _> = (0..TIMES).map(|_| write()).collect();
        let settled = now(database.administrator().settle());
        is_over.store(true, Ordering::Relaxed);
        written.unwrap();
        settled.unwrap();
    });
    assert_eq!(database.stored(), 10 * TIMES);
}

fn time_out() {
    let mut database = Database::created(Family::PerReading);
    now(database.connect().write(&batch(1_000_000))).unwrap();
    database.plan.timeout_ms = 1;
    let mut session = database.connect();
    let error = now(session.query(&range())).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Timeout, "{error}");
    database.plan.timeout_ms = 60_000;
    match now(database.connect().query(&range())).unwrap() {
        Answer::Readings(readings) => assert_eq!(readings.len(), 1_000_000),
        other => panic!("{other:?}"),
    }
}

fn refused() {
    let split = DaySplit { day_start_ns: 0, day_end_ns: 1 };
    let per_ns = SECOND;
    for family in [Family::PerReading, Family::Summary { per_ns, split }] {
        let database = Database::created(family);
        let mut wrong = batch(100);
        wrong.columns[0].present = Some((0..100).map(|row| row != 60).collect());
        let error = now(database.connect().write(&wrong)).unwrap_err();
        assert_eq!((error.kind(), error.acknowledged()), (ErrorKind::Rejected, 0), "{error}");
        assert_eq!(database.stored(), 0);
    }
}

fn durability() {
    for (class, expected) in
        [(Durability::Default, "STANDARD"), (Durability::Durable, "STANDARD"), (Durability::Relaxed, "NONE")]
    {
        let mut database = Database::new(Family::PerReading);
        database.plan.durability = class;
        now(database.administrator().create()).unwrap();
        let settings = now(database.administrator().settings()).unwrap();
        let of = |name: &str| {
            let setting = settings.iter().find(|setting| setting.name == name);
            setting.map(|setting| setting.value.as_str())
        };
        assert_eq!(of("fsync_mode"), Some(expected));
        assert_eq!(of("memory_limit"), Some("1.0 GiB"));
    }
    let mut database = Database::created(Family::PerReading);
    database.plan.durability = Durability::Unacknowledged;
    let error = now(store().connect(&database.plan)).err();
    assert_eq!(error.map(|it| it.kind()), Some(ErrorKind::Unsupported));
}

/// Only what another transaction may have done is a conflict, which is begun again.
fn meanings() {
    let database = Database::created(Family::PerReading);
    let mut administrator = now(store().administrator(&database.plan)).unwrap();
    let mut perform = |statement: &str| now(administrator.perform(statement)).map(drop);
    perform("CREATE TABLE owners (number INTEGER PRIMARY KEY)").unwrap();
    perform("CREATE TABLE owned (number INTEGER NOT NULL CHECK (number < 9) REFERENCES owners (number))")
        .unwrap();
    perform("INSERT INTO owners VALUES (1)").unwrap();
    for (statement, kind) in [
        ("INSERT INTO owners VALUES (1)", ErrorKind::Conflict),
        ("INSERT INTO owned VALUES (2)", ErrorKind::Rejected),
        ("INSERT INTO owned VALUES (NULL)", ErrorKind::Rejected),
        ("INSERT INTO owned VALUES (9)", ErrorKind::Rejected),
        ("INSERT INTO nowhere VALUES (1)", ErrorKind::NotFound),
    ] {
        let refused = perform(statement).expect_err(statement);
        assert_eq!(refused.kind(), kind, "{statement}: {refused}");
    }
}
