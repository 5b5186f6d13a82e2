//! What makes and removes one plan's database, and the contract's `Administrator`, made of it.

use crate::mark::Found;
use crate::ownership;
use sensormark_store::{Administrator, Documents, LocalFuture, Plan, Setting, Size, StoreError};

/// What makes and removes one plan's database: a thin driver below [`crate::ownership`], which decides what may be done.
#[expect(async_fn_in_trait, reason = "futures stay on their thread")]
pub trait BackendAdministrator {
    /// The name that the plan's database has on the server, where it is not the plan's own.
    fn name_there(&self) -> Option<&str>;

    /// Fails where this server does not offer what the plan asks. It comes before anything is looked for or made.
    ///
    /// # Errors
    /// What the plan asks in vain.
    async fn check(&mut self) -> Result<(), StoreError>;

    /// What stands under a name.
    ///
    /// # Errors
    /// When it cannot be looked into.
    async fn found(&mut self, name: &str) -> Result<Found, StoreError>;

    /// The names of what the plan's database holds (tables, collections, containers), without what the database itself brings.
    ///
    /// # Errors
    /// When it cannot be read.
    async fn contents(&mut self) -> Result<Vec<String>, StoreError>;

    /// The names of what [`BackendAdministrator::make`] makes, that of the mark included.
    fn expected(&self) -> Vec<String>;

    /// Makes the plan's database, which is not there: the mark first, or all at once.
    ///
    /// # Errors
    /// When it cannot be made.
    async fn make(&mut self) -> Result<(), StoreError>;

    /// Removes the plan's database, which bears the plan's mark, with all that it holds.
    ///
    /// # Errors
    /// When it cannot be removed.
    async fn remove(&mut self) -> Result<(), StoreError>;

    /// The names on the server that may be sensormark's.
    ///
    /// # Errors
    /// When they cannot be listed.
    async fn names(&mut self) -> Result<Vec<String>, StoreError>;

    /// Brings the database to rest.
    ///
    /// # Errors
    /// When it does not come to rest.
    async fn settle(&mut self) -> Result<(), StoreError>;

    /// What a reader of the results has to know since the last call.
    fn take_notes(&mut self) -> Vec<String>;

    /// The settings that matter, read back.
    ///
    /// # Errors
    /// When they cannot be read.
    async fn settings(&mut self) -> Result<Vec<Setting>, StoreError>;

    /// What the database counts of its documents.
    ///
    /// # Errors
    /// When it cannot be read.
    async fn documents(&mut self) -> Result<Option<Documents>, StoreError>;

    /// The schema as the database states it.
    ///
    /// # Errors
    /// When it cannot be read.
    async fn schema_text(&mut self) -> Result<Vec<String>, StoreError>;

    /// Runs one statement of an administrator, patiently. The first value of each row.
    ///
    /// # Errors
    /// What the database says.
    async fn perform(&mut self, statement: &str) -> Result<Vec<String>, StoreError>;

    /// What the database says that it occupies.
    ///
    /// # Errors
    /// When it cannot be read.
    async fn size(&mut self) -> Result<Size, StoreError>;
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
