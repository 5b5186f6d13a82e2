//! DuckDB's C interface as its public header `duckdb.h` describes it: types and functions, found by name in the library.
//!
//! Declared by hand, and only what the driver uses. Nothing here is called; that is [`super`]'s part.

use libloading::Library;
use std::ffi::{c_char, c_void};

/// The header's `duckdb_state`: 0, or 1 for a failure.
pub(super) type State = i32;

/// Resources that the library alone looks into.
macro_rules! opaque {
    ($($name:ident)*) => { $(
        #[doc = concat!("The library's ", stringify!($name), ".")]
        #[repr(C)]
        pub(super) struct $name { _private: [u8; 0] }
    )* };
}

opaque!(Database Connection Config Prepared Pending Chunk Vector LogicalType Value Appender ErrorData);

/// `duckdb_result`.
#[repr(C)]
#[derive(Clone, Copy)]
pub(super) struct ResultHandle {
    counts: [u64; 3],
    columns: *mut c_void,
    message: *mut c_char,
    inside: *mut c_void,
}

impl ResultHandle {
    /// An empty one, which a function fills.
    pub(super) const fn empty() -> Self {
        Self {
            counts: [0; 3],
            columns: std::ptr::null_mut(),
            message: std::ptr::null_mut(),
            inside: std::ptr::null_mut(),
        }
    }
}

/// `duckdb_timestamp_ns`.
#[repr(C)]
#[derive(Clone, Copy)]
pub(super) struct TimestampNs {
    pub(super) nanos: i64,
}

/// `duckdb_list_entry`: where a row's list is among the elements of all lists.
#[repr(C)]
#[derive(Clone, Copy)]
pub(super) struct ListEntry {
    pub(super) offset: u64,
    pub(super) length: u64,
}

/// `duckdb_string_t`: up to 12 bytes inside, longer ones behind a pointer.
#[repr(C)]
#[derive(Clone, Copy)]
pub(super) struct StringEntry {
    pub(super) length: u32,
    pub(super) prefix: [u8; 4],
    pub(super) rest: [u8; 8],
}

/// `duckdb_type`: numbers of types.
pub(super) mod types {
    pub(in super::super) const BOOLEAN: u32 = 1;
    pub(in super::super) const SMALLINT: u32 = 3;
    pub(in super::super) const INTEGER: u32 = 4;
    pub(in super::super) const BIGINT: u32 = 5;
    pub(in super::super) const USMALLINT: u32 = 7;
    pub(in super::super) const DOUBLE: u32 = 11;
    pub(in super::super) const VARCHAR: u32 = 17;
    pub(in super::super) const TIMESTAMP_NS: u32 = 22;
    pub(in super::super) const LIST: u32 = 24;
}

macro_rules! functions {
    ($($field:ident = $symbol:literal: fn($($argument:ty),*) $(-> $result:ty)?;)*) => {
        /// The functions that the driver calls.
        pub(super) struct Functions {
            $(pub(super) $field: unsafe extern "C" fn($($argument),*) $(-> $result)?,)*
        }

        impl Functions {
            /// Finds all functions in the library.
            ///
            /// # Safety
            /// The library is DuckDB, whose functions have the types of its header, and stays loaded as long as the functions are used.
            pub(super) unsafe fn find(library: &Library) -> Result<Self, libloading::Error> {
                Ok(Self {
                    // SAFETY: by the caller's promise the symbol is a function of this type.
                    $($field: *unsafe { library.get($symbol) }?,)*
                })
            }
        }
    };
}

functions! {
    version = b"duckdb_library_version\0": fn() -> *const c_char;
    free = b"duckdb_free\0": fn(*mut c_void);
    create_config = b"duckdb_create_config\0": fn(*mut *mut Config) -> State;
    set_config = b"duckdb_set_config\0": fn(*mut Config, *const c_char, *const c_char) -> State;
    destroy_config = b"duckdb_destroy_config\0": fn(*mut *mut Config);
    open = b"duckdb_open_ext\0": fn(*const c_char, *mut *mut Database, *mut Config, *mut *mut c_char) -> State;
    close = b"duckdb_close\0": fn(*mut *mut Database);
    connect = b"duckdb_connect\0": fn(*mut Database, *mut *mut Connection) -> State;
    disconnect = b"duckdb_disconnect\0": fn(*mut *mut Connection);
    query = b"duckdb_query\0": fn(*mut Connection, *const c_char, *mut ResultHandle) -> State;
    destroy_result = b"duckdb_destroy_result\0": fn(*mut ResultHandle);
    result_error = b"duckdb_result_error\0": fn(*mut ResultHandle) -> *const c_char;
    result_error_type = b"duckdb_result_error_type\0": fn(*mut ResultHandle) -> u32;
    fetch_chunk = b"duckdb_fetch_chunk\0": fn(ResultHandle) -> *mut Chunk;
    prepare = b"duckdb_prepare\0": fn(*mut Connection, *const c_char, *mut *mut Prepared) -> State;
    prepare_error = b"duckdb_prepare_error\0": fn(*mut Prepared) -> *const c_char;
    destroy_prepared = b"duckdb_destroy_prepare\0": fn(*mut *mut Prepared);
    execute = b"duckdb_execute_prepared\0": fn(*mut Prepared, *mut ResultHandle) -> State;
    pending_streaming = b"duckdb_pending_prepared_streaming\0": fn(*mut Prepared, *mut *mut Pending) -> State;
    execute_pending = b"duckdb_execute_pending\0": fn(*mut Pending, *mut ResultHandle) -> State;
    pending_error = b"duckdb_pending_error\0": fn(*mut Pending) -> *const c_char;
    destroy_pending = b"duckdb_destroy_pending\0": fn(*mut *mut Pending);
    bind_value = b"duckdb_bind_value\0": fn(*mut Prepared, u64, *mut Value) -> State;
    null_value = b"duckdb_create_null_value\0": fn() -> *mut Value;
    bool_value = b"duckdb_create_bool\0": fn(bool) -> *mut Value;
    i16_value = b"duckdb_create_int16\0": fn(i16) -> *mut Value;
    u16_value = b"duckdb_create_uint16\0": fn(u16) -> *mut Value;
    i32_value = b"duckdb_create_int32\0": fn(i32) -> *mut Value;
    i64_value = b"duckdb_create_int64\0": fn(i64) -> *mut Value;
    f64_value = b"duckdb_create_double\0": fn(f64) -> *mut Value;
    text_value = b"duckdb_create_varchar_length\0": fn(*const c_char, u64) -> *mut Value;
    timestamp_value = b"duckdb_create_timestamp_ns\0": fn(TimestampNs) -> *mut Value;
    list_value = b"duckdb_create_list_value\0": fn(*mut LogicalType, *mut *mut Value, u64) -> *mut Value;
    destroy_value = b"duckdb_destroy_value\0": fn(*mut *mut Value);
    create_type = b"duckdb_create_logical_type\0": fn(u32) -> *mut LogicalType;
    create_list_type = b"duckdb_create_list_type\0": fn(*mut LogicalType) -> *mut LogicalType;
    type_id = b"duckdb_get_type_id\0": fn(*mut LogicalType) -> u32;
    destroy_type = b"duckdb_destroy_logical_type\0": fn(*mut *mut LogicalType);
    create_chunk = b"duckdb_create_data_chunk\0": fn(*mut *mut LogicalType, u64) -> *mut Chunk;
    chunk_size = b"duckdb_data_chunk_get_size\0": fn(*mut Chunk) -> u64;
    set_chunk_size = b"duckdb_data_chunk_set_size\0": fn(*mut Chunk, u64);
    chunk_columns = b"duckdb_data_chunk_get_column_count\0": fn(*mut Chunk) -> u64;
    chunk_vector = b"duckdb_data_chunk_get_vector\0": fn(*mut Chunk, u64) -> *mut Vector;
    destroy_chunk = b"duckdb_destroy_data_chunk\0": fn(*mut *mut Chunk);
    vector_type = b"duckdb_vector_get_column_type\0": fn(*mut Vector) -> *mut LogicalType;
    vector_data = b"duckdb_vector_get_data\0": fn(*mut Vector) -> *mut c_void;
    vector_validity = b"duckdb_vector_get_validity\0": fn(*mut Vector) -> *mut u64;
    ensure_validity = b"duckdb_vector_ensure_validity_writable\0": fn(*mut Vector);
    set_invalid = b"duckdb_validity_set_row_invalid\0": fn(*mut u64, u64);
    assign_text = b"duckdb_vector_assign_string_element_len\0": fn(*mut Vector, u64, *const c_char, u64);
    list_child = b"duckdb_list_vector_get_child\0": fn(*mut Vector) -> *mut Vector;
    list_size = b"duckdb_list_vector_get_size\0": fn(*mut Vector) -> u64;
    set_list_size = b"duckdb_list_vector_set_size\0": fn(*mut Vector, u64) -> State;
    reserve_list = b"duckdb_list_vector_reserve\0": fn(*mut Vector, u64) -> State;
    create_appender = b"duckdb_appender_create\0": fn(*mut Connection, *const c_char, *const c_char, *mut *mut Appender) -> State;
    append_chunk = b"duckdb_append_data_chunk\0": fn(*mut Appender, *mut Chunk) -> State;
    close_appender = b"duckdb_appender_close\0": fn(*mut Appender) -> State;
    appender_error = b"duckdb_appender_error_data\0": fn(*mut Appender) -> *mut ErrorData;
    error_message = b"duckdb_error_data_message\0": fn(*mut ErrorData) -> *const c_char;
    error_type = b"duckdb_error_data_error_type\0": fn(*mut ErrorData) -> u32;
    destroy_error = b"duckdb_destroy_error_data\0": fn(*mut *mut ErrorData);
    destroy_appender = b"duckdb_appender_destroy\0": fn(*mut *mut Appender) -> State;
}
