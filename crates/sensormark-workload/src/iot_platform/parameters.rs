//! The numbers behind the scales, and what is wrong with them.

use super::query::PlatformQuery;
use crate::growth::{most_question_seconds, sizes};
use sensormark_data::iot_platform::{DAY_NS, HOUR_NS, MOST_DAYS, MOST_HOMES};
use sensormark_engine::parameter::{any, at_least, between, check_each, over, read, words};
use sensormark_engine::parameters;
use sensormark_store::{DaySplit, Family, Shape};
use serde_json::Value;
use std::time::Duration;

/// Days of the study: from 27 September 2021 to 9 December 2022.
const STUDY_DAYS: u32 = 438;

/// The families, by their names.
const FAMILIES: [&str; 4] = ["flat", "bucketed", "summary", "array"];

fn owned(names: &[&str]) -> Vec<String> {
    names.iter().map(|name| (*name).to_owned()).collect()
}

parameters! {
    /// Everything that the workload is made from. The study's numbers are those of `standard`: it is small.
    pub struct Parameters {
        /// homes, each with the same twelve devices
        homes: u32, Plain, between(1.0, MOST_HOMES as f64) => 1;
        /// days of data, from 2021-09-27; about 12,771 values a home and day
        days: u32, Days, between(1.0, MOST_DAYS as f64) => 30, 365, STUDY_DAYS, STUDY_DAYS;
        /// the data then grow to so many days, four times each, as far as the budget goes; 0: they do not
        #[serde(default)]
        grown: u32, Days, between(0.0, MOST_DAYS as f64) => MOST_DAYS, MOST_DAYS, 0, 0;
        /// seconds that each question is asked at a further size
        #[serde(default)]
        grown_seconds: f64, Seconds, over(0.0) => 5.0, 20.0, 20.0, 20.0;
        /// messages written one by one, into a database of their own; 0 for none
        messages: u64, Plain, between(0.0, 10_000_000.0) => 1_000, 10_000, 20_000, 20_000;
        /// after them so long more messages come, while questions are asked; 0: never
        #[serde(default)]
        live_seconds: f64, Seconds, at_least(0.0) => 3.0, 10.0, 30.0, 60.0;
        /// messages a second that then come
        #[serde(default)]
        live_rate: f64, Plain, at_least(0.0) => 100.0;
        /// readings in a batch of the load, in whole hours of a home; 0 for what its documentation advises
        batch: u64, Plain, between(0.0, 10_000_000.0) => 0;
        /// clients that write
        clients: u32, Plain, between(1.0, 10_000.0) => 1;
        /// days that queries reach over, like 1,7,30
        spans: Vec<u32>, Days, at_least(1.0) => vec![1, 7, 30], vec![1, 7, 30, 90], vec![1, 7, 30, 90, 365], vec![1, 7, 30, 90, 365];
        /// days that the statistics of a device's properties reach over
        statistics: Vec<u32>, Days, at_least(1.0) => vec![1, 7], vec![1, 30], vec![1, 30], vec![1, 30];
        /// the most points of a chart of the last 24 hours
        points: u32, Plain, between(1.0, 1_000_000.0) => 500;
        /// questions of each query and span, each about another stretch of time
        questions: u64, Plain, between(1.0, 1_000_000_000.0) => 10, 20, 20, 20;
        /// values in a full document of the layout bucketed
        bucket: u32, Plain, between(1.0, 100_000.0) => 200;
        /// the hour (UTC) at which day begins; means by day and by night depend on it
        day_begins: u32, Plain, between(0.0, 23.0) => 6;
        /// the hour (UTC) at which night begins
        day_ends: u32, Plain, between(1.0, 24.0) => 22;
        /// families of layouts: flat, bucketed, summary, array
        layouts: Vec<String>, Plain, words(&FAMILIES) => owned(&FAMILIES);
        /// layouts measured unasked beside each family's usual one, like flat-no-index
        variants: Vec<String>, Plain, any() => owned(&VARIANTS);
        /// the queries that are asked
        queries: Vec<String>, Plain, words(&PlatformQuery::NAMES) => owned(&PlatformQuery::NAMES);
        /// seconds after which a phase is cut
        limit: u32, Seconds, between(1.0, 1_000_000.0) => 60, 300, 1_800, 1_800;
        /// how often everything is measured
        repetitions: u32, Plain, between(1.0, 1_000.0) => 1, 5, 5, 5;
    }
}

/// Layouts that tell something beside the usual ones.
const VARIANTS: [&str; 2] = ["bucketed-no-index", "flat-flux"];

impl Parameters {
    /// Reads them.
    ///
    /// # Errors
    /// A value of another kind, in words; homes that nobody could count.
    pub fn read(parameters: &Value) -> Result<Self, String> {
        let own: Self = read(parameters)?;
        if !(1..=MOST_HOMES).contains(&own.homes) {
            return Err(format!("homes={}: there are from 1 to {MOST_HOMES}", own.homes));
        }
        Ok(own)
    }

    /// Checks that they make sense together.
    ///
    /// # Errors
    /// What does not, in words.
    pub fn check(&self) -> Result<(), String> {
        check_each(Self::TABLE, self)?;
        if self.day_begins >= self.day_ends {
            return Err(format!(
                "day_begins={}: day begins before it ends, at day_ends={}",
                self.day_begins, self.day_ends
            ));
        }
        for (name, spans) in [("spans", &self.spans), ("statistics", &self.statistics)] {
            self.check_spans(name, spans)?;
        }
        let lists = [("layouts", &self.layouts), ("queries", &self.queries)];
        if let Some((name, _)) = lists.iter().find(|(_, list)| list.is_empty()) {
            return Err(format!("{name} is empty; name at least one"));
        }
        for name in &self.variants {
            let is_of = |family: &&str| name.starts_with(&format!("{family}-"));
            if !FAMILIES.iter().any(is_of) {
                return Err(format!(
                    "variants={name}: a variant is a family's name, a hyphen and more, like flat-no-index; sensormark list iot-platform shows all"
                ));
            }
        }
        Ok(())
    }

    fn check_spans(&self, name: &str, spans: &[u32]) -> Result<(), String> {
        if spans.is_empty() || !spans.is_sorted_by(|one, other| one < other) {
            return Err(format!("{name}: write days in ascending order, like 1,7,30"));
        }
        match spans.iter().find(|&&days| days > self.days) {
            Some(days) => Err(format!(
                "{name}: {days} days are more than there is data of; set days={days} or more, or {name} of {} at most",
                self.days
            )),
            None => Ok(()),
        }
    }

    /// Days at each size after the first.
    pub fn sizes(&self) -> Vec<u32> {
        sizes(self.days, self.grown)
    }

    /// Asks each question at a further size for no longer than a trial's budget has time.
    pub fn fit(&mut self, budget: Duration) {
        self.grown_seconds = self.grown_seconds.min(most_question_seconds(budget));
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
            "bucketed" => Family::Bucketed { limit: self.bucket, per_ns, split },
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
            PlatformQuery::Chart | PlatformQuery::Latest => &[1],
            PlatformQuery::Statistics => &self.statistics,
            _ => &self.spans,
        }
    }
}
