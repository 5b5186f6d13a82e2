//! Rows on their way into a table: chunks of vectors that an appender takes.
//!
//! Values are written column by column where DuckDB will have them; there is no call for a value, but for texts.

use super::foreign::{self, ListEntry, types};
use super::value::{LogicalType, type_number};
use super::{Connection, Failure, Library, codes, text, text_at};
use crate::array::Elements;
use sensormark_relational::cell::Cell;
use sensormark_relational::column_type::ColumnType;
use std::ptr;

/// Rows of one chunk: DuckDB's own size of a vector.
const ROWS: usize = 2_048;

/// What a column of a table is to an appender.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// Single values.
    One(ColumnType),
    /// Whole numbers of 16 bits without a sign.
    Unsigned16,
    /// Lists of these.
    List(ColumnType),
}

/// What appends to one table.
pub(crate) struct Sheet<'a> {
    library: &'static Library,
    appender: *mut foreign::Appender,
    types: Vec<LogicalType>,
    kinds: &'a [Kind],
}

impl<'a> Sheet<'a> {
    /// Opens a table whose columns are of these kinds; its name is without quotes.
    pub(crate) fn open(connection: &Connection, table: &str, kinds: &'a [Kind]) -> Result<Self, Failure> {
        let library = connection.library;
        let name = text(table)?;
        let mut sheet = Self {
            library,
            appender: ptr::null_mut(),
            types: kinds.iter().map(|kind| kind.logical(library)).collect(),
            kinds,
        };
        // SAFETY: the connection is open, the name ends with NUL, no schema means the usual one, and the pointer is to a place for the handle.
        let state = unsafe {
            (library.functions.create_appender)(
                connection.handle,
                ptr::null(),
                name.as_ptr(),
                &raw mut sheet.appender,
            )
        };
        if state == 0 {
            return Ok(sheet);
        }
        let failure = sheet.failure();
        // The appender says this without its kind.
        let code = if failure.text.contains("could not be found") { codes::CATALOG } else { failure.code };
        Err(Failure::of(code, failure.text))
    }

    /// Appends so many rows, whose cells are asked for by row and column.
    pub(crate) fn append<'c>(
        &mut self,
        rows: usize,
        cell: impl Fn(usize, usize) -> Cell<'c>,
    ) -> Result<(), Failure> {
        let mut first = 0;
        while first < rows {
            let count = ROWS.min(rows - first);
            let chunk = Chunk::new(self.library, &self.types);
            for (column, &kind) in self.kinds.iter().enumerate() {
                let mut writer = chunk.writer(column, kind);
                for row in 0..count {
                    writer.set(row, cell(first + row, column))?;
                }
            }
            let functions = &self.library.functions;
            // SAFETY: appender and chunk are open, and so many rows of all vectors are written.
            let state = unsafe {
                (functions.set_chunk_size)(chunk.handle, count as u64);
                (functions.append_chunk)(self.appender, chunk.handle)
            };
            if state != 0 {
                return Err(self.failure());
            }
            first += count;
        }
        Ok(())
    }

    /// Hands the last rows over.
    pub(crate) fn close(mut self) -> Result<(), Failure> {
        // SAFETY: the appender is open.
        let state = unsafe { (self.library.functions.close_appender)(self.appender) };
        if state == 0 {
            return Ok(());
        }
        Err(self.failure())
    }

    fn failure(&mut self) -> Failure {
        let functions = &self.library.functions;
        // SAFETY: the appender is open; what it says is ours to destroy, after it was read.
        unsafe {
            let mut data = (functions.appender_error)(self.appender);
            let told = text_at((functions.error_message)(data));
            let code = (functions.error_type)(data);
            (functions.destroy_error)(&raw mut data);
            Failure::of(code, told)
        }
    }
}

impl Drop for Sheet<'_> {
    fn drop(&mut self) {
        // SAFETY: the handle is open or null, which the library takes too. What a failure left in it is not wanted any more.
        unsafe {
            (self.library.functions.destroy_appender)(&raw mut self.appender);
        }
    }
}

impl Kind {
    /// DuckDB's number of the type of single values or of elements.
    const fn number(self) -> u32 {
        match self {
            Self::One(kind) | Self::List(kind) => type_number(kind),
            Self::Unsigned16 => types::USMALLINT,
        }
    }

    fn logical(self, library: &'static Library) -> LogicalType {
        match self {
            Self::List(_) => LogicalType::list_of(library, self.number()),
            _ => LogicalType::of(library, self.number()),
        }
    }
}

/// A chunk to be filled.
struct Chunk {
    library: &'static Library,
    handle: *mut foreign::Chunk,
}

impl Chunk {
    fn new(library: &'static Library, types: &[LogicalType]) -> Self {
        let mut handles: Vec<_> = types.iter().map(|one| one.handle).collect();
        // SAFETY: the types are open, and there are as many as are said.
        let handle = unsafe { (library.functions.create_chunk)(handles.as_mut_ptr(), handles.len() as u64) };
        Self { library, handle }
    }

    fn writer(&self, column: usize, kind: Kind) -> Writer {
        // SAFETY: the chunk is open and has this column.
        let vector = unsafe { (self.library.functions.chunk_vector)(self.handle, column as u64) };
        Writer::of(self.library, vector, kind)
    }
}

impl Drop for Chunk {
    fn drop(&mut self) {
        // SAFETY: the handle is open and not used after this.
        unsafe { (self.library.functions.destroy_chunk)(&raw mut self.handle) }
    }
}

/// What writes the values of one vector. Rows are below [`ROWS`], or below what was reserved for elements.
struct Writer {
    library: &'static Library,
    vector: *mut foreign::Vector,
    kind: Kind,
    number: u32,
    data: *mut u8,
    validity: *mut u64,
}

impl Writer {
    fn of(library: &'static Library, vector: *mut foreign::Vector, kind: Kind) -> Self {
        // SAFETY: the vector is of an open chunk.
        let data = unsafe { (library.functions.vector_data)(vector) };
        Self { library, vector, kind, number: kind.number(), data: data.cast(), validity: ptr::null_mut() }
    }

    /// # Safety
    /// The vector's values are of this type.
    #[inline]
    unsafe fn put<T>(&mut self, row: usize, value: T) {
        // SAFETY: by the caller's promise, and the row is one of the vector's.
        unsafe { self.data.cast::<T>().add(row).write(value) }
    }

    fn set_null(&mut self, row: usize) {
        let functions = &self.library.functions;
        // SAFETY: the vector is of an open chunk; the mask is there once it was asked for.
        unsafe {
            if self.validity.is_null() {
                (functions.ensure_validity)(self.vector);
                self.validity = (functions.vector_validity)(self.vector);
            }
            (functions.set_invalid)(self.validity, row as u64);
        }
    }

    #[inline]
    fn set(&mut self, row: usize, cell: Cell<'_>) -> Result<(), Failure> {
        if matches!(cell, Cell::Null) {
            self.set_null(row);
            return Ok(());
        }
        if let Kind::List(kind) = self.kind {
            return self.set_list(row, kind, cell);
        }
        // SAFETY: each number of a type stands for the size that is written; texts are copied.
        unsafe {
            match (self.number, cell) {
                (types::BOOLEAN, Cell::Bool(value)) => self.put(row, value),
                (types::SMALLINT, Cell::I16(value)) => self.put(row, value),
                (types::INTEGER, Cell::I32(value)) => self.put(row, value),
                (types::BIGINT | types::TIMESTAMP_NS, Cell::I64(value)) => self.put(row, value),
                (types::BIGINT, Cell::I32(value)) => self.put(row, i64::from(value)),
                (types::DOUBLE, Cell::F64(value)) => self.put(row, value),
                (types::USMALLINT, Cell::I32(value)) => {
                    let value = u16::try_from(value).map_err(|_| misfit(cell, self.number))?;
                    self.put(row, value);
                }
                (types::VARCHAR, Cell::Text(value)) => (self.library.functions.assign_text)(
                    self.vector,
                    row as u64,
                    value.as_ptr().cast(),
                    value.len() as u64,
                ),
                (number, cell) => return Err(misfit(cell, number)),
            }
        }
        Ok(())
    }

    /// Writes a list: its elements behind those of the rows before.
    fn set_list(&mut self, row: usize, kind: ColumnType, cell: Cell<'_>) -> Result<(), Failure> {
        let Cell::Encoded(bytes) = cell else {
            return Err(misfit(cell, types::LIST));
        };
        let functions = &self.library.functions;
        let elements = Elements::new(bytes);
        let length = elements.len() as u64;
        // SAFETY: the vector is of an open chunk and has lists. The child is asked for after its memory is there for all elements.
        let (offset, child) = unsafe {
            let offset = (functions.list_size)(self.vector);
            (functions.reserve_list)(self.vector, offset + length);
            (functions.set_list_size)(self.vector, offset + length);
            (offset, (functions.list_child)(self.vector))
        };
        let mut writer = Self::of(self.library, child, Kind::One(kind));
        let first = usize::try_from(offset).unwrap_or(usize::MAX);
        for (place, element) in elements.enumerate() {
            writer.set(first + place, element)?;
        }
        // SAFETY: the vector has lists.
        unsafe { self.put(row, ListEntry { offset, length }) };
        Ok(())
    }
}

fn misfit(cell: Cell<'_>, number: u32) -> Failure {
    Failure::of(codes::MISMATCH, format!("{cell:?} is not for a column of DuckDB's type {number}"))
}
