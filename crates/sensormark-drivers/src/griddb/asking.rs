//! Asking: one question in TQL a container, those of several containers together. TQL answers with whole rows, with one aggregate, or with the first rows in an order.

use super::Session;
use super::client::{Kind, MILLISECOND, Row};
use super::text::{Plan, Take, Whose};
use crate::fetched::{Cells, Fetched, wrong_type};
use crate::{Cell, EachRow, Fault};
use sensormark_kit::unexpected;
use sensormark_store::{StoreError, Window};

/// Questions that are asked together.
const TOGETHER: usize = 200;
/// Questions about windows beyond which readings are fetched instead.
const MOST_QUESTIONS: usize = 1_000;
/// Readings beyond which the server's sum of an INTEGER cannot be trusted. The server adds in 32 bits and overflows in silence. A field of 16 bits reaches 2³¹
/// with this many.
const MOST_SUMMED: i64 = (1 << 31) / 65_536;

/// A row, as far as it is taken.
struct Taken<'a> {
    series: Option<u32>,
    row: &'a Row,
    take: &'a [Take],
}

impl Cells for Taken<'_> {
    #[inline]
    fn cell(&self, place: usize) -> Result<Cell<'_>, StoreError> {
        match self.take.get(place) {
            Some(Take::Series) => Ok(Cell::I64(self.series.unwrap_or_default().into())),
            Some(&Take::Field(kind, column)) => self.row.cell(column, kind).map_err(|fault| match fault {
                Fault::Known(error) => error,
                other => unexpected(&format!("{other:?}")),
            }),
            _ => Err(wrong_type()),
        }
    }
}

/// Cells that are there.
impl Cells for Vec<Cell<'_>> {
    fn cell(&self, place: usize) -> Result<Cell<'_>, StoreError> {
        self.get(place).copied().ok_or_else(wrong_type)
    }
}

impl Session {
    /// Hands over the rows of the answer.
    pub(super) fn ask(&mut self, plan: &Plan, cells: &[Cell<'_>], each: &mut EachRow<'_>) -> Result<(), Fault> {
        let series = self.series(plan, cells)?;
        if let Some(slot) = plan.key {
            return self.by_key(plan, &series, (slot, cells), each);
        }
        if plan.take.iter().any(|take| matches!(take, Take::Value(_))) {
            return self.aggregates(plan, &series, cells, each);
        }
        let tql = plan.questions.first().and_then(|tql| tql.with(|slot| cells.get(slot).copied()));
        let Some(tql) = tql else { return Ok(()) };
        for part in series.chunks(if plan.is_alone { 1 } else { TOGETHER }) {
            let open = |&series| Ok((self.container(&plan.name, series, false)?, &*tql));
            let open = part.iter().map(open).collect::<Result<Vec<_>, Fault>>()?;
            let mut row = self.rows(&plan.name, &open[0].0, 1)?;
            for (&series, found) in part.iter().zip(self.connection.ask(&open)?) {
                while found.has_next() {
                    found.next(&mut row[0])?;
                    if !each(&Fetched(Taken { series, row: &row[0], take: &plan.take }))? {
                        break;
                    }
                }
            }
            self.spare(&plan.name, row);
        }
        Ok(())
    }

    /// The series that are asked for, ascending; none where the container is one by itself.
    fn series(&mut self, plan: &Plan, cells: &[Cell<'_>]) -> Result<Vec<Option<u32>>, Fault> {
        let mut numbers = match &plan.whose {
            Whose::Named => return Ok(vec![None]),
            Whose::Given(slot) => match cells.get(*slot) {
                Some(&Cell::I64(series)) => vec![series],
                Some(Cell::Integers(series)) => series.to_vec(),
                _ => Vec::new(),
            },
            Whose::Found(tql) => {
                let Some(tql) = tql.with(|slot| cells.get(slot).copied()) else { return Ok(Vec::new()) };
                let tags = format!("{}-tags", plan.name);
                let container = self.container(&tags, None, false)?;
                let mut rows = self.rows(&tags, &container, 1)?;
                let found = self.connection.ask(&[(container, &*tql)])?;
                let mut numbers = Vec::new();
                while found[0].has_next() {
                    found[0].next(&mut rows[0])?;
                    if let Cell::I64(series) = rows[0].cell(0, Kind::Integer)? {
                        numbers.push(series);
                    }
                }
                self.spare(&tags, rows);
                numbers
            }
        };
        numbers.sort_unstable();
        numbers.dedup();
        Ok(numbers.into_iter().filter_map(|series| u32::try_from(series).ok()).map(Some).collect())
    }

    /// The one row of each container that has this key.
    fn by_key(
        &mut self,
        plan: &Plan,
        series: &[Option<u32>],
        (slot, cells): (usize, &[Cell<'_>]),
        each: &mut EachRow<'_>,
    ) -> Result<(), Fault> {
        let Some(&Cell::I64(key)) = cells.get(slot) else { return Ok(()) };
        for &series in series {
            let container = self.container(&plan.name, series, false)?;
            let mut rows = self.rows(&plan.name, &container, 1)?;
            if container.row_by(&self.connection, plan.kind(slot), key, &mut rows[0])? {
                each(&Fetched(Taken { series, row: &rows[0], take: &plan.take }))?;
            }
            self.spare(&plan.name, rows);
        }
        Ok(())
    }

    /// A row of aggregates a series and window: one question each.
    fn aggregates(
        &mut self,
        plan: &Plan,
        series: &[Option<u32>],
        cells: &[Cell<'_>],
        each: &mut EachRow<'_>,
    ) -> Result<(), Fault> {
        let windows = plan.windows.map_or(Some(vec![(0, None)]), |slots| windows(plan, slots, cells));
        let windows = windows.filter(|windows| {
            windows.len() * plan.questions.len() * series.len() <= MOST_QUESTIONS || plan.windows.is_none()
        });
        let windows = windows.ok_or(Fault::FromReadings)?;
        let mut texts = Vec::new();
        for (_, range) in &windows {
            for tql in &plan.questions {
                let cell = |slot| match (range, plan.windows) {
                    (Some((from, _)), Some([start, ..])) if slot == start => Some(Cell::I64(*from)),
                    (Some((_, to)), Some([_, end, ..])) if slot == end => Some(Cell::I64(*to)),
                    _ => cells.get(slot).copied(),
                };
                texts.push(tql.with(cell).unwrap_or_default());
            }
        }
        let all: Vec<(&str, Option<u32>)> =
            texts.iter().flat_map(|text| series.iter().map(move |&series| (text.as_str(), series))).collect();
        let kinds: Vec<Kind> = plan.take.iter().filter_map(|take| if let Take::Value(kind) = take { Some(*kind) } else { None }).collect();
        let mut values = Vec::with_capacity(all.len());
        for part in all.chunks(TOGETHER) {
            let open = part.iter().map(|&(text, series)| Ok((self.container(&plan.name, series, false)?, text)));
            let open = open.collect::<Result<Vec<_>, Fault>>()?;
            for found in self.connection.ask(&open)? {
                values.push(found.aggregate(kinds[values.len() / series.len() % kinds.len()])?);
            }
        }
        let value = |window: usize, question: usize, place: usize| {
            values[(window * kinds.len() + question) * series.len() + place]
        };
        let has_sum = kinds.contains(&Kind::Integer);
        let counts = |(text, value): (&(&str, _), &Cell<'_>)| {
            text.0.starts_with("SELECT COUNT(") && matches!(value, Cell::I64(count) if *count > MOST_SUMMED)
        };
        if has_sum && all.iter().zip(&values).any(counts) {
            return Err(Fault::FromReadings);
        }
        for (window, (start_ns, _)) in windows.iter().enumerate() {
            for (place, series) in series.iter().enumerate() {
                let mut questions = 0..;
                let cell = |take: &Take| match take {
                    Take::Series => Cell::I64(series.unwrap_or_default().into()),
                    Take::Value(_) => value(window, questions.next().unwrap_or_default(), place),
                    _ => Cell::I64(*start_ns),
                };
                each(&Fetched(plan.take.iter().map(cell).collect::<Vec<_>>()))?;
            }
        }
        Ok(())
    }
}

/// A window's start in ns, and its part of the range, in units of the column of time.
type Part = (i64, Option<(i64, i64)>);

/// The windows of a range; none where they are too many.
fn windows(plan: &Plan, [start, end, width, origin]: [usize; 4], cells: &[Cell<'_>]) -> Option<Vec<Part>> {
    let unit = if plan.kind(start) == Kind::Timestamp { MILLISECOND } else { 1 };
    let number = |slot: usize| if let Some(Cell::I64(number)) = cells.get(slot) { *number } else { 0 };
    let (first, end) = (number(start).saturating_mul(unit), number(end).saturating_mul(unit));
    let window = Window { width_ns: number(width).max(1), origin_ns: number(origin) };
    if end.saturating_sub(first) / window.width_ns > i64::try_from(MOST_QUESTIONS).ok()? {
        return None;
    }
    let (mut parts, mut at) = (Vec::new(), window.start_of(first));
    // The first unit that is not before an instant.
    let units = |ns: i64| ns.div_euclid(unit) + i64::from(ns.rem_euclid(unit) > 0);
    while at < end {
        let next = at.saturating_add(window.width_ns);
        parts.push((at, Some((units(at.max(first)), units(next.min(end))))));
        at = next;
    }
    Some(parts)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn starts(range: [i64; 2], width_ns: i64, origin_ns: i64) -> Option<Vec<(i64, i64)>> {
        let plan = Plan::read("of \"t\" ?1; windows ?1 ?2 ?3 ?4", &["LONG".to_owned()]).unwrap();
        let cells = [range[0], range[1], width_ns, origin_ns].map(Cell::I64);
        let parts = windows(&plan, [0, 1, 2, 3], &cells)?;
        Some(parts.iter().map(|(start, range)| (*start, range.unwrap().0)).collect())
    }

    #[test]
    fn windows_are_cut_to_the_range_and_keep_their_names() {
        assert_eq!(starts([25, 45], 10, 3), Some(vec![(23, 25), (33, 33), (43, 43)]));
        assert_eq!(starts([5, 5], 10, 0), Some(Vec::new()));
        assert_eq!(starts([0, 100_000], 10, 0), None);
    }
}
