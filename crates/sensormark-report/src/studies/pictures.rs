//! The study's figures 1 (the signal) and 3 (the search for a cycle), from our own data.

use super::drawing::{Drawing, Line};
use sensormark_data::machine_tool::{AMPLITUDE, CHANNELS, MachineTool, SAMPLES_PER_SECOND};
use sensormark_workload::machine_tool::cycle::find_cycle;

/// Samples that the signal's figure shows: three seconds, nine cycles.
const SIGNAL_SAMPLES: usize = 3_000;
/// Of these, every so many is drawn.
const SIGNAL_STEP: usize = 5;
/// Samples that the search's figure shows, and the sample that the search is around.
const SEARCH_SAMPLES: usize = 1_400;
/// Of these, every so many is drawn.
const SEARCH_STEP: usize = 2;
/// Around the middle of them.
const AROUND: usize = 700;
/// Both axes of every figure.
const AXES: (&str, &str) = ("s", "counts of the converter");

/// Both figures of a machine under this seed; the signal's has a part for each channel.
pub fn drawings(seed: u64) -> Vec<Drawing> {
    let mut all = signal(seed);
    all.extend(search(seed));
    all
}

/// Seconds of a sample.
fn seconds(sample: usize) -> f64 {
    sample as f64 / SAMPLES_PER_SECOND as f64
}

fn columns(seed: u64, samples: usize) -> [Vec<u16>; CHANNELS] {
    let machine = MachineTool::new(seed);
    std::array::from_fn(|channel| {
        let mut column = vec![0; samples];
        machine.fill(0, channel, &mut column);
        column
    })
}

fn points(column: &[u16], step: usize) -> Vec<(f64, f64)> {
    let samples = column.iter().enumerate().step_by(step);
    samples.map(|(sample, value)| (seconds(sample), f64::from(*value))).collect()
}

/// A picture of these lines.
fn drawing(id: &str, title: &str, note: String, lines: Vec<Line>) -> Drawing {
    Drawing { id: id.to_owned(), title: title.to_owned(), x: AXES.0, y: AXES.1, note, lines }
}

/// Figure 1: the angle, and the four channels.
fn signal(seed: u64) -> Vec<Drawing> {
    let one = |(channel, column): (usize, &Vec<u16>)| {
        let (id, name) = match channel {
            0 => ("angle".to_owned(), "angle".to_owned()),
            channel => (format!("m{channel}"), format!("channel m{channel}")),
        };
        let note = format!("Three seconds, nine cycles, of the data with seed {seed}.");
        let title = format!("The signal: {name}");
        drawing(&format!("signal_{id}"), &title, note, vec![Line::new(name, points(column, SIGNAL_STEP))])
    };
    columns(seed, SIGNAL_SAMPLES).iter().enumerate().map(one).collect()
}

/// Figure 3: the angle around t, both thresholds, and the five points of the search; nothing where there is no cycle.
fn search(seed: u64) -> Option<Drawing> {
    let [angles, ..] = columns(seed, SEARCH_SAMPLES);
    let times: Vec<i64> = (0..).take(SEARCH_SAMPLES).collect();
    let found = find_cycle(&times, &angles, times[AROUND]).ok()?;
    let (top, end, at) = (f64::from(AMPLITUDE), seconds(SEARCH_SAMPLES), seconds(AROUND));
    let mut lines = vec![
        Line::new("angle", points(&angles, SEARCH_STEP)),
        Line::new("A/2", vec![(0.0, top / 2.0), (end, top / 2.0)]),
        Line::new("A/8", vec![(0.0, top / 8.0), (end, top / 8.0)]),
        Line::new("t", vec![(at, 0.0), (at, top)]),
    ];
    let marks = [("t1", found.t1), ("t2", found.t2), ("t3", found.t3), ("t4", found.t4), ("t5", found.t5)];
    let mark =
        |(name, sample): (&str, usize)| Line::dots(name, vec![(seconds(sample), f64::from(angles[sample]))]);
    lines.extend(marks.map(mark));
    let note =
        format!("The cycle is from t4 to before t5. A is the angle's amplitude; the data have seed {seed}.");
    Some(drawing("search", "The search for the cycle around t", note, lines))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_figures_come_from_the_seed_and_show_what_they_should() {
        let drawn = drawings(7);
        assert_eq!(drawn.len(), CHANNELS + 1);
        let search = drawn.last().expect("a search");
        let names: Vec<&str> = search.lines.iter().map(|line| line.name.as_str()).collect();
        assert_eq!(names, ["angle", "A/2", "A/8", "t", "t1", "t2", "t3", "t4", "t5"]);
        let at = |name: &str| {
            let line = search.lines.iter().find(|line| line.name == name);
            line.expect("a mark").points[0].0
        };
        assert!(at("t3") < at("t4") && at("t4") < at("t2"));
        assert!(at("t2") < at("t1") && at("t1") < at("t5"));
        assert_eq!(drawings(7), drawn);
        assert_ne!(drawings(8).last(), drawn.last());
    }
}
