//! From rows to answers: each value goes straight from the driver's row into its column.

mod records;

use self::records::RecordRow;
use crate::physical_schema::PhysicalSchema;
use crate::plan::slot::Bindings;
use crate::plan::{Form, GroupForm, with_keys};
use sensormark_kit::{Row, unexpected};
use sensormark_store::client_side::last_of_each;
use sensormark_store::{
    Answer, Ask, Batch, FieldSet, FieldType, Function, Group, Moment, Query, Selection, StoreError, TimeKey,
    TimeRange, Value,
};
use std::collections::HashMap;

/// Series, start of the window, day: what tells groups apart.
type GroupKey = (Option<u32>, Option<i64>, Option<bool>);

/// Collects the rows of an answer.
#[derive(Debug)]
pub struct Decoder<'a> {
    asked: Bindings<'a>,
    /// How many key columns lead a row of the answer.
    keys: usize,
    key: String,
    batch: Batch,
    occurrences: Occurrences,
    moment: Option<Moment>,
    /// The series of the moment, where ties are read; and whether the last of them came.
    tie: (u32, bool),
    times: Vec<(u32, i64)>,
    groups: Groups,
    series: Vec<u32>,
    piece: usize,
    full: Option<Batch>,
}

/// Groups so far.
#[derive(Debug, Default)]
struct Groups {
    all: Vec<Group>,
    /// What a group has until its values are known.
    lacking: Vec<Value>,
    /// Where each group is, where several statements give their values.
    places: Option<HashMap<GroupKey, usize>>,
}

/// In rows of one field: how often each field was there at the present key, and where the key's readings begin.
#[derive(Debug, Default)]
struct Occurrences {
    start: usize,
    seen: Vec<(usize, usize)>,
}

impl<'a> Decoder<'a> {
    /// An empty answer to a question that takes so many statements.
    pub fn new(asked: Bindings<'a>, statements: usize) -> Self {
        let has_keys = with_keys(&asked.query.series, asked.description);
        let lacking = |function: Function| match function {
            Function::Count => Value::I64(0),
            _ => Value::Null,
        };
        let lacking = match &asked.query.ask {
            Ask::Aggregate { aggregates, .. } => aggregates.iter().map(|one| lacking(one.function)).collect(),
            Ask::Derived(derived) => vec![Value::Null; derived.kinds(asked.description).len()],
            _ => Vec::new(),
        };
        Self {
            asked,
            keys: if has_keys { asked.table.keys.len() } else { 0 },
            key: String::new(),
            batch: Batch::new(asked.query.table, asked.description),
            occurrences: Occurrences::default(),
            moment: None,
            tie: (0, false),
            times: Vec::new(),
            groups: Groups { all: Vec::new(), lacking, places: (statements > 1).then(HashMap::new) },
            series: Vec::new(),
            piece: usize::MAX,
            full: None,
        }
    }

    /// The same with an answer that is taken in pieces of about this many readings ([`Decoder::take_piece`]).
    #[must_use]
    pub fn in_pieces(self, piece: usize) -> Self {
        Self { piece, ..self }
    }

    /// A piece, when one is complete. In rows of one field a reading is complete when the next one begins.
    pub fn take_piece(&mut self, form: &Form) -> Option<Batch> {
        if !matches!(form, Form::FieldRows(..)) && self.batch.len() >= self.piece {
            return Some(self.take());
        }
        self.full.take()
    }

    /// The readings so far, all columns filled up.
    fn take(&mut self) -> Batch {
        self.fill_up(self.asked.description.all_fields());
        let empty = Batch::new(self.asked.query.table, self.asked.description);
        std::mem::replace(&mut self.batch, empty)
    }

    /// Hands over what is left when all rows were taken in pieces.
    pub fn finish_pieces(mut self, sink: &mut dyn FnMut(&Batch)) {
        let rest = self.take();
        if !rest.is_empty() {
            sink(&rest);
        }
    }

    /// Takes one row.
    ///
    /// # Errors
    /// [`sensormark_store::ErrorKind::Protocol`] when it is not what the form says.
    pub fn row<R: Row>(&mut self, form: &Form, row: &R) -> Result<(), StoreError> {
        let keys = self.keys;
        match form {
            Form::Readings(fields) => {
                let series = self.series_of(row)?;
                let time = self.asked.physical.time_ns(row.integer(keys)?);
                self.batch.series.push(series);
                self.batch.times_ns.push(time);
                for (position, field) in fields.iter().enumerate() {
                    row.push(keys + 1 + position, &mut self.batch.columns[field])?;
                }
            }
            Form::FieldRows(_, kinds) => self.field_row(row, kinds)?,
            Form::Records(fields, form) => {
                let series = self.series_of(row)?;
                let span_ns = self.asked.physical.span().map_or(1, |span| span.0);
                let record = RecordRow {
                    series,
                    start_ns: row.integer(keys)?.wrapping_mul(span_ns),
                    fields: *fields,
                    range: self.range(),
                };
                record.append(&mut self.batch, *form, row, keys + 1)?;
            }
            Form::Times(_) => {
                if !row.is_null(keys)? {
                    let series = self.series_of(row)?;
                    self.times.push((series, row.integer(keys)?));
                }
            }
            Form::Moment(kind) => {
                self.moment = Some(Moment {
                    time_ns: self.asked.physical.time_ns(row.integer(0)?),
                    value: row.value(1, *kind)?,
                });
            }
            Form::Ties(kind) => self.tie(row, *kind)?,
            Form::Series => {
                let series = if self.asked.table.keys.is_empty() { 0 } else { self.identified(row)? };
                self.series.push(series);
            }
            Form::Groups(form) => self.group(form, row)?,
        }
        Ok(())
    }

    /// Whether no further row can change the answer.
    pub const fn is_complete(&self) -> bool {
        self.tie.1
    }

    /// A row of time, value and keys: it counts where it ties with the first one and is of a lower series.
    fn tie<R: Row>(&mut self, row: &R, kind: FieldType) -> Result<(), StoreError> {
        let moment =
            Moment { time_ns: self.asked.physical.time_ns(row.integer(0)?), value: row.value(1, kind)? };
        let by_value = matches!(self.asked.query.ask, Ask::Minimum { .. });
        let series = self.asked.table.series.of_row(row, 2, &mut self.key)?;
        match &self.moment {
            Some(first) if first.time_ns != moment.time_ns || (by_value && first.value != moment.value) => {
                self.tie.1 = true;
            }
            Some(_) if self.tie.0 <= series => {}
            _ => {
                self.tie.0 = series;
                self.moment = Some(moment);
            }
        }
        Ok(())
    }

    /// The range that is meant: a point is asked for by its start.
    fn range(&self) -> TimeRange {
        let range = self.asked.query.range;
        match self.asked.query.ask {
            Ask::Point { .. } => TimeRange::new(range.start_ns, range.start_ns.saturating_add(1)),
            _ => range,
        }
    }

    /// The series of a row that starts with keys, or the question's one series.
    ///
    /// # Errors
    /// As [`Decoder::row`].
    pub fn series_of<R: Row>(&mut self, row: &R) -> Result<u32, StoreError> {
        match self.asked.query.series {
            Selection::One(series) => Ok(series),
            _ if self.keys > 0 => self.identified(row),
            _ => Ok(0),
        }
    }

    fn identified<R: Row>(&mut self, row: &R) -> Result<u32, StoreError> {
        self.asked.table.series.of_row(row, 0, &mut self.key)
    }

    /// A row of one field joins the readings of its series and time: the n-th value of a field the n-th of them.
    fn field_row<R: Row>(&mut self, row: &R, kinds: &[FieldType]) -> Result<(), StoreError> {
        let (series, place) = (self.series_of(row)?, self.keys);
        let key = (series, self.asked.physical.time_ns(row.integer(place)?));
        let number = usize::try_from(row.integer(place + 1)?).unwrap_or(usize::MAX);
        let Some(field) = self.asked.description.fields.get(number) else {
            return Err(unexpected("a row is of a field that the schema does not have"));
        };
        let last = self.batch.len().checked_sub(1);
        if last.is_none_or(|last| (self.batch.series[last], self.batch.times_ns[last]) != key) {
            if self.batch.len() >= self.piece {
                self.full = Some(self.take());
            }
            self.occurrences.start = self.batch.len();
            self.occurrences.seen.clear();
        }
        let seen = &mut self.occurrences.seen;
        let nth = match seen.iter_mut().find(|(other, _)| *other == number) {
            Some((_, count)) => {
                *count += 1;
                *count - 1
            }
            None => {
                seen.push((number, 1));
                0
            }
        };
        let target = self.occurrences.start + nth;
        if target == self.batch.len() {
            self.batch.series.push(key.0);
            self.batch.times_ns.push(key.1);
        }
        let position = kinds.iter().position(|&kind| kind == field.kind).unwrap_or_default();
        let filled = &mut self.batch.columns[number];
        while filled.values.len() < target {
            filled.push_null();
        }
        row.push(place + 2 + position, filled)
    }

    fn group<R: Row>(&mut self, form: &GroupForm, row: &R) -> Result<(), StoreError> {
        let (series, mut column) = self.group_series(form, row)?;
        let mut key: GroupKey = (series, None, None);
        if let Some(time) = form.window {
            let start = row.integer(column)?;
            key.1 = Some(match time {
                TimeKey::Nanoseconds => start,
                TimeKey::Native => self.asked.physical.time_ns(start),
            });
            column += 1;
        }
        if form.by_day_part {
            key.2 = Some(row.truth(column)?);
            column += 1;
        }
        let groups = &mut self.groups;
        let end = groups.all.len();
        let place = match &mut groups.places {
            None => end,
            Some(places) => *places.entry(key).or_insert(end),
        };
        if place == end {
            groups.all.push(Group {
                series: key.0,
                window_start_ns: key.1,
                day: key.2,
                values: groups.lacking.clone(),
            });
        }
        let values = &mut groups.all[place].values;
        for (position, &(number, kind)) in form.values.iter().enumerate() {
            // what is no number is nothing: a correlation of equal values
            values[number] = match row.value(column + position, kind)? {
                Value::F64(value) if value.is_nan() => Value::Null,
                value => value,
            };
        }
        Ok(())
    }

    /// The series that names a row's group, and the first column behind.
    fn group_series<R: Row>(
        &mut self,
        form: &GroupForm,
        row: &R,
    ) -> Result<(Option<u32>, usize), StoreError> {
        if let Some(tag) = form.by_tag {
            return Ok((Some(self.asked.table.series.lowest_of_row(row, tag)?), 1));
        }
        if form.by_series {
            return Ok((Some(self.identified(row)?), self.asked.table.keys.len()));
        }
        let by_series =
            matches!(&self.asked.query.ask, Ask::Aggregate { grouping, .. } if grouping.by_series);
        Ok((by_series.then_some(0), 0))
    }

    /// In rows of one field, columns end where their last value was: fills them up.
    fn fill_up(&mut self, fields: FieldSet) {
        let length = self.batch.len();
        for field in fields.iter() {
            let column = &mut self.batch.columns[field];
            while column.values.len() < length {
                column.push_null();
            }
        }
    }

    /// The points that are to be asked for, where the rows were times: each is answered by itself, and given to [`Decoder::take_point`].
    pub fn points(&mut self, form: &Form) -> Vec<Query> {
        let Form::Times(fields) = form else {
            return Vec::new();
        };
        let mut times = std::mem::take(&mut self.times);
        times.sort_unstable();
        let point = |(series, time_ns): (u32, i64)| Query {
            table: self.asked.query.table,
            series: Selection::One(series),
            range: TimeRange::new(time_ns, time_ns.saturating_add(1)),
            ask: Ask::Point { fields: *fields },
        };
        times.into_iter().map(point).collect()
    }

    /// Takes the answer to a point: of repeated readings, the one that was written last.
    pub fn take_point(&mut self, answer: &Answer) {
        if let Answer::Readings(readings) = answer
            && let Some(row) = readings.len().checked_sub(1)
        {
            self.batch.push_row(readings, row);
        }
    }

    /// The answer.
    pub fn finish(mut self, form: &Form) -> Answer {
        match form {
            Form::Readings(_) | Form::Times(_) => self.readings(),
            Form::Records(fields, _) => {
                self.keep_present(*fields);
                self.readings()
            }
            Form::FieldRows(fields, _) => {
                if !self.batch.is_empty() {
                    self.fill_up(*fields);
                }
                self.readings()
            }
            Form::Moment(_) | Form::Ties(_) => Answer::Moment(self.moment),
            Form::Series => {
                self.series.sort_unstable();
                Answer::Series(self.series)
            }
            Form::Groups(_) => Answer::groups(self.groups.all),
        }
    }

    /// The readings in order. Of the latest of each series, one: of repeated readings, the one that was written last.
    fn readings(self) -> Answer {
        let batch = self.batch.sorted();
        let is_latest = matches!(self.asked.query.ask, Ask::LastReading { .. });
        Answer::Readings(if is_latest { last_of_each(batch) } else { batch })
    }

    /// Leaves out readings of records that have none of these fields.
    fn keep_present(&mut self, fields: FieldSet) {
        let description = self.asked.description;
        let is_sure = |field: usize| !description.fields[field].nullable;
        if fields.iter().any(is_sure) {
            return;
        }
        let batch = &self.batch;
        let has = |row: usize| fields.iter().any(|field| batch.columns[field].has(row));
        if !(0..batch.len()).all(has) {
            self.batch = batch.kept(has);
        }
    }
}

/// An entity of a row of [`crate::plan::entities`]: its series and the last time in ns; its columns go into `values`. `key` is memory that is
/// kept from row to row.
///
/// # Errors
/// As [`Decoder::row`].
pub fn entity<R: Row>(
    physical: &PhysicalSchema,
    number: usize,
    row: &R,
    key: &mut String,
    values: &mut Vec<Value>,
) -> Result<(u32, i64), StoreError> {
    let (description, table) = physical.table(number)?;
    let series = table.series.of_row(row, 0, key)?;
    let first = table.keys.len();
    let columns = description.entity.as_ref().map(|entity| &entity.columns);
    values.clear();
    for (position, column) in columns.into_iter().flatten().enumerate() {
        values.push(row.value(first + 1 + position, column.kind)?);
    }
    Ok((series, physical.time_ns(row.integer(first)?)))
}
