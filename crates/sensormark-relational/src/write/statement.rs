//! The statements that write, as text and types of parameters.

use crate::column_type::ColumnType;
use crate::ddl::entity_key;
use crate::dialect::{Placeholder, SumPart};
use crate::physical_schema::PhysicalSchema;
use crate::table::{Column, Content, PhysicalTable, joined};
use sensormark_store::Table;

/// A statement's text and the types of its parameters.
pub type Text = (String, Vec<ColumnType>);

/// The parameter with this number, from 1 on.
pub fn parameter(physical: &PhysicalSchema, number: usize) -> String {
    match physical.dialect.placeholder() {
        Placeholder::Numbered(sign) => format!("{sign}{number}"),
        Placeholder::Positional => "?".to_owned(),
    }
}

/// The columns of readings that take a parameter: all but the number of a repeated key.
pub fn written(table: &PhysicalTable) -> impl Iterator<Item = &Column> {
    let columns = table.columns.iter();
    columns.filter(|column| column.content != Content::Copy)
}

/// What stands before the rows of an INSERT of readings.
pub fn insert_head(table: &PhysicalTable) -> String {
    format!("INSERT INTO {} ({}) VALUES ", table.name, table.column_list())
}

/// One row of an INSERT of readings, whose parameters start with this number; `copy` tells repeated writes of one key apart.
pub fn insert_row(physical: &PhysicalSchema, table: &PhysicalTable, first: usize, copy: &str) -> String {
    let mut number = first;
    let values = table.columns.iter().map(|column| {
        if column.content == Content::Copy {
            return copy.to_owned();
        }
        let value = parameter(physical, number);
        number += 1;
        match (column.content, physical.span()) {
            (Content::Document, Some((_, encoding))) => physical.dialect.record_parameter(encoding, value),
            _ => value,
        }
    });
    format!("({})", joined(values))
}

/// One INSERT of `rows` rows, all values parameters.
pub fn insert(physical: &PhysicalSchema, table: &PhysicalTable, rows: usize) -> Text {
    let kinds: Vec<ColumnType> = written(table).map(|column| column.kind).collect();
    let count = kinds.len();
    let values = joined((0..rows).map(|row| insert_row(physical, table, row * count + 1, "0")));
    (format!("{}{values}", insert_head(table)), (0..rows).flat_map(|_| kinds.iter().copied()).collect())
}

/// Inserts one row into the table of tags, where there is one: the series' number and its tags.
pub fn insert_tags(physical: &PhysicalSchema, table: &PhysicalTable) -> Option<String> {
    let name = table.tags.as_ref()?;
    let mut names = vec![table.column(Content::SeriesNumber).to_owned()];
    names.extend(table.tag_names.iter().cloned());
    let values = joined((1..=names.len()).map(|number| parameter(physical, number)));
    Some(format!("INSERT INTO {name} ({}) VALUES ({values})", names.join(", ")))
}

/// Inserts an entity or updates its last time. Parameters from `first` on: the series' key, its own columns, the last time.
pub fn entity(
    physical: &PhysicalSchema,
    table: &PhysicalTable,
    description: &Table,
    first: usize,
) -> Option<Text> {
    let (entity, shape) = (table.entity.as_ref()?, description.entity.as_ref()?);
    let mut names: Vec<String> = Vec::new();
    let mut kinds = Vec::new();
    for column in table.key_columns() {
        names.push(column.name.clone());
        kinds.push(column.kind);
    }
    for (name, column) in entity.columns.iter().zip(&shape.columns) {
        names.push(name.clone());
        kinds.push(ColumnType::of_field(column.kind));
    }
    names.push(entity.last_time.clone());
    kinds.push(physical.time_type());
    let values = joined((first..first + names.len()).map(|number| parameter(physical, number)));
    let (dialect, last) = (physical.dialect, &entity.last_time);
    let update = format!("{last} = {}", dialect.incoming(last));
    let text = format!(
        "INSERT INTO {} ({}) VALUES ({values}) {}",
        dialect.upsert_target(&entity.name, "e"),
        names.join(", "),
        dialect.on_conflict(&entity_key(physical, table), &[update]),
    );
    Some((text, kinds))
}

/// The columns of a row of sums.
pub fn sum_columns(table: &PhysicalTable) -> Vec<String> {
    let columns = table.series_columns();
    let mut names: Vec<String> = columns.map(|column| column.name.clone()).collect();
    if let Some(sums) = &table.sums {
        names.extend([sums.period.clone(), sums.day.clone()]);
        for field in &sums.fields {
            names.extend([&field.count, &field.sum, &field.min, &field.max].map(Clone::clone));
        }
    }
    names
}

/// Inserts rows of sums from this source (VALUES, or a query), or adds them to those that are there.
pub fn add_to_sums(physical: &PhysicalSchema, table: &PhysicalTable, source: &str) -> Option<String> {
    let (sums, dialect) = (table.sums.as_ref()?, physical.dialect);
    let mut key = table.key_names();
    key.extend([sums.period.clone(), sums.day.clone()]);
    let mut updates = Vec::new();
    for field in &sums.fields {
        for (part, column) in [
            (SumPart::Count, &field.count),
            (SumPart::Sum, &field.sum),
            (SumPart::Min, &field.min),
            (SumPart::Max, &field.max),
        ] {
            let sum = dialect.add_up(part, column, field.nullable);
            updates.push(format!("{column} = {sum}"));
        }
    }
    Some(format!(
        "INSERT INTO {} ({}) {source} {}",
        dialect.upsert_target(&sums.name, "s"),
        sum_columns(table).join(", "),
        dialect.on_conflict(&key, &updates),
    ))
}
