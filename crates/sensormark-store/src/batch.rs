//! Readings in columns: the form in which they are generated, written, scanned and answered.
//!
//! A batch is built once and encoded straight into a driver's wire format; nothing is boxed or allocated a
//! value (text is one buffer with offsets). It knows no layout.

use crate::schema::{FieldType, Table, Value};
use crate::{FieldSet, TimeRange};
use serde::{Deserialize, Serialize};

/// Readings of one table: times, series and typed field columns of equal length.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Batch {
    /// The table's number in its schema.
    pub table: usize,
    /// Times in ns since the Unix epoch, one a reading.
    pub times_ns: Vec<i64>,
    /// Series numbers, one a reading.
    pub series: Vec<u32>,
    /// One column a field of the table, in the schema's order. In answers, fields that were not asked for have
    /// an empty column ([`Column::absent`]).
    pub columns: Vec<Column>,
}

/// The values of one field.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Column {
    /// The values; where `present` is false the entry is a placeholder (0, false, empty).
    pub values: Values,
    /// Which readings have this field, one entry a reading; `None` means all of them.
    pub present: Option<Vec<bool>>,
}

/// Typed values of a column.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub enum Values {
    /// Truth values.
    Bool(Vec<bool>),
    /// Signed 64-bit integers.
    I64(Vec<i64>),
    /// Unsigned 16-bit integers.
    U16(Vec<u16>),
    /// Floating point numbers.
    F64(Vec<f64>),
    /// Text.
    Text(TextColumn),
}

/// Text values, one after the other in one buffer.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TextColumn {
    bytes: String,
    ends: Vec<usize>,
}

impl TextColumn {
    /// Appends a value.
    pub fn push(&mut self, value: &str) {
        self.bytes.push_str(value);
        self.ends.push(self.bytes.len());
    }

    /// The value at `row`.
    ///
    /// # Panics
    /// When `row` is out of range.
    pub fn get(&self, row: usize) -> &str {
        let start = if row == 0 { 0 } else { self.ends[row - 1] };
        &self.bytes[start..self.ends[row]]
    }

    /// How many values there are.
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// Whether there is no value.
    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// Removes all values and keeps the memory.
    pub fn clear(&mut self) {
        self.bytes.clear();
        self.ends.clear();
    }
}

impl Values {
    /// An empty column of this type.
    pub fn new(kind: FieldType) -> Self {
        match kind {
            FieldType::Bool => Self::Bool(Vec::new()),
            FieldType::I64 => Self::I64(Vec::new()),
            FieldType::U16 => Self::U16(Vec::new()),
            FieldType::F64 => Self::F64(Vec::new()),
            FieldType::Text => Self::Text(TextColumn::default()),
        }
    }

    /// How many values there are.
    pub fn len(&self) -> usize {
        match self {
            Self::Bool(values) => values.len(),
            Self::I64(values) => values.len(),
            Self::U16(values) => values.len(),
            Self::F64(values) => values.len(),
            Self::Text(values) => values.len(),
        }
    }

    /// Whether there is no value.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Removes all values and keeps the memory.
    pub fn clear(&mut self) {
        match self {
            Self::Bool(values) => values.clear(),
            Self::I64(values) => values.clear(),
            Self::U16(values) => values.clear(),
            Self::F64(values) => values.clear(),
            Self::Text(values) => values.clear(),
        }
    }
}

impl Column {
    /// An empty column of this type in which every reading will have a value.
    pub fn new(kind: FieldType) -> Self {
        Self { values: Values::new(kind), present: None }
    }

    /// The column of a field that was not asked for.
    pub fn absent(kind: FieldType) -> Self {
        Self::new(kind)
    }

    /// Whether the reading at `row` has this field.
    pub fn has(&self, row: usize) -> bool {
        row < self.values.len() && self.present.as_ref().is_none_or(|present| present[row])
    }

    /// The value at `row`, [`Value::Null`] where the reading lacks the field or it was not asked for.
    pub fn value(&self, row: usize) -> Value {
        if !self.has(row) {
            return Value::Null;
        }
        match &self.values {
            Values::Bool(values) => Value::Bool(values[row]),
            Values::I64(values) => Value::I64(values[row]),
            Values::U16(values) => Value::I64(i64::from(values[row])),
            Values::F64(values) => Value::F64(values[row]),
            Values::Text(values) => Value::Text(values.get(row).to_owned()),
        }
    }

    /// The value at `row` as a number: truth values as 0 and 1, `None` for text and absent values.
    /// Integers over 2⁵³ lose digits; only thresholds and sketches use this.
    pub fn number(&self, row: usize) -> Option<f64> {
        if !self.has(row) {
            return None;
        }
        match &self.values {
            Values::Bool(values) => Some(f64::from(u8::from(values[row]))),
            Values::I64(values) => Some(values[row] as f64),
            Values::U16(values) => Some(f64::from(values[row])),
            Values::F64(values) => Some(values[row]),
            Values::Text(_) => None,
        }
    }

    /// Appends a value; [`Value::Null`] becomes an absent one.
    ///
    /// # Errors
    /// The value again, when it does not fit the column's type: nothing is converted that would lose digits.
    pub fn push(&mut self, value: Value) -> Result<(), Value> {
        let row = self.values.len();
        match (&mut self.values, value) {
            (Values::Bool(values), Value::Bool(value)) => values.push(value),
            (Values::I64(values), Value::I64(value)) => values.push(value),
            (Values::U16(values), Value::I64(value)) => {
                values.push(u16::try_from(value).map_err(|_| Value::I64(value))?)
            }
            (Values::F64(values), Value::F64(value)) => values.push(value),
            (Values::Text(values), Value::Text(value)) => values.push(&value),
            (_, Value::Null) => {
                self.push_null();
                return Ok(());
            }
            (_, value) => return Err(value),
        }
        if let Some(present) = &mut self.present {
            present.push(true);
        }
        debug_assert_eq!(self.values.len(), row + 1);
        Ok(())
    }

    /// Appends an absent value.
    pub fn push_null(&mut self) {
        let row = self.values.len();
        self.present.get_or_insert_with(|| vec![true; row]).push(false);
        match &mut self.values {
            Values::Bool(values) => values.push(false),
            Values::I64(values) => values.push(0),
            Values::U16(values) => values.push(0),
            Values::F64(values) => values.push(0.0),
            Values::Text(values) => values.push(""),
        }
    }
}

impl Batch {
    /// An empty batch for table number `table`, with one column a field.
    pub fn new(table: usize, description: &Table) -> Self {
        Self {
            table,
            times_ns: Vec::new(),
            series: Vec::new(),
            columns: description.fields.iter().map(|field| Column::new(field.kind)).collect(),
        }
    }

    /// How many readings there are.
    pub fn len(&self) -> usize {
        self.times_ns.len()
    }

    /// Whether there is no reading.
    pub fn is_empty(&self) -> bool {
        self.times_ns.is_empty()
    }

    /// Removes all readings and keeps the memory.
    pub fn clear(&mut self) {
        self.times_ns.clear();
        self.series.clear();
        for column in &mut self.columns {
            column.values.clear();
            column.present = None;
        }
    }

    /// Appends row number `row` of `other`, a batch of the same table.
    ///
    /// # Panics
    /// When the batches are of different tables.
    pub fn push_row(&mut self, other: &Self, row: usize) {
        assert_eq!(self.table, other.table, "rows move between batches of one table");
        self.times_ns.push(other.times_ns[row]);
        self.series.push(other.series[row]);
        for (column, source) in self.columns.iter_mut().zip(&other.columns) {
            if !source.values.is_empty() {
                column.push(source.value(row)).expect("columns of one table have the same types");
            }
        }
    }

    /// The readings with these fields alone.
    #[must_use]
    pub fn with_fields(mut self, fields: FieldSet) -> Self {
        for (number, column) in self.columns.iter_mut().enumerate() {
            if !fields.contains(number) {
                *column = Column::absent(column.values.kind());
            }
        }
        self
    }

    /// The wanted rows.
    #[must_use]
    pub fn kept(&self, is_wanted: impl Fn(usize) -> bool) -> Self {
        let mut kept = self.clone();
        kept.clear();
        for row in (0..self.len()).filter(|&row| is_wanted(row)) {
            kept.push_row(self, row);
        }
        kept
    }

    /// Rows in the order of (series, time), equal keys in their present order; returns self unchanged when it is sorted.
    #[must_use]
    pub fn sorted(self) -> Self {
        let key = |row: usize| (self.series[row], self.times_ns[row]);
        if (1..self.len()).all(|row| key(row - 1) <= key(row)) {
            return self;
        }
        let mut order: Vec<usize> = (0..self.len()).collect();
        order.sort_by_key(|&row| key(row));
        let mut sorted = self.clone();
        sorted.clear();
        for row in order {
            sorted.push_row(&self, row);
        }
        sorted
    }

    /// Checks what a store may rely on. The columns have the table's types and number. All are as long as the times (or empty where `partial` allows a field
    /// that was not asked for). Times and series are in range, and no value is NaN or infinite.
    ///
    /// # Errors
    /// What is wrong, in words.
    pub fn check(&self, description: &Table, partial: bool) -> Result<(), String> {
        if self.columns.len() != description.fields.len() {
            return Err(format!("{} columns for {} fields", self.columns.len(), description.fields.len()));
        }
        if self.series.len() != self.len() {
            return Err(format!("{} series numbers for {} times", self.series.len(), self.len()));
        }
        let mut times = self.times_ns.iter();
        if let Some(time) = times.find(|&&time| !TimeRange::OF_RECORDINGS.contains(time)) {
            return Err(format!("the time {time} ns, outside of the years 1678 to 2261"));
        }
        if let Some(series) = self.series.iter().find(|&&series| series >= description.series.len()) {
            return Err(format!("series {series} of {}", description.series.len()));
        }
        for (column, field) in self.columns.iter().zip(&description.fields) {
            let length = column.values.len();
            if Column::new(field.kind).values.kind() != column.values.kind() {
                return Err(format!("field {} has values of another type", field.name));
            }
            if length != self.len() && !(partial && length == 0) {
                return Err(format!("field {} has {length} values for {} times", field.name, self.len()));
            }
            if let Values::F64(values) = &column.values
                && values.iter().any(|value| !value.is_finite())
            {
                return Err(format!("field {} holds a number that is not finite", field.name));
            }
        }
        Ok(())
    }
}

impl Values {
    /// The type of the values.
    pub const fn kind(&self) -> FieldType {
        match self {
            Self::Bool(_) => FieldType::Bool,
            Self::I64(_) => FieldType::I64,
            Self::U16(_) => FieldType::U16,
            Self::F64(_) => FieldType::F64,
            Self::Text(_) => FieldType::Text,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_column_keeps_absent_values_apart_from_zero() {
        let mut column = Column::new(FieldType::I64);
        column.push(Value::I64(0)).unwrap();
        column.push(Value::Null).unwrap();
        column.push(Value::I64(5)).unwrap();
        assert_eq!(
            [column.value(0), column.value(1), column.value(2)],
            [Value::I64(0), Value::Null, Value::I64(5)]
        );
        assert_eq!(column.push(Value::F64(1.0)), Err(Value::F64(1.0)));
    }

    #[test]
    fn text_is_one_buffer() {
        let mut text = TextColumn::default();
        for value in ["", "ä", "", "xyz"] {
            text.push(value);
        }
        assert_eq!((text.get(0), text.get(1), text.get(2), text.get(3)), ("", "ä", "", "xyz"));
    }
}
