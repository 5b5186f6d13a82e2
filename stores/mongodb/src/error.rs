//! From MongoDB's errors to the contract's: by code, one by one, and by the kind of an input/output error.
//!
//! It decides what a failure means; it does not retry. The texts are the server's own message and a next step. No
//! password is ever part of them: neither server nor driver repeats one.

mod codes;

use self::codes::Doubt;
use mongodb::error::{Error, ErrorKind as Native, WriteFailure};
use sensormark_kit::io_error;
use sensormark_store::{ErrorKind, StoreError};
use std::io;

/// The contract's error for a native one, met during `operation`.
pub(crate) fn store_error(operation: &str, error: Error) -> StoreError {
    let built = match &*error.kind {
        Native::Command(native) => coded(operation, native.code, &native.message),
        Native::Write(WriteFailure::WriteError(native)) => coded(operation, native.code, &native.message),
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
    let by_code = codes::meaning(code);
    let known = by_code
        .filter(|meaning| meaning.1 != ErrorKind::Rejected)
        .or_else(|| codes::by_text(message).and_then(codes::meaning))
        .or(by_code);
    let Some(&(_, kind, doubt, advice)) = known else {
        let context = format!("{message} (code {code}); look the code up in MongoDB's manual");
        return StoreError::new(ErrorKind::Rejected, operation, context);
    };
    let error = StoreError::new(kind, operation, format!("{message} (code {code}); {advice}"));
    match doubt {
        Doubt::AsUsual => error,
        Doubt::None => error.with_doubt(false),
    }
}

fn from_io(operation: &str, cause: &io::Error) -> StoreError {
    let (kind, doubt, advice) = io_meaning(cause.kind());
    StoreError::new(kind, operation, format!("{cause}; {advice}")).with_doubt(doubt)
}

/// What each kind of the driver's own errors means: our kind, whether a write may nevertheless be stored, and the next step.
fn driver_meaning(native: &Native) -> (ErrorKind, bool, &'static str) {
    match native {
        Native::Authentication { .. } => {
            (ErrorKind::Authentication, false, "check user, password and authSource in the URL")
        }
        Native::ServerSelection { .. } => {
            (ErrorKind::Unavailable, false, "no server answered: start it or correct host and port")
        }
        Native::DnsResolve { .. } => {
            (ErrorKind::Unavailable, false, "the host's name cannot be resolved: check it and the network")
        }
        Native::ConnectionPoolCleared { .. } | Native::Shutdown => (
            ErrorKind::Unavailable,
            false,
            "the connection was given up after an earlier failure: connect again",
        ),
        Native::InvalidTlsConfig { .. } => {
            (ErrorKind::Configuration, false, "check the options of TLS in the URL")
        }
        Native::IncompatibleServer { .. } | Native::SessionsNotSupported => {
            (ErrorKind::Unsupported, false, "MongoDB 6.0 or later is needed")
        }
        Native::InvalidArgument { .. } | Native::Transaction { .. } => {
            (ErrorKind::Rejected, false, "the driver refused it")
        }
        Native::InvalidResponse { .. } => {
            (ErrorKind::Protocol, true, "the answer could not be understood: is it a MongoDB server?")
        }
        _ => (ErrorKind::Protocol, true, "driver and server misunderstood each other"),
    }
}

/// Kind, whether a write may nevertheless be stored, and the next step.
fn io_meaning(kind: io::ErrorKind) -> (ErrorKind, bool, &'static str) {
    use io::ErrorKind as Io;
    let (meaning, is_in_doubt, advice) = io_error::meaning(kind).unwrap_or(match kind {
        Io::InvalidData => {
            (ErrorKind::Protocol, true, "what came was no answer of MongoDB's: check host, port and TLS")
        }
        _ => (ErrorKind::Unavailable, true, "input or output failed: check the network and the server's log"),
    });
    let advice = match kind {
        Io::ConnectionReset | Io::ConnectionAborted | Io::BrokenPipe | Io::UnexpectedEof => {
            "the connection broke; look into the server's log, and connect again. MongoDB ends itself when its disk is full, and hangs up when it has as many \
             connections as it allows"
        }
        _ => advice,
    };
    (meaning, is_in_doubt, advice)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_are_told_apart() {
        for (code, kind, doubt) in [
            (18, ErrorKind::Authentication, false),
            (13, ErrorKind::Authentication, false),
            (26, ErrorKind::NotFound, false),
            (11_000, ErrorKind::Conflict, false),
            (10_334, ErrorKind::TooLarge, false),
            (17_419, ErrorKind::TooLarge, false),
            (14_031, ErrorKind::DiskFull, false),
            (50, ErrorKind::Timeout, true),
            (262, ErrorKind::Timeout, true),
            (11_600, ErrorKind::Unavailable, true),
            (91, ErrorKind::Unavailable, true),
            (189, ErrorKind::Unavailable, true),
            (10_107, ErrorKind::Unavailable, false),
            (112, ErrorKind::Overload, false),
            (999_999, ErrorKind::Rejected, false),
        ] {
            let error = coded("try", code, "message");
            assert_eq!((error.kind(), error.is_in_doubt()), (kind, doubt), "{code}");
        }
    }

    #[test]
    fn a_full_disk_is_known_by_its_text() {
        let error = coded("write", 8, "28: No space left on device");
        assert_eq!(error.kind(), ErrorKind::DiskFull);
    }

    #[test]
    fn a_refused_connection_is_not_in_doubt_and_a_broken_one_is() {
        let refused = from_io("connect", &io::Error::from(io::ErrorKind::ConnectionRefused));
        assert_eq!(refused.kind(), ErrorKind::Unavailable);
        assert!(!refused.is_in_doubt());
        let broken = from_io("write", &io::Error::from(io::ErrorKind::ConnectionReset));
        assert_eq!(broken.kind(), ErrorKind::Unavailable);
        assert!(broken.is_in_doubt());
    }
}
