//! The statements that write one table, and how a value is bound.

use rusqlite::CachedStatement;
use rusqlite::types::{Null, ToSqlOutput, ValueRef};
use sensormark_relational::cell::Cell;
use sensormark_relational::physical_schema::PhysicalSchema;
use sensormark_relational::table::{Content, PhysicalTable};
use sensormark_relational::write::statement::{
    add_to_sums, entity, insert, insert_head, insert_row, sum_columns,
};
use std::collections::HashMap;

/// What a failure was met in.
pub(super) const OPERATION: &str = "write readings";

/// The statements that write one table, and the buffer that they need.
pub struct Writer {
    /// Inserts one row.
    pub(super) insert: String,
    /// Inserts one row whose key a clustered table has already.
    pub(super) repeat: Option<String>,
    /// Inserts this many rows.
    pub(super) many: HashMap<usize, String>,
    /// Adds to a row of sums.
    pub(super) add_sums: Option<String>,
    /// Inserts or updates an entity.
    pub(super) entity: Option<String>,
    /// The columns that a row has values for: those of the series first.
    pub(super) written: Vec<usize>,
    /// How many of them are the series'.
    pub(super) of_series: usize,
    pub(super) buffer: Vec<u8>,
}

impl Writer {
    /// The statements of this table.
    pub fn new(physical: &PhysicalSchema, number: usize) -> Self {
        let (table, description) = (&physical.tables[number], &physical.schema.tables[number]);
        let is_copy = |&column: &usize| table.columns[column].content == Content::Copy;
        let has_copies = (0..table.columns.len()).any(|column| is_copy(&column));
        let repeat = || {
            let row = insert_row(physical, table, 1, &next_copy(table));
            format!("{}{row}", insert_head(table))
        };
        let sums = sum_columns(table).len();
        let places = (1..=sums).map(|place| format!("?{place}"));
        let values = format!("VALUES ({})", places.collect::<Vec<_>>().join(", "));
        Self {
            insert: insert(physical, table, 1).0,
            repeat: has_copies.then(repeat),
            many: HashMap::new(),
            add_sums: add_to_sums(physical, table, &values),
            entity: entity(physical, table, description, 1).map(|text| text.0),
            written: (0..table.columns.len()).filter(|column| !is_copy(column)).collect(),
            of_series: table.series_columns().count(),
            buffer: Vec::new(),
        }
    }
}

/// The next number for a key that is there already, as a subquery on the parameters of the row's INSERT.
fn next_copy(table: &PhysicalTable) -> String {
    let place = |name: &str| {
        let place = table.columns.iter().position(|column| column.name == name);
        place.map_or(1, |place| place + 1)
    };
    let conditions: Vec<String> = table
        .key_names()
        .iter()
        .chain([&table.time])
        .map(|name| format!("{name} = ?{}", place(name)))
        .collect();
    format!(
        "(SELECT max({copy}) + 1 FROM {} WHERE {})",
        table.name,
        conditions.join(" AND "),
        copy = table.column(Content::Copy),
    )
}

/// Binds one value.
#[inline(always)]
pub(crate) fn bind(
    statement: &mut CachedStatement<'_>,
    place: usize,
    cell: Cell<'_>,
) -> rusqlite::Result<()> {
    match cell {
        Cell::Null => statement.raw_bind_parameter(place, Null),
        Cell::Bool(value) => statement.raw_bind_parameter(place, value),
        Cell::I16(value) => statement.raw_bind_parameter(place, value),
        Cell::I32(value) => statement.raw_bind_parameter(place, value),
        Cell::I64(value) => statement.raw_bind_parameter(place, value),
        Cell::F64(value) => statement.raw_bind_parameter(place, value),
        Cell::Text(value) => statement.raw_bind_parameter(place, value),
        Cell::Encoded(value) => {
            statement.raw_bind_parameter(place, ToSqlOutput::Borrowed(ValueRef::Blob(value)))
        }
    }
}
