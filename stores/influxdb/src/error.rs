//! What InfluxDB's answers and the network's failures mean, one by one.
//!
//! InfluxDB has no error codes: a status of HTTP and a sentence. Messages quote the sentence, which never holds a password.

use sensormark_store::{ErrorKind, StoreError};
use std::io;

/// Sentences of the server, or parts of them, by what they mean; the first that occurs counts.
const SENTENCES: [(&str, ErrorKind, &str); 24] = [
    (
        "database not found",
        ErrorKind::NotFound,
        "make the database first",
    ),
    (
        "retention policy not found",
        ErrorKind::NotFound,
        "make the database anew",
    ),
    (
        "could not find bucket",
        ErrorKind::NotFound,
        "make the database first",
    ),
    (
        "failed to initialize execute state: bucket",
        ErrorKind::NotFound,
        "make the database first",
    ),
    ("bucket \"", ErrorKind::NotFound, "make the database first"),
    (
        "field type conflict",
        ErrorKind::Conflict,
        "a field keeps the type of its first value; use another database",
    ),
    (
        "max-values-per-tag limit exceeded",
        ErrorKind::Overload,
        "raise max-values-per-tag in the server's configuration",
    ),
    (
        "max-series-per-database limit exceeded",
        ErrorKind::Overload,
        "raise max-series-per-database in the server's configuration",
    ),
    (
        "cache-max-memory-size exceeded",
        ErrorKind::Overload,
        "allow the server more memory, or write more slowly",
    ),
    (
        "max-concurrent-queries limit exceeded",
        ErrorKind::Overload,
        "ask with fewer clients, or raise max-concurrent-queries",
    ),
    (
        "max-select-point limit exceeded",
        ErrorKind::TooLarge,
        "ask for less, or raise max-select-point",
    ),
    (
        "max-select-series limit exceeded",
        ErrorKind::TooLarge,
        "ask for less, or raise max-select-series",
    ),
    (
        "max-select-buckets limit exceeded",
        ErrorKind::TooLarge,
        "ask for wider windows, or raise max-select-buckets",
    ),
    (
        "max key length exceeded",
        ErrorKind::TooLarge,
        "shorten the tags' values",
    ),
    (
        "no space left on device",
        ErrorKind::DiskFull,
        "free space where the server keeps its data",
    ),
    (
        "disk quota exceeded",
        ErrorKind::DiskFull,
        "free space where the server keeps its data",
    ),
    (
        "query-timeout limit exceeded",
        ErrorKind::Timeout,
        "ask for less, or raise query-timeout",
    ),
    (
        "query timeout",
        ErrorKind::Timeout,
        "ask for less, or raise query-timeout",
    ),
    (
        "query interrupted",
        ErrorKind::Unavailable,
        "the server stopped the query; try again",
    ),
    (
        "engine is closed",
        ErrorKind::Unavailable,
        "the server is stopping; connect again",
    ),
    (
        "shard is disabled",
        ErrorKind::Unavailable,
        "the server is stopping; connect again",
    ),
    (
        "outside retention policy",
        ErrorKind::Rejected,
        "the database drops readings of this age; use one that keeps all",
    ),
    (
        "Flux query service disabled",
        ErrorKind::Unsupported,
        "set flux-enabled = true in the server's configuration",
    ),
    (
        "timeout",
        ErrorKind::Timeout,
        "allow more time, or look into the server's log",
    ),
];

/// The failure that an answer with this status and sentence is.
pub(crate) fn refused(operation: &str, status: u16, sentence: &str) -> StoreError {
    let (kind, advice) = meaning(status, sentence);
    let shown = shortened(sentence);
    // an answer was given, so that nothing is in doubt but what the server itself gave up waiting for
    StoreError::new(
        kind,
        operation,
        format!("InfluxDB answers {status}: {shown}; {advice}"),
    )
    .with_doubt(kind == ErrorKind::Timeout || kind == ErrorKind::Unavailable)
}

fn meaning(status: u16, sentence: &str) -> (ErrorKind, &'static str) {
    match status {
        401 => {
            return (
                ErrorKind::Authentication,
                "check user and password (or token)",
            );
        }
        403 => return (ErrorKind::Authentication, "give the user all privileges"),
        413 => {
            return (
                ErrorKind::TooLarge,
                "write smaller batches, or raise max-body-size",
            );
        }
        _ => {}
    }
    if let Some((_, kind, advice)) = SENTENCES
        .iter()
        .find(|(part, _, _)| sentence.contains(part))
    {
        return (*kind, advice);
    }
    match status {
        404 => (
            ErrorKind::NotFound,
            "check that the URL is InfluxDB's and the database is there",
        ),
        429 => (
            ErrorKind::Overload,
            "write more slowly, or raise the server's limits",
        ),
        503 => (
            ErrorKind::Overload,
            "write more slowly, or raise the server's limits",
        ),
        502 | 504 => (
            ErrorKind::Unavailable,
            "look into the proxy before the server",
        ),
        _ => (ErrorKind::Rejected, "look into the server's log"),
    }
}

fn shortened(sentence: &str) -> String {
    let line = sentence.trim().replace(['\n', '\r'], " ");
    if line.chars().count() <= 300 {
        line
    } else {
        line.chars().take(300).chain("…".chars()).collect()
    }
}

/// A connection that could not be made.
pub(crate) fn not_connected(error: io::Error) -> StoreError {
    let (kind, context) = match error.kind() {
        io::ErrorKind::ConnectionRefused => (
            ErrorKind::Unavailable,
            "nobody listens there; start InfluxDB or correct host and port",
        ),
        io::ErrorKind::TimedOut => (
            ErrorKind::Timeout,
            "no answer to the connection; check host, port and firewall",
        ),
        io::ErrorKind::AddrNotAvailable => (
            ErrorKind::Overload,
            "this machine has no free port left; use fewer connections",
        ),
        _ => (
            ErrorKind::Unavailable,
            "the connection cannot be made; check host, port and network",
        ),
    };
    StoreError::new(kind, "connect to InfluxDB", format!("{context} ({error})"))
        .with_doubt(false)
        .with_source(error)
}

/// A connection that broke while something was asked.
pub(crate) fn broken(operation: &str, error: hyper::Error) -> StoreError {
    let context = "the connection broke before the answer was whole; see whether the server runs";
    let kind = if error.is_parse() {
        ErrorKind::Protocol
    } else {
        ErrorKind::Unavailable
    };
    StoreError::new(kind, operation, format!("{context} ({error})"))
        .with_doubt(true)
        .with_source(error)
}

/// No answer within the time allowed.
pub(crate) fn timed_out(operation: &str, milliseconds: u128) -> StoreError {
    StoreError::new(
        ErrorKind::Timeout,
        operation,
        format!(
            "no answer within {milliseconds} ms; allow more time, ask for less, or look into the server's log"
        ),
    )
}

/// An answer that is not as InfluxDB's answers are.
pub(crate) fn garbled(operation: &str, what: &str) -> StoreError {
    StoreError::new(
        ErrorKind::Protocol,
        operation,
        format!("{what}; is this InfluxDB 1.8 or later, with nothing in between?"),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sentences_have_their_kinds() {
        for (status, sentence, kind) in [
            (404, "database not found: \"x\"", ErrorKind::NotFound),
            (200, "database not found: x", ErrorKind::NotFound),
            (401, "authorization failed", ErrorKind::Authentication),
            (413, "Request Entity Too Large", ErrorKind::TooLarge),
            (
                400,
                "partial write: field type conflict: input field \"v\" on measurement \"m\" is type float, already exists as type integer dropped=1",
                ErrorKind::Conflict,
            ),
            (
                500,
                "engine: cache-max-memory-size exceeded: (1/1)",
                ErrorKind::Overload,
            ),
            (
                500,
                "write x.wal: no space left on device",
                ErrorKind::DiskFull,
            ),
            (500, "timeout", ErrorKind::Timeout),
            (400, "error parsing query: found x", ErrorKind::Rejected),
        ] {
            assert_eq!(
                refused("write", status, sentence).kind(),
                kind,
                "{sentence}"
            );
        }
    }
}
