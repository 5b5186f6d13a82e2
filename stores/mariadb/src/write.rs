//! Writing: a batch becomes rows of parameters, and rows travel by the layout's way of writing.
//!
//! One reading is one prepared INSERT; more are the same statement executed in bulk: one request, one commit. Where several
//! statements belong together (sums beside readings, an entity and its reading) they are one transaction. Text for the other ways of
//! writing is made in [`text`], rows in [`rows`].

pub(crate) mod insert;
pub(crate) mod rows;
pub(crate) mod text;
pub(crate) mod value;

use self::insert::Inserts;
use self::rows::Step;
use crate::connection::Link;
use bytes::Bytes;
use mysql_async::Value;
use sensormark_relational::physical_schema::PhysicalSchema;
use sensormark_store::{
    Acknowledgement, Atomicity, Batch, EntityReading, ErrorKind, Layout, Limits, Shape, StoreError, Table,
    Values, WriteMethod,
};
use std::collections::HashMap;
use std::ops::Range;
use std::rc::Rc;

/// The most rows that are put into the text of one compound statement.
const COMPOUND_ROWS: usize = 16;

/// Bytes of parameters after which a statement is closed.
const STATEMENT_BYTES: usize = 4 << 20;

/// The texts of compound statements, each built once. Of one connection.
#[derive(Default)]
pub(crate) struct Compounds(HashMap<CompoundShape, Rc<str>>);

/// What the text of a compound statement depends on, the layout apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
struct CompoundShape {
    table: usize,
    /// Whether it starts with an entity.
    entity: bool,
    /// Rows of each of the steps: of readings (or records), then of sums.
    rows: [usize; 2],
}

/// The largest statements with this layout and table.
pub(crate) fn limits(layout: &Layout, table: &Table) -> Limits {
    let most = STATEMENT_BYTES / reading_bytes(layout, table);
    Limits { readings_per_statement: most.clamp(1, 20_000) }
}

/// About how many bytes a reading takes in a statement.
pub(crate) fn reading_bytes(layout: &Layout, table: &Table) -> usize {
    let fields = table.fields.len().max(1);
    let tags = 24 * table.tags.len();
    match layout.shape {
        Shape::RowPerField => fields * (40 + tags),
        _ => 32 + tags + fields * 12,
    }
}

/// Where the statement ends that starts with this reading.
fn statement_end(batch: &Batch, start: usize, most: usize, most_bytes: usize) -> usize {
    let end = batch.len().min(start + most);
    let texts: Vec<_> = batch
        .columns
        .iter()
        .filter_map(|column| match &column.values {
            Values::Text(values) if !values.is_empty() => Some(values),
            _ => None,
        })
        .collect();
    if texts.is_empty() {
        return end;
    }
    let mut bytes = 0;
    for reading in start..end {
        bytes += texts.iter().map(|text| text.get(reading).len() + 16).sum::<usize>();
        if bytes > most_bytes && reading > start {
            return reading;
        }
    }
    end
}

/// Writes a batch, in as many statements as it takes.
pub(crate) async fn write(
    link: &mut Link,
    inserts: &[Inserts],
    compounds: &mut Compounds,
    physical: &PhysicalSchema,
    batch: &Batch,
) -> Result<Acknowledgement, StoreError> {
    let (_, table) = physical.table(batch.table)?;
    let (most, inserts) = (table.readings_per_statement, &inserts[batch.table]);
    let most_bytes = STATEMENT_BYTES.min(link.server.largest_packet / 4);
    let mut done = Acknowledgement::default();
    while done.readings < batch.len() as u64 {
        let start = usize::try_from(done.readings).unwrap_or(usize::MAX);
        let end = statement_end(batch, start, most, most_bytes);
        let written = match physical.layout.write {
            WriteMethod::ConcatenatedStatements => {
                let text = text::concatenated(physical, &inserts.readings, batch, start..end)?;
                transaction_text(link, text).await
            }
            WriteMethod::MultiRow => {
                let text = text::multi_row(physical, &inserts.readings, batch, start..end)?;
                link.text("write readings", text).await
            }
            WriteMethod::FastPath => load(link, inserts, physical, batch, start..end).await,
            WriteMethod::Usual | WriteMethod::Datagram => {
                let steps = rows::steps(physical, inserts, batch, start..end)?;
                run(link, compounds, batch.table, steps).await
            }
        };
        written.map_err(|error| error.after_acknowledging(done.readings))?;
        done.readings = end as u64;
        done.sent = end as u64;
        done.statements += 1;
    }
    Ok(done)
}

/// Inserts a reading and updates its entity.
pub(crate) async fn upsert(
    link: &mut Link,
    inserts: &[Inserts],
    compounds: &mut Compounds,
    physical: &PhysicalSchema,
    write: EntityReading<'_>,
) -> Result<Acknowledgement, StoreError> {
    const OPERATION: &str = "update an entity";
    let reading = write.reading;
    let (update, insert) = rows::entity(physical, write)?;
    let inserts = &inserts[reading.table];
    let Some(entity) = inserts.entity.as_ref() else {
        return Err(StoreError::unsupported(OPERATION, "the table has no entity"));
    };
    let steps = rows::steps(physical, inserts, reading, 0..1)?;
    let statements = match write.atomicity {
        Atomicity::Separate => {
            if link.execute(OPERATION, &entity.update, update).await? == 0 {
                link.execute(OPERATION, &entity.insert, insert).await?;
            }
            run(link, compounds, reading.table, steps).await.map(|()| 2)
        }
        Atomicity::Atomic => {
            // To update what is not there first would lock the gap where others insert theirs, until the commit: they would deadlock.
            let first = Some((entity.insert.as_str(), insert));
            compound(link, compounds, OPERATION, reading.table, first, steps).await.map(|()| 1)
        }
    };
    Ok(Acknowledgement { readings: 1, sent: 1, statements: statements? })
}

/// Runs steps, all of them or none.
async fn run(
    link: &mut Link,
    compounds: &mut Compounds,
    table: usize,
    mut steps: Vec<Step<'_>>,
) -> Result<(), StoreError> {
    const OPERATION: &str = "write readings";
    steps.retain(|step| !step.rows.is_empty());
    if steps.len() > 1 {
        return together(link, compounds, table, steps).await;
    }
    let Some(mut step) = steps.pop() else {
        return Ok(());
    };
    match step.rows.len() {
        1 => {
            let row = step.rows.swap_remove(0);
            link.execute(OPERATION, &step.insert.one, row).await.map(|_| ())
        }
        _ => link.execute_bulk(OPERATION, &step.insert.one, step.rows).await,
    }
}

/// Runs several steps as one transaction: a compound statement where they are small, else between START TRANSACTION and COMMIT.
async fn together(
    link: &mut Link,
    compounds: &mut Compounds,
    table: usize,
    steps: Vec<Step<'_>>,
) -> Result<(), StoreError> {
    const OPERATION: &str = "write readings";
    let rows: usize = steps.iter().map(|step| step.rows.len()).sum();
    if rows <= COMPOUND_ROWS {
        return compound(link, compounds, OPERATION, table, None, steps).await;
    }
    link.text(OPERATION, "START TRANSACTION").await.map_err(|error| error.with_doubt(false))?;
    for step in steps {
        if let Err(error) = link.execute_bulk(OPERATION, &step.insert.one, step.rows).await {
            // The first error is returned. Where the rollback fails too, the server rolls back as the connection ends.
            let _ = link.text(OPERATION, "ROLLBACK").await;
            return Err(error);
        }
    }
    link.text(OPERATION, "COMMIT").await
}

/// Executes an entity's statement, where there is one, and those of steps, as one transaction in one request.
async fn compound(
    link: &mut Link,
    compounds: &mut Compounds,
    operation: &str,
    table: usize,
    entity: Option<(&str, Vec<Value>)>,
    steps: Vec<Step<'_>>,
) -> Result<(), StoreError> {
    let rows = |step: usize| steps.get(step).map_or(0, |step| step.rows.len());
    let shape = CompoundShape { table, entity: entity.is_some(), rows: [rows(0), rows(1)] };
    let (entity, parameters) = entity.unzip();
    let text = compounds.0.entry(shape).or_insert_with(|| compound_text(entity, &steps).into());
    let mut parameters = parameters.unwrap_or_default();
    parameters.extend(steps.into_iter().flat_map(|step| step.rows).flatten());
    link.execute(operation, &Rc::clone(text), parameters).await.map(|_| ())
}

/// One transaction of an entity's statement, where there is one, and those of steps, each with all its rows.
fn compound_text(entity: Option<&str>, steps: &[Step<'_>]) -> String {
    let mut sql = String::from(
        "BEGIN NOT ATOMIC DECLARE EXIT HANDLER FOR SQLEXCEPTION BEGIN ROLLBACK; RESIGNAL; END; \
         START TRANSACTION; ",
    );
    if let Some(entity) = entity {
        sql.push_str(entity);
        sql.push_str("; ");
    }
    for step in steps.iter().filter(|step| !step.rows.is_empty()) {
        sql.push_str(&step.insert.head);
        for number in 0..step.rows.len() {
            sql.push_str(if number == 0 { "" } else { "," });
            sql.push_str(&step.insert.row);
        }
        sql.push_str(&step.insert.tail);
        sql.push_str("; ");
    }
    sql + "COMMIT; END"
}

/// Sends text that starts a transaction and ends it.
async fn transaction_text(link: &mut Link, text: String) -> Result<(), StoreError> {
    const OPERATION: &str = "write readings";
    let sent = link.text(OPERATION, text).await;
    if sent.is_err() {
        let _ = link.text(OPERATION, "ROLLBACK").await;
    }
    sent
}

/// Streams a batch through LOAD DATA LOCAL INFILE, which turns what it does not like into warnings: those are failures here.
async fn load(
    link: &mut Link,
    inserts: &Inserts,
    physical: &PhysicalSchema,
    batch: &Batch,
    range: Range<usize>,
) -> Result<(), StoreError> {
    const OPERATION: &str = "load readings";
    let (file, rows) = text::infile(physical, batch, range)?;
    let (written, warnings) = link.load(OPERATION, &inserts.load, Bytes::from(file)).await?;
    if (written, warnings) == (rows, 0) {
        return Ok(());
    }
    Err(StoreError::new(
        ErrorKind::Rejected,
        OPERATION,
        format!("of {rows} rows {written} were written, with {warnings} warnings; see SHOW WARNINGS, or choose another layout"),
    )
    .with_doubt(true))
}
