//! The accounts of a server of our own: the first one is replaced by ours, and nobody else has one.

use crate::config::Options;
use crate::connection::Link;
use crate::query::decode;
use sensormark_store::{ErrorKind, Secret, StoreError};
use std::time::Duration;

/// The account that every new server has, with the same word as its password.
const FIRST: &str = "cassandra";

/// Replaces the server's first account, whose password is known, by our own.
async fn set_up(options: &Options, patience: Duration) -> Result<(), StoreError> {
    let Some((user, password)) = &options.user else {
        return Ok(());
    };
    let mut first = options.clone();
    first.user = Some((FIRST.to_owned(), Secret::new(FIRST)));
    let link = Link::open(&first, patience).await?;
    // the generated password is of letters and digits
    let create = format!(
        "CREATE ROLE IF NOT EXISTS {user} WITH PASSWORD = '{}' AND LOGIN = true AND SUPERUSER = true",
        password.expose()
    );
    link.run("set up an account", &create).await?;
    drop(link);
    let link = Link::open(options, patience).await?;
    remove_first(&link).await
}

async fn remove_first(link: &Link) -> Result<(), StoreError> {
    let text = format!("DROP ROLE IF EXISTS {FIRST}");
    link.run("remove the first account", &text).await.map(drop)
}

/// A connection to a server that sensormark started, which it has alone. On loopback the accounts are set up. On an address that other hosts reach, they must be
/// there, and no others.
pub(crate) async fn open_own(options: &Options, patience: Duration) -> Result<Link, StoreError> {
    let is_on_loopback = options.is_on_loopback();
    let link = match Link::open(options, patience).await {
        Err(error) if is_on_loopback && error.kind() == ErrorKind::Authentication => {
            set_up(options, patience).await?;
            Link::open(options, patience).await?
        }
        other => other?,
    };
    // The members of a cluster are on loopback, and may not all be there to be asked.
    if options.datacenter.is_none()
        && let Some((user, _)) = &options.user
    {
        let mut others = others(&link, user).await?;
        if is_on_loopback && others.iter().any(|other| other == FIRST) {
            // A slow server did not get to the end of the set-up.
            remove_first(&link).await?;
            others.retain(|other| other != FIRST);
        }
        if !is_on_loopback {
            are_none(&others)?;
        }
    }
    Ok(link)
}

/// The accounts beside our own.
async fn others(link: &Link, user: &str) -> Result<Vec<String>, StoreError> {
    let rows = link.rows("list accounts", "SELECT role FROM system_auth.roles");
    let mut others = Vec::new();
    decode::each(&[rows.await?], |row| {
        others.push(decode::text(decode::next(row)?)?.to_owned());
        Ok(())
    })?;
    others.retain(|other| other != user);
    Ok(others)
}

/// Fails where there are any: somebody else came in before ours was the only one.
fn are_none(others: &[String]) -> Result<(), StoreError> {
    if others.is_empty() {
        return Ok(());
    }
    Err(StoreError::new(
        ErrorKind::Configuration,
        "check the accounts of Cassandra",
        format!(
            "other hosts can reach the server, and it has accounts that sensormark did not make: {}; see who uses its host, and start again",
            others.join(", ")
        ),
    ))
}
