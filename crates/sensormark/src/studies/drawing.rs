//! What drawings of studies have in common: their size and colours, and why one cannot be made.

use plotters::style::RGBColor;
use std::fmt::Display;

/// A drawing: a file's name and its SVG.
pub type Drawn = (&'static str, String);

/// Size of a drawing, pixels.
pub const SIZE: (u32, u32) = (960, 640);
/// Blue, a colour of lines.
pub const BLUE: RGBColor = RGBColor(0, 114, 178);
/// Orange, a colour of lines.
pub const ORANGE: RGBColor = RGBColor(213, 94, 0);
/// Line colours, apart for colour-blind eyes too (Okabe and Ito 2008).
pub const COLOURS: [RGBColor; 7] = [
    BLUE,
    ORANGE,
    RGBColor(0, 158, 115),
    RGBColor(204, 121, 167),
    RGBColor(230, 159, 0),
    RGBColor(86, 180, 233),
    RGBColor(90, 90, 90),
];

/// A drawing that cannot be made.
#[derive(Debug, thiserror::Error)]
#[error("a figure cannot be drawn: {0}")]
pub struct DrawingError(String);

/// The drawing's failure.
pub fn failed(error: impl Display) -> DrawingError {
    DrawingError(error.to_string())
}
