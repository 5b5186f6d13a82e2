//! The columns of a table of readings, by layout, and the database's types for them.

use super::{free_name, quoted};
use sensormark_store::{
    Encoding, Field, FieldType, Layout, Shape, Table, TagColumn, TagPlacement, TimeKey,
};
use tokio_postgres::types::Type;

/// One column of a table of readings.
#[derive(Debug, Clone)]
pub(crate) struct Column {
    /// Its name, quoted.
    pub(crate) name: String,
    /// Its type.
    pub(crate) kind: Type,
    /// What it holds.
    pub(crate) content: Content,
    /// Whether it may be null.
    pub(crate) nullable: bool,
}

/// What a column holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Content {
    /// The number of the series, which the table of tags explains.
    SeriesNumber,
    /// The value of this tag.
    Tag(usize),
    /// The reading's time.
    Time,
    /// The value of this field.
    Field(usize),
    /// The number of a field, in rows of one field.
    FieldNumber,
    /// The value of a field of this type, in rows of one field.
    Value(FieldType),
    /// The number of a span of time: its start divided by its length.
    Span,
    /// How many readings a record has.
    Size,
    /// All readings of a record.
    Document,
    /// Times of a record's readings, in ns since the start of its span.
    Offsets,
    /// One field's values of a record's readings.
    FieldArray(usize),
}
/// The database's type for a field's values.
pub(crate) const fn field_type(kind: FieldType) -> Type {
    match kind {
        FieldType::Bool => Type::BOOL,
        FieldType::I64 => Type::INT8,
        FieldType::U16 => Type::INT4,
        FieldType::F64 => Type::FLOAT8,
        FieldType::Text => Type::TEXT,
    }
}

/// The database's type for arrays of a field's values.
pub(crate) const fn array_type(kind: FieldType) -> Type {
    match kind {
        FieldType::Bool => Type::BOOL_ARRAY,
        FieldType::I64 => Type::INT8_ARRAY,
        FieldType::U16 => Type::INT4_ARRAY,
        FieldType::F64 => Type::FLOAT8_ARRAY,
        FieldType::Text => Type::TEXT_ARRAY,
    }
}
fn own_column(table: &Table, wanted: &str) -> String {
    quoted(&free_name(wanted, |name| {
        table.field(name).is_some() || table.tag(name).is_some()
    }))
}

/// The columns that say which series a reading is of, all tags included.
pub(super) fn key_columns(table: &Table, own_tags: bool) -> Vec<Column> {
    if own_tags {
        let name = own_column(table, "series");
        return vec![filled(name, Type::INT4, Content::SeriesNumber)];
    }
    table
        .tags
        .iter()
        .enumerate()
        .map(|(tag, description)| {
            let kind = tag_type(&table.series.columns()[tag]);
            filled(quoted(&description.name), kind, Content::Tag(tag))
        })
        .collect()
}

/// The database's type for a tag's values.
pub(crate) const fn tag_type(values: &TagColumn) -> Type {
    match values {
        TagColumn::Text(_) => Type::TEXT,
        TagColumn::Integer(_) => Type::INT8,
    }
}

/// Appends the columns of time and values.
pub(super) fn content_columns(table: &Table, layout: &Layout, columns: &mut Vec<Column>) {
    let time = |columns: &mut Vec<Column>| {
        let kind = match layout.time {
            TimeKey::Nanoseconds => Type::INT8,
            TimeKey::Native => Type::TIMESTAMPTZ,
        };
        columns.push(filled(own_column(table, "time"), kind, Content::Time));
    };
    match layout.shape {
        Shape::RowPerField => {
            time(columns);
            field_columns(table, columns);
        }
        Shape::RecordPerSpan { span_ns, encoding } => {
            record_columns(table, span_ns, encoding, columns);
        }
        _ => {
            time(columns);
            columns.extend(
                table
                    .fields
                    .iter()
                    .enumerate()
                    .map(|(number, field)| Column {
                        nullable: field.nullable,
                        ..filled(
                            quoted(&field.name),
                            field_type(field.kind),
                            Content::Field(number),
                        )
                    }),
            );
        }
    }
}

/// A column without nulls.
fn filled(name: String, kind: Type, content: Content) -> Column {
    Column {
        name,
        kind,
        content,
        nullable: false,
    }
}

fn field_columns(table: &Table, columns: &mut Vec<Column>) {
    columns.push(filled(
        own_column(table, "field"),
        Type::INT2,
        Content::FieldNumber,
    ));
    let kinds = value_kinds(&table.fields);
    for &kind in &kinds {
        let name = match (kinds.len(), kind) {
            (1, _) => "value",
            (_, FieldType::Bool) => "value_boolean",
            (_, FieldType::I64) => "value_bigint",
            (_, FieldType::U16) => "value_integer",
            (_, FieldType::F64) => "value_double",
            (_, FieldType::Text) => "value_text",
        };
        columns.push(Column {
            nullable: kinds.len() > 1,
            ..filled(
                own_column(table, name),
                field_type(kind),
                Content::Value(kind),
            )
        });
    }
}

fn record_columns(table: &Table, span_ns: i64, encoding: Encoding, columns: &mut Vec<Column>) {
    let own = |wanted: &str| own_column(table, wanted);
    columns.push(filled(own("span"), Type::INT8, Content::Span));
    columns.push(filled(own("size"), Type::INT4, Content::Size));
    match encoding {
        Encoding::BinaryJson => {
            columns.push(filled(own("readings"), Type::JSONB, Content::Document))
        }
        Encoding::Arrays => {
            columns.push(filled(
                own("ns"),
                offset_type(span_ns, true),
                Content::Offsets,
            ));
            columns.extend(table.fields.iter().enumerate().map(|(number, field)| {
                filled(
                    quoted(&field.name),
                    array_type(field.kind),
                    Content::FieldArray(number),
                )
            }));
        }
        _ => columns.push(filled(own("readings"), Type::JSON, Content::Document)),
    }
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

/// The type of times within a span (or of an array of them): as short as the span's length allows.
pub(crate) fn offset_type(span_ns: i64, array: bool) -> Type {
    match (i32::try_from(span_ns).is_ok(), array) {
        (true, false) => Type::INT4,
        (true, true) => Type::INT4_ARRAY,
        (false, false) => Type::INT8,
        (false, true) => Type::INT8_ARRAY,
    }
}

/// How many columns a table of readings has.
pub(crate) fn column_count(layout: &Layout, table: &Table) -> usize {
    let keys = if layout.tags == TagPlacement::OwnTable {
        table.tags.len().min(1)
    } else {
        table.tags.len()
    };
    let mut columns = Vec::new();
    content_columns(table, layout, &mut columns);
    keys + columns.len()
}
