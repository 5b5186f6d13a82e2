//! What Cassandra's and the driver's errors mean, one by one.
//!
//! A message says what happened and what to try next, and never holds a user's password (the driver's errors do not).

use scylla::errors::{
    BadQuery, ConnectionError, ConnectionPoolError, ConnectionSetupRequestErrorKind, DbError, ExecutionError,
    MetadataError, NewSessionError, PrepareError, RequestAttemptError, UseKeyspaceError,
};
use sensormark_kit::io_error;
use sensormark_store::{ErrorKind, StoreError};

const RESTART: &str = "check that the server runs and can be reached";

/// A server that wants TLS breaks connections without it, and says nothing.
const NO_ANSWER: &str =
    "check that the server runs and can be reached, and whether it wants tls=true in the URL";

fn made(kind: ErrorKind, operation: &str, context: String, in_doubt: bool) -> StoreError {
    StoreError::new(kind, operation, context).with_doubt(in_doubt)
}

/// An answer that could not be understood.
pub(crate) fn unexpected(operation: &str, what: impl Into<String>) -> StoreError {
    StoreError::new(ErrorKind::Protocol, operation, what)
}

/// No answer within the time allowed.
pub(crate) fn timeout(operation: &str, milliseconds: u128, in_doubt: bool) -> StoreError {
    let context = format!("no answer within {milliseconds} ms; check the server's load, or allow more time");
    made(ErrorKind::Timeout, operation, context, in_doubt)
}

/// A request that failed.
pub(crate) fn execution(operation: &str, error: ExecutionError) -> StoreError {
    use ErrorKind::{Protocol, Timeout, TooLarge, Unavailable};
    let text = error.to_string();
    let mapped = match &error {
        ExecutionError::BadQuery(BadQuery::TooManyQueriesInBatchStatement(_)) => {
            made(TooLarge, operation, text, false)
        }
        ExecutionError::BadQuery(_) => made(Protocol, operation, text, false),
        ExecutionError::EmptyPlan => {
            made(Unavailable, operation, format!("no node is known; {RESTART}"), false)
        }
        ExecutionError::PrepareError(error) => return prepare(operation, error.clone()),
        ExecutionError::ConnectionPoolError(error) => pool(operation, error),
        ExecutionError::LastAttemptError(error) => attempt(operation, error),
        ExecutionError::RequestTimeout(after) => timeout(operation, after.as_millis(), true),
        ExecutionError::UseKeyspaceError(UseKeyspaceError::RequestError(error)) => attempt(operation, error),
        ExecutionError::SchemaAgreementError(_) => made(Timeout, operation, text, true),
        ExecutionError::MetadataError(_) => made(Unavailable, operation, text, true),
        _ => made(ErrorKind::Rejected, operation, text, true),
    };
    mapped.with_source(error)
}

/// A statement that could not be prepared: nothing was done.
pub(crate) fn prepare(operation: &str, error: PrepareError) -> StoreError {
    let mapped = match &error {
        PrepareError::ConnectionPoolError(error) => pool(operation, error),
        PrepareError::AllAttemptsFailed { first_attempt } => attempt(operation, first_attempt),
        _ => unexpected(operation, error.to_string()),
    };
    mapped.with_doubt(false).with_source(error)
}

/// A session that could not be opened.
pub(crate) fn session(operation: &str, error: NewSessionError) -> StoreError {
    let text = error.to_string();
    let mapped = match &error {
        NewSessionError::MetadataError(MetadataError::ConnectionPoolError(error)) => pool(operation, error),
        NewSessionError::FailedToResolveAnyHostname(_) => made(
            ErrorKind::Unavailable,
            operation,
            "no host of the URL has an address; check their names".to_owned(),
            false,
        ),
        NewSessionError::MetadataError(_) => {
            made(ErrorKind::Unavailable, operation, format!("{text}; {RESTART}"), false)
        }
        _ => made(ErrorKind::Configuration, operation, text, false),
    };
    mapped.with_doubt(false).with_source(error)
}

/// No usable connection: nothing was sent.
fn pool(operation: &str, error: &ConnectionPoolError) -> StoreError {
    if let ConnectionPoolError::Broken { last_connection_error } = error {
        return connection(operation, last_connection_error).with_doubt(false);
    }
    made(ErrorKind::Unavailable, operation, format!("no connection: {error}; {RESTART}"), false)
}

fn connection(operation: &str, error: &ConnectionError) -> StoreError {
    use ConnectionSetupRequestErrorKind as Setup;
    let gone = |text: String| made(ErrorKind::Unavailable, operation, text, false);
    match error {
        ConnectionError::ConnectTimeout => made(
            ErrorKind::Timeout,
            operation,
            format!("no connection in the time allowed; {RESTART}"),
            false,
        ),
        ConnectionError::IoError(error) => io(operation, error),
        ConnectionError::ConnectionSetupRequestError(setup) => match &setup.error {
            Setup::DbError(kind, message) => database(operation, kind, message),
            Setup::MissingAuthentication => made(
                ErrorKind::Authentication,
                operation,
                "the cluster asks for a user; name one in the URL".to_owned(),
                false,
            ),
            other => gone(format!("{other}; {NO_ANSWER}")),
        },
        ConnectionError::UseKeyspaceError(UseKeyspaceError::RequestError(error)) => attempt(operation, error),
        other => gone(format!("{other}; {NO_ANSWER}")),
    }
}

/// A connection that did not come about, by the system's own words.
fn io(operation: &str, error: &std::io::Error) -> StoreError {
    if error.get_ref().is_some_and(|inner| inner.is::<rustls::Error>()) {
        let advice = "check tls and tls_ca in the URL against the server's certificate";
        let text = format!("TLS: {error}; {advice}");
        return made(ErrorKind::Configuration, operation, text, false);
    }
    let (kind, _, advice) =
        io_error::meaning(error.kind()).unwrap_or((ErrorKind::Unavailable, false, RESTART));
    made(kind, operation, format!("{error}; {advice}"), false)
}

fn attempt(operation: &str, error: &RequestAttemptError) -> StoreError {
    let text = error.to_string();
    match error {
        RequestAttemptError::DbError(kind, message) => database(operation, kind, message),
        RequestAttemptError::BrokenConnectionError(_) => {
            made(ErrorKind::Unavailable, operation, format!("the connection broke; {RESTART}"), true)
        }
        RequestAttemptError::UnableToAllocStreamId => made(ErrorKind::Overload, operation, text, false),
        RequestAttemptError::SerializationError(_)
        | RequestAttemptError::CqlRequestSerialization(_)
        | RequestAttemptError::RepreparedIdMissingInBatch => {
            made(ErrorKind::Rejected, operation, text, false)
        }
        RequestAttemptError::RepreparedIdChanged { .. } => made(ErrorKind::Conflict, operation, text, false),
        _ => made(ErrorKind::Protocol, operation, text, true),
    }
}

/// What the server itself says.
fn database(operation: &str, error: &DbError, message: &str) -> StoreError {
    use ErrorKind::{Authentication, Conflict, Overload, Protocol, Rejected, Timeout, Unavailable};
    let (kind, advice, in_doubt) = match error {
        DbError::Invalid => by_message(message),
        // what went wrong inside the server may have gone wrong after the write
        DbError::ServerError | DbError::WriteFailure { .. } => failed(message),
        DbError::SyntaxError => (Rejected, "a statement does not suit this version", false),
        DbError::AlreadyExists { .. } => (Conflict, "choose another name", false),
        DbError::FunctionFailure { .. } => (Rejected, "a function failed", false),
        DbError::AuthenticationError => (Authentication, "check user and password", false),
        DbError::Unauthorized => (Authentication, "grant the user this right", false),
        DbError::ConfigError => (ErrorKind::Configuration, "check the URL's options", false),
        DbError::Unavailable { .. } => (Unavailable, "too few nodes are up: see nodetool status", false),
        DbError::Overloaded => (Overload, "use fewer clients, or try again later", false),
        DbError::RateLimitReached { .. } => (Overload, "raise the rate limit", false),
        DbError::IsBootstrapping => (Unavailable, "wait until the node has joined", false),
        DbError::TruncateError => (Rejected, "a truncation failed", true),
        DbError::ReadTimeout { .. } => {
            (Timeout, "the server gave the read up: ask for less, or raise read_request_timeout", false)
        }
        DbError::WriteTimeout { .. } => (
            Timeout,
            "the write may be stored all the same: read it back, or raise write_request_timeout",
            true,
        ),
        DbError::ReadFailure { .. } => by_message(message),
        DbError::Unprepared { .. } => (Conflict, "the table changed; connect again", false),
        DbError::ProtocolError => match by_message(message) {
            (Rejected, ..) => (Protocol, "use Cassandra 4.0 or later", false),
            known => known,
        },
        _ => (Rejected, "see the server's log for the cause", true),
    };
    made(kind, operation, format!("{message}; {advice}"), in_doubt)
}

type Meaning = (ErrorKind, &'static str, bool);

/// Refusals that share a code are told apart by their words.
fn by_message(message: &str) -> Meaning {
    let lower = message.to_ascii_lowercase();
    let has = |words: &str| lower.contains(words);
    if has("unconfigured table") || has("does not exist") || has("unknown keyspace") {
        (ErrorKind::NotFound, "create the database first", false)
    } else if has("batch too large") {
        (ErrorKind::TooLarge, "use smaller batches, or raise batch_size_fail_threshold", false)
    } else if has("oversized mutation") || has("too large") || has("too big") {
        (
            ErrorKind::TooLarge,
            "store less in one reading or record, or raise commitlog_segment_size and native_transport_max_frame_size",
            false,
        )
    } else if has("no space left") || has("insufficient disk space") {
        (ErrorKind::DiskFull, "free some space", true)
    } else if has("commit log") || has("commitlog") || has("fswriteerror") {
        (
            ErrorKind::DiskFull,
            "the commit log cannot be written: see the disk's free space and the server's log",
            true,
        )
    } else if has("shutting down") || has("shutdown") || has("is draining") {
        (ErrorKind::Unavailable, "the server is shutting down: start it again", true)
    } else if has("too_many_tombstones") || has("tombstone") {
        (
            ErrorKind::Rejected,
            "too many tombstones: compact the table, or raise tombstone_failure_threshold",
            false,
        )
    } else {
        (ErrorKind::Rejected, "see the server's log for the cause", false)
    }
}

/// The meaning of a failure inside the server: a write may be stored all the same.
fn failed(message: &str) -> Meaning {
    match by_message(message) {
        (ErrorKind::Rejected, advice, _) => (ErrorKind::Rejected, advice, true),
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What an error of the server becomes: its kind, and whether a write is in doubt.
    fn becomes(error: &DbError, message: &str) -> (ErrorKind, bool) {
        let error = database("try", error, message);
        assert!(error.context().contains("; "), "no next step: {error}");
        (error.kind(), error.is_in_doubt())
    }

    #[test]
    fn what_the_server_says_is_told_apart_by_its_code() {
        use scylla::errors::WriteType;
        use scylla::statement::Consistency::One;
        let unavailable = DbError::Unavailable { consistency: One, required: 1, alive: 0 };
        let read = DbError::ReadTimeout { consistency: One, received: 0, required: 1, data_present: false };
        let written = DbError::WriteTimeout {
            consistency: One,
            received: 0,
            required: 1,
            write_type: WriteType::Simple,
        };
        let failed = DbError::WriteFailure {
            consistency: One,
            received: 0,
            required: 1,
            numfailures: 1,
            write_type: WriteType::Simple,
        };
        for (error, expected) in [
            (DbError::AuthenticationError, (ErrorKind::Authentication, false)),
            (DbError::Unauthorized, (ErrorKind::Authentication, false)),
            (DbError::Overloaded, (ErrorKind::Overload, false)),
            (DbError::IsBootstrapping, (ErrorKind::Unavailable, false)),
            (DbError::ConfigError, (ErrorKind::Configuration, false)),
            (DbError::SyntaxError, (ErrorKind::Rejected, false)),
            (DbError::Invalid, (ErrorKind::Rejected, false)),
            (DbError::ServerError, (ErrorKind::Rejected, true)),
            (DbError::ProtocolError, (ErrorKind::Protocol, false)),
            (unavailable, (ErrorKind::Unavailable, false)),
            (read, (ErrorKind::Timeout, false)),
            (written, (ErrorKind::Timeout, true)),
            (failed, (ErrorKind::Rejected, true)),
        ] {
            assert_eq!(becomes(&error, "something"), expected, "{error}");
        }
    }

    #[test]
    fn what_shares_a_code_is_told_apart_by_its_words() {
        for (message, expected) in [
            ("Batch too large", (ErrorKind::TooLarge, false)),
            (
                "Rejected an oversized mutation (20000013/16777216) for keyspace: k. Top keys are: t.5",
                (ErrorKind::TooLarge, false),
            ),
            ("table r_values does not exist", (ErrorKind::NotFound, false)),
            ("unconfigured table r_values", (ErrorKind::NotFound, false)),
            ("Keyspace 'k' does not exist", (ErrorKind::NotFound, false)),
            (
                "org.apache.cassandra.io.FSWriteError: java.io.IOException: No space left on device",
                (ErrorKind::DiskFull, true),
            ),
            ("java.io.IOException: failed to write the commit log", (ErrorKind::DiskFull, true)),
            ("Server is shutting down", (ErrorKind::Unavailable, true)),
        ] {
            for error in [DbError::Invalid, DbError::ServerError] {
                assert_eq!(becomes(&error, message), expected, "{message}");
            }
        }
        let message = "Request is too big: length 300000000 exceeds maximum allowed length 16777216";
        assert_eq!(becomes(&DbError::ProtocolError, message), (ErrorKind::TooLarge, false));
    }

    #[test]
    fn a_connection_that_was_not_made_means_what_the_kit_says_and_leaves_no_doubt() {
        use std::io::ErrorKind as Io;
        for (cause, kind) in [
            (Io::ConnectionRefused, ErrorKind::Unavailable),
            (Io::AddrNotAvailable, ErrorKind::Unavailable),
            (Io::AddrInUse, ErrorKind::Unavailable),
            (Io::TimedOut, ErrorKind::Timeout),
            (Io::OutOfMemory, ErrorKind::Overload),
        ] {
            let error = std::io::Error::from(cause);
            let error = connection("try", &ConnectionError::IoError(error.into()));
            assert_eq!(error.kind(), kind, "{cause}");
            assert!(!error.is_in_doubt(), "{cause}");
        }
    }
}
