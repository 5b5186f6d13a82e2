//! The figures of one trial that the study's tables are made of.

use crate::measurement::record::{LoadRecord, TrialRecord};
use crate::probe::{PhaseTotals, RoleTotals};
use crate::report::criteria;
use crate::report::field::{Arm, Field};
use crate::workload::billing::{ALONE, DEVICES, INGEST, OPERATION};
use std::collections::BTreeSet;

/// Bytes of a MB of memory.
const MB: f64 = 1e6;

/// Loads of an operation that were measured, in order.
pub fn loads<'t>(
    trial: &'t TrialRecord,
    operation: &'t str,
) -> impl Iterator<Item = &'t LoadRecord> {
    trial.loads.iter().filter(move |load| {
        load.labels.get(OPERATION).and_then(|value| value.as_str()) == Some(operation)
            && load.not_supported.is_none()
            && load.operations() > 0
    })
}

/// How many devices there are after the load's phase.
pub fn devices(load: &LoadRecord) -> Option<u64> {
    load.labels.get(DEVICES)?.as_u64()
}

/// The load of an operation with this many devices.
fn load<'t>(trial: &'t TrialRecord, operation: &'t str, count: u64) -> Option<&'t LoadRecord> {
    loads(trial, operation).find(|load| devices(load) == Some(count))
}

/// Whether a load's devices are not billed: it is there for its rate.
pub fn is_alone(load: &LoadRecord) -> bool {
    load.labels.contains_key(ALONE)
}

/// All numbers of devices that are billed, ascending.
pub fn device_counts(field: &Field) -> Vec<u64> {
    let loads = field.trials.iter().flat_map(|trial| &trial.loads);
    let billed = loads.filter(|load| !is_alone(load));
    let counts: BTreeSet<u64> = billed.filter_map(devices).collect();
    counts.into_iter().collect()
}

/// Operations a second over all phases of an operation, or of the one with this many devices.
pub fn rate(trial: &TrialRecord, operation: &str, count: Option<u64>) -> Option<f64> {
    let chosen = |load: &&LoadRecord| count.is_none() || devices(load) == count;
    let (mut operations, mut seconds) = (0.0, 0.0);
    for load in loads(trial, operation).filter(chosen) {
        operations += load.operations() as f64;
        seconds += load.seconds;
    }
    (seconds > 0.0).then(|| operations / seconds)
}

/// The rate of ingest that stands beside the study's: of the load by itself, with one device a client, where there is one; else over all loads.
pub fn ingest_rate(trial: &TrialRecord) -> Option<f64> {
    let alone = loads(trial, INGEST).find(|load| is_alone(load));
    rate(trial, INGEST, alone.and_then(devices))
}

/// Mean time of an operation with this many devices, in ms.
pub fn mean_ms(trial: &TrialRecord, operation: &str, count: u64) -> Option<f64> {
    let load = load(trial, operation, count)?;
    let (mut sum_ns, mut all) = (0.0, 0.0);
    for class in load.classes.values() {
        let summary = &class.latency.summary;
        sum_ns += summary.mean_ns * summary.count as f64;
        all += summary.count as f64;
    }
    (all > 0.0).then(|| sum_ns / all / 1e6)
}

/// Whether all that was to be loaded for this many devices was loaded.
pub fn is_whole(trial: &TrialRecord, ingest: &str, count: u64) -> bool {
    load(trial, ingest, count).is_some_and(|load| load.cut.is_none())
}

/// What a phase's samples say, with how long it lasted in ns.
fn totals<'t>(trial: &'t TrialRecord, operation: &'t str) -> impl Iterator<Item = &'t PhaseTotals> {
    loads(trial, operation)
        .filter_map(|load| criteria::phase(trial, &load.phase)?.totals.as_ref())
        .filter(|totals| totals.span_ns > 0)
}

/// A mean over the phases of an operation, each by its length.
fn weighted(
    trial: &TrialRecord,
    operation: &str,
    figure: impl Fn(&PhaseTotals) -> Option<f64>,
) -> Option<f64> {
    let (mut sum, mut length) = (0.0, 0.0);
    for totals in totals(trial, operation) {
        let span = totals.span_ns as f64;
        sum += figure(totals)? * span;
        length += span;
    }
    (length > 0.0).then(|| sum / length)
}

/// The machine's load average, of one minute as the kernel has it, over the phases of an operation.
pub fn load_average(trial: &TrialRecord, operation: &str) -> Option<f64> {
    weighted(trial, operation, |totals| Some(totals.host.mean_load))
}

/// CPU of a role in percent of all of the machine's cores.
pub fn cpu_percent(trial: &TrialRecord, operation: &str, role: &str) -> Option<f64> {
    weighted(trial, operation, |totals| {
        let used = own(totals, role)?.cpu_ns as f64 / totals.span_ns as f64;
        Some(used * 100.0 / totals.host.processors.max(1) as f64)
    })
}

/// Memory of a role, the most at the end of a phase, in MB: a client's is what is resident, a server's has each page once.
pub fn memory_mb(trial: &TrialRecord, operation: &str, role: &str) -> Option<f64> {
    let bytes = |own: &RoleTotals| match role {
        "server" => own.end_held_bytes(),
        _ => own.end_resident_bytes,
    };
    let ends =
        totals(trial, operation).filter_map(|totals| Some(bytes(own(totals, role)?) as f64 / MB));
    ends.reduce(f64::max)
}

fn own<'t>(totals: &'t PhaseTotals, role: &str) -> Option<&'t RoleTotals> {
    totals.roles.get(role)
}

/// Growth of the time of an operation from the fewest devices to the most, in percent; none with one number of devices, or where something was cut.
pub fn growth_percent(
    trial: &TrialRecord,
    (ingest, extract): (&str, &str),
    counts: &[u64],
) -> Option<f64> {
    let (first, last) = (*counts.first()?, *counts.last()?);
    let whole = counts.iter().all(|&count| is_whole(trial, ingest, count));
    if first == last || !whole {
        return None;
    }
    let (few, many) = (
        mean_ms(trial, extract, first)?,
        mean_ms(trial, extract, last)?,
    );
    (few > 0.0).then(|| (many / few - 1.0) * 100.0)
}

/// Arms with a valid trial.
pub fn believed(field: &Field) -> impl Iterator<Item = &Arm> {
    let arms = field.mixed.iter();
    arms.filter(|arm| field.valid_of(arm).next().is_some())
}
