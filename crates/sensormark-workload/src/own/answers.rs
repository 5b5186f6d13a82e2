//! The answers that are due, from the generator: readings are made again one by one and folded, so that memory holds the answer and not the data.
//!
//! The caller knows which readings are there: a question is about ticks of which everything was sent. Tested against the contract's reference.

use super::writes::Copies;
use sensormark_conformance::reference::Reference;
use sensormark_data::shapes::{
    Draw::*,
    Sensors,
    shape::{Number, Walked},
};
use sensormark_store::{
    Answer, AnswerSource, Ask, Batch, Column, Derived, FieldSet, FieldType, Function, Group, Grouping,
    Predicate, Query, Schema, Selection, Table, TimeRange, Value,
};
use std::collections::BTreeMap;
use std::sync::Arc;

/// A sum whose terms cancel to less than this share of their sizes is not known to the digits that are compared.
const CANCELLATION: f64 = 1e-6;

/// What is stored, as far as questions go.
#[derive(Debug, Clone)]
pub struct Answers {
    schema: Arc<Schema>,
    /// The table's number.
    number: usize,
    sensors: Arc<Sensors>,
    copies: Copies,
}

impl Answers {
    /// Of the sensors of a table, by its number.
    pub const fn new(schema: Arc<Schema>, number: usize, sensors: Arc<Sensors>, copies: Copies) -> Self {
        Self { schema, number, sensors, copies }
    }

    /// The table.
    pub fn table(&self) -> &Table {
        &self.schema.tables[self.number]
    }

    /// The table's number.
    pub const fn number(&self) -> usize {
        self.number
    }

    /// The sensors.
    pub fn sensors(&self) -> &Sensors {
        &self.sensors
    }

    /// What makes the readings, where each series has one field.
    pub fn typed(&self) -> Option<&dyn Walked> {
        self.sensors.walks().filter(|walks| walks.field_of(0).is_some())
    }

    /// How often a reading is stored.
    fn times(&self, series: u32, tick: u64) -> u64 {
        // What comes when its time is no longer kept is never asked about.
        let lives = self.sensors.churn.life(series).contains(&tick);
        if !lives || self.sensors.is(Missing, series, tick) || self.sensors.is(Stale, series, tick) {
            return 0;
        }
        let twice = self.copies.sent && self.copies.kept && self.sensors.is(Repeated, series, tick);
        1 + u64::from(twice)
    }

    /// Whether a reading is stored, and once.
    pub fn has_once(&self, series: u32, tick: u64) -> bool {
        self.times(series, tick) == 1
    }

    /// The answer that is due; none where it is not known to the digits that are compared.
    pub fn answer(&self, query: &Query) -> Option<Answer> {
        let mut series = self.chosen(&query.series);
        if self.typed().is_some() {
            return Some(self.by_reference(query, series, self.table().all_fields()));
        }
        match &query.ask {
            Ask::Point { fields } => {
                let start_ns = query.range.start_ns;
                let point = TimeRange::new(start_ns, start_ns.saturating_add(1));
                Some(Answer::Readings(self.readings(&series, point, *fields)))
            }
            Ask::Range { fields, .. } => Some(Answer::Readings(self.readings(&series, query.range, *fields))),
            Ask::LastReading { fields } => Some(Answer::Readings(self.last(&series, query.range, *fields))),
            Ask::SeriesMatching(predicate) => {
                Some(Answer::Series(self.matching(&series, query.range, *predicate)))
            }
            Ask::Aggregate { aggregates, grouping, .. } => match aggregates.as_slice() {
                [one] if one.function != Function::StandardDeviation && grouping.by_day_part.is_none() => {
                    self.groups(&series, query.range, one.function, one.field, *grouping)
                }
                all => {
                    let fields = all.iter().fold(FieldSet::first(0), |set, one| set.with(one.field));
                    Some(self.by_reference(query, series, fields))
                }
            },
            Ask::Derived(derived) => {
                if let Derived::Difference { other, .. } = derived {
                    series.push(*other);
                }
                Some(self.by_reference(query, series, derived.fields()))
            }
            Ask::First(_) | Ask::Last(_) | Ask::Minimum { .. } => None,
        }
    }

    /// The first and the last time in a range at which all series have a reading, where they have no times of their own.
    pub fn ends_ns(&self, range: TimeRange) -> Option<[i64; 2]> {
        self.sensors.readings_within(0).filter(|_| !self.sensors.timing.staggered)?;
        let time_ns = |tick: u64| self.sensors.boundary_ns(tick);
        let mut times = self.sensors.ticks(range.start_ns, range.end_ns, u64::MAX).map(time_ns);
        let first = times.find(|ns| range.contains(*ns))?;
        Some([first, times.rfind(|ns| range.contains(*ns)).unwrap_or(first)])
    }

    /// The series that a question is about.
    pub fn chosen(&self, selection: &Selection) -> Vec<u32> {
        let series = &self.table().series;
        match selection {
            Selection::One(one) => vec![*one],
            Selection::Set(set) => set.clone(),
            Selection::Tagged { tag, value } => series.with_tag(*tag, value),
            Selection::All => (0..series.len()).collect(),
        }
    }

    /// The readings of a series in a range, in the order of time: tick, time, and how often it is stored.
    fn stored(&self, series: u32, range: TimeRange) -> impl DoubleEndedIterator<Item = (u64, i64, u64)> + '_ {
        let (ticks, life) =
            (self.sensors.ticks(range.start_ns, range.end_ns, u64::MAX), self.sensors.churn.life(series));
        let ticks = ticks.start.max(life.start)..ticks.end.min(life.end);
        ticks.filter_map(move |tick| {
            let time_ns = self.sensors.time_ns(series, tick);
            let times = self.times(series, tick);
            (times > 0 && range.contains(time_ns)).then_some((tick, time_ns, times))
        })
    }

    fn readings(&self, series: &[u32], range: TimeRange, fields: FieldSet) -> Batch {
        if let Some(typed) = self.typed() {
            let mut batch = Batch::new(self.number, self.table());
            series.iter().for_each(|&series| typed.push_series(series, range, &mut batch));
            return batch;
        }
        let of_series = |&series: &u32| {
            let stored = self.stored(series, range);
            stored.flat_map(move |(tick, _, times)| (0..times).map(move |_| (series, tick)))
        };
        self.batch(series.iter().flat_map(of_series), fields)
    }

    fn last(&self, series: &[u32], range: TimeRange, fields: FieldSet) -> Batch {
        let last = |&series: &u32| self.stored(series, range).next_back().map(|(tick, ..)| (series, tick));
        self.batch(series.iter().filter_map(last), fields)
    }

    /// Readings, each a series and a tick, with empty columns for fields that were not asked for.
    fn batch(&self, readings: impl Iterator<Item = (u32, u64)>, fields: FieldSet) -> Batch {
        let table = self.table();
        let mut batch = Batch::new(self.number, table);
        self.sensors.push(&readings.collect::<Vec<_>>(), &mut batch, fields);
        for (field, column) in batch.columns.iter_mut().enumerate() {
            if !fields.contains(field) {
                *column = Column::absent(table.fields[field].kind);
            }
        }
        batch
    }

    fn matching(&self, series: &[u32], range: TimeRange, predicate: Predicate) -> Vec<u32> {
        let any = |series: u32| {
            let mut field = self.sensors.of_series(predicate.field, series);
            let mut passes = |tick| field.number(tick).is_some_and(|number| predicate.passes(number.float()));
            self.stored(series, range).any(|(tick, ..)| passes(tick))
        };
        series.iter().copied().filter(|&series| any(series)).collect()
    }

    fn groups(
        &self,
        series: &[u32],
        range: TimeRange,
        function: Function,
        field: usize,
        grouping: Grouping,
    ) -> Option<Answer> {
        let mut groups: BTreeMap<(Option<u32>, Option<i64>), Fold> = BTreeMap::new();
        for &series in series {
            let named = self.name_of(series, grouping);
            let mut of_series = self.sensors.of_series(field, series);
            for (tick, time_ns, times) in self.stored(series, range) {
                let window = grouping.window.map(|window| window.start_of(time_ns));
                let fold = groups.entry((named, window)).or_default();
                fold.add(of_series.number(tick), times);
            }
        }
        let is_integer = self.table().fields[field].kind == FieldType::I64;
        let groups = groups.into_iter().map(|((series, window), fold)| {
            Some(Group {
                series,
                window_start_ns: window,
                day: None,
                values: vec![fold.value(function, is_integer)?],
            })
        });
        groups.collect::<Option<Vec<_>>>().map(Answer::groups)
    }

    /// The answer of the contract's reference, which gets these readings.
    fn by_reference(&self, query: &Query, series: Vec<u32>, fields: FieldSet) -> Answer {
        let mut readings = self.readings(&series, query.range, fields);
        let rows = readings.len();
        let others = readings.columns.iter_mut().filter(|column| column.values.len() < rows);
        others.for_each(|column| (0..rows).for_each(|_| _ = column.push(Value::Null)));
        let mut reference = Reference::new(Arc::clone(&self.schema));
        reference.add(&readings);
        reference.prepare();
        reference.answer(query)
    }

    /// The series that names a series' group.
    fn name_of(&self, series: u32, grouping: Grouping) -> Option<u32> {
        if grouping.by_series {
            return Some(series);
        }
        let tag = grouping.by_tag?;
        let value = self.table().series.columns()[tag].text(series);
        let lowest = self.table().series.with_tag(tag, &value).first().copied();
        lowest.or(Some(series))
    }
}

/// Readings of a group, folded.
#[derive(Debug, Default)]
pub struct Fold {
    count: u64,
    whole: i128,
    /// A compensated sum (Neumaier 1974): its error is that of one addition.
    sum: f64,
    lost: f64,
    sizes: f64,
    least: Option<Number>,
    most: Option<Number>,
}

impl Fold {
    fn add(&mut self, number: Option<Number>, times: u64) {
        self.count += times;
        let Some(number) = number else { return };
        match number {
            Number::Integer(value) => self.whole += i128::from(value) * i128::from(times),
            Number::Float(value) => (0..times).for_each(|_| self.add_float(value)),
        }
        if self.least.is_none_or(|least| number < least) {
            self.least = Some(number);
        }
        if self.most.is_none_or(|most| number > most) {
            self.most = Some(number);
        }
    }

    fn add_float(&mut self, value: f64) {
        let sum = self.sum + value;
        self.lost +=
            if self.sum.abs() >= value.abs() { (self.sum - sum) + value } else { (value - sum) + self.sum };
        self.sum = sum;
        self.sizes += value.abs();
    }

    /// What a function gives; none where it is not known to the digits that are compared.
    pub fn value(&self, function: Function, is_integer: bool) -> Option<Value> {
        let value = |number: Option<Number>| match number? {
            Number::Integer(value) => Some(Value::I64(value)),
            Number::Float(value) => Some(Value::F64(value)),
        };
        let sum = self.sum + self.lost;
        let known = sum.abs() >= CANCELLATION * self.sizes;
        match function {
            Function::Count => i64::try_from(self.count).ok().map(Value::I64),
            Function::Min => value(self.least),
            Function::Max => value(self.most),
            Function::Sum if is_integer => i64::try_from(self.whole).ok().map(Value::I64),
            Function::Mean if is_integer => Some(Value::F64(self.whole as f64 / self.count as f64)),
            Function::Sum => known.then_some(Value::F64(sum)),
            Function::Mean => known.then_some(Value::F64(sum / self.count as f64)),
            _ => None,
        }
    }
}
