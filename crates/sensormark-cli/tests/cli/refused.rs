//! What the program refuses. All tests of messages check the exit code and the text here.

use crate::support::{Place, errors};

/// Runs, and checks the exit code and that standard error is one message with these words.
pub fn refused(place: &Place, arguments: &[&str], code: i32, words: &[&str]) {
    let output = place.run(arguments);
    let text = errors(&output);
    assert_eq!(output.status.code(), Some(code), "{arguments:?}: {text}");
    for word in words {
        assert!(text.contains(word), "{arguments:?}: {word:?} is not in: {text}");
    }
    assert_eq!(text.matches("sensormark: ").count(), 1, "one message: {text}");
    assert!(!text.contains("panicked") && !text.contains("backtrace"), "{text}");
}

/// Input that is refused with exit code 2 before anything is begun.
pub fn refused_at_once(place: &Place, arguments: &[&str], words: &[&str]) {
    refused(place, arguments, 2, words);
    assert!(!place.results().exists(), "nothing was begun");
}
