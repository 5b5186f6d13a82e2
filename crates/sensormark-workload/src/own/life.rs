//! A life of data: rounds in which readings are written and asked about. Beside each round's clients, the tasks run that are due by the data's own time.
//! Rollups are renewed, readings beyond their retention go, and old ones are compressed.
//!
//! The time of round r is the instant before which the rounds before it wrote, so a year passes in minutes. Every rule about time is here, once:
//!
//! - A rollup is renewed from `late_by` and a round before that instant. So a window holds all its readings a round after the last of them came.
//! - What is older than `keep` goes. A question is about what is kept, and a window that is asked about was renewed a round before.
//! - Readings that come when their time is no longer kept (`retention.late`) are gone at the end, and no rollup has them.

mod round;

use super::answers::Answers;
use super::parameters::{LifePart, QueryKind, QueryPart, RollupPart, SeriesPart, TablePart, WhenPart};
use sensormark_data::random::Stream;
use sensormark_engine::operations::{Extent, Operations, Slot};
use sensormark_store::name::{column_name, table_name};
use sensormark_store::{
    Aggregate, Answer, Ask, Field, FieldSet, FieldType, Function, Group, Grouping, Query, Selection, Series,
    Table, TimeRange, Window,
};
use std::num::NonZeroU64;
use std::sync::Arc;

pub use round::Round;

/// The stream of questions about rollups.
const STREAM: u64 = u64::MAX - 2;

/// The windows of a series are compared in so many questions: one about readings that are in doubt says nothing.
pub const CHECKS: i64 = 8;

/// Readings have to be kept so long that rollups get those that come late.
pub fn least_kept_ns(part: &LifePart, series: &SeriesPart) -> i64 {
    let widest = part.rollups.iter().map(|rollup| rollup.every_ns).max();
    widest.map_or(part.every_ns, |widest| 2 * (part.every_ns + widest) + series.lag_ns())
}

impl SeriesPart {
    /// How long after its time a reading that is still kept has come.
    fn lag_ns(&self) -> i64 {
        (self.late_ticks() + 2).cast_signed().saturating_mul(self.interval_ns)
    }
}

impl LifePart {
    /// How many ticks after its own a reading comes whose time is no longer kept.
    pub fn stale_ticks(&self, series: &SeriesPart) -> u64 {
        let after_ns = self.keep_ns.unwrap_or(0) + self.every_ns;
        (after_ns / series.interval_ns.max(1)).cast_unsigned() + 1
    }

    /// The instant before which everything was written that the rounds before this one wrote.
    fn time_ns(&self, series: &SeriesPart, round: u32) -> i64 {
        series.start_ns + i64::from(round).saturating_mul(self.every_ns).min(series.duration_ns)
    }

    /// Older readings may be gone in this round.
    pub fn kept_from_ns(&self, series: &SeriesPart, round: u32) -> i64 {
        self.keep_ns.map_or(i64::MIN, |keep_ns| self.time_ns(series, round) - keep_ns)
    }

    /// The time before which readings are of such an age in this round; none where there are none yet.
    fn old_ns(&self, series: &SeriesPart, round: u32, age_ns: Option<i64>) -> Option<i64> {
        age_ns.map(|ns| self.time_ns(series, round) - ns).filter(|ns| *ns > series.start_ns)
    }

    /// The readings that a rollup sums up again in this round.
    fn renewed(&self, series: &SeriesPart, round: u32, rollup: &RollupPart) -> TimeRange {
        let time_ns = self.time_ns(series, round);
        let from_ns = time_ns - series.lag_ns() - self.every_ns - rollup.every_ns;
        TimeRange::new(from_ns - from_ns.rem_euclid(rollup.every_ns), time_ns)
    }
}

impl RollupPart {
    /// Its table.
    pub fn table(&self, of: &TablePart, readings: &Table) -> Table {
        let column = |(field, kind): &(usize, QueryKind)| {
            let of_type = match kind.function() {
                Function::Count => FieldType::I64,
                Function::Mean => FieldType::F64,
                _ => readings.fields[*field].kind,
            };
            let name = column_name(&format!("{}_{}", of.fields[*field].name, word(*kind))).0;
            Field { name, kind: of_type, nullable: false }
        };
        Table {
            name: table_name(&self.name).0,
            fields: self.columns.iter().map(column).collect(),
            series: Series::new(readings.series.columns().to_vec()).every(self.every_ns),
            ..readings.clone()
        }
    }
}

/// The word in a column's name: count, min, max, sum or mean.
fn word(kind: QueryKind) -> String {
    format!("{:?}", kind.function()).to_lowercase()
}

/// Questions about what a rollup holds.
pub struct RollupQuestions {
    name: [String; 1],
    answers: Arc<Answers>,
    rollup: RollupPart,
    /// The rollup's table, by its number.
    table: usize,
    /// The windows that are whole.
    whole: TimeRange,
    /// Which of them one question is about; of all series in turn where there is none.
    part: Option<QueryPart>,
    stream: Stream,
    length: u64,
}

impl RollupQuestions {
    /// Questions in a round; none where no window is whole. Without a part of the file, all windows of each series once, in `CHECKS` questions.
    pub fn new(
        answers: &Arc<Answers>,
        (life, series): (&LifePart, &SeriesPart),
        (number, name): (usize, String),
        (round, part): (u32, Option<&QueryPart>),
        (seed, length): (u64, u64),
    ) -> Option<Self> {
        let rollup = life.rollups.get(number)?.clone();
        let floor = |ns: i64| ns - ns.rem_euclid(rollup.every_ns);
        // What was renewed beside the round before is there; at the end, all of it.
        let renewed = if part.is_some() { round.checked_sub(1)? } else { round };
        let end_ns = floor(life.time_ns(series, renewed) - series.lag_ns());
        let whole = TimeRange::new(floor(series.start_ns), end_ns);
        (whole.start_ns < whole.end_ns).then(|| Self {
            name: [name],
            answers: Arc::clone(answers),
            table: number + 1,
            rollup,
            whole,
            part: part.cloned(),
            stream: Stream::new(seed, STREAM, number as u64),
            length,
        })
    }

    /// How many series there are.
    fn series(&self) -> NonZeroU64 {
        NonZeroU64::new(self.answers.table().series.len().into()).unwrap_or(NonZeroU64::MIN)
    }

    fn range(&self, index: u64) -> TimeRange {
        let every_ns = self.rollup.every_ns;
        // In windows.
        let all = self.whole.length_ns() / every_ns;
        let (after, asked) = match self.part.as_ref().and_then(|part| Some((part.when, part.span_ns?))) {
            Some((when, span_ns)) => {
                let asked = (span_ns / every_ns).clamp(1, all);
                let room = (all - asked).cast_unsigned();
                let after = match when {
                    WhenPart::Latest => room,
                    _ => self.stream.below(2 * index + 1, NonZeroU64::MIN.saturating_add(room)),
                };
                (after.cast_signed(), asked)
            }
            // A part of the windows of each series in turn.
            None => {
                let asked = all / CHECKS + 1;
                ((index / self.series()).cast_signed() * asked, asked)
            }
        };
        let at = |windows: i64| self.whole.start_ns + windows.min(all) * every_ns;
        TimeRange::new(at(after), at(after + asked))
    }

    /// What is asked of a rollup, asked of the readings.
    fn of_readings(&self, query: &Query) -> Query {
        let columns = self.rollup.columns.iter();
        let aggregates = columns.map(|(field, kind)| Aggregate { function: kind.function(), field: *field });
        let window = Some(Window { width_ns: self.rollup.every_ns, origin_ns: 0 });
        let ask = Ask::Aggregate {
            aggregates: aggregates.collect(),
            grouping: Grouping { window, by_series: true, ..Grouping::default() },
            from_sums: false,
        };
        Query { table: self.answers.number(), ask, ..query.clone() }
    }
}

impl Operations for RollupQuestions {
    fn len(&self) -> u64 {
        self.length
    }

    fn extent(&self) -> Extent {
        let windows = self.range(0).length_ns() as f64 / self.rollup.every_ns as f64;
        Extent::of(windows)
    }

    fn classes(&self) -> &[String] {
        &self.name
    }

    fn fill(&self, index: u64, _watermark: u64, slot: &mut Slot) {
        let series = match &self.part {
            Some(_) => self.stream.below(2 * index, self.series()),
            None => index % self.series(),
        };
        let fields = FieldSet::first(self.rollup.columns.len());
        let query = slot.ask();
        query.table = self.table;
        query.series = Selection::One(u32::try_from(series).unwrap_or(0));
        query.range = self.range(index);
        query.ask = Ask::Range { fields, coarse_filter: false };
    }

    fn expected(&self, _index: u64, query: &Query) -> Option<Answer> {
        self.answers.answer(&self.of_readings(query))
    }

    fn asked_of(&self, _query: &Query) -> usize {
        self.answers.number()
    }

    fn disagreement(&self, answer: &Answer, expected: &Answer, query: &Query) -> Option<String> {
        match groups(answer) {
            Some(got) => got.disagreement(expected, &self.of_readings(query)),
            None => answer.disagreement(expected, query),
        }
    }
}

/// Readings of a rollup as groups, which are compared to the digits that sums have.
fn groups(answer: &Answer) -> Option<Answer> {
    let Answer::Readings(batch) = answer else { return None };
    let group = |row: usize| Group {
        series: Some(batch.series[row]),
        window_start_ns: Some(batch.times_ns[row]),
        day: None,
        values: batch.columns.iter().map(|column| column.value(row)).collect(),
    };
    Some(Answer::groups((0..batch.len()).map(group).collect()))
}
