//! What a run of the collection came to.

use crate::{html::machine, prelude::*, summary::SummaryColumn};
use std::fmt;

/// What a run came to.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Answer {
    /// When it began, RFC 3339 in UTC.
    pub started: String,
    /// The workload.
    pub(super) workload: String,
    /// Its scale or file.
    pub(super) scale: String,
    /// How many readings were measured.
    pub(super) readings: String,
    /// Who won; or why nobody did.
    pub(super) winner: String,
    /// How sure that is.
    pub(super) badge: String,
    /// What was measured.
    pub(super) databases: Vec<Database>,
    /// Cores and memory.
    pub(super) machine: String,
    /// The version of sensormark.
    pub(super) program: String,
    /// Trials by state.
    pub(super) trials: String,
    /// What the figures of a layout are.
    pub(super) columns: Vec<String>,
    /// Who is ranked, best first.
    pub(super) layouts: Vec<Layout>,
}

/// A database.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Database {
    title: String,
    version: String,
}

impl fmt::Display for Database {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{} {}", self.title, self.version)
    }
}

/// A layout that is ranked.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct Layout {
    /// Its name.
    pub label: String,
    /// Its database.
    pub database: String,
    /// Those it is ranked among.
    pub group: String,
    /// Its rank there.
    pub rank: usize,
    /// Its cost over the lowest of its ranking.
    pub ratio: f64,
    /// Its figures in words, one a column.
    pub figures: Vec<String>,
}

impl Answer {
    /// What this report says.
    pub fn of(report: &Report) -> Self {
        let (field, summary) = (report.field(), report.summary());
        let run = &field.run;
        let (states, left_out) = (summary.states, summary.not_measured.len());
        let states = [
            (states.valid, "valid"),
            (states.disturbed, "disturbed"),
            (states.invalid, "invalid"),
            (left_out, "not measured"),
        ];
        let some = states.iter().filter(|(count, _)| *count > 0);
        let mut trials: Vec<String> = some.map(|(count, state)| format!("{count} {state}")).collect();
        let mut winner = summary.winner_or_reason();
        if summary.winner.is_some() && summary.ranked.len() == 1 {
            winner += ", alone in its ranking";
        }
        if run.finished.is_none() {
            trials.push("not finished".to_owned());
            if summary.trials == 0 {
                "no winner: the run goes on, or was broken off".clone_into(&mut winner);
            }
        }
        // What survives a kill ranks nobody.
        let has_answer = report.has_answer();
        if !has_answer {
            "none: it asks what survives".clone_into(&mut winner);
        }
        let column = |one: &SummaryColumn| {
            let [name, of] = one.heading;
            let of = if of.starts_with('/') { of } else { "" };
            format!("{name}{of} [{}]", one.unit)
        };
        let columns = summary.columns.iter().map(column);
        Self {
            started: run.started.clone(),
            workload: summary.workload.clone(),
            scale: summary.scale.clone(),
            readings: Readings::text(summary.readings),
            winner,
            badge: if has_answer { summary.badge().to_owned() } else { String::new() },
            databases: databases(field),
            machine: machine(&run.environment),
            program: clean(&run.sensormark),
            trials: trials.join(", "),
            columns: ["cost".to_owned()].into_iter().chain(columns).collect(),
            layouts: if has_answer { layouts(report) } else { vec![] },
        }
    }
}

/// Every database with its version: what the server says, or an embedded one's own setting.
fn databases(field: &Field) -> Vec<Database> {
    let version = |trial: &TrialRecord| {
        let setting = || trial.settings.iter().find(|one| one.name.ends_with("version"));
        let known = trial.server.as_ref().map(|server| &server.version);
        let text = known.or_else(|| setting().map(|one| &one.value))?;
        Some(clean(text.split(['-', ' ', '+']).next()?))
    };
    let mut all: Vec<Database> = vec![];
    for trial in &field.trials {
        let title = clean(&trial.implementation.title);
        let found = Database { title, version: version(trial).unwrap_or_default() };
        if !all.contains(&found) {
            all.push(found);
        }
    }
    all
}

fn layouts(report: &Report) -> Vec<Layout> {
    let contestants = report.field().contestants();
    let ranked = report.summary().ranked.into_iter();
    let layout = |one: crate::summary::SummaryRow| {
        let arm = contestants.iter().find(|arm| arm.label == one.label);
        let figures = one
            .figures
            .iter()
            .map(|figure| figure.map_or_else(|| "–".to_owned(), |value| significant(value, 3)));
        Layout {
            database: arm.map_or_else(String::new, |arm| clean(&arm.implementation.title)),
            group: one.ranking.title().to_owned(),
            rank: one.rank,
            ratio: one.ratio,
            figures: [times(one.ratio)].into_iter().chain(figures).collect(),
            label: one.label,
        }
    };
    ranked.map(layout).collect()
}
