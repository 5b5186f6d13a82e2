//! One client's session: a client of the driver with one connection, and the plan's collections.

use crate::admin::{Mark, owner_of};
use crate::config::Options;
use crate::connection::Link;
use crate::query::Reader;
use crate::schema::PhysicalSchema;
use crate::topology::Topology;
use crate::unacknowledged::Silent;
use crate::write::command::Writer;
use mongodb::bson::doc;
use sensormark_kit::BackendSession;
use sensormark_store::{
    Acknowledgement, Answer, Batch, Durability, EntityReading, ErrorKind, Plan, Query, Statement, StoreError,
    Value,
};
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::Mutex;

/// A client's session.
pub struct MongodbSession {
    link: Link,
    physical: Arc<PhysicalSchema>,
    durability: Durability,
    topology: Topology,
    /// Where writes go out that nobody acknowledges.
    silent: Option<Mutex<Silent>>,
}

impl MongodbSession {
    /// Connects to the plan's database. MongoDB makes a database in silence when it is written to, so the owner's mark is
    /// looked for first.
    pub(crate) async fn open(
        options: &Options,
        plan: &Plan,
        physical: Arc<PhysicalSchema>,
    ) -> Result<Self, StoreError> {
        let timeout = Duration::from_millis(plan.timeout_ms);
        let link = Link::open(options, plan.database.as_str(), timeout).await?;
        match Self::introduced(&link, plan).await {
            Ok(topology) => {
                let database = plan.database.as_str();
                let silent = match plan.durability {
                    Durability::Unacknowledged => {
                        let silent = Silent::open(options, database, timeout).await?;
                        Some(Mutex::new(silent))
                    }
                    _ => None,
                };
                Ok(Self { link, physical, durability: plan.durability, topology, silent })
            }
            Err(error) => {
                link.close().await?;
                Err(error.with_doubt(false))
            }
        }
    }

    async fn introduced(link: &Link, plan: &Plan) -> Result<Topology, StoreError> {
        let what = "connect to MongoDB";
        let hello = link.command(what, doc! { "hello": 1 }).await?;
        // Members that answer the session later wait for what the primary has by now.
        link.consistency.heard(&hello);
        let topology = Topology::of(&hello);
        match owner_of(link, plan.database.as_str()).await? {
            Mark::Of(owner) if owner == plan.owner => Ok(topology),
            Mark::Of(_) => Err(StoreError::new(
                ErrorKind::Foreign,
                what,
                format!("{} belongs to another run; choose another name", plan.database),
            )),
            Mark::None => Err(StoreError::new(
                ErrorKind::NotFound,
                what,
                format!("the database {} is not there; create it first", plan.database),
            )),
        }
    }

    /// The kind of deployment.
    pub(crate) const fn topology(&self) -> Topology {
        self.topology
    }

    fn writer(&self) -> Writer<'_> {
        Writer {
            link: &self.link,
            physical: &self.physical,
            durability: self.durability,
            topology: self.topology,
            silent: self.silent.as_ref(),
        }
    }

    /// Waits until the server has done all that it did not acknowledge.
    async fn done(&self) -> Result<(), StoreError> {
        match &self.silent {
            Some(silent) => silent.lock().await.catch_up().await,
            None => Ok(()),
        }
    }

    fn reader(&self) -> Reader<'_> {
        Reader { link: &self.link, physical: &self.physical }
    }
}

impl BackendSession for MongodbSession {
    async fn write(&mut self, batch: &Batch) -> Result<Acknowledgement, StoreError> {
        self.writer().write(batch).await
    }

    async fn upsert(&mut self, write: EntityReading<'_>) -> Result<Acknowledgement, StoreError> {
        self.writer().upsert(write).await
    }

    fn most_named(&self, query: &Query) -> usize {
        self.reader().most_named(query)
    }

    async fn query(&mut self, query: &Query) -> Result<Answer, StoreError> {
        self.done().await?;
        self.reader().query(query).await
    }

    async fn scan(&mut self, table: usize, sink: &mut dyn FnMut(&Batch)) -> Result<(), StoreError> {
        self.done().await?;
        self.reader().scan(table, sink).await
    }

    async fn scan_entities(
        &mut self,
        table: usize,
        sink: &mut dyn FnMut(u32, i64, &[Value]),
    ) -> Result<(), StoreError> {
        self.done().await?;
        self.reader().scan_entities(table, sink).await
    }

    async fn catch_up(&mut self) -> Result<(), StoreError> {
        self.done().await
    }

    fn keep_statements(&mut self) -> Result<(), StoreError> {
        self.link.kept.start();
        Ok(())
    }

    async fn take_statements(&mut self, with_plans: bool) -> Result<Vec<Statement>, StoreError> {
        self.link.take_statements(with_plans).await
    }

    async fn close(self) -> Result<(), StoreError> {
        let done = self.done().await;
        self.link.close().await?;
        done
    }
}
