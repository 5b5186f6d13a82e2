//! A connection of a plan: opened with what each session begins with, its faults in the store's own terms.

use crate::config::{Check, Class};
use crate::files::Files;
use crate::layouts::{block_of, option};
use crate::meaning::failure;
use sensormark_drivers::guard::{Guarded, opened};
use sensormark_drivers::{Cell, Databases, Driver, Fault, Place, Prepared, Purpose};
use sensormark_kit::{Row, folder};
use sensormark_store::{ErrorKind, LocalFuture, Plan, StoreError};
use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

/// A connection with the store's files.
pub struct Link {
    /// The store's files.
    pub files: Arc<Files>,
    /// The connection.
    pub connection: Guarded,
    texts: HashMap<String, Prepared>,
}

/// The file of a plan's database, where databases are files.
pub fn file(files: &Files, driver: &dyn Driver, plan: &Plan, name: &str) -> PathBuf {
    let ending = match driver.databases() {
        Databases::Files { ending, .. } => ending,
        Databases::Server => "",
    };
    folder::path(&files.config.name, &plan.endpoint).join(format!("{name}{ending}"))
}

/// The plan's place; the server's own database where `database` is none.
pub fn place(files: &Files, driver: &dyn Driver, plan: &Plan, database: Option<&str>) -> Place {
    Place {
        endpoint: plan.endpoint.clone(),
        database: database.map(str::to_owned),
        file: file(files, driver, plan, database.unwrap_or(plan.database.as_str())),
        timeout: Duration::from_millis(plan.timeout_ms),
        purpose: Purpose::Administer,
    }
}

/// The plan's durability class.
///
/// # Errors
/// [`ErrorKind::Unsupported`] for one that the database or the layout does not have.
pub fn class_of<'a>(files: &'a Files, plan: &Plan) -> Result<&'a Class, StoreError> {
    let config = &files.config;
    let word = serde_json::to_value(plan.durability).unwrap_or_default();
    let block = block_of(&files.file, plan.layout).map(|block| files.file.lineage(&block.name));
    let refused = block.as_ref().and_then(|lineage| option(lineage, word.as_str()?));
    match (config.durability.classes.get(&plan.durability), refused) {
        (Some(class), None | Some("")) => Ok(class),
        (_, refused) => {
            let operation = format!("open the {} database", config.title);
            Err(StoreError::unsupported(operation, refused.unwrap_or(&config.durability.others)))
        }
    }
}

/// Statements of a session with what they need of the plan.
fn session_statements(files: &Files, plan: &Plan) -> Result<Vec<String>, StoreError> {
    let config = &files.config;
    let class = class_of(files, plan)?;
    let cache =
        config.session.cache.map_or(0, |cache| (cache.all_kib / plan.clients.max(1)).max(cache.least_kib));
    let all = class.session.iter().chain(&config.session.always);
    Ok(all.map(|text| text.replace("{cache_kib}", &cache.to_string())).collect())
}

impl Link {
    /// Opens a connection without anything said on it.
    ///
    /// # Errors
    /// When it cannot be opened.
    pub async fn bare(files: &Arc<Files>, driver: &dyn Driver, place: &Place) -> Result<Self, StoreError> {
        let operation = format!("open the {} database", files.config.title);
        let opened = opened(driver, place).await;
        let connection = opened.map_err(|fault| {
            let error = match failure(&files.config, &operation, fault) {
                // Who gave up knows no names.
                error if error.kind() == ErrorKind::Timeout => {
                    StoreError::new(error.kind(), operation, error.context())
                }
                error => error,
            };
            // Nothing was sent that could be stored.
            error.with_doubt(false)
        })?;
        Ok(Self { files: Arc::clone(files), connection, texts: HashMap::new() })
    }

    /// Connects to the plan's database, which exists, as its sessions do.
    ///
    /// # Errors
    /// [`sensormark_store::ErrorKind::NotFound`] when it does not exist, [`sensormark_store::ErrorKind::Unsupported`] for a durability class that the database
    /// does not have.
    pub async fn open(
        files: &Arc<Files>,
        driver: &dyn Driver,
        plan: &Plan,
        purpose: Purpose,
    ) -> Result<Self, StoreError> {
        const OPERATION: &str = "begin a session";
        let statements = session_statements(files, plan)?;
        let there = driver.name_there(plan)?;
        let mut place = place(files, driver, plan, Some(there.as_deref().unwrap_or(plan.database.as_str())));
        place.purpose = purpose;
        let mut link = Self::bare(files, driver, &place).await?;
        link.connection.within(Some(place.timeout));
        for check in &files.config.session.checks {
            link.check(OPERATION, check).await?;
        }
        for statement in statements {
            link.run(OPERATION, &statement).await?;
        }
        Ok(link)
    }

    /// What came of an operation, its fault in the store's own terms.
    ///
    /// # Errors
    /// The fault.
    pub fn outcome<T>(&self, operation: &str, done: Result<T, Fault>) -> Result<T, StoreError> {
        done.map_err(|fault| failure(&self.files.config, operation, fault))
    }

    /// Runs statements without values, where there are some.
    ///
    /// # Errors
    /// What the database says.
    pub async fn run(&mut self, operation: &str, text: &str) -> Result<(), StoreError> {
        if text.is_empty() {
            return Ok(());
        }
        let done = self.connection.run(text).await;
        self.outcome(operation, done)
    }

    /// Prepares a text once.
    ///
    /// # Errors
    /// What the database says.
    pub async fn prepared(
        &mut self,
        operation: &str,
        text: &str,
        types: &[String],
    ) -> Result<Prepared, StoreError> {
        if let Some(known) = self.texts.get(text) {
            return Ok(*known);
        }
        // Boxed, so that what seldom happens takes no room in the futures of operations.
        let prepared = Box::pin(self.connection.prepare(text, types)).await;
        let prepared = self.outcome(operation, prepared)?;
        self.texts.insert(text.to_owned(), prepared);
        Ok(prepared)
    }

    /// Gives up all prepared texts.
    ///
    /// # Errors
    /// What the database says.
    pub async fn forget(&mut self) -> Result<(), StoreError> {
        self.texts.clear();
        let done = self.connection.forget().await;
        self.outcome("give up prepared statements", done)
    }

    /// Runs a statement of administration, whose values have names in it, and hands over its rows.
    ///
    /// # Errors
    /// What the database says.
    pub async fn ask(
        &mut self,
        operation: &str,
        text: &str,
        values: &[(&str, Cell<'_>)],
        each: &mut (dyn FnMut(&dyn Row) -> Result<bool, StoreError> + '_),
    ) -> Result<(), StoreError> {
        let config = &self.files.config;
        let (text, names) = crate::text::numbered(text, &config.slots.style);
        let value = |name: &String| values.iter().find(|(known, _)| known == name);
        let cells: Vec<Cell<'_>> =
            names.iter().map(|name| value(name).map_or(Cell::Null, |one| one.1)).collect();
        let kind = |cell: &Cell<'_>| match cell {
            Cell::Texts(_) => config.array_type(config.type_name("text")),
            _ => config.type_name("text").to_owned(),
        };
        let types: Vec<String> = cells.iter().map(kind).collect();
        let prepared = self.prepared(operation, &text, &types).await?;
        let done = self.connection.query(prepared, &cells, each).await;
        self.outcome(operation, done)
    }

    /// The first value of a statement of administration, as the database prints it.
    ///
    /// # Errors
    /// What the database says.
    pub async fn value(
        &mut self,
        operation: &str,
        text: &str,
        values: &[(&str, Cell<'_>)],
    ) -> Result<Option<String>, StoreError> {
        Ok(self.list(operation, text, values).await?.into_iter().next())
    }

    /// Asks for a value that has to be the right one; where another is only worth a note, its words.
    ///
    /// # Errors
    /// What the database says, and that the value is another.
    pub async fn check(&mut self, operation: &str, check: &Check) -> Result<Option<String>, StoreError> {
        let value = self.value(operation, &check.sql, &[]).await?.unwrap_or_default();
        if check.is.split('|').any(|right| right == value) {
            return Ok(None);
        }
        let text = check.otherwise.replace("{value}", &value);
        check.kind.map_or(Ok(Some(text.clone())), |kind| Err(StoreError::new(kind.kind, operation, text)))
    }

    /// The first column of all rows.
    ///
    /// # Errors
    /// What the database says.
    pub async fn list(
        &mut self,
        operation: &str,
        text: &str,
        values: &[(&str, Cell<'_>)],
    ) -> Result<Vec<String>, StoreError> {
        let mut found = Vec::new();
        self.ask(operation, text, values, &mut |row| {
            found.push(row.printed(0)?);
            Ok(true)
        })
        .await?;
        Ok(found)
    }

    /// Says goodbye.
    ///
    /// # Errors
    /// What the database says.
    pub fn close(self) -> LocalFuture<'static, Result<(), StoreError>> {
        Box::pin(async move {
            let files = self.files;
            let closed = self.connection.close().await;
            closed.map_err(|fault| failure(&files.config, "close the connection", fault))
        })
    }
}
