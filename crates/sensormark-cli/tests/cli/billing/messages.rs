//! Wrong settings get one clear message, before anything is started; what there is to set is listed.

use crate::support::{Place, said};

#[test]
fn wrong_settings() {
    let place = Place::new();
    for (setting, words) in [
        ("devices=10", "a multiple of clients"),
        ("recrods=10", "did you mean records?"),
        ("bill_month=3", "end before 2018-03 begins"),
        ("devices=few", "write numbers of devices like 160"),
    ] {
        let output = place.run(&["run", "billing", "--set", setting]);
        let text = said(&output);
        assert_eq!(output.status.code(), Some(2), "{setting}: {text}");
        assert!(text.contains(words), "{setting}: {text}");
        assert_eq!(text.matches("sensormark: ").count(), 1, "{text}");
    }
    assert!(!place.path().join("results").exists(), "nothing was begun");
}

#[test]
fn numbers_and_layouts_are_listed() {
    let place = Place::new();
    let output = place.run(&["list", "billing", "--scale", "study"]);
    let text = said(&output);
    assert!(output.status.success(), "{text}");
    for words in ["[1600,4000,6400]", "8760", "sqlite:reading-time-index"] {
        assert!(text.contains(words), "{words:?} is not in {text}");
    }
}
