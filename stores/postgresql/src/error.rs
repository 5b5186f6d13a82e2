//! From PostgreSQL's errors to the contract's: by SQLSTATE, one by one, and by the kind of an input/output error.
//!
//! It decides what a failure means; it does not retry. The texts are the server's own message and a next step. No
//! password is ever part of them: neither server nor driver repeats one.

use sensormark_kit::io_error;
use sensormark_store::{ErrorKind, StoreError};
use std::io;
use tokio_postgres::Error;
use tokio_postgres::error::{DbError, SqlState};

/// The contract's error for a native one, met during `operation`.
pub(crate) fn store_error(operation: &str, error: Error) -> StoreError {
    if let Some(native) = error.as_db_error() {
        return server_error(operation, native).with_source(error);
    }
    if let Some(cause) = io_cause(&error) {
        let (kind, doubt, advice) = io_meaning(cause);
        return StoreError::new(kind, operation, format!("{cause}; {advice}"))
            .with_doubt(doubt)
            .with_source(error);
    }
    if error.is_closed() {
        return StoreError::new(
            ErrorKind::Unavailable,
            operation,
            "the server closed the connection; look into its log and connect again",
        )
        .with_source(error);
    }
    let text = with_cause(&error);
    StoreError::new(other_kind(&text), operation, text).with_source(error)
}

/// The kind of an error that is neither the server's nor the kernel's: by the driver's own words, since it keeps its kinds private.
fn other_kind(text: &str) -> ErrorKind {
    if text.contains("authentication") || text.contains("password") {
        ErrorKind::Authentication
    } else if text.contains("TLS") || text.contains("tls") || text.contains("invalid configuration") {
        ErrorKind::Configuration
    } else if text.contains("timed out") || text.contains("timeout") {
        ErrorKind::Timeout
    } else {
        ErrorKind::Protocol
    }
}

fn with_cause(error: &Error) -> String {
    std::error::Error::source(error).map_or_else(|| error.to_string(), |cause| format!("{error}: {cause}"))
}

fn io_cause(error: &Error) -> Option<&io::Error> {
    let mut cause = std::error::Error::source(error);
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
            "sslmode=verify-full wants a certificate for the host's name by a public authority, or by one of the file that sslrootcert names; use require where you trust the network",
        ),
        Io::InvalidInput | Io::InvalidData => (
            ErrorKind::Protocol,
            true,
            "is this a PostgreSQL server's port, with the TLS mode that it expects?",
        ),
        _ => (
            ErrorKind::Unavailable,
            true,
            "check that the server runs, then connect again",
        ),
    })
}

fn server_error(operation: &str, native: &DbError) -> StoreError {
    let (kind, advice) = meaning(native.code());
    let mut text = format!("{} (SQLSTATE {})", native.message(), native.code().code());
    if !advice.is_empty() {
        text.push_str("; ");
        text.push_str(advice);
    }
    StoreError::new(kind, operation, text).with_doubt(in_doubt(native.code()))
}

/// A statement that the server refused did not happen, except where the server died or the commit's fate is unknown.
fn in_doubt(code: &SqlState) -> bool {
    *code == SqlState::TRANSACTION_RESOLUTION_UNKNOWN
        || *code == SqlState::CRASH_SHUTDOWN
        || *code == SqlState::ADMIN_SHUTDOWN
        || *code == SqlState::IDLE_IN_TRANSACTION_SESSION_TIMEOUT
        || *code == SqlState::CONNECTION_FAILURE
        || *code == SqlState::CONNECTION_DOES_NOT_EXIST
}

/// What an SQLSTATE means, and the next step: single codes first, then what the rest of a class has in common.
fn meaning(code: &SqlState) -> (ErrorKind, &'static str) {
    single_code(code.code()).unwrap_or_else(|| class(code.code()))
}

fn single_code(code: &str) -> Option<(ErrorKind, &'static str)> {
    CODES.iter().find(|row| row.0 == code).map(|row| (row.1, row.2))
}

/// Codes that mean something of their own here: code, kind, next step.
const CODES: [(&str, ErrorKind, &str); 43] = [
    ("57014", ErrorKind::Timeout, "the statement took longer than allowed: allow more time or ask for less"),
    ("55P03", ErrorKind::Timeout, "a lock was not to be had in time"),
    ("25P03", ErrorKind::Timeout, "the session was idle for too long"),
    ("25P04", ErrorKind::Timeout, "the session was idle for too long"),
    ("57P05", ErrorKind::Timeout, "the session was idle for too long"),
    ("57P01", ErrorKind::Unavailable, "the server is shutting down: start it again"),
    ("57P02", ErrorKind::Crashed, "look into the server's log"),
    ("57P03", ErrorKind::Unavailable, "the server is starting up or shutting down: try again in a moment"),
    ("57P04", ErrorKind::NotFound, "the database was dropped: create it again"),
    ("53300", ErrorKind::Overload, "raise max_connections or use fewer clients"),
    ("53100", ErrorKind::DiskFull, "free space on the data folder's disk"),
    ("53200", ErrorKind::Overload, "the server is out of memory: use fewer clients or smaller batches"),
    ("53400", ErrorKind::Overload, "a limit of the server's configuration was reached"),
    ("28P01", ErrorKind::Authentication, "check user and password in the URL"),
    (
        "28000",
        ErrorKind::Authentication,
        "check user, database and TLS mode against the server's pg_hba.conf",
    ),
    (
        "42501",
        ErrorKind::Authentication,
        "give the URL's user this right; a user with LOGIN and CREATEDB can measure",
    ),
    ("3D000", ErrorKind::NotFound, "the database is not there: create it first or correct the URL"),
    ("42P01", ErrorKind::NotFound, "the table is not there: was the database created with another layout?"),
    ("42703", ErrorKind::NotFound, "the column is not there: was the database created with another schema?"),
    ("3F000", ErrorKind::NotFound, "the schema is not there"),
    ("42P04", ErrorKind::Conflict, "a database of this name is there"),
    ("42P07", ErrorKind::Conflict, "a table of this name is there"),
    ("55006", ErrorKind::Conflict, "the database is in use: close its other sessions"),
    ("40001", ErrorKind::Overload, "transactions collided: try again"),
    ("40P01", ErrorKind::Overload, "a deadlock was broken: try again"),
    ("40003", ErrorKind::Unavailable, "it is not known whether it was committed"),
    ("23505", ErrorKind::Conflict, "a row with this key is there"),
    ("23502", ErrorKind::Conflict, "a value is missing that must not be"),
    ("23503", ErrorKind::Conflict, "a row that this one refers to is missing"),
    ("23514", ErrorKind::Conflict, "a check does not hold"),
    ("23P01", ErrorKind::Conflict, "an exclusion constraint does not hold"),
    ("54000", ErrorKind::TooLarge, "make the batch smaller"),
    ("54001", ErrorKind::TooLarge, "make the batch smaller"),
    ("54011", ErrorKind::TooLarge, "make the batch smaller"),
    ("54023", ErrorKind::TooLarge, "make the batch smaller"),
    ("22001", ErrorKind::TooLarge, "a text is longer than its column"),
    ("0A000", ErrorKind::Unsupported, "this server cannot do that: version 14 or later is needed"),
    ("42883", ErrorKind::Unsupported, "this server lacks a function: version 14 or later is needed"),
    ("25006", ErrorKind::Rejected, "the server is read-only (a standby?): use the primary"),
    ("58030", ErrorKind::Crashed, "the server met an input/output error: check its disk"),
    ("58P01", ErrorKind::Crashed, "the server's data is damaged: check its disk and log"),
    ("XX001", ErrorKind::Crashed, "the server's data is damaged: check its disk and log"),
    ("XX002", ErrorKind::Crashed, "the server's data is damaged: check its disk and log"),
];

fn class(code: &str) -> (ErrorKind, &'static str) {
    use ErrorKind as Kind;
    match code.get(..2).unwrap_or_default() {
        "08" if code == "08P01" => (Kind::Protocol, "client and server misunderstood each other"),
        "08" => (Kind::Unavailable, "the connection failed: connect again"),
        "28" => (Kind::Authentication, "check user and password in the URL"),
        "23" => (Kind::Conflict, "a constraint does not hold"),
        "53" => (Kind::Overload, "the server lacks resources"),
        "54" => (Kind::TooLarge, "make the batch smaller"),
        "57" => (Kind::Unavailable, "the server was told to stop"),
        "58" => (Kind::Crashed, "look into the server's log"),
        "40" => (Kind::Overload, "the transaction was rolled back: try again"),
        _ => (Kind::Rejected, ""),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_are_told_apart() {
        let kind = |code: &str| meaning(&SqlState::from_code(code)).0;
        assert_eq!(kind("57014"), ErrorKind::Timeout);
        assert_eq!(kind("53100"), ErrorKind::DiskFull);
        assert_eq!(kind("53300"), ErrorKind::Overload);
        assert_eq!(kind("28P01"), ErrorKind::Authentication);
        assert_eq!(kind("3D000"), ErrorKind::NotFound);
        assert_eq!(kind("57P03"), ErrorKind::Unavailable);
        assert_eq!(kind("23505"), ErrorKind::Conflict);
        assert_eq!(kind("08006"), ErrorKind::Unavailable);
        assert_eq!(kind("42601"), ErrorKind::Rejected);
    }

    #[test]
    fn a_refused_statement_is_not_in_doubt() {
        assert!(!in_doubt(&SqlState::QUERY_CANCELED));
        assert!(in_doubt(&SqlState::CRASH_SHUTDOWN));
        let refused = io_meaning(&io::Error::from(io::ErrorKind::ConnectionRefused));
        assert_eq!((refused.0, refused.1), (ErrorKind::Unavailable, false));
    }
}
