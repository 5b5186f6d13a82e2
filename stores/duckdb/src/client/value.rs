//! What is bound to a prepared statement: single values, times, and lists.

use super::foreign::{self, TimestampNs, types};
use super::{Failure, Library, codes, text_at};
use sensormark_relational::cell::Cell;
use sensormark_relational::column_type::ColumnType;

/// A parameter.
#[derive(Debug, Clone)]
pub(crate) enum Parameter<'a> {
    /// One value.
    Cell(Cell<'a>),
    /// A time, in ns since 1970.
    Time(i64),
    /// A whole number of 16 bits without a sign.
    Unsigned16(u16),
    /// A list of values of this type.
    List(ColumnType, Vec<Cell<'a>>),
}

/// A value of the library's own.
pub(crate) struct Value {
    pub(super) library: &'static Library,
    pub(super) handle: *mut foreign::Value,
}

impl Value {
    /// A parameter as the library's value.
    pub(crate) fn of(library: &'static Library, parameter: &Parameter<'_>) -> Result<Self, Failure> {
        match parameter {
            Parameter::Cell(cell) => Self::of_cell(library, *cell),
            Parameter::Time(nanos) => {
                // SAFETY: the function takes a plain number.
                let handle = unsafe { (library.functions.timestamp_value)(TimestampNs { nanos: *nanos }) };
                Ok(Self { library, handle })
            }
            Parameter::Unsigned16(value) => {
                // SAFETY: the function takes a plain number.
                let handle = unsafe { (library.functions.u16_value)(*value) };
                Ok(Self { library, handle })
            }
            Parameter::List(kind, cells) => Self::of_list(library, *kind, cells),
        }
    }

    fn of_cell(library: &'static Library, cell: Cell<'_>) -> Result<Self, Failure> {
        let functions = &library.functions;
        // SAFETY: the functions take plain numbers, or a pointer with its length to bytes that are there during the call.
        let handle = unsafe {
            match cell {
                Cell::Null => (functions.null_value)(),
                Cell::Bool(value) => (functions.bool_value)(value),
                Cell::I16(value) => (functions.i16_value)(value),
                Cell::I32(value) => (functions.i32_value)(value),
                Cell::I64(value) => (functions.i64_value)(value),
                Cell::F64(value) => (functions.f64_value)(value),
                Cell::Text(value) => (functions.text_value)(value.as_ptr().cast(), value.len() as u64),
                Cell::Encoded(_) => return Err(not_bound()),
            }
        };
        Ok(Self { library, handle })
    }

    fn of_list(library: &'static Library, kind: ColumnType, cells: &[Cell<'_>]) -> Result<Self, Failure> {
        let functions = &library.functions;
        let values = cells.iter().map(|&cell| Self::of_cell(library, cell));
        let values = values.collect::<Result<Vec<_>, _>>()?;
        let mut handles: Vec<_> = values.iter().map(|value| value.handle).collect();
        let element = LogicalType::of(library, type_number(kind));
        // SAFETY: type and values are open, and there are as many values as are said.
        let handle =
            unsafe { (functions.list_value)(element.handle, handles.as_mut_ptr(), handles.len() as u64) };
        if handle.is_null() {
            return Err(Failure::of(codes::INVALID_INPUT, "a list cannot be made of these values"));
        }
        Ok(Self { library, handle })
    }

    /// The value as DuckDB writes it.
    pub(crate) fn shown(&self) -> String {
        let functions = &self.library.functions;
        // SAFETY: the value is open; the text that comes back ends with NUL and is ours to free.
        unsafe {
            let text = (functions.value_text)(self.handle);
            let shown = text_at(text);
            (functions.free)(text.cast());
            shown
        }
    }
}

impl Drop for Value {
    fn drop(&mut self) {
        // SAFETY: the handle is open and not used after this.
        unsafe { (self.library.functions.destroy_value)(&raw mut self.handle) }
    }
}

pub(super) fn not_bound() -> Failure {
    Failure::of(codes::NOT_IMPLEMENTED, "encoded records go through an appender, not through parameters")
}

/// DuckDB's number of a type of single values.
pub(super) const fn type_number(kind: ColumnType) -> u32 {
    match kind {
        ColumnType::Bool => types::BOOLEAN,
        ColumnType::I16 => types::SMALLINT,
        ColumnType::I32 => types::INTEGER,
        ColumnType::F64 => types::DOUBLE,
        ColumnType::Text => types::VARCHAR,
        ColumnType::Timestamp => types::TIMESTAMP_NS,
        _ => types::BIGINT,
    }
}

/// A type of the library's own.
pub(super) struct LogicalType {
    library: &'static Library,
    pub(super) handle: *mut foreign::LogicalType,
}

impl LogicalType {
    /// The type with this number.
    pub(super) fn of(library: &'static Library, number: u32) -> Self {
        // SAFETY: the function takes a plain number.
        let handle = unsafe { (library.functions.create_type)(number) };
        Self { library, handle }
    }

    /// Lists of the type with this number.
    pub(super) fn list_of(library: &'static Library, number: u32) -> Self {
        let element = Self::of(library, number);
        // SAFETY: the element's type is open.
        let handle = unsafe { (library.functions.create_list_type)(element.handle) };
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
