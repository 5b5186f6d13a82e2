//! DuckDB's types of errors as kinds of failure, one by one.
//!
//! The type decides, the message where it says more. Messages say what to try next and never name the folder: the path may hold a user's name, and
//! errors are kept in results.

use crate::client::{Failure, codes};
use sensormark_store::{ErrorKind, StoreError};

/// A failure of the library, as the contract has it.
///
/// What failed was rolled back, so a write is in doubt only where the disk or the library itself failed.
pub(crate) fn native(operation: &str, failure: Failure) -> StoreError {
    let (kind, advice) = classify(&failure);
    let said = words(&failure.text);
    let context = if advice.is_empty() {
        format!("DuckDB says {said:?}")
    } else {
        format!("DuckDB says {said:?}; {advice}")
    };
    let in_doubt = matches!(failure.code, codes::FATAL | codes::INTERNAL | codes::IO) && !is_locked(&failure);
    let source = Failure::of(failure.code, said);
    StoreError::new(kind, operation, context).with_doubt(in_doubt).with_source(source)
}

/// Whether another process has the file open.
pub(crate) fn is_locked(failure: &Failure) -> bool {
    failure.code == codes::IO && failure.text.contains("Could not set lock")
}

/// Whether a transaction met another one that changed the same rows, so that the same again may succeed.
pub(crate) fn is_conflict(failure: &Failure) -> bool {
    let text = failure.text.as_str();
    failure.code == codes::TRANSACTION
        && ["Conflict", "conflict", "constraint violation"].iter().any(|word| text.contains(word))
}

/// An answer that is not what was stored (a value of another type, a tag that no series has).
pub(crate) fn unexpected(operation: &str, context: impl Into<String>) -> StoreError {
    StoreError::new(ErrorKind::Protocol, operation, context)
}

/// The first line of the library's message, without the path that failures of files have.
fn words(text: &str) -> String {
    let line = text.lines().next().unwrap_or_default();
    let mut words = String::with_capacity(line.len());
    for (place, piece) in line.split('"').enumerate() {
        if place > 0 {
            words.push('"');
        }
        words.push_str(if piece.starts_with('/') { "…" } else { piece });
    }
    match words.split_once(" is held in ") {
        Some((before, _)) => format!("{before} is held"),
        None => words,
    }
}

fn classify(failure: &Failure) -> (ErrorKind, &'static str) {
    let says = |words: &str| failure.text.contains(words);
    match failure.code {
        codes::IO => classify_file(failure),
        codes::CONSTRAINT if says("NOT NULL") || says("CHECK") => (ErrorKind::Rejected, ""),
        codes::CONSTRAINT => (ErrorKind::Conflict, "a row with this key is there, or its parent is not"),
        codes::TRANSACTION if is_conflict(failure) => {
            (ErrorKind::Overload, "others changed the same rows at the same time; fewer clients help")
        }
        codes::TRANSACTION if says("CHECKPOINT") => {
            (ErrorKind::Overload, "a checkpoint waits for transactions to end; close other sessions first")
        }
        codes::CATALOG if says("does not exist") || says("could not be found") => {
            (ErrorKind::NotFound, "create the database with this layout first")
        }
        codes::INTERRUPT => (ErrorKind::Timeout, "the operation ran longer than the time allowed"),
        codes::OUT_OF_MEMORY => (
            ErrorKind::Overload,
            "the statement needs more than DuckDB's memory_limit; write smaller batches or ask for less",
        ),
        codes::OBJECT_SIZE => (ErrorKind::TooLarge, "write smaller batches or shorter spans"),
        codes::PERMISSION => (
            ErrorKind::Configuration,
            "the file or its folder is not writable for this user; check permissions",
        ),
        codes::INVALID_CONFIGURATION => (
            ErrorKind::Configuration,
            "another version of DuckDB may have it; install one with `sensormark install-servers duckdb`",
        ),
        codes::CONNECTION => (ErrorKind::Unavailable, "open the database again"),
        codes::FATAL | codes::INTERNAL => {
            (ErrorKind::Unavailable, "DuckDB closed the database after a failure of its own; open it again")
        }
        codes::SERIALIZATION | codes::MISMATCH => (
            ErrorKind::Protocol,
            "the file is not as this layout makes it; drop the database and load it again",
        ),
        codes::NOT_IMPLEMENTED => (ErrorKind::Unsupported, ""),
        _ => (ErrorKind::Rejected, ""),
    }
}

/// Failures of files, which have one type: the message tells them apart.
fn classify_file(failure: &Failure) -> (ErrorKind, &'static str) {
    let says = |words: &str| failure.text.contains(words);
    if is_locked(failure) {
        return (
            ErrorKind::Unavailable,
            "DuckDB lets one process write to a database; let the other one end, or use one process for all clients (--set processes=1)",
        );
    }
    if says("not a valid DuckDB database") {
        return (ErrorKind::Foreign, "the file is no DuckDB database; move it away or choose another folder");
    }
    if says("No space left") || says("Disk quota exceeded") || says("File too large") {
        return (ErrorKind::DiskFull, "free space on the disk that holds the folder");
    }
    if says("Permission denied") || says("Read-only file system") || says("Is a directory") {
        return (
            ErrorKind::Configuration,
            "the folder does not let this user read and write; choose another folder",
        );
    }
    if says("No such file") || says("does not exist") {
        return (ErrorKind::NotFound, "the file is not there; create the database first");
    }
    (ErrorKind::Unavailable, "the disk or file system failed; see the kernel's log")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(code: u32, text: &str) -> StoreError {
        native("test", Failure::of(code, text))
    }

    #[test]
    fn types_and_messages_are_told_apart() {
        for (code, text, expected) in [
            (
                codes::IO,
                "IO Error: Could not set lock on file \"/x\": Conflicting lock is held in /bin/x (PID 1)",
                ErrorKind::Unavailable,
            ),
            (
                codes::IO,
                "IO Error: Could not write file \"/x\": No space left on device",
                ErrorKind::DiskFull,
            ),
            (
                codes::IO,
                "IO Error: The file \"/x\" exists, but it is not a valid DuckDB database file!",
                ErrorKind::Foreign,
            ),
            (codes::IO, "IO Error: Cannot open file \"/x\": Permission denied", ErrorKind::Configuration),
            (
                codes::CONSTRAINT,
                "Constraint Error: Duplicate key \"k: 1\" violates primary key constraint.",
                ErrorKind::Conflict,
            ),
            (codes::CONSTRAINT, "Constraint Error: NOT NULL constraint failed: p.k", ErrorKind::Rejected),
            (codes::TRANSACTION, "TransactionContext Error: Conflict on update!", ErrorKind::Overload),
            (codes::CATALOG, "Catalog Error: Table with name x does not exist!", ErrorKind::NotFound),
            (codes::INTERRUPT, "INTERRUPT Error: Query exceeded maximum execution time", ErrorKind::Timeout),
            (codes::OUT_OF_MEMORY, "", ErrorKind::Overload),
            (codes::BINDER, "", ErrorKind::Rejected),
        ] {
            assert_eq!(of(code, text).kind(), expected, "{text}");
        }
    }

    #[test]
    fn paths_and_programs_stay_out_of_messages() {
        let text = "IO Error: Could not set lock on file \"/home/somebody/x\": Conflicting lock is held in /home/somebody/bin (PID 7)";
        let error = of(codes::IO, text);
        assert!(!format!("{error:?} {error}").contains("somebody"), "{error}");
    }

    #[test]
    fn what_was_rolled_back_is_not_in_doubt() {
        assert!(!of(codes::INTERRUPT, "").is_in_doubt());
        assert!(!of(codes::TRANSACTION, "Conflict on update!").is_in_doubt());
        assert!(of(codes::FATAL, "").is_in_doubt());
    }
}
