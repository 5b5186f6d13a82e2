//! The faulty store: wraps another store and plants one fault by name.
//!
//! It shows that what watches over results can fail: each fault must be caught by the conformance suite or by a verdict. Faults are deterministic: each
//! session counts its own readings, answers and operations from 1, and the fault strikes at each multiple of its number. Everything else passes
//! through, scans and administration included. It is not for simulating a database's real failures.

use sensormark_store::answer::Answer;
use sensormark_store::batch::Batch;
use sensormark_store::capability::{Capability, Operation};
use sensormark_store::endpoint::Endpoint;
use sensormark_store::error::{ErrorKind, StoreError};
use sensormark_store::layout::{Family, Layout, LayoutOption};
use sensormark_store::query::Query;
use sensormark_store::schema::{Schema, Table, TimeResolution, Value};
use sensormark_store::server::{Installation, Launch, ServerFolder, ServerOptions};
use sensormark_store::statement::Statement;
use sensormark_store::store::{
    Acknowledgement, Administrator, Description, EntityReading, Limits, LocalFuture, Plan, RepeatedWrite,
    Session, SessionKind, Store,
};
use sensormark_store::write_size::WriteSize;
use std::sync::Arc;
use std::time::{Duration, Instant};

mod alter;
mod fault;
#[cfg(test)]
mod tests;

pub use fault::{AnswerKind, FAULTS, Fault};

/// A store with one fault.
#[derive(Clone)]
pub struct FaultyStore {
    inner: Arc<dyn Store>,
    fault: Fault,
}

impl FaultyStore {
    /// Plants this fault in that store. Its description says so: its name ends in `-faulty`, its title names the fault.
    pub fn new(inner: Arc<dyn Store>, fault: Fault) -> Self {
        Self { inner, fault }
    }
}

impl Store for FaultyStore {
    fn description(&self) -> Description {
        let inner = self.inner.description();
        Description {
            name: format!("{}-faulty", inner.name),
            title: format!("{} with planted fault {}", inner.title, self.fault),
            ..inner
        }
    }

    fn layouts(&self, schema: &Schema, family: Family) -> Vec<LayoutOption> {
        self.inner.layouts(schema, family)
    }

    fn capability(&self, operation: Operation, layout: &Layout, table: &Table) -> Capability {
        self.inner.capability(operation, layout, table)
    }

    fn limits(&self, layout: &Layout, table: &Table) -> Limits {
        self.inner.limits(layout, table)
    }

    fn write_size(&self, layout: &Layout, table: &Table) -> WriteSize {
        self.inner.write_size(layout, table)
    }

    fn repeated_write(&self, layout: &Layout, table: &Table) -> RepeatedWrite {
        self.inner.repeated_write(layout, table)
    }

    fn time_resolution(&self, layout: &Layout, table: &Table) -> TimeResolution {
        self.inner.time_resolution(layout, table)
    }

    fn momentary_misses(&self) -> Option<&'static str> {
        self.inner.momentary_misses()
    }

    fn one_process(&self) -> Option<&'static str> {
        self.inner.one_process()
    }

    fn refuses_least_number(&self) -> Option<&'static str> {
        self.inner.refuses_least_number()
    }

    fn keeps_to_loopback(&self) -> Option<&'static str> {
        self.inner.keeps_to_loopback()
    }

    fn installation(&self) -> Result<Installation, StoreError> {
        self.inner.installation()
    }

    fn launch(
        &self,
        installation: &Installation,
        folder: &ServerFolder,
        options: &ServerOptions,
    ) -> Result<Launch, StoreError> {
        self.inner.launch(installation, folder, options)
    }

    fn runs_on_java(&self) -> bool {
        self.inner.runs_on_java()
    }

    fn endpoint(&self, url: &str) -> Result<Endpoint, StoreError> {
        self.inner.endpoint(url)
    }

    fn version<'a>(&'a self, endpoint: &'a Endpoint) -> LocalFuture<'a, Result<String, StoreError>> {
        self.inner.version(endpoint)
    }

    fn administrator<'a>(
        &'a self,
        plan: &'a Plan,
    ) -> LocalFuture<'a, Result<Box<dyn Administrator>, StoreError>> {
        self.inner.administrator(plan)
    }

    fn connect<'a>(&'a self, plan: &'a Plan) -> LocalFuture<'a, Result<Box<dyn Session>, StoreError>> {
        Box::pin(async move {
            let session: Box<dyn Session> = Box::new(FaultySession {
                inner: self.inner.connect(plan).await?,
                fault: self.fault,
                kind: self.inner.description().session,
                readings: 0,
                answers: 0,
                operations: 0,
                is_cut: false,
            });
            Ok(session)
        })
    }
}

struct FaultySession {
    inner: Box<dyn Session>,
    fault: Fault,
    kind: SessionKind,
    /// Readings that were given to this session to write.
    readings: u64,
    /// Answers that this session could have falsified.
    answers: u64,
    /// Writes, upserts and queries.
    operations: u64,
    is_cut: bool,
}

impl FaultySession {
    /// What happens before an operation.
    async fn before(&mut self, operation: &str) -> Result<(), StoreError> {
        if self.is_cut {
            return Err(StoreError::new(
                ErrorKind::Unavailable,
                operation,
                "the connection was cut before; connect again",
            )
            .with_doubt(false));
        }
        self.operations += 1;
        match self.fault {
            Fault::Error { every } if self.operations.is_multiple_of(every) => Err(StoreError::new(
                ErrorKind::Rejected,
                operation,
                format!("operation {} of this session fails as planted", self.operations),
            )),
            Fault::Hang { length_ms, every } if self.operations.is_multiple_of(every) => {
                self.wait(length_ms).await;
                Ok(())
            }
            _ => Ok(()),
        }
    }

    /// What happens after an operation that began at `started`.
    async fn after<T>(
        &mut self,
        operation: &str,
        started: Instant,
        result: Result<T, StoreError>,
    ) -> Result<T, StoreError> {
        match self.fault {
            Fault::Cut { every } if self.operations.is_multiple_of(every) => {
                self.is_cut = true;
                return Err(StoreError::new(
                    ErrorKind::Unavailable,
                    operation,
                    "the connection was cut as planted; connect again",
                ));
            }
            Fault::Late { by_ms, every } if self.operations.is_multiple_of(every) => {
                self.wait(Some(by_ms)).await;
            }
            Fault::Spin { percent, every } if self.operations.is_multiple_of(every) => {
                let until = started + started.elapsed() * (100 + percent) / 100;
                while Instant::now() < until {
                    std::hint::spin_loop();
                }
            }
            _ => {}
        }
        result
    }

    /// Waits as the session's kind does. Without a length it never ends.
    async fn wait(&self, length_ms: Option<u64>) {
        match (self.kind, length_ms) {
            (SessionKind::Async, Some(ms)) => tokio::time::sleep(Duration::from_millis(ms)).await,
            (SessionKind::Async, None) => std::future::pending().await,
            (SessionKind::Blocking, Some(ms)) => std::thread::sleep(Duration::from_millis(ms)),
            (SessionKind::Blocking, None) => loop {
                std::thread::sleep(Duration::from_secs(3_600));
            },
        }
    }

    async fn write_altered(&mut self, batch: &Batch) -> Result<Acknowledgement, StoreError> {
        let Some(altered) = alter::readings(self.fault, batch, &mut self.readings) else {
            return self.inner.write(batch).await;
        };
        let mut acknowledgement =
            Acknowledgement { readings: batch.len() as u64, sent: batch.len() as u64, statements: 1 };
        for (number, part) in altered.iter().enumerate() {
            let got = self.inner.write(part).await?;
            if number == 0 {
                acknowledgement.statements = got.statements.max(1);
                if got.readings < got.sent {
                    acknowledgement.readings = got.readings;
                }
            }
        }
        Ok(acknowledgement)
    }

    async fn upsert_altered(&mut self, write: EntityReading<'_>) -> Result<Acknowledgement, StoreError> {
        let Some(altered) = alter::readings(self.fault, write.reading, &mut self.readings) else {
            return self.inner.upsert(write).await;
        };
        for reading in &altered {
            self.inner.upsert(EntityReading { reading, ..write }).await?;
        }
        Ok(Acknowledgement { readings: 1, sent: 1, statements: 1 })
    }
}

impl Session for FaultySession {
    fn write<'a>(&'a mut self, batch: &'a Batch) -> LocalFuture<'a, Result<Acknowledgement, StoreError>> {
        Box::pin(async move {
            let started = Instant::now();
            self.before("write").await?;
            let result = self.write_altered(batch).await;
            self.after("write", started, result).await
        })
    }

    fn upsert<'a>(
        &'a mut self,
        write: EntityReading<'a>,
    ) -> LocalFuture<'a, Result<Acknowledgement, StoreError>> {
        Box::pin(async move {
            let started = Instant::now();
            self.before("upsert").await?;
            let result = self.upsert_altered(write).await;
            self.after("upsert", started, result).await
        })
    }

    fn query<'a>(&'a mut self, query: &'a Query) -> LocalFuture<'a, Result<Answer, StoreError>> {
        Box::pin(async move {
            let started = Instant::now();
            self.before("query").await?;
            let mut result = self.inner.query(query).await;
            if let Ok(answer) = &mut result {
                alter::answer(self.fault, query, answer, &mut self.answers);
            }
            self.after("query", started, result).await
        })
    }

    fn scan<'a>(
        &'a mut self,
        table: usize,
        sink: &'a mut dyn FnMut(&Batch),
    ) -> LocalFuture<'a, Result<(), StoreError>> {
        self.inner.scan(table, sink)
    }

    fn scan_entities<'a>(
        &'a mut self,
        table: usize,
        sink: &'a mut dyn FnMut(u32, i64, &[Value]),
    ) -> LocalFuture<'a, Result<(), StoreError>> {
        self.inner.scan_entities(table, sink)
    }

    fn catch_up(&mut self) -> LocalFuture<'_, Result<(), StoreError>> {
        self.inner.catch_up()
    }

    fn nobody_writes(&mut self, nobody: bool) {
        self.inner.nobody_writes(nobody);
    }

    fn shows_later(&self) -> bool {
        self.inner.shows_later()
    }

    fn datagram_bytes(&self) -> u64 {
        self.inner.datagram_bytes()
    }

    fn keep_statements(&mut self) -> Result<(), StoreError> {
        self.inner.keep_statements()
    }

    fn take_statements(&mut self, with_plans: bool) -> LocalFuture<'_, Result<Vec<Statement>, StoreError>> {
        self.inner.take_statements(with_plans)
    }

    fn close(self: Box<Self>) -> LocalFuture<'static, Result<(), StoreError>> {
        self.inner.close()
    }
}
