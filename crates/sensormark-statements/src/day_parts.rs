//! Parts of the day for a database that groups by windows alone: it aggregates windows that no edge of day and night cuts, and the client adds them up.

use sensormark_kit::sums::PartialSum;
use sensormark_store::client_side::order;
use sensormark_store::{Aggregate, Answer, Ask, DaySplit, Function, Group, Grouping, Query, Value, Window};
use std::collections::BTreeMap;

/// The shortest window that pays.
const SHORTEST_NS: i64 = 60_000_000_000;

/// Series, start of the window, night: what tells groups apart.
type Key = (Option<u32>, Option<i64>, bool);

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

/// The question for the windows; none where readings are as short, and for what cannot be added up.
pub fn windows_of(query: &Query) -> Option<Query> {
    let Ask::Aggregate { aggregates, grouping, from_sums: false } = &query.ask else { return None };
    let width_ns = grid(grouping.by_day_part?, grouping.window);
    let (mut wanted, mut adds_up) = (Vec::new(), width_ns >= SHORTEST_NS);
    for one in aggregates {
        let further = match one.function {
            Function::Mean => Function::Sum,
            Function::Count | Function::Sum | Function::Min | Function::Max => one.function,
            _ => {
                adds_up = false;
                continue;
            }
        };
        for function in [Function::Count, further] {
            let aggregate = Aggregate { function, field: one.field };
            if !wanted.contains(&aggregate) {
                wanted.push(aggregate);
            }
        }
    }
    let window = Some(Window { width_ns, origin_ns: 0 });
    let grouping = Grouping { window, by_day_part: None, ..*grouping };
    let ask = Ask::Aggregate { aggregates: wanted, grouping, from_sums: false };
    adds_up.then(|| Query { ask, ..query.clone() })
}

/// The answer of what [`windows_of`] asks for.
pub fn added_up(query: &Query, windows: &Query, found: Answer) -> Answer {
    let (
        Ask::Aggregate { aggregates, grouping: Grouping { window, by_day_part: Some(split), .. }, .. },
        Ask::Aggregate { aggregates: wanted, .. },
        Answer::Groups(found),
    ) = (&query.ask, &windows.ask, &found)
    else {
        return found;
    };
    let mut groups: BTreeMap<Key, Vec<&[Value]>> = BTreeMap::new();
    for group in found {
        let start = group.window_start_ns.unwrap_or_default();
        let key = (group.series, window.map(|window| window.start_of(start)), !split.is_day(start));
        groups.entry(key).or_default().push(&group.values);
    }
    let group = |((series, window_start_ns, night), parts): (Key, Vec<&[Value]>)| Group {
        series,
        window_start_ns,
        day: Some(!night),
        values: aggregates.iter().map(|one| added(*one, wanted, &parts)).collect(),
    };
    Answer::groups(groups.into_iter().map(group).collect())
}

/// One aggregate of all parts of a group.
fn added(one: Aggregate, wanted: &[Aggregate], parts: &[&[Value]]) -> Value {
    let of = |function| {
        let place = wanted.iter().position(|other| *other == Aggregate { function, ..one });
        let values = parts.iter().filter_map(move |part| part.get(place?));
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

    const HOUR: i64 = 3_600_000_000_000;

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
