//! Cassandra's native protocol, by the crate `scylla`: statements in one partition each, which the driver asks and writes by series and bucket of time ([`text`]).
//!
//! A text that begins with `nodetool` goes to the server's management port, where the URL names it; one with CQL behind a bar is asked that where it does not. A
//! question that is only run is asked until no node has any row: what it shows is at rest.

mod asking;

mod error;

mod server;

mod text;

mod tls;

mod url;

mod value;

mod writing;

use self::asking::{Asked, Question};
use self::error::{execution, keyspace, known, odd, prepare, session, timeout};
use self::text::{Clauses, Series, Slot, cut};
use self::url::Options;
use self::value::{Bound, Slots, each_row, text_row};
use crate::{
    Block, Cell, Connection, Driver, EachRow, Fault, Named, Place, Prepared, Purpose, pieces, put_literals,
};
use scylla::client::PoolSize;
use scylla::client::execution_profile::ExecutionProfile;
use scylla::client::session_builder::SessionBuilder;
use scylla::policies::load_balancing::{NodeIdentifier, SingleTargetLoadBalancingPolicy};
use scylla::policies::retry::FallthroughRetryPolicy;
use scylla::policies::timestamp_generator::MonotonicTimestampGenerator;
use scylla::response::PagingState;
use scylla::response::query_result::{QueryResult, QueryRowsResult};
use scylla::statement::prepared::PreparedStatement;
use scylla::statement::{Consistency, Statement};
use sensormark_kit::url::existing_server;
use sensormark_kit::{Row, unexpected};
use sensormark_store::{Endpoint, ErrorKind, LocalFuture, StoreError};
use std::cell::RefCell;
use std::collections::{HashMap, HashSet};
use std::num::NonZeroUsize;
use std::ops::ControlFlow;
use std::rc::Rc;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Statements of one call that are on their way at once.
const PIPELINE: usize = 32;
/// Rows in one page of an answer, unless a text says otherwise.
const PAGE: i32 = 5_000;
/// The longest time that a connection may take to come about.
const CONNECT: Duration = Duration::from_secs(10);
/// Schema changes take long on a busy server; that they are slow is no failure.
const ADMINISTER: Duration = Duration::from_secs(30);
/// How long what compacts may take until it is at rest, and how often it is looked at.
const REST: Duration = Duration::from_secs(300);
const LOOK: Duration = Duration::from_millis(100);

/// The protocol.
#[derive(Debug, Clone, Copy, Default)]
pub struct Cassandra;

impl Driver for Cassandra {
    fn endpoint(&self, store: &Named, url: &str) -> Result<Endpoint, StoreError> {
        let ports = Options::parse(url)?.hosts.iter().map(|host| host.1).collect();
        Ok(existing_server(&store.name, url, ports))
    }

    fn open<'a>(&'a self, place: &'a Place) -> LocalFuture<'a, Result<Box<dyn Connection>, Fault>> {
        Box::pin(async move {
            let mut options = Options::parse(place.endpoint.url.expose())?;
            let mut patience = place.timeout;
            if place.purpose == Purpose::Administer {
                patience = patience.max(ADMINISTER);
                if options.consistency == Some(Consistency::One) {
                    // What everybody looks things up in is everywhere before anybody does.
                    options.consistency = Some(Consistency::All);
                }
            }
            let link = if place.purpose == Purpose::Look && place.endpoint.managed {
                server::accounts(&options, patience).await?
            } else {
                Link::open(&options, patience).await?
            };
            if let Some(database) = &place.database {
                link.session.use_keyspace(database.as_str(), false).await.map_err(keyspace)?;
            }
            let session: Box<dyn Connection> = Box::new(Session {
                link,
                options,
                is_managed: place.endpoint.managed,
                known: HashMap::new(),
                statements: Vec::new(),
            });
            Ok(session)
        })
    }
}

/// What was sent, with its values.
type Sent = Vec<(String, Vec<String>)>;

/// A connection for requests and one that watches the cluster. Nothing is tried again in silence and nothing runs longer than the time allowed.
struct Link {
    session: scylla::client::session::Session,
    /// How many replicas are asked for everything that is stored.
    scans: Consistency,
    /// What was sent, where somebody wants to know.
    sent: RefCell<Option<Sent>>,
}

/// A prepared statement.
struct Cql {
    text: String,
    prepared: PreparedStatement,
    slots: Vec<Slot>,
    /// Of what is written once: series and bucket.
    done: RefCell<HashSet<(u32, i64)>>,
}

impl Link {
    async fn open(options: &Options, patience: Duration) -> Result<Self, Fault> {
        let profile = ExecutionProfile::builder()
            .request_timeout(Some(patience))
            .consistency(options.level())
            .retry_policy(Arc::new(FallthroughRetryPolicy::new()))
            .build();
        let connecting = CONNECT.min(patience);
        let mut builder = SessionBuilder::new()
            .known_nodes(options.nodes())
            .default_execution_profile_handle(profile.into_handle())
            .pool_size(PoolSize::PerHost(NonZeroUsize::MIN))
            .disallow_shard_aware_port(true)
            .connection_timeout(connecting)
            .hostname_resolution_timeout(Some(connecting))
            .fetch_schema_metadata(false)
            .tcp_nodelay(true)
            .timestamp_generator(Arc::new(MonotonicTimestampGenerator::new()))
            .refresh_metadata_on_auto_schema_agreement(false)
            .schema_agreement_interval(Duration::from_millis(50))
            .cluster_metadata_refresh_interval(Duration::from_secs(600));
        if options.encrypted {
            builder = builder.tls_context(Some(tls::configuration(options)?));
        }
        if let Some((user, password)) = &options.user {
            builder = builder.user(user, password.expose());
        }
        if let Some(datacenter) = &options.datacenter {
            builder = builder.prefer_datacenter(datacenter.clone());
        }
        let opened = tokio::time::timeout(patience, builder.build()).await;
        let session = opened.map_err(|_| timeout(patience, false))?.map_err(session)?;
        Ok(Self { session, scans: options.level_of_scans(), sent: RefCell::default() })
    }

    /// Runs one statement without values, as it is.
    async fn run(&self, statement: impl Into<Statement>) -> Result<QueryResult, Fault> {
        self.session.query_unpaged(statement, &()).await.map_err(execution)
    }

    /// Prepares a statement.
    async fn prepare(&self, text: &str, page: i32) -> Result<Cql, Fault> {
        let (text, slots) = cut(text);
        let statement = Statement::new(text.as_str()).with_page_size(page);
        let prepared = self.session.prepare(statement).await.map_err(prepare)?;
        Ok(Cql { text, prepared, slots, done: RefCell::default() })
    }

    /// Notes what is sent, if anybody wants to know.
    #[inline]
    fn note(&self, text: impl FnOnce() -> String, slots: &[Slot], values: &impl Slots) {
        if let Some(sent) = self.sent.borrow_mut().as_mut() {
            let printed = |slot: &Slot| match (slot, values.cell(*slot)) {
                (Slot::Back, _) => "now in µs, counted backwards".to_owned(),
                (_, Cell::Bytes(bytes)) if bytes.starts_with(b"{") => {
                    String::from_utf8_lossy(bytes).into_owned()
                }
                (_, Cell::Bytes(bytes)) => format!("{} bytes", bytes.len()),
                (_, cell) => cell.printed(),
            };
            sent.push((text(), slots.iter().map(printed).collect()));
        }
    }

    /// One page of an answer, and where the next one starts.
    async fn page(
        &self,
        cql: &Cql,
        level: Option<Consistency>,
        asked: &Asked<'_>,
        from: PagingState,
    ) -> Result<(QueryRowsResult, Option<PagingState>), Fault> {
        self.note(|| cql.text.clone(), &cql.slots, asked);
        let values = Bound(&cql.slots, asked);
        let sent = match level {
            None => self.session.execute_single_page(&cql.prepared, &values, from).await,
            Some(level) => {
                let mut prepared = cql.prepared.clone();
                prepared.set_consistency(level);
                self.session.execute_single_page(&prepared, &values, from).await
            }
        };
        let (result, state) = sent.map_err(execution)?;
        let next = match state.into_paging_control_flow() {
            ControlFlow::Break(()) => None,
            ControlFlow::Continue(next) => Some(next),
        };
        Ok((result.into_rows_result().map_err(odd)?, next))
    }

    /// All pages of an answer.
    async fn pages(&self, cql: &Cql, asked: &Asked<'_>) -> Result<Vec<QueryRowsResult>, Fault> {
        let (mut pages, mut from) = (Vec::new(), Some(PagingState::start()));
        while let Some(start) = from {
            let (page, next) = self.page(cql, None, asked, start).await?;
            pages.push(page);
            from = next;
        }
        Ok(pages)
    }

    /// Runs a prepared statement that gives no rows.
    async fn execute(&self, cql: &Cql, values: &impl Slots) -> Result<(), Fault> {
        self.note(|| cql.text.clone(), &cql.slots, values);
        self.session
            .execute_unpaged(&cql.prepared, &Bound(&cql.slots, values))
            .await
            .map(drop)
            .map_err(execution)
    }

    /// Whether any node has rows for this question, which each of them answers for itself.
    async fn is_busy(&self, text: &str) -> Result<bool, Fault> {
        let state = self.session.get_cluster_state();
        for node in state.get_nodes_info().iter().filter(|node| node.is_connected()) {
            let mut statement = Statement::new(text);
            let alone = SingleTargetLoadBalancingPolicy::new(NodeIdentifier::Node(Arc::clone(node)), None);
            statement.set_load_balancing_policy(Some(alone));
            let rows = self.run(statement).await?.into_rows_result().map_err(odd)?;
            if rows.rows_num() > 0 {
                return Ok(true);
            }
        }
        Ok(false)
    }
}

/// Calls with the last column of each row of an answer, which is a text; of one without rows, with nothing.
fn each_text(result: QueryResult, each: &mut dyn FnMut(String)) -> Result<(), StoreError> {
    let Ok(rows) = result.into_rows_result() else { return Ok(()) };
    let last = rows.column_specs().len().saturating_sub(1);
    each_row(&rows, None, &mut |row| {
        each(row.printed(last)?);
        Ok(true)
    })?;
    Ok(())
}

/// A text's clauses, and what was prepared of them.
#[derive(Default)]
struct Plan {
    clauses: Clauses,
    find: Option<Rc<Cql>>,
    look: Option<Rc<Cql>>,
    once: Option<Rc<Cql>>,
    statements: Vec<Rc<Cql>>,
}

/// A text, and its plan; none where it is sent as it is.
struct Kept {
    text: String,
    plan: Option<Plan>,
}

/// A connection.
struct Session {
    link: Link,
    options: Options,
    is_managed: bool,
    /// What is prepared, by its text.
    known: HashMap<String, Rc<Cql>>,
    statements: Vec<Kept>,
}

/// Whether a text is prepared: what defines and describes, and what goes to nodetool, is not.
fn is_prepared(text: &str) -> bool {
    let word = text.split([' ', ';']).next().unwrap_or_default();
    matches!(word, "SELECT" | "INSERT" | "UPDATE" | "series" | "buckets" | "page" | "rows" | "once")
}

impl Session {
    async fn cql(&mut self, text: &str, page: i32) -> Result<Rc<Cql>, Fault> {
        if let Some(known) = self.known.get(text) {
            return Ok(Rc::clone(known));
        }
        let cql = Rc::new(self.link.prepare(text, page).await?);
        self.known.insert(text.to_owned(), Rc::clone(&cql));
        Ok(cql)
    }

    async fn plan(&mut self, text: &str) -> Result<Plan, Fault> {
        let clauses = Clauses::read(text);
        let (page, mut plan) = (clauses.page.unwrap_or(PAGE), Plan::default());
        if let Some(Series::Found(text)) = &clauses.series {
            plan.find = Some(self.cql(text, PAGE).await?);
        }
        if let Some(buckets) = clauses.buckets.as_ref().filter(|buckets| !buckets.look.is_empty()) {
            plan.look = Some(self.cql(&buckets.look, PAGE).await?);
        }
        if let Some(text) = &clauses.once {
            plan.once = Some(self.cql(text, page).await?);
        }
        for text in &clauses.statements {
            plan.statements.push(self.cql(text, page).await?);
        }
        Ok(Plan { clauses, ..plan })
    }

    /// What the URL says of copies, in the place of its names.
    fn with_copies(&self, text: &str) -> String {
        // Absent values of a reading that replaces another are tombstones; with one copy nothing needs them for longer. With several, a node that was away needs
        // them, and keeps what others missed (hints) no longer than them.
        let grace = if self.options.replication > 1 { "864000" } else { "0" };
        text.replace("@copies", &self.options.keyspace()).replace("@grace", grace)
    }

    /// Waits until what a question shows is at rest.
    async fn wait_at_rest(&self, text: &str) -> Result<(), Fault> {
        let (start, mut quiet) = (Instant::now(), 0);
        while start.elapsed() < REST {
            quiet = if self.link.is_busy(text).await? { 0 } else { quiet + 1 };
            if quiet > 1 {
                return Ok(());
            }
            tokio::time::sleep(LOOK).await;
        }
        Err(known(ErrorKind::Timeout, format!("it still compacts after {} s", REST.as_secs()), false))
    }

    /// Runs a text as it is, and hands over the last column of its rows.
    async fn lines(&self, text: &str, each: &mut dyn FnMut(String)) -> Result<(), Fault> {
        let (command, instead) = text.split_once(" | ").unwrap_or((text, ""));
        let result = if !command.starts_with("nodetool ") {
            self.link.run(self.with_copies(text)).await?
        } else if self.options.jmx.is_empty() && !instead.is_empty() {
            self.link.run(instead).await?
        } else {
            server::nodetool(&self.options, command).await?.into_iter().for_each(each);
            return Ok(());
        };
        Ok(each_text(result, each)?)
    }

    async fn ask(&self, kept: &Kept, cells: &[Cell<'_>], each: &mut EachRow<'_>) -> Result<(), Fault> {
        if let Some(plan) = &kept.plan {
            return Question { link: &self.link, plan, cells }.answer(each).await;
        }
        let mut text = Vec::new();
        put_literals(pieces(&kept.text), |slot| cells.get(slot).copied().unwrap_or(Cell::Null), &mut text);
        let mut lines = Vec::new();
        self.lines(&String::from_utf8_lossy(&text), &mut |line| lines.push(line)).await?;
        for line in &lines {
            if !text_row(line, each)? {
                break;
            }
        }
        Ok(())
    }
}

impl Connection for Session {
    fn run<'a>(&'a mut self, text: &'a str) -> LocalFuture<'a, Result<(), Fault>> {
        Box::pin(async move {
            if text.starts_with("SELECT") {
                return self.wait_at_rest(text).await;
            }
            self.lines(text, &mut |_| {}).await
        })
    }

    fn prepare<'a>(&'a mut self, text: &'a str, _: &'a [String]) -> LocalFuture<'a, Result<Prepared, Fault>> {
        Box::pin(async move {
            let plan = if is_prepared(text) { Some(self.plan(text).await?) } else { None };
            self.statements.push(Kept { text: text.to_owned(), plan });
            Ok(Prepared(self.statements.len() - 1))
        })
    }

    fn text(&self, statement: Prepared) -> &str {
        &self.statements[statement.0].text
    }

    fn forget(&mut self) -> LocalFuture<'_, Result<(), Fault>> {
        self.statements.clear();
        self.known.clear();
        Box::pin(async { Ok(()) })
    }

    fn query<'a>(
        &'a mut self,
        statement: Prepared,
        values: &'a [Cell<'a>],
        each: &'a mut EachRow<'_>,
    ) -> LocalFuture<'a, Result<(), Fault>> {
        Box::pin(async move { self.ask(&self.statements[statement.0], values, each).await })
    }

    fn execute<'a>(
        &'a mut self,
        statement: Prepared,
        values: &'a [Cell<'a>],
    ) -> LocalFuture<'a, Result<u64, Fault>> {
        Box::pin(async move {
            self.ask(&self.statements[statement.0], values, &mut |_| Ok(true)).await?;
            Ok(1)
        })
    }

    fn write<'a>(&'a mut self, block: Block<'a>) -> LocalFuture<'a, Result<u64, Fault>> {
        Box::pin(async move {
            let plan = self.statements[block.statement.0].plan.as_ref();
            let plan = plan.ok_or_else(|| unexpected("a block of what is not prepared"))?;
            writing::Writing { link: &self.link, plan, rows: block.rows, is_managed: self.is_managed }
                .write(block.encoder)
                .await
        })
    }

    fn plan<'a>(&'a mut self, _: &'a str, _: &'a [String]) -> LocalFuture<'a, Result<Option<String>, Fault>> {
        Box::pin(async { Ok(None) })
    }

    fn own_settings(&self) -> Vec<(String, String)> {
        let level =
            self.options.consistency.map(|level| ("consistency level".to_owned(), format!("{level:?}")));
        level.into_iter().collect()
    }

    fn sent(&mut self) -> Option<Sent> {
        self.link.sent.replace(Some(Vec::new())).or_else(|| Some(Vec::new()))
    }
}
