//! What readings look like: tables, tags, fields, entities and series.
//!
//! A schema is logical: it says nothing of indexes, documents or partitions (that is [`crate::layout`]) and
//! holds no readings (that is [`crate::batch`]).

use crate::error::{ErrorKind, StoreError};
use serde::{Deserialize, Serialize};
use std::fmt;

/// Everything that one workload stores: one or more tables.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Schema {
    /// The tables, addressed everywhere by their index in this list.
    pub tables: Vec<Table>,
}

impl Schema {
    /// The table of this number.
    ///
    /// # Errors
    /// [`ErrorKind::NotFound`] when there is none.
    pub fn table(&self, number: usize) -> Result<&Table, StoreError> {
        let missing = || format!("the schema has no table number {number}");
        let found = self.tables.get(number);
        found.ok_or_else(|| StoreError::new(ErrorKind::NotFound, "find a table", missing()))
    }

    /// Whether a table has tags.
    pub fn has_tags(&self) -> bool {
        self.tables.iter().any(|table| !table.tags.is_empty())
    }

    /// The plainest: one table, `readings`. Each sensor is a series, told by an integer tag, `sensor`, and each reading is one number, `value`.
    pub fn of_sensors(sensors: impl IntoIterator<Item = i64>, time_resolution: TimeResolution) -> Self {
        Self {
            tables: vec![Table {
                name: "readings".to_owned(),
                tags: vec![Tag { name: "sensor".to_owned() }],
                fields: vec![Field { name: "value".to_owned(), kind: FieldType::F64, nullable: false }],
                entity: None,
                time_resolution,
                series: Series::new(vec![TagColumn::Integer(sensors.into_iter().collect())]),
            }],
        }
    }
}

/// One kind of reading (a measurement, a collection): its tags, fields, optional entity and known series.
///
/// A reading is identified by (table, series, time), has a time in [`crate::TimeRange::OF_READINGS`], and has at least one of the fields. A name is lower case ASCII: `[a-z][a-z0-9_]*`, at
/// most 40 bytes, and none that a database keeps for itself ([`crate::name::table_name`]). The names of tags, fields and entity columns are the same
/// ([`crate::name::column_name`]).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Table {
    /// The table's name.
    pub name: String,
    /// Identifying columns. Without tags the table has exactly one series, number 0.
    pub tags: Vec<Tag>,
    /// Value columns, at most [`FieldSet::CAPACITY`].
    pub fields: Vec<Field>,
    /// What the series belong to (a meter with its address), one row a series.
    pub entity: Option<Entity>,
    /// How finely the times of readings are spaced; a store that keeps less must say so.
    pub time_resolution: TimeResolution,
    /// The series that will be written, with their tags' values.
    pub series: Series,
}

/// An identifying column.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Tag {
    /// The tag's name.
    pub name: String,
}

/// A value column.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Field {
    /// The field's name.
    pub name: String,
    /// The type of its values.
    pub kind: FieldType,
    /// Whether a reading may lack this field.
    pub nullable: bool,
}

/// The type of a field's values.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FieldType {
    /// True or false.
    Bool,
    /// A signed integer of 64 bits.
    I64,
    /// An unsigned integer of 16 bits.
    U16,
    /// A binary floating point number of 64 bits; never NaN or infinite.
    F64,
    /// UTF-8 text without NUL characters.
    Text,
}

impl FieldType {
    /// Whether its values are numbers: what can be added up.
    pub const fn is_number(self) -> bool {
        matches!(self, Self::I64 | Self::U16 | Self::F64)
    }
}

/// An entity that a series belongs to: one row a series, inserted with its first reading and updated with each
/// ([`crate::Session::upsert`]; plain writes leave entities alone).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Entity {
    /// The entity table's name.
    pub name: String,
    /// Its columns, without the key (the series' tags) and without the time of the last reading.
    pub columns: Vec<Field>,
    /// Name of the column that holds the time of the latest reading, kept up to date by each upsert.
    pub last_time_column: String,
}

/// How finely the times of a table's readings are spaced.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TimeResolution {
    /// Every nanosecond may hold a reading.
    Nanoseconds,
    /// Times are whole microseconds.
    Microseconds,
    /// Times are whole milliseconds.
    Milliseconds,
    /// Times are whole seconds.
    Seconds,
}

impl TimeResolution {
    /// Nanoseconds in one unit of this resolution.
    pub const fn nanoseconds(self) -> i64 {
        match self {
            Self::Nanoseconds => 1,
            Self::Microseconds => 1_000,
            Self::Milliseconds => 1_000_000,
            Self::Seconds => 1_000_000_000,
        }
    }
}

/// The known series of a table: each tag's values in a column of its own, one entry a series; and how often they are read.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Series {
    count: u32,
    columns: Vec<TagColumn>,
    /// See [`Series::interval_ns`].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    interval_ns: Option<i64>,
}

/// One tag's values, one entry a series.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TagColumn {
    /// Text values (any Unicode, no NUL).
    Text(Vec<String>),
    /// Whole numbers, kept as integers by databases that can.
    Integer(Vec<i64>),
}

impl Series {
    /// The one series of a table without tags.
    pub const fn single() -> Self {
        Self { count: 1, columns: Vec::new(), interval_ns: None }
    }

    /// Series with these tag values, one column a tag in the order of [`Table::tags`].
    ///
    /// # Panics
    /// When there is no column, when columns differ in length, or with more than 2³² series: defects of a data set.
    pub fn new(columns: Vec<TagColumn>) -> Self {
        let count = columns.first().expect("a tagged table has at least one tag column").len();
        assert!(columns.iter().all(|column| column.len() == count), "tag columns of unequal length");
        Self { count: u32::try_from(count).expect("fewer than 2^32 series"), columns, interval_ns: None }
    }

    /// The same series, of which each has a reading about every so many ns of its readings' times. Without effect unless it is over 0.
    #[must_use]
    pub fn every(mut self, interval_ns: i64) -> Self {
        self.interval_ns = Some(interval_ns).filter(|&interval_ns| interval_ns > 0);
        self
    }

    /// The usual time from one reading of a series to its next, in ns, over 0; none where nobody knows. A store chooses by it what holds the readings of a
    /// length of time (a partition, a bucket); it never changes an answer.
    pub const fn interval_ns(&self) -> Option<i64> {
        self.interval_ns
    }

    /// About how many readings of all series together are of one day; none where nobody knows.
    pub fn readings_a_day(&self) -> Option<f64> {
        let a_series = crate::query::DaySplit::DAY_NS as f64 / self.interval_ns? as f64;
        Some(a_series * f64::from(self.count))
    }

    /// How many series there are.
    pub const fn len(&self) -> u32 {
        self.count
    }

    /// Whether there is no series.
    pub const fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// The columns of tag values.
    pub fn columns(&self) -> &[TagColumn] {
        &self.columns
    }

    /// The value of tag number `tag` of series number `series`.
    ///
    /// # Panics
    /// When either number is out of range.
    pub fn tag(&self, series: u32, tag: usize) -> Value {
        match &self.columns[tag] {
            TagColumn::Text(values) => Value::Text(values[series as usize].clone()),
            TagColumn::Integer(values) => Value::I64(values[series as usize]),
        }
    }

    /// The series whose tag number `tag` prints as `value`, in ascending order.
    pub fn with_tag(&self, tag: usize, value: &str) -> Vec<u32> {
        let number = value.parse::<i64>().ok();
        let number = number.filter(|number| number.to_string() == value);
        let holds = |&series: &u32| match &self.columns[tag] {
            TagColumn::Text(values) => values[series as usize] == value,
            TagColumn::Integer(values) => Some(values[series as usize]) == number,
        };
        (0..self.count).filter(holds).collect()
    }
}

impl TagColumn {
    /// How many entries the column has.
    pub fn len(&self) -> usize {
        match self {
            Self::Text(values) => values.len(),
            Self::Integer(values) => values.len(),
        }
    }

    /// Whether the column has no entry.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The value of series number `series` as text.
    pub fn text(&self, series: u32) -> String {
        match self {
            Self::Text(values) => values[series as usize].clone(),
            Self::Integer(values) => values[series as usize].to_string(),
        }
    }
}

/// One value, as entity rows, aggregates and messages hold it. It is never used on the hot path of readings.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Value {
    /// No value.
    Null,
    /// True or false.
    Bool(bool),
    /// A whole number (also for fields of type [`FieldType::U16`]).
    I64(i64),
    /// A floating point number.
    F64(f64),
    /// Text.
    Text(String),
}

impl fmt::Display for Value {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Null => formatter.write_str("nothing"),
            Self::Bool(value) => write!(formatter, "{value}"),
            Self::I64(value) => write!(formatter, "{value}"),
            Self::F64(value) => write!(formatter, "{value:?}"),
            Self::Text(value) => write!(formatter, "{value:?}"),
        }
    }
}

/// Words of a set of fields.
const WORDS: usize = 16;

/// A set of a table's fields, as a bit mask over their numbers: copied, never allocated.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(from = "Mask", into = "Mask")]
pub struct FieldSet([u64; WORDS]);

/// A set as it is written: one number where that is enough, as it always was.
#[derive(Serialize, Deserialize)]
#[serde(untagged)]
enum Mask {
    Few(u64),
    Many([u64; WORDS]),
}

impl From<Mask> for FieldSet {
    fn from(mask: Mask) -> Self {
        let mut set = Self([0; WORDS]);
        match mask {
            Mask::Many(words) => set.0 = words,
            Mask::Few(first) => set.0[0] = first,
        }
        set
    }
}

impl From<FieldSet> for Mask {
    fn from(set: FieldSet) -> Self {
        if set.iter().all(|field| field < 64) { Self::Few(set.0[0]) } else { Self::Many(set.0) }
    }
}

impl FieldSet {
    /// The most fields that a table can have. Every database takes as many columns.
    pub const CAPACITY: usize = 1_000;

    /// The first `count` fields, that is all fields of a table with `count` of them.
    ///
    /// # Panics
    /// When `count` is over [`FieldSet::CAPACITY`].
    pub fn first(count: usize) -> Self {
        (0..count).fold(Self([0; WORDS]), Self::with)
    }

    /// The field with this number alone.
    ///
    /// # Panics
    /// When `field` is not under [`FieldSet::CAPACITY`].
    pub const fn one(field: usize) -> Self {
        Self([0; WORDS]).with(field)
    }

    /// This set with one field more.
    ///
    /// # Panics
    /// When `field` is not under [`FieldSet::CAPACITY`].
    #[must_use]
    pub const fn with(mut self, field: usize) -> Self {
        assert!(field < Self::CAPACITY, "a table has at most 1,000 fields");
        self.0[field / 64] |= 1 << (field % 64);
        self
    }

    /// Whether the field with this number is in the set.
    pub const fn contains(self, field: usize) -> bool {
        field < Self::CAPACITY && self.0[field / 64] & (1 << (field % 64)) != 0
    }

    /// How many fields are in the set.
    pub fn len(self) -> usize {
        self.iter().count()
    }

    /// Whether no field is in the set.
    pub fn is_empty(self) -> bool {
        self.0 == [0; WORDS]
    }

    /// The numbers of the fields in the set, ascending.
    pub fn iter(self) -> impl Iterator<Item = usize> {
        self.0.into_iter().enumerate().flat_map(|(word, mut left)| {
            std::iter::from_fn(move || {
                let field = left.trailing_zeros() as usize;
                left &= left.checked_sub(1)?;
                Some(word * 64 + field)
            })
        })
    }
}

impl Table {
    /// All fields of this table.
    pub fn all_fields(&self) -> FieldSet {
        FieldSet::first(self.fields.len())
    }

    /// The number of the field with this name.
    pub fn field(&self, name: &str) -> Option<usize> {
        self.fields.iter().position(|field| field.name == name)
    }

    /// The number of the tag with this name.
    pub fn tag(&self, name: &str) -> Option<usize> {
        self.tags.iter().position(|tag| tag.name == name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn field_sets_hold_up_to_a_thousand_fields() {
        assert_eq!(FieldSet::first(64).len(), 64);
        assert_eq!(FieldSet::first(0).len(), 0);
        assert!(FieldSet::first(0).is_empty());
        assert_eq!(FieldSet::first(1_000).iter().collect::<Vec<_>>(), (0..1_000).collect::<Vec<_>>());
        let set = FieldSet::one(3).with(63).with(64).with(999);
        assert_eq!(set.iter().collect::<Vec<_>>(), [3, 63, 64, 999]);
        assert!(!set.contains(62) && !set.contains(1_000));
        for (set, written) in [(FieldSet::first(3), "7"), (set, "[")] {
            let text = serde_json::to_string(&set).unwrap();
            assert!(text.starts_with(written), "{text}");
            assert_eq!(serde_json::from_str::<FieldSet>(&text).unwrap(), set);
        }
    }

    #[test]
    fn series_are_found_by_tag() {
        let series = Series::new(vec![
            TagColumn::Integer(vec![1, 2, 1]),
            TagColumn::Text(vec!["a".into(), "b".into(), "ü".into()]),
        ]);
        assert_eq!(series.with_tag(0, "1"), [0, 2]);
        assert_eq!(series.tag(2, 1), Value::Text("ü".into()));
        assert_eq!(Series::single().len(), 1);
    }

    #[test]
    fn readings_a_day_come_from_the_interval_of_all_series() {
        let hourly = Series::new(vec![TagColumn::Integer((0..32).collect())]);
        assert_eq!(hourly.readings_a_day(), None);
        assert_eq!(hourly.every(3_600_000_000_000).readings_a_day(), Some(768.0));
        assert_eq!(Series::single().every(0).interval_ns(), None);
    }

    #[test]
    fn series_of_before_the_interval_are_still_read() {
        let series = r#"{"count":2,"columns":[{"integer":[1,2]}]}"#;
        let series: Series = serde_json::from_str(series).unwrap();
        assert_eq!((series.len(), series.interval_ns()), (2, None));
    }
}
