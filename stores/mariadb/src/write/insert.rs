//! The statements that write, made once for each table of a model.
//!
//! Text alone; what is bound to them is made in [`super::rows`].

use crate::schema::ddl::joined;
use crate::schema::{Content, SumsModel, TableModel, quoted};
use sensormark_store::{FieldType, Table};

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
#[derive(Debug, Default)]
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
    pub(crate) insert: Insert,
}

impl Insert {
    fn new(table: &str, columns: &[String], tail: String) -> Self {
        let head = format!("INSERT INTO {table} ({}) VALUES ", columns.join(", "));
        let row = format!("({})", vec!["?"; columns.len()].join(","));
        Self {
            one: format!("{head}{row}{tail}"),
            head,
            row,
            tail,
        }
    }
}

impl Inserts {
    /// The statements for a table.
    pub(crate) fn new(table: &Table, described: &TableModel) -> Self {
        let columns = reading_columns(table, described);
        let text = table
            .fields
            .iter()
            .any(|field| field.kind == FieldType::Text);
        let character_set = if text
            || described
                .keys
                .iter()
                .any(|key| key.kind.starts_with("VARCHAR"))
        {
            "utf8mb4"
        } else {
            "binary"
        };
        Self {
            load: format!(
                "LOAD DATA LOCAL INFILE 'batch' INTO TABLE {} CHARACTER SET {character_set} ({})",
                described.name,
                columns.join(", ")
            ),
            readings: Insert::new(&described.name, &columns, String::new()),
            sums: described
                .sums
                .as_ref()
                .map(|sums| sums_insert(described, sums)),
            entity: entity_statements(table, described),
        }
    }
}

/// The columns of a row of the table of readings, in its order.
fn reading_columns(table: &Table, described: &TableModel) -> Vec<String> {
    let mut columns: Vec<String> = described.keys.iter().map(|key| key.name.clone()).collect();
    match &described.content {
        Content::Readings { time } => {
            columns.push(time.clone());
            columns.extend(table.fields.iter().map(|field| quoted(&field.name)));
        }
        Content::Fields {
            second,
            nanosecond,
            number,
            measurement,
        } => columns.extend([second, nanosecond, number, measurement].map(Clone::clone)),
        Content::Records {
            span,
            size,
            document,
            ..
        } => columns.extend([span, size, document].map(Clone::clone)),
    }
    columns
}

fn sums_insert(described: &TableModel, sums: &SumsModel) -> Insert {
    let mut columns: Vec<String> = described
        .identifying()
        .map(|key| key.name.clone())
        .collect();
    columns.extend([sums.period.clone(), sums.day.clone()]);
    let mut updates = Vec::new();
    for field in sums.fields.iter().flatten() {
        let (count, sum, min, max) = (&field.count, &field.sum, &field.min, &field.max);
        columns.extend([count, sum, min, max].map(Clone::clone));
        updates.push(format!("{count} = {count} + VALUES({count})"));
        // A period may lack a field so far, and an update may lack it too.
        for (column, combined) in [
            (sum, format!("{sum} + VALUES({sum})")),
            (min, format!("LEAST({min}, VALUES({min}))")),
            (max, format!("GREATEST({max}, VALUES({max}))")),
        ] {
            updates.push(format!(
                "{column} = COALESCE({combined}, {column}, VALUES({column}))"
            ));
        }
    }
    let tail = if updates.is_empty() {
        format!(" ON DUPLICATE KEY UPDATE {0} = {0}", sums.day)
    } else {
        format!(" ON DUPLICATE KEY UPDATE {}", updates.join(", "))
    };
    Insert::new(&sums.name, &columns, tail)
}

fn entity_statements(table: &Table, described: &TableModel) -> Option<EntityStatements> {
    let (entity, model) = table.entity.as_ref().zip(described.entity.as_ref())?;
    let last = &model.last_time;
    let key = joined_condition(described);
    let mut columns: Vec<String> = described.keys.iter().map(|key| key.name.clone()).collect();
    columns.extend(entity.columns.iter().map(|column| quoted(&column.name)));
    columns.push(last.clone());
    Some(EntityStatements {
        update: format!("UPDATE {} SET {last} = ?{key}", model.name),
        insert: Insert::new(
            &model.name,
            &columns,
            format!(" ON DUPLICATE KEY UPDATE {last} = VALUES({last})"),
        ),
    })
}

fn joined_condition(described: &TableModel) -> String {
    let conditions: Vec<String> = described
        .identifying()
        .map(|key| format!("{} = ?", key.name))
        .collect();
    if conditions.is_empty() {
        String::new()
    } else {
        format!(" WHERE {}", conditions.join(" AND "))
    }
}

/// The statement that reads back all rows of a table, and the columns that it gives.
pub(crate) fn read_back(table: &Table, described: &TableModel) -> String {
    let columns = joined(
        described.identifying().map(|key| key.name.clone()).chain(
            reading_columns(table, described)
                .into_iter()
                .skip(described.keys.len()),
        ),
    );
    format!("SELECT {columns} FROM {}", described.name)
}
