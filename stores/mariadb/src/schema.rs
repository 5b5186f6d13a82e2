//! How a schema and a layout become tables: names, columns, and what identifies a series.
//!
//! A [`Model`] is made once for a plan and shared by its sessions. It holds no readings and runs no statements: those that make the tables
//! are in [`ddl`], the layouts on offer in [`offers`].

pub(crate) mod ddl;
pub(crate) mod offers;
#[cfg(test)]
mod pins;
pub(crate) mod series;

use self::series::{SeriesMap, tag_value};
use crate::write::insert::Inserts;
use mysql_async::Value;
use sensormark_store::{
    DaySplit, ErrorKind, FieldType, Layout, Schema, Shape, StoreError, Table, TagColumn,
    TagPlacement,
};
use std::sync::Arc;

/// The owner's table: it has one row, the owner's mark.
pub(crate) const OWNER_TABLE: &str = "sensormark_owner";

/// Nanoseconds in a second.
pub(crate) const SECOND_NS: i64 = 1_000_000_000;

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
    /// The table of readings (or records).
    pub(crate) name: String,
    /// The table of tags, where they have one of their own.
    pub(crate) tags: Option<String>,
    /// The table of sums, in layouts with a summary.
    pub(crate) sums: Option<SumsModel>,
    /// The table of entities.
    pub(crate) entity: Option<EntityModel>,
    /// The columns with the series' number, or with all tags.
    pub(crate) keys: Vec<KeyColumn>,
    /// The columns of time and of what is there.
    pub(crate) content: Content,
    /// From identifying values to series numbers.
    pub(crate) series: SeriesMap,
    /// The statements that write readings and entities.
    pub(crate) inserts: Inserts,
}

/// A column that says (with others) to which series a row belongs.
#[derive(Debug, Clone)]
pub(crate) struct KeyColumn {
    /// Its name, quoted.
    pub(crate) name: String,
    /// Its type.
    pub(crate) kind: String,
    /// What it takes in an index: its name, with a length where it is too long for one.
    pub(crate) indexed: String,
    /// The tag that it holds; none where it holds the series' number.
    pub(crate) tag: Option<usize>,
    /// Whether it is needed to tell series apart.
    pub(crate) identifying: bool,
}

/// The columns of a table of readings after those of the series.
#[derive(Debug, Clone)]
pub(crate) enum Content {
    /// A row a reading: its time in ns, then the fields.
    Readings {
        /// The column of time.
        time: String,
    },
    /// A row a field of a reading.
    Fields {
        /// The column of whole seconds since the epoch.
        second: String,
        /// The column of ns within the second.
        nanosecond: String,
        /// The column of the field's number.
        number: String,
        /// The column of its value.
        measurement: String,
    },
    /// A row a span of time.
    Records {
        /// Length of the span in ns.
        span_ns: i64,
        /// The column of the span's number: its start divided by its length.
        span: String,
        /// The column of the document's length in bytes.
        size: String,
        /// The column of the document.
        document: String,
    },
}

/// The table of entities.
#[derive(Debug)]
pub(crate) struct EntityModel {
    /// Its name, quoted.
    pub(crate) name: String,
    /// The column of the last reading's time, quoted.
    pub(crate) last_time: String,
    /// Whether readings refer to it by a foreign key.
    pub(crate) referred_to: bool,
}

/// The table of sums: a row for each series, period and part of the day.
#[derive(Debug)]
pub(crate) struct SumsModel {
    /// Its name, quoted.
    pub(crate) name: String,
    /// A row covers one multiple of this many ns.
    pub(crate) per_ns: i64,
    /// Which part of a day is day.
    pub(crate) split: DaySplit,
    /// The column of the period's number: its start divided by its length.
    pub(crate) period: String,
    /// The column that is 1 by day and 0 by night.
    pub(crate) day: String,
    /// For each field of the table, its columns of sums where it is numeric.
    pub(crate) fields: Vec<Option<SumColumns>>,
}

/// The columns of one field's sums.
#[derive(Debug)]
pub(crate) struct SumColumns {
    /// How many readings have the field.
    pub(crate) count: String,
    /// Sum.
    pub(crate) sum: String,
    /// Smallest value.
    pub(crate) min: String,
    /// Largest value.
    pub(crate) max: String,
}

/// A name in quotes.
pub(crate) fn quoted(name: &str) -> String {
    format!("`{name}`")
}

/// `wanted`, with underscores at its end until nobody else has the name.
fn free_name(wanted: &str, taken: impl Fn(&str) -> bool) -> String {
    let mut name = wanted.to_owned();
    while taken(&name) {
        name.push('_');
    }
    name
}

/// The database's type for a field's values.
pub(crate) const fn field_type(kind: FieldType) -> &'static str {
    match kind {
        FieldType::Bool => "TINYINT",
        FieldType::I64 => "BIGINT",
        FieldType::U16 => "SMALLINT UNSIGNED",
        FieldType::F64 => "DOUBLE",
        FieldType::Text => "LONGTEXT",
    }
}

/// Whether a field's values have sums.
pub(crate) const fn is_numeric(kind: FieldType) -> bool {
    matches!(kind, FieldType::I64 | FieldType::U16 | FieldType::F64)
}

impl Model {
    /// The tables for a schema and a layout.
    pub(crate) fn new(schema: &Arc<Schema>, layout: Layout) -> Result<Self, StoreError> {
        for table in &schema.tables {
            if let Some(missing) = offers::missing(&layout, table) {
                return Err(StoreError::unsupported("use a layout", missing));
            }
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
        Ok(Self {
            schema: Arc::clone(schema),
            layout,
            tables: schema
                .tables
                .iter()
                .map(|table| TableModel::new(schema, table, layout))
                .collect(),
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
}

impl TableModel {
    fn new(schema: &Schema, table: &Table, layout: Layout) -> Self {
        let own_tags = layout.tags == TagPlacement::OwnTable && !table.tags.is_empty();
        let own_table = |ending: &str| {
            quoted(&free_name(&format!("{}_{ending}", table.name), |name| {
                name == OWNER_TABLE
                    || schema.tables.iter().any(|other| {
                        let entity = other.entity.as_ref();
                        other.name == name || entity.is_some_and(|entity| entity.name == name)
                    })
            }))
        };
        let series = SeriesMap::new(table, own_tags);
        let mut described = Self {
            name: quoted(&table.name),
            tags: own_tags.then(|| own_table("tags")),
            sums: match layout.shape {
                Shape::Summary { per_ns, split } => {
                    Some(SumsModel::new(table, own_table("sums"), per_ns, split))
                }
                _ => None,
            },
            entity: table.entity.as_ref().map(|entity| EntityModel {
                name: quoted(&entity.name),
                last_time: quoted(&entity.last_time_column),
                referred_to: layout.foreign_key,
            }),
            keys: key_columns(table, own_tags, series.identifying()),
            content: content(table, layout.shape),
            series,
            inserts: Inserts::default(),
        };
        described.inserts = Inserts::new(table, &described);
        described
    }

    /// The columns that identify the series.
    pub(crate) fn identifying(&self) -> impl Iterator<Item = &KeyColumn> {
        self.keys.iter().filter(|key| key.identifying)
    }

    /// Appends what a row of this series has in its columns of the series.
    pub(crate) fn push_keys(&self, table: &Table, series: u32, row: &mut Vec<Value>) {
        row.extend(self.keys.iter().map(|key| key.value(table, series)));
    }

    /// Appends what identifies this series.
    pub(crate) fn push_identity(&self, table: &Table, series: u32, row: &mut Vec<Value>) {
        row.extend(self.identifying().map(|key| key.value(table, series)));
    }
}

impl KeyColumn {
    /// The value for a series.
    fn value(&self, table: &Table, series: u32) -> Value {
        match self.tag {
            None => Value::UInt(u64::from(series)),
            Some(tag) => tag_value(table, series, tag),
        }
    }
}

impl SumsModel {
    fn new(table: &Table, name: String, per_ns: i64, split: DaySplit) -> Self {
        let own = |wanted: &str| quoted(&free_name(wanted, |name| table.tag(name).is_some()));
        let columns = table.fields.iter().map(|field| {
            let own = |ending: &str| own(&format!("{}_{ending}", field.name));
            is_numeric(field.kind).then(|| SumColumns {
                count: own("count"),
                sum: own("sum"),
                min: own("min"),
                max: own("max"),
            })
        });
        Self {
            name,
            per_ns,
            split,
            period: own("period"),
            day: own("day"),
            fields: columns.collect(),
        }
    }
}

fn key_columns(table: &Table, own_tags: bool, identifying: &[usize]) -> Vec<KeyColumn> {
    if own_tags {
        let taken = |name: &str| table.field(name).is_some();
        let name = quoted(&free_name("series", taken));
        return vec![KeyColumn {
            indexed: name.clone(),
            name,
            kind: "INT UNSIGNED".to_owned(),
            tag: None,
            identifying: true,
        }];
    }
    let column = |(tag, values): (usize, &TagColumn)| {
        let name = quoted(&table.tags[tag].name);
        KeyColumn {
            kind: tag_type(values),
            indexed: indexed(&name, values),
            name,
            tag: Some(tag),
            identifying: identifying.contains(&tag),
        }
    };
    (0..).zip(table.series.columns()).map(column).collect()
}

/// The longest text that goes into an index as a whole, in characters.
const LONGEST_INDEXED: usize = 190;

/// Characters of the longest text, at least 1.
fn longest(values: &[String]) -> usize {
    let longest = values.iter().map(|value| value.chars().count()).max();
    longest.unwrap_or(0).max(1)
}

/// The database's type for a tag's values.
pub(crate) fn tag_type(values: &TagColumn) -> String {
    match values {
        TagColumn::Text(values) if longest(values) <= LONGEST_INDEXED => {
            format!("VARCHAR({})", longest(values))
        }
        TagColumn::Text(_) => "LONGTEXT".to_owned(),
        TagColumn::Integer(_) => "BIGINT".to_owned(),
    }
}

/// Whether a tag's values go into an index as a whole.
pub(crate) fn is_short(values: &TagColumn) -> bool {
    !matches!(values, TagColumn::Text(values) if longest(values) > LONGEST_INDEXED)
}

/// A tag's column in an index.
pub(crate) fn indexed(name: &str, values: &TagColumn) -> String {
    if is_short(values) {
        name.to_owned()
    } else {
        format!("{name}({LONGEST_INDEXED})")
    }
}

fn content(table: &Table, shape: Shape) -> Content {
    let own = |wanted: &str| {
        quoted(&free_name(wanted, |name| {
            table.tag(name).is_some() || table.field(name).is_some()
        }))
    };
    match shape {
        Shape::RowPerField => Content::Fields {
            second: own("second"),
            nanosecond: own("nanosecond"),
            number: own("number"),
            measurement: own("measurement"),
        },
        Shape::RecordPerSpan { span_ns, .. } => Content::Records {
            span_ns,
            span: own(if span_ns == SECOND_NS {
                "second"
            } else {
                "span"
            }),
            size: own("size"),
            document: own("measurements"),
        },
        _ => Content::Readings { time: own("time") },
    }
}
