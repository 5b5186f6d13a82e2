//! The tables of a layout: their names, columns and keys. The statements that make them are in [`crate::tables`].
//!
//! A design is worked out from schema and layout alone, by each connection anew; it does not touch the database. Names come
//! from the schema; a name of our own that the schema has taken gets underscores appended.

use sensormark_store::{
    Encoding, Entity, Index, Layout, Plan, Schema, Shape, StoreError, Table, TagPlacement, TimeKey,
};
use std::collections::HashSet;
use std::sync::Arc;

/// The owner's mark.
pub const OWNER_TABLE: &str = "sensormark_owner";

/// All tables of a layout.
#[derive(Debug, Clone)]
pub struct Design {
    /// What the readings look like.
    pub schema: Arc<Schema>,
    /// How they are kept.
    pub layout: Layout,
    /// One design a table of the schema.
    pub tables: Vec<TableDesign>,
}

/// One table of the schema in SQLite. All names are quoted.
#[derive(Debug, Clone)]
pub struct TableDesign {
    /// The table of readings, or of records of a span.
    pub readings: String,
    /// How a row says which series it belongs to.
    pub key: SeriesKey,
    /// The column of time in ns, or of the span's number.
    pub time: String,
    /// Tells repeated writes of one key apart where the table is clustered; 0 unless a key is repeated.
    pub copy: Option<String>,
    /// The fields' columns (row a reading), or number and value (row a field), or size and data (record a span).
    pub values: Vec<String>,
    /// The table of tags with its columns, where tags have one of their own.
    pub tags: Option<NamedColumns>,
    /// The table of sums kept at write time.
    pub sums: Option<SumsDesign>,
    /// The table of entities.
    pub entity: Option<EntityDesign>,
}

/// A table and some of its columns.
#[derive(Debug, Clone)]
pub struct NamedColumns {
    /// The table.
    pub table: String,
    /// The columns.
    pub columns: Vec<String>,
}

/// How a row says which series it belongs to.
#[derive(Debug, Clone)]
pub enum SeriesKey {
    /// There is one series and nothing to say.
    Only,
    /// By the number under which the tags' own table has it.
    Number(String),
    /// By its tags, in the row.
    Tags {
        /// One column a tag.
        columns: Vec<String>,
        /// The tags of the series' key, in its order.
        identifying: Vec<usize>,
    },
}

/// The table of sums.
#[derive(Debug, Clone)]
pub struct SumsDesign {
    /// The table.
    pub table: String,
    /// Start of the period in ns.
    pub period: String,
    /// Whether the sums are of the day (1) or night (0).
    pub day: String,
    /// A field's count, and where it is a number its sum, minimum and maximum.
    pub fields: Vec<[String; 4]>,
}

/// The table of entities.
#[derive(Debug, Clone)]
pub struct EntityDesign {
    /// The table.
    pub table: String,
    /// The columns that name the series: all its tags, or its number.
    pub key: SeriesKey,
    /// The entity's columns.
    pub columns: Vec<String>,
    /// The column that holds the time of the latest reading.
    pub last_time: String,
}

impl SeriesKey {
    /// The columns that tell series apart.
    pub fn identifying(&self) -> Vec<&str> {
        match self {
            Self::Only => Vec::new(),
            Self::Number(column) => vec![column],
            Self::Tags {
                columns,
                identifying,
            } => identifying
                .iter()
                .map(|&tag| columns[tag].as_str())
                .collect(),
        }
    }

    /// The columns that a row is written with.
    pub fn written(&self) -> Vec<&str> {
        match self {
            Self::Tags { columns, .. } => columns.iter().map(String::as_str).collect(),
            _ => self.identifying(),
        }
    }
}

/// Hands out names that nothing else has.
#[derive(Default)]
struct Names(HashSet<String>);

impl Names {
    fn fresh(&mut self, wanted: &str) -> String {
        let mut name = wanted.to_owned();
        if name.starts_with("sqlite_") {
            name.insert(0, '_');
        }
        while !self.0.insert(name.clone()) {
            name.push('_');
        }
        format!("\"{name}\"")
    }

    fn all<'a>(&mut self, wanted: impl IntoIterator<Item = &'a str>) -> Vec<String> {
        wanted.into_iter().map(|name| self.fresh(name)).collect()
    }
}

impl Design {
    /// The design of a plan.
    ///
    /// # Errors
    /// [`sensormark_store::ErrorKind::Unsupported`] for a layout that this store does not offer.
    pub fn new(plan: &Plan) -> Result<Self, StoreError> {
        let layout = plan.layout;
        if let Some(reason) = unsupported(&layout) {
            return Err(StoreError::unsupported("lay out tables", reason));
        }
        let mut names = Names::default();
        names.fresh(OWNER_TABLE);
        let readings = names.all(plan.schema.tables.iter().map(|table| table.name.as_str()));
        let tables = plan
            .schema
            .tables
            .iter()
            .zip(readings)
            .map(|(table, readings)| design_table(table, readings, &layout, &mut names))
            .collect();
        Ok(Self {
            schema: Arc::clone(&plan.schema),
            layout,
            tables,
        })
    }

    /// The names of all tables that the statements make, without quotes.
    pub fn table_names(&self) -> Vec<String> {
        let mut names = Vec::new();
        for design in &self.tables {
            names.push(design.readings.clone());
            names.extend(design.tags.iter().map(|tags| tags.table.clone()));
            names.extend(design.sums.iter().map(|sums| sums.table.clone()));
            names.extend(design.entity.iter().map(|entity| entity.table.clone()));
        }
        names
            .into_iter()
            .map(|name| name.trim_matches('"').to_owned())
            .collect()
    }
}

/// Why SQLite does not have this layout, if it does not.
pub fn unsupported(layout: &Layout) -> Option<&'static str> {
    use sensormark_store::{QueryStyle, Scope, WriteMethod};
    match layout.shape {
        Shape::Bucketed { .. } | Shape::GrowingArray => {
            return Some(
                "documents that grow are not a table's way; choose rows or rows with sums",
            );
        }
        Shape::NativeTimeSeries => return Some("SQLite has no container for time series"),
        Shape::RecordPerSpan { span_ns, .. } if span_ns <= 0 => {
            return Some("a span lasts at least 1 ns");
        }
        Shape::Summary { per_ns, .. } if per_ns <= 0 => {
            return Some("a period lasts at least 1 ns");
        }
        Shape::RecordPerSpan { encoding, .. }
            if !matches!(
                encoding,
                Encoding::Json | Encoding::BinaryJson | Encoding::Blob
            ) =>
        {
            return Some("SQLite has no arrays or documents; choose JSON, JSONB or blob");
        }
        _ => {}
    }
    let rows = layout.shape == Shape::RowPerReading;
    if layout.index == Index::Clustered && !rows && !matches!(layout.shape, Shape::Summary { .. }) {
        return Some("only rows of whole readings are offered clustered");
    }
    if layout.index == Index::FirstTagTime {
        return Some("an index holds all tags that tell series apart");
    }
    match (layout.time, layout.scope, layout.tags, layout.write) {
        (TimeKey::Native, ..) => Some("SQLite has no type for times"),
        (_, Scope::Shared | Scope::PerSeries, ..) => {
            Some("a table for each of the schema's is offered")
        }
        (_, _, TagPlacement::Subdocument | TagPlacement::KeyValueArray, _) => {
            Some("tags are columns, or rows of their own table")
        }
        (_, _, _, WriteMethod::FastPath) => {
            Some("a prepared statement in one transaction is SQLite's fastest path already")
        }
        (_, _, _, WriteMethod::Datagram) => Some("an embedded database gets no datagrams"),
        (_, _, _, WriteMethod::MultiRow | WriteMethod::ConcatenatedStatements) if !rows => {
            Some("this way of writing is offered for rows of readings")
        }
        _ if layout.queries != QueryStyle::Usual => Some("SQLite is asked in one way"),
        _ => None,
    }
}

fn design_table(
    table: &Table,
    readings: String,
    layout: &Layout,
    tables: &mut Names,
) -> TableDesign {
    let mut names = Names::default();
    let key = series_key(table, layout.tags, &mut names);
    let fields = table.fields.iter().map(|field| field.name.as_str());
    let (time, values) = match layout.shape {
        Shape::RecordPerSpan { .. } => (names.fresh("span"), names.all(["size", "data"])),
        Shape::RowPerField => (names.fresh("time_ns"), names.all(["field", "value"])),
        _ => {
            let values = names.all(fields);
            (names.fresh("time_ns"), values)
        }
    };
    let copy = (layout.index == Index::Clustered).then(|| names.fresh("copy"));
    let tags = matches!(key, SeriesKey::Number(_)).then(|| {
        let mut names = Names::default();
        names.fresh("series");
        NamedColumns {
            table: tables.fresh(&format!("{}_tags", table.name)),
            columns: names.all(table.tags.iter().map(|tag| tag.name.as_str())),
        }
    });
    let sums = matches!(layout.shape, Shape::Summary { .. })
        .then(|| design_sums(table, layout.tags, tables));
    let entity = table
        .entity
        .as_ref()
        .map(|entity| design_entity(table, entity, layout.tags, tables));
    TableDesign {
        readings,
        key,
        time,
        copy,
        values,
        tags,
        sums,
        entity,
    }
}

fn series_key(table: &Table, placement: TagPlacement, names: &mut Names) -> SeriesKey {
    if table.tags.is_empty() {
        return SeriesKey::Only;
    }
    if placement == TagPlacement::OwnTable {
        return SeriesKey::Number(names.fresh("series"));
    }
    SeriesKey::Tags {
        columns: names.all(table.tags.iter().map(|tag| tag.name.as_str())),
        identifying: sensormark_store::SeriesKey::of(table).tags().to_vec(),
    }
}

fn design_sums(table: &Table, placement: TagPlacement, tables: &mut Names) -> SumsDesign {
    let mut names = Names::default();
    series_key(table, placement, &mut names);
    let fields = table
        .fields
        .iter()
        .map(|field| {
            ["count", "sum", "min", "max"]
                .map(|what| names.fresh(&format!("{}_{what}", field.name)))
        })
        .collect();
    SumsDesign {
        table: tables.fresh(&format!("{}_sums", table.name)),
        period: names.fresh("period_ns"),
        day: names.fresh("day"),
        fields,
    }
}

fn design_entity(
    table: &Table,
    entity: &Entity,
    placement: TagPlacement,
    tables: &mut Names,
) -> EntityDesign {
    let mut names = Names::default();
    let key = match series_key(table, placement, &mut names) {
        SeriesKey::Only => SeriesKey::Number(names.fresh("series")),
        key => key,
    };
    EntityDesign {
        table: tables.fresh(&entity.name),
        key,
        columns: names.all(entity.columns.iter().map(|column| column.name.as_str())),
        last_time: names.fresh(&entity.last_time_column),
    }
}
