//! What machine-tool's writes and reads are made of: a few seconds of samples are written, and one cycle is read by each strategy; or, after a run's
//! trials, a cycle of what is stored is read and one more write is made.
//!
//! The statements are those of the reader itself; nothing is measured, and nothing here runs while something is.

use super::SPAN_NS;
use super::read_cycle::{CycleReader, ReadFailure, Strategy};
use crate::dataset::machine_tool::{CHANNELS, MachineTool};
use crate::engine::connection::Connection;
use crate::engine::context::Cell;
use crate::engine::explain::told;
use crate::engine::site::{Site, block_on};
use crate::measurement::statements::{ShownOperation, StatementsRecord};
use sensormark_store::{Batch, ErrorKind, Plan, Shape, Statement, StoreError, Values};

/// Seconds of samples that are written.
const SECONDS: i64 = 4;
/// The first sample's time, in ns since the Unix epoch: 2026-01-01.
const START_NS: i64 = 1_767_225_600_000_000_000;
/// From one sample to the next, in ns.
const PERIOD_NS: i64 = 1_000_000;

/// Writes samples into the plan's database, reads a cycle, and shows the statements of both with their plans.
///
/// # Errors
/// When the database cannot be reached, written to or asked for its schema.
pub fn explain(
    site: &Site,
    plan: &Plan,
    cell: &Cell,
    seed: u64,
) -> Result<StatementsRecord, StoreError> {
    let samples = SECONDS * SPAN_NS / PERIOD_NS;
    let write = block_on(write(site, plan, seed, START_NS, samples))?;
    let schema = site.administer(plan, async |administrator| {
        administrator.settle().await?;
        administrator.schema_text().await
    })?;
    let mut operations = vec![write];
    let around_ns = START_NS + SECONDS * SPAN_NS / 2;
    let named = |strategy: &Strategy| cell.strategies.iter().any(|name| name == strategy.name());
    for strategy in Strategy::ALL.into_iter().filter(named) {
        let read = read(site, plan, strategy, around_ns);
        operations.push(block_on(read)?);
    }
    Ok(StatementsRecord { schema, operations })
}

/// Shows the schema and one cycle's reading, of a trial that is over, with the time in the middle of what is stored.
///
/// # Errors
/// When the database cannot be reached or asked for its schema.
pub fn record_read(
    site: &Site,
    plan: &Plan,
    strategy: Strategy,
    (first_ns, last_ns): (i64, i64),
) -> Result<StatementsRecord, StoreError> {
    let around_ns = first_ns + (last_ns - first_ns) / 2;
    let read = read(site, plan, strategy, around_ns);
    let read = block_on(read);
    recorded(site, plan, read)
}

/// Shows the schema and one write, of a cell on which nothing more is measured: the write comes after all that is stored.
///
/// # Errors
/// When the database cannot be reached or asked for its schema.
pub fn record_write(
    site: &Site,
    plan: &Plan,
    seed: u64,
    last_ns: i64,
) -> Result<StatementsRecord, StoreError> {
    let start_ns = (last_ns.div_euclid(SPAN_NS) + 1) * SPAN_NS;
    let write = write(site, plan, seed, start_ns, samples_per_write(plan));
    let write = block_on(write);
    recorded(site, plan, write)
}

fn recorded(
    site: &Site,
    plan: &Plan,
    shown: Result<ShownOperation, StoreError>,
) -> Result<StatementsRecord, StoreError> {
    let schema = site.administer(plan, async |administrator| {
        administrator.schema_text().await
    })?;
    let operations = match shown {
        // a store that does not show its statements shows its schema, perhaps
        Err(error) if error.kind() == ErrorKind::Unsupported => Vec::new(),
        shown => {
            let mut shown = shown?;
            let statements = shown.statements.into_iter();
            shown.statements = statements.map(Statement::for_report).collect();
            vec![shown]
        }
    };
    Ok(StatementsRecord { schema, operations })
}

/// Writes some seconds of samples from this time on; the first write is shown.
async fn write(
    site: &Site,
    plan: &Plan,
    seed: u64,
    start_ns: i64,
    samples: i64,
) -> Result<ShownOperation, StoreError> {
    let signal = MachineTool::new(seed);
    let table = &plan.schema.tables[0];
    let mut batch = Batch::new(0, table);
    let samples_per_write = samples_per_write(plan);
    let mut keeping = Connection::open(site.store(), plan).await?;
    keeping.keep_statements()?;
    let mut connection = Connection::open(site.store(), plan).await?;
    let mut shown = ShownOperation {
        name: "write".to_owned(),
        writes: true,
        readings: Some(samples_per_write.unsigned_abs()),
        ..ShownOperation::default()
    };
    for first in (0..samples).step_by(usize::try_from(samples_per_write).unwrap_or(1)) {
        batch.clear();
        for index in first..first + samples_per_write {
            batch.series.push(0);
            batch.times_ns.push(start_ns + index * PERIOD_NS);
            let sample: [u16; CHANNELS] = signal.sample(index.unsigned_abs());
            for (column, value) in batch.columns.iter_mut().zip(sample) {
                if let Values::U16(values) = &mut column.values {
                    values.push(value);
                }
            }
        }
        if first == 0 {
            keeping.write(&batch).await?;
            shown.statements = told(keeping.take_statements().await?);
        } else {
            connection.write(&batch).await?;
        }
    }
    connection.close().await?;
    keeping.close().await?;
    Ok(shown)
}

/// Samples in one write: a layout of spans gets a second of them.
const fn samples_per_write(plan: &Plan) -> i64 {
    match plan.layout.shape {
        Shape::RecordPerSpan { .. } => SPAN_NS / PERIOD_NS,
        _ => 1,
    }
}

async fn read(
    site: &Site,
    plan: &Plan,
    strategy: Strategy,
    around_ns: i64,
) -> Result<ShownOperation, StoreError> {
    let mut connection = Connection::open(site.store(), plan).await?;
    connection.keep_statements()?;
    let mut reader = CycleReader::new(connection);
    let found = reader.cycle(strategy, around_ns).await;
    let statements = told(reader.connection.take_statements().await?);
    let note = found.err().map(|failure| match failure {
        ReadFailure::Store(error) => format!("it failed: {error}"),
        ReadFailure::Missing(text) => format!("no cycle was found: {text}"),
    });
    reader.connection.close().await?;
    Ok(ShownOperation {
        name: format!("read {}", strategy.name()),
        statements,
        note,
        ..ShownOperation::default()
    })
}
