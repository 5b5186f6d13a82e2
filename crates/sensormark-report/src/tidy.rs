//! Every figure of a run as one row of a long table, as data frames take it: what was measured, where, the figure's name, its value and its unit. Nothing is
//! derived, and trials of every state are in: the state is a column. A figure that was not measured has no row.

use crate::{prelude::*, raw::Table};

const COLUMNS: [&str; 17] = [
    "run",
    "workload",
    "scale",
    "store",
    "server",
    "layout",
    "strategy",
    "durability",
    "cache",
    "side",
    "repetition",
    "state",
    "phase",
    "part",
    "figure",
    "value",
    "unit",
];

/// The table as CSV.
///
/// # Errors
/// A run without a figure.
pub fn tidy(field: &Field) -> Result<String, String> {
    let mut table = Table::new(&COLUMNS);
    for (side, _, trial) in field.each() {
        let mut rows = Rows { table: &mut table, identity: identity(&field.run, side, trial) };
        rows.trial(trial);
    }
    table.finish("no trial has figures")
}

fn identity(run: &RunRecord, side: &str, trial: &TrialRecord) -> Vec<String> {
    let what = &trial.implementation;
    let strategy = what.strategy.as_deref().unwrap_or_default();
    vec![
        clean(&run.name),
        clean(run.title()),
        clean(&run.scale),
        clean(&what.store),
        clean(what.server.as_deref().unwrap_or_default()),
        clean(&what.layout_name),
        clean(strategy),
        what.durability.text().to_owned(),
        what.cache.text().to_owned(),
        side.to_owned(),
        trial.repetition.to_string(),
        trial.state().to_owned(),
    ]
}

/// Rows of one trial.
struct Rows<'a> {
    table: &'a mut Table,
    identity: Vec<String>,
}

impl Rows<'_> {
    /// A figure of a phase (or of the whole trial, where it has no name), and of a part of it: a process, a load or an operation.
    fn row(&mut self, phase: &str, part: &str, figure: &str, value: impl ToString, unit: &str) {
        let mut row = self.identity.clone();
        let texts = [clean(phase), clean(part), clean(figure), value.to_string(), unit.to_owned()];
        row.extend(texts);
        self.table.row(&row);
    }

    fn trial(&mut self, trial: &TrialRecord) {
        for (name, figure) in &trial.figures {
            let (name, phase) = name.split_once('/').unwrap_or((name, ""));
            self.known([phase, "", name], figure.value, &figure.unit);
        }
        if let Some(ledger) = &trial.ledger {
            self.counts("ledger", serde_json::to_value(ledger), "readings");
        }
        if let Some(answers) = &trial.answers {
            self.counts("answers", serde_json::to_value(answers), "answers");
        }
        for phase in &trial.phases {
            self.row(&phase.name, "", "duration", phase.seconds, "s");
            self.row(&phase.name, "", "operations", phase.operations, "operations");
            for (role, totals) in phase.totals.iter().flat_map(|totals| &totals.roles) {
                self.used(&phase.name, role, serde_json::to_value(totals));
            }
        }
        for load in &trial.loads {
            self.load(load);
        }
        for one in timed(trial) {
            self.latency(one.phase.unwrap_or_default(), one.class, &one.record.summary);
        }
    }

    /// A figure; nothing where it is not known.
    fn known<V: ToString>(&mut self, [phase, part, figure]: [&str; 3], value: Option<V>, unit: &str) {
        if let Some(value) = value {
            self.row(phase, part, figure, value, unit);
        }
    }

    fn load(&mut self, load: &LoadRecord) {
        let (phase, name) = (&*load.phase, &*load.name);
        self.known([phase, name, "operations_per_second"], load.operations_per_second(), "1/s");
        self.known([phase, name, "readings_per_second"], load.readings_per_second(), "1/s");
        self.row(phase, name, "failed", load.failed(), "operations");
        self.row(phase, name, "clients", load.clients, "clients");
    }

    /// Percentiles that so few operations cannot give have no row.
    fn latency(&mut self, phase: &str, operation: &str, summary: &LatencySummary) {
        self.row(phase, operation, "latency_mean", summary.mean_ns, "ns");
        for (figure, value) in [
            ("latency_p50", summary.p50_ns),
            ("latency_p90", summary.p90_ns),
            ("latency_p95", summary.p95_ns),
            ("latency_p99", summary.p99_ns),
            ("latency_p99.9", summary.p999_ns),
            ("latency_max", Some(summary.max_ns)),
        ] {
            self.known([phase, operation, figure], value, "ns");
        }
    }

    fn counts(&mut self, part: &str, record: serde_json::Result<Value>, unit: &str) {
        for (name, value) in numbers(record) {
            self.row("", part, &name, value, unit);
        }
    }

    /// What a process used. The unit stands at the end of the record's own names.
    fn used(&mut self, phase: &str, role: &str, record: serde_json::Result<Value>) {
        for (name, value) in numbers(record) {
            let (figure, unit) = match name.rsplit_once('_') {
                Some((figure, unit @ ("ns" | "bytes"))) => (figure.to_owned(), unit),
                _ if name == "cpu_percent_of_core" => ("cpu".to_owned(), "percent of a core"),
                _ => (name, ""),
            };
            self.row(phase, role, &figure, value, unit);
        }
    }
}

/// The numbers of a record, by name.
fn numbers(record: serde_json::Result<Value>) -> Vec<(String, Value)> {
    match record {
        Ok(Value::Object(entries)) => entries.into_iter().filter(|(_, value)| value.is_number()).collect(),
        _ => vec![],
    }
}
