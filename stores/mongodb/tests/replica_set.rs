//! What only a replica set can: an upsert in one commit, and a member that is no longer the primary.

mod support;

use libtest_mimic::{Arguments, Trial};
use mongodb::bson::doc;
use sensormark_statements::FileStore;
use sensormark_store::{
    Atomicity, Batch, Capability, Durability, Endpoint, Entity, EntityReading, ErrorKind, Family, FieldType,
    Operation, Plan, Secret, Session, Store, StoreError, Table, Value,
};
use std::sync::Arc;
use std::time::{Duration, Instant};
use support::{block_on, field, on, refuse_unless, stored, table};

const START: i64 = 1_700_000_000_123_456_789;

fn main() {
    let arguments = Arguments::from_args();
    let store = Arc::new(sensormark_stores::mongodb());
    let missing = store.installation().err().map(|error| error.to_string());
    if let Some(reason) = &missing {
        eprintln!("ignored: {reason}");
    }
    let test = Trial::test("a replica set of one", move || {
        let server = support::server(&store, Some("replica-set"), None)?;
        // a growing document is updated, not inserted; one that is there already is refused as well
        let families = [Family::PerReading, Family::PerSpan { span_ns: 1_000_000_000 }, Family::GrowingArray];
        for family in families {
            let plan = plan(&store, server.endpoint(), family);
            block_on(upsert(&store, &plan)).map_err(|error| format!("{family:?}: {error}"))?;
        }
        let plan = plan(&store, server.endpoint(), Family::PerReading);
        block_on(stepped_down(&store, &plan)).map_err(|error| format!("step down: {error}"))?;
        Ok(())
    });
    libtest_mimic::run(&arguments, vec![test.with_ignored_flag(missing.is_some())]).exit();
}

fn plan(store: &FileStore, endpoint: &Endpoint, family: Family) -> Plan {
    let fields = vec![field("usage", FieldType::F64)];
    let reads = Table {
        entity: Some(Entity {
            name: "meters".into(),
            columns: vec![field("contact", FieldType::Text)],
            last_time_column: "last_reading".into(),
        }),
        ..table("reads", "meter", vec![7, 8], fields)
    };
    Plan {
        durability: Durability::Durable,
        ..support::plan(store, endpoint, "replica_set", vec![reads], (family, ""))
    }
}

fn reading(plan: &Plan, time_ns: i64) -> Batch {
    let mut reading = Batch::new(0, &plan.schema.tables[0]);
    reading.series.push(1);
    reading.times_ns.push(time_ns);
    reading.columns[0].push(Value::F64(1.5)).expect("a number");
    reading
}

/// Both are kept, or neither where the reading is refused.
async fn upsert(store: &FileStore, plan: &Plan) -> Result<(), StoreError> {
    let mut administrator = store.administrator(plan).await?;
    administrator.create().await?;
    let table = &plan.schema.tables[0];
    let stated = store.capability(Operation::UpsertAtomically, &plan.layout, table);
    assert_eq!(stated, Capability::Native);
    let mut session = store.connect(plan).await?;
    let first = reading(plan, START);
    let entity = [Value::Text("somebody".into())];
    let write = EntityReading { reading: &first, entity: &entity, atomicity: Atomicity::Atomic };
    let done = session.upsert(write).await?;
    assert_eq!((done.readings, done.sent), (1, 1));
    assert_eq!(both(&mut *session, plan).await?, (1, vec![(1, START)]));
    // the server refuses the next reading after it has taken the entity's new time
    refuse_unless(plan, "reads", doc! { "never": { "$exists": true } }).await.expect("a rule for documents");
    let later = reading(plan, START + 3_600_000_000_000);
    let refused = EntityReading { reading: &later, ..write };
    let error = session.upsert(refused).await.expect_err("a refusal");
    assert_eq!(error.kind(), ErrorKind::Conflict, "{error}");
    assert!(!error.is_in_doubt(), "{error}");
    assert_eq!(both(&mut *session, plan).await?, (1, vec![(1, START)]));
    session.close().await?;
    administrator.drop_database().await
}

/// How many readings, and the entities' series and last times.
async fn both(session: &mut dyn Session, plan: &Plan) -> Result<(usize, Vec<(u32, i64)>), StoreError> {
    let readings = stored(session, plan).await?.len();
    let mut entities = Vec::new();
    session.scan_entities(0, &mut |series, last, _| entities.push((series, last))).await?;
    Ok((readings, entities))
}

/// A session that is bound to a member which steps down fails without doubt; when there is a primary again, work goes on.
async fn stepped_down(store: &FileStore, plan: &Plan) -> Result<(), StoreError> {
    let mut administrator = store.administrator(plan).await?;
    administrator.create().await?;
    let url = plan.endpoint.url.expose();
    let direct = Endpoint {
        url: Secret::new(url.replace("&replicaSet=sm", "&directConnection=true")),
        ..plan.endpoint.clone()
    };
    assert_ne!(direct.url.expose(), url, "a URL of the whole set");
    let bound = Plan { endpoint: direct, ..plan.clone() };
    let mut session = store.connect(&bound).await?;
    session.write(&reading(plan, START)).await?;
    let down = doc! { "replSetStepDown": 5, "secondaryCatchUpPeriodSecs": 0, "force": true };
    on(&bound, "admin", down).await.expect("to step down");
    let error = session.write(&reading(plan, START + 1)).await.expect_err("a refusal");
    assert_eq!(error.kind(), ErrorKind::Unavailable, "{error}");
    assert!(!error.is_in_doubt(), "{error}");
    assert!(error.to_string().contains("primary"), "{error}");
    let started = Instant::now();
    while let Err(error) = session.write(&reading(plan, START + 2)).await {
        assert_eq!(error.kind(), ErrorKind::Unavailable, "{error}");
        assert!(started.elapsed() < Duration::from_secs(60), "{error}");
        tokio::time::sleep(Duration::from_millis(200)).await;
    }
    let times = stored(&mut *session, plan).await?.times_ns;
    assert_eq!(times, [START, START + 2]);
    session.close().await?;
    administrator.drop_database().await
}
