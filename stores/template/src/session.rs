//! One client's session.

use crate::admin::Databases;
use crate::{STATEMENT, query};
use sensormark_kit::BackendSession;
use sensormark_store::{
    Acknowledgement, Answer, Batch, EntityReading, ErrorKind, Plan, Query, StoreError, Value,
    Values,
};

/// Bytes of text in one reading, at most.
const LONGEST_TEXT: usize = 8 << 20;

/// A client's session.
#[derive(Debug)]
pub struct TemplateSession {
    databases: Databases,
    plan: Plan,
}

impl TemplateSession {
    /// A session with the plan's database, which is there.
    ///
    /// # Errors
    /// [`ErrorKind::NotFound`] when it is not.
    pub fn open(databases: Databases, plan: &Plan) -> Result<Self, StoreError> {
        databases.of(plan, |_| ())?;
        let plan = plan.clone();
        Ok(Self { databases, plan })
    }

    fn store(&self, batch: &Batch) -> Result<Acknowledgement, StoreError> {
        let is_long = |values: &Values| match values {
            Values::Text(texts) => (0..texts.len()).any(|row| texts.get(row).len() > LONGEST_TEXT),
            _ => false,
        };
        if batch.columns.iter().any(|column| is_long(&column.values)) {
            let text = format!("a text is longer than {LONGEST_TEXT} bytes");
            return Err(StoreError::new(ErrorKind::TooLarge, "write", text));
        }
        self.databases.of(&self.plan, |database| {
            for row in 0..batch.len() {
                database.tables[batch.table].push_row(batch, row);
            }
        })?;
        let readings = batch.len() as u64;
        Ok(Acknowledgement {
            readings,
            sent: readings,
            statements: readings.div_ceil(STATEMENT as u64),
        })
    }
}

impl BackendSession for TemplateSession {
    async fn write(&mut self, batch: &Batch) -> Result<Acknowledgement, StoreError> {
        self.store(batch)
    }

    async fn upsert(&mut self, write: EntityReading<'_>) -> Result<Acknowledgement, StoreError> {
        let reading = write.reading;
        if self.plan.schema.tables[reading.table].entity.is_none() {
            let reason = "the table has no entities";
            return Err(StoreError::unsupported("update an entity", reason));
        }
        let done = self.store(reading)?;
        self.databases.of(&self.plan, |database| {
            let key = (reading.table, reading.series[0]);
            let new = || (reading.times_ns[0], write.entity.to_vec());
            database.entities.entry(key).or_insert_with(new).0 = reading.times_ns[0];
        })?;
        Ok(done)
    }

    async fn query(&mut self, query: &Query) -> Result<Answer, StoreError> {
        let table = &self.plan.schema.tables[query.table];
        self.databases.of(&self.plan, |database| {
            query::answer(&database.tables[query.table], table, query)
        })?
    }

    async fn scan(&mut self, table: usize, sink: &mut dyn FnMut(&Batch)) -> Result<(), StoreError> {
        self.databases
            .of(&self.plan, |database| sink(&database.tables[table]))
    }

    async fn scan_entities(
        &mut self,
        table: usize,
        sink: &mut dyn FnMut(u32, i64, &[Value]),
    ) -> Result<(), StoreError> {
        self.databases.of(&self.plan, |database| {
            for (&(_, series), (time, columns)) in
                database.entities.range((table, 0)..(table + 1, 0))
            {
                sink(series, *time, columns);
            }
        })
    }

    async fn close(self) -> Result<(), StoreError> {
        Ok(())
    }
}
