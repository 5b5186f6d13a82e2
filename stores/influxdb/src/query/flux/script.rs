//! Scripts of Flux, put together step by step.
//!
//! What stands first (bucket, range, measurement, fields, tags, a threshold) is what InfluxDB hands down to its storage; it sends nothing.

use crate::query::range::kept;
use crate::query::statement::decimal;
use crate::schema::{Measurement, encoded};
use sensormark_store::{Ask, Comparison, DaySplit, FieldSet, Predicate, Query, Selection, Window};
use std::fmt::Write;

/// The column that says which part of the day a reading is of.
pub(super) const DAY: &str = "Day";

/// The column of values that are counted.
pub(super) const COUNTED: &str = "Counted";

/// A script in the making.
#[derive(Debug)]
pub(super) struct Script<'a> {
    text: String,
    source: &'a Source,
    measurement: &'a Measurement,
}

/// Where a script reads from.
#[derive(Debug)]
pub(super) struct Source {
    /// What Flux calls the database.
    pub(super) bucket: String,
    /// Whether a range holds its stop, as InfluxDB 1.8's storage has it; InfluxDB 2's has not.
    pub(super) holds_stop: bool,
}

impl<'a> Script<'a> {
    /// An empty script about a measurement.
    pub(super) const fn new(source: &'a Source, measurement: &'a Measurement) -> Self {
        Self { text: String::new(), source, measurement }
    }

    /// The script.
    pub(super) fn finish(self) -> String {
        if self.text.contains("strings.") {
            return format!("import \"strings\"\n{}", self.text);
        }
        self.text
    }

    fn add(&mut self, arguments: std::fmt::Arguments<'_>) {
        self.text.write_fmt(arguments).expect("a string takes everything");
    }

    /// Appends what no function here says.
    pub(super) fn push(&mut self, text: &str) {
        self.text.push_str(text);
    }

    /// Reads these fields of the series and times that the query is about.
    pub(super) fn read(&mut self, query: &Query, fields: FieldSet) {
        let mut range = kept(query.range);
        if matches!(query.ask, Ask::Point { .. }) {
            range.end_ns = range.start_ns.saturating_add(1);
        }
        // a range of a nanosecond has no stop that is earlier, so that its readings are looked at one by one
        let is_instant = range.end_ns == range.start_ns.saturating_add(1);
        let early = i64::from(self.source.holds_stop && !is_instant);
        let (bucket, measurement) = (&self.source.bucket, self.measurement);
        self.add(format_args!(
            "from(bucket: \"{}\") |> range(start: time(v: {}), stop: time(v: {})) |> filter(fn: (r) => r[\"_measurement\"] == \"{}\" and (",
            bucket, range.start_ns, range.end_ns - early, measurement.name
        ));
        for (place, field) in fields.iter().enumerate() {
            let before = if place == 0 { "" } else { " or " };
            self.add(format_args!("{before}r[\"_field\"] == \"{}\"", measurement.fields[field]));
        }
        self.push(")");
        self.of_series(&query.series);
        self.push(")");
        if self.source.holds_stop && is_instant {
            self.add(format_args!(" |> filter(fn: (r) => r[\"_time\"] < time(v: {}))", range.end_ns));
        }
    }

    fn of_series(&mut self, selection: &Selection) {
        let measurement = self.measurement;
        match selection {
            Selection::All => {}
            Selection::One(_) | Selection::Set(_) if measurement.keys.is_empty() => {}
            Selection::One(series) => {
                self.push(" and ");
                self.one_series(*series);
            }
            Selection::Set(set) => {
                self.push(" and (");
                let there = set.iter().filter(|series| **series < measurement.count());
                for (place, &series) in there.enumerate() {
                    self.push(if place == 0 { "(" } else { " or (" });
                    self.one_series(series);
                    self.push(")");
                }
                self.push(")");
            }
            Selection::Tagged { tag, value } => {
                self.push(" and ");
                self.tag_is(&measurement.tags[*tag], &encoded(value));
            }
        }
    }

    fn one_series(&mut self, series: u32) {
        let measurement = self.measurement;
        for (place, &tag) in measurement.keys.iter().enumerate() {
            if place > 0 {
                self.push(" and ");
            }
            self.tag_is(&measurement.tags[tag], measurement.tag_value(tag, series));
        }
    }

    /// An encoded value holds no backslash, no dollar and no line break; an empty one is an absent tag.
    fn tag_is(&mut self, key: &str, value: &str) {
        if value.is_empty() {
            self.add(format_args!("not exists r[\"{key}\"]"));
        } else {
            let value = value.replace('"', "\\\"");
            self.add(format_args!("r[\"{key}\"] == \"{value}\""));
        }
    }

    /// Only readings that pass.
    pub(super) fn passing(&mut self, predicate: Predicate) {
        let sign = match predicate.comparison {
            Comparison::Above => '>',
            Comparison::Below => '<',
        };
        self.add(format_args!(
            " |> filter(fn: (r) => r[\"_value\"] {sign} {})",
            decimal(predicate.threshold)
        ));
    }

    /// Only these columns, and those of the tags that tell series apart.
    pub(super) fn keep(&mut self, columns: &[&str], tags: &[usize]) {
        self.push(" |> keep(columns: ");
        self.names(columns, tags);
        self.push(")");
    }

    /// A table for each value of these columns and tags.
    pub(super) fn group(&mut self, columns: &[&str], tags: &[usize]) {
        self.push(" |> group(columns: ");
        self.names(columns, tags);
        self.push(")");
    }

    fn names(&mut self, columns: &[&str], tags: &[usize]) {
        let measurement = self.measurement;
        let tags = tags.iter().map(|&tag| measurement.tags[tag].as_str());
        for (place, name) in columns.iter().copied().chain(tags).enumerate() {
            let before = if place == 0 { '[' } else { ',' };
            self.add(format_args!("{before}\"{name}\""));
        }
        self.push("]");
    }

    /// A column that says whether a reading is of the day.
    pub(super) fn split(&mut self, split: DaySplit) {
        let clock = format!("int(v: r[\"_time\"]) % {}", DaySplit::DAY_NS);
        self.add(format_args!(
            " |> map(fn: (r) => ({{r with {DAY}: {clock} >= {} and {clock} < {}}}))",
            split.day_start_ns, split.day_end_ns
        ));
    }

    /// Of a stream, the readings of these hours of the day, from the first to the last.
    pub(super) fn select_hours(&mut self, stream: &str, hours: &[(i64, i64)]) {
        let several = hours.len() > 1;
        if several {
            self.push("union(tables: [");
        }
        for (place, (first, last)) in hours.iter().enumerate() {
            let before = if place == 0 { "" } else { ", " };
            self.add(format_args!("{before}{stream} |> hourSelection(start: {first}, stop: {last})"));
        }
        if several {
            self.push("])");
        }
    }

    /// A table for each window.
    pub(super) fn window(&mut self, window: Window) {
        let offset = window.origin_ns.rem_euclid(window.width_ns);
        self.add(format_args!(" |> window(every: {}ns, offset: {offset}ns)", window.width_ns));
    }

    /// Escapes text, of which InfluxDB's CSV would lose the carriage returns.
    pub(super) fn escape(&mut self, column: &str) {
        self.add(format_args!(
            r#" |> map(fn: (r) => ({{r with {column}: strings.replaceAll(v: strings.replaceAll(v: r["{column}"], t: "\\", u: "\\\\"), t: "\r", u: "\\r")}}))"#
        ));
    }

    /// Gives the tables out under this name.
    pub(super) fn give(&mut self, name: &str) {
        self.add(format_args!(" |> yield(name: \"{name}\")\n"));
    }
}
