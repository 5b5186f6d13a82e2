//! The numbers behind the scales, and what is wrong with them.

use super::query::PlatformQuery;
use crate::dataset::iot_platform::{DAY_NS, HOUR_NS, MOST_DAYS, MOST_HOMES};
use crate::engine::scale::Scale;
use crate::nearest::unknown;
use sensormark_store::{DaySplit, Family, Shape};
use serde::de::{DeserializeOwned, Error};
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::Value;

/// Days of the study: from 27 September 2021 to 9 December 2022.
const STUDY_DAYS: u32 = 438;

/// Everything that the workload is made from.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Parameters {
    /// Homes with the same devices.
    pub homes: u32,
    /// Days of data.
    pub days: u32,
    /// Messages written one by one.
    pub messages: u64,
    /// Readings in a batch of the load, about; 0 for what its documentation advises.
    pub batch: u64,
    /// Clients that write.
    pub clients: u32,
    /// Days that queries reach over.
    #[serde(deserialize_with = "list")]
    pub spans: Vec<u32>,
    /// Days that the statistics of a device's properties reach over.
    #[serde(deserialize_with = "list")]
    pub statistics: Vec<u32>,
    /// The most points of a chart.
    pub points: u32,
    /// Questions of each query and span.
    pub questions: u64,
    /// Values in a full bucket.
    pub bucket: u32,
    /// The hour (UTC) at which day begins.
    pub day_begins: u32,
    /// The hour at which night begins.
    pub day_ends: u32,
    /// Families of layouts.
    #[serde(deserialize_with = "list")]
    pub layouts: Vec<String>,
    /// Layouts that are measured besides each family's usual one, when a store is named without a layout.
    #[serde(deserialize_with = "list")]
    pub variants: Vec<String>,
    /// Queries.
    #[serde(deserialize_with = "list")]
    pub queries: Vec<String>,
    /// Seconds after which a phase is cut.
    pub limit: u32,
    /// How often everything is measured.
    pub repetitions: u32,
}

/// What each number means.
pub const DOCUMENTATION: [(&str, &str); 17] = [
    ("homes", "homes, each with the same twelve devices"),
    (
        "days",
        "days of data, from 2021-09-27; about 12,771 values a home and day",
    ),
    (
        "messages",
        "messages written one by one, into a database of their own; 0 for none",
    ),
    (
        "batch",
        "readings in a batch of the load, in whole hours of a home; 0 for what its documentation advises",
    ),
    ("clients", "clients that write"),
    ("spans", "days that queries reach over, like 1,7,30"),
    (
        "statistics",
        "days that the statistics of a device's properties reach over",
    ),
    ("points", "the most points of a chart of the last 24 hours"),
    (
        "questions",
        "questions of each query and span, each about another stretch of time",
    ),
    ("bucket", "values in a full document of the layout bucketed"),
    (
        "day_begins",
        "the hour (UTC) at which day begins, for means of day and night",
    ),
    ("day_ends", "the hour (UTC) at which night begins"),
    (
        "layouts",
        "families of layouts: flat, bucketed, summary, array",
    ),
    (
        "variants",
        "layouts measured unasked beside each family's usual one, like flat-no-index",
    ),
    ("queries", "the queries that are asked"),
    ("limit", "seconds after which a phase is cut"),
    ("repetitions", "how often everything is measured"),
];

/// The families, by their names.
const FAMILIES: [&str; 4] = ["flat", "bucketed", "summary", "array"];

impl Parameters {
    /// The numbers of a scale. The study's are those of `standard`: it is small.
    pub fn of(scale: Scale) -> Self {
        let names = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect();
        let quick = Self {
            homes: 1,
            days: 30,
            messages: 1_000,
            batch: 0,
            clients: 1,
            spans: vec![1, 7, 30],
            statistics: vec![1, 7],
            points: 500,
            questions: 10,
            bucket: 200,
            day_begins: 6,
            day_ends: 22,
            layouts: names(&FAMILIES),
            variants: names(&["bucketed-no-index", "flat-flux"]),
            queries: names(&PlatformQuery::ALL.map(PlatformQuery::name)),
            limit: 60,
            repetitions: 1,
        };
        match scale {
            Scale::Quick => quick,
            Scale::Firm => Self {
                days: 365,
                messages: 10_000,
                questions: 20,
                spans: vec![1, 7, 30, 90],
                statistics: vec![1, 30],
                limit: 300,
                repetitions: 5,
                ..quick
            },
            Scale::Standard | Scale::Study => Self {
                days: STUDY_DAYS,
                messages: 20_000,
                questions: 20,
                spans: vec![1, 7, 30, 90, 365],
                statistics: vec![1, 30],
                limit: 1_800,
                repetitions: 5,
                ..quick
            },
        }
    }

    /// Reads them.
    ///
    /// # Errors
    /// A value of another kind, in words; homes that nobody could count.
    pub fn read(parameters: &Value) -> Result<Self, String> {
        let own: Self =
            serde_json::from_value(parameters.clone()).map_err(|error| error.to_string())?;
        if !(1..=MOST_HOMES).contains(&own.homes) {
            return Err(format!("homes: there are from 1 to {MOST_HOMES}"));
        }
        Ok(own)
    }

    /// Checks that they make sense together.
    ///
    /// # Errors
    /// What does not, in words.
    pub fn check(&self) -> Result<(), String> {
        let between = |name: &str, value: u64, least: u64, most: u64| {
            if (least..=most).contains(&value) {
                Ok(())
            } else {
                Err(format!("{name}={value}: it is from {least} to {most}"))
            }
        };
        between("days", u64::from(self.days), 1, u64::from(MOST_DAYS))?;
        between("messages", self.messages, 0, 10_000_000)?;
        between("batch", self.batch, 0, 10_000_000)?;
        between("clients", u64::from(self.clients), 1, 10_000)?;
        between("points", u64::from(self.points), 1, 1_000_000)?;
        between("questions", self.questions, 1, 1_000_000_000)?;
        between("bucket", u64::from(self.bucket), 1, 100_000)?;
        between("day_ends", u64::from(self.day_ends), 1, 24)?;
        between("limit", u64::from(self.limit), 1, 1_000_000)?;
        between("repetitions", u64::from(self.repetitions), 1, 1_000)?;
        if self.day_begins >= self.day_ends {
            return Err(format!(
                "day_begins={}: day begins before it ends, at day_ends={}",
                self.day_begins, self.day_ends
            ));
        }
        for (name, spans) in [("spans", &self.spans), ("statistics", &self.statistics)] {
            self.check_spans(name, spans)?;
        }
        known("layout", &self.layouts, &FAMILIES)?;
        for name in &self.variants {
            let is_of = |family: &&str| name.starts_with(&format!("{family}-"));
            if !FAMILIES.iter().any(is_of) {
                return Err(format!(
                    "variants={name}: a variant is a family's name, a hyphen and more, like flat-no-index; sensormark list iot-platform shows all"
                ));
            }
        }
        known(
            "query",
            &self.queries,
            &PlatformQuery::ALL.map(PlatformQuery::name),
        )
    }

    fn check_spans(&self, name: &str, spans: &[u32]) -> Result<(), String> {
        if spans.is_empty() || !spans.is_sorted_by(|one, other| one < other) {
            return Err(format!(
                "{name}: write days in ascending order, like 1,7,30"
            ));
        }
        let outside = spans.iter().find(|&&days| days == 0 || days > self.days);
        match outside {
            Some(0) => Err(format!("{name}: a span is of at least 1 day")),
            Some(days) => Err(format!(
                "{name}: {days} days are more than there is data of; set days={days} or more, or {name} of {} at most",
                self.days
            )),
            None => Ok(()),
        }
    }

    /// Which part of a day counts as day.
    pub fn split(&self) -> DaySplit {
        DaySplit {
            day_start_ns: i64::from(self.day_begins) * HOUR_NS,
            day_end_ns: i64::from(self.day_ends) * HOUR_NS,
        }
    }

    /// The families that are measured, by their names.
    pub fn families(&self) -> Vec<(String, Family)> {
        let (per_ns, split) = (DAY_NS, self.split());
        let family = |name: &str| match name {
            "bucketed" => Family::Bucketed {
                limit: self.bucket,
                per_ns,
                split,
            },
            "summary" => Family::Summary { per_ns, split },
            "array" => Family::GrowingArray,
            _ => Family::PerReading,
        };
        let named = self.layouts.iter();
        named.map(|name| (name.clone(), family(name))).collect()
    }

    /// Whether a layout is measured unasked: a family's usual one, and the variants that were chosen.
    pub fn is_measured(&self, shape: Shape, variant: &str) -> bool {
        let family = match shape {
            Shape::Bucketed { .. } => "bucketed",
            Shape::Summary { .. } => "summary",
            Shape::GrowingArray => "array",
            _ => "flat",
        };
        let mut chosen = self.variants.iter().map(|name| {
            let rest = name.strip_prefix(family)?;
            rest.strip_prefix('-')
        });
        variant.is_empty() || chosen.any(|name| name == Some(variant))
    }

    /// The queries that are asked, in their usual order.
    pub fn queries(&self) -> impl Iterator<Item = PlatformQuery> + '_ {
        let wanted = |query: &PlatformQuery| self.queries.iter().any(|one| one == query.name());
        PlatformQuery::ALL.into_iter().filter(wanted)
    }

    /// The spans of a query, in days.
    pub fn spans_of(&self, query: PlatformQuery) -> &[u32] {
        match query {
            PlatformQuery::Chart => &[1],
            PlatformQuery::Statistics => &self.statistics,
            _ => &self.spans,
        }
    }
}

fn known(kind: &str, names: &[String], all: &[&str]) -> Result<(), String> {
    if names.is_empty() {
        return Err(format!("name at least one {kind}: {}", all.join(", ")));
    }
    for (place, name) in names.iter().enumerate() {
        if !all.contains(&name.as_str()) {
            let all = all.iter().map(|one| (*one).to_owned());
            return Err(unknown(kind, name, all));
        }
        if names[..place].contains(name) {
            return Err(format!("{kind} {name} is named twice"));
        }
    }
    Ok(())
}

/// A list as JSON has it, or as a user writes it: `1,7,30`, `flat`.
fn list<'de, D: Deserializer<'de>, T: DeserializeOwned>(source: D) -> Result<Vec<T>, D::Error> {
    let items = match Value::deserialize(source)? {
        Value::Array(items) => items,
        Value::String(text) if text.trim().is_empty() => Vec::new(),
        Value::String(text) => text.split(',').map(|item| item_of(item.trim())).collect(),
        one => vec![one],
    };
    let item = |item: Value| {
        let shown = item.to_string();
        serde_json::from_value(item).map_err(|error| D::Error::custom(format!("{shown}: {error}")))
    };
    items.into_iter().map(item).collect()
}

fn item_of(text: &str) -> Value {
    text.parse::<u64>()
        .map_or_else(|_| Value::from(text), Value::from)
}
