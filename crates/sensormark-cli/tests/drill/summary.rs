//! What all steps came to, as tables, for docs/notes/verification.md.

use crate::step::Step;
use std::collections::BTreeMap;
use std::process::ExitStatus;
use std::sync::{Mutex, PoisonError};

/// A step that was carried out.
pub struct Entry {
    store: String,
    work: &'static str,
    fault: String,
    phase: String,
    struck: bool,
    exit: String,
}

impl Entry {
    /// Of a step in whose phase the fault came, if it was in time.
    pub fn new(step: &Step, phase: String, struck: bool, status: ExitStatus) -> Self {
        use std::os::unix::process::ExitStatusExt;
        let exit = match (status.code(), status.signal()) {
            (Some(code), _) => code.to_string(),
            (None, signal) => format!("signal {}", signal.unwrap_or(0)),
        };
        // Phases of one kind, whatever they are about.
        let phase = phase.trim_end_matches(|letter: char| letter.is_ascii_digit() || letter == '-');
        Self {
            store: step.store.to_owned(),
            work: step.work.name(),
            fault: step.fault.name(),
            phase: phase.to_owned(),
            struck,
            exit,
        }
    }
}

/// All steps, as they end.
#[derive(Default)]
pub struct Summary(Mutex<Vec<Entry>>);

impl Summary {
    /// Takes note of one.
    pub fn add(&self, entry: Entry) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).push(entry);
    }

    /// The tables, in Markdown.
    pub fn tables(&self) -> String {
        let entries = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let struck = entries.iter().filter(|entry| entry.struck).count();
        let late = entries.len() - struck;
        let mut text =
            format!("{struck} interruptions without a violation; {late} steps whose run had ended before\n");
        text += &table("store", &entries, |entry| entry.store.clone());
        text += &table("workload", &entries, |entry| entry.work.to_owned());
        text += &table("fault", &entries, |entry| entry.fault.clone());
        text += &table("phase", &entries, |entry| entry.phase.clone());
        text + &table("exit", &entries, |entry| entry.exit.clone())
    }
}

fn table(title: &str, entries: &[Entry], key: impl Fn(&Entry) -> String) -> String {
    let mut counts: BTreeMap<String, usize> = BTreeMap::new();
    for entry in entries.iter().filter(|entry| entry.struck) {
        *counts.entry(key(entry)).or_default() += 1;
    }
    let rows = counts.iter().map(|(key, count)| format!("| {key} | {count} |\n"));
    format!("\n| {title} | interruptions |\n| --- | ---: |\n{}", rows.collect::<String>())
}
