//! Ingest rate over rows stored as SVG: a line for each implementation, a point a second.

use super::figures::believed;
use super::rate::curve;
use crate::report::field::Field;
use crate::report::machine_tool::drawings::{DrawingError, failed};
use crate::report::number::fixed;
use plotters::prelude::*;

/// Size of the drawing, pixels.
const SIZE: (u32, u32) = (960, 640);
/// Line colours, apart for colour-blind eyes too (Okabe and Ito 2008).
const COLOURS: [RGBColor; 7] = [
    RGBColor(0, 114, 178),
    RGBColor(213, 94, 0),
    RGBColor(0, 158, 115),
    RGBColor(204, 121, 167),
    RGBColor(230, 159, 0),
    RGBColor(86, 180, 233),
    RGBColor(90, 90, 90),
];

/// The implementations' lines: (rows stored, rows a second), of the first valid trial of each.
pub fn lines(field: &Field) -> Vec<(String, Vec<(f64, f64)>)> {
    let line = |points: &[(f64, f64)]| {
        let rate = |pair: &[(f64, f64)]| {
            let seconds = pair[1].0 - pair[0].0;
            (seconds > 0.0).then(|| (pair[1].1, (pair[1].1 - pair[0].1) / seconds))
        };
        points.windows(2).filter_map(rate).collect::<Vec<_>>()
    };
    let of_arm = |arm| field.valid_of(arm).next().map(|trial| line(&curve(trial)));
    let named = believed(field).filter_map(|arm| Some((arm.label.clone(), of_arm(arm)?)));
    named.filter(|(_, points)| points.len() > 1).collect()
}

/// The figure: file name and SVG; none where nothing took longer than a second.
///
/// # Errors
/// When the drawing itself fails.
pub fn draw(field: &Field) -> Result<Option<(&'static str, String)>, DrawingError> {
    let lines = lines(field);
    let points = || lines.iter().flat_map(|(_, points)| points);
    let most_rows = points().map(|point| point.0).fold(0.0, f64::max);
    let most_rate = points().map(|point| point.1).fold(0.0, f64::max);
    if lines.is_empty() || most_rate <= 0.0 {
        return Ok(None);
    }
    let mut svg = String::new();
    {
        let root = SVGBackend::with_string(&mut svg, SIZE).into_drawing_area();
        root.fill(&WHITE).map_err(failed)?;
        let mut chart = ChartBuilder::on(&root)
            .caption("Ingest rate over rows stored", ("sans-serif", 20))
            .margin(16)
            .x_label_area_size(40)
            .y_label_area_size(80)
            .build_cartesian_2d(0.0..most_rows * 1.02, 0.0..most_rate * 1.1)
            .map_err(failed)?;
        let mut mesh = chart.configure_mesh();
        mesh.light_line_style(TRANSPARENT);
        let whole = |value: &f64| fixed(*value, 0);
        mesh.x_label_formatter(&whole).y_label_formatter(&whole);
        mesh.x_desc("rows stored").y_desc("operations a second");
        mesh.draw().map_err(failed)?;
        for ((label, points), number) in lines.iter().zip(0..) {
            let colour = COLOURS[number % COLOURS.len()];
            let series = LineSeries::new(points.iter().copied(), colour.stroke_width(2));
            let drawn = chart.draw_series(series).map_err(failed)?;
            drawn
                .label(label.clone())
                .legend(move |(x, y)| PathElement::new([(x, y), (x + 18, y)], colour));
        }
        let mut legend = chart.configure_series_labels();
        legend.position(SeriesLabelPosition::LowerLeft);
        legend.background_style(WHITE.mix(0.8)).border_style(BLACK);
        legend.draw().map_err(failed)?;
        root.present().map_err(failed)?;
    }
    Ok(Some(("ingest_rate.svg", svg)))
}
