//! What was found at each size, and what it comes to at the size that the data will have: a curve for each figure that grows.

use crate::{
    prelude::*,
    studies::{HERE, figure, point},
};
use sensormark_data::iot_platform::Homes;
use sensormark_result::statistics::projection::{Band, FARTHEST, Open, Point, project, project_disk};
use sensormark_workload::own;

const MB: f64 = 1e6;
const MS: f64 = 1e6;
/// A year of a shipped workload's data, in seconds.
const YEAR: f64 = 365.0 * 86_400.0;
/// An hour, in seconds.
const HOUR: f64 = 3_600.0;
/// What the column "figures" says of a point that nobody measured.
const PROJECTED: &str = "projected";

/// What a latency is called, and how it is taken from a summary.
type Latency = (&'static str, fn(&LatencySummary) -> Known);

/// Latencies; the first that is known is shown.
pub const LATENCIES: [Latency; 3] = [
    ("p99", |summary| summary.p99_ns.map(|ns| ns as f64)),
    ("median", |summary| summary.p50_ns.map(|ns| ns as f64)),
    ("mean", |summary| Some(summary.mean_ns)),
];

/// Readings that the user's data will have; a year of it where a shipped workload was measured.
pub fn your_readings(run: &RunRecord) -> Known {
    let number = |name: &str| run.parameters.get(name)?.as_f64();
    if run.workload == own::NAME {
        return Some(own_rate(run)? * number("keep_ns")? / 1e9);
    }
    let readings_a_second = match run.workload.as_str() {
        // Nine readings of each every ten seconds.
        "devops" => number("hosts")? * 0.9,
        "billing" => {
            run.parameters.get("devices")?.as_array()?.last()?.as_f64()?.max(number("grown").unwrap_or(0.0))
                / HOUR
        }
        "iot-platform" => number("homes")? * Homes::values_an_hour() / HOUR,
        "sensor-operations" | "slow-control" => number("sensors")? * 1e3 / number("interval_ms")?,
        "hydrometry" => number("stations")? * 1e3 / number("interval_ms")?,
        _ => return None,
    };
    Some(readings_a_second * YEAR)
}

/// The section; empty where nothing was measured at several sizes.
pub fn section(field: &Field) -> Section {
    let mut section = Section::new("sizes", "From size to size");
    let yours = your_readings(&field.run);
    let questions = question_names(field).into_iter().map(|name| question(field, name, yours));
    let figures = [disk(field, yours), rates(field)]
        .into_iter()
        .chain(questions)
        .filter(|table| table.rows.len() > 1)
        .collect_vec();
    if figures.is_empty() {
        return section;
    }
    section.paragraph(match yours {
        Some(readings) => format!(
            "Each figure at every size that was measured, and projected to {} readings where the sizes tell it: the band has every model that foretold the larger sizes from the smaller ones.",
            count_text(readings)
        ),
        None => "Each figure at every size that was measured. How long data are kept is not known, so nothing is projected.".to_owned(),
    });
    section.tables(figures.into_iter().chain([held_out(field)]));
    section
}

/// What sizes of a sixteenth and less would have foretold of the largest, beside what was measured there.
fn held_out(field: &Field) -> Table {
    let mut table = Table::detail(
        "held_out",
        "The largest size as smaller ones foretold it",
        "implementation; figure | readings; foretold from [readings]; lowest; highest; measured; in its band",
    )
    .noted("A test of the projection by the run's own sizes: disk in MB, times in ms.");
    for arm in field.writers() {
        type Foretell = fn(&[Point], f64) -> Option<Band>;
        let mut row = |name: &str, unit: f64, points: &[Point], band: Foretell| {
            let (last, rest) = points.split_last()?;
            let known = rest
                .iter()
                .filter(|point| point.readings * FARTHEST <= last.readings * 1.02)
                .copied()
                .collect_vec();
            let (band, from) = band(&known, last.readings).zip(known.last())?;
            table.row(row![
                &arm.label,
                name,
                round_u64(last.readings),
                round_u64(from.readings),
                band.low / unit,
                band.high / unit,
                last.value / unit,
                Cell::yes((band.low..=band.high).contains(&last.value)),
            ]);
            Some(())
        };
        row("disk", MB, &disk_points(field, arm), |known, readings| {
            project_disk(&pairs(known), readings).ok()
        });
        for name in question_names(field) {
            let (word, points) = latency_points(field, arm, name);
            row(&format!("{word} of {name}"), MS, &points, |known, readings| project(known, readings).ok());
        }
    }
    table
}

fn pairs(points: &[Point]) -> Vec<(f64, f64)> {
    points.iter().map(|point| (point.readings, point.value)).collect()
}

fn empty(id: &str, title: &str, y: (&str, &str)) -> Table {
    figure(&format!("size_{id}"), title, (Shape::Lines, true), Some(("readings stored", "")), y)
}

/// The points of all repetitions: the geometric mean at each size.
pub fn together(trials: impl Iterator<Item = Vec<Point>>) -> Vec<Point> {
    let all = trials.flatten().sorted_by(|one, other| one.readings.total_cmp(&other.readings)).collect_vec();
    let mean = |points: &[Point]| {
        let logs = points.iter().map(|point| point.value.ln()).sum::<f64>();
        let noise = points.iter().map(|point| point.noise).fold(0.0, f64::max);
        Point { value: (logs / points.len() as f64).exp(), noise, ..points[0] }
    };
    all.chunk_by(|one, other| one.readings == other.readings).map(mean).collect()
}

/// Adds a layout's points in units, and the projected one or why there is none. A question is projected as far as it can be.
pub fn add(
    table: &mut Table,
    arm: &Arm,
    points: &[Point],
    unit: f64,
    projected: Option<(f64, Result<Band, Open>)>,
) {
    let put = |table: &mut Table, whose: &str, readings: f64, value: Cell| {
        point(table, &arm.label, whose, Some(Cell::Count(round_u64(readings))), value);
    };
    for one in points {
        put(table, HERE, one.readings, Cell::number(one.value / unit));
    }
    let measured = points.last().map_or(0.0, |last| last.readings);
    // What was measured is on the curve already.
    let Some((readings, band)) = projected.filter(|(readings, _)| *readings > measured) else { return };
    let (readings, Band { low, high }) = match band {
        Ok(band) => (readings, band),
        Err(open) => {
            table.note(format!("{}: ? ({})", arm.label, open.words(measured, readings)));
            let farthest = measured * FARTHEST;
            let is_far = matches!(open, Open::TooFar(_));
            let Some(band) = project(points, farthest).ok().filter(|_| is_far) else { return };
            (farthest, band)
        }
    };
    let spread = Spread::Range(Interval { low: low / unit, high: high / unit });
    // The line begins where measuring ended.
    if let Some(last) = points.last() {
        put(table, PROJECTED, last.readings, Cell::number(last.value / unit));
    }
    put(table, PROJECTED, readings, number((low + high) / 2.0 / unit, spread));
}

fn disk_points(field: &Field, arm: &Arm) -> Vec<Point> {
    let of = |trial: &TrialRecord| -> Vec<Point> {
        sizes::disk(trial)
            .into_iter()
            .map(|(readings, value)| Point { readings, value, noise: 0.0 })
            .filter(|point| point.readings > 0.0 && point.value > 0.0)
            .collect()
    };
    together(field.valid_of(arm).map(of))
}

fn disk(field: &Field, yours: Known) -> Table {
    let mut table = empty("disk", "Disk", ("disk", "MB"));
    for arm in field.writers() {
        let points = disk_points(field, arm);
        if points.len() > 1 {
            let projected = yours.map(|readings| (readings, project_disk(&pairs(&points), readings)));
            add(&mut table, arm, &points, MB, projected);
        }
    }
    table
}

/// Readings a second of a load that writes as fast as it can.
pub fn load_rate(load: &LoadRecord) -> Known {
    load.readings_per_second().filter(|rate| load.writes && !load.open_loop && *rate > 0.0)
}

/// How fast each size was loaded: by the load that brought the most.
fn rates(field: &Field) -> Table {
    let mut table = empty("load", "Loading", ("load rate", "readings/s"));
    for arm in field.writers() {
        let point = |load: &LoadRecord| {
            Some(Point { readings: load.stored()? as f64, value: load_rate(load)?, noise: 0.0 })
        };
        let is_most = |trial: &TrialRecord, load: &LoadRecord| {
            trial
                .loads
                .iter()
                .filter(|other| other.stored() == load.stored() && other.writes)
                .map(LoadRecord::readings)
                .max()
                == Some(load.readings())
        };
        let of = |trial: &TrialRecord| {
            trial.loads.iter().filter(|load| is_most(trial, load)).filter_map(point).collect()
        };
        let points = together(field.valid_of(arm).map(of));
        if points.len() > 1 {
            add(&mut table, arm, &points, 1.0, None);
        }
    }
    table
}

/// Whether a question of the user's file is about the newest data alone, which stay in memory, or as much of the data lay on disk as will of theirs.
fn is_latest(run: &RunRecord, name: &str) -> bool {
    let list = |value: &Value, of: &str| value.get(of).and_then(Value::as_array).cloned().unwrap_or_default();
    let queries = list(&run.parameters, "phases").into_iter().flat_map(|phase| list(&phase, "queries"));
    let is_in_proportion = run.parameters.get("in_proportion").is_some();
    is_in_proportion || queries.filter(|query| query["name"] == name).any(|query| query["when"] == "latest")
}

fn question_names(field: &Field) -> Vec<&str> {
    let asked = field
        .writers()
        .flat_map(|arm| field.valid_of(arm))
        .flat_map(|trial| &trial.loads)
        .filter(|load| !load.writes && load.stored().is_some());
    each_once(asked.map(|load| load.name.as_str()))
}

/// The latency of a question by size, and what it is called: the first that every layout has at each size.
fn latency_points(field: &Field, arm: &Arm, name: &str) -> (&'static str, Vec<Point>) {
    let points = |arm: &Arm, of: fn(&LatencySummary) -> Known| {
        together(field.valid_of(arm).map(|trial| sizes::latencies(trial, name, of)))
    };
    let sizes = |arm: &Arm| points(arm, LATENCIES[2].1).len();
    let is_known = |(_, of): &&Latency| field.writers().all(|arm| points(arm, *of).len() == sizes(arm));
    let (word, of) = *LATENCIES.iter().find(is_known).unwrap_or(&LATENCIES[2]);
    (word, points(arm, of))
}

fn question(field: &Field, name: &str, yours: Known) -> Table {
    let word = field.writers().next().map_or("mean", |arm| latency_points(field, arm, name).0);
    let is_old = !is_latest(&field.run, name);
    let mut table = empty(&name.replace([' ', '-'], "_"), &format!("{name}, {word}"), (word, "ms"));
    for arm in field.writers() {
        let (_, points) = latency_points(field, arm, name);
        if points.len() > 1 {
            let beyond = yours.filter(|readings| {
                is_old && field.valid_of(arm).any(|trial| sizes::in_memory(trial, *readings).is_some())
            });
            if beyond.is_some() {
                table
                    .note(format!("{}: ? (measured in memory, and your data do not fit into it)", arm.label));
            }
            let projected =
                yours.filter(|_| beyond.is_none()).map(|readings| (readings, project(&points, readings)));
            add(&mut table, arm, &points, MS, projected);
        }
    }
    table
}
