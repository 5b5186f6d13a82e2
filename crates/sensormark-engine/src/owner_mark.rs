//! The owner's mark: a run's random name in every database that it makes. It says when the run began.
//!
//! How a database keeps it is its store's matter, who may drop what is the kit's.

use sensormark_store::DatabaseName;
use std::time::{Duration, SystemTime};

/// Digits of the microseconds since 1970: enough until the year 2112.
const TIME_DIGITS: usize = 13;
/// Digits of the process id: Linux has at most 22 bits of it.
const PROCESS_DIGITS: usize = DatabaseName::MARK_DIGITS - TIME_DIGITS;

/// The mark of a run of this process that begins now. Two runs in one microsecond would need one process id too.
pub fn new() -> String {
    let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
    of(since.unwrap_or_default(), std::process::id())
}

fn of(since_1970: Duration, process: u32) -> String {
    let time = since_1970.as_micros();
    format!("{time:0TIME_DIGITS$x}{process:0PROCESS_DIGITS$x}")
}

/// When the run of this mark began; none for a mark that does not say it (one of an earlier version).
pub fn began(mark: &str) -> Option<SystemTime> {
    let is_digit = |byte: u8| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte);
    if mark.len() != TIME_DIGITS + PROCESS_DIGITS || !mark.bytes().all(is_digit) {
        return None;
    }
    let microseconds = u64::from_str_radix(&mark[..TIME_DIGITS], 16).ok()?;
    SystemTime::UNIX_EPOCH.checked_add(Duration::from_micros(microseconds))
}

/// The end of a mark, which tells the folders of runs of one second apart.
pub fn short(mark: &str) -> &str {
    &mark[mark.len().saturating_sub(12)..]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mark_says_when_its_run_began_and_makes_a_name() {
        let since = Duration::from_micros(1_795_000_000_123_456);
        let mark = of(since, 4_194_303);
        assert_eq!(mark, "6608b016112403fffff");
        assert_eq!(began(&mark), Some(SystemTime::UNIX_EPOCH + since));
        for mark in [mark, of(since, 1), new()] {
            assert!(DatabaseName::new(&mark).is_ok(), "{mark}");
            assert_eq!(short(&mark).len(), 12);
        }
        let age = began(&new()).expect("a time").elapsed();
        assert!(age.is_ok_and(|age| age < Duration::from_secs(60)));
    }

    #[test]
    fn other_marks_say_nothing() {
        for mark in ["", "tests", "c1f2a3b4c00d", "0065C1F2A3B4C00D1E2", "ü065c1f2a3b4c00d1e"] {
            assert_eq!(began(mark), None, "{mark}");
        }
    }
}
