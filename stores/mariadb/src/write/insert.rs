//! The statements that write, in parts that take any number of rows, made once for each table.
//!
//! Text alone; what is bound to them is made in [`super::rows`].

use sensormark_relational::physical_schema::PhysicalSchema;
use sensormark_relational::table::PhysicalTable;
use sensormark_relational::write::statement::{add_to_sums, entity, insert_head, insert_row, sum_columns};
use sensormark_store::{FieldType, Table, TagColumn};

/// Where the rows of a statement go.
const ROWS: &str = "\u{1}";

/// An INSERT in parts, so that it can be given any number of rows.
#[derive(Debug, Default)]
pub(crate) struct Insert {
    /// Up to and with VALUES.
    pub(crate) head: String,
    /// One row of parameters, in parentheses.
    pub(crate) row: String,
    /// What follows the rows.
    pub(crate) tail: String,
    /// The whole statement with one row.
    pub(crate) one: String,
}

/// The statements of one table.
#[derive(Debug)]
pub(crate) struct Inserts {
    /// Inserts readings (or records).
    pub(crate) readings: Insert,
    /// Adds to sums.
    pub(crate) sums: Option<Insert>,
    /// Updates or inserts entities.
    pub(crate) entity: Option<EntityStatements>,
    /// Loads readings from a file that the client streams.
    pub(crate) load: String,
}

/// The statements of an entity table.
#[derive(Debug)]
pub(crate) struct EntityStatements {
    /// Sets the last time of an entity that is there.
    pub(crate) update: String,
    /// Inserts an entity, or sets its last time when another session was faster.
    pub(crate) insert: String,
}

impl Insert {
    fn new(head: String, row: String, tail: String) -> Self {
        Self { one: format!("{head}{row}{tail}"), head, row, tail }
    }
}

impl Inserts {
    /// The statements for a table of a physical schema.
    pub(crate) fn new(physical: &PhysicalSchema, number: usize) -> Self {
        let (table, description) = (&physical.tables[number], &physical.schema.tables[number]);
        let row = insert_row(physical, table, 1, "");
        Self {
            load: load(table, description),
            readings: Insert::new(insert_head(table), row, String::new()),
            sums: sums(physical, table),
            entity: entity_statements(physical, table, description),
        }
    }
}

fn load(table: &PhysicalTable, description: &Table) -> String {
    let has_texts = description.fields.iter().any(|field| field.kind == FieldType::Text);
    let mut tags = description.series.columns().iter();
    let has_tags = tags.any(|tag| matches!(tag, TagColumn::Text(_)));
    let character_set = if has_texts || (has_tags && table.tags.is_none()) { "utf8mb4" } else { "binary" };
    format!(
        "LOAD DATA LOCAL INFILE 'batch' INTO TABLE {} CHARACTER SET {character_set} ({})",
        table.name,
        table.column_list()
    )
}

fn sums(physical: &PhysicalSchema, table: &PhysicalTable) -> Option<Insert> {
    let text = add_to_sums(physical, table, &format!("VALUES {ROWS}"))?;
    let (head, tail) = text.split_once(ROWS)?;
    let row = format!("({})", vec!["?"; sum_columns(table).len()].join(", "));
    Some(Insert::new(head.to_owned(), row, tail.to_owned()))
}

fn entity_statements(
    physical: &PhysicalSchema,
    table: &PhysicalTable,
    description: &Table,
) -> Option<EntityStatements> {
    let (insert, _) = entity(physical, table, description, 1)?;
    let entity = table.entity.as_ref()?;
    let conditions = table.key_columns();
    let conditions: Vec<String> = conditions.map(|key| format!("{} = ?", key.name)).collect();
    let filter =
        if conditions.is_empty() { String::new() } else { format!(" WHERE {}", conditions.join(" AND ")) };
    Some(EntityStatements {
        update: format!("UPDATE {} SET {} = ?{filter}", entity.name, entity.last_time),
        insert,
    })
}
