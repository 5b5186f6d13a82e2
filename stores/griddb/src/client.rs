//! GridDB's C client (libgridstore), loaded at run time and wrapped so that the rest of the store needs no `unsafe`.
//!
//! This is the one module of the store with foreign calls. Calls are declared in [`foreign`], and [`library()`] loads them. [`connection`] opens and closes
//! connections, and [`mod@failure`] has what the client says of a failure. Containers and queries are wrapped in [`rows`], and a row in [`row`]. What a connection
//! does with containers is here. Every handle keeps what it came from alive, closes itself, and stays on its thread. No GridDB code is built or shipped: without
//! the library everything else works, and [`library()`] says what is missing.
#![allow(unsafe_code, reason = "GridDB has a C client and no network protocol that is open to others")]

mod connection;
mod described;
mod failure;
mod foreign;
mod library;
mod row;
mod rows;

pub(crate) use connection::Connection;
pub(crate) use failure::{Failure, ILLEGAL_PARAMETER};
pub(crate) use library::{Library, library};
pub(crate) use row::{Cells, Row};
pub(crate) use rows::{Container, Found, Spare};

use failure::{failure, text};
use foreign::{ContainerInfo, ContainerRows, Functions};
use std::ffi::{CStr, CString};
use std::ptr;

/// The type of a column (`GSType`).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// STRING.
    Text = 0,
    /// BOOL.
    Bool = 1,
    /// INTEGER, 32 bits.
    Integer = 4,
    /// LONG, 64 bits.
    Long = 5,
    /// DOUBLE.
    Double = 7,
    /// TIMESTAMP, milliseconds.
    Timestamp = 8,
    /// BLOB.
    Blob = 10,
}

/// A column to be made.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ColumnShape {
    /// Its name.
    pub(crate) name: String,
    /// Its type.
    pub(crate) kind: Kind,
    /// Whether it may be null.
    pub(crate) nullable: bool,
}

/// A container to be made.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ContainerShape {
    /// Its columns.
    pub(crate) columns: Vec<ColumnShape>,
    /// Whether the first of them is the row key.
    pub(crate) keyed: bool,
    /// Whether it is a time series rather than a collection.
    pub(crate) time_series: bool,
}

impl Connection {
    /// Makes a container, or gives the one that is there and has this shape.
    pub(crate) fn put_container(&self, name: &str, shape: &ContainerShape) -> Result<Container, Failure> {
        const NULLABLE: i32 = 1 << 1;
        const NOT_NULL: i32 = 1 << 2;
        let name = text(name)?;
        let names = shape.columns.iter().map(|column| text(&column.name));
        let names = names.collect::<Result<Vec<_>, _>>()?;
        let column = |(column, name): (&ColumnShape, &CString)| foreign::ColumnInfo {
            name: name.as_ptr(),
            kind: column.kind as i32,
            index_flags: -1,
            options: if column.nullable { NULLABLE } else { NOT_NULL },
        };
        let columns: Vec<_> = shape.columns.iter().zip(&names).map(column).collect();
        let info = ContainerInfo {
            name: name.as_ptr(),
            kind: i32::from(shape.time_series),
            column_count: columns.len(),
            columns: columns.as_ptr(),
            row_key_assigned: shape.keyed.into(),
            column_order_ignorable: 0,
            time_series: ptr::null(),
            trigger_count: 0,
            triggers: ptr::null(),
            data_affinity: ptr::null(),
            index_count: 0,
            indexes: ptr::null(),
            row_key_column_count: 0,
            row_key_columns: ptr::null(),
        };
        let mut raw = ptr::null_mut();
        // SAFETY: the description and what it points to live until after the call.
        let code = unsafe {
            let store = self.0.raw.as_ptr();
            (self.0.functions.put_container)(store, name.as_ptr(), &raw const info, 0, &raw mut raw)
        };
        self.check(code)?;
        let missing = || Failure::of(ILLEGAL_PARAMETER, "the container was not made");
        Container::new(self, raw, &name, Spare::default()).ok_or_else(missing)
    }

    /// The container of this name, if it is there.
    pub(crate) fn container(&self, name: &str) -> Result<Option<Container>, Failure> {
        self.container_like(name, Spare::default())
    }

    /// The same of a container that shares rows with others of its schema.
    pub(crate) fn container_like(&self, name: &str, spare: Spare) -> Result<Option<Container>, Failure> {
        self.kept().note_call("gsGetContainerGeneral", name, "");
        let name = text(name)?;
        let mut raw = ptr::null_mut();
        // SAFETY: the name lives until after the call.
        let code =
            unsafe { (self.0.functions.get_container)(self.0.raw.as_ptr(), name.as_ptr(), &raw mut raw) };
        self.check(code)?;
        Ok(Container::new(self, raw, &name, spare))
    }

    /// Drops a container; one that is not there is fine.
    pub(crate) fn drop_container(&self, name: &str) -> Result<(), Failure> {
        let name = text(name)?;
        // SAFETY: the name lives until after the call.
        let code = unsafe { (self.0.functions.drop_container)(self.0.raw.as_ptr(), name.as_ptr()) };
        self.check(code)
    }

    /// Puts rows into several containers, which are named; the containers' rows go one request a node.
    pub(crate) fn put_many(&self, parts: &[(&str, &[Row])]) -> Result<(), Failure> {
        let names = parts.iter().map(|part| text(part.0));
        let names = names.collect::<Result<Vec<_>, _>>()?;
        let raw_rows: Vec<Vec<*mut foreign::Row>> = parts.iter().map(|part| row::raw(part.1)).collect();
        let entry = |(name, rows): (&CString, &Vec<*mut foreign::Row>)| ContainerRows {
            name: name.as_ptr(),
            rows: rows.as_ptr(),
            count: rows.len(),
        };
        let entries: Vec<_> = names.iter().zip(&raw_rows).map(entry).collect();
        self.kept().note_rows("gsPutMultipleContainerRows", parts);
        // SAFETY: entries, names and rows live until after the call.
        let code =
            unsafe { (self.0.functions.put_many)(self.0.raw.as_ptr(), entries.as_ptr(), entries.len()) };
        self.check(code)
    }

    /// The names of all containers.
    pub(crate) fn names(&self) -> Result<Vec<String>, Failure> {
        self.some_names(None)
    }

    /// Fails where a partition does not answer: asks each for no more than one container's name.
    pub(crate) fn ask_all_partitions(&self) -> Result<(), Failure> {
        self.some_names(Some(1)).map(drop)
    }

    /// The names of all containers, or of so many a partition.
    fn some_names(&self, most: Option<i64>) -> Result<Vec<String>, Failure> {
        let functions = self.0.functions;
        let mut controller = ptr::null_mut();
        let mut names = Vec::new();
        // SAFETY: the controller is open until it is closed below; names are copied before the next call, which ends their life.
        unsafe {
            let code = (functions.partitions)(self.0.raw.as_ptr(), &raw mut controller);
            self.check(code)?;
            let listed = list(functions, controller, most, &mut names);
            let failed = listed.map_err(|code| failure(functions, controller.cast(), code));
            (functions.close_partitions)(&raw mut controller);
            failed?;
        }
        Ok(names)
    }
}

/// Appends the names of the containers of all partitions, or of so many of each.
///
/// # Safety
/// The controller is open.
unsafe fn list(
    functions: &Functions,
    controller: *mut foreign::Partitions,
    most: Option<i64>,
    names: &mut Vec<String>,
) -> Result<(), i32> {
    let done = |code: i32| if code == 0 { Ok(()) } else { Err(code) };
    let mut partitions = 0;
    let most = most.as_ref().map_or(ptr::null(), ptr::from_ref);
    // SAFETY: by the caller's promise.
    done(unsafe { (functions.partition_count)(controller, &raw mut partitions) })?;
    for partition in 0..partitions {
        let (mut found, mut count) = (ptr::null(), 0);
        // SAFETY: by the caller's promise; `most` lives until the end; the list holds `count` texts until the next call.
        unsafe {
            done((functions.container_names)(
                controller,
                partition,
                0,
                most,
                &raw mut found,
                &raw mut count,
            ))?;
            for number in 0..count {
                let name = CStr::from_ptr(*found.add(number));
                names.push(name.to_string_lossy().into_owned());
            }
        }
    }
    Ok(())
}
