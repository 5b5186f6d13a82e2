//! Rows on their way into a table: chunks of vectors that an appender takes.
//!
//! Values are written column by column where DuckDB will have them; there is no call for a value, but for texts.

use super::foreign::{self, ListEntry, types};
use super::value::{LogicalType, misfit, narrow};
use super::{Connection, Failure, Kind, Library, text, text_at};
use crate::{Cell, Rows, Source};
use std::ptr;

/// Rows of one chunk: DuckDB's own size of a vector.
const ROWS: usize = 2_048;

/// What appends to one table.
pub(crate) struct Appender<'a> {
    library: &'static Library,
    handle: *mut foreign::Appender,
    types: Vec<LogicalType>,
    kinds: &'a [Kind],
}

impl<'a> Appender<'a> {
    /// Opens a table whose columns are of these kinds; its name is without quotes.
    pub(crate) fn open(connection: &Connection, table: &str, kinds: &'a [Kind]) -> Result<Self, Failure> {
        let library = connection.library;
        let name = text(table)?;
        let types = kinds.iter().map(|kind| kind.logical(library)).collect();
        let mut appender = Self { library, handle: ptr::null_mut(), types, kinds };
        // SAFETY: the connection is open, the name ends with NUL, no schema means the usual one, and the pointer is to a place for the handle.
        let state = unsafe {
            (library.functions.create_appender)(
                connection.handle,
                ptr::null(),
                name.as_ptr(),
                &raw mut appender.handle,
            )
        };
        if state == 0 { Ok(appender) } else { Err(appender.failure()) }
    }

    /// Appends rows, whose slots are the table's columns.
    pub(crate) fn append(&mut self, rows: &Rows<'_>) -> Result<(), Failure> {
        let functions = &self.library.functions;
        for first in (0..rows.len()).step_by(ROWS) {
            let count = ROWS.min(rows.len() - first);
            let chunk = Chunk::new(self.library, &self.types);
            for (slot, &kind) in self.kinds.iter().enumerate() {
                let mut writer = chunk.writer(slot, kind);
                for row in 0..count {
                    if kind.is_list {
                        writer.set_list(row, rows, first + row, slot)?;
                    } else {
                        writer.set(row, rows.cell(first + row, slot))?;
                    }
                }
            }
            // SAFETY: appender and chunk are open, and so many rows of all vectors are written.
            let state = unsafe {
                (functions.set_chunk_size)(chunk.handle, count as u64);
                (functions.append_chunk)(self.handle, chunk.handle)
            };
            if state != 0 {
                return Err(self.failure());
            }
        }
        Ok(())
    }

    /// Hands the last rows over.
    pub(crate) fn close(mut self) -> Result<(), Failure> {
        // SAFETY: the appender is open.
        let state = unsafe { (self.library.functions.close_appender)(self.handle) };
        if state == 0 { Ok(()) } else { Err(self.failure()) }
    }

    fn failure(&mut self) -> Failure {
        let functions = &self.library.functions;
        // SAFETY: the appender is open; what it says is ours to destroy, after it was read.
        unsafe {
            let mut data = (functions.appender_error)(self.handle);
            let text = text_at((functions.error_message)(data));
            let code = (functions.error_type)(data);
            (functions.destroy_error)(&raw mut data);
            Failure { code, text }
        }
    }
}

impl Drop for Appender<'_> {
    fn drop(&mut self) {
        // SAFETY: the handle is open or null, which the library takes too. What a failure left in it is not wanted any more.
        unsafe {
            (self.library.functions.destroy_appender)(&raw mut self.handle);
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
        Writer::of(self.library, vector, kind.number)
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
    /// The number of the type of values, or of elements.
    number: u32,
    data: *mut u8,
    validity: *mut u64,
}

impl Writer {
    fn of(library: &'static Library, vector: *mut foreign::Vector, number: u32) -> Self {
        // SAFETY: the vector is of an open chunk.
        let data = unsafe { (library.functions.vector_data)(vector) };
        Self { library, vector, number, data: data.cast(), validity: ptr::null_mut() }
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
        // SAFETY: each number of a type stands for the size that is written; texts are copied.
        unsafe {
            match (self.number, cell) {
                (_, Cell::Null) => self.set_null(row),
                (types::BIGINT | types::TIMESTAMP_NS, Cell::I64(value)) => self.put(row, value),
                (types::DOUBLE, Cell::F64(value)) => self.put(row, value),
                (types::INTEGER, Cell::I64(value)) => self.put::<i32>(row, narrow(value)?),
                (types::USMALLINT, Cell::I64(value)) => self.put::<u16>(row, narrow(value)?),
                (types::SMALLINT, Cell::I64(value)) => self.put::<i16>(row, narrow(value)?),
                (types::BOOLEAN, Cell::Bool(value)) => self.put(row, value),
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

    /// Writes a list of a record's values behind those of the rows before.
    fn set_list(&mut self, row: usize, rows: &Rows<'_>, number: usize, slot: usize) -> Result<(), Failure> {
        let (source, Some(record)) = (rows.sources[slot], rows.record(number)) else {
            return Err(misfit(rows.cell(number, slot), types::LIST));
        };
        let functions = &self.library.functions;
        let length = record.readings() as u64;
        // SAFETY: the vector is of an open chunk and has lists. The child is asked for after its memory is there for all elements.
        let (offset, child) = unsafe {
            let offset = (functions.list_size)(self.vector);
            (functions.reserve_list)(self.vector, offset + length);
            (functions.set_list_size)(self.vector, offset + length);
            (offset, (functions.list_child)(self.vector))
        };
        let mut writer = Self::of(self.library, child, self.number);
        let first = usize::try_from(offset).unwrap_or(usize::MAX);
        for (place, reading) in record.rows().enumerate() {
            let cell = match source {
                Source::FieldArray(field) => Cell::field(rows.batch, reading, field),
                _ => Cell::I64(rows.batch.times_ns[reading].wrapping_sub(record.start_ns)),
            };
            writer.set(first + place, cell)?;
        }
        // SAFETY: the vector has lists.
        unsafe { self.put(row, ListEntry { offset, length }) };
        Ok(())
    }
}
