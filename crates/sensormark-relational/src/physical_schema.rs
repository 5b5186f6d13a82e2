//! How a schema and a layout become tables: names, columns and what identifies a series.
//!
//! A [`PhysicalSchema`] is made once for a plan and shared by its sessions. It holds no readings and runs no statements: the
//! statements that make the tables are in [`crate::ddl`].

mod columns;

pub use self::columns::column_count;
use self::columns::{content_columns, free_name, key_columns, own_column};
use crate::column_type::ColumnType;
use crate::dialect::Dialect;
use crate::table::{Content, PhysicalEntity, PhysicalSums, PhysicalTable, SumColumns};
use sensormark_kit::{Key, SeriesMap};
use sensormark_store::query::DaySplit;
use sensormark_store::{
    Encoding, ErrorKind, FieldType, Layout, Schema, Shape, StoreError, Table, TagPlacement, TimeKey,
};
use std::sync::Arc;

/// The owner's table: it has one row, the owner's mark.
pub const OWNER_TABLE: &str = "sensormark_owner";

/// A plan's schema, as tables of a database.
#[derive(Debug)]
pub struct PhysicalSchema {
    /// The database's choices.
    pub dialect: &'static dyn Dialect,
    /// What readings look like.
    pub schema: Arc<Schema>,
    /// How they are kept.
    pub layout: Layout,
    /// One a table of the schema.
    pub tables: Vec<PhysicalTable>,
    /// The length of a unit of time keys in ns.
    unit_ns: i64,
    /// Units from the Unix epoch to that of time keys.
    epoch: i64,
}

impl PhysicalSchema {
    /// The tables for a schema and a layout.
    ///
    /// # Errors
    /// [`ErrorKind::Unsupported`] for a layout that the database does not offer, [`ErrorKind::Configuration`] for a table that is named as the
    /// owner's.
    pub fn new(
        dialect: &'static dyn Dialect,
        schema: &Arc<Schema>,
        layout: Layout,
    ) -> Result<Self, StoreError> {
        let missing = |table| dialect.missing(&layout, table);
        if let Some(missing) = schema.tables.iter().find_map(missing) {
            return Err(StoreError::unsupported("use a layout", missing));
        }
        if schema.tables.iter().any(|table| table.name == OWNER_TABLE) {
            return Err(StoreError::new(
                ErrorKind::Configuration,
                "use a schema",
                format!("a table may not be named {OWNER_TABLE}: that is where the owner's mark is kept"),
            ));
        }
        let table = |(number, table)| table_of(dialect, schema, number, table, layout);
        let unit = match layout.time {
            TimeKey::Nanoseconds => None,
            TimeKey::Native => dialect.time_unit(),
        };
        Ok(Self {
            dialect,
            schema: Arc::clone(schema),
            layout,
            tables: schema.tables.iter().enumerate().map(table).collect(),
            unit_ns: unit.map_or(1, |unit| unit.unit_ns),
            epoch: unit.map_or(0, |unit| unit.epoch),
        })
    }

    /// A table of the schema, and what it is in the database.
    ///
    /// # Errors
    /// [`ErrorKind::NotFound`] when the schema has no such table.
    pub fn table(&self, number: usize) -> Result<(&Table, &PhysicalTable), StoreError> {
        let table = self.schema.table(number)?;
        Ok((table, &self.tables[number]))
    }

    /// The span of a record and its encoding, in layouts with records of a span.
    pub const fn span(&self) -> Option<(i64, Encoding)> {
        match self.layout.shape {
            Shape::RecordPerSpan { span_ns, encoding } => Some((span_ns, encoding)),
            _ => None,
        }
    }

    /// The period of sums and how they split the day, in layouts with a summary.
    pub const fn summary(&self) -> Option<(i64, DaySplit)> {
        match self.layout.shape {
            Shape::Summary { per_ns, split } => Some((per_ns, split)),
            _ => None,
        }
    }

    /// Whether a row holds one field.
    pub fn is_row_per_field(&self) -> bool {
        self.layout.shape == Shape::RowPerField
    }

    /// A time as the layout's key of time, cut off towards the past.
    pub const fn time_key(&self, time_ns: i64) -> i64 {
        match self.unit_ns {
            1 => time_ns,
            unit_ns => time_ns.div_euclid(unit_ns) - self.epoch,
        }
    }

    /// The first key of time that is not before this instant.
    pub const fn bound_key(&self, time_ns: i64) -> i64 {
        self.time_key(time_ns.saturating_add(self.unit_ns - 1))
    }

    /// The time of a key of time, in ns.
    pub const fn time_ns(&self, key: i64) -> i64 {
        match self.unit_ns {
            1 => key,
            unit_ns => (key + self.epoch) * unit_ns,
        }
    }

    /// The length of a unit of time keys in ns.
    pub const fn unit_ns(&self) -> i64 {
        self.unit_ns
    }

    /// The type of keys of time.
    pub const fn time_type(&self) -> ColumnType {
        match self.layout.time {
            TimeKey::Nanoseconds => ColumnType::I64,
            TimeKey::Native => ColumnType::Timestamp,
        }
    }
}

/// A table of the schema, with the names and columns that the layout gives it.
fn table_of(
    dialect: &'static dyn Dialect,
    schema: &Arc<Schema>,
    number: usize,
    table: &Table,
    layout: Layout,
) -> PhysicalTable {
    let own_tags = layout.tags == TagPlacement::OwnTable && !table.tags.is_empty();
    let own_table =
        |ending: &str| {
            dialect.quote(&free_name(&format!("{}_{ending}", table.name), |name| {
                schema.tables.iter().any(|other| {
                    other.name == name || other.entity.as_ref().is_some_and(|one| one.name == name)
                }) || name == OWNER_TABLE
            }))
        };
    let mut columns = key_columns(dialect, table, own_tags);
    let series = SeriesMap::new(schema, number, own_tags);
    let place = |key: &Key| if let Key::Tag(tag) = key { *tag } else { 0 };
    let keys = series.keys().iter().map(place).collect();
    content_columns(dialect, table, &layout, &mut columns);
    let find = |wanted: fn(&Content) -> bool| {
        columns.iter().find(|column| wanted(&column.content)).map(|column| column.name.clone())
    };
    let is_time = |content: &Content| matches!(content, Content::Time | Content::Span);
    PhysicalTable {
        number,
        name: dialect.quote(&table.name),
        tag_names: quoted(dialect, table.tags.iter().map(|tag| &tag.name)),
        field_names: quoted(dialect, table.fields.iter().map(|field| &field.name)),
        tags: own_tags.then(|| own_table("tags")),
        sums: matches!(layout.shape, Shape::Summary { .. })
            .then(|| sums_of(dialect, table, own_table("sums"))),
        entity: table.entity.as_ref().map(|entity| PhysicalEntity {
            name: dialect.quote(&entity.name),
            columns: quoted(dialect, entity.columns.iter().map(|column| &column.name)),
            last_time: dialect.quote(&entity.last_time_column),
        }),
        time: find(is_time).unwrap_or_default(),
        columns,
        keys,
        series,
        readings_per_statement: dialect.readings_per_statement(&layout, table).max(1),
    }
}

fn quoted<'a>(dialect: &'static dyn Dialect, names: impl Iterator<Item = &'a String>) -> Vec<String> {
    names.map(|name| dialect.quote(name)).collect()
}

/// The table of sums of a table.
fn sums_of(dialect: &'static dyn Dialect, table: &Table, name: String) -> PhysicalSums {
    let names = dialect.names();
    let own = |wanted: &str| own_column(dialect, table, wanted);
    let numeric = |kind: FieldType| matches!(kind, FieldType::I64 | FieldType::U16 | FieldType::F64);
    let fields = table.fields.iter().enumerate();
    let columns = fields.filter(|(_, field)| numeric(field.kind)).map(|(number, field)| {
        let own = |ending: &str| own(&format!("{}{}{ending}", field.name, names.sum_separator));
        SumColumns {
            field: number,
            kind: field.kind,
            nullable: field.nullable,
            count: own("count"),
            sum: own("sum"),
            min: own("min"),
            max: own("max"),
        }
    });
    PhysicalSums { name, period: own(names.period), day: own(names.day), fields: columns.collect() }
}
