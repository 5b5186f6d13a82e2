//! Hosts that roles ran on besides the coordinator's, phase by phase: their clocks, and what each did of a load that several made.

use crate::{claims, prelude::*};
use sensormark_result::measurement::{clock::MARKED_SHARE, shared_window::SharedWindow};

/// Tables of more rows than this are for programs.
const MOST_SHOWN: usize = 40;
/// The clocks of other hosts; none where all roles ran on one.
pub fn clocks(field: &Field) -> Table {
    let each = field.each().flat_map(|(side, arm, trial)| {
        trial.clocks.iter().map(move |clock| {
            row![
                &arm.label,
                side,
                &clock.phase,
                &clock.host,
                fixed(clock.offset_ns as f64 / 1e6, 3),
                fixed(clock.uncertainty_ns as f64 / 1e3, 1),
                significant(clock.drift_ppm, 3),
            ]
        })
    });
    Table::new(
        "clocks",
        "Clocks of other hosts, against the coordinator's",
        "implementation; side; phase; host; offset [ms]; uncertainty [± µs]; drift [ppm]",
    )
    .with(each)
}

/// Whether the clocks of a load's hosts leave more than a tenth of its time open, and so of its throughput.
pub fn is_uncertain(trial: &TrialRecord, load: &LoadRecord) -> bool {
    let worst_ns = trial
        .clocks
        .iter()
        .filter(|clock| clock.phase == load.phase)
        .map(|clock| clock.uncertainty_ns)
        .max()
        .unwrap_or(0);
    2.0 * worst_ns as f64 / 1e9 > MARKED_SHARE * load.counted().seconds
}

/// What each load host did; none where one host made the load.
pub fn rates(field: &Field) -> Table {
    let mut table = Table::new(
        "load_hosts",
        "What each load host did",
        "implementation; phase; host | operations [1/s]; of each client [1/s]; remark",
    );
    for (_, arm) in field.all() {
        // The names of figures are `NAME/PHASE/HOST`.
        let named = field
            .trials_of(arm)
            .flat_map(|trial| trial.figures.keys())
            .filter_map(|figure| figure.strip_prefix(names::HOST_RATE)?.strip_prefix('/')?.split_once('/'))
            .unique()
            .collect_vec();
        for phase in named.iter().map(|(phase, _)| *phase).unique() {
            let hosts = named
                .iter()
                .filter(|(of, _)| *of == phase)
                .map(|(_, host)| Host::of(field, arm, phase, host))
                .collect_vec();
            let slowest = hosts
                .iter()
                .map(|host| claims::mean(&host.of_client))
                .enumerate()
                .filter_map(|(place, mean)| Some((place, mean?)))
                .min_by(|one, other| one.1.total_cmp(&other.1))
                .filter(|_| hosts.len() > 1);
            for (place, host) in hosts.iter().enumerate() {
                let is_slowest = slowest.is_some_and(|(slowest, _)| slowest == place);
                table.row(row![
                    &arm.label,
                    phase,
                    host.name,
                    mean(&host.rates, "no figure"),
                    mean(&host.of_client, "not recorded"),
                    if is_slowest { "slowest" } else { "" },
                ]);
            }
        }
    }
    shown(table.noted("The slowest host is the one whose clients did the least, each by itself. A host may have one client more than another."))
}

/// What a host did of a load in each repetition, also in trials that do not count: a host at its limit is why one does not.
struct Host<'a> {
    name: &'a str,
    rates: claims::Values,
    of_client: claims::Values,
}

impl<'a> Host<'a> {
    fn of(field: &Field, arm: &Arm, phase: &str, name: &'a str) -> Self {
        let values = |kind: &str| {
            let figure_name = format!("{kind}/{phase}/{name}");
            field.trials_of(arm).map(|trial| figure(trial, &figure_name)).collect_vec()
        };
        let (rates, clients) = (values(names::HOST_RATE), values(names::HOST_CLIENTS));
        Self { name, of_client: claims::ratios(&rates, &clients), rates }
    }
}

/// The window that the hosts of each load shared; none where one host made every load.
pub fn windows(field: &Field) -> Table {
    let mut table = Table::new(
        "shared_windows",
        "The window that all hosts of a load shared",
        "implementation; phase | hosts; window [s]; whole load [s]; remark",
    );
    for arm in &field.mixed {
        let trials = || field.trials_of(arm);
        for phase in trials()
            .flat_map(|trial| &trial.loads)
            .filter(|load| load.shared.is_some() && !load.warm_up)
            .map(|load| &load.phase)
            .unique()
        {
            let shared = trials().filter_map(|trial| {
                let load = trial.loads.iter().find(|load| load.phase == *phase)?;
                Some((load, load.shared?))
            });
            table.row(window(&arm.label, phase, &shared.collect_vec()));
        }
    }
    shown(table.noted("A window is from the latest start of a host to the earliest end. Rates count over it, and latencies over the whole load. A window under 1 s is too short: rates then count over the whole load too."))
}

/// The row of a phase: its loads, and the windows that their hosts shared.
fn window(label: &str, phase: &str, shared: &[(&LoadRecord, SharedWindow)]) -> Vec<Cell> {
    let of = |value: fn(&(&LoadRecord, SharedWindow)) -> f64| {
        mean(&shared.iter().map(|one| Some(value(one))).collect_vec(), "no figure")
    };
    let hosts = shared.iter().map(|(_, window)| u64::from(window.hosts));
    let is_short = shared.iter().any(|(_, window)| !window.is_counted());
    row![
        label,
        phase,
        hosts.max().unwrap_or(0),
        of(|(_, window)| window.seconds),
        of(|(load, _)| load.seconds),
        if is_short { "too short" } else { "" },
    ]
}

/// The table, which people see where it is short.
fn shown(table: Table) -> Table {
    Table { is_detail: table.rows.len() > MOST_SHOWN, ..table }
}
