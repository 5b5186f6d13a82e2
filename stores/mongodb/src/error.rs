//! From MongoDB's errors to the contract's: by code, one by one, and by the kind of an input/output error.
//!
//! It decides what a failure means; it does not retry. The texts are the server's own message and a next step. No
//! password is ever part of them: neither server nor driver repeats one.

use mongodb::error::{Error, ErrorKind as Native, WriteFailure};
use sensormark_store::{ErrorKind, StoreError};
use std::io;

/// The contract's error for a native one, met during `operation`.
pub(crate) fn store_error(operation: &str, error: Error) -> StoreError {
    let built = match &*error.kind {
        Native::Command(native) => coded(operation, native.code, &native.message),
        Native::Write(WriteFailure::WriteError(native)) => {
            coded(operation, native.code, &native.message)
        }
        Native::Write(WriteFailure::WriteConcernError(native)) => {
            coded(operation, native.code, &native.message).with_doubt(true)
        }
        Native::Io(cause) => from_io(operation, cause),
        other => {
            let (kind, doubt, advice) = driver_meaning(other);
            StoreError::new(kind, operation, format!("{other}; {advice}")).with_doubt(doubt)
        }
    };
    built.with_source(error)
}

/// The error for a code of the server.
pub(crate) fn coded(operation: &str, code: i32, message: &str) -> StoreError {
    let (kind, advice) = meaning(code);
    let advice = if advice.is_empty() {
        "look the code up in MongoDB's manual"
    } else {
        advice
    };
    StoreError::new(
        kind,
        operation,
        format!("{message} (code {code}); {advice}"),
    )
}

fn from_io(operation: &str, cause: &io::Error) -> StoreError {
    let (kind, doubt, advice) = io_meaning(cause.kind());
    StoreError::new(kind, operation, format!("{cause}; {advice}")).with_doubt(doubt)
}

/// Kind, whether a write may nevertheless be stored, and the next step, for the driver's own kinds.
fn driver_meaning(native: &Native) -> (ErrorKind, bool, &'static str) {
    match native {
        Native::Authentication { .. } => (
            ErrorKind::Authentication,
            false,
            "check user, password and authSource in the URL",
        ),
        Native::ServerSelection { .. } => (
            ErrorKind::Unavailable,
            false,
            "no server answered: start it or correct host and port",
        ),
        Native::DnsResolve { .. } => (
            ErrorKind::Unavailable,
            false,
            "the host's name cannot be resolved: check it and the network",
        ),
        Native::ConnectionPoolCleared { .. } | Native::Shutdown => (
            ErrorKind::Unavailable,
            false,
            "the connection was given up after an earlier failure: connect again",
        ),
        Native::InvalidTlsConfig { .. } => (
            ErrorKind::Configuration,
            false,
            "check the options of TLS in the URL",
        ),
        Native::IncompatibleServer { .. } | Native::SessionsNotSupported => (
            ErrorKind::Unsupported,
            false,
            "MongoDB 6.0 or later is needed",
        ),
        Native::InvalidArgument { .. } | Native::Transaction { .. } => {
            (ErrorKind::Rejected, false, "the driver refused it")
        }
        Native::InvalidResponse { .. } => (
            ErrorKind::Protocol,
            true,
            "the answer could not be understood: is it a MongoDB server?",
        ),
        _ => (
            ErrorKind::Protocol,
            true,
            "driver and server misunderstood each other",
        ),
    }
}

/// Kind, whether a write may nevertheless be stored, and the next step.
fn io_meaning(kind: io::ErrorKind) -> (ErrorKind, bool, &'static str) {
    use io::ErrorKind as Io;
    match kind {
        Io::ConnectionRefused => (
            ErrorKind::Unavailable,
            false,
            "nobody listens there: start the server or correct host and port",
        ),
        Io::HostUnreachable | Io::NetworkUnreachable | Io::NetworkDown | Io::NotFound => (
            ErrorKind::Unavailable,
            false,
            "the host cannot be reached: check its name and the network",
        ),
        Io::AddrNotAvailable => (
            ErrorKind::Unavailable,
            false,
            "no local port is left: use fewer clients",
        ),
        Io::ConnectionReset | Io::ConnectionAborted | Io::BrokenPipe | Io::UnexpectedEof => (
            ErrorKind::Unavailable,
            true,
            "the connection broke: look into the server's log and connect again",
        ),
        Io::TimedOut => (
            ErrorKind::Timeout,
            true,
            "no answer in time: check the network or allow more time",
        ),
        Io::InvalidData => (
            ErrorKind::Protocol,
            true,
            "what came was no answer of MongoDB's: check host, port and TLS",
        ),
        _ => (
            ErrorKind::Unavailable,
            true,
            "input or output failed: check the network and the server's log",
        ),
    }
}

/// What a code of the server means, and the next step.
fn meaning(code: i32) -> (ErrorKind, &'static str) {
    MEANINGS
        .iter()
        .find(|(codes, ..)| codes.contains(&code))
        .map_or((ErrorKind::Rejected, ""), |&(_, kind, advice)| {
            (kind, advice)
        })
}

const MEANINGS: &[(&[i32], ErrorKind, &str)] = &[
    // AuthenticationFailed, UserNotFound
    (
        &[18, 11],
        ErrorKind::Authentication,
        "check user and password in the URL",
    ),
    // Unauthorized
    (
        &[13],
        ErrorKind::Authentication,
        "the user lacks the right to do this: grant readWrite, dbAdmin and clusterMonitor",
    ),
    // ReauthenticationRequired
    (
        &[391],
        ErrorKind::Authentication,
        "the session's authentication ended: connect again",
    ),
    // NamespaceNotFound
    (
        &[26],
        ErrorKind::NotFound,
        "the database or collection is not there: create it first",
    ),
    // IndexNotFound
    (&[27], ErrorKind::NotFound, "the index is not there"),
    // DatabaseDropPending
    (
        &[215],
        ErrorKind::Unavailable,
        "the database is being dropped: try again",
    ),
    // NamespaceExists
    (
        &[48],
        ErrorKind::Conflict,
        "a collection of this name is there",
    ),
    // DuplicateKey, in its present and former codes
    (
        &[11_000, 11_001, 12_582],
        ErrorKind::Conflict,
        "a document with this key is there",
    ),
    // DocumentValidationFailure
    (
        &[121],
        ErrorKind::Conflict,
        "the document does not fit the collection's rules",
    ),
    // BSONObjectTooLarge, resulting document after update too large, document to upsert too large, BufBuilder's limit
    (
        &[10_334, 17_419, 17_420, 17_280, 13_548],
        ErrorKind::TooLarge,
        "a document holds at most 16 MiB: use smaller records",
    ),
    // ExceededMemoryLimit, sort or group over its memory without leave to use the disk
    (
        &[146, 292],
        ErrorKind::TooLarge,
        "the question needs more memory than allowed: narrow its range",
    ),
    // OutOfDiskSpace
    (
        &[14_031],
        ErrorKind::DiskFull,
        "free space on the server's disk",
    ),
    // ExceededTimeLimit, MaxTimeMSExpired, NetworkTimeout, WriteConcernFailed (wtimeout), NetworkInterfaceExceededTimeLimit
    (
        &[262, 50, 89, 64, 202],
        ErrorKind::Timeout,
        "allow more time, ask for less, or look into the server's log",
    ),
    // LockTimeout
    (
        &[24],
        ErrorKind::Timeout,
        "another operation holds a lock: try again",
    ),
    // InterruptedAtShutdown, ShutdownInProgress
    (
        &[11_600, 91],
        ErrorKind::Unavailable,
        "the server is shutting down: start it again",
    ),
    // InterruptedDueToReplStateChange, PrimarySteppedDown, NotWritablePrimary, NotPrimaryNoSecondaryOk, NotPrimaryOrSecondary
    (
        &[11_602, 189, 10_107, 13_435, 13_436],
        ErrorKind::Unavailable,
        "this member is not the primary (any more): connect again, with the replica set's URL",
    ),
    // HostUnreachable, HostNotFound, SocketException
    (
        &[6, 7, 9001],
        ErrorKind::Unavailable,
        "a server cannot be reached: check the cluster",
    ),
    // FailedToSatisfyReadPreference
    (
        &[133],
        ErrorKind::Unavailable,
        "no member of the cluster can answer: check its state",
    ),
    // NotYetInitialized
    (
        &[94],
        ErrorKind::Unavailable,
        "the replica set is not initiated yet",
    ),
    // Interrupted
    (
        &[11_601],
        ErrorKind::Unavailable,
        "somebody killed the operation: try again",
    ),
    // CursorNotFound
    (
        &[43, 237],
        ErrorKind::Unavailable,
        "the server gave up the answer's cursor: ask again",
    ),
    // WriteConflict
    (
        &[112],
        ErrorKind::Overload,
        "two writes met at one document: try again",
    ),
    // NoSuchTransaction, TransactionTooOld
    (
        &[251, 225],
        ErrorKind::Overload,
        "the transaction was aborted: try again",
    ),
    // TooManyLogicalSessions, ConnectionPoolExpired, IngressRequestRateLimitExceeded
    (
        &[261, 327, 462],
        ErrorKind::Overload,
        "the server is overloaded: use fewer clients or wait",
    ),
    // IllegalOperation ("Transaction numbers are only allowed on a replica set member or mongos" is one)
    (
        &[20],
        ErrorKind::Unsupported,
        "this kind of deployment cannot do that",
    ),
    // OperationNotSupportedInTransaction
    (
        &[263],
        ErrorKind::Unsupported,
        "this cannot be done in a transaction",
    ),
    // CommandNotFound, Location40324 (unrecognised stage), InvalidPipelineOperator
    (
        &[59, 40_324, 168],
        ErrorKind::Unsupported,
        "this server lacks it: MongoDB 6.0 or later is needed",
    ),
    // CannotCreateIndex, IndexOptionsConflict, IndexKeySpecsConflict
    (
        &[67, 85, 86],
        ErrorKind::Rejected,
        "an index cannot be made so",
    ),
    // BadValue, FailedToParse, TypeMismatch
    (
        &[2, 9, 14],
        ErrorKind::Rejected,
        "the server did not take a value",
    ),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_are_told_apart() {
        for (code, kind) in [
            (18, ErrorKind::Authentication),
            (13, ErrorKind::Authentication),
            (26, ErrorKind::NotFound),
            (11_000, ErrorKind::Conflict),
            (10_334, ErrorKind::TooLarge),
            (17_419, ErrorKind::TooLarge),
            (14_031, ErrorKind::DiskFull),
            (50, ErrorKind::Timeout),
            (262, ErrorKind::Timeout),
            (11_600, ErrorKind::Unavailable),
            (91, ErrorKind::Unavailable),
            (189, ErrorKind::Unavailable),
            (112, ErrorKind::Overload),
            (999_999, ErrorKind::Rejected),
        ] {
            assert_eq!(meaning(code).0, kind, "{code}");
            assert_eq!(coded("try", code, "message").kind(), kind);
        }
    }

    #[test]
    fn no_code_is_listed_twice() {
        let codes: Vec<i32> = MEANINGS
            .iter()
            .flat_map(|(codes, ..)| codes.iter().copied())
            .collect();
        let mut once = codes.clone();
        once.sort_unstable();
        once.dedup();
        assert_eq!(once.len(), codes.len());
    }

    #[test]
    fn a_refused_connection_is_not_in_doubt_and_a_broken_one_is() {
        let refused = from_io(
            "connect",
            &io::Error::from(io::ErrorKind::ConnectionRefused),
        );
        assert_eq!(refused.kind(), ErrorKind::Unavailable);
        assert!(!refused.is_in_doubt());
        let broken = from_io("write", &io::Error::from(io::ErrorKind::ConnectionReset));
        assert_eq!(broken.kind(), ErrorKind::Unavailable);
        assert!(broken.is_in_doubt());
    }
}
