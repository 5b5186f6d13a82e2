//! How large writes were: what was sent in each phase that writes, the flushes of the disk in it, and what each store advises.

use crate::prelude::*;

/// The section; empty where nothing was written.
pub fn section(field: &Field) -> Section {
    Section::of("writes", "Size of a write", [sent(field), advised(field)])
}

/// What one phase that writes came to.
struct Written<'a> {
    phase: &'a PhaseRecord,
    writes: f64,
    readings: f64,
    statements: f64,
    /// Bytes in datagrams.
    datagrams: f64,
    /// Whether it does nothing else.
    only: bool,
}

fn of_loads<'a>(trial: &'a TrialRecord, name: &str) -> Option<Written<'a>> {
    let loads = trial.loads.iter().filter(|load| load.phase == name).collect_vec();
    let sum = |of: &dyn Fn(&LoadRecord) -> u64| {
        loads.iter().filter(|load| load.writes).map(|load| of(load)).total() as f64
    };
    let writes = sum(&LoadRecord::operations);
    (writes > 0.0).then_some(Written {
        phase: criteria::phase(trial, name)?,
        writes,
        readings: sum(&LoadRecord::readings),
        statements: sum(&|load| load.statements),
        datagrams: sum(&|load| load.datagram_bytes),
        only: loads.iter().all(|load| load.writes),
    })
}

/// Machine-tool's writer counts statements over the whole trial, its warm-up included: the phase has its share by readings. Nobody acknowledges datagrams, so
/// nobody knows how many readings of a phase they carried; each is a write and a statement.
fn of_writer(trial: &TrialRecord) -> Option<Written<'_>> {
    let phase = criteria::measured(trial)?;
    let statements = figure(trial, names::STATEMENTS)?;
    let attempted = trial.ledger.as_ref()?.attempted.max(1) as f64;
    let writes = phase.operations as f64;
    let acknowledged = trial.latencies.get(names::SENSOR_DELAY);
    let readings = match acknowledged.map_or(0, |latency| latency.summary.count) {
        0 => writes * attempted / statements,
        readings => readings as f64,
    };
    let share = readings / attempted;
    (statements > 0.0 && writes > 0.0).then_some(Written {
        phase,
        writes,
        readings,
        statements: statements * share,
        datagrams: figure(trial, names::DATAGRAM_BYTES).unwrap_or(0.0) * share,
        only: true,
    })
}

fn sent(field: &Field) -> Table {
    let mut table = Table::new(
        "writes",
        "What was written at a time",
        "implementation; phase | writes; readings a write; statements a write; sent a write [kB]; flushes; flushes a write",
    );
    for arm in &field.writes {
        table.row(row(field, arm, "measured", &|trial| of_writer(trial)));
    }
    for arm in &field.mixed {
        for name in field
            .trials_of(arm)
            .flat_map(|trial| &trial.loads)
            .filter(|load| load.writes && !load.warm_up)
            .map(|load| &load.phase)
            .unique()
        {
            table.row(row(field, arm, name, &|trial| of_loads(trial, name)));
        }
    }
    table.noted("A write is what a client hands over at a time; statements are the requests that it became. Sent: all that the client sent on the wire in the phase, headers included, a write. Flushes: those that the device of the data folder completed in the phase, everybody's; the kernel merges flushes that wait for each other.")
}

type Find<'f> = &'f dyn for<'a> Fn(&'a TrialRecord) -> Option<Written<'a>>;

fn row(field: &Field, arm: &Arm, name: &str, find: Find<'_>) -> Vec<Cell> {
    let of = |value: &dyn Fn(&TrialRecord, &Written<'_>) -> Known| {
        field.figures(arm, |trial| value(trial, &find(trial)?))
    };
    let flushes = |written: &Written<'_>| Some(written.phase.totals.as_ref()?.host.disk_flushes? as f64);
    let mixed = field.valid_of(arm).any(|trial| find(trial).is_some_and(|written| !written.only));
    let a_write = |count: fn(&Written<'_>) -> f64| {
        geometric_mean(&of(&|_, written| Some(count(written) / written.writes)), NO_TRIAL)
    };
    let sent = of(&|trial, written| {
        let totals = written.phase.totals.as_ref()?;
        let bytes = criteria::client_in(trial, totals)?.sent_wire_bytes? as f64 + written.datagrams;
        Some(bytes / written.writes / 1e3)
    });
    row![
        &arm.label,
        name,
        mean(&of(&|_, written| Some(written.writes)), NO_TRIAL),
        a_write(|written| written.readings),
        a_write(|written| written.statements),
        match (arm.implementation.embedded, mixed) {
            (true, _) => Cell::missing("embedded: nothing is sent"),
            (_, true) => Cell::missing("the phase asks, too"),
            _ => geometric_mean(&sent, NOT_MEASURED),
        },
        mean(&of(&|_, written| flushes(written)), "not counted"),
        mean(&of(&|_, written| Some(flushes(written)? / written.writes)), "not counted"),
    ]
}

fn advised(field: &Field) -> Table {
    let rows = field.writers().filter_map(|arm| {
        let mut sizes = field.trials_of(arm).map(|trial| &trial.write_sizes);
        let sizes = sizes.find(|sizes| !sizes.is_empty())?;
        let (least, most) = sizes
            .iter()
            .map(|size| size.readings_per_write as f64)
            .minmax_by(f64::total_cmp)
            .into_option()?;
        let [least, most] = [least, most].map(|count| fixed(count, 0));
        Some(row![
            &arm.label,
            Cell::count(sizes.iter().map(|size| size.readings).max(), ""),
            Cell::maybe(sizes.iter().map(|size| size.bytes as f64 / 1e3).reduce(f64::max), ""),
            if least == most { most } else { format!("{least} to {most}") },
            &sizes[0].advice,
            &sizes[0].link,
        ])
    });
    let title = "What each database's documentation advises for loads";
    Table::new("advised_writes", title, "implementation; readings; bytes [kB]; readings a write; advice; link").with(rows).noted("A load writes the smaller of both, unless the workload or --set batch= says how many readings. Bytes are estimated from the table's names and types.")
}
