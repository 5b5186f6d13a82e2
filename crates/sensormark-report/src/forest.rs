//! A forest for a terminal: a line for each ratio with its interval, on one axis of equal factors, and 1 in its middle. It draws what a table says.

use crate::prelude::*;

/// The most that the axis shows to either side of 1, as a factor; what is beyond has an arrow.
const MOST: f64 = 16.0;
/// The least that it shows.
const LEAST: f64 = 1.1;
/// The narrowest axis.
const NARROWEST: usize = 11;
/// Before a drawn line.
const INDENT: &str = "  ";

/// The lines of a table whose first number is a ratio: for each row its name, and below it the interval and what is said of it.
pub fn lines(table: &Table, width: usize) -> Vec<String> {
    let rows = table
        .rows
        .iter()
        .filter_map(|row| {
            let (ratio, number) = row.iter().enumerate().find_map(|(place, cell)| match cell {
                Cell::Number(number) => Some((place, number)),
                _ => None,
            })?;
            Some((&row[..table.keys], number, row[ratio..].iter().map(cell_text).join("  ")))
        })
        .collect_vec();
    let most = rows.iter().map(|(_, number, _)| reach(number)).fold(LEAST, f64::max).min(MOST).ln();
    let longest = rows.iter().map(|(_, _, said)| said.width()).max().unwrap_or(0);
    let cells = (width
        .saturating_sub(INDENT.len() + 2 + longest)
        .clamp(NARROWEST, width.saturating_sub(INDENT.len()).max(NARROWEST))
        - 1)
        / 2
        * 2
        + 1;
    let mut lines = vec![axis(most, cells)];
    for (keys, number, said) in rows {
        lines.extend(wrap(&keys.iter().map(cell_text).join(", "), width));
        let drawn = format!("{INDENT}{}", plot(number, most, cells));
        if drawn.width() + 2 + said.width() <= width {
            lines.push(format!("{drawn}  {said}"));
        } else {
            lines.push(drawn);
            let inner = width.saturating_sub(INDENT.len());
            lines.extend(wrap(&said, inner).into_iter().map(|line| format!("{INDENT}{line}")));
        }
    }
    lines
}

/// How far a ratio and its interval are from 1, as a factor.
fn reach(number: &Number) -> f64 {
    let interval = number.spread.interval();
    let ends = interval.map_or([number.value; 2], |interval| [interval.low, interval.high]);
    let far = |value: f64| value.max(1.0 / value);
    ends.into_iter().map(far).filter(|far| far.is_finite()).fold(far(number.value), f64::max)
}

/// The factors at the ends of the axis and 1 in its middle.
fn axis(most: f64, cells: usize) -> String {
    let (low, high) = (significant((-most).exp(), 2), significant(most.exp(), 2));
    let half = cells / 2;
    let left = half.saturating_sub(low.width());
    let right = half.saturating_sub(high.width());
    format!("{INDENT}{low}{}1{}{high}", " ".repeat(left), " ".repeat(right))
}

/// One interval on an axis of so many cells, an odd number.
fn plot(number: &Number, most: f64, cells: usize) -> String {
    let middle = cells / 2;
    let place = |value: f64| -> (usize, bool) {
        let share = value.ln() / most;
        let offset = (share.clamp(-1.0, 1.0) * middle as f64).round();
        let steps = usize::try_from(sensormark_data::units::round_u64(offset.abs())).unwrap_or(middle);
        let at = if offset < 0.0 { middle - steps } else { middle + steps };
        (at, share.abs() > 1.0 + 1e-9)
    };
    let mut drawn = vec!['·'; cells];
    drawn[middle] = '│';
    if let Some(interval) = number.spread.interval() {
        let ((from, is_before), (to, is_after)) = (place(interval.low), place(interval.high));
        drawn[from..=to].fill('─');
        drawn[from] = if is_before { '◂' } else { '├' };
        drawn[to] = if is_after { '▸' } else { '┤' };
    }
    let (at, is_beyond) = place(number.value);
    drawn[at] = match (is_beyond, number.value < 1.0) {
        (false, _) => '●',
        (true, true) => '◂',
        (true, false) => '▸',
    };
    drawn.into_iter().collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tables::{Digits, Spread};
    use sensormark_result::statistics::Interval;

    fn row(name: &str, value: f64, interval: Option<(f64, f64)>) -> Vec<Cell> {
        let spread = interval.map_or(Spread::None, |(low, high)| Spread::Range(Interval { low, high }));
        let digits = Digits::Significant(3);
        vec![
            Cell::text("PostgreSQL individual-row-per-channel"),
            Cell::text(name),
            Cell::Number(Number { value, spread, digits }),
            Cell::text("worse"),
        ]
    }

    #[test]
    fn ratios_stand_on_one_axis_within_the_width() {
        let mut table = Table::new("t", "", "implementation; figure | ratio; change");
        table.row(row("load: CPU of both sides an operation", 2.0, Some((1.5, 2.5))));
        table.row(row("write: p99", 0.5, Some((0.4, 3.0))));
        table.row(row("read: p99", 900.0, None));
        for width in [40, 80, 120] {
            let lines = lines(&table, width);
            for line in &lines {
                assert!(line.width() <= width, "{width}: {line:?}");
            }
            let drawn: Vec<&String> = lines.iter().filter(|line| line.contains('·')).collect();
            assert_eq!(drawn.len(), 3, "{lines:#?}");
            assert!(drawn[2].contains('▸'), "{lines:#?}");
            if width < 80 {
                continue;
            }
            let at = |line: &str, mark: char| line.chars().position(|one| one == mark);
            // Half and twice are as far from 1, on either side of it.
            let one = at(&lines[0], '1').expect("the middle");
            let twice = at(drawn[0], '●').expect("a dot");
            let half = at(drawn[1], '●').expect("a dot");
            assert_eq!(twice - one, one - half, "{lines:#?}");
            assert!(at(drawn[0], '├').expect("an end") > one);
            assert!(at(drawn[1], '┤').expect("an end") > one);
        }
    }
}
