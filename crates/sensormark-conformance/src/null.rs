//! The null store: takes everything at next to no cost and answers from an [`AnswerSource`].
//!
//! It measures the harness's own ceiling: whatever a run over it costs is the harness's. It keeps nothing, so its ledger is right only because
//! its source knows what was written. An operation costs one allocation, that of its future, and no work by value.

use crate::no_database::{self, plain};
use sensormark_store::answer::Answer;
use sensormark_store::batch::Batch;
use sensormark_store::capability::{Capability, Operation};
use sensormark_store::durability::Durability;
use sensormark_store::endpoint::{Endpoint, Secret};
use sensormark_store::error::StoreError;
use sensormark_store::layout::{DefaultSelection, Family, Layout, LayoutOption};
use sensormark_store::query::Query;
use sensormark_store::schema::{Schema, Table, Value};
use sensormark_store::server::{Installation, Launch, ServerFolder, ServerOptions};
use sensormark_store::size::{Logs, Size};
use sensormark_store::store::{
    Acknowledgement, Administrator, AnswerSource, Description, EntityReading, Limits, LocalFuture, Plan,
    RepeatedWrite, Session, SessionKind, Setting, Store,
};
use sensormark_store::write_size::WriteSize;
use std::future::ready;
use std::sync::Arc;

/// A store without a database.
#[derive(Clone)]
pub struct NullStore {
    answers: Arc<dyn AnswerSource>,
}

impl NullStore {
    /// The store's name.
    pub const NAME: &'static str = "null";

    /// A store that answers from this source.
    pub fn new(answers: Arc<dyn AnswerSource>) -> Self {
        Self { answers }
    }
}

impl Store for NullStore {
    fn description(&self) -> Description {
        Description {
            name: Self::NAME.to_owned(),
            title: "null (no database)".to_owned(),
            embedded: true,
            session: SessionKind::Async,
            durability: vec![
                (Durability::Default, "nothing is kept".to_owned()),
                (Durability::Durable, "nothing is kept".to_owned()),
                (Durability::Relaxed, "nothing is kept".to_owned()),
            ],
            url_example: "nowhere".to_owned(),
            repeated_write: RepeatedWrite::KeepsBoth,
            logs: Logs::default(),
        }
    }

    fn layouts(&self, _schema: &Schema, family: Family) -> Vec<LayoutOption> {
        vec![LayoutOption {
            variant: String::new(),
            layout: plain(family),
            default_selection: DefaultSelection::Usual,
            description: "nothing is kept".to_owned(),
        }]
    }

    fn capability(&self, _operation: Operation, _layout: &Layout, _table: &Table) -> Capability {
        Capability::Native
    }

    fn limits(&self, _layout: &Layout, _table: &Table) -> Limits {
        Limits { readings_per_statement: usize::MAX }
    }

    fn write_size(&self, _layout: &Layout, _table: &Table) -> WriteSize {
        no_database::write_size()
    }

    fn installation(&self) -> Result<Installation, StoreError> {
        Ok(no_database::installation())
    }

    fn launch(
        &self,
        _installation: &Installation,
        _folder: &ServerFolder,
        _options: &ServerOptions,
    ) -> Result<Launch, StoreError> {
        Err(no_database::no_server(Self::NAME))
    }

    fn endpoint(&self, _url: &str) -> Result<Endpoint, StoreError> {
        Ok(Endpoint { url: Secret::new(""), label: "null".to_owned(), managed: true, ports: Vec::new() })
    }

    fn version<'a>(&'a self, _endpoint: &'a Endpoint) -> LocalFuture<'a, Result<String, StoreError>> {
        done(env!("CARGO_PKG_VERSION").to_owned())
    }

    fn administrator<'a>(
        &'a self,
        _plan: &'a Plan,
    ) -> LocalFuture<'a, Result<Box<dyn Administrator>, StoreError>> {
        let administrator: Box<dyn Administrator> = Box::new(NullAdministrator);
        done(administrator)
    }

    fn connect<'a>(&'a self, plan: &'a Plan) -> LocalFuture<'a, Result<Box<dyn Session>, StoreError>> {
        let session: Box<dyn Session> = Box::new(NullSession {
            answers: Arc::clone(&self.answers),
            acknowledges: plan.durability != Durability::Unacknowledged,
        });
        done(session)
    }
}

fn done<'a, T: 'a>(value: T) -> LocalFuture<'a, Result<T, StoreError>> {
    Box::pin(ready(Ok(value)))
}

struct NullSession {
    answers: Arc<dyn AnswerSource>,
    acknowledges: bool,
}

impl NullSession {
    fn take(&self, batch: &Batch) -> Acknowledgement {
        let sent = batch.len() as u64;
        Acknowledgement {
            readings: if self.acknowledges { sent } else { 0 },
            sent,
            statements: u64::from(sent > 0),
        }
    }
}

impl Session for NullSession {
    fn write<'a>(&'a mut self, batch: &'a Batch) -> LocalFuture<'a, Result<Acknowledgement, StoreError>> {
        done(self.take(batch))
    }

    fn upsert<'a>(
        &'a mut self,
        write: EntityReading<'a>,
    ) -> LocalFuture<'a, Result<Acknowledgement, StoreError>> {
        done(self.take(write.reading))
    }

    fn query<'a>(&'a mut self, query: &'a Query) -> LocalFuture<'a, Result<Answer, StoreError>> {
        done(self.answers.answer(query))
    }

    fn scan<'a>(
        &'a mut self,
        table: usize,
        sink: &'a mut dyn FnMut(&Batch),
    ) -> LocalFuture<'a, Result<(), StoreError>> {
        self.answers.scan(table, sink);
        done(())
    }

    fn scan_entities<'a>(
        &'a mut self,
        table: usize,
        sink: &'a mut dyn FnMut(u32, i64, &[Value]),
    ) -> LocalFuture<'a, Result<(), StoreError>> {
        self.answers.scan_entities(table, sink);
        done(())
    }

    fn close(self: Box<Self>) -> LocalFuture<'static, Result<(), StoreError>> {
        done(())
    }
}

struct NullAdministrator;

impl Administrator for NullAdministrator {
    fn create(&mut self) -> LocalFuture<'_, Result<(), StoreError>> {
        done(())
    }

    fn drop_database(&mut self) -> LocalFuture<'_, Result<(), StoreError>> {
        done(())
    }

    fn databases(&mut self) -> LocalFuture<'_, Result<Vec<(String, String)>, StoreError>> {
        done(Vec::new())
    }

    fn settle(&mut self) -> LocalFuture<'_, Result<(), StoreError>> {
        done(())
    }

    fn settings(&mut self) -> LocalFuture<'_, Result<Vec<Setting>, StoreError>> {
        done(Vec::new())
    }

    fn size(&mut self) -> LocalFuture<'_, Result<Size, StoreError>> {
        done(Size::default())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::memory::fixture;
    use crate::reference::Reference;
    use sensormark_store::query::{Ask, Selection, TimeRange};
    use std::pin::pin;
    use std::task::{Context, Poll, Waker};

    fn now<T>(future: impl Future<Output = Result<T, StoreError>>) -> T {
        match pin!(future).poll(&mut Context::from_waker(Waker::noop())) {
            Poll::Ready(result) => result.unwrap(),
            Poll::Pending => panic!("the null store never waits"),
        }
    }

    #[test]
    fn it_takes_everything_and_answers_what_its_source_knows() {
        let plan = fixture::plan(fixture::schema());
        let mut reference = Reference::new(Arc::clone(&plan.schema));
        let batch = fixture::batch(&plan.schema, &[(7, 0, 1.5)]);
        reference.add(&batch);
        reference.prepare();
        let store = NullStore::new(Arc::new(reference));
        let mut session = now(store.connect(&plan));
        let acknowledged = now(session.write(&batch));
        assert_eq!((acknowledged.readings, acknowledged.sent), (1, 1));
        let query = Query {
            table: 0,
            series: Selection::All,
            range: TimeRange::new(0, 10),
            ask: Ask::Range { fields: plan.schema.tables[0].all_fields(), coarse_filter: false },
        };
        assert_eq!(now(session.query(&query)), Answer::Readings(batch));
        now(session.close());
    }
}
