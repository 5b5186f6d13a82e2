//! GridDB's C interface as its public header `gridstore.h` describes it: types, and the functions that the driver calls.
//!
//! Functions whose header name is a macro or an inline function are declared under the versioned name that stands behind it.

#![allow(
    non_snake_case,
    unsafe_code,
    reason = "functions have the header's names, and are found in a library"
)]

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
    pub(super) indexes: *const c_void,
    pub(super) row_key_column_count: usize,
    pub(super) row_key_columns: *const i32,
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
    () -> Handle: gsGetDefaultFactory;
    (Handle, *const Property, usize) -> Code: gsSetFactoryProperties;
    (Handle, *const Property, usize, *mut Handle) -> Code: gsGetGridStore;
    (*mut Handle, Flag) -> (): gsCloseGridStore gsCloseContainer;
    (Handle) -> usize: gsGetErrorStackSize;
    (Handle, usize) -> Code: gsGetErrorCode;
    (Handle, usize, *mut c_char, usize) -> usize: gsFormatErrorMessage;
    (Handle, Text, *const ContainerInfo, Flag, *mut Handle) -> Code: gsPutContainerGeneralV4_3;
    (Handle, Text, *mut Handle) -> Code: gsGetContainerGeneral gsQuery;
    (Handle, Text) -> Code: gsDropContainer;
    (Handle, *mut Handle) -> Code: gsGetPartitionController gsGetRowSet gsGetNextAggregation gsCreateRowByContainer;
    (*mut Handle) -> (): gsClosePartitionController gsCloseQuery gsCloseRowSet gsCloseAggregationResult gsCloseRow;
    (Handle, *mut i32) -> Code: gsGetPartitionCount;
    (Handle, i32, i64, *const i64, *mut *const Text, *mut usize) -> Code: gsGetPartitionContainerNames;
    (Handle, Text, i32) -> Code: gsCreateIndex;
    (Handle, Flag) -> Code: gsSetAutoCommit;
    (Handle) -> Code: gsCommit gsAbort;
    (Handle, *const c_void, Handle, *mut Flag) -> Code: gsPutRow;
    (Handle, *const Handle, usize, *mut Flag) -> Code: gsPutMultipleRows;
    (Handle, *const ContainerRows, usize) -> Code: gsPutMultipleContainerRows;
    (Handle, i64, Handle, Flag, *mut Flag) -> Code: gsGetRowByLong gsGetRowByTimestamp;
    (Handle, Flag, *mut Handle) -> Code: gsFetch;
    (Handle, *const Handle, usize) -> Code: gsFetchAll;
    (Handle) -> Flag: gsHasNextRow;
    (Handle, Handle) -> Code: gsGetNextRow;
    (Handle, *mut i64, *mut Flag) -> Code: gsGetAggregationValueAsLong;
    (Handle, *mut f64, *mut Flag) -> Code: gsGetAggregationValueAsDouble;
    (Handle, *mut PlanLine) -> Code: gsGetNextQueryAnalysis;
    (Handle, i32) -> Code: gsSetRowFieldNull;
    (Handle, i32, *mut Flag) -> Code: gsGetRowFieldNull gsGetRowFieldAsBool;
    (Handle, i32, Text) -> Code: gsSetRowFieldByString;
    (Handle, i32, *mut Text) -> Code: gsGetRowFieldAsString;
    (Handle, i32, Flag) -> Code: gsSetRowFieldByBool;
    (Handle, i32, i32) -> Code: gsSetRowFieldByInteger;
    (Handle, i32, *mut i32) -> Code: gsGetRowFieldAsInteger;
    (Handle, i32, i64) -> Code: gsSetRowFieldByLong gsSetRowFieldByTimestamp;
    (Handle, i32, *mut i64) -> Code: gsGetRowFieldAsLong gsGetRowFieldAsTimestamp;
    (Handle, i32, f64) -> Code: gsSetRowFieldByDouble;
    (Handle, i32, *mut f64) -> Code: gsGetRowFieldAsDouble;
    (Handle, i32, *const Blob) -> Code: gsSetRowFieldByBlob;
    (Handle, i32, *mut Blob) -> Code: gsGetRowFieldAsBlob;
}
