//! What a workload file may hold, key by key. What the values mean together is not known here ([`super::tables`], [`super::phases`]).

use super::super::layouts::{Indexes, Statements};
use super::super::parameters::{EntityKind, FieldKind, Generator, QueryKind, WhenPart};
use super::dashboards::Dashboard;
use super::source::Place;
use sensormark_data::quantity::duration_ns;
use sensormark_data::recording::RecordingOptions;
use sensormark_store::{Durability, TimeResolution};
use serde::de::{Error, SeqAccess, Unexpected, Visitor};
use serde::{Deserialize, Deserializer};
use std::collections::BTreeMap;
use std::fmt;
use std::ops::Deref;
use toml::Spanned;

/// A value with its place: it is read like the value itself.
pub struct At<T> {
    pub value: T,
    pub place: Place,
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for At<T> {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        let spanned = Spanned::deserialize(from)?;
        Ok(Self { place: spanned.span(), value: spanned.into_inner() })
    }
}

impl<T> Deref for At<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.value
    }
}

/// A text with its place.
pub type Text = At<String>;

/// The whole file. `[series]` and `[writers]` may be one table or several; `[load]` and `[mixed]` stand for two phases.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct File {
    pub name: Option<String>,
    pub repetitions: Option<Whole<100>>,
    pub stores: Option<Vec<Text>>,
    pub layouts: Option<At<Vec<Text>>>,
    #[serde(default)]
    pub limits: Vec<Text>,
    pub index: Option<Indexes>,
    pub statements: Option<Statements>,
    pub variants: Option<Vec<String>>,
    pub bucket: Option<Whole<100_000>>,
    pub day: Option<At<[u32; 2]>>,
    pub durability: Option<Durability>,
    pub server_memory: Option<Text>,
    pub keep: Option<At<Length>>,
    #[serde(default)]
    pub series: Vec<At<Series>>,
    #[serde(default)]
    pub tags: Vec<At<Tag>>,
    #[serde(default)]
    pub fields: Vec<At<Field>>,
    pub load: Option<At<Load>>,
    pub mixed: Option<At<Phase>>,
    pub retention: Option<At<Retention>>,
    pub compression: Option<At<Compression>>,
    #[serde(default)]
    pub rollups: Vec<At<Rollup>>,
    #[serde(default)]
    pub phases: Vec<At<Phase>>,
    #[serde(default)]
    pub writers: Vec<At<Writers>>,
    #[serde(default)]
    pub queries: Vec<At<Query>>,
    #[serde(default)]
    pub dashboards: Vec<At<Dashboard>>,
}

/// When readings are taken, of how many series.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Series {
    pub table: Option<Text>,
    pub count: Whole<10_000_000>,
    pub start: Option<Text>,
    pub interval: At<Length>,
    pub jitter: Option<At<Length>>,
    #[serde(default)]
    pub staggered: bool,
    pub burst: Option<Whole<1_000_000>>,
    pub burst_interval: Option<At<Length>>,
    pub duration: Option<At<Length>>,
    #[serde(default)]
    pub missing: Share,
    #[serde(default)]
    pub late: Share,
    pub late_by: Option<At<Length>>,
    #[serde(default)]
    pub repeated: Share,
    pub churn: Option<At<f64>>,
    pub resolution: Option<TimeResolution>,
    pub entity: Option<At<EntityKind>>,
    pub generator: Option<At<Generator>>,
}

/// A tag.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Tag {
    pub name: Text,
    pub table: Option<Text>,
    pub values: Option<At<TagValues>>,
    pub pattern: Option<Text>,
    pub first: Option<At<Whole<1_000_000, 0>>>,
}

/// How a field moves.
#[derive(Deserialize, Clone, Copy, PartialEq, Eq)]
#[serde(rename_all = "lowercase")]
pub enum ShapeName {
    Constant,
    Random,
    Sine,
    Sawtooth,
    Walk,
    Counter,
    Temperature,
    Meter,
    Recording,
}

/// A field.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Field {
    pub name: Text,
    pub table: Option<Text>,
    #[serde(rename = "type")]
    pub kind: Option<FieldKind>,
    pub shape: At<ShapeName>,
    #[serde(rename = "value")]
    pub constant: Option<toml::Value>,
    pub min: Option<At<f64>>,
    pub max: Option<At<f64>>,
    pub period: Option<Length>,
    pub start: Option<At<f64>>,
    pub step: Option<At<f64>>,
    pub chance: Option<At<f64>>,
    pub values: Option<Vec<Text>>,
    pub file: Option<Text>,
    pub column: Option<String>,
    pub options: Option<Box<RecordingOptions>>,
    pub noise: Option<At<f64>>,
    pub decimals: Option<At<Whole<9, 0>>>,
    pub bits: Option<At<Whole<30, 0>>>,
    #[serde(default)]
    pub repeats: Share,
    #[serde(default)]
    pub outliers: Share,
    pub hold: Option<At<Length>>,
}

/// How all tables are loaded.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Load {
    pub clients: Option<Whole<10_000>>,
    pub batch: Option<At<Batch>>,
}

/// Turns of sensors in an operation.
pub type Batch = Whole<1_000_000>;

/// What is dropped, and how often.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Retention {
    pub keep: At<Length>,
    pub every: Option<At<Length>>,
    #[serde(default)]
    pub late: Share,
}

/// What is compressed.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Compression {
    pub after: At<Length>,
}

/// A table of aggregates.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Rollup {
    pub of: Option<Text>,
    pub every: At<Length>,
    pub functions: Option<Vec<At<QueryKind>>>,
}

/// Who writes what, and when.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Writers {
    pub name: Option<Text>,
    pub phase: Option<Text>,
    pub table: Option<Text>,
    pub clients: Option<Whole<10_000>>,
    pub batch: Option<At<Batch>>,
    pub advised: Option<At<f64>>,
    pub rate: Option<At<f64>>,
    pub load: Option<At<Length>>,
    pub readings: Option<At<Count>>,
    pub messages: Option<At<bool>>,
    pub together: Option<At<Whole<10_000_000>>>,
    pub block: Option<At<Count>>,
    pub atomic: Option<At<bool>>,
}

/// How many there are of readings or questions.
pub type Count = Whole<4_000_000_000>;

/// A phase.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Phase {
    pub name: Option<Text>,
    pub duration: Option<At<Length>>,
    pub warm_up: Option<Length>,
    pub check_one_in: Option<Whole<1_000_000>>,
    pub grows: Option<At<bool>>,
    #[serde(default)]
    pub empty: bool,
    pub settled: Option<Text>,
    pub processes: Option<Whole<4_096>>,
    pub task: Option<Text>,
    pub table: Option<Text>,
    pub older_than: Option<At<Length>>,
    pub span: Option<At<Length>>,
    #[serde(default)]
    pub labels: BTreeMap<String, serde_json::Value>,
}

/// A query.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Query {
    pub name: Text,
    pub phase: Option<Text>,
    pub table: Option<Text>,
    pub kind: At<QueryKind>,
    pub field: Option<Text>,
    pub fields: Option<At<TagValues>>,
    pub of: Option<At<Of>>,
    pub by: Option<Text>,
    pub by_day: Option<bool>,
    #[serde(default)]
    pub sums: bool,
    pub span: Option<At<Length>>,
    pub step: Option<At<Length>>,
    pub after: Option<At<Whole<4_000_000_000, 0>>>,
    pub window: Option<At<Length>>,
    pub when: Option<WhenPart>,
    pub above: Option<At<f64>>,
    pub below: Option<At<f64>>,
    pub clients: Option<Whole<10_000>>,
    pub rate: Option<At<f64>>,
    pub count: Option<Count>,
    pub file: Option<Text>,
}

/// The series of a question: so many, by a word, or by values of tags.
#[derive(Deserialize)]
#[serde(untagged)]
pub enum Of {
    Several(u32),
    Word(String),
    With(BTreeMap<String, String>),
}

/// A length of time with its unit, in ns.
#[derive(Clone, Copy)]
pub struct Length(pub i64);

impl<'de> Deserialize<'de> for Length {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        let no_unit = "{key} is a length of time and has a unit, like \"10s\"; {typed} has none";
        match toml::Value::deserialize(from)? {
            toml::Value::String(text) => {
                duration_ns(&text).map(Self).map_err(|why| D::Error::custom(format!("{{key}}: {why}")))
            }
            _ => Err(D::Error::custom(no_unit)),
        }
    }
}

/// A part of one, below one.
#[derive(Clone, Copy, Default)]
pub struct Share(pub f64);

impl<'de> Deserialize<'de> for Share {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        let share = f64::deserialize(from)?;
        let wrong = || D::Error::custom("{key} is a share, from 0 to below 1: 0.01 is one in a hundred");
        (0.0..1.0).contains(&share).then_some(Self(share)).ok_or_else(wrong)
    }
}

/// A whole number from `LEAST` to `MOST`.
#[derive(Clone, Copy)]
pub struct Whole<const MOST: u32, const LEAST: u32 = 1>(pub u32);

impl<'de, const MOST: u32, const LEAST: u32> Deserialize<'de> for Whole<MOST, LEAST> {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        let wrong = || D::Error::custom(format!("{{key}} must be a whole number from {LEAST} to {MOST}"));
        let number = toml::Value::deserialize(from)?.as_integer();
        let number = number.and_then(|number| u32::try_from(number).ok());
        number.filter(|number| (LEAST..=MOST).contains(number)).map(Self).ok_or_else(wrong)
    }
}

/// A tag's values, or a question's fields: so many, or these.
pub enum TagValues {
    Count(u32),
    List(Vec<Text>),
}

impl<'de> Deserialize<'de> for TagValues {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        struct Values;
        impl<'de> Visitor<'de> for Values {
            type Value = TagValues;

            fn expecting(&self, text: &mut fmt::Formatter<'_>) -> fmt::Result {
                text.write_str(
                    "a list of texts, like [\"one\", \"two\"], or a whole number from 1 to 1000000",
                )
            }

            fn visit_i64<E: Error>(self, number: i64) -> Result<TagValues, E> {
                let count = u32::try_from(number).ok().filter(|count| (1..=1_000_000).contains(count));
                count.map(TagValues::Count).ok_or_else(|| E::invalid_value(Unexpected::Signed(number), &self))
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<TagValues, A::Error> {
                let mut texts = Vec::new();
                while let Some(text) = list.next_element()? {
                    texts.push(text);
                }
                Ok(TagValues::List(texts))
            }
        }
        from.deserialize_any(Values)
    }
}
