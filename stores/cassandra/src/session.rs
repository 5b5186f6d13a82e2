//! One client's session: a connection, its prepared statements, and what it knows to be stored.

use crate::config::Options;
use crate::connection::Link;
use crate::error;
use crate::query::Reader;
use crate::schema::PhysicalSchema;
use crate::statements::Statements;
use crate::write::Writer;
use crate::write::known::Known;
use sensormark_kit::BackendSession;
use sensormark_store::{
    Acknowledgement, Answer, Batch, Durability, EntityReading, Plan, Query, Statement, StoreError, Value,
};
use std::sync::Arc;
use std::time::Duration;

/// A client's session.
pub struct CassandraSession {
    link: Link,
    physical: Arc<PhysicalSchema>,
    statements: Statements,
    known: Known,
    managed: bool,
    /// The longest time that an operation of several statements may take: each of them has the plan's, all of them little more.
    allowed: Duration,
}

/// Waits for an operation, but not for longer than allowed.
async fn within<T>(
    allowed: Duration,
    operation: &str,
    future: impl Future<Output = Result<T, StoreError>>,
) -> Result<T, StoreError> {
    match tokio::time::timeout(allowed, future).await {
        Ok(result) => result,
        Err(_) => Err(error::timeout(operation, allowed.as_millis(), true)),
    }
}

/// Fails for a durability class that Cassandra does not have.
pub(crate) fn check_durability(durability: Durability) -> Result<(), StoreError> {
    if durability == Durability::Unacknowledged {
        return Err(StoreError::unsupported(
            "set the durability class",
            "Cassandra acknowledges every write; use default, where the acknowledgement does not wait for the disk",
        ));
    }
    Ok(())
}

impl CassandraSession {
    /// Connects.
    pub(crate) async fn open(
        options: &Options,
        plan: &Plan,
        physical: Arc<PhysicalSchema>,
    ) -> Result<Self, StoreError> {
        check_durability(plan.durability)?;
        let timeout = Duration::from_millis(plan.timeout_ms);
        let link = Link::open(options, timeout).await?;
        Ok(Self {
            allowed: timeout + Duration::from_millis(500),
            link,
            known: Known::new(&physical),
            physical,
            statements: Statements::new(plan.database.as_str()),
            managed: plan.endpoint.managed,
        })
    }

    fn writer(&mut self) -> Writer<'_> {
        Writer {
            link: &self.link,
            statements: &mut self.statements,
            physical: &self.physical,
            known: &mut self.known,
            managed: self.managed,
        }
    }

    fn reader(&mut self) -> Reader<'_> {
        Reader { link: &self.link, statements: &mut self.statements, physical: &self.physical }
    }
}

impl BackendSession for CassandraSession {
    async fn write(&mut self, batch: &Batch) -> Result<Acknowledgement, StoreError> {
        within(self.allowed, "write", async { self.writer().write(batch).await }).await
    }

    async fn upsert(&mut self, write: EntityReading<'_>) -> Result<Acknowledgement, StoreError> {
        within(self.allowed, "update an entity", async { self.writer().upsert(write).await }).await
    }

    async fn query(&mut self, query: &Query) -> Result<Answer, StoreError> {
        within(self.allowed, "ask", async { self.reader().query(query).await }).await
    }

    async fn scan(&mut self, table: usize, sink: &mut dyn FnMut(&Batch)) -> Result<(), StoreError> {
        self.reader().scan(table, sink).await
    }

    async fn scan_entities(
        &mut self,
        table: usize,
        sink: &mut dyn FnMut(u32, i64, &[Value]),
    ) -> Result<(), StoreError> {
        self.reader().scan_entities(table, sink).await
    }

    fn keep_statements(&mut self) -> Result<(), StoreError> {
        self.link.kept.start();
        Ok(())
    }

    async fn take_statements(&mut self, with_plans: bool) -> Result<Vec<Statement>, StoreError> {
        Ok(self.link.kept.take(with_plans))
    }

    async fn close(self) -> Result<(), StoreError> {
        Ok(())
    }
}
