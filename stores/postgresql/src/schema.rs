//! How a schema and a layout become tables: names, columns and what identifies a series.
//!
//! A [`Model`] is made once for a plan and shared by its sessions. It holds no readings and runs no statements: the
//! statements that make the tables are in [`ddl`], the layouts on offer in [`offers`].

pub(crate) mod columns;
pub(crate) mod ddl;
pub(crate) mod offers;
#[cfg(test)]
mod pins;
pub(crate) mod series;

pub(crate) use self::columns::{
    Column, Content, array_type, column_count, field_type, offset_type, tag_type,
};
use self::columns::{content_columns, key_columns};
use self::series::SeriesMap;
use sensormark_store::query::DaySplit;
use sensormark_store::{
    Encoding, ErrorKind, Index, Layout, QueryStyle, Schema, Shape, StoreError, Table, TagPlacement,
    TimeKey, WriteMethod,
};
use std::sync::Arc;
use tokio_postgres::types::Type;

/// The owner's table: it has one row, the owner's mark.
pub(crate) const OWNER_TABLE: &str = "sensormark_owner";

/// Nanoseconds from the Unix epoch to the epoch of PostgreSQL's timestamps, 2000-01-01.
const TIMESTAMP_EPOCH_MICROSECONDS: i64 = 946_684_800_000_000;

/// A plan's schema, as tables of this database.
#[derive(Debug)]
pub struct Model {
    /// What readings look like.
    pub(crate) schema: Arc<Schema>,
    /// How they are kept.
    pub(crate) layout: Layout,
    /// One a table of the schema.
    pub(crate) tables: Vec<TableModel>,
}

/// One table of the schema, as this database keeps it. Names are quoted.
#[derive(Debug)]
pub(crate) struct TableModel {
    /// Its number in the schema.
    pub(crate) number: usize,
    /// The table of readings (or records).
    pub(crate) name: String,
    /// The table of tags, where they have one of their own.
    pub(crate) tags: Option<String>,
    /// The table of sums, in layouts with a summary.
    pub(crate) sums: Option<String>,
    /// The table of entities.
    pub(crate) entity: Option<EntityModel>,
    /// The columns of the table of readings, in its order.
    pub(crate) columns: Vec<Column>,
    /// Which of them identify the series.
    pub(crate) keys: Vec<usize>,
    /// The column of time (or of the span's number).
    pub(crate) time: String,
    /// From identifying values to series numbers.
    pub(crate) series: SeriesMap,
    /// The most readings of one statement.
    pub(crate) readings_per_statement: usize,
}

/// The table of entities.
#[derive(Debug)]
pub(crate) struct EntityModel {
    /// Its name, quoted.
    pub(crate) name: String,
    /// The column of the last reading's time, quoted.
    pub(crate) last_time: String,
}
/// A name in quotes.
pub(crate) fn quoted(name: &str) -> String {
    format!("\"{name}\"")
}

/// `wanted`, with underscores at its end until nobody else has the name.
fn free_name(wanted: &str, taken: impl Fn(&str) -> bool) -> String {
    let mut name = wanted.to_owned();
    while taken(&name) {
        name.push('_');
    }
    name
}
/// What a layout that this store does not have lacks, in words.
pub(crate) fn missing(layout: &Layout) -> Option<String> {
    let per_row = matches!(layout.shape, Shape::RowPerReading | Shape::RowPerField);
    let text = match layout.shape {
        Shape::Bucketed { .. } | Shape::GrowingArray | Shape::NativeTimeSeries => {
            "PostgreSQL users keep rows, not records that fill up; it has no container for time series of its own"
        }
        Shape::RecordPerSpan {
            encoding: Encoding::Blob | Encoding::Documents,
            ..
        } => "records of a span are JSON, JSONB or arrays here",
        Shape::Summary { .. } | Shape::RecordPerSpan { .. } if layout.time == TimeKey::Native => {
            "timestamptz keys are for rows of readings alone"
        }
        Shape::Summary { .. } | Shape::RecordPerSpan { .. }
            if layout.write != WriteMethod::Usual =>
        {
            "other ways of writing are for rows of readings alone"
        }
        _ if layout.index == Index::Clustered => {
            "PostgreSQL keeps no table in the order of a key: CLUSTER sorts once and is not kept up"
        }
        _ if layout.index == Index::FirstTagTime => {
            "an index holds all tags that tell series apart"
        }
        _ if layout.write == WriteMethod::Datagram => "PostgreSQL takes no datagrams",
        _ if matches!(
            layout.tags,
            TagPlacement::Subdocument | TagPlacement::KeyValueArray
        ) =>
        {
            "tags are columns, inline or in a table of their own"
        }
        _ if layout.scope != sensormark_store::Scope::PerTable => {
            "one table for each table of the schema, series side by side, is how PostgreSQL is used"
        }
        _ if layout.queries != QueryStyle::Usual => "PostgreSQL is asked in one way",
        _ if layout.time == TimeKey::Native && !per_row => "timestamptz keys are for rows alone",
        _ => return None,
    };
    Some(text.to_owned())
}

impl Model {
    /// The tables for a schema and a layout.
    pub(crate) fn new(schema: &Arc<Schema>, layout: Layout) -> Result<Self, StoreError> {
        if let Some(missing) = missing(&layout) {
            return Err(StoreError::unsupported("use a layout", missing));
        }
        if schema.tables.iter().any(|table| table.name == OWNER_TABLE) {
            return Err(StoreError::new(
                ErrorKind::Configuration,
                "use a schema",
                format!(
                    "a table may not be named {OWNER_TABLE}: that is where the owner's mark is kept"
                ),
            ));
        }
        let tables = schema
            .tables
            .iter()
            .enumerate()
            .map(|(number, table)| TableModel::new(schema, number, table, layout))
            .collect();
        Ok(Self {
            schema: Arc::clone(schema),
            layout,
            tables,
        })
    }

    /// A table of the schema and its model.
    pub(crate) fn table(&self, number: usize) -> Result<(&Table, &TableModel), StoreError> {
        self.schema
            .tables
            .get(number)
            .zip(self.tables.get(number))
            .ok_or_else(|| {
                StoreError::new(
                    ErrorKind::NotFound,
                    "find a table",
                    format!("the schema has no table number {number}"),
                )
            })
    }

    /// The span of a record and its encoding, in layouts with records of a span.
    pub(crate) const fn span(&self) -> Option<(i64, Encoding)> {
        match self.layout.shape {
            Shape::RecordPerSpan { span_ns, encoding } => Some((span_ns, encoding)),
            _ => None,
        }
    }

    /// The period of sums and how they split the day, in layouts with a summary.
    pub(crate) const fn summary(&self) -> Option<(i64, DaySplit)> {
        match self.layout.shape {
            Shape::Summary { per_ns, split } => Some((per_ns, split)),
            _ => None,
        }
    }

    /// A time as the layout's key of time, cut off towards the past.
    pub(crate) const fn time_key(&self, time_ns: i64) -> i64 {
        match self.layout.time {
            TimeKey::Nanoseconds => time_ns,
            TimeKey::Native => time_ns.div_euclid(1_000) - TIMESTAMP_EPOCH_MICROSECONDS,
        }
    }

    /// The first key of time that is not before this instant.
    pub(crate) const fn bound_key(&self, time_ns: i64) -> i64 {
        match self.layout.time {
            TimeKey::Nanoseconds => time_ns,
            TimeKey::Native => self.time_key(time_ns.saturating_add(999)),
        }
    }

    /// The time of a key of time, in ns.
    pub(crate) const fn time_ns(&self, key: i64) -> i64 {
        match self.layout.time {
            TimeKey::Nanoseconds => key,
            TimeKey::Native => (key + TIMESTAMP_EPOCH_MICROSECONDS) * 1_000,
        }
    }

    /// The type of keys of time.
    pub(crate) const fn time_type(&self) -> Type {
        match self.layout.time {
            TimeKey::Nanoseconds => Type::INT8,
            TimeKey::Native => Type::TIMESTAMPTZ,
        }
    }
}

impl TableModel {
    fn new(schema: &Schema, number: usize, table: &Table, layout: Layout) -> Self {
        let own_tags = layout.tags == TagPlacement::OwnTable && !table.tags.is_empty();
        let own_table = |ending: &str| {
            quoted(&free_name(&format!("{}_{ending}", table.name), |name| {
                schema.tables.iter().any(|other| {
                    other.name == name || other.entity.as_ref().is_some_and(|one| one.name == name)
                }) || name == OWNER_TABLE
            }))
        };
        let mut columns = key_columns(table, own_tags);
        let series = SeriesMap::new(table, own_tags);
        let keys = if own_tags {
            vec![0]
        } else {
            series.identifying().to_vec()
        };
        content_columns(table, &layout, &mut columns);
        let time = columns
            .iter()
            .find(|column| matches!(column.content, Content::Time | Content::Span))
            .map(|column| column.name.clone())
            .unwrap_or_default();
        Self {
            number,
            name: quoted(&table.name),
            tags: own_tags.then(|| own_table("tags")),
            sums: matches!(layout.shape, Shape::Summary { .. }).then(|| own_table("sums")),
            entity: table.entity.as_ref().map(|entity| EntityModel {
                name: quoted(&entity.name),
                last_time: quoted(&entity.last_time_column),
            }),
            columns,
            keys,
            time,
            series,
            readings_per_statement: crate::write::limits(&layout, table).readings_per_statement,
        }
    }

    /// The columns that identify the series.
    pub(crate) fn key_columns(&self) -> impl Iterator<Item = &Column> {
        self.keys.iter().map(|&key| &self.columns[key])
    }

    /// The names of all columns, with commas between them.
    pub(crate) fn column_list(&self) -> String {
        joined(self.columns.iter().map(|column| column.name.clone()))
    }

    /// The name of the column with this content, quoted.
    pub(crate) fn column(&self, content: Content) -> &str {
        self.columns
            .iter()
            .find(|column| column.content == content)
            .map_or("", |column| &column.name)
    }
}

/// Texts with commas between them.
pub(crate) fn joined(texts: impl Iterator<Item = String>) -> String {
    texts.collect::<Vec<_>>().join(", ")
}
