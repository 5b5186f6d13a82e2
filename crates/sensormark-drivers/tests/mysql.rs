//! The driver of MySQL's protocol against a server that this test starts. Without one it is ignored and says why.

use libtest_mimic::{Arguments, Failed, Trial};
use sensormark_drivers::guard::{Guarded, opened};
use sensormark_drivers::mysql::Mysql;
use sensormark_drivers::{Block, Cell, Driver, Fault, Named, Place, Purpose, RowShape, Rows, Source};
use sensormark_kit::{Document, Row};
use sensormark_store::{
    Batch, Column, ErrorKind, Field, FieldType, Schema, SessionKind, Table, TimeResolution,
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

/// The first of these programs that is there.
fn program(paths: &[&str]) -> Result<PathBuf, String> {
    let found = paths.iter().map(PathBuf::from).find(|path| path.is_file());
    found.ok_or_else(|| format!("none of {} is there", paths.join(", ")))
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
    let install = program(&["/usr/bin/mariadb-install-db", "/usr/local/mysql/scripts/mariadb-install-db"])?;
    let serve = program(&["/usr/sbin/mariadbd", "/usr/libexec/mariadbd", "/usr/local/mysql/bin/mariadbd"])?;
    let failed = |error: std::io::Error| error.to_string();
    let folder = tempfile::tempdir().map_err(failed)?;
    if is_root() {
        std::os::unix::fs::chown(folder.path(), Some(NOBODY), Some(NOBODY)).map_err(failed)?;
    }
    let folder_text = folder.path().to_str().ok_or("a path that is no text")?;
    let data = format!("--datadir={folder_text}/data");
    let temporary = format!("--tmpdir={folder_text}");
    let words = ["--no-defaults", &data, &temporary, "--skip-test-db", "--skip-name-resolve", "--force"];
    let made = command(&install, &words).status().map_err(failed)?;
    if !made.success() {
        return Err("mariadb-install-db failed".to_owned());
    }
    let listener = std::net::TcpListener::bind("127.0.0.1:0").map_err(failed)?;
    let port = listener.local_addr().map_err(failed)?.port();
    drop(listener);
    let (port_text, socket) = (format!("--port={port}"), format!("--socket={folder_text}/socket"));
    let words = [
        "--no-defaults",
        &data,
        &temporary,
        &port_text,
        &socket,
        "--bind-address=127.0.0.1",
        "--skip-grant-tables",
        "--local-infile=1",
        "--innodb-flush-log-at-trx-commit=0",
    ];
    let process = command(&serve, &words).spawn().map_err(failed)?;
    let server = Server { process, folder, port };
    let begun = Instant::now();
    while std::net::TcpStream::connect(("127.0.0.1", port)).is_err() {
        if begun.elapsed() > Duration::from_secs(60) {
            return Err("the server does not answer".to_owned());
        }
        std::thread::sleep(Duration::from_millis(50));
    }
    Ok(server)
}

impl Server {
    fn place(&self, timeout: Duration) -> Place {
        let url = format!("mariadb://sensormark@127.0.0.1:{}/?ssl-mode=disabled", self.port);
        let store = Named { name: "mariadb".into(), title: "MariaDB".into(), url: String::new() };
        let endpoint = Mysql::default().endpoint(&store, &url).expect("a URL");
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

async fn count(connection: &mut Guarded, text: &str) -> Result<i64, Failed> {
    let statement = connection.prepare(text, &[]).await.map_err(failed)?;
    let mut found = 0;
    let mut each = |row: &dyn Row| {
        found = row.integer(0)?;
        Ok(true)
    };
    connection.query(statement, &[], &mut each).await.map_err(failed)?;
    Ok(found)
}

/// A connection with an empty database.
async fn connected(server: &Server, database: &str) -> Result<Guarded, Failed> {
    let place = server.place(Duration::from_secs(20));
    let mut connection = opened(&Mysql::default(), &place).await.map_err(failed)?;
    for text in [format!("CREATE DATABASE {database} CHARACTER SET utf8mb4"), format!("USE {database}")] {
        connection.run(&text).await.map_err(failed)?;
    }
    Ok(connection)
}

/// Writes by each encoder, and reads back.
async fn writes(server: &Server) -> Tested {
    let mut connection = connected(server, "writes").await?;
    let create = "CREATE TABLE w (s INT UNSIGNED, t BIGINT, a DOUBLE, b LONGTEXT, c BIGINT)";
    connection.run(create).await.map_err(failed)?;
    let table = table();
    let insert = "INSERT INTO w (s, t, a, b, c) VALUES (?, ?, ?, ?, ?)";
    let two = "INSERT INTO w (s, t, a, b, c) VALUES (?, ?, ?, ?, ?), (?, ?, ?, ?, ?)";
    let load = "LOAD DATA LOCAL INFILE 'batch' INTO TABLE w CHARACTER SET utf8mb4 (s, t, a, b, c)";
    let ways = [
        ("rows", insert, 6),
        ("rows", two, 3),
        ("bulk", insert, 1),
        ("literals", insert, 1),
        ("statements", insert, 1),
        ("infile", load, 1),
    ];
    for (encoder, text, sent) in ways {
        connection.run("TRUNCATE w").await.map_err(failed)?;
        let statement = connection.prepare(text, &[]).await.map_err(failed)?;
        let batch = batch(&table, 6);
        let rows = Rows::new(&batch, &table, &SOURCES, RowShape::Readings, 0..6);
        let block = Block { statement, encoder, repeated: None, rows: &rows };
        let carried = connection.write(block).await.map_err(failed)?;
        if carried != sent {
            return Err(format!("{encoder}: {carried} statements, not {sent}").into());
        }
        let asked = "SELECT s, t, a, b, c FROM w WHERE FIND_IN_SET(s, ?) AND t >= ? ORDER BY t";
        let statement = connection.prepare(asked, &[]).await.map_err(failed)?;
        let mut back = Batch::new(0, &table);
        let mut each = |row: &dyn Row| {
            back.series.push(u32::try_from(row.integer(0)?).unwrap_or(u32::MAX));
            back.times_ns.push(row.integer(1)?);
            row.push_fields(2, table.all_fields(), &mut back.columns)?;
            Ok(true)
        };
        let values = [Cell::Integers(&[0, 1]), Cell::I64(0)];
        connection.query(statement, &values, &mut each).await.map_err(failed)?;
        if back != batch {
            return Err(format!("{encoder}: {back:?} came back for {batch:?}").into());
        }
    }
    connection.close().await.map_err(failed)
}

/// Records of a span as documents, with values of the client's, and times in two parts.
async fn records(server: &Server) -> Tested {
    let mut connection = connected(server, "records").await?;
    let create = "CREATE TABLE r (s INT UNSIGNED, span BIGINT, ns INT, size INT, d JSON, place LONGTEXT)";
    connection.run(create).await.map_err(failed)?;
    let table = table();
    let sources =
        [Source::Series, Source::Span, Source::Nanosecond, Source::Size, Source::Json, Source::Made(0)];
    let batch = batch(&table, 4);
    let place = [Cell::Text("roof")];
    let rows =
        Rows::new(&batch, &table, &sources, RowShape::Records(1_000_000_000), 0..4).with_values(&place);
    let insert = "INSERT INTO r VALUES (?, ?, ?, ?, ?, ?)";
    let statement = connection.prepare(insert, &[]).await.map_err(failed)?;
    let block = Block { statement, encoder: "bulk", repeated: None, rows: &rows };
    connection.write(block).await.map_err(failed)?;
    let asked = "SELECT span, ns, size, d, place FROM r WHERE s = 1";
    let statement = connection.prepare(asked, &[]).await.map_err(failed)?;
    let mut seen = 0;
    let mut each = |row: &dyn Row| {
        assert_eq!((row.integer(0)?, row.integer(1)?, row.integer(2)?), (1, 1, 2));
        let Document::Json(text) = row.document(3)? else { panic!("bytes") };
        assert!(text.contains("measurements"), "{text}");
        assert_eq!(row.text(4)?, "roof");
        seen += 1;
        Ok(true)
    };
    connection.query(statement, &[], &mut each).await.map_err(failed)?;
    if seen != 1 {
        return Err(format!("{seen} records of 1").into());
    }
    let plan = connection.plan("EXPLAIN SELECT * FROM r WHERE s = ?", &["3".to_owned()]).await;
    let plan = plan.map_err(failed)?.unwrap_or_default();
    if !plan.contains("table=r") {
        return Err(plan.into());
    }
    connection.close().await.map_err(failed)
}

/// Failures: refusals with their numbers, a statement that takes too long, a server that goes.
async fn faults(server: &Server) -> Tested {
    let place = server.place(Duration::from_millis(400));
    let driver = Mysql::default();
    let mut connection = opened(&driver, &place).await.map_err(failed)?;
    connection.within(Some(place.timeout));
    let refused = words(connection.run("SELECT * FROM mysql.nothing").await.expect_err("no table"));
    if !refused.starts_with("[\"1146\"]") {
        return Err(refused.into());
    }
    let late = words(connection.run("SELECT SLEEP(5)").await.expect_err("too late"));
    if !late.contains("1969") {
        return Err(format!("the server's own bound: {late}").into());
    }
    // Where the server does not give up by itself, the client does.
    connection.run("SET SESSION max_statement_time = 0").await.map_err(failed)?;
    let begun = Instant::now();
    match connection.run("SELECT SLEEP(7.125)").await.expect_err("too late") {
        Fault::Known(error) if error.kind() == ErrorKind::Timeout && error.is_in_doubt() => {}
        other => return Err(words(other).into()),
    }
    if begun.elapsed() > Duration::from_secs(3) {
        return Err(format!("{:?} for 400 ms", begun.elapsed()).into());
    }
    drop(connection);
    let mut other = opened(&driver, &server.place(Duration::from_secs(5))).await.map_err(failed)?;
    if count(&mut other, "SELECT 7").await? != 7 {
        return Err("another connection does not answer".into());
    }
    let gone = words(other.run("KILL CONNECTION_ID()").await.expect_err("it ends itself"));
    if !gone.contains("1927") {
        return Err(gone.into());
    }
    match other.run("SELECT 1").await.expect_err("gone") {
        Fault::Known(error) if error.kind() == ErrorKind::Unavailable => Ok(()),
        other => Err(words(other).into()),
    }
}

fn main() {
    assert_eq!(Mysql::default().session(), SessionKind::Async);
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
        trial("records are documents", |server| block_on(records(server))),
        trial("failures keep their numbers and nothing waits too long", |server| block_on(faults(server))),
    ];
    let conclusion = libtest_mimic::run(&arguments, trials);
    drop(server);
    conclusion.exit();
}
