//! The first user of a server that sensormark started, and that nobody else is one.

use crate::config::Options;
use crate::query::Reader;
use sensormark_kit::url::is_loopback;
use sensormark_store::{ErrorKind, StoreError, Value};

/// Makes the first user where there is none. Where other hosts reach the server, no other user may be there. `asked` is what came of a first question.
pub(crate) async fn complete(
    reader: &mut Reader<'_>,
    options: &Options,
    asked: Result<(), StoreError>,
) -> Result<(), StoreError> {
    let is_on_loopback = is_loopback(&options.host);
    match (&options.user, asked) {
        (Some(user), Err(error)) if is_on_loopback && lacks_users(&error) => {
            make_first(reader, (&user.0, user.1.expose())).await
        }
        (_, Err(error)) if error.kind() == ErrorKind::Authentication => Err(unknown()),
        (Some((user, _)), Ok(())) if !is_on_loopback => are_none(&others(reader, user).await?),
        (_, other) => other,
    }
}

fn lacks_users(error: &StoreError) -> bool {
    error.context().contains("create admin user first")
}

async fn make_first(reader: &mut Reader<'_>, (user, password): (&str, &str)) -> Result<(), StoreError> {
    let statement = format!("CREATE USER \"{user}\" WITH PASSWORD '{password}' WITH ALL PRIVILEGES");
    reader.link.forget_user();
    let made = reader.rows("make the first user", &statement).await;
    // what the server answers may quote the statement
    made.map(|_| ()).map_err(|error| {
        StoreError::new(error.kind(), "make the first user", "InfluxDB refuses to; see its log")
    })
}

/// The users beside our own.
async fn others(reader: &mut Reader<'_>, user: &str) -> Result<Vec<String>, StoreError> {
    let mut others = Vec::new();
    for rows in reader.rows("list users", "SHOW USERS").await? {
        for values in rows.plain()? {
            if let Some(Value::Text(other)) = values.into_iter().next() {
                others.push(other);
            }
        }
    }
    others.retain(|other| other != user);
    Ok(others)
}

/// Fails where there are any: somebody else came in.
fn are_none(others: &[String]) -> Result<(), StoreError> {
    if others.is_empty() {
        return Ok(());
    }
    Err(wrong(format!(
        "other hosts can reach the server, and it has users that sensormark did not make: {}",
        others.join(", ")
    )))
}

/// A server of our own that does not know us. No user comes later than the first answer.
fn unknown() -> StoreError {
    wrong(
        "the server does not know the user that sensormark made, so somebody else made its first one"
            .to_owned(),
    )
}

fn wrong(what: String) -> StoreError {
    let context = format!("{what}; see who uses its host, and start again");
    StoreError::new(ErrorKind::Configuration, "check the users of InfluxDB", context)
}
