//! Databases of this process on servers that it did not start, or in folders that the user named: what has to go when the process ends at once.
//!
//! A case drops its database itself. Only a second Ctrl-C comes here, from a thread of its own.

use super::deployment::{Deployment, block_on};
use sensormark_store::{Plan, Store, StoreError};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::channel;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// The databases that are there now.
static DATABASES: Mutex<Vec<Database>> = Mutex::new(Vec::new());
/// The next one's number.
static NEXT: AtomicU64 = AtomicU64::new(0);

struct Database {
    number: u64,
    store: Arc<dyn Store>,
    plan: Plan,
}

/// A database that is noted as long as this is there.
pub struct Noted(u64);

impl Drop for Noted {
    fn drop(&mut self) {
        databases().retain(|database| database.number != self.0);
    }
}

fn databases() -> MutexGuard<'static, Vec<Database>> {
    DATABASES.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Notes the plan's database before it is made. None where its server or folder is ours and goes as a whole. A folder that a URL names is the user's, also
/// where sensormark has to make it.
pub fn note(deployment: &Deployment, plan: &Plan) -> Option<Noted> {
    if !deployment.is_the_users() {
        return None;
    }
    let number = NEXT.fetch_add(1, Ordering::Relaxed);
    databases().push(Database { number, store: deployment.shared_store(), plan: plan.clone() });
    Some(Noted(number))
}

/// Drops all that are there, each within this time. Gives those that stay, with the reason.
pub fn drop_all(limit: Duration) -> Vec<String> {
    let all = std::mem::take(&mut *databases());
    let mut left = Vec::new();
    for database in all {
        let (title, name) = (database.store.description().title, database.plan.database.clone());
        let (sender, dropped) = channel();
        // A server that does not answer must not keep the process.
        let asks = std::thread::Builder::new().spawn(move || sender.send(drop_one(&database)));
        let why = match asks.map(|_| dropped.recv_timeout(limit)) {
            Ok(Ok(Ok(()))) => continue,
            Ok(Ok(Err(error))) => error.to_string(),
            Ok(Err(_)) => format!("no answer within {} s", limit.as_secs()),
            Err(error) => format!("cannot start a thread: {error}"),
        };
        left.push(format!("{title}: the database {name} stays: {why}"));
    }
    left
}

fn drop_one(database: &Database) -> Result<(), StoreError> {
    block_on(async {
        let mut administrator = database.store.administrator(&database.plan).await?;
        administrator.drop_database().await
    })
}
