//! Asking: one question in TQL a container, those of several containers together.
//!
//! TQL answers with whole rows, with one aggregate, or with the first rows in an order. What it has no words for is computed here from the readings
//! ([`local`]). That holds for windows and parts of the day beyond a number, shares of time, most frequent values, and everything about records of a span.

use crate::client::{Cells, Failure, Found};
use crate::containers::{Containers, Place};
use crate::error::mapped;
use crate::schema::{Rows, SPAN, TIME};
use crate::write::column;
use sensormark_store::client_side::IN_THE_CLIENT;
use sensormark_store::record::{Wanted, blob, json};
use sensormark_store::{
    Answer, Ask, Batch, Column, FieldSet, Query, Selection, StoreError, TagColumn, TimeRange, Value, Values,
};
use std::sync::Arc;

mod aggregate;

mod search;

mod tql;

/// Questions that are asked together.
const TOGETHER: usize = 200;

/// Readings of a scan that are handed on together.
const SCANNED: usize = 20_000;

/// What asks over a session's connection.
pub(crate) struct Reader<'a> {
    containers: &'a mut Containers,
    schema: Arc<sensormark_store::Schema>,
    rows: Rows,
}

const OPERATION: &str = "ask GridDB";

fn failed(failure: Failure) -> StoreError {
    mapped(OPERATION, failure)
}

impl From<Failure> for StoreErrorOrFailure {
    fn from(failure: Failure) -> Self {
        Self(failed(failure))
    }
}

/// An error of the store, made from the client's where needed.
struct StoreErrorOrFailure(StoreError);

impl From<StoreError> for StoreErrorOrFailure {
    fn from(error: StoreError) -> Self {
        Self(error)
    }
}

/// Hands each row of an answer to the caller.
fn each(found: &Found, mut take: impl FnMut(Cells<'_>) -> Result<(), StoreError>) -> Result<(), StoreError> {
    let taken: Result<(), StoreErrorOrFailure> = found.each(|cells| Ok(take(cells)?));
    taken.map_err(|error| error.0)
}

impl<'a> Reader<'a> {
    /// Over these containers.
    pub(crate) fn new(containers: &'a mut Containers) -> Self {
        Self { schema: Arc::clone(&containers.physical.schema), rows: containers.physical.rows, containers }
    }

    /// Answers a question.
    pub(crate) fn query(&mut self, query: &Query) -> Result<Answer, StoreError> {
        Ok(match &query.ask {
            Ask::Point { fields } => Answer::Readings(self.point(query, *fields)?),
            Ask::Range { fields, .. } => Answer::Readings(self.range(query, query.range, *fields)?),
            Ask::First(predicate) => Answer::Moment(self.search(query, *predicate, false)?),
            Ask::Last(predicate) => Answer::Moment(self.search(query, *predicate, true)?),
            Ask::Minimum { field } => Answer::Moment(self.minimum(query, *field)?),
            Ask::Aggregate { from_sums: true, .. } => {
                return Err(StoreError::unsupported("read sums", "no layout keeps sums at write time"));
            }
            Ask::Aggregate { aggregates, grouping, .. } => {
                Answer::groups(self.aggregate(query, aggregates, *grouping)?)
            }
            Ask::LastReading { fields } => Answer::Readings(self.latest(query, *fields)?),
            Ask::SeriesMatching(predicate) => Answer::Series(self.matching(query, *predicate)?),
            Ask::Derived(_) => return Err(StoreError::unsupported("ask", IN_THE_CLIENT)),
        })
    }

    /// The chosen series, ascending.
    fn series(&mut self, query: &Query) -> Result<Vec<u32>, StoreError> {
        let known = self.schema.tables[query.table].series.len();
        let mut series = match &query.series {
            Selection::One(series) => vec![*series],
            Selection::Set(series) => series.clone(),
            Selection::All => (0..known).collect(),
            Selection::Tagged { tag, value } => self.tagged(query.table, *tag, value)?,
        };
        series.retain(|&series| series < known);
        series.sort_unstable();
        series.dedup();
        Ok(series)
    }

    /// The series with a tag's value, which the container of tags knows.
    fn tagged(&mut self, table: usize, tag: usize, value: &str) -> Result<Vec<u32>, StoreError> {
        let described = &self.schema.tables[table];
        let literal = match &described.series.columns()[tag] {
            TagColumn::Text(_) => tql::text(value),
            TagColumn::Integer(_) => match value.parse::<i64>() {
                // 05 is not 5, and +5 neither
                Ok(number) if number.to_string() == value => tql::whole(number),
                _ => return Ok(Vec::new()),
            },
        };
        let tql = format!("SELECT * WHERE {} = {literal}", tql::name(&described.tags[tag].name));
        let container = self.containers.get(Place::Tags(table))?;
        let found = container.ask(&tql).map_err(failed)?;
        let mut series = Vec::new();
        each(&found, |cells| {
            series.push(cells.integer(0).map_err(failed)?.cast_unsigned());
            Ok(())
        })?;
        Ok(series)
    }

    /// Asks each of these series the same question, many together, and hands the answers on in the series' order.
    fn ask_each(
        &mut self,
        table: usize,
        series: &[u32],
        tql: &str,
        mut take: impl FnMut(u32, &Found) -> Result<(), StoreError>,
    ) -> Result<(), StoreError> {
        for part in series.chunks(TOGETHER) {
            let mut open = Vec::with_capacity(part.len());
            for &series in part {
                open.push(self.containers.get(Place::Series(table, series))?);
            }
            if let [container] = open.as_slice() {
                let found = container.ask(tql).map_err(failed)?;
                take(part[0], &found)?;
                continue;
            }
            let questions = open.iter().map(|container| (container, tql));
            let found = self.containers.connection.ask_all(questions);
            for (&series, found) in part.iter().zip(&found.map_err(failed)?) {
                take(series, found)?;
            }
        }
        Ok(())
    }

    /// The condition on the key for a range; none where the range is empty.
    fn within(&self, range: TimeRange) -> Option<String> {
        let (first, last) = self.rows.keys(range)?;
        let literal = |key: i64| match self.rows {
            Rows::Timed => tql::time(key),
            _ => tql::whole(key),
        };
        let name = match self.rows {
            Rows::Record { .. } => tql::name(SPAN),
            _ => tql::name(TIME),
        };
        let (first, last) = (literal(first), literal(last));
        Some(format!("{name} >= {first} AND {name} <= {last}"))
    }

    fn empty(&self, table: usize) -> Batch {
        Batch::new(table, &self.schema.tables[table])
    }

    /// The reading at the range's start, by its key.
    fn point(&mut self, query: &Query, fields: FieldSet) -> Result<Batch, StoreError> {
        let start = query.range.start_ns;
        let instant = TimeRange::new(start, start.saturating_add(1));
        let mut batch = self.empty(query.table);
        let (Some((key, _)), false) = (self.rows.keys(instant), matches!(self.rows, Rows::Record { .. }))
        else {
            return self.range(query, instant, fields);
        };
        for series in self.series(query)? {
            let container = self.containers.get(Place::Series(query.table, series))?;
            let mut rows = container.rows(1).map_err(failed)?;
            let row = &mut rows[0];
            let there = match self.rows {
                Rows::Timed => container.row_by_time(key, row),
                _ => container.row_by_long(key, row),
            };
            if there.map_err(failed)? {
                self.reading(row.cells(), series, fields, &mut batch)?;
            }
        }
        Ok(batch)
    }

    /// The readings of a range with the chosen fields, in the order of (series, time).
    fn range(&mut self, query: &Query, range: TimeRange, fields: FieldSet) -> Result<Batch, StoreError> {
        let mut batch = self.empty(query.table);
        let series = self.series(query)?;
        let Some(within) = self.within(range) else {
            return Ok(batch);
        };
        let (schema, rows) = (Arc::clone(&self.schema), self.rows);
        let empty = Batch::new(query.table, &schema.tables[query.table]);
        let tql = format!("SELECT * WHERE {within}");
        self.ask_each(query.table, &series, &tql, |series, found| {
            let Rows::Record { span_ns, json } = rows else {
                return each(found, |cells| reading(rows, cells, series, fields, &mut batch));
            };
            let mut all = empty.clone();
            each(found, |cells| record(cells, (span_ns, json), series, range, fields, &mut all))?;
            for row in 0..all.len() {
                if fields.iter().any(|field| all.columns[field].has(row)) {
                    batch.push_row(&all, row);
                }
            }
            Ok(())
        })?;
        Ok(batch.sorted())
    }

    fn reading(
        &self,
        cells: Cells<'_>,
        series: u32,
        fields: FieldSet,
        batch: &mut Batch,
    ) -> Result<(), StoreError> {
        reading(self.rows, cells, series, fields, batch)
    }

    /// Reads every reading of a table back.
    pub(crate) fn scan(&mut self, table: usize, sink: &mut dyn FnMut(&Batch)) -> Result<(), StoreError> {
        let fields = self.schema.tables[table].all_fields();
        let everything = TimeRange::new(i64::MIN, i64::MAX);
        let (rows, mut batch) = (self.rows, self.empty(table));
        for series in 0..self.schema.tables[table].series.len() {
            let container = self.containers.get(Place::Series(table, series))?;
            let found = container.ask("SELECT *").map_err(failed)?;
            each(&found, |cells| {
                match rows {
                    Rows::Record { span_ns, json } => {
                        record(cells, (span_ns, json), series, everything, fields, &mut batch)
                    }
                    _ => reading(rows, cells, series, fields, &mut batch),
                }?;
                if batch.len() >= SCANNED {
                    sink(&batch);
                    batch.clear();
                }
                Ok(())
            })?;
        }
        if !batch.is_empty() {
            sink(&batch);
        }
        Ok(())
    }

    /// Reads every entity of a table back.
    pub(crate) fn scan_entities(
        &mut self,
        table: usize,
        sink: &mut dyn FnMut(u32, i64, &[Value]),
    ) -> Result<(), StoreError> {
        let schema = Arc::clone(&self.schema);
        let Some(entity) = &schema.tables[table].entity else {
            return Err(StoreError::unsupported("read entities back", format!("table {table} has none")));
        };
        let container = self.containers.get(Place::Entities(table))?;
        let found = container.ask("SELECT *").map_err(failed)?;
        each(&found, |cells| {
            let series = cells.integer(0).map_err(failed)?.cast_unsigned();
            let last = cells.long(1).map_err(failed)?;
            let mut values = Vec::with_capacity(entity.columns.len());
            for (number, field) in entity.columns.iter().enumerate() {
                let mut one = Column::new(field.kind);
                append(&mut one, cells, column(2, number)).map_err(failed)?;
                values.push(one.value(0));
            }
            sink(series, last, &values);
            Ok(())
        })
    }
}

/// Appends a field of a row to a column.
fn append(to: &mut Column, cells: Cells<'_>, number: i32) -> Result<(), Failure> {
    if cells.nothing(number)? != 0 {
        to.push_null();
        return Ok(());
    }
    match &mut to.values {
        Values::Bool(values) => values.push(cells.flag(number)? != 0),
        Values::I64(values) => values.push(cells.long(number)?),
        Values::U16(values) => {
            let value = cells.integer(number)?;
            values.push(u16::try_from(value).unwrap_or(u16::MAX));
        }
        Values::F64(values) => values.push(cells.double(number)?),
        Values::Text(values) => values.push(cells.text(number)?),
    }
    if let Some(present) = &mut to.present {
        present.push(true);
    }
    Ok(())
}

/// Appends a row that is a reading, unless it has none of the chosen fields.
fn reading(
    rows: Rows,
    cells: Cells<'_>,
    series: u32,
    fields: FieldSet,
    batch: &mut Batch,
) -> Result<(), StoreError> {
    let mut any = false;
    for field in fields.iter() {
        any = any || cells.nothing(column(1, field)).map_err(failed)? == 0;
    }
    if !any {
        return Ok(());
    }
    let key = match rows {
        Rows::Timed => cells.time(0),
        _ => cells.long(0),
    };
    batch.times_ns.push(rows.time_ns(key.map_err(failed)?));
    batch.series.push(series);
    for field in fields.iter() {
        append(&mut batch.columns[field], cells, column(1, field)).map_err(failed)?;
    }
    Ok(())
}

/// Appends the wanted readings of a row that is a record.
fn record(
    cells: Cells<'_>,
    (span_ns, is_json): (i64, bool),
    series: u32,
    range: TimeRange,
    fields: FieldSet,
    batch: &mut Batch,
) -> Result<(), StoreError> {
    let wanted = Wanted {
        series,
        start_ns: cells.long(0).map_err(failed)?.wrapping_mul(span_ns),
        from_ns: range.start_ns,
        to_ns: range.end_ns.saturating_sub(1),
        fields,
    };
    let bytes = cells.blob(1).map_err(failed)?;
    if !is_json {
        return blob::decode(&bytes, &wanted, batch);
    }
    let text = std::str::from_utf8(&bytes)
        .map_err(|_| crate::error::unexpected("read a JSON record", "it is not UTF-8"))?;
    json::decode(text, &wanted, batch)
}
