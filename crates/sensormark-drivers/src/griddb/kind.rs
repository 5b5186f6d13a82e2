//! Types of columns.

/// The type of a column.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    String,
    Bool,
    Integer,
    Long,
    Double,
    /// Milliseconds since the epoch.
    Timestamp,
    Blob,
    /// A BLOB that holds text.
    Json,
}

/// Names of types, with their numbers (`GSType`).
pub(super) const TYPES: [(&str, Kind, i32); 8] = [
    ("STRING", Kind::String, 0),
    ("BOOL", Kind::Bool, 1),
    ("INTEGER", Kind::Integer, 4),
    ("LONG", Kind::Long, 5),
    ("DOUBLE", Kind::Double, 7),
    ("TIMESTAMP", Kind::Timestamp, 8),
    ("BLOB", Kind::Blob, 10),
    ("JSON", Kind::Json, 10),
];

impl Kind {
    /// The type of this name.
    pub(super) fn named(name: &str) -> Option<Self> {
        TYPES.iter().find(|one| one.0 == name).map(|one| one.1)
    }
}
