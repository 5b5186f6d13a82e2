//! The suite tried on itself: a store that keeps the rules passes, and each planted fault breaks a rule that is about it.

use super::*;
use crate::faulty::{FAULTS, FaultyStore};
use crate::memory::MemoryStore;
use crate::null::NullStore;
use crate::reference::Reference;
use sensormark_store::store::RepeatedWrite;
use std::collections::BTreeSet;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// Tries these tasks until `enough` have failed: the names of those, with what is wrong.
fn failures(
    store: Arc<dyn Store>,
    timeout_ms: u64,
    enough: usize,
    is_chosen: impl Fn(&Task) -> bool,
) -> Vec<(String, String)> {
    let tasks = rule::tasks(&store, crate::rules::all());
    let place = Place::find(&store).unwrap();
    let suite = Suite::new(store, place, timeout_ms, &[]);
    let failed = |task: &Task| {
        let caught = catch_unwind(AssertUnwindSafe(|| run(&suite, task)));
        let Broken(text) = caught.unwrap_or_else(|_| Err(Broken("panicked".into()))).err()?;
        Some((task.name(), text))
    };
    let chosen = tasks.iter().filter(|task| is_chosen(task));
    let failures = chosen.filter_map(failed).take(enough).collect();
    block_on(suite.drop_all()).unwrap();
    failures
}

fn passes(repeated: RepeatedWrite, is_chosen: impl Fn(&Task) -> bool) {
    let store = Arc::new(MemoryStore::new(repeated));
    let failures = failures(store, TIMEOUT_MS, usize::MAX, is_chosen);
    assert!(failures.is_empty(), "{failures:#?}");
}

#[test]
fn a_store_that_keeps_both_of_repeated_readings_passes() {
    passes(RepeatedWrite::KeepsBoth, |_| true);
}

#[test]
fn a_store_that_replaces_or_refuses_repeated_readings_passes() {
    let writes = |task: &Task| ["C-W-05", "C-U-03", "C-E-05"].contains(&task.rule.number);
    passes(RepeatedWrite::Replaces, writes);
    passes(RepeatedWrite::Refused, writes);
}

/// Each fault, and a rule that it must break.
const CAUGHT: [(&str, &str); 20] = [
    ("drop:100", "C-W-01"),
    ("duplicate:100", "C-W-01"),
    ("corrupt:100", "C-W-01"),
    ("round:1us", "C-S-04"),
    ("round:1ms", "C-S-04"),
    ("wrong-aggregate:20", "C-G-01"),
    ("wrong-answer:point:20", "C-Q-01"),
    ("wrong-answer:range:4", "C-Q-02"),
    ("wrong-answer:first:20", "C-F-01"),
    ("wrong-answer:last:20", "C-F-02"),
    ("wrong-answer:minimum:10", "C-F-04"),
    ("wrong-answer:aggregate:3", "C-G-05"),
    ("wrong-answer:last-reading:5", "C-F-06"),
    ("wrong-answer:series-matching:5", "C-F-07"),
    ("empty-answer:4", "C-Q-04"),
    ("late:2500:3", "C-W-01"),
    ("error:20", "C-Q-01"),
    ("hang", "C-W-01"),
    ("hang:2500:3", "C-W-01"),
    ("cut:20", "C-Q-01"),
];

#[test]
fn each_planted_fault_breaks_a_rule_that_is_about_it() {
    for (fault, number) in CAUGHT {
        let memory = Arc::new(MemoryStore::new(RepeatedWrite::KeepsBoth));
        let store = Arc::new(FaultyStore::new(memory, fault.parse().unwrap()));
        let broken = failures(store, 300, 1, |task| task.rule.number == number);
        assert!(!broken.is_empty(), "{fault} does not break {number}");
    }
    for (pattern, _) in FAULTS {
        let name = pattern.split([':', '[']).next().unwrap();
        let tried = CAUGHT.iter().any(|(fault, _)| fault.split(':').next() == Some(name));
        // spinning makes nothing wrong, only slower: comparisons have to find it
        assert!(tried || name == "spin", "{name} is not tried");
    }
}

#[test]
fn a_store_that_keeps_nothing_breaks_rules() {
    let schema = Arc::new(crate::data::Dataset::Values.schema());
    let mut reference = Reference::new(schema);
    reference.prepare();
    let store = Arc::new(NullStore::new(Arc::new(reference)));
    let broken = failures(store, TIMEOUT_MS, usize::MAX, |task| {
        task.rule.number == "C-W-01" && task.name().contains("values")
    });
    assert!(!broken.is_empty());
}

#[test]
fn every_rule_is_tried_and_has_a_number_of_its_own() {
    let store: Arc<dyn Store> = Arc::new(MemoryStore::new(RepeatedWrite::KeepsBoth));
    let tasks = rule::tasks(&store, crate::rules::all());
    let tried: BTreeSet<&str> = tasks.iter().map(|task| task.rule.number).collect();
    let numbers: Vec<&str> = rules().iter().map(|rule| rule.0).collect();
    let distinct: BTreeSet<&str> = numbers.iter().copied().collect();
    assert_eq!(distinct.len(), numbers.len());
    let untried: Vec<_> = distinct.difference(&tried).collect();
    assert_eq!(untried, [&"C-W-09"], "the memory store sends no datagrams");
    let names: BTreeSet<String> = tasks.iter().map(Task::name).collect();
    assert_eq!(names.len(), tasks.len(), "two tests of one name");
}

/// C-C-03 asks each named question, in every layout of every data set.
#[test]
fn every_named_question_is_asked() {
    use crate::data::{Data, Dataset};
    use Dataset::{Channels, Devices, Fleet, Mixed, Values};
    use sensormark_store::Question;
    let asked = [Mixed, Channels, Values, Devices, Fleet];
    let asked = asked.map(|dataset| crate::rules::one_of_each(&Data::new(dataset)));
    let asked: BTreeSet<_> = asked.iter().flatten().filter_map(Question::of).collect();
    assert_eq!(asked, BTreeSet::from(Question::ALL));
}

#[test]
fn a_part_of_the_suite_tries_every_rule_in_every_family() {
    let store: Arc<dyn Store> = Arc::new(MemoryStore::new(RepeatedWrite::KeepsBoth));
    let tasks = rule::tasks(&store, crate::rules::all());
    let family = |task: &Task| task.subject.as_ref().map(|one| rule::family_text(one.family));
    let what = |task: &Task| (task.rule.number, family(task));
    let whole: BTreeSet<_> = tasks.iter().map(what).collect();
    let part: Vec<_> = tasks
        .iter()
        .zip(rule::part(&tasks))
        .filter(|(_, is_chosen)| *is_chosen)
        .map(|(task, _)| what(task))
        .collect();
    assert_eq!(part.iter().copied().collect::<BTreeSet<_>>(), whole);
    let once = part.iter().filter(|(number, _)| *number != "C-C-02").count();
    assert_eq!(once, whole.iter().filter(|(number, _)| *number != "C-C-02").count(), "each once");
    let everywhere = tasks.iter().filter(|task| task.rule.number == "C-C-02").count();
    assert_eq!(part.len(), once + everywhere, "named questions in every layout");
    assert!(part.len() * 2 < tasks.len());
}

/// The rules of the contract and of the suite are the same, number by number and word by word.
#[test]
fn the_contract_lists_every_rule() {
    let contract = include_str!("../../CONTRACT.md");
    for (number, title) in rules() {
        let heading = format!("**{number}**");
        let line = contract.lines().find(|line| line.contains(&heading));
        let line = line.unwrap_or_else(|| panic!("{number} ({title}) is not in the contract"));
        let states = ["MUST", "SHOULD", "MAY"].iter().any(|word| line.contains(word));
        assert!(states, "{number} says neither MUST nor SHOULD nor MAY");
    }
    let known: BTreeSet<&str> = rules().iter().map(|rule| rule.0).collect();
    let stated = contract.split("**").filter(|text| text.len() == 6 && text.starts_with("C-"));
    for number in stated {
        assert!(known.contains(number), "{number} is not checked");
    }
}

/// The examples of the contract are SQLite's own text, which compiles and runs as its tests.
#[test]
fn the_contract_shows_sqlite_s_own_text() {
    let contract = include_str!("../../CONTRACT.md");
    let test = include_str!("../../../../stores/sqlite/tests/conformance.rs");
    let manifest = include_str!("../../../../stores/Cargo.toml");
    let target = manifest.split("\n\n").find(|part| part.contains("sqlite_conformance")).expect("the suite");
    for (kind, text) in [("rust", test), ("toml", target)] {
        let example = format!("```{kind}\n{}\n```", text.trim_end());
        assert!(contract.contains(&example), "not in the contract:\n{text}");
    }
}

/// Questions that are answered with nothing prove little: of each rule's, some are answered with more.
#[test]
fn questions_are_not_vacuous() {
    use sensormark_store::store::AnswerSource;
    let store: Arc<dyn Store> = Arc::new(MemoryStore::new(RepeatedWrite::KeepsBoth));
    for task in rule::tasks(&store, crate::rules::all()) {
        let Some(subject) = &task.subject else { continue };
        let Some(queries) = task.rule.questions(&subject.data) else { continue };
        if ["C-Q-03", "C-G-02"].contains(&task.rule.number) || !subject.offer.variant.is_empty() {
            continue;
        }
        let mut reference = Reference::new(Arc::clone(&subject.data.schema));
        for batch in &subject.data.batches {
            reference.add(batch);
        }
        reference.prepare();
        let holds = |query: &&sensormark_store::Query| !reference.answer(query).is_empty();
        let full = queries.iter().filter(holds).count();
        assert!(
            full * 10 >= queries.len(),
            "{}: {full} of {} answers hold something",
            task.name(),
            queries.len()
        );
    }
}
