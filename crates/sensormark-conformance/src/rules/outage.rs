//! C-O: a server that is paused, gone or back again.
//!
//! These checks stop the server, so they run alone, and only on one that the suite started.

use super::super::check::{Check, Verdict, ensure};
use super::super::client::Client;
use super::super::data::Dataset;
use super::super::rule::{Over, Rule, alone};
use super::super::suite::{Case, parts};
use super::errors::{is_of, whole};
use sensormark_server::ManagedServer;
use sensormark_store::batch::Batch;
use sensormark_store::error::{ErrorKind, StoreError};
use sensormark_store::store::{AnswerSource, Plan};

pub(super) fn rules() -> Vec<Rule> {
    const USUAL: Over = Over::Usual(&[Dataset::Values, Dataset::Channels]);
    vec![
        alone!("C-O-01", "a server that does not answer is a time-out, in bounded time", USUAL, paused),
        alone!("C-O-02", "a server that is gone is unavailable, at once and without doubt", USUAL, gone),
        alone!(
            "C-O-03",
            "after a crash a session fails as unavailable, and a new one works",
            USUAL,
            back_again
        ),
    ]
}

/// The server, or why it cannot be disturbed.
fn server<'a>(case: &Case<'a>) -> Result<&'a ManagedServer, Verdict> {
    let suite = case.suite;
    let reason = if suite.store.description().embedded {
        "the database is embedded: there is no server to disturb"
    } else {
        "the server is not the suite's own, and is not disturbed"
    };
    suite.place.server().ok_or_else(|| Verdict::Ignored(reason.to_owned()))
}

fn first_part(case: &Case<'_>) -> Batch {
    parts(&case.subject().data.batches[0], 10).swap_remove(0)
}

fn other_part(case: &Case<'_>) -> Batch {
    parts(&case.subject().data.batches[0], 10).swap_remove(1)
}

/// What happens to a session's work while the server is as it is.
struct Outcome {
    write: Result<(), StoreError>,
    query: Result<(), StoreError>,
}

async fn try_both(case: &Case<'_>, writer: &mut Client, reader: &mut Client) -> Check<Outcome> {
    Ok(Outcome {
        write: writer.try_write(&other_part(case)).await?.map(|_| ()),
        query: reader.try_ask(&whole(case, 0)).await?.map(|_| ()),
    })
}

async fn paused(case: &Case<'_>) -> Check<Verdict> {
    let server = match server(case) {
        Ok(server) => server,
        Err(ignored) => return Ok(ignored),
    };
    let mut plan = case.database().await?;
    plan.timeout_ms = 1_500;
    let (mut writer, mut reader) = (case.connect(&plan).await?, case.connect(&plan).await?);
    writer.write(&first_part(case)).await?;
    reader.ask(&whole(case, 0)).await?;
    server.pause();
    let outcome = try_both(case, &mut writer, &mut reader).await;
    let connected = Client::try_connect(case.store(), &plan).await;
    server.resume();
    let outcome = outcome?;
    let error = is_of("a write", outcome.write, &[ErrorKind::Timeout])?;
    ensure!(error.is_in_doubt(), "a write that timed out is not in doubt");
    is_of("a query", outcome.query, &[ErrorKind::Timeout])?;
    if let Err(error) = connected? {
        let kinds = [ErrorKind::Timeout, ErrorKind::Unavailable];
        is_of("to connect", Err::<(), _>(error), &kinds)?;
    }
    drop((writer, reader));
    plan.timeout_ms = case.suite.timeout_ms;
    works(case, &plan).await?;
    Ok(Verdict::Kept)
}

/// A new session finds the first part, and perhaps the one that is in doubt.
async fn works(case: &Case<'_>, plan: &Plan) -> Check {
    let mut client = case.connect(plan).await?;
    let found = client.ask(&whole(case, 0)).await?;
    let agrees = |batches: &[Batch]| {
        let expected = case.reference(batches).answer(&whole(case, 0));
        found.disagreement(&expected, &whole(case, 0)).is_none()
    };
    ensure!(
        agrees(&[first_part(case)]) || agrees(&[first_part(case), other_part(case)]),
        "a new session finds {} readings, neither what was acknowledged nor that and what is in doubt",
        found.len()
    );
    client.close().await
}

async fn gone(case: &Case<'_>) -> Check<Verdict> {
    let server = match server(case) {
        Ok(server) => server,
        Err(ignored) => return Ok(ignored),
    };
    let mut plan = case.database().await?;
    plan.timeout_ms = 3_000;
    let mut client = case.connect(&plan).await?;
    client.write(&first_part(case)).await?;
    client.close().await?;
    server.kill()?;
    let failure = refused(case, &plan).await;
    server.restart(case.store())?;
    let error = is_of("to connect", failure?, &[ErrorKind::Unavailable])?;
    ensure!(!error.is_in_doubt(), "a connection that was refused leaves doubt: {error}");
    Ok(Verdict::Kept)
}

/// Connects and writes while nobody listens.
async fn refused(case: &Case<'_>, plan: &Plan) -> Check<Result<(), StoreError>> {
    match Client::try_connect(case.store(), plan).await? {
        Err(error) => Ok(Err(error)),
        Ok(mut client) => Ok(client.try_write(&other_part(case)).await?.map(|_| ())),
    }
}

/// The old session may also have connected again by itself.
async fn back_again(case: &Case<'_>) -> Check<Verdict> {
    let server = match server(case) {
        Ok(server) => server,
        Err(ignored) => return Ok(ignored),
    };
    let plan = case.database().await?;
    let (mut writer, mut reader) = (case.connect(&plan).await?, case.connect(&plan).await?);
    writer.write(&first_part(case)).await?;
    reader.ask(&whole(case, 0)).await?;
    // at rest, so that the readings are there after a crash whatever the durability class
    let mut administrator = case.suite.administrator(&plan).await?;
    super::super::suite::administer("settle", administrator.settle()).await??;
    drop(administrator);
    server.kill()?;
    let outcome = try_both(case, &mut writer, &mut reader).await;
    server.restart(case.store())?;
    let outcome = outcome?;
    is_of("a write", outcome.write, &[ErrorKind::Unavailable])?;
    is_of("a query", outcome.query, &[ErrorKind::Unavailable])?;
    if let Err(error) = reader.try_ask(&whole(case, 0)).await? {
        is_of("a query after the restart", Err::<(), _>(error), &[ErrorKind::Unavailable])?;
    }
    drop((writer, reader));
    works(case, &plan).await?;
    Ok(Verdict::Kept)
}
