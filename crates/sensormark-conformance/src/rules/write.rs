//! C-W: what is acknowledged is stored, once, and found.

use super::super::check::{Broken, Check, Verdict, ensure};
use super::super::client::{Client, block_on};
use super::super::data::{BASE, Data, Dataset, SECOND, mix, value};
use super::super::rule::{Over, Rule, ask, loaded, own};
use super::super::suite::{Case, Loaded, Subject, Suite, parts};
use Dataset::{Channels, Devices, Fleet, Mixed, Values};
use sensormark_store::batch::Batch;
use sensormark_store::error::ErrorKind;
use sensormark_store::layout::Family;
use sensormark_store::query::{Ask, Query, Selection, TimeRange};
use sensormark_store::store::{Acknowledgement, AnswerSource, Plan, RepeatedWrite};
use std::time::Duration;

pub(super) fn rules() -> Vec<Rule> {
    vec![
        own!(
            "C-W-01",
            "batches of 1 to 1,000 readings are stored and counted",
            Over::Layouts(&[Mixed, Channels, Values]),
            small_batches
        ),
        own!(
            "C-W-02",
            "batches of 10,000 and 100,000 readings are stored and counted",
            Over::Layouts(&[Channels, Values]),
            large_batches
        ),
        own!(
            "C-W-03",
            "an empty batch is acknowledged as nothing",
            Over::Measured(&[Mixed, Channels]),
            empty
        ),
        own!(
            "C-W-04",
            "readings may arrive out of order",
            Over::Layouts(&[Mixed, Channels, Devices, Fleet]),
            out_of_order
        ),
        own!(
            "C-W-05",
            "repeated writes end as the store states",
            Over::Layouts(&[Mixed, Channels, Values]),
            repeated
        ),
        own!(
            "C-W-06",
            "what is acknowledged is found by other sessions at once",
            Over::Measured(&[Mixed, Channels]),
            found_at_once
        ),
        own!("C-W-07", "eight sessions write and read at once", Over::Measured(&[Mixed, Values]), concurrent),
        loaded!(
            "C-W-08",
            "a scan gives every reading once, with all fields",
            &[Mixed, Channels, Values, Devices, Fleet],
            census
        ),
        own!(
            "C-W-09",
            "datagrams are stored without acknowledgement",
            Over::Datagrams(&[Mixed, Channels, Values]),
            datagrams
        ),
    ]
}

/// A batch of this many readings: millisecond steps, shared out among the series.
fn generated(data: &Data, count: usize, start: i64) -> Batch {
    let table = &data.schema.tables[0];
    let mut batch = Batch::new(0, table);
    let all = table.series.len() as usize;
    for row in 0..count {
        let series = u32::try_from(row % all).expect("a series' number");
        batch.series.push(series);
        let step = i64::try_from(row / all).expect("a row's number");
        batch.times_ns.push(start + step * 1_000_000);
        for (number, (column, field)) in batch.columns.iter_mut().zip(&table.fields).enumerate() {
            let value = value(field.kind, u64::from(series), row as u64, number as u64);
            column.push(value).expect("generated values fit");
        }
    }
    batch
}

fn acknowledged_all(case: &Case<'_>, batch: &Batch, got: Acknowledgement) -> Check {
    let subject = case.subject();
    let table = &subject.data.schema.tables[batch.table];
    let limits = case.store().limits(&subject.offer.layout, table);
    let count = batch.len() as u64;
    ensure!(
        got.readings == count && got.sent == count,
        "of {count} readings, {} sent and {} acknowledged",
        got.sent,
        got.readings
    );
    let least = batch.len().div_ceil(limits.readings_per_statement) as u64;
    ensure!(
        got.statements >= least,
        "{} statements for {count} readings, with at most {} in one",
        got.statements,
        limits.readings_per_statement
    );
    Ok(())
}

/// Whether exactly these batches are stored.
async fn stored(case: &Case<'_>, client: &mut Client, plan: &Plan, batches: &[Batch]) -> Check {
    let expected = case.reference(batches).census();
    let got = client.census(&plan.schema).await?;
    ensure!(
        got.readings() == expected.readings() && got.values() == expected.values(),
        "{} readings with {} values were written, {} with {} are stored",
        expected.readings(),
        expected.values(),
        got.readings(),
        got.values()
    );
    ensure!(got == expected, "as many readings are stored as were written, but not the same ones");
    Ok(())
}

async fn batches_of(case: &Case<'_>, sizes: &[usize]) -> Check<Verdict> {
    let (plan, mut client) = case.client().await?;
    let mut written = Vec::new();
    let mut start = BASE;
    for &size in sizes {
        let batch = generated(&case.subject().data, size, start);
        start += 1_000 * SECOND;
        let acknowledgement = client.write(&batch).await?;
        acknowledged_all(case, &batch, acknowledgement)?;
        written.push(batch);
    }
    stored(case, &mut client, &plan, &written).await?;
    client.close().await?;
    Ok(Verdict::Kept)
}

async fn small_batches(case: &Case<'_>) -> Check<Verdict> {
    batches_of(case, &[1, 2, 999, 1_000, 1]).await
}

/// Records that are updated reading by reading have their limits tried with fewer.
async fn large_batches(case: &Case<'_>) -> Check<Verdict> {
    match case.subject().family {
        Family::PerReading | Family::PerSpan { .. } => batches_of(case, &[10_000, 100_000]).await,
        Family::Bucketed { .. } | Family::Summary { .. } | Family::GrowingArray => {
            batches_of(case, &[10_000]).await
        }
    }
}

async fn empty(case: &Case<'_>) -> Check<Verdict> {
    let (plan, mut client) = case.client().await?;
    let batch = generated(&case.subject().data, 0, BASE);
    let acknowledgement = client.write(&batch).await?;
    ensure!(
        acknowledgement.readings == 0 && acknowledgement.sent == 0,
        "{acknowledgement:?} for an empty batch"
    );
    stored(case, &mut client, &plan, &[]).await?;
    client.close().await?;
    Ok(Verdict::Kept)
}

async fn out_of_order(case: &Case<'_>) -> Check<Verdict> {
    let (plan, mut client) = case.client().await?;
    let mut shuffled = Vec::new();
    for batch in &case.subject().data.batches {
        let mut rows: Vec<usize> = (0..batch.len()).collect();
        rows.sort_by_key(|&row| mix(row as u64));
        let mut mixed = batch.clone();
        mixed.clear();
        for row in rows {
            mixed.push_row(batch, row);
        }
        shuffled.extend(parts(&mixed, 400));
    }
    for batch in &shuffled {
        client.write(batch).await?;
    }
    stored(case, &mut client, &plan, &shuffled).await?;
    let reference = case.reference(&shuffled);
    for (number, table) in plan.schema.tables.iter().enumerate() {
        for wanted in [
            Ask::Range { fields: table.all_fields(), coarse_filter: false },
            Ask::LastReading { fields: table.all_fields() },
        ] {
            let query = of_all(number, wanted);
            ask(case, &mut client, &query, &reference.answer(&query)).await?;
        }
    }
    client.close().await?;
    Ok(Verdict::Kept)
}

fn of_all(table: usize, ask: Ask) -> Query {
    Query { table, series: Selection::All, range: Data::everything(), ask }
}

/// One reading, and another of the same series and time with other values.
async fn repeated(case: &Case<'_>) -> Check<Verdict> {
    let (plan, mut client) = case.client().await?;
    let data = &case.subject().data;
    let table = &data.schema.tables[0];
    let layout = &case.subject().offer.layout;
    let time = BASE + 1_234_567; // not whole in any coarser unit
    let first = generated(data, 1, time);
    let two = generated(data, 1 + table.series.len() as usize, time);
    let mut second = first.clone();
    second.clear();
    second.push_row(&two, two.len() - 1);
    second.times_ns[0] = time;
    client.write(&first).await?;
    let repeated = client.try_write(&second).await?;
    let expectation = case.store().repeated_write(layout, table);
    match (expectation, &repeated) {
        (RepeatedWrite::Refused, Err(error)) => ensure!(
            error.kind() == ErrorKind::Conflict && error.acknowledged() == 0,
            "a repeated write fails with {error} after {} readings",
            error.acknowledged()
        ),
        (RepeatedWrite::Refused, Ok(_)) => {
            return Err(Broken("a repeated write is taken, not refused".into()));
        }
        (_, Err(error)) => return Err(Broken(format!("a repeated write fails: {error}"))),
        (_, Ok(acknowledgement)) => acknowledged_all(case, &second, *acknowledgement)?,
    }
    let kept = match expectation {
        RepeatedWrite::Refused => vec![first],
        RepeatedWrite::Replaces => vec![second],
        RepeatedWrite::KeepsBoth => vec![first, second],
    };
    stored(case, &mut client, &plan, &kept).await?;
    client.close().await?;
    Ok(Verdict::Kept)
}

async fn found_at_once(case: &Case<'_>) -> Check<Verdict> {
    let (plan, mut writer) = case.client().await?;
    let mut reader = case.connect(&plan).await?;
    let data = &case.subject().data;
    let table = &data.schema.tables[0];
    let mut refused = None;
    for round in 0..10 {
        let batch = generated(data, 5, BASE + round * SECOND);
        writer.write(&batch).await?;
        let query = Query {
            range: TimeRange::new(batch.times_ns[0], batch.times_ns[0] + SECOND),
            ..of_all(0, Ask::Range { fields: table.all_fields(), coarse_filter: false })
        };
        let expected = case.reference(&[batch]).answer(&query);
        refused = ask(case, &mut reader, &query, &expected).await?;
    }
    writer.close().await?;
    reader.close().await?;
    Ok(refused.map_or(Verdict::Kept, Verdict::Ignored))
}

const SESSIONS: i64 = 8;

/// What one of the sessions writes: parts of 25 readings in times of its own.
fn share_of(data: &Data, session: i64) -> Vec<Batch> {
    parts(&generated(data, 400, BASE + session * 1_000 * SECOND), 25)
}

async fn concurrent(case: &Case<'_>) -> Check<Verdict> {
    let plan = case.database().await?;
    let (suite, subject) = (case.suite, case.subject());
    let results: Vec<Check> = std::thread::scope(|scope| {
        let plan = &plan;
        let handles: Vec<_> = (0..SESSIONS)
            .map(|session| {
                scope.spawn(move || block_on(async { one_of_many(suite, subject, plan, session).await }))
            })
            .collect();
        let panicked = |_| Err(Broken("a session's thread panicked".into()));
        handles.into_iter().map(|handle| handle.join().unwrap_or_else(panicked)).collect()
    });
    results.into_iter().collect::<Check>()?;
    let all: Vec<Batch> = (0..SESSIONS).flat_map(|session| share_of(&subject.data, session)).collect();
    let mut client = case.connect(&plan).await?;
    stored(case, &mut client, &plan, &all).await?;
    client.close().await?;
    Ok(Verdict::Kept)
}

/// How often in a row an answer may lack readings, where a store says that one may.
const MOST_MISSES: u32 = 5;

/// Writes a session's share, and reads it back after each part.
async fn one_of_many(suite: &Suite, subject: &Subject, plan: &Plan, session: i64) -> Check {
    let mut client = Client::connect(&*suite.store, plan).await?;
    let start = BASE + session * 1_000 * SECOND;
    let mut written = Vec::new();
    for batch in share_of(&subject.data, session) {
        client.write(&batch).await?;
        written.push(batch);
        let query = Query {
            range: TimeRange::new(start, start + 1_000 * SECOND),
            ..of_all(
                0,
                Ask::Range { fields: subject.data.schema.tables[0].all_fields(), coarse_filter: false },
            )
        };
        let expected = suite.reference(subject, &written).answer(&query);
        let mut difference = client.ask(&query).await?.disagreement(&expected, &query);
        let mut patience = suite.store.momentary_misses().map_or(0, |_| MOST_MISSES);
        while difference.is_some() && patience > 0 {
            patience -= 1;
            difference = client.ask(&query).await?.disagreement(&expected, &query);
        }
        ensure!(difference.is_none(), "session {session}: {}", difference.unwrap_or_default());
    }
    client.close().await
}

async fn census(case: &Case<'_>, loaded: &Loaded) -> Check<Verdict> {
    let subject = case.subject();
    let mut client = case.connect(&loaded.plan).await?;
    let batches = &subject.data.batches;
    stored(case, &mut client, &loaded.plan, batches).await?;
    client.close().await?;
    Ok(Verdict::Kept)
}

/// Small batches, sent slowly enough that none is lost on the loopback interface.
async fn datagrams(case: &Case<'_>) -> Check<Verdict> {
    let (plan, mut client) = case.client().await?;
    let mut written = Vec::new();
    for part in parts(&generated(&case.subject().data, 300, BASE), 30) {
        let acknowledgement = client.write(&part).await?;
        ensure!(
            acknowledgement.readings == 0 && acknowledgement.sent == part.len() as u64,
            "{acknowledgement:?} for {} readings in datagrams",
            part.len()
        );
        written.push(part);
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    ensure!(client.datagram_bytes() > 0, "no bytes are counted as sent in datagrams");
    let mut result = Ok(());
    for _ in 0..50 {
        tokio::time::sleep(Duration::from_millis(200)).await;
        result = stored(case, &mut client, &plan, &written).await;
        if result.is_ok() {
            break;
        }
    }
    result?;
    client.close().await?;
    Ok(Verdict::Kept)
}
