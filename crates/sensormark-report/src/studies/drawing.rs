//! A study's picture of its own data, as points that the page draws: nothing of it was measured, so it is no figure of the report.

/// A picture.
#[derive(Debug, Clone, PartialEq, serde::Serialize)]
pub struct Drawing {
    /// What programs call it.
    pub id: String,
    /// What a person reads.
    pub title: String,
    /// What its x axis is.
    pub x: &'static str,
    /// What its y axis is.
    pub y: &'static str,
    /// What it shows.
    pub note: String,
    /// Its lines, one over the other.
    pub lines: Vec<Line>,
}

/// A line, or some points.
#[derive(Debug, Clone, PartialEq, serde::Serialize)]
pub struct Line {
    /// Its name.
    pub name: String,
    /// Where it goes: x and y.
    pub points: Vec<(f64, f64)>,
    /// Whether its points stand by themselves.
    #[serde(rename = "dots")]
    pub is_dots: bool,
}

impl Line {
    /// A line through these points.
    pub fn new(name: impl Into<String>, points: Vec<(f64, f64)>) -> Self {
        Self { name: name.into(), points, is_dots: false }
    }

    /// Points by themselves.
    pub fn dots(name: impl Into<String>, points: Vec<(f64, f64)>) -> Self {
        Self { is_dots: true, ..Self::new(name, points) }
    }
}
