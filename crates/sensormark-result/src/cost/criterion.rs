//! The criteria: what each is called, its unit, and its floor.

/// One criterion. Less of it is better.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Criterion {
    /// What weights and programs call it.
    pub id: &'static str,
    /// What a person reads.
    pub name: &'static str,
    /// Unit of its values.
    pub unit: &'static str,
    /// Less than this counts as this.
    pub floor: f64,
}

const fn criterion(id: &'static str, name: &'static str, unit: &'static str, floor: f64) -> Criterion {
    Criterion { id, name, unit, floor }
}

/// All criteria. CPU and memory are of both sides.
pub const CRITERIA: [Criterion; 8] = [
    criterion("load_time", "load time", "µs a reading", 0.1),
    criterion("load_cpu", "load CPU", "µs a reading", 0.1),
    criterion("question_time", "question time", "µs a question", 10.0),
    criterion("question_cpu", "question CPU", "µs a question", 10.0),
    criterion("disk", "disk", "B a reading", 1.0),
    criterion("memory", "peak memory", "MB", 64.0),
    criterion("written", "written to the device", "B a reading", 1.0),
    criterion("wire", "on the wire", "B a reading", 1.0),
];
