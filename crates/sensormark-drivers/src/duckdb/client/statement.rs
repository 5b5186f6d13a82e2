//! Connections and prepared statements.

use super::foreign::{self, ResultHandle};
use super::{Database, Failure, Library, Rows, Value, text, text_at};
use std::ptr;

/// A connection, which stays on its thread.
pub(crate) struct Connection {
    pub(super) library: &'static Library,
    pub(super) handle: *mut foreign::Connection,
}

impl Connection {
    /// One more connection to a database.
    pub(crate) fn open(database: &Database) -> Result<Self, Failure> {
        let library = database.library;
        let mut handle = ptr::null_mut();
        // SAFETY: the database is open, and the pointer is to a place for the handle.
        let state = unsafe { (library.functions.connect)(database.handle, &raw mut handle) };
        if state == 0 {
            return Ok(Self { library, handle });
        }
        Err(Failure::of("the library gives no connection"))
    }

    /// Runs statements whose rows are not wanted.
    pub(crate) fn run(&self, statements: &str) -> Result<(), Failure> {
        self.query(statements).map(drop)
    }

    /// Runs statements, and gives the rows of the last.
    pub(crate) fn query(&self, statements: &str) -> Result<Rows, Failure> {
        let statements = text(statements)?;
        let mut result = ResultHandle::empty();
        // SAFETY: the connection is open, the text ends with NUL, and the pointer is to a place for the result.
        let state =
            unsafe { (self.library.functions.query)(self.handle, statements.as_ptr(), &raw mut result) };
        Rows::taken(self.library, result, state)
    }

    /// Prepares one statement.
    pub(crate) fn prepare(&self, statement: &str) -> Result<Prepared, Failure> {
        let functions = &self.library.functions;
        let statement = text(statement)?;
        let mut prepared = Prepared { library: self.library, handle: ptr::null_mut() };
        // SAFETY: the connection is open, the text ends with NUL, and the pointer is to a place for the handle.
        let state = unsafe { (functions.prepare)(self.handle, statement.as_ptr(), &raw mut prepared.handle) };
        if state == 0 {
            return Ok(prepared);
        }
        // SAFETY: after a failure the handle holds the message, which stays until it is destroyed.
        let said = unsafe { text_at((functions.prepare_error)(prepared.handle)) };
        Err(Failure::of(said))
    }
}

impl Drop for Connection {
    fn drop(&mut self) {
        // SAFETY: the handle is open and not used after this.
        unsafe { (self.library.functions.disconnect)(&raw mut self.handle) }
    }
}

/// A prepared statement.
pub(crate) struct Prepared {
    library: &'static Library,
    handle: *mut foreign::Prepared,
}

impl Prepared {
    /// Gives parameter number `place`, from 1 on, its value.
    pub(crate) fn bind(&self, place: usize, value: &Value) -> Result<(), Failure> {
        // SAFETY: statement and value are open; the library takes any number for a place, and copies the value.
        let state = unsafe { (self.library.functions.bind_value)(self.handle, place as u64, value.handle) };
        if state == 0 {
            return Ok(());
        }
        // SAFETY: the statement is open, and keeps its message.
        let said = unsafe { text_at((self.library.functions.prepare_error)(self.handle)) };
        Err(Failure::of(format!("a parameter is not taken; {said}")))
    }

    /// Runs it, and gives all of its rows.
    pub(crate) fn execute(&self) -> Result<Rows, Failure> {
        let mut result = ResultHandle::empty();
        // SAFETY: the statement is open, and the pointer is to a place for the result.
        let state = unsafe { (self.library.functions.execute)(self.handle, &raw mut result) };
        Rows::taken(self.library, result, state)
    }

    /// Runs it, and gives its rows as they are made.
    pub(crate) fn stream(&self) -> Result<Rows, Failure> {
        let functions = &self.library.functions;
        let (mut pending, mut result) = (ptr::null_mut(), ResultHandle::empty());
        // SAFETY: the statement is open, and the pointer is to a place for the handle.
        let state = unsafe { (functions.pending_streaming)(self.handle, &raw mut pending) };
        // SAFETY: the handle is the library's own, is destroyed once, and its message is read before that; the pointer is to a place for the result.
        unsafe {
            if state != 0 {
                let said = text_at((functions.pending_error)(pending));
                (functions.destroy_pending)(&raw mut pending);
                return Err(Failure::of(said));
            }
            let state = (functions.execute_pending)(pending, &raw mut result);
            (functions.destroy_pending)(&raw mut pending);
            Rows::taken(self.library, result, state)
        }
    }
}

impl Drop for Prepared {
    fn drop(&mut self) {
        // SAFETY: the handle is open or null, which the library takes too.
        unsafe { (self.library.functions.destroy_prepared)(&raw mut self.handle) }
    }
}
