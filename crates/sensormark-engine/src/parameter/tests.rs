//! What users write is read by the table alone, and what is wrong gets one message.

use super::*;
use crate::scale::Scale;
use serde_json::json;

parameters! {
    /// Numbers of every kind.
    pub struct Numbers {
        /// how long it takes,
        /// in seconds
        seconds: f64, Seconds, over_up_to(0.0, 86_400.0) => 1.0, 1.0, 2.0, 3.0;
        /// how far apart
        interval_ms: u32, Milliseconds, at_least(1.0) => 10;
        /// for how long
        days: Vec<u32>, Days, between(1.0, 365.0) => vec![1], vec![1], vec![1, 7], vec![1, 7, 30];
        /// how much
        share: f64, Percent, at_least(0.0) => 50.0;
        /// how many
        count: u64, Plain, any() => 0;
        /// which
        names: Vec<String>, Plain, words(&["flat", "bucketed"]) => Vec::new();
        /// whether
        whether: bool, Plain, any() => true, true, true, false;
    }
}

fn parameter(name: &str) -> &'static Parameter {
    let mut table = Numbers::TABLE.iter();
    table.find(|one| one.name == name).expect(name)
}

#[test]
fn a_scale_is_a_column_and_a_meaning_is_told_once() {
    assert_eq!(Numbers::of(Scale::Quick).days, [1]);
    assert_eq!(Numbers::of(Scale::Standard).seconds, 2.0);
    assert!(!Numbers::of(Scale::Study).whether);
    assert_eq!(parameter("seconds").about, "how long it takes, in seconds");
    assert_eq!(Numbers::TABLE.len(), 7);
    for scale in Scale::ALL {
        assert_eq!(check_each(Numbers::TABLE, &Numbers::of(scale)), Ok(()));
    }
}

#[test]
fn the_parameters_unit_decides() {
    for (name, text, value) in [
        ("seconds", "90", json!(90)),
        ("seconds", "1.5", json!(1.5)),
        ("seconds", "1h30m", json!(5_400.0)),
        ("seconds", "250 ms", json!(0.25)),
        ("interval_ms", "2s", json!(2_000)),
        ("interval_ms", "1_000", json!(1_000)),
        ("days", "1, 7d,[30", json!(null)),
        ("days", "[1, 7d, 720h]", json!([1, 7, 30])),
        ("days", "", json!([])),
        ("share", "90%", json!(90.0)),
        ("share", "12", json!(12)),
        ("count", "1e3", json!(1_000)),
        ("names", "flat,bucketed", json!(["flat", "bucketed"])),
        ("names", "[\"flat\"]", json!(["flat"])),
        ("whether", "false", json!(false)),
    ] {
        let read = parameter(name).read(text).unwrap_or_default();
        assert_eq!(read, value, "{name}={text}");
    }
}

fn refused(name: &str, text: &str, message: &str) {
    let said = parameter(name).read(text).expect_err(text);
    assert_eq!(said, message, "{name}={text}");
}

#[test]
fn a_wrong_unit_is_said_with_the_right_one() {
    const LENGTH: &str = "a length of time like 90s, 15m or 6h, or a";
    for (name, text, message) in [
        ("seconds", "1GB", format!("seconds must be {LENGTH} number of seconds, and \"1GB\" is not")),
        (
            "interval_ms",
            "soon",
            format!("interval_ms must be {LENGTH} whole number of milliseconds, and \"soon\" is not"),
        ),
        (
            "days",
            "week",
            format!(
                "\"week\" in days: each must be {LENGTH} whole number of days; write commas between them, like 1,4,16"
            ),
        ),
    ] {
        refused(name, text, &message);
    }
    let whole = "count must be a whole number without a unit, and";
    refused("count", "10s", &format!("{whole} \"10s\" is not"));
    refused("count", "-1", &format!("{whole} \"-1\" is not"));
    let share = "share must be a share like 90%, or a number of percent, and \"10s\" is not";
    refused("share", "10s", share);
    let halves = "interval_ms is in whole milliseconds, and 500us is 0.5";
    refused("interval_ms", "500us", halves);
    refused("days", "1,36h", "days is in whole days, and 36h is 1.5");
}

#[test]
fn a_value_out_of_bounds_is_said_with_them() {
    for (name, text, message) in [
        ("seconds", "2d", "seconds is 172800; it must be over 0, and 86400 at most"),
        ("interval_ms", "0", "interval_ms is 0; it must be 1 or more"),
        ("interval_ms", "1000d", "interval_ms is 86400000000; it must be 4294967295 at most"),
        ("days", "400d", "days holds 400; each must be 1 to 365"),
        ("days", "1,7,1", "days: 1 is named twice"),
        (
            "names",
            "bucketd",
            "there is no value of names: \"bucketd\"; did you mean bucketed? (there are: flat, bucketed)",
        ),
        ("whether", "1", "whether must be true or false, and \"1\" is not"),
    ] {
        refused(name, text, message);
    }
    let wrong = Numbers { seconds: f64::NAN, ..Numbers::of(Scale::Quick) };
    assert!(check_each(Numbers::TABLE, &wrong).is_err());
}
