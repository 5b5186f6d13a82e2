//! Tests on a standalone server, beside those of the conformance suite. They try durability classes as the server sees them, batches that are refused in their
//! midst, buckets of a minute, and questions that are too large.

mod support;

use libtest_mimic::{Arguments, Trial};
use mongodb::bson::{Bson, Document, doc};
use sensormark_conformance::reference::Reference;
use sensormark_statements::FileStore;
use sensormark_store::{
    Aggregate, AnswerSource, Ask, Batch, DaySplit, Durability, Endpoint, ErrorKind, Family, FieldSet,
    FieldType, Function, Grouping, Plan, Query, QueryStyle, Question, Selection, Series, Store, StoreError,
    Table, Tag, TagColumn, TimeRange, Value, Window,
};
use std::sync::Arc;
use support::{block_on, command, field, on, plan, refuse_unless, stored, table};

const START: i64 = 1_700_000_040_000_000_000;
const MINUTE: i64 = 60_000_000_000;

type Outcome = Result<(), Box<dyn std::error::Error>>;

fn main() {
    let arguments = Arguments::from_args();
    let store = Arc::new(sensormark_stores::mongodb());
    let missing = store.installation().err().map(|error| error.to_string());
    if let Some(reason) = &missing {
        eprintln!("ignored: {reason}");
    }
    let everything = Trial::test("a standalone server", move || {
        let server = support::server(&store, None, None)?;
        let endpoint = server.endpoint();
        block_on(durability(&store, endpoint)).map_err(|error| format!("durability: {error}"))?;
        block_on(refused(&store, endpoint)).map_err(|error| format!("refused: {error}"))?;
        block_on(minutes(&store, endpoint)).map_err(|error| format!("minutes: {error}"))?;
        block_on(too_many(&store, endpoint)).map_err(|error| format!("too many: {error}"))?;
        block_on(ordinary(&store, endpoint)).map_err(|error| format!("ordinary: {error}"))?;
        Ok(())
    });
    libtest_mimic::run(&arguments, vec![everything.with_ignored_flag(missing.is_some())]).exit();
}

fn values(count: i64) -> Vec<Table> {
    let fields = vec![field("value", FieldType::F64)];
    vec![table("readings", "sensor", (0..count).collect(), fields)]
}

fn batch(table: &Table, values: &[f64]) -> Batch {
    let mut batch = Batch::new(0, table);
    for (row, value) in (0..).zip(values) {
        batch.series.push(0);
        batch.times_ns.push(START + row * 1_000_000_000);
        batch.columns[0].push(Value::F64(*value)).expect("a number");
    }
    batch
}

/// What the server's profiler and its journal say of the writes of each class.
async fn durability(store: &FileStore, endpoint: &Endpoint) -> Outcome {
    let classes = store.description().durability;
    assert_eq!(classes.len(), 3);
    for (number, (class, _)) in classes.into_iter().enumerate() {
        let name = format!("durability_{number}");
        let mut plan = plan(store, endpoint, &name, values(1), (Family::PerReading, ""));
        plan.durability = class;
        let mut administrator = store.administrator(&plan).await?;
        administrator.create().await?;
        command(&plan, doc! { "profile": 2 }).await?;
        let mut session = store.connect(&plan).await?;
        let before = flushes(&plan).await?;
        for value in 0..20 {
            let one = batch(&plan.schema.tables[0], &[f64::from(value)]);
            let done = session.write(&one).await?;
            assert_eq!((done.readings, done.sent), (1, 1), "{class:?}");
        }
        session.catch_up().await?;
        let flushed = flushes(&plan).await? - before;
        if class == Durability::Durable {
            assert!(flushed >= 20, "20 durable writes, {flushed} flushes");
        }
        command(&plan, doc! { "profile": 0 }).await?;
        let seen = concerns(&plan).await?;
        let expected = match class {
            Durability::Default => doc! { "w": 1 },
            Durability::Durable => doc! { "w": 1, "j": true },
            _ => doc! { "w": 1, "j": false },
        };
        assert_eq!(seen, vec![expected.clone(); 20], "{class:?}");
        let settings = administrator.settings().await?;
        let stated = settings.iter().find(|setting| setting.name == "writeConcern");
        assert_eq!(stated.map(|setting| setting.value.clone()), Some(expected.to_string()));
        assert_eq!(stored(&mut *session, &plan).await?.len(), 20);
        session.close().await?;
        administrator.drop_database().await?;
    }
    Ok(())
}

/// A user who may read, write and administer databases measures; what it may not do to the server is left out, and said.
async fn ordinary(store: &FileStore, endpoint: &Endpoint) -> Outcome {
    let mut plan = plan(store, endpoint, "ordinary", values(1), (Family::PerReading, ""));
    let roles = ["readWriteAnyDatabase", "dbAdminAnyDatabase"];
    let user = doc! { "createUser": "plain", "pwd": "secret", "roles": roles.to_vec() };
    on(&plan, "admin", user).await?;
    let url = endpoint.url.expose();
    let (_, host) = url.rsplit_once('@').ok_or("no user")?;
    plan.endpoint = store.endpoint(&format!("mongodb://plain:secret@{host}"))?;
    let mut administrator = store.administrator(&plan).await?;
    administrator.create().await?;
    let mut session = store.connect(&plan).await?;
    session.write(&batch(&plan.schema.tables[0], &[1.0, 2.0])).await?;
    administrator.settle().await?;
    let settings = administrator.settings().await?;
    assert!(settings.iter().any(|one| one.name == "writeConcern"));
    let notes = administrator.take_notes().join("; ");
    assert!(notes.contains("before the disk was measured: the user may not"), "{notes}");
    let missing = settings.iter().find(|one| one.name == "getCmdLineOpts");
    assert!(missing.is_some_and(|one| one.value.contains("clusterMonitor")), "{settings:?}");
    assert!(administrator.documents().await?.is_some_and(|all| all.count == 2));
    assert!(administrator.size().await?.total_bytes > 0);
    assert_eq!(stored(&mut *session, &plan).await?.len(), 2);
    session.close().await?;
    administrator.drop_database().await?;
    Ok(())
}

/// How often the journal has been flushed to disk.
async fn flushes(plan: &Plan) -> Result<i64, Box<dyn std::error::Error>> {
    let status = on(plan, "admin", doc! { "serverStatus": 1 }).await?;
    let log = status.get_document("wiredTiger")?.get_document("log")?;
    match log.get("log sync operations") {
        Some(Bson::Int64(count)) => Ok(*count),
        Some(Bson::Int32(count)) => Ok(i64::from(*count)),
        other => Err(format!("no count of flushes: {other:?}").into()),
    }
}

/// The write concerns of the inserts that the profiler saw.
async fn concerns(plan: &Plan) -> Result<Vec<Document>, Box<dyn std::error::Error>> {
    let inserts = doc! { "op": "insert", "ns": format!("{}.readings", plan.database) };
    let find = doc! { "find": "system.profile", "filter": inserts, "batchSize": 1000 };
    let answer = command(plan, find).await?;
    let seen = answer.get_document("cursor")?.get_array("firstBatch")?;
    seen.iter()
        .map(|entry| {
            let entry = entry.as_document().ok_or("an entry is no document")?;
            let concern = entry.get_document("command")?.get_document("writeConcern")?;
            Ok(concern.clone())
        })
        .collect()
}

/// An ordered insert ends at what is refused; an unordered one goes on behind it, and says that it is in doubt.
async fn refused(store: &FileStore, endpoint: &Endpoint) -> Outcome {
    for (variant, in_doubt, expected) in
        [("", false, vec![1.0, 2.0]), ("unordered", true, vec![1.0, 2.0, 3.0, 4.0])]
    {
        let layout = (Family::PerReading, variant);
        let plan = plan(store, endpoint, "refused", values(1), layout);
        let mut administrator = store.administrator(&plan).await?;
        administrator.create().await?;
        refuse_unless(&plan, "readings", doc! { "value": { "$lt": 100.0 } }).await?;
        let mut session = store.connect(&plan).await?;
        let batch = batch(&plan.schema.tables[0], &[1.0, 2.0, 200.0, 3.0, 4.0]);
        let error = session.write(&batch).await.expect_err("a refusal");
        assert_eq!(error.kind(), ErrorKind::Conflict, "{error}");
        assert_eq!(error.acknowledged(), 2, "{variant}");
        assert_eq!(error.is_in_doubt(), in_doubt, "{variant}");
        let all = stored(&mut *session, &plan).await?;
        let found: Vec<Value> = (0..all.len()).map(|row| all.columns[0].value(row)).collect();
        let expected: Vec<Value> = expected.into_iter().map(Value::F64).collect();
        assert_eq!(found, expected, "{variant}");
        session.close().await?;
        administrator.drop_database().await?;
    }
    Ok(())
}

/// Two hosts' tables, as buckets of 60 s.
fn hosts(name: &str, fields: &[(&str, FieldType)]) -> Table {
    let words = |words: &[&str]| {
        let words = words.iter().map(|&word| word.to_owned());
        TagColumn::Text(words.collect())
    };
    let tags = ["hostname", "region", "service"];
    Table {
        tags: tags.map(|name| Tag { name: name.into() }).to_vec(),
        series: Series::new(vec![words(&["host_0", "host_1"]), words(&["eu", "us"]), words(&["a.b", "c"])]),
        fields: fields.iter().map(|(name, kind)| field(name, *kind)).collect(),
        ..table(name, "", vec![0], Vec::new())
    }
}

/// A reading every 10 s, of each host in turn.
fn readings(number: usize, table: &Table) -> Batch {
    let mut batch = Batch::new(number, table);
    for step in 0..200_i64 {
        batch.series.push(u32::try_from(step % 2).expect("0 or 1"));
        batch.times_ns.push(START - 7 + step * 5_000_000_000);
        for (field, column) in (0..).zip(&mut batch.columns) {
            let value = (step * 37 + field * 11) % 101;
            let value = match column.values.kind() {
                FieldType::F64 => Value::F64(value as f64 / 4.0),
                _ => Value::I64(value),
            };
            column.push(value).expect("a number");
        }
    }
    batch
}

/// The layouts of buckets: the usual one and its variants.
const BUCKETS: [&str; 9] = [
    "",
    "no-index",
    "dates",
    "back-filled",
    "unwind",
    "set-window-fields",
    "one-min-max",
    "as-published",
    "as-published-indexed",
];

/// Buckets of a minute hold what was written, and their sums equal the readings'.
async fn minutes(store: &FileStore, endpoint: &Endpoint) -> Outcome {
    let family = Family::Bucketed {
        limit: 4,
        per_ns: MINUTE,
        split: DaySplit { day_start_ns: 6 * 60 * MINUTE, day_end_ns: 22 * 60 * MINUTE },
    };
    let tables = vec![
        hosts("cpu", &[("user", FieldType::F64), ("idle", FieldType::F64)]),
        hosts("disk", &[("used", FieldType::I64)]),
    ];
    for variant in BUCKETS {
        let tables = tables.clone();
        let plan = plan(store, endpoint, "minutes", tables, (family, variant));
        let mut administrator = store.administrator(&plan).await?;
        administrator.create().await?;
        let mut session = store.connect(&plan).await?;
        let mut reference = Reference::new(Arc::clone(&plan.schema));
        for (number, table) in plan.schema.tables.iter().enumerate() {
            let resolution = store.time_resolution(&plan.layout, table);
            reference = reference.with_resolution(number, resolution);
        }
        for (number, table) in plan.schema.tables.iter().enumerate() {
            let batch = readings(number, table);
            session.write(&batch).await?;
            reference.add(&batch);
        }
        reference.prepare();
        let mut counted = 0;
        for table in &plan.schema.tables {
            let count = command(&plan, doc! { "count": &table.name }).await?;
            counted += u64::from(count.get_i32("n")?.unsigned_abs());
        }
        let documents = administrator.documents().await?.expect("MongoDB counts");
        assert_eq!(documents.count, counted, "{variant}: documents");
        assert!(documents.bytes > 0, "{variant}: bytes of documents");
        command(&plan, doc! { "profile": 2 }).await?;
        for query in questions(&plan) {
            let answer = session.query(&query).await?;
            let difference = answer.disagreement(&reference.answer(&query), &query);
            assert_eq!(difference, None, "{variant}: {query:?}");
        }
        asked_in_its_way(&plan, variant).await?;
        session.close().await?;
        administrator.drop_database().await?;
    }
    Ok(())
}

/// The server's profiler has seen the stages of the layout's way of asking, and those of no other.
async fn asked_in_its_way(plan: &Plan, variant: &str) -> Outcome {
    command(plan, doc! { "profile": 0 }).await?;
    let profile = doc! { "find": "system.profile", "batchSize": 10_000 };
    let asked = command(plan, profile).await?.to_string();
    let style = plan.layout.queries;
    let filters_inside = style == QueryStyle::Usual;
    assert_eq!(asked.contains("$filter"), filters_inside, "{variant}");
    let by_windows = style == QueryStyle::WindowFunctions;
    assert_eq!(asked.contains("$setWindowFields"), by_windows, "{variant}");
    command(plan, doc! { "drop": "system.profile" }).await?;
    Ok(())
}

/// What is asked of hosts: maxima and means by window, also from the buckets' sums, latest readings, ranges.
fn questions(plan: &Plan) -> Vec<Query> {
    let span = TimeRange::new(START - MINUTE, START + 20 * MINUTE);
    let cut = TimeRange::new(START + 3, START + 7 * MINUTE + 11);
    let mut all = Vec::new();
    for (table, described) in plan.schema.tables.iter().enumerate() {
        let aggregate = |function, width_ns, by_tag, from_sums| Ask::Aggregate {
            aggregates: vec![Aggregate { function, field: 0 }],
            grouping: Grouping {
                window: Some(Window { width_ns, origin_ns: 0 }),
                by_tag,
                ..Grouping::default()
            },
            from_sums,
        };
        let fields = described.all_fields();
        let range = Ask::Range { fields: FieldSet::one(0), coarse_filter: true };
        let latest = Ask::LastReading { fields };
        for series in [
            Selection::One(1),
            Selection::Set(vec![0, 1]),
            Selection::All,
            Selection::Tagged { tag: 0, value: "host_0".into() },
            Selection::Tagged { tag: 2, value: "a.b".into() },
        ] {
            for (range, ask) in [
                (cut, aggregate(Function::Count, MINUTE, None, false)),
                (cut, aggregate(Function::Mean, MINUTE, None, false)),
                (span, aggregate(Function::Max, 5 * MINUTE, Some(0), false)),
                (span, aggregate(Function::Mean, MINUTE, None, true)),
                (cut, range.clone()),
                (cut, latest.clone()),
            ] {
                all.push(Query { table, series: series.clone(), range, ask });
            }
        }
    }
    all.retain(|query| Question::of(query).is_some());
    all
}

/// A question that names more series than a command may hold is refused as too large, and the session goes on.
async fn too_many(store: &FileStore, endpoint: &Endpoint) -> Outcome {
    let mut tables = values(1);
    let long = (0..20_000).map(|number| format!("{number:01000}"));
    tables[0].series = Series::new(vec![TagColumn::Text(long.collect())]);
    let layout = (Family::PerReading, "");
    let plan = plan(store, endpoint, "too_many", tables, layout);
    let mut administrator = store.administrator(&plan).await?;
    administrator.create().await?;
    let mut session = store.connect(&plan).await?;
    let fields = plan.schema.tables[0].all_fields();
    let question =
        |series, ask| Query { table: 0, series, range: TimeRange::new(START, START + MINUTE), ask };
    let windows = Ask::Aggregate {
        aggregates: vec![Aggregate { function: Function::Mean, field: 0 }],
        grouping: Grouping { window: Some(Window { width_ns: MINUTE, origin_ns: 0 }), ..Grouping::default() },
        from_sums: false,
    };
    let all_but_one = question(Selection::Set((1..20_000).collect()), windows);
    let error: StoreError = session.query(&all_but_one).await.expect_err("a refusal");
    assert_eq!(error.kind(), ErrorKind::TooLarge, "{error}");
    session.write(&batch(&plan.schema.tables[0], &[1.5])).await?;
    let answer =
        session.query(&question(Selection::One(0), Ask::Range { fields, coarse_filter: false })).await?;
    assert_eq!(answer.len(), 1);
    session.close().await?;
    administrator.drop_database().await?;
    Ok(())
}
