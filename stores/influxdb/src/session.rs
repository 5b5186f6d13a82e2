//! One client's session: a connection, its buffers and the plan's measurements.

use crate::config::{Options, check_durability};
use crate::connection::Link;
use crate::query::Reader;
use crate::schema::{PhysicalSchema, database};
use crate::write::{Outlet, Writer};
use sensormark_kit::BackendSession;
use sensormark_store::{
    Acknowledgement, Answer, Batch, EntityReading, ErrorKind, Plan, Query, Statement, StoreError, Value,
};
use std::sync::Arc;
use std::time::Duration;

/// A client's session.
pub struct InfluxdbSession {
    link: Link,
    outlet: Outlet,
    physical: Arc<PhysicalSchema>,
    plan: Plan,
    database: String,
}

impl InfluxdbSession {
    /// Connects to the plan's database.
    pub(crate) async fn open(
        options: &Options,
        plan: &Plan,
        physical: Arc<PhysicalSchema>,
    ) -> Result<Self, StoreError> {
        check_durability(plan.durability, physical.sends_datagrams())?;
        let database = database(plan, options)?.to_owned();
        let link = Link::open(options, Duration::from_millis(plan.timeout_ms)).await?;
        let mut session = Self {
            outlet: Outlet::new(link.write_path(&database)),
            link,
            physical,
            plan: plan.clone(),
            database,
        };
        if session.physical.sends_datagrams() {
            session.check_database().await?;
            let port = options.datagrams.as_ref().map_or(0, |listener| listener.port);
            session.outlet.open_socket(&options.host, port).await?;
        }
        Ok(session)
    }

    /// Datagrams do not say that their database is not there.
    async fn check_database(&mut self) -> Result<(), StoreError> {
        let mark = crate::admin::read_mark(&mut self.reader()).await?;
        if mark.is_some_and(|mark| mark.is_of(&self.plan)) {
            return Ok(());
        }
        Err(StoreError::new(
            ErrorKind::NotFound,
            "connect to InfluxDB",
            format!(
                "{} is not what the listener of datagrams writes into; make it first, and drop what has its place",
                self.plan.database
            ),
        ))
    }

    fn writer(&mut self) -> Writer<'_> {
        Writer {
            link: &mut self.link,
            outlet: &mut self.outlet,
            physical: &self.physical,
            database: &self.database,
        }
    }

    fn reader(&mut self) -> Reader<'_> {
        Reader { link: &mut self.link, physical: &self.physical, database: &self.database }
    }
}

impl BackendSession for InfluxdbSession {
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

    fn datagram_bytes(&self) -> u64 {
        self.outlet.datagram_bytes
    }

    fn keep_statements(&mut self) -> Result<(), StoreError> {
        self.link.kept.start();
        Ok(())
    }

    async fn take_statements(&mut self, with_plans: bool) -> Result<Vec<Statement>, StoreError> {
        self.reader().take_statements(with_plans).await
    }

    async fn close(self) -> Result<(), StoreError> {
        self.link.close();
        Ok(())
    }
}
