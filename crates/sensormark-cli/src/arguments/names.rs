//! Names that arguments are chosen from.

use clap::ValueEnum;

/// What is raised until a limit no longer holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum FindLimitName {
    /// The rate of the writers
    Rate,
    /// How many people watch the dashboards
    Users,
}

/// Names of scales.
#[derive(Debug, Clone, Copy, Default, ValueEnum)]
pub enum ScaleName {
    /// Seconds, to try things out
    #[default]
    Quick,
    /// Repeated, to decide something: about 10 minutes for two databases
    Firm,
    /// Larger data and longer phases, repeated: 10 minutes to 2.5 hours for two databases, 1.5 to 8 hours for nine
    Standard,
    /// The study's own size and durations: hours to days
    Study,
}

/// Names of durability classes.
#[derive(Debug, Clone, Copy, Default, ValueEnum)]
pub enum DurabilityName {
    /// As the database comes
    #[default]
    Default,
    /// An acknowledged write is on disk
    Durable,
    /// The last second or so may be lost
    Relaxed,
    /// Nothing is acknowledged
    Unacknowledged,
}

/// Names of what phases that only read find in memory.
#[derive(Debug, Clone, Copy, Default, ValueEnum)]
pub enum CacheName {
    /// What the phases before left there
    #[default]
    Hot,
    /// Little: before each such phase the database is started again, its files dropped from the page cache
    Cold,
}

/// How progress is shown.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
pub enum ProgressName {
    /// Bars on a terminal, plain lines elsewhere
    #[default]
    Auto,
    /// Plain lines
    Plain,
    /// Nothing but the result
    Quiet,
    /// One JSON object a line, on standard error
    Json,
}

/// Formats of reports.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum FormatName {
    /// For people, at a terminal
    Text,
    /// For programs
    Json,
    /// For spreadsheets
    Csv,
    /// For documents
    Markdown,
}

/// Formats of `explain`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
pub enum ExplainFormat {
    /// For people
    #[default]
    Text,
    /// For programs
    Json,
}

/// What makes a comparison fail.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum FailOn {
    /// A figure that is significantly worse, or an implementation that is no longer valid
    Regression,
}
