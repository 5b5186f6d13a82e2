//! Containers and queries: safe handles that keep what they came from alive and close themselves.

use super::connection::Connection;
use super::failure::{Failure, ILLEGAL_PARAMETER, failure, text};
use super::foreign::{self, Aggregation, Flag, Functions};
use super::row::{Cells, Row, raw};
use std::borrow::Cow;
use std::cell::RefCell;
use std::ffi::{CStr, CString};
use std::fmt;
use std::ptr::{self, NonNull};
use std::rc::Rc;

/// An open container.
#[derive(Clone)]
pub(crate) struct Container(Rc<OpenContainer>);

struct OpenContainer {
    connection: Connection,
    raw: NonNull<foreign::Container>,
    name: CString,
    spare: Spare,
}

/// Rows to be used again, of containers with one schema: a row of one serves all. (The client looks at a row's schema, not at where it is from.)
#[derive(Clone, Default)]
pub(crate) struct Spare(Rc<RefCell<Vec<Row>>>);

impl Spare {
    /// Lets these rows go.
    pub(crate) fn clear(&self) {
        self.0.borrow_mut().clear();
    }
}

impl Drop for OpenContainer {
    fn drop(&mut self) {
        let mut raw = self.raw.as_ptr();
        // SAFETY: the container is open; its queries are closed, since they kept this alive; rows outlive their container.
        unsafe { (self.connection.0.functions.close_container)(&raw mut raw, 0) };
    }
}

/// Rows of a container in use; when this is dropped, they are kept to be used again.
pub(crate) struct Rows {
    container: Container,
    rows: Vec<Row>,
}

impl Drop for Rows {
    fn drop(&mut self) {
        const KEPT: usize = 1_000;
        let mut spare = self.container.0.spare.0.borrow_mut();
        spare.append(&mut self.rows);
        spare.truncate(KEPT);
    }
}

impl std::ops::Deref for Rows {
    type Target = [Row];

    fn deref(&self) -> &[Row] {
        &self.rows
    }
}

impl std::ops::DerefMut for Rows {
    fn deref_mut(&mut self) -> &mut [Row] {
        &mut self.rows
    }
}

impl Container {
    pub(super) fn new(
        connection: &Connection,
        raw: *mut foreign::Container,
        name: &CStr,
        spare: Spare,
    ) -> Option<Self> {
        Some(Self(Rc::new(OpenContainer {
            connection: connection.clone(),
            raw: NonNull::new(raw)?,
            name: name.to_owned(),
            spare,
        })))
    }

    fn functions(&self) -> &'static Functions {
        self.0.connection.0.functions
    }

    /// Notes a call on this container, where calls are kept.
    #[inline]
    fn note(&self, call: &str, value: impl fmt::Display) {
        let kept = self.0.connection.kept();
        if kept.is_on() {
            kept.note_call(call, &self.name(), value);
        }
    }

    fn name(&self) -> Cow<'_, str> {
        self.0.name.to_string_lossy()
    }

    fn raw(&self) -> *mut foreign::Container {
        self.0.raw.as_ptr()
    }

    fn check(&self, code: i32) -> Result<(), Failure> {
        if code == 0 {
            return Ok(());
        }
        Err(failure(self.functions(), self.raw().cast(), code))
    }

    fn new_row(&self) -> Result<Row, Failure> {
        let mut raw = ptr::null_mut();
        // SAFETY: the container is open.
        self.check(unsafe { (self.functions().create_row)(self.raw(), &raw mut raw) })?;
        let missing = || Failure::of(ILLEGAL_PARAMETER, "no row was made");
        Row::new(&self.0.connection, raw).ok_or_else(missing)
    }

    /// This many rows, whose fields hold anything until they are set.
    pub(crate) fn rows(&self, count: usize) -> Result<Rows, Failure> {
        let mut rows = {
            let mut spare = self.0.spare.0.borrow_mut();
            let left = spare.len().saturating_sub(count);
            spare.split_off(left)
        };
        while rows.len() < count {
            rows.push(self.new_row()?);
        }
        Ok(Rows { container: self.clone(), rows })
    }

    /// Makes an index on a column, of the kind that the column's type has by default (a tree).
    pub(crate) fn create_index(&self, column: &str) -> Result<(), Failure> {
        let column = text(column)?;
        // SAFETY: the container is open, and the name lives until after the call.
        self.check(unsafe { (self.functions().create_index)(self.raw(), column.as_ptr(), -1) })
    }

    /// Whether each statement commits by itself, which is so until this is called.
    pub(crate) fn set_auto_commit(&self, enabled: bool) -> Result<(), Failure> {
        // SAFETY: the container is open.
        self.check(unsafe { (self.functions().auto_commit)(self.raw(), enabled.into()) })
    }

    /// Commits.
    pub(crate) fn commit(&self) -> Result<(), Failure> {
        self.note("gsCommit", "");
        // SAFETY: the container is open.
        self.check(unsafe { (self.functions().commit)(self.raw()) })
    }

    /// Takes back what was not committed.
    pub(crate) fn abort(&self) -> Result<(), Failure> {
        // SAFETY: the container is open.
        self.check(unsafe { (self.functions().abort)(self.raw()) })
    }

    /// Puts one row, in place of the one with its key.
    pub(crate) fn put(&self, row: &Row) -> Result<(), Failure> {
        self.note("gsPutRow", "1 row");
        let mut existed: Flag = 0;
        // SAFETY: container and row are open; without a key the row's own is taken.
        self.check(unsafe {
            let row = row.raw();
            (self.functions().put_row)(self.raw(), ptr::null(), row, &raw mut existed)
        })
    }

    /// Puts rows in one request.
    pub(crate) fn put_rows(&self, rows: &[Row]) -> Result<(), Failure> {
        self.note("gsPutMultipleRows", format_args!("{} rows", rows.len()));
        let rows = raw(rows);
        let mut existed: Flag = 0;
        // SAFETY: container and rows are open.
        self.check(unsafe {
            (self.functions().put_rows)(self.raw(), rows.as_ptr(), rows.len(), &raw mut existed)
        })
    }

    /// Reads the row with this key, if there is one.
    pub(crate) fn row_by_long(&self, key: i64, row: &mut Row) -> Result<bool, Failure> {
        self.note("gsGetRowByLong", key);
        let mut exists: Flag = 0;
        // SAFETY: container and row are open.
        self.check(unsafe {
            let row = row.raw();
            (self.functions().row_by_long)(self.raw(), key, row, 0, &raw mut exists)
        })?;
        Ok(exists != 0)
    }

    /// Reads the row with this key, if there is one.
    pub(crate) fn row_by_integer(&self, key: i32, row: &mut Row) -> Result<bool, Failure> {
        self.note("gsGetRowByInteger", key);
        let mut exists: Flag = 0;
        // SAFETY: container and row are open.
        self.check(unsafe {
            let row = row.raw();
            (self.functions().row_by_integer)(self.raw(), key, row, 0, &raw mut exists)
        })?;
        Ok(exists != 0)
    }

    /// Reads the row of this many milliseconds since the epoch, if there is one.
    pub(crate) fn row_by_time(&self, milliseconds: i64, row: &mut Row) -> Result<bool, Failure> {
        self.note("gsGetRowByTimestamp", milliseconds);
        let mut exists: Flag = 0;
        // SAFETY: container and row are open.
        self.check(unsafe {
            let row = row.raw();
            (self.functions().row_by_timestamp)(self.raw(), milliseconds, row, 0, &raw mut exists)
        })?;
        Ok(exists != 0)
    }

    fn query(&self, tql: &str) -> Result<Query, Failure> {
        let kept = self.0.connection.kept();
        if kept.is_on() {
            kept.note_tql(tql, &self.name());
        }
        let tql = text(tql)?;
        let mut raw = ptr::null_mut();
        // SAFETY: the container is open, and the text lives until after the call.
        self.check(unsafe { (self.functions().query)(self.raw(), tql.as_ptr(), &raw mut raw) })?;
        let missing = || Failure::of(ILLEGAL_PARAMETER, "no query was made");
        Ok(Query { container: self.clone(), raw: NonNull::new(raw).ok_or_else(missing)? })
    }

    /// Asks a question in TQL.
    pub(crate) fn ask(&self, tql: &str) -> Result<Found, Failure> {
        let query = self.query(tql)?;
        let mut set = ptr::null_mut();
        // SAFETY: the query is open.
        let code = unsafe { (self.functions().fetch)(query.raw.as_ptr(), 0, &raw mut set) };
        query.check(code)?;
        query.found(set)
    }
}

/// A question that was not fetched yet.
struct Query {
    container: Container,
    raw: NonNull<foreign::Query>,
}

impl Drop for Query {
    fn drop(&mut self) {
        let mut raw = self.raw.as_ptr();
        // SAFETY: the query is open, and its row set closed: it kept this alive.
        unsafe { (self.container.functions().close_query)(&raw mut raw) };
    }
}

impl Query {
    fn check(&self, code: i32) -> Result<(), Failure> {
        if code == 0 {
            return Ok(());
        }
        let functions = self.container.functions();
        Err(failure(functions, self.raw.as_ptr().cast(), code))
    }

    fn found(self, set: *mut foreign::RowSet) -> Result<Found, Failure> {
        let missing = || Failure::of(ILLEGAL_PARAMETER, "a query has no row set");
        let set = NonNull::new(set).ok_or_else(missing)?;
        Ok(Found { query: self, set })
    }
}

impl Connection {
    /// Asks several questions in TQL together; answers in their order.
    pub(crate) fn ask_all<'a>(
        &self,
        questions: impl IntoIterator<Item = (&'a Container, &'a str)>,
    ) -> Result<Vec<Found>, Failure> {
        let made = questions.into_iter().map(|(container, tql)| container.query(tql));
        let queries = made.collect::<Result<Vec<_>, _>>()?;
        let raw: Vec<_> = queries.iter().map(|query| query.raw.as_ptr()).collect();
        self.fetch_all(&raw)?;
        let found = |query: Query| {
            let mut set = ptr::null_mut();
            // SAFETY: the query is open, and was fetched.
            let code = unsafe { (self.0.functions.row_set)(query.raw.as_ptr(), &raw mut set) };
            query.check(code)?;
            query.found(set)
        };
        queries.into_iter().map(found).collect()
    }
}

/// What a question found: rows, or values of an aggregate.
pub(crate) struct Found {
    query: Query,
    set: NonNull<foreign::RowSet>,
}

impl Drop for Found {
    fn drop(&mut self) {
        let mut set = self.set.as_ptr();
        // SAFETY: the row set is open.
        unsafe { (self.query.container.functions().close_row_set)(&raw mut set) };
    }
}

impl Found {
    fn check(&self, code: i32) -> Result<(), Failure> {
        if code == 0 {
            return Ok(());
        }
        let functions = self.query.container.functions();
        Err(failure(functions, self.set.as_ptr().cast(), code))
    }

    /// The lines of a plan, where an EXPLAIN was asked.
    pub(crate) fn plan(&self) -> Result<Vec<String>, Failure> {
        let functions = self.query.container.functions();
        let mut lines = Vec::new();
        while self.has_next() {
            let mut line = foreign::PlanLine {
                id: 0,
                depth: 0,
                kind: ptr::null(),
                value_kind: ptr::null(),
                value: ptr::null(),
                statement: ptr::null(),
            };
            // SAFETY: the row set is open; the line's texts live until the next call on it, and are copied before.
            unsafe {
                self.check((functions.next_plan_line)(self.set.as_ptr(), &raw mut line))?;
                lines.push(plan_line(&line));
            }
        }
        Ok(lines)
    }

    fn has_next(&self) -> bool {
        // SAFETY: the row set is open.
        unsafe { (self.query.container.functions().has_next)(self.set.as_ptr()) != 0 }
    }

    /// Hands each row to the caller, in the order of the answer.
    pub(crate) fn each<E: From<Failure>>(
        &self,
        mut take: impl FnMut(Cells<'_>) -> Result<(), E>,
    ) -> Result<(), E> {
        if !self.has_next() {
            return Ok(());
        }
        let functions = self.query.container.functions();
        let rows = self.query.container.rows(1)?;
        while self.has_next() {
            // SAFETY: row set and row are open.
            let code = unsafe { (functions.next_row)(self.set.as_ptr(), rows[0].raw()) };
            self.check(code)?;
            take(rows[0].cells())?;
        }
        Ok(())
    }

    /// The value of an aggregate; none where there was nothing to aggregate.
    fn aggregation<T: Default>(
        &self,
        read: unsafe extern "C" fn(*mut Aggregation, *mut T, *mut Flag) -> i32,
    ) -> Result<Option<T>, Failure> {
        if !self.has_next() {
            return Ok(None);
        }
        let functions = self.query.container.functions();
        let mut raw = ptr::null_mut();
        let (mut value, mut assigned): (T, Flag) = (T::default(), 0);
        // SAFETY: the row set is open; the result is closed after it was read.
        unsafe {
            self.check((functions.next_aggregation)(self.set.as_ptr(), &raw mut raw))?;
            let code = read(raw, &raw mut value, &raw mut assigned);
            let failed = (code != 0).then(|| failure(functions, raw.cast(), code));
            (functions.close_aggregation)(&raw mut raw);
            failed.map_or(Ok(()), Err)?;
        }
        if assigned == 0 {
            let text = "an aggregate is of a type that was not asked for";
            return Err(Failure::of(ILLEGAL_PARAMETER, text));
        }
        Ok(Some(value))
    }

    /// The aggregate as a whole number.
    pub(crate) fn whole(&self) -> Result<Option<i64>, Failure> {
        self.aggregation(self.query.container.functions().aggregation_long)
    }

    /// The aggregate as a floating point number.
    pub(crate) fn real(&self) -> Result<Option<f64>, Failure> {
        self.aggregation(self.query.container.functions().aggregation_double)
    }
}

/// A line of a plan as people read it: indented by its depth, what it is, its value, and the part of the question that it is of.
///
/// # Safety
/// The line's texts are null, or live and end with NUL.
unsafe fn plan_line(line: &foreign::PlanLine) -> String {
    let indent = usize::try_from(line.depth).unwrap_or(0);
    let mut told = "  ".repeat(indent);
    let parts = [line.kind, line.value, line.statement];
    for part in parts.into_iter().filter(|part| !part.is_null()) {
        // SAFETY: by the caller's promise.
        let part = unsafe { CStr::from_ptr(part) }.to_string_lossy();
        if !part.is_empty() {
            let blank = if told.trim().is_empty() { "" } else { " " };
            told.push_str(blank);
            told.push_str(&part);
        }
    }
    told
}
