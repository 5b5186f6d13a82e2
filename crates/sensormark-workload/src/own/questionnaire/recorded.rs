//! What a recording answers: how many sensors there are, what they measure, how often, and what comes late or twice. Each answer is the text that a person would
//! type. What no answer holds is a remark.

use super::measure;
use super::parse::MOST_DISORDER;
use super::text::number;
use sensormark_data::quantity::length_text;
use sensormark_data::recording::Recording;
use sensormark_data::units::round_u64;
use sensormark_store::{Batch, Field, FieldType};
use std::collections::{HashMap, HashSet};

/// The answers of one recording.
#[derive(Debug)]
pub struct Recorded {
    file: String,
    said: Vec<Said>,
    remarks: Vec<String>,
}

/// The answer of the question with this option.
#[derive(Debug)]
struct Said {
    option: &'static str,
    answer: String,
    words: String,
}

impl Recorded {
    /// What this recording answers.
    pub fn of(recording: &Recording) -> Self {
        let (report, fields) = (&recording.report, &recording.schema.tables[0].fields);
        let mut recorded = Self { file: report.file.clone(), said: Vec::new(), remarks: Vec::new() };
        recorded.say("sensors", report.series.to_string(), counted(report.series as usize, "sensor"));
        let measures: Vec<String> = fields.iter().map(measure::answer).collect();
        recorded.say("measures", measures.join(", "), kinds(fields));
        let order = Order::of(&recording.readings);
        let interval_ns = report.timing.interval_ns.map(rounded);
        match interval_ns {
            Some(interval_ns) => recorded.rate(&order, interval_ns),
            None => recorded.remark("No sensor has two times, so the interval is not known."),
        }
        recorded.disorder(&order, interval_ns.unwrap_or(1));
        let absent = report.columns.iter().map(|column| column.absent).sum();
        if absent > 0 {
            let share = percent(absent, report.readings * fields.len() as u64);
            recorded
                .remark(format!("{share} of the values are absent. A workload file has no key for that."));
        }
        recorded
    }

    fn say(&mut self, option: &'static str, answer: String, words: String) {
        self.said.push(Said { option, answer, words });
    }

    fn remark(&mut self, text: impl Into<String>) {
        self.remarks.push(text.into());
    }

    fn rate(&mut self, order: &Order, interval_ns: i64) {
        let every = length_text(interval_ns);
        let times = round_u64(order.mean_ns / interval_ns as f64);
        if times > 1 {
            let mean = length_text(interval_ns.saturating_mul(times.cast_signed()));
            self.remark(format!(
                "Its readings come every {mean} on average. There are gaps, or sensors of several rates; --every {mean} takes that."
            ));
        }
        self.say("every", every.clone(), format!("a reading every {every}"));
    }

    fn disorder(&mut self, order: &Order, interval_ns: i64) {
        let by = length_text(rounded(order.late_by_ns.max(interval_ns)));
        let late = (order.late, format!("late by {by}"), "are older than one before them");
        let twice = (order.repeated, "twice".to_owned(), "repeat a time of their sensor");
        let mut parts = Vec::new();
        for (count, kind, what) in [late, twice] {
            let share = percent(count, order.readings);
            if count as f64 > order.readings as f64 * MOST_DISORDER {
                self.remark(format!(
                    "{share} of its readings {what}. That is not taken; say --disorder if it is so."
                ));
            } else if count > 0 {
                parts.push(format!("{share} {kind}"));
            }
        }
        match parts.join(", ") {
            none if none.is_empty() => {
                self.say("disorder", "none".to_owned(), "none late or twice".to_owned())
            }
            shares => self.say("disorder", shares.clone(), shares),
        }
    }

    /// The answer of the question with this option.
    pub fn answer(&self, option: &str) -> Option<&str> {
        self.said.iter().find(|said| said.option == option).map(|said| said.answer.as_str())
    }

    /// What is taken from the recording where the user does not overrule it, and the remarks, in lines.
    pub fn lines(&self, is_overruled: impl Fn(&str) -> bool) -> Vec<String> {
        let taken = self.said.iter().filter(|said| !is_overruled(said.option));
        let taken: Vec<&str> = taken.map(|said| said.words.as_str()).collect();
        let taken = format!("From {}: {}.", self.file, taken.join(", "));
        std::iter::once(taken).chain(self.remarks.iter().cloned()).collect()
    }
}

/// A length of time in whole days, hours, minutes and so on, if that is within a thousandth of it: loggers are not exact.
fn rounded(ns: i64) -> i64 {
    const UNITS: [i64; 6] =
        [86_400_000_000_000, 3_600_000_000_000, 60_000_000_000, 1_000_000_000, 1_000_000, 1_000];
    let whole = |unit: &i64| ns.saturating_add(unit / 2) / unit * unit;
    let is_near = |whole: &i64| whole.abs_diff(ns) <= ns.unsigned_abs() / 1_000;
    UNITS.iter().map(whole).find(is_near).unwrap_or(ns)
}

fn counted(count: usize, one: &str) -> String {
    format!("{count} {one}{}", if count == 1 { "" } else { "s" })
}

fn percent(count: u64, of: u64) -> String {
    format!("{} %", number(count as f64 * 100.0 / of as f64))
}

/// How many fields there are of each kind.
fn kinds(fields: &[Field]) -> String {
    let count = |is_one: fn(FieldType) -> bool| fields.iter().filter(|field| is_one(field.kind)).count();
    let kinds = [
        (count(FieldType::is_number), "number"),
        (count(|kind| kind == FieldType::Bool), "truth value"),
        (count(|kind| kind == FieldType::Text), "text"),
    ];
    let there = kinds.into_iter().filter(|(count, _)| *count > 0);
    let there: Vec<String> = there.map(|(count, kind)| counted(count, kind)).collect();
    there.join(" and ")
}

/// The order in which readings stand in a file. A reading is of one series and one time.
struct Order {
    readings: u64,
    /// How often one of them stands there again.
    repeated: u64,
    /// Those that are older than one of their series before them.
    late: u64,
    /// How much older, but for a tenth of them: a clock that was wrong once does not count.
    late_by_ns: i64,
    /// The mean interval of a series.
    mean_ns: f64,
}

impl Order {
    fn of(batch: &Batch) -> Self {
        let mut seen = HashSet::new();
        let mut spans: HashMap<u32, (i64, i64)> = HashMap::new();
        let mut late_ns = Vec::new();
        for (&series, &time_ns) in batch.series.iter().zip(&batch.times_ns) {
            if !seen.insert((series, time_ns)) {
                continue;
            }
            let (first, last) = spans.entry(series).or_insert((time_ns, time_ns));
            if time_ns < *last {
                late_ns.push(last.saturating_sub(time_ns));
            }
            (*first, *last) = (time_ns.min(*first), time_ns.max(*last));
        }
        late_ns.sort_unstable();
        let span_ns: f64 = spans.values().map(|(first, last)| *last as f64 - *first as f64).sum();
        Self {
            readings: seen.len() as u64,
            repeated: (batch.len() - seen.len()) as u64,
            late: late_ns.len() as u64,
            late_by_ns: late_ns.get(late_ns.len() * 9 / 10).copied().unwrap_or(0),
            mean_ns: span_ns / (seen.len() - spans.len()).max(1) as f64,
        }
    }
}
