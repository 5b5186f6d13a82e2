//! The study's figures 1 (the signal) and 3 (the search for a cycle), from our own data, as a page draws them: nothing of them was measured.

use super::*;
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

/// Both figures of a machine under this seed; the signal's has a part for each channel.
pub fn drawings(seed: u64) -> Vec<Value> {
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

/// A line through points; a single one stands by itself.
fn line(name: &str, points: &[(f64, f64)]) -> Value {
    json!({ "name": name, "points": points, "dots": points.len() == 1 })
}

/// A line through every so many samples of a column.
fn sampled(name: &str, column: &[u16], step: usize) -> Value {
    let samples = column.iter().enumerate().step_by(step);
    let points: Vec<_> = samples.map(|(sample, value)| (seconds(sample), f64::from(*value))).collect();
    line(name, &points)
}

/// A picture of these lines.
fn drawing(id: &str, title: &str, note: &str, lines: &[Value]) -> Value {
    let y = "counts of the converter";
    json!({ "id": id, "title": title, "x": "s", "y": y, "note": note, "lines": lines })
}

/// Figure 1: the angle, and the four channels.
fn signal(seed: u64) -> Vec<Value> {
    let note = format!("Three seconds, nine cycles, of the data with seed {seed}.");
    let names = ["angle", "m1", "m2", "m3", "m4"];
    let one = |(id, column): (&str, &Vec<u16>)| {
        let name = if id == "angle" { id.to_owned() } else { format!("channel {id}") };
        let lines = [sampled(&name, column, SIGNAL_STEP)];
        drawing(&format!("signal_{id}"), &format!("The signal: {name}"), &note, &lines)
    };
    names.into_iter().zip(&columns(seed, SIGNAL_SAMPLES)).map(one).collect()
}

/// Figure 3: the angle around t, both thresholds, and the five points of the search; nothing where there is no cycle.
fn search(seed: u64) -> Option<Value> {
    let [angles, ..] = columns(seed, SEARCH_SAMPLES);
    let times: Vec<i64> = (0..).take(SEARCH_SAMPLES).collect();
    let found = find_cycle(&times, &angles, times[AROUND]).ok()?;
    let (top, end, at) = (f64::from(AMPLITUDE), seconds(SEARCH_SAMPLES), seconds(AROUND));
    let mut lines = vec![
        sampled("angle", &angles, SEARCH_STEP),
        line("A/2", &[(0.0, top / 2.0), (end, top / 2.0)]),
        line("A/8", &[(0.0, top / 8.0), (end, top / 8.0)]),
        line("t", &[(at, 0.0), (at, top)]),
    ];
    let marks = [("t1", found.t1), ("t2", found.t2), ("t3", found.t3), ("t4", found.t4), ("t5", found.t5)];
    lines.extend(marks.map(|(name, sample)| line(name, &[(seconds(sample), f64::from(angles[sample]))])));
    let note =
        format!("The cycle is from t4 to before t5. A is the angle's amplitude; the data have seed {seed}.");
    Some(drawing("search", "The search for the cycle around t", &note, &lines))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_figures_come_from_the_seed_and_show_what_they_should() {
        let drawn = drawings(7);
        assert_eq!(drawn.len(), CHANNELS + 1);
        let lines = drawn.last().expect("a search")["lines"].as_array().expect("lines").clone();
        let names: Vec<&str> = lines.iter().filter_map(|line| line["name"].as_str()).collect();
        assert_eq!(names, ["angle", "A/2", "A/8", "t", "t1", "t2", "t3", "t4", "t5"]);
        let at = |name: &str| {
            let line = lines.iter().find(|line| line["name"] == name).expect("a mark");
            line["points"][0][0].as_f64().expect("seconds")
        };
        assert!(at("t3") < at("t4") && at("t4") < at("t2"));
        assert!(at("t2") < at("t1") && at("t1") < at("t5"));
        assert_eq!(drawings(7), drawn);
        assert_ne!(drawings(8).last(), drawn.last());
    }
}
