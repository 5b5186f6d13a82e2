//! How one cycle is read: by five searches that the database answers, from two fetched seconds, or from two seconds of the angle alone.
//!
//! Which reads there are, and how they are summed up and compared, is in [`super::reads`].

use super::SPAN_NS;
use super::cycle::{channel_sums, find_cycle};

use sensormark_data::machine_tool::{AMPLITUDE, CHANNELS};
use sensormark_engine::inquiry::Asker;
use sensormark_store::{
    Answer, Ask, Batch, Comparison, ErrorKind, FieldSet, Moment, Operation, Predicate, Query, Selection,
    StoreError, TimeRange, Values,
};
use serde::{Deserialize, Serialize};
use std::rc::Rc;

/// How far a bounded search looks: longer than two cycles, so that what is sought is always inside.
const REACH_NS: i64 = 1_000_000_000;

/// How far a search looks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reach {
    /// A second.
    Second,
    /// The whole of time: from 1970, or to 2262, as a table's readings may be.
    Everything,
}

impl Reach {
    /// Where the first sample after a time is searched for.
    pub const fn after(self, time_ns: i64) -> TimeRange {
        let end_ns = match self {
            Self::Second => time_ns + 1 + REACH_NS,
            Self::Everything => i64::MAX,
        };
        TimeRange::new(time_ns + 1, end_ns)
    }

    /// Where the last sample before a time is searched for.
    pub const fn before(self, time_ns: i64) -> TimeRange {
        let start_ns = match self {
            Self::Second => time_ns - REACH_NS,
            Self::Everything => 0,
        };
        TimeRange::new(start_ns, time_ns)
    }
}

/// How a cycle is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Strategy {
    /// Five searches and a fetch, answered by the database.
    Individual,
    /// Two whole seconds are fetched and searched in memory.
    Bulk,
    /// Two seconds of the angle are fetched and searched in memory, then the other channels of the cycle.
    #[serde(rename = "bulk-1")]
    BulkOne,
    /// The five searches and the fetch, the searches over the whole of time on one side of an instant.
    IndividualUnbounded,
}

impl Strategy {
    /// All strategies.
    pub const ALL: [Self; 4] = [Self::Individual, Self::Bulk, Self::BulkOne, Self::IndividualUnbounded];

    /// The strategy's name.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Individual => "individual",
            Self::Bulk => "bulk",
            Self::BulkOne => "bulk-1",
            Self::IndividualUnbounded => "individual-unbounded",
        }
    }

    /// What a store must be able to do for it.
    pub const fn needed(self) -> &'static [Operation] {
        match self {
            Self::Individual => &[Operation::Search, Operation::Minimum, Operation::Range],
            Self::IndividualUnbounded => {
                &[Operation::Search, Operation::SearchWithoutBound, Operation::Minimum, Operation::Range]
            }
            Self::Bulk => &[Operation::Range],
            Self::BulkOne => &[Operation::RangeOfSomeFields],
        }
    }

    /// How many questions a read takes.
    pub const fn questions(self) -> u32 {
        match self {
            Self::Individual | Self::IndividualUnbounded => 6,
            Self::Bulk => 1,
            Self::BulkOne => 2,
        }
    }

    /// Whether it is measured only when it is named.
    pub const fn is_on_request(self) -> bool {
        matches!(self, Self::IndividualUnbounded)
    }
}

/// What one read found.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CycleAnswer {
    /// The time read around, in ns since the Unix epoch.
    pub around_ns: i64,
    /// t1 to t5, in ns since the Unix epoch.
    pub points_ns: [i64; 5],
    /// Samples of the cycle, [t4, t5).
    pub samples: u64,
    /// The sum of each channel over them.
    pub sums: [u64; CHANNELS],
}

/// Why a read has no answer.
pub enum ReadFailure {
    /// The database failed.
    Store(StoreError),
    /// It answered, and its answers hold no cycle.
    Missing(String),
}

impl From<StoreError> for ReadFailure {
    fn from(error: StoreError) -> Self {
        Self::Store(error)
    }
}

/// Reads a cycle.
pub struct CycleReader<'a> {
    asker: &'a mut dyn Asker,
    /// Questions asked so far.
    pub queries: u64,
    /// What was fetched, with the ranges and fields asked for.
    pub batches: Vec<(TimeRange, FieldSet, Rc<Batch>)>,
}

impl<'a> CycleReader<'a> {
    /// A reader that asks here.
    pub fn new(asker: &'a mut dyn Asker) -> Self {
        Self { asker, queries: 0, batches: Vec::new() }
    }
}

impl CycleReader<'_> {
    /// Reads the cycle around a time, as the strategy says.
    ///
    /// # Errors
    /// When the database fails, or holds no cycle there.
    pub async fn cycle(&mut self, strategy: Strategy, around_ns: i64) -> Result<CycleAnswer, ReadFailure> {
        match strategy {
            Strategy::Individual => self.read_individually(around_ns, Reach::Second).await,
            Strategy::IndividualUnbounded => self.read_individually(around_ns, Reach::Everything).await,
            Strategy::Bulk => self.read_in_bulk(around_ns).await,
            Strategy::BulkOne => self.read_angle_first(around_ns).await,
        }
    }

    /// Five searches and a fetch.
    ///
    /// # Errors
    /// When the database fails, or holds no cycle there.
    async fn read_individually(&mut self, around_ns: i64, reach: Reach) -> Result<CycleAnswer, ReadFailure> {
        let half =
            Predicate { field: 0, comparison: Comparison::Above, threshold: f64::from(AMPLITUDE) / 2.0 };
        let eighth =
            Predicate { field: 0, comparison: Comparison::Below, threshold: f64::from(AMPLITUDE) / 8.0 };
        let t1 = self.moment("t1", reach.after(around_ns), Ask::First(half)).await?.time_ns;
        let t2 = self.moment("t2", reach.before(t1), Ask::Last(eighth)).await?.time_ns;
        let t3 = self.moment("t3", reach.before(t2), Ask::Last(half)).await?.time_ns;
        let t4 = self.moment("t4", TimeRange::new(t3, t2), Ask::Minimum { field: 0 }).await?.time_ns;
        let t5 = self.moment("t5", reach.after(t1), Ask::First(eighth)).await?.time_ns;
        let cycle = self.range(TimeRange::new(t4, t5), FieldSet::first(CHANNELS)).await?;
        let columns = channels(&cycle)?;
        Ok(CycleAnswer {
            around_ns,
            points_ns: [t1, t2, t3, t4, t5],
            samples: cycle.len() as u64,
            sums: channel_sums(columns, 0..cycle.len()),
        })
    }

    /// Two whole seconds, searched in memory.
    ///
    /// # Errors
    /// When the database fails, or holds no cycle there.
    async fn read_in_bulk(&mut self, around_ns: i64) -> Result<CycleAnswer, ReadFailure> {
        let seconds = self.range(two_seconds(around_ns), FieldSet::first(CHANNELS)).await?;
        let columns = channels(&seconds)?;
        let points = find_cycle(&seconds.times_ns, columns[0], around_ns)
            .map_err(|error| ReadFailure::Missing(error.to_string()))?;
        Ok(CycleAnswer {
            around_ns,
            points_ns: points.times(&seconds.times_ns),
            samples: points.samples().len() as u64,
            sums: channel_sums(columns, points.samples()),
        })
    }

    /// Two seconds of the angle, searched in memory; then the other channels of the cycle.
    ///
    /// # Errors
    /// When the database fails, or holds no cycle there.
    async fn read_angle_first(&mut self, around_ns: i64) -> Result<CycleAnswer, ReadFailure> {
        let seconds = self.range(two_seconds(around_ns), FieldSet::one(0)).await?;
        let angle = channel(&seconds, 0)?;
        let points = find_cycle(&seconds.times_ns, angle, around_ns)
            .map_err(|error| ReadFailure::Missing(error.to_string()))?;
        let time = |row: usize| seconds.times_ns[row];
        let others = (1..CHANNELS).fold(FieldSet::first(0), FieldSet::with);
        let cycle = self.range(TimeRange::new(time(points.t4), time(points.t5)), others).await?;
        if cycle.len() != points.samples().len() {
            return Err(ReadFailure::Missing(format!(
                "{} samples of the angle, {} of the other channels",
                points.samples().len(),
                cycle.len()
            )));
        }
        let mut sums = [0; CHANNELS];
        sums[0] = angle[points.samples()].iter().map(|&value| u64::from(value)).sum();
        for (number, sum) in sums.iter_mut().enumerate().skip(1) {
            *sum = channel(&cycle, number)?.iter().map(|&value| u64::from(value)).sum();
        }
        Ok(CycleAnswer {
            around_ns,
            points_ns: points.times(&seconds.times_ns),
            samples: points.samples().len() as u64,
            sums,
        })
    }

    async fn moment(&mut self, name: &str, range: TimeRange, ask: Ask) -> Result<Moment, ReadFailure> {
        match self.ask(range, ask).await? {
            Answer::Moment(Some(moment)) => Ok(moment),
            Answer::Moment(None) => Err(ReadFailure::Missing(format!(
                "no {name} between {} and {} ns",
                range.start_ns, range.end_ns
            ))),
            _ => Err(unexpected("a moment").into()),
        }
    }

    async fn range(&mut self, range: TimeRange, fields: FieldSet) -> Result<Rc<Batch>, ReadFailure> {
        match self.ask(range, Ask::Range { fields, coarse_filter: false }).await? {
            Answer::Readings(batch) => {
                let batch = Rc::new(batch);
                self.batches.push((range, fields, Rc::clone(&batch)));
                Ok(batch)
            }
            _ => Err(unexpected("readings").into()),
        }
    }

    async fn ask(&mut self, range: TimeRange, ask: Ask) -> Result<Answer, StoreError> {
        self.queries += 1;
        self.asker.ask(&Query { table: 0, series: Selection::One(0), range, ask }).await
    }
}

fn unexpected(expected: &str) -> StoreError {
    StoreError::new(
        ErrorKind::Protocol,
        "read a cycle",
        format!("the store answered with something else than {expected}"),
    )
}

fn channel(batch: &Batch, number: usize) -> Result<&[u16], ReadFailure> {
    match batch.columns.get(number).map(|column| &column.values) {
        Some(Values::U16(values)) if values.len() == batch.len() => Ok(values),
        _ => Err(unexpected("16-bit channels").into()),
    }
}

fn channels(batch: &Batch) -> Result<[&[u16]; CHANNELS], ReadFailure> {
    let mut columns = [&[] as &[u16]; CHANNELS];
    for (number, column) in columns.iter_mut().enumerate() {
        *column = channel(batch, number)?;
    }
    Ok(columns)
}

/// The second that the time falls into, with the one before it where its fraction is under a half, else the one after.
pub fn two_seconds(around_ns: i64) -> TimeRange {
    let fraction = around_ns.rem_euclid(SPAN_NS);
    let second = around_ns - fraction;
    let start = if fraction < SPAN_NS / 2 { second - SPAN_NS } else { second };
    TimeRange::new(start, start + 2 * SPAN_NS)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_seconds_hold_the_time_in_their_middle() {
        for around in [
            10 * SPAN_NS,
            10 * SPAN_NS + 1,
            10 * SPAN_NS + SPAN_NS / 2 - 1,
            10 * SPAN_NS + SPAN_NS / 2,
            11 * SPAN_NS - 1,
        ] {
            let range = two_seconds(around);
            assert_eq!(range.length_ns(), 2 * SPAN_NS);
            assert!(
                around - range.start_ns >= SPAN_NS / 2 && range.end_ns - around >= SPAN_NS / 2,
                "{around}"
            );
        }
    }
}
