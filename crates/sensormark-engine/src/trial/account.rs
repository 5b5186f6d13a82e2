//! Makes the record of a trial out of what its phases led to. Derives nothing that a report can derive again.

use super::client_hosts;
use super::script::{LoadSpec, PhaseSpec};
use super::watch::{Seen, Space};
use crate::deployment::Deployment;
use crate::failure::TrialFailure;
use crate::operations::ENDLESS;
use crate::outcome::{ClassOutcome, Cut, Latencies, LoadOutcome, PhaseOutcome};
use crate::phase::Pacing;
use sensormark_data::units::ns_to_seconds;
use sensormark_result::measurement::folder::ResultsFolder;
use sensormark_result::measurement::names;
use sensormark_result::measurement::record::{
    AnswersRecord, ClassRecord, Figure, LatencyRecord, LedgerRecord, LoadRecord, PhaseRecord, TrialRecord,
};
use sensormark_result::probe::Recording;
use sensormark_store::{Plan, Setting};
use std::collections::BTreeMap;

/// The records of a phase's loads.
pub fn load_records(
    spec: &PhaseSpec,
    outcome: PhaseOutcome,
    ceiling: Option<f64>,
    client_side: &[Option<String>],
) -> Vec<LoadRecord> {
    let is_ended_by_task = spec.task.is_some() && outcome.cut == Some(Cut::Stopped);
    let cut = outcome.cut.filter(|cut| spec.task.is_none() || *cut == Cut::Hopeless);
    let loads = spec.loads.iter().zip(outcome.loads).enumerate();
    loads
        .map(|(number, (load, outcome))| {
            let mut record = empty_record(spec, load);
            record.ceiling = ceiling;
            record.client_side = client_side.get(number).cloned().flatten();
            fill(&mut record, outcome, cut);
            if is_ended_by_task {
                // What each client was about to start then is no backlog.
                record.not_started = record.not_started.saturating_sub(load.clients.into());
            }
            record
        })
        .collect()
}

/// The record of a load that was not measured.
pub fn empty_record(spec: &PhaseSpec, load: &LoadSpec) -> LoadRecord {
    LoadRecord {
        phase: spec.name.clone(),
        name: load.name.clone(),
        labels: spec.labels.clone(),
        warm_up: spec.warm_up,
        writes: load.writes,
        clients: load.clients,
        processes: spec.processes,
        open_loop: !matches!(load.pacing, Pacing::Closed),
        planned: load.operations.len(),
        seconds: 0.0,
        shared: None,
        classes: Default::default(),
        errors: Default::default(),
        first_error: None,
        late: 0,
        not_started: 0,
        statements: 0,
        reconnects: 0,
        datagram_bytes: 0,
        answers: AnswersRecord::default(),
        pacing_p99_ns: None,
        ceiling: None,
        cut: None,
        not_supported: None,
        client_side: None,
    }
}

fn fill(record: &mut LoadRecord, outcome: LoadOutcome, cut: Option<Cut>) {
    let issued = outcome.issued.count();
    record.cut = cut
        .filter(|_| issued < record.planned && !ended_as_planned(cut, record.planned))
        .map(|cut| cut_text(cut, issued, record.planned));
    record.seconds = outcome.seconds;
    record.shared = outcome.shared;
    record.errors = outcome.errors;
    record.first_error = outcome.first_error;
    record.late = outcome.late;
    record.not_started = outcome.not_started;
    record.statements = outcome.writes.statements;
    record.reconnects = outcome.reconnects;
    record.datagram_bytes = outcome.datagram_bytes;
    record.answers = outcome.answers;
    record.pacing_p99_ns = outcome.pacing.and_then(|pacing| pacing.p99_ns);
    let open_loop = record.open_loop;
    let classes = outcome.classes.into_iter();
    record.classes = classes.map(|(name, class)| (name, class_record(class, open_loop))).collect();
}

/// Whether a load that has no other end was ended by its time.
fn ended_as_planned(cut: Option<Cut>, planned: u64) -> bool {
    planned >= ENDLESS && cut == Some(Cut::TimeLimit)
}

fn cut_text(cut: Cut, issued: u64, planned: u64) -> String {
    let why = match cut {
        Cut::TimeLimit => "its time was over",
        Cut::Stopped => "it was stopped",
        Cut::Hopeless => "nearly every operation failed",
    };
    format!("{why} after {issued} of {planned} operations")
}

fn class_record(class: ClassOutcome, open_loop: bool) -> ClassRecord {
    let record = |latencies: Latencies, open_loop: bool| LatencyRecord {
        open_loop,
        summary: latencies.summary,
        seconds: latencies.seconds,
    };
    ClassRecord {
        operations: class.operations,
        readings: class.readings,
        failed: class.failed,
        latency: record(class.latency, open_loop),
        service: class.service.map(|service| record(service, false)),
    }
}

/// Takes a phase's loads into the trial's record: its loads, and the trial's counts of errors and answers.
pub fn add_loads(record: &mut TrialRecord, loads: Vec<LoadRecord>) {
    for load in loads {
        for (kind, count) in &load.errors {
            *record.errors.entry(kind.clone()).or_default() += count;
        }
        if !load.writes {
            let answers = record.answers.get_or_insert_default();
            answers.add(load.answers.clone());
        }
        record.loads.push(load);
    }
}

/// Adds what was counted after one part of a trial (up to a reset) to the counts of the parts before it.
pub fn add_ledger(record: &mut TrialRecord, more: &LedgerRecord) {
    let Some(ledger) = &mut record.ledger else {
        record.ledger = Some(more.clone());
        return;
    };
    ledger.add(more);
}

/// When disk was measured.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DiskMoment {
    /// The database was new.
    Before,
    /// After this much was written.
    After,
    /// At rest.
    Settled,
}

/// Adds disk used, as the trial's own figure (of the last time) and as the phase's.
pub fn add_disk(record: &mut TrialRecord, moment: DiskMoment, phase: Option<&str>, space: Space) {
    let (total, logs) = match moment {
        DiskMoment::Before => (names::DISK_BEFORE, names::DISK_BEFORE_LOGS),
        DiskMoment::After => (names::DISK_AFTER, names::DISK_AFTER_LOGS),
        DiskMoment::Settled => (names::DISK_SETTLED, names::DISK_SETTLED_LOGS),
    };
    let figure =
        |bytes: Option<u64>| Figure { value: bytes.map(|bytes| bytes as f64), unit: "bytes".to_owned() };
    let mut add = |name: &str, bytes: Option<u64>| {
        record.figures.insert(name.to_owned(), figure(bytes));
        if let Some(phase) = phase {
            let name = format!("{name}/{phase}");
            record.figures.insert(name, figure(bytes));
        }
    };
    add(total, space.bytes);
    add(logs, space.logs);
}

/// Adds the settings that were read back, and what bounds the logs.
pub fn add_settings(record: &mut TrialRecord, deployment: &Deployment, settings: Vec<Setting>) {
    let value = |name: &str| {
        let found = settings.iter().find(|setting| setting.name == name)?;
        Some(found.value.clone())
    };
    let logs = deployment.store().description().logs;
    record.log_bound = Some(logs.bound_words(value));
    record.settings = settings;
}

/// Adds what the database's administrator has to say, each thing once.
pub fn add_notes(record: &mut TrialRecord, notes: Vec<String>) {
    for note in notes {
        if !record.warnings.contains(&note) {
            record.warnings.push(note);
        }
    }
}

/// Adds the documents that the database counts, where it does.
pub fn add_documents(record: &mut TrialRecord, deployment: &Deployment, plan: &Plan) {
    let counted = deployment.administer(plan, async |administrator| administrator.documents().await);
    let documents = match counted {
        Ok(None) => return,
        Ok(Some(documents)) => documents,
        Err(error) => {
            let text = format!("documents were not counted: {error}");
            record.warnings.push(text);
            return;
        }
    };
    let figures =
        [(names::DOCUMENTS, documents.count, ""), (names::DOCUMENT_BYTES, documents.bytes, "bytes")];
    for (name, value, unit) in figures {
        let figure = Figure::new(value as f64, unit);
        record.figures.insert(name.to_owned(), figure);
    }
}

/// Operations that succeeded, by phase.
pub fn operations_by_phase(record: &TrialRecord) -> BTreeMap<String, u64> {
    let mut operations = BTreeMap::new();
    for load in &record.loads {
        *operations.entry(load.phase.clone()).or_default() += load.operations();
    }
    operations
}

/// Takes what was seen into the record, with the operations of each phase, and keeps the samples. The trial's processes have this role.
///
/// # Errors
/// When they cannot be kept.
pub fn keep(
    folder: &ResultsFolder,
    record: &mut TrialRecord,
    seen: &Seen,
    (role, operations): (&str, &BTreeMap<String, u64>),
) -> Result<(), TrialFailure> {
    let Seen { recording, probed, .. } = seen;
    for (number, phase) in recording.phases.iter().enumerate() {
        let mut totals = recording.phase_totals(phase);
        if let Some((totals, probed)) = totals.as_mut().zip(probed.as_ref())
            && let Some(theirs) = probed.phase_totals(number, &phase.name)
        {
            totals.add_server(&theirs, probed.is_here, &recording.limits);
        }
        if let Some(totals) = &mut totals {
            let database = if record.implementation.embedded { "coordinator" } else { "server" };
            for task in record.tasks.iter().filter(|task| task.phase == phase.name) {
                totals.add_programs(database, task.program_seconds, &recording.limits);
            }
            client_hosts::add(totals, (number, phase.name.as_str()), role, seen, &record.loads);
        }
        record.phases.push(PhaseRecord {
            name: phase.name.clone(),
            seconds: ns_to_seconds(phase.end_ns.saturating_sub(phase.start_ns)),
            totals,
            operations: operations.get(&phase.name).copied().unwrap_or(0),
        });
    }
    for tree in &recording.trees {
        let notes = tree.notes.iter();
        let warnings = notes.map(|note| format!("{}: {note}", tree.role));
        record.warnings.extend(warnings);
    }
    let write = |name: String, recording: &Recording| {
        folder.write_json(&name, recording).map_err(|error| TrialFailure::System(error.to_string()))
    };
    write(format!("samples/{}.json", record.name), recording)?;
    record.warnings.extend(seen.warnings.iter().cloned());
    for (name, probed) in client_hosts::samples(&seen.roles) {
        write(format!("samples/{}.{name}.json", record.name), &probed.recording)?;
    }
    record.client_probes = client_hosts::records(&seen.roles);
    let Some(probed) = probed else {
        return Ok(());
    };
    if let Some(server) = &mut record.server {
        server.probe = Some(probed.record.clone());
    }
    write(format!("samples/{}.server.json", record.name), &probed.recording)
}
