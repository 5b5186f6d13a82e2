//! The study's figures 1 (the signal) and 3 (the search for a cycle), from our own data: nothing of them was measured.

use super::*;
use sensormark_data::machine_tool::{AMPLITUDE, CHANNELS, MachineTool, SAMPLES_PER_SECOND};
use sensormark_workload::machine_tool::cycle::find_cycle;

/// Samples that the signal's figure shows: three seconds, nine cycles.
const SIGNAL_SAMPLES: usize = 3_000;
/// Of these, every so many is drawn.
const SIGNAL_STEP: usize = 10;
/// Samples that the search's figure shows, and the sample that the search is around.
const SEARCH_SAMPLES: usize = 1_400;
/// Of these, every so many is drawn.
const SEARCH_STEP: usize = 4;
/// Around the middle of them.
const AROUND: usize = 700;

/// Both figures of a machine under this seed; the signal's has a part for each channel.
pub fn section(seed: u64) -> Section {
    Section::of("drawings", "The study's data, drawn again", signal(seed).into_iter().chain(search(seed)))
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

fn drawing(id: &str, title: &str, note: String) -> Table {
    figure(id, title, (Shape::Lines, false), Some(("time", "s")), ("signal", "counts of the converter"))
        .noted(note)
}

/// Adds a line through points, each a sample with its value; a single one stands by itself.
fn line(table: &mut Table, name: &str, points: impl IntoIterator<Item = (usize, u16)>) {
    for (sample, value) in points {
        let at = Some(Cell::number(seconds(sample)));
        point(table, name, HERE, at, Cell::number(value.into()));
    }
}

/// Every so many samples of a column.
fn sampled(column: &[u16], step: usize) -> impl Iterator<Item = (usize, u16)> {
    column.iter().copied().enumerate().step_by(step)
}

/// Figure 1: the angle, and the four channels.
fn signal(seed: u64) -> Vec<Table> {
    let names = ["angle", "m1", "m2", "m3", "m4"];
    let one = |(name, column): (&str, &Vec<u16>)| {
        let mut table = drawing(
            &format!("signal_{name}"),
            &format!("The signal: {name}"),
            format!("Three seconds, nine cycles, of the data with seed {seed}."),
        );
        line(&mut table, name, sampled(column, SIGNAL_STEP));
        table
    };
    names.into_iter().zip(&columns(seed, SIGNAL_SAMPLES)).map(one).collect()
}

/// Figure 3: the angle around t, both thresholds, and the five points of the search; nothing where there is no cycle.
fn search(seed: u64) -> Option<Table> {
    let [angles, ..] = columns(seed, SEARCH_SAMPLES);
    let times = (0..).take(SEARCH_SAMPLES).collect_vec();
    let found = find_cycle(&times, &angles, times[AROUND]).ok()?;
    let note =
        format!("The cycle is from t4 to before t5. A is the angle's amplitude; the data have seed {seed}.");
    let mut table = drawing("search", "The search for the cycle around t", note);
    line(&mut table, "angle", sampled(&angles, SEARCH_STEP));
    for (name, level) in [("A/2", AMPLITUDE / 2), ("A/8", AMPLITUDE / 8)] {
        line(&mut table, name, [(0, level), (SEARCH_SAMPLES, level)]);
    }
    line(&mut table, "t", [(AROUND, 0), (AROUND, AMPLITUDE)]);
    [("t1", found.t1), ("t2", found.t2), ("t3", found.t3), ("t4", found.t4), ("t5", found.t5)]
        .into_iter()
        .for_each(|(name, sample)| line(&mut table, name, [(sample, angles[sample])]));
    Some(table)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_figures_come_from_the_seed_and_show_what_they_should() {
        let drawn = section(7);
        assert_eq!(drawn.blocks.len(), CHANNELS + 1);
        let Some(Block::Table(search)) = drawn.blocks.last() else { panic!("a search") };
        let names = each_once(search.rows.iter().map(|row| cell_text(&row[0])));
        assert_eq!(names, ["angle", "A/2", "A/8", "t", "t1", "t2", "t3", "t4", "t5"]);
        let at = |name: &str| {
            let row = search.rows.iter().find(|row| cell_text(&row[0]) == name).expect("a mark");
            let Cell::Number(at) = row[2] else { panic!("seconds") };
            at.value
        };
        assert!(at("t3") < at("t4") && at("t4") < at("t2"));
        assert!(at("t2") < at("t1") && at("t1") < at("t5"));
        assert_eq!(section(7), drawn);
        assert_ne!(section(8).blocks.last(), drawn.blocks.last());
    }
}
