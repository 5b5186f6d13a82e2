//! The study's criteria of one trial, from its measured phase, in the units of `STUDY_CRITERIA`.
//!
//! A value that was not measured is absent, never 0. The one exception is a fact, not a measurement: an embedded database
//! sends nothing over a network.

use crate::prelude::*;

/// The phase of a study's trial that is measured.
const MEASURED: &str = "measured";
/// Bytes of a kB of memory, as the kernel counts (and the study with it).
const MEMORY_KB: f64 = 1024.0;
/// Bytes of a kB of storage or network traffic.
const KB: f64 = 1e3;
/// Bytes of a MB of disk.
const MB: f64 = 1e6;

/// The phase whose figures count.
pub fn measured(trial: &TrialRecord) -> Option<&PhaseRecord> {
    phase(trial, MEASURED)
}

/// Whether it is the measured phase of a study's trial.
pub fn is_measured(phase: &PhaseRecord) -> bool {
    phase.name == MEASURED
}

/// The last phase of this name.
pub fn phase<'a>(trial: &'a TrialRecord, name: &str) -> Option<&'a PhaseRecord> {
    trial.phases.iter().rev().find(|phase| phase.name == name)
}

/// What a role used in the measured phase.
pub fn role<'a>(trial: &'a TrialRecord, name: &str) -> Option<&'a RoleTotals> {
    measured(trial)?.totals.as_ref()?.roles.get(name)
}

/// What the client used: the writer's or reader's own process.
pub fn client(trial: &TrialRecord) -> Option<&RoleTotals> {
    role(trial, client_role(trial))
}

/// The name of the client's role.
fn client_role(trial: &TrialRecord) -> &'static str {
    match trial.side {
        Side::Write => "writer",
        Side::Read => "reader",
        Side::Mixed => "trial",
    }
}

/// What the client used in a phase with these totals.
pub fn client_in<'a>(trial: &TrialRecord, totals: &'a PhaseTotals) -> Option<&'a RoleTotals> {
    totals.roles.get(client_role(trial))
}

/// The figure of this name.
pub fn figure(trial: &TrialRecord, name: &str) -> Known {
    trial.figures.get(name)?.value
}

/// What stored the data in the measured phase: the server's processes, or embedded the client's.
pub fn storing(trial: &TrialRecord) -> Option<&RoleTotals> {
    role(trial, "server").or_else(|| client(trial).filter(|_| trial.implementation.embedded))
}

/// All criteria that were measured. Embedded, the one process's cost stands on the client's side, and its storage I/O on
/// the server's.
pub fn values(trial: &TrialRecord, run: &RunRecord) -> BTreeMap<String, f64> {
    let server = storing(trial);
    let own_server = server.filter(|_| !trial.implementation.embedded);
    let client = client(trial);
    [
        ("server_cpu", own_server.map(|role| role.cpu_percent_of_core)),
        ("server_memory", own_server.map(|role| role.end_held_bytes() as f64 / MEMORY_KB)),
        ("server_io", server.and_then(|role| Some(role.storage_bytes()? as f64 / KB / span_seconds(trial)?))),
        ("client_cpu", client.map(|role| role.cpu_percent_of_core)),
        ("client_memory", client.map(|role| role.end_resident_bytes as f64 / MEMORY_KB)),
        ("network", network(trial, run)),
        ("disk", disk::growth_bytes(trial).map(|bytes| bytes / MB)),
    ]
    .into_iter()
    .filter_map(|(id, value)| Some((id.to_owned(), value?)))
    .filter(|(_, value)| value.is_finite())
    .collect()
}

/// kB/s that the server fetched from storage.
pub fn storage_read_rate(trial: &TrialRecord) -> Known {
    Some(storing(trial)?.storage_read_bytes? as f64 / KB / span_seconds(trial)?)
}

/// The span that the role's figures cover, in seconds.
pub fn span_seconds(trial: &TrialRecord) -> Known {
    let span_ns = measured(trial)?.totals.as_ref()?.span_ns;
    (span_ns > 0).then(|| span_ns as f64 / 1e9)
}

/// kbit/s of the client, both directions: on the wire, headers included, and datagrams.
fn network(trial: &TrialRecord, run: &RunRecord) -> Known {
    if trial.implementation.embedded {
        return Some(0.0);
    }
    let wire = client(trial)?.wire_bytes()? as f64 / span_seconds(trial)?;
    Some((wire + datagram_rate(trial, run)?) * 8.0 / KB)
}

/// Bytes a second in datagrams. They are counted over the whole trial, so they are divided by how long the source sent.
pub fn datagram_rate(trial: &TrialRecord, run: &RunRecord) -> Known {
    match figure(trial, names::DATAGRAM_BYTES) {
        None | Some(0.0) => Some(0.0),
        Some(bytes) => Some(bytes / sending_seconds(trial, run)?),
    }
}

/// How long the source sent, warm-up included, in seconds.
pub fn sending_seconds(trial: &TrialRecord, run: &RunRecord) -> Known {
    let produced = trial.ledger.as_ref()?.produced as f64;
    let rate = samples_per_second(run).unwrap_or(0.0);
    let seconds = if produced > 0.0 && rate > 0.0 {
        produced / rate
    } else {
        phase(trial, "warm-up").map_or(0.0, |phase| phase.seconds) + measured(trial)?.seconds
    };
    (seconds > 0.0).then_some(seconds)
}

/// Samples a second that the source was to send.
pub fn samples_per_second(run: &RunRecord) -> Known {
    run.parameters.get("samples_per_second")?.as_f64()
}
