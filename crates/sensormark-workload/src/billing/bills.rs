//! Bills: the sum of each device's usage over one month, what it should be, and the file that the application makes of them.

use super::ingest::Order;
use super::{BILLS_FILE, EXTRACT};
use sensormark_data::billing::calendar::{HOUR_NS, START_NS};
use sensormark_data::billing::{Meter, USAGE_SINCE_READ, time_ns};
use sensormark_data::units::{round_u64, signed};
use sensormark_engine::operations::{ENDLESS, Extent, Operations, Slot};
use sensormark_store::{
    Aggregate, Answer, Ask, Function, Group, Grouping, Query, Selection, TimeRange, Value,
};
use std::ops::Range;

/// The first line of the file.
const HEAD: &str = "meter,from,until,amount";

/// The asking load.
pub struct Bills {
    seed: u64,
    /// What the last loading phase wrote; all else of these devices and of those before them is there.
    order: Order,
    /// The month, in hours from the first reading, as far as readings go.
    month: Range<u32>,
    /// How many bills there are.
    count: u64,
    ask: Ask,
    classes: [String; 1],
}

impl Bills {
    /// A bill of this month for every device up to the last of the order's, in so many rounds; without an end where that is not said.
    pub fn new(seed: u64, order: Order, month: Range<u32>, rounds: Option<u32>) -> Self {
        let count = rounds.map_or(ENDLESS, |rounds| u64::from(order.devices.end) * u64::from(rounds));
        Self {
            seed,
            order,
            month,
            count,
            ask: Ask::Aggregate {
                aggregates: vec![Aggregate { function: Function::Sum, field: USAGE_SINCE_READ }],
                grouping: Grouping::default(),
                from_sums: false,
            },
            classes: [EXTRACT.to_owned()],
        }
    }

    fn devices(&self) -> u64 {
        u64::from(self.order.devices.end)
    }

    /// The device of a bill and the hours that it is of: the whole month, or as much of it as is certainly written, where the load before was cut.
    fn bill(&self, index: u64, watermark: u64) -> (u32, Range<u32>) {
        let narrow = |value: u64| u32::try_from(value).unwrap_or(u32::MAX);
        if watermark >= self.order.len() {
            return (narrow(index % self.devices()), self.month.clone());
        }
        let (complete, hours) = self.order.complete(watermark);
        let partial = if hours > self.month.start { self.order.lanes } else { 0 };
        let device = narrow(index % u64::from((complete + partial).max(1)));
        let end = if device < complete { self.month.end } else { self.month.end.min(hours) };
        (device, self.month.start..end)
    }

    /// The hours that a question asks about.
    fn hours(&self, range: TimeRange) -> Range<u32> {
        let hour = |time_ns: i64| {
            let since = time_ns - START_NS;
            u32::try_from((since + HOUR_NS - 1).div_euclid(HOUR_NS)).unwrap_or(0)
        };
        hour(range.start_ns)..hour(range.end_ns).min(self.order.hours.end)
    }
}

impl Operations for Bills {
    fn len(&self) -> u64 {
        self.count
    }

    fn extent(&self) -> Extent {
        Extent::of(self.month.len() as f64)
    }

    fn classes(&self) -> &[String] {
        &self.classes
    }

    fn fill(&self, index: u64, watermark: u64, slot: &mut Slot) {
        let (device, hours) = self.bill(index, watermark);
        let query = slot.ask();
        query.table = 0;
        query.series = Selection::One(device);
        query.range = TimeRange::new(time_ns(hours.start), time_ns(hours.end));
        if query.ask != self.ask {
            query.ask.clone_from(&self.ask);
        }
    }

    fn least_watermark(&self) -> u64 {
        if self.order.devices.start > 0 {
            return 0;
        }
        u64::from(self.order.lanes) * u64::from(self.month.start + 1)
    }

    fn answer_len(&self, _index: u64, _query: &Query) -> Option<usize> {
        Some(1)
    }

    fn expected(&self, _index: u64, query: &Query) -> Option<Answer> {
        let Selection::One(device) = query.series else {
            return None;
        };
        let hours = self.hours(query.range);
        if hours.is_empty() {
            return Some(Answer::Groups(Vec::new()));
        }
        let used = Meter::new(self.seed, device).used(hours);
        Some(Answer::Groups(vec![Group {
            series: None,
            window_start_ns: None,
            day: None,
            values: vec![Value::F64(used as f64 / 100.0)],
        }]))
    }

    fn disagreement(&self, answer: &Answer, expected: &Answer, query: &Query) -> Option<String> {
        answer.disagreement(expected, query).or_else(|| {
            let (got, due) = (cents(answer), cents(expected));
            (got != due).then(|| format!("expected {due:?} cents, got {got:?}"))
        })
    }

    fn file(&self) -> Option<(&str, &str)> {
        Some((BILLS_FILE, HEAD))
    }

    /// The bills of the first round.
    fn line(&self, index: u64, query: &Query, answer: &Answer) -> Option<String> {
        let Selection::One(device) = query.series else {
            return None;
        };
        if index >= self.devices() {
            return None;
        }
        let cents = cents(answer)?;
        let sign = if cents < 0 { "-" } else { "" };
        let (whole, part) = (cents.unsigned_abs() / 100, cents.unsigned_abs() % 100);
        Some(format!(
            "{},{},{},{sign}{whole}.{part:02}",
            u64::from(device) + 1,
            day(query.range.start_ns),
            day(query.range.end_ns)
        ))
    }
}

/// A bill's amount, rounded to cents; none where the answer is not one sum.
pub fn cents(answer: &Answer) -> Option<i64> {
    let Answer::Groups(groups) = answer else {
        return None;
    };
    match groups.as_slice() {
        [group] => match group.values.as_slice() {
            [Value::F64(sum)] => {
                let cents = signed(round_u64(sum.abs() * 100.0));
                Some(if *sum < 0.0 { -cents } else { cents })
            }
            _ => None,
        },
        _ => None,
    }
}

/// An instant as people write it on a bill, RFC 3339 in UTC.
fn day(time_ns: i64) -> String {
    jiff::Timestamp::from_nanosecond(i128::from(time_ns))
        .map_or_else(|_| time_ns.to_string(), |time| time.to_string())
}
