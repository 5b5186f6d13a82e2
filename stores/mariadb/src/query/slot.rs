//! Parameters of a statement: what each stands for, and its value for a question.
//!
//! Values are bound in the types of the columns that they are compared with, so that an index is used as it is.

use super::source::Source;
use crate::schema::series::tag_value;
use crate::schema::{Content, SumsModel};
use crate::write::rows::split;
use mysql_async::Value;
use sensormark_store::{Ask, DaySplit, Query, Selection, TagColumn, Window};

/// What a parameter stands for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Slot {
    /// The range's start in ns.
    Start,
    /// The range's end in ns.
    End,
    /// The second of the range's start.
    StartSecond,
    /// The ns within that second.
    StartNanosecond,
    /// The second of the range's end.
    EndSecond,
    /// The ns within that second.
    EndNanosecond,
    /// The first span that the range touches.
    FirstSpan,
    /// The last span that it touches.
    LastSpan,
    /// The first period of sums that starts in the range.
    FirstPeriod,
    /// The first period after it.
    EndPeriod,
    /// What identifies each of the chosen series: as many values as they have columns for it, one series after the other.
    Series,
    /// The value of the tag that is selected by.
    TagValue,
    /// The threshold.
    Threshold,
    /// The windows' width in ns.
    Width,
    /// Where the first window after 1970 starts, in ns.
    Origin,
    /// When day begins, in ns after midnight.
    DayStart,
    /// When night begins, in ns after midnight.
    DayEnd,
}

/// Calls for each series that a question names and the table has; for all of them where it names none.
fn each_known(selection: &Selection, count: u32, mut each: impl FnMut(u32)) {
    match selection {
        Selection::One(series) if *series < count => each(*series),
        Selection::One(_) => {}
        Selection::Set(several) => several
            .iter()
            .filter(|&&it| it < count)
            .for_each(|&it| each(it)),
        Selection::Tagged { .. } | Selection::All => (0..count).for_each(each),
    }
}

/// The values of these slots for a question, in their order.
pub(crate) fn values(slots: &[Slot], query: &Query, source: &Source<'_>) -> Vec<Value> {
    let mut values = Vec::with_capacity(slots.len());
    for &slot in slots {
        if slot == Slot::Series {
            each_known(&query.series, source.table.series.len(), |series| {
                let described = source.described;
                described.push_identity(source.table, series, &mut values);
            });
        } else {
            values.push(value(slot, query, source));
        }
    }
    values
}

fn value(slot: Slot, query: &Query, source: &Source<'_>) -> Value {
    let (start, end) = (query.range.start_ns, query.range.end_ns);
    let whole = match slot {
        Slot::Start => start,
        Slot::End => end,
        Slot::StartSecond => split(start).0,
        Slot::StartNanosecond => split(start).1,
        Slot::EndSecond => split(end).0,
        Slot::EndNanosecond => split(end).1,
        Slot::FirstSpan => start.div_euclid(span_ns(source)),
        Slot::LastSpan => end.saturating_sub(1).div_euclid(span_ns(source)),
        Slot::FirstPeriod => period(source.described.sums.as_ref(), start),
        Slot::EndPeriod => period(source.described.sums.as_ref(), end),
        Slot::Width => return window(query).map_or(Value::NULL, |it| Value::Int(it.width_ns)),
        Slot::Origin => return window(query).map_or(Value::NULL, |it| Value::Int(first_start(it))),
        Slot::DayStart => {
            return split_of(query).map_or(Value::NULL, |it| Value::Int(it.day_start_ns));
        }
        Slot::DayEnd => return split_of(query).map_or(Value::NULL, |it| Value::Int(it.day_end_ns)),
        Slot::Threshold => return threshold(query),
        Slot::TagValue => return tag(query, source),
        Slot::Series => return Value::NULL,
    };
    Value::Int(whole)
}

fn span_ns(source: &Source<'_>) -> i64 {
    match &source.described.content {
        Content::Records { span_ns, .. } => *span_ns,
        _ => 1,
    }
}

/// The first period that starts at this time or after it.
fn period(sums: Option<&SumsModel>, time_ns: i64) -> i64 {
    let per_ns = sums.map_or(1, |sums| sums.per_ns);
    time_ns.div_euclid(per_ns) + i64::from(time_ns.rem_euclid(per_ns) > 0)
}

fn window(query: &Query) -> Option<Window> {
    match &query.ask {
        Ask::Aggregate { grouping, .. } => grouping.window,
        _ => None,
    }
}

/// The start of the window that starts in [0, width).
pub(crate) const fn first_start(window: Window) -> i64 {
    window.origin_ns.rem_euclid(window.width_ns)
}

fn split_of(query: &Query) -> Option<DaySplit> {
    match &query.ask {
        Ask::Aggregate { grouping, .. } => grouping.by_day_part,
        _ => None,
    }
}

fn threshold(query: &Query) -> Value {
    match &query.ask {
        Ask::First(predicate) | Ask::Last(predicate) | Ask::SeriesMatching(predicate) => {
            Value::Double(predicate.threshold)
        }
        _ => Value::NULL,
    }
}

/// An integer tag is looked up by its text: "07" is not the value 7.
fn tag(query: &Query, source: &Source<'_>) -> Value {
    let Selection::Tagged { tag, value } = &query.series else {
        return Value::NULL;
    };
    match source.table.series.columns().get(*tag) {
        Some(TagColumn::Text(_)) => Value::Bytes(value.as_bytes().to_vec()),
        Some(TagColumn::Integer(_)) => {
            let lowest = source.described.series.lowest_with(*tag, value);
            lowest.map_or(Value::NULL, |series| tag_value(source.table, series, *tag))
        }
        None => Value::NULL,
    }
}
