//! The rows that a statement gives, as DuckDB has them: chunks of vectors. Values are read where they are.

use super::foreign::{Functions, Handle, Owned, ResultHandle, State, types};
use super::{Said, text_at};
use crate::Cell;
use crate::fetched::{Cells, wrong_type};
use sensormark_store::StoreError;
use std::ops::Range;
use std::ptr;

/// The rows of a statement, chunk by chunk.
pub(crate) struct Rows {
    library: &'static Functions,
    result: ResultHandle,
}

impl Rows {
    /// The rows that a call puts into a place.
    pub(super) fn of(
        library: &'static Functions,
        call: impl FnOnce(*mut ResultHandle) -> State,
    ) -> Said<Self> {
        let mut rows = Self { library, result: ResultHandle([ptr::null_mut(); 6]) };
        if call(&raw mut rows.result) == 0 { Ok(rows) } else { Err(rows.failure().unwrap_or_default()) }
    }

    /// What went wrong, if anything did.
    fn failure(&mut self) -> Option<String> {
        // SAFETY: the result is open, and keeps its message.
        let said = unsafe { text_at((self.library.duckdb_result_error)(&raw mut self.result)) };
        Some(said).filter(|said| !said.is_empty())
    }

    /// The next rows; none at the end.
    pub(crate) fn next(&mut self) -> Said<Option<Chunk>> {
        let library = self.library;
        // SAFETY: the result is open.
        let handle = unsafe { (library.duckdb_fetch_chunk)(self.result) };
        if handle.is_null() {
            return self.failure().map_or(Ok(None), Err);
        }
        let chunk = Owned::new(library, handle, library.duckdb_destroy_data_chunk);
        // SAFETY: the chunk is open; vectors are asked for by numbers that it has, and live as long as it does.
        let (count, vectors) = unsafe {
            let columns = (library.duckdb_data_chunk_get_column_count)(handle);
            let vectors = (0..columns).map(|column| (library.duckdb_data_chunk_get_vector)(handle, column));
            let vectors = vectors.map(|vector| Vector::of(library, vector)).collect();
            ((library.duckdb_data_chunk_get_size)(handle), vectors)
        };
        Ok(Some(Chunk { vectors, rows: usize::try_from(count).unwrap_or(usize::MAX), _chunk: chunk }))
    }
}

impl Drop for Rows {
    fn drop(&mut self) {
        // SAFETY: the result is open or empty, which the library takes too, and not used after this.
        unsafe { (self.library.duckdb_destroy_result)(&raw mut self.result) }
    }
}

/// A chunk of rows.
pub(crate) struct Chunk {
    vectors: Vec<Vector>,
    /// How many rows it has.
    pub(crate) rows: usize,
    _chunk: Owned,
}

impl Chunk {
    /// A row by its number.
    pub(crate) const fn row(&self, row: usize) -> ChunkRow<'_> {
        ChunkRow { vectors: self.vectors.as_slice(), row }
    }
}

/// A row of a chunk.
pub(crate) struct ChunkRow<'a> {
    vectors: &'a [Vector],
    row: usize,
}

impl Cells for ChunkRow<'_> {
    #[inline(always)]
    fn cell(&self, place: usize) -> Result<Cell<'_>, StoreError> {
        self.vectors.get(place).and_then(|vector| vector.cell(self.row)).ok_or_else(wrong_type)
    }

    fn each_element(
        &self,
        place: usize,
        mut each: impl FnMut(Cell<'_>) -> Result<(), StoreError>,
    ) -> Result<(), StoreError> {
        let list = self.vectors.get(place).and_then(|vector| vector.list(self.row));
        let (elements, mut places) = list.ok_or_else(wrong_type)?;
        places.try_for_each(|place| each(elements.cell(place).ok_or_else(wrong_type)?))
    }
}

/// The values of a column, or the elements of a column of lists. Rows are asked for by numbers that the chunk has.
struct Vector {
    number: u32,
    data: *const u8,
    validity: *const u64,
    elements: Option<Box<Self>>,
}

impl Vector {
    /// A view of a vector. It is kept inside its chunk, which owns the memory.
    fn of(library: &'static Functions, vector: Handle) -> Self {
        // SAFETY: the vector is of an open chunk; lists have a child.
        unsafe {
            let kind = (library.duckdb_vector_get_column_type)(vector);
            let kind = Owned::new(library, kind, library.duckdb_destroy_logical_type);
            let number = (library.duckdb_get_type_id)(kind.handle);
            let elements = || Box::new(Self::of(library, (library.duckdb_list_vector_get_child)(vector)));
            Self {
                number,
                data: (library.duckdb_vector_get_data)(vector).cast(),
                validity: (library.duckdb_vector_get_validity)(vector),
                elements: (number == types::LIST).then(elements),
            }
        }
    }

    /// The row's value as the vector's memory has it.
    ///
    /// # Safety
    /// The vector's values are of this type.
    #[inline(always)]
    unsafe fn at<T: Copy>(&self, row: usize) -> T {
        // SAFETY: by the caller's promise, and the row is one of the vector's.
        unsafe { self.data.cast::<T>().add(row).read() }
    }

    #[inline(always)]
    fn is_null(&self, row: usize) -> bool {
        // SAFETY: a mask of validity has a bit for each row of the vector.
        !self.validity.is_null() && unsafe { *self.validity.add(row / 64) } >> (row % 64) & 1 == 0
    }

    /// A row's value; none of a type that no layout has. Times are in ns.
    #[inline(always)]
    fn cell(&self, row: usize) -> Option<Cell<'_>> {
        if self.is_null(row) {
            return Some(Cell::Null);
        }
        // SAFETY: each number of a type stands for the size that is read.
        unsafe {
            Some(match self.number {
                types::BIGINT | types::TIMESTAMP_NS => Cell::I64(self.at(row)),
                types::DOUBLE => Cell::F64(self.at(row)),
                types::INTEGER => Cell::I64(self.at::<i32>(row).into()),
                types::USMALLINT => Cell::I64(self.at::<u16>(row).into()),
                types::SMALLINT => Cell::I64(self.at::<i16>(row).into()),
                types::BOOLEAN => Cell::Bool(self.at::<u8>(row) != 0),
                types::VARCHAR => Cell::Text(std::str::from_utf8(self.text(row)).ok()?),
                _ => return None,
            })
        }
    }

    /// The bytes of a text that is there: up to 12 are inside its entry of 16 bytes, behind their number; more are behind the pointer in its end.
    ///
    /// # Safety
    /// The type is VARCHAR.
    unsafe fn text(&self, row: usize) -> &[u8] {
        // SAFETY: by the caller's promise; both live as long as the chunk.
        unsafe {
            let entry = self.data.add(16 * row);
            let length = entry.cast::<u32>().read() as usize;
            let inside = length <= 12;
            let bytes = if inside { entry.add(4) } else { entry.add(8).cast::<*const u8>().read() };
            std::slice::from_raw_parts(bytes, length)
        }
    }

    /// The elements of a list that is there, and which of them are the row's.
    fn list(&self, row: usize) -> Option<(&Self, Range<usize>)> {
        let elements = self.elements.as_deref().filter(|_| !self.is_null(row))?;
        // SAFETY: the type is LIST, whose rows are where it begins and how long it is.
        let [first, length] = unsafe { self.at::<[u64; 2]>(row) }.map(usize::try_from);
        let first = first.ok()?;
        Some((elements, first..first.checked_add(length.ok()?)?))
    }
}
