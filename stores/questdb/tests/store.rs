//! What the conformance suite cannot see: partitions, what a settled table takes on the disk, and when a session looks at the write-ahead log.

use libtest_mimic::{Arguments, Failed, Trial};
use sensormark_server::{ManagedServer, Supervisor};
use sensormark_store::{
    Administrator, Answer, Ask, Batch, DatabaseName, Durability, Family, Field, FieldSet, FieldType, Plan,
    Query, Schema, Selection, Series, ServerOptions, Session, Store, Table, Tag, TagColumn, TimeRange,
    TimeResolution, Value,
};
use sensormark_stores::questdb;
use std::error::Error;
use std::path::Path;
use std::sync::{Arc, OnceLock};

type Outcome<T = ()> = Result<T, Box<dyn Error>>;
type Test = fn(&ManagedServer) -> Outcome;

const SECOND_NS: i64 = 1_000_000_000;
const HOUR_NS: i64 = 3_600 * SECOND_NS;
/// Midnight UTC at the start of 1 March 2024.
const START_NS: i64 = 1_709_251_200 * SECOND_NS;
const SENSORS: u32 = 100;
const SITES: u32 = 10;

fn main() {
    let missing = questdb().installation().err();
    if let Some(reason) = &missing {
        eprintln!("ignored: {reason}");
    }
    let server: Arc<OnceLock<ManagedServer>> = Arc::default();
    let tests: [(&str, Test); 4] = [
        ("a partition is as long as the rate asks", partitions),
        ("a settled table takes what its readings take", settled),
        ("the log is looked at once where nobody writes", looked_at),
        ("the latest readings of each tag are its own", each_of_its_own),
    ];
    let trial = |(name, test): (&'static str, Test)| {
        let server = Arc::clone(&server);
        let trial = Trial::test(name, move || {
            let server = server.get_or_init(|| started().expect("QuestDB starts"));
            test(server).map_err(|error| Failed::from(error.to_string()))
        });
        trial.with_ignored_flag(missing.is_some())
    };
    let trials = tests.into_iter().map(trial).collect();
    let mut arguments = Arguments::from_args();
    arguments.test_threads.get_or_insert(1);
    let conclusion = libtest_mimic::run(&arguments, trials);
    // Before the process ends: this stops the server.
    drop(server);
    conclusion.exit();
}

fn started() -> Outcome<ManagedServer> {
    let options = ServerOptions { memory_bytes: 1 << 30, clients: 4, ..ServerOptions::default() };
    Ok(Supervisor::new(None)?.start(&questdb(), &options, None)?)
}

fn run<T>(future: impl Future<Output = Outcome<T>>) -> Outcome<T> {
    let mut runtime = tokio::runtime::Builder::new_current_thread();
    runtime.enable_all().build()?.block_on(future)
}

/// Sensors with ten fields, each read so often.
fn plan(server: &ManagedServer, name: &str, interval_ns: Option<i64>) -> Outcome<Plan> {
    let sensors = TagColumn::Text((0..SENSORS).map(|sensor| format!("sensor_{sensor}")).collect());
    let sites = TagColumn::Text((0..SENSORS).map(|sensor| format!("site_{}", sensor % SITES)).collect());
    let field =
        |number: u32| Field { name: format!("value_{number}"), kind: FieldType::F64, nullable: false };
    let schema = Arc::new(Schema {
        tables: vec![Table {
            name: "readings".into(),
            tags: ["sensor", "site"].map(|name| Tag { name: name.into() }).to_vec(),
            fields: (0..10).map(field).collect(),
            entity: None,
            time_resolution: TimeResolution::Seconds,
            series: Series::new(vec![sensors, sites]).every(interval_ns.unwrap_or(0)),
        }],
    });
    let layout = questdb().layouts(&schema, Family::PerReading)[0].layout;
    Ok(Plan {
        endpoint: server.endpoint().clone(),
        database: DatabaseName::new(name)?,
        owner: "store-test".into(),
        layout,
        schema,
        durability: Durability::Default,
        clients: 2,
        timeout_ms: 20_000,
    })
}

async fn made(plan: &Plan) -> Outcome<(Box<dyn Administrator>, Box<dyn Session>)> {
    let store = questdb();
    let mut administrator = store.administrator(plan).await?;
    administrator.create().await?;
    Ok((administrator, store.connect(plan).await?))
}

/// So many readings of each sensor, a second apart.
fn batch(plan: &Plan, readings: i64) -> Outcome<Batch> {
    let mut batch = Batch::new(0, &plan.schema.tables[0]);
    for second in 0..readings {
        for sensor in 0..SENSORS {
            batch.times_ns.push(START_NS + second * SECOND_NS);
            batch.series.push(sensor);
            for column in &mut batch.columns {
                column.push(Value::F64(0.5)).expect("a number");
            }
        }
    }
    Ok(batch)
}

fn partitions(server: &ManagedServer) -> Outcome {
    let cases = [
        ("unknown", None, "PARTITION BY DAY"),
        ("hourly", Some(HOUR_NS), "PARTITION BY MONTH"),
        ("second", Some(SECOND_NS), "PARTITION BY DAY"),
        ("kilohertz", Some(SECOND_NS / 1_000), "PARTITION BY HOUR"),
    ];
    for (name, interval_ns, wanted) in cases {
        let plan = plan(server, name, interval_ns)?;
        let shown = run(async {
            let (mut administrator, _) = made(&plan).await?;
            let shown = administrator.schema_text().await?.concat();
            administrator.drop_database().await?;
            Ok(shown)
        })?;
        assert!(shown.contains(wanted), "{name}: {shown}");
    }
    Ok(())
}

/// What a folder takes on the disk, in bytes.
fn allocated_bytes(folder: &Path) -> std::io::Result<u64> {
    use std::os::unix::fs::MetadataExt;
    let mut bytes = 0;
    for entry in std::fs::read_dir(folder)? {
        let path = entry?.path();
        let about = path.symlink_metadata()?;
        bytes += about.blocks() * 512;
        if about.is_dir() {
            bytes += allocated_bytes(&path)?;
        }
    }
    Ok(bytes)
}

/// An open writer holds 16 MiB a column, so twelve columns would be 192 MiB. A new table has too much as well: data took less than nothing where only what was
/// written had been settled.
fn settled(server: &ManagedServer) -> Outcome {
    let plan = plan(server, "settled", None)?;
    let before = allocated_bytes(&server.folder().data)?;
    let (empty, size) = run(async {
        let (mut administrator, mut session) = made(&plan).await?;
        administrator.settle().await?;
        let empty = administrator.size().await?.total_bytes;
        session.write(&batch(&plan, 100)?).await?;
        administrator.settle().await?;
        Ok((empty, administrator.size().await?.total_bytes))
    })?;
    assert!(size > empty, "{size} bytes with readings, {empty} without");
    let taken = allocated_bytes(&server.folder().data)?.saturating_sub(before);
    assert!(taken < 24 << 20, "10,000 readings take {taken} bytes");
    assert!(size < 24 << 20, "the server counts {size} bytes");
    Ok(())
}

fn looked_at(server: &ManagedServer) -> Outcome {
    let plan = plan(server, "looked_at", None)?;
    let query = Query {
        table: 0,
        series: Selection::One(3),
        range: TimeRange::new(START_NS, START_NS + HOUR_NS),
        ask: Ask::LastReading { fields: FieldSet::one(0) },
    };
    run(async {
        let (_, mut session) = made(&plan).await?;
        session.write(&batch(&plan, 10)?).await?;
        session.keep_statements()?;
        for (nobody, wanted) in [(false, Some("run 3 times")), (true, None), (false, Some("run 3 times"))] {
            session.nobody_writes(nobody);
            for _ in 0..3 {
                session.query(&query).await?;
            }
            let sent = session.take_statements(false).await?;
            let look = sent.iter().find(|one| one.text.contains("wal_tables()")).ok_or("no look")?;
            assert_eq!(look.note.as_deref(), wanted, "nobody writes: {nobody}");
        }
        Ok(())
    })
}

/// Sessions ask about several tags, one after the other. LATEST ON kept the series of the first: `init`'s own question was answered wrongly.
fn each_of_its_own(server: &ManagedServer) -> Outcome {
    let plan = plan(server, "its_own", Some(SECOND_NS))?;
    run(async {
        let (_, mut session) = made(&plan).await?;
        session.write(&batch(&plan, 100)?).await?;
        for site in (0..SITES).chain(0..SITES) {
            session.close().await?;
            session = questdb().connect(&plan).await?;
            let of_site: Vec<u32> = (0..SENSORS).filter(|sensor| sensor % SITES == site).collect();
            for (series, wanted) in [
                (Selection::Tagged { tag: 1, value: format!("site_{site}") }, of_site),
                (Selection::Tagged { tag: 0, value: format!("sensor_{site}") }, vec![site]),
                (Selection::One(site), vec![site]),
            ] {
                let query = Query {
                    table: 0,
                    series,
                    range: TimeRange::new(START_NS, START_NS + HOUR_NS),
                    ask: Ask::LastReading { fields: FieldSet::one(0) },
                };
                let Answer::Readings(found) = session.query(&query).await? else {
                    panic!("readings answer it");
                };
                assert_eq!(found.series, wanted, "{query:?}");
            }
        }
        Ok(())
    })
}
