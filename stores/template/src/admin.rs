//! Making, settling, inspecting and dropping one database. The kit decides what may be made and dropped; here is only how.

use sensormark_kit::{BackendAdministrator, Found};
use sensormark_store::{Batch, ErrorKind, Plan, Setting, Size, StoreError, Value};
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

/// What a database holds.
#[derive(Debug)]
pub struct Database {
    /// The owner's mark.
    pub owner: String,
    /// The readings of each table.
    pub tables: Vec<Batch>,
    /// Entities by table and series: time of the last reading, and columns.
    pub entities: BTreeMap<(usize, u32), (i64, Vec<Value>)>,
}

/// All databases, by name.
#[derive(Debug, Clone, Default)]
pub struct Databases(Arc<Mutex<BTreeMap<String, Database>>>);

impl Databases {
    /// Does something with all of them.
    pub fn with<T>(&self, action: impl FnOnce(&mut BTreeMap<String, Database>) -> T) -> T {
        action(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Does something with the plan's database.
    ///
    /// # Errors
    /// [`ErrorKind::NotFound`] when it is not there.
    pub fn of<T>(
        &self,
        plan: &Plan,
        action: impl FnOnce(&mut Database) -> T,
    ) -> Result<T, StoreError> {
        self.with(|all| all.get_mut(plan.database.as_str()).map(action))
            .ok_or_else(|| {
                StoreError::new(
                    ErrorKind::NotFound,
                    "find a database",
                    format!("there is no {}; create it first", plan.database),
                )
            })
    }
}

/// The administrator of a plan's database.
#[derive(Debug)]
pub struct TemplateAdministrator {
    pub(crate) databases: Databases,
    pub(crate) plan: Plan,
}

impl BackendAdministrator for TemplateAdministrator {
    async fn found(&mut self, name: &str) -> Result<Found, StoreError> {
        let mark = self
            .databases
            .with(|all| Some(all.get(name)?.owner.clone()));
        Ok(mark.map_or(Found::Nothing, |owner| Found::with_mark(Some(owner), name)))
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
            tables: tables
                .map(|(number, table)| Batch::new(number, table))
                .collect(),
            entities: BTreeMap::new(),
        };
        let name = self.plan.database.to_string();
        self.databases.with(|all| all.insert(name, database));
        Ok(())
    }

    async fn remove(&mut self) -> Result<(), StoreError> {
        self.databases
            .with(|all| all.remove(self.plan.database.as_str()));
        Ok(())
    }

    async fn names(&mut self) -> Result<Vec<String>, StoreError> {
        Ok(self.databases.with(|all| all.keys().cloned().collect()))
    }

    async fn settle(&mut self) -> Result<(), StoreError> {
        Ok(())
    }

    async fn settings(&mut self) -> Result<Vec<Setting>, StoreError> {
        Ok(vec![Setting {
            name: "readings_per_statement".to_owned(),
            value: crate::STATEMENT.to_string(),
        }])
    }

    async fn size(&mut self) -> Result<Size, StoreError> {
        self.databases.of(&self.plan, |database| {
            let readings: usize = database.tables.iter().map(Batch::len).sum();
            Size {
                total_bytes: 4_096 + 64 * readings as u64,
                log_bytes: None,
            }
        })
    }
}
