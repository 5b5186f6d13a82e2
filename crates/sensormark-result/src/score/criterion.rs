//! What the study weighs: a criterion as data, with its weight for writing and for reading.

/// One criterion. Less of it is better.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Criterion {
    /// What values call it: `server_cpu`.
    pub id: &'static str,
    /// What a person reads: "server CPU".
    pub name: &'static str,
    /// Unit of its values.
    pub unit: &'static str,
    /// How much it counts for writing and for reading: 3 critical, 2 important, 1 normal, 0 not at all.
    pub weights: [f64; 2],
}

impl Criterion {
    /// Whether it is a judgement, which counts only where every implementation compared has one.
    #[must_use]
    pub fn is_subjective(&self) -> bool {
        self.id == "difficulty"
    }
}

const fn criterion(id: &'static str, name: &'static str, unit: &'static str, weights: [f64; 2]) -> Criterion {
    Criterion { id, name, unit, weights }
}

/// The eight criteria of the machine-tool study, with its units and weights (`studies/machine-tool.toml` has the source).
pub const STUDY_CRITERIA: [Criterion; 8] = [
    criterion("server_cpu", "server CPU", "percent of one core", [3.0, 3.0]),
    criterion("server_memory", "server memory", "kB resident", [1.0, 1.0]),
    criterion("server_io", "server I/O", "kB/s", [2.0, 2.0]),
    criterion("client_cpu", "client CPU", "percent of one core", [3.0, 3.0]),
    criterion("client_memory", "client memory", "kB resident", [1.0, 1.0]),
    criterion("network", "network", "kbit/s", [2.0, 2.0]),
    criterion("disk", "disk", "MB", [1.0, 0.0]),
    criterion("difficulty", "difficulty", "1 (easy) to 5", [1.0, 1.0]),
];
