//! From the driver's errors to faults. A refusal keeps its SQLSTATE, whose meaning is in the store's file; what happened on the way is known here.
//!
//! No password is ever part of a text: neither server nor driver repeats one.

use crate::Fault;
use sensormark_kit::io_error;
use sensormark_store::{ErrorKind, StoreError};
use std::error::Error as _;
use std::io;
use tokio_postgres::Error;

/// The fault for a native error, met during `operation`.
pub(super) fn fault(operation: &str, error: Error) -> Fault {
    if let Some(native) = error.as_db_error() {
        let code = native.code().code().to_owned();
        let class = code.get(..2).unwrap_or_default().to_owned();
        let text = format!("{} (SQLSTATE {code})", native.message());
        return Fault::Refused { codes: vec![code, class], text, source: Box::new(error) };
    }
    let known = |kind, doubt, text: String| StoreError::new(kind, operation, text).with_doubt(doubt);
    let found = if let Some(cause) = io_cause(&error) {
        let (kind, doubt, advice) = io_meaning(cause);
        known(kind, doubt, format!("{cause}; {advice}"))
    } else if error.is_closed() {
        let text = "the server closed the connection; look into its log and connect again";
        known(ErrorKind::Unavailable, true, text.to_owned())
    } else {
        let text = error.source().map_or_else(|| error.to_string(), |cause| format!("{error}: {cause}"));
        let kind = other_kind(&text);
        known(kind, kind == ErrorKind::Timeout, text)
    };
    Fault::Known(found.with_source(error))
}

/// The kind of an error that is neither the server's nor the kernel's: by the driver's own words, since it keeps its kinds private.
fn other_kind(text: &str) -> ErrorKind {
    let has = |words: &[&str]| words.iter().any(|word| text.contains(word));
    if has(&["authentication", "password"]) {
        ErrorKind::Authentication
    } else if has(&["TLS", "tls", "invalid configuration"]) {
        ErrorKind::Configuration
    } else if has(&["timed out", "timeout"]) {
        ErrorKind::Timeout
    } else {
        ErrorKind::Protocol
    }
}

fn io_cause(error: &Error) -> Option<&io::Error> {
    let mut cause = error.source();
    while let Some(error) = cause {
        if let Some(found) = error.downcast_ref::<io::Error>() {
            return Some(found);
        }
        cause = error.source();
    }
    None
}

/// Kind, whether a write may nevertheless be stored, and the next step.
fn io_meaning(cause: &io::Error) -> (ErrorKind, bool, &'static str) {
    use io::ErrorKind as Io;
    io_error::meaning(cause.kind()).unwrap_or_else(|| match cause.kind() {
        // The driver's own, of several hosts of which none fits.
        Io::PermissionDenied => (
            ErrorKind::Unavailable,
            false,
            "none of the hosts that answer is what is asked for, a primary or a replica: see which servers run",
        ),
        Io::InvalidData if cause.to_string().contains("certificate") => (
            ErrorKind::Configuration,
            false,
            "sslmode=verify-ca wants a certificate by a public authority, or one of the file that sslrootcert names; verify-full wants it for the host's name too; use require where you trust the network",
        ),
        Io::InvalidInput | Io::InvalidData => {
            (ErrorKind::Protocol, true, "is this a PostgreSQL server's port, with the TLS mode that it expects?")
        }
        _ => (ErrorKind::Unavailable, true, "check that the server runs, then connect again"),
    })
}
