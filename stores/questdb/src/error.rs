//! From QuestDB's errors to the contract's.
//!
//! QuestDB gives nearly all errors the SQLSTATE 00000, so their own words decide. It decides what a failure means; it does not retry. No
//! password is ever part of the texts: neither server nor drivers repeat one.

use sensormark_kit::io_error;
use sensormark_store::{ErrorKind, StoreError};
use std::error::Error as _;
use std::io;
use std::time::Duration;
use tokio_postgres::Error;

/// Words of QuestDB's messages, what they mean, and the next step. The first that is found counts.
const WORDS: [(&[&str], ErrorKind, &str); 10] = [
    (&["invalid username/password"], ErrorKind::Authentication, "check user and password in the URL"),
    (
        &["does not exist", "automatic table creation"],
        ErrorKind::NotFound,
        "create the database first, or correct its name",
    ),
    (
        &["creating new columns is disabled", "Invalid column"],
        ErrorKind::NotFound,
        "was the database created with another schema?",
    ),
    (&["table is dropped"], ErrorKind::NotFound, "create the database again"),
    (&["already exists"], ErrorKind::Conflict, "a table of this name is there"),
    (&["o space left", "errno=28"], ErrorKind::DiskFull, "free space on the data folder's disk"),
    (&["timeout, query aborted"], ErrorKind::Timeout, "raise query.timeout.sec or ask for less"),
    (&["memory limit"], ErrorKind::Overload, "raise ram.usage.limit.bytes or use fewer clients"),
    (&["suspended"], ErrorKind::Crashed, "look into the server's log, then ALTER TABLE … RESUME WAL"),
    (&["maximum", "too large"], ErrorKind::TooLarge, "make the reading or the batch smaller"),
];

/// What words of the server mean, and the next step.
fn meaning(text: &str) -> Option<(ErrorKind, &'static str)> {
    let found = WORDS.iter().find(|row| row.0.iter().any(|words| text.contains(words)));
    found.map(|row| (row.1, row.2))
}

/// The contract's error for one of the driver that asks.
pub(crate) fn native(operation: &str, error: Error) -> StoreError {
    if let Some(told) = error.as_db_error() {
        let code = told.code().code();
        let (kind, advice) = match code {
            "28P01" | "28000" => (ErrorKind::Authentication, "check user and password in the URL"),
            _ => meaning(told.message())
                .unwrap_or((ErrorKind::Rejected, "look into the server's log for more")),
        };
        let text = format!("{} (SQLSTATE {code}); {advice}", told.message());
        return StoreError::new(kind, operation, text).with_doubt(false).with_source(error);
    }
    if let Some(cause) = io_cause(&error) {
        return of_io(operation, cause).with_source(error);
    }
    if error.is_closed() {
        let text = "the server closed the connection; look into its log and connect again";
        return StoreError::new(ErrorKind::Unavailable, operation, text).with_source(error);
    }
    let cause = error.source().map(ToString::to_string);
    let text = format!("{error}: {}", cause.unwrap_or_default());
    let kind = if text.contains("authentication") || text.contains("password") {
        ErrorKind::Authentication
    } else {
        ErrorKind::Protocol
    };
    StoreError::new(kind, operation, text).with_source(error)
}

fn io_cause(error: &Error) -> Option<&io::Error> {
    std::iter::successors(error.source(), |&cause| cause.source()).find_map(|cause| cause.downcast_ref())
}

fn of_io(operation: &str, cause: &io::Error) -> StoreError {
    let broken = "the connection broke: look into the server's log and connect again";
    let meaning = io_error::meaning(cause.kind());
    let (kind, doubt, advice) = meaning.unwrap_or((ErrorKind::Unavailable, true, broken));
    StoreError::new(kind, operation, format!("{cause}; {advice}")).with_doubt(doubt)
}

/// The error where no connection of HTTP can be made.
pub(crate) fn not_connected(cause: io::Error) -> StoreError {
    of_io("connect to QuestDB over HTTP", &cause).with_doubt(false).with_source(cause)
}

/// The error where a connection of HTTP broke.
pub(crate) fn broken(operation: &str, error: hyper::Error) -> StoreError {
    let text = format!("{error}; look into the server's log and connect again");
    StoreError::new(ErrorKind::Unavailable, operation, text).with_source(error)
}

/// The error where no answer came in time.
pub(crate) fn not_in_time(operation: &str, allowed: Duration) -> StoreError {
    let text = format!(
        "no answer within {} ms; allow more time, ask for less, or look into the server's log",
        allowed.as_millis()
    );
    StoreError::new(ErrorKind::Timeout, operation, text)
}

/// The error of a request of HTTP that the server refused; nothing of it is stored.
pub(crate) fn refused(operation: &str, status: u16, body: &[u8]) -> StoreError {
    let told: Option<serde_json::Value> = serde_json::from_slice(body).ok();
    let message = told
        .as_ref()
        .and_then(|told| told.get("message")?.as_str())
        .map_or_else(|| String::from_utf8_lossy(body).trim().to_owned(), str::to_owned);
    let (kind, advice) = match status {
        401 | 403 => (
            ErrorKind::Authentication,
            "check user and password in the URL, or http.user and http.password where HTTP has its own",
        ),
        413 => (ErrorKind::TooLarge, "make the batch smaller"),
        _ => meaning(&message).unwrap_or(match status {
            503 => (ErrorKind::Overload, "use fewer clients"),
            500.. => (ErrorKind::Crashed, "look into the server's log"),
            _ => (ErrorKind::Rejected, "look into the server's log for more"),
        }),
    };
    StoreError::new(kind, operation, format!("{message} (HTTP {status}); {advice}"))
        .with_doubt(status >= 500 && kind != ErrorKind::DiskFull)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_refusal_is_told_by_its_words() {
        let kind = |status, text: &str| {
            let body = format!("{{\"code\":\"invalid\",\"message\":\"{text}\"}}");
            refused("write", status, body.as_bytes()).kind()
        };
        assert_eq!(kind(400, "table does not exist"), ErrorKind::NotFound);
        assert_eq!(kind(500, "could not open [errno=28]"), ErrorKind::DiskFull);
        assert_eq!(kind(401, ""), ErrorKind::Authentication);
        assert_eq!(kind(400, "nonsense"), ErrorKind::Rejected);
        let error = refused("write", 502, b"not JSON");
        assert!(error.to_string().contains("not JSON") && error.is_in_doubt());
    }
}
