//! What machine-tool's writes and reads are made of: a few seconds of samples are written, and one cycle is read by each strategy.
//!
//! The statements are those of the reader itself; nothing is measured.

use super::SPAN_NS;
use super::parameters::Parameters;
use super::read_cycle::ReadFailure;
use super::reader::{Reader, ReaderConfiguration, Strategy};
use crate::dataset::machine_tool::{CHANNELS, MachineTool};
use crate::engine::connection::{Connection, PlanMessage};
use crate::engine::explain::told;
use crate::engine::run::Cell;
use crate::engine::site::{Site, block_on};
use crate::measurement::statements::{ShownOperation, StatementsRecord};
use sensormark_store::{Batch, Plan, Shape, StoreError, Values};

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
    parameters: &Parameters,
    seed: u64,
) -> Result<StatementsRecord, StoreError> {
    let write = block_on(write(site, plan, seed))?;
    let schema = site.administer(plan, async |administrator| {
        administrator.settle().await?;
        administrator.schema_text().await
    })?;
    let mut operations = vec![write];
    let named = |strategy: &Strategy| cell.strategies.iter().any(|name| name == strategy.name());
    for strategy in Strategy::ALL.into_iter().filter(named) {
        operations.push(block_on(read(site, plan, strategy, parameters, seed))?);
    }
    Ok(StatementsRecord { schema, operations })
}

async fn write(site: &Site, plan: &Plan, seed: u64) -> Result<ShownOperation, StoreError> {
    let signal = MachineTool::new(seed);
    let table = &plan.schema.tables[0];
    let mut batch = Batch::new(0, table);
    let samples_per_write = match plan.layout.shape {
        Shape::RecordPerSpan { .. } => SPAN_NS / PERIOD_NS,
        _ => 1,
    };
    let mut keeping = Connection::open(site.store(), plan).await?;
    keeping.keep_statements()?;
    let mut connection = Connection::open(site.store(), plan).await?;
    let mut shown = ShownOperation {
        name: "write".to_owned(),
        writes: true,
        readings: Some(samples_per_write.unsigned_abs()),
        ..ShownOperation::default()
    };
    for first in
        (0..SECONDS * SPAN_NS / PERIOD_NS).step_by(usize::try_from(samples_per_write).unwrap_or(1))
    {
        batch.clear();
        for index in first..first + samples_per_write {
            batch.series.push(0);
            batch.times_ns.push(START_NS + index * PERIOD_NS);
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

async fn read(
    site: &Site,
    plan: &Plan,
    strategy: Strategy,
    parameters: &Parameters,
    seed: u64,
) -> Result<ShownOperation, StoreError> {
    let mut connection = Connection::open(site.store(), plan).await?;
    connection.keep_statements()?;
    let around_ns = START_NS + SECONDS * SPAN_NS / 2;
    let description = site.store().description();
    let configuration = ReaderConfiguration {
        plan: PlanMessage::new(&description.name, plan, None),
        time_resolution: plan.schema.tables[0].time_resolution,
        strategy,
        seed,
        earliest_ns: around_ns,
        latest_ns: around_ns,
        warmup_reads: 0,
        reads: 1,
        period_ns: crate::units::round_u64(1e9 / parameters.reads_per_second),
    };
    let mut reader = Reader::new(connection, configuration, plan.timeout_ms * 1_000_000);
    let found = reader.cycle(around_ns).await;
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
