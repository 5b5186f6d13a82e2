//! What failures of Cassandra's crate are. What the server itself says keeps its code and words; the store's table has their meanings.

use crate::Fault;
use scylla::errors::{
    ConnectionError, ConnectionPoolError, ConnectionSetupRequestErrorKind, DbError, ExecutionError,
    MetadataError, NewSessionError, PrepareError, RequestAttemptError, UseKeyspaceError,
};
use sensormark_kit::io_error;
use sensormark_store::{ErrorKind, StoreError};
use std::error::Error;
use std::time::Duration;

/// What a failure was met in.
pub(super) const OPERATION: &str = "ask Cassandra";

const RESTART: &str = "check that the server runs and can be reached";

/// A server that wants TLS breaks connections without it, and says nothing.
const NO_ANSWER: &str =
    "check that the server runs and can be reached, and whether it wants tls=true in the URL";

/// A failure that is not the server's own; what is not known to have been done is in doubt.
pub(super) fn known(kind: ErrorKind, text: impl Into<String>, in_doubt: bool) -> Fault {
    StoreError::new(kind, OPERATION, text).with_doubt(in_doubt).into()
}

/// No answer within the time allowed.
pub(super) fn timeout(allowed: Duration, in_doubt: bool) -> Fault {
    let millis = allowed.as_millis();
    let text = format!("no answer within {millis} ms; check the server's load, or allow more time");
    known(ErrorKind::Timeout, text, in_doubt)
}

/// An answer that could not be understood.
pub(super) fn odd(error: impl Error) -> StoreError {
    StoreError::new(ErrorKind::Protocol, "read an answer of Cassandra's", error.to_string())
}

/// What the server itself says: the code's name, and its words.
fn refused(code: &DbError, text: &str, source: impl Error + Send + Sync + 'static) -> Fault {
    let code = format!("{code:?}");
    let name = code.split(|letter: char| !letter.is_alphanumeric()).next().unwrap_or_default();
    Fault::Refused { codes: vec![name.to_owned()], text: text.to_owned(), source: Box::new(source) }
}

/// A request that failed.
pub(super) fn execution(error: ExecutionError) -> Fault {
    let text = error.to_string();
    match &error {
        ExecutionError::LastAttemptError(error) => attempt(error),
        ExecutionError::PrepareError(error) => prepare(error.clone()),
        ExecutionError::ConnectionPoolError(error) => pool(error),
        ExecutionError::BadQuery(_) => known(ErrorKind::Protocol, text, false),
        ExecutionError::EmptyPlan => known(ErrorKind::Unavailable, format!("{text}; {RESTART}"), false),
        ExecutionError::RequestTimeout(after) => timeout(*after, true),
        ExecutionError::SchemaAgreementError(_) => known(ErrorKind::Timeout, text, true),
        _ => known(ErrorKind::Unavailable, text, true),
    }
}

/// A statement that could not be prepared: nothing was done.
pub(super) fn prepare(error: PrepareError) -> Fault {
    without_doubt(match &error {
        PrepareError::ConnectionPoolError(error) => pool(error),
        PrepareError::AllAttemptsFailed { first_attempt } => attempt(first_attempt),
        _ => known(ErrorKind::Protocol, error.to_string(), false),
    })
}

/// A session that could not be opened.
pub(super) fn session(error: NewSessionError) -> Fault {
    let text = error.to_string();
    without_doubt(match &error {
        NewSessionError::MetadataError(MetadataError::ConnectionPoolError(error)) => pool(error),
        NewSessionError::FailedToResolveAnyHostname(_) => {
            let text = "no host of the URL has an address; check their names";
            known(ErrorKind::Unavailable, text, false)
        }
        NewSessionError::MetadataError(_) => {
            known(ErrorKind::Unavailable, format!("{text}; {RESTART}"), false)
        }
        _ => known(ErrorKind::Configuration, text, false),
    })
}

/// A keyspace that cannot be used.
pub(super) fn keyspace(error: UseKeyspaceError) -> Fault {
    without_doubt(match &error {
        UseKeyspaceError::RequestError(error) => attempt(error),
        _ => known(ErrorKind::Unavailable, format!("{error}; {RESTART}"), false),
    })
}

/// The same of what was not sent.
pub(super) fn without_doubt(fault: Fault) -> Fault {
    match fault {
        Fault::Known(error) => Fault::Known(error.with_doubt(false)),
        fault => fault,
    }
}

/// No usable connection: nothing was sent.
fn pool(error: &ConnectionPoolError) -> Fault {
    match error {
        ConnectionPoolError::Broken { last_connection_error } => {
            without_doubt(connection(last_connection_error))
        }
        _ => known(ErrorKind::Unavailable, format!("no connection: {error}; {RESTART}"), false),
    }
}

fn connection(error: &ConnectionError) -> Fault {
    use ConnectionSetupRequestErrorKind as Setup;
    let gone = |text: String| known(ErrorKind::Unavailable, format!("{text}; {NO_ANSWER}"), false);
    match error {
        ConnectionError::ConnectTimeout => {
            known(ErrorKind::Timeout, format!("no connection in the time allowed; {RESTART}"), false)
        }
        ConnectionError::IoError(error) => io(error),
        ConnectionError::ConnectionSetupRequestError(setup) => match &setup.error {
            Setup::DbError(code, text) => refused(code, text, setup.clone()),
            Setup::MissingAuthentication => {
                let text = "the cluster asks for a user; name one in the URL";
                known(ErrorKind::Authentication, text, false)
            }
            other => gone(other.to_string()),
        },
        other => gone(other.to_string()),
    }
}

/// A connection that did not come about, by the system's own words.
fn io(error: &std::io::Error) -> Fault {
    if error.get_ref().is_some_and(|inner| inner.is::<rustls::Error>()) {
        let advice = "check tls and tls_ca in the URL against the server's certificate";
        return known(ErrorKind::Configuration, format!("TLS: {error}; {advice}"), false);
    }
    let (kind, _, advice) =
        io_error::meaning(error.kind()).unwrap_or((ErrorKind::Unavailable, false, RESTART));
    known(kind, format!("{error}; {advice}"), false)
}

fn attempt(error: &RequestAttemptError) -> Fault {
    let text = error.to_string();
    match error {
        RequestAttemptError::DbError(code, text) => refused(code, text, error.clone()),
        RequestAttemptError::BrokenConnectionError(_) => {
            known(ErrorKind::Unavailable, format!("the connection broke; {RESTART}"), true)
        }
        RequestAttemptError::UnableToAllocStreamId => known(ErrorKind::Overload, text, false),
        RequestAttemptError::SerializationError(_)
        | RequestAttemptError::CqlRequestSerialization(_)
        | RequestAttemptError::RepreparedIdMissingInBatch => known(ErrorKind::Rejected, text, false),
        RequestAttemptError::RepreparedIdChanged { .. } => known(ErrorKind::Conflict, text, false),
        _ => known(ErrorKind::Protocol, text, true),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
            let fault = connection(&ConnectionError::IoError(error.into()));
            let Fault::Known(error) = fault else { panic!("{fault:?}") };
            assert_eq!(error.kind(), kind, "{cause}");
            assert!(!error.is_in_doubt(), "{cause}");
        }
    }

    #[test]
    fn what_the_server_says_keeps_its_code_without_details() {
        use scylla::errors::WriteType;
        use scylla::statement::Consistency::One;
        let written = DbError::WriteTimeout {
            consistency: One,
            received: 0,
            required: 1,
            write_type: WriteType::Simple,
        };
        let fault = attempt(&RequestAttemptError::DbError(written, "too slow".to_owned()));
        let Fault::Refused { codes, text, .. } = fault else { panic!("{fault:?}") };
        assert_eq!((codes, text.as_str()), (vec!["WriteTimeout".to_owned()], "too slow"));
    }
}
