//! The study's figures 1 (the signal) and 3 (the search for a cycle), drawn from our own data as SVG.

use crate::dataset::machine_tool::{AMPLITUDE, CHANNELS, MachineTool, SAMPLES_PER_SECOND};
use crate::studies::drawing::{BLUE, DrawingError, Drawn, ORANGE, SIZE, failed};
use crate::workload::machine_tool::cycle::find_cycle;
use plotters::coord::Shift;
use plotters::coord::types::{RangedCoordf64, RangedCoordi32};
use plotters::prelude::*;
use std::ops::Range;

/// Samples that the signal's figure shows: three seconds, nine cycles.
const SIGNAL_SAMPLES: usize = 3_000;
/// Samples that the search's figure shows, and the sample that the search is around.
const SEARCH_SAMPLES: usize = 1_400;
/// Around the middle of them.
const AROUND: usize = 700;
/// Neither the signal's nor a mark's colour.
const GREY: RGBColor = RGBColor(120, 120, 120);

/// Both figures of a machine under this seed: file name and SVG.
///
/// # Errors
/// When the drawing itself fails.
pub fn draw(seed: u64) -> Result<Vec<Drawn>, DrawingError> {
    Ok(vec![
        ("signal.svg", signal(seed)?),
        ("search.svg", search(seed)?),
    ])
}

/// Seconds of a sample.
fn seconds(sample: usize) -> f64 {
    sample as f64 / SAMPLES_PER_SECOND as f64
}

/// Both axes of every drawing: seconds, and counts of the converter.
type Plane = Cartesian2d<RangedCoordf64, RangedCoordi32>;
type Chart<'chart, 'svg> = ChartContext<'chart, SVGBackend<'svg>, Plane>;
type Area<'svg> = DrawingArea<SVGBackend<'svg>, Shift>;

fn columns(seed: u64, samples: usize) -> [Vec<u16>; CHANNELS] {
    let mut columns: [Vec<u16>; CHANNELS] = std::array::from_fn(|_| vec![0; samples]);
    let [a, b, c, d, e] = &mut columns;
    MachineTool::new(seed).fill(0, [a, b, c, d, e]);
    columns
}

fn points(column: &[u16]) -> Vec<(f64, i32)> {
    let point = |(sample, value): (usize, &u16)| (seconds(sample), i32::from(*value));
    column.iter().enumerate().map(point).collect()
}

/// Figure 1: the angle on top, the four channels below it.
fn signal(seed: u64) -> Result<String, DrawingError> {
    let columns = columns(seed, SIGNAL_SAMPLES);
    let mut svg = String::new();
    {
        let root = SVGBackend::with_string(&mut svg, SIZE).into_drawing_area();
        root.fill(&WHITE).map_err(failed)?;
        let caption = format!("The signal: machine angle and four channels (seed {seed})");
        let root = root.titled(&caption, ("sans-serif", 20)).map_err(failed)?;
        let areas = root.split_evenly((CHANNELS, 1));
        for (channel, (area, column)) in areas.iter().zip(&columns).enumerate() {
            draw_channel(area, channel, column)?;
        }
        root.present().map_err(failed)?;
    }
    Ok(svg)
}

fn draw_channel(area: &Area<'_>, channel: usize, column: &[u16]) -> Result<(), DrawingError> {
    let is_last = channel + 1 == CHANNELS;
    let mut chart = ChartBuilder::on(area)
        .margin_right(16)
        .margin_top(4)
        .x_label_area_size(if is_last { 40 } else { 4 })
        .y_label_area_size(64)
        .build_cartesian_2d(0.0..seconds(SIGNAL_SAMPLES), 0..i32::from(AMPLITUDE) + 1)
        .map_err(failed)?;
    let mut mesh = chart.configure_mesh();
    mesh.disable_x_mesh()
        .light_line_style(TRANSPARENT)
        .y_labels(5)
        .x_labels(if is_last { 7 } else { 0 });
    mesh.y_desc(if channel == 0 {
        "angle".to_owned()
    } else {
        format!("m{channel}")
    });
    if is_last {
        mesh.x_desc("time [s]; values in counts of the converter");
    }
    mesh.draw().map_err(failed)?;
    let colour = if channel == 0 { ORANGE } else { BLUE };
    let line = LineSeries::new(points(column), colour);
    chart.draw_series(line).map_err(failed)?;
    Ok(())
}

/// Figure 3: the angle around t, both thresholds, and the five points of the search.
fn search(seed: u64) -> Result<String, DrawingError> {
    let [angles, ..] = columns(seed, SEARCH_SAMPLES);
    let times: Vec<i64> = (0..).take(SEARCH_SAMPLES).collect();
    let found = find_cycle(&times, &angles, times[AROUND]).map_err(failed)?;
    let mut svg = String::new();
    {
        let root = SVGBackend::with_string(&mut svg, SIZE).into_drawing_area();
        root.fill(&WHITE).map_err(failed)?;
        let caption = format!("The search for the cycle around t (seed {seed})");
        let mut chart = ChartBuilder::on(&root)
            .caption(caption, ("sans-serif", 20))
            .margin(16)
            .x_label_area_size(40)
            .y_label_area_size(64)
            .build_cartesian_2d(0.0..seconds(SEARCH_SAMPLES), 0..i32::from(AMPLITUDE) + 300)
            .map_err(failed)?;
        let mut mesh = chart.configure_mesh();
        mesh.light_line_style(TRANSPARENT);
        mesh.x_desc("time [s]; the cycle is [t4, t5), shaded");
        mesh.y_desc("angle [counts of the converter]");
        mesh.draw().map_err(failed)?;
        draw_background(&mut chart, found.samples())?;
        let line = LineSeries::new(points(&angles), BLUE);
        chart.draw_series(line).map_err(failed)?;
        draw_time(&mut chart, AROUND)?;
        let marks = [
            (found.t1, "t1"),
            (found.t2, "t2"),
            (found.t3, "t3"),
            (found.t4, "t4"),
            (found.t5, "t5"),
        ];
        for (sample, name) in marks {
            draw_mark(&mut chart, sample, angles[sample], name)?;
        }
        root.present().map_err(failed)?;
    }
    Ok(svg)
}

/// The cycle as a band, and both thresholds.
fn draw_background(chart: &mut Chart<'_, '_>, cycle: Range<usize>) -> Result<(), DrawingError> {
    let top = i32::from(AMPLITUDE);
    let band = [(seconds(cycle.start), 0), (seconds(cycle.end), top)];
    let band = Rectangle::new(band, BLUE.mix(0.12).filled());
    chart.draw_series([band]).map_err(failed)?;
    for (threshold, name) in [(top / 2, "A/2"), (top / 8, "A/8")] {
        let line = [(0.0, threshold), (seconds(SEARCH_SAMPLES), threshold)];
        let line = LineSeries::new(line, GREY);
        chart.draw_series(line).map_err(failed)?;
        let style = ("sans-serif", 14).into_font().color(&GREY);
        let label = Text::new(name, (0.005, threshold + 110), style);
        chart.draw_series([label]).map_err(failed)?;
    }
    Ok(())
}

/// The time searched around, as a line: it is no sample of the search.
fn draw_time(chart: &mut Chart<'_, '_>, sample: usize) -> Result<(), DrawingError> {
    let top = i32::from(AMPLITUDE) + 150;
    let line = [(seconds(sample), 0), (seconds(sample), top)];
    let line = LineSeries::new(line, BLACK.stroke_width(1));
    chart.draw_series(line).map_err(failed)?;
    let style = ("sans-serif", 16).into_font().color(&BLACK);
    let label = Text::new("t", (seconds(sample) + 0.006, top + 100), style);
    chart.draw_series([label]).map_err(failed)?;
    Ok(())
}

fn draw_mark(
    chart: &mut Chart<'_, '_>,
    sample: usize,
    angle: u16,
    name: &str,
) -> Result<(), DrawingError> {
    let (time, angle) = (seconds(sample), i32::from(angle));
    let dot = Circle::new((time, angle), 4, ORANGE.filled());
    chart.draw_series([dot]).map_err(failed)?;
    let style = ("sans-serif", 16).into_font().color(&ORANGE);
    let label = Text::new(name.to_owned(), (time + 0.008, angle + 120), style);
    chart.draw_series([label]).map_err(failed)?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_figures_are_drawn_from_the_seed_and_show_what_they_should() {
        let [(signal_name, signal), (search_name, search)] = &draw(7).unwrap()[..] else {
            panic!("two figures");
        };
        assert_eq!((*signal_name, *search_name), ("signal.svg", "search.svg"));
        assert!(signal.matches("<polyline").count() >= CHANNELS);
        for mark in ["t1", "t2", "t3", "t4", "t5", "A/2", "A/8"] {
            assert!(search.lines().any(|line| line.trim() == mark), "{mark}");
        }
        assert!(signal.starts_with("<svg") && search.trim_end().ends_with("</svg>"));
        assert_eq!(draw(7).unwrap()[1].1, *search);
        assert_ne!(draw(8).unwrap()[1].1, *search);
    }
}
