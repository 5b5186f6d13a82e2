//! What GridDB's error numbers mean, one by one: those of the server (by module) and those of its C client (140,000 and up).
//!
//! A failure has a number and those of its causes; the first that says something decides. A message says what happened and what to try next.

use crate::client::Failure;
use sensormark_store::{ErrorKind, StoreError};

/// What a failure means.
pub(crate) fn mapped(operation: &str, failure: Failure) -> StoreError {
    let (kind, advice) = meaning(&failure);
    let said = if failure.text.is_empty() {
        format!("GridDB error {}", failure.code())
    } else {
        format!("GridDB error {}: {}", failure.code(), failure.text)
    };
    let context = if advice.is_empty() { said } else { format!("{said}; {advice}") };
    StoreError::new(kind, operation, context).with_source(failure)
}

/// An answer that is not what was asked for.
pub(crate) fn unexpected(operation: &str, what: impl Into<String>) -> StoreError {
    StoreError::new(ErrorKind::Protocol, operation, what)
}

/// Something that is not there.
pub(crate) fn absent(operation: &str, what: impl Into<String>) -> StoreError {
    StoreError::new(ErrorKind::NotFound, operation, what)
}

/// A node that has given its services up. Its log has the reason.
pub(crate) fn abnormal(operation: &str, reason: &str) -> StoreError {
    let (kind, advice) =
        if says_disk_full(reason) { DISK_FULL } else { (ErrorKind::Crashed, "look into its log") };
    let text = format!("the node is ABNORMAL and serves nothing any more: {reason}; {advice}");
    StoreError::new(kind, operation, text)
}

/// The client's number for a connection that broke, a time-out on it among the reasons.
const BAD_CONNECTION: i32 = 140_028;

/// Numbers that say only that a cause failed.
const fn says_nothing(code: i32) -> bool {
    matches!(code, 0 | 140_000 | 140_027 | 150_000 | 60_000)
}

fn meaning(failure: &Failure) -> (ErrorKind, &'static str) {
    if says_disk_full(&failure.text) {
        return DISK_FULL;
    }
    if failure.codes.contains(&BAD_CONNECTION) && timed_out(&failure.text) {
        return TIMED_OUT;
    }
    let of = |&code: &i32| {
        (!says_nothing(code))
            .then(|| {
                client(code)
                    .or_else(|| transaction(code))
                    .or_else(|| data(code))
                    .or_else(|| language(code))
                    .or_else(|| machinery(code))
            })
            .flatten()
    };
    let known = failure.codes.iter().find_map(of);
    known.unwrap_or((ErrorKind::Rejected, ""))
}

/// Whether a broken connection broke since nothing came for too long. (That the client stopped trying, which it calls a time-out too, is not meant.)
fn timed_out(text: &str) -> bool {
    let text = text.replace("Failover timed out", "");
    text.contains("timed out") || text.contains("Failed to connect")
}

/// The server's own words are the system's: the number is that of any file that cannot be written.
fn says_disk_full(text: &str) -> bool {
    text.contains("No space left")
}

const DISK_FULL: (ErrorKind, &str) =
    (ErrorKind::DiskFull, "free space on the disk of the data folder, and start the server again");

const TIMED_OUT: (ErrorKind, &str) =
    (ErrorKind::Timeout, "no answer in the time allowed: check the server's load, or allow more time");

const GONE: (ErrorKind, &str) =
    (ErrorKind::Unavailable, "check that the server runs, has joined its cluster and can be reached");

const LOCKED: (ErrorKind, &str) =
    (ErrorKind::Overload, "another transaction holds what this one needs: try again");

/// Numbers of the C client.
fn client(code: i32) -> Option<(ErrorKind, &'static str)> {
    use ErrorKind as Kind;
    Some(match code {
        140_003 | 140_010..=140_019 => (Kind::Unsupported, "the C client cannot do this"),
        140_004 => (Kind::TooLarge, "a value or a number of rows is too large"),
        140_005 | 140_044 => (Kind::Configuration, "check the URL's parts"),
        140_008 => (Kind::NotFound, "the column is not there: was the database made with another schema?"),
        140_020..=140_023 => (Kind::Conflict, "the container has other columns"),
        BAD_CONNECTION | 140_030 | 140_032 | 140_033 | 140_040 | 140_042 => GONE,
        140_029 => TIMED_OUT,
        140_031 => (Kind::Protocol, "is this a GridDB server's transaction port?"),
        140_034 | 140_038 => (Kind::NotFound, "the container is closed or gone"),
        140_035 | 140_036 | 140_039 => (Kind::Rejected, "no transaction is open"),
        140_041 => (Kind::Overload, "the client is out of memory"),
        140_043 => (Kind::Overload, "the server gave the rest of the answer up: try again"),
        140_046 => (Kind::Unavailable, "the client's system failed"),
        140_001 | 140_002 | 140_006 | 140_007 | 140_024..=140_026 | 140_037 => (Kind::Rejected, ""),
        _ => return None,
    })
}

/// Numbers of transactions, sessions, authentication and partitions.
fn transaction(code: i32) -> Option<(ErrorKind, &'static str)> {
    use ErrorKind as Kind;
    Some(match code {
        10_005 | 10_006 | 10_080 | 10_084 | 10_086 | 10_088 | 10_100..=10_102 | 124_002 => {
            (Kind::Authentication, "check user and password in the URL")
        }
        10_079 | 10_090 | 10_099 | 10_104 => (Kind::Authentication, "the user may not do this"),
        10_014 | 10_020 | 10_092 | 10_103 => TIMED_OUT,
        10_016 | 10_034..=10_037 => (Kind::NotFound, "the container is not there"),
        10_081 | 10_085 | 10_087 => (Kind::NotFound, "the URL's database is not there, or not this user's"),
        10_017 | 10_018 | 10_093 | 10_094 | 10_095 => {
            (Kind::Conflict, "a container of this name has other columns or is of another kind")
        }
        10_096 => (Kind::NotFound, "the index is not there"),
        10_051 | 10_052 => LOCKED,
        10_053 => (Kind::Configuration, "the server is of a cluster of another name: correct the URL's path"),
        10_054 | 10_055 | 10_013 => {
            (Kind::Unsupported, "server and C client do not fit together: use versions of the same release")
        }
        10_064 => (Kind::Overload, "the server's queue of statements is full: use fewer clients"),
        10_003 | 10_007..=10_010 | 10_057..=10_059 | 10_065 | 10_066 | 10_075 | 10_091 => GONE,
        10_074 => (Kind::Timeout, "the statement was cancelled"),
        10_019 | 10_021..=10_024 | 10_072 | 10_073 => {
            (Kind::Unavailable, "a copy of the partition was not reached")
        }
        10_038 | 10_039 | 10_067 | 10_068 | 10_089 => {
            (Kind::Protocol, "server and client do not understand each other")
        }
        10_015 | 110_005 | 110_010..=110_013 => {
            (Kind::Timeout, "the transaction took longer than the server allows, and was taken back")
        }
        110_003 | 110_004 | 110_015 | 110_016 => GONE,
        110_007..=110_009 | 110_021..=110_023 => LOCKED,
        _ => return None,
    })
}

/// Numbers of the data store: containers, rows, memory for objects.
fn data(code: i32) -> Option<(ErrorKind, &'static str)> {
    use ErrorKind as Kind;
    Some(match code {
        60_020 | 60_023 | 60_028 | 60_157 => (Kind::NotFound, "the container is not there"),
        60_161 => (Kind::NotFound, "the container's rows have expired"),
        60_012 | 60_054 | 60_064 | 60_166 => LOCKED,
        60_015..=60_017 | 60_024 | 60_026 | 60_149 | 60_158 => {
            (Kind::Conflict, "the container has other columns or is of another kind")
        }
        60_025 => (Kind::Rejected, "the container's name is not one that GridDB takes"),
        60_152 | 60_159 | 68_007 => {
            (Kind::TooLarge, "a value is larger than GridDB takes: 31 KB of text in blocks of 64 KB")
        }
        60_039 | 68_017 | 68_048 | 68_071 => {
            (Kind::TooLarge, "a partition holds no more: spread the data over more containers")
        }
        60_049 | 60_050 | 60_078 | 60_099 => (Kind::Rejected, "the row key is not one that fits"),
        60_046 | 60_079 | 60_098 | 60_102 => (Kind::Rejected, "a value does not fit its column"),
        60_086 | 60_150 => (Kind::Conflict, "a row of a time series cannot be so changed"),
        60_146 => (Kind::NotFound, "the container was closed while it was read"),
        60_037 | 60_041 | 60_119 | 68_031 | 68_043 | 68_044 => {
            (Kind::Crashed, "the server's data is damaged: check its disk and log")
        }
        60_038 | 60_123 | 68_047 => {
            (Kind::Crashed, "the server met an input/output error: check its disk and log")
        }
        68_009 | 68_036 | 68_037 => {
            (Kind::Overload, "the server is out of memory for its store: raise storeMemoryLimit")
        }
        _ => return None,
    })
}

/// Numbers of TQL.
fn language(code: i32) -> Option<(ErrorKind, &'static str)> {
    use ErrorKind as Kind;
    Some(match code {
        150_012 => (Kind::NotFound, "the column is not there: was the database made with another schema?"),
        150_010 => (Kind::NotFound, "the container is not there"),
        150_017 => LOCKED,
        150_014 | 150_018 | 152_502 => (Kind::Unsupported, "this server lacks something"),
        150_016 | 75_000..=75_003 => (Kind::Rejected, "a computed value is out of range"),
        150_001..=150_021 | 151_000..=151_005 | 152_000..=153_002 | 70_000..=70_022 => {
            (Kind::Rejected, "the server did not take the question: GridDB 5 is needed")
        }
        _ => return None,
    })
}

/// Numbers of memory, files, logs, clusters and connections inside the server.
fn machinery(code: i32) -> Option<(ErrorKind, &'static str)> {
    use ErrorKind as Kind;
    Some(match code {
        1_001 | 1_034 | 1_043 => {
            (Kind::Overload, "the server is out of memory: use fewer clients or smaller batches")
        }
        1_044 | 50_021 => (Kind::TooLarge, "make the batch smaller"),
        1_012 | 1_020 | 130_010 => TIMED_OUT,
        1_005 | 1_042 | 30_002..=30_009 | 80_000..=80_009 | 160_000..=160_032 => {
            (Kind::Crashed, "the server could not write or read its files: check its disk and log")
        }
        130_028..=130_031 => (
            Kind::Overload,
            "the server takes no more connections: raise connectionLimit or use fewer clients",
        ),
        130_033 => (Kind::TooLarge, "the question needs more memory than the server allows one"),
        130_007..=130_009 | 130_011..=130_014 | 40_000..=40_054 => GONE,
        130_015 | 124_000 | 124_001 => (Kind::Protocol, "server and client do not understand each other"),
        50_000..=50_026 => (Kind::Rejected, "the server refused an order to its administration"),
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kind(codes: &[i32], text: &str) -> ErrorKind {
        let failure = Failure { codes: codes.to_vec(), text: text.to_owned() };
        mapped("ask", failure).kind()
    }

    #[test]
    fn numbers_are_told_apart() {
        for (code, expected) in [
            (10_005, ErrorKind::Authentication),
            (10_014, ErrorKind::Timeout),
            (10_016, ErrorKind::NotFound),
            (10_017, ErrorKind::Conflict),
            (10_053, ErrorKind::Configuration),
            (10_064, ErrorKind::Overload),
            (60_028, ErrorKind::NotFound),
            (60_166, ErrorKind::Overload),
            (80_000, ErrorKind::Crashed),
            (1_043, ErrorKind::Overload),
            (130_031, ErrorKind::Overload),
            (140_004, ErrorKind::TooLarge),
            (140_028, ErrorKind::Unavailable),
            (140_029, ErrorKind::Timeout),
            (151_001, ErrorKind::Rejected),
            (999_999, ErrorKind::Rejected),
        ] {
            assert_eq!(kind(&[code], ""), expected, "{code}");
        }
    }

    #[test]
    fn the_first_number_that_says_something_decides() {
        assert_eq!(kind(&[140_027, 10_016], ""), ErrorKind::NotFound);
        assert_eq!(kind(&[80_007], "write failed: No space left on device"), ErrorKind::DiskFull);
    }

    #[test]
    fn a_silent_server_is_told_from_one_that_is_gone() {
        let silent = "Failover timed out (reason=Connection timed out on receiving (receivedSize=0))";
        assert_eq!(kind(&[140_028], silent), ErrorKind::Timeout);
        let gone = "Failover timed out (reason=Connection problem occurred on receiving (reset by peer))";
        assert_eq!(kind(&[140_028], gone), ErrorKind::Unavailable);
        let failure = Failure::of(140_028, gone);
        assert!(mapped("write", failure).is_in_doubt());
    }
}
