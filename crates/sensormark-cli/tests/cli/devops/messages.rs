//! Wrong numbers give one clear message and nothing is started; `list` tells every number.

use crate::support::{Place, said};

#[test]
fn wrong_numbers_give_one_clear_message() {
    for (settings, words) in [
        (vec!["host=3"], "did you mean hosts?"),
        (vec!["hosts=0"], "hosts is 0"),
        (vec!["hosts=many"], "hosts=many"),
        (vec!["hours=0.001"], "at least 5 minutes"),
        (vec!["workers=4,2"], "ascending"),
        (vec!["clients=one"], "write commas between them"),
        (vec!["walk=drunk"], "drunk"),
        (vec!["hours=20"], "each span is longer"),
        (vec!["layouts=rows"], "there are: individual, buckets"),
    ] {
        let place = Place::new();
        let mut arguments = vec!["run", "devops"];
        for setting in &settings {
            arguments.extend(["--set", setting]);
        }
        let output = place.run(&arguments);
        let text = said(&output);
        assert_eq!(output.status.code(), Some(2), "{settings:?}: {text}");
        assert!(text.contains(words), "{settings:?}: {text}");
        assert_eq!(text.trim().lines().count(), 1, "{settings:?}: {text}");
    }
}

#[test]
fn every_number_of_every_scale_is_listed() {
    for (scale, hosts) in [("quick", "10"), ("standard", "100"), ("study", "100")] {
        let output = Place::new().run(&["list", "devops", "--scale", scale]);
        let text = said(&output);
        assert_eq!(output.status.code(), Some(0), "{text}");
        let line = text.lines().find(|line| line.trim_start().starts_with("hosts "));
        assert!(line.is_some_and(|line| line.contains(hosts)), "{text}");
        for name in ["more_hours", "workers", "check_one_in", "walk", "query_seconds"] {
            assert!(text.contains(name), "{name}: {text}");
        }
    }
}
