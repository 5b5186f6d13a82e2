//! One client's connection to a plan's database.

use crate::connection::Link;
use crate::schema::Model;
use crate::{query, write};
use sensormark_store::{
    Acknowledgement, Answer, Batch, EntityReading, LocalFuture, Query, Session, StoreError, Value,
};
use std::sync::Arc;

/// A connection with the tables that it speaks about.
pub(crate) struct MariadbSession {
    link: Link,
    model: Arc<Model>,
}

impl MariadbSession {
    /// Over this connection.
    pub(crate) const fn new(link: Link, model: Arc<Model>) -> Self {
        Self { link, model }
    }
}

impl Session for MariadbSession {
    fn write<'a>(
        &'a mut self,
        batch: &'a Batch,
    ) -> LocalFuture<'a, Result<Acknowledgement, StoreError>> {
        Box::pin(write::write(&mut self.link, &self.model, batch))
    }

    fn upsert<'a>(
        &'a mut self,
        write: EntityReading<'a>,
    ) -> LocalFuture<'a, Result<Acknowledgement, StoreError>> {
        Box::pin(write::upsert(&mut self.link, &self.model, write))
    }

    fn query<'a>(&'a mut self, query: &'a Query) -> LocalFuture<'a, Result<Answer, StoreError>> {
        Box::pin(query::answer(&mut self.link, &self.model, query))
    }

    fn scan<'a>(
        &'a mut self,
        table: usize,
        sink: &'a mut dyn FnMut(&Batch),
    ) -> LocalFuture<'a, Result<(), StoreError>> {
        Box::pin(query::readings::scan(
            &mut self.link,
            &self.model,
            table,
            sink,
        ))
    }

    fn scan_entities<'a>(
        &'a mut self,
        table: usize,
        sink: &'a mut dyn FnMut(u32, i64, &[Value]),
    ) -> LocalFuture<'a, Result<(), StoreError>> {
        Box::pin(query::readings::scan_entities(
            &mut self.link,
            &self.model,
            table,
            sink,
        ))
    }

    fn close(self: Box<Self>) -> LocalFuture<'static, Result<(), StoreError>> {
        Box::pin(self.link.close())
    }
}
