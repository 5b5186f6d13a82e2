//! What InfluxDB's answers and the network's failures mean, one by one.
//!
//! InfluxDB has no error codes: a status of HTTP and a sentence. Messages quote the sentence, which never holds a password.

use sensormark_kit::io_error;
use sensormark_store::{ErrorKind, StoreError};
use std::io;

/// Sentences of the server, or parts of them, by what they mean; the first that occurs counts.
const SENTENCES: &[(&[&str], ErrorKind, &str)] = &[
    (
        &["database not found", "database does not exist", "no database"],
        ErrorKind::NotFound,
        "make the database first",
    ),
    (
        &["retention policy not found", "invalid retention policy"],
        ErrorKind::NotFound,
        "make the database anew",
    ),
    (
        &[
            "could not find bucket",
            "failed to initialize execute state: bucket",
            "bucket \"",
            "dbrp mapping not found",
        ],
        ErrorKind::NotFound,
        "make the database first",
    ),
    (&["organization name"], ErrorKind::NotFound, "correct the organisation in the URL"),
    (
        &["field type conflict"],
        ErrorKind::Conflict,
        "a field keeps the type of its first value; use another database",
    ),
    (
        &["max-values-per-tag limit exceeded"],
        ErrorKind::Overload,
        "raise max-values-per-tag in the server's configuration",
    ),
    (
        &["max-series-per-database limit exceeded"],
        ErrorKind::Overload,
        "raise max-series-per-database in the server's configuration",
    ),
    (
        &["cache-max-memory-size exceeded"],
        ErrorKind::Overload,
        "allow the server more memory, or write more slowly",
    ),
    (
        &["max-concurrent-queries limit exceeded"],
        ErrorKind::Overload,
        "ask with fewer clients, or raise max-concurrent-queries",
    ),
    (
        &["request throttled"],
        ErrorKind::Overload,
        "write with fewer clients, or raise max-concurrent-write-limit",
    ),
    (&["too many open files"], ErrorKind::Overload, "allow the server more open files, or use fewer clients"),
    (&["cannot allocate memory"], ErrorKind::Overload, "allow the server more memory, or ask for less"),
    (&["memory allocation limit reached"], ErrorKind::Overload, "allow queries more memory, or ask for less"),
    (&["queue length exceeded"], ErrorKind::Overload, "ask with fewer clients, or raise query-queue-size"),
    // InfluxDB 1.8 goes on with "exceeed"
    (&["max-select-point limit"], ErrorKind::TooLarge, "ask for less, or raise max-select-point"),
    (&["max-select-series limit"], ErrorKind::TooLarge, "ask for less, or raise max-select-series"),
    (
        &["max-select-buckets limit"],
        ErrorKind::TooLarge,
        "ask for wider windows, or raise max-select-buckets",
    ),
    (&["max key length exceeded"], ErrorKind::TooLarge, "shorten the tags' values"),
    (
        &["no space left on device", "disk quota exceeded"],
        ErrorKind::DiskFull,
        "free space where the server keeps its data",
    ),
    (
        &["query-timeout limit exceeded", "query timeout"],
        ErrorKind::Timeout,
        "ask for less, or raise query-timeout",
    ),
    (
        &["query interrupted", "query aborted"],
        ErrorKind::Unavailable,
        "the server stopped the query; try again",
    ),
    (
        &[
            "query engine shutdown",
            "engine is closed",
            "shard is disabled",
            "index is closing",
            "series file closed",
            "series partition closed",
            "already closed",
        ],
        ErrorKind::Unavailable,
        "the server is stopping; connect again",
    ),
    (&["shard is being deleted"], ErrorKind::NotFound, "the database is being dropped; make it anew"),
    (
        &["outside retention policy", "beyond retention policy"],
        ErrorKind::Rejected,
        "the database drops readings of this age; use one that keeps all",
    ),
    (&["timeout"], ErrorKind::Timeout, "allow more time, or look into the server's log"),
];

/// What InfluxDB 1.8 answers, with status 403, where Flux is not turned on.
const NO_FLUX: (&str, ErrorKind, &str) = (
    "Flux query service disabled",
    ErrorKind::Unsupported,
    "set flux-enabled = true in the server's configuration, or choose a layout that asks in InfluxQL",
);

/// What an answer's body says is wrong: InfluxDB puts a sentence into JSON or, where that was asked for, `MessagePack`; proxies write text.
pub(crate) fn sentence(body: &[u8]) -> String {
    #[derive(serde::Deserialize)]
    struct Said {
        #[serde(alias = "error")]
        message: String,
    }
    let packed = crate::query::sentence(body).map(str::to_owned);
    packed
        .or_else(|| serde_json::from_slice::<Said>(body).ok().map(|said| said.message))
        .unwrap_or_else(|| String::from_utf8_lossy(body).into_owned())
}

/// The failure that an answer with this status and sentence is.
pub(crate) fn refused(operation: &str, status: u16, sentence: &str) -> StoreError {
    let (kind, advice) = meaning(status, sentence);
    let shown = shortened(sentence);
    // an answer was given; but a batch goes to several shards at once, of which one fails and another does not
    let in_part = status >= 500 || sentence.contains("partial write");
    StoreError::new(kind, operation, format!("InfluxDB answers {status}: {shown}; {advice}"))
        .with_doubt(in_part || matches!(kind, ErrorKind::Timeout | ErrorKind::Unavailable))
}

fn meaning(status: u16, sentence: &str) -> (ErrorKind, &'static str) {
    // without Flux, its place answers as if the user lacked a right
    if sentence.contains(NO_FLUX.0) {
        return (NO_FLUX.1, NO_FLUX.2);
    }
    match status {
        401 => {
            return (ErrorKind::Authentication, "check user and password (or token)");
        }
        403 => {
            return (
                ErrorKind::Authentication,
                "an ordinary user makes no database: give the URL's user all privileges, or name the one that it may read and write by ?database=sensormark_NAME (of 2.x, ?bucket=)",
            );
        }
        413 => {
            return (ErrorKind::TooLarge, "write smaller batches, or raise max-body-size");
        }
        _ => {}
    }
    if let Some((_, kind, advice)) =
        SENTENCES.iter().find(|(parts, ..)| parts.iter().any(|part| sentence.contains(part)))
    {
        return (*kind, advice);
    }
    match status {
        404 => (ErrorKind::NotFound, "check that the URL is InfluxDB's and the database is there"),
        429 => (ErrorKind::Overload, "write more slowly, or raise the server's limits"),
        503 => (ErrorKind::Overload, "write more slowly, or raise the server's limits"),
        502 | 504 => (ErrorKind::Unavailable, "look into the proxy before the server"),
        _ => (ErrorKind::Rejected, "look into the server's log"),
    }
}

fn shortened(sentence: &str) -> String {
    let line = sentence.trim().replace(['\n', '\r'], " ");
    if line.chars().count() <= 300 { line } else { line.chars().take(300).chain("…".chars()).collect() }
}

/// A connection that could not be made.
pub(crate) fn not_connected(error: io::Error) -> StoreError {
    let (kind, context) = match error.kind() {
        io::ErrorKind::InvalidData if error.to_string().contains("certificate") => (
            ErrorKind::Configuration,
            "https:// wants a certificate for the host's name by a public authority, or by one of the file that ?tls_ca=FILE names",
        ),
        other => {
            let unknown = "the connection cannot be made: check host, port and network";
            let (kind, _, advice) =
                io_error::meaning(other).unwrap_or((ErrorKind::Unavailable, false, unknown));
            (kind, advice)
        }
    };
    StoreError::new(kind, "connect to InfluxDB", format!("{context} ({error})"))
        .with_doubt(false)
        .with_source(error)
}

/// A connection that broke while something was asked.
pub(crate) fn broken(operation: &str, error: hyper::Error) -> StoreError {
    let context = "the connection broke before the answer was whole; see whether the server runs";
    let kind = if error.is_parse() { ErrorKind::Protocol } else { ErrorKind::Unavailable };
    StoreError::new(kind, operation, format!("{context} ({error})")).with_doubt(true).with_source(error)
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
    fn a_connection_that_was_not_made_means_what_the_kit_says_and_leaves_no_doubt() {
        for (cause, kind) in [
            (io::ErrorKind::ConnectionRefused, ErrorKind::Unavailable),
            (io::ErrorKind::AddrNotAvailable, ErrorKind::Unavailable),
            (io::ErrorKind::TimedOut, ErrorKind::Timeout),
            (io::ErrorKind::OutOfMemory, ErrorKind::Overload),
        ] {
            let error = not_connected(cause.into());
            assert_eq!(error.kind(), kind, "{cause}");
            assert!(!error.is_in_doubt(), "{cause}");
        }
    }

    #[test]
    fn sentences_are_found_in_json() {
        assert_eq!(sentence(b"{\"error\":\"timeout\"}\n"), "timeout");
        assert_eq!(sentence(b"\x81\xa5error\xa7timeout"), "timeout");
        assert_eq!(sentence(b"{\"code\":\"not found\",\"message\":\"no org\"}"), "no org");
        assert_eq!(sentence(b"Bad Gateway"), "Bad Gateway");
    }

    #[test]
    fn what_may_be_stored_in_part_is_in_doubt() {
        for (status, text, in_doubt) in [
            (500, "timeout", true),
            (500, "engine is closed", true),
            (401, "authorization failed", false),
            (404, "database not found: \"x\"", false),
            (413, "Request Entity Too Large", false),
            (500, "engine: cache-max-memory-size exceeded: (1/1)", true),
            (400, "partial write: field type conflict: … dropped=1", true),
        ] {
            assert_eq!(refused("write", status, text).is_in_doubt(), in_doubt);
        }
    }

    fn assert_kind(status: u16, sentence: &str, kind: ErrorKind) {
        let error = refused("write", status, sentence);
        assert_eq!(error.kind(), kind, "{sentence}");
    }

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
            (500, "engine: cache-max-memory-size exceeded: (1/1)", ErrorKind::Overload),
            (500, "write x.wal: no space left on device", ErrorKind::DiskFull),
            (500, "timeout", ErrorKind::Timeout),
            (400, "error parsing query: found x", ErrorKind::Rejected),
        ] {
            assert_kind(status, sentence, kind);
        }
    }

    #[test]
    fn limits_and_stops_have_their_kinds() {
        for (status, sentence, kind) in [
            (200, "no database", ErrorKind::NotFound),
            (
                403,
                "Flux query service disabled. Verify flux-enabled=true in the [http] section of the InfluxDB config.",
                ErrorKind::Unsupported,
            ),
            (403, "not authorized to read", ErrorKind::Authentication),
            (200, "max-select-point limit exceeed: (5/4)", ErrorKind::TooLarge),
            (200, "max-concurrent-queries limit exceeded(2, 1)", ErrorKind::Overload),
            (503, "request throttled, queue full", ErrorKind::Overload),
            (200, "query-timeout limit exceeded", ErrorKind::Timeout),
            (500, "engine is closed", ErrorKind::Unavailable),
            (500, "query engine shutdown", ErrorKind::Unavailable),
            (
                400,
                "partial write: max-values-per-tag limit exceeded (1/1): measurement=\"m\" tag=\"t\" value=\"v\" dropped=1",
                ErrorKind::Overload,
            ),
            (404, "bucket \"sensormark_x\" not found", ErrorKind::NotFound),
            (429, "", ErrorKind::Overload),
            (502, "Bad Gateway", ErrorKind::Unavailable),
        ] {
            assert_kind(status, sentence, kind);
        }
    }
}
