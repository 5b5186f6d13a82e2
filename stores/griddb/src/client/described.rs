//! A container as the server describes it, in words.

use super::connection::Connection;
use super::failure::{Failure, text};
use super::foreign::{ColumnInfo, ContainerInfo, Flag, IndexInfo};
use std::ffi::{CStr, c_char};
use std::ptr;

/// Names of `GSType`, by number; arrays have none of ours.
const TYPES: [&str; 11] = [
    "STRING",
    "BOOL",
    "BYTE",
    "SHORT",
    "INTEGER",
    "LONG",
    "FLOAT",
    "DOUBLE",
    "TIMESTAMP",
    "GEOMETRY",
    "BLOB",
];

/// `GS_TYPE_OPTION_NOT_NULL`.
const NOT_NULL: i32 = 1 << 2;

/// `GSIndexTypeFlag`s that containers have: a tree, a hash, a space.
const INDEXES: [(i32, &str); 3] = [(1, "TREE"), (2, "HASH"), (4, "SPATIAL")];

impl Connection {
    /// What the server says of a container: its kind, columns, row key and indexes; none where it is not there.
    pub(crate) fn described(&self, name: &str) -> Result<Option<String>, Failure> {
        let container = text(name)?;
        let mut exists: Flag = 0;
        let mut info = ContainerInfo {
            name: ptr::null(),
            kind: 0,
            column_count: 0,
            columns: ptr::null(),
            row_key_assigned: 0,
            column_order_ignorable: 0,
            time_series: ptr::null(),
            trigger_count: 0,
            triggers: ptr::null(),
            data_affinity: ptr::null(),
            index_count: 0,
            indexes: ptr::null(),
            row_key_column_count: 0,
            row_key_columns: ptr::null(),
        };
        // SAFETY: the name lives until after the call. What the description points to lives until the next call over this connection, and is copied
        // before; the lists hold as many entries as it says.
        unsafe {
            let store = self.0.raw.as_ptr();
            let ask = self.0.functions.container_info;
            self.check(ask(store, container.as_ptr(), &raw mut info, &raw mut exists))?;
            Ok((exists != 0).then(|| words(name, &info)))
        }
    }
}

/// The description in words.
///
/// # Safety
/// The description is one that the library has just given.
unsafe fn words(name: &str, info: &ContainerInfo) -> String {
    let kind = match info.kind {
        1 => "TIMESERIES",
        _ => "COLLECTION",
    };
    let mut lines = vec![format!("{kind} {name}")];
    for number in 0..info.column_count {
        // SAFETY: by the caller's promise.
        let column = unsafe { &*info.columns.add(number) };
        let is_key = info.row_key_assigned != 0 && number == 0;
        // SAFETY: by the caller's promise.
        lines.push(unsafe { column_words(column, is_key) });
    }
    for number in 0..info.index_count {
        // SAFETY: by the caller's promise.
        let index = unsafe { &*info.indexes.add(number) };
        // SAFETY: by the caller's promise.
        lines.push(unsafe { index_words(index) });
    }
    lines.join("\n")
}

/// # Safety
/// The column is of a description that the library has just given.
unsafe fn column_words(column: &ColumnInfo, is_key: bool) -> String {
    let kind = usize::try_from(column.kind).ok();
    let kind = kind.and_then(|kind| TYPES.get(kind)).unwrap_or(&"ARRAY");
    // SAFETY: by the caller's promise.
    let name = unsafe { copied(column.name) };
    let key = if is_key { " row key" } else { "" };
    let filled = if column.options & NOT_NULL != 0 { " NOT NULL" } else { "" };
    format!("  {name} {kind}{key}{filled}")
}

/// # Safety
/// The index is of a description that the library has just given.
unsafe fn index_words(index: &IndexInfo) -> String {
    let mut columns = Vec::new();
    for number in 0..index.column_name_count {
        // SAFETY: by the caller's promise.
        columns.push(unsafe { copied(*index.column_names.add(number)) });
    }
    if columns.is_empty() {
        // SAFETY: by the caller's promise.
        columns.push(unsafe { copied(index.column_name) });
    }
    let kind = INDEXES.iter().find(|(flag, _)| *flag == index.kind);
    let kind = kind.map_or("", |(_, name)| name);
    format!("  INDEX {kind} ({})", columns.join(", "))
}

/// # Safety
/// The text is null, or lives and ends with NUL.
unsafe fn copied(text: *const c_char) -> String {
    if text.is_null() {
        return String::new();
    }
    // SAFETY: by the caller's promise.
    unsafe { CStr::from_ptr(text) }.to_string_lossy().into_owned()
}
