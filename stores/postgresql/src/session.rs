//! One client's session: a connection, its prepared statements and the plan's tables.

use crate::config::Options;
use crate::connection::Link;
use crate::query::{self, Reader};
use crate::write::{self, Writer};
use sensormark_kit::BackendSession;
use sensormark_relational::physical_schema::PhysicalSchema;
use sensormark_store::{
    Acknowledgement, Answer, Batch, Durability, EntityReading, ErrorKind, Plan, Query, Statement, StoreError,
    Value,
};
use std::sync::Arc;
use std::time::Duration;

/// A client's session.
pub struct PostgresqlSession {
    link: Link,
    physical: Arc<PhysicalSchema>,
    writes: write::Statements,
    reads: query::Statements,
    /// A connection for questions to a server that takes no writes, where the URL asks for one.
    replica: Option<(Link, query::Statements)>,
}

/// The statements that make a session ours, whatever its role has by default: where tables are, how long statements may take, and what an
/// acknowledgement promises.
pub(crate) fn session_settings(durability: Durability, options: &Options) -> Result<String, StoreError> {
    let durability = durability_setting(durability, options)?;
    Ok(format!("SET search_path = public; SET statement_timeout = 0; {durability}"))
}

/// The statement that sets a durability class for a session, or what the URL of a cluster says.
fn durability_setting(durability: Durability, options: &Options) -> Result<String, StoreError> {
    let set = |level| Ok(format!("SET synchronous_commit = {level}"));
    match (durability, options.synchronous_commit) {
        (Durability::Durable, Some("off")) => Err(StoreError::new(
            ErrorKind::Configuration,
            "set the durability class",
            "synchronous_commit cannot be off, as the URL says, in class durable; leave it out of the URL, or ask for class relaxed",
        )),
        (Durability::Default | Durability::Durable, level) => set(level.unwrap_or("on")),
        (Durability::Relaxed, None | Some("off" | "local")) => set("off"),
        (Durability::Relaxed, Some(level)) => Err(StoreError::unsupported(
            "set the durability class",
            format!("synchronous_commit cannot be {level}, as the URL says, and off, as class relaxed means"),
        )),
        (Durability::Unacknowledged, _) => Err(StoreError::unsupported(
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
        physical: Arc<PhysicalSchema>,
    ) -> Result<Self, StoreError> {
        let settings = session_settings(plan.durability, options)?;
        let timeout = Duration::from_millis(plan.timeout_ms);
        let mut link = Link::open(options, plan.database.as_str(), timeout).await?;
        let settings = format!("{settings}; SET statement_timeout = {}", plan.timeout_ms.min(2_147_483_647));
        link.batch("set up a session", &settings).await?;
        let replica = if options.reads_replicas {
            let name = plan.database.as_str();
            let mut replica = Link::open_replica(options, name, timeout).await?;
            replica.batch("set up a session", &settings).await?;
            Some((replica, query::Statements::default()))
        } else {
            None
        };
        Ok(Self {
            link,
            physical,
            writes: write::Statements::default(),
            reads: query::Statements::default(),
            replica,
        })
    }

    fn writer(&mut self) -> Writer<'_> {
        Writer { link: &mut self.link, statements: &mut self.writes, physical: &self.physical }
    }

    fn reader(&mut self) -> Reader<'_> {
        Reader { link: &mut self.link, statements: &mut self.reads, physical: &self.physical }
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
        if let Some((link, statements)) = &mut self.replica {
            let physical = &self.physical;
            let mut reader = Reader { link, statements, physical };
            return reader.query(query).await;
        }
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
        if let Some((replica, _)) = &mut self.replica {
            replica.kept.start();
        }
        Ok(())
    }

    async fn take_statements(&mut self, with_plans: bool) -> Result<Vec<Statement>, StoreError> {
        let mut statements = self.link.take_statements(with_plans).await?;
        if let Some((replica, _)) = &mut self.replica {
            statements.extend(replica.take_statements(with_plans).await?);
        }
        Ok(statements)
    }

    async fn close(self) -> Result<(), StoreError> {
        if let Some((replica, _)) = self.replica {
            replica.close().await?;
        }
        self.link.close().await
    }
}
