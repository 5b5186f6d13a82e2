//! One table of a schema as a database keeps it: its names, its columns and what each holds.

use crate::cell::Cell;
use crate::column_type::ColumnType;
use sensormark_kit::SeriesMap;
use sensormark_store::{FieldType, Function, Table};

/// Nanoseconds in a second.
pub const SECOND_NS: i64 = 1_000_000_000;

/// One table of the schema, as the database keeps it. Names are quoted.
#[derive(Debug)]
pub struct PhysicalTable {
    /// Its number in the schema.
    pub number: usize,
    /// The table of readings (or records).
    pub name: String,
    /// The names of its tags.
    pub tag_names: Vec<String>,
    /// The names of its fields.
    pub field_names: Vec<String>,
    /// The table of tags, where they have one of their own.
    pub tags: Option<String>,
    /// The table of sums, in layouts with a summary.
    pub sums: Option<PhysicalSums>,
    /// The table of entities.
    pub entity: Option<PhysicalEntity>,
    /// The columns of the table of readings, in its order.
    pub columns: Vec<Column>,
    /// Which of them identify the series.
    pub keys: Vec<usize>,
    /// The column of time (or of the span's number).
    pub time: String,
    /// From identifying values to series numbers.
    pub series: SeriesMap,
    /// The most readings of one statement.
    pub readings_per_statement: usize,
}

/// The table of entities.
#[derive(Debug)]
pub struct PhysicalEntity {
    /// Its name, quoted.
    pub name: String,
    /// The names of its columns, quoted.
    pub columns: Vec<String>,
    /// The column of the last reading's time, quoted.
    pub last_time: String,
}

/// The table of sums: a row for each series, period and part of the day.
#[derive(Debug)]
pub struct PhysicalSums {
    /// Its name, quoted.
    pub name: String,
    /// The column of the period's start in ns, quoted.
    pub period: String,
    /// The column that says whether it is day, quoted.
    pub day: String,
    /// The columns of the fields that have sums: the numeric ones.
    pub fields: Vec<SumColumns>,
}

/// The columns of one field's sums, quoted.
#[derive(Debug)]
pub struct SumColumns {
    /// The field's number.
    pub field: usize,
    /// The field's type.
    pub kind: FieldType,
    /// Whether readings may lack the field.
    pub nullable: bool,
    /// How many readings have the field.
    pub count: String,
    /// Sum.
    pub sum: String,
    /// Smallest value.
    pub min: String,
    /// Largest value.
    pub max: String,
}

impl SumColumns {
    /// Count, minimum or maximum of all rows of sums, under alias `r`; their sum for another function.
    pub fn total(&self, function: Function) -> String {
        match function {
            Function::Count => format!("sum(r.{})", self.count),
            Function::Min => format!("min(r.{})", self.min),
            Function::Max => format!("max(r.{})", self.max),
            _ => format!("sum(r.{})", self.sum),
        }
    }
}

/// One column of a table of readings.
#[derive(Debug, Clone)]
pub struct Column {
    /// Its name, quoted.
    pub name: String,
    /// Its type.
    pub kind: ColumnType,
    /// What it holds.
    pub content: Content,
    /// Whether it may be null.
    pub nullable: bool,
}

/// What a column holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Content {
    /// The number of the series, which the table of tags explains.
    SeriesNumber,
    /// The value of this tag.
    Tag(usize),
    /// The reading's time.
    Time,
    /// What tells repeated writes of one key apart, where the key is the table's order: 0 unless a key is repeated.
    Copy,
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

impl PhysicalTable {
    /// The columns that identify the series.
    pub fn key_columns(&self) -> impl Iterator<Item = &Column> {
        self.keys.iter().map(|&key| &self.columns[key])
    }

    /// The names of the columns that identify the series.
    pub fn key_names(&self) -> Vec<String> {
        self.key_columns().map(|column| column.name.clone()).collect()
    }

    /// The columns that every row of a series has alike: its number, or all its tags.
    pub fn series_columns(&self) -> impl Iterator<Item = &Column> {
        self.columns
            .iter()
            .take_while(|column| matches!(column.content, Content::SeriesNumber | Content::Tag(_)))
    }

    /// The names of all columns, with commas between them.
    pub fn column_list(&self) -> String {
        joined(self.columns.iter().map(|column| column.name.clone()))
    }

    /// The name of the column with this content, quoted.
    pub fn column(&self, content: Content) -> &str {
        self.columns.iter().find(|column| column.content == content).map_or("", |column| &column.name)
    }

    /// The name of the column for values of this type in rows of one field, quoted.
    pub fn value_column(&self, kind: FieldType) -> &str {
        self.column(Content::Value(kind))
    }

    /// A series' value of key column number `key`.
    pub fn key_cell<'a>(&self, description: &'a Table, key: usize, series: u32) -> Cell<'a> {
        series_cell(self.columns[self.keys[key]].content, description, series)
    }

    /// The sums of a field.
    pub fn sums_of(&self, field: usize) -> Option<&SumColumns> {
        let sums = self.sums.as_ref()?;
        sums.fields.iter().find(|columns| columns.field == field)
    }
}

/// Texts with commas between them.
pub fn joined(texts: impl Iterator<Item = String>) -> String {
    texts.collect::<Vec<_>>().join(", ")
}

/// What a row of a series has in a column of its series.
pub fn series_cell(content: Content, description: &Table, series: u32) -> Cell<'_> {
    match content {
        Content::Tag(tag) => Cell::tag(description, tag, series),
        _ => Cell::series(series),
    }
}
