//! The data sets that the rules are tried on: schemas of every kind that a workload may bring, and their readings.
//!
//! They are small and depend on nothing but these lines. They hold what is awkward: gaps, absent values, ties, a series of one reading, a series of none, tags
//! that need quoting. No value is so chosen that floating point sums cancel.

use sensormark_store::batch::Batch;
use sensormark_store::query::{DaySplit, TimeRange};
use sensormark_store::schema::{
    Entity, Field, FieldType, Schema, Series, Table, Tag, TagColumn, TimeResolution, Value,
};
use std::sync::Arc;

pub(super) const SECOND: i64 = 1_000_000_000;
pub(super) const MINUTE: i64 = 60 * SECOND;
pub(super) const HOUR: i64 = 60 * MINUTE;
pub(super) const DAY: i64 = 24 * HOUR;
/// Midnight UTC at the start of 1 March 2024.
pub(super) const BASE: i64 = 1_709_251_200 * SECOND;
/// Day is 06:00 to 22:00.
pub(super) const SPLIT: DaySplit = DaySplit { day_start_ns: 6 * HOUR, day_end_ns: 22 * HOUR };

/// A data set.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Dataset {
    /// Tagged series with a field of every type, most of them nullable; dense for two seconds and sparse over three days.
    Mixed,
    /// One series without tags, five unsigned channels a millisecond apart.
    Channels,
    /// Many series with an integer tag, one floating point field.
    Values,
    /// Properties of devices: four nullable fields, of which a series fills one; ten days.
    Devices,
    /// Several tables with different tags and fields, one of them with 64 fields.
    Fleet,
    /// An entity for each series.
    Meters,
    /// Tags that hold any Unicode.
    Names,
    /// One text field, no tags.
    Texts,
}

impl Dataset {
    pub(super) const ALL: [Self; 8] = [
        Self::Mixed,
        Self::Channels,
        Self::Values,
        Self::Devices,
        Self::Fleet,
        Self::Meters,
        Self::Names,
        Self::Texts,
    ];

    /// The data set's name in names of tests.
    pub(super) const fn text(self) -> &'static str {
        match self {
            Self::Mixed => "mixed",
            Self::Channels => "channels",
            Self::Values => "values",
            Self::Devices => "devices",
            Self::Fleet => "fleet",
            Self::Meters => "meters",
            Self::Names => "names",
            Self::Texts => "texts",
        }
    }

    pub(super) fn schema(self) -> Schema {
        let tables = match self {
            Self::Mixed => vec![mixed()],
            Self::Channels => vec![channels()],
            Self::Values => vec![values()],
            Self::Devices => vec![devices()],
            Self::Fleet => fleet(),
            Self::Meters => vec![meters()],
            Self::Names => vec![names()],
            Self::Texts => vec![texts()],
        };
        Schema { tables }
    }
}

/// A data set with its readings.
pub(super) struct Data {
    pub(super) schema: Arc<Schema>,
    /// One batch a table.
    pub(super) batches: Vec<Batch>,
}

impl Data {
    pub(super) fn new(dataset: Dataset) -> Self {
        let schema = Arc::new(dataset.schema());
        let mut batches = Vec::new();
        for (number, table) in schema.tables.iter().enumerate() {
            let mut batch = Batch::new(number, table);
            for series in 0..table.series.len() {
                for (row, time) in times(dataset, series).into_iter().enumerate() {
                    push(&mut batch, table, series, row as u64, time);
                }
            }
            batches.push(batch);
        }
        Self { schema, batches }
    }

    /// A range that holds everything.
    pub(super) const fn everything() -> TimeRange {
        TimeRange::new(BASE - DAY, BASE + 30 * DAY)
    }

    /// Numbers of the table's fields of this kind.
    pub(super) fn fields(&self, table: usize, kinds: &[FieldType]) -> Vec<usize> {
        let fields = self.schema.tables[table].fields.iter().enumerate();
        fields.filter(|(_, field)| kinds.contains(&field.kind)).map(|(number, _)| number).collect()
    }

    /// Numbers of the table's numeric fields.
    pub(super) fn numeric(&self, table: usize) -> Vec<usize> {
        self.fields(table, &[FieldType::I64, FieldType::U16, FieldType::F64])
    }

    /// The first series that has readings with this field.
    pub(super) fn series_with(&self, table: usize, field: usize) -> u32 {
        let batch = &self.batches[table];
        let row = (0..batch.len()).find(|&row| batch.columns[field].has(row));
        row.map_or(0, |row| batch.series[row])
    }

    /// The times of a series in order.
    pub(super) fn times(&self, table: usize, series: u32) -> Vec<i64> {
        let batch = &self.batches[table];
        (0..batch.len()).filter(|&row| batch.series[row] == series).map(|row| batch.times_ns[row]).collect()
    }
}

/// Appends a reading whose values follow from table, series and row.
fn push(batch: &mut Batch, table: &Table, series: u32, row: u64, time: i64) {
    batch.times_ns.push(time);
    batch.series.push(series);
    for (number, (column, field)) in batch.columns.iter_mut().zip(&table.fields).enumerate() {
        let present = !field.nullable || fills(table, series, number, row);
        let value =
            if present { value(field.kind, u64::from(series), row, number as u64) } else { Value::Null };
        column.push(value).expect("generated values fit their columns");
    }
}

/// Whether a reading has a nullable field.
fn fills(table: &Table, series: u32, field: usize, row: u64) -> bool {
    if table.fields.iter().all(|field| field.nullable) {
        return field == series as usize % table.fields.len();
    }
    !mix(row ^ (field as u64) << 32).is_multiple_of(4)
}

/// Some value of this kind: text from a few words, floating point numbers over 0 with two decimals, of which the smallest comes three times in a row.
pub(super) fn value(kind: FieldType, series: u64, row: u64, field: u64) -> Value {
    const WORDS: [&str; 5] = ["off", "on", "größer ☀", "two words", "Ω"];
    let random = mix(row ^ series << 20 ^ field << 40);
    let small = i64::try_from(random % 10_000).unwrap_or(0);
    match kind {
        FieldType::Bool => Value::Bool(random.is_multiple_of(3)),
        FieldType::I64 => Value::I64(small - 5_000),
        FieldType::U16 => Value::I64(small % 4_096),
        FieldType::F64 if (7..10).contains(&(row % 50)) => Value::F64(0.25),
        FieldType::F64 => Value::F64(0.5 + small as f64 / 100.0),
        FieldType::Text => {
            let word = usize::try_from(random % 5).unwrap_or(0);
            Value::Text(WORDS[word.min(usize::try_from(random / 5 % 5).unwrap_or(0))].to_owned())
        }
    }
}

/// The finaliser of SplitMix64: any fixed scrambling would do.
pub(super) const fn mix(value: u64) -> u64 {
    let value = value.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let value = (value ^ (value >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let value = (value ^ (value >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    value ^ (value >> 31)
}

/// `count` times from `start`, `step` apart and each late by less than a millisecond, but in order when steps are whole milliseconds.
fn steps(start: i64, step: i64, count: i64) -> Vec<i64> {
    let jitter = |row: i64| i64::try_from(mix(row.cast_unsigned()) % 1_000_000).unwrap_or(0);
    (0..count).map(|row| start + row * step + jitter(row)).collect()
}

fn times(dataset: Dataset, series: u32) -> Vec<i64> {
    let order = i64::from(series);
    match (dataset, series) {
        (Dataset::Mixed, 0) => {
            let mut times = steps(BASE, 17 * MINUTE, 36);
            times.extend(steps(BASE + 10 * HOUR + 30 * MINUTE, SECOND / 1_000, 2_000));
            times.extend(steps(BASE + DAY + 15 * HOUR, 17 * MINUTE, 100));
            times
        }
        (Dataset::Mixed, 1..=3) => {
            let mut times = steps(BASE + order * HOUR, (7 + 4 * order) * MINUTE, 120);
            times.extend(steps(BASE + 2 * DAY, (7 + 4 * order) * MINUTE, 60));
            times
        }
        (Dataset::Mixed, 4) => vec![BASE + 5 * HOUR + 1],
        (Dataset::Mixed, _) | (Dataset::Texts | Dataset::Meters, _) => Vec::new(),
        (Dataset::Names, _) => steps(BASE + order * SECOND, MINUTE, 3),
        (Dataset::Channels, _) => steps(BASE + 300_000_000, SECOND / 1_000, 3_000),
        (Dataset::Values, _) => steps(BASE + order * SECOND, 10 * SECOND, 50),
        (Dataset::Devices, 0) => steps(BASE, 3 * HOUR + 7 * MINUTE, 75),
        (Dataset::Devices, _) => steps(BASE + order * MINUTE, (11 + order) * MINUTE, 400),
        (Dataset::Fleet, _) => steps(BASE + order * MINUTE, 5 * MINUTE, 60),
    }
}

fn field(name: &str, kind: FieldType, nullable: bool) -> Field {
    Field { name: name.into(), kind, nullable }
}

fn tags(names: &[&str]) -> Vec<Tag> {
    let tag = |name: &&str| Tag { name: (*name).into() };
    names.iter().map(tag).collect()
}

fn words(words: &[&str]) -> TagColumn {
    TagColumn::Text(words.iter().map(|&word| word.to_owned()).collect())
}

fn table(name: &str, tag_names: &[&str], columns: Vec<TagColumn>, fields: Vec<Field>) -> Table {
    Table {
        name: name.into(),
        tags: tags(tag_names),
        fields,
        entity: None,
        time_resolution: TimeResolution::Nanoseconds,
        series: if columns.is_empty() { Series::single() } else { Series::new(columns) },
    }
}

fn mixed() -> Table {
    table(
        "readings",
        &["sensor", "place", "kind"],
        vec![
            TagColumn::Integer(vec![30, -1, 12, 7, i64::MAX, 55]),
            words(&["hall", "hall", "Küche ☕", "a,b=c d", "o'neil \"q\" \\ %s", "cold"]),
            words(&["x", "y", "y", "x", "x", "y"]),
        ],
        vec![
            field("active", FieldType::Bool, true),
            field("whole", FieldType::I64, true),
            field("level", FieldType::U16, false),
            field("real", FieldType::F64, true),
            field("word", FieldType::Text, true),
        ],
    )
}

fn channels() -> Table {
    let names = ["angle", "first", "second", "third", "fourth"];
    let fields = names.map(|name| field(name, FieldType::U16, false));
    table("samples", &[], Vec::new(), fields.into())
}

fn values() -> Table {
    table(
        "measurements",
        &["sensor"],
        vec![TagColumn::Integer((1..=20).collect())],
        vec![field("value", FieldType::F64, false)],
    )
}

fn devices() -> Table {
    table(
        "properties",
        &["device", "thing", "property"],
        vec![
            words(&["gate", "station", "station", "strip"]),
            words(&["door", "air", "wind", "light"]),
            words(&["open", "count", "temperature", "colour"]),
        ],
        vec![
            field("boolean_value", FieldType::Bool, true),
            field("integer_value", FieldType::I64, true),
            field("float_value", FieldType::F64, true),
            field("string_value", FieldType::Text, true),
        ],
    )
}

fn fleet() -> Vec<Table> {
    let hosts = || words(&["host_0", "host_1", "host_2"]);
    let real = |name: &str| field(name, FieldType::F64, false);
    let whole = |name: &str| field(name, FieldType::I64, false);
    let wide = (0..64).map(|number| {
        let kind = [FieldType::I64, FieldType::F64, FieldType::U16][number % 3];
        field(&format!("field_{number}"), kind, false)
    });
    vec![
        table(
            "cpu",
            &["hostname", "region"],
            vec![hosts(), words(&["eu", "us", "eu"])],
            vec![real("usage_user"), real("usage_system"), real("usage_idle")],
        ),
        table(
            "disk",
            &["hostname", "path", "region"],
            vec![hosts(), words(&["/", "/dev/a b", "/"]), words(&["eu", "us", "eu"])],
            vec![whole("total"), whole("used")],
        ),
        table("wide", &["hostname"], vec![hosts()], wide.collect()),
    ]
}

fn meters() -> Table {
    let mut table = table(
        "meter_reads",
        &["meter"],
        vec![TagColumn::Integer((1..=8).map(|meter| meter * 1_000_000_007).collect())],
        vec![field("usage", FieldType::F64, false), field("error_code", FieldType::I64, false)],
    );
    table.entity = Some(Entity {
        name: "meters".into(),
        columns: vec![
            field("contact", FieldType::Text, false),
            field("number", FieldType::I64, false),
            field("latitude", FieldType::F64, false),
            field("active", FieldType::Bool, false),
        ],
        last_time_column: "last_reading".into(),
    });
    table
}

fn names() -> Table {
    let names = [
        "plain",
        "",
        " ",
        "two words",
        "comma,comma",
        "equals=",
        "\"quoted\"",
        "it's",
        "back\\slash",
        "ends\\",
        "line\nbreak",
        "tab\t",
        "null",
        "NULL",
        "true",
        "1",
        "-0.5",
        "%s$1?:x",
        "ä ö ß",
        "☕😀",
        "日本語",
        "{\"a\":1}",
        "Plain",
        "plain ",
        "'; drop table names; --",
    ];
    table(
        "names",
        &["name", "serial"],
        vec![words(&names), TagColumn::Integer((0..).map(|number| number - 3).take(names.len()).collect())],
        vec![field("value", FieldType::F64, false)],
    )
}

fn texts() -> Table {
    table("texts", &[], Vec::new(), vec![field("content", FieldType::Text, false)])
}
