//! Which databases may be made and dropped: one protocol for all stores.
//!
//! A database that sensormark makes bears its owner's mark inside. To make one:
//!
//! | found under its name | what happens |
//! | --- | --- |
//! | nothing | it is made |
//! | nothing in it, its mark neither (what was stopped before it was marked) | it is dropped and made anew |
//! | something without a mark | [`ErrorKind::Foreign`] |
//! | the mark of another owner | [`ErrorKind::Foreign`] |
//! | the plan's own mark, and something that the plan's layout does not make | [`ErrorKind::Foreign`] |
//! | the plan's own mark, and nothing else (an earlier attempt) | it is dropped and made anew |
//!
//! Only what bears the plan's own mark, or holds nothing at all under a name that a run gave, is dropped; nothing there is fine. How a mark is kept is each store's matter.

use crate::administrator::BackendAdministrator;
use crate::mark::Found;
use sensormark_store::{DatabaseName, ErrorKind, Plan, StoreError};
use std::collections::HashSet;

/// Whether something is there of the plan's own; fails for what is another's.
async fn is_own(administrator: &mut impl BackendAdministrator, plan: &Plan) -> Result<bool, StoreError> {
    let name = name_there(administrator, plan);
    match administrator.found(&name).await? {
        Found::Nothing => Ok(false),
        Found::Empty if DatabaseName::mark(&name).is_some() => Ok(true),
        Found::Empty | Found::Unmarked => Err(foreign(&name, "is there without sensormark's mark")),
        Found::Marked(mark) if mark.is_of(plan) => Ok(true),
        Found::Marked(_) => Err(foreign(&name, "is there and belongs to another run")),
    }
}

fn name_there(administrator: &impl BackendAdministrator, plan: &Plan) -> String {
    let other = administrator.name_there();
    other.unwrap_or(plan.database.as_str()).to_owned()
}

fn foreign(name: &str, what: &str) -> StoreError {
    StoreError::new(
        ErrorKind::Foreign,
        "use a database",
        format!("{name} {what}; it is left alone: choose another name or remove it yourself"),
    )
}

/// Makes the plan's database.
///
/// # Errors
/// [`ErrorKind::Foreign`] for what is not the plan's own, and what the database refuses.
pub async fn create(administrator: &mut impl BackendAdministrator, plan: &Plan) -> Result<(), StoreError> {
    administrator.check().await?;
    if is_own(administrator, plan).await? {
        let expected: HashSet<String> = administrator.expected().into_iter().collect();
        let contents = administrator.contents().await?;
        if let Some(other) = contents.iter().find(|name| !expected.contains(*name)) {
            let what = format!("holds {other:?}, which this layout does not make");
            return Err(foreign(&name_there(administrator, plan), &what));
        }
        administrator.remove().await?;
    }
    let made = administrator.make().await;
    // What was made before the failure is nobody's use. That it cannot be removed is no other failure: `clean` finds it.
    if made.is_err() && matches!(is_own(administrator, plan).await, Ok(true)) {
        drop(administrator.remove().await);
    }
    made
}

/// Drops the plan's database.
///
/// # Errors
/// [`ErrorKind::Foreign`] for what is not the plan's own, and what the database refuses.
pub async fn drop_database(
    administrator: &mut impl BackendAdministrator,
    plan: &Plan,
) -> Result<(), StoreError> {
    if is_own(administrator, plan).await? {
        administrator.remove().await?;
    }
    Ok(())
}

/// The sensormark databases that are there, with their owners; also those that were never filled. One that is dropped meanwhile, or that may not be looked into, is left out.
///
/// # Errors
/// When the server cannot be asked.
pub async fn databases(
    administrator: &mut impl BackendAdministrator,
) -> Result<Vec<(String, String)>, StoreError> {
    let mut databases = Vec::new();
    let mut names = administrator.names().await?;
    names.retain(|name| DatabaseName::try_from(name.clone()).is_ok());
    // One that the URL names may bear the mark under any name.
    if let Some(given) = administrator.name_there().map(str::to_owned)
        && !names.contains(&given)
    {
        names.push(given);
    }
    for name in names {
        let mut found = administrator.found(&name).await;
        // A drop closes the sessions in its database. Who looks again finds that it is gone.
        if found.as_ref().is_err_and(|error| error.kind() == ErrorKind::Unavailable) {
            found = administrator.found(&name).await;
        }
        match found {
            Ok(Found::Marked(mark)) => databases.push((mark.database, mark.owner)),
            Ok(Found::Empty) => {
                let owner = DatabaseName::mark(&name).map(str::to_owned);
                databases.extend(owner.map(|owner| (name, owner)));
            }
            Ok(Found::Nothing | Found::Unmarked) => {}
            Err(error) if error.kind().is_retryable() => return Err(error),
            Err(_) => {}
        }
    }
    Ok(databases)
}
