//! What a role needs to reach its database, as it travels through the pipe that starts it; and the bounded, reconnecting
//! connection of one client.
//!
//! Instants are not taken here: [`Connection::write`] and [`Connection::query`] are called inside the caller's timed span.

use super::watchdog::{Guarded, Watch};
use sensormark_conformance::faulty::FaultyStore;
use sensormark_store::{
    Acknowledgement, Answer, Batch, DatabaseName, Durability, Endpoint, EntityReading, ErrorKind, Layout,
    LocalFuture, Plan, Query, Schema, Secret, Session, Store, StoreError,
};
use serde::{Deserialize, Serialize};
use std::pin::Pin;
use std::rc::Rc;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

/// Why a store of the project cannot be used here.
const NOT_BUILT_IN: &str = "this program was built without it; make build builds one with all databases";

/// The stores that the command knows.
#[derive(Clone, Default)]
pub struct Registry {
    stores: Vec<Arc<dyn Store>>,
    left_out: Vec<String>,
    /// What people also call a store, and its name.
    aliases: Vec<(&'static str, &'static str)>,
}

/// The fewest letters that a store's name may be cut to.
const LEAST_LETTERS: usize = 3;

impl Registry {
    /// These stores, in the order in which they are listed.
    pub fn new(stores: Vec<Arc<dyn Store>>) -> Self {
        Self { stores, ..Self::default() }
    }

    /// The same, where people also call stores so: (what they say, the store's name).
    #[must_use]
    pub fn with_aliases(mut self, aliases: Vec<(&'static str, &'static str)>) -> Self {
        self.aliases = aliases;
        self
    }

    /// The same, of a program that was built without the stores of these names.
    #[must_use]
    pub fn without(mut self, left_out: Vec<String>) -> Self {
        self.left_out = left_out;
        self
    }

    /// Stores that the program was built without, with the words that say so.
    pub fn left_out(&self) -> impl Iterator<Item = (&str, &'static str)> {
        let names = self.left_out.iter();
        names.map(|name| (name.as_str(), NOT_BUILT_IN))
    }

    fn real_name<'n>(&self, name: &'n str) -> &'n str {
        let alias = self.aliases.iter().find(|(alias, _)| *alias == name);
        alias.map_or(name, |(_, name)| name)
    }

    /// The store of this name, or of this beginning, that the program was built without.
    pub fn find_left_out(&self, name: &str) -> Option<(&str, &'static str)> {
        let name = self.real_name(name);
        let begins = |left_out: &str| name.len() >= LEAST_LETTERS && left_out.starts_with(name);
        let mut left_out = self.left_out();
        left_out.find(|(left_out, _)| *left_out == name || begins(left_out))
    }

    /// All stores.
    pub fn stores(&self) -> &[Arc<dyn Store>] {
        &self.stores
    }

    /// The store of this name, of what people also call it, or of a beginning that no other store's name has ("mongo").
    pub fn find(&self, name: &str) -> Option<&Arc<dyn Store>> {
        let name = self.real_name(name);
        let named = |store: &&Arc<dyn Store>| store.name() == name;
        self.stores.iter().find(named).or_else(|| {
            let mut begin = self
                .stores
                .iter()
                .filter(|store| name.len() >= LEAST_LETTERS && store.name().starts_with(name));
            begin.next().filter(|_| begin.next().is_none())
        })
    }
}

/// A [`Plan`] in a form that can be sent. It goes only through a role's standard input, because it holds the endpoint's secret.
#[derive(Clone, Serialize, Deserialize)]
pub struct PlanMessage {
    /// The store's name.
    pub store: String,
    /// The endpoint's URL with its secret.
    url: String,
    label: String,
    managed: bool,
    ports: Vec<u16>,
    database: DatabaseName,
    owner: String,
    layout: Layout,
    durability: Durability,
    clients: u32,
    timeout_ms: u64,
    fault: Option<String>,
}

impl PlanMessage {
    /// The message of this plan, with the fault that the role's store shall have planted, if any. The schema is not in it: both ends
    /// have it from the workload.
    pub fn new(store: &str, plan: &Plan, fault: Option<&str>) -> Self {
        Self {
            fault: fault.map(str::to_owned),
            store: store.to_owned(),
            url: plan.endpoint.url.expose().to_owned(),
            label: plan.endpoint.label.clone(),
            managed: plan.endpoint.managed,
            ports: plan.endpoint.ports.clone(),
            database: plan.database.clone(),
            owner: plan.owner.clone(),
            layout: plan.layout,
            durability: plan.durability,
            clients: plan.clients,
            timeout_ms: plan.timeout_ms,
        }
    }

    /// The store that the role uses.
    ///
    /// # Errors
    /// When there is no such store or fault: coordinator and role are of different builds.
    pub fn store(&self, registry: &Registry) -> Result<Arc<dyn Store>, StoreError> {
        let missing = || {
            StoreError::new(
                ErrorKind::Configuration,
                "start a role",
                format!("there is no store {}", self.store),
            )
        };
        let store = registry.find(&self.store).map(Arc::clone).ok_or_else(missing)?;
        match &self.fault {
            Some(fault) => Ok(Arc::new(FaultyStore::new(store, fault.parse()?))),
            None => Ok(store),
        }
    }

    /// The layout.
    pub const fn layout(&self) -> &Layout {
        &self.layout
    }

    /// The plan again.
    pub fn plan(&self, schema: Arc<Schema>) -> Plan {
        Plan {
            endpoint: Endpoint {
                url: Secret::new(self.url.clone()),
                label: self.label.clone(),
                managed: self.managed,
                ports: self.ports.clone(),
            },
            database: self.database.clone(),
            owner: self.owner.clone(),
            schema,
            layout: self.layout,
            durability: self.durability,
            clients: self.clients,
            timeout_ms: self.timeout_ms,
        }
    }
}

/// One client's connection: every operation is bounded in time, and a connection that broke is made again before the next one.
pub struct Connection<'a> {
    store: &'a dyn Store,
    plan: &'a Plan,
    session: Option<Box<dyn Session>>,
    watch: Rc<Watch>,
    reconnects: u64,
}

impl<'a> Connection<'a> {
    /// Connects. Its operations are bounded by a watch that [`walk`](super::watchdog::walk) looks after for [`patience`], instead of a timer each.
    ///
    /// # Errors
    /// When the database cannot be reached, or not within the plan's time limit.
    pub async fn open(store: &'a dyn Store, plan: &'a Plan, watch: Rc<Watch>) -> Result<Self, StoreError> {
        let session = bounded(plan, &watch, "connect", store.connect(plan)).await?;
        Ok(Self { store, plan, session: Some(session), watch, reconnects: 0 })
    }

    /// How often a connection that broke was made again.
    pub const fn reconnects(&self) -> u64 {
        self.reconnects
    }

    /// Writes a batch.
    ///
    /// # Errors
    /// What the store says; [`ErrorKind::Timeout`] in doubt when it says nothing in time.
    pub async fn write(&mut self, batch: &Batch) -> Result<Acknowledgement, StoreError> {
        if self.session.is_none() {
            self.connect_again().await?;
        }
        let (plan, watch, session) = self.parts();
        let result = bounded(plan, watch, "write", session.write(batch)).await;
        self.drop_broken(&result);
        result
    }

    /// Inserts a reading and updates its entity.
    ///
    /// # Errors
    /// What the store says; [`ErrorKind::Timeout`] in doubt when it says nothing in time.
    pub async fn upsert(&mut self, write: EntityReading<'_>) -> Result<Acknowledgement, StoreError> {
        if self.session.is_none() {
            self.connect_again().await?;
        }
        let (plan, watch, session) = self.parts();
        let result = bounded(plan, watch, "upsert", session.upsert(write)).await;
        self.drop_broken(&result);
        result
    }

    /// Answers a question.
    ///
    /// # Errors
    /// What the store says; [`ErrorKind::Timeout`] when it says nothing in time.
    pub async fn query(&mut self, query: &Query) -> Result<Answer, StoreError> {
        if self.session.is_none() {
            self.connect_again().await?;
        }
        let (plan, watch, session) = self.parts();
        let result = bounded(plan, watch, "query", session.query(query)).await;
        self.drop_broken(&result);
        result
    }

    /// Says whether nobody writes from now on, as [`Session::nobody_writes`] has it. A connection that is made again is as one that was told nothing.
    pub fn nobody_writes(&mut self, nobody: bool) {
        if let Some(session) = &mut self.session {
            session.nobody_writes(nobody);
        }
    }

    /// Whether writes are acknowledged before they show.
    pub fn shows_later(&self) -> bool {
        let session = self.session.as_ref();
        session.is_some_and(|session| session.shows_later())
    }

    /// Waits until the server has done everything that was written without an acknowledgement, or does not show yet.
    ///
    /// # Errors
    /// What the store says, which gives up where nothing moves on; [`ErrorKind::Timeout`] when that takes sixty times as long as an operation may.
    pub async fn catch_up(&mut self) -> Result<(), StoreError> {
        if self.session.is_none() {
            // What it had not done when the connection broke cannot be waited for.
            return Ok(());
        }
        let (plan, _, session) = self.parts();
        let limit = patience(plan) * 60;
        let waiting = tokio::time::timeout(limit, session.catch_up()).await;
        let result = waiting.unwrap_or_else(|_| Err(given_up(limit, "catch up")));
        self.drop_broken(&result);
        result
    }

    /// Bytes handed to the kernel in datagrams so far.
    pub fn datagram_bytes(&self) -> u64 {
        self.session.as_ref().map_or(0, |session| session.datagram_bytes())
    }

    /// Says goodbye.
    ///
    /// # Errors
    /// What the store says.
    pub async fn close(mut self) -> Result<(), StoreError> {
        match self.session.take() {
            Some(session) => bounded(self.plan, &self.watch, "disconnect", session.close()).await,
            None => Ok(()),
        }
    }

    #[cold]
    async fn connect_again(&mut self) -> Result<(), StoreError> {
        let connecting = self.store.connect(self.plan);
        let connected = bounded(self.plan, &self.watch, "reconnect", connecting).await;
        self.session = Some(connected.map_err(|error| error.with_doubt(false))?);
        self.reconnects += 1;
        Ok(())
    }

    #[inline]
    fn parts(&mut self) -> (&'a Plan, &Watch, &mut dyn Session) {
        let session = self.session.as_mut().expect("just connected");
        (self.plan, &self.watch, session.as_mut())
    }

    #[inline]
    fn drop_broken<T>(&mut self, result: &Result<T, StoreError>) {
        if let Err(error) = result
            && matches!(error.kind(), ErrorKind::Unavailable | ErrorKind::Timeout | ErrorKind::Protocol)
        {
            self.session = None;
        }
    }
}

/// How long an operation may take before it is given up: a store may take its time limit and as long again to say that it timed out.
pub const fn patience(plan: &Plan) -> Duration {
    Duration::from_millis(plan.timeout_ms.saturating_mul(2))
}

/// The operation's result, or an error when it takes longer than [`patience`].
#[inline]
fn bounded<'f, T>(
    plan: &'f Plan,
    watch: &'f Watch,
    operation: &'static str,
    future: LocalFuture<'f, Result<T, StoreError>>,
) -> Bounded<'f, T> {
    Bounded { plan, operation, guarded: watch.guard(future) }
}

/// An operation that is given up in the end.
struct Bounded<'f, T> {
    plan: &'f Plan,
    operation: &'static str,
    guarded: Guarded<'f, LocalFuture<'f, Result<T, StoreError>>>,
}

impl<T> Future for Bounded<'_, T> {
    type Output = Result<T, StoreError>;

    #[inline]
    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        let polled = Pin::new(&mut self.guarded).poll(context);
        polled.map(|result| result.unwrap_or_else(|| Err(given_up(patience(self.plan), self.operation))))
    }
}

#[cold]
fn given_up(limit: Duration, operation: &str) -> StoreError {
    let limit = limit.as_millis();
    StoreError::new(ErrorKind::Timeout, operation, format!("no answer within {limit} ms; given up"))
}
