//! One row: its fields set and read by column number.

use super::connection::Connection;
use super::failure::{Failure, ILLEGAL_PARAMETER, failure, text};
use super::foreign::{self, Blob, Flag, Functions};
use std::ffi::{CStr, c_char};
use std::ptr::{self, NonNull};

/// One row, of a container's columns.
pub(crate) struct Row {
    functions: &'static Functions,
    raw: NonNull<foreign::Row>,
    /// A row lives no longer than its connection.
    _connection: Connection,
}

impl Drop for Row {
    fn drop(&mut self) {
        let mut raw = self.raw.as_ptr();
        // SAFETY: the row is open.
        unsafe { (self.functions.close_row)(&raw mut raw) };
    }
}

/// The library's pointers to rows.
pub(super) fn raw(rows: &[Row]) -> Vec<*mut foreign::Row> {
    rows.iter().map(Row::raw).collect()
}

impl Row {
    pub(super) fn new(connection: &Connection, raw: *mut foreign::Row) -> Option<Self> {
        Some(Self {
            functions: connection.0.functions,
            raw: NonNull::new(raw)?,
            _connection: connection.clone(),
        })
    }

    pub(super) const fn raw(&self) -> *mut foreign::Row {
        self.raw.as_ptr()
    }

    fn check(&self, code: i32) -> Result<(), Failure> {
        if code == 0 {
            return Ok(());
        }
        Err(failure(self.functions, self.raw.as_ptr().cast(), code))
    }

    /// Sets a field to nothing.
    pub(crate) fn set_null(&mut self, column: i32) -> Result<(), Failure> {
        // SAFETY: the row is open.
        self.check(unsafe { (self.functions.set_null)(self.raw.as_ptr(), column) })
    }

    /// Sets a BOOL.
    pub(crate) fn set_bool(&mut self, column: i32, value: bool) -> Result<(), Failure> {
        // SAFETY: the row is open.
        self.check(unsafe { (self.functions.set_bool)(self.raw.as_ptr(), column, value.into()) })
    }

    /// Sets an INTEGER.
    pub(crate) fn set_integer(&mut self, column: i32, value: i32) -> Result<(), Failure> {
        // SAFETY: the row is open.
        self.check(unsafe { (self.functions.set_integer)(self.raw.as_ptr(), column, value) })
    }

    /// Sets a LONG.
    pub(crate) fn set_long(&mut self, column: i32, value: i64) -> Result<(), Failure> {
        // SAFETY: the row is open.
        self.check(unsafe { (self.functions.set_long)(self.raw.as_ptr(), column, value) })
    }

    /// Sets a DOUBLE.
    pub(crate) fn set_double(&mut self, column: i32, value: f64) -> Result<(), Failure> {
        // SAFETY: the row is open.
        self.check(unsafe { (self.functions.set_double)(self.raw.as_ptr(), column, value) })
    }

    /// Sets a TIMESTAMP, in milliseconds since the epoch.
    pub(crate) fn set_time(&mut self, column: i32, milliseconds: i64) -> Result<(), Failure> {
        // SAFETY: the row is open.
        self.check(unsafe { (self.functions.set_timestamp)(self.raw.as_ptr(), column, milliseconds) })
    }

    /// Sets a STRING; the library copies it.
    pub(crate) fn set_text(&mut self, column: i32, value: &str) -> Result<(), Failure> {
        let value = text(value)?;
        // SAFETY: the row is open, and the text lives until after the call.
        self.check(unsafe { (self.functions.set_string)(self.raw.as_ptr(), column, value.as_ptr()) })
    }

    /// Sets a BLOB; the library copies it.
    pub(crate) fn set_blob(&mut self, column: i32, bytes: &[u8]) -> Result<(), Failure> {
        let blob = Blob { size: bytes.len(), data: bytes.as_ptr().cast() };
        // SAFETY: the row is open, and the bytes live until after the call.
        self.check(unsafe { (self.functions.set_blob)(self.raw.as_ptr(), column, &raw const blob) })
    }

    /// Reads the row's fields.
    pub(crate) fn cells(&self) -> Cells<'_> {
        Cells(self)
    }
}

/// A row to be read, until the next one takes its place.
#[derive(Clone, Copy)]
pub(crate) struct Cells<'a>(&'a Row);

macro_rules! getters {
    ($($(#[$doc:meta])* $name:ident: $kind:ty = $function:ident;)*) => { $(
        $(#[$doc])*
        pub(crate) fn $name(self, column: i32) -> Result<$kind, Failure> {
            let mut value = Default::default();
            // SAFETY: the row is open.
            let code = unsafe { (self.0.functions.$function)(self.0.raw.as_ptr(), column, &raw mut value) };
            self.0.check(code)?;
            Ok(value)
        }
    )* };
}

impl<'a> Cells<'a> {
    getters! {
        /// An INTEGER.
        integer: i32 = get_integer;
        /// A LONG.
        long: i64 = get_long;
        /// A DOUBLE.
        double: f64 = get_double;
        /// A TIMESTAMP, in milliseconds since the epoch.
        time: i64 = get_timestamp;
        /// A BOOL: 0 or not.
        flag: Flag = get_bool;
        /// Whether a field holds nothing: not 0.
        nothing: Flag = get_null;
    }

    /// A STRING.
    pub(crate) fn text(self, column: i32) -> Result<&'a str, Failure> {
        let mut value: *const c_char = ptr::null();
        // SAFETY: the row is open.
        let code = unsafe { (self.0.functions.get_string)(self.0.raw.as_ptr(), column, &raw mut value) };
        self.0.check(code)?;
        if value.is_null() {
            return Ok("");
        }
        // SAFETY: the text belongs to the row, and is not changed while it is borrowed: what changes a row needs it for itself.
        let value = unsafe { CStr::from_ptr(value) };
        value.to_str().map_err(|_| Failure::of(ILLEGAL_PARAMETER, "a text is not UTF-8"))
    }

    /// A BLOB, copied.
    pub(crate) fn blob(self, column: i32) -> Result<Vec<u8>, Failure> {
        let mut blob = Blob { size: 0, data: ptr::null() };
        // SAFETY: the row is open.
        let code = unsafe { (self.0.functions.get_blob)(self.0.raw.as_ptr(), column, &raw mut blob) };
        self.0.check(code)?;
        if blob.data.is_null() || blob.size == 0 {
            return Ok(Vec::new());
        }
        // SAFETY: the library gives `size` bytes that stay until the row changes; they are copied at once.
        Ok(unsafe { std::slice::from_raw_parts(blob.data.cast::<u8>(), blob.size) }.to_vec())
    }
}
