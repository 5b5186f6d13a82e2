//! A replica set of three servers on 127.0.0.1 to 127.0.0.3: what each consistency level promises, and what is left when the primary is killed.

use crate::{START, plan, reading};
use libtest_mimic::Failed;
use sensormark_mongodb::Mongodb;
use sensormark_server::Supervisor;
use sensormark_store::{
    Answer, Ask, Cluster, Endpoint, ErrorKind, Family, Plan, Query, Secret, Selection, ServerOptions,
    Session, Setting, Store, StoreError, TimeRange,
};
use std::collections::BTreeSet;
use std::time::{Duration, Instant};

use crate::support::{block_on, stored};

const MAJORITY: &str = "&w=majority&readConcernLevel=majority";

pub fn cluster(store: &Mongodb) -> Result<(), Failed> {
    let options = ServerOptions {
        memory_bytes: 256 << 20,
        clients: 4,
        cluster: Some(Cluster { members: 3, consistency: "majority".to_owned() }),
        ..ServerOptions::default()
    };
    let begun = Instant::now();
    let server = Supervisor::new(None)?.start(store, &options, None)?;
    println!("three members serve after {:.1?}", begun.elapsed());
    let endpoint = server.endpoint().clone();
    assert!(endpoint.url.expose().ends_with(MAJORITY), "a URL with its level");
    let other = |options: &str| Endpoint {
        url: Secret::new(endpoint.url.expose().replace(MAJORITY, options)),
        ..endpoint.clone()
    };
    let plan = plan(store, &endpoint, Family::PerReading);
    block_on(async {
        let mut administrator = store.administrator(&plan).await?;
        administrator.create().await?;
        for level in [MAJORITY, "&w=majority&readConcernLevel=linearizable", "&w=1&readConcernLevel=local"] {
            let plan = Plan { endpoint: other(level), ..plan.clone() };
            reads_what_was_written(store, &plan).await.map_err(|error| format!("{level}: {error}"))?;
        }
        administrator.settle().await?;
        states_its_level(&administrator.settings().await?);
        administrator.create().await?;
        Ok::<(), Failed>(())
    })?;
    let kill = || server.kill_member(0);
    block_on(loses_nothing(store, &plan, kill)).map_err(|error| format!("a loss: {error}"))?;
    server.restart_member(0, store)?;
    block_on(async {
        let mut administrator = store.administrator(&plan).await?;
        administrator.settle().await?;
        administrator.drop_database().await
    })?;
    // All at once, as between the phases of a run.
    server.restart(store)?;
    server.check()?;
    Ok(())
}

fn states_its_level(settings: &[Setting]) {
    let stated = |name: &str| {
        let found = settings.iter().find(|setting| setting.name == name);
        found.map(|setting| setting.value.as_str())
    };
    assert_eq!(stated("readConcern"), Some("majority"), "{settings:?}");
    assert_eq!(stated("readPreference"), Some("primary"), "{settings:?}");
    let concern = stated("writeConcern").unwrap_or_default();
    assert!(concern.contains("majority"), "{settings:?}");
}

/// What one session writes, another reads at once, whichever member it asks.
async fn reads_what_was_written(store: &Mongodb, plan: &Plan) -> Result<(), StoreError> {
    let mut writer = store.connect(plan).await?;
    let mut reader = store.connect(plan).await?;
    for place in 0..60 {
        let time = START + place;
        writer.write(&reading(plan, time)).await?;
        let query = Query {
            table: 0,
            series: Selection::One(1),
            range: TimeRange::new(time, time + 1),
            ask: Ask::Point { fields: plan.schema.tables[0].all_fields() },
        };
        match reader.query(&query).await? {
            Answer::Readings(found) => assert!(!found.is_empty(), "reading {place} is not seen"),
            other => panic!("no readings: {other:?}"),
        }
    }
    writer.close().await?;
    reader.close().await
}

/// The primary is killed while a session writes: every acknowledged reading is stored, and nothing that was never sent.
async fn loses_nothing(
    store: &Mongodb,
    plan: &Plan,
    kill: impl Fn() -> Result<(), StoreError>,
) -> Result<(), StoreError> {
    let mut session: Box<dyn Session> = store.connect(plan).await?;
    let (mut acknowledged, mut in_doubt) = (BTreeSet::new(), BTreeSet::new());
    let mut gap = (Instant::now(), Duration::ZERO);
    let (mut after, mut sent) = (0, 0);
    while after < 50 {
        let time = START + sent;
        sent += 1;
        match session.write(&reading(plan, time)).await {
            Ok(_) => {
                acknowledged.insert(time);
                gap.1 = gap.1.max(gap.0.elapsed());
                gap.0 = Instant::now();
                after += i32::from(sent > 200);
            }
            Err(error) => {
                assert!(sent > 200, "before the loss: {error}");
                assert_eq!(error.kind(), ErrorKind::Unavailable, "{error}");
                if error.is_in_doubt() {
                    in_doubt.insert(time);
                }
                assert!(gap.0.elapsed() < Duration::from_secs(60), "{error}");
                tokio::time::sleep(Duration::from_millis(50)).await;
            }
        }
        if sent == 200 {
            kill()?;
            gap.0 = Instant::now();
        }
    }
    println!("no write was acknowledged for {:.1?}", gap.1);
    assert!(gap.1 > Duration::from_secs(1), "an election takes its time");
    let found: BTreeSet<i64> = stored(&mut *session, plan).await?.times_ns.into_iter().collect();
    let lost: Vec<_> = acknowledged.difference(&found).collect();
    assert_eq!(lost, Vec::<&i64>::new(), "acknowledged and not stored");
    let known: BTreeSet<i64> = acknowledged.union(&in_doubt).copied().collect();
    assert!(found.is_subset(&known), "stored and refused without doubt");
    session.close().await
}
