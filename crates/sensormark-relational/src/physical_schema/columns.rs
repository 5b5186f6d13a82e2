//! The columns of a table of readings, by layout.

use crate::column_type::ColumnType;
use crate::dialect::Dialect;
use crate::table::{Column, Content, SECOND_NS};
use sensormark_store::{Encoding, Field, FieldType, Index, Layout, Shape, Table, TagPlacement, TimeKey};

/// `wanted`, with underscores at its end until nobody else has the name.
pub(super) fn free_name(wanted: &str, taken: impl Fn(&str) -> bool) -> String {
    let mut name = wanted.to_owned();
    while taken(&name) {
        name.push('_');
    }
    name
}

/// The quoted name of a column of ours, which no tag and field has.
pub(super) fn own_column(dialect: &dyn Dialect, table: &Table, wanted: &str) -> String {
    dialect.quote(&free_name(wanted, |name| table.field(name).is_some() || table.tag(name).is_some()))
}

/// The columns that say which series a reading is of, all tags included.
pub(super) fn key_columns(dialect: &dyn Dialect, table: &Table, own_tags: bool) -> Vec<Column> {
    if own_tags {
        let name = own_column(dialect, table, "series");
        return vec![filled(name, ColumnType::I32, Content::SeriesNumber)];
    }
    table
        .tags
        .iter()
        .enumerate()
        .map(|(tag, description)| {
            let kind = ColumnType::of_tag(&table.series.columns()[tag]);
            filled(dialect.quote(&description.name), kind, Content::Tag(tag))
        })
        .collect()
}

/// Appends the columns of time and values.
pub(super) fn content_columns(
    dialect: &dyn Dialect,
    table: &Table,
    layout: &Layout,
    columns: &mut Vec<Column>,
) {
    let names = dialect.names();
    let time = |columns: &mut Vec<Column>| {
        let kind = match layout.time {
            TimeKey::Nanoseconds => ColumnType::I64,
            TimeKey::Native => ColumnType::Timestamp,
        };
        let name = own_column(dialect, table, names.time);
        columns.push(filled(name, kind, Content::Time));
        if let (Index::Clustered, Some(copy)) = (layout.index, names.copy) {
            let name = own_column(dialect, table, copy);
            columns.push(filled(name, ColumnType::I64, Content::Copy));
        }
    };
    match layout.shape {
        Shape::RowPerField => {
            time(columns);
            field_columns(dialect, table, columns);
        }
        Shape::RecordPerSpan { span_ns, encoding } => {
            record_columns(dialect, table, span_ns, encoding, columns);
        }
        _ => {
            time(columns);
            columns.extend(table.fields.iter().enumerate().map(|(number, field)| Column {
                nullable: field.nullable,
                ..filled(dialect.quote(&field.name), ColumnType::of_field(field.kind), Content::Field(number))
            }));
        }
    }
}

/// A column without nulls.
fn filled(name: String, kind: ColumnType, content: Content) -> Column {
    Column { name, kind, content, nullable: false }
}

fn field_columns(dialect: &dyn Dialect, table: &Table, columns: &mut Vec<Column>) {
    let names = dialect.names();
    let own = |wanted: &str| own_column(dialect, table, wanted);
    columns.push(filled(own(names.field), ColumnType::I16, Content::FieldNumber));
    let kinds = value_kinds(&table.fields);
    for &kind in &kinds {
        let ending = match (kinds.len(), kind) {
            (1, _) => "",
            (_, FieldType::Bool) => "_boolean",
            (_, FieldType::I64) => "_bigint",
            (_, FieldType::U16) => "_integer",
            (_, FieldType::F64) => "_double",
            (_, FieldType::Text) => "_text",
        };
        columns.push(Column {
            nullable: kinds.len() > 1,
            ..filled(
                own(&format!("{}{ending}", names.value)),
                ColumnType::of_field(kind),
                Content::Value(kind),
            )
        });
    }
}

fn record_columns(
    dialect: &dyn Dialect,
    table: &Table,
    span_ns: i64,
    encoding: Encoding,
    columns: &mut Vec<Column>,
) {
    let names = dialect.names();
    let own = |wanted: &str| own_column(dialect, table, wanted);
    let span = if span_ns == SECOND_NS { names.second } else { names.span };
    columns.push(filled(own(span), ColumnType::I64, Content::Span));
    columns.push(filled(own(names.size), ColumnType::I32, Content::Size));
    let kind = match encoding {
        Encoding::BinaryJson => ColumnType::BinaryJson,
        Encoding::Blob => ColumnType::Bytes,
        Encoding::Arrays => {
            let kind = ColumnType::of_offset(span_ns).array();
            columns.push(filled(own(names.offsets), kind, Content::Offsets));
            columns.extend(table.fields.iter().enumerate().map(|(number, field)| {
                filled(
                    dialect.quote(&field.name),
                    ColumnType::of_field(field.kind).array(),
                    Content::FieldArray(number),
                )
            }));
            return;
        }
        _ => ColumnType::Json,
    };
    columns.push(filled(own(names.document), kind, Content::Document));
}

/// The different types of the fields, each once, in their order.
fn value_kinds(fields: &[Field]) -> Vec<FieldType> {
    let mut kinds: Vec<FieldType> = Vec::new();
    for field in fields {
        if !kinds.contains(&field.kind) {
            kinds.push(field.kind);
        }
    }
    kinds
}

/// How many columns a table of readings has.
pub fn column_count(dialect: &dyn Dialect, layout: &Layout, table: &Table) -> usize {
    let keys = if layout.tags == TagPlacement::OwnTable { table.tags.len().min(1) } else { table.tags.len() };
    let mut columns = Vec::new();
    content_columns(dialect, table, layout, &mut columns);
    keys + columns.len()
}
