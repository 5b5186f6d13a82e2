//! One client of the driver, bound to a database and a time-out.
//!
//! Commands go through [`Link::run`], questions through [`Link::ask`], which hands over the answer's documents as they lie
//! in the server's reply. It knows neither collections nor layouts, and sends nothing twice.

use crate::config::Options;
use crate::consistency::Consistency;
use crate::error::store_error;
use crate::sent::Kept;
use futures_util::StreamExt;
use mongodb::bson::{Document, RawBsonRef, RawDocument, RawDocumentBuf};
use mongodb::options::{SelectionCriteria, WriteConcern};
use mongodb::{Client, ClientSession, Database, ServerInfo};
use sensormark_store::{ErrorKind, StoreError};
use std::future::Future;
use std::sync::Arc;
use std::time::Duration;
use tokio::time::Instant;

/// How much longer than the server's own time limit the client waits, so that the server may say so itself.
const GRACE: Duration = Duration::from_millis(250);

/// A connected client.
pub(crate) struct Link {
    client: Client,
    database: Database,
    timeout: Duration,
    /// What it asks of the members of a replica set.
    pub(crate) consistency: Consistency,
    /// What was sent, where statements are shown.
    pub(crate) kept: Kept,
}

/// How long an answer may take in all its parts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum TimeLimit {
    /// The time allowed is that of the whole answer.
    Whole,
    /// The time allowed for each part of it: everything that is stored is read.
    EachPart,
}

impl Link {
    /// Connects within the time allowed.
    pub(crate) async fn open(
        options: &Options,
        database: &str,
        timeout: Duration,
    ) -> Result<Self, StoreError> {
        let link = Self::of(options.client(timeout).await?, database, timeout);
        Ok(Self { consistency: options.consistency().clone(), ..link })
    }

    /// The link of a client.
    pub(crate) fn of(client: Client, database: &str, timeout: Duration) -> Self {
        Self {
            database: client.database(database),
            client,
            timeout,
            consistency: Consistency::default(),
            kept: Kept::default(),
        }
    }

    /// Waits longer (or shorter) from now on.
    pub(crate) const fn allow(&mut self, timeout: Duration) {
        self.timeout = timeout;
    }

    /// The time allowed in ms, in the form that the server gets.
    pub(crate) fn max_time_ms(&self) -> i64 {
        i64::try_from(self.timeout.as_millis()).unwrap_or(i64::MAX).clamp(1, i64::from(i32::MAX))
    }

    /// Runs a command of the database.
    pub(crate) async fn run(&self, operation: &str, command: RawDocumentBuf) -> Result<Document, StoreError> {
        fits(operation, &command)?;
        self.kept.note(&command);
        let running = async { self.database.run_raw_command(command).await };
        let answer = self.bounded(operation, running).await?;
        self.consistency.heard(&answer);
        Ok(answer)
    }

    /// Runs a command of the database, put together as a document.
    pub(crate) async fn command(&self, operation: &str, command: Document) -> Result<Document, StoreError> {
        let running = async { self.database.run_command(command).await };
        self.bounded(operation, running).await
    }

    /// Runs a command of another database.
    pub(crate) async fn command_of(
        &self,
        database: &str,
        operation: &str,
        command: Document,
    ) -> Result<Document, StoreError> {
        let database = self.client.database(database);
        let running = async { database.run_command(command).await };
        self.bounded(operation, running).await
    }

    /// Runs a command of the database `admin` at the member with this address.
    pub(crate) async fn command_at(
        &self,
        address: &str,
        operation: &str,
        command: Document,
    ) -> Result<Document, StoreError> {
        let address = address.to_owned();
        let is_asked = Arc::new(move |one: &ServerInfo<'_>| one.address().to_string() == address);
        let asked = SelectionCriteria::Predicate(is_asked);
        let database = self.client.database("admin");
        let running = async {
            let running = database.run_command(command);
            running.selection_criteria(asked).await
        };
        self.bounded(operation, running).await
    }

    /// Runs commands in one transaction, which is committed when all succeed. The first answer that `check` refuses
    /// aborts it.
    pub(crate) async fn transaction(
        &self,
        operation: &str,
        commands: Vec<RawDocumentBuf>,
        write_concern: WriteConcern,
        check: impl Fn(&Document) -> Result<(), StoreError>,
    ) -> Result<(), StoreError> {
        let starting = async { self.client.start_session().await };
        let mut session = self.bounded(operation, starting).await?;
        session
            .start_transaction()
            .write_concern(write_concern)
            .await
            .map_err(|error| store_error(operation, error))?;
        let done = self.in_transaction(operation, &mut session, commands, check).await;
        match done {
            Ok(()) => {
                let committing = async { session.commit_transaction().await };
                self.bounded(operation, committing).await?;
                self.consistency.committed(session.operation_time());
                Ok(())
            }
            Err(error) => {
                let aborting = async { session.abort_transaction().await };
                self.bounded(operation, aborting).await.ok();
                Err(error.with_doubt(false))
            }
        }
    }

    async fn in_transaction(
        &self,
        operation: &str,
        session: &mut ClientSession,
        commands: Vec<RawDocumentBuf>,
        check: impl Fn(&Document) -> Result<(), StoreError>,
    ) -> Result<(), StoreError> {
        for command in commands {
            fits(operation, &command)?;
            self.kept.note(&command);
            let running = async { self.database.run_raw_command(command).session(&mut *session).await };
            check(&self.bounded(operation, running).await?)?;
        }
        Ok(())
    }

    /// Asks as the consistency level has it, and hands over each document of the answer.
    pub(crate) async fn ask(
        &self,
        operation: &str,
        mut command: Document,
        patience: TimeLimit,
        take: impl FnMut(&RawDocument) -> Result<(), StoreError>,
    ) -> Result<(), StoreError> {
        self.consistency.add_to(&mut command);
        let asked = self.consistency.asked();
        self.ask_of(asked, operation, command, patience, take).await
    }

    /// Asks the primary, or the members that are chosen, and hands over each document of the answer.
    pub(crate) async fn ask_of(
        &self,
        asked: Option<SelectionCriteria>,
        operation: &str,
        command: Document,
        time_limit: TimeLimit,
        mut take: impl FnMut(&RawDocument) -> Result<(), StoreError>,
    ) -> Result<(), StoreError> {
        let command =
            RawDocumentBuf::try_from(&command).map_err(|error| store_error(operation, error.into()))?;
        fits(operation, &command)?;
        self.kept.note(&command);
        let deadline = Instant::now() + self.timeout;
        let asking = async {
            let asking = self.database.run_raw_cursor_command(command);
            let asking = asking.batch_size(BATCH_SIZE);
            match asked {
                Some(asked) => asking.selection_criteria(asked).batch().await,
                None => asking.batch().await,
            }
        };
        let mut cursor = self.bounded(operation, asking).await?;
        loop {
            let limit = match time_limit {
                TimeLimit::Whole => deadline.saturating_duration_since(Instant::now()),
                TimeLimit::EachPart => self.timeout,
            };
            let next = tokio::time::timeout(limit + GRACE, cursor.next()).await;
            let batch = match next {
                Err(_) => return Err(self.timed_out(operation)),
                Ok(None) => return Ok(()),
                Ok(Some(batch)) => batch.map_err(|error| store_error(operation, error))?,
            };
            let documents = batch.doc_slices().map_err(|error| store_error(operation, error))?;
            for element in documents {
                match element {
                    Ok(RawBsonRef::Document(document)) => take(document)?,
                    Ok(_) => return Err(unreadable(operation, "an element is no document")),
                    Err(error) => return Err(unreadable(operation, &error.to_string())),
                }
            }
        }
    }

    /// Says goodbye to the server.
    pub(crate) async fn close(self) -> Result<(), StoreError> {
        let Self { client, database, timeout, consistency: _, kept: _ } = self;
        drop(database);
        let goodbye = async { client.shutdown().immediate(true).await };
        tokio::time::timeout(timeout, goodbye).await.ok();
        Ok(())
    }

    async fn bounded<T>(
        &self,
        operation: &str,
        request: impl Future<Output = mongodb::error::Result<T>>,
    ) -> Result<T, StoreError> {
        match tokio::time::timeout(self.timeout + GRACE, request).await {
            Ok(result) => result.map_err(|error| store_error(operation, error)),
            Err(_) => Err(self.timed_out(operation)),
        }
    }

    fn timed_out(&self, operation: &str) -> StoreError {
        StoreError::new(
            ErrorKind::Timeout,
            operation,
            format!(
                "no answer within {} ms; allow more time, ask for less, or look into the server's log",
                self.timeout.as_millis()
            ),
        )
    }
}

/// The largest command that a server takes as one document: 16 MiB and what may go around a document of that size. A message
/// may hold 48 MB, but only where its documents travel apart from the command, which those that are written here do not.
const LARGEST_COMMAND: usize = (16 << 20) + (16 << 10);

/// Refuses a command that the server would answer by hanging up.
fn fits(operation: &str, command: &RawDocument) -> Result<(), StoreError> {
    let bytes = command.as_bytes().len();
    if bytes <= LARGEST_COMMAND {
        return Ok(());
    }
    Err(StoreError::new(
        ErrorKind::TooLarge,
        operation,
        format!(
            "a command of {bytes} bytes; MongoDB takes at most 16 MiB: ask for fewer series, or write smaller records"
        ),
    ))
}

/// Documents in a part of an answer, unless it reaches 16 MiB before.
pub(crate) const BATCH_SIZE: u32 = 1_000_000;

/// An answer that cannot be understood.
pub(crate) fn unreadable(operation: &str, what: &str) -> StoreError {
    StoreError::new(
        ErrorKind::Protocol,
        operation,
        format!("the answer cannot be understood: {what}; was the collection changed by somebody else?"),
    )
}
