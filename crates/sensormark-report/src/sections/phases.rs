//! Tables of trials of phases: what each phase came to, what an operation cost, and what settling cost.

use crate::{
    costs,
    prelude::*,
    sections::{hosts, medians, network, resources},
};

/// Phases up to this many are shown to people each by itself.
const MOST_SHOWN: usize = 20;

/// The sections; none for other workloads.
pub fn sections(field: &Field) -> Vec<Section> {
    if !field.has_phases() {
        return vec![];
    }
    let costs = [together(field, &Costs::of(field)), network::table(field), settling(field)];
    let costs = Section::of("costs", "What it costs", costs);
    let mut phases = Section::new("phases", "Phases");
    // In the order in which they ran, those that only prepare included.
    let loads = field.trials.iter().flat_map(|trial| &trial.loads);
    let names = each_once(loads.map(|load| (load.phase.clone(), load.name.clone())));
    for name in &names {
        let mut table = load_table(field, name);
        table.is_detail = names.len() > MOST_SHOWN;
        phases.table(table);
    }
    if names.iter().any(|name| has_intervals(field, name)) {
        phases.paragraph(medians::NOTE);
    }
    vec![costs, phases]
}

/// What phases cost in which readings are written and questions asked at once: all of it, which nobody can divide.
fn together(field: &Field, costs: &Costs) -> Table {
    let title = "Phases that write and ask at once: what both cost together";
    let arms = || field.believed(&field.mixed);
    let rows = costs.together.iter().flat_map(|name| arms().map(move |arm| together_row(field, arm, name)));
    Table::new("costs_together", title, "implementation; phase | written [readings/s]; asked [questions/s]; server CPU [%]; client CPU [%]; server I/O [kB/s]; network [kB/s]").with(rows).noted("CPU is in percent of one core. I/O is what the server's processes read and wrote; network is the client's, both ways.")
}

fn together_row(field: &Field, arm: &Arm, name: &str) -> Vec<Cell> {
    let embedded = arm.implementation.embedded;
    let used = |role: &str, figure: fn(&RoleTotals, f64) -> Known| {
        field.mean(arm, |trial| {
            let totals = criteria::phase(trial, name)?.totals.as_ref()?;
            figure(totals.roles.get(role)?, totals.span_ns as f64 / 1e9)
        })
    };
    let rate = |writes: bool, rate: fn(&LoadRecord) -> Known| {
        let of = |trial: &TrialRecord| {
            Some(costs::of_phase(trial, name).filter(|load| load.writes == writes).filter_map(rate).sum())
        };
        geometric_mean(&field.figures(arm, of), NO_TRIAL)
    };
    let cpu = |role| used(role, |role, _| Some(role.cpu_percent_of_core));
    let server = if embedded { "trial" } else { "server" };
    let io = used(server, |role, seconds| Some(role.storage_bytes()? as f64 / 1e3 / seconds));
    let wire = used("trial", |role, seconds| Some(role.wire_bytes()? as f64 / 1e3 / seconds));
    let own_process = |cell: Cell| if embedded { Cell::missing(EMBEDDED) } else { cell };
    row![
        &arm.label,
        name,
        rate(true, LoadRecord::readings_per_second),
        rate(false, LoadRecord::operations_per_second),
        own_process(cpu("server")),
        cpu("trial"),
        io,
        own_process(wire),
    ]
}

/// The names of a phase and of a load in it.
type Name = (String, String);

fn find<'a>(trial: &'a TrialRecord, name: &Name) -> Option<&'a LoadRecord> {
    let mut loads = trial.loads.iter();
    loads.find(|load| load.phase == name.0 && load.name == name.1)
}

/// What the arm's valid trials timed in a load.
fn records<'a>(field: &'a Field, arm: &'a Arm, name: &Name) -> Vec<&'a LatencyRecord> {
    field
        .valid_of(arm)
        .filter_map(|trial| only_class(find(trial, name)?))
        .map(|class| &class.latency)
        .collect()
}

/// Whether somebody has too few operations in a load for a percentile.
fn has_intervals(field: &Field, name: &Name) -> bool {
    let mut arms = field.mixed.iter();
    arms.any(|arm| medians::lacks(&records(field, arm, name), |of| of.p99_ns))
}

fn load_table(field: &Field, name: &Name) -> Table {
    let Some(first) = field.trials.iter().find_map(|trial| find(trial, name)) else {
        return Table::default();
    };
    let has_intervals = has_intervals(field, name);
    let columns = format!(
        "operations [1/s]; readings [1/s]; mean [ms]; {}; p95 [ms]; p99 [ms]; max [ms]; server CPU [µs/op]; client CPU [µs/op]; failed; remark",
        medians::column(has_intervals)
    );
    let arms = field.mixed.iter().filter(|arm| field.trials_of(arm).any(|trial| find(trial, name).is_some()));
    let mut table = Table::of_arms(&table_id(name), &title(name, first), &columns, arms, |arm| {
        load_cells(field, arm, name, has_intervals)
    });
    // A column in which nothing is said is left out.
    if table.rows.iter().all(|row| row.last() == Some(&Cell::text(""))) {
        table.columns.pop();
        table.rows.iter_mut().for_each(|row| drop(row.pop()));
    }
    table
}

fn table_id((phase, load): &(String, String)) -> String {
    let text = if phase == load { format!("phase_{phase}") } else { format!("phase_{phase}_{load}") };
    text.replace(|one: char| !one.is_alphanumeric(), "_")
}

fn title(name: &Name, load: &LoadRecord) -> String {
    let (phase, own) = name;
    let title = if phase == own { phase.clone() } else { format!("{phase}, {own}") };
    let clients = counted(load.clients, "client");
    let latency = if load.open_loop {
        "open loop, latency from when each was due"
    } else {
        "closed loop, service time"
    };
    let prepares = if load.warm_up { ", only prepares" } else { "" };
    format!("{title}: {clients}, {latency}{prepares}")
}

fn load_cells(field: &Field, arm: &Arm, name: &Name, has_intervals: bool) -> Vec<Cell> {
    let loads = field.trials_of(arm).filter_map(|trial| Some((trial, find(trial, name)?))).collect_vec();
    let missing = if loads.iter().any(|(trial, load)| costs::of_phase(trial, &load.phase).count() > 1) {
        "several loads ran at once, and their CPU is not divided"
    } else {
        NOT_MEASURED
    };
    let cpu = |role: &str| {
        let of = |trial: &TrialRecord| {
            let load = find(trial, name)?;
            let is_alone = costs::of_phase(trial, &load.phase).count() == 1;
            let used = criteria::phase(trial, &load.phase)
                .filter(|_| is_alone)?
                .totals
                .as_ref()?
                .roles
                .get(role)?
                .cpu_ns as f64
                / 1e3;
            let operations = load.operations();
            (operations > 0).then(|| used / operations as f64)
        };
        mean(&field.figures(arm, of), missing)
    };
    let server = if arm.implementation.embedded { Cell::missing(EMBEDDED) } else { cpu("server") };
    let rate = |value: fn(&LoadRecord) -> Known| {
        geometric_mean(
            &field.figures(arm, |trial| value(find(trial, name)?).filter(|rate| *rate > 0.0)),
            NO_TRIAL,
        )
    };
    let records = records(field, arm, name);
    let failed = loads.iter().map(|(_, load)| load.failed()).total();
    [
        row![rate(LoadRecord::operations_per_second), rate(LoadRecord::readings_per_second)],
        medians::cells(&records, has_intervals, &[|of| of.p95_ns, |of| of.p99_ns], NO_TRIAL),
        row![server, cpu("trial"), failed, remark(&loads)],
    ]
    .concat()
}

/// The class of a load's operations with most of them; as a rule the only one.
fn only_class(load: &LoadRecord) -> Option<&ClassRecord> {
    load.classes.values().filter(|class| class.operations > 0).max_by_key(|class| class.operations)
}

fn remark(loads: &[(&TrialRecord, &LoadRecord)]) -> String {
    loads
        .iter()
        .flat_map(|(trial, load)| {
            [
                (hosts::is_uncertain(trial, load), "throughput uncertain by its hosts' clocks"),
                (load.not_supported.is_some(), "not supported"),
                (load.cut_short().is_some(), "cut"),
                (load.fell_behind() > 0, "fell behind"),
                (load.client_side.is_some(), "done in the client"),
            ]
        })
        .filter(|(is, _)| *is)
        .map(|(_, remark)| remark)
        .sorted()
        .dedup()
        .join(", ")
}

/// What settling cost, and the disk after it. Each settling of the steps has a row.
fn settling(field: &Field) -> Table {
    let title = "Settling: bringing the database to rest";
    let prefix = format!("{}/", names::DISK_SETTLED);
    let rows = field.believed(&field.mixed).flat_map(|arm| {
        // Phases after which disk at rest was measured.
        field
            .valid_of(arm)
            .flat_map(|trial| trial.figures.keys())
            .filter_map(|name| name.strip_prefix(&prefix))
            .sorted()
            .dedup()
            .map(move |phase| settling_row(field, arm, phase))
    });
    Table::new(
        "settling_phases",
        title,
        "implementation; phase | time [s]; CPU [s]; I/O [MB]; data [MB]; logs apart [MB]; bound of the logs",
    )
    .with(rows)
    .noted(LOGS_APART)
}

fn settling_row(field: &Field, arm: &Arm, name: &str) -> Vec<Cell> {
    let [all, logs] = [names::DISK_SETTLED, names::DISK_SETTLED_LOGS].map(|kind| format!("{kind}/{name}"));
    let data = field.figures(arm, |trial| Some(disk::data_bytes(trial, &all, &logs)? / 1e6));
    let apart = field.mean(arm, |trial| Some(figure(trial, &logs)? / 1e6));
    let [_, bound] = logs_apart(field, arm);
    let disk = [mean(&data, NO_DISK), apart, bound];
    [&row![&arm.label, name][..], &resources::settled(field, arm, name), &disk].concat()
}
