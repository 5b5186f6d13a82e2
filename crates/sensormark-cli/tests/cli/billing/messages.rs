//! Wrong settings get one clear message, before anything is started; what there is to set is listed.

use crate::support::{Place, said};
use std::io::{BufRead, BufReader};
use std::process::{Command, Stdio};

#[test]
fn wrong_settings() {
    let place = Place::new();
    for (setting, words) in [
        ("devices=10", "a multiple of clients"),
        ("recrods=10", "did you mean records?"),
        ("bill_month=3", "end before 2018-03 begins"),
        ("devices=few", "write commas between them"),
        ("limit_seconds=1GB", "a length of time like 90s"),
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

/// The study's scale takes hours: that is said before anything is measured.
#[test]
fn hours_are_announced_before_they_begin() {
    let place = Place::new();
    let scale = ["--scale", "study", "--set", "repetitions=1"];
    let run = [&["run", "billing", "--on", "sqlite:reading-clustered"], &scale[..]].concat();
    let mut child =
        place.command(&run).stdout(Stdio::null()).stderr(Stdio::piped()).spawn().expect("the program starts");
    let mut lines = BufReader::new(child.stderr.take().expect("a pipe")).lines();
    let mut text = String::new();
    while !text.contains(" trial, about ") {
        let line = lines.next().expect("it says so before it ends");
        text.push_str(&line.expect("text"));
        text.push('\n');
    }
    let interrupted = Command::new("kill").args(["-INT", &child.id().to_string()]).status();
    assert!(interrupted.expect("kill is there").success());
    let rest: Vec<String> = lines.map_while(Result::ok).collect();
    let status = child.wait().expect("it ends");
    assert_eq!(status.code(), Some(130), "{text}{rest:?}");
    let announced = text.lines().find(|line| line.contains(" trial, about "));
    assert!(announced.is_some_and(|line| line.contains(" h")), "{text}");
}
