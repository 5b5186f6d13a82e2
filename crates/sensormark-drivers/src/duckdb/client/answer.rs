//! The rows that a statement gives, as DuckDB has them: chunks of vectors. Values are read where they are.

use super::foreign::{self, ListEntry, ResultHandle, StringEntry, types};
use super::value::LogicalType;
use super::{Failure, Library, text_at};
use std::ops::Range;

/// The rows of a statement, chunk by chunk.
pub(crate) struct Rows {
    library: &'static Library,
    result: ResultHandle,
}

impl Rows {
    /// Takes over a result, which may hold a failure.
    pub(super) fn taken(
        library: &'static Library,
        result: ResultHandle,
        state: foreign::State,
    ) -> Result<Self, Failure> {
        let mut rows = Self { library, result };
        if state == 0 {
            return Ok(rows);
        }
        Err(rows.failure().unwrap_or_else(|| Failure::of("the library says no more")))
    }

    /// What went wrong, if anything did.
    fn failure(&mut self) -> Option<Failure> {
        let functions = &self.library.functions;
        // SAFETY: the result is open, and keeps its message.
        unsafe {
            let message = (functions.result_error)(&raw mut self.result);
            if message.is_null() {
                return None;
            }
            let code = (functions.result_error_type)(&raw mut self.result);
            Some(Failure { code, text: text_at(message) })
        }
    }

    /// The next rows; none at the end.
    pub(crate) fn next(&mut self) -> Result<Option<Answered>, Failure> {
        // SAFETY: the result is open.
        let handle = unsafe { (self.library.functions.fetch_chunk)(self.result) };
        if handle.is_null() {
            return self.failure().map_or(Ok(None), Err);
        }
        Ok(Some(Answered::new(self.library, handle)))
    }
}

impl Drop for Rows {
    fn drop(&mut self) {
        // SAFETY: the result is open or empty, which the library takes too, and not used after this.
        unsafe { (self.library.functions.destroy_result)(&raw mut self.result) }
    }
}

/// A chunk of rows.
pub(crate) struct Answered {
    library: &'static Library,
    handle: *mut foreign::Chunk,
    vectors: Vec<Vector>,
    rows: usize,
}

impl Answered {
    fn new(library: &'static Library, handle: *mut foreign::Chunk) -> Self {
        let functions = &library.functions;
        // SAFETY: the chunk is open; vectors are asked for by numbers that it has, and live as long as it does.
        let (count, vectors) = unsafe {
            let columns = (functions.chunk_columns)(handle);
            let vectors = (0..columns).map(|column| (functions.chunk_vector)(handle, column));
            let vectors = vectors.map(|vector| Vector::of(library, vector)).collect();
            ((functions.chunk_size)(handle), vectors)
        };
        let rows = usize::try_from(count).unwrap_or(usize::MAX);
        Self { library, handle, vectors, rows }
    }

    /// How many rows it has.
    pub(crate) const fn rows(&self) -> usize {
        self.rows
    }

    /// The vector of a column.
    #[inline]
    pub(crate) fn vector(&self, column: usize) -> Option<&Vector> {
        self.vectors.get(column)
    }
}

impl Drop for Answered {
    fn drop(&mut self) {
        // SAFETY: the chunk is open; its vectors go with it.
        unsafe { (self.library.functions.destroy_chunk)(&raw mut self.handle) }
    }
}

/// The values of a column, or the elements of a column of lists. Rows are asked for by numbers that the chunk has.
pub(crate) struct Vector {
    number: u32,
    data: *const u8,
    validity: *const u64,
    elements: Option<Box<Vector>>,
}

impl Vector {
    /// A view of a vector. It is kept inside its chunk, which owns the memory.
    fn of(library: &'static Library, vector: *mut foreign::Vector) -> Self {
        let functions = &library.functions;
        let number = LogicalType::of_vector(library, vector).number();
        // SAFETY: the vector is of an open chunk; lists have a child.
        unsafe {
            let elements =
                (number == types::LIST).then(|| Box::new(Self::of(library, (functions.list_child)(vector))));
            Self {
                number,
                data: (functions.vector_data)(vector).cast(),
                validity: (functions.vector_validity)(vector),
                elements,
            }
        }
    }

    /// Whether a row has no value.
    #[inline]
    pub(crate) fn is_null(&self, row: usize) -> bool {
        if self.validity.is_null() {
            return false;
        }
        // SAFETY: a mask of validity has a bit for each row of the vector.
        let word = unsafe { *self.validity.add(row / 64) };
        word >> (row % 64) & 1 == 0
    }

    /// The row's value as the vector's memory has it.
    ///
    /// # Safety
    /// The vector's values are of this type.
    #[inline]
    unsafe fn at<T: Copy>(&self, row: usize) -> T {
        // SAFETY: by the caller's promise, and the row is one of the vector's.
        unsafe { self.data.cast::<T>().add(row).read() }
    }

    /// A whole number, a truth value or a time (in ns) that is there.
    #[inline]
    pub(crate) fn integer(&self, row: usize) -> Option<i64> {
        if self.is_null(row) {
            return None;
        }
        // SAFETY: each number of a type stands for the size that is read.
        unsafe {
            Some(match self.number {
                types::BIGINT | types::TIMESTAMP_NS => self.at::<i64>(row),
                types::INTEGER => i64::from(self.at::<i32>(row)),
                types::USMALLINT => i64::from(self.at::<u16>(row)),
                types::SMALLINT => i64::from(self.at::<i16>(row)),
                types::BOOLEAN => i64::from(self.at::<u8>(row)),
                _ => return None,
            })
        }
    }

    /// A floating point number that is there.
    #[inline]
    pub(crate) fn real(&self, row: usize) -> Option<f64> {
        let is_real = self.number == types::DOUBLE && !self.is_null(row);
        // SAFETY: the type is DOUBLE.
        is_real.then(|| unsafe { self.at::<f64>(row) })
    }

    /// The bytes of a text that is there.
    #[inline]
    pub(crate) fn text(&self, row: usize) -> Option<&[u8]> {
        if self.number != types::VARCHAR || self.is_null(row) {
            return None;
        }
        // SAFETY: the type is VARCHAR. Up to 12 bytes are inside the entry, longer texts behind the pointer in its end; both live as long as the chunk.
        unsafe {
            let entry = self.data.cast::<StringEntry>().add(row);
            let length = (*entry).length as usize;
            let inside = (&raw const (*entry).prefix).cast::<u8>();
            let bytes = if length <= 12 {
                inside
            } else {
                (&raw const (*entry).rest).cast::<*const u8>().read_unaligned()
            };
            Some(std::slice::from_raw_parts(bytes, length))
        }
    }

    /// The elements of a list that is there, and which of them are the row's.
    pub(crate) fn list(&self, row: usize) -> Option<(&Self, Range<usize>)> {
        let elements = self.elements.as_deref()?;
        if self.is_null(row) {
            return None;
        }
        // SAFETY: the type is LIST.
        let entry = unsafe { self.at::<ListEntry>(row) };
        let first = usize::try_from(entry.offset).ok()?;
        let length = usize::try_from(entry.length).ok()?;
        Some((elements, first..first.checked_add(length)?))
    }
}
