//! The server's error codes, one by one: what each means in the contract's words, and the next step.
//!
//! Numbers and names are those of the server's list of error codes. A code that is not here is a refusal, whose text is the
//! server's own.

use sensormark_store::ErrorKind;

/// Whether a write that failed so may nevertheless be stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Doubt {
    /// As the contract says of the error's kind.
    AsUsual,
    /// It is not: the server refused before it did anything.
    None,
}

/// What codes have in common: kind, doubt, and the next step.
pub(super) type Meaning = (&'static [i32], ErrorKind, Doubt, &'static str);

/// What a code means; none where it is a refusal without a meaning of its own.
pub(super) fn meaning(code: i32) -> Option<&'static Meaning> {
    MEANINGS.iter().find(|(codes, ..)| codes.contains(&code))
}

/// The codes that only texts tell apart: what the text says, and the code whose meaning it has.
pub(super) fn by_text(message: &str) -> Option<i32> {
    let says = |words: &str| message.contains(words);
    if says("No space left on device") || says("ENOSPC") || says("Disk quota exceeded") {
        return Some(OUT_OF_DISK_SPACE);
    }
    // the limit of a growing document has had several codes
    (says("larger than") || says("too large")).then_some(DOCUMENT_TOO_LARGE)
}

/// BSONObjectTooLarge.
const DOCUMENT_TOO_LARGE: i32 = 10_334;
/// OutOfDiskSpace.
const OUT_OF_DISK_SPACE: i32 = 14_031;

pub(super) const MEANINGS: &[Meaning] = &[
    // AuthenticationFailed, UserNotFound, MechanismUnavailable
    (
        &[18, 11, 334],
        ErrorKind::Authentication,
        Doubt::None,
        "check user, password, authSource and authMechanism in the URL",
    ),
    // Unauthorized
    (
        &[13],
        ErrorKind::Authentication,
        Doubt::None,
        "give the URL's user this right; readWriteAnyDatabase is enough to measure",
    ),
    // AuthenticationRestrictionUnmet
    (
        &[214],
        ErrorKind::Authentication,
        Doubt::None,
        "this user may not come from here: loosen the user's restrictions",
    ),
    // ReauthenticationRequired
    (&[391], ErrorKind::Authentication, Doubt::None, "the session's authentication ended: connect again"),
    // NamespaceNotFound
    (&[26], ErrorKind::NotFound, Doubt::None, "the database or collection is not there: create it first"),
    // IndexNotFound
    (&[27], ErrorKind::NotFound, Doubt::None, "the index is not there: was it dropped by somebody else?"),
    // DatabaseDropPending
    (&[215], ErrorKind::Unavailable, Doubt::None, "the database is being dropped: try again"),
    // QueryPlanKilled
    (&[175], ErrorKind::Unavailable, Doubt::None, "the collection changed under the question: ask again"),
    // NamespaceExists
    (&[48], ErrorKind::Conflict, Doubt::None, "a collection of this name is there: choose another database"),
    // DuplicateKey, in its present and former codes
    (
        &[11_000, 11_001, 12_582],
        ErrorKind::Conflict,
        Doubt::None,
        "a document with this key is there: write each key once",
    ),
    // DocumentValidationFailure
    (
        &[121],
        ErrorKind::Conflict,
        Doubt::None,
        "the document does not fit the collection's rules: was one added by somebody else?",
    ),
    // BSONObjectTooLarge, document too large after an update, to be upserted, to be built; size in a pipeline
    (
        &[DOCUMENT_TOO_LARGE, 17_419, 17_420, 13_548, 16_389],
        ErrorKind::TooLarge,
        Doubt::None,
        "a document holds at most 16 MiB: use smaller records",
    ),
    // KeyTooLong
    (&[17_280], ErrorKind::TooLarge, Doubt::None, "an index entry is too large: use shorter tags"),
    // TransactionTooLarge, TransactionTooLargeForCache
    (&[257, 388], ErrorKind::TooLarge, Doubt::None, "the transaction is too large: write less at once"),
    // ExceededMemoryLimit, QueryExceededMemoryLimitNoDiskUseAllowed
    (
        &[146, 292],
        ErrorKind::TooLarge,
        Doubt::None,
        "the question needs more memory than allowed: narrow its range",
    ),
    // OutOfDiskSpace
    (&[OUT_OF_DISK_SPACE], ErrorKind::DiskFull, Doubt::AsUsual, "free space on the server's disk"),
    // MaxTimeMSExpired, NetworkTimeout, NetworkInterfaceExceededTimeLimit, ExceededTimeLimit
    (
        &[50, 89, 202, 262],
        ErrorKind::Timeout,
        Doubt::AsUsual,
        "allow more time, ask for less, or look into the server's log",
    ),
    // WriteConcernTimeout
    (
        &[64],
        ErrorKind::Timeout,
        Doubt::AsUsual,
        "the members did not acknowledge in time: check the replica set",
    ),
    // TransactionExceededLifetimeLimitSeconds
    (
        &[290],
        ErrorKind::Timeout,
        Doubt::None,
        "the transaction took too long and was undone: use fewer clients",
    ),
    // LockTimeout
    (&[24], ErrorKind::Timeout, Doubt::None, "another operation holds a lock: try again"),
    // InterruptedAtShutdown, ShutdownInProgress
    (&[11_600, 91], ErrorKind::Unavailable, Doubt::AsUsual, "the server is shutting down: start it again"),
    // InterruptedDueToReplStateChange, PrimarySteppedDown
    (
        &[11_602, 189],
        ErrorKind::Unavailable,
        Doubt::AsUsual,
        "this member is not the primary any more: connect again, with the replica set's URL",
    ),
    // NotWritablePrimary, NotPrimaryNoSecondaryOk, NotPrimaryOrSecondary
    (
        &[10_107, 13_435, 13_436],
        ErrorKind::Unavailable,
        Doubt::None,
        "this member is not the primary: connect with the replica set's URL",
    ),
    // HostUnreachable, HostNotFound, SocketException
    (&[6, 7, 9001], ErrorKind::Unavailable, Doubt::AsUsual, "a server cannot be reached: check the cluster"),
    // FailedToSatisfyReadPreference, ShardNotFound
    (&[133, 70], ErrorKind::Unavailable, Doubt::None, "no member of the cluster can answer: check its state"),
    // StaleShardVersion, StaleEpoch, StaleDbVersion, StaleConfig
    (
        &[63, 150, 249, 13_388],
        ErrorKind::Unavailable,
        Doubt::AsUsual,
        "the router's knowledge of the cluster is out of date: try again",
    ),
    // UnknownReplWriteConcern, UnsatisfiableWriteConcern
    (
        &[79, 100],
        ErrorKind::Configuration,
        Doubt::AsUsual,
        "this deployment cannot acknowledge so: choose another durability class",
    ),
    // NotYetInitialized
    (
        &[94],
        ErrorKind::Unavailable,
        Doubt::None,
        "the replica set is not initiated yet: run rs.initiate() on one of its members",
    ),
    // Interrupted
    (&[11_601], ErrorKind::Unavailable, Doubt::AsUsual, "somebody killed the operation: try again"),
    // CursorNotFound, CursorKilled
    (&[43, 237], ErrorKind::Unavailable, Doubt::None, "the server gave up the answer's cursor: ask again"),
    // WriteConflict, TemporarilyUnavailable
    (
        &[112, 365],
        ErrorKind::Overload,
        Doubt::None,
        "two writes met at one document, or the cache is full: try again, or use fewer clients",
    ),
    // NoSuchTransaction, TransactionTooOld, SnapshotTooOld, SnapshotUnavailable
    (&[251, 225, 239, 246], ErrorKind::Overload, Doubt::None, "the transaction was undone: try again"),
    // ConflictingOperationInProgress, ObjectIsBusy, BackgroundOperationInProgressForDatabase and -ForNamespace
    (
        &[117, 314, 12_586, 12_587],
        ErrorKind::Overload,
        Doubt::None,
        "another operation is at work on it: try again",
    ),
    // TooManyLogicalSessions, TooManyFilesOpen, TooManyLocks, ResourceExhausted, AdmissionQueueOverflow, RateLimitExceeded,
    // IngressRequestRateLimitExceeded
    (
        &[261, 264, 208, 402, 433, 449, 462],
        ErrorKind::Overload,
        Doubt::None,
        "the server is overloaded: use fewer clients, raise its limits, or wait",
    ),
    // IllegalOperation ("Transaction numbers are only allowed on a replica set member or mongos" is one)
    (
        &[20],
        ErrorKind::Unsupported,
        Doubt::None,
        "this kind of deployment cannot do that: see the store's README",
    ),
    // OperationNotSupportedInTransaction
    (&[263], ErrorKind::Unsupported, Doubt::None, "this cannot be done in a transaction: use two commits"),
    // CommandNotFound, CommandNotSupported, InvalidPipelineOperator, unrecognised stage, unknown group operator
    (
        &[59, 115, 168, 40_324, 15_952],
        ErrorKind::Unsupported,
        Doubt::None,
        "this server lacks it: MongoDB 6.0 or later is needed",
    ),
    // CommandNotSupportedOnView
    (
        &[166],
        ErrorKind::Unsupported,
        Doubt::None,
        "a time-series collection cannot do that: choose another layout",
    ),
    // UserWritesBlocked
    (&[371], ErrorKind::Rejected, Doubt::None, "writes are blocked on this cluster: lift the block"),
    // CannotCreateIndex, IndexOptionsConflict, IndexKeySpecsConflict
    (
        &[67, 85, 86],
        ErrorKind::Rejected,
        Doubt::None,
        "an index cannot be made so: was another made by somebody else?",
    ),
    // BadValue, FailedToParse, TypeMismatch
    (
        &[2, 9, 14],
        ErrorKind::Rejected,
        Doubt::None,
        "the server did not take a value: is it MongoDB 6.0 or later?",
    ),
    // ProtocolError, InvalidBSON
    (
        &[17, 22],
        ErrorKind::Protocol,
        Doubt::None,
        "driver and server misunderstood each other: please report it",
    ),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_code_is_listed_twice() {
        let mut codes: Vec<i32> = MEANINGS.iter().flat_map(|(codes, ..)| codes.iter().copied()).collect();
        codes.sort_unstable();
        let count = codes.len();
        codes.dedup();
        assert_eq!(codes.len(), count);
    }

    #[test]
    fn texts_tell_apart_what_codes_do_not() {
        let full = by_text("28: No space left on device").and_then(meaning);
        assert_eq!(full.map(|meaning| meaning.1), Some(ErrorKind::DiskFull));
        let large = by_text("Resulting document after update is larger than 16777216");
        assert_eq!(large.and_then(meaning).map(|meaning| meaning.1), Some(ErrorKind::TooLarge));
        assert_eq!(by_text("E11000 duplicate key error"), None);
    }
}
