//! DuckDB's library, loaded at run time and wrapped so that the rest of the driver needs no `unsafe`.
//!
//! This is the one module with foreign calls. The library, databases, connections and statements are here. Every resource gives itself back. No code of DuckDB
//! is built or shipped. The parts are:
//!
//! - [`foreign`] declares the calls;
//! - [`answer`] has the vectors that a statement gives;
//! - [`appender`] has the vectors that an appender takes.
#![allow(unsafe_code, reason = "DuckDB is a library with a C interface, found at run time")]

mod answer;
mod appender;
mod foreign;

pub(crate) use answer::Rows;

use crate::Cell;
use crate::foreign::text_at;
use foreign::{Functions, Handle, Owned, State, TimestampNs, types};
use std::ffi::CString;
use std::path::Path;
use std::ptr;

/// What a call gives, or what DuckDB says of its failure, whose first words are its kind.
pub(crate) type Said<T> = Result<T, String>;

/// A text as the library takes it.
fn text(value: &str) -> Said<CString> {
    CString::new(value).map_err(|_| "a text holds a NUL character".to_owned())
}

/// The library. It stays loaded.
#[derive(Clone, Copy)]
pub(crate) struct Library(&'static Functions);

impl Library {
    /// Loads the library of this file.
    pub(crate) fn load(file: &Path) -> Result<Self, libloading::Error> {
        // SAFETY: the user, or the script that installs servers, put DuckDB there.
        unsafe { Functions::load(file) }.map(Self)
    }

    /// The library's version, without a `v` before it.
    pub(crate) fn version(self) -> String {
        // SAFETY: the function takes nothing and gives a text that stays.
        let version = unsafe { text_at((self.0.duckdb_library_version)()) };
        version.trim_start_matches('v').to_owned()
    }
}

/// An open database, which any number of connections of this process share.
pub(crate) struct Database(Owned);

// SAFETY: DuckDB's documentation: a database may be used by several threads; it has locks of its own.
unsafe impl Send for Database {}
// SAFETY: as above.
unsafe impl Sync for Database {}

impl Database {
    /// Opens (or makes) a database's file with these settings.
    pub(crate) fn open(Library(library): Library, file: &Path, settings: &[(&str, &str)]) -> Said<Self> {
        let path = text(&file.to_string_lossy())?;
        let mut config = Owned::empty(library, library.duckdb_destroy_config);
        let mut database = Owned::empty(library, library.duckdb_close);
        let mut message = ptr::null_mut();
        // SAFETY: pointers are to places for what comes back; texts end with NUL; a message is null or a text that is ours to free.
        unsafe {
            (library.duckdb_create_config)(&raw mut config.handle);
            for (name, value) in settings {
                let (key, value) = (text(name)?, text(value)?);
                if (library.duckdb_set_config)(config.handle, key.as_ptr(), value.as_ptr()) != 0 {
                    return Err(format!("Invalid Configuration Error: the library has no setting {name}"));
                }
            }
            let (place, said) = (&raw mut database.handle, &raw mut message);
            if (library.duckdb_open_ext)(path.as_ptr(), place, config.handle, said) == 0 {
                return Ok(Self(database));
            }
            let text = text_at(message);
            (library.duckdb_free)(message.cast());
            Err(text)
        }
    }
}

/// A connection, which stays on its thread.
pub(crate) struct Connection(Owned);

impl Connection {
    /// One more connection to a database.
    pub(crate) fn open(Database(database): &Database) -> Said<Self> {
        let library = database.library;
        let mut connection = Owned::empty(library, library.duckdb_disconnect);
        // SAFETY: the database is open, and the pointer is to a place for the handle.
        let state = unsafe { (library.duckdb_connect)(database.handle, &raw mut connection.handle) };
        if state == 0 { Ok(Self(connection)) } else { Err("the library gives no connection".to_owned()) }
    }

    /// Runs statements, and gives the rows of the last.
    pub(crate) fn query(&self, statements: &str) -> Said<Rows> {
        let Owned { library, handle, .. } = self.0;
        let statements = text(statements)?;
        // SAFETY: the connection is open, the text ends with NUL, and the pointer is to a place for the result.
        Rows::of(library, |place| unsafe { (library.duckdb_query)(handle, statements.as_ptr(), place) })
    }

    /// Prepares one statement.
    pub(crate) fn prepare(&self, statement: &str) -> Said<Prepared> {
        let Owned { library, handle, .. } = self.0;
        let statement = text(statement)?;
        let mut prepared = Prepared(Owned::empty(library, library.duckdb_destroy_prepare));
        // SAFETY: the connection is open, the text ends with NUL, and the pointer is to a place for the handle.
        let state =
            unsafe { (library.duckdb_prepare)(handle, statement.as_ptr(), &raw mut prepared.0.handle) };
        prepared.done(state)?;
        Ok(prepared)
    }
}

/// A prepared statement.
pub(crate) struct Prepared(Owned);

impl Prepared {
    /// What became of a call; the statement keeps the message of its failure.
    fn done(&self, state: State) -> Said<()> {
        // SAFETY: the statement is open, or holds what hindered it.
        let said = || unsafe { text_at((self.0.library.duckdb_prepare_error)(self.0.handle)) };
        if state == 0 { Ok(()) } else { Err(said()) }
    }

    /// Gives a parameter, from 0 on, its value, of the type of its column: for another one DuckDB would plan the statement again.
    pub(crate) fn bind(&self, slot: usize, kind: Kind, cell: Cell<'_>) -> Said<()> {
        match cell {
            Cell::Integers(values) => self.bind_list(slot, kind, values.iter().map(|&it| Cell::I64(it))),
            Cell::Texts(values) => self.bind_list(slot, kind, values.iter().map(|&it| Cell::Text(it))),
            cell => self.bind_value(slot, &value(self.0.library, kind.number, cell)?),
        }
    }

    /// The same with a list.
    pub(crate) fn bind_list<'a>(
        &self,
        slot: usize,
        kind: Kind,
        cells: impl Iterator<Item = Cell<'a>>,
    ) -> Said<()> {
        let library = self.0.library;
        let values = cells.map(|cell| value(library, kind.number, cell)).collect::<Said<Vec<_>>>()?;
        let mut handles: Vec<Handle> = values.iter().map(|value| value.handle).collect();
        let element = logical(library, kind.number);
        // SAFETY: type and values are open, and there are as many values as are said.
        let list = unsafe {
            (library.duckdb_create_list_value)(element.handle, handles.as_mut_ptr(), handles.len() as u64)
        };
        self.bind_value(slot, &Owned::new(library, list, library.duckdb_destroy_value))
    }

    fn bind_value(&self, slot: usize, value: &Owned) -> Said<()> {
        // SAFETY: statement and value are open or null; the library takes any number for a place, and copies the value.
        self.done(unsafe { (self.0.library.duckdb_bind_value)(self.0.handle, slot as u64 + 1, value.handle) })
    }

    /// Runs it, and gives all of its rows, or its rows as they are made.
    pub(crate) fn run(&self, as_made: bool) -> Said<Rows> {
        let Owned { library, handle, .. } = self.0;
        let run = match as_made {
            true => library.duckdb_execute_prepared_streaming,
            false => library.duckdb_execute_prepared,
        };
        // SAFETY: the statement is open, and the pointer is to a place for the result.
        Rows::of(library, |place| unsafe { run(handle, place) })
    }
}

/// A type of DuckDB's, or lists of it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Kind {
    number: u32,
    is_list: bool,
}

impl Kind {
    /// The type that a store's file names.
    pub(crate) fn named(name: &str) -> Option<Self> {
        let element = name.strip_suffix("[]");
        let number = types::named(element.unwrap_or(name))?;
        Some(Self { number, is_list: element.is_some() })
    }

    /// A printed value of it, as a statement has it. Of a block of lists, a value of the first row is kept.
    pub(crate) fn literal(self, printed: &str) -> String {
        match self.number {
            _ if self.is_list => format!("[{}]", printed.trim_matches(['{', '}'])),
            types::TIMESTAMP_NS => format!("make_timestamp_ns({printed})"),
            _ => printed.to_owned(),
        }
    }
}

/// The type with this number.
fn logical(library: &'static Functions, number: u32) -> Owned {
    // SAFETY: the function takes a plain number.
    let handle = unsafe { (library.duckdb_create_logical_type)(number) };
    Owned::new(library, handle, library.duckdb_destroy_logical_type)
}

/// A value of the library's own.
fn value(library: &'static Functions, number: u32, cell: Cell<'_>) -> Said<Owned> {
    // SAFETY: the functions take plain numbers, or a pointer with its length to bytes that are there during the call.
    let handle = unsafe {
        match (number, cell) {
            (_, Cell::Null) => (library.duckdb_create_null_value)(),
            (_, Cell::Bool(value)) => (library.duckdb_create_bool)(value),
            (types::USMALLINT, Cell::I64(value)) => (library.duckdb_create_uint16)(narrow(value)?),
            (types::INTEGER, Cell::I64(value)) => (library.duckdb_create_int32)(narrow(value)?),
            (types::TIMESTAMP_NS, Cell::I64(value)) => {
                (library.duckdb_create_timestamp_ns)(TimestampNs(value))
            }
            (_, Cell::I64(value)) => (library.duckdb_create_int64)(value),
            (_, Cell::F64(value)) => (library.duckdb_create_double)(value),
            (_, Cell::Text(value)) => {
                (library.duckdb_create_varchar_length)(value.as_ptr().cast(), value.len() as u64)
            }
            (number, cell) => return Err(misfit(cell, number)),
        }
    };
    Ok(Owned::new(library, handle, library.duckdb_destroy_value))
}

/// A whole number of the width that a column has.
fn narrow<T: TryFrom<i64>>(value: i64) -> Said<T> {
    T::try_from(value).map_err(|_| format!("{value} is too large for its column"))
}

fn misfit(cell: Cell<'_>, number: u32) -> String {
    format!("{} is not for a column of DuckDB's type {number}", cell.printed())
}
