//! The statements that write one table.

use crate::client::Kind;
use crate::dialect::{appended, type_name};
use sensormark_relational::column_type::ColumnType;
use sensormark_relational::ddl::sum_type;
use sensormark_relational::physical_schema::PhysicalSchema;
use sensormark_relational::table::{PhysicalTable, joined};
use sensormark_relational::write::statement::{Text, add_to_sums, entity, insert};
use sensormark_store::FieldType;

/// The statements that write one table.
pub(crate) struct Writer {
    /// What the columns are for an appender.
    pub(super) kinds: Vec<Kind>,
    /// Inserts one row.
    pub(super) insert: Text,
    /// Adds to rows of sums, given as a list for each column.
    pub(super) add_sums: Option<Text>,
    /// Inserts or updates an entity.
    pub(super) entity: Option<Text>,
}

impl Writer {
    /// The statements of this table.
    pub(crate) fn new(physical: &PhysicalSchema, number: usize) -> Self {
        let (table, description) = (&physical.tables[number], &physical.schema.tables[number]);
        let kinds = sum_kinds(table);
        let lists = kinds.iter().enumerate();
        let lists = lists.map(|(place, kind)| format!("unnest(${}::{})", place + 1, type_name(kind.array())));
        let source = format!("SELECT {}", joined(lists));
        let columns = table.columns.iter();
        Self {
            kinds: columns.map(|one| appended(one, description)).collect(),
            insert: insert(physical, table, 1),
            add_sums: add_to_sums(physical, table, &source).map(|text| (text, kinds)),
            entity: entity(physical, table, description, 1),
        }
    }
}

/// The types of the columns of a row of sums, as they are sent.
fn sum_kinds(table: &PhysicalTable) -> Vec<ColumnType> {
    let mut kinds: Vec<ColumnType> = table.series_columns().map(|column| column.kind).collect();
    if let Some(sums) = &table.sums {
        kinds.extend([ColumnType::I64, ColumnType::Bool]);
        for field in &sums.fields {
            let value = match field.kind {
                FieldType::F64 => ColumnType::F64,
                _ => ColumnType::I64,
            };
            kinds.extend([ColumnType::I64, sum_type(field.kind), value, value]);
        }
    }
    kinds
}
