//! What all checks of one run of the suite share: the store, its server, the databases made, the data sets loaded.

use super::check::{Broken, Check, While};
use super::client::{Client, block_on, bounded};
use super::data::{Data, Dataset};
use super::place::Place;
use crate::reference::Reference;
use sensormark_store::batch::Batch;
use sensormark_store::error::ErrorKind;
use sensormark_store::layout::{Family, Layout, LayoutOption, WriteMethod};
use sensormark_store::name::DatabaseName;
use sensormark_store::schema::Schema;
use sensormark_store::{Administrator, Durability, Plan, Store};
use std::cell::RefCell;
use std::collections::HashMap;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock};
use std::time::Duration;

/// How long making, settling or dropping a database may take.
const ADMINISTRATION: Duration = Duration::from_secs(120);

/// One run of the suite.
pub(super) struct Suite {
    pub(super) store: Arc<dyn Store>,
    pub(super) place: Place,
    /// How long an operation may take, in ms.
    pub(super) timeout_ms: u64,
    /// Held for writing by checks that stop or pause the server.
    pub(super) undisturbed: RwLock<()>,
    /// Held by checks of datagrams: a server has one listener, which serves one database.
    pub(super) datagrams: Mutex<()>,
    /// Variants of layouts that the server may lack.
    refusable: &'static [&'static str],
    /// What the server said of each of them that was asked for; none where it makes it.
    refusals: Mutex<HashMap<String, Option<String>>>,
    name: String,
    counter: AtomicU32,
    random: AtomicU32,
    made: Mutex<Vec<Plan>>,
    loaded: Mutex<HashMap<(Dataset, Layout), Slot>>,
}

/// A data set that is loaded once, by the first check that needs it.
type Slot = Arc<Mutex<Option<Result<Arc<Loaded>, String>>>>;

/// A loaded database, and what answers are expected of it.
pub(super) struct Loaded {
    pub(super) plan: Plan,
    pub(super) reference: Reference,
}

/// What a check is tried on: a data set in a layout.
#[derive(Clone)]
pub(super) struct Subject {
    pub(super) dataset: Dataset,
    pub(super) family: Family,
    pub(super) offer: LayoutOption,
    pub(super) data: Arc<Data>,
}

/// One check of one rule on one subject.
pub(super) struct Case<'a> {
    pub(super) suite: &'a Suite,
    subject: Option<Subject>,
    plans: RefCell<Vec<Plan>>,
}

impl Subject {
    /// Whether writes are datagrams.
    pub(super) fn sends_datagrams(&self) -> bool {
        self.offer.layout.write == WriteMethod::Datagram
    }
}

/// Takes a lock whose holder may have panicked.
pub(super) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Suite {
    pub(super) fn new(
        store: Arc<dyn Store>,
        place: Place,
        timeout_ms: u64,
        refusable: &'static [&'static str],
    ) -> Self {
        let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap_or_default();
        let name = format!("c{:07x}{:04x}", now.as_millis() & 0xfff_ffff, std::process::id() & 0xffff);
        Self {
            store,
            place,
            timeout_ms,
            undisturbed: RwLock::new(()),
            datagrams: Mutex::new(()),
            refusable,
            refusals: Mutex::default(),
            name,
            counter: AtomicU32::new(0),
            random: AtomicU32::new(0),
            made: Mutex::default(),
            loaded: Mutex::default(),
        }
    }

    /// The owner's mark of this run.
    pub(super) fn owner(&self) -> &str {
        &self.name
    }

    fn plan(&self, subject: &Subject) -> Plan {
        self.plan_of(&subject.data.schema, subject.offer.layout)
    }

    /// A plan for a database of its own, which is not there yet.
    pub(super) fn plan_of(&self, schema: &Arc<Schema>, layout: Layout) -> Plan {
        // Of three digits always: statements that are shown tell how many bytes they have, the name among them.
        let number = self.counter.fetch_add(1, Ordering::Relaxed);
        self.named_plan(&format!("_{number:03}"), schema, layout)
    }

    /// As [`Suite::plan_of`], but named as one of many random cases.
    pub(super) fn random_plan(&self, schema: &Arc<Schema>, layout: Layout) -> Plan {
        let number = self.random.fetch_add(1, Ordering::Relaxed);
        self.named_plan(&format!("r{number}"), schema, layout)
    }

    fn named_plan(&self, ending: &str, schema: &Arc<Schema>, layout: Layout) -> Plan {
        Plan {
            endpoint: self.place.endpoint(),
            database: DatabaseName::new(&format!("{}{ending}", self.name))
                .expect("the suite's names are short"),
            owner: self.name.clone(),
            schema: Arc::clone(schema),
            layout,
            durability: Durability::Default,
            clients: 16,
            timeout_ms: self.timeout_ms,
        }
    }

    /// What administers the plan's database.
    pub(super) async fn administrator(&self, plan: &Plan) -> Check<Box<dyn Administrator>> {
        Ok(administer("connect an administrator", self.store.administrator(plan)).await??)
    }

    /// Makes the plan's database, to be dropped at the end of the run at the latest.
    pub(super) async fn create(&self, plan: &Plan) -> Check {
        lock(&self.made).push(plan.clone());
        let mut administrator = self.administrator(plan).await?;
        administer("create", administrator.create()).await??;
        Ok(())
    }

    /// Why the server makes no database of a layout that it may lack.
    pub(super) async fn refusal(
        &self,
        variant: &str,
        schema: &Schema,
        layout: Layout,
    ) -> Check<Option<String>> {
        if !self.refusable.contains(&variant) {
            return Ok(None);
        }
        if let Some(known) = lock(&self.refusals).get(variant) {
            return Ok(known.clone());
        }
        // Named as a run's: what is made before the refusal goes with it.
        let number = self.counter.fetch_add(1, Ordering::Relaxed);
        let plan = self.named_plan(&format!("{number:07}"), &Arc::new(schema.clone()), layout);
        let mut administrator = self.administrator(&plan).await?;
        let reason = match administer("create", administrator.create()).await? {
            Ok(()) => None,
            Err(error) if error.kind() == ErrorKind::Unsupported => Some(error.to_string()),
            Err(error) => return Err(error.into()),
        };
        self.drop_database(&plan).await?;
        lock(&self.refusals).insert(variant.to_owned(), reason.clone());
        Ok(reason)
    }

    /// Drops the plan's database.
    pub(super) async fn drop_database(&self, plan: &Plan) -> Check {
        let mut administrator = self.administrator(plan).await?;
        administer("drop", administrator.drop_database()).await??;
        lock(&self.made).retain(|made| made.database != plan.database);
        Ok(())
    }

    /// Drops every database of this run that is still there.
    pub(super) async fn drop_all(&self) -> Check {
        lock(&self.loaded).clear();
        let plans = lock(&self.made).clone();
        let mut result = Ok(());
        for plan in plans {
            let dropped = self.drop_database(&plan).await;
            result = result.and(dropped.while_doing(|| format!("drop {}", plan.database)));
        }
        result
    }

    /// The subject's data set, loaded; by this call, if it is the first.
    pub(super) fn loaded(&self, subject: &Subject) -> Check<Arc<Loaded>> {
        let key = (subject.dataset, subject.offer.layout);
        let slot = Arc::clone(lock(&self.loaded).entry(key).or_default());
        let mut slot = lock(&slot);
        let result = slot.get_or_insert_with(|| {
            let load = async { self.load(subject).await };
            match block_on(load) {
                Ok(loaded) => Ok(Arc::new(loaded)),
                Err(Broken(text)) => Err(text),
            }
        });
        result.clone().map_err(Broken)
    }

    async fn load(&self, subject: &Subject) -> Check<Loaded> {
        let what = || format!("load data set {}", subject.dataset.text());
        let plan = self.plan(subject);
        self.create(&plan).await.while_doing(what)?;
        let mut client = Client::connect(&*self.store, &plan).await.while_doing(what)?;
        for batch in &subject.data.batches {
            for part in parts(batch, 500) {
                client.write(&part).await.while_doing(what)?;
            }
        }
        client.close().await.while_doing(what)?;
        let reference = self.reference(subject, &subject.data.batches);
        Ok(Loaded { plan, reference })
    }

    /// The expected answers over these batches in the subject's layout.
    pub(super) fn reference(&self, subject: &Subject, batches: &[Batch]) -> Reference {
        let schema = &subject.data.schema;
        let layout = &subject.offer.layout;
        let mut reference = Reference::new(Arc::clone(schema));
        for (number, table) in schema.tables.iter().enumerate() {
            let resolution = self.store.time_resolution(layout, table);
            reference = reference.with_resolution(number, resolution);
        }
        for batch in batches {
            reference.add(batch);
        }
        reference.prepare();
        reference
    }
}

/// Waits for an administrator, but not for ever.
pub(super) async fn administer<T>(what: &str, future: impl Future<Output = T>) -> Check<T> {
    bounded(ADMINISTRATION, what, future).await
}

/// A batch in parts of at most `size` readings.
pub(super) fn parts(batch: &Batch, size: usize) -> Vec<Batch> {
    let mut empty = batch.clone();
    empty.clear();
    let part = |first: usize| {
        let mut part = empty.clone();
        for row in first..batch.len().min(first + size) {
            part.push_row(batch, row);
        }
        part
    };
    (0..batch.len()).step_by(size).map(part).collect()
}

impl<'a> Case<'a> {
    pub(super) fn new(suite: &'a Suite, subject: Option<Subject>) -> Self {
        Self { suite, subject, plans: RefCell::default() }
    }

    /// The data set and layout, of a rule that is about layouts.
    pub(super) fn subject(&self) -> &Subject {
        self.subject.as_ref().expect("a rule about layouts has a subject")
    }

    pub(super) fn store(&self) -> &dyn Store {
        &*self.suite.store
    }

    /// A plan for a database of this case, which is not there yet; it is dropped when the case is over.
    pub(super) fn plan(&self) -> Plan {
        let plan = self.suite.plan(self.subject());
        self.plans.borrow_mut().push(plan.clone());
        plan
    }

    /// A new database.
    pub(super) async fn database(&self) -> Check<Plan> {
        let plan = self.plan();
        self.suite.create(&plan).await?;
        Ok(plan)
    }

    /// A new database and a client of it.
    pub(super) async fn client(&self) -> Check<(Plan, Client)> {
        let plan = self.database().await?;
        let client = self.connect(&plan).await?;
        Ok((plan, client))
    }

    pub(super) async fn connect(&self, plan: &Plan) -> Check<Client> {
        Client::connect(self.store(), plan).await
    }

    /// The expected answers over these batches.
    pub(super) fn reference(&self, batches: &[Batch]) -> Reference {
        self.suite.reference(self.subject(), batches)
    }

    /// Drops the databases of this case.
    pub(super) async fn clean_up(&self) -> Check {
        for plan in self.plans.take() {
            let what = || format!("drop {} after the check", plan.database);
            self.suite.drop_database(&plan).await.while_doing(what)?;
        }
        Ok(())
    }
}
