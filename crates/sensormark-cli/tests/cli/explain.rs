//! `explain`: schema, every statement with its plan, settings; and nothing that stays. On servers: `tests/servers/explain.rs`.

use crate::support::{Place, errors};
use serde_json::Value;
use std::process::Output;

/// The questions of devops.
pub const QUESTIONS: [&str; 6] =
    ["max-1-host", "max-1-host-long", "max-several-hosts", "mean-all-hosts", "last-reading", "busy-hosts"];

fn text(output: &Output) -> String {
    assert!(output.status.success(), "{}", errors(output));
    String::from_utf8(output.stdout.clone()).expect("UTF-8")
}

/// What `explain devops` shows of a store, as its JSON has it.
pub fn explained(place: &Place, on: &str) -> Vec<Value> {
    let output = place.run(&["explain", "devops", "--on", on, "--format", "json"]);
    serde_json::from_str(&text(&output)).expect("JSON")
}

pub fn operations(shown: &Value) -> &[Value] {
    shown["operations"].as_array().map_or(&[], Vec::as_slice)
}

/// Every question by its name, with statements, and where the database has plans, a plan of each.
pub fn assert_complete(shown: &Value, has_plans: bool) {
    for name in QUESTIONS {
        let mut named = operations(shown).iter();
        let one = named.find(|one| one["name"] == name);
        let one = one.unwrap_or_else(|| panic!("no {name} in {shown:#}"));
        let statements = one["statements"].as_array().expect("a list");
        assert!(!statements.is_empty(), "{name}: {one:#}");
        let planned = statements.iter().any(|one| one["plan"].as_str().is_some_and(|plan| plan.len() > 5));
        assert_eq!(planned, has_plans, "{name}: {one:#}");
    }
    assert!(operations(shown).iter().any(|one| one["writes"] == true), "{shown:#}");
    for list in ["schema", "settings", "write_sizes"] {
        let items = shown[list].as_array().expect("a list");
        assert!(!items.is_empty(), "no {list}");
    }
}

#[test]
fn sqlite_shows_all_and_leaves_nothing() {
    let place = Place::new();
    let data = place.path().join("data");
    std::fs::create_dir(&data).expect("a folder");
    let folder = data.to_str().expect("UTF-8");
    let on = format!("sqlite:individual-clustered=sqlite:{folder}");
    let shown = explained(&place, &on);
    assert_eq!(shown.len(), 1);
    assert_complete(&shown[0], true);
    let left: Vec<_> = std::fs::read_dir(&data).expect("a folder").flatten().collect();
    assert!(left.is_empty(), "{left:?}");
    assert!(!place.results().exists(), "explain measures nothing");
}

#[test]
fn what_people_read_has_names_plans_and_sizes() {
    let place = Place::new();
    let shown = text(&place.run(&["explain", "devops", "--on", "sqlite:individual"]));
    for word in
        ["schema:", "question max-1-host", "plan:", "SEARCH", "CREATE TABLE", "size of a write:", "settings:"]
    {
        assert!(shown.contains(word), "no {word:?} in {shown}");
    }
    let read = text(&place.run(&["explain", "machine-tool", "--on", "sqlite:individual"]));
    assert!(read.contains("write write, 1 reading"), "{read}");
    assert!(read.contains("question read individual"), "{read}");
}

#[test]
fn a_wrong_name_is_a_usage_error() {
    let place = Place::new();
    let output = place.run(&["explain", "devops", "--on", "sqlite:nosuch"]);
    assert_eq!(output.status.code(), Some(2), "{}", errors(&output));
    assert!(errors(&output).contains("nosuch"));
}
