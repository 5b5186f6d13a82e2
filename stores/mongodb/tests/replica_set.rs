//! What only a replica set can: an upsert in one commit.

use libtest_mimic::{Arguments, Trial};
use mongodb::bson::doc;
use sensormark_mongodb::Mongodb;
use sensormark_store::supervisor::Supervisor;
use sensormark_store::{
    Atomicity, Batch, Capability, DatabaseName, Durability, Endpoint, Entity, EntityReading,
    ErrorKind, Family, Field, FieldType, Operation, Plan, Schema, Series, ServerOptions, Store,
    Table, Tag, TagColumn, TimeResolution, Value,
};
use std::sync::Arc;

fn main() {
    let arguments = Arguments::from_args();
    let store = Arc::new(Mongodb::new());
    let missing = store.installation().err().map(|error| error.to_string());
    if let Some(reason) = &missing {
        eprintln!("ignored: {reason}");
    }
    let test = Trial::test("an upsert in one commit keeps both or neither", move || {
        upserts(&store).map_err(Into::into)
    });
    libtest_mimic::run(&arguments, vec![test.with_ignored_flag(missing.is_some())]).exit();
}

fn field(name: &str, kind: FieldType) -> Field {
    Field {
        name: name.into(),
        kind,
        nullable: false,
    }
}

fn schema() -> Schema {
    Schema {
        tables: vec![Table {
            name: "reads".into(),
            tags: vec![Tag {
                name: "meter".into(),
            }],
            fields: vec![field("usage", FieldType::F64)],
            entity: Some(Entity {
                name: "meters".into(),
                columns: vec![field("contact", FieldType::Text)],
                last_time_column: "last_reading".into(),
            }),
            time_resolution: TimeResolution::Nanoseconds,
            series: Series::new(vec![TagColumn::Integer(vec![7, 8])]),
        }],
    }
}

fn plan(store: &Mongodb, endpoint: Endpoint, family: Family) -> Plan {
    let schema = Arc::new(schema());
    Plan {
        endpoint,
        database: DatabaseName::new("replica_set").expect("a short name"),
        owner: "replica-set-test".into(),
        layout: store.layouts(&schema, family)[0].layout,
        schema,
        durability: Durability::Durable,
        clients: 2,
        timeout_ms: 20_000,
    }
}

fn upserts(store: &Arc<Mongodb>) -> Result<(), String> {
    let options = ServerOptions {
        memory_bytes: 256 << 20,
        clients: 4,
        profile: Some("replica-set".into()),
        ..ServerOptions::default()
    };
    let text = |error: sensormark_store::StoreError| error.to_string();
    let supervisor = Supervisor::new(None).map_err(text)?;
    let server = supervisor.start(&**store, &options, None).map_err(text)?;
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(|error| error.to_string())?;
    // a growing document is updated, not inserted; one that is there already is refused as well
    let families = [
        Family::PerReading,
        Family::PerSpan {
            span_ns: 1_000_000_000,
        },
        Family::GrowingArray,
    ];
    for family in families {
        let plan = plan(store, server.endpoint().clone(), family);
        runtime
            .block_on(upsert(store, &plan))
            .map_err(|error| format!("{family:?}: {error}"))?;
    }
    Ok(())
}

async fn upsert(store: &Mongodb, plan: &Plan) -> Result<(), sensormark_store::StoreError> {
    let mut administrator = store.administrator(plan).await?;
    administrator.create().await?;
    let table = &plan.schema.tables[0];
    let stated = store.capability(Operation::UpsertAtomically, &plan.layout, table);
    assert_eq!(stated, Capability::Native);
    let mut session = store.connect(plan).await?;
    let mut reading = Batch::new(0, table);
    reading.series.push(1);
    reading.times_ns.push(1_700_000_000_123_456_789);
    reading.columns[0].push(Value::F64(1.5)).expect("a number");
    let entity = [Value::Text("somebody".into())];
    let write = EntityReading {
        reading: &reading,
        entity: &entity,
        atomicity: Atomicity::Atomic,
    };
    let done = session.upsert(write).await?;
    assert_eq!((done.readings, done.sent), (1, 1));
    let first = reading.times_ns[0];
    assert_eq!(stored(&mut *session).await?, (1, vec![(1, first)]));
    // the server refuses the next reading after it has taken the entity's new time
    refuse_readings(plan).await.expect("a rule for documents");
    let mut later = reading.clone();
    later.times_ns[0] += 3_600_000_000_000;
    let refused = EntityReading {
        reading: &later,
        ..write
    };
    let error = session.upsert(refused).await.expect_err("a refusal");
    assert_eq!(error.kind(), ErrorKind::Conflict, "{error}");
    assert!(!error.is_in_doubt(), "{error}");
    assert_eq!(stored(&mut *session).await?, (1, vec![(1, first)]));
    session.close().await?;
    administrator.drop_database().await
}

/// Makes the collection of readings refuse whatever comes.
async fn refuse_readings(plan: &Plan) -> mongodb::error::Result<()> {
    let client = mongodb::Client::with_uri_str(plan.endpoint.url.expose()).await?;
    let never = doc! { "never": { "$exists": true } };
    let command = doc! { "collMod": "reads", "validator": never };
    client
        .database(plan.database.as_str())
        .run_command(command)
        .await?;
    client.shutdown().await;
    Ok(())
}

/// How many readings, and the entities' series and last times.
async fn stored(
    session: &mut dyn sensormark_store::Session,
) -> Result<(usize, Vec<(u32, i64)>), sensormark_store::StoreError> {
    let mut readings = 0;
    session
        .scan(0, &mut |batch| readings += batch.len())
        .await?;
    let mut entities = Vec::new();
    session
        .scan_entities(0, &mut |series, last, _| entities.push((series, last)))
        .await?;
    Ok((readings, entities))
}
