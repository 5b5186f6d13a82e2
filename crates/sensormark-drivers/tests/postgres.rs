//! The driver of PostgreSQL's protocol against a server that this test starts. Without one it is ignored and says why.

use libtest_mimic::{Arguments, Failed, Trial};
use sensormark_drivers::guard::{Guarded, opened};
use sensormark_drivers::postgres::Postgres;
use sensormark_drivers::{Block, Cell, Driver, Fault, Named, Place, Purpose, RowShape, Rows, Source};
use sensormark_kit::Document;
use sensormark_store::{
    Batch, Column, ErrorKind, Field, FieldType, Schema, SessionKind, Table, TimeResolution, Values,
};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Root may not run a server: nobody does.
const NOBODY: u32 = 65_534;

struct Server {
    process: Child,
    folder: tempfile::TempDir,
    port: u16,
}

impl Drop for Server {
    fn drop(&mut self) {
        drop(self.process.kill());
        drop(self.process.wait());
    }
}

fn programs() -> Result<PathBuf, String> {
    let folders = std::fs::read_dir("/usr/lib/postgresql").into_iter().flatten().flatten();
    let mut found: Vec<PathBuf> = folders.map(|entry| entry.path().join("bin")).collect();
    found.retain(|folder| folder.join("initdb").is_file());
    found.sort();
    found.pop().ok_or_else(|| "no programs of PostgreSQL below /usr/lib/postgresql".to_owned())
}

fn command(program: &Path, arguments: &[&str]) -> Command {
    let mut command = Command::new(program);
    command.args(arguments).stdout(Stdio::null()).stderr(Stdio::null()).current_dir("/");
    if is_root() {
        command.uid(NOBODY).gid(NOBODY);
    }
    command
}

fn is_root() -> bool {
    std::fs::read_to_string("/proc/self/status").is_ok_and(|text| text.contains("\nUid:\t0\t"))
}

fn start() -> Result<Server, String> {
    let programs = programs()?;
    let failed = |error: std::io::Error| error.to_string();
    let folder = tempfile::tempdir().map_err(failed)?;
    if is_root() {
        std::os::unix::fs::chown(folder.path(), Some(NOBODY), Some(NOBODY)).map_err(failed)?;
    }
    let data = folder.path().join("data");
    let data = data.to_str().ok_or("a path that is no text")?;
    let words = ["-D", data, "-U", "sensormark", "-A", "trust", "--no-sync", "--locale=C", "--encoding=UTF8"];
    let made = command(&programs.join("initdb"), &words).status().map_err(failed)?;
    if !made.success() {
        return Err("initdb failed".to_owned());
    }
    let listener = std::net::TcpListener::bind("127.0.0.1:0").map_err(failed)?;
    let port = listener.local_addr().map_err(failed)?.port();
    drop(listener);
    let port_text = port.to_string();
    let words = [
        "-D",
        data,
        "-p",
        &port_text,
        "-h",
        "127.0.0.1",
        "-c",
        "unix_socket_directories=",
        "-c",
        "fsync=off",
    ];
    let process = command(&programs.join("postgres"), &words).spawn().map_err(failed)?;
    let server = Server { process, folder, port };
    let begun = Instant::now();
    // It takes connections before it takes questions.
    let asked = ["-h", "127.0.0.1", "-p", &port_text];
    let is_ready =
        || command(&programs.join("pg_isready"), &asked).status().is_ok_and(|status| status.success());
    while !is_ready() {
        if begun.elapsed() > Duration::from_secs(30) {
            return Err("the server does not answer".to_owned());
        }
        std::thread::sleep(Duration::from_millis(50));
    }
    Ok(server)
}

impl Server {
    fn place(&self, timeout: Duration) -> Place {
        let url = format!("postgresql://sensormark@127.0.0.1:{}/postgres?sslmode=prefer", self.port);
        let store = Named { name: "postgresql".into(), title: "PostgreSQL".into(), url: String::new() };
        let endpoint = Postgres.endpoint(&store, &url).expect("a URL");
        assert_eq!(endpoint.ports, [self.port]);
        Place {
            endpoint,
            database: None,
            file: self.folder.path().to_path_buf(),
            timeout,
            purpose: Purpose::Work,
        }
    }
}

fn words(fault: Fault) -> String {
    match fault {
        Fault::Partly { fault, .. } => words(*fault),
        Fault::Known(error) => error.to_string(),
        Fault::Refused { codes, text, .. } => format!("{codes:?} {text}"),
        other @ Fault::FromReadings => format!("{other:?}"),
    }
}

type Tested = Result<(), Failed>;

fn failed(fault: Fault) -> Failed {
    words(fault).into()
}

fn types(names: &[&str]) -> Vec<String> {
    names.iter().map(|&name| name.to_owned()).collect()
}

/// A table of a series with a number, a text and a whole number that may be absent.
fn table() -> Table {
    let field = |name: &str, kind, nullable| Field { name: name.to_owned(), kind, nullable };
    let mut schema = Schema::of_sensors([7, 8], TimeResolution::Nanoseconds);
    let mut table = schema.tables.remove(0);
    table.fields = vec![
        field("a", FieldType::F64, false),
        field("b", FieldType::Text, true),
        field("c", FieldType::I64, true),
    ];
    table
}

fn batch(table: &Table, readings: usize) -> Batch {
    let mut batch = Batch::new(0, table);
    for number in 0..readings {
        batch.times_ns.push(1_000_000_000 + number as i64);
        batch.series.push(u32::from(number % 2 == 1));
        let value = |column: &mut Column, value| column.push(value).expect("its type");
        value(&mut batch.columns[0], sensormark_store::Value::F64(number as f64 / 4.0));
        value(&mut batch.columns[1], sensormark_store::Value::Text(format!("it's {number}")));
        let whole = if number % 3 == 0 {
            sensormark_store::Value::Null
        } else {
            sensormark_store::Value::I64(number as i64)
        };
        value(&mut batch.columns[2], whole);
    }
    batch
}

const SOURCES: [Source; 5] =
    [Source::Series, Source::Time(1), Source::Field(0), Source::Field(1), Source::Field(2)];
const TYPES: [&str; 5] = ["int4", "int8", "float8", "text", "int8"];

async fn count(connection: &mut Guarded, text: &str) -> Result<Vec<i64>, Failed> {
    let statement = connection.prepare(text, &[]).await.map_err(failed)?;
    let mut found = Vec::new();
    let mut each = |row: &dyn sensormark_kit::Row| {
        found.push(row.integer(0)?);
        Ok(true)
    };
    connection.query(statement, &[], &mut each).await.map_err(failed)?;
    Ok(found)
}

/// Writes by each encoder, and reads back.
async fn writes(server: &Server) -> Tested {
    let place = server.place(Duration::from_secs(10));
    let mut connection = opened(&Postgres, &place).await.map_err(failed)?;
    connection.run("CREATE TABLE w (s int4, t int8, a float8, b text, c int8)").await.map_err(failed)?;
    let table = table();
    let insert = "INSERT INTO w VALUES ($1, $2, $3, $4, $5)";
    let multi = "INSERT INTO w VALUES ($1, $2, $3, $4, $5), ($6, $7, $8, $9, $10)";
    let double = [TYPES, TYPES].concat();
    let copy = "COPY w FROM STDIN (FORMAT binary)";
    let arrays = "INSERT INTO w SELECT * FROM unnest($1, $2, $3, $4, $5)";
    let array_types = ["int4[]", "int8[]", "float8[]", "text[]", "int8[]"];
    let ways: [(&str, &str, &[&str], u64); 5] = [
        ("rows", insert, &TYPES, 6),
        ("rows", multi, &double, 3),
        ("copy", copy, &TYPES, 1),
        ("arrays", arrays, &array_types, 1),
        ("statements", insert, &TYPES, 1),
    ];
    for (encoder, text, kinds, sent) in ways {
        connection.run("TRUNCATE w").await.map_err(failed)?;
        let statement = connection.prepare(text, &types(kinds)).await.map_err(failed)?;
        let batch = batch(&table, 6);
        let rows = Rows::new(&batch, &table, &SOURCES, RowShape::Readings, 0..6);
        let block = Block { statement, encoder, repeated: None, rows: &rows };
        let carried = connection.write(block).await.map_err(failed)?;
        if carried != sent {
            return Err(format!("{encoder}: {carried} statements, not {sent}").into());
        }
        let asked = "SELECT s, t, a, b, c FROM w WHERE s = ANY($1) AND t >= $2 ORDER BY t";
        let statement = connection.prepare(asked, &types(&["int4[]", "int8"])).await.map_err(failed)?;
        let mut back = Batch::new(0, &table);
        let mut each = |row: &dyn sensormark_kit::Row| {
            back.series.push(u32::try_from(row.integer(0)?).unwrap_or(u32::MAX));
            back.times_ns.push(row.integer(1)?);
            row.push_fields(2, table.all_fields(), &mut back.columns)?;
            Ok(true)
        };
        connection.wants("SET plan_cache_mode = force_custom_plan");
        let values = [Cell::Integers(&[0, 1]), Cell::I64(0)];
        connection.query(statement, &values, &mut each).await.map_err(failed)?;
        if back != batch {
            return Err(format!("{encoder}: {back:?} came back for {batch:?}").into());
        }
    }
    if count(&mut connection, "SELECT (current_setting('plan_cache_mode') = 'force_custom_plan')::int4")
        .await?
        != [1]
    {
        return Err("the setting was not sent".into());
    }
    connection.close().await.map_err(failed)
}

/// Records of a span: documents and arrays.
async fn records(server: &Server) -> Tested {
    let place = server.place(Duration::from_secs(10));
    let mut connection = opened(&Postgres, &place).await.map_err(failed)?;
    connection
        .run("CREATE TABLE r (s int4, span int8, size int4, d jsonb, ns int4[], c int8[])")
        .await
        .map_err(failed)?;
    let table = table();
    let sources =
        [Source::Series, Source::Span, Source::Size, Source::Json, Source::Offsets, Source::FieldArray(2)];
    let kinds = types(&["int4", "int8", "int4", "jsonb", "int4[]", "int8[]"]);
    let batch = batch(&table, 4);
    let rows = Rows::new(&batch, &table, &sources, RowShape::Records(1_000_000_000), 0..4);
    for (encoder, text) in [
        ("copy", "COPY r FROM STDIN (FORMAT binary)"),
        ("rows", "INSERT INTO r VALUES ($1, $2, $3, $4, $5, $6)"),
    ] {
        let statement = connection.prepare(text, &kinds).await.map_err(failed)?;
        let block = Block { statement, encoder, repeated: None, rows: &rows };
        connection.write(block).await.map_err(failed)?;
    }
    let statement = connection.prepare("SELECT d, ns, c FROM r WHERE s = 0", &[]).await.map_err(failed)?;
    let mut seen = 0;
    let mut each = |row: &dyn sensormark_kit::Row| {
        let Document::Json(text) = row.document(0)? else { panic!("bytes") };
        assert!(text.contains("measurements"), "{text}");
        assert_eq!(row.offsets(1)?, [0, 2]);
        let mut column = Column::new(FieldType::I64);
        row.elements(2, &mut column)?;
        assert!(matches!(&column.values, Values::I64(values) if values.len() == 2) && !column.has(0));
        seen += 1;
        Ok(true)
    };
    connection.query(statement, &[], &mut each).await.map_err(failed)?;
    if seen != 2 {
        return Err(format!("{seen} records of 2").into());
    }
    let plan = connection.prepare("SELECT * FROM r WHERE s = $1", &types(&["int4"])).await.map_err(failed)?;
    let text = format!("EXPLAIN {}", connection.text(plan));
    let plan = connection.plan(&text, &["3".to_owned()]).await.map_err(failed)?.unwrap_or_default();
    if !plan.contains("Seq Scan") {
        return Err(plan.into());
    }
    connection.close().await.map_err(failed)
}

/// Failures: refusals with their codes, a lock that is waited for too long, a server that goes.
async fn faults(server: &Server) -> Tested {
    let place = server.place(Duration::from_millis(400));
    let mut connection = opened(&Postgres, &place).await.map_err(failed)?;
    let refused = words(connection.run("SELECT * FROM nothing").await.expect_err("no table"));
    if !refused.starts_with("[\"42P01\", \"42\"]") {
        return Err(refused.into());
    }
    let late = words(connection.run("SELECT pg_sleep(5)").await.expect_err("too late"));
    if !late.contains("57014") {
        return Err(format!("the server's own bound: {late}").into());
    }
    // Where the server does not give up by itself, the client does, and has it cancelled.
    connection.run("SET statement_timeout = 0").await.map_err(failed)?;
    let begun = Instant::now();
    match connection.run("SELECT pg_sleep(7.125)").await.expect_err("too late") {
        Fault::Known(error) if error.kind() == ErrorKind::Timeout && error.is_in_doubt() => {}
        other => return Err(words(other).into()),
    }
    if begun.elapsed() > Duration::from_secs(3) {
        return Err(format!("{:?} for 650 ms", begun.elapsed()).into());
    }
    drop(connection);
    let mut other = opened(&Postgres, &server.place(Duration::from_secs(5))).await.map_err(failed)?;
    let running = "SELECT count(*) FROM pg_stat_activity WHERE state = 'active' AND query LIKE '%7.125%' AND pid <> pg_backend_pid()";
    // The server hears of it a moment later than the client that asked.
    while count(&mut other, running).await? != [0] {
        if begun.elapsed() > Duration::from_secs(5) {
            return Err("the statement was not cancelled".into());
        }
    }
    let own = "SELECT pg_terminate_backend(pg_backend_pid())";
    let gone = other.run(own).await.expect_err("it ends itself");
    if !words(gone).contains("57P01") {
        return Err("another failure".into());
    }
    match other.run("SELECT 1").await.expect_err("gone") {
        Fault::Known(error) if error.kind() == ErrorKind::Unavailable => Ok(()),
        other => Err(words(other).into()),
    }
}

fn main() {
    assert_eq!(Postgres.session(), SessionKind::Async);
    let arguments = Arguments::from_args();
    let server = start();
    let ignored = server.as_ref().err().cloned();
    if let Some(reason) = &ignored {
        println!("ignored: {reason}");
    }
    let server = Arc::new(server.ok());
    let trial = |name: &str, test: fn(&Server) -> Tested| {
        let server = Arc::clone(&server);
        let run = move || server.as_ref().as_ref().map_or(Ok(()), test);
        Trial::test(name, run).with_ignored_flag(ignored.is_some())
    };
    fn block_on(test: impl Future<Output = Tested>) -> Tested {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
        runtime.map_err(|error| error.to_string())?.block_on(test)
    }
    let trials = vec![
        trial("values come back by each encoder", |server| block_on(writes(server))),
        trial("records are documents and arrays", |server| block_on(records(server))),
        trial("failures keep their codes and nothing waits too long", |server| block_on(faults(server))),
    ];
    let conclusion = libtest_mimic::run(&arguments, trials);
    drop(server);
    conclusion.exit();
}
