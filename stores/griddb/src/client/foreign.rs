//! GridDB's C interface as its public header `gridstore.h` describes it: types and functions, found by name in the library.
//!
//! Declared by hand, and only what the store uses. Functions whose header name is a macro or an inline function (`gsPutContainerGeneral`) are
//! declared under the versioned name that stands behind it. Nothing here is called; that is [`super`]'s part.

use libloading::Library;
use std::ffi::{c_char, c_void};

/// The header's `GSResult`: 0, or an error code.
pub(super) type Code = i32;

/// The header's `GSBool`.
pub(super) type Flag = c_char;

/// Resources that the library alone looks into.
macro_rules! opaque {
    ($($name:ident)*) => { $(
        #[doc = concat!("The library's ", stringify!($name), ".")]
        #[repr(C)]
        pub(super) struct $name { _private: [u8; 0] }
    )* };
}

opaque!(Factory GridStore Container Row Query RowSet Aggregation Partitions);

/// `GSPropertyEntry`.
#[repr(C)]
pub(super) struct Property {
    pub(super) name: *const c_char,
    pub(super) value: *const c_char,
}

/// `GSBlob`.
#[repr(C)]
pub(super) struct Blob {
    pub(super) size: usize,
    pub(super) data: *const c_void,
}

/// `GSColumnInfo`, as of 3.5.
#[repr(C)]
pub(super) struct ColumnInfo {
    pub(super) name: *const c_char,
    pub(super) kind: i32,
    pub(super) index_flags: i32,
    pub(super) options: i32,
}

/// `GSContainerInfo`, as of 4.3.
#[repr(C)]
pub(super) struct ContainerInfo {
    pub(super) name: *const c_char,
    pub(super) kind: i32,
    pub(super) column_count: usize,
    pub(super) columns: *const ColumnInfo,
    pub(super) row_key_assigned: Flag,
    pub(super) column_order_ignorable: Flag,
    pub(super) time_series: *const c_void,
    pub(super) trigger_count: usize,
    pub(super) triggers: *const c_void,
    pub(super) data_affinity: *const c_char,
    pub(super) index_count: usize,
    pub(super) indexes: *const IndexInfo,
    pub(super) row_key_column_count: usize,
    pub(super) row_key_columns: *const i32,
}

/// `GSIndexInfo`, as of 4.3.
#[repr(C)]
pub(super) struct IndexInfo {
    pub(super) name: *const c_char,
    pub(super) kind: i32,
    pub(super) column: i32,
    pub(super) column_name: *const c_char,
    pub(super) column_count: usize,
    pub(super) columns: *const i32,
    pub(super) column_name_count: usize,
    pub(super) column_names: *const *const c_char,
}

/// `GSQueryAnalysisEntry`: a line of a plan.
#[repr(C)]
pub(super) struct PlanLine {
    pub(super) id: i32,
    pub(super) depth: i32,
    pub(super) kind: *const c_char,
    pub(super) value_kind: *const c_char,
    pub(super) value: *const c_char,
    pub(super) statement: *const c_char,
}

/// `GSContainerRowEntry`.
#[repr(C)]
pub(super) struct ContainerRows {
    pub(super) name: *const c_char,
    pub(super) rows: *const *mut Row,
    pub(super) count: usize,
}

macro_rules! functions {
    ($($field:ident = $symbol:literal: fn($($argument:ty),*) $(-> $result:ty)?;)*) => {
        /// The functions that the store calls.
        pub(super) struct Functions {
            $(pub(super) $field: unsafe extern "C" fn($($argument),*) $(-> $result)?,)*
        }

        impl Functions {
            /// Finds all functions in the library.
            ///
            /// # Safety
            /// The library is GridDB's C client, whose functions have the types of its header, and stays loaded as long as the functions are used.
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
    default_factory = b"gsGetDefaultFactory\0": fn() -> *mut Factory;
    set_factory = b"gsSetFactoryProperties\0": fn(*mut Factory, *const Property, usize) -> Code;
    open = b"gsGetGridStore\0": fn(*mut Factory, *const Property, usize, *mut *mut GridStore) -> Code;
    close = b"gsCloseGridStore\0": fn(*mut *mut GridStore, Flag);
    put_container = b"gsPutContainerGeneralV4_3\0": fn(*mut GridStore, *const c_char, *const ContainerInfo, Flag, *mut *mut Container) -> Code;
    get_container = b"gsGetContainerGeneral\0": fn(*mut GridStore, *const c_char, *mut *mut Container) -> Code;
    container_info = b"gsGetContainerInfoV4_3\0": fn(*mut GridStore, *const c_char, *mut ContainerInfo, *mut Flag) -> Code;
    drop_container = b"gsDropContainer\0": fn(*mut GridStore, *const c_char) -> Code;
    close_container = b"gsCloseContainer\0": fn(*mut *mut Container, Flag);
    fetch_all = b"gsFetchAll\0": fn(*mut GridStore, *const *mut Query, usize) -> Code;
    put_many = b"gsPutMultipleContainerRows\0": fn(*mut GridStore, *const ContainerRows, usize) -> Code;
    partitions = b"gsGetPartitionController\0": fn(*mut GridStore, *mut *mut Partitions) -> Code;
    close_partitions = b"gsClosePartitionController\0": fn(*mut *mut Partitions);
    partition_count = b"gsGetPartitionCount\0": fn(*mut Partitions, *mut i32) -> Code;
    container_names = b"gsGetPartitionContainerNames\0": fn(*mut Partitions, i32, i64, *const i64, *mut *const *const c_char, *mut usize) -> Code;
    create_index = b"gsCreateIndex\0": fn(*mut Container, *const c_char, i32) -> Code;
    auto_commit = b"gsSetAutoCommit\0": fn(*mut Container, Flag) -> Code;
    commit = b"gsCommit\0": fn(*mut Container) -> Code;
    abort = b"gsAbort\0": fn(*mut Container) -> Code;
    put_row = b"gsPutRow\0": fn(*mut Container, *const c_void, *const Row, *mut Flag) -> Code;
    put_rows = b"gsPutMultipleRows\0": fn(*mut Container, *const *mut Row, usize, *mut Flag) -> Code;
    row_by_integer = b"gsGetRowByInteger\0": fn(*mut Container, i32, *mut Row, Flag, *mut Flag) -> Code;
    row_by_long = b"gsGetRowByLong\0": fn(*mut Container, i64, *mut Row, Flag, *mut Flag) -> Code;
    row_by_timestamp = b"gsGetRowByTimestamp\0": fn(*mut Container, i64, *mut Row, Flag, *mut Flag) -> Code;
    query = b"gsQuery\0": fn(*mut Container, *const c_char, *mut *mut Query) -> Code;
    close_query = b"gsCloseQuery\0": fn(*mut *mut Query);
    fetch = b"gsFetch\0": fn(*mut Query, Flag, *mut *mut RowSet) -> Code;
    row_set = b"gsGetRowSet\0": fn(*mut Query, *mut *mut RowSet) -> Code;
    close_row_set = b"gsCloseRowSet\0": fn(*mut *mut RowSet);
    has_next = b"gsHasNextRow\0": fn(*mut RowSet) -> Flag;
    next_row = b"gsGetNextRow\0": fn(*mut RowSet, *mut Row) -> Code;
    next_aggregation = b"gsGetNextAggregation\0": fn(*mut RowSet, *mut *mut Aggregation) -> Code;
    next_plan_line = b"gsGetNextQueryAnalysis\0": fn(*mut RowSet, *mut PlanLine) -> Code;
    close_aggregation = b"gsCloseAggregationResult\0": fn(*mut *mut Aggregation);
    aggregation_long = b"gsGetAggregationValueAsLong\0": fn(*mut Aggregation, *mut i64, *mut Flag) -> Code;
    aggregation_double = b"gsGetAggregationValueAsDouble\0": fn(*mut Aggregation, *mut f64, *mut Flag) -> Code;
    create_row = b"gsCreateRowByContainer\0": fn(*mut Container, *mut *mut Row) -> Code;
    close_row = b"gsCloseRow\0": fn(*mut *mut Row);
    set_null = b"gsSetRowFieldNull\0": fn(*mut Row, i32) -> Code;
    get_null = b"gsGetRowFieldNull\0": fn(*mut Row, i32, *mut Flag) -> Code;
    set_string = b"gsSetRowFieldByString\0": fn(*mut Row, i32, *const c_char) -> Code;
    get_string = b"gsGetRowFieldAsString\0": fn(*mut Row, i32, *mut *const c_char) -> Code;
    set_bool = b"gsSetRowFieldByBool\0": fn(*mut Row, i32, Flag) -> Code;
    get_bool = b"gsGetRowFieldAsBool\0": fn(*mut Row, i32, *mut Flag) -> Code;
    set_integer = b"gsSetRowFieldByInteger\0": fn(*mut Row, i32, i32) -> Code;
    get_integer = b"gsGetRowFieldAsInteger\0": fn(*mut Row, i32, *mut i32) -> Code;
    set_long = b"gsSetRowFieldByLong\0": fn(*mut Row, i32, i64) -> Code;
    get_long = b"gsGetRowFieldAsLong\0": fn(*mut Row, i32, *mut i64) -> Code;
    set_double = b"gsSetRowFieldByDouble\0": fn(*mut Row, i32, f64) -> Code;
    get_double = b"gsGetRowFieldAsDouble\0": fn(*mut Row, i32, *mut f64) -> Code;
    set_timestamp = b"gsSetRowFieldByTimestamp\0": fn(*mut Row, i32, i64) -> Code;
    get_timestamp = b"gsGetRowFieldAsTimestamp\0": fn(*mut Row, i32, *mut i64) -> Code;
    set_blob = b"gsSetRowFieldByBlob\0": fn(*mut Row, i32, *const Blob) -> Code;
    get_blob = b"gsGetRowFieldAsBlob\0": fn(*mut Row, i32, *mut Blob) -> Code;
    stack_size = b"gsGetErrorStackSize\0": fn(*mut c_void) -> usize;
    error_code = b"gsGetErrorCode\0": fn(*mut c_void, usize) -> Code;
    error_message = b"gsFormatErrorMessage\0": fn(*mut c_void, usize, *mut c_char, usize) -> usize;
}
