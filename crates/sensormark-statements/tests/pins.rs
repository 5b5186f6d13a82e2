//! The texts of SQLite's files beside those that its planner in Rust sends (`stores/sqlite/tests`): the same, or different for a reason that is stated here.
//!
//! `tests/statements` beside this file has what the files send, as the conformance suite hears it (`cargo test --test conformance`).

use sensormark_drivers::sqlite::Sqlite;
use sensormark_statements::FileStore;
use sensormark_statements::text::tidy;
use sensormark_store::{DatabaseName, Durability, Endpoint, Plan, Secret, Store};
use std::collections::BTreeMap;
use std::sync::Arc;

/// Differences that are meant: a part of the title, a part of the layout's name, and why.
const MEANT: &[(&str, &str, &str)] = &[(
    "write 3",
    "multi-row",
    "one INSERT of all rows is a transaction by itself: BEGIN and COMMIT are not sent",
)];

fn store() -> FileStore {
    let (config, statements) = (
        include_str!("../../../stores/sqlite/store.toml"),
        include_str!("../../../stores/sqlite/statements.sql"),
    );
    FileStore::new(config, "statements.sql", statements, Arc::new(Sqlite)).unwrap()
}

#[test]
fn tables_and_indexes_are_those_of_the_planner() {
    let store = store();
    let old = concat!(env!("CARGO_MANIFEST_DIR"), "/../../stores/sqlite");
    sensormark_conformance::pins::pin(
        old,
        |schema, family| store.layouts(schema, family),
        |schema, offer| {
            let plan = Plan {
                endpoint: Endpoint {
                    url: Secret::new(""),
                    label: String::new(),
                    managed: false,
                    ports: Vec::new(),
                },
                database: DatabaseName::new("pins").unwrap(),
                owner: String::new(),
                schema: Arc::clone(schema),
                layout: offer.layout,
                durability: Durability::Default,
                clients: 1,
                timeout_ms: 1,
            };
            store.physical(&plan).unwrap().made().unwrap()
        },
    );
}

/// What was sent, by title and layout.
fn parsed(text: &str) -> BTreeMap<(String, String), Vec<String>> {
    let mut all: BTreeMap<(String, String), Vec<String>> = BTreeMap::new();
    let (mut title, mut layouts) = ("", Vec::new());
    for line in text.lines().skip(1).filter(|line| !line.is_empty()) {
        let depth = line.len() - line.trim_start().len();
        match depth {
            0 => title = line,
            2 => layouts = line.trim().split(", ").collect(),
            _ => {
                for layout in &layouts {
                    let sent = all.entry((title.to_owned(), (*layout).to_owned())).or_default();
                    let line = line.trim_start();
                    match (line.strip_prefix("<- "), sent.last_mut()) {
                        (Some(values), Some(last)) => *last = filled(last, &values_of(values)),
                        _ => sent.push(tidy(line.trim_end_matches(';'))),
                    }
                }
            }
        }
    }
    all
}

/// Values that stand one after the other, quoted or not.
fn values_of(text: &str) -> Vec<String> {
    let (mut values, mut value, mut is_quoted) = (Vec::new(), String::new(), false);
    for letter in text.chars() {
        is_quoted ^= letter == '\'';
        if letter == ',' && !is_quoted {
            values.push(value.trim().to_owned());
            value = String::new();
        } else {
            value.push(letter);
        }
    }
    values.push(value.trim().to_owned());
    values
}

/// A text with values in place of its numbered slots.
fn filled(text: &str, values: &[String]) -> String {
    let (mut out, mut rest) = (String::new(), text);
    while let Some((before, behind)) = rest.split_once('?') {
        let end = behind.find(|letter: char| !letter.is_ascii_digit()).unwrap_or(behind.len());
        let number: usize = behind[..end].parse().unwrap_or(1);
        out.push_str(before);
        out.push_str(values.get(number - 1).map_or("?", String::as_str));
        rest = &behind[end..];
    }
    out + rest
}

#[test]
fn statements_are_those_of_the_planner_or_differ_for_a_reason() {
    let (mut same, mut different, mut unmeant) = (0, BTreeMap::new(), Vec::new());
    for (old, new) in [
        (
            include_str!("../../../stores/sqlite/tests/statements/hosts.txt"),
            include_str!("statements/hosts.txt"),
        ),
        (
            include_str!("../../../stores/sqlite/tests/statements/channels.txt"),
            include_str!("statements/channels.txt"),
        ),
        (
            include_str!("../../../stores/sqlite/tests/statements/meters.txt"),
            include_str!("statements/meters.txt"),
        ),
    ] {
        let (old, new) = (parsed(old), parsed(new));
        for (key, expected) in &old {
            let found = new.get(key);
            if found == Some(expected) {
                same += expected.len();
                continue;
            }
            let (title, layout) = key;
            let meant = MEANT.iter().find(|(of, with, _)| title.contains(of) && layout.contains(with));
            match meant {
                Some((_, _, reason)) => *different.entry(*reason).or_insert(0) += expected.len(),
                None => unmeant.push(format!("{title} [{layout}]\n  old {expected:#?}\n  new {found:#?}")),
            }
        }
        let more: Vec<_> = new.keys().filter(|key| !old.contains_key(*key)).collect();
        assert!(more.is_empty(), "{more:?}");
    }
    println!("{same} statements are the same; different for a reason: {different:#?}");
    let count = unmeant.len();
    assert!(unmeant.is_empty(), "{same} are the same, {count} are not:\n{}", unmeant.join("\n"));
}
