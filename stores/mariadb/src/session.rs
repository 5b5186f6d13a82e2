//! One client's connection to a plan's database.

use crate::connection::Link;
use crate::query::{self, Reader};
use crate::write;
use crate::write::insert::Inserts;
use sensormark_kit::BackendSession;
use sensormark_relational::physical_schema::PhysicalSchema;
use sensormark_relational::plan::Plans;
use sensormark_store::{Acknowledgement, Answer, Batch, EntityReading, Query, Statement, StoreError, Value};
use std::sync::Arc;

/// The most parameters that name series in place of their tag; a statement has 65,535 of all kinds.
const MOST_NAMED: usize = 20_000;

/// A connection with the tables that it speaks about.
pub struct MariadbSession {
    link: Link,
    /// A connection for questions to another member of the cluster, where the URL asks for one.
    replica: Option<Link>,
    physical: Arc<PhysicalSchema>,
    asked: Plans,
    inserts: Vec<Inserts>,
    written: write::Compounds,
}

impl MariadbSession {
    /// Over this connection, and another one for questions.
    pub(crate) fn new(link: Link, replica: Option<Link>, physical: Arc<PhysicalSchema>) -> Self {
        Self {
            link,
            replica,
            inserts: (0..physical.tables.len()).map(|table| Inserts::new(&physical, table)).collect(),
            physical,
            asked: Plans::default(),
            written: write::Compounds::default(),
        }
    }
}

impl BackendSession for MariadbSession {
    async fn write(&mut self, batch: &Batch) -> Result<Acknowledgement, StoreError> {
        write::write(&mut self.link, &self.inserts, &mut self.written, &self.physical, batch).await
    }

    async fn upsert(&mut self, write: EntityReading<'_>) -> Result<Acknowledgement, StoreError> {
        write::upsert(&mut self.link, &self.inserts, &mut self.written, &self.physical, write).await
    }

    /// A list of constants has the index read from each series' own place; the same series from a subquery are read from their beginnings.
    fn most_named(&self, query: &Query) -> usize {
        MOST_NAMED / self.physical.tables[query.table].keys.len().max(1)
    }

    async fn query(&mut self, query: &Query) -> Result<Answer, StoreError> {
        let mut reader = Reader {
            link: self.replica.as_mut().unwrap_or(&mut self.link),
            plans: &mut self.asked,
            physical: &self.physical,
        };
        reader.answer(query).await
    }

    async fn scan(&mut self, table: usize, sink: &mut dyn FnMut(&Batch)) -> Result<(), StoreError> {
        let link = self.replica.as_mut().unwrap_or(&mut self.link);
        query::scan(link, &self.physical, table, sink).await
    }

    async fn scan_entities(
        &mut self,
        table: usize,
        sink: &mut dyn FnMut(u32, i64, &[Value]),
    ) -> Result<(), StoreError> {
        let link = self.replica.as_mut().unwrap_or(&mut self.link);
        query::scan_entities(link, &self.physical, table, sink).await
    }

    fn keep_statements(&mut self) -> Result<(), StoreError> {
        self.link.kept.start();
        if let Some(replica) = &mut self.replica {
            replica.kept.start();
        }
        Ok(())
    }

    async fn take_statements(&mut self, with_plans: bool) -> Result<Vec<Statement>, StoreError> {
        let mut statements = self.link.take_statements(with_plans).await?;
        if let Some(replica) = &mut self.replica {
            statements.extend(replica.take_statements(with_plans).await?);
        }
        Ok(statements)
    }

    async fn close(self) -> Result<(), StoreError> {
        if let Some(replica) = self.replica {
            replica.close().await?;
        }
        self.link.close().await
    }
}
