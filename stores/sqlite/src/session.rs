//! One client's connection: what it keeps between calls, and how statements are run under a deadline.
//!
//! What is written and asked is in [`crate::write`] and [`crate::query`].

use crate::config;
use crate::design::Design;
use crate::error;
use crate::gate::{Gate, Turn};
use crate::query;
use crate::relation::{Bind, Relation, Statement};
use crate::series::SeriesReader;
use crate::shown::Kept;
use crate::write::{self, Writer};
use rusqlite::types::{ToSqlOutput, ValueRef};
use rusqlite::{CachedStatement, Connection};
use sensormark_kit::BackendSession;
use sensormark_store::{
    Acknowledgement, Answer, Ask, Batch, EntityReading, ErrorKind, Plan, Predicate, Query,
    Selection, Shape, StoreError, TagColumn, Value,
};
use std::cell::OnceCell;
use std::collections::HashMap;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// Instructions of SQLite's virtual machine between two looks at the clock.
const LOOK_EVERY: i32 = 20_000;

/// One client's connection.
pub struct SqliteSession {
    pub(crate) connection: Connection,
    pub(crate) design: Arc<Design>,
    pub(crate) statements: HashMap<query::Key, Rc<Statement>>,
    pub(crate) plans: HashMap<query::aggregate::PlanKey, Rc<query::aggregate::Plan>>,
    pub(crate) writers: Vec<Writer>,
    readers: Vec<OnceCell<SeriesReader>>,
    gate: Arc<Gate>,
    deadline: Deadline,
    kept: Option<Kept>,
}

/// When the running operation has taken too long: shared with SQLite's progress handler.
struct Deadline {
    base: Instant,
    allowed: Duration,
    /// Nanoseconds after `base`.
    at: Arc<AtomicU64>,
}

impl Deadline {
    fn new(allowed: Duration) -> Self {
        Self {
            base: Instant::now(),
            allowed,
            at: Arc::new(AtomicU64::new(u64::MAX)),
        }
    }

    /// Starts the time of an operation.
    fn start(&self) {
        let end = self.base.elapsed() + self.allowed;
        let end = u64::try_from(end.as_nanos()).unwrap_or(u64::MAX);
        self.at.store(end, Ordering::Relaxed);
    }

    fn instant(&self) -> Instant {
        self.base + Duration::from_nanos(self.at.load(Ordering::Relaxed))
    }
}

impl SqliteSession {
    /// Connects to the plan's database, which exists.
    ///
    /// # Errors
    /// As [`config::open`].
    pub fn connect(plan: &Plan, design: Arc<Design>) -> Result<Self, StoreError> {
        let mut connection = config::open(plan)?;
        let deadline = Deadline::new(Duration::from_millis(plan.timeout_ms));
        let (base, at) = (deadline.base, Arc::clone(&deadline.at));
        let late = move || base.elapsed().as_nanos() > u128::from(at.load(Ordering::Relaxed));
        connection
            .progress_handler(LOOK_EVERY, Some(late))
            .map_err(|cause| error::native("set a time-out", cause))?;
        let writers = (0..design.tables.len())
            .map(|table| Writer::new(&design, table))
            .collect();
        Ok(Self {
            connection,
            statements: HashMap::new(),
            plans: HashMap::new(),
            writers,
            readers: design.tables.iter().map(|_| OnceCell::new()).collect(),
            gate: Gate::of(&config::file(&plan.endpoint, &plan.database)),
            deadline,
            design,
            kept: None,
        })
    }

    /// Waits for the turn to write.
    pub(crate) fn turn(&self) -> Result<Turn, StoreError> {
        self.gate.enter(self.deadline.instant()).ok_or_else(|| {
            StoreError::new(
                ErrorKind::Timeout,
                "wait for other writers",
                "SQLite has one writer at a time, and others wrote for the whole time allowed; fewer clients or a longer time-out help",
            )
            .with_doubt(false)
        })
    }

    /// Finds the numbers of series in rows of a table.
    pub(crate) fn reader(&self, table: usize) -> &SeriesReader {
        self.readers[table].get_or_init(|| {
            SeriesReader::new(
                &self.design.schema.tables[table],
                &self.design.tables[table].key,
            )
        })
    }

    /// The statement of this key, built when it is asked for the first time.
    pub(crate) fn statement(
        &mut self,
        key: query::Key,
        build: impl FnOnce(&Relation<'_>) -> Statement,
    ) -> Rc<Statement> {
        if let Some(statement) = self.statements.get(&key) {
            return Rc::clone(statement);
        }
        let statement = Rc::new(build(&Relation::new(&self.design, key.table)));
        self.statements.insert(key, Rc::clone(&statement));
        statement
    }

    /// The statement, prepared and given what it needs from the question.
    pub(crate) fn bound(
        &self,
        statement: &Statement,
        query: &Query,
    ) -> Result<CachedStatement<'_>, StoreError> {
        let wrong = |cause| error::native("prepare a question", cause);
        let mut prepared = self
            .connection
            .prepare_cached(&statement.sql)
            .map_err(wrong)?;
        for (place, &bind) in statement.binds.iter().enumerate() {
            let value = self.bind_value(bind, query);
            prepared
                .raw_bind_parameter(place + 1, value)
                .map_err(wrong)?;
        }
        Ok(prepared)
    }

    fn bind_value<'a>(&'a self, bind: Bind, query: &'a Query) -> ToSqlOutput<'a> {
        let whole = |value: i64| ToSqlOutput::Borrowed(ValueRef::Integer(value));
        let grouping = match &query.ask {
            Ask::Aggregate { grouping, .. } => *grouping,
            _ => sensormark_store::Grouping::default(),
        };
        match bind {
            Bind::Start => whole(query.range.start_ns),
            Bind::End => whole(end_ns(query)),
            Bind::FirstSpan => whole(self.span(query.range.start_ns)),
            Bind::LastSpan => whole(self.span(end_ns(query).saturating_sub(1))),
            Bind::Threshold => match &query.ask {
                Ask::First(predicate) | Ask::Last(predicate) | Ask::SeriesMatching(predicate) => {
                    ToSqlOutput::Borrowed(ValueRef::Real(Predicate::clone(predicate).threshold))
                }
                _ => ToSqlOutput::Borrowed(ValueRef::Null),
            },
            Bind::Series => whole(i64::from(one(query))),
            Bind::Tag(tag) => self.tag_value(query.table, one(query), tag),
            Bind::Set => ToSqlOutput::Owned(rusqlite::types::Value::Text(self.set_text(query))),
            Bind::TagValue => self.wanted_tag(query),
            Bind::Width => whole(grouping.window.map_or(1, |window| window.width_ns)),
            Bind::Origin => whole(grouping.window.map_or(0, |window| window.origin_ns)),
            Bind::DayStart => whole(grouping.by_day_part.map_or(0, |split| split.day_start_ns)),
            Bind::DayEnd => whole(grouping.by_day_part.map_or(0, |split| split.day_end_ns)),
        }
    }

    /// The number of the span that holds an instant.
    pub(crate) fn span(&self, time_ns: i64) -> i64 {
        match self.design.layout.shape {
            Shape::RecordPerSpan { span_ns, .. } => time_ns.div_euclid(span_ns),
            _ => time_ns,
        }
    }

    /// A series' tag as it is bound.
    pub(crate) fn tag_value(&self, table: usize, series: u32, tag: usize) -> ToSqlOutput<'_> {
        ToSqlOutput::Borrowed(tag_ref(
            &self.design.schema.tables[table].series.columns()[tag],
            series,
        ))
    }

    /// The tag value that chooses series, of the tag's type; what is no whole number equals none.
    fn wanted_tag<'a>(&self, query: &'a Query) -> ToSqlOutput<'a> {
        let Selection::Tagged { tag, value } = &query.series else {
            return ToSqlOutput::Borrowed(ValueRef::Null);
        };
        ToSqlOutput::Borrowed(
            match &self.design.schema.tables[query.table].series.columns()[*tag] {
                TagColumn::Text(_) => ValueRef::Text(value.as_bytes()),
                TagColumn::Integer(_) => match value.parse::<i64>() {
                    Ok(number) if number.to_string() == *value => ValueRef::Integer(number),
                    _ => ValueRef::Null,
                },
            },
        )
    }

    /// A set of series as a JSON array.
    fn set_text(&self, query: &Query) -> String {
        let Selection::Set(numbers) = &query.series else {
            return "[]".to_owned();
        };
        let table = &self.design.schema.tables[query.table];
        let mut known: Vec<u32> = numbers.clone();
        known.retain(|&series| series < table.series.len());
        known.sort_unstable();
        known.dedup();
        query::set_text(
            &self.design.tables[query.table].key,
            table,
            known.into_iter(),
        )
    }
}

/// A series' tag as it is bound.
pub fn tag_ref(column: &TagColumn, series: u32) -> ValueRef<'_> {
    match column {
        TagColumn::Text(values) => ValueRef::Text(values[series as usize].as_bytes()),
        TagColumn::Integer(values) => ValueRef::Integer(values[series as usize]),
    }
}

/// The end of the range that is meant: a point is asked for by its start.
pub fn end_ns(query: &Query) -> i64 {
    match query.ask {
        Ask::Point { .. } => query.range.start_ns.saturating_add(1),
        _ => query.range.end_ns,
    }
}

/// The one series that is asked about.
fn one(query: &Query) -> u32 {
    match query.series {
        Selection::One(series) => series,
        _ => 0,
    }
}

impl BackendSession for SqliteSession {
    async fn write(&mut self, batch: &Batch) -> Result<Acknowledgement, StoreError> {
        self.deadline.start();
        write::write(self, batch)
    }

    async fn upsert(&mut self, write: EntityReading<'_>) -> Result<Acknowledgement, StoreError> {
        self.deadline.start();
        write::upsert(self, write)
    }

    async fn query(&mut self, query: &Query) -> Result<Answer, StoreError> {
        self.deadline.start();
        query::answer(self, query)
    }

    async fn scan(&mut self, table: usize, sink: &mut dyn FnMut(&Batch)) -> Result<(), StoreError> {
        self.deadline.at.store(u64::MAX, Ordering::Relaxed);
        query::scan::readings(self, table, sink)
    }

    async fn scan_entities(
        &mut self,
        table: usize,
        sink: &mut dyn FnMut(u32, i64, &[Value]),
    ) -> Result<(), StoreError> {
        self.deadline.at.store(u64::MAX, Ordering::Relaxed);
        query::scan::entities(self, table, sink)
    }

    fn keep_statements(&mut self) -> Result<(), StoreError> {
        self.kept = Some(Kept::start(&mut self.connection)?);
        Ok(())
    }

    async fn take_statements(
        &mut self,
        with_plans: bool,
    ) -> Result<Vec<sensormark_store::Statement>, StoreError> {
        self.deadline.start();
        self.kept.as_ref().map_or(Ok(Vec::new()), |kept| {
            kept.take(&self.connection, with_plans)
        })
    }

    async fn close(self) -> Result<(), StoreError> {
        self.connection
            .close()
            .map_err(|(_, cause)| error::native("close the database", cause))
    }
}
