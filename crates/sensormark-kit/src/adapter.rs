//! The contract's `Store`, `Session` and `Administrator`, made of a backend's.

use crate::backend::{Backend, BackendAdministrator, BackendSession};
use crate::ownership;
use sensormark_store::server::ServerFolder;
use sensormark_store::{
    Acknowledgement, Administrator, Answer, Batch, Capability, Description, Documents, Endpoint,
    EntityReading, ErrorKind, Family, Installation, Launch, Layout, LayoutOption, Limits,
    LocalFuture, Operation, Plan, Query, RepeatedWrite, Schema, ServerOptions, Session, Setting,
    Shape, Size, Statement, Store, StoreError, Table, TimeKey, TimeResolution, Typical, Value,
    WriteSize,
};
use std::sync::{Arc, Mutex, PoisonError};

/// The model of the latest plan.
type Latest<M> = Option<(Arc<Schema>, Layout, Arc<M>)>;

/// A store, made of a backend.
#[derive(Debug, Default)]
pub struct Adapter<B: Backend> {
    backend: B,
    latest: Mutex<Latest<B::PhysicalSchema>>,
}

impl<B: Backend + Default> Adapter<B> {
    /// The store. It connects to nothing by itself.
    #[must_use]
    pub fn new() -> Self {
        Self {
            backend: B::default(),
            latest: Mutex::default(),
        }
    }
}

impl<B: Backend> Adapter<B> {
    /// The model of a plan, which all of its sessions share.
    fn model(&self, plan: &Plan) -> Result<Arc<B::PhysicalSchema>, StoreError> {
        let mut latest = self.latest.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((schema, layout, model)) = latest.as_ref()
            && Arc::ptr_eq(schema, &plan.schema)
            && *layout == plan.layout
        {
            return Ok(Arc::clone(model));
        }
        self.check_layout(plan)?;
        let model = Arc::new(self.backend.model(plan)?);
        *latest = Some((Arc::clone(&plan.schema), plan.layout, Arc::clone(&model)));
        Ok(model)
    }

    /// Fails for a layout that the store does not offer.
    fn check_layout(&self, plan: &Plan) -> Result<(), StoreError> {
        let offers = self
            .backend
            .layouts(&plan.schema, family(plan.layout.shape));
        if offers.iter().any(|offer| offer.layout == plan.layout) {
            return Ok(());
        }
        Err(StoreError::unsupported(
            "use a layout",
            format!(
                "{} does not offer it for this schema; see `sensormark list`",
                self.backend.description().title
            ),
        ))
    }
}

/// The family that a layout of this shape is of.
const fn family(shape: Shape) -> Family {
    match shape {
        Shape::RowPerReading | Shape::RowPerField | Shape::NativeTimeSeries => Family::PerReading,
        Shape::RecordPerSpan { span_ns, .. } => Family::PerSpan { span_ns },
        Shape::Bucketed {
            limit,
            per_ns,
            split,
            ..
        } => Family::Bucketed {
            limit,
            per_ns,
            split,
        },
        Shape::Summary { per_ns, split } => Family::Summary { per_ns, split },
        Shape::GrowingArray => Family::GrowingArray,
    }
}

impl<B: Backend> Store for Adapter<B> {
    fn description(&self) -> Description {
        self.backend.description()
    }

    fn layouts(&self, schema: &Schema, family: Family) -> Vec<LayoutOption> {
        self.backend.layouts(schema, family)
    }

    fn capability(&self, operation: Operation, layout: &Layout, table: &Table) -> Capability {
        self.backend.capability(operation, layout, table)
    }

    fn limits(&self, layout: &Layout, table: &Table) -> Limits {
        self.backend.limits(layout, table)
    }

    fn write_size(&self, layout: &Layout, table: &Table) -> WriteSize {
        self.backend.write_size(layout, table)
    }

    fn repeated_write(&self, layout: &Layout, table: &Table) -> RepeatedWrite {
        self.backend.repeated_write(layout, table)
    }

    fn time_resolution(&self, layout: &Layout, _: &Table) -> TimeResolution {
        match layout.time {
            TimeKey::Nanoseconds => TimeResolution::Nanoseconds,
            TimeKey::Native => self.backend.native_resolution(),
        }
    }

    fn momentary_misses(&self) -> Option<&'static str> {
        self.backend.momentary_misses()
    }

    fn one_process(&self) -> Option<&'static str> {
        self.backend.one_process()
    }

    fn refuses_least_number(&self) -> Option<&'static str> {
        self.backend.refuses_least_number()
    }

    fn typical(&self) -> Typical {
        self.backend.typical()
    }

    fn installation(&self) -> Result<Installation, StoreError> {
        self.backend.installation()
    }

    fn launch(
        &self,
        installation: &Installation,
        folder: &ServerFolder,
        options: &ServerOptions,
    ) -> Result<Launch, StoreError> {
        self.backend.launch(installation, folder, options)
    }

    fn endpoint(&self, url: &str) -> Result<Endpoint, StoreError> {
        self.backend.endpoint(url)
    }

    fn version<'a>(
        &'a self,
        endpoint: &'a Endpoint,
    ) -> LocalFuture<'a, Result<String, StoreError>> {
        Box::pin(self.backend.version(endpoint))
    }

    fn administrator<'a>(
        &'a self,
        plan: &'a Plan,
    ) -> LocalFuture<'a, Result<Box<dyn Administrator>, StoreError>> {
        Box::pin(async move {
            let model = self.model(plan)?;
            let administrator: Box<dyn Administrator> = Box::new(AdministratorOf {
                administrator: self.backend.administrator(plan, model).await?,
                plan: plan.clone(),
            });
            Ok(administrator)
        })
    }

    fn connect<'a>(
        &'a self,
        plan: &'a Plan,
    ) -> LocalFuture<'a, Result<Box<dyn Session>, StoreError>> {
        Box::pin(async move {
            let model = self.model(plan)?;
            let session: Box<dyn Session> = Box::new(SessionOf {
                session: self.backend.connect(plan, model).await?,
                tables: plan.schema.tables.len(),
            });
            Ok(session)
        })
    }
}

/// A session of the contract, made of a backend's.
struct SessionOf<S> {
    session: S,
    tables: usize,
}

impl<S> SessionOf<S> {
    /// Fails for a number of a table that the schema does not have.
    fn check(&self, table: usize) -> Result<(), StoreError> {
        if table < self.tables {
            return Ok(());
        }
        Err(StoreError::new(
            ErrorKind::NotFound,
            "find a table",
            format!("the schema has no table number {table}"),
        ))
    }
}

impl<S: BackendSession + 'static> Session for SessionOf<S> {
    fn write<'a>(
        &'a mut self,
        batch: &'a Batch,
    ) -> LocalFuture<'a, Result<Acknowledgement, StoreError>> {
        Box::pin(async move {
            self.check(batch.table)?;
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
            self.check(write.reading.table)?;
            self.session.upsert(write).await
        })
    }

    fn query<'a>(&'a mut self, query: &'a Query) -> LocalFuture<'a, Result<Answer, StoreError>> {
        Box::pin(async move {
            self.check(query.table)?;
            self.session.query(query).await
        })
    }

    fn scan<'a>(
        &'a mut self,
        table: usize,
        sink: &'a mut dyn FnMut(&Batch),
    ) -> LocalFuture<'a, Result<(), StoreError>> {
        Box::pin(async move {
            self.check(table)?;
            self.session.scan(table, sink).await
        })
    }

    fn scan_entities<'a>(
        &'a mut self,
        table: usize,
        sink: &'a mut dyn FnMut(u32, i64, &[Value]),
    ) -> LocalFuture<'a, Result<(), StoreError>> {
        Box::pin(async move {
            self.check(table)?;
            self.session.scan_entities(table, sink).await
        })
    }

    fn catch_up(&mut self) -> LocalFuture<'_, Result<(), StoreError>> {
        Box::pin(self.session.catch_up())
    }

    fn shows_later(&self) -> bool {
        self.session.shows_later()
    }

    fn datagram_bytes(&self) -> u64 {
        self.session.datagram_bytes()
    }

    fn keep_statements(&mut self) -> Result<(), StoreError> {
        self.session.keep_statements()
    }

    fn take_statements(
        &mut self,
        with_plans: bool,
    ) -> LocalFuture<'_, Result<Vec<Statement>, StoreError>> {
        Box::pin(self.session.take_statements(with_plans))
    }

    fn close(self: Box<Self>) -> LocalFuture<'static, Result<(), StoreError>> {
        Box::pin(self.session.close())
    }
}

/// An administrator of the contract, made of a backend's.
struct AdministratorOf<A> {
    administrator: A,
    plan: Plan,
}

impl<A: BackendAdministrator + 'static> Administrator for AdministratorOf<A> {
    fn create(&mut self) -> LocalFuture<'_, Result<(), StoreError>> {
        Box::pin(ownership::create(&mut self.administrator, &self.plan))
    }

    fn drop_database(&mut self) -> LocalFuture<'_, Result<(), StoreError>> {
        Box::pin(ownership::drop_database(
            &mut self.administrator,
            &self.plan,
        ))
    }

    fn databases(&mut self) -> LocalFuture<'_, Result<Vec<(String, String)>, StoreError>> {
        Box::pin(ownership::databases(&mut self.administrator))
    }

    fn settle(&mut self) -> LocalFuture<'_, Result<(), StoreError>> {
        Box::pin(self.administrator.settle())
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

    fn size(&mut self) -> LocalFuture<'_, Result<Size, StoreError>> {
        Box::pin(self.administrator.size())
    }
}
