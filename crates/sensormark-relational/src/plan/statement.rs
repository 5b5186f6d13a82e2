//! What a plan is made of: statements, and what their rows hold.

use super::slot::Slot;
use crate::column_type::ColumnType;
use sensormark_store::{FieldSet, FieldType, Selection, Table, TimeKey};

/// One statement.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Statement {
    /// The text, with placeholders.
    pub text: String,
    /// What the placeholders stand for, in their order.
    pub slots: Vec<Slot>,
    /// The types of the slots.
    pub kinds: Vec<ColumnType>,
    /// What its rows are.
    pub form: Form,
}

/// What a statement's rows are made of, in the order of their columns.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Form {
    /// Readings: (keys,) time and these fields.
    Readings(FieldSet),
    /// Fields of readings: (keys,) time, number of the field, a value column for each of these types (one for all where there are none).
    FieldRows(FieldSet, Vec<FieldType>),
    /// Records: (keys,) number of the span, and the document or the arrays of offsets and these fields.
    Records(FieldSet, RecordForm),
    /// Times of readings that are then asked for as points with these fields: (keys,) time.
    Times(FieldSet),
    /// A time and a value of this type.
    Moment(FieldType),
    /// The same and the keys, row by row until another time (or value) comes: of the first ones, the lowest series' counts.
    Ties(FieldType),
    /// Keys alone.
    Series,
    /// Aggregates; the parts of the group that are there, then the values.
    Groups(GroupForm),
}

/// How a record comes back.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RecordForm {
    /// As a document.
    Document,
    /// As arrays.
    Arrays,
}

/// What the rows of an aggregate hold before the values.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GroupForm {
    /// The series' keys.
    pub by_series: bool,
    /// The value of this tag.
    pub by_tag: Option<usize>,
    /// The start of the window; as the database's own time, or in ns.
    pub window: Option<TimeKey>,
    /// Whether it is day.
    pub by_day_part: bool,
    /// The values: the number of the aggregate, and the value's type.
    pub values: Vec<(usize, FieldType)>,
}

/// Whether the rows of an answer say which series they are of: not where the question is about one.
pub fn with_keys(series: &Selection, description: &Table) -> bool {
    !matches!(series, Selection::One(_)) && !description.tags.is_empty()
}
