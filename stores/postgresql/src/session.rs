//! One client's session: a connection, its prepared statements and the plan's tables.

use crate::config::Options;
use crate::connection::Link;
use crate::query::{self, Reader};
use crate::write::{self, Writer};
use sensormark_relational::model::Model;
use sensormark_store::{
    Acknowledgement, Answer, Batch, Durability, EntityReading, LocalFuture, Plan, Query, Session,
    Statement, StoreError, Value,
};
use std::sync::Arc;
use std::time::Duration;

/// A client's session.
pub(crate) struct PostgresqlSession {
    link: Link,
    model: Arc<Model>,
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
        model: Arc<Model>,
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

impl Session for PostgresqlSession {
    fn write<'a>(
        &'a mut self,
        batch: &'a Batch,
    ) -> LocalFuture<'a, Result<Acknowledgement, StoreError>> {
        Box::pin(async move { self.writer().write(batch).await })
    }

    fn upsert<'a>(
        &'a mut self,
        write: EntityReading<'a>,
    ) -> LocalFuture<'a, Result<Acknowledgement, StoreError>> {
        Box::pin(async move { self.writer().upsert(write).await })
    }

    fn query<'a>(&'a mut self, query: &'a Query) -> LocalFuture<'a, Result<Answer, StoreError>> {
        Box::pin(async move { self.reader().query(query).await })
    }

    fn scan<'a>(
        &'a mut self,
        table: usize,
        sink: &'a mut dyn FnMut(&Batch),
    ) -> LocalFuture<'a, Result<(), StoreError>> {
        Box::pin(async move { self.reader().scan(table, sink).await })
    }

    fn scan_entities<'a>(
        &'a mut self,
        table: usize,
        sink: &'a mut dyn FnMut(u32, i64, &[Value]),
    ) -> LocalFuture<'a, Result<(), StoreError>> {
        Box::pin(async move { self.reader().scan_entities(table, sink).await })
    }

    fn keep_statements(&mut self) -> Result<(), StoreError> {
        self.link.kept.start();
        Ok(())
    }

    fn take_statements(
        &mut self,
        with_plans: bool,
    ) -> LocalFuture<'_, Result<Vec<Statement>, StoreError>> {
        Box::pin(self.link.take_statements(with_plans))
    }

    fn close(self: Box<Self>) -> LocalFuture<'static, Result<(), StoreError>> {
        Box::pin(self.link.close())
    }
}
