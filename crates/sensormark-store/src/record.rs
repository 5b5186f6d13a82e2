//! Records of a span: which readings of a batch go into which, and which of them are wanted back.
//!
//! How a record is encoded is in [`json`] and [`blob`]; a database that looks into its records has an encoding of its own.

pub mod blob;
pub mod json;

use crate::batch::Batch;
use crate::schema::FieldSet;
use std::ops::Range;

/// The readings of a batch that belong to one series and span.
#[derive(Debug)]
pub struct Record<'a> {
    /// The series.
    pub series: u32,
    /// The span's number since the epoch.
    pub span: i64,
    /// The span's start in ns; wraps for spans at the ends of time, and its offsets with it.
    pub start_ns: i64,
    runs: &'a [Run],
}

/// Rows of a batch that follow each other and are of one series and span.
#[derive(Debug)]
pub struct Run {
    series: u32,
    span: i64,
    rows: Range<usize>,
}

impl Record<'_> {
    /// The batch's rows, in its order.
    pub fn rows(&self) -> impl Iterator<Item = usize> {
        self.runs.iter().flat_map(|run| run.rows.clone())
    }

    /// How many readings, at least one.
    pub fn readings(&self) -> usize {
        self.runs.iter().map(|run| run.rows.len()).sum()
    }
}

impl Run {
    /// The batch's rows.
    pub const fn rows(&self) -> &Range<usize> {
        &self.rows
    }

    /// Whether both are of one series and span.
    pub fn is_of_same_record(&self, other: &Self) -> bool {
        (self.series, self.span) == (other.series, other.span)
    }
}

/// The runs of these rows of a batch, those of one record next to each other.
pub fn runs(batch: &Batch, rows: Range<usize>, span_ns: i64) -> Vec<Run> {
    let mut runs: Vec<Run> = Vec::new();
    for row in rows {
        let (series, span) = (batch.series[row], batch.times_ns[row].div_euclid(span_ns));
        match runs.last_mut() {
            Some(run) if (run.series, run.span) == (series, span) => run.rows.end = row + 1,
            _ => runs.push(Run { series, span, rows: row..row + 1 }),
        }
    }
    runs.sort_by_key(|run| (run.series, run.span));
    runs
}

/// The records of runs.
pub fn records(runs: &[Run], span_ns: i64) -> impl Iterator<Item = Record<'_>> {
    runs.chunk_by(Run::is_of_same_record).map(move |runs| Record {
        series: runs[0].series,
        span: runs[0].span,
        start_ns: runs[0].span.wrapping_mul(span_ns),
        runs,
    })
}

/// Which readings and fields of a record are wanted.
#[derive(Debug, Clone, Copy)]
pub struct Wanted {
    /// The record's series.
    pub series: u32,
    /// The span's start in ns.
    pub start_ns: i64,
    /// The first instant that is wanted, in ns.
    pub from_ns: i64,
    /// The last instant that is wanted, in ns.
    pub to_ns: i64,
    /// The fields.
    pub fields: FieldSet,
}

impl Wanted {
    /// The time of a reading this many ns after the span's start, when it is wanted.
    pub fn time(&self, offset_ns: i64) -> Option<i64> {
        let time = self.start_ns.wrapping_add(offset_ns);
        (self.from_ns <= time && time <= self.to_ns).then_some(time)
    }
}
