//! Wrong parameters get one clear message, before anything is started.

use super::support::measure;
use crate::support::{Place, said};

fn refused(settings: &[&str], words: &str) {
    let place = Place::new();
    let output = measure(&place, settings, &[]);
    let text = said(&output);
    assert_eq!(output.status.code(), Some(2), "{settings:?}: {text}");
    assert!(text.contains(words), "{settings:?}: {words:?} is not in: {text}");
    assert_eq!(text.matches("sensormark: ").count(), 1, "{text}");
    assert!(!place.path().join("results").exists(), "nothing was begun");
}

#[test]
fn wrong_numbers() {
    refused(&["spans=1,90"], "90 days are more than there is data of");
    refused(&["spans=month"], "--set spans=month");
    refused(&["home=2"], "did you mean homes?");
    refused(&["homes=0"], "homes is 0; it must be 1 to 10000");
    refused(&["day_begins=23"], "day begins before it ends");
    refused(&["questions=none"], "--set questions=none");
}

#[test]
fn wrong_names() {
    refused(&["layouts=flat,summery"], "did you mean summary?");
    refused(&["queries=hourlie"], "did you mean hourly?");
    let place = Place::new();
    let output = measure(&place, &[], &["--on", "sqlite:bucketed"]);
    let text = said(&output);
    assert_eq!(output.status.code(), Some(2), "{text}");
    assert!(text.contains("layout of SQLite"), "{text}");
}
