//! The statements that make the tables and indexes of a design.

use crate::design::{Design, EntityDesign, NamedColumns, SeriesKey, SumsDesign, TableDesign};
use sensormark_store::{Encoding, Entity, FieldType, Index, Layout, Shape, Table, TagColumn};
use std::fmt::Write as _;

impl Design {
    /// The statements that make all tables, in order.
    pub fn statements(&self) -> Vec<String> {
        let mut statements = Vec::new();
        for (table, design) in self.schema.tables.iter().zip(&self.tables) {
            design.create(table, &self.layout, &mut statements);
        }
        statements
    }
}

/// SQLite's type for a field.
const fn sql_type(kind: FieldType) -> &'static str {
    match kind {
        FieldType::Bool | FieldType::I64 | FieldType::U16 => "INTEGER",
        FieldType::F64 => "REAL",
        FieldType::Text => "TEXT",
    }
}

fn tag_type(column: &TagColumn) -> &'static str {
    match column {
        TagColumn::Text(_) => "TEXT",
        TagColumn::Integer(_) => "INTEGER",
    }
}

impl TableDesign {
    fn create(&self, table: &Table, layout: &Layout, statements: &mut Vec<String>) {
        if let Some(tags) = &self.tags {
            create_tags(table, tags, statements);
        }
        let mut columns = key_columns(&self.key, table);
        columns.push(format!("{} INTEGER NOT NULL", self.time));
        let mut keys = self.key.identifying();
        keys.push(&self.time);
        if let Some(copy) = &self.copy {
            columns.push(format!("{copy} INTEGER NOT NULL"));
            keys.push(copy);
        }
        columns.extend(self.value_columns(table, layout));
        let keys = keys.join(", ");
        let mut options = "STRICT";
        if layout.index == Index::Clustered {
            columns.push(format!("PRIMARY KEY ({keys})"));
            options = "STRICT, WITHOUT ROWID";
        }
        statements.push(format!(
            "CREATE TABLE {} ({}) {options}",
            self.readings,
            columns.join(", ")
        ));
        let indexed = match layout.index {
            Index::SeriesTime => keys,
            Index::Series => self.key.identifying().join(", "),
            Index::None | Index::Clustered | Index::FirstTagTime => String::new(),
        };
        if !indexed.is_empty() {
            statements.push(format!(
                "CREATE INDEX \"{} by series and time\" ON {} ({indexed})",
                self.readings.trim_matches('"'),
                self.readings
            ));
        }
        if let Some(sums) = &self.sums {
            statements.push(self.create_sums(table, sums));
        }
        if let (Some(entity), Some(logical)) = (&self.entity, &table.entity) {
            statements.push(create_entity(table, entity, logical));
        }
    }

    fn value_columns(&self, table: &Table, layout: &Layout) -> Vec<String> {
        let values = &self.values;
        match layout.shape {
            Shape::RecordPerSpan { encoding, .. } => vec![
                format!("{} INTEGER NOT NULL", values[0]),
                match encoding {
                    Encoding::Json => format!("{} TEXT NOT NULL", values[1]),
                    _ => format!("{} BLOB NOT NULL", values[1]),
                },
            ],
            Shape::RowPerField => vec![
                format!("{} INTEGER NOT NULL", values[0]),
                format!("{} ANY", values[1]),
            ],
            _ => table
                .fields
                .iter()
                .zip(values)
                .map(|(field, name)| {
                    let null = if field.nullable { "" } else { " NOT NULL" };
                    format!("{name} {}{null}", sql_type(field.kind))
                })
                .collect(),
        }
    }

    fn create_sums(&self, table: &Table, sums: &SumsDesign) -> String {
        let mut columns = key_columns(&self.key, table);
        columns.push(format!("{} INTEGER NOT NULL", sums.period));
        columns.push(format!("{} INTEGER NOT NULL", sums.day));
        for (field, [count, sum, min, max]) in table.fields.iter().zip(&sums.fields) {
            columns.push(format!("{count} INTEGER NOT NULL"));
            if field.kind != FieldType::Text {
                let kind = sql_type(field.kind);
                columns.push(format!("{sum} {kind} NOT NULL, {min} {kind}, {max} {kind}"));
            }
        }
        let mut keys = self.key.identifying();
        keys.extend([sums.period.as_str(), sums.day.as_str()]);
        format!(
            "CREATE TABLE {} ({}, PRIMARY KEY ({})) STRICT, WITHOUT ROWID",
            sums.table,
            columns.join(", "),
            keys.join(", ")
        )
    }
}

fn key_columns(key: &SeriesKey, table: &Table) -> Vec<String> {
    match key {
        SeriesKey::Only => Vec::new(),
        SeriesKey::Number(column) => vec![format!("{column} INTEGER NOT NULL")],
        SeriesKey::Tags { columns, .. } => columns
            .iter()
            .zip(table.series.columns())
            .map(|(name, values)| format!("{name} {} NOT NULL", tag_type(values)))
            .collect(),
    }
}

fn create_tags(table: &Table, tags: &NamedColumns, statements: &mut Vec<String>) {
    let mut columns = "\"series\" INTEGER PRIMARY KEY".to_owned();
    for (name, values) in tags.columns.iter().zip(table.series.columns()) {
        write!(columns, ", {name} {} NOT NULL", tag_type(values)).expect("strings take everything");
    }
    statements.push(format!("CREATE TABLE {} ({columns}) STRICT", tags.table));
    let bare = tags.table.trim_matches('"');
    for name in &tags.columns {
        statements.push(format!(
            "CREATE INDEX \"{bare} by {}\" ON {} ({name})",
            name.trim_matches('"'),
            tags.table
        ));
    }
}

fn create_entity(table: &Table, entity: &EntityDesign, logical: &Entity) -> String {
    let mut columns = key_columns(&entity.key, table);
    for (name, column) in entity.columns.iter().zip(&logical.columns) {
        let null = if column.nullable { "" } else { " NOT NULL" };
        columns.push(format!("{name} {}{null}", sql_type(column.kind)));
    }
    columns.push(format!("{} INTEGER NOT NULL", entity.last_time));
    format!(
        "CREATE TABLE {} ({}, PRIMARY KEY ({})) STRICT",
        entity.table,
        columns.join(", "),
        entity.key.identifying().join(", ")
    )
}
