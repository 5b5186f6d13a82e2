//! GridDB's C interface as its public header `gridstore.h` describes it: types, and the functions that the driver calls.
//!
//! Functions whose header name is a macro or an inline function are declared under the versioned name that stands behind it.

#![allow(non_snake_case, unsafe_code, reason = "functions have the header's names, and are found in a library")]

use crate::foreign::functions;
use std::ffi::{c_char, c_void};

/// The header's `GSResult`: 0, or an error code.
pub(super) type Code = i32;
/// The header's `GSBool`.
pub(super) type Flag = c_char;
/// A resource that the library alone looks into.
pub(super) type Handle = *mut c_void;
/// A text that ends with NUL.
pub(super) type Text = *const c_char;

/// `GSPropertyEntry`.
#[repr(C)]
pub(super) struct Property {
    pub(super) name: Text,
    pub(super) value: Text,
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
    pub(super) name: Text,
    pub(super) kind: i32,
    pub(super) index_flags: i32,
    pub(super) options: i32,
}

/// `GSContainerInfo`, as of 4.3.
#[repr(C)]
pub(super) struct ContainerInfo {
    pub(super) name: Text,
    pub(super) kind: i32,
    pub(super) column_count: usize,
    pub(super) columns: *const ColumnInfo,
    pub(super) row_key_assigned: Flag,
    pub(super) column_order_ignorable: Flag,
    pub(super) time_series: *const c_void,
    pub(super) trigger_count: usize,
    pub(super) triggers: *const c_void,
    pub(super) data_affinity: Text,
    pub(super) index_count: usize,
    pub(super) indexes: *const IndexInfo,
    pub(super) row_key_column_count: usize,
    pub(super) row_key_columns: *const i32,
}

/// `GSIndexInfo`, as of 4.3.
#[repr(C)]
pub(super) struct IndexInfo {
    pub(super) name: Text,
    pub(super) kind: i32,
    pub(super) column: i32,
    pub(super) column_name: Text,
    pub(super) column_count: usize,
    pub(super) columns: *const i32,
    pub(super) column_name_count: usize,
    pub(super) column_names: *const Text,
}

/// `GSQueryAnalysisEntry`: a line of a plan.
#[repr(C)]
pub(super) struct PlanLine {
    pub(super) id: i32,
    pub(super) depth: i32,
    pub(super) kind: Text,
    pub(super) value_kind: Text,
    pub(super) value: Text,
    pub(super) statement: Text,
}

/// `GSContainerRowEntry`.
#[repr(C)]
pub(super) struct ContainerRows {
    pub(super) name: Text,
    pub(super) rows: *const Handle,
    pub(super) count: usize,
}

functions! {
    gsGetDefaultFactory: fn() -> Handle;
    gsSetFactoryProperties: fn(Handle, *const Property, usize) -> Code;
    gsGetGridStore: fn(Handle, *const Property, usize, *mut Handle) -> Code;
    gsCloseGridStore: fn(*mut Handle, Flag);
    gsGetErrorStackSize: fn(Handle) -> usize;
    gsGetErrorCode: fn(Handle, usize) -> Code;
    gsFormatErrorMessage: fn(Handle, usize, *mut c_char, usize) -> usize;
    gsPutContainerGeneralV4_3: fn(Handle, Text, *const ContainerInfo, Flag, *mut Handle) -> Code;
    gsGetContainerGeneral: fn(Handle, Text, *mut Handle) -> Code;
    gsGetContainerInfoV4_3: fn(Handle, Text, *mut ContainerInfo, *mut Flag) -> Code;
    gsDropContainer: fn(Handle, Text) -> Code;
    gsCloseContainer: fn(*mut Handle, Flag);
    gsGetPartitionController: fn(Handle, *mut Handle) -> Code;
    gsClosePartitionController: fn(*mut Handle);
    gsGetPartitionCount: fn(Handle, *mut i32) -> Code;
    gsGetPartitionContainerNames: fn(Handle, i32, i64, *const i64, *mut *const Text, *mut usize) -> Code;
    gsCreateIndex: fn(Handle, Text, i32) -> Code;
    gsSetAutoCommit: fn(Handle, Flag) -> Code;
    gsCommit: fn(Handle) -> Code;
    gsAbort: fn(Handle) -> Code;
    gsPutRow: fn(Handle, *const c_void, Handle, *mut Flag) -> Code;
    gsPutMultipleRows: fn(Handle, *const Handle, usize, *mut Flag) -> Code;
    gsPutMultipleContainerRows: fn(Handle, *const ContainerRows, usize) -> Code;
    gsGetRowByInteger: fn(Handle, i32, Handle, Flag, *mut Flag) -> Code;
    gsGetRowByLong: fn(Handle, i64, Handle, Flag, *mut Flag) -> Code;
    gsGetRowByTimestamp: fn(Handle, i64, Handle, Flag, *mut Flag) -> Code;
    gsQuery: fn(Handle, Text, *mut Handle) -> Code;
    gsCloseQuery: fn(*mut Handle);
    gsFetch: fn(Handle, Flag, *mut Handle) -> Code;
    gsFetchAll: fn(Handle, *const Handle, usize) -> Code;
    gsGetRowSet: fn(Handle, *mut Handle) -> Code;
    gsCloseRowSet: fn(*mut Handle);
    gsHasNextRow: fn(Handle) -> Flag;
    gsGetNextRow: fn(Handle, Handle) -> Code;
    gsGetNextAggregation: fn(Handle, *mut Handle) -> Code;
    gsCloseAggregationResult: fn(*mut Handle);
    gsGetAggregationValueAsLong: fn(Handle, *mut i64, *mut Flag) -> Code;
    gsGetAggregationValueAsDouble: fn(Handle, *mut f64, *mut Flag) -> Code;
    gsGetNextQueryAnalysis: fn(Handle, *mut PlanLine) -> Code;
    gsCreateRowByContainer: fn(Handle, *mut Handle) -> Code;
    gsCloseRow: fn(*mut Handle);
    gsSetRowFieldNull: fn(Handle, i32) -> Code;
    gsGetRowFieldNull: fn(Handle, i32, *mut Flag) -> Code;
    gsSetRowFieldByString: fn(Handle, i32, Text) -> Code;
    gsGetRowFieldAsString: fn(Handle, i32, *mut Text) -> Code;
    gsSetRowFieldByBool: fn(Handle, i32, Flag) -> Code;
    gsGetRowFieldAsBool: fn(Handle, i32, *mut Flag) -> Code;
    gsSetRowFieldByInteger: fn(Handle, i32, i32) -> Code;
    gsGetRowFieldAsInteger: fn(Handle, i32, *mut i32) -> Code;
    gsSetRowFieldByLong: fn(Handle, i32, i64) -> Code;
    gsGetRowFieldAsLong: fn(Handle, i32, *mut i64) -> Code;
    gsSetRowFieldByDouble: fn(Handle, i32, f64) -> Code;
    gsGetRowFieldAsDouble: fn(Handle, i32, *mut f64) -> Code;
    gsSetRowFieldByTimestamp: fn(Handle, i32, i64) -> Code;
    gsGetRowFieldAsTimestamp: fn(Handle, i32, *mut i64) -> Code;
    gsSetRowFieldByBlob: fn(Handle, i32, *const Blob) -> Code;
    gsGetRowFieldAsBlob: fn(Handle, i32, *mut Blob) -> Code;
}
