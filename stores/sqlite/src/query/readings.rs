//! Readings by range, by point, and the latest of each series.

use super::{Key, What, push, records, whole};
use crate::error;
use crate::relation::{Bind, Choice, Relation, Statement, filter};
use crate::series::SeriesReader;
use crate::session::SqliteSession;
use rusqlite::{Row, Rows};
use sensormark_store::{Ask, Batch, FieldSet, Query, Selection, Shape, StoreError, TimeRange};

const OPERATION: &str = "read readings";

/// The readings of the range with the chosen fields, in the order of series and time.
///
/// # Errors
/// What SQLite says.
pub fn range(
    session: &mut SqliteSession,
    query: &Query,
    fields: FieldSet,
) -> Result<Batch, StoreError> {
    if matches!(session.design.layout.shape, Shape::RecordPerSpan { .. }) {
        return records::range(session, query, fields);
    }
    let choice = Choice::of(&query.series);
    let point = matches!(query.ask, Ask::Point { .. });
    let key = Key {
        table: query.table,
        choice,
        what: if point {
            What::Point(fields.bits())
        } else {
            What::Range(fields.bits())
        },
    };
    let statement = session.statement(key, |relation| in_range(relation, choice, fields, point));
    read(session, &statement, query, fields)
}

/// The latest reading of each series that has any of the fields.
///
/// # Errors
/// What SQLite says.
pub fn latest(
    session: &mut SqliteSession,
    query: &Query,
    fields: FieldSet,
) -> Result<Batch, StoreError> {
    if super::is_packed(session) {
        return records::latest(session, query, fields);
    }
    let choice = Choice::of(&query.series);
    let key = |what| Key {
        table: query.table,
        choice,
        what,
    };
    if matches!(session.design.layout.shape, Shape::RecordPerSpan { .. }) {
        let statement = session.statement(key(What::LatestTime(fields.bits())), |relation| {
            latest_times(relation, choice, fields)
        });
        return latest_in_records(session, &statement, query, fields);
    }
    let statement = session.statement(key(What::Latest(fields.bits())), |relation| {
        at_latest_times(relation, choice, fields)
    });
    read(session, &statement, query, fields).map(last_of_each)
}

/// Time, series unless it is known, and values, as [`read`] expects them.
fn columns(relation: &Relation<'_>, choice: Choice, fields: FieldSet) -> String {
    let mut columns = vec![relation.time()];
    if choice != Choice::One {
        columns.extend(relation.series());
    }
    match relation.shape {
        Shape::RowPerField => columns.extend(relation.field_and_value()),
        _ => columns.extend(fields.iter().map(|field| relation.field(field))),
    }
    columns.join(", ")
}

fn order(relation: &Relation<'_>, choice: Choice) -> String {
    let mut order = match choice {
        Choice::One => Vec::new(),
        _ => relation.series(),
    };
    order.push(relation.time());
    order.push(relation.copy());
    order.join(", ")
}

fn in_range(relation: &Relation<'_>, choice: Choice, fields: FieldSet, point: bool) -> Statement {
    let mut statement = Statement::default();
    let mut conditions = relation.chosen(choice, &mut statement);
    if point {
        let time = statement.parameter(Bind::Start);
        conditions.push(format!("{} = {time}", relation.time()));
    } else {
        conditions.extend(relation.in_range(&mut statement));
    }
    conditions.extend(relation.has_any(fields));
    statement.push(&format!(
        "SELECT {} FROM {}{} ORDER BY {}",
        columns(relation, choice, fields),
        relation.from(),
        filter(&conditions),
        order(relation, choice)
    ));
    statement
}

/// The readings at the latest time of each series; with repeated writes, all of them.
fn at_latest_times(relation: &Relation<'_>, choice: Choice, fields: FieldSet) -> Statement {
    let mut statement = Statement::default();
    let each = relation.each_series(choice, &mut statement);
    let inner = relation.aliased("q");
    let mut within = match &each {
        Some(_) => vec![format!("{} = s.\"series\"", inner.series()[0])],
        None => inner.chosen(choice, &mut statement),
    };
    within.extend(inner.in_range(&mut statement));
    within.extend(inner.has_any(fields));
    let (from, within) = (inner.from(), filter(&within));
    let (time, latest) = (relation.time(), format!("max({})", inner.time()));
    let mut conditions = match &each {
        Some(_) => vec![
            format!("{} = s.\"series\"", relation.series()[0]),
            format!("{time} = (SELECT {latest} FROM {from}{within})"),
        ],
        None if choice == Choice::One || relation.series().is_empty() => {
            let mut conditions = relation.chosen(choice, &mut statement);
            conditions.push(format!("{time} = (SELECT {latest} FROM {from}{within})"));
            conditions
        }
        None => vec![format!(
            "({}, {time}) IN (SELECT {}, {latest} FROM {from}{within} GROUP BY {1})",
            relation.series().join(", "),
            inner.series().join(", ")
        )],
    };
    conditions.extend(relation.has_any(fields));
    let driver = each.map_or_else(String::new, |each| format!("({each}) AS s CROSS JOIN "));
    statement.push(&format!(
        "SELECT {} FROM {driver}{}{} ORDER BY {}",
        columns(relation, choice, fields),
        relation.from(),
        filter(&conditions),
        order(relation, choice)
    ));
    statement
}

/// Each series and the time of its latest reading that has any of the fields.
fn latest_times(relation: &Relation<'_>, choice: Choice, fields: FieldSet) -> Statement {
    let mut statement = Statement::default();
    let each = relation.each_series(choice, &mut statement);
    let mut conditions = match &each {
        Some(_) => vec![format!("{} = s.\"series\"", relation.series()[0])],
        None => relation.chosen(choice, &mut statement),
    };
    conditions.extend(relation.in_range(&mut statement));
    conditions.extend(relation.has_any(fields));
    let (from, filter) = (relation.from(), filter(&conditions));
    let time = relation.time();
    let text = match each {
        Some(each) => format!(
            "SELECT (SELECT {time} FROM {from}{filter} ORDER BY {} DESC, {time} DESC LIMIT 1), s.\"series\" FROM ({each}) AS s",
            relation.coarse().unwrap_or_else(|| time.clone())
        ),
        None if choice == Choice::One || relation.series().is_empty() => {
            let mut columns = vec![time.clone()];
            columns.extend(relation.series());
            format!(
                "SELECT {} FROM {from}{filter} ORDER BY {} DESC, {time} DESC LIMIT 1",
                columns.join(", "),
                relation.coarse().unwrap_or_else(|| time.clone())
            )
        }
        None => {
            let series = relation.series().join(", ");
            format!("SELECT max({time}), {series} FROM {from}{filter} GROUP BY {series}")
        }
    };
    statement.push(&text);
    statement
}

fn latest_in_records(
    session: &mut SqliteSession,
    statement: &Statement,
    query: &Query,
    fields: FieldSet,
) -> Result<Batch, StoreError> {
    let mut found = Vec::new();
    {
        let mut prepared = session.bound(statement, query)?;
        let reader = session.reader(query.table);
        let columns = reader.columns(&session.design.tables[query.table].key);
        let mut rows = prepared.raw_query();
        while let Some(row) = rows
            .next()
            .map_err(|cause| error::native(OPERATION, cause))?
        {
            if let rusqlite::types::ValueRef::Integer(time) = row.get_ref_unwrap(0) {
                found.push((reader.read(row, 1, columns)?, time));
            }
        }
    }
    found.sort_unstable();
    let mut batch = Batch::new(query.table, &session.design.schema.tables[query.table]);
    for (series, time) in found {
        let point = Query {
            series: Selection::One(series),
            range: TimeRange::new(time, time.saturating_add(1)),
            ..query.clone()
        };
        let readings = records::range(session, &point, fields)?;
        if let Some(row) = readings.len().checked_sub(1) {
            batch.push_row(&readings, row);
        }
    }
    Ok(batch)
}

/// The last of each series' readings, of a batch in the order of series.
pub fn last_of_each(batch: Batch) -> Batch {
    if batch.series.windows(2).all(|pair| pair[0] != pair[1]) {
        return batch;
    }
    let mut kept = batch.clone();
    kept.clear();
    for row in 0..batch.len() {
        if batch.series.get(row + 1) != Some(&batch.series[row]) {
            kept.push_row(&batch, row);
        }
    }
    kept
}

fn read(
    session: &SqliteSession,
    statement: &Statement,
    query: &Query,
    fields: FieldSet,
) -> Result<Batch, StoreError> {
    let mut prepared = session.bound(statement, query)?;
    let rows = prepared.raw_query();
    let mut batch = Batch::new(query.table, &session.design.schema.tables[query.table]);
    if session.design.layout.shape == Shape::RowPerField {
        read_fields(session, rows, fields, &query.series, &mut batch)?;
    } else {
        read_rows(session, rows, fields, &query.series, &mut batch)?;
    }
    Ok(batch.sorted())
}

fn read_rows(
    session: &SqliteSession,
    mut rows: Rows<'_>,
    fields: FieldSet,
    selection: &Selection,
    batch: &mut Batch,
) -> Result<(), StoreError> {
    let named = Named::new(session, batch.table, selection);
    while let Some(row) = rows
        .next()
        .map_err(|cause| error::native(OPERATION, cause))?
    {
        batch.times_ns.push(whole(row.get_ref_unwrap(0))?);
        batch.series.push(named.series(row)?);
        let mut place = 1 + named.columns();
        for (field, column) in batch.columns.iter_mut().enumerate() {
            if fields.contains(field) {
                push(column, row.get_ref_unwrap(place))?;
                place += 1;
            }
        }
    }
    Ok(())
}

fn read_fields(
    session: &SqliteSession,
    mut rows: Rows<'_>,
    fields: FieldSet,
    selection: &Selection,
    batch: &mut Batch,
) -> Result<(), StoreError> {
    let mut pivot = Pivot::new(session, batch.table, fields, selection);
    while let Some(row) = rows
        .next()
        .map_err(|cause| error::native(OPERATION, cause))?
    {
        pivot.take(row)?;
    }
    pivot.finish();
    *batch = pivot.batch;
    Ok(())
}

/// The series of rows: the one that was asked about, or what the columns behind the time name.
enum Named<'a> {
    Only(u32),
    Columns(&'a SeriesReader, usize),
}

impl<'a> Named<'a> {
    fn new(session: &'a SqliteSession, table: usize, selection: &Selection) -> Self {
        if let Selection::One(series) = selection {
            return Self::Only(*series);
        }
        let reader = session.reader(table);
        Self::Columns(reader, reader.columns(&session.design.tables[table].key))
    }

    const fn columns(&self) -> usize {
        match self {
            Self::Only(_) => 0,
            Self::Columns(_, columns) => *columns,
        }
    }

    fn series(&self, row: &Row<'_>) -> Result<u32, StoreError> {
        match self {
            Self::Only(series) => Ok(*series),
            Self::Columns(reader, columns) => reader.read(row, 1, *columns),
        }
    }
}

/// Puts rows of single fields together to readings. The rows of one reading follow each other by ascending field, so a field that
/// does not ascend begins another reading. Rows hold time, series, field and value.
pub struct Pivot<'a> {
    named: Named<'a>,
    fields: FieldSet,
    /// The readings so far; the latest one may lack fields until another follows or [`Pivot::finish`] is called.
    pub batch: Batch,
    last_field: usize,
}

impl<'a> Pivot<'a> {
    /// No readings yet of this table, with these fields.
    pub fn new(
        session: &'a SqliteSession,
        table: usize,
        fields: FieldSet,
        selection: &Selection,
    ) -> Self {
        Self {
            named: Named::new(session, table, selection),
            fields,
            batch: Batch::new(table, &session.design.schema.tables[table]),
            last_field: 0,
        }
    }

    fn key(&self, row: &Row<'_>) -> Result<(u32, i64, usize), StoreError> {
        let field = whole(row.get_ref_unwrap(1 + self.named.columns()))?;
        let known = usize::try_from(field)
            .ok()
            .filter(|&field| self.fields.contains(field));
        let field = known.ok_or_else(|| {
            error::unexpected(OPERATION, format!("a row holds field number {field}"))
        })?;
        let series = self.named.series(row)?;
        Ok((series, whole(row.get_ref_unwrap(0))?, field))
    }

    /// Whether a row begins another reading.
    ///
    /// # Errors
    /// When the row holds a series or field that is not known.
    pub fn starts_reading(&self, row: &Row<'_>) -> Result<bool, StoreError> {
        let (series, time, field) = self.key(row)?;
        Ok(field <= self.last_field
            || self.batch.series.last() != Some(&series)
            || self.batch.times_ns.last() != Some(&time))
    }

    /// Takes a row up.
    ///
    /// # Errors
    /// As [`Pivot::starts_reading`], and when its value is not of the field's type.
    pub fn take(&mut self, row: &Row<'_>) -> Result<(), StoreError> {
        let starts = self.starts_reading(row)?;
        let (series, time, field) = self.key(row)?;
        if starts {
            self.finish();
            self.batch.times_ns.push(time);
            self.batch.series.push(series);
        }
        self.last_field = field;
        push(
            &mut self.batch.columns[field],
            row.get_ref_unwrap(2 + self.named.columns()),
        )
    }

    /// Fills the fields that the latest reading lacks.
    pub fn finish(&mut self) {
        let length = self.batch.len();
        for field in self.fields.iter() {
            let column = &mut self.batch.columns[field];
            if column.values.len() < length {
                column.push_null();
            }
        }
    }
}
