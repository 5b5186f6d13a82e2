//! What a session does: writing and asking on its [connection](crate::connection).

use crate::connection::DuckdbSession;
use crate::query;
use crate::write;
use sensormark_kit::BackendSession;
use sensormark_store::{Acknowledgement, Answer, Batch, EntityReading, Query, StoreError, Value};

impl BackendSession for DuckdbSession {
    async fn write(&mut self, batch: &Batch) -> Result<Acknowledgement, StoreError> {
        self.check()?;
        write::write(self, batch)
    }

    async fn upsert(&mut self, write: EntityReading<'_>) -> Result<Acknowledgement, StoreError> {
        self.check()?;
        write::upsert(self, write)
    }

    /// A list is one parameter, however long.
    fn most_named(&self, _: &Query) -> usize {
        usize::MAX
    }

    async fn query(&mut self, query: &Query) -> Result<Answer, StoreError> {
        self.check()?;
        query::answer(self, query)
    }

    async fn scan(&mut self, table: usize, sink: &mut dyn FnMut(&Batch)) -> Result<(), StoreError> {
        self.check()?;
        self.limit(0)?;
        let scanned = query::scan::readings(self, table, sink);
        self.limit(u64::try_from(self.allowed.as_millis()).unwrap_or(u64::MAX))?;
        scanned
    }

    async fn scan_entities(
        &mut self,
        table: usize,
        sink: &mut dyn FnMut(u32, i64, &[Value]),
    ) -> Result<(), StoreError> {
        self.check()?;
        self.limit(0)?;
        let scanned = query::scan::entities(self, table, sink);
        self.limit(u64::try_from(self.allowed.as_millis()).unwrap_or(u64::MAX))?;
        scanned
    }

    fn keep_statements(&mut self) -> Result<(), StoreError> {
        self.kept.start();
        Ok(())
    }

    async fn take_statements(
        &mut self,
        with_plans: bool,
    ) -> Result<Vec<sensormark_store::Statement>, StoreError> {
        self.kept.take(&self.connection, with_plans)
    }
}
