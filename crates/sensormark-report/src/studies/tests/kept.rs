//! What the reports say of every study, as text that is kept beside the tests: a change of it is seen and reviewed.
//!
//! `SENSORMARK_WRITE_PINS=1` writes the texts anew.

use crate::Report;
use crate::number::cell_text;
use crate::tables::{Block, Cell, Section, Table};
use sensormark_conformance::pins::hold;
use sensormark_result::measurement::record::TrialRecord;
use sensormark_result::measurement::verdict::ReasonKind;
use sensormark_result::tests::fixture::{self, thrice};
use std::fmt::Write as _;
use std::path::Path;

/// Sections that belong to a study.
const SECTIONS: [&str; 11] = [
    "scits",
    "tsm",
    "bulk",
    "billing",
    "devops",
    "platform",
    "effects",
    "claims",
    "figures",
    "published",
    "as_study",
];

/// Compares what a report says of its study with what is kept under this name.
pub fn kept(name: &str, report: &Report) {
    let own = |section: &&Section| SECTIONS.contains(&section.id.as_str()) || section.id == "operations";
    let sections = report.document().sections.iter().filter(own);
    compare(name, &sections.map(section_text).collect::<String>());
}

/// Compares what became of a study's claims with what is kept under this name.
pub fn kept_claims(name: &str, report: &Report) {
    let mut sections = report.document().sections.iter();
    let claims = sections.find(|section| section.id == "claims");
    compare(name, &claims.map_or_else(String::new, section_text));
}

/// Compares one table with what is kept under this name.
pub fn kept_table(name: &str, table: &Table) {
    compare(name, &table_text(table));
}

fn compare(name: &str, now: &str) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/studies/tests/kept");
    let file = folder.join(format!("{name}.txt"));
    if let Err(text) = hold(&file, now) {
        panic!("{text}");
    }
}

fn section_text(section: &Section) -> String {
    let mut text = format!("== {}: {}\n", section.id, section.title);
    for block in &section.blocks {
        match block {
            Block::Paragraph { text: words } => writeln!(text, "{words}").expect("text"),
            Block::List { items } => writeln!(text, "- {}", items.join("\n- ")).expect("text"),
            Block::Table(table) => text.push_str(&table_text(table)),
        }
    }
    text
}

fn table_text(table: &Table) -> String {
    let mut text = format!("[{}] {} ({} keys)\n", table.id, table.title, table.keys);
    let columns = table.columns.iter();
    let columns: Vec<String> =
        columns.map(|column| format!("{} {}", column.name, column.unit).trim_end().to_owned()).collect();
    writeln!(text, "{}", columns.join(" | ")).expect("text");
    for row in &table.rows {
        let cells: Vec<String> = row.iter().map(full).collect();
        writeln!(text, "{}", cells.join(" | ")).expect("text");
    }
    for note in &table.notes {
        writeln!(text, "* {note}").expect("text");
    }
    text
}

/// The cell with the reason why it is empty.
fn full(cell: &Cell) -> String {
    match cell {
        Cell::Missing(reason) => format!("–({reason})"),
        cell => cell_text(cell),
    }
}

/// A fixture in the states that decide what becomes of a claim: once, three times, disturbed, apart by noise, and with each database alone and left out.
pub fn kept_variants(study: &str, trials: &[TrialRecord], report: impl Fn(Vec<TrialRecord>) -> Report) {
    kept(&format!("{study}-once"), &report(trials.to_vec()));
    let kept = |variant: &str, trials: Vec<TrialRecord>| {
        kept_claims(&format!("{study}-{variant}"), &report(trials));
    };
    kept("thrice", thrice(trials.to_vec()));
    let mut disturbed = thrice(trials.to_vec());
    let last = disturbed.len() - 1;
    disturbed[last].disturbances.push("steal 9 %".to_owned());
    kept("disturbed", disturbed);
    kept("noise", apart(trials));
    let mut cut = thrice(trials.to_vec());
    for load in cut.iter_mut().flat_map(|trial| trial.loads.iter_mut()) {
        load.cut = Some("its time was over after 5 of 9 operations".to_owned());
    }
    kept("cut", cut);
    let mut titles: Vec<&str> = trials.iter().map(|trial| trial.implementation.title.as_str()).collect();
    titles.sort_unstable();
    titles.dedup();
    for title in titles {
        let is_own = |trial: &&TrialRecord| trial.implementation.title == title;
        let (own, others): (Vec<&TrialRecord>, Vec<&TrialRecord>) = trials.iter().partition(is_own);
        let cloned = |trials: Vec<&TrialRecord>| trials.into_iter().cloned().collect::<Vec<_>>();
        kept(&format!("only-{title}"), thrice(cloned(own)));
        let mut invalid = thrice(trials.to_vec());
        for trial in invalid.iter_mut().filter(|trial| trial.implementation.title == title) {
            *trial = fixture::invalid(trial.clone(), ReasonKind::WrongAnswer, "wrong");
        }
        kept(&format!("invalid-{title}"), invalid);
        if !others.is_empty() {
            kept(&format!("without-{title}"), thrice(cloned(others)));
        }
    }
}

/// Each trial four times, its figures apart by factors of up to 4 in an order of its own.
fn apart(trials: &[TrialRecord]) -> Vec<TrialRecord> {
    let factors = [0.5, 1.0, 2.0, 1.4];
    let mut all = Vec::new();
    for repetition in 0..4 {
        for (place, trial) in trials.iter().enumerate() {
            let mut trial = trial.clone();
            trial.repetition = u32::try_from(repetition).expect("few");
            scale(&mut trial, factors[(repetition + place) % 4]);
            all.push(trial);
        }
    }
    all
}

fn scale(trial: &mut TrialRecord, factor: f64) {
    let scaled = |bytes: u64| sensormark_data::units::round_u64(bytes as f64 * factor);
    for load in &mut trial.loads {
        load.seconds *= factor;
        for class in load.classes.values_mut() {
            class.latency.summary.mean_ns *= factor;
        }
    }
    for figure in trial.figures.values_mut() {
        figure.value = figure.value.map(|value| value * factor);
    }
    for totals in trial.phases.iter_mut().filter_map(|phase| phase.totals.as_mut()) {
        totals.host.mean_load *= factor;
        for role in totals.roles.values_mut() {
            role.cpu_ns = scaled(role.cpu_ns);
            role.cpu_percent_of_core *= factor;
            role.end_resident_bytes = scaled(role.end_resident_bytes);
            role.storage_read_bytes = role.storage_read_bytes.map(scaled);
            role.storage_written_bytes = role.storage_written_bytes.map(scaled);
            role.sent_wire_bytes = role.sent_wire_bytes.map(scaled);
            role.received_wire_bytes = role.received_wire_bytes.map(scaled);
        }
    }
}
