//! How a schema becomes containers: their names, columns and keys.
//!
//! Each series has a container of its own. Where a row is a reading, its key is the time: a LONG of nanoseconds, or in time series a TIMESTAMP of
//! milliseconds. Where a row is a record of a span, several rows may be of one span, so there is no key and an index on the span. Beside them
//! are an owner's mark, a container of tags a table, and one of entities. Names are the database's, a dash, and what it is: names of tables have no dash.

use crate::client::{ColumnShape, ContainerShape, Kind};
use sensormark_store::{
    Encoding, FieldType, Layout, Schema, Shape, StoreError, Table, TagColumn, TimeKey, TimeRange,
};
use std::sync::Arc;

pub(crate) mod layout_options;

/// The column of time, or of the span, and that of a record; fields' names do not start with an underscore.
pub(crate) const TIME: &str = "_time";
pub(crate) const SPAN: &str = "_span";
const RECORD: &str = "_record";
const SERIES: &str = "_series";

/// A plan's containers.
#[derive(Debug)]
pub struct PhysicalSchema {
    pub(crate) schema: Arc<Schema>,
    pub(crate) layout: Layout,
    /// What a row is.
    pub(crate) rows: Rows,
}

/// What a row of a series' container is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Rows {
    /// One reading, by a key of nanoseconds.
    Reading,
    /// One reading of a time series, by a key of milliseconds.
    Timed,
    /// One record of a span.
    Record {
        /// Length of the span in ns.
        span_ns: i64,
        /// Whether the record is JSON text rather than packed bytes.
        json: bool,
    },
}

/// Nanoseconds in a millisecond.
const MILLISECOND: i64 = 1_000_000;

impl Rows {
    const fn unit_ns(self) -> i64 {
        match self {
            Self::Reading => 1,
            Self::Timed => MILLISECOND,
            Self::Record { span_ns, .. } => span_ns,
        }
    }

    /// The key of a time: its unit, or its span.
    pub(crate) const fn key(self, time_ns: i64) -> i64 {
        time_ns.div_euclid(self.unit_ns())
    }

    /// The time of a key, its first instant in ns.
    pub(crate) const fn time_ns(self, key: i64) -> i64 {
        key.wrapping_mul(self.unit_ns())
    }

    /// The first and last key of a range; none where the range is empty.
    pub(crate) fn keys(self, range: TimeRange) -> Option<(i64, i64)> {
        if range.end_ns <= range.start_ns {
            return None;
        }
        // GridDB's times start with the epoch, and so do readings
        let (start, last) = (range.start_ns.max(0), range.end_ns - 1);
        let first = match self {
            Self::Record { .. } => self.key(start),
            // a bound between two units is the next unit's: times are cut off towards the past
            _ => self.key(start) + i64::from(start.rem_euclid(self.unit_ns()) != 0),
        };
        (first <= self.key(last)).then_some((first, self.key(last)))
    }
}

impl PhysicalSchema {
    /// The containers of a schema in a layout.
    pub(crate) fn new(schema: &Arc<Schema>, layout: Layout) -> Result<Self, StoreError> {
        if let Some(reason) = layout_options::missing(&layout) {
            return Err(StoreError::unsupported("lay out a schema in GridDB", reason));
        }
        let rows = match (layout.shape, layout.time) {
            (Shape::RecordPerSpan { span_ns, encoding }, _) => {
                Rows::Record { span_ns, json: encoding == Encoding::Json }
            }
            (_, TimeKey::Native) => Rows::Timed,
            (_, TimeKey::Nanoseconds) => Rows::Reading,
        };
        Ok(Self { schema: Arc::clone(schema), layout, rows })
    }

    /// The name of a series' container.
    pub(crate) fn readings(&self, database: &str, table: usize, series: u32) -> String {
        format!("{database}-{}-{series}", self.schema.tables[table].name)
    }

    /// The name of a table's container of tags.
    pub(crate) fn tags(&self, database: &str, table: usize) -> String {
        format!("{database}-{}-tags", self.schema.tables[table].name)
    }

    /// The name of a table's container of entities.
    pub(crate) fn entities(&self, database: &str, table: usize) -> String {
        format!("{database}-{}-entities", self.schema.tables[table].name)
    }

    /// What a series' container looks like.
    pub(crate) fn readings_shape(&self, table: &Table) -> ContainerShape {
        if let Rows::Record { .. } = self.rows {
            return ContainerShape {
                columns: vec![column(SPAN, Kind::Long, false), column(RECORD, Kind::Blob, false)],
                keyed: false,
                time_series: false,
            };
        }
        let time_series = self.rows == Rows::Timed;
        let key = if time_series { Kind::Timestamp } else { Kind::Long };
        let fields = table.fields.iter().map(|field| column(&field.name, kind(field.kind), field.nullable));
        ContainerShape {
            columns: std::iter::once(column(TIME, key, false)).chain(fields).collect(),
            keyed: true,
            time_series,
        }
    }
}

fn column(name: &str, kind: Kind, nullable: bool) -> ColumnShape {
    ColumnShape { name: name.to_owned(), kind, nullable }
}

/// The type of a field's column. (A SHORT is signed and would not hold 65,535.)
const fn kind(kind: FieldType) -> Kind {
    match kind {
        FieldType::Bool => Kind::Bool,
        FieldType::I64 => Kind::Long,
        FieldType::U16 => Kind::Integer,
        FieldType::F64 => Kind::Double,
        FieldType::Text => Kind::Text,
    }
}

/// The name of the container with a database's owner's mark.
pub(crate) fn owner(database: &str) -> String {
    format!("{database}-owner")
}

/// The database whose owner's mark a container of this name holds.
pub(crate) fn owned(container: &str) -> Option<&str> {
    container.strip_suffix("-owner")
}

/// Whether a container of this name belongs to a database. (GridDB does not tell upper from lower case; these names are lower.)
pub(crate) fn belongs(container: &str, database: &str) -> bool {
    let rest = container.strip_prefix(database);
    rest.is_some_and(|rest| rest.starts_with('-'))
}

/// What the container of the owner's mark looks like.
pub(crate) fn owner_shape() -> ContainerShape {
    ContainerShape {
        columns: vec![column("_number", Kind::Integer, false), column("_mark", Kind::Text, false)],
        keyed: true,
        time_series: false,
    }
}

/// What a container of tags looks like: a row a series, a column a tag.
pub(crate) fn tags_shape(table: &Table) -> ContainerShape {
    let tags = table.tags.iter().zip(table.series.columns());
    let tags = tags.map(|(tag, values)| {
        let kind = match values {
            TagColumn::Text(_) => Kind::Text,
            TagColumn::Integer(_) => Kind::Long,
        };
        column(&tag.name, kind, false)
    });
    ContainerShape {
        columns: std::iter::once(column(SERIES, Kind::Integer, false)).chain(tags).collect(),
        keyed: true,
        time_series: false,
    }
}

/// What a container of entities looks like, where the table has them: a row a series, the time of its last reading in ns, and the entity's columns.
pub(crate) fn entities_shape(table: &Table) -> Option<ContainerShape> {
    let entity = table.entity.as_ref()?;
    let own = entity.columns.iter().map(|field| column(&field.name, kind(field.kind), true));
    let first = [column(SERIES, Kind::Integer, false), column(&entity.last_time_column, Kind::Long, false)];
    Some(ContainerShape { columns: first.into_iter().chain(own).collect(), keyed: true, time_series: false })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn databases_are_told_apart_by_the_dash() {
        assert!(belongs("sensormark_a-cpu-0", "sensormark_a"));
        assert!(!belongs("sensormark_a_b-cpu-0", "sensormark_a"));
        assert!(!belongs("sensormark_ab-cpu-0", "sensormark_a"));
        assert_eq!(owned(&owner("sensormark_a")), Some("sensormark_a"));
    }

    #[test]
    fn bounds_between_two_milliseconds_are_the_next_ones() {
        let range = TimeRange::new(1_000_001, 3_000_000);
        assert_eq!(Rows::Timed.keys(range), Some((2, 2)));
        assert_eq!(Rows::Reading.keys(range), Some((1_000_001, 2_999_999)));
        let span = Rows::Record { span_ns: 1_000_000_000, json: false };
        assert_eq!(span.keys(TimeRange::new(5, 2_000_000_001)), Some((0, 2)));
        assert_eq!(Rows::Timed.keys(TimeRange::new(1, 1_000_000)), None);
        assert_eq!(Rows::Reading.keys(TimeRange::new(5, 5)), None);
    }
}
