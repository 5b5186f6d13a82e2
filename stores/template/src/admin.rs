//! Making, settling, inspecting and dropping one database. The kit decides what may be made and dropped; here is only how.

use sensormark_kit::{BackendAdministrator, Found};
use sensormark_store::{Batch, ErrorKind, Plan, Setting, Size, StoreError, Value};
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// What a database holds: the owner's mark, the readings of each table, and entities by table and series (time of the last reading, columns).
#[derive(Debug)]
pub(crate) struct Database {
    owner: String,
    pub(crate) tables: Vec<Batch>,
    pub(crate) entities: BTreeMap<(usize, u32), (i64, Vec<Value>)>,
}

/// All databases, by name.
#[derive(Debug, Clone, Default)]
pub(crate) struct Databases(Arc<Mutex<BTreeMap<String, Database>>>);

impl Databases {
    fn all(&self) -> MutexGuard<'_, BTreeMap<String, Database>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Does something with the plan's database, which has to be there.
    pub(crate) fn with<T>(
        &self,
        plan: &Plan,
        action: impl FnOnce(&mut Database) -> T,
    ) -> Result<T, StoreError> {
        let mut all = self.all();
        let found = all.get_mut(plan.database.as_str()).map(action);
        let missing = format!("there is no {}; create it first", plan.database);
        found.ok_or_else(|| StoreError::new(ErrorKind::NotFound, "find a database", missing))
    }
}

/// The administrator of a plan's database.
pub struct TemplateAdministrator {
    pub(crate) databases: Databases,
    pub(crate) plan: Plan,
}

impl BackendAdministrator for TemplateAdministrator {
    async fn found(&mut self, name: &str) -> Result<Found, StoreError> {
        Ok(match self.databases.all().get(name) {
            None => Found::Nothing,
            Some(database) => Found::with_mark(Some(database.owner.clone()), name),
        })
    }

    async fn contents(&mut self) -> Result<Vec<String>, StoreError> {
        Ok(Vec::new())
    }

    fn expected(&self) -> Vec<String> {
        Vec::new()
    }

    async fn make(&mut self) -> Result<(), StoreError> {
        let tables = self.plan.schema.tables.iter().enumerate();
        let database = Database {
            owner: self.plan.owner.clone(),
            tables: tables.map(|(place, one)| Batch::new(place, one)).collect(),
            entities: BTreeMap::new(),
        };
        let name = self.plan.database.to_string();
        self.databases.all().insert(name, database);
        Ok(())
    }

    async fn remove(&mut self) -> Result<(), StoreError> {
        self.databases.all().remove(self.plan.database.as_str());
        Ok(())
    }

    async fn names(&mut self) -> Result<Vec<String>, StoreError> {
        Ok(self.databases.all().keys().cloned().collect())
    }

    async fn settle(&mut self) -> Result<(), StoreError> {
        Ok(())
    }

    async fn settings(&mut self) -> Result<Vec<Setting>, StoreError> {
        let (name, value) = ("kept_in".to_owned(), "memory".to_owned());
        Ok(vec![Setting { name, value }])
    }

    async fn size(&mut self) -> Result<Size, StoreError> {
        self.databases.with(&self.plan, |database| {
            let readings: usize = database.tables.iter().map(Batch::len).sum();
            Size { total_bytes: 4_096 + 64 * readings as u64, log_bytes: None }
        })
    }
}
