//! From rows to answers: each value goes straight from the driver's row into its column.

use crate::question::{Asked, Form, RecordForm};
use sensormark_drivers::RowShape;
use sensormark_kit::{Document, Row, unexpected};
use sensormark_store::client_side::answer;
use sensormark_store::record::{Wanted, blob, json};
use sensormark_store::{
    Answer, Ask, Batch, Column, FieldSet, FieldType, Function, Group, Moment, Query, Selection, StoreError,
    TimeRange, Value,
};
use std::collections::{HashMap, HashSet};

/// Series, start of the window, day: what tells groups apart.
type GroupKey = (Option<u32>, Option<i64>, Option<bool>);

/// Collects the rows of an answer.
pub struct Decoder<'a> {
    asked: Asked<'a>,
    /// How many key columns lead a row of the answer.
    keys: usize,
    key: String,
    batch: Batch,
    /// In rows of one field: where the present key's readings begin, and how often each field was there.
    fields: (usize, Vec<(usize, usize)>),
    moment: Option<Moment>,
    times: Vec<(u32, i64)>,
    groups: Vec<Group>,
    /// What a group has until its values are known.
    lacking: Vec<Value>,
    /// Where each group is, where several statements give their values.
    places: Option<HashMap<GroupKey, usize>>,
    series: Vec<u32>,
    /// Of what is walked: the series that have an answer.
    found: HashSet<u32>,
    piece: usize,
    /// Boxed, because few answers are taken in pieces.
    full: Option<Box<Batch>>,
}

impl<'a> Decoder<'a> {
    /// An empty answer to a question that takes so many statements.
    pub fn new(asked: Asked<'a>, statements: usize) -> Self {
        let lacking = |function: Function| match function {
            Function::Count => Value::I64(0),
            _ => Value::Null,
        };
        let lacking = match &asked.query.ask {
            Ask::Derived(derived) => vec![Value::Null; derived.kinds(asked.description).len()],
            _ => asked.aggregates().iter().map(|one| lacking(one.function)).collect(),
        };
        Self {
            asked,
            keys: if asked.has_keys() { asked.table.series.keys().len() } else { 0 },
            key: String::new(),
            batch: Batch::new(asked.query.table, asked.description),
            fields: (0, Vec::new()),
            moment: None,
            times: Vec::new(),
            groups: Vec::new(),
            lacking,
            places: (statements > 1).then(HashMap::new),
            series: Vec::new(),
            found: HashSet::new(),
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
        self.full.take().map(|piece| *piece)
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

    /// Takes one row. False says that no more of its series are wanted.
    ///
    /// # Errors
    /// [`sensormark_store::ErrorKind::Protocol`] when it is not what the form says.
    pub fn row(&mut self, form: &Form, row: &dyn Row) -> Result<bool, StoreError> {
        let keys = self.keys;
        match form {
            Form::Readings(fields) => self.reading(row, *fields)?,
            Form::FieldRows(_, kinds) => self.field_row(row, kinds)?,
            Form::Records(fields, form) => self.record(row, *fields, *form)?,
            Form::Walked(fields) => return self.walked(row, *fields),
            Form::Times(_) => {
                if !row.is_null(keys)? {
                    let series = self.series_of(row)?;
                    self.times.push((series, row.integer(keys)?));
                }
            }
            Form::Moment(kind) => {
                self.moment = Some(Moment { time_ns: row.integer(0)?, value: row.value(1, *kind)? });
            }
            Form::Series => {
                let series = self.identified(row)?;
                self.series.push(series);
            }
            Form::Groups(values) => self.group(values, row)?,
        }
        Ok(true)
    }

    fn reading(&mut self, row: &dyn Row, fields: FieldSet) -> Result<(), StoreError> {
        let series = self.series_of(row)?;
        self.batch.times_ns.push(row.integer(self.keys)?);
        self.batch.series.push(series);
        row.push_fields(self.keys + 1, fields, &mut self.batch.columns)
    }

    /// A row of a walk. Those of its readings count that may be the answer. False says that there is one: what follows are other records of its span.
    fn walked(&mut self, row: &dyn Row, fields: FieldSet) -> Result<bool, StoreError> {
        let series = self.series_of(row)?;
        let empty = Batch::new(self.asked.query.table, self.asked.description);
        let before = std::mem::replace(&mut self.batch, empty);
        match self.asked.physical.rows {
            RowShape::Records(_) => self.record(row, fields, RecordForm::Document)?,
            _ => self.reading(row, fields)?,
        }
        let read = std::mem::replace(&mut self.batch, before);
        for reading in 0..read.len() {
            let is_answer = match &self.asked.query.ask {
                Ask::First(passes) | Ask::Last(passes) | Ask::SeriesMatching(passes) => {
                    let number = read.columns[passes.field].number(reading);
                    number.is_some_and(|number| passes.passes(number))
                }
                _ => fields.iter().any(|field| read.columns[field].has(reading)),
            };
            if is_answer {
                self.batch.push_row(&read, reading);
                self.found.insert(series);
            }
        }
        Ok(!self.found.contains(&series))
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
    fn series_of(&mut self, row: &dyn Row) -> Result<u32, StoreError> {
        match self.asked.query.series {
            Selection::One(series) => Ok(series),
            _ if self.keys > 0 => self.identified(row),
            _ => Ok(0),
        }
    }

    fn identified(&mut self, row: &dyn Row) -> Result<u32, StoreError> {
        self.asked.table.series.of_row(row, 0, &mut self.key)
    }

    /// A row of one field joins the readings of its series and time: the n-th value of a field the n-th of them.
    fn field_row(&mut self, row: &dyn Row, kinds: &[FieldType]) -> Result<(), StoreError> {
        let (series, place) = (self.series_of(row)?, self.keys);
        let key = (series, row.integer(place)?);
        let number = usize::try_from(row.integer(place + 1)?).unwrap_or(usize::MAX);
        if number >= self.asked.description.fields.len() {
            return Err(unexpected("a row is of a field that the schema does not have"));
        }
        let last = self.batch.len().checked_sub(1);
        if last.is_none_or(|last| (self.batch.series[last], self.batch.times_ns[last]) != key) {
            if self.batch.len() >= self.piece {
                self.full = Some(Box::new(self.take()));
            }
            self.fields.0 = self.batch.len();
            self.fields.1.clear();
        }
        let (start, seen) = &mut self.fields;
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
        let target = *start + nth;
        if target == self.batch.len() {
            self.batch.series.push(key.0);
            self.batch.times_ns.push(key.1);
        }
        let filled = &mut self.batch.columns[number];
        while filled.values.len() < target {
            filled.push_null();
        }
        let kind = filled.values.kind();
        let nth = kinds.iter().position(|&other| other == kind).unwrap_or_default();
        row.push(place + 2 + nth, filled)
    }

    /// A record's readings of the range.
    fn record(&mut self, row: &dyn Row, fields: FieldSet, form: RecordForm) -> Result<(), StoreError> {
        let (series, place, range) = (self.series_of(row)?, self.keys, self.range());
        let span_ns = self.asked.physical.span_ns().unwrap_or(1);
        // Everything ends after the last instant that there is.
        let to_ns = if range.end_ns == i64::MAX { i64::MAX } else { range.end_ns - 1 };
        let start_ns = row.integer(place)?.wrapping_mul(span_ns);
        let wanted = Wanted { series, start_ns, from_ns: range.start_ns, to_ns, fields };
        let first = place + 1;
        match form {
            RecordForm::Document => match row.document(first)? {
                Document::Json(text) => json::decode(text, &wanted, &mut self.batch),
                Document::Packed(bytes) => blob::decode(bytes, &wanted, &mut self.batch),
            },
            // An empty record has no arrays.
            RecordForm::JsonArrays if row.is_null(first)? => Ok(()),
            RecordForm::JsonArrays => {
                let offsets = row.json_array(first)?;
                let arrays = (1..=fields.len()).map(|place| row.json_array(first + place));
                let arrays = arrays.collect::<Result<Vec<_>, _>>()?;
                json::decode_arrays(offsets, &arrays, &wanted, &mut self.batch)
            }
            RecordForm::Arrays => self.arrays(row, first, &wanted),
        }
    }

    fn arrays(&mut self, row: &dyn Row, first: usize, wanted: &Wanted) -> Result<(), StoreError> {
        let offsets = row.offsets(first)?;
        let mut whole: Vec<(usize, Column)> = Vec::with_capacity(wanted.fields.len());
        for (position, field) in wanted.fields.iter().enumerate() {
            let mut values = Column::new(self.batch.columns[field].values.kind());
            row.elements(first + 1 + position, &mut values)?;
            if values.values.len() != offsets.len() {
                return Err(unexpected("the arrays of a record differ in length"));
            }
            whole.push((field, values));
        }
        for (row, offset) in offsets.into_iter().enumerate() {
            let time = wanted.time(offset);
            let Some(time) = time.filter(|_| whole.iter().any(|(_, values)| values.has(row))) else {
                continue;
            };
            self.batch.times_ns.push(time);
            self.batch.series.push(wanted.series);
            for (field, values) in &whole {
                let pushed = self.batch.columns[*field].push(values.value(row));
                pushed.map_err(|_| unexpected("an array has values of another type"))?;
            }
        }
        Ok(())
    }

    fn group(&mut self, kinds: &[(usize, FieldType)], row: &dyn Row) -> Result<(), StoreError> {
        let grouping = self.asked.grouping();
        let (series, mut column) = self.group_series(row)?;
        let mut key: GroupKey = (series, None, None);
        if self.asked.has_times() {
            key.1 = Some(row.integer(column)?);
            column += 1;
        }
        if grouping.by_day_part.is_some() {
            key.2 = Some(row.truth(column)?);
            column += 1;
        }
        let end = self.groups.len();
        let place = match &mut self.places {
            None => end,
            Some(places) => *places.entry(key).or_insert(end),
        };
        if place == end {
            let values = self.lacking.clone();
            self.groups.push(Group { series: key.0, window_start_ns: key.1, day: key.2, values });
        }
        let values = &mut self.groups[place].values;
        for (position, &(number, kind)) in kinds.iter().enumerate() {
            // Of several statements or tables, each knows some of them.
            match row.value(column + position, kind)? {
                Value::Null => {}
                value => values[number] = value,
            }
        }
        Ok(())
    }

    /// The series that names a row's group, and the first column behind.
    fn group_series(&mut self, row: &dyn Row) -> Result<(Option<u32>, usize), StoreError> {
        let (grouping, keys) = (self.asked.grouping(), self.asked.table.series.keys().len());
        if let Some(tag) = grouping.by_tag {
            return Ok((Some(self.asked.table.series.lowest_of_row(row, tag)?), 1));
        }
        if grouping.by_series && keys > 0 {
            return Ok((Some(self.identified(row)?), keys));
        }
        Ok((grouping.by_series.then_some(0), 0))
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
            Form::Times(_) | Form::Walked(_) => self.readings(),
            Form::Readings(fields) | Form::Records(fields, _) => {
                self.keep_present(*fields);
                self.readings()
            }
            Form::FieldRows(fields, _) => {
                if !self.batch.is_empty() {
                    self.fill_up(*fields);
                }
                self.readings()
            }
            Form::Moment(_) => Answer::Moment(self.moment),
            Form::Series => {
                self.series.sort_unstable();
                Answer::Series(self.series)
            }
            Form::Groups(_) => Answer::groups(self.groups),
        }
    }

    /// The readings in order, or the answer that they have. Of the latest of each series, one: of repeated readings, the one that was written last.
    fn readings(self) -> Answer {
        let found = Answer::Readings(self.batch.sorted());
        match self.asked.query.ask {
            Ask::Derived(_) => found,
            _ => answer(self.asked.query, self.asked.description, found),
        }
    }

    /// Leaves out readings of records that have none of these fields.
    fn keep_present(&mut self, fields: FieldSet) {
        let description = self.asked.description;
        if fields.iter().any(|field| !description.fields[field].nullable) {
            return;
        }
        let batch = &self.batch;
        let has = |row: usize| fields.iter().any(|field| batch.columns[field].has(row));
        if !(0..batch.len()).all(has) {
            self.batch = batch.kept(has);
        }
    }
}
