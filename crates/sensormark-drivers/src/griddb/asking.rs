//! Asking: one question in TQL a container, those of several containers together. TQL answers with whole rows, with one aggregate, or with the first rows in an order.

use super::Session;
use super::client::{Found, MILLISECOND, Row};
use super::kind::Kind;
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
    pub(super) fn ask(
        &mut self,
        plan: &Plan,
        cells: &[Cell<'_>],
        each: &mut EachRow<'_>,
    ) -> Result<(), Fault> {
        let series = self.series(plan, cells)?;
        if plan.take.iter().any(|take| matches!(take, Take::Value(_))) {
            return self.aggregates(plan, &series, cells, each);
        }
        if let (Some(slot), [series]) = (plan.key, &series[..]) {
            let Cell::I64(key) = cells[slot] else { return Ok(()) };
            let container = self.container(&plan.name, *series, false)?;
            let mut row = self.connection.row(&container)?;
            if self.connection.row_by(&container, plan.kind(slot), key, &mut row)? {
                each(&Fetched(Taken { series: *series, row: &row, take: &plan.take }))?;
            }
            return Ok(());
        }
        let tql = plan.questions.first().and_then(|tql| tql.with(|slot| cells.get(slot).copied()));
        let Some(tql) = tql else { return Ok(()) };
        let questions: Vec<(Option<u32>, &str)> = series.iter().map(|&series| (series, &*tql)).collect();
        let together = if plan.is_alone { 1 } else { TOGETHER };
        self.each(&plan.name, &questions, together, &plan.take, each)
    }

    /// Hands over the rows that questions find in containers of one schema.
    fn each(
        &mut self,
        name: &str,
        questions: &[(Option<u32>, &str)],
        together: usize,
        take: &[Take],
        each: &mut EachRow<'_>,
    ) -> Result<(), Fault> {
        for part in questions.chunks(together) {
            let found = self.found(name, part)?;
            let first = self.container(name, part[0].0, false)?;
            let mut row = self.connection.row(&first)?;
            for (&(series, _), found) in part.iter().zip(found) {
                while found.has_next() {
                    found.next(&mut row)?;
                    if !each(&Fetched(Taken { series, row: &row, take }))? {
                        break;
                    }
                }
            }
        }
        Ok(())
    }

    fn found(&mut self, name: &str, questions: &[(Option<u32>, &str)]) -> Result<Vec<Found>, Fault> {
        let open = questions.iter().map(|&(series, tql)| Ok((self.container(name, series, false)?, tql)));
        let open = open.collect::<Result<Vec<_>, Fault>>()?;
        self.connection.ask(&open)
    }

    /// The series that are asked for, ascending; none where the container is one by itself.
    fn series(&mut self, plan: &Plan, cells: &[Cell<'_>]) -> Result<Vec<Option<u32>>, Fault> {
        let mut numbers = match &plan.whose {
            Whose::Named => return Ok(vec![None]),
            Whose::Given(slot) => match cells[*slot] {
                Cell::I64(series) => vec![series],
                Cell::Integers(series) => series.to_vec(),
                _ => Vec::new(),
            },
            Whose::Found(tql) => {
                let (tags, tql, mut found) =
                    (format!("{}-tags", plan.name), tql.with(|slot| cells.get(slot).copied()), Vec::new());
                let number = &mut |row: &dyn sensormark_kit::Row| {
                    found.push(row.integer(0)?);
                    Ok(true)
                };
                self.each(
                    &tags,
                    &[(None, &tql.unwrap_or_default())],
                    1,
                    &[Take::Field(Kind::Long, 0)],
                    number,
                )?;
                found
            }
        };
        numbers.sort_unstable();
        numbers.dedup();
        Ok(numbers.into_iter().map(|series| u32::try_from(series).ok()).collect())
    }

    /// A row of aggregates a series and window: one question each.
    fn aggregates(
        &mut self,
        plan: &Plan,
        series: &[Option<u32>],
        cells: &[Cell<'_>],
        each: &mut EachRow<'_>,
    ) -> Result<(), Fault> {
        let kind = |take: &Take| if let Take::Value(kind) = take { Some(*kind) } else { None };
        let kinds: Vec<Kind> = plan.take.iter().filter_map(kind).collect();
        let most = MOST_QUESTIONS / (kinds.len() * series.len()).max(1);
        let windows = match plan.windows {
            Some(slots) => windows(plan, slots, cells)
                .filter(|windows| windows.len() <= most)
                .ok_or(Fault::FromReadings)?,
            None => vec![(0, None)],
        };
        let (mut texts, series_count) = (Vec::new(), series.len());
        for (_, range) in &windows {
            let cell = |slot| match (range, plan.windows) {
                (Some(range), Some([start, end, ..])) if slot == start || slot == end => {
                    Some(Cell::I64(if slot == start { range.0 } else { range.1 }))
                }
                _ => cells.get(slot).copied(),
            };
            texts.extend(plan.questions.iter().filter_map(|tql| tql.with(cell)));
        }
        let questions: Vec<(Option<u32>, &str)> =
            texts.iter().flat_map(|text| series.iter().map(|&series| (series, &**text))).collect();
        let mut values = Vec::with_capacity(questions.len());
        for part in questions.chunks(TOGETHER) {
            for found in self.found(&plan.name, part)? {
                values.push(found.aggregate(kinds[values.len() / series_count % kinds.len()])?);
            }
        }
        let is_much = |(question, value): (&(_, &str), &Cell<'_>)| {
            question.1.starts_with("SELECT COUNT(")
                && matches!(value, Cell::I64(count) if *count > MOST_SUMMED)
        };
        if kinds.contains(&Kind::Integer) && questions.iter().zip(&values).any(is_much) {
            return Err(Fault::FromReadings);
        }
        for (window, (start_ns, _)) in windows.iter().enumerate() {
            for (place, series) in series.iter().enumerate() {
                let mut questions = window * kinds.len()..;
                let cell = |take: &Take| match take {
                    Take::Series => Cell::I64(series.unwrap_or_default().into()),
                    Take::Value(_) => values[questions.next().unwrap_or_default() * series_count + place],
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
    while at.max(first) < end {
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
