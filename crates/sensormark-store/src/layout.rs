//! Schema designs: how a database keeps readings, in words that fit every database.
//!
//! A workload asks a store for the layouts of one [`Family`]; the store offers what it has, each a
//! [`LayoutOption`]. Nothing here knows a database's statements: those are in each store's `schema.rs`.

use crate::query::DaySplit;
use serde::{Deserialize, Deserializer, Serialize};

/// What a workload asks for: a way of grouping readings into records.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Family {
    /// Each reading is stored and found by itself.
    PerReading,
    /// All readings of a series in one span of time are one record.
    PerSpan {
        /// Length of the span in ns; spans start at its multiples since the Unix epoch.
        span_ns: i64,
    },
    /// Records that fill up message by message, then the next is opened.
    Bucketed {
        /// Readings in a full bucket.
        limit: u32,
        /// A bucket holds readings of one multiple of this many ns.
        per_ns: i64,
        /// Which part of a day counts as day when the bucket's sums are split.
        split: DaySplit,
    },
    /// Each reading by itself, and beside it a row of sums kept up to date by each write.
    Summary {
        /// A row of sums covers one multiple of this many ns.
        per_ns: i64,
        /// Which part of a day counts as day when sums are split.
        split: DaySplit,
    },
    /// One record a series, growing with each reading.
    GrowingArray,
}

/// How readings become rows, documents or points.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Shape {
    /// One row, document or point a reading.
    RowPerReading,
    /// One row a field of a reading: (series, time, number of the field, value).
    RowPerField,
    /// One record for the readings of a series in a span. A write makes one record for each span that it touches,
    /// even where the span has one already; a read merges all records of a span.
    RecordPerSpan {
        /// Length of the span in ns; spans start at its multiples since the Unix epoch.
        span_ns: i64,
        /// How the readings are encoded inside the record.
        encoding: Encoding,
    },
    /// Records that fill up to `limit` readings of one `per_ns`, with sums in each.
    Bucketed {
        /// Readings in a full bucket.
        limit: u32,
        /// A bucket holds readings of one multiple of this many ns since the epoch.
        per_ns: i64,
        /// Which part of a day the sums call day.
        split: DaySplit,
        /// How many smallest and largest values a bucket keeps of each field.
        #[serde(default)]
        extremes: Extremes,
    },
    /// One row a reading, and a row of sums for each series and `per_ns`.
    Summary {
        /// A row of sums covers one multiple of this many ns since the epoch.
        per_ns: i64,
        /// Which part of a day the sums call day.
        split: DaySplit,
    },
    /// One record a series, growing with each reading.
    GrowingArray,
    /// The database's own container for time series (time-series collections, time-series containers).
    NativeTimeSeries,
}

/// How many smallest and largest values a bucket keeps of each field of a series, beside its sums by day and by night.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Extremes {
    /// One pair by day and one by night, as there are sums.
    #[default]
    PerPart,
    /// One pair for the whole bucket.
    PerBucket,
}

/// How readings are encoded inside one record of a span.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Encoding {
    /// JSON text: `{"measurements":[{"ns":…,"m":[…]},…]}`.
    Json,
    /// The database's own parsed JSON (JSONB).
    BinaryJson,
    /// Arrays, one a column.
    Arrays,
    /// Bytes that the client packs: columns in little-endian order.
    Blob,
    /// Nested documents.
    Documents,
}

/// Where tags are kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TagPlacement {
    /// In each row, or in the database's own index of tags.
    Inline,
    /// In a table of their own, one row a series; readings refer to it by number.
    OwnTable,
    /// As a subdocument of named values.
    Subdocument,
    /// As an array of {key, value} pairs.
    KeyValueArray,
}

/// What index a table of readings has.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Index {
    /// None that sensormark made.
    None,
    /// On the series alone, as a foreign key brings it.
    Series,
    /// On series and time (time alone where there is one series).
    SeriesTime,
    /// On the table's first tag and time, without other tags: what a study states where the rule (`SeriesKey`) has more tags.
    FirstTagTime,
    /// None beside the table: the rows themselves are kept in the order of series and time (a clustered primary key).
    Clustered,
}

/// What the key of time is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TimeKey {
    /// An integer of nanoseconds (or seconds and nanoseconds): nothing is rounded.
    Nanoseconds,
    /// The database's own type for times, which may keep fewer digits.
    Native,
}

/// How tables are spread over the database's containers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Scope {
    /// A table, collection or measurement for each of the schema's tables.
    PerTable,
    /// One for all of them.
    Shared,
    /// One for each series.
    PerSeries,
}

/// How writes travel.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum WriteMethod {
    /// The database's usual prepared or batched statement for the batch's size.
    Usual,
    /// Single statements one after another in one request.
    ConcatenatedStatements,
    /// One statement with many rows.
    MultiRow,
    /// The database's fastest honest path (COPY, LOAD DATA, unlogged batches, unordered bulk).
    FastPath,
    /// Datagrams, which nobody acknowledges.
    Datagram,
}

/// How questions are put to the database, where there are several ways to the same answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum QueryStyle {
    /// What the store takes to be the database's best way.
    #[default]
    Usual,
    /// In the database's second language (Flux beside InfluxQL).
    SecondLanguage,
    /// Records of several readings are taken apart first. Then each reading is compared with the range, and the server
    /// puts those of a range together to one record.
    UnwindFirst,
    /// As [`QueryStyle::UnwindFirst`], and aggregates are computed by window functions: each reading gets its group's.
    WindowFunctions,
}

/// Results of earlier versions say `second_language: true` or `false`.
fn query_style<'de, D: Deserializer<'de>>(deserializer: D) -> Result<QueryStyle, D::Error> {
    #[derive(Deserialize)]
    #[serde(untagged)]
    enum Stored {
        SecondLanguage(bool),
        Style(QueryStyle),
    }
    Ok(match Stored::deserialize(deserializer)? {
        Stored::SecondLanguage(true) => QueryStyle::SecondLanguage,
        Stored::SecondLanguage(false) => QueryStyle::Usual,
        Stored::Style(style) => style,
    })
}

/// A schema design, complete: with the store's name and a schema it says all that makes an implementation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Layout {
    /// How readings become records.
    pub shape: Shape,
    /// Where tags are kept.
    pub tags: TagPlacement,
    /// Which index there is.
    pub index: Index,
    /// What the key of time is.
    pub time: TimeKey,
    /// How tables are spread over containers.
    pub scope: Scope,
    /// How writes travel.
    pub write: WriteMethod,
    /// How questions are put to the database.
    #[serde(default, alias = "second_language", deserialize_with = "query_style")]
    pub queries: QueryStyle,
    /// Whether the database holds readings to the entity that they belong to, by a foreign key: a reading without its entity is refused.
    #[serde(default)]
    pub foreign_key: bool,
    /// Whether whole numbers are kept as the database's floating point numbers; false in results of before it was a choice.
    #[serde(default)]
    pub float_fields: bool,
}

impl Layout {
    /// A row a reading with inline tags, an index on series and time, nanosecond keys and usual writes: what most stores start from.
    pub const fn row_per_reading() -> Self {
        Self {
            shape: Shape::RowPerReading,
            tags: TagPlacement::Inline,
            index: Index::SeriesTime,
            time: TimeKey::Nanoseconds,
            scope: Scope::PerTable,
            write: WriteMethod::Usual,
            queries: QueryStyle::Usual,
            foreign_key: false,
            float_fields: false,
        }
    }

    /// The same with this shape.
    #[must_use]
    pub const fn with_shape(mut self, shape: Shape) -> Self {
        self.shape = shape;
        self
    }

    /// The same with this index.
    #[must_use]
    pub const fn with_index(mut self, index: Index) -> Self {
        self.index = index;
        self
    }

    /// The same with this type of time.
    #[must_use]
    pub const fn with_time(mut self, time: TimeKey) -> Self {
        self.time = time;
        self
    }

    /// The same with tags in this place.
    #[must_use]
    pub const fn with_tags(mut self, tags: TagPlacement) -> Self {
        self.tags = tags;
        self
    }

    /// The same with this way of writing.
    #[must_use]
    pub const fn with_write(mut self, write: WriteMethod) -> Self {
        self.write = write;
        self
    }
}

/// When a layout is measured.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum DefaultSelection {
    /// The store's usual layout of this family: always measured.
    Usual,
    /// Measured too whenever the store is named without a layout.
    Further,
    /// Measured only when it is named.
    OnRequest,
}

/// One layout that a store offers for a family.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LayoutOption {
    /// What tells it from the store's other layouts of the same family ("row-per-channel"); empty for the usual one.
    pub variant: String,
    /// The layout.
    pub layout: Layout,
    /// When it is measured.
    pub default_selection: DefaultSelection,
    /// One line for `sensormark list`: the table or document, in the database's own words.
    pub description: String,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn layouts_of_earlier_results_are_read() {
        let mut stored = serde_json::to_value(Layout::row_per_reading()).unwrap();
        let fields = stored.as_object_mut().unwrap();
        fields.remove("queries");
        for (second, style) in [(true, QueryStyle::SecondLanguage), (false, QueryStyle::Usual)] {
            let mut stored = stored.clone();
            stored["second_language"] = second.into();
            let read: Layout = serde_json::from_value(stored).unwrap();
            assert_eq!(read.queries, style);
        }
        stored["shape"] = serde_json::json!({ "bucketed": {
            "limit": 200, "per_ns": 1, "split": { "day_start_ns": 0, "day_end_ns": 1 },
        } });
        let read: Layout = serde_json::from_value(stored).unwrap();
        assert!(matches!(read.shape, Shape::Bucketed { extremes: Extremes::PerPart, .. }));
    }
}
