//! What a session does: writing and asking on its [connection](crate::connection), each operation under its deadline.

use crate::connection::SqliteSession;
use crate::error;
use crate::query;
use crate::sent::Kept;
use crate::write;
use sensormark_kit::BackendSession;
use sensormark_store::{Acknowledgement, Answer, Batch, EntityReading, Query, StoreError, Value};

impl BackendSession for SqliteSession {
    async fn write(&mut self, batch: &Batch) -> Result<Acknowledgement, StoreError> {
        self.deadline.start();
        write::write(self, batch)
    }

    async fn upsert(&mut self, write: EntityReading<'_>) -> Result<Acknowledgement, StoreError> {
        self.deadline.start();
        write::upsert(self, write)
    }

    async fn query(&mut self, query: &Query) -> Result<Answer, StoreError> {
        self.deadline.start();
        query::answer(self, query)
    }

    async fn scan(&mut self, table: usize, sink: &mut dyn FnMut(&Batch)) -> Result<(), StoreError> {
        self.deadline.lift();
        query::scan::readings(self, table, sink)
    }

    async fn scan_entities(
        &mut self,
        table: usize,
        sink: &mut dyn FnMut(u32, i64, &[Value]),
    ) -> Result<(), StoreError> {
        self.deadline.lift();
        query::scan::entities(self, table, sink)
    }

    fn keep_statements(&mut self) -> Result<(), StoreError> {
        self.kept = Some(Kept::start(&mut self.connection)?);
        Ok(())
    }

    async fn take_statements(
        &mut self,
        with_plans: bool,
    ) -> Result<Vec<sensormark_store::Statement>, StoreError> {
        self.deadline.start();
        self.kept.as_ref().map_or(Ok(Vec::new()), |kept| kept.take(&self.connection, with_plans))
    }

    async fn close(self) -> Result<(), StoreError> {
        self.connection.close().map_err(|(_, cause)| error::native("close the database", cause))
    }
}
