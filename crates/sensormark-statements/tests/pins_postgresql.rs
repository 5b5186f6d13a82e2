//! The texts of PostgreSQL's files beside those that its planner in Rust sends (`stores/postgresql/tests`): the same, or different for a reason that is stated
//! here. What the files send is in `tests/postgresql`, as the conformance suite hears it.

use sensormark_statements::text::tidy;
use std::collections::BTreeMap;

/// Differences that are meant: a part of the title, a part of the layout's name, and why.
const MEANT: &[(&str, &str, &str)] = &[
    (
        "share",
        "",
        "shares are asked in a statement of their own, but for the statistics of series, which are one",
    ),
    (
        "upsert",
        "second",
        "the entity's table needs no alias; records go in a transaction of two statements in place of one WITH",
    ),
    ("upsert", "", "the entity's table needs no alias"),
    (
        "statistics",
        "",
        "one statement for all functions, with the time until the next reading even where no share is asked",
    ),
    ("last values", "", "they are statistics, one statement for all functions"),
    ("most frequent values", "", "they are statistics, one statement for all functions"),
    ("write 3", "sums", "of arrays the first row's values are shown"),
    ("write 1", "second", "documents are shown, not their size"),
    ("write 3", "concatenated", "the statements of one request are shown one by one"),
    ("", "row-per-field", "offered where fields have one type; a value column a type is no longer"),
];

type Sent = BTreeMap<(String, String), Vec<String>>;

/// What was sent, by title and layout, with values in place of numbered slots.
fn parsed(text: &str) -> Sent {
    let mut all = Sent::new();
    let (mut title, mut layouts) = ("", Vec::new());
    for line in text.lines().skip(1).filter(|line| !line.is_empty()) {
        match line.len() - line.trim_start().len() {
            0 => title = line,
            2 => layouts = line.trim().split(", ").collect(),
            _ => {
                for layout in &layouts {
                    let sent = all.entry((title.to_owned(), (*layout).to_owned())).or_default();
                    let line = line.trim();
                    match (line.strip_prefix("<- "), sent.last_mut()) {
                        (Some(values), Some(last)) => *last = filled(last, &values_of(values)),
                        _ if line.starts_with('(') || line.starts_with("other statements") => {}
                        _ => sent.push(tidy(line.trim_end_matches(';'))),
                    }
                }
            }
        }
    }
    all.values_mut().flatten().for_each(|text| *text = plain(text));
    all
}

/// Values that stand one after the other; commas in quotes and braces part none.
fn values_of(text: &str) -> Vec<String> {
    let (mut values, mut value, mut is_quoted, mut depth) = (Vec::new(), String::new(), false, 0);
    for letter in text.chars() {
        is_quoted ^= letter == '\'';
        match letter {
            '{' | '[' if !is_quoted => depth += 1,
            '}' | ']' if !is_quoted => depth -= 1,
            _ => {}
        }
        if letter == ',' && !is_quoted && depth == 0 {
            values.push(value.trim().to_owned());
            value = String::new();
        } else {
            value.push(letter);
        }
    }
    values.push(value.trim().to_owned());
    values
}

fn filled(text: &str, values: &[String]) -> String {
    let (mut out, mut rest) = (String::new(), text);
    while let Some((before, behind)) = rest.split_once('$') {
        let end = behind.find(|letter: char| !letter.is_ascii_digit()).unwrap_or(behind.len());
        out.push_str(before);
        match behind[..end].parse::<usize>().ok().and_then(|number| values.get(number - 1)) {
            Some(value) => out.push_str(value),
            None => out.push_str(&format!("${}", &behind[..end])),
        }
        rest = &behind[end..];
    }
    out + rest
}

/// Without what says nothing: how truth values, texts in arrays and names are written, and brackets around a whole column of an answer.
fn plain(text: &str) -> String {
    let text = text.replace(", true", ", 1").replace(", false", ", 0").to_lowercase();
    let text = text.replace("{true", "{1").replace("{false", "{0").replace('"', "'");
    text.replace(['(', ')'], "")
}

#[test]
fn statements_are_those_of_the_planner_or_differ_for_a_reason() {
    let (mut same, mut different, mut unmeant) = (0, BTreeMap::new(), Vec::new());
    for name in ["hosts", "channels", "meters"] {
        let read = |folder: &str| {
            let file = format!("{}/{folder}/statements/{name}.txt", env!("CARGO_MANIFEST_DIR"));
            parsed(&std::fs::read_to_string(file).expect("the kept text"))
        };
        let (old, new) = (read("../../stores/postgresql/tests"), read("tests/postgresql/tests"));
        for ((title, layout), expected) in &old {
            let found = new.get(&(title.clone(), layout.clone()));
            if found == Some(expected) {
                same += expected.len();
                continue;
            }
            match MEANT.iter().find(|(of, with, _)| title.contains(of) && layout.contains(with)) {
                Some((_, _, reason)) => *different.entry(*reason).or_insert(0) += expected.len(),
                None => unmeant.push(format!("{title} [{layout}]\n  old {expected:#?}\n  new {found:#?}")),
            }
        }
    }
    println!("{same} statements are the same; different for a reason: {different:#?}");
    let count = unmeant.len();
    assert!(unmeant.is_empty(), "{same} are the same, {count} are not:\n{}", unmeant.join("\n"));
    assert!(same > 1_000, "{same}");
}
