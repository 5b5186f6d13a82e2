//! The driver of QuestDB against a server that this test starts. Without one it is ignored and says why.

use libtest_mimic::{Arguments, Failed, Trial};
use sensormark_drivers::guard::{Guarded, opened};
use sensormark_drivers::questdb::Questdb;
use sensormark_drivers::{
    Block, Cell, Driver, Fault, Named, Place, Prepared, Purpose, RowShape, Rows, Source,
};
use sensormark_store::{Batch, Entity, ErrorKind, Field, FieldType, Schema, Table, TimeResolution, Value};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};

struct Server {
    process: Child,
    _folder: tempfile::TempDir,
    ports: [u16; 2],
}

impl Drop for Server {
    fn drop(&mut self) {
        drop(self.process.kill());
        drop(self.process.wait());
    }
}

fn jar() -> Result<PathBuf, String> {
    let home = std::env::var_os("SENSORMARK_QUESTDB_HOME").map(PathBuf::from);
    let folder = home.unwrap_or_else(|| PathBuf::from("/opt/sensormark/servers/questdb/lib"));
    let entries = std::fs::read_dir(&folder).into_iter().flatten().flatten();
    let mut found = entries.map(|entry| entry.path());
    found
        .find(|path| path.extension().is_some_and(|ending| ending == "jar"))
        .ok_or_else(|| format!("no jar of QuestDB in {}", folder.display()))
}

fn free_port() -> Result<u16, String> {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").map_err(|error| error.to_string())?;
    listener.local_addr().map(|address| address.port()).map_err(|error| error.to_string())
}

fn start() -> Result<Server, String> {
    let jar = jar()?;
    let folder = tempfile::tempdir().map_err(|error| error.to_string())?;
    let ports = [free_port()?, free_port()?];
    let process = Command::new("java")
        .args(["--add-exports=java.base/jdk.internal.math=io.questdb"])
        .args(["--add-exports=java.base/jdk.internal.vm=io.questdb", "-Xmx512m", "-p"])
        .arg(jar)
        .args(["-m", "io.questdb/io.questdb.ServerMain", "-d"])
        .arg(folder.path())
        .env("QDB_PG_NET_BIND_TO", format!("127.0.0.1:{}", ports[0]))
        .env("QDB_HTTP_BIND_TO", format!("127.0.0.1:{}", ports[1]))
        .env("QDB_PG_PASSWORD", "p")
        .env("QDB_HTTP_USER", "admin")
        .env("QDB_HTTP_PASSWORD", "p")
        .env("QDB_HTTP_MIN_ENABLED", "false")
        .env("QDB_LINE_TCP_ENABLED", "false")
        .env("QDB_TELEMETRY_ENABLED", "false")
        .env("QDB_LINE_AUTO_CREATE_NEW_TABLES", "false")
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .map_err(|error| format!("java does not start: {error}"))?;
    let server = Server { process, _folder: folder, ports };
    let begun = Instant::now();
    while ports.iter().any(|port| std::net::TcpStream::connect(("127.0.0.1", *port)).is_err()) {
        if begun.elapsed() > Duration::from_secs(60) {
            return Err("the server does not answer".to_owned());
        }
        std::thread::sleep(Duration::from_millis(50));
    }
    Ok(server)
}

impl Server {
    fn place(&self, purpose: Purpose) -> Place {
        let url = format!("questdb://admin:p@127.0.0.1:{}/?http={}", self.ports[0], self.ports[1]);
        let store = Named { name: "questdb".into(), title: "QuestDB".into(), url: String::new() };
        let endpoint = Questdb.endpoint(&store, &url).expect("a URL");
        assert_eq!(endpoint.ports.len(), 2);
        Place { endpoint, database: None, file: PathBuf::new(), timeout: Duration::from_secs(10), purpose }
    }

    async fn opened(&self) -> Result<Guarded, Failed> {
        opened(&Questdb, &self.place(Purpose::Work)).await.map_err(failed)
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

/// A table of series with a number, a text and a whole number that may be absent; each series has an entity.
fn table() -> Table {
    let field = |name: &str, kind, nullable| Field { name: name.to_owned(), kind, nullable };
    let mut schema = Schema::of_sensors([7, 8, 9], TimeResolution::Nanoseconds);
    let mut table = schema.tables.remove(0);
    table.fields = vec![
        field("a", FieldType::F64, false),
        field("b", FieldType::Text, true),
        field("c", FieldType::I64, true),
    ];
    table.entity = Some(Entity {
        name: "sensors".to_owned(),
        columns: vec![field("place", FieldType::Text, true)],
        last_time_column: "seen".to_owned(),
    });
    table
}

fn batch(table: &Table, readings: usize) -> Batch {
    let mut batch = Batch::new(0, table);
    for number in 0..readings {
        batch.times_ns.push(1_000_000_000 + number as i64);
        batch.series.push([0, 1, 2][number % 3]);
        let whole = if number % 3 == 0 { Value::Null } else { Value::I64(number as i64) };
        let values = [Value::F64(number as f64 / 4.0), Value::Text(format!("it's\n\"{number}\"")), whole];
        for (column, value) in batch.columns.iter_mut().zip(values) {
            column.push(value).expect("its type");
        }
    }
    batch
}

const SOURCES: [Source; 5] =
    [Source::Tag(0), Source::Time(1), Source::Field(0), Source::Field(1), Source::Field(2)];

async fn make(connection: &mut Guarded, name: &str) -> Tested {
    let text = format!(
        "CREATE TABLE \"{name}.readings\" (\"sensor\" SYMBOL INDEX, \"time\" TIMESTAMP_NS, \"a\" DOUBLE, \"b\" VARCHAR, \"c\" LONG) TIMESTAMP(\"time\") PARTITION BY DAY WAL DEDUP UPSERT KEYS(\"sensor\", \"time\");
         CREATE TABLE \"{name}.sensors\" (\"_at\" TIMESTAMP_NS, \"sensor\" SYMBOL, \"place\" VARCHAR, \"seen\" TIMESTAMP_NS) TIMESTAMP(\"_at\") PARTITION BY YEAR WAL DEDUP UPSERT KEYS(\"sensor\", \"_at\")"
    );
    connection.run(&text).await.map_err(failed)
}

fn look(name: &str) -> String {
    format!("SELECT writerTxn, sequencerTxn, suspended FROM wal_tables() WHERE name = '{name}'")
}

async fn write(connection: &mut Guarded, text: &str, rows: &Rows<'_>) -> Result<u64, Fault> {
    let statement = connection.prepare(text, &[]).await?;
    connection.write(Block { statement, encoder: "lines", repeated: None, rows }).await
}

async fn asked(
    connection: &mut Guarded,
    statement: Prepared,
    values: &[Cell<'_>],
) -> Result<Vec<(i64, i64)>, Failed> {
    let mut found = Vec::new();
    let mut each = |row: &dyn sensormark_kit::Row| {
        found.push((row.integer(0)?, row.integer(1)?));
        Ok(true)
    };
    connection.query(statement, values, &mut each).await.map_err(failed)?;
    found.sort_unstable();
    Ok(found)
}

/// Lines are written, waited for, and read back: as one request, as one in pieces, and with an entity.
async fn writes(server: &Server) -> Tested {
    let mut connection = server.opened().await?;
    make(&mut connection, "w").await?;
    let table = table();
    for readings in [6, 5_000] {
        let batch = batch(&table, readings);
        let rows = Rows::new(&batch, &table, &SOURCES, RowShape::Readings, 0..readings);
        let statement = connection.prepare("w.readings", &[]).await.map_err(failed)?;
        let block = Block { statement, encoder: "lines", repeated: None, rows: &rows };
        let shown = connection.written(&block).unwrap_or_default();
        let first = "w.readings,sensor=7 a=0.0,b=\"it's\\\n\\\"0\\\"\" 1000000000\n";
        assert!(shown.starts_with(first) && shown.contains("in one request"), "{shown}");
        assert_eq!(connection.write(block).await.map_err(failed)?, 1);
        let text = "SELECT \"sensor\", \"time\"::long, \"a\", \"b\", \"c\" FROM \"w.readings\" WHERE \"time\" >= $1 ORDER BY \"time\"";
        let statement = connection.prepare(text, &types(&["TIMESTAMP_NS"])).await.map_err(failed)?;
        let mut back = Batch::new(0, &table);
        let mut each = |row: &dyn sensormark_kit::Row| {
            back.series.push(u32::try_from(row.integer(0)? - 7).unwrap_or(u32::MAX));
            back.times_ns.push(row.integer(1)?);
            row.push_fields(2, table.all_fields(), &mut back.columns)?;
            Ok(true)
        };
        connection.within(Some(Duration::from_secs(10)));
        assert!(connection.wants(&look("w.readings")));
        connection.query(statement, &[Cell::I64(i64::MIN)], &mut each).await.map_err(failed)?;
        assert!(back == batch, "what came back differs");
    }
    let batch = batch(&table, 1);
    let place = [Cell::Text("here")];
    let sources = [&[Source::Made(0)], &SOURCES[..]].concat();
    let rows = Rows::new(&batch, &table, &sources, RowShape::Readings, 0..1).with_values(&place);
    write(&mut connection, "w.sensors $1 w.readings $2 $3 $4 $5 $6", &rows).await.map_err(failed)?;
    connection.run(&look("w.sensors")).await.map_err(failed)?;
    let text = "SELECT \"sensor\", \"seen\"::long FROM \"w.sensors\" WHERE \"place\" = 'here'";
    let statement = connection.prepare(text, &[]).await.map_err(failed)?;
    assert_eq!(asked(&mut connection, statement, &[]).await?, [(7, 1_000_000_000)]);
    connection.close().await.map_err(failed)
}

/// Where nobody writes, a session looks once; where somebody may, each operation looks, and finds what another session wrote a moment ago.
async fn looks(server: &Server) -> Tested {
    let (mut one, mut other) = (server.opened().await?, server.opened().await?);
    make(&mut one, "l").await?;
    let (table, look) = (table(), look("l.readings"));
    let text = "SELECT count(), count() FROM \"l.readings\"";
    let statement = other.prepare(text, &[]).await.map_err(failed)?;
    for round in 1..=20_i64 {
        let mut batch = batch(&table, 100);
        batch.times_ns.iter_mut().for_each(|time| *time += round * 1_000);
        let rows = Rows::new(&batch, &table, &SOURCES, RowShape::Readings, 0..100);
        write(&mut one, "l.readings", &rows).await.map_err(failed)?;
        other.within(Some(Duration::from_secs(10)));
        assert!(other.wants(&look));
        assert_eq!(asked(&mut other, statement, &[]).await?, [(round * 100, round * 100)]);
        assert!(!other.wants(&look), "the same operation has looked");
    }
    other.nobody_writes(true);
    for wanted in [true, false, false] {
        other.within(Some(Duration::from_secs(10)));
        assert_eq!(other.wants(&look), wanted);
        asked(&mut other, statement, &[]).await?;
    }
    other.nobody_writes(false);
    other.within(Some(Duration::from_secs(10)));
    assert!(other.wants(&look));
    Ok(())
}

/// A list of symbols that is bound is the session's own, whoever asked before.
async fn lists(server: &Server) -> Tested {
    let mut connection = server.opened().await?;
    make(&mut connection, "s").await?;
    let table = table();
    let batch = batch(&table, 6);
    let rows = Rows::new(&batch, &table, &SOURCES, RowShape::Readings, 0..6);
    write(&mut connection, "s.readings", &rows).await.map_err(failed)?;
    connection.run(&look("s.readings")).await.map_err(failed)?;
    let text = "SELECT \"sensor\", \"time\"::long FROM \"s.readings\" r WHERE r.\"sensor\" IN ($1, $2) LATEST ON \"time\" PARTITION BY \"sensor\"";
    let (seven, eight, nine) = ((7, 1_000_000_003), (8, 1_000_000_004), (9, 1_000_000_005));
    for _ in 0..2 {
        for (list, wanted) in [([7, 8], [seven, eight]), ([8, 9], [eight, nine]), ([7, 9], [seven, nine])] {
            let mut other = server.opened().await?;
            for _ in 0..2 {
                let statement = other.prepare(text, &types(&["SYMBOL", "SYMBOL"])).await.map_err(failed)?;
                let values = list.map(Cell::I64);
                assert_eq!(asked(&mut other, statement, &values).await?, wanted);
                other.forget().await.map_err(failed)?;
            }
            other.close().await.map_err(failed)?;
        }
    }
    let statement = connection.prepare(text, &types(&["SYMBOL", "SYMBOL"])).await.map_err(failed)?;
    let text = format!("EXPLAIN {}", connection.text(statement));
    let plan = connection.plan(&text, &["7".to_owned(), "8".to_owned()]).await.map_err(failed)?;
    assert!(plan.as_ref().is_some_and(|plan| plan.contains("symbolFilter")), "{plan:?}");
    Ok(())
}

/// Refusals of both protocols, what is not written at all, and a server that is not there.
async fn faults(server: &Server) -> Tested {
    let mut connection = server.opened().await?;
    let refused = words(connection.run("DROP TABLE nothing").await.expect_err("no table"));
    assert!(refused.contains("00000") && refused.contains("does not exist"), "{refused}");
    let table = table();
    let mut batch = batch(&table, 2);
    let rows = Rows::new(&batch, &table, &SOURCES, RowShape::Readings, 0..2);
    let refused = words(write(&mut connection, "f.readings", &rows).await.expect_err("no table"));
    assert!(refused.starts_with("[\"400\", \"4xx\"]"), "{refused}");
    make(&mut connection, "f").await?;
    write(&mut connection, "f.readings", &rows).await.map_err(failed)?;
    batch.columns[2] = sensormark_store::Column::new(FieldType::I64);
    for value in [1, i64::MIN] {
        batch.columns[2].push(Value::I64(value)).expect("a number");
    }
    let rows = Rows::new(&batch, &table, &SOURCES, RowShape::Readings, 0..2);
    match write(&mut connection, "f.readings", &rows).await.expect_err("the least number") {
        Fault::Known(error) if error.kind() == ErrorKind::TooLarge && !error.is_in_doubt() => {}
        other => return Err(failed(other)),
    }
    let mut place = server.place(Purpose::Look);
    place.endpoint.url = sensormark_store::Secret::new("questdb://admin:p@127.0.0.1:9/?http=9");
    match opened(&Questdb, &place).await.err() {
        Some(Fault::Known(error)) if error.operation() == "connect to QuestDB" => Ok(()),
        other => Err(other.map_or_else(|| "nobody listens there".into(), failed)),
    }
}

fn main() {
    let arguments = Arguments::from_args();
    let server = start();
    let ignored = server.as_ref().err().cloned();
    if let Some(reason) = &ignored {
        println!("ignored: {reason}");
    }
    let server = Arc::new(server.ok());
    type Test = for<'a> fn(&'a Server) -> std::pin::Pin<Box<dyn Future<Output = Tested> + 'a>>;
    let tests: [(&str, Test); 4] = [
        ("lines are written and read back", |server| Box::pin(writes(server))),
        ("an answer has what was acknowledged", |server| Box::pin(looks(server))),
        ("lists of symbols are not mixed up", |server| Box::pin(lists(server))),
        ("failures are told", |server| Box::pin(faults(server))),
    ];
    let trial = |(name, test): (&'static str, Test)| {
        let server = Arc::clone(&server);
        let trial = Trial::test(name, move || {
            let server = server.as_ref().as_ref().ok_or("no server")?;
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
            runtime.block_on(test(server))
        });
        trial.with_ignored_flag(ignored.is_some())
    };
    let trials = tests.into_iter().map(trial).collect();
    let conclusion = libtest_mimic::run(&arguments, trials);
    drop(server);
    conclusion.exit();
}
