//! Rows on their way into a table: chunks of vectors that an appender takes.
//!
//! Values are written column by column where DuckDB will have them; there is no call for a value, but for texts.

use super::foreign::{Functions, Handle, Owned, State, types};
use super::{Connection, Kind, Said, logical, misfit, narrow, text, text_at};
use crate::{Cell, Rows, Source};
use std::ptr;

/// Rows of one chunk: DuckDB's own size of a vector.
const ROWS: usize = 2_048;

/// What became of a call of an appender.
///
/// # Safety
/// The appender is open, or holds what hindered it.
unsafe fn done(library: &Functions, appender: Handle, state: State) -> Said<()> {
    if state == 0 {
        return Ok(());
    }
    // SAFETY: by the caller's promise; what it says is ours to destroy, after it was read.
    unsafe {
        let mut data = (library.duckdb_appender_error_data)(appender);
        let said = text_at((library.duckdb_error_data_message)(data));
        (library.duckdb_destroy_error_data)(&raw mut data);
        Err(said)
    }
}

impl Connection {
    /// Appends rows to a table, whose columns are the rows' slots, of these kinds. Its name is without quotes.
    pub(crate) fn append(&self, table: &str, kinds: &[Kind], rows: &Rows<'_>) -> Said<()> {
        let library = self.0.library;
        let (table, mut appender) = (text(table)?, ptr::null_mut());
        // SAFETY: the connection is open, the name ends with NUL, no schema means the usual one, and the pointer is to a place for the handle, which is not used
        // after it is destroyed.
        unsafe {
            let place = &raw mut appender;
            let create = library.duckdb_appender_create;
            let state = create(self.0.handle, ptr::null(), table.as_ptr(), place);
            let appended = done(library, appender, state).and_then(|()| fill(library, appender, kinds, rows));
            (library.duckdb_appender_destroy)(place);
            appended
        }
    }
}

/// Hands rows over to an appender.
///
/// # Safety
/// The appender is open.
unsafe fn fill(library: &'static Functions, appender: Handle, kinds: &[Kind], rows: &Rows<'_>) -> Said<()> {
    let types: Vec<Owned> = kinds.iter().map(|kind| kind.logical(library)).collect();
    let mut handles: Vec<Handle> = types.iter().map(|one| one.handle).collect();
    for first in (0..rows.len()).step_by(ROWS) {
        let count = ROWS.min(rows.len() - first);
        // SAFETY: the types are open, and there are as many as are said.
        let chunk = unsafe { (library.duckdb_create_data_chunk)(handles.as_mut_ptr(), handles.len() as u64) };
        let chunk = Owned::new(library, chunk, library.duckdb_destroy_data_chunk);
        for (slot, &kind) in kinds.iter().enumerate() {
            // SAFETY: the chunk is open and has this column.
            let vector = unsafe { (library.duckdb_data_chunk_get_vector)(chunk.handle, slot as u64) };
            let mut writer = Writer::of(library, vector, kind.number);
            for row in 0..count {
                if kind.is_list {
                    writer.set_list(row, rows, first + row, slot)?;
                } else {
                    writer.set(row, rows.cell(first + row, slot))?;
                }
            }
        }
        // SAFETY: appender and chunk are open, and so many rows of all vectors are written.
        unsafe {
            (library.duckdb_data_chunk_set_size)(chunk.handle, count as u64);
            let state = (library.duckdb_append_data_chunk)(appender, chunk.handle);
            done(library, appender, state)?;
        }
    }
    // SAFETY: the appender is open.
    unsafe { done(library, appender, (library.duckdb_appender_close)(appender)) }
}

impl Kind {
    fn logical(self, library: &'static Functions) -> Owned {
        let one = logical(library, self.number);
        if !self.is_list {
            return one;
        }
        // SAFETY: the element's type is open.
        let handle = unsafe { (library.duckdb_create_list_type)(one.handle) };
        Owned::new(library, handle, library.duckdb_destroy_logical_type)
    }
}

/// What writes the values of one vector. Rows are below [`ROWS`], or below what was reserved for elements.
struct Writer {
    library: &'static Functions,
    vector: Handle,
    /// The number of the type of values, or of elements.
    number: u32,
    data: *mut u8,
    validity: *mut u64,
}

impl Writer {
    fn of(library: &'static Functions, vector: Handle, number: u32) -> Self {
        // SAFETY: the vector is of an open chunk.
        let data = unsafe { (library.duckdb_vector_get_data)(vector) };
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
        // SAFETY: the vector is of an open chunk; the mask is there once it was asked for, with a bit for each row.
        unsafe {
            if self.validity.is_null() {
                (self.library.duckdb_vector_ensure_validity_writable)(self.vector);
                self.validity = (self.library.duckdb_vector_get_validity)(self.vector);
            }
            *self.validity.add(row / 64) &= !(1 << (row % 64));
        }
    }

    #[inline]
    fn set(&mut self, row: usize, cell: Cell<'_>) -> Said<()> {
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
                (types::VARCHAR, Cell::Text(value)) => {
                    let (bytes, length) = (value.as_ptr().cast(), value.len() as u64);
                    let assign = self.library.duckdb_vector_assign_string_element_len;
                    assign(self.vector, row as u64, bytes, length);
                }
                (number, cell) => return Err(misfit(cell, number)),
            }
        }
        Ok(())
    }

    /// Writes a list of a record's values behind those of the rows before.
    fn set_list(&mut self, row: usize, rows: &Rows<'_>, number: usize, slot: usize) -> Said<()> {
        let (library, vector) = (self.library, self.vector);
        let Some(record) = rows.record(number) else {
            return Err(misfit(rows.cell(number, slot), types::LIST));
        };
        let length = record.readings() as u64;
        // SAFETY: the vector is of an open chunk and has lists. The child is asked for after its memory is there for all elements.
        let (offset, child) = unsafe {
            let offset = (library.duckdb_list_vector_get_size)(vector);
            (library.duckdb_list_vector_reserve)(vector, offset + length);
            (library.duckdb_list_vector_set_size)(vector, offset + length);
            self.put(row, [offset, length]);
            (offset, (library.duckdb_list_vector_get_child)(vector))
        };
        let mut writer = Self::of(library, child, self.number);
        let first = usize::try_from(offset).unwrap_or(usize::MAX);
        for (place, reading) in record.rows().enumerate() {
            let cell = match rows.sources[slot] {
                Source::FieldArray(field) => Cell::field(rows.batch, reading, field),
                _ => Cell::I64(rows.batch.times_ns[reading].wrapping_sub(record.start_ns)),
            };
            writer.set(first + place, cell)?;
        }
        Ok(())
    }
}
