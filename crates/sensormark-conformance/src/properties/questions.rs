//! Random questions of every kind, and which of their answers are comparable.

use super::scene::{Reading, Scene};
use crate::data::{DAY, HOUR, MINUTE, SECOND, SPLIT};
use crate::reference::Reference;
use crate::reference::derived::Spread;
use proptest::collection::vec;
use proptest::prelude::*;
use sensormark_store::answer::{Answer, Group};
use sensormark_store::batch::Column;
use sensormark_store::layout::{Layout, Shape};
use sensormark_store::query::{
    Aggregate, Ask, Comparison, DaySplit, Derived, Function, Grouping, Predicate, Query, Selection,
    TimeRange, Window,
};
use sensormark_store::question::Question;
use sensormark_store::schema::{FieldSet, FieldType, Table, Value};
use sensormark_store::store::AnswerSource;

const NUMERIC: [FieldType; 3] = [FieldType::I64, FieldType::U16, FieldType::F64];

/// The choices for one question: numbers that mean something in any scene.
#[derive(Debug, Clone)]
pub(super) struct Draft {
    table: u8,
    kind: u8,
    series: (u8, Vec<u8>),
    bounds: [(u8, u8, i8); 2],
    field: u8,
    fields: u64,
    threshold: (bool, u8, u8),
    aggregates: Vec<(u8, u8)>,
    grouping: (u8, u8, u8, u8),
    flags: u8,
}

/// Questions.
pub(super) fn drafts() -> impl Strategy<Value = Draft> {
    let bound = || (0..6_u8, any::<u8>(), -1..=1_i8);
    let place = (0..4_u8, 0..22_u8, (0..5_u8, vec(0..8_u8, 0..5)));
    let fields = (0..64_u8, any::<u64>(), (any::<bool>(), 0..8_u8, any::<u8>()));
    let aggregates = vec((0..8_u8, 0..64_u8), 1..5);
    let grouping = (0..10_u8, 0..8_u8, 0..8_u8, any::<u8>());
    let bounds = [bound(), bound()];
    (place, bounds, fields, aggregates, grouping, any::<u8>()).prop_map(
        |((table, kind, series), bounds, fields, aggregates, grouping, flags)| Draft {
            table,
            kind,
            series,
            bounds,
            field: fields.0,
            fields: fields.1,
            threshold: fields.2,
            aggregates,
            grouping,
            flags,
        },
    )
}

impl Draft {
    /// The question about this scene. What cannot be asked of its tables becomes a range.
    pub(super) fn question(&self, scene: &Scene, layout: &Layout) -> Query {
        let number = usize::from(self.table) % scene.schema.tables.len();
        let table = &scene.schema.tables[number];
        let readings = scene.writes.iter().flatten();
        let readings: Vec<&Reading> = readings.filter(|one| one.table == number).collect();
        let mut query = Query {
            table: number,
            series: self.selection(table),
            range: self.range(&readings),
            ask: Ask::Range { fields: self.field_set(table), coarse_filter: self.flags & 1 == 1 },
        };
        let predicate = || self.predicate(table, &readings);
        let fields = self.field_set(table);
        let ask = match self.kind {
            0 => Some(Ask::Point { fields }),
            1 => predicate().map(Ask::First),
            2 => predicate().map(Ask::Last),
            3 => self.one_of(table, &NUMERIC, self.field).map(|field| Ask::Minimum { field }),
            4 => Some(Ask::LastReading { fields }),
            5 => predicate().map(Ask::SeriesMatching),
            6..13 => self.aggregate(table, &mut query, layout),
            13..19 => self.derived(table, &query, &readings).map(Ask::Derived),
            _ => None,
        };
        if let Some(ask) = ask {
            query.ask = ask;
        }
        // What is asked of one series, and of no set.
        if Question::of(&query).is_none() {
            query.series = Selection::One(self.one(table));
        }
        query
    }

    fn one(&self, table: &Table) -> u32 {
        u32::from(self.series.1.first().copied().unwrap_or(0)) % table.series.len()
    }

    fn selection(&self, table: &Table) -> Selection {
        let tags = table.tags.len();
        match self.series.0 {
            0 | 1 => Selection::One(self.one(table)),
            2 => {
                let numbers = self.series.1.iter();
                let mut set: Vec<u32> = numbers.map(|&one| u32::from(one) % table.series.len()).collect();
                set.sort_unstable();
                set.dedup();
                Selection::Set(set)
            }
            3 if tags > 0 => {
                let tag = usize::from(self.field) % tags;
                let value = if self.flags & 12 == 12 {
                    "stranger".to_owned()
                } else {
                    table.series.columns()[tag].text(self.one(table))
                };
                Selection::Tagged { tag, value }
            }
            _ => Selection::All,
        }
    }

    /// A range whose bounds are at or beside readings, midnights and the ends of time; now and then it is empty.
    fn range(&self, readings: &[&Reading]) -> TimeRange {
        let instant = |(kind, pick, offset): (u8, u8, i8), end: i64| {
            let reading = readings.get(usize::from(pick) % readings.len().max(1));
            match (kind, reading) {
                (0..=1, _) | (_, None) => end,
                (2 | 3, Some(one)) => one.time_ns.saturating_add(i64::from(offset)),
                (4, Some(one)) => {
                    let midnight = one.time_ns - one.time_ns.rem_euclid(DAY);
                    midnight.saturating_add(i64::from(offset) * DAY)
                }
                (_, Some(one)) => one.time_ns.saturating_add(i64::from(offset) * HOUR),
            }
            .max(0)
        };
        let (mut start, mut end) = (instant(self.bounds[0], 0), instant(self.bounds[1], i64::MAX));
        if start > end && self.flags & 48 != 48 {
            std::mem::swap(&mut start, &mut end);
        }
        TimeRange::new(start, end)
    }

    fn field_set(&self, table: &Table) -> FieldSet {
        let count = table.fields.len();
        let chosen = (0..count).filter(|&field| self.fields >> field & 1 == 1);
        let none = FieldSet::first(0);
        let set = chosen.fold(none, FieldSet::with);
        if set.is_empty() || self.flags & 64 == 64 { table.all_fields() } else { set }
    }

    /// A field of one of these types, if there is any.
    #[expect(clippy::unused_self, reason = "reads as the other choices")]
    fn one_of(&self, table: &Table, kinds: &[FieldType], pick: u8) -> Option<usize> {
        let fields = 0..table.fields.len();
        let fitting: Vec<usize> = fields.filter(|&field| kinds.contains(&table.fields[field].kind)).collect();
        let number = usize::from(pick) % fitting.len().max(1);
        fitting.get(number).copied()
    }

    /// A threshold at, beside or far from what was written. Whole numbers beyond 2⁵³ lose digits as thresholds, and are none.
    fn predicate(&self, table: &Table, readings: &[&Reading]) -> Option<Predicate> {
        let field = self.one_of(table, &NUMERIC, self.field)?;
        let (above, kind, pick) = self.threshold;
        let written = readings.get(usize::from(pick) % readings.len().max(1));
        let written = match written.map(|one| &one.values[field]) {
            Some(Value::I64(value)) => *value as f64,
            Some(Value::F64(value)) => *value,
            _ => 0.0,
        };
        let threshold = match kind {
            0..=3 => written,
            4 => written + 0.5,
            5 => -1e300,
            6 => 0.0,
            _ => f64::from_bits(1),
        };
        // nearer than that a store may take numbers as equal
        let is_near = |one: &&Reading| {
            let value = match one.values[field] {
                Value::I64(value) => value as f64,
                Value::F64(value) => value,
                _ => return false,
            };
            value != threshold && (value - threshold).abs() < 1e-9
        };
        let threshold = if readings.iter().any(is_near) { -1e200 } else { threshold };
        let is_exact = threshold.abs() < 9_007_199_254_740_992.0 || threshold.abs() > 1e19;
        let is_whole = table.fields[field].kind != FieldType::F64;
        Some(Predicate {
            field,
            comparison: if above { Comparison::Above } else { Comparison::Below },
            threshold: if is_whole && !is_exact { 0.5 } else { threshold },
        })
    }

    /// One of what is derived.
    fn derived(&self, table: &Table, query: &Query, readings: &[&Reading]) -> Option<Derived> {
        let (kind, width, pick, _) = self.grouping;
        let predicate = self.predicate(table, readings)?;
        let (field, other) = (predicate.field, self.one_of(table, &NUMERIC, pick)?);
        let window = self.window(width, 0, query.range, None);
        let numbers = FieldSet::one(field).with(other);
        let times = readings.iter().map(|one| one.time_ns);
        let length = times.clone().max()?.saturating_sub(times.min()?);
        Some(match kind {
            0 | 1 => Derived::RowsByValue { fields: self.field_set(table), predicate },
            2 => {
                let step_ns = (length / 97).max([1, SECOND, MINUTE, HOUR][usize::from(width) % 4]);
                Derived::Interpolated { fields: numbers, step_ns }
            }
            3 => Derived::Correlation { field, other },
            4 => {
                let (above, below) = (predicate.threshold, -f64::from(pick));
                Derived::OutOfRange { field, window: window?, above, below }
            }
            5 => Derived::Difference { other: u32::from(pick), field, window: window? },
            6 => Derived::CrossMean { field, other },
            7 => {
                let to = [predicate.threshold.clamp(-1e3, 1e3), f64::from(pick)];
                Derived::Nearest { fields: [field, other], to, count: width.into() }
            }
            8 => Derived::Segments { field, threshold: f64::from(pick) * 100.0 },
            _ => Derived::ZScores { field, beyond: (pick > 3).then_some(f64::from(pick) / 4.0) },
        })
    }

    /// One of the questions that aggregate.
    fn aggregate(&self, table: &Table, query: &mut Query, layout: &Layout) -> Option<Ask> {
        let sums = match layout.shape {
            Shape::Bucketed { per_ns, .. } | Shape::Summary { per_ns, .. } => Some(per_ns),
            _ => None,
        };
        let (form, width, split, by) = self.grouping;
        let from_sums = form < 3 && self.flags & 128 == 128 && (sums.is_some() || self.flags & 7 == 7);
        let per_ns = sums.filter(|_| from_sums).or(from_sums.then_some(DAY));
        if let Some(per_ns) = per_ns {
            let snap = |time: i64| time - time.rem_euclid(per_ns);
            query.range = TimeRange::new(snap(query.range.start_ns), snap(query.range.end_ns));
        }
        let is_of_one = from_sums || matches!(form, 2 | 3);
        if is_of_one {
            query.series = Selection::One(self.one(table));
        }
        let window = |origin_ns| self.window(width, origin_ns, query.range, per_ns);
        let odd = DaySplit { day_start_ns: HOUR + 1, day_end_ns: HOUR + 7 * MINUTE };
        let split = if from_sums || split > 3 { SPLIT } else { odd };
        let tag = (!table.tags.is_empty()).then(|| usize::from(self.field) % table.tags.len());
        let (by_series, by_tag, day) = ((true, None, None), (false, tag, None), (false, None, Some(split)));
        let with_window = by & 1 == 1;
        let (window, (by_series, by_tag, by_day_part)) = match form {
            0 => (None, (false, None, None)),
            1 | 4 => (window(0), (false, None, None)),
            2 => (None, day),
            3 => (window(query.range.start_ns), (false, None, None)),
            5 | 6 => (with_window.then(|| window(0)).flatten(), by_series),
            7 | 8 => (with_window.then(|| window(0)).flatten(), by_tag),
            _ => (None, by_series),
        };
        let is_statistics = form == 9 && matches!(query.series, Selection::Tagged { .. });
        let mut aggregates = self.functions(table, is_of_one, is_statistics);
        if !is_statistics {
            aggregates.truncate(1);
        }
        let grouping = Grouping { window, by_series, by_tag, by_day_part };
        (!aggregates.is_empty()).then_some(Ask::Aggregate { aggregates, grouping, from_sums })
    }

    /// What is computed: a mean where `only_means`, all functions in statistics, else those of numbers.
    fn functions(&self, table: &Table, only_means: bool, is_statistics: bool) -> Vec<Aggregate> {
        let mut aggregates = Vec::new();
        for &(function, field) in &self.aggregates {
            let function = match (only_means, is_statistics) {
                (true, _) => Function::Mean,
                (false, true) => FUNCTIONS[usize::from(function) % FUNCTIONS.len()],
                (false, false) => FUNCTIONS[usize::from(function) % 6],
            };
            let kinds: &[FieldType] = match function {
                Function::TimeWeightedShare => &[FieldType::Bool],
                Function::Count | Function::Last | Function::MostFrequent => &EVERY,
                _ => &NUMERIC,
            };
            let field = self.one_of(table, kinds, field);
            aggregates.extend(field.map(|field| Aggregate { function, field }));
        }
        aggregates
    }

    /// Windows that are not so narrow that a database that goes through empty ones never ends.
    fn window(&self, width: u8, origin_ns: i64, range: TimeRange, per_ns: Option<i64>) -> Option<Window> {
        let length = range.length_ns().max(1);
        let width_ns = match width {
            0 => length / 3,
            1 => length / 37 + 1,
            2 | 3 => MINUTE,
            4 => HOUR,
            5 => DAY,
            _ => 7 * SECOND + 13,
        };
        let width_ns = width_ns.max(length / 1_000).max(1);
        let width_ns = per_ns.map_or(width_ns, |per_ns| (width_ns / per_ns).max(1) * per_ns);
        // The range's last window ends within 64 bits.
        let fits = range.end_ns.checked_add(width_ns).is_some();
        fits.then_some(Window { width_ns, origin_ns })
    }
}

/// Those that GROUP BY computes come first.
const FUNCTIONS: [Function; 9] = [
    Function::Count,
    Function::Sum,
    Function::Min,
    Function::Max,
    Function::Mean,
    Function::StandardDeviation,
    Function::Last,
    Function::TimeWeightedShare,
    Function::MostFrequent,
];

const EVERY: [FieldType; 5] =
    [FieldType::Bool, FieldType::I64, FieldType::U16, FieldType::F64, FieldType::Text];

/// Whether what is derived is known to the digits that are compared: no two readings of one time, numbers of moderate size and few digits, no deviation that is
/// small and not 0, no distance from the mean at its bound.
pub(super) fn is_known(query: &Query, expected: &Answer, reference: &Reference) -> bool {
    let deviates = |one: &Aggregate| one.function == Function::StandardDeviation;
    let fields = match &query.ask {
        Ask::Derived(Derived::RowsByValue { .. }) => return true,
        Ask::Derived(derived) => derived.fields(),
        Ask::Aggregate { aggregates, .. } if aggregates.iter().any(deviates) => {
            aggregates.iter().fold(FieldSet::first(0), |set, one| set.with(one.field))
        }
        _ => return true,
    };
    let series = match (&query.series, &query.ask) {
        (&Selection::One(one), &Ask::Derived(Derived::Difference { other, .. })) => {
            Selection::Set(vec![one, other])
        }
        (series, _) => series.clone(),
    };
    let readings = Query { series, ask: Ask::Range { fields, coarse_filter: false }, ..query.clone() };
    let Answer::Readings(batch) = reference.answer(&readings) else {
        return false;
    };
    let key = |row: usize| (batch.series[row], batch.times_ns[row]);
    let is_short = |value: f64| value.abs() <= 1e4 && (value * 1_048_576.0).fract() == 0.0;
    let are_short = |column: &Column| (0..batch.len()).filter_map(|row| column.number(row)).all(is_short);
    let is_wide = |deviation: f64| deviation == 0.0 || deviation >= 1e-2;
    let all_wide = match (&query.ask, expected) {
        (Ask::Derived(Derived::ZScores { .. } | Derived::Correlation { .. }), _) => {
            fields.iter().all(|field| {
                // of readings with both fields the spread may be another: near that, nothing is compared
                let rows =
                    (0..batch.len()).filter(|&row| fields.iter().all(|field| batch.columns[field].has(row)));
                let values: Vec<f64> = rows.filter_map(|row| batch.columns[field].number(row)).collect();
                Spread::of(&values).deviation().is_none_or(is_wide)
            })
        }
        (Ask::Aggregate { .. }, Answer::Groups(groups)) => groups.iter().all(|group| {
            let small = |value: &Value| matches!(value, Value::F64(value) if !is_wide(value.abs()));
            !group.values.iter().any(small)
        }),
        _ => true,
    };
    let at_bound = match query.ask {
        Ask::Derived(Derived::ZScores { field, beyond: Some(beyond) }) => {
            let ask = Ask::Derived(Derived::ZScores { field, beyond: None });
            let near = |group: &Group| matches!(group.values[1], Value::F64(score) if (score.abs() - beyond).abs() < 1e-9);
            matches!(reference.answer(&Query { ask, ..query.clone() }), Answer::Groups(all) if all.iter().any(near))
        }
        _ => false,
    };
    (1..batch.len()).all(|row| key(row - 1) != key(row))
        && fields.iter().all(|field| are_short(&batch.columns[field]))
        && all_wide
        && !at_bound
}

/// Whether the contract says what the answer is. It leaves open sums beyond 64 bits, and floating point sums that cancel, are over 10¹⁴⁰ or end among
/// subnormal numbers. `magnitudes` holds the readings without their signs.
pub(super) fn is_stated(query: &Query, expected: &Answer, magnitudes: &Reference) -> bool {
    let (Ask::Aggregate { aggregates, .. }, Answer::Groups(groups)) = (&query.ask, expected) else {
        return true;
    };
    let Answer::Groups(sizes) = magnitudes.answer(query) else {
        return false;
    };
    let is_whole = |field: usize| {
        let kind = magnitudes.schema().tables[query.table].fields[field].kind;
        kind != FieldType::F64
    };
    let fits = |(group, size): (&Group, &Group)| {
        let all = aggregates.iter().zip(group.values.iter().zip(&size.values));
        all.filter(|(one, _)| matches!(one.function, Function::Sum | Function::Mean)).all(|(one, values)| {
            match values {
                (Value::F64(_), Value::F64(_)) if one.function == Function::Sum && is_whole(one.field) => {
                    false
                }
                // a sum of all readings of a case stays within 64 bits
                (Value::F64(_), Value::F64(size)) if is_whole(one.field) && *size > 7e16 => false,
                (Value::F64(value), Value::F64(size)) => {
                    *size == 0.0 || *size < 1e140 && value.abs() >= 1e-4 * size && value.abs() > 1e-290
                }
                (Value::I64(_), Value::I64(_)) | (Value::Null, _) => true,
                _ => false,
            }
        })
    };
    groups.iter().zip(&sizes).all(fits)
}
