//! How a schema becomes tables: names, columns, partitions, and the statements that make them.
//!
//! A table of readings is partitioned by series and bucket of time, and clustered by time (or by span and write, where a
//! row is a record of a span). Beside them is one small table to look buckets and tags up in, and one of each kind of entities.

use sensormark_store::{
    Encoding, FieldType, Index, Layout, Schema, Shape, StoreError, Table, TagPlacement, TimeKey, TimeRange,
    TimeResolution,
};
use std::sync::Arc;

pub(crate) mod layout_options;
#[cfg(test)]
mod pins;

/// The table in which a client looks up, before it asks, which buckets a series has and which series have a tag's value. There is one for all tables of a
/// keyspace, because each table costs the server memory and each change of the schema time.
pub(crate) const LOOKUP: &str = "lookup";

/// What is looked up by a series' number: its buckets. (No tag is named so: their names start with a letter.)
pub(crate) const BUCKETS: &str = "_buckets";

/// What stands before the owner's mark in the comment of the table [`LOOKUP`].
pub(crate) const OWNER: &str = "sensormark, owner ";

/// A plan's tables.
#[derive(Debug)]
pub struct PhysicalSchema {
    pub(crate) schema: Arc<Schema>,
    pub(crate) layout: Layout,
    pub(crate) tables: Vec<PhysicalTable>,
}

/// What a row of the readings' table is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Rows {
    /// One reading; its key of time counts this many ns.
    Reading {
        /// Length of a unit of the key in ns.
        unit_ns: i64,
    },
    /// One record of a span.
    Record {
        /// Length of the span in ns.
        span_ns: i64,
        /// Whether the record is JSON text rather than packed bytes.
        json: bool,
    },
}

/// One table of the schema.
#[derive(Debug)]
pub(crate) struct PhysicalTable {
    /// What a row is.
    pub(crate) rows: Rows,
    /// Length of a partition's bucket of time in ns; none where a partition holds all of a series.
    pub(crate) bucket_ns: Option<i64>,
    /// The schema's name of the table.
    pub(crate) name: String,
    entity: String,
}

impl PhysicalSchema {
    /// The tables of a schema in a layout.
    pub(crate) fn new(schema: &Arc<Schema>, layout: Layout) -> Result<Self, StoreError> {
        if let Some(reason) = layout_options::missing(&layout) {
            return Err(StoreError::unsupported("lay out a schema in Cassandra", reason));
        }
        let tables = schema.tables.iter().map(|table| PhysicalTable::new(table, &layout));
        Ok(Self { schema: Arc::clone(schema), layout, tables: tables.collect() })
    }
}

/// How long a partition's bucket is. It is an hour where readings may come every few µs or ms, a day where they are whole milliseconds, and 30 days where they
/// are whole seconds. A partition then stays under a few million readings.
const fn bucket_ns(resolution: TimeResolution) -> i64 {
    const HOUR: i64 = 3_600_000_000_000;
    match resolution {
        TimeResolution::Nanoseconds | TimeResolution::Microseconds => HOUR,
        TimeResolution::Milliseconds => 24 * HOUR,
        TimeResolution::Seconds => 30 * 24 * HOUR,
    }
}

impl PhysicalTable {
    fn new(table: &Table, layout: &Layout) -> Self {
        let rows = match layout.shape {
            Shape::RecordPerSpan { span_ns, encoding } => {
                Rows::Record { span_ns, json: encoding == Encoding::Json }
            }
            _ => Rows::Reading {
                unit_ns: match layout.time {
                    TimeKey::Nanoseconds => 1,
                    TimeKey::Native => 1_000_000,
                },
            },
        };
        Self {
            rows,
            bucket_ns: (layout.index != Index::Series).then(|| bucket_ns(table.time_resolution)),
            name: table.name.clone(),
            entity: table.entity.as_ref().map(|entity| entity.name.clone()).unwrap_or_default(),
        }
    }

    /// Name of the readings' table.
    pub(crate) fn readings(&self) -> String {
        format!("r_{}", self.name)
    }

    /// Rows in a page of an answer: records are large.
    pub(crate) const fn page(&self) -> i32 {
        match self.rows {
            Rows::Reading { .. } => 5_000,
            Rows::Record { .. } => 100,
        }
    }

    /// Name of the entities' table.
    pub(crate) fn entities(&self) -> String {
        format!("e_{}", self.entity)
    }

    const fn key_ns(&self) -> i64 {
        match self.rows {
            Rows::Reading { unit_ns } => unit_ns,
            Rows::Record { span_ns, .. } => span_ns,
        }
    }

    /// The clustering key of a time: its unit, or its span.
    pub(crate) const fn key(&self, time_ns: i64) -> i64 {
        time_ns.div_euclid(self.key_ns())
    }

    /// The bucket of a clustering key.
    pub(crate) fn bucket(&self, key: i64) -> i64 {
        self.bucket_ns.map_or(0, |bucket| key.saturating_mul(self.key_ns()).div_euclid(bucket))
    }

    /// The first and last clustering key of a range; none where the range is empty.
    pub(crate) fn keys(&self, range: TimeRange) -> Option<(i64, i64)> {
        if range.end_ns <= range.start_ns {
            return None;
        }
        let last = range.end_ns - 1;
        let (first, last) = match self.rows {
            // a bound between two units is the next unit's: times are cut off towards the past
            Rows::Reading { unit_ns } => {
                let up =
                    range.start_ns.div_euclid(unit_ns) + i64::from(range.start_ns.rem_euclid(unit_ns) != 0);
                (up, last.div_euclid(unit_ns))
            }
            Rows::Record { .. } => (self.key(range.start_ns), self.key(last)),
        };
        (first <= last).then_some((first, last))
    }
}

/// The type of a field's column. (A smallint is signed and would not hold 65,535.)
pub(crate) const fn column_type(kind: FieldType) -> &'static str {
    match kind {
        FieldType::Bool => "boolean",
        FieldType::I64 => "bigint",
        FieldType::U16 => "int",
        FieldType::F64 => "double",
        FieldType::Text => "text",
    }
}

/// Names of all tables that a plan makes.
pub(crate) fn table_names(physical: &PhysicalSchema) -> Vec<String> {
    let mut names = vec![LOOKUP.to_owned()];
    for (table, own) in physical.schema.tables.iter().zip(&physical.tables) {
        names.push(own.readings());
        if table.entity.is_some() {
            names.push(own.entities());
        }
    }
    names
}

/// Whether a table's tags are kept.
pub(crate) fn has_tags(physical: &PhysicalSchema, table: &Table) -> bool {
    !table.tags.is_empty() && physical.layout.tags == TagPlacement::OwnTable
}

/// The statements that make a plan's tables, the one with the owner's mark first; `copies` is how many nodes keep each row.
pub(crate) fn statements(physical: &PhysicalSchema, keyspace: &str, owner: &str, copies: u16) -> Vec<String> {
    let mark = owner.replace('\'', "''");
    let mut statements = vec![format!(
        "CREATE TABLE {keyspace}.\"{LOOKUP}\" (\"_table\" text, \"_what\" text, \"_value\" text, \"_number\" bigint, PRIMARY KEY ((\"_table\", \"_what\", \"_value\"), \"_number\")) WITH comment = '{OWNER}{mark}'"
    )];
    for (table, own) in physical.schema.tables.iter().zip(&physical.tables) {
        statements.push(readings_table(table, own, physical.layout.time, (keyspace, copies)));
        if let Some(entity) = &table.entity {
            let columns = entity
                .columns
                .iter()
                .map(|column| format!("\"{}\" {}", column.name, column_type(column.kind)));
            let columns: Vec<String> = columns.collect();
            statements.push(format!(
                "CREATE TABLE {keyspace}.\"{}\" (\"_series\" int PRIMARY KEY, \"{}\" bigint{}{})",
                own.entities(),
                entity.last_time_column,
                if columns.is_empty() { "" } else { ", " },
                columns.join(", ")
            ));
        }
    }
    statements
}

fn readings_table(
    table: &Table,
    own: &PhysicalTable,
    time: TimeKey,
    (keyspace, copies): (&str, u16),
) -> String {
    let name = own.readings();
    // Absent values of a reading that replaces another are tombstones; with one copy nothing needs them for longer. With several, a node that was away needs
    // them, and keeps what others missed (hints) no longer than them.
    let options = if copies > 1 { "" } else { " WITH gc_grace_seconds = 0" };
    match own.rows {
        Rows::Reading { .. } => {
            let key = match time {
                TimeKey::Nanoseconds => "bigint",
                TimeKey::Native => "timestamp",
            };
            let columns = table.fields.iter();
            let columns: String =
                columns.map(|field| format!("\"{}\" {}, ", field.name, column_type(field.kind))).collect();
            format!(
                "CREATE TABLE {keyspace}.\"{name}\" (\"_series\" int, \"_bucket\" bigint, \"_time\" {key}, {columns}PRIMARY KEY ((\"_series\", \"_bucket\"), \"_time\")){options}"
            )
        }
        Rows::Record { json, .. } => {
            let kind = if json { "text" } else { "blob" };
            format!(
                "CREATE TABLE {keyspace}.\"{name}\" (\"_series\" int, \"_bucket\" bigint, \"_span\" bigint, \"_write\" blob, \"_record\" {kind}, PRIMARY KEY ((\"_series\", \"_bucket\"), \"_span\", \"_write\")){options}"
            )
        }
    }
}
