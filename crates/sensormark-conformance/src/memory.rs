//! A store that keeps readings in this process's memory, by way of [`crate::reference`].
//!
//! It is a fixture for tests of the conformance suite, of the engine and of reports, and shows what a store looks like. It is not a contender: it is
//! in no registry, and answers come from the same code that says what is expected.

use crate::no_database::{self, plain};
use crate::reference::Reference;
use sensormark_store::answer::Answer;
use sensormark_store::batch::{Batch, Values};
use sensormark_store::capability::{Capability, Operation};
use sensormark_store::durability::Durability;
use sensormark_store::endpoint::{Endpoint, Secret};
use sensormark_store::error::{ErrorKind, StoreError};
use sensormark_store::layout::{DefaultSelection, Family, Layout, LayoutOption, TimeKey};
use sensormark_store::query::Query;
use sensormark_store::schema::{Schema, Table, TimeResolution, Value};
use sensormark_store::server::{Installation, Launch, ServerFolder, ServerOptions};
use sensormark_store::size::{Logs, Size};
use sensormark_store::store::{
    Acknowledgement, Administrator, AnswerSource, Description, EntityReading, Limits, LocalFuture, Plan,
    RepeatedWrite, Session, SessionKind, Setting, Store,
};
use sensormark_store::write_size::WriteSize;
use std::collections::BTreeMap;
use std::future::ready;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Databases in memory, which live as long as the store.
#[derive(Clone)]
pub struct MemoryStore {
    repeated: RepeatedWrite,
    databases: Databases,
}

type Databases = Arc<Mutex<BTreeMap<String, Database>>>;

struct Database {
    owner: String,
    reference: Reference,
}

impl MemoryStore {
    /// The store's name.
    pub const NAME: &'static str = "memory";
    /// Readings in one statement.
    const STATEMENT: usize = 10_000;
    /// Bytes of text in one reading.
    const LONGEST_TEXT: usize = 8 << 20;

    /// No databases; repeated writes end as said.
    pub fn new(repeated: RepeatedWrite) -> Self {
        Self { repeated, databases: Databases::default() }
    }

    fn reference(&self, plan: &Plan) -> Reference {
        let mut reference = Reference::new(Arc::clone(&plan.schema));
        for (number, table) in plan.schema.tables.iter().enumerate() {
            reference = reference.with_resolution(number, self.time_resolution(&plan.layout, table));
        }
        reference
    }
}

impl Store for MemoryStore {
    fn description(&self) -> Description {
        Description {
            name: Self::NAME.to_owned(),
            title: "memory (a fixture)".to_owned(),
            embedded: true,
            session: SessionKind::Async,
            durability: vec![(Durability::Default, "kept in memory".to_owned())],
            url_example: "anything".to_owned(),
            repeated_write: self.repeated,
            logs: Logs::default(),
        }
    }

    fn layouts(&self, _schema: &Schema, family: Family) -> Vec<LayoutOption> {
        let layout = plain(family);
        let mut offers = vec![LayoutOption {
            variant: String::new(),
            layout,
            default_selection: DefaultSelection::Usual,
            description: "columns in memory, ordered by series and time".to_owned(),
        }];
        if family == Family::PerReading {
            offers.push(LayoutOption {
                variant: "milliseconds".to_owned(),
                layout: layout.with_time(TimeKey::Native),
                default_selection: DefaultSelection::OnRequest,
                description: "the same with times cut off to milliseconds".to_owned(),
            });
        }
        offers
    }

    fn capability(&self, _operation: Operation, _layout: &Layout, _table: &Table) -> Capability {
        Capability::Native
    }

    fn limits(&self, _layout: &Layout, _table: &Table) -> Limits {
        Limits { readings_per_statement: Self::STATEMENT }
    }

    fn write_size(&self, _layout: &Layout, _table: &Table) -> WriteSize {
        no_database::write_size()
    }

    fn time_resolution(&self, layout: &Layout, _table: &Table) -> TimeResolution {
        match layout.time {
            TimeKey::Nanoseconds => TimeResolution::Nanoseconds,
            TimeKey::Native => TimeResolution::Milliseconds,
        }
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

    fn endpoint(&self, url: &str) -> Result<Endpoint, StoreError> {
        if url.is_empty() {
            return Err(StoreError::new(
                ErrorKind::Configuration,
                "read a URL of the memory store",
                "it is empty; any other text will do",
            ));
        }
        Ok(Endpoint { url: Secret::new(url), label: "memory".to_owned(), managed: true, ports: Vec::new() })
    }

    fn version<'a>(&'a self, _endpoint: &'a Endpoint) -> LocalFuture<'a, Result<String, StoreError>> {
        done(Ok(env!("CARGO_PKG_VERSION").to_owned()))
    }

    fn administrator<'a>(
        &'a self,
        plan: &'a Plan,
    ) -> LocalFuture<'a, Result<Box<dyn Administrator>, StoreError>> {
        let administrator: Box<dyn Administrator> =
            Box::new(MemoryAdministrator { store: self.clone(), plan: plan.clone() });
        done(Ok(administrator))
    }

    fn connect<'a>(&'a self, plan: &'a Plan) -> LocalFuture<'a, Result<Box<dyn Session>, StoreError>> {
        let found = find(&mut lock(&self.databases), plan, "connect").map(|_| ());
        let session: Box<dyn Session> = Box::new(MemorySession { store: self.clone(), plan: plan.clone() });
        done(found.map(|()| session))
    }
}

fn done<'a, T: 'a>(result: Result<T, StoreError>) -> LocalFuture<'a, Result<T, StoreError>> {
    Box::pin(ready(result))
}

fn lock(databases: &Databases) -> MutexGuard<'_, BTreeMap<String, Database>> {
    databases.lock().unwrap_or_else(PoisonError::into_inner)
}

fn find<'a>(
    databases: &'a mut BTreeMap<String, Database>,
    plan: &Plan,
    operation: &str,
) -> Result<&'a mut Database, StoreError> {
    databases.get_mut(plan.database.as_str()).ok_or_else(|| {
        StoreError::new(
            ErrorKind::NotFound,
            operation,
            format!("there is no database {}; create it first", plan.database),
        )
    })
}

struct MemorySession {
    store: MemoryStore,
    plan: Plan,
}

impl MemorySession {
    /// Does something with the prepared readings.
    fn with<T>(
        &self,
        operation: &str,
        table: usize,
        action: impl FnOnce(&mut Reference) -> T,
    ) -> Result<T, StoreError> {
        self.plan.table(table)?;
        let mut databases = lock(&self.store.databases);
        let reference = &mut find(&mut databases, &self.plan, operation)?.reference;
        reference.prepare();
        Ok(action(reference))
    }

    fn store(&self, batch: &Batch) -> Result<Acknowledgement, StoreError> {
        self.plan.table(batch.table)?;
        for column in &batch.columns {
            if let Values::Text(values) = &column.values
                && (0..values.len()).any(|row| values.get(row).len() > MemoryStore::LONGEST_TEXT)
            {
                return Err(StoreError::new(
                    ErrorKind::TooLarge,
                    "write",
                    format!("a text is longer than {} bytes", MemoryStore::LONGEST_TEXT),
                ));
            }
        }
        let mut databases = lock(&self.store.databases);
        let reference = &mut find(&mut databases, &self.plan, "write")?.reference;
        let table = &self.plan.schema.tables[batch.table];
        if self.store.repeated_write(&self.plan.layout, table) == RepeatedWrite::Refused {
            reference.prepare();
            let holds = |row: usize| reference.holds(batch.table, batch.series[row], batch.times_ns[row]);
            if (0..batch.len()).any(holds) {
                return Err(StoreError::new(
                    ErrorKind::Conflict,
                    "write",
                    "a reading of the same series and time is there already",
                ));
            }
        }
        reference.add(batch);
        let sent = batch.len() as u64;
        Ok(Acknowledgement {
            readings: sent,
            sent,
            statements: batch.len().div_ceil(MemoryStore::STATEMENT) as u64,
        })
    }
}

impl Session for MemorySession {
    fn write<'a>(&'a mut self, batch: &'a Batch) -> LocalFuture<'a, Result<Acknowledgement, StoreError>> {
        done(self.store(batch))
    }

    fn upsert<'a>(
        &'a mut self,
        write: EntityReading<'a>,
    ) -> LocalFuture<'a, Result<Acknowledgement, StoreError>> {
        let reading = write.reading;
        let stored = self.store(reading).and_then(|acknowledgement| {
            self.with("update an entity", reading.table, |reference| {
                let (series, time) = (reading.series[0], reading.times_ns[0]);
                reference.add_entity(reading.table, series, time, write.entity);
            })?;
            Ok(acknowledgement)
        });
        done(stored)
    }

    fn query<'a>(&'a mut self, query: &'a Query) -> LocalFuture<'a, Result<Answer, StoreError>> {
        done(self.with("query", query.table, |reference| reference.answer(query)))
    }

    fn scan<'a>(
        &'a mut self,
        table: usize,
        sink: &'a mut dyn FnMut(&Batch),
    ) -> LocalFuture<'a, Result<(), StoreError>> {
        done(self.with("scan", table, |reference| reference.scan(table, sink)))
    }

    fn scan_entities<'a>(
        &'a mut self,
        table: usize,
        sink: &'a mut dyn FnMut(u32, i64, &[Value]),
    ) -> LocalFuture<'a, Result<(), StoreError>> {
        done(self.with("scan entities", table, |reference| {
            reference.scan_entities(table, sink);
        }))
    }

    fn close(self: Box<Self>) -> LocalFuture<'static, Result<(), StoreError>> {
        done(Ok(()))
    }
}

struct MemoryAdministrator {
    store: MemoryStore,
    plan: Plan,
}

impl MemoryAdministrator {
    fn foreign(&self, operation: &str) -> StoreError {
        StoreError::new(
            ErrorKind::Foreign,
            operation,
            format!(
                "a database {} that this run did not make is there; choose another name",
                self.plan.database
            ),
        )
    }

    fn make(&self) -> Result<(), StoreError> {
        let mut databases = lock(&self.store.databases);
        let name = self.plan.database.as_str();
        if let Some(database) = databases.get(name) {
            return if database.owner == self.plan.owner {
                Ok(())
            } else {
                Err(self.foreign("create a database"))
            };
        }
        let repeated =
            self.plan.schema.tables.first().map_or(RepeatedWrite::KeepsBoth, |table| {
                self.store.repeated_write(&self.plan.layout, table)
            });
        let database = Database {
            owner: self.plan.owner.clone(),
            reference: self.store.reference(&self.plan).with_repeated_write(repeated),
        };
        databases.insert(name.to_owned(), database);
        Ok(())
    }

    fn remove(&self) -> Result<(), StoreError> {
        let mut databases = lock(&self.store.databases);
        let name = self.plan.database.as_str();
        match databases.get(name) {
            Some(database) if database.owner != self.plan.owner => Err(self.foreign("drop a database")),
            _ => {
                databases.remove(name);
                Ok(())
            }
        }
    }

    fn occupied(&self) -> Result<Size, StoreError> {
        let mut databases = lock(&self.store.databases);
        let database = find(&mut databases, &self.plan, "size")?;
        database.reference.prepare();
        let census = database.reference.census();
        Ok(Size { total_bytes: 4_096 + 8 * census.values() + 12 * census.readings(), log_bytes: None })
    }
}

impl Administrator for MemoryAdministrator {
    fn create(&mut self) -> LocalFuture<'_, Result<(), StoreError>> {
        done(self.make())
    }

    fn drop_database(&mut self) -> LocalFuture<'_, Result<(), StoreError>> {
        done(self.remove())
    }

    fn databases(&mut self) -> LocalFuture<'_, Result<Vec<(String, String)>, StoreError>> {
        let databases = lock(&self.store.databases);
        done(Ok(databases.iter().map(|(name, database)| (name.clone(), database.owner.clone())).collect()))
    }

    fn settle(&mut self) -> LocalFuture<'_, Result<(), StoreError>> {
        done(Ok(()))
    }

    fn settings(&mut self) -> LocalFuture<'_, Result<Vec<Setting>, StoreError>> {
        done(Ok(vec![Setting {
            name: "repeated_write".to_owned(),
            value: format!("{:?}", self.store.repeated),
        }]))
    }

    fn size(&mut self) -> LocalFuture<'_, Result<Size, StoreError>> {
        done(self.occupied())
    }
}

#[cfg(test)]
pub(crate) mod fixture;
