//! C-M: what the engine relies on when it measures.

use super::super::check::{Broken, Check, Verdict, ensure};
use super::super::client::Client;
use super::super::data::Dataset;
use super::super::place::password;
use super::super::rule::{Over, Rule, own};
use super::super::suite::{Case, administer, parts};
use sensormark_store::batch::Batch;
use sensormark_store::query::{Ask, Query, Selection, TimeRange};
use sensormark_store::{Durability, Plan, SessionKind};
use std::pin::pin;
use std::task::{Context, Poll, Waker};

pub(super) fn rules() -> Vec<Rule> {
    const USUAL: Over = Over::Usual(&[Dataset::Values, Dataset::Channels]);
    vec![
        own!("C-M-01", "the description is complete", Over::Store, description),
        own!("C-M-02", "the endpoint's label names nobody, its ports are stated", Over::Store, endpoint),
        own!("C-M-03", "futures of blocking sessions are ready when first polled", USUAL, ready_at_once),
        own!("C-M-04", "sessions that wait share a thread", USUAL, share_a_thread),
        own!("C-M-05", "no bytes are counted as datagrams where none are sent", USUAL, no_datagrams),
    ]
}

async fn description(case: &Case<'_>) -> Check<Verdict> {
    let description = case.store().description();
    let name = &description.name;
    ensure!(
        !name.is_empty()
            && name.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-'),
        "the name is {name:?}, not lower case letters, digits and hyphens"
    );
    ensure!(
        !description.title.is_empty() && !description.url_example.is_empty(),
        "no title or no example of a URL"
    );
    let classes: Vec<Durability> = description.durability.iter().map(|class| class.0).collect();
    ensure!(classes.contains(&Durability::Default), "no words on the default durability class");
    let mut once = classes.clone();
    once.sort();
    once.dedup();
    ensure!(once.len() == classes.len(), "durability classes repeat: {classes:?}");
    ensure!(
        description.durability.iter().all(|class| !class.1.is_empty()),
        "a durability class without words"
    );
    ensure!(description == case.store().description(), "the description differs when asked for again");
    Ok(Verdict::Kept)
}

async fn endpoint(case: &Case<'_>) -> Check<Verdict> {
    let endpoint = case.suite.place.endpoint();
    let label = &endpoint.label;
    ensure!(!label.is_empty(), "no label");
    let secret = password(endpoint.url.expose());
    ensure!(
        !secret.is_some_and(|secret| label.contains(&secret))
            && !label.contains('@')
            && !label.contains("127.0.0.1"),
        "the label {label:?} shows a user, password or host"
    );
    ensure!(
        case.store().description().embedded == endpoint.ports.is_empty(),
        "ports {:?} of an endpoint",
        endpoint.ports
    );
    Ok(Verdict::Kept)
}

/// Ten readings of the data set.
fn ten(case: &Case<'_>, from: usize) -> Batch {
    parts(&case.subject().data.batches[0], 10).swap_remove(from)
}

fn count_query(case: &Case<'_>) -> Query {
    Query {
        table: 0,
        series: Selection::All,
        range: TimeRange::new(0, i64::MAX),
        ask: Ask::Range { fields: case.subject().data.schema.tables[0].all_fields(), coarse_filter: false },
    }
}

/// What a future gives when it is polled once.
fn polled_once<T>(what: &str, future: impl Future<Output = T>) -> Check<T> {
    match pin!(future).poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(value) => Ok(value),
        Poll::Pending => Err(Broken(format!("{what} waits though the session is of the blocking kind"))),
    }
}

async fn ready_at_once(case: &Case<'_>) -> Check<Verdict> {
    if case.store().description().session == SessionKind::Async {
        let reason = "the store's sessions are of the async kind";
        return Ok(Verdict::Ignored(reason.to_owned()));
    }
    let plan = case.database().await?;
    let mut session = polled_once("connect", case.store().connect(&plan))??;
    polled_once("write", session.write(&ten(case, 0)))??;
    polled_once("query", session.query(&count_query(case)))??;
    polled_once("scan", session.scan(0, &mut |_| {}))??;
    polled_once("close", session.close())??;
    Ok(Verdict::Kept)
}

async fn one_of_four(case: &Case<'_>, plan: &Plan, number: usize) -> Check {
    let mut client = Client::connect(case.store(), plan).await?;
    for round in 0..3 {
        client.write(&ten(case, 3 * number + round)).await?;
    }
    client.ask(&count_query(case)).await?;
    client.close().await
}

async fn share_a_thread(case: &Case<'_>) -> Check<Verdict> {
    if case.store().description().session == SessionKind::Blocking {
        let reason = "the store's sessions are of the blocking kind";
        return Ok(Verdict::Ignored(reason.to_owned()));
    }
    let plan = case.database().await?;
    let results = tokio::join!(
        one_of_four(case, &plan, 0),
        one_of_four(case, &plan, 1),
        one_of_four(case, &plan, 2),
        one_of_four(case, &plan, 3),
    );
    results.0.and(results.1).and(results.2).and(results.3)?;
    let mut client = case.connect(&plan).await?;
    let census = client.census(&plan.schema).await?;
    client.close().await?;
    ensure!(census.readings() == 120, "four sessions wrote 120 readings, {} are stored", census.readings());
    // a session that outlives its neighbours is not hurt by their end
    administer("version", case.store().version(&plan.endpoint)).await??;
    Ok(Verdict::Kept)
}

async fn no_datagrams(case: &Case<'_>) -> Check<Verdict> {
    let (_, mut client) = case.client().await?;
    client.write(&ten(case, 0)).await?;
    ensure!(client.datagram_bytes() == 0, "{} bytes in datagrams", client.datagram_bytes());
    client.close().await?;
    Ok(Verdict::Kept)
}
