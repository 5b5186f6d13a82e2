//! C-E: failures are of the right kind, come in time, and leave nothing half done.

use super::super::check::{Broken, Check, Verdict, ensure};
use super::super::client::Client;
use super::super::data::{BASE, Data, Dataset, SECOND};
use super::super::place::with_password;
use super::super::rule::{Over, Rule, own};
use super::super::suite::{Case, administer, parts};
use sensormark_store::batch::Batch;
use sensormark_store::error::{ErrorKind, StoreError};
use sensormark_store::layout::Shape;
use sensormark_store::query::{Ask, Query, Selection};
use sensormark_store::schema::Value;
use sensormark_store::store::{AnswerSource, Plan, RepeatedWrite};

pub(super) fn rules() -> Vec<Rule> {
    const VALUES: &[Dataset] = &[Dataset::Values];
    const LAYOUTS: Over = Over::Measured(&[Dataset::Values, Dataset::Channels]);
    vec![
        own!("C-E-01", "a table that is not in the schema is not found", LAYOUTS, no_such_table),
        own!("C-E-02", "a database that is not there is not found, nor made", LAYOUTS, no_such_database),
        own!("C-E-03", "a database dropped under a session is not found", LAYOUTS, dropped_under),
        own!(
            "C-E-04",
            "a reading that is too large is refused as that",
            Over::Measured(&[Dataset::Texts]),
            too_large
        ),
        own!("C-E-05", "a batch that is refused says how much of it is stored", LAYOUTS, refused_part),
        own!(
            "C-E-06",
            "a wrong password fails as that, and does not show",
            Over::Usual(VALUES),
            wrong_password
        ),
        own!("C-E-07", "a URL that means nothing is a wrong configuration", Over::Store, wrong_url),
    ]
}

/// The whole of table number `table`.
pub(super) fn whole(case: &Case<'_>, table: usize) -> Query {
    Query {
        table,
        series: Selection::All,
        range: Data::everything(),
        ask: Ask::Range { fields: case.subject().data.schema.tables[0].all_fields(), coarse_filter: false },
    }
}

/// An error of one of these kinds, with words on what was done and what to do.
pub(super) fn is_of<T>(what: &str, result: Result<T, StoreError>, kinds: &[ErrorKind]) -> Check<StoreError> {
    let Err(error) = result else {
        return Err(Broken(format!("{what} succeeds; expected {kinds:?}")));
    };
    ensure!(kinds.contains(&error.kind()), "{what}: expected {kinds:?}, got {:?}: {error}", error.kind());
    ensure!(
        !error.operation().is_empty() && error.context().len() > 10,
        "{what}: an error without words: {error:?}"
    );
    Ok(error)
}

async fn no_such_table(case: &Case<'_>) -> Check<Verdict> {
    const NOT_FOUND: &[ErrorKind] = &[ErrorKind::NotFound];
    let (plan, mut client) = case.client().await?;
    let good = parts(&case.subject().data.batches[0], 5).swap_remove(0);
    let mut bad = good.clone();
    bad.table = 7;
    is_of("a write", client.try_write(&bad).await?, NOT_FOUND)?;
    is_of("a query", client.try_ask(&whole(case, 7)).await?, NOT_FOUND)?;
    // and the session goes on
    client.write(&good).await?;
    let answer = client.ask(&whole(case, 0)).await?;
    let expected = case.reference(&[good]).answer(&whole(case, 0));
    let difference = answer.disagreement(&expected, &whole(case, 0));
    ensure!(difference.is_none(), "after an error: {}", difference.unwrap_or_default());
    client.close().await?;
    drop(plan);
    Ok(Verdict::Kept)
}

/// Connects and asks: the failure of whichever comes first.
async fn connect_and_ask(case: &Case<'_>, plan: &Plan) -> Check<Result<(), StoreError>> {
    let mut client = match Client::try_connect(case.store(), plan).await? {
        Ok(client) => client,
        Err(error) => return Ok(Err(error)),
    };
    let answer = client.try_ask(&whole(case, 0)).await?;
    Ok(answer.map(|_| ()))
}

async fn no_such_database(case: &Case<'_>) -> Check<Verdict> {
    let plan = case.plan();
    let result = connect_and_ask(case, &plan).await?;
    is_of("to ask of a database that is not there", result, &[ErrorKind::NotFound])?;
    ensure!(!is_listed(case, &plan).await?, "{} was made in silence", plan.database);
    Ok(Verdict::Kept)
}

async fn is_listed(case: &Case<'_>, plan: &Plan) -> Check<bool> {
    let mut administrator = case.suite.administrator(plan).await?;
    let databases = administer("list", administrator.databases()).await??;
    Ok(databases.iter().any(|(name, _)| name == plan.database.as_str()))
}

/// The session may have been cut off by the drop, or find nothing.
async fn dropped_under(case: &Case<'_>) -> Check<Verdict> {
    let (plan, mut client) = case.client().await?;
    let batch = parts(&case.subject().data.batches[0], 5).swap_remove(0);
    client.write(&batch).await?;
    client.ask(&whole(case, 0)).await?;
    case.suite.drop_database(&plan).await?;
    let embedded = case.store().description().embedded; // an open file outlives its name
    match client.try_ask(&whole(case, 0)).await? {
        Ok(answer) => ensure!(answer.is_empty() || embedded, "dropped readings are still answered"),
        Err(error) => {
            let kinds = [ErrorKind::NotFound, ErrorKind::Unavailable];
            is_of("a query", Err::<(), _>(error), &kinds)?;
        }
    }
    drop(client);
    ensure!(!is_listed(case, &plan).await?, "{} is back after its drop", plan.database);
    Ok(Verdict::Kept)
}

/// Texts of a reading or a record that grow until the database refuses, or 64 MiB are stored.
async fn too_large(case: &Case<'_>) -> Check<Verdict> {
    let (plan, mut client) = case.client().await?;
    let grows = case.subject().offer.layout.shape == Shape::GrowingArray;
    let sizes: Vec<usize> = if grows { vec![1 << 20; 40] } else { vec![1 << 10, 1 << 16, 1 << 20, 20 << 20] };
    let table = &plan.schema.tables[0];
    let mut stored = Vec::new();
    for (row, size) in (0..).zip(sizes) {
        let mut batch = Batch::new(0, table);
        batch.series.push(0);
        batch.times_ns.push(BASE + row * SECOND);
        let text = Value::Text("0123456789abcdef".repeat(size / 16));
        batch.columns[0].push(text).expect("a text field");
        match client.try_write(&batch).await? {
            Ok(_) => stored.push(batch),
            Err(error) => {
                let what = format!("to write a text of {size} bytes");
                is_of(&what, Err::<(), _>(error), &[ErrorKind::TooLarge])?;
                break;
            }
        }
    }
    let mut client = match client.close().await {
        Ok(()) | Err(_) => case.connect(&plan).await?,
    };
    let census = client.census(&plan.schema).await?;
    ensure!(
        census == case.reference(&stored).census(),
        "of {} texts that were acknowledged, {} are stored, or they differ",
        stored.len(),
        census.readings()
    );
    client.close().await?;
    Ok(Verdict::Kept)
}

/// A batch with a reading in its midst that is there already.
async fn refused_part(case: &Case<'_>) -> Check<Verdict> {
    let subject = case.subject();
    let table = &subject.data.schema.tables[0];
    if case.store().repeated_write(&subject.offer.layout, table) != RepeatedWrite::Refused {
        let reason = "no reading is refused in this layout: repeated writes are taken";
        return Ok(Verdict::Ignored(reason.to_owned()));
    }
    let (plan, mut client) = case.client().await?;
    let batch = parts(&subject.data.batches[0], 40).swap_remove(0);
    let mut there = batch.clone();
    there.clear();
    there.push_row(&batch, 20);
    client.write(&there).await?;
    let error = is_of("the batch", client.try_write(&batch).await?, &[ErrorKind::Conflict])?;
    let census = client.census(&plan.schema).await?;
    ensure!(
        census.readings() == 1 + error.acknowledged(),
        "{} readings of the batch are said to be stored, {} are",
        error.acknowledged(),
        census.readings() - 1
    );
    ensure!(!error.is_in_doubt(), "a refused batch is in doubt");
    client.close().await?;
    Ok(Verdict::Kept)
}

async fn wrong_password(case: &Case<'_>) -> Check<Verdict> {
    let mut plan = case.database().await?;
    let wrong = "Wr0ngPassw0rd";
    let Some(url) = with_password(plan.endpoint.url.expose(), wrong) else {
        return Ok(Verdict::Ignored("the endpoint has no password".to_owned()));
    };
    plan.endpoint.url = sensormark_store::Secret::new(url);
    let result = connect_and_ask(case, &plan).await?;
    let error = is_of("a wrong password", result, &[ErrorKind::Authentication])?;
    let mut text = format!("{error} {error:?}");
    let mut cause = std::error::Error::source(&error);
    while let Some(error) = cause {
        text = format!("{text} {error} {error:?}");
        cause = error.source();
    }
    ensure!(!text.contains(wrong), "the password shows in the error");
    Ok(Verdict::Kept)
}

async fn wrong_url(case: &Case<'_>) -> Check<Verdict> {
    // a folder's name may be almost anything
    let urls: &[&str] = if case.store().description().embedded {
        &[""]
    } else {
        &["", "nonsense", "ftp://127.0.0.1/", "://", "http://[::1"]
    };
    for url in urls {
        let what = format!("the URL {url:?}");
        let endpoint = case.store().endpoint(url);
        is_of(&what, endpoint, &[ErrorKind::Configuration])?;
    }
    let example = case.store().description().url_example;
    ensure!(!example.is_empty(), "no example of a URL");
    Ok(Verdict::Kept)
}
