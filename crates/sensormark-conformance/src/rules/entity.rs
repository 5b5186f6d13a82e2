//! C-U: readings that update their entity.

use super::super::check::{Broken, Check, Verdict, ensure};
use super::super::client::{Client, block_on};
use super::super::data::{BASE, Dataset, HOUR};
use super::super::rule::{Over, Rule, own, unsupported};
use super::super::suite::Case;
use sensormark_store::batch::Batch;
use sensormark_store::capability::Operation;
use sensormark_store::error::{ErrorKind, StoreError};
use sensormark_store::schema::Value;
use sensormark_store::store::{Acknowledgement, Atomicity, EntityReading, Plan, RepeatedWrite, Store};

pub(super) fn rules() -> Vec<Rule> {
    const METERS: Over = Over::Layouts(&[Dataset::Meters]);
    vec![
        own!("C-U-01", "an upsert in two commits keeps reading and entity", METERS, separate),
        own!("C-U-02", "an upsert in one commit keeps reading and entity", METERS, atomic),
        own!("C-U-03", "an upsert in one commit that is refused changes nothing", METERS, refused),
        own!(
            "C-U-04",
            "a plain write leaves entities alone; with a foreign key it is refused until its entity is there",
            METERS,
            plain_write
        ),
        own!("C-U-05", "eight sessions upsert at once, new entities too", METERS, side_by_side),
    ]
}

/// The columns of a meter.
fn columns(series: u32) -> Vec<Value> {
    vec![
        Value::Text(format!("Zoë O'Neil \"{series}\", 3rd\\floor")),
        Value::I64(i64::from(series) - 4),
        Value::F64(48.25 + f64::from(series) / 7.0),
        Value::Bool(series.is_multiple_of(2)),
    ]
}

/// Hour `hour` of a meter.
fn reading(case: &Case<'_>, series: u32, hour: i64) -> Batch {
    let mut batch = Batch::new(0, &case.subject().data.schema.tables[0]);
    batch.series.push(series);
    batch.times_ns.push(BASE + hour * HOUR);
    let usage = Value::F64(f64::from(series) + hour as f64 / 8.0);
    batch.columns[0].push(usage).expect("a floating point field");
    batch.columns[1].push(Value::I64(hour)).expect("an integer field");
    batch
}

async fn upsert(
    client: &mut Client,
    reading: &Batch,
    atomicity: Atomicity,
) -> Check<Result<Acknowledgement, StoreError>> {
    let entity = columns(reading.series[0]);
    let write = EntityReading { reading, entity: &entity, atomicity };
    client.try_upsert(write).await
}

/// Why the store cannot do this, after having seen that it refuses.
async fn refusal(case: &Case<'_>, client: &mut Client, atomicity: Atomicity) -> Check<Option<String>> {
    let operation = match atomicity {
        Atomicity::Separate => Operation::UpsertSeparately,
        Atomicity::Atomic => Operation::UpsertAtomically,
    };
    let table = &case.subject().data.schema.tables[0];
    let Some(reason) = unsupported(case, table, &[operation]) else {
        return Ok(None);
    };
    let result = upsert(client, &reading(case, 0, 0), atomicity).await?;
    ensure!(
        matches!(&result, Err(error) if error.kind() == ErrorKind::Unsupported),
        "an upsert that is stated as unsupported ({reason}) gives {result:?}"
    );
    Ok(Some(reason))
}

/// Whether exactly these entities are there: (series, hour of the last reading).
async fn entities(client: &mut Client, expected: &[(u32, i64)]) -> Check {
    let found = client.entities(0).await??;
    let expected: Vec<_> =
        expected.iter().map(|&(series, hour)| (series, BASE + hour * HOUR, columns(series))).collect();
    ensure!(found == expected, "expected the entities {expected:?}, found {found:?}");
    Ok(())
}

async fn readings(case: &Case<'_>, client: &mut Client, plan: &Plan, written: &[Batch]) -> Check {
    let expected = case.reference(written).census();
    let found = client.census(&plan.schema).await?;
    ensure!(
        found == expected,
        "{} readings were upserted, {} are stored, or they differ",
        expected.readings(),
        found.readings()
    );
    Ok(())
}

async fn upserts(case: &Case<'_>, atomicity: Atomicity) -> Check<Verdict> {
    let (plan, mut client) = case.client().await?;
    if let Some(reason) = refusal(case, &mut client, atomicity).await? {
        return Ok(Verdict::Ignored(reason));
    }
    entities(&mut client, &[]).await?;
    let mut written = Vec::new();
    for hour in 0..3 {
        for series in [5, 0, 7, 1] {
            let one = reading(case, series, hour);
            let acknowledgement = upsert(&mut client, &one, atomicity).await??;
            ensure!(
                acknowledgement.readings == 1 && acknowledgement.sent == 1,
                "{acknowledgement:?} for one upsert"
            );
            written.push(one);
        }
        let expected = [0, 1, 5, 7].map(|series| (series, hour));
        entities(&mut client, &expected).await?;
    }
    readings(case, &mut client, &plan, &written).await?;
    client.close().await?;
    Ok(Verdict::Kept)
}

async fn separate(case: &Case<'_>) -> Check<Verdict> {
    upserts(case, Atomicity::Separate).await
}

async fn atomic(case: &Case<'_>) -> Check<Verdict> {
    upserts(case, Atomicity::Atomic).await
}

async fn refused(case: &Case<'_>) -> Check<Verdict> {
    let subject = case.subject();
    let table = &subject.data.schema.tables[0];
    if case.store().repeated_write(&subject.offer.layout, table) != RepeatedWrite::Refused {
        let reason = "no reading is refused in this layout: repeated writes are taken";
        return Ok(Verdict::Ignored(reason.to_owned()));
    }
    let (plan, mut client) = case.client().await?;
    if let Some(reason) = refusal(case, &mut client, Atomicity::Atomic).await? {
        return Ok(Verdict::Ignored(reason));
    }
    let mut written = Vec::new();
    for hour in [1, 2] {
        written.push(reading(case, 3, hour));
        upsert(&mut client, &written[written.len() - 1], Atomicity::Atomic).await??;
    }
    match upsert(&mut client, &written[0], Atomicity::Atomic).await? {
        Err(error) if error.kind() == ErrorKind::Conflict => {}
        other => return Err(Broken(format!("a repeated reading gives {other:?}"))),
    }
    entities(&mut client, &[(3, 2)]).await?;
    readings(case, &mut client, &plan, &written).await?;
    client.close().await?;
    Ok(Verdict::Kept)
}

async fn plain_write(case: &Case<'_>) -> Check<Verdict> {
    let (plan, mut client) = case.client().await?;
    if let Some(reason) = refusal(case, &mut client, Atomicity::Separate).await? {
        return Ok(Verdict::Ignored(reason));
    }
    let subject = case.subject();
    if subject.offer.layout.foreign_key {
        return orphan(case, client, &plan).await;
    }
    let written = [reading(case, 2, 0), reading(case, 2, 1)];
    for batch in &written {
        client.write(batch).await?;
    }
    entities(&mut client, &[]).await?;
    readings(case, &mut client, &plan, &written).await?;
    client.close().await?;
    Ok(Verdict::Kept)
}

/// The database itself refuses a reading without its entity, and takes the same reading with it.
async fn orphan(case: &Case<'_>, mut client: Client, plan: &Plan) -> Check<Verdict> {
    let one = reading(case, 2, 0);
    match client.try_write(&one).await? {
        Err(error) if error.kind() == ErrorKind::Conflict => {}
        other => {
            return Err(Broken(format!("a reading without its entity gives {other:?}")));
        }
    }
    entities(&mut client, &[]).await?;
    readings(case, &mut client, plan, &[]).await?;
    upsert(&mut client, &one, Atomicity::Separate).await??;
    let next = reading(case, 2, 1);
    client.write(&next).await?;
    entities(&mut client, &[(2, 0)]).await?;
    readings(case, &mut client, plan, &[one, next]).await?;
    client.close().await?;
    Ok(Verdict::Kept)
}

/// Readings that each session of several upserts, of one entity of its own.
const HOURS: i64 = 12;

async fn side_by_side(case: &Case<'_>) -> Check<Verdict> {
    let (plan, mut client) = case.client().await?;
    let atomicity = match refusal(case, &mut client, Atomicity::Atomic).await? {
        None => Atomicity::Atomic,
        Some(_) => match refusal(case, &mut client, Atomicity::Separate).await? {
            None => Atomicity::Separate,
            Some(reason) => return Ok(Verdict::Ignored(reason)),
        },
    };
    let shares: Vec<Vec<Batch>> =
        (0..8).map(|series| (0..HOURS).map(|hour| reading(case, series, hour)).collect()).collect();
    let store = &*case.suite.store;
    let results: Vec<Check> = std::thread::scope(|scope| {
        let plan = &plan;
        let handles: Vec<_> = shares
            .iter()
            .map(|share| scope.spawn(move || block_on(one_of_many(store, plan, share, atomicity))))
            .collect();
        let panicked = |_| Err(Broken("a session's thread panicked".into()));
        let joined = handles.into_iter();
        joined.map(|handle| handle.join().unwrap_or_else(panicked)).collect()
    });
    results.into_iter().collect::<Check>()?;
    let last: Vec<(u32, i64)> = (0..8).map(|series| (series, HOURS - 1)).collect();
    entities(&mut client, &last).await?;
    readings(case, &mut client, &plan, &shares.concat()).await?;
    client.close().await?;
    Ok(Verdict::Kept)
}

/// Upserts an entity's readings, one after the other.
async fn one_of_many(store: &dyn Store, plan: &Plan, share: &[Batch], atomicity: Atomicity) -> Check {
    let mut client = Client::connect(store, plan).await?;
    for reading in share {
        upsert(&mut client, reading, atomicity).await??;
    }
    client.close().await
}
