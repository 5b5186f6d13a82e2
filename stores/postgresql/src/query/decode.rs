//! From rows to answers: each value goes straight from the wire into its column.

use super::aggregate::GroupForm;
use super::build::{Form, with_keys};
use super::document;
use crate::schema::series::join;
use crate::schema::{Model, TableModel};
use sensormark_store::{
    Answer, Batch, Column, ErrorKind, FieldSet, FieldType, Group, Moment, Query, StoreError, Table,
    TimeKey, Value, Values,
};
use std::error::Error;
use tokio_postgres::Row;
use tokio_postgres::types::{FromSql, Type};

const OPERATION: &str = "read PostgreSQL's answer";

/// A value as it came over the wire.
pub(crate) struct Raw<'a>(pub(crate) Option<&'a [u8]>);

impl<'a> FromSql<'a> for Raw<'a> {
    fn from_sql(_: &Type, raw: &'a [u8]) -> Result<Self, Box<dyn Error + Sync + Send>> {
        Ok(Self(Some(raw)))
    }

    fn from_sql_null(_: &Type) -> Result<Self, Box<dyn Error + Sync + Send>> {
        Ok(Self(None))
    }

    fn accepts(_: &Type) -> bool {
        true
    }
}

/// An answer that could not be understood.
pub(crate) fn unexpected(what: &str) -> StoreError {
    StoreError::new(
        ErrorKind::Protocol,
        OPERATION,
        format!("{what}; is the database of this schema and layout?"),
    )
}

/// The value in a column of a row.
pub(crate) fn raw(row: &Row, column: usize) -> Result<Option<&[u8]>, StoreError> {
    row.try_get::<_, Raw<'_>>(column)
        .map(|raw| raw.0)
        .map_err(|_| unexpected("a row has too few columns"))
}

fn fixed<const LENGTH: usize>(raw: &[u8]) -> Result<[u8; LENGTH], StoreError> {
    raw.try_into()
        .map_err(|_| unexpected("a value has the wrong length"))
}

/// An integer of 2, 4 or 8 bytes.
pub(crate) fn integer(raw: &[u8]) -> Result<i64, StoreError> {
    Ok(match raw.len() {
        2 => i64::from(i16::from_be_bytes(fixed(raw)?)),
        4 => i64::from(i32::from_be_bytes(fixed(raw)?)),
        _ => i64::from_be_bytes(fixed(raw)?),
    })
}

fn text(raw: &[u8]) -> Result<&str, StoreError> {
    std::str::from_utf8(raw).map_err(|_| unexpected("a text is not UTF-8"))
}

/// Appends a value that came over the wire to a column.
pub(crate) fn push(column: &mut Column, raw: Option<&[u8]>) -> Result<(), StoreError> {
    let Some(raw) = raw else {
        column.push_null();
        return Ok(());
    };
    match &mut column.values {
        Values::Bool(values) => values.push(raw.first().is_some_and(|&byte| byte != 0)),
        Values::I64(values) => values.push(integer(raw)?),
        Values::U16(values) => {
            values.push(
                u16::try_from(integer(raw)?)
                    .map_err(|_| unexpected("a number is not of 16 bits"))?,
            );
        }
        Values::F64(values) => values.push(f64::from_be_bytes(fixed(raw)?)),
        Values::Text(values) => values.push(text(raw)?),
    }
    if let Some(present) = &mut column.present {
        present.push(true);
    }
    Ok(())
}

/// A value of this type that came over the wire.
pub(crate) fn value(kind: FieldType, raw: Option<&[u8]>) -> Result<Value, StoreError> {
    let Some(raw) = raw else {
        return Ok(Value::Null);
    };
    Ok(match kind {
        FieldType::Bool => Value::Bool(raw.first().is_some_and(|&byte| byte != 0)),
        FieldType::I64 | FieldType::U16 => Value::I64(integer(raw)?),
        FieldType::F64 => Value::F64(f64::from_be_bytes(fixed(raw)?)),
        FieldType::Text => Value::Text(text(raw)?.to_owned()),
    })
}

/// Collects the rows of an answer.
pub(crate) struct Decoder<'a> {
    model: &'a Model,
    table: &'a TableModel,
    description: &'a Table,
    query: &'a Query,
    keys: bool,
    key: String,
    batch: Batch,
    occurrences: Occurrences,
    moment: Option<Moment>,
    groups: Vec<Group>,
    series: Vec<u32>,
    piece: usize,
    full: Option<Batch>,
}

/// In rows of one field: how often each field was there at the present key, and where the key's readings begin.
#[derive(Default)]
struct Occurrences {
    start: usize,
    seen: Vec<(usize, usize)>,
}

impl<'a> Decoder<'a> {
    /// An empty answer.
    pub(crate) fn new(
        model: &'a Model,
        table: &'a TableModel,
        description: &'a Table,
        query: &'a Query,
    ) -> Self {
        Self {
            model,
            table,
            description,
            query,
            keys: with_keys(&query.series, description),
            key: String::new(),
            batch: Batch::new(query.table, description),
            occurrences: Occurrences::default(),
            moment: None,
            groups: Vec::new(),
            series: Vec::new(),
            piece: usize::MAX,
            full: None,
        }
    }

    /// The same, for an answer that is taken in pieces of about this many readings ([`Decoder::take_piece`]).
    pub(crate) fn in_pieces(self, piece: usize) -> Self {
        Self { piece, ..self }
    }

    /// A piece, when one is complete. In rows of one field a reading is complete when the next one begins.
    pub(crate) fn take_piece(&mut self, form: &Form) -> Option<Batch> {
        if !matches!(form, Form::FieldRows(..)) && self.batch.len() >= self.piece {
            return Some(self.take());
        }
        self.full.take()
    }

    /// The readings so far, all columns filled up.
    pub(crate) fn take(&mut self) -> Batch {
        self.fill_up(self.description.all_fields());
        std::mem::replace(
            &mut self.batch,
            Batch::new(self.query.table, self.description),
        )
    }

    /// Takes one row.
    pub(crate) fn row(&mut self, form: &Form, row: &Row) -> Result<(), StoreError> {
        let keys = if self.keys { self.table.keys.len() } else { 0 };
        match form {
            Form::Readings(fields) => {
                let series = self.series_of(row, 0)?;
                let time = self.time(row, keys)?;
                self.batch.series.push(series);
                self.batch.times_ns.push(time);
                for (position, field) in fields.iter().enumerate() {
                    push(
                        &mut self.batch.columns[field],
                        raw(row, keys + 1 + position)?,
                    )?;
                }
            }
            Form::FieldRows(_, kinds) => {
                let (series, time) = (self.series_of(row, 0)?, self.time(row, keys)?);
                self.field_row(row, keys + 1, (series, time), kinds)?;
            }
            Form::Records(fields, form) => {
                let series = self.series_of(row, 0)?;
                let span = integer(raw(row, keys)?.unwrap_or_default())?;
                let payloads = (keys + 1..row.len())
                    .map(|column| raw(row, column))
                    .collect::<Result<Vec<_>, _>>()?;
                let span_ns = self.model.span().map_or(1, |span| span.0);
                let record = document::RecordRow {
                    series,
                    start_ns: span * span_ns,
                    span_ns,
                    fields: *fields,
                    range: self.query.range,
                };
                record.append(&mut self.batch, *form, &payloads)?;
            }
            Form::Moment(kind) => {
                let time_ns = self.time(row, 0)?;
                self.moment = Some(Moment {
                    time_ns,
                    value: value(*kind, raw(row, 1)?)?,
                });
            }
            Form::Series => {
                let series = if self.table.keys.is_empty() {
                    0
                } else {
                    self.identified(row, 0)?
                };
                self.series.push(series);
            }
            Form::Groups(form) => self.group(form, row)?,
        }
        Ok(())
    }

    /// The series of a row whose keys start at this column, or the question's one series.
    pub(crate) fn series_of(&mut self, row: &Row, column: usize) -> Result<u32, StoreError> {
        match self.query.series {
            sensormark_store::Selection::One(series) => Ok(series),
            _ if self.keys => self.identified(row, column),
            _ => Ok(0),
        }
    }

    /// The series that a row's keys, from this column on, identify.
    fn identified(&mut self, row: &Row, column: usize) -> Result<u32, StoreError> {
        let keys = &self.table.keys;
        let first = &self.table.columns[keys[0]];
        let found = if keys.len() == 1 {
            let value = raw(row, column)?.unwrap_or_default();
            match first.kind {
                Type::TEXT => self.table.series.by_text(text(value)?),
                _ => self.table.series.by_integer(integer(value)?),
            }
        } else {
            self.key.clear();
            for (position, &key) in keys.iter().enumerate() {
                let value = raw(row, column + position)?.unwrap_or_default();
                match self.table.columns[key].kind {
                    Type::TEXT => join(&mut self.key, text(value)?),
                    _ => join(&mut self.key, itoa::Buffer::new().format(integer(value)?)),
                }
            }
            self.table.series.by_text(&self.key)
        };
        found
            .filter(|&series| series < self.description.series.len())
            .ok_or_else(|| unexpected("a row is of a series that the schema does not have"))
    }

    fn time(&self, row: &Row, column: usize) -> Result<i64, StoreError> {
        let key = integer(raw(row, column)?.unwrap_or_default())?;
        Ok(self.model.time_ns(key))
    }

    /// A row of one field joins the readings of its series and time: the n-th value of a field the n-th of them.
    fn field_row(
        &mut self,
        row: &Row,
        column: usize,
        key: (u32, i64),
        kinds: &[FieldType],
    ) -> Result<(), StoreError> {
        let number =
            usize::try_from(integer(raw(row, column)?.unwrap_or_default())?).unwrap_or(usize::MAX);
        let Some(field) = self.description.fields.get(number) else {
            return Err(unexpected(
                "a row is of a field that the schema does not have",
            ));
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
        let position = kinds
            .iter()
            .position(|&kind| kind == field.kind)
            .unwrap_or_default();
        let filled = &mut self.batch.columns[number];
        while filled.values.len() < target {
            filled.push_null();
        }
        push(filled, raw(row, column + 1 + position)?)?;
        Ok(())
    }

    fn group(&mut self, form: &GroupForm, row: &Row) -> Result<(), StoreError> {
        let mut column = 0;
        let mut group = Group {
            series: None,
            window_start_ns: None,
            day: None,
            values: Vec::new(),
        };
        if form.by_series {
            group.series = Some(self.identified(row, 0)?);
            column = self.table.keys.len();
        } else if matches!(&self.query.ask, sensormark_store::Ask::Aggregate { grouping, .. } if grouping.by_series)
        {
            group.series = Some(0);
        }
        if let Some(tag) = form.by_tag {
            let value = raw(row, column)?.unwrap_or_default();
            let lowest = match &self.description.series.columns()[tag] {
                sensormark_store::TagColumn::Text(_) => {
                    self.table.series.lowest_with(tag, text(value)?)
                }
                sensormark_store::TagColumn::Integer(_) => self
                    .table
                    .series
                    .lowest_with(tag, itoa::Buffer::new().format(integer(value)?)),
            };
            group.series = Some(
                lowest
                    .ok_or_else(|| unexpected("a row has a tag that the schema does not have"))?,
            );
            column += 1;
        }
        if let Some(key) = form.window {
            let start = integer(raw(row, column)?.unwrap_or_default())?;
            group.window_start_ns = Some(match key {
                TimeKey::Nanoseconds => start,
                TimeKey::Native => self.model.time_ns(start),
            });
            column += 1;
        }
        if form.by_day_part {
            group.day = Some(raw(row, column)?.is_some_and(|raw| raw == [1]));
            column += 1;
        }
        for (position, &kind) in form.values.iter().enumerate() {
            group
                .values
                .push(value(kind, raw(row, column + position)?)?);
        }
        self.groups.push(group);
        Ok(())
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

    /// The answer.
    pub(crate) fn finish(mut self, form: &Form) -> Answer {
        match form {
            Form::Readings(_) | Form::Records(..) => Answer::Readings(self.batch.sorted()),
            Form::FieldRows(fields, _) => {
                if !self.batch.is_empty() {
                    self.fill_up(*fields);
                }
                Answer::Readings(self.batch.sorted())
            }
            Form::Moment(_) => Answer::Moment(self.moment),
            Form::Series => {
                self.series.sort_unstable();
                Answer::Series(self.series)
            }
            Form::Groups(_) => Answer::groups(self.groups),
        }
    }
}
