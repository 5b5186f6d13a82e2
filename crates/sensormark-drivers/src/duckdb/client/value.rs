//! What is bound to a prepared statement: single values, times, and lists.

use super::foreign::{self, TimestampNs, types};
use super::{Failure, Library};
use crate::Cell;

/// A type of DuckDB's, or lists of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Kind {
    /// Its number.
    pub(super) number: u32,
    pub(super) is_list: bool,
}

impl Kind {
    /// The type that a store's file names.
    pub(crate) fn named(name: &str) -> Option<Self> {
        let element = name.strip_suffix("[]");
        let number = match element.unwrap_or(name) {
            "BOOLEAN" => types::BOOLEAN,
            "SMALLINT" => types::SMALLINT,
            "INTEGER" => types::INTEGER,
            "BIGINT" => types::BIGINT,
            "USMALLINT" => types::USMALLINT,
            "DOUBLE" => types::DOUBLE,
            "VARCHAR" => types::VARCHAR,
            "TIMESTAMP_NS" => types::TIMESTAMP_NS,
            _ => return None,
        };
        Some(Self { number, is_list: element.is_some() })
    }

    /// A printed value of it, as a statement has it. Of a block of lists, a value of the first row is kept.
    pub(crate) fn literal(self, printed: &str) -> String {
        let inside = printed.strip_prefix('{').and_then(|text| text.strip_suffix('}'));
        match self.number {
            _ if self.is_list || inside.is_some() => format!("[{}]", inside.unwrap_or(printed)),
            types::TIMESTAMP_NS => format!("make_timestamp_ns({printed})"),
            _ => printed.to_owned(),
        }
    }

    /// The type as the library has it.
    pub(super) fn logical(self, library: &'static Library) -> LogicalType {
        let one = LogicalType::of(library, self.number);
        if !self.is_list {
            return one;
        }
        // SAFETY: the element's type is open.
        let handle = unsafe { (library.functions.create_list_type)(one.handle) };
        LogicalType { library, handle }
    }
}

/// A value of the library's own.
pub(crate) struct Value {
    library: &'static Library,
    pub(super) handle: *mut foreign::Value,
}

impl Value {
    /// A cell as the library's value, of the type of its column: for another one DuckDB would plan the statement again.
    pub(crate) fn of(library: &'static Library, kind: Kind, cell: Cell<'_>) -> Result<Self, Failure> {
        match cell {
            Cell::Integers(values) => Self::list(library, kind, values.iter().map(|&value| Cell::I64(value))),
            Cell::Texts(values) => Self::list(library, kind, values.iter().map(|&value| Cell::Text(value))),
            cell => Self::one(library, kind.number, cell),
        }
    }

    fn one(library: &'static Library, number: u32, cell: Cell<'_>) -> Result<Self, Failure> {
        let functions = &library.functions;
        // SAFETY: the functions take plain numbers, or a pointer with its length to bytes that are there during the call.
        let handle = unsafe {
            match (number, cell) {
                (_, Cell::Null) => (functions.null_value)(),
                (_, Cell::Bool(value)) => (functions.bool_value)(value),
                (types::SMALLINT, Cell::I64(value)) => (functions.i16_value)(narrow(value)?),
                (types::USMALLINT, Cell::I64(value)) => (functions.u16_value)(narrow(value)?),
                (types::INTEGER, Cell::I64(value)) => (functions.i32_value)(narrow(value)?),
                (types::TIMESTAMP_NS, Cell::I64(nanos)) => (functions.timestamp_value)(TimestampNs { nanos }),
                (_, Cell::I64(value)) => (functions.i64_value)(value),
                (_, Cell::F64(value)) => (functions.f64_value)(value),
                (_, Cell::Text(value)) => (functions.text_value)(value.as_ptr().cast(), value.len() as u64),
                (number, cell) => return Err(misfit(cell, number)),
            }
        };
        Ok(Self { library, handle })
    }

    /// A list of cells of this type.
    pub(crate) fn list<'a>(
        library: &'static Library,
        kind: Kind,
        cells: impl Iterator<Item = Cell<'a>>,
    ) -> Result<Self, Failure> {
        let values = cells.map(|cell| Self::one(library, kind.number, cell));
        let values = values.collect::<Result<Vec<_>, _>>()?;
        let mut handles: Vec<_> = values.iter().map(|value| value.handle).collect();
        let element = LogicalType::of(library, kind.number);
        // SAFETY: type and values are open, and there are as many values as are said.
        let handle = unsafe {
            (library.functions.list_value)(element.handle, handles.as_mut_ptr(), handles.len() as u64)
        };
        if handle.is_null() {
            return Err(Failure::of("a list cannot be made of these values"));
        }
        Ok(Self { library, handle })
    }
}

impl Drop for Value {
    fn drop(&mut self) {
        // SAFETY: the handle is open and not used after this.
        unsafe { (self.library.functions.destroy_value)(&raw mut self.handle) }
    }
}

/// A whole number of the width that a column has.
pub(super) fn narrow<T: TryFrom<i64>>(value: i64) -> Result<T, Failure> {
    T::try_from(value).map_err(|_| Failure::of(format!("{value} is too large for its column")))
}

pub(super) fn misfit(cell: Cell<'_>, number: u32) -> Failure {
    Failure::of(format!("{} is not for a column of DuckDB's type {number}", cell.printed()))
}

/// A type of the library's own.
pub(super) struct LogicalType {
    library: &'static Library,
    pub(super) handle: *mut foreign::LogicalType,
}

impl LogicalType {
    /// The type with this number.
    fn of(library: &'static Library, number: u32) -> Self {
        // SAFETY: the function takes a plain number.
        let handle = unsafe { (library.functions.create_type)(number) };
        Self { library, handle }
    }

    /// The type of a vector.
    pub(super) fn of_vector(library: &'static Library, vector: *mut foreign::Vector) -> Self {
        // SAFETY: the caller's vector is of a chunk that is open.
        let handle = unsafe { (library.functions.vector_type)(vector) };
        Self { library, handle }
    }

    /// Its number.
    pub(super) fn number(&self) -> u32 {
        // SAFETY: the type is open.
        unsafe { (self.library.functions.type_id)(self.handle) }
    }
}

impl Drop for LogicalType {
    fn drop(&mut self) {
        // SAFETY: the handle is open and not used after this.
        unsafe { (self.library.functions.destroy_type)(&raw mut self.handle) }
    }
}
