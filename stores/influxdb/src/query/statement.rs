//! Statements of InfluxQL, put together in the order in which they are read.
//!
//! Names stand in double quotes, values in single ones; times are whole nanoseconds. It sends nothing.

use crate::query::range::kept;
use crate::schema::{Measurement, encoded};
use sensormark_store::{Comparison, Predicate, Selection, TimeRange};
use std::fmt::Write;

/// A statement in the making.
#[derive(Debug)]
pub(crate) struct Statement {
    text: String,
    has_condition: bool,
}

impl Statement {
    /// An empty statement.
    pub(crate) fn new() -> Self {
        Self { text: String::with_capacity(256), has_condition: false }
    }

    /// The statement.
    pub(crate) fn text(&self) -> &str {
        &self.text
    }

    fn add(&mut self, arguments: std::fmt::Arguments<'_>) {
        self.text.write_fmt(arguments).expect("a string takes everything");
    }

    /// `SELECT "a","b" FROM "m"`.
    pub(crate) fn select(&mut self, names: &[&str], measurement: &str) {
        for (place, name) in names.iter().enumerate() {
            let before = if place == 0 { "SELECT " } else { "," };
            self.add(format_args!("{before}\"{name}\""));
        }
        self.add(format_args!(" FROM \"{measurement}\""));
    }

    /// `SELECT max("a"),mean("b") FROM "m"`.
    pub(crate) fn select_functions<'a>(
        &mut self,
        functions: impl Iterator<Item = (&'a str, &'a str)>,
        measurement: &str,
    ) {
        for (place, (function, name)) in functions.enumerate() {
            let before = if place == 0 { "SELECT " } else { "," };
            self.add(format_args!("{before}{function}(\"{name}\")"));
        }
        self.add(format_args!(" FROM \"{measurement}\""));
    }

    fn and(&mut self) {
        self.text.push_str(if self.has_condition { " AND " } else { " WHERE " });
        self.has_condition = true;
    }

    /// Only readings of this range.
    pub(crate) fn within(&mut self, range: TimeRange) {
        let range = kept(range);
        self.and();
        self.add(format_args!("time >= {} AND time < {}", range.start_ns, range.end_ns));
    }

    /// Only readings of this time.
    pub(crate) fn at(&mut self, time_ns: i64) {
        self.and();
        self.add(format_args!("time = {time_ns}"));
    }

    /// Only readings of these series.
    pub(crate) fn of_series(&mut self, measurement: &Measurement, selection: &Selection) {
        match selection {
            Selection::One(_) if measurement.keys.is_empty() => {}
            Selection::One(series) => {
                self.and();
                self.one_series(measurement, *series);
            }
            Selection::Set(_) if measurement.keys.is_empty() => {}
            Selection::Set(set) => {
                self.and();
                self.text.push('(');
                let there = set.iter().filter(|series| **series < measurement.count());
                for (place, &series) in there.enumerate() {
                    if place > 0 {
                        self.text.push_str(" OR ");
                    }
                    self.one_series(measurement, series);
                }
                self.text.push(')');
            }
            Selection::Tagged { tag, value } => {
                self.and();
                self.tag_is(&measurement.tags[*tag], &encoded(value));
            }
            Selection::All => {}
        }
    }

    fn one_series(&mut self, measurement: &Measurement, series: u32) {
        let several = measurement.keys.len() > 1;
        if several {
            self.text.push('(');
        }
        for (place, &tag) in measurement.keys.iter().enumerate() {
            if place > 0 {
                self.text.push_str(" AND ");
            }
            self.tag_is(&measurement.tags[tag], measurement.tag_value(tag, series));
        }
        if several {
            self.text.push(')');
        }
    }

    /// An encoded value holds no backslash and no line break.
    fn tag_is(&mut self, key: &str, value: &str) {
        self.add(format_args!("\"{key}\" = '"));
        for character in value.chars() {
            if character == '\'' {
                self.text.push('\\');
            }
            self.text.push(character);
        }
        self.text.push('\'');
    }

    /// Only readings that pass.
    pub(crate) fn passing(&mut self, measurement: &Measurement, predicate: Predicate) {
        self.and();
        let sign = match predicate.comparison {
            Comparison::Above => '>',
            Comparison::Below => '<',
        };
        let name = &measurement.fields[predicate.field];
        self.add(format_args!("\"{name}\" {sign} {}", decimal(predicate.threshold)));
    }

    /// A group for each series.
    pub(crate) fn group_by_keys(&mut self, measurement: &Measurement) {
        for (place, &tag) in measurement.keys.iter().enumerate() {
            let before = if place == 0 { " GROUP BY " } else { "," };
            self.add(format_args!("{before}\"{}\"", measurement.tags[tag]));
        }
    }

    /// Appends what comes last.
    pub(crate) fn push(&mut self, text: &str) {
        self.text.push_str(text);
    }
}

/// A number as InfluxQL reads it: digits and a point, no exponent. Comparisons with whole numbers are then of floating point numbers.
pub(crate) fn decimal(number: f64) -> String {
    let mut text = number.to_string();
    if !text.contains('.') {
        text.push_str(".0");
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_a_point_and_no_exponent() {
        assert_eq!(decimal(90.0), "90.0");
        assert_eq!(decimal(-0.25), "-0.25");
        assert_eq!(decimal(1e20), "100000000000000000000.0");
        assert_eq!(decimal(1e-7), "0.0000001");
    }
}
