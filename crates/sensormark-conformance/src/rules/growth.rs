//! C-M, the last: what a question costs when there is more that it is not about.
//!
//! It measures time, but only tells a step down an index from a look at all readings: their times differ by more than any host's unrest.

use super::super::check::{Check, Verdict, ensure};
use super::super::client::Client;
use super::super::data::{BASE, SECOND};
use super::super::rule::{Over, Rule, alone};
use super::super::suite::{Case, administer};
use sensormark_store::answer::Answer;
use sensormark_store::batch::Batch;
use sensormark_store::capability::{Capability, Operation};
use sensormark_store::layout::{Family, Layout};
use sensormark_store::query::{Aggregate, Ask, Function, Grouping, Query, Selection, TimeRange};
use sensormark_store::schema::{
    Field, FieldSet, FieldType, Schema, Series, Table, Tag, TagColumn, TimeResolution, Value,
};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Readings of each sensor, a second apart, at first; then [`TIMES`] as many.
const FEW: i64 = 1_000;
const TIMES: i64 = 16;
const SENSORS: u32 = 20;
const SITES: u32 = 2;
const SITE: usize = 1;
/// What is asked about the end of the readings is about so many seconds.
const MINUTE: i64 = 60;
/// How often a question is asked; the shortest time counts. Where it is too long, the question is asked again for a while: others may use the processors.
const ASKED: usize = 20;
const AGAIN: Duration = Duration::from_secs(15);
/// Times are equal up to this factor, and this much more.
const FACTOR: u32 = 4;
const MORE: Duration = Duration::from_millis(3);
/// Readings of a write.
const WRITE: usize = 10_000;

pub(super) fn rules() -> Vec<Rule> {
    vec![alone!("C-M-06", "what a question is not about costs it nothing", Over::Store, costs_no_more)]
}

async fn costs_no_more(case: &Case<'_>) -> Check<Verdict> {
    let schema = Arc::new(schema());
    let layout = case.store().layouts(&schema, Family::PerReading)[0].layout;
    let table = &schema.tables[0];
    for operation in [Operation::LastReading, Operation::AggregateAcrossSeries] {
        match case.store().capability(operation, &layout, table) {
            Capability::Native => {}
            other => {
                let reason = other.reason().unwrap_or_default();
                return Ok(Verdict::Ignored(format!("not the database's own: {reason}")));
            }
        }
    }
    let few = times(case, &schema, layout, FEW, &[]).await?;
    let limits: Vec<_> = few.iter().map(|(_, few)| *few * FACTOR + MORE).collect();
    let many = times(case, &schema, layout, FEW * TIMES, &limits).await?;
    for (((what, few), (_, many)), limit) in few.into_iter().zip(many).zip(limits) {
        ensure!(
            many <= limit,
            "{what} takes {few:?} with {FEW} readings a series, and {many:?} with {TIMES} times as many"
        );
    }
    Ok(Verdict::Kept)
}

/// Sensors that a tag of their own tells apart, half of them at each site.
fn schema() -> Schema {
    let sensors = (0..SENSORS).map(|sensor| format!("sensor-{sensor}"));
    let sites = (0..SENSORS).map(|sensor| format!("site-{}", sensor % SITES));
    let tag = |name: &str| Tag { name: name.to_owned() };
    Schema {
        tables: vec![Table {
            name: "readings".to_owned(),
            tags: vec![tag("sensor"), tag("site")],
            fields: vec![Field { name: "value".to_owned(), kind: FieldType::F64, nullable: false }],
            entity: None,
            time_resolution: TimeResolution::Seconds,
            series: Series::new(vec![TagColumn::Text(sensors.collect()), TagColumn::Text(sites.collect())])
                .every(SECOND),
        }],
    }
}

/// The shortest time of each question to a database with so many readings of each sensor. A question has a limit, or none.
async fn times(
    case: &Case<'_>,
    schema: &Arc<Schema>,
    layout: Layout,
    readings: i64,
    limits: &[Duration],
) -> Check<Vec<(&'static str, Duration)>> {
    let plan = case.suite.plan_of(schema, layout);
    case.suite.create(&plan).await?;
    let mut client = case.connect(&plan).await?;
    write(&mut client, &schema.tables[0], readings).await?;
    let mut administrator = case.suite.administrator(&plan).await?;
    administer("settle", administrator.settle()).await??;
    let mut times = Vec::new();
    for (number, (what, query)) in questions(readings).into_iter().enumerate() {
        let limit = limits.get(number).copied().unwrap_or(Duration::MAX);
        let (mut shortest, mut asked, begun) = (Duration::MAX, 0, Instant::now());
        while asked < ASKED || shortest > limit && begun.elapsed() < AGAIN {
            asked += 1;
            let start = Instant::now();
            let answer = client.ask(&query).await?;
            shortest = shortest.min(start.elapsed());
            let found = match &answer {
                Answer::Readings(readings) => readings.len(),
                Answer::Groups(groups) => groups.len(),
                _ => 0,
            };
            let wanted = (SENSORS / SITES) as usize;
            ensure!(found == wanted, "{what}: {found} in place of {wanted}");
        }
        times.push((what, shortest));
    }
    client.close().await?;
    case.suite.drop_database(&plan).await?;
    Ok(times)
}

async fn write(client: &mut Client, table: &Table, readings: i64) -> Check {
    let mut batch = Batch::new(0, table);
    for second in 0..readings {
        for sensor in 0..SENSORS {
            batch.times_ns.push(BASE + second * SECOND);
            batch.series.push(sensor);
            let value = Value::F64((second % 100) as f64);
            batch.columns[0].push(value).expect("a number");
        }
        if batch.len() >= WRITE || second + 1 == readings {
            client.write(&batch).await?;
            batch.clear();
        }
    }
    Ok(())
}

/// What is asked about the sensors of a site. Its answer has one item a sensor, however many readings there are.
fn questions(readings: i64) -> Vec<(&'static str, Query)> {
    let end = BASE + readings * SECOND;
    let about = |start, ask| Query {
        table: 0,
        series: Selection::Tagged { tag: SITE, value: "site-1".to_owned() },
        range: TimeRange::new(start, end),
        ask,
    };
    let fields = FieldSet::one(0);
    let latest = Ask::LastReading { fields };
    let mean = Ask::Aggregate {
        aggregates: vec![Aggregate { function: Function::Mean, field: 0 }],
        grouping: Grouping { by_series: true, ..Grouping::default() },
        from_sums: false,
    };
    let range = Ask::Range { fields, coarse_filter: false };
    vec![
        ("the latest readings of a tag", about(BASE, latest)),
        ("the last minute's means of a tag", about(end - MINUTE * SECOND, mean)),
        ("the last second of a tag", about(end - SECOND, range)),
    ]
}
