//! Writing: one reading by a prepared INSERT, many by an appender, which DuckDB's documentation advises for loading.
//!
//! Rows and statements are the relational planner's; here they are handed over. Appends never conflict. Two transactions that change the same row
//! of sums or the same entity do: the later one is rolled back, and begins again here, as DuckDB's users have it begin.

use crate::array::Elements;
use crate::client::{Connection, Failure, Kind, Parameter, Sheet, codes};
use crate::connection::{DuckdbSession, parameter};
use crate::error;
use crate::schema::{TRANSACTION, limits};
use sensormark_relational::cell::Cell;
use sensormark_relational::column_type::ColumnType;
use sensormark_relational::physical_schema::PhysicalSchema;
use sensormark_relational::write::statement::{Text, insert};
use sensormark_relational::write::sums::Sums;
use sensormark_relational::write::{Rows, entity_cells};
use sensormark_store::{
    Acknowledgement, Atomicity, Batch, EntityReading, Shape, StoreError, Table, WriteMethod,
};
use std::ops::Range;
use std::rc::Rc;
use std::sync::Arc;
use std::time::{Duration, Instant};

pub(crate) mod writer;

use writer::Writer;

const OPERATION: &str = "write readings";
/// How long a transaction that met another one waits before it begins again: at first, and at most.
const PAUSE: Duration = Duration::from_micros(50);
const LONGEST_PAUSE: Duration = Duration::from_millis(5);

/// Writes a batch as one transaction, or as several where it is larger than the largest of them.
///
/// # Errors
/// What DuckDB says, with how many readings were committed before.
pub(crate) fn write(session: &mut DuckdbSession, batch: &Batch) -> Result<Acknowledgement, StoreError> {
    let mut acknowledgement = Acknowledgement::default();
    let physical = Arc::clone(&session.physical);
    let (description, _) = physical.table(batch.table)?;
    let rows_per_statement = limits(&physical.layout, description).readings_per_statement;
    let mut start = 0;
    while start < batch.len() {
        let part = start..batch.len().min(start + TRANSACTION);
        write_part(session, batch, part.clone())
            .map_err(|error| error.after_acknowledging(acknowledgement.readings))?;
        start = part.end;
        acknowledgement.readings += part.len() as u64;
        acknowledgement.statements += part.len().div_ceil(rows_per_statement) as u64;
    }
    acknowledgement.sent = acknowledgement.readings;
    Ok(acknowledgement)
}

/// Inserts a reading and updates its entity.
///
/// # Errors
/// What DuckDB says.
pub(crate) fn upsert(
    session: &mut DuckdbSession,
    write: EntityReading<'_>,
) -> Result<Acknowledgement, StoreError> {
    let physical = Arc::clone(&session.physical);
    let cells = entity_cells(&physical, write)?;
    let number = write.reading.table;
    let put_entity = |session: &mut DuckdbSession| {
        let writers = Rc::clone(&session.writers);
        let Some((text, kinds)) = &writers[number].entity else {
            return Ok(());
        };
        let cells = cells.iter().zip(kinds);
        let parameters = cells.map(|(&cell, &kind)| parameter(cell, kind));
        session.send(text, parameters).map(drop)
    };
    let readings = 0..write.reading.len();
    let part = Part::new(&physical, write.reading, readings.clone())?;
    match write.atomicity {
        Atomicity::Atomic => transact(session, |session| {
            put_entity(session)?;
            part.insert(session)
        })?,
        Atomicity::Separate => {
            again(session, put_entity)?;
            part.commit(session)?;
        }
    }
    Ok(Acknowledgement { readings: readings.len() as u64, sent: readings.len() as u64, statements: 2 })
}

fn write_part(session: &mut DuckdbSession, batch: &Batch, readings: Range<usize>) -> Result<(), StoreError> {
    let physical = Arc::clone(&session.physical);
    Part::new(&physical, batch, readings)?.commit(session)
}

/// What one transaction writes.
struct Part<'a> {
    rows: Rows<'a>,
    sums: Option<Sums<'a>>,
    number: usize,
}

impl<'a> Part<'a> {
    fn new(
        physical: &'a PhysicalSchema,
        batch: &'a Batch,
        readings: Range<usize>,
    ) -> Result<Self, StoreError> {
        let has_sums = matches!(physical.layout.shape, Shape::Summary { .. });
        Ok(Self {
            sums: match has_sums {
                true => Some(Sums::of(physical, batch, readings.clone())?),
                false => None,
            },
            rows: Rows::new(physical, batch, readings)?,
            number: batch.table,
        })
    }

    /// Whether it is one row by its statement alone.
    fn is_single(&self) -> bool {
        self.rows.len() == 1 && self.rows.physical.layout.shape == Shape::RowPerReading
    }

    /// Writes it as one commit.
    fn commit(&self, session: &mut DuckdbSession) -> Result<(), StoreError> {
        if self.is_single() {
            return self.insert(session).map_err(|failure| error::native(OPERATION, failure));
        }
        transact(session, |session| self.insert(session))
    }

    /// Writes it inside the present transaction.
    fn insert(&self, session: &mut DuckdbSession) -> Result<(), Failure> {
        let writers = Rc::clone(&session.writers);
        let writer = &writers[self.number];
        if self.is_single() {
            let (text, kinds) = &writer.insert;
            self.send(session, text, kinds, 0..1)?;
        } else if self.rows.physical.layout.write == WriteMethod::MultiRow {
            self.insert_many(session)?;
        } else {
            self.append(session, writer)?;
        }
        match (&self.sums, &writer.add_sums) {
            (Some(sums), Some(text)) => add_sums(session, sums, text),
            _ => Ok(()),
        }
    }

    /// Sends these rows as the parameters of an INSERT, each of its column's own type: DuckDB would plan the statement again for another.
    fn send(
        &self,
        session: &mut DuckdbSession,
        text: &str,
        columns: &[ColumnType],
        rows: Range<usize>,
    ) -> Result<(), Failure> {
        let writers = Rc::clone(&session.writers);
        let kinds = &writers[self.number].kinds;
        let cells = rows.flat_map(|row| (0..kinds.len()).map(move |column| (row, column)));
        let parameters = cells.zip(columns).map(|((row, column), &kind)| {
            match (self.rows.cell(row, column), kinds[column]) {
                (Cell::I32(value), Kind::Unsigned16) => {
                    u16::try_from(value).map_or(Parameter::Cell(Cell::I32(value)), Parameter::Unsigned16)
                }
                (cell, _) => parameter(cell, kind),
            }
        });
        session.send(text, parameters).map(drop)
    }

    fn insert_many(&self, session: &mut DuckdbSession) -> Result<(), Failure> {
        let (physical, table) = (self.rows.physical, self.rows.table);
        let most = table.readings_per_statement.min(self.rows.len());
        let (whole, whole_kinds) = insert(physical, table, most);
        let mut start = 0;
        while start < self.rows.len() {
            let rows = start..self.rows.len().min(start + most);
            start = rows.end;
            if rows.len() == most {
                self.send(session, &whole, &whole_kinds, rows)?;
            } else {
                let (rest, kinds) = insert(physical, table, rows.len());
                self.send(session, &rest, &kinds, rows)?;
            }
        }
        Ok(())
    }

    fn append(&self, session: &mut DuckdbSession, writer: &Writer) -> Result<(), Failure> {
        self.note(session, writer)?;
        let name = &self.rows.description.name;
        let mut sheet = Sheet::open(&session.connection, name, &writer.kinds)?;
        sheet.append(self.rows.len(), |row, column| self.rows.cell(row, column))?;
        sheet.close()
    }

    /// Notes the first row, where statements are kept.
    fn note(&self, session: &mut DuckdbSession, writer: &Writer) -> Result<(), Failure> {
        let library = session.connection.library();
        let table = self.rows.table;
        let rows = self.rows.len();
        let Some(sent) = session.kept.appender(&table.name, &table.column_list(), rows) else {
            return Ok(());
        };
        let columns = table.columns.iter().zip(&writer.kinds).enumerate();
        for (place, (column, kind)) in columns {
            let value = match (self.rows.cell(0, place), kind) {
                (Cell::Encoded(bytes), Kind::List(element)) => {
                    Parameter::List(*element, Elements::new(bytes).collect())
                }
                (cell, _) => parameter(cell, column.kind),
            };
            sent.value(library, &value)?;
        }
        Ok(())
    }
}

/// Adds to rows of sums: one statement, whose parameters are a list for each column.
fn add_sums(session: &mut DuckdbSession, sums: &Sums<'_>, (text, kinds): &Text) -> Result<(), Failure> {
    let mut lists: Vec<Vec<Cell<'_>>> = vec![Vec::new(); kinds.len()];
    for row in sums.rows() {
        for (list, cell) in lists.iter_mut().zip(row) {
            list.push(cell);
        }
    }
    let lists = kinds.iter().zip(lists);
    let parameters = lists.map(|(&kind, list)| Parameter::List(kind, list));
    session.send(text, parameters).map(drop)
}

/// Runs statements as one transaction, all or none, and again where another transaction changed the same rows.
fn transact(
    session: &mut DuckdbSession,
    work: impl Fn(&mut DuckdbSession) -> Result<(), Failure>,
) -> Result<(), StoreError> {
    again(session, |session| {
        session.run("BEGIN")?;
        let done = work(session).and_then(|()| session.run("COMMIT"));
        if done.is_err() {
            // What failed is reported; after a COMMIT that failed there is nothing to roll back.
            drop(session.connection.run("ROLLBACK"));
        }
        done
    })
}

/// Does something, and does it again while it meets changes of the same rows, until the time allowed is over.
fn again(
    session: &mut DuckdbSession,
    work: impl Fn(&mut DuckdbSession) -> Result<(), Failure>,
) -> Result<(), StoreError> {
    let deadline = Instant::now() + session.allowed;
    let mut pause = PAUSE;
    loop {
        match work(session) {
            Ok(()) => return Ok(()),
            Err(failure) if met_another(&failure) && Instant::now() < deadline => {
                std::thread::sleep(pause);
                pause = LONGEST_PAUSE.min(pause * 2);
            }
            Err(failure) => return Err(error::native(OPERATION, failure)),
        }
    }
}

/// Whether another transaction changed the same rows. No statement here inserts a key without saying what is done where it is there, so a
/// duplicate one is of a transaction that this one does not see yet.
fn met_another(failure: &Failure) -> bool {
    let is_duplicate = failure.code == codes::CONSTRAINT && failure.text.contains("Duplicate key");
    is_duplicate || error::is_conflict(failure)
}

/// Fills the tables of tags.
pub(crate) fn fill_tags(connection: &Connection, physical: &PhysicalSchema) -> Result<(), Failure> {
    for (table, description) in physical.tables.iter().zip(&physical.schema.tables) {
        let Some(name) = &table.tags else {
            continue;
        };
        let mut kinds = vec![Kind::One(ColumnType::I32)];
        let tags = description.series.columns().iter();
        kinds.extend(tags.map(|values| Kind::One(ColumnType::of_tag(values))));
        let mut sheet = Sheet::open(connection, name.trim_matches('"'), &kinds)?;
        let rows = description.series.len();
        let cell = |row: usize, column: usize| tag_cell(description, row, column);
        sheet.append(usize::try_from(rows).unwrap_or(usize::MAX), cell)?;
        sheet.close()?;
    }
    Ok(())
}

fn tag_cell(description: &Table, row: usize, column: usize) -> Cell<'_> {
    let series = u32::try_from(row).unwrap_or(u32::MAX);
    match column.checked_sub(1) {
        None => Cell::series(series),
        Some(tag) => Cell::tag(description, tag, series),
    }
}
