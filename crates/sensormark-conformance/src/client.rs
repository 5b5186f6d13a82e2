//! A session whose every operation ends in bounded time, or breaks the rule.

use super::check::{Broken, Check, ensure};
use sensormark_store::answer::Answer;
use sensormark_store::batch::Batch;
use sensormark_store::census::Census;
use sensormark_store::error::StoreError;
use sensormark_store::query::Query;
use sensormark_store::question::Question;
use sensormark_store::schema::{Schema, Value};
use sensormark_store::statement::Statement;
use sensormark_store::store::{Acknowledgement, EntityReading, Plan, Session, Store};
use std::time::{Duration, Instant};

/// How much longer than its plan allows an operation may take before it is late.
pub(super) const GRACE: Duration = Duration::from_secs(2);

/// One client.
pub(super) struct Client {
    session: Box<dyn Session>,
    allowed: Duration,
}

/// An entity as it is read back: series, time of its last reading in ns, columns.
pub(super) type EntityRow = (u32, i64, Vec<Value>);

/// How long an operation of this plan may take.
pub(super) const fn allowed(plan: &Plan) -> Duration {
    Duration::from_millis(plan.timeout_ms).saturating_add(GRACE)
}

/// Runs a future on a runtime of its own, as clients of the engine do.
pub(super) fn block_on<T>(future: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .expect("a runtime of one thread can be made")
        .block_on(future)
}

/// Waits for a future, but not for ever.
pub(super) async fn bounded<T>(allowed: Duration, what: &str, future: impl Future<Output = T>) -> Check<T> {
    let started = Instant::now();
    let result = tokio::time::timeout(allowed, future).await;
    match result {
        // a session that blocks its thread is not interrupted, and late all the same
        Ok(value) if started.elapsed() <= allowed => Ok(value),
        _ => Err(Broken(format!("{what}: not done within {} ms", allowed.as_millis()))),
    }
}

impl Client {
    pub(super) async fn connect(store: &dyn Store, plan: &Plan) -> Check<Self> {
        Ok(Self::try_connect(store, plan).await??)
    }

    pub(super) async fn try_connect(store: &dyn Store, plan: &Plan) -> Check<Result<Self, StoreError>> {
        let allowed = allowed(plan);
        let session = bounded(allowed, "connect", store.connect(plan)).await?;
        Ok(session.map(|session| Self { session, allowed }))
    }

    pub(super) async fn write(&mut self, batch: &Batch) -> Check<Acknowledgement> {
        Ok(self.try_write(batch).await??)
    }

    pub(super) async fn try_write(&mut self, batch: &Batch) -> Check<Result<Acknowledgement, StoreError>> {
        bounded(self.allowed, "write", self.session.write(batch)).await
    }

    pub(super) async fn try_upsert(
        &mut self,
        write: EntityReading<'_>,
    ) -> Check<Result<Acknowledgement, StoreError>> {
        bounded(self.allowed, "upsert", self.session.upsert(write)).await
    }

    pub(super) async fn ask(&mut self, query: &Query) -> Check<Answer> {
        Ok(self.try_ask(query).await??)
    }

    pub(super) async fn try_ask(&mut self, query: &Query) -> Check<Result<Answer, StoreError>> {
        ensure!(Question::of(query).is_some(), "the rule asks no named question: {query:?}");
        bounded(self.allowed, "query", self.session.query(query)).await
    }

    /// Counts everything that is stored. A scan has ten times the time of an operation.
    pub(super) async fn census(&mut self, schema: &Schema) -> Check<Census> {
        let mut census = Census::new(schema);
        for (number, table) in schema.tables.iter().enumerate() {
            let mut wrong = None;
            let mut sink = |batch: &Batch| match batch.check(table, false) {
                Ok(()) if batch.table == number => census.add(batch),
                Ok(()) => wrong = Some(format!("a batch of table {}", batch.table)),
                Err(text) => wrong = Some(text),
            };
            let scan = self.session.scan(number, &mut sink);
            bounded(self.allowed * 10, "scan", scan).await??;
            if let Some(text) = wrong {
                return Err(Broken(format!("scan of table {number}: {text}")));
            }
        }
        Ok(census)
    }

    /// Reads every reading of a table back.
    pub(super) async fn readings(&mut self, schema: &Schema, table: usize) -> Check<Batch> {
        let mut all = Batch::new(table, &schema.tables[table]);
        let mut sink = |batch: &Batch| {
            for row in 0..batch.len() {
                all.push_row(batch, row);
            }
        };
        let scan = self.session.scan(table, &mut sink);
        bounded(self.allowed * 10, "scan", scan).await??;
        Ok(all.sorted())
    }

    /// Reads every entity of a table back, by series.
    pub(super) async fn entities(&mut self, table: usize) -> Check<Result<Vec<EntityRow>, StoreError>> {
        let mut all = Vec::new();
        let mut sink = |series: u32, time: i64, columns: &[Value]| {
            all.push((series, time, columns.to_vec()));
        };
        let scan = self.session.scan_entities(table, &mut sink);
        let result = bounded(self.allowed * 10, "scan entities", scan).await?;
        all.sort_by_key(|entity| entity.0);
        Ok(result.map(|()| all))
    }

    /// Has the session keep its statements, where it does.
    pub(super) fn keep_statements(&mut self) -> Result<(), StoreError> {
        self.session.keep_statements()
    }

    /// The statements kept so far.
    pub(super) async fn statements(&mut self, with_plans: bool) -> Check<Vec<Statement>> {
        let taking = self.session.take_statements(with_plans);
        Ok(bounded(self.allowed * 10, "take statements", taking).await??)
    }

    /// Bytes sent in datagrams.
    pub(super) fn datagram_bytes(&self) -> u64 {
        self.session.datagram_bytes()
    }

    pub(super) async fn close(self) -> Check {
        Ok(bounded(self.allowed, "close", self.session.close()).await??)
    }
}
