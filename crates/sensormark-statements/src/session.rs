//! One client's session: it asks and writes on its connection, each operation within its time.

use crate::decode::Decoder;
use crate::link::Link;
use crate::physical::Physical;
use crate::question::{Asked, Statement as Rendered, shape};
use crate::recorded::Recorded;
use crate::write::Writer;
use sensormark_drivers::{Cell, EachRow, Fault, Prepared};
use sensormark_kit::parts::{added_up, series_of, windows_of};
use sensormark_kit::{MOST_SHAPES, Row};
use sensormark_store::client_side::{self, readings_of};
use sensormark_store::{
    Acknowledgement, Answer, Ask, Batch, EntityReading, FieldSet, LocalFuture, Query, Question, Selection,
    Session, Statement, StoreError, TimeRange, Value,
};
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

const OPERATION: &str = "answer a question";
/// What waits until a table's writes show, where they show later.
pub(crate) const SHOWN: &str = "shown";
/// How a database aggregates that is asked about each series and window by itself.
const BY_WINDOW: &str = "parts of windows";
/// Readings in a batch of a scan.
const PIECE: usize = 8_192;

/// A session.
pub struct FileSession {
    pub(crate) link: Link,
    pub(crate) physical: Arc<Physical>,
    pub(crate) recorded: Option<Recorded>,
    pub(crate) writers: Vec<Option<Rc<Writer>>>,
    /// Few, so that looking through them is shorter than hashing.
    asked: Vec<(Query, Kept)>,
    pub(crate) time: Duration,
}

/// A question's statements, prepared.
#[derive(Clone)]
struct Kept {
    planned: Arc<[Rendered]>,
    prepared: Arc<[Prepared]>,
}

impl FileSession {
    /// A session on a connection.
    pub fn new(link: Link, physical: Arc<Physical>, time: Duration) -> Self {
        let writers = physical.tables.iter().map(|_| None).collect();
        Self { link, physical, recorded: None, writers, asked: Vec::new(), time }
    }

    /// Starts the time of an operation.
    fn start(&mut self) {
        self.link.connection.within(Some(self.time));
    }

    async fn kept(&mut self, asked: &Asked<'_>) -> Result<Kept, StoreError> {
        let shape = shape(asked.query, asked.variant());
        if let Some((_, kept)) = self.asked.iter().find(|(other, _)| *other == shape) {
            return Ok(kept.clone());
        }
        if self.asked.len() >= MOST_SHAPES {
            self.asked.clear();
            self.writers.iter_mut().for_each(|writer| *writer = None);
            self.link.forget().await?;
        }
        let planned = asked.physical.planned(&shape, asked)?;
        let mut prepared = Vec::new();
        for one in &*planned {
            prepared.push(self.link.prepared("prepare a question", &one.text, &one.types).await?);
        }
        let kept = Kept { planned, prepared: prepared.into() };
        self.asked.push((shape, kept.clone()));
        Ok(kept)
    }

    /// Hands over a statement's rows. False says that the client answers from the readings.
    async fn rows(
        &mut self,
        asked: &Asked<'_>,
        statement: &Rendered,
        prepared: Prepared,
        each: &mut EachRow<'_>,
    ) -> Result<bool, StoreError> {
        let held = asked.held(&statement.slots);
        let cells: Vec<Cell<'_>> = statement.slots.iter().map(|slot| asked.value(*slot, &held)).collect();
        let changes = !statement.before.is_empty() && self.link.connection.wants(&statement.before);
        if let Some(recorded) = &mut self.recorded {
            if changes {
                recorded.note(&statement.before, [], 1);
            }
            recorded.note(&statement.text, cells.iter().copied(), 1);
        }
        match self.link.connection.query(prepared, &cells, each).await {
            Err(Fault::FromReadings) => Ok(false),
            done => self.link.outcome(OPERATION, done.map(|()| true)),
        }
    }

    fn answer<'a>(&'a mut self, query: &'a Query) -> LocalFuture<'a, Result<Answer, StoreError>> {
        let parts = match query.ask {
            Ask::Aggregate { .. } => match self.physical.templates.form("aggregate") {
                "parts" => series_of(query, false),
                BY_WINDOW => series_of(query, true),
                _ => None,
            },
            _ => None,
        };
        match parts {
            None => self.asked_for(query),
            Some(parts) => Box::pin(async move {
                let found = self.asked_for(&parts).await?;
                Ok(added_up(query, &parts, &self.physical.schema.tables[query.table].series, found))
            }),
        }
    }

    fn asked_for<'a>(&'a mut self, query: &'a Query) -> LocalFuture<'a, Result<Answer, StoreError>> {
        Box::pin(async move {
            let physical = Arc::clone(&self.physical);
            let asked = Asked::new(&physical, query)?;
            if let Some(nothing) = query.finds_nothing(asked.description, physical.unit_ns()) {
                return Ok(nothing);
            }
            let kept = self.kept(&asked).await?;
            let Some(last) = kept.planned.last() else {
                if let Some(answer) = self.of_windows(query, &physical).await? {
                    return Ok(answer);
                }
                return self.answer_from_readings(&asked).await;
            };
            let mut decoder = Decoder::new(asked, kept.planned.len());
            for (statement, &prepared) in kept.planned.iter().zip(&*kept.prepared) {
                let each = &mut |row: &dyn Row| decoder.row(&statement.form, row);
                if !self.rows(&asked, statement, prepared, each).await? {
                    return self.answer_from_readings(&asked).await;
                }
            }
            for point in decoder.points(&last.form) {
                let reading = self.answer(&point).await?;
                decoder.take_point(&reading);
            }
            Ok(decoder.finish(&last.form))
        })
    }

    async fn answer_from_readings(&mut self, asked: &Asked<'_>) -> Result<Answer, StoreError> {
        let found = self.answer(&readings_of(asked.query)?).await?;
        Ok(client_side::answer(asked.query, asked.description, found))
    }

    /// An aggregate by parts of the day, where the database aggregates windows that none of their edges cuts.
    async fn of_windows(
        &mut self,
        query: &Query,
        physical: &Arc<Physical>,
    ) -> Result<Option<Answer>, StoreError> {
        // A statement for each window would take longer than the readings.
        let is_asked_apart = physical.templates.form("aggregate") == BY_WINDOW;
        let Some(windows) = windows_of(query).filter(|_| !is_asked_apart) else { return Ok(None) };
        if self.kept(&Asked::new(physical, &windows)?).await?.planned.is_empty() {
            return Ok(None);
        }
        let found = self.answer(&windows).await?;
        Ok(Some(added_up(query, &windows, &physical.schema.tables[query.table].series, found)))
    }

    /// All rows of a table.
    async fn all(
        &mut self,
        asked: &Asked<'_>,
        statement: &Rendered,
        each: &mut EachRow<'_>,
    ) -> Result<(), StoreError> {
        let prepared = self.link.prepared("read everything back", &statement.text, &statement.types).await?;
        self.rows(asked, statement, prepared, each).await.map(drop)
    }

    async fn everything(&mut self, table: usize, sink: &mut dyn FnMut(&Batch)) -> Result<(), StoreError> {
        let physical = Arc::clone(&self.physical);
        let query = everything_of(table);
        let asked = Asked::new(&physical, &query)?;
        let statement = asked.all("scan")?;
        let mut decoder = Decoder::new(asked, 1).in_pieces(PIECE);
        let each = &mut |row: &dyn Row| {
            decoder.row(&statement.form, row)?;
            if let Some(piece) = decoder.take_piece(&statement.form) {
                sink(&piece);
            }
            Ok(true)
        };
        self.all(&asked, &statement, each).await?;
        decoder.finish_pieces(sink);
        Ok(())
    }

    async fn entities(
        &mut self,
        table: usize,
        sink: &mut dyn FnMut(u32, i64, &[Value]),
    ) -> Result<(), StoreError> {
        let physical = Arc::clone(&self.physical);
        let query = everything_of(table);
        let asked = Asked::new(&physical, &query)?;
        let Some(entity) = &asked.description.entity else {
            let text = format!("table {} has no entity", asked.description.name);
            return Err(StoreError::unsupported("read entities back", text));
        };
        let statement = asked.all("scan_entities")?;
        let series = &asked.table.series;
        let first = series.keys().len();
        let (mut key, mut values) = (String::new(), Vec::new());
        let each = &mut |row: &dyn Row| {
            values.clear();
            for (position, column) in entity.columns.iter().enumerate() {
                values.push(row.value(first + 1 + position, column.kind)?);
            }
            sink(series.of_row(row, 0, &mut key)?, row.integer(first)?, &values);
            Ok(true)
        };
        self.all(&asked, &statement, each).await
    }
}

/// A question for all readings of a table.
const fn everything_of(table: usize) -> Query {
    Query {
        table,
        series: Selection::All,
        range: TimeRange::new(i64::MIN, i64::MAX),
        ask: Ask::Range { fields: FieldSet::one(0), coarse_filter: false },
    }
}

impl Session for FileSession {
    fn write<'a>(&'a mut self, batch: &'a Batch) -> LocalFuture<'a, Result<Acknowledgement, StoreError>> {
        Box::pin(async move {
            self.physical.schema.table(batch.table)?;
            if batch.is_empty() {
                return Ok(Acknowledgement::default());
            }
            self.start();
            self.write_batch(batch).await
        })
    }

    fn upsert<'a>(
        &'a mut self,
        write: EntityReading<'a>,
    ) -> LocalFuture<'a, Result<Acknowledgement, StoreError>> {
        self.start();
        Box::pin(self.upsert_reading(write))
    }

    fn query<'a>(&'a mut self, query: &'a Query) -> LocalFuture<'a, Result<Answer, StoreError>> {
        self.start();
        if let Err(unnamed) = Question::named(query) {
            return Box::pin(std::future::ready(Err(unnamed)));
        }
        match self.physical.named(query) {
            None => self.answer(query),
            Some(named) => Box::pin(async move { self.answer(&named).await }),
        }
    }

    fn scan<'a>(
        &'a mut self,
        table: usize,
        sink: &'a mut dyn FnMut(&Batch),
    ) -> LocalFuture<'a, Result<(), StoreError>> {
        self.link.connection.within(None);
        Box::pin(self.everything(table, sink))
    }

    fn scan_entities<'a>(
        &'a mut self,
        table: usize,
        sink: &'a mut dyn FnMut(u32, i64, &[Value]),
    ) -> LocalFuture<'a, Result<(), StoreError>> {
        self.link.connection.within(None);
        Box::pin(self.entities(table, sink))
    }

    /// Waits for all tables, as long as the driver finds that they get on.
    fn catch_up(&mut self) -> LocalFuture<'_, Result<(), StoreError>> {
        self.link.connection.within(None);
        Box::pin(async move {
            let physical = Arc::clone(&self.physical);
            for table in 0..physical.tables.len() {
                self.link.run("wait until writes show", &physical.text(table, SHOWN)?).await?;
            }
            Ok(())
        })
    }

    fn nobody_writes(&mut self, nobody: bool) {
        self.link.connection.nobody_writes(nobody);
    }

    fn datagram_bytes(&self) -> u64 {
        self.link.connection.datagram_bytes()
    }

    fn shows_later(&self) -> bool {
        self.physical.templates.defines(SHOWN)
    }

    fn keep_statements(&mut self) -> Result<(), StoreError> {
        // A connection that makes statements of its own keeps them itself.
        if self.link.connection.sent().is_none() {
            self.recorded = Some(Recorded::default());
        }
        Ok(())
    }

    fn take_statements(&mut self, with_plans: bool) -> LocalFuture<'_, Result<Vec<Statement>, StoreError>> {
        Box::pin(async move {
            self.start();
            let mut sent = Recorded::default();
            for (text, values) in self.link.connection.sent().into_iter().flatten() {
                sent.note_printed(&text, 1, || values);
            }
            self.recorded.as_mut().unwrap_or(&mut sent).take(&mut self.link, with_plans).await
        })
    }

    fn close(self: Box<Self>) -> LocalFuture<'static, Result<(), StoreError>> {
        self.link.close()
    }
}
