//! SQLite's result codes as kinds of failure, one by one.
//!
//! The primary code decides, the extended one where it says more. Messages say what to try next and never name the
//! folder: the path may hold a user's name, and errors are kept in results.

use rusqlite::ffi;
use sensormark_store::{ErrorKind, StoreError};

/// A failure of the driver or the library, as the contract has it.
///
/// What failed in SQLite was rolled back, so a write is in doubt only where the commit itself met an I/O error.
pub fn native(operation: &str, error: rusqlite::Error) -> StoreError {
    match error {
        rusqlite::Error::SqliteFailure(code, message) => failure(operation, code, message),
        rusqlite::Error::SqlInputError { error, msg, .. } => failure(operation, error, Some(msg)),
        rusqlite::Error::NulError(_) | rusqlite::Error::InvalidPath(_) => StoreError::new(
            ErrorKind::Configuration,
            operation,
            "the path holds a character that SQLite cannot open; choose another folder",
        ),
        other => {
            let kind = unexpected_kind(&other);
            StoreError::new(kind, operation, other.to_string()).with_source(other)
        }
    }
}

fn unexpected_kind(error: &rusqlite::Error) -> ErrorKind {
    match error {
        rusqlite::Error::FromSqlConversionFailure(..)
        | rusqlite::Error::IntegralValueOutOfRange(..)
        | rusqlite::Error::Utf8Error(..)
        | rusqlite::Error::InvalidColumnType(..)
        | rusqlite::Error::QueryReturnedNoRows => ErrorKind::Protocol,
        _ => ErrorKind::Rejected,
    }
}

/// An answer that is not what was stored (a value of another type, a tag that no series has).
pub fn unexpected(operation: &str, context: impl Into<String>) -> StoreError {
    StoreError::new(ErrorKind::Protocol, operation, context)
}

fn failure(operation: &str, code: ffi::Error, message: Option<String>) -> StoreError {
    let message = message.unwrap_or_default();
    let (kind, advice) = classify(code.extended_code, &message);
    let said = words(&message, code.extended_code);
    let context = if advice.is_empty() {
        format!("SQLite says {said}")
    } else {
        format!("SQLite says {said}; {advice}")
    };
    StoreError::new(kind, operation, context).with_doubt(in_doubt(code.extended_code)).with_source(code)
}

/// The library's message without the path that the driver appends to failures of opening.
fn words(message: &str, code: i32) -> String {
    let text = message.split(": /").next().unwrap_or_default();
    if text.is_empty() {
        format!("{:?} (code {code})", ffi::code_to_str(code))
    } else {
        format!("{text:?} (code {code})")
    }
}

/// Whether a write that failed so may be in the log nevertheless: its frames were written and the flush failed.
const fn in_doubt(extended: i32) -> bool {
    matches!(
        extended,
        ffi::SQLITE_IOERR_FSYNC
            | ffi::SQLITE_IOERR_DIR_FSYNC
            | ffi::SQLITE_IOERR_CLOSE
            | ffi::SQLITE_IOERR_COMMIT_ATOMIC
    )
}

fn classify(extended: i32, message: &str) -> (ErrorKind, &'static str) {
    match extended {
        ffi::SQLITE_BUSY_SNAPSHOT => {
            (ErrorKind::Overload, "the database moved on since the transaction began; try again")
        }
        ffi::SQLITE_READONLY_DBMOVED => (
            ErrorKind::Unavailable,
            "the file was moved or deleted under the connection; create the database again",
        ),
        ffi::SQLITE_CONSTRAINT_PRIMARYKEY
        | ffi::SQLITE_CONSTRAINT_UNIQUE
        | ffi::SQLITE_CONSTRAINT_ROWID
        | ffi::SQLITE_CONSTRAINT_FOREIGNKEY => {
            (ErrorKind::Conflict, "a row with this key is there, or its parent is not")
        }
        ffi::SQLITE_CANTOPEN_ISDIR => (
            ErrorKind::Configuration,
            "a folder has the name of the database's file; remove it or choose another folder",
        ),
        ffi::SQLITE_IOERR_NOMEM => (ErrorKind::Overload, "memory ran out"),
        ffi::SQLITE_IOERR_SHMSIZE | ffi::SQLITE_IOERR_TRUNCATE => {
            (ErrorKind::DiskFull, "a file could not grow: free space on the disk that holds the folder")
        }
        ffi::SQLITE_IOERR_SHORT_READ | ffi::SQLITE_IOERR_CORRUPTFS | ffi::SQLITE_IOERR_DATA => {
            (ErrorKind::Protocol, "the file is cut short or damaged; drop the database and load it again")
        }
        ffi::SQLITE_IOERR_AUTH | ffi::SQLITE_IOERR_ACCESS => (
            ErrorKind::Configuration,
            "the folder does not let this user read and write; check its permissions",
        ),
        _ => classify_primary(extended & 0xff, message),
    }
}

fn classify_primary(primary: i32, message: &str) -> (ErrorKind, &'static str) {
    match primary {
        ffi::SQLITE_BUSY => (
            ErrorKind::Timeout,
            "another writer held the database for the whole time allowed; fewer clients or a longer time-out help",
        ),
        ffi::SQLITE_LOCKED => (ErrorKind::Overload, "another statement holds the table; try again"),
        ffi::SQLITE_INTERRUPT => (ErrorKind::Timeout, "the operation ran longer than the time allowed"),
        ffi::SQLITE_NOMEM => (ErrorKind::Overload, "memory ran out"),
        ffi::SQLITE_FULL => (ErrorKind::DiskFull, "free space on the disk that holds the folder"),
        ffi::SQLITE_READONLY => (
            ErrorKind::Configuration,
            "the file or its folder is not writable for this user; check permissions",
        ),
        ffi::SQLITE_CANTOPEN => (
            ErrorKind::Unavailable,
            "the file cannot be opened; check that its folder is there and may be written",
        ),
        ffi::SQLITE_IOERR => (ErrorKind::Unavailable, "the disk or file system failed; see the kernel's log"),
        ffi::SQLITE_CORRUPT => {
            (ErrorKind::Protocol, "the file is damaged; drop the database and load it again")
        }
        ffi::SQLITE_NOTADB => {
            (ErrorKind::Foreign, "the file is no SQLite database; move it away or choose another folder")
        }
        ffi::SQLITE_TOOBIG | ffi::SQLITE_NOLFS => (
            ErrorKind::TooLarge,
            "a value, row or file is over SQLite's limit; write smaller batches or shorter spans",
        ),
        ffi::SQLITE_PERM | ffi::SQLITE_AUTH => (ErrorKind::Authentication, "this user has no right to do it"),
        ffi::SQLITE_PROTOCOL => {
            (ErrorKind::Overload, "too many processes recover the log at once; try again")
        }
        ffi::SQLITE_ERROR if message.starts_with("no such table") => {
            (ErrorKind::NotFound, "create the database with this layout first")
        }
        ffi::SQLITE_ERROR if message.starts_with("too many SQL variables") => {
            (ErrorKind::TooLarge, "write smaller batches")
        }
        _ => (ErrorKind::Rejected, ""),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kind(extended: i32) -> ErrorKind {
        native("test", rusqlite::Error::SqliteFailure(ffi::Error::new(extended), None)).kind()
    }

    #[test]
    fn codes_are_told_apart() {
        for (code, expected) in [
            (ffi::SQLITE_BUSY, ErrorKind::Timeout),
            (ffi::SQLITE_BUSY_SNAPSHOT, ErrorKind::Overload),
            (ffi::SQLITE_FULL, ErrorKind::DiskFull),
            (ffi::SQLITE_READONLY, ErrorKind::Configuration),
            (ffi::SQLITE_READONLY_DBMOVED, ErrorKind::Unavailable),
            (ffi::SQLITE_CANTOPEN, ErrorKind::Unavailable),
            (ffi::SQLITE_CONSTRAINT_PRIMARYKEY, ErrorKind::Conflict),
            (ffi::SQLITE_CONSTRAINT_NOTNULL, ErrorKind::Rejected),
            (ffi::SQLITE_CONSTRAINT_DATATYPE, ErrorKind::Rejected),
            (ffi::SQLITE_TOOBIG, ErrorKind::TooLarge),
            (ffi::SQLITE_CORRUPT, ErrorKind::Protocol),
            (ffi::SQLITE_NOTADB, ErrorKind::Foreign),
            (ffi::SQLITE_IOERR_WRITE, ErrorKind::Unavailable),
            (ffi::SQLITE_IOERR_NOMEM, ErrorKind::Overload),
            (ffi::SQLITE_IOERR_SHMSIZE, ErrorKind::DiskFull),
            (ffi::SQLITE_INTERRUPT, ErrorKind::Timeout),
        ] {
            assert_eq!(kind(code), expected, "code {code}");
        }
    }

    #[test]
    fn what_was_rolled_back_is_not_in_doubt() {
        let error = |code| native("write", rusqlite::Error::SqliteFailure(ffi::Error::new(code), None));
        assert!(!error(ffi::SQLITE_BUSY).is_in_doubt());
        assert!(!error(ffi::SQLITE_INTERRUPT).is_in_doubt());
        assert!(error(ffi::SQLITE_IOERR_FSYNC).is_in_doubt());
    }

    #[test]
    fn paths_stay_out_of_messages() {
        let error = native(
            "open",
            rusqlite::Error::SqliteFailure(
                ffi::Error::new(ffi::SQLITE_CANTOPEN),
                Some("unable to open database file: /home/somebody/x".into()),
            ),
        );
        assert!(!error.to_string().contains("somebody"), "{error}");
    }
}
