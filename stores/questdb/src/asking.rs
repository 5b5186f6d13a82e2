//! The connection that asks, over PostgreSQL's protocol, with the time allowed. It knows neither tables nor layouts.
//!
//! QuestDB's way: <https://questdb.com/docs/query/pgwire/overview/>.

use crate::config::Options;
use crate::error::{native, not_in_time};
use sensormark_store::{ErrorKind, StoreError};
use std::cell::Cell;
use std::future::Future;
use std::time::Duration;
use tokio::task::JoinHandle;
use tokio_postgres::{Client, Error, NoTls, Row};

/// A connected client. The driver's other half does its input and output in a task of its own, which ends with it.
pub(crate) struct Link {
    /// What sends requests.
    pub(crate) client: Client,
    timeout: Duration,
    is_given_up: Cell<bool>,
    task: JoinHandle<()>,
}

impl Drop for Link {
    fn drop(&mut self) {
        self.task.abort();
    }
}

impl Link {
    /// Connects within the time allowed.
    pub(crate) async fn open(options: &Options, timeout: Duration) -> Result<Self, StoreError> {
        const OPERATION: &str = "connect to QuestDB";
        let connecting = tokio::time::timeout(timeout, options.driver.connect(NoTls));
        let (client, connection) = match connecting.await {
            Ok(connected) => connected.map_err(|error| native(OPERATION, error))?,
            Err(_) => return Err(not_in_time(OPERATION, timeout).with_doubt(false)),
        };
        let task = tokio::spawn(async move {
            // The request that meets the failure reports it.
            let _ = connection.await;
        });
        Ok(Self { client, timeout, is_given_up: Cell::new(false), task })
    }

    /// Waits as long as this for each answer from now on.
    pub(crate) const fn allow(&mut self, timeout: Duration) {
        self.timeout = timeout;
    }

    /// The time that each answer may take.
    pub(crate) const fn allowed(&self) -> Duration {
        self.timeout
    }

    /// Waits for a request's end. After one that took too long, the connection is given up: its answer might be taken for the next one's.
    pub(crate) async fn run<T>(
        &self,
        operation: &str,
        request: impl Future<Output = Result<T, Error>>,
    ) -> Result<T, StoreError> {
        if self.is_given_up.get() {
            return Err(StoreError::new(
                ErrorKind::Unavailable,
                operation,
                "this session's connection was given up after a time-out; connect again",
            )
            .with_doubt(false));
        }
        match tokio::time::timeout(self.timeout, request).await {
            Ok(result) => result.map_err(|error| native(operation, error)),
            Err(_) => {
                self.is_given_up.set(true);
                Err(not_in_time(operation, self.timeout))
            }
        }
    }

    /// Runs statements without parameters.
    pub(crate) async fn batch(&self, operation: &str, text: &str) -> Result<(), StoreError> {
        self.run(operation, self.client.batch_execute(text)).await
    }

    /// The rows of a statement without parameters.
    pub(crate) async fn rows(&self, operation: &str, text: &str) -> Result<Vec<Row>, StoreError> {
        let asking = async {
            let statement = self.client.prepare(text).await?;
            self.client.query(&statement, &[]).await
        };
        self.run(operation, asking).await
    }

    /// The first column of a statement's rows, texts.
    pub(crate) async fn texts(&self, operation: &str, text: &str) -> Result<Vec<String>, StoreError> {
        let rows = self.rows(operation, text).await?;
        let text = |row: &Row| row.try_get::<_, Option<String>>(0).ok().flatten();
        Ok(rows.iter().filter_map(text).collect())
    }
}
