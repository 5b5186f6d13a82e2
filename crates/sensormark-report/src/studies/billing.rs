//! The billing study: GridDB and MariaDB behind a sensor billing application, 160 clients.
//!
//! One operation of ingest updates (or adds) a meter and inserts its reading; a bill is the sum of one month of one device. Each test was run three times and
//! the median taken.

use super::figure::Figure;
use super::ingest_rate;
use super::quantity::{Quantity, amount, rate, time};
use super::select::{Loads, Metric, Results, loads};
use super::study::{Declaration, Study};
use super::table::{NOT_MEASURED, Row, beside, column, ratio, section, table, words};
use crate::claims::{Claim, Found, claim, is_within, mean};
use crate::field::Arm;
use crate::tables::{Cell, Section, Table};
use sensormark_data::number::fixed;
use sensormark_result::measurement::record::TrialRecord;
use sensormark_store::{Index, Layout, Shape, WriteMethod};
use sensormark_workload::billing::{ALONE, DEVICES, EXTRACT, INGEST, NAME};

/// The study.
pub const STUDY: Study = Study {
    workload: NAME,
    title: "Benchmarking a Sensor Billing Application using GridDB and MariaDB",
    authors: &["Fixstars"],
    venue: "white paper, revision 1.0, 3 October 2018",
    versions: &[("GridDB", "4.0.0 Community Edition"), ("MariaDB", "5.5.56")],
    system: "CentOS 7.5, Java 1.8.0 update 181; client of MariaDB: MySQL Connector 8.0.11",
    notes: &[
        "One ingest operation updates or adds a meter and inserts a reading.",
        "The figures are the median of three runs, without a spread.",
    ],
    notes_title: "What the study leaves open:",
    declare: |results| Some(Billing::new(results).declare()),
    draw: |_| Vec::new(),
};

const GRIDDB: &str = "GridDB";
const MARIADB: &str = "MariaDB";
/// Clients of the study, one a thread.
pub const THREADS: u32 = 160;
/// Readings of one device in its ingest test: a year, hourly.
pub const RECORDS_PER_DEVICE: u32 = 8_760;
/// Readings in one of its bills: a month.
pub const RECORDS_PER_BILL: usize = 744;
/// Operations a second, by database.
pub const INGEST_RATES: [(&str, f64); 2] = [(GRIDDB, 31_916.3), (MARIADB, 2_423.3)];
/// A bill in ms, by devices: GridDB's and MariaDB's.
pub const EXTRACT_MS: [(u64, [f64; 2]); 3] =
    [(1_600, [84.3, 160.6]), (4_000, [82.9, 220.0]), (6_400, [82.6, 231.4])];
/// By side and operation: load average, CPU in percent as printed, and memory in MB, of GridDB and of MariaDB.
pub const RESOURCES: [(&str, &str, [[f64; 3]; 2]); 4] = [
    ("server", INGEST, [[2.16, 86.7, 3_775.0], [6.24, 74.3, 3_798.0]]),
    ("server", EXTRACT, [[0.23, 6.1, 3_795.0], [1.47, 100.0, 3_816.0]]),
    ("client", INGEST, [[0.36, 22.3, 584.0], [2.52, 75.0, 1_832.0]]),
    ("client", EXTRACT, [[0.08, 72.0, 557.0], [0.23, 13.0, 825.0]]),
];

/// From how many to how many devices, at least, growth is judged: as many times as the study's.
const TIMES_AS_MANY: f64 = 4.0;
/// A factor of the study's holds from so much of it on, because machines and versions differ.
const ENOUGH: f64 = 0.5;
/// What is called level, in percent.
const LEVEL_PERCENT: f64 = 10.0;
/// Why there is nothing for a number of devices.
const NOT_REACHED: &str = "not measured: see the warnings";

/// A run, and what of it stands for the study's two.
struct Billing<'a> {
    results: Results<'a>,
    /// Numbers of devices that are billed, ascending.
    counts: Vec<u64>,
    /// The study's databases, as it has them: GridDB's time series, and MariaDB's table whose only index is on the meter, with the foreign key where that
    /// was measured.
    found: [Found<'a, 'static>; 2],
}

fn with_devices(operation: &str, count: u64) -> Loads {
    loads(operation).with(DEVICES, count)
}

/// The rate of ingest that stands beside the study's: of the load by itself, with one device a client, where there is one; else over all loads.
fn ingest_overall() -> Metric<'static> {
    let [alone, all] = [loads(INGEST).with(ALONE, true), loads(INGEST)];
    let [alone, all] = [alone, all].map(Loads::operations_a_second);
    Metric::new(move |trial| alone.of(trial).or_else(|| all.of(trial)))
}

/// Mean time of a bill with this many devices.
fn bill(count: u64) -> Quantity<'static> {
    let name = format!("{} devices", grouped(count));
    time(name, "ms", with_devices(EXTRACT, count).mean_ms()).or(NOT_REACHED)
}

/// The resources of a side of an operation that the study printed.
fn resources(operation: &str, side: &str) -> [Quantity<'static>; 3] {
    let role = if side == "server" { "server" } else { "trial" };
    [
        amount("load average", "", loads(operation).load_average()),
        amount("CPU", "%", loads(operation).cpu_percent(role)),
        amount("memory", "MB", loads(operation).memory_mb(role)),
    ]
}

fn grouped(count: u64) -> String {
    fixed(count as f64, 0)
}

impl<'a> Billing<'a> {
    fn new(results: Results<'a>) -> Self {
        let nearest = |title: &'static str, is_shape: fn(&Layout) -> bool| {
            let found = results.nearest(title, |one| {
                let own = &one.layout;
                (!is_shape(own), !own.foreign_key, own.write != WriteMethod::Usual)
            });
            (title, found)
        };
        Self {
            results,
            counts: results.numbers(DEVICES, |load| !load.labels.contains_key(ALONE)),
            found: [
                nearest(GRIDDB, |own| own.shape == Shape::NativeTimeSeries),
                nearest(MARIADB, |own| own.index == Index::Series && own.shape == Shape::RowPerReading),
            ],
        }
    }

    fn declare(&self) -> Declaration {
        let is_empty = self.found.iter().all(|(_, arm)| arm.is_none());
        let setting = format!(
            "Study: {}. Its server: Azure B2ms, 2 cores, 4 GB; clients: 3 x B2ms, 2 x A2, 2 cores each; {THREADS} clients, {RECORDS_PER_DEVICE} readings a device. Ratios tell of the machines, versions and sizes as much as of the databases.",
            STUDY.title
        );
        Declaration {
            tables: vec![self.tables()],
            claims: if is_empty { Vec::new() } else { self.claims() },
            instead_of_claims: vec!["Neither GridDB nor MariaDB has a valid trial here, so none of the study's claims can be judged.".to_owned()],
            figures: self.figures(),
            setting: (!is_empty).then_some(setting),
            published: self.published(),
            ..Declaration::default()
        }
    }

    fn claims(&self) -> Vec<Claim> {
        let (results, found) = (self.results, self.found);
        let [griddb, mariadb] = found;
        let fast = 13.0 * ENOUGH;
        let slow = 44.0 * ENOUGH;
        vec![
            claim(
                "GridDB ingests 13 times as fast as MariaDB",
                format!("{fast} times or more (half of 13)"),
                |claim| {
                    let [one, other] = results.both(claim, found, &ingest_overall())?;
                    claim.over(&one, fast, &other, "operations a second");
                    Some(())
                },
            ),
            claim(
                "GridDB's bill takes as long with four times the devices (1,600 to 6,400; within 10 %)",
                format!("-{LEVEL_PERCENT} to +{LEVEL_PERCENT} %"),
                |claim| self.grows(claim, griddb, -LEVEL_PERCENT, LEVEL_PERCENT),
            ),
            claim(
                "MariaDB's bill takes 44 % longer with four times the devices (1,600 to 6,400)",
                format!("+{slow} % or more (half of 44 %)"),
                |claim| self.grows(claim, mariadb, slow, f64::INFINITY),
            ),
            claim(
                "load average is lower with GridDB, on both sides",
                "lower at ingest and at extract",
                |claim| {
                    claim.aside("one machine here, so one load average for both sides".to_owned());
                    for operation in [INGEST, EXTRACT] {
                        let [one, other] = results.both(claim, found, &loads(operation).load_average())?;
                        claim.under(&one, &other, &format!("at {operation}"));
                    }
                    Some(())
                },
            ),
            claim("GridDB's client uses less memory", "less at ingest and at extract", |claim| {
                for operation in [INGEST, EXTRACT] {
                    let [one, other] = results.both(claim, found, &loads(operation).memory_mb("trial"))?;
                    claim.under(&one, &other, &format!("MB at {operation}"));
                }
                Some(())
            }),
        ]
    }

    /// Judges how a database's bills slow down from the fewest devices to the most: by a percentage within these borders.
    fn grows(&self, claim: &mut Claim, found: Found<'a, '_>, low: f64, high: f64) -> Option<()> {
        let arm = claim.needs(found)?;
        let values = self.results.values(arm, &self.growth_percent());
        let Some(growth) = mean(&values) else {
            claim.missing("several numbers of devices, all loaded");
            return None;
        };
        let (first, last) = (*self.counts.first()?, *self.counts.last()?);
        let text = format!(
            "{} {}{} % from {} to {} devices",
            arm.label,
            if growth > 0.0 { "+" } else { "" },
            fixed(growth, 1),
            grouped(first),
            grouped(last)
        );
        if (last as f64) < first as f64 * TIMES_AS_MANY {
            claim.missing("four times as many devices");
            claim.aside(text);
            return None;
        }
        claim.part(is_within(&values, low, high), text);
        Some(())
    }

    /// Growth of a bill's time from the fewest devices to the most, in percent; none with one number of devices, or where something was cut.
    fn growth_percent(&self) -> Metric<'a> {
        let counts = self.counts.clone();
        Metric::new(move |trial| {
            let (first, last) = (*counts.first()?, *counts.last()?);
            let is_whole = |count: &u64| {
                let load = with_devices(INGEST, *count).first(trial);
                load.is_some_and(|load| load.operations() > 0 && load.cut.is_none())
            };
            if first == last || !counts.iter().all(is_whole) {
                return None;
            }
            let grown = bill(last).metric.over(bill(first).metric).of(trial)?;
            Some((grown - 1.0) * 100.0)
        })
    }

    fn tables(&self) -> Section {
        let title = "Billing: the study's tables, our figures";
        let tables =
            [self.ingest(), ingest_rate::table(self.results), self.extract(), self.use_of_resources()];
        section("billing", title, tables)
    }

    fn ingest(&self) -> Table {
        let results = self.results;
        let by_devices = |&count: &u64| {
            let name = format!("{} devices", grouped(count));
            rate(name, "1/s", with_devices(INGEST, count).operations_a_second())
        };
        let overall = rate("overall", "1/s", ingest_overall());
        let rates = self.counts.iter().map(by_devices).chain([overall]);
        let rates: Vec<_> = rates.map(|rate| rate.or(NOT_REACHED)).collect();
        let row = |arm: &'a Arm| -> Row {
            let mut columns = results.columns(arm, &rates);
            let stored = |trial: &TrialRecord| Some(trial.ledger.as_ref()?.stored);
            let stored = results.field.valid_of(arm).next().and_then(stored);
            let stored = Cell::count(stored, "not counted");
            columns.push(column("rows stored", "", stored));
            (words([&arm.label]), columns)
        };
        let title = "Ingest: operations a second (more is better)";
        let rows = results.arms().map(row);
        let mut table = table("billing_ingest", title, &["implementation"], rows);
        table.note("An operation updates a meter (or adds it) and inserts its reading. Under a number of devices: while devices were added up to it. Overall: of the load by itself (`ingest_devices`), where there is one.");
        self.note_cuts(&mut table);
        table
    }

    /// Says whose ingest was cut: its bills are then of fewer readings.
    fn note_cuts(&self, table: &mut Table) {
        for arm in self.results.arms() {
            if let Some(cut) = loads(INGEST).cut(self.results, arm) {
                table.note(format!("{}: ingest was cut: {cut}.", arm.label));
            }
        }
    }

    fn extract(&self) -> Table {
        let mut times: Vec<_> = self.counts.iter().map(|&count| bill(count)).collect();
        if times.len() > 1 {
            let growth = amount("growth", "%", self.growth_percent());
            times.push(growth.or("something was cut"));
        }
        let title = "Extract: ms a bill, the sum of one month of one device (fewer is better)";
        let mut table = self.results.table("billing_extract", title, &times);
        table.note("Mean of all bills. All clients ask at once, in a closed loop, so a bill's time includes its wait for others. growth: from the fewest devices to the most.");
        self.note_cuts(&mut table);
        table
    }

    fn use_of_resources(&self) -> Table {
        let short = "too short";
        let row = |arm: &'a Arm, operation: &str| -> Row {
            let server = match arm.implementation.embedded {
                true => "embedded: one process, shown as the client's",
                false => short,
            };
            let [load, server_cpu, server_memory] = resources(operation, "server");
            let [_, client_cpu, client_memory] = resources(operation, "client");
            let used = [
                load.or(short),
                server_cpu.called("server CPU").or(server),
                server_memory.called("server memory").or(server),
                client_cpu.called("client CPU").or(short),
                client_memory.called("client memory").or(short),
            ];
            let columns = self.results.columns(arm, &used);
            (words([&arm.label, operation]), columns)
        };
        let rows = self.results.arms().flat_map(|arm| [INGEST, EXTRACT].map(|one| row(arm, one)));
        let title = "Use of resources, server and client";
        table("billing_resources", title, &["implementation", "phase"], rows).noted("load average: the kernel's, of one minute and the whole machine. Where server and clients share a machine, it is that of both. In a phase under a minute it tells mostly of what was before. CPU is in percent of all cores. memory: resident at the end of a phase.")
    }

    /// The databases that were measured, each with its place among the study's two.
    fn measured(&self) -> impl Iterator<Item = (usize, &'static str, &'a Arm)> {
        let found = self.found.into_iter().enumerate();
        found.filter_map(|(place, (title, arm))| Some((place, title, arm?)))
    }

    fn published(&self) -> Vec<Table> {
        let results = self.results;
        let overall = rate("", "1/s", ingest_overall());
        let ingest = self.measured().map(|(place, title, arm)| {
            let here = overall.cell(results, arm);
            (words([title]), beside("1/s", INGEST_RATES[place].1, here))
        });
        let title = "Ingest, operations a second: the study's and ours";
        let mut ingest = table("published_ingest", title, &["database"], ingest);
        for (_, title, arm) in self.measured() {
            ingest.note(format!("{title}: here {}.", arm.label));
        }
        let extract = self.measured().flat_map(|(place, title, arm)| {
            let row = move |row: usize| self.published_extract(row, place, title, arm);
            (0..EXTRACT_MS.len()).map(row)
        });
        let title = "Extract, ms a bill: the study's and ours";
        let keys = ["database", "devices, study"];
        let extract = table("published_extract", title, &keys, extract).noted("Where numbers of devices differ, our fewest stand beside the study's fewest and our most beside its most: compare how they grow.");
        let used = self.measured().flat_map(|(place, title, arm)| {
            RESOURCES.iter().flat_map(move |(side, operation, printed)| {
                let figures = resources(operation, side).into_iter().zip(printed[place]);
                figures.map(move |(used, printed)| {
                    let between = if used.unit.is_empty() { "" } else { ", " };
                    let name = [&used.name, used.unit].join(between);
                    let here = used.or("too short").cell(results, arm);
                    (words([title, side, operation, &name]), beside("", printed, here))
                })
            })
        });
        let keys = ["database", "side", "phase", "figure"];
        let used = table("published_resources", "Resources: the study's and ours", &keys, used).noted("The study has a machine for each side, and its memory is what is in use there. Ours is one machine: its load average stands on both sides, and memory is that of each side's processes. CPU is in percent of all cores.");
        vec![ingest, extract, used]
    }

    /// What of ours stands beside a number of devices of the study's: the same, or the fewest beside the fewest and the most beside the most.
    fn published_extract(&self, row: usize, place: usize, title: &str, arm: &Arm) -> Row {
        let (devices, printed) = EXTRACT_MS[row];
        let own = match row {
            _ if self.counts.contains(&devices) => Some(devices),
            0 => self.counts.first().copied(),
            _ if row + 1 == EXTRACT_MS.len() && self.counts.len() > 1 => self.counts.last().copied(),
            _ => None,
        };
        let here = time("", "ms", Metric::new(|trial| bill(own?).metric.of(trial)));
        let here = here.or("no such number of devices here");
        let here = here.cell(self.results, arm);
        let ratio = ratio(&here, printed[place]);
        let columns = vec![
            column("study", "ms", Cell::number(printed[place])),
            column("devices, here", "", Cell::count(own, NOT_MEASURED)),
            column("here", "ms", here),
            column("here / study", "", ratio),
        ];
        (vec![Cell::text(title), Cell::Count(devices)], columns)
    }

    fn figures(&self) -> Vec<Figure> {
        let results = self.results;
        let overall = rate("", "1/s", ingest_overall());
        let ingest = Figure::bars("ingest", "Ingest", ("operations", "1/s")).beside(
            results.arms(),
            |arm| overall.cell(results, arm),
            INGEST_RATES.iter().zip(self.found).map(|((title, rate), (_, arm))| (*title, arm, *rate)),
        );
        let printed = EXTRACT_MS.into_iter().flat_map(|(devices, ms)| {
            [GRIDDB, MARIADB].into_iter().zip(ms).map(move |(title, ms)| (title, Cell::Count(devices), ms))
        });
        let (x, y) = (("devices", ""), ("a bill", "ms"));
        let bills = Figure::lines("extract", "Mean time of a bill over devices", x, y)
            .over(results, &self.counts, bill)
            .all_published(printed);
        let mut figures = vec![ingest, ingest_rate::figure(results), bills];
        for operation in [INGEST, EXTRACT] {
            let kinds = [("load", ""), ("cpu", "% of all cores"), ("memory", "MB")];
            figures.extend((0..3).map(|place| self.drawn_resource(operation, place, kinds[place])));
        }
        figures
    }

    /// A resource of both sides; `place` is its place among those that the study printed.
    fn drawn_resource(&self, operation: &str, place: usize, (id, unit): (&str, &str)) -> Figure {
        let name = &resources(operation, "server")[place].name;
        let here = self.results.arms().flat_map(|arm| {
            ["server", "client"].map(|side| {
                let used = resources(operation, side)[place].cell(self.results, arm);
                (arm.label.clone(), Some(Cell::text(side)), used)
            })
        });
        let rows = RESOURCES.iter().filter(|(_, of, _)| *of == operation);
        let printed = rows.flat_map(|(side, _, figures)| {
            self.found.iter().zip(figures).map(move |((title, arm), figures)| {
                let label = arm.map_or(*title, |arm| arm.label.as_str());
                (label, Cell::text(*side), figures[place])
            })
        });
        let (id, title) = (format!("{operation}_{id}"), format!("During {operation}: {name}"));
        Figure::groups(&id, &title, "side", (name, unit)).all_here(here).all_published(printed)
    }
}
