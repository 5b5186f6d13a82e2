//! One client's session: a connection, its prepared statements and the plan's tables.

use crate::config::Options;
use crate::connection::Link;
use crate::query::{self, Reader};
use crate::write::{self, Writer};
use sensormark_kit::BackendSession;
use sensormark_relational::physical_schema::PhysicalSchema;
use sensormark_store::{
    Acknowledgement, Answer, Batch, Durability, EntityReading, Plan, Query, Statement, StoreError,
    Value,
};
use std::sync::Arc;
use std::time::Duration;

/// A client's session.
pub struct PostgresqlSession {
    link: Link,
    model: Arc<PhysicalSchema>,
    writes: write::Statements,
    reads: query::Statements,
}

/// The statement that sets a durability class for a session.
pub(crate) fn durability_setting(durability: Durability) -> Result<&'static str, StoreError> {
    match durability {
        Durability::Default | Durability::Durable => Ok("SET synchronous_commit = on"),
        Durability::Relaxed => Ok("SET synchronous_commit = off"),
        Durability::Unacknowledged => Err(StoreError::unsupported(
            "set the durability class",
            "PostgreSQL acknowledges every statement; use relaxed, where the acknowledgement does not wait for the disk",
        )),
    }
}

impl PostgresqlSession {
    /// Connects to the plan's database.
    pub(crate) async fn open(
        options: &Options,
        plan: &Plan,
        model: Arc<PhysicalSchema>,
    ) -> Result<Self, StoreError> {
        let durability = durability_setting(plan.durability)?;
        let timeout = Duration::from_millis(plan.timeout_ms);
        let mut link = Link::open(options, plan.database.as_str(), timeout).await?;
        let settings = format!(
            "{durability}; SET statement_timeout = {}",
            plan.timeout_ms.min(2_147_483_647)
        );
        link.batch("set up a session", &settings).await?;
        Ok(Self {
            link,
            model,
            writes: write::Statements::default(),
            reads: query::Statements::default(),
        })
    }

    fn writer(&mut self) -> Writer<'_> {
        Writer {
            link: &mut self.link,
            statements: &mut self.writes,
            model: &self.model,
        }
    }

    fn reader(&mut self) -> Reader<'_> {
        Reader {
            link: &mut self.link,
            statements: &mut self.reads,
            model: &self.model,
        }
    }
}

impl BackendSession for PostgresqlSession {
    async fn write(&mut self, batch: &Batch) -> Result<Acknowledgement, StoreError> {
        self.writer().write(batch).await
    }

    async fn upsert(&mut self, write: EntityReading<'_>) -> Result<Acknowledgement, StoreError> {
        self.writer().upsert(write).await
    }

    async fn query(&mut self, query: &Query) -> Result<Answer, StoreError> {
        self.reader().query(query).await
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
        self.link.take_statements(with_plans).await
    }

    async fn close(self) -> Result<(), StoreError> {
        self.link.close().await
    }
}
