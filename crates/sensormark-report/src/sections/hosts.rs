//! Hosts that roles ran on besides the coordinator's, phase by phase: their clocks, and what each did of a load that several made.

use crate::prelude::*;
use sensormark_result::measurement::{clock::MARKED_SHARE, shared_window::SharedWindow};

/// Tables of more rows than this are for programs.
const MOST_SHOWN: usize = 40;
/// What is said of a window in which there is no whole second.
const TOO_SHORT: &str = "too short";
/// What is said of the slowest host.
const SLOWEST: &str = "slowest";

/// The clocks of other hosts; none where all roles ran on one.
pub fn clocks(field: &Field) -> Table {
    let mut table = Table::new(
        "clocks",
        "Clocks of other hosts, against the coordinator's",
        &["implementation", "side", "phase", "host", "offset [ms]", "uncertainty [± µs]", "drift [ppm]"],
    );
    for (side, arm, trial) in field.each() {
        for clock in &trial.clocks {
            table.row(row![
                &arm.label,
                side,
                &clock.phase,
                &clock.host,
                fixed(clock.offset_ns as f64 / 1e6, 3),
                fixed(clock.uncertainty_ns as f64 / 1e3, 1),
                significant(clock.drift_ppm, 3),
            ]);
        }
    }
    table
}

/// Whether the clocks of a load's hosts leave more than a tenth of its time open, and so of its throughput.
pub fn is_uncertain(trial: &TrialRecord, load: &LoadRecord) -> bool {
    let clocks = trial.clocks.iter().filter(|clock| clock.phase == load.phase);
    let worst_ns = clocks.map(|clock| clock.uncertainty_ns).max().unwrap_or(0);
    2.0 * worst_ns as f64 / 1e9 > MARKED_SHARE * load.counted().seconds
}

/// What each load host did; none where one host made the load.
pub fn rates(field: &Field) -> Table {
    let mut table = Table::new(
        "load_hosts",
        "What each load host did",
        &["implementation", "phase", "host", "operations [1/s]", "of each client [1/s]", "remark"],
    );
    table.keys = 3;
    for (_, arm) in field.all() {
        // The names of figures are `NAME/PHASE/HOST`.
        let figures = field.trials_of(arm).flat_map(|trial| trial.figures.keys());
        let named = figures
            .filter_map(|figure| figure.strip_prefix(names::HOST_RATE)?.strip_prefix('/')?.split_once('/'));
        let named: Vec<(&str, &str)> = each_once(named);
        for phase in each_once(named.iter().map(|(phase, _)| *phase)) {
            let hosts = named.iter().filter(|(of, _)| *of == phase).map(|(_, host)| *host);
            let hosts: Vec<&str> = hosts.collect();
            let rates = values(field, arm, names::HOST_RATE, phase, &hosts);
            let clients = values(field, arm, names::HOST_CLIENTS, phase, &hosts);
            let of_client = |(rates, clients): (&Measured, &Measured)| {
                let each = rates.iter().zip(clients);
                each.map(|(rate, clients)| Some(rate.as_ref()? / clients.as_ref()?)).collect()
            };
            let of_clients: Vec<Measured> = rates.iter().zip(&clients).map(of_client).collect();
            let slowest = least(&of_clients);
            for (number, host) in hosts.iter().enumerate() {
                let remark = (slowest == Some(number)).then_some(SLOWEST);
                table.row(row![
                    &arm.label,
                    phase,
                    *host,
                    mean(&rates[number], "no figure"),
                    mean(&of_clients[number], "not recorded"),
                    remark.unwrap_or_default(),
                ]);
            }
        }
    }
    table.note("The slowest host is the one whose clients did the least, each by itself. A host may have one client more than another.");
    shown(table)
}

/// The window that the hosts of each load shared; none where one host made every load.
pub fn windows(field: &Field) -> Table {
    let mut table = Table::new(
        "shared_windows",
        "The window that all hosts of a load shared",
        &["implementation", "phase", "hosts", "window [s]", "whole load [s]", "remark"],
    );
    table.keys = 2;
    for arm in &field.mixed {
        let trials = || field.trials_of(arm);
        let loads = trials().flat_map(|trial| &trial.loads);
        let loads = loads.filter(|load| load.shared.is_some() && !load.warm_up);
        for phase in each_once(loads.map(|load| load.phase.as_str())) {
            let shared = trials().filter_map(|trial| {
                let load = trial.loads.iter().find(|load| load.phase == phase)?;
                Some((load, load.shared?))
            });
            table.row(window(&arm.label, phase, &shared.collect::<Vec<_>>()));
        }
    }
    table.note("A window is from the latest start of a host to the earliest end. Rates count over it, and latencies over the whole load. A window under 1 s is too short: rates then count over the whole load too.");
    shown(table)
}

/// The row of a phase: its loads, and the windows that their hosts shared.
fn window(label: &str, phase: &str, shared: &[(&LoadRecord, SharedWindow)]) -> Vec<Cell> {
    let of = |value: fn(&LoadRecord, &SharedWindow) -> f64| {
        let values = shared.iter().map(|(load, window)| Some(value(load, window)));
        mean(&values.collect::<Measured>(), "no figure")
    };
    let hosts = shared.iter().map(|(_, window)| u64::from(window.hosts));
    let is_short = shared.iter().any(|(_, window)| !window.is_counted());
    let remark = if is_short { TOO_SHORT } else { "" };
    row![
        label,
        phase,
        hosts.max().unwrap_or(0),
        of(|_, window| window.seconds),
        of(|load, _| load.seconds),
        remark,
    ]
}

/// A figure of one host, by repetition.
type Measured = Vec<Known>;

/// A figure of each of these, also of trials that do not count: a host at its limit is why one does not.
fn values(field: &Field, arm: &Arm, name: &str, phase: &str, whose: &[&str]) -> Vec<Measured> {
    let of = |one: &&str| {
        let name = format!("{name}/{phase}/{one}");
        let trials = field.trials_of(arm);
        trials.map(|trial| figure(trial, &name)).collect()
    };
    whose.iter().map(of).collect()
}

/// Which of several has the least mean.
fn least(of: &[Measured]) -> Option<usize> {
    let means = of.iter().map(|values| {
        let known: Vec<f64> = values.iter().copied().flatten().collect();
        (!known.is_empty()).then(|| known.iter().sum::<f64>() / known.len() as f64)
    });
    let known = means.enumerate().filter_map(|(place, mean)| Some((place, mean?)));
    let least = known.min_by(|one, other| one.1.total_cmp(&other.1));
    least.map(|(place, _)| place).filter(|_| of.len() > 1)
}

/// The table, which people see where it is short.
fn shown(mut table: Table) -> Table {
    table.is_detail = table.rows.len() > MOST_SHOWN;
    table
}
