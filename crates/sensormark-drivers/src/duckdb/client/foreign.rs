//! DuckDB's C interface as its public header `duckdb.h` describes it: types and functions, found by name in the library.
//!
//! Declared by hand, and only what the driver uses. Nothing but what gives a resource back is called here; that is [`super`]'s part.

use crate::foreign::functions;
use std::ffi::{c_char, c_void};
use std::ptr;

/// The header's `duckdb_state`: 0, or 1 for a failure.
pub(super) type State = i32;

/// A resource that the library alone looks into.
pub(super) type Handle = *mut c_void;

/// Gives a resource back; the library takes null too.
type Destroy = unsafe extern "C" fn(*mut Handle);

/// A resource that gives itself back.
pub(crate) struct Owned {
    pub(super) library: &'static Functions,
    pub(super) handle: Handle,
    destroy: Destroy,
}

impl Owned {
    pub(super) const fn new(library: &'static Functions, handle: Handle, destroy: Destroy) -> Self {
        Self { library, handle, destroy }
    }

    /// One that a function of the library fills.
    pub(super) const fn empty(library: &'static Functions, destroy: Destroy) -> Self {
        Self::new(library, ptr::null_mut(), destroy)
    }
}

impl Drop for Owned {
    fn drop(&mut self) {
        // SAFETY: the handle is open or null, of the kind that the function takes, and not used after this.
        unsafe { (self.destroy)(&raw mut self.handle) }
    }
}

/// `duckdb_result`: three numbers and three pointers.
#[repr(C)]
#[derive(Clone, Copy)]
pub(super) struct ResultHandle(pub(super) [*mut c_void; 6]);

/// `duckdb_timestamp_ns`.
#[repr(C)]
pub(super) struct TimestampNs(pub(super) i64);

macro_rules! types {
    ($($name:ident = $number:literal)*) => {
        /// `duckdb_type`: numbers of types.
        pub(super) mod types {
            $(pub(crate) const $name: u32 = $number;)*

            /// The number of a type that a store's file names.
            pub(crate) fn named(name: &str) -> Option<u32> {
                match name {
                    $(stringify!($name) => Some($number),)*
                    _ => None,
                }
            }
        }
    };
}

types! { BOOLEAN = 1 SMALLINT = 3 INTEGER = 4 BIGINT = 5 USMALLINT = 7 DOUBLE = 11 VARCHAR = 17 TIMESTAMP_NS = 22 LIST = 24 }

functions! {
    duckdb_library_version: fn() -> *const c_char;
    duckdb_free: fn(*mut c_void);
    duckdb_create_config: fn(*mut Handle) -> State;
    duckdb_set_config: fn(Handle, *const c_char, *const c_char) -> State;
    duckdb_destroy_config: fn(*mut Handle);
    duckdb_open_ext: fn(*const c_char, *mut Handle, Handle, *mut *mut c_char) -> State;
    duckdb_close: fn(*mut Handle);
    duckdb_connect: fn(Handle, *mut Handle) -> State;
    duckdb_disconnect: fn(*mut Handle);
    duckdb_query: fn(Handle, *const c_char, *mut ResultHandle) -> State;
    duckdb_destroy_result: fn(*mut ResultHandle);
    duckdb_result_error: fn(*mut ResultHandle) -> *const c_char;
    duckdb_fetch_chunk: fn(ResultHandle) -> Handle;
    duckdb_prepare: fn(Handle, *const c_char, *mut Handle) -> State;
    duckdb_prepare_error: fn(Handle) -> *const c_char;
    duckdb_destroy_prepare: fn(*mut Handle);
    duckdb_execute_prepared: fn(Handle, *mut ResultHandle) -> State;
    duckdb_execute_prepared_streaming: fn(Handle, *mut ResultHandle) -> State;
    duckdb_bind_value: fn(Handle, u64, Handle) -> State;
    duckdb_create_null_value: fn() -> Handle;
    duckdb_create_bool: fn(bool) -> Handle;
    duckdb_create_uint16: fn(u16) -> Handle;
    duckdb_create_int32: fn(i32) -> Handle;
    duckdb_create_int64: fn(i64) -> Handle;
    duckdb_create_double: fn(f64) -> Handle;
    duckdb_create_varchar_length: fn(*const c_char, u64) -> Handle;
    duckdb_create_timestamp_ns: fn(TimestampNs) -> Handle;
    duckdb_create_list_value: fn(Handle, *mut Handle, u64) -> Handle;
    duckdb_destroy_value: fn(*mut Handle);
    duckdb_create_logical_type: fn(u32) -> Handle;
    duckdb_create_list_type: fn(Handle) -> Handle;
    duckdb_get_type_id: fn(Handle) -> u32;
    duckdb_destroy_logical_type: fn(*mut Handle);
    duckdb_create_data_chunk: fn(*mut Handle, u64) -> Handle;
    duckdb_data_chunk_get_size: fn(Handle) -> u64;
    duckdb_data_chunk_set_size: fn(Handle, u64);
    duckdb_data_chunk_get_column_count: fn(Handle) -> u64;
    duckdb_data_chunk_get_vector: fn(Handle, u64) -> Handle;
    duckdb_destroy_data_chunk: fn(*mut Handle);
    duckdb_vector_get_column_type: fn(Handle) -> Handle;
    duckdb_vector_get_data: fn(Handle) -> *mut c_void;
    duckdb_vector_get_validity: fn(Handle) -> *mut u64;
    duckdb_vector_ensure_validity_writable: fn(Handle);
    duckdb_vector_assign_string_element_len: fn(Handle, u64, *const c_char, u64);
    duckdb_list_vector_get_child: fn(Handle) -> Handle;
    duckdb_list_vector_get_size: fn(Handle) -> u64;
    duckdb_list_vector_set_size: fn(Handle, u64) -> State;
    duckdb_list_vector_reserve: fn(Handle, u64) -> State;
    duckdb_appender_create: fn(Handle, *const c_char, *const c_char, *mut Handle) -> State;
    duckdb_append_data_chunk: fn(Handle, Handle) -> State;
    duckdb_appender_close: fn(Handle) -> State;
    duckdb_appender_error_data: fn(Handle) -> Handle;
    duckdb_error_data_message: fn(Handle) -> *const c_char;
    duckdb_destroy_error_data: fn(*mut Handle);
    duckdb_appender_destroy: fn(*mut Handle) -> State;
}
