//! One driver session: a connection for requests and one that watches the cluster, statements prepared once, answers page by page.
//!
//! Nothing is tried again in silence and nothing runs longer than the time allowed.

use crate::config::Options;
use crate::error;
use crate::sent::Kept;
use crate::tls;
use scylla::client::PoolSize;
use scylla::client::execution_profile::ExecutionProfile;
use scylla::client::session::Session;
use scylla::client::session_builder::SessionBuilder;
use scylla::policies::host_filter::{AllowListHostFilter, HostFilter};
use scylla::policies::retry::FallthroughRetryPolicy;
use scylla::policies::timestamp_generator::MonotonicTimestampGenerator;
use scylla::response::query_result::{QueryResult, QueryRowsResult};
use scylla::response::{PagingState, PagingStateResponse};
use scylla::serialize::SerializationError;
use scylla::serialize::row::{RowSerializationContext, SerializeRow};
use scylla::serialize::writers::RowWriter;
use scylla::statement::batch::Batch as Statements;
use scylla::statement::prepared::PreparedStatement;
use scylla::statement::{Consistency, Statement};
use sensormark_store::{ErrorKind, StoreError};
use std::num::NonZeroUsize;
use std::ops::ControlFlow;
use std::sync::Arc;
use std::time::Duration;

/// Statements of one call that are on their way at once.
pub(crate) const PIPELINE: usize = 32;

/// Rows in one page of an answer, unless a statement says otherwise.
const PAGE: i32 = 5_000;

const OPERATION: &str = "connect to Cassandra";

/// The longest time that a connection may take to come about.
const PATIENCE: Duration = Duration::from_secs(10);

/// A connection to the cluster.
pub(crate) struct Link {
    session: Session,
    timeout: Duration,
    /// How many replicas are asked for everything that is stored.
    scans: Consistency,
    /// What was sent, where statements are shown.
    pub(crate) kept: Kept,
}

/// One value on its way to the server.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Cell<'a> {
    Int(i32),
    Big(i64),
    Double(f64),
    Bool(bool),
    Bytes(&'a [u8]),
    Null,
    Unset,
}

/// Values of one statement, in their order.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Cells<'a>(pub(crate) &'a [Cell<'a>]);

impl SerializeRow for Cells<'_> {
    fn serialize(
        &self,
        _: &RowSerializationContext<'_>,
        writer: &mut RowWriter<'_>,
    ) -> Result<(), SerializationError> {
        self.0.iter().try_for_each(|cell| cell.write(writer))
    }

    fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl Cell<'_> {
    /// Appends the value.
    pub(crate) fn write(&self, writer: &mut RowWriter<'_>) -> Result<(), SerializationError> {
        let cell = writer.make_cell_writer();
        let written = match *self {
            Self::Int(value) => cell.set_value(&value.to_be_bytes()),
            Self::Big(value) => cell.set_value(&value.to_be_bytes()),
            // one zero, so that the server's comparisons, which tell -0 from 0, are those of numbers
            Self::Double(value) => cell.set_value(&(value + 0.0).to_be_bytes()),
            Self::Bool(value) => cell.set_value(&[u8::from(value)]),
            Self::Bytes(value) => cell.set_value(value),
            Self::Null => Ok(cell.set_null()),
            Self::Unset => Ok(cell.set_unset()),
        };
        written.map(drop).map_err(SerializationError::new)
    }
}

impl Link {
    /// Connects.
    pub(crate) async fn open(options: &Options, timeout: Duration) -> Result<Self, StoreError> {
        Self::open_to(options, timeout, None).await
    }

    /// Connects to the only contact point of these options, and to no other member of its cluster.
    pub(crate) async fn open_alone(options: &Options, timeout: Duration) -> Result<Self, StoreError> {
        let only = AllowListHostFilter::new(options.nodes());
        let only = only.map_err(|error| error::unexpected(OPERATION, error.to_string()))?;
        Self::open_to(options, timeout, Some(Arc::new(only))).await
    }

    async fn open_to(
        options: &Options,
        timeout: Duration,
        only: Option<Arc<dyn HostFilter>>,
    ) -> Result<Self, StoreError> {
        let profile = ExecutionProfile::builder()
            .request_timeout(Some(timeout))
            .consistency(options.level())
            .retry_policy(Arc::new(FallthroughRetryPolicy::new()))
            .build();
        let patience = PATIENCE.min(timeout);
        let mut builder = SessionBuilder::new()
            .known_nodes(options.nodes())
            .default_execution_profile_handle(profile.into_handle())
            .pool_size(PoolSize::PerHost(NonZeroUsize::MIN))
            .disallow_shard_aware_port(true)
            .connection_timeout(patience)
            .hostname_resolution_timeout(Some(patience))
            .fetch_schema_metadata(false)
            .tcp_nodelay(true)
            .timestamp_generator(Arc::new(MonotonicTimestampGenerator::new()))
            .refresh_metadata_on_auto_schema_agreement(false)
            .schema_agreement_interval(Duration::from_millis(50))
            .cluster_metadata_refresh_interval(Duration::from_secs(600));
        if let Some(only) = only {
            builder = builder.host_filter(only);
        }
        if options.encrypted {
            builder = builder.tls_context(Some(tls::configuration(options)?));
        }
        if let Some((user, password)) = &options.user {
            builder = builder.user(user, password.expose());
        }
        if let Some(datacenter) = &options.datacenter {
            builder = builder.prefer_datacenter(datacenter.clone());
        }
        match tokio::time::timeout(timeout, builder.build()).await {
            Ok(Ok(session)) => {
                Ok(Self { session, timeout, scans: options.level_of_scans(), kept: Kept::default() })
            }
            Ok(Err(failure)) => Err(error::session(OPERATION, failure)),
            Err(_) => Err(error::timeout(OPERATION, timeout.as_millis(), false)),
        }
    }

    /// Runs one statement without values, as it is.
    pub(crate) async fn run(&self, what: &str, text: &str) -> Result<QueryResult, StoreError> {
        let ran = self.session.query_unpaged(text, &()).await;
        ran.map_err(|failure| error::execution(what, failure))
    }

    /// Runs one statement without values and gives its rows.
    pub(crate) async fn rows(&self, what: &str, text: &str) -> Result<QueryRowsResult, StoreError> {
        rows(what, self.run(what, text).await?)
    }

    /// Prepares a statement.
    pub(crate) async fn prepare(&self, what: &str, text: &str) -> Result<PreparedStatement, StoreError> {
        let mut statement = Statement::new(text);
        statement.set_page_size(PAGE);
        // the driver's own limit is of requests alone
        match tokio::time::timeout(self.timeout, self.session.prepare(statement)).await {
            Ok(prepared) => prepared.map_err(|failure| error::prepare(what, failure)),
            Err(_) => Err(error::timeout(what, self.timeout.as_millis(), false)),
        }
    }

    /// Runs a prepared statement that gives no rows, or few.
    pub(crate) async fn execute(
        &self,
        what: &str,
        statement: &PreparedStatement,
        values: &impl SerializeRow,
    ) -> Result<QueryResult, StoreError> {
        self.kept.note(statement, values);
        let ran = self.session.execute_unpaged(statement, values).await;
        ran.map_err(|failure| error::execution(what, failure))
    }

    /// Runs statements as one.
    pub(crate) async fn batch<T: SerializeRow>(
        &self,
        what: &str,
        statements: &Statements,
        values: &[T],
    ) -> Result<(), StoreError> {
        self.kept.note_batch(statements, values);
        let ran = self.session.batch(statements, values).await;
        ran.map(drop).map_err(|failure| error::execution(what, failure))
    }

    /// One page of an answer, and where the next one starts.
    pub(crate) async fn page(
        &self,
        what: &str,
        statement: &PreparedStatement,
        values: &impl SerializeRow,
        from: PagingState,
    ) -> Result<(QueryRowsResult, Option<PagingState>), StoreError> {
        self.kept.note(statement, values);
        let (result, state): (QueryResult, PagingStateResponse) = self
            .session
            .execute_single_page(statement, values, from)
            .await
            .map_err(|failure| error::execution(what, failure))?;
        let next = match state.into_paging_control_flow() {
            ControlFlow::Break(()) => None,
            ControlFlow::Continue(next) => Some(next),
        };
        Ok((rows(what, result)?, next))
    }

    /// One page of everything that is stored. It asks as many replicas as that needs. If they are not all there, it asks most of them, from here on.
    pub(crate) async fn scan_page(
        &self,
        what: &str,
        statement: &mut PreparedStatement,
        from: PagingState,
    ) -> Result<(QueryRowsResult, Option<PagingState>), StoreError> {
        if statement.get_consistency().is_none() {
            statement.set_consistency(self.scans);
        }
        let page = self.page(what, statement, &Cells(&[]), from.clone()).await;
        let are_missing =
            |error: &StoreError| matches!(error.kind(), ErrorKind::Unavailable | ErrorKind::Timeout);
        match page {
            Err(error) if are_missing(&error) && statement.get_consistency() == Some(Consistency::All) => {
                statement.set_consistency(Consistency::Quorum);
                self.page(what, statement, &Cells(&[]), from).await
            }
            other => other,
        }
    }

    /// Runs a statement without values at a consistency level of its own.
    pub(crate) async fn run_at(
        &self,
        what: &str,
        text: &str,
        level: Consistency,
    ) -> Result<QueryResult, StoreError> {
        let mut statement = Statement::new(text);
        statement.set_consistency(level);
        let ran = self.session.query_unpaged(statement, &()).await;
        ran.map_err(|failure| error::execution(what, failure))
    }

    /// All pages of an answer.
    pub(crate) async fn pages(
        &self,
        what: &str,
        statement: &PreparedStatement,
        values: &impl SerializeRow,
    ) -> Result<Vec<QueryRowsResult>, StoreError> {
        let mut pages = Vec::new();
        let mut state = Some(PagingState::start());
        while let Some(from) = state {
            let (page, next) = self.page(what, statement, values, from).await?;
            pages.push(page);
            state = next;
        }
        Ok(pages)
    }
}

fn rows(what: &str, result: QueryResult) -> Result<QueryRowsResult, StoreError> {
    let rows = result.into_rows_result();
    rows.map_err(|failure| error::unexpected(what, failure.to_string()))
}
