//! From schema and layout to collections, documents and indexes.
//!
//! A physical schema is worked out from schema and layout alone, by each session anew or shared; it does not touch the database.
//! Names come from the schema; a name of our own that the schema has taken gets underscores appended. Writing and
//! asking both follow it; which layouts are on offer is in [`layout_options`], the series' tags are in [`series`].

pub(crate) mod layout_options;
#[cfg(test)]
mod pins;
pub(crate) mod series;

use self::series::Roster;
pub(crate) use self::series::Tags;
use mongodb::bson::{Document, doc};
use sensormark_store::{
    Encoding, Entity, FieldType, Index, Layout, QueryStyle, Schema, Scope, Shape, StoreError, Table,
    TagPlacement, TimeKey, TimeRange, WriteMethod,
};
use std::collections::HashSet;
use std::sync::Arc;

/// The name of the readings of a property, in a bucket.
pub(crate) const SAMPLES: &str = "samples";
/// How many readings have a field, in a bucket.
pub(crate) const COUNT: &str = "nsamples";

/// The owner's mark.
pub(crate) const OWNER_COLLECTION: &str = "sensormark_owner";
/// The collection that all tables share, where they do.
const SHARED_COLLECTION: &str = "point_data";
/// Where a shared collection's documents name their table.
pub(crate) const MEASUREMENT: &str = "measurement";

/// All collections of a layout.
#[derive(Debug)]
pub struct PhysicalSchema {
    /// What the readings look like.
    pub(crate) schema: Arc<Schema>,
    /// How they are kept.
    pub(crate) layout: Layout,
    tables: Vec<PhysicalTable>,
}

/// One table of the schema in MongoDB.
#[derive(Debug)]
pub(crate) struct PhysicalTable {
    /// The collection of its readings.
    pub(crate) collection: String,
    /// What its documents bear as their measurement, in a shared collection.
    pub(crate) measurement: Option<String>,
    /// How readings become documents.
    pub(crate) shape: Shape,
    /// The span of a time-series collection's buckets.
    granularity: Option<&'static str>,
    /// How questions are put.
    pub(crate) queries: QueryStyle,
    /// Whether times are dates of milliseconds.
    pub(crate) date: bool,
    /// The document's time: of the reading, or the start of its span or day.
    pub(crate) time: String,
    /// Where readings or properties are, inside a document that holds several.
    pub(crate) inner: String,
    /// A reading's time inside such a document.
    pub(crate) inner_time: String,
    /// The times of a bucket's first and last reading, and how many it holds.
    pub(crate) bucket: [String; 3],
    /// Where tags are.
    pub(crate) tags: Tags,
    /// Where values are.
    pub(crate) fields: Fields,
    /// The series and their tags.
    pub(crate) roster: Roster,
    /// The collection of entities.
    pub(crate) entity: Option<PhysicalEntity>,
}

/// Where a reading has its values.
#[derive(Debug)]
pub(crate) enum Fields {
    /// Beside the time, by these names.
    Beside(Vec<String>),
    /// By these names, in a document under this name.
    Under(String, Vec<String>),
    /// In their order, in an array of this name.
    Array(String),
}

/// The collection of entities.
#[derive(Debug)]
pub(crate) struct PhysicalEntity {
    /// The collection.
    pub(crate) collection: String,
    /// The names of its tags, of its columns, and of the time of the latest reading.
    pub(crate) tags: Vec<String>,
    /// The entity's columns.
    pub(crate) columns: Vec<String>,
    /// The time of the latest reading.
    pub(crate) last_time: String,
}

/// Hands out names that nothing else has.
#[derive(Default)]
struct Names(HashSet<String>);

impl Names {
    fn fresh(&mut self, wanted: &str) -> String {
        let mut name = wanted.to_owned();
        while !self.0.insert(name.clone()) {
            name.push('_');
        }
        name
    }

    fn all<'a>(&mut self, wanted: impl IntoIterator<Item = &'a str>) -> Vec<String> {
        wanted.into_iter().map(|name| self.fresh(name)).collect()
    }
}

impl PhysicalSchema {
    /// The physical schema of a schema and a layout.
    pub(crate) fn new(schema: &Arc<Schema>, layout: Layout) -> Result<Self, StoreError> {
        if let Some(reason) = missing(&layout) {
            return Err(StoreError::unsupported("lay out collections", reason));
        }
        let mut names = Names::default();
        names.fresh(OWNER_COLLECTION);
        if layout.scope == Scope::Shared {
            names.fresh(SHARED_COLLECTION);
        }
        let tables =
            schema.tables.iter().map(|table| PhysicalTable::new(table, &layout, &mut names)).collect();
        Ok(Self { schema: Arc::clone(schema), layout, tables })
    }

    /// A table and how it is kept.
    pub(crate) fn table(&self, number: usize) -> Result<(&Table, &PhysicalTable), StoreError> {
        let table = self.schema.table(number)?;
        Ok((table, &self.tables[number]))
    }

    /// The names of all collections, without the owner's.
    pub(crate) fn collections(&self) -> Vec<String> {
        let mut names: Vec<String> = Vec::new();
        for table in &self.tables {
            let entity = table.entity.as_ref().map(|entity| &entity.collection);
            for name in std::iter::once(&table.collection).chain(entity) {
                if !names.contains(name) {
                    names.push(name.clone());
                }
            }
        }
        names
    }

    /// The commands that make all collections and indexes, in order.
    pub(crate) fn commands(&self) -> Vec<Document> {
        let mut commands = Vec::new();
        let mut indexed: Vec<(String, Document)> = Vec::new();
        for name in self.collections() {
            let mut create = doc! { "create": &name };
            let table = self.tables.iter().find(|table| table.collection == name);
            if let Some(table) = table.filter(|table| table.shape == Shape::NativeTimeSeries) {
                create.insert("timeseries", table.time_series());
            }
            commands.push(create);
        }
        for table in &self.tables {
            if let Some(keys) = table.index(&self.layout) {
                let index = (table.collection.clone(), keys);
                if !indexed.contains(&index) {
                    indexed.push(index);
                }
            }
        }
        for (number, (collection, keys)) in indexed.into_iter().enumerate() {
            commands.push(doc! {
                "createIndexes": collection,
                "indexes": [{ "key": keys, "name": format!("series_time_{number}") }],
            });
        }
        commands
    }
}

/// Why MongoDB does not have this layout, if it does not.
pub(crate) fn missing(layout: &Layout) -> Option<&'static str> {
    let rows = matches!(layout.shape, Shape::RowPerReading | Shape::NativeTimeSeries);
    let buckets = matches!(layout.shape, Shape::Bucketed { .. });
    match layout.shape {
        Shape::RowPerField => return Some("a document a field of a reading is not offered"),
        Shape::Summary { .. } => {
            return Some("sums kept at write time are in the documents of the bucketed layout");
        }
        Shape::RecordPerSpan { span_ns, .. } if span_ns <= 0 => {
            return Some("a span lasts at least 1 ns");
        }
        Shape::Bucketed { per_ns, limit, .. } if per_ns <= 0 || limit == 0 => {
            return Some("a bucket is of at least 1 ns and holds at least one reading");
        }
        Shape::RecordPerSpan { encoding, .. } if encoding != Encoding::Documents => {
            return Some("records of a span are nested documents");
        }
        Shape::NativeTimeSeries if layout.time != TimeKey::Native => {
            return Some("the time field of a time-series collection is a date of milliseconds");
        }
        _ => {}
    }
    match (layout.scope, layout.tags, layout.write) {
        (Scope::PerSeries, ..) => Some("a collection for each series is not offered"),
        (Scope::Shared, ..) if layout.shape != Shape::RowPerReading => {
            Some("only documents of single readings share a collection")
        }
        (Scope::Shared, TagPlacement::Inline, _) => {
            Some("in a shared collection tags are in a document or an array of their own")
        }
        (_, TagPlacement::OwnTable, _) => Some("tags are in the documents"),
        (_, TagPlacement::KeyValueArray, _) if layout.shape != Shape::RowPerReading => {
            Some("pairs of key and value are offered for documents of single readings")
        }
        (_, _, WriteMethod::Datagram | WriteMethod::ConcatenatedStatements) => {
            Some("a request of MongoDB's protocol holds one command, over TCP")
        }
        (_, _, WriteMethod::MultiRow) => Some("the usual insert is one command with many documents already"),
        (_, _, WriteMethod::FastPath) if !rows && !buckets => {
            Some("this way of writing is offered for readings by themselves and for buckets")
        }
        _ if layout.index == Index::Clustered => {
            Some("collections clustered by another key than _id do not exist")
        }
        _ if layout.index == Index::FirstTagTime && !buckets => {
            Some("an index on the first tag and time is offered for buckets")
        }
        _ if layout.queries == QueryStyle::SecondLanguage => Some("MongoDB has one language"),
        _ if layout.queries != QueryStyle::Usual && !buckets => {
            Some("this way of asking is offered for buckets")
        }
        _ => None,
    }
}

/// Whether a reading's values go into one array: channels alike, of one series.
fn is_array(table: &Table) -> bool {
    table.tags.is_empty()
        && table.fields.len() > 1
        && table.fields.iter().all(|field| !field.nullable && field.kind == table.fields[0].kind)
        && table.fields[0].kind != FieldType::Text
}

impl PhysicalEntity {
    fn new(table: &Table, entity: &Entity, names: &mut Names) -> Self {
        let mut inside = Names::default();
        Self {
            collection: names.fresh(&entity.name),
            tags: inside.all(table.tags.iter().map(|tag| tag.name.as_str())),
            columns: inside.all(entity.columns.iter().map(|column| column.name.as_str())),
            last_time: inside.fresh(&entity.last_time_column),
        }
    }
}

impl PhysicalTable {
    fn new(table: &Table, layout: &Layout, names: &mut Names) -> Self {
        let mut inside = Names::default();
        let shared = layout.scope == Scope::Shared;
        if shared {
            inside.fresh(MEASUREMENT);
        }
        let tag_names = || table.tags.iter().map(|tag| tag.name.as_str());
        let tags = match layout.tags {
            TagPlacement::KeyValueArray => Tags::Pairs(inside.fresh("tags")),
            TagPlacement::Subdocument => Tags::Under(inside.fresh("tags")),
            TagPlacement::Inline | TagPlacement::OwnTable => Tags::Beside(inside.all(tag_names())),
        };
        let date = layout.time == TimeKey::Native;
        let (time, inner, inner_time) = match layout.shape {
            Shape::RecordPerSpan { .. } => ("time", "measurements", "time"),
            Shape::Bucketed { .. } => ("day", "properties", "timestamp"),
            Shape::GrowingArray => ("", "samples", "timestamp"),
            _ if shared && !date => ("timestamp_ns", "", ""),
            _ => ("time", "", ""),
        };
        let nested = !inner.is_empty();
        let time = if time.is_empty() { String::new() } else { inside.fresh(time) };
        let inner = if nested { inside.fresh(inner) } else { String::new() };
        let bucket = ["first", "last", "nsamples"].map(|name| inside.fresh(name));
        let mut reading = if nested { Names::default() } else { inside };
        let inner_time = if nested { reading.fresh(inner_time) } else { String::new() };
        Self {
            collection: if shared { SHARED_COLLECTION.to_owned() } else { names.fresh(&table.name) },
            measurement: shared.then(|| table.name.clone()),
            shape: layout.shape,
            granularity: table.series.interval_ns().map(granularity),
            queries: layout.queries,
            date,
            time,
            inner,
            inner_time,
            bucket,
            fields: fields(table, layout, &mut reading),
            roster: Roster::new(table, &tags, layout.shape),
            tags,
            entity: table.entity.as_ref().map(|entity| PhysicalEntity::new(table, entity, names)),
        }
    }

    /// Whether a document holds one reading.
    pub(crate) fn is_flat(&self) -> bool {
        matches!(self.shape, Shape::RowPerReading | Shape::NativeTimeSeries)
    }

    /// The path of a tag in a document; none where tags are pairs.
    pub(crate) fn tag_path(&self, table: &Table, tag: usize) -> Option<String> {
        match &self.tags {
            Tags::Beside(names) => Some(names[tag].clone()),
            Tags::Under(under) => Some(format!("{under}.{}", table.tags[tag].name)),
            Tags::Pairs(_) => None,
        }
    }

    /// A range as the kept times are compared with it: for dates, its bounds rounded up to whole milliseconds.
    pub(crate) fn range(&self, range: TimeRange) -> TimeRange {
        if !self.date {
            return range;
        }
        let up = |time: i64| {
            let rest = time.rem_euclid(1_000_000);
            if rest == 0 { time } else { time.saturating_add(1_000_000 - rest) }
        };
        TimeRange::new(up(range.start_ns), up(range.end_ns))
    }

    /// A time as it is kept, in ns.
    pub(crate) const fn kept(&self, time_ns: i64) -> i64 {
        if self.date { time_ns - time_ns.rem_euclid(1_000_000) } else { time_ns }
    }

    fn time_series(&self) -> Document {
        let mut options = doc! { "timeField": &self.time };
        if let Tags::Under(under) = &self.tags {
            options.insert("metaField", under);
        }
        if let Some(granularity) = self.granularity {
            options.insert("granularity", granularity);
        }
        options
    }

    /// In which order the index has the times of a series: of a time-series collection the latest first, so that a bucket is known by its latest time
    /// (<https://www.mongodb.com/docs/manual/core/timeseries/timeseries-secondary-index/>).
    pub(crate) const fn time_order(&self) -> i32 {
        match self.shape {
            Shape::NativeTimeSeries => -1,
            _ => 1,
        }
    }

    /// The keys of the index on readings.
    fn index(&self, layout: &Layout) -> Option<Document> {
        let mut keys = Document::new();
        if self.measurement.is_some() {
            keys.insert(MEASUREMENT, 1);
        }
        let first = self.roster.tag_paths().first().map(|_| 0);
        let tags: Vec<usize> = match layout.index {
            Index::FirstTagTime => first.into_iter().collect(),
            _ => self.roster.identity().to_vec(),
        };
        let tags = tags.into_iter();
        match &self.tags {
            Tags::Pairs(name) => {
                keys.insert(name, 1);
            }
            Tags::Beside(names) => {
                keys.extend(tags.map(|tag| (names[tag].clone(), 1.into())));
            }
            Tags::Under(_) => {
                let paths = self.roster.tag_paths();
                keys.extend(tags.map(|tag| (paths[tag].clone(), 1.into())));
            }
        }
        let has_time =
            matches!(layout.index, Index::SeriesTime | Index::FirstTagTime) && !self.time.is_empty();
        let wanted = match layout.index {
            Index::None | Index::Clustered => false,
            Index::Series => !keys.is_empty(),
            Index::SeriesTime | Index::FirstTagTime => {
                self.shape != Shape::NativeTimeSeries || !keys.is_empty()
            }
        };
        if !wanted || self.shape == Shape::GrowingArray {
            return None;
        }
        if has_time {
            keys.insert(&self.time, self.time_order());
        }
        Some(keys)
    }
}

/// The unit that is nearest to the usual time between two readings of a series, as the documentation asks for
/// (<https://www.mongodb.com/docs/manual/core/timeseries/timeseries-granularity/>). A bucket then spans an hour, a day or 30 days.
const fn granularity(interval_ns: i64) -> &'static str {
    // Half-way between 1 s and 1 min, and between 1 min and 1 h.
    match interval_ns / 1_000_000 {
        ..=30_500 => "seconds",
        30_501..=1_830_000 => "minutes",
        _ => "hours",
    }
}

fn fields(table: &Table, layout: &Layout, names: &mut Names) -> Fields {
    let wanted = || table.fields.iter().map(|field| field.name.as_str());
    let nameless = matches!(layout.shape, Shape::RowPerReading | Shape::RecordPerSpan { .. });
    if nameless && layout.scope == Scope::PerTable && is_array(table) {
        return Fields::Array(names.fresh("sensors"));
    }
    if matches!(layout.shape, Shape::Bucketed { .. }) {
        names.fresh(SAMPLES);
    }
    if layout.scope == Scope::Shared {
        let under = names.fresh("fields");
        return Fields::Under(under, wanted().map(str::to_owned).collect());
    }
    Fields::Beside(names.all(wanted()))
}
