//! One client's session: a connection that sends lines, one that asks, and the plan's tables.

use crate::asking;
use crate::config::Options;
use crate::query::{Reader, Statements};
use crate::schema::{Tables, written_tables};
use crate::sending;
use crate::sent::Kept;
use crate::visible::Lookout;
use crate::write::{Outlet, Writer};
use sensormark_kit::BackendSession;
use sensormark_store::{
    Acknowledgement, Answer, Ask, Batch, Durability, EntityReading, Plan, Query, Statement, StoreError, Value,
};
use std::sync::Arc;
use std::time::Duration;

/// The most series that are named in place of their tag; their number in a statement is two bytes.
const MOST_NAMED: usize = 10_000;

/// A client's session.
pub struct QuestdbSession {
    sending: sending::Link,
    asking: asking::Link,
    lookout: Lookout,
    /// Of each table, whether all showed when this session last looked, and it wrote nothing since.
    quiet: Vec<bool>,
    /// Whether no session writes, so that what showed once shows.
    nobody_writes: bool,
    /// Which tables it wrote to since it last saw all of them.
    written: Vec<bool>,
    outlet: Outlet,
    statements: Statements,
    kept: Kept,
    tables: Arc<Tables>,
    database: String,
    /// What lines begin with.
    prefix: String,
}

/// Fails for a durability class that QuestDB does not have.
pub(crate) fn check_durability(durability: Durability) -> Result<(), StoreError> {
    if durability == Durability::Unacknowledged {
        return Err(StoreError::unsupported(
            "set the durability class",
            "lines over HTTP are acknowledged; use default, where the acknowledgement does not wait for the disk",
        ));
    }
    Ok(())
}

impl QuestdbSession {
    /// Connects.
    pub(crate) async fn open(
        options: &Options,
        plan: &Plan,
        tables: Arc<Tables>,
    ) -> Result<Self, StoreError> {
        check_durability(plan.durability)?;
        let timeout = Duration::from_millis(plan.timeout_ms);
        let asking = asking::Link::open(options, timeout).await?;
        let database = plan.database.as_str().to_owned();
        Ok(Self {
            sending: sending::Link::open(options, timeout).await?,
            lookout: Lookout::new(&asking).await?,
            asking,
            quiet: vec![false; plan.schema.tables.len()],
            nobody_writes: false,
            written: vec![false; plan.schema.tables.len()],
            outlet: Outlet::default(),
            statements: Statements::default(),
            kept: Kept::default(),
            tables,
            prefix: format!("{database}."),
            database,
        })
    }

    fn writer(&mut self, table: usize) -> Writer<'_> {
        self.quiet[table] = false;
        self.written[table] = true;
        Writer {
            link: &mut self.sending,
            outlet: &self.outlet,
            tables: &self.tables,
            database: &self.prefix,
            kept: &mut self.kept,
        }
    }

    fn reader(&mut self) -> Reader<'_> {
        Reader {
            link: &self.asking,
            lookout: &self.lookout,
            quiet: &mut self.quiet,
            nobody_writes: self.nobody_writes,
            statements: &mut self.statements,
            kept: &mut self.kept,
            physical: &self.tables.physical,
            database: &self.database,
        }
    }
}

impl BackendSession for QuestdbSession {
    async fn write(&mut self, batch: &Batch) -> Result<Acknowledgement, StoreError> {
        self.writer(batch.table).write(batch).await
    }

    async fn upsert(&mut self, write: EntityReading<'_>) -> Result<Acknowledgement, StoreError> {
        self.writer(write.reading.table).upsert(write).await
    }

    /// LATEST ON stops when it has found all symbols that are named. A filter on the tag is compiled and shared among threads; one on a list is not.
    fn most_named(&self, query: &Query) -> usize {
        let table = &self.tables.physical.tables[query.table];
        let is_latest = matches!(query.ask, Ask::LastReading { .. });
        match is_latest && table.keys.len() == 1 {
            true => MOST_NAMED,
            false => 0,
        }
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

    /// Waits until all that this session wrote shows.
    async fn catch_up(&mut self) -> Result<(), StoreError> {
        for (written, table) in self.written.iter_mut().zip(&self.tables.physical.schema.tables) {
            if std::mem::take(written) {
                for name in written_tables(&self.database, table) {
                    self.lookout.wait(&self.asking, &name, None, true).await?;
                }
            }
        }
        Ok(())
    }

    fn nobody_writes(&mut self, nobody: bool) {
        self.nobody_writes = nobody;
        self.quiet.fill(false);
    }

    fn shows_later(&self) -> bool {
        true
    }

    fn keep_statements(&mut self) -> Result<(), StoreError> {
        self.kept.start();
        Ok(())
    }

    async fn take_statements(&mut self, with_plans: bool) -> Result<Vec<Statement>, StoreError> {
        self.kept.take(&self.asking, with_plans).await
    }
}
