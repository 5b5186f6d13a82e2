//! The strategies that a dialect chooses from: each is a way to put one kind of question, or to keep one kind of row.

/// How a set of series is named in a statement.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SeriesSet {
    /// By one array a key column.
    Arrays,
    /// By a JSON array, of keys or of arrays of keys.
    Json,
    /// One by one, a parameter each.
    List,
}

/// How the readings of each series are looked at by themselves.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Walk {
    /// A lateral subquery for each series: one step down the index.
    Lateral,
    /// A correlated subquery for each series that gives the time; series come from tags, a parameter, or a skip scan over the index.
    Correlated,
    /// Not one by one: all readings, grouped by series.
    Grouped,
    /// Not one by one: the database has a clause of its own for the latest row of each series, LATEST ON.
    LatestOn,
}

/// How aggregates are computed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Aggregates {
    /// All in one statement; the database has functions for the last and the most frequent value.
    OneStatement,
    /// One statement for what GROUP BY computes, one for each of the others; the client merges their groups.
    Merged,
}

/// How a range of records of a span is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RecordRange {
    /// The record whole; the client keeps the fields that were asked for.
    Whole,
    /// The fields that were asked for, each as the array that it is.
    Arrays,
    /// Readings one a row: the database opens the records.
    Opened,
}
