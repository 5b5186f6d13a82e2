//! Asking: which partitions hold the answer, and one statement for each, several of them on their way at once.
//!
//! Partitions are asked in the order of series and time. Small ranges go straight to their buckets. Before other ranges the driver reads which buckets a series has, so
//! that it does not walk through partitions that are not there.

use super::text::{Buckets, Rows, Series, Slot};
use super::value::{Slots, each_row};
use super::{Cql, Link, PIPELINE, Plan};
use crate::{Cell, EachRow, Fault};
use futures_util::stream::{StreamExt, TryStreamExt, iter};
use scylla::response::PagingState;
use scylla::response::query_result::QueryRowsResult;
use scylla::statement::Consistency;
use sensormark_kit::{Row, unexpected};
use sensormark_store::client_side::order;
use sensormark_store::{ErrorKind, StoreError};

/// Buckets of a range that are asked without a look at which are there.
const STRAIGHT: i64 = 2;

/// A question in one partition.
#[derive(Clone, Copy)]
pub(super) struct Asked<'a> {
    cells: &'a [Cell<'a>],
    /// Series and bucket.
    place: (i64, i64),
    /// The first bucket of the range, and the last.
    buckets: (i64, i64),
    least: &'a [u8],
}

impl Slots for Asked<'_> {
    fn cell(&self, slot: Slot) -> Cell<'_> {
        match slot {
            Slot::Given(number, _) => self.cells.get(number).copied().unwrap_or(Cell::Null),
            Slot::Series => Cell::I64(self.place.0),
            Slot::Bucket => Cell::I64(self.place.1),
            Slot::First => Cell::I64(self.buckets.0),
            Slot::Last => Cell::I64(self.buckets.1),
            Slot::Least => Cell::Bytes(self.least),
            Slot::Name | Slot::Back => Cell::Null,
        }
    }
}

/// A row that was found: its time, and the page whose first row it is.
type Found = (i64, QueryRowsResult);

/// The first row of a page that counts.
fn found(page: QueryRowsResult) -> Result<Option<Found>, StoreError> {
    let mut time = None;
    each_row(&page, None, &mut |row| {
        time = Some(row.integer(0)?);
        Ok(false)
    })?;
    Ok(time.map(|time| (time, page)))
}

/// Hands the first row of a page over; whether more are wanted.
fn hand_over(
    page: &QueryRowsResult,
    series: Option<i64>,
    each: &mut EachRow<'_>,
) -> Result<bool, StoreError> {
    let mut goes_on = true;
    each_row(page, series, &mut |row| {
        goes_on = each(row)?;
        Ok(false)
    })?;
    Ok(goes_on)
}

/// Whether some copies of what is stored could not be asked.
fn are_missing(fault: &Fault) -> bool {
    match fault {
        Fault::Known(error) => matches!(error.kind(), ErrorKind::Unavailable | ErrorKind::Timeout),
        Fault::Refused { codes, .. } => {
            codes.iter().any(|code| code == "Unavailable" || code == "ReadTimeout")
        }
        Fault::Partly { .. } => false,
    }
}

/// What a question's partitions are asked with.
pub(super) struct Question<'a> {
    pub(super) link: &'a Link,
    pub(super) plan: &'a Plan,
    pub(super) cells: &'a [Cell<'a>],
}

impl<'a> Question<'a> {
    const fn asked(&self, place: (i64, i64)) -> Asked<'a> {
        Asked { cells: self.cells, place, buckets: (0, 0), least: &[] }
    }

    fn statement(&self, number: usize) -> Result<&'a Cql, StoreError> {
        let found = self.plan.statements.get(number).map(|cql| &**cql);
        found.ok_or_else(|| unexpected("a question lacks a statement"))
    }

    /// Hands over the rows of the answer.
    pub(super) async fn answer(&self, each: &mut EachRow<'_>) -> Result<(), Fault> {
        // Nothing is over or under what is no number.
        if self.cells.iter().any(|cell| matches!(cell, Cell::F64(value) if value.is_nan())) {
            return Ok(());
        }
        let Some(whose) = &self.plan.clauses.series else { return self.plain(each).await };
        let mut series = self.series(whose).await?;
        series.sort_unstable();
        series.dedup();
        let named = match whose {
            Series::Only => false,
            Series::Given(number) => !matches!(self.cells.get(*number), Some(Cell::I64(_))),
            Series::Found(_) => true,
        };
        let places = self.places(&series).await?;
        match self.plan.clauses.rows {
            Rows::OfEach { last } => {
                // Where series are asked for, each says which it is.
                let named = named || !last;
                let each = &mut |series, (_, page): Found| hand_over(&page, named.then_some(series), each);
                self.of_each(&places, (0, &[]), last, each).await
            }
            Rows::One { last } => self.one(&places, (0, &[]), last, each).await,
            Rows::Least => {
                let (least, places) = self.least(&places).await?;
                self.one(&places, (1, &least), false, each).await
            }
            Rows::Every | Rows::Scanned => {
                let each = &mut |place: (i64, i64), page: &QueryRowsResult| {
                    each_row(page, named.then_some(place.0), &mut |row| each(row))
                };
                self.every(&places, each).await
            }
        }
    }

    /// The rows of statements that name no partition.
    async fn plain(&self, each: &mut EachRow<'_>) -> Result<(), Fault> {
        let mut level = (self.plan.clauses.rows == Rows::Scanned).then_some(self.link.scans);
        for number in 0..self.plan.statements.len() {
            let cql = self.statement(number)?;
            let (asked, mut from) = (self.asked((0, 0)), Some(PagingState::start()));
            while let Some(start) = from {
                let page = match self.link.page(cql, level, &asked, start.clone()).await {
                    // Where not all copies are there, most of them are asked from here on.
                    Err(fault) if level == Some(Consistency::All) && are_missing(&fault) => {
                        level = Some(Consistency::Quorum);
                        self.link.page(cql, level, &asked, start).await?
                    }
                    page => page?,
                };
                if !each_row(&page.0, None, &mut |row| each(row))? {
                    return Ok(());
                }
                from = page.1;
            }
        }
        Ok(())
    }

    /// The series that are asked for.
    async fn series(&self, whose: &Series) -> Result<Vec<i64>, Fault> {
        Ok(match whose {
            Series::Only => vec![0],
            Series::Given(number) => match self.cells.get(*number) {
                Some(&Cell::I64(series)) => vec![series],
                Some(Cell::Integers(series)) => series.to_vec(),
                _ => Vec::new(),
            },
            Series::Found(_) => {
                let cql = self.plan.find.as_deref().ok_or_else(|| unexpected("nothing finds the series"))?;
                self.numbers(cql, self.asked((0, 0))).await?
            }
        })
    }

    /// The numbers that a statement finds.
    async fn numbers(&self, cql: &Cql, asked: Asked<'_>) -> Result<Vec<i64>, Fault> {
        let mut numbers = Vec::new();
        for page in self.link.pages(cql, &asked).await? {
            each_row(&page, None, &mut |row| {
                numbers.push(row.integer(0)?);
                Ok(true)
            })?;
        }
        Ok(numbers)
    }

    /// The first key of the range and the last.
    fn keys(&self, buckets: &Buckets) -> Option<(i64, i64)> {
        let (first, last) = buckets.range?;
        let key = |number: usize| match self.cells.get(number) {
            Some(&Cell::I64(key)) => Some(key),
            _ => None,
        };
        let last = key(last)?;
        Some((key(first)?, if buckets.is_open { last.saturating_sub(1) } else { last }))
    }

    /// The partitions of these series that a range touches and that may be there.
    async fn places(&self, series: &[i64]) -> Result<Vec<(i64, i64)>, Fault> {
        let Some(buckets) = &self.plan.clauses.buckets else {
            return Ok(series.iter().map(|&series| (series, 0)).collect());
        };
        let Some((first, last)) = self.keys(buckets).filter(|(first, last)| first <= last) else {
            return Ok(Vec::new());
        };
        let (from, to) = (buckets.of(first), buckets.of(last));
        if to.saturating_sub(from) < STRAIGHT {
            let of_series = |&series: &i64| (from..=to).map(move |bucket| (series, bucket));
            return Ok(series.iter().flat_map(of_series).collect());
        }
        let look = self.plan.look.as_deref().ok_or_else(|| unexpected("nothing looks buckets up"))?;
        let ask = async |series: i64| {
            let asked = Asked { buckets: (from, to), ..self.asked((series, 0)) };
            Ok::<_, Fault>((series, self.numbers(look, asked).await?))
        };
        let mut asked = iter(series.iter().copied()).map(ask).buffered(PIPELINE);
        let mut places = Vec::with_capacity(series.len());
        while let Some((series, buckets)) = asked.try_next().await? {
            places.extend(buckets.into_iter().map(|bucket| (series, bucket)));
        }
        Ok(places)
    }

    /// Calls for each page of these partitions' rows, until no more are wanted.
    async fn every(
        &self,
        places: &[(i64, i64)],
        each: &mut dyn FnMut((i64, i64), &QueryRowsResult) -> Result<bool, StoreError>,
    ) -> Result<(), Fault> {
        let cql = self.statement(0)?;
        let ask = async |place: (i64, i64)| {
            Ok::<_, Fault>((place, self.link.pages(cql, &self.asked(place)).await?))
        };
        let mut asked = iter(places.iter().copied()).map(ask).buffered(PIPELINE);
        while let Some((place, pages)) = asked.try_next().await? {
            for page in &pages {
                if !each(place, page)? {
                    return Ok(());
                }
            }
        }
        Ok(())
    }

    /// The first row of a series' partitions in the order of time, or the last.
    async fn search(
        &self,
        (statement, least): (usize, &[u8]),
        places: &[(i64, i64)],
        last: bool,
    ) -> Result<Option<(i64, Found)>, Fault> {
        let cql = self.statement(statement)?;
        for number in 0..places.len() {
            let place = places[if last { places.len() - 1 - number } else { number }];
            let (asked, mut from) = (Asked { least, ..self.asked(place) }, Some(PagingState::start()));
            while let Some(start) = from {
                let (page, next) = self.link.page(cql, None, &asked, start).await?;
                if let Some(found) = found(page)? {
                    return Ok(Some((place.0, found)));
                }
                from = next;
            }
        }
        Ok(None)
    }

    /// The same of each series.
    async fn of_each(
        &self,
        places: &[(i64, i64)],
        sent: (usize, &[u8]),
        last: bool,
        each: &mut dyn FnMut(i64, Found) -> Result<bool, StoreError>,
    ) -> Result<(), Fault> {
        let of_series = places.chunk_by(|one, other| one.0 == other.0);
        let mut asked = iter(of_series).map(|places| self.search(sent, places, last)).buffered(PIPELINE);
        while let Some(found) = asked.try_next().await? {
            if let Some((series, found)) = found
                && !each(series, found)?
            {
                break;
            }
        }
        Ok(())
    }

    /// The first row of all series, or the last.
    async fn one(
        &self,
        places: &[(i64, i64)],
        sent: (usize, &[u8]),
        last: bool,
        each: &mut EachRow<'_>,
    ) -> Result<(), Fault> {
        let mut best: Option<Found> = None;
        let better = &mut |_, found: Found| {
            let is_better = |best: &Found| if last { found.0 > best.0 } else { found.0 < best.0 };
            if best.as_ref().is_none_or(is_better) {
                best = Some(found);
            }
            Ok(true)
        };
        self.of_each(places, sent, last, better).await?;
        best.map_or(Ok(()), |(_, page)| Ok(hand_over(&page, None, each).map(drop)?))
    }

    /// The least value of all partitions, and those that have it.
    async fn least(&self, places: &[(i64, i64)]) -> Result<(Vec<u8>, Vec<(i64, i64)>), Fault> {
        let (mut least, mut bytes, mut having) = (None, Vec::new(), Vec::new());
        let compare = &mut |place: (i64, i64), page: &QueryRowsResult| {
            each_row(page, None, &mut |row| {
                let Some((own, value)) = row.first()? else { return Ok(true) };
                let before = least.as_ref().map(|least| order(&value, least));
                if before.is_none_or(|order| order.is_lt()) {
                    (least, bytes) = (Some(value), own.to_vec());
                    having.clear();
                }
                if before.is_none_or(|order| order.is_le()) {
                    having.push(place);
                }
                Ok(true)
            })
        };
        self.every(places, compare).await?;
        Ok((bytes, having))
    }
}
