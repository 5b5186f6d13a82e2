//! What asking clients issue: question i of a kind is a pure function of the file, the seed, i and the watermark.

use super::answers::Answers;
use super::parameters::{ByPart, OfPart, QueryKind, QueryPart, WhenPart};
use super::writes::Batches;
use crate::checked::time_text;
use sensormark_data::random::Stream;
use sensormark_data::shapes::{order::Order, shape::Number};
use sensormark_engine::operations::{Extent, Operations, Slot};
use sensormark_store::name::column_name;
use sensormark_store::{
    Aggregate, Answer, Ask, Comparison, Derived, FieldSet, Grouping, Predicate, Query, Selection, Table,
    TimeRange, Value, Window,
};
use std::collections::BTreeSet;
use std::num::NonZeroU64;
use std::sync::Arc;

/// Random words that a question may use.
const WORDS: u64 = 256;
/// The first of them that draws a point's time.
const FIRST_DRAW: u64 = 8;
/// The one that draws fields, and the one that draws another series or a reading.
const FIELDS: u64 = 2;
const OTHER: u64 = 3;
/// How many readings are the nearest.
const NEAREST: u32 = 5;
/// The series number of questions' streams; data sets use small ones.
const STREAM: u64 = u64::MAX - 1;

/// How far the data has come when a question is asked.
#[derive(Debug, Clone)]
pub struct Horizon {
    /// Turns that are there before the first operation of the load that is asked about.
    pub turns_before: u64,
    /// Turns in each of its operations, but for the last, which may be smaller.
    pub batches: Batches,
    /// Which series has which turn.
    pub order: Order,
    /// Turns that are there after its last operation.
    pub turns_end: u64,
    /// Turns that are there where nothing is said of a watermark.
    pub turns_loaded: u64,
    /// After how many ticks all of a tick has been sent.
    pub lag_ticks: u64,
    /// Older readings may be gone.
    pub first_ns: i64,
}

impl Horizon {
    /// So many turns are there.
    fn turns(&self, watermark: u64) -> u64 {
        if watermark == u64::MAX {
            self.turns_loaded
        } else {
            self.turns_before.saturating_add(self.batches.turn(watermark)).min(self.turns_end)
        }
    }

    /// Below this tick everything is there, of all series.
    fn ticks(&self, turns: u64) -> u64 {
        self.order.ticks(turns, self.order.series - 1).saturating_sub(self.lag_ticks)
    }
}

/// The series that questions about one of them are about in turn: those with values of tags; of a table whose series have one field each, those with a number where
/// that is needed, and of a tag's series the first.
pub fn subjects(part: &QueryPart, answers: &Answers) -> Vec<u32> {
    let (table, typed) = (answers.table(), answers.typed());
    let text =
        |name: &str, one: u32| Some(table.series.columns()[table.tag(&column_name(name).0)?].text(one));
    let fits = |one: &u32| {
        let field = typed.and_then(|typed| typed.field_of(*one)).filter(|_| part.kind.needs_number());
        let has = |(name, value): (&String, &String)| text(name, *one).as_ref() == Some(value);
        field.is_none_or(|field| table.fields[field].kind.is_number())
            && !matches!(&part.of, OfPart::With(tags) if !tags.iter().all(has))
    };
    let is_any = typed.is_none() && !matches!(part.of, OfPart::With(_));
    let mut fitting: Vec<u32> = (0..if is_any { 0 } else { table.series.len() }).filter(fits).collect();
    if let OfPart::Tag(name) = &part.of {
        fitting.dedup_by_key(|one| text(name, *one));
    }
    fitting
}

/// Questions of one kind.
pub struct Questions {
    part: QueryPart,
    answers: Arc<Answers>,
    horizon: Horizon,
    stream: Stream,
    /// See [`subjects`].
    subjects: Vec<u32>,
    /// The fields, or those that are drawn from.
    fields: Vec<usize>,
    length: u64,
    /// How many groups an answer has in each window; none where that is not always the same.
    groups: Option<usize>,
    /// The first line of the file that answers make.
    head: String,
    classes: [String; 1],
}

impl Questions {
    /// `length` questions of a kind; `number` is its place in the file.
    pub fn new(
        part: &QueryPart,
        number: u64,
        seed: u64,
        answers: Arc<Answers>,
        horizon: Horizon,
        length: u64,
    ) -> Self {
        let table = answers.table();
        let fields = part.fields.iter().filter_map(|name| table.field(&column_name(name).0)).collect();
        let tags = table.tags.iter().map(|tag| format!("{},", tag.name));
        let groups = match (&part.by, &part.of) {
            (ByPart::Nothing, _) => Some(1),
            (ByPart::Tag(name), OfPart::All) => table.tag(&column_name(name).0).map(|tag| {
                let column = &table.series.columns()[tag];
                (0..table.series.len()).map(|one| column.text(one)).collect::<BTreeSet<_>>().len()
            }),
            (ByPart::Series, OfPart::All) => Some(table.series.len() as usize),
            _ => None,
        };
        Self {
            subjects: subjects(part, &answers),
            fields,
            groups,
            head: tags.collect::<String>() + "from,until,amount",
            stream: Stream::new(seed, STREAM, number),
            part: part.clone(),
            answers,
            horizon,
            length,
            classes: [part.name.clone()],
        }
    }

    fn below(&self, index: u64, draw: u64, bound: u64) -> u64 {
        let bound = NonZeroU64::new(bound).unwrap_or(NonZeroU64::MIN);
        self.stream.below(index.wrapping_mul(WORDS) + draw, bound)
    }

    /// The fields of a question, which may be the only one of its series. Where they are drawn: neighbours, and the first follows the last. So a database sees no
    /// more kinds of statements than there are fields.
    fn fields(&self, index: u64, series: &Selection) -> Vec<usize> {
        if let (Some(typed), Selection::One(one)) = (self.answers.typed(), series) {
            return typed.field_of(*one).into_iter().collect();
        }
        let Some(count) = self.part.drawn else { return self.fields.clone() };
        let first = usize::try_from(self.below(index, FIELDS, self.fields.len() as u64)).unwrap_or(0);
        let after = self.fields.iter().cycle().skip(first);
        let mut drawn: Vec<usize> = after.take(count).copied().collect();
        drawn.sort_unstable();
        drawn
    }

    /// What a question is about when so many turns are there, and the ticks of which all of it is there.
    fn selected(&self, index: u64, turns: u64, table: &Table) -> (Selection, u64) {
        let order = self.horizon.order;
        let one = match self.part.of {
            OfPart::Written => order.at(self.below(index, 0, turns)).0,
            OfPart::Each if self.subjects.is_empty() => {
                u32::try_from(index % u64::from(self.begun(turns).max(1))).unwrap_or(0)
            }
            _ => {
                let ticks = self.horizon.ticks(turns).max(1);
                return (self.selection(index, ticks, table), ticks);
            }
        };
        (Selection::One(one), order.ticks(turns, one).max(1))
    }

    /// How many series have readings of the time that is asked about, of so many turns.
    fn begun(&self, turns: u64) -> u32 {
        self.horizon.order.begun(turns, self.part.after.unwrap_or(0))
    }

    /// A subject in its turn, where there are such. Else one that has begun is drawn, or one that still reports, where the question is about the latest.
    fn selection(&self, index: u64, ticks: u64, table: &Table) -> Selection {
        let churn = &self.answers.sensors().churn;
        let begun = churn.series_before(ticks);
        let ended = match self.part.when {
            WhenPart::Latest => begun - u64::from(churn.places),
            _ => 0,
        };
        let drawn = || u32::try_from(ended + self.below(index, 0, begun - ended)).unwrap_or(0);
        let turn = usize::try_from(index % self.subjects.len().max(1) as u64).unwrap_or(0);
        let series = self.subjects.get(turn).copied().unwrap_or_else(drawn);
        match &self.part.of {
            OfPart::One | OfPart::Written | OfPart::Each | OfPart::With(_) => Selection::One(series),
            OfPart::All => Selection::All,
            OfPart::Several(count) => {
                // Floyd's way: every set of that size is as likely as any other.
                let mut chosen = BTreeSet::new();
                for last in begun.saturating_sub(u64::from(*count)).max(ended)..begun {
                    let drawn = ended + self.below(index, FIRST_DRAW + begun - last, last - ended + 1);
                    let _ = chosen.insert(drawn) || chosen.insert(last);
                }
                Selection::Set(chosen.into_iter().filter_map(|one| u32::try_from(one).ok()).collect())
            }
            OfPart::Tag(name) => {
                let tag = table.tag(&column_name(name).0).unwrap_or(0);
                Selection::Tagged { tag, value: table.series.columns()[tag].text(series) }
            }
        }
    }

    /// A stretch of time that ends no later than everything is there.
    fn range(&self, index: u64, ticks: u64) -> TimeRange {
        let sensors = self.answers.sensors();
        let end = sensors.boundary_ns(ticks);
        let start = sensors.boundary_ns(0).max(self.horizon.first_ns).min(end);
        if let (Some(after), Some(span)) = (self.part.after, self.part.span_ns) {
            let first = sensors.boundary_ns(after);
            return TimeRange::new(first.min(end), first.saturating_add(span).min(end));
        }
        let Some(span) = self.part.span_ns.filter(|&span| span < end - start) else {
            // The latest value before some time.
            if self.part.when != WhenPart::Latest && self.part.kind == QueryKind::LastValue {
                let least = ticks - (ticks - self.first_tick(ticks)) / 2;
                let tick = least + self.below(index, 1, ticks - least) + 1;
                return TimeRange::new(start, sensors.boundary_ns(tick));
            }
            return TimeRange::new(start, end);
        };
        let room = (end - start - span).unsigned_abs();
        let step = self.part.step_ns.map_or(1, i64::unsigned_abs);
        let after = match self.part.when {
            WhenPart::Latest => room,
            _ => self.below(index, 1, room / step + 1) * step,
        };
        // Bounds as fine as times are kept.
        let unit = sensors.timing.unit_ns;
        let first = start.saturating_add_unsigned(after);
        let first = first - first.rem_euclid(unit);
        TimeRange::new(first, first + (span - span % unit).max(unit))
    }

    /// From this tick on nothing is gone.
    fn first_tick(&self, ticks: u64) -> u64 {
        let sensors = self.answers.sensors();
        let first = sensors.ticks(i64::MIN, self.horizon.first_ns, ticks).end;
        if self.horizon.first_ns <= sensors.boundary_ns(0) { 0 } else { first.min(ticks.saturating_sub(1)) }
    }

    /// The time of a reading that is there, and there once.
    fn point(&self, index: u64, series: &Selection, ticks: u64) -> TimeRange {
        let sensors = self.answers.sensors();
        let series = match series {
            Selection::One(series) => *series,
            _ => 0,
        };
        let life = sensors.churn.life(series);
        let (first, ticks) = match self.part.when {
            WhenPart::Latest => (ticks.saturating_sub(16).max(life.start), ticks),
            _ => (self.first_tick(ticks).max(life.start), ticks.min(life.end)),
        };
        let drawn = (FIRST_DRAW..WORDS).map(|draw| first + self.below(index, draw, ticks - first));
        let usable = |tick: &u64| self.answers.has_once(series, *tick);
        // Where all draws fail, the last one is asked: its answer is empty, or has two readings, and known all the same.
        let tick = drawn.clone().find(usable).unwrap_or(first);
        let time_ns = sensors.time_ns(series, tick);
        TimeRange::new(time_ns, time_ns + 1)
    }

    fn predicate(&self, field: usize) -> Predicate {
        let (comparison, threshold) = match (self.part.above, self.part.below) {
            (Some(above), _) => (Comparison::Above, above),
            (None, below) => (Comparison::Below, below.unwrap_or(0.0)),
        };
        Predicate { field, comparison, threshold }
    }

    fn window(&self, origin_ns: i64) -> Option<Window> {
        self.part.window_ns.map(|width_ns| Window { width_ns, origin_ns })
    }

    /// How readings of a range are grouped.
    fn grouping(&self, range: TimeRange) -> Grouping {
        Grouping {
            window: self.window(if self.part.kind == QueryKind::Chart { range.start_ns } else { 0 }),
            by_series: self.part.by == ByPart::Series || self.part.kind == QueryKind::Statistics,
            by_tag: match &self.part.by {
                ByPart::Tag(name) => self.answers.table().tag(&column_name(name).0),
                _ => None,
            },
            by_day_part: match self.part.by {
                ByPart::DayAndNight(split) => Some(split),
                _ => None,
            },
        }
    }

    /// What is computed from the readings of one series; none for other kinds.
    fn derived(&self, index: u64, ticks: u64, series: &Selection, fields: &[usize]) -> Option<Derived> {
        let (field, other) = (*fields.first()?, *fields.last()?);
        let all = fields.iter().fold(FieldSet::first(0), |set, &field| set.with(field));
        let (above, below) = (self.part.above, self.part.below);
        let number = self.answers.sensors().churn.series_before(ticks);
        let series = match series {
            Selection::One(series) => *series,
            _ => 0,
        };
        let drawn = |draw: u64, bound: u64| self.below(index, draw, bound);
        Some(match self.part.kind {
            QueryKind::RowsByValue => Derived::RowsByValue { fields: all, predicate: self.predicate(field) },
            QueryKind::Interpolated => Derived::Interpolated { fields: all, step_ns: self.part.window_ns? },
            QueryKind::Correlation => Derived::Correlation { field, other },
            QueryKind::OutOfRange => {
                Derived::OutOfRange { field, window: self.window(0)?, above: above?, below: below? }
            }
            QueryKind::Difference => {
                let further = 1 + drawn(OTHER, number - 1);
                let other = (u64::from(series) + further) % number;
                Derived::Difference { other: u32::try_from(other).ok()?, field, window: self.window(0)? }
            }
            QueryKind::CrossMean => Derived::CrossMean { field, other },
            QueryKind::Nearest => {
                let tick = drawn(OTHER, ticks);
                let value = |field: usize| {
                    self.answers.sensors().number(field, series, tick).map_or(0.0, Number::float)
                };
                Derived::Nearest { fields: [field, other], to: [value(field), value(other)], count: NEAREST }
            }
            QueryKind::Segments => Derived::Segments { field, threshold: above? },
            QueryKind::ZScores => Derived::ZScores { field, beyond: None },
            QueryKind::Outliers => Derived::ZScores { field, beyond: Some(above.unwrap_or(1.0)) },
            _ => return None,
        })
    }

    fn question(&self, index: u64, ticks: u64, series: &Selection, range: TimeRange) -> Ask {
        let places = self.fields(index, series);
        if let Some(derived) = self.derived(index, ticks, series, &places) {
            return Ask::Derived(derived);
        }
        let fields = places.iter().fold(FieldSet::first(0), |set, &field| set.with(field));
        let aggregates = |field: usize| {
            let functions = self.part.kind.functions(self.answers.table().fields[field].kind);
            functions.into_iter().map(move |function| Aggregate { function, field })
        };
        match self.part.kind {
            QueryKind::Point => Ask::Point { fields },
            QueryKind::Range | QueryKind::Rollup => {
                Ask::Range { fields, coarse_filter: self.part.by_day == Some(true) }
            }
            QueryKind::LastValue => Ask::LastReading { fields },
            QueryKind::Matching => Ask::SeriesMatching(self.predicate(places.first().copied().unwrap_or(0))),
            _ => Ask::Aggregate {
                aggregates: places.into_iter().flat_map(aggregates).collect(),
                grouping: self.grouping(range),
                from_sums: self.part.from_sums,
            },
        }
    }

    /// Readings that a question has to look at, about.
    fn readings_looked_at(&self) -> f64 {
        let table = self.answers.table();
        let (series, all) = self.selected(0, self.horizon.turns(u64::MAX), table);
        let series = match series {
            Selection::One(_) => 1,
            Selection::Set(several) => several.len(),
            Selection::Tagged { tag, value } => table.series.with_tag(tag, &value).len(),
            Selection::All => table.series.len() as usize,
        };
        let sensors = self.answers.sensors();
        let interval_ns = (sensors.boundary_ns(1) - sensors.boundary_ns(0)).max(1);
        let all = all as f64;
        let ticks = match self.part.kind {
            QueryKind::Point | QueryKind::LastValue => 1.0,
            _ => self.part.span_ns.map_or(all, |span| (span as f64 / interval_ns as f64).min(all)),
        };
        // Of a turn's readings, those of one series.
        let all = sensors.churn.series_before(u64::MAX) as f64 / f64::from(table.series.len().max(1));
        ticks.max(1.0) * series as f64 * sensors.readings_a_turn(0) * all
    }
}

impl Operations for Questions {
    fn len(&self) -> u64 {
        self.length
    }

    fn extent(&self) -> Extent {
        Extent::of(self.readings_looked_at())
    }

    fn classes(&self) -> &[String] {
        &self.classes
    }

    fn least_watermark(&self) -> u64 {
        let Horizon { order, lag_ticks, .. } = self.horizon;
        let turns = match self.part.of {
            OfPart::Written => 1,
            // Of the first series, before which none of the others are asked about.
            OfPart::Each => (self.part.after.unwrap_or(0) + 1).saturating_mul(order.together.into()),
            _ => {
                let interval_ns = self.answers.sensors().timing.interval_ns.max(1);
                let span = self.part.step_ns.and(self.part.span_ns).unwrap_or(0) / interval_ns;
                let ticks = lag_ticks + span.unsigned_abs().max(1);
                ticks.next_multiple_of(order.block).saturating_mul(order.series.into())
            }
        };
        self.horizon.batches.before(turns.saturating_sub(self.horizon.turns_before))
    }

    fn fill(&self, index: u64, watermark: u64, slot: &mut Slot) {
        let query = slot.ask();
        query.table = self.answers.number();
        let ticks;
        (query.series, ticks) = self.selected(index, self.horizon.turns(watermark), self.answers.table());
        query.range = match self.part.kind {
            QueryKind::Point => self.point(index, &query.series, ticks),
            _ => self.range(index, ticks),
        };
        query.ask = self.question(index, ticks, &query.series, query.range);
    }

    fn answer_len(&self, _index: u64, query: &Query) -> Option<usize> {
        let within = |length_ns| self.answers.sensors().readings_within(length_ns);
        let readings = match (&query.ask, &query.series) {
            (Ask::Point { .. }, Selection::One(_)) => within(0).map(|_| 1),
            (Ask::Range { .. }, Selection::One(_)) => within(query.range.length_ns()),
            (Ask::Aggregate { grouping, .. }, Selection::One(_)) if *grouping == Grouping::default() => {
                within(query.range.length_ns()).map(|readings| readings.min(1))
            }
            (Ask::Aggregate { grouping, .. }, _) => {
                let (window, [first, last]) = (grouping.window?, self.answers.ends_ns(query.range)?);
                let windows = (window.start_of(last) - window.start_of(first)) / window.width_ns + 1;
                // None between is empty.
                let is_wide = window.width_ns >= self.answers.sensors().timing.interval_ns;
                return usize::try_from(windows)
                    .ok()
                    .zip(self.groups)
                    .filter(|_| is_wide)
                    .map(|(one, of)| one * of);
            }
            (Ask::LastReading { .. }, series) => {
                self.answers.ends_ns(query.range)?;
                return Some(self.answers.chosen(series).len());
            }
            _ => None,
        };
        usize::try_from(readings?).ok()
    }

    fn expected(&self, _index: u64, query: &Query) -> Option<Answer> {
        self.answers.answer(query)
    }

    fn file(&self) -> Option<(&str, &str)> {
        Some((self.part.file.as_deref()?, &self.head))
    }

    fn line(&self, index: u64, query: &Query, answer: &Answer) -> Option<String> {
        let (Selection::One(series), Answer::Groups(groups)) = (&query.series, answer) else { return None };
        // Others are of later rounds.
        let is_first = index < self.begun(self.horizon.turns(u64::MAX)).into();
        let Value::F64(amount) = groups.first().filter(|_| is_first)?.values.first()? else { return None };
        let tags = self.answers.table().series.columns().iter().map(|column| column.text(*series) + ",");
        let [from, until] = [query.range.start_ns, query.range.end_ns].map(time_text);
        Some(format!("{}{from},{until},{amount:.2}", tags.collect::<String>()))
    }
}
