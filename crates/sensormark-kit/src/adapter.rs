//! The contract's `Store`, `Session` and `Administrator`, made of a backend's.

use crate::backend::{Backend, BackendAdministrator, BackendSession};
use crate::ownership;
use sensormark_store::client_side::{self, IN_THE_CLIENT, readings_of};
use sensormark_store::server::ServerFolder;
use sensormark_store::{
    Acknowledgement, Administrator, Answer, Batch, Capability, Description, Documents, Durability, Endpoint,
    EntityReading, Family, Installation, Launch, Layout, LayoutOption, Limits, LocalFuture, Logs, Operation,
    Plan, Query, Question, Schema, ServerOptions, Session, Setting, Shape, Size, Statement, Store,
    StoreError, Table, TimeKey, TimeResolution, Value, WriteSize,
};
use std::sync::{Arc, Mutex, PoisonError};

/// Why nothing is updated beside a reading.
const NO_ENTITY: &str = "the table has no entity";

/// What the schema of the latest plan became.
#[derive(Debug)]
struct Latest<M> {
    schema: Arc<Schema>,
    layout: Layout,
    made: Arc<M>,
}

/// A store, made of a backend.
#[derive(Debug, Default)]
pub struct Adapter<B: Backend> {
    backend: B,
    latest: Mutex<Option<Latest<B::PhysicalSchema>>>,
}

impl<B: Backend + Default> Adapter<B> {
    /// The store. It connects to nothing by itself.
    #[must_use]
    pub fn new() -> Self {
        Self { backend: B::default(), latest: Mutex::default() }
    }
}

impl<B: Backend> Adapter<B> {
    /// What a plan's schema becomes, which all of its sessions share.
    fn physical_schema(&self, plan: &Plan) -> Result<Arc<B::PhysicalSchema>, StoreError> {
        let mut latest = self.latest.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = latest.as_ref()
            && Arc::ptr_eq(&known.schema, &plan.schema)
            && known.layout == plan.layout
        {
            return Ok(Arc::clone(&known.made));
        }
        Self::check_layout(plan)?;
        let made = Arc::new((B::DECLARATION.physical_schema)(plan)?);
        let (schema, layout) = (Arc::clone(&plan.schema), plan.layout);
        *latest = Some(Latest { schema, layout, made: Arc::clone(&made) });
        Ok(made)
    }

    /// Fails for a layout that the store does not offer.
    fn check_layout(plan: &Plan) -> Result<(), StoreError> {
        let offers = (B::DECLARATION.layouts)(&plan.schema, family(plan.layout.shape));
        if offers.iter().any(|offer| offer.layout == plan.layout) {
            return Ok(());
        }
        Err(StoreError::unsupported(
            "use a layout",
            format!("{} does not offer it for this schema; see `sensormark list`", B::DECLARATION.title),
        ))
    }
}

/// The family that a layout of this shape is of.
const fn family(shape: Shape) -> Family {
    match shape {
        Shape::RowPerReading | Shape::RowPerField | Shape::NativeTimeSeries => Family::PerReading,
        Shape::RecordPerSpan { span_ns, .. } => Family::PerSpan { span_ns },
        Shape::Bucketed { limit, per_ns, split, .. } => Family::Bucketed { limit, per_ns, split },
        Shape::Summary { per_ns, split } => Family::Summary { per_ns, split },
        Shape::GrowingArray => Family::GrowingArray,
    }
}

impl<B: Backend> Store for Adapter<B> {
    fn description(&self) -> Description {
        let declared = B::DECLARATION;
        let class = |&(class, words): &(Durability, &str)| (class, words.to_owned());
        Description {
            name: declared.name.to_owned(),
            title: declared.title.to_owned(),
            embedded: declared.embedded,
            session: declared.session,
            durability: declared.durability.iter().map(class).collect(),
            url_example: declared.url_example.to_owned(),
            repeated_write: declared.repeated_write,
            logs: Logs {
                names: declared.logs.iter().map(|&name| name.to_owned()).collect(),
                bound: declared.log_bound.map(str::to_owned),
            },
        }
    }

    fn layouts(&self, schema: &Schema, family: Family) -> Vec<LayoutOption> {
        (B::DECLARATION.layouts)(schema, family)
    }

    fn capability(&self, operation: Operation, layout: &Layout, table: &Table) -> Capability {
        match operation {
            Operation::UpsertSeparately | Operation::UpsertAtomically if table.entity.is_none() => {
                Capability::Unsupported(NO_ENTITY.to_owned())
            }
            _ if operation.is_derived() => match self.backend.capability(Operation::Range, layout, table) {
                Capability::Unsupported(reason) => Capability::Unsupported(reason),
                _ => Capability::ClientSide(IN_THE_CLIENT.to_owned()),
            },
            _ => self.backend.capability(operation, layout, table),
        }
    }

    fn limits(&self, layout: &Layout, table: &Table) -> Limits {
        (B::DECLARATION.limits)(layout, table)
    }

    fn write_size(&self, layout: &Layout, table: &Table) -> WriteSize {
        let advised = (B::DECLARATION.write_size)(layout, table);
        advised.within(self.limits(layout, table).readings_per_statement)
    }

    fn time_resolution(&self, layout: &Layout, _: &Table) -> TimeResolution {
        match layout.time {
            TimeKey::Nanoseconds => TimeResolution::Nanoseconds,
            TimeKey::Native => B::DECLARATION.native_resolution,
        }
    }

    fn installation(&self) -> Result<Installation, StoreError> {
        (B::DECLARATION.installation)()
    }

    fn launch(
        &self,
        installation: &Installation,
        folder: &ServerFolder,
        options: &ServerOptions,
    ) -> Result<Launch, StoreError> {
        let Some(launch) = B::DECLARATION.launch else {
            return Err(StoreError::unsupported(
                "start a server",
                format!(
                    "{} runs inside the client's process; give it a folder instead",
                    B::DECLARATION.title
                ),
            ));
        };
        launch(installation, folder, options)
    }

    fn keeps_to_loopback(&self) -> Option<&'static str> {
        self.backend.keeps_to_loopback()
    }

    fn endpoint(&self, url: &str) -> Result<Endpoint, StoreError> {
        (B::DECLARATION.endpoint)(url)
    }

    fn version<'a>(&'a self, endpoint: &'a Endpoint) -> LocalFuture<'a, Result<String, StoreError>> {
        Box::pin(self.backend.version(endpoint))
    }

    fn administrator<'a>(
        &'a self,
        plan: &'a Plan,
    ) -> LocalFuture<'a, Result<Box<dyn Administrator>, StoreError>> {
        Box::pin(async move {
            let schema = self.physical_schema(plan)?;
            Ok(administrator(self.backend.administrator(plan, schema).await?, plan))
        })
    }

    fn connect<'a>(&'a self, plan: &'a Plan) -> LocalFuture<'a, Result<Box<dyn Session>, StoreError>> {
        Box::pin(async move {
            let schema = self.physical_schema(plan)?;
            let session: Box<dyn Session> = Box::new(SessionOf {
                session: self.backend.connect(plan, schema).await?,
                schema: Arc::clone(&plan.schema),
            });
            Ok(session)
        })
    }
}

/// A session of the contract, made of a backend's.
struct SessionOf<S> {
    session: S,
    schema: Arc<Schema>,
}

impl<S: BackendSession> SessionOf<S> {
    /// Answers a question: what is derived from the readings.
    async fn answer(&mut self, query: &Query) -> Result<Answer, StoreError> {
        let schema = Arc::clone(&self.schema);
        let table = schema.table(query.table)?;
        if !Operation::needed(query, table).iter().any(|one| one.is_derived()) {
            return self.session.query(query).await;
        }
        query.check(table)?;
        if let Some(nothing) = query.finds_nothing(table, 1) {
            return Ok(nothing);
        }
        let found = self.session.query(&readings_of(query)?).await?;
        Ok(client_side::answer(query, table, found))
    }
}

impl<S: BackendSession + 'static> Session for SessionOf<S> {
    fn write<'a>(&'a mut self, batch: &'a Batch) -> LocalFuture<'a, Result<Acknowledgement, StoreError>> {
        Box::pin(async move {
            self.schema.table(batch.table)?;
            if batch.is_empty() {
                return Ok(Acknowledgement::default());
            }
            self.session.write(batch).await
        })
    }

    fn upsert<'a>(
        &'a mut self,
        write: EntityReading<'a>,
    ) -> LocalFuture<'a, Result<Acknowledgement, StoreError>> {
        Box::pin(async move {
            if self.schema.table(write.reading.table)?.entity.is_none() {
                return Err(StoreError::unsupported("update an entity", NO_ENTITY));
            }
            self.session.upsert(write).await
        })
    }

    fn query<'a>(&'a mut self, query: &'a Query) -> LocalFuture<'a, Result<Answer, StoreError>> {
        Box::pin(async move {
            self.schema.table(query.table)?;
            Question::named(query)?;
            self.answer(query).await
        })
    }

    fn scan<'a>(
        &'a mut self,
        table: usize,
        sink: &'a mut dyn FnMut(&Batch),
    ) -> LocalFuture<'a, Result<(), StoreError>> {
        Box::pin(async move {
            self.schema.table(table)?;
            self.session.scan(table, sink).await
        })
    }

    fn scan_entities<'a>(
        &'a mut self,
        table: usize,
        sink: &'a mut dyn FnMut(u32, i64, &[Value]),
    ) -> LocalFuture<'a, Result<(), StoreError>> {
        Box::pin(async move {
            self.schema.table(table)?;
            self.session.scan_entities(table, sink).await
        })
    }

    fn keep_statements(&mut self) -> Result<(), StoreError> {
        self.session.keep_statements()
    }

    fn take_statements(&mut self, with_plans: bool) -> LocalFuture<'_, Result<Vec<Statement>, StoreError>> {
        Box::pin(self.session.take_statements(with_plans))
    }

    fn close(self: Box<Self>) -> LocalFuture<'static, Result<(), StoreError>> {
        Box::pin(self.session.close())
    }
}

/// An administrator of the contract, made of a backend's.
pub fn administrator(
    administrator: impl BackendAdministrator + 'static,
    plan: &Plan,
) -> Box<dyn Administrator> {
    Box::new(AdministratorOf { administrator, plan: plan.clone() })
}

struct AdministratorOf<A> {
    administrator: A,
    plan: Plan,
}

impl<A: BackendAdministrator + 'static> Administrator for AdministratorOf<A> {
    fn create(&mut self) -> LocalFuture<'_, Result<(), StoreError>> {
        Box::pin(ownership::create(&mut self.administrator, &self.plan))
    }

    fn drop_database(&mut self) -> LocalFuture<'_, Result<(), StoreError>> {
        Box::pin(ownership::drop_database(&mut self.administrator, &self.plan))
    }

    fn databases(&mut self) -> LocalFuture<'_, Result<Vec<(String, String)>, StoreError>> {
        Box::pin(ownership::databases(&mut self.administrator))
    }

    fn settle(&mut self) -> LocalFuture<'_, Result<(), StoreError>> {
        Box::pin(self.administrator.settle())
    }

    fn take_notes(&mut self) -> Vec<String> {
        self.administrator.take_notes()
    }

    fn settings(&mut self) -> LocalFuture<'_, Result<Vec<Setting>, StoreError>> {
        Box::pin(self.administrator.settings())
    }

    fn documents(&mut self) -> LocalFuture<'_, Result<Option<Documents>, StoreError>> {
        Box::pin(self.administrator.documents())
    }

    fn schema_text(&mut self) -> LocalFuture<'_, Result<Vec<String>, StoreError>> {
        Box::pin(self.administrator.schema_text())
    }

    fn perform<'a>(&'a mut self, statement: &'a str) -> LocalFuture<'a, Result<Vec<String>, StoreError>> {
        Box::pin(self.administrator.perform(statement))
    }

    fn size(&mut self) -> LocalFuture<'_, Result<Size, StoreError>> {
        Box::pin(self.administrator.size())
    }
}
