//! How fast writer and reader are when the database costs nothing: the same code over the null store, for a moment, in the process that measured.
//!
//! The load has a steady rate, so this is what the rate is held against: a writer that could hardly take twice as many samples, or a reader that could
//! hardly read twice as often, would measure itself. What the queue costs is not in it; the client's processors are judged too, and with the queue.

use super::reader::{Reader, ReaderConfiguration};
use super::writer::{Start, Writer, WriterConfiguration};
use crate::engine::connection::Connection;
use crate::ledger::journal::JournalWriter;
use sensormark_store::null::NullStore;
use sensormark_store::{
    Answer, AnswerSource, Ask, Batch, ErrorKind, Moment, Plan, Query, StoreError, Table, Value,
};
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

/// How long the null store is driven.
const DURATION: Duration = Duration::from_millis(200);

/// Samples a second that a writer takes over the null store.
///
/// # Errors
/// When the system gives it no place to write its journal to.
pub async fn of_writer(
    configuration: WriterConfiguration,
    start: Start,
    plan: &Plan,
) -> Result<f64, StoreError> {
    let nowhere = JournalWriter::open(Path::new("/dev/null"));
    let journal = nowhere.map_err(|error| {
        let operation = "open a journal for the null store";
        StoreError::new(ErrorKind::Configuration, operation, error.to_string())
    })?;
    let store = null(plan);
    let connection = Connection::open(&store, plan).await?;
    let mut writer = Writer::new(connection, journal, configuration, start, plan);
    writer.rush(DURATION).await
}

/// Reads a second of a reader over the null store.
///
/// # Errors
/// None that a database could cause.
pub async fn of_reader(configuration: ReaderConfiguration, plan: &Plan) -> Result<f64, StoreError> {
    let store = null(plan);
    let connection = Connection::open(&store, plan).await?;
    let timeout_ns = plan.timeout_ms * 1_000_000;
    Reader::new(connection, configuration, timeout_ns)
        .rush(DURATION)
        .await
}

fn null(plan: &Plan) -> NullStore {
    NullStore::new(Arc::new(Nothing {
        tables: plan.schema.tables.clone(),
    }))
}

/// Finds every moment at once, and nothing in any range.
struct Nothing {
    tables: Vec<Table>,
}

impl AnswerSource for Nothing {
    fn answer(&self, query: &Query) -> Answer {
        match query.ask {
            Ask::First(_) | Ask::Last(_) | Ask::Minimum { .. } => Answer::Moment(Some(Moment {
                time_ns: query.range.start_ns,
                value: Value::I64(1),
            })),
            _ => Answer::Readings(Batch::new(query.table, &self.tables[query.table])),
        }
    }

    fn scan(&self, _table: usize, _sink: &mut dyn FnMut(&Batch)) {}
}
