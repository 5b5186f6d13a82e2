//! How a database opens a record into its readings.

/// What expands a record into its readings.
#[derive(Debug)]
pub struct Expansion {
    /// What stands between the table and the opened record.
    pub join: &'static str,
    /// The opened record.
    pub from: String,
    /// The reading's time since the start of its span.
    pub offset: String,
    /// What orders the readings of a record as they were written.
    pub order: &'static str,
    /// The expressions for fields.
    pub fields: Vec<(usize, String)>,
}
