//! Aggregates that the client adds up of parts. A database that groups by windows alone aggregates windows that no edge of day and night cuts. One that aggregates
//! within a partition gives parts of each series.

use crate::sums::PartialSum;
use sensormark_store::client_side::{group_names, order};
use sensormark_store::{
    Aggregate, Answer, Ask, DaySplit, Function, Group, Grouping, Query, Selection, Series, Value, Window,
};
use std::collections::BTreeMap;

/// The shortest window that pays.
const SHORTEST_NS: i64 = 60_000_000_000;

/// No reading.
const NONE: Value = Value::I64(0);

/// Series, start of the window, night: what tells groups apart.
type Key = (Option<u32>, Option<i64>, Option<bool>);

/// The greatest common divisor.
const fn common(one: i64, other: i64) -> i64 {
    if other == 0 { one.abs() } else { common(other, one.rem_euclid(other)) }
}

/// The widest windows that no edge of day, night or window cuts: they begin at the epoch.
fn grid(split: DaySplit, window: Option<Window>) -> i64 {
    let window = window.map_or([0; 2], |window| [window.width_ns, window.origin_ns]);
    let edges = [split.day_start_ns, split.day_end_ns].into_iter().chain(window);
    edges.fold(DaySplit::DAY_NS, common)
}

/// The question for windows; none where readings are as short, and for what cannot be added up.
pub fn windows_of(query: &Query) -> Option<Query> {
    let Ask::Aggregate { grouping, .. } = &query.ask else { return None };
    let width_ns = grid(grouping.by_day_part?, grouping.window);
    let window = Some(Window { width_ns, origin_ns: 0 });
    parts_of(query, Grouping { window, by_day_part: None, ..*grouping }).filter(|_| width_ns >= SHORTEST_NS)
}

/// The question for parts of each series, of which there may be several. There is none for what cannot be added up, and for parts of the day. Windows are asked
/// about only where that is wanted.
pub fn series_of(query: &Query, of_windows: bool) -> Option<Query> {
    let Ask::Aggregate { grouping: Grouping { window, by_day_part: None, .. }, .. } = query.ask else {
        return None;
    };
    let by_series = !matches!(query.series, Selection::One(_));
    let parts = parts_of(query, Grouping { by_series, window, ..Grouping::default() });
    parts.filter(|_| of_windows || window.is_none())
}

/// What adds up to the answer, in these groups: with each aggregate how many readings there are.
fn parts_of(query: &Query, grouping: Grouping) -> Option<Query> {
    let Ask::Aggregate { aggregates, from_sums: false, .. } = &query.ask else { return None };
    let mut wanted = Vec::new();
    for one in aggregates {
        let further = match one.function {
            Function::Mean => Function::Sum,
            Function::Count | Function::Sum | Function::Min | Function::Max => one.function,
            _ => return None,
        };
        for function in [Function::Count, further] {
            let aggregate = Aggregate { function, field: one.field };
            if !wanted.contains(&aggregate) {
                wanted.push(aggregate);
            }
        }
    }
    Some(Query { ask: Ask::Aggregate { aggregates: wanted, grouping, from_sums: false }, ..query.clone() })
}

/// The answer of what [`windows_of`] or [`series_of`] asks for. Parts without readings may be among them.
pub fn added_up(query: &Query, asked: &Query, series: &Series, found: Answer) -> Answer {
    let (
        Ask::Aggregate { aggregates, grouping, .. },
        Ask::Aggregate { aggregates: wanted, .. },
        Answer::Groups(found),
    ) = (&query.ask, &asked.ask, &found)
    else {
        return found;
    };
    let (Grouping { window, by_day_part, .. }, name) = (*grouping, group_names(series, *grouping));
    let one = if let Selection::One(one) = query.series { Some(one) } else { None };
    let mut groups: BTreeMap<Key, Vec<&[Value]>> = BTreeMap::new();
    for group in found {
        let mut counts = wanted.iter().zip(&group.values).filter(|(one, _)| one.function == Function::Count);
        if counts.all(|(_, count)| *count == NONE) {
            continue;
        }
        let start = group.window_start_ns.unwrap_or_default();
        let is_night = by_day_part.map(|split| !split.is_day(start));
        let window = window.map(|window| window.start_of(start));
        groups
            .entry((group.series.or(one).and_then(&name), window, is_night))
            .or_default()
            .push(&group.values);
    }
    let group = |((series, window_start_ns, is_night), parts): (Key, Vec<&[Value]>)| Group {
        series,
        window_start_ns,
        day: is_night.map(|is_night| !is_night),
        values: aggregates.iter().map(|one| added(*one, wanted, &parts)).collect(),
    };
    Answer::groups(groups.into_iter().map(group).collect())
}

/// One aggregate of all parts of a group.
fn added(one: Aggregate, wanted: &[Aggregate], parts: &[&[Value]]) -> Value {
    let place = |function| wanted.iter().position(|other| *other == Aggregate { function, ..one });
    let count = place(Function::Count);
    let of = |function| {
        let place = place(function);
        // What is said of no reading may be 0.
        let parts =
            parts.iter().filter(move |part| place == count || count.is_none_or(|at| part[at] != NONE));
        let values = parts.filter_map(move |part| part.get(place?));
        values.filter(|value: &&Value| **value != Value::Null)
    };
    let total = |function| PartialSum::of(of(function)).value();
    let found = match one.function {
        Function::Min => of(Function::Min).min_by(|one, other| order(one, other)).cloned(),
        Function::Max => of(Function::Max).max_by(|one, other| order(one, other)).cloned(),
        Function::Mean => match (total(Function::Sum), total(Function::Count)) {
            (Value::I64(sum), Value::I64(count)) => Some(Value::F64(sum as f64 / count as f64)),
            (Value::F64(sum), Value::I64(count)) => Some(Value::F64(sum / count as f64)),
            _ => None,
        },
        function => Some(total(function)),
    };
    found.unwrap_or(Value::Null)
}

#[cfg(test)]
mod tests {
    use super::*;
    use sensormark_store::TagColumn;

    const HOUR: i64 = 3_600_000_000_000;

    fn aggregate(series: Selection, grouping: Grouping) -> Query {
        let asked = [Function::Mean, Function::Sum, Function::Count];
        let aggregates = asked.map(|function| Aggregate { function, field: 0 }).to_vec();
        let ask = Ask::Aggregate { aggregates, grouping, from_sums: false };
        Query { table: 0, series, range: sensormark_store::TimeRange::new(0, 9), ask }
    }

    /// Partitions of series 0, 1 and 0 again, as a database gives them: the last without readings, whose sum is 0.
    fn partitions(query: &Query, sums: [Value; 3]) -> Answer {
        let asked = series_of(query, false).expect("they add up");
        let one = |(number, sum): (usize, Value)| Group {
            series: Some([0, 1, 0][number]),
            window_start_ns: None,
            day: None,
            values: vec![Value::I64([2, 1, 0][number]), sum],
        };
        let found = Answer::groups(sums.into_iter().enumerate().map(one).collect());
        added_up(query, &asked, &Series::new(vec![TagColumn::Integer(vec![7, 8])]), found)
    }

    #[test]
    fn partitions_are_added_up() {
        let sums = [Value::I64(5), Value::I64(2), Value::I64(0)];
        let values = |answer: Answer| match answer {
            Answer::Groups(groups) => groups.into_iter().map(|group| (group.series, group.values)).collect(),
            other => vec![(None, vec![Value::Text(format!("{other:?}"))])],
        };
        let all = aggregate(Selection::All, Grouping::default());
        let expected = vec![Value::F64(7.0 / 3.0), Value::I64(7), Value::I64(3)];
        assert_eq!(values(partitions(&all, sums.clone())), [(None, expected)]);
        let each = aggregate(Selection::All, Grouping { by_series: true, ..Grouping::default() });
        let of = |mean, sum, count| vec![Value::F64(mean), Value::I64(sum), Value::I64(count)];
        let expected = [(Some(0), of(2.5, 5, 2)), (Some(1), of(2.0, 2, 1))];
        assert_eq!(values(partitions(&each, sums)), expected);
    }

    #[test]
    fn parts_of_more_than_64_bits_are_added_up_exactly() {
        let all = aggregate(Selection::All, Grouping::default());
        let beyond = i128::from(i64::MAX) + 5;
        let sums = [Value::Text(beyond.to_string()), Value::I64(-5), Value::I64(0)];
        let Answer::Groups(groups) = partitions(&all, sums) else { panic!("groups") };
        assert_eq!(groups[0].values[1], Value::I64(i64::MAX));
    }

    #[test]
    fn days_are_made_of_windows_that_nothing_cuts() {
        let split = DaySplit { day_start_ns: 6 * HOUR, day_end_ns: 22 * HOUR };
        assert_eq!(grid(split, None), 2 * HOUR);
        assert_eq!(grid(split, Some(Window { width_ns: 24 * HOUR, origin_ns: HOUR })), HOUR);
        assert_eq!(grid(split, Some(Window { width_ns: 24 * HOUR, origin_ns: -HOUR })), HOUR);
        let night = DaySplit { day_start_ns: 0, day_end_ns: 0 };
        assert_eq!(grid(night, None), 24 * HOUR);
    }
}
