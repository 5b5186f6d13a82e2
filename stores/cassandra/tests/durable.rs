//! What the conformance suite cannot see: a server of the durable class, what is read back from it, and URLs of several contact points.

use libtest_mimic::{Arguments, Trial};
use sensormark_server::Supervisor;
use sensormark_statements::FileStore;
use sensormark_store::{
    Answer, Ask, Batch, Comparison, DatabaseName, Durability, Endpoint, ErrorKind, Family, Field, FieldType,
    Moment, Plan, Predicate, Query, Schema, Selection, Series, ServerOptions, Setting, Statement, Store,
    StoreError, Table, Tag, TagColumn, TimeRange, TimeResolution, Value,
};
use std::sync::Arc;

const SECOND: i64 = 1_000_000_000;

fn main() {
    let arguments = Arguments::from_args();
    let store = Arc::new(sensormark_stores::cassandra());
    let missing = store.installation().err().map(|error| error.to_string());
    if let Some(reason) = &missing {
        eprintln!("ignored: {reason}");
    }
    let test = Trial::test(
        "a durable server states its class and heap, and is reached by any contact point",
        move || durable(&store).map_err(|error| error.to_string().into()),
    );
    libtest_mimic::run(&arguments, vec![test.with_ignored_flag(missing.is_some())]).exit();
}

fn field(name: &str, kind: FieldType) -> Field {
    Field { name: name.into(), kind, nullable: true }
}

fn schema() -> Schema {
    Schema {
        tables: vec![Table {
            name: "readings".into(),
            tags: vec![Tag { name: "sensor".into() }],
            fields: vec![field("number", FieldType::F64), field("words", FieldType::Text)],
            entity: None,
            time_resolution: TimeResolution::Seconds,
            series: Series::new(vec![TagColumn::Integer(vec![7, 8])]),
        }],
    }
}

fn plan(store: &FileStore, endpoint: Endpoint, durability: Durability) -> Plan {
    let schema = Arc::new(schema());
    Plan {
        endpoint,
        database: DatabaseName::new("durable_test").expect("a short name"),
        owner: "it's the durable test".into(),
        layout: store.layouts(&schema, Family::PerReading)[0].layout,
        schema,
        durability,
        clients: 2,
        timeout_ms: 20_000,
    }
}

fn durable(store: &Arc<FileStore>) -> Result<(), StoreError> {
    let options = ServerOptions {
        memory_bytes: 448 << 20,
        clients: 4,
        durability: Durability::Durable,
        ..ServerOptions::default()
    };
    let server = Supervisor::new(None)?.start(&**store, &options, None)?;
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .expect("a runtime of one thread can be made");
    let endpoint = server.endpoint().clone();
    runtime.block_on(async {
        states_what_it_is(store, endpoint.clone()).await?;
        is_no_other_class(store, endpoint.clone()).await?;
        is_reached_by_any_contact_point(store, &endpoint).await?;
        is_settled_although_the_first_is_dead(store, &endpoint).await?;
        looks_no_further_than_to_the_answer(store, &endpoint).await?;
        takes_rows_up_to_the_stated_size(store, endpoint).await
    })
}

async fn states_what_it_is(store: &FileStore, endpoint: Endpoint) -> Result<(), StoreError> {
    let plan = plan(store, endpoint, Durability::Durable);
    let mut administrator = store.administrator(&plan).await?;
    administrator.create().await?;
    let settings = administrator.settings().await?;
    let value = |name: &str| {
        let found = settings.iter().find(|setting: &&Setting| setting.name.starts_with(name));
        found.map(|setting| setting.value.as_str())
    };
    assert_eq!(value("commitlog_sync"), Some("batch"), "{settings:?}");
    assert_eq!(value("largest heap"), Some("448.00"), "{settings:?}");
    assert!(value("java.version").is_some(), "{settings:?}");
    let databases = administrator.databases().await?;
    assert_eq!(databases, [(plan.database.as_str().to_owned(), plan.owner.clone())]);
    Ok(())
}

async fn is_no_other_class(store: &FileStore, endpoint: Endpoint) -> Result<(), StoreError> {
    let plan = plan(store, endpoint, Durability::Relaxed);
    let refused = store.administrator(&plan).await?.create().await;
    let error = refused.expect_err("a server of batch mode is not relaxed");
    assert_eq!(error.kind(), ErrorKind::Configuration);
    assert!(error.to_string().contains("periodic"), "{error}");
    Ok(())
}

/// As a user's URL: the first of the contact points is dead, and batches are of the size that servers of others take.
async fn is_reached_by_any_contact_point(store: &FileStore, endpoint: &Endpoint) -> Result<(), StoreError> {
    let url = endpoint.url.expose().replacen('@', "@127.0.0.1:1,", 1);
    let plan = plan(store, store.endpoint(&url)?, Durability::Durable);
    assert!(!plan.endpoint.managed);
    let mut session = store.connect(&plan).await?;
    let mut batch = Batch::new(0, &plan.schema.tables[0]);
    for row in 0..5_000 {
        batch.series.push(1);
        batch.times_ns.push(i64::from(row) * SECOND);
        batch.columns[0].push(Value::F64(f64::from(row).sqrt())).expect("a number");
        batch.columns[1].push(Value::Null).expect("nullable");
    }
    let acknowledgement = session.write(&batch).await?;
    assert_eq!(acknowledgement.readings, 5_000);
    assert!(acknowledgement.statements > 5, "{acknowledgement:?}");
    let query = Query {
        table: 0,
        series: Selection::Tagged { tag: 0, value: "8".into() },
        range: TimeRange::new(0, 5_000 * SECOND),
        ask: Ask::Range { fields: plan.schema.tables[0].all_fields(), coarse_filter: false },
    };
    assert_eq!(session.query(&query).await?, Answer::Readings(batch));
    session.close().await
}

/// As a user's URL with ports of the management: the first address is dead. Its management is dead too, or is that of the other.
async fn is_settled_although_the_first_is_dead(
    store: &FileStore,
    endpoint: &Endpoint,
) -> Result<(), StoreError> {
    let url = endpoint.url.expose().replacen('@', "@127.0.0.1:1,", 1);
    let (before, port) = url.rsplit_once("jmx=").expect("a port of the management");
    for ports in ["1", &format!("1,{port}"), &format!("{port},{port}")] {
        let url = format!("{before}jmx={ports}");
        let plan = plan(store, store.endpoint(&url)?, Durability::Durable);
        let mut administrator = store.administrator(&plan).await?;
        administrator.settle().await?;
        let settings = administrator.settings().await?;
        let is_heap = |setting: &Setting| setting.name.starts_with("largest heap");
        assert_eq!(settings.iter().any(is_heap), ports != "1", "{ports}");
        let size = administrator.size().await?;
        assert!(ports == "1" || size.total_bytes > 0, "{ports}: {size:?}");
    }
    // The only address there is may not be missing.
    let (url, _) = endpoint.url.expose().rsplit_once("jmx=").expect("a port");
    let plan = plan(store, store.endpoint(&format!("{url}jmx=1"))?, Durability::Durable);
    let refused = store.administrator(&plan).await?.settle().await;
    assert!(refused.is_err(), "a management that is not there is told");
    Ok(())
}

/// What stands at the edge of a range of many partitions is asked for there alone, in rows of readings and in records.
async fn looks_no_further_than_to_the_answer(
    store: &FileStore,
    endpoint: &Endpoint,
) -> Result<(), StoreError> {
    const MONTH: i64 = 30 * 86_400 * SECOND;
    let passes = |threshold| Predicate { field: 0, comparison: Comparison::Above, threshold };
    for family in [Family::PerReading, Family::PerSpan { span_ns: 60 * SECOND }] {
        let mut plan = plan(store, endpoint.clone(), Durability::Durable);
        plan.layout = store.layouts(&plan.schema, family)[0].layout;
        plan.database = DatabaseName::new("edge_test").expect("a short name");
        let mut administrator = store.administrator(&plan).await?;
        administrator.create().await?;
        let mut session = store.connect(&plan).await?;
        let mut batch = Batch::new(0, &plan.schema.tables[0]);
        // Two readings a partition, of which the second one is larger.
        for row in 0..20 {
            batch.series.push(0);
            batch.times_ns.push(i64::from(row / 2) * MONTH + i64::from(row % 2) * SECOND);
            batch.columns[0].push(Value::F64(f64::from(row))).expect("a number");
            batch.columns[1].push(Value::Text("x".into())).expect("a text");
        }
        session.write(&batch).await?;
        session.keep_statements()?;
        let moment = |row: i64| {
            let time_ns = row / 2 * MONTH + row % 2 * SECOND;
            Answer::Moment(Some(Moment { time_ns, value: Value::F64(row as f64) }))
        };
        let fields = plan.schema.tables[0].all_fields();
        for (ask, expected, asked) in [
            (Ask::LastReading { fields }, Answer::Readings(batch.kept(|row| row == 19)), 1),
            (Ask::Last(passes(3.0)), moment(19), 1),
            (Ask::First(passes(0.5)), moment(1), 1),
            // The partition at the edge, those that are there, and the next one.
            (Ask::First(passes(2.5)), moment(3), 3),
        ] {
            let query =
                Query { table: 0, series: Selection::One(0), range: TimeRange::new(0, 10 * MONTH), ask };
            assert_eq!(session.query(&query).await?, expected, "{:?}", query.ask);
            let sent = session.take_statements(false).await?;
            let times = |one: &Statement| {
                let note = one.note.as_deref().unwrap_or("run 1 times");
                note.split(' ').nth(1).and_then(|times| times.parse().ok()).unwrap_or(0)
            };
            assert_eq!(sent.iter().map(times).sum::<u64>(), asked, "{:?}: {sent:?}", query.ask);
        }
        session.close().await?;
        administrator.drop_database().await?;
    }
    Ok(())
}

/// The largest row that the store sends is one that the server takes; what is larger is refused before it is sent.
async fn takes_rows_up_to_the_stated_size(store: &FileStore, endpoint: Endpoint) -> Result<(), StoreError> {
    const MOST: usize = (15 << 20) - 100;
    let plan = plan(store, endpoint, Durability::Durable);
    let mut session = store.connect(&plan).await?;
    let reading = |size: usize| {
        let mut batch = Batch::new(0, &plan.schema.tables[0]);
        batch.series.push(0);
        batch.times_ns.push(SECOND);
        batch.columns[0].push(Value::Null).expect("nullable");
        batch.columns[1].push(Value::Text("x".repeat(size))).expect("a text");
        batch
    };
    let point = Query {
        table: 0,
        series: Selection::One(0),
        range: TimeRange::new(SECOND, SECOND + 1),
        ask: Ask::Point { fields: plan.schema.tables[0].all_fields() },
    };
    let largest = reading(MOST);
    session.write(&largest).await?;
    assert_eq!(session.query(&point).await?, Answer::Readings(largest.clone()));
    let refused = session.write(&reading(MOST + 200)).await;
    assert_eq!(refused.map_err(|error| error.kind()), Err(ErrorKind::TooLarge));
    assert_eq!(session.query(&point).await?, Answer::Readings(largest));
    session.close().await?;
    store.administrator(&plan).await?.drop_database().await
}
