//! What the kit does for every store, tried on SQLite: ownership, layouts, numbers of tables, empty batches.

use sensormark_statements::FileStore;
use sensormark_store::{
    Acknowledgement, Administrator, Atomicity, Batch, Column, DatabaseName, Durability, EntityReading,
    ErrorKind, Family, LocalFuture, Operation, Plan, Query, Schema, Shape, Store, StoreError, TimeRange,
    TimeResolution, Values,
};
use std::sync::Arc;
use std::task::{Context, Poll, Waker};
use tempfile::TempDir;

/// Takes the result of a future that is ready when first polled.
fn now<T>(mut future: LocalFuture<'_, Result<T, StoreError>>) -> Result<T, StoreError> {
    let mut context = Context::from_waker(Waker::noop());
    match future.as_mut().poll(&mut context) {
        Poll::Ready(result) => result,
        Poll::Pending => panic!("sessions that block are ready when first polled"),
    }
}

fn plan(store: &FileStore, folder: &TempDir, owner: &str) -> Plan {
    let schema = Arc::new(Schema::of_sensors([1, 2], TimeResolution::Nanoseconds));
    Plan {
        endpoint: store.endpoint(folder.path().to_str().unwrap()).unwrap(),
        database: DatabaseName::new("kit").unwrap(),
        owner: owner.into(),
        layout: store.layouts(&schema, Family::PerReading)[0].layout,
        schema,
        durability: Durability::Default,
        clients: 1,
        timeout_ms: 1_000,
    }
}

fn administrator(store: &FileStore, plan: &Plan) -> Box<dyn Administrator> {
    now(store.administrator(plan)).unwrap()
}

fn batch(plan: &Plan, table: usize, rows: i64) -> Batch {
    let mut batch = Batch::new(0, &plan.schema.tables[0]);
    batch.table = table;
    batch.times_ns = (0..rows).collect();
    batch.series = (0..rows).map(|_| 0).collect();
    batch.columns[0] =
        Column { values: Values::F64((0..rows).map(|row| row as f64).collect()), present: None };
    batch
}

fn stored(store: &FileStore, plan: &Plan) -> usize {
    let mut count = 0;
    let mut session = now(store.connect(plan)).unwrap();
    now(session.scan(0, &mut |batch| count += batch.len())).unwrap();
    count
}

#[test]
fn a_database_of_another_is_left_alone() {
    let (store, folder) = (sensormark_stores::sqlite(), tempfile::tempdir().unwrap());
    let (own, other) = (plan(&store, &folder, "me"), plan(&store, &folder, "you"));
    now(administrator(&store, &own).create()).unwrap();
    let mut session = now(store.connect(&own)).unwrap();
    now(session.write(&batch(&own, 0, 3))).unwrap();
    let mut stranger = administrator(&store, &other);
    for refused in [now(stranger.create()), now(stranger.drop_database())] {
        let error = refused.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Foreign);
        assert!(error.to_string().contains("belongs to another run"));
    }
    assert_eq!(stored(&store, &own), 3);
    let listed = now(stranger.databases()).unwrap();
    assert_eq!(listed, [("sensormark_kit".to_owned(), "me".to_owned())]);
}

#[test]
fn an_earlier_attempt_of_the_same_owner_is_made_anew() {
    let (store, folder) = (sensormark_stores::sqlite(), tempfile::tempdir().unwrap());
    let plan = plan(&store, &folder, "me");
    let mut administrator = administrator(&store, &plan);
    now(administrator.create()).unwrap();
    now(now(store.connect(&plan)).unwrap().write(&batch(&plan, 0, 3))).unwrap();
    now(administrator.create()).unwrap();
    assert_eq!(stored(&store, &plan), 0);
    for _ in 0..2 {
        now(administrator.drop_database()).unwrap();
    }
    assert!(now(administrator.databases()).unwrap().is_empty());
}

#[test]
fn what_is_not_offered_and_what_is_not_there_is_refused_once_for_all() {
    let (store, folder) = (sensormark_stores::sqlite(), tempfile::tempdir().unwrap());
    let mut plan = plan(&store, &folder, "me");
    now(administrator(&store, &plan).create()).unwrap();
    let mut session = now(store.connect(&plan)).unwrap();
    let nothing = now(session.write(&batch(&plan, 0, 0))).unwrap();
    assert_eq!(nothing, Acknowledgement::default());
    let query = Query::chart(7, 0, TimeRange::new(0, 9), 0, 3);
    let far = batch(&plan, 7, 1);
    let refused = [
        now(session.write(&far)).err(),
        now(session.query(&query)).err(),
        now(session.scan(7, &mut |_| ())).err(),
        now(session.scan_entities(7, &mut |_, _, _| ())).err(),
    ];
    for error in refused {
        assert_eq!(error.map(|error| error.kind()), Some(ErrorKind::NotFound));
    }
    let reading = &batch(&plan, 0, 1);
    let write = EntityReading { reading, entity: &[], atomicity: Atomicity::Separate };
    let error = now(session.upsert(write)).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Unsupported);
    let (operation, table) = (Operation::UpsertSeparately, &plan.schema.tables[0]);
    let capability = store.capability(operation, &plan.layout, table);
    assert_eq!(capability.reason(), Some("the table has no entity"));
    plan.layout.shape = Shape::NativeTimeSeries;
    let error = now(store.connect(&plan)).err().unwrap();
    assert_eq!(error.kind(), ErrorKind::Unsupported);
}
