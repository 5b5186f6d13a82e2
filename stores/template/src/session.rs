//! One client's session.

use crate::admin::Databases;
use crate::query;
use sensormark_kit::BackendSession;
use sensormark_store::{Acknowledgement, Answer, Batch, EntityReading, Plan, Query, StoreError, Value};

/// A client's session.
pub struct TemplateSession {
    pub(crate) databases: Databases,
    pub(crate) plan: Plan,
}

impl BackendSession for TemplateSession {
    async fn write(&mut self, batch: &Batch) -> Result<Acknowledgement, StoreError> {
        self.databases.with(&self.plan, |database| {
            (0..batch.len()).for_each(|row| database.tables[batch.table].push_row(batch, row));
        })?;
        let readings = batch.len() as u64;
        Ok(Acknowledgement { readings, sent: readings, statements: 1 })
    }

    async fn upsert(&mut self, write: EntityReading<'_>) -> Result<Acknowledgement, StoreError> {
        let reading = write.reading;
        self.databases.with(&self.plan, |database| {
            let key = (reading.table, reading.series[0]);
            let new = || (reading.times_ns[0], write.entity.to_vec());
            database.entities.entry(key).or_insert_with(new).0 = reading.times_ns[0];
        })?;
        self.write(reading).await
    }

    async fn query(&mut self, query: &Query) -> Result<Answer, StoreError> {
        let table = &self.plan.schema.tables[query.table];
        self.databases
            .with(&self.plan, |database| query::answer(&database.tables[query.table], table, query))?
    }

    async fn scan(&mut self, table: usize, sink: &mut dyn FnMut(&Batch)) -> Result<(), StoreError> {
        self.databases.with(&self.plan, |database| sink(&database.tables[table]))
    }

    async fn scan_entities(
        &mut self,
        table: usize,
        sink: &mut dyn FnMut(u32, i64, &[Value]),
    ) -> Result<(), StoreError> {
        self.databases.with(&self.plan, |database| {
            let entities = database.entities.range((table, 0)..(table + 1, 0));
            entities.for_each(|((_, series), (time, columns))| sink(*series, *time, columns));
        })
    }
}
