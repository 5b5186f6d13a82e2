//! The driver of DuckDB on its real library. Without it, it is ignored and says why.

use libtest_mimic::{Arguments, Failed, Trial};
use sensormark_drivers::duckdb::Duckdb;
use sensormark_drivers::guard::{Guarded, opened};
use sensormark_drivers::{
    Block, Cell, Driver, Fault, MadeRow, Named, Place, Purpose, RowShape, Rows, Source,
};
use sensormark_kit::Row;
use sensormark_store::{
    Batch, Column, ErrorKind, Field, FieldType, Schema, SessionKind, Table, TimeResolution, Value,
};
use std::fs::File;
use std::time::{Duration, Instant};
use tempfile::TempDir;

type Tested = Result<(), Failed>;

const SECOND: i64 = 1_000_000_000;

fn words(fault: Fault) -> String {
    match fault {
        Fault::Partly { fault, .. } => words(*fault),
        Fault::Known(error) => error.to_string(),
        Fault::Refused { text, .. } => text,
        other @ Fault::FromReadings => format!("{other:?}"),
    }
}

fn failed(fault: Fault) -> Failed {
    words(fault).into()
}

fn place(folder: &TempDir, purpose: Purpose) -> Place {
    let store = Named { name: "duckdb".into(), title: "DuckDB".into(), url: "duckdb:/folder".into() };
    let path = folder.path().to_str().expect("a path that is text");
    Place {
        endpoint: Duckdb.endpoint(&store, &format!("duckdb:{path}")).expect("a URL"),
        database: None,
        file: folder.path().join("test.duckdb"),
        timeout: Duration::from_secs(20),
        purpose,
    }
}

/// An empty file becomes a database when an administrator opens it.
async fn made(folder: &TempDir) -> Result<Guarded, Failed> {
    let place = place(folder, Purpose::Administer);
    File::create_new(&place.file).expect("the folder is ours");
    opened(&Duckdb, &place).await.map_err(failed)
}

/// A table of a series with a value of each type; all but the first may be absent.
fn table() -> Table {
    let kinds = [FieldType::F64, FieldType::I64, FieldType::U16, FieldType::Bool, FieldType::Text];
    let fields = kinds.into_iter().enumerate();
    let mut schema = Schema::of_sensors([7, 8], TimeResolution::Nanoseconds);
    let mut table = schema.tables.remove(0);
    table.fields = fields
        .map(|(number, kind)| Field { name: format!("f{number}"), kind, nullable: number > 0 })
        .collect();
    table
}

fn batch(table: &Table, readings: usize) -> Batch {
    let mut batch = Batch::new(0, table);
    for number in 0..readings {
        let whole = number as i64;
        batch.times_ns.push(SECOND + whole);
        batch.series.push(u32::from(number % 2 == 1));
        let values = [
            Value::F64(whole as f64 / 4.0),
            Value::I64(i64::MIN + whole),
            Value::I64(65_535 - whole % 9),
            Value::Bool(number % 3 == 1),
            Value::Text(format!("it's the reading of number {number}").chars().take(number).collect()),
        ];
        for (place, value) in values.into_iter().enumerate() {
            let value = if place > 0 && (number + place) % 4 == 0 { Value::Null } else { value };
            batch.columns[place].push(value).expect("its type");
        }
    }
    batch
}

const SOURCES: [Source; 7] = [
    Source::Series,
    Source::Time(1),
    Source::Field(0),
    Source::Field(1),
    Source::Field(2),
    Source::Field(3),
    Source::Field(4),
];
const TYPES: [&str; 7] = ["INTEGER", "TIMESTAMP_NS", "DOUBLE", "BIGINT", "USMALLINT", "BOOLEAN", "VARCHAR"];

fn typed(types: &[&str]) -> Vec<String> {
    types.iter().map(|&name| name.to_owned()).collect()
}

/// What a question with these values gives, a batch of the table.
async fn read(
    connection: &mut Guarded,
    (text, types): (&str, &[&str]),
    values: &[Cell<'_>],
    table: &Table,
) -> Result<Batch, Failed> {
    let statement = connection.prepare(text, &typed(types)).await.map_err(failed)?;
    let mut back = Batch::new(0, table);
    let mut each = |row: &dyn Row| {
        back.series.push(u32::try_from(row.integer(0)?).unwrap_or(u32::MAX));
        back.times_ns.push(row.integer(1)?);
        row.push_fields(2, table.all_fields(), &mut back.columns)?;
        Ok(true)
    };
    connection.query(statement, values, &mut each).await.map_err(failed)?;
    Ok(back)
}

/// Writes by each encoder, and reads back: with a bound of time, and without one, when rows come as they are made.
async fn writes() -> Tested {
    let folder = tempfile::tempdir()?;
    let mut connection = made(&folder).await?;
    let columns: Vec<String> =
        TYPES.iter().enumerate().map(|(place, kind)| format!("c{place} {kind}")).collect();
    connection.run(&format!("CREATE TABLE w ({})", columns.join(", "))).await.map_err(failed)?;
    let table = table();
    let one = "INSERT INTO \"w\" VALUES ($1, $2, $3, $4, $5, $6, $7)";
    let two = &format!("{one}, ($8, $9, $10, $11, $12, $13, $14)");
    let lists = "INSERT INTO w SELECT unnest($1), unnest($2), unnest($3), unnest($4), unnest($5), unnest($6), unnest($7)";
    let arrays: Vec<String> = TYPES.iter().map(|name| format!("{name}[]")).collect();
    for (encoder, text, types, sent) in [
        ("rows", one, typed(&TYPES), 5_000),
        ("rows", two, typed(&[TYPES, TYPES].concat()), 2_500),
        ("appender", one, typed(&TYPES), 1),
        ("arrays", lists, arrays, 1),
    ] {
        connection.run("TRUNCATE w").await.map_err(failed)?;
        let statement = connection.prepare(text, &types).await.map_err(failed)?;
        // More than two of DuckDB's vectors.
        let batch = batch(&table, 5_000);
        let rows = Rows::new(&batch, &table, &SOURCES, RowShape::Readings, 0..5_000);
        let block = Block { statement, encoder, repeated: None, rows: &rows };
        let carried = connection.write(block).await.map_err(failed)?;
        if carried != sent {
            return Err(format!("{encoder}: {carried} statements, not {sent}").into());
        }
        let set = "SELECT * FROM w WHERE (c0) IN (SELECT unnest($1::INTEGER[])) AND c1 >= $2 ORDER BY c1";
        for time in [Some(Duration::from_secs(20)), None] {
            connection.within(time);
            let values = [Cell::Integers(&[0, 1]), Cell::I64(SECOND)];
            let back = read(&mut connection, (set, &["INTEGER[]", "TIMESTAMP_NS"]), &values, &table).await?;
            if back != batch {
                return Err(format!("{encoder}: what came back is not what was written").into());
            }
        }
        connection.within(Some(Duration::from_secs(20)));
    }
    let texts = "SELECT count(*) FROM w WHERE c6 IN (SELECT unnest($1::VARCHAR[]))";
    let statement = connection.prepare(texts, &typed(&["VARCHAR[]"])).await.map_err(failed)?;
    let mut found = 0;
    let mut each = |row: &dyn Row| {
        found = row.integer(0)?;
        Ok(true)
    };
    connection.query(statement, &[Cell::Texts(&["it", "it'"])], &mut each).await.map_err(failed)?;
    if found != 2 {
        return Err(format!("{found} texts of 2").into());
    }
    connection.close().await.map_err(failed)
}

/// Records of a span as lists, rows that the client made, and a plan with printed values.
async fn records() -> Tested {
    let folder = tempfile::tempdir()?;
    let mut connection = made(&folder).await?;
    let create =
        "CREATE TABLE r (s INTEGER, span BIGINT, size INTEGER, ns INTEGER[], a DOUBLE[], b VARCHAR[])";
    connection.run(create).await.map_err(failed)?;
    let table = table();
    let sources = [
        Source::Series,
        Source::Span,
        Source::Size,
        Source::Offsets,
        Source::FieldArray(0),
        Source::FieldArray(4),
    ];
    let batch = batch(&table, 9_000);
    let rows = Rows::new(&batch, &table, &sources, RowShape::Records(SECOND), 0..9_000);
    let types = ["INTEGER", "BIGINT", "INTEGER", "INTEGER[]", "DOUBLE[]", "VARCHAR[]"];
    let statement = connection.prepare("append: \"r\"", &typed(&types)).await.map_err(failed)?;
    let block = Block { statement, encoder: "appender", repeated: None, rows: &rows };
    connection.write(block).await.map_err(failed)?;
    let asked = "SELECT ns, a, b FROM r WHERE s = $1 AND span = 1 AND size = 4500";
    let statement = connection.prepare(asked, &typed(&["INTEGER"])).await.map_err(failed)?;
    let (mut offsets, mut numbers, mut texts) =
        (Vec::new(), Column::new(FieldType::F64), Column::new(FieldType::Text));
    let mut each = |row: &dyn Row| {
        offsets.extend(row.offsets(0)?);
        row.elements(1, &mut numbers)?;
        row.elements(2, &mut texts)?;
        Ok(true)
    };
    connection.query(statement, &[Cell::I64(1)], &mut each).await.map_err(failed)?;
    let odd = (1..9_000).step_by(2);
    assert_eq!(offsets, odd.clone().map(|it| it as i64).collect::<Vec<_>>());
    for (place, reading) in odd.enumerate() {
        assert_eq!(numbers.value(place), batch.columns[0].value(reading));
        assert_eq!(texts.value(place), batch.columns[4].value(reading));
    }
    let made = [MadeRow { reading: 0, values: vec![Cell::I64(5)] }];
    let made = Rows::made(&batch, &table, &[Source::Made(0)], &made);
    let insert = "INSERT INTO r (span) SELECT unnest($1::BIGINT[])";
    let statement = connection.prepare(insert, &typed(&["BIGINT[]"])).await.map_err(failed)?;
    let block = Block { statement, encoder: "arrays", repeated: None, rows: &made };
    connection.write(block).await.map_err(failed)?;
    let plan = connection.plan(&format!("EXPLAIN {insert}"), &["5".to_owned()]).await.map_err(failed)?;
    assert!(plan.is_some_and(|plan| plan.contains("list_value(5)")));
    connection.close().await.map_err(failed)
}

/// Failures in DuckDB's words without paths, a statement that takes too long, a file that is dropped, and one that is only looked at.
async fn faults() -> Tested {
    let folder = tempfile::tempdir()?;
    let mut connection = made(&folder).await?;
    for (text, says) in [
        ("SELECT * FROM nothing", "Catalog Error: Table with name nothing does not exist!"),
        ("SELECT 'a'::INTEGER", "Conversion Error"),
        ("COPY (SELECT 1) TO '/nowhere/at/all'", "IO Error"),
    ] {
        let said = words(connection.run(text).await.expect_err("refused"));
        assert!(said.starts_with(says) && !said.contains("/nowhere") && !said.contains('\n'), "{said}");
    }
    connection.within(Some(Duration::from_millis(200)));
    let begun = Instant::now();
    let endless = "SELECT count(*) FROM range(1000000000) a, range(1000000000) b";
    let late = words(connection.run(endless).await.expect_err("too late"));
    assert!(late.starts_with("INTERRUPT Error"), "{late}");
    assert!(begun.elapsed() < Duration::from_secs(5), "{:?} for 200 ms", begun.elapsed());
    connection.run("CREATE TABLE t (x INTEGER)").await.map_err(failed)?;
    let looking = place(&folder, Purpose::Look);
    let mut looked = opened(&Duckdb, &looking).await.map_err(failed)?;
    let tables = looked.prepare("SELECT table_name FROM duckdb_tables()", &[]).await.map_err(failed)?;
    for is_open in [true, false] {
        let mut names = Vec::new();
        let mut each = |row: &dyn Row| {
            names.push(row.printed(0)?);
            Ok(true)
        };
        looked.query(tables, &[], &mut each).await.map_err(failed)?;
        assert_eq!(names, ["t"]);
        match looked.run("DROP TABLE t").await.expect_err("only looked at") {
            Fault::Known(error) => assert_eq!(error.kind(), ErrorKind::Unsupported),
            other => panic!("{}", words(other)),
        }
        if is_open {
            // The last connection closes the file; to look into it leaves no trace.
            connection.close().await.map_err(failed)?;
            connection = opened(&Duckdb, &looking).await.map_err(failed)?;
        }
    }
    let mut other = opened(&Duckdb, &place(&folder, Purpose::Work)).await.map_err(failed)?;
    Duckdb.forget(&looking.file);
    match other.run("SELECT 1").await.expect_err("dropped") {
        Fault::Known(error) => assert_eq!(error.kind(), ErrorKind::NotFound),
        other => panic!("{}", words(other)),
    }
    Ok(())
}

fn main() {
    assert_eq!(Duckdb.session(), SessionKind::Blocking);
    let missing = Duckdb.installation().and_then(|found| found.err()).map(|error| error.to_string());
    if let Some(reason) = &missing {
        println!("ignored: {reason}");
    }
    fn block_on(test: impl Future<Output = Tested>) -> Tested {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
        runtime.map_err(|error| error.to_string())?.block_on(test)
    }
    let trials = vec![
        Trial::test("values come back by each encoder", || block_on(writes())),
        Trial::test("records are lists", || block_on(records())),
        Trial::test("failures have its words and nothing waits too long", || block_on(faults())),
    ];
    let trials = trials.into_iter().map(|trial| trial.with_ignored_flag(missing.is_some())).collect();
    libtest_mimic::run(&Arguments::from_args(), trials).exit();
}
