//! One client's connection to a plan's database.

use crate::connection::Link;
use crate::query::{self, Reader};
use crate::write;
use crate::write::insert::Inserts;
use sensormark_relational::model::Model;
use sensormark_store::{
    Acknowledgement, Answer, Batch, EntityReading, LocalFuture, Query, Session, Statement,
    StoreError, Value,
};
use std::sync::Arc;

/// A connection with the tables that it speaks about.
pub(crate) struct MariadbSession {
    link: Link,
    model: Arc<Model>,
    asked: query::Statements,
    inserts: Vec<Inserts>,
    written: write::Compounds,
}

impl MariadbSession {
    /// Over this connection.
    pub(crate) fn new(link: Link, model: Arc<Model>) -> Self {
        Self {
            link,
            inserts: (0..model.tables.len())
                .map(|table| Inserts::new(&model, table))
                .collect(),
            model,
            asked: query::Statements::default(),
            written: write::Compounds::default(),
        }
    }
}

impl Session for MariadbSession {
    fn write<'a>(
        &'a mut self,
        batch: &'a Batch,
    ) -> LocalFuture<'a, Result<Acknowledgement, StoreError>> {
        Box::pin(write::write(
            &mut self.link,
            &self.inserts,
            &mut self.written,
            &self.model,
            batch,
        ))
    }

    fn upsert<'a>(
        &'a mut self,
        write: EntityReading<'a>,
    ) -> LocalFuture<'a, Result<Acknowledgement, StoreError>> {
        Box::pin(write::upsert(
            &mut self.link,
            &self.inserts,
            &mut self.written,
            &self.model,
            write,
        ))
    }

    fn query<'a>(&'a mut self, query: &'a Query) -> LocalFuture<'a, Result<Answer, StoreError>> {
        Box::pin(async move {
            let mut reader = Reader {
                link: &mut self.link,
                statements: &mut self.asked,
                model: &self.model,
            };
            reader.answer(query).await
        })
    }

    fn scan<'a>(
        &'a mut self,
        table: usize,
        sink: &'a mut dyn FnMut(&Batch),
    ) -> LocalFuture<'a, Result<(), StoreError>> {
        Box::pin(query::scan(&mut self.link, &self.model, table, sink))
    }

    fn scan_entities<'a>(
        &'a mut self,
        table: usize,
        sink: &'a mut dyn FnMut(u32, i64, &[Value]),
    ) -> LocalFuture<'a, Result<(), StoreError>> {
        Box::pin(query::scan_entities(
            &mut self.link,
            &self.model,
            table,
            sink,
        ))
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
