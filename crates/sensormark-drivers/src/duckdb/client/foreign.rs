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
    () -> *const c_char: duckdb_library_version;
    (*mut c_void) -> (): duckdb_free;
    (*mut Handle) -> State: duckdb_create_config duckdb_appender_destroy;
    (Handle, *const c_char, *const c_char) -> State: duckdb_set_config;
    (*mut Handle) -> (): duckdb_destroy_config duckdb_close duckdb_disconnect duckdb_destroy_prepare duckdb_destroy_value duckdb_destroy_logical_type duckdb_destroy_data_chunk duckdb_destroy_error_data;
    (*const c_char, *mut Handle, Handle, *mut *mut c_char) -> State: duckdb_open_ext;
    (Handle, *mut Handle) -> State: duckdb_connect;
    (Handle, *const c_char, *mut ResultHandle) -> State: duckdb_query;
    (*mut ResultHandle) -> (): duckdb_destroy_result;
    (*mut ResultHandle) -> *const c_char: duckdb_result_error;
    (ResultHandle) -> Handle: duckdb_fetch_chunk;
    (Handle, *const c_char, *mut Handle) -> State: duckdb_prepare;
    (Handle) -> *const c_char: duckdb_prepare_error duckdb_error_data_message;
    (Handle, *mut ResultHandle) -> State: duckdb_execute_prepared duckdb_execute_prepared_streaming;
    (Handle, u64, Handle) -> State: duckdb_bind_value;
    () -> Handle: duckdb_create_null_value;
    (bool) -> Handle: duckdb_create_bool;
    (u16) -> Handle: duckdb_create_uint16;
    (i32) -> Handle: duckdb_create_int32;
    (i64) -> Handle: duckdb_create_int64;
    (f64) -> Handle: duckdb_create_double;
    (*const c_char, u64) -> Handle: duckdb_create_varchar_length;
    (TimestampNs) -> Handle: duckdb_create_timestamp_ns;
    (Handle, *mut Handle, u64) -> Handle: duckdb_create_list_value;
    (u32) -> Handle: duckdb_create_logical_type;
    (Handle) -> Handle: duckdb_create_list_type duckdb_vector_get_column_type duckdb_list_vector_get_child duckdb_appender_error_data;
    (Handle) -> u32: duckdb_get_type_id;
    (*mut Handle, u64) -> Handle: duckdb_create_data_chunk;
    (Handle) -> u64: duckdb_data_chunk_get_size duckdb_data_chunk_get_column_count duckdb_list_vector_get_size;
    (Handle, u64) -> (): duckdb_data_chunk_set_size;
    (Handle, u64) -> Handle: duckdb_data_chunk_get_vector;
    (Handle) -> *mut c_void: duckdb_vector_get_data;
    (Handle) -> *mut u64: duckdb_vector_get_validity;
    (Handle) -> (): duckdb_vector_ensure_validity_writable;
    (Handle, u64, *const c_char, u64) -> (): duckdb_vector_assign_string_element_len;
    (Handle, u64) -> State: duckdb_list_vector_set_size duckdb_list_vector_reserve;
    (Handle, *const c_char, *const c_char, *mut Handle) -> State: duckdb_appender_create;
    (Handle, Handle) -> State: duckdb_append_data_chunk;
    (Handle) -> State: duckdb_appender_close;
}
