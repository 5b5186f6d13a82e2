//! The statements that make a database's tables, indexes and rows of tags.

use super::{
    Column, Content, Model, OWNER_TABLE, TableModel, field_type, joined, quoted, tag_type,
};
use sensormark_store::{FieldType, Index, Schema, Table};
use tokio_postgres::types::Type;

/// The owner's table; its one row is inserted with the mark as a parameter.
pub(crate) fn owner_table() -> String {
    format!("CREATE TABLE \"{OWNER_TABLE}\" (mark text NOT NULL)")
}

/// All tables and indexes.
pub(crate) fn statements(model: &Model) -> Vec<String> {
    let mut statements = Vec::new();
    for (table, description) in model.tables.iter().zip(&model.schema.tables) {
        // Before the readings, which may refer to it.
        statements.extend(entity_table(model, table, description));
        statements.push(readings_table(model, table));
        statements.extend(index(model, table));
        if let Some(name) = &table.tags {
            statements.extend(tags_table(name, table, description));
        }
        if let Some(name) = &table.sums {
            statements.push(sums_table(name, table, description));
        }
    }
    statements
}

/// The names of all tables that [`statements`] makes, without quotes, and of the owner's.
pub(crate) fn table_names(model: &Model) -> Vec<String> {
    let mut names = vec![OWNER_TABLE.to_owned()];
    for table in &model.tables {
        let more = [Some(&table.name), table.tags.as_ref(), table.sums.as_ref()];
        let entity = table.entity.as_ref().map(|entity| &entity.name);
        names.extend(
            more.into_iter()
                .flatten()
                .chain(entity)
                .map(|name| name.trim_matches('"').to_owned()),
        );
    }
    names
}

fn definition(column: &Column) -> String {
    let null = if column.nullable { "" } else { " NOT NULL" };
    format!("{} {}{null}", column.name, type_name(&column.kind))
}

/// A type's name in statements.
pub(crate) fn type_name(kind: &Type) -> String {
    kind.name()
        .strip_prefix('_')
        .map_or_else(|| kind.name().to_owned(), |element| format!("{element}[]"))
}

fn readings_table(model: &Model, table: &TableModel) -> String {
    let columns = table.columns.iter().map(definition);
    let columns = joined(columns.chain(foreign_key(model, table)));
    format!("CREATE TABLE {} ({columns})", table.name)
}

/// What holds readings to their entity, where the layout has it.
fn foreign_key(model: &Model, table: &TableModel) -> Option<String> {
    let entity = table.entity.as_ref()?;
    if !model.layout.foreign_key || table.keys.is_empty() {
        return None;
    }
    let key = entity_key(table);
    Some(format!(
        "FOREIGN KEY ({key}) REFERENCES {} ({key})",
        entity.name
    ))
}

fn index(model: &Model, table: &TableModel) -> Option<String> {
    let keys = table.key_columns().map(|column| column.name.clone());
    let columns = match model.layout.index {
        Index::None | Index::Clustered | Index::FirstTagTime => return None,
        Index::Series if table.keys.is_empty() => return None,
        Index::Series => joined(keys),
        Index::SeriesTime => joined(keys.chain([table.time.clone()])),
    };
    Some(format!("CREATE INDEX ON {} ({columns})", table.name))
}

fn tags_table(name: &str, table: &TableModel, description: &Table) -> Vec<String> {
    let series = table.column(Content::SeriesNumber);
    let tags = description.tags.iter().zip(description.series.columns());
    let columns = joined(tags.map(|(tag, values)| {
        format!(
            "{} {} NOT NULL",
            quoted(&tag.name),
            type_name(&tag_type(values))
        )
    }));
    let mut statements = vec![format!(
        "CREATE TABLE {name} ({series} int4 PRIMARY KEY, {columns})"
    )];
    for tag in &description.tags {
        statements.push(format!("CREATE INDEX ON {name} ({})", quoted(&tag.name)));
    }
    statements
}

/// The fields that have sums: the numeric ones.
pub(crate) fn summed_fields(description: &Table) -> impl Iterator<Item = (usize, &str, FieldType)> {
    description
        .fields
        .iter()
        .enumerate()
        .filter(|(_, field)| !matches!(field.kind, FieldType::Bool | FieldType::Text))
        .map(|(number, field)| (number, field.name.as_str(), field.kind))
}

/// The type of sums of a field's values: exact for integers.
pub(crate) fn sum_type(kind: FieldType) -> Type {
    match kind {
        FieldType::F64 => Type::FLOAT8,
        _ => Type::INT8,
    }
}

fn sums_table(name: &str, table: &TableModel, description: &Table) -> String {
    let keys: Vec<&Column> = table.key_columns().collect();
    let mut columns: Vec<String> = keys.iter().map(|column| definition(column)).collect();
    columns.push("\".period\" int8 NOT NULL".to_owned());
    columns.push("\".day\" bool NOT NULL".to_owned());
    for (_, field, kind) in summed_fields(description) {
        let (value, sum) = (type_name(&field_type(kind)), type_name(&sum_type(kind)));
        columns.push(format!("\"{field}.count\" int8 NOT NULL"));
        columns.push(format!("\"{field}.sum\" {sum}"));
        columns.push(format!("\"{field}.min\" {value}"));
        columns.push(format!("\"{field}.max\" {value}"));
    }
    let key = joined(
        keys.iter()
            .map(|column| column.name.clone())
            .chain(["\".period\"".to_owned(), "\".day\"".to_owned()]),
    );
    format!(
        "CREATE TABLE {name} ({}, PRIMARY KEY ({key}))",
        columns.join(", ")
    )
}

fn entity_table(model: &Model, table: &TableModel, description: &Table) -> Option<String> {
    let (entity, shape) = (table.entity.as_ref()?, description.entity.as_ref()?);
    let mut columns: Vec<String> = table.key_columns().map(definition).collect();
    for column in &shape.columns {
        let null = if column.nullable { "" } else { " NOT NULL" };
        columns.push(format!(
            "{} {}{null}",
            quoted(&column.name),
            type_name(&field_type(column.kind))
        ));
    }
    columns.push(format!(
        "{} {} NOT NULL",
        entity.last_time,
        type_name(&model.time_type())
    ));
    if table.keys.is_empty() {
        columns.push("\".one\" bool NOT NULL DEFAULT true".to_owned());
    }
    columns.push(format!("PRIMARY KEY ({})", entity_key(table)));
    Some(format!(
        "CREATE TABLE {} ({})",
        entity.name,
        columns.join(", ")
    ))
}

/// What tells entities apart: the series' keys, or a constant where there is one series.
pub(crate) fn entity_key(table: &TableModel) -> String {
    if table.keys.is_empty() {
        return "\".one\"".to_owned();
    }
    joined(table.key_columns().map(|column| column.name.clone()))
}

/// The statement that fills a table of tags, one array a column.
pub(crate) fn fill_tags(name: &str, table: &TableModel, description: &Table) -> String {
    let series = table.column(Content::SeriesNumber);
    let names = joined(
        [series.to_owned()]
            .into_iter()
            .chain(description.tags.iter().map(|tag| quoted(&tag.name))),
    );
    let arrays = joined(
        ["$1::int4[]".to_owned()].into_iter().chain(
            description
                .series
                .columns()
                .iter()
                .enumerate()
                .map(|(tag, values)| format!("${}::{}[]", tag + 2, type_name(&tag_type(values)))),
        ),
    );
    format!("INSERT INTO {name} ({names}) SELECT * FROM unnest({arrays})")
}

/// Whether the schema has a table whose tags are more than one.
pub(crate) fn has_several_tags(schema: &Schema) -> bool {
    schema.tables.iter().any(|table| table.tags.len() > 1)
}
