//! Asking: which partitions hold the answer, and one statement for each, several of them on their way at once.
//!
//! Partitions are asked in the order of series and time. Small ranges go straight to their buckets. Before other ranges the driver reads which buckets a series has, so
//! that it does not walk through partitions that are not there. A search begins at the range's edge: it looks buckets up when the first one has no answer.

use super::text::{Rows, Series, Slot};
use super::value::{Slots, each_row};
use super::{Cql, Link, PIPELINE, Plan};
use crate::{Cell, EachRow, Fault};
use futures_util::stream::{StreamExt, TryStreamExt, iter};
use scylla::response::PagingState;
use scylla::response::query_result::QueryRowsResult;
use scylla::statement::Consistency;
use sensormark_kit::{Row, unexpected};
use sensormark_store::client_side::order;
use sensormark_store::{ErrorKind, StoreError, Value};
use std::cell::RefCell;
use std::cmp::Ordering;

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
    least: Cell<'a>,
}

impl Slots for Asked<'_> {
    fn cell(&self, slot: Slot) -> Cell<'_> {
        match slot {
            Slot::Given(number, _) => self.cells.get(number).copied().unwrap_or(Cell::Null),
            Slot::Series => Cell::I64(self.place.0),
            Slot::Bucket => Cell::I64(self.place.1),
            Slot::First => Cell::I64(self.buckets.0),
            Slot::Last => Cell::I64(self.buckets.1),
            Slot::Least => self.least,
            _ => Cell::Null,
        }
    }
}

/// Whether some copies of what is stored could not be asked.
fn are_missing(fault: &Fault) -> bool {
    match fault {
        Fault::Known(error) => matches!(error.kind(), ErrorKind::Unavailable | ErrorKind::Timeout),
        Fault::Refused { codes, .. } => {
            codes.iter().any(|code| code == "Unavailable" || code == "ReadTimeout")
        }
        _ => false,
    }
}

/// What a question's partitions are asked with.
pub(super) struct Question<'a> {
    pub(super) link: &'a Link,
    pub(super) plan: &'a Plan,
    pub(super) cells: &'a [Cell<'a>],
}

/// Calls for a partition's page: its series and bucket, and the rows. False says that no more are wanted.
type EachPage<'a> = dyn FnMut((i64, i64), QueryRowsResult) -> Result<bool, StoreError> + 'a;

impl<'a> Question<'a> {
    const fn asked(&self, place: (i64, i64)) -> Asked<'a> {
        Asked { cells: self.cells, place, buckets: (0, 0), least: Cell::Null }
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
        let Some(range) = self.range() else { return Ok(()) };
        let mut series = self.series(whose).await?;
        series.sort_unstable();
        series.dedup();
        let named = match whose {
            Series::Only => false,
            Series::Given(number) => !matches!(self.cells.get(*number), Some(Cell::I64(_))),
            Series::Found(_) => true,
        };
        if let Rows::InTurn { back } = self.plan.clauses.rows {
            let each = RefCell::new(each);
            let walk = |series| self.walk(series, range, (back, named), &each);
            return iter(series).map(walk).buffer_unordered(PIPELINE).try_collect().await;
        }
        let places = self.places(&series, range).await?;
        let each_page = &mut |(series, _): (i64, i64), page: QueryRowsResult| {
            each_row(&page, named.then_some(series), &mut |row| each(row))
        };
        match self.plan.clauses.rows {
            Rows::Least => {
                let (least, places) = self.least(&places).await?;
                self.every((1, Cell::of(&least)), &places, each_page).await
            }
            _ => self.every((0, Cell::Null), &places, each_page).await,
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

    /// The first bucket of the range and the last; none of an empty range. Where all of a series is one partition, that is number 0.
    fn range(&self) -> Option<(i64, i64)> {
        let Some(buckets) = &self.plan.clauses.buckets else { return Some((0, 0)) };
        let (first, last) = buckets.range?;
        let key = |number: usize| match self.cells.get(number) {
            Some(&Cell::I64(key)) => Some(key),
            _ => None,
        };
        let (first, last) = (key(first)?, key(last)?);
        let last = if buckets.is_open { last.saturating_sub(1) } else { last };
        (first <= last).then(|| (buckets.of(first), buckets.of(last)))
    }

    /// The buckets of a series in these, as far as it is known which are there.
    async fn buckets(&self, series: i64, (from, to): (i64, i64)) -> Result<Vec<i64>, Fault> {
        if to.saturating_sub(from) < STRAIGHT {
            return Ok((from..=to).collect());
        }
        let look = self.plan.look.as_deref().ok_or_else(|| unexpected("nothing looks buckets up"))?;
        self.numbers(look, Asked { buckets: (from, to), ..self.asked((series, 0)) }).await
    }

    /// The partitions of these series that a range touches and that may be there.
    async fn places(&self, series: &[i64], range: (i64, i64)) -> Result<Vec<(i64, i64)>, Fault> {
        let ask = async |series: i64| Ok::<_, Fault>((series, self.buckets(series, range).await?));
        let mut asked = iter(series.iter().copied()).map(ask).buffered(PIPELINE);
        let mut places = Vec::with_capacity(series.len());
        while let Some((series, buckets)) = asked.try_next().await? {
            places.extend(buckets.into_iter().map(|bucket| (series, bucket)));
        }
        Ok(places)
    }

    /// Calls for each page of these partitions' rows by a statement, until no more are wanted.
    async fn every(
        &self,
        (statement, least): (usize, Cell<'_>),
        places: &[(i64, i64)],
        each: &mut EachPage<'_>,
    ) -> Result<(), Fault> {
        let cql = self.statement(statement)?;
        let ask = async |place: (i64, i64)| {
            let asked = Asked { least, ..self.asked(place) };
            Ok::<_, Fault>((place, self.link.pages(cql, &asked).await?))
        };
        let mut asked = iter(places.iter().copied()).map(ask).buffered(PIPELINE);
        while let Some((place, pages)) = asked.try_next().await? {
            for page in pages {
                if !each(place, page)? {
                    return Ok(());
                }
            }
        }
        Ok(())
    }

    /// Hands over the rows of a series in the order of time, or backwards. When no more are wanted, those of the same key follow alone. It begins with the bucket at the
    /// edge of the range.
    async fn walk(
        &self,
        series: i64,
        (first, end): (i64, i64),
        (back, named): (bool, bool),
        each: &RefCell<&mut EachRow<'_>>,
    ) -> Result<(), Fault> {
        let (cql, mut last) = (self.statement(0)?, None);
        let (edge, rest) = if back { (end, (first, end - 1)) } else { (first, (first + 1, end)) };
        let (mut buckets, mut rest) = (vec![edge], Some(rest).filter(|rest| rest.0 <= rest.1));
        loop {
            for bucket in buckets {
                let (asked, mut from) = (self.asked((series, bucket)), Some(PagingState::start()));
                while let Some(start) = from {
                    let (page, next) = self.link.page(cql, None, &asked, start).await?;
                    let goes_on = each_row(&page, named.then_some(series), &mut |row| {
                        let key = row.integer(usize::from(named))?;
                        if last.is_some_and(|last| last != key) {
                            return Ok(false);
                        }
                        if !(*each.borrow_mut())(row)? {
                            last = Some(key);
                        }
                        Ok(true)
                    })?;
                    from = next.filter(|_| goes_on);
                }
                if last.is_some() {
                    return Ok(());
                }
            }
            let Some(others) = rest.take() else { return Ok(()) };
            buckets = self.buckets(series, others).await?;
            if back {
                buckets.reverse();
            }
        }
    }

    /// The least value of all partitions, and those that have it.
    async fn least(&self, places: &[(i64, i64)]) -> Result<(Value, Vec<(i64, i64)>), Fault> {
        let (mut least, mut having) = (Value::Null, Vec::new());
        let compare = &mut |place: (i64, i64), page: QueryRowsResult| {
            each_row(&page, None, &mut |row| {
                let value = row.number()?;
                if value == Value::Null {
                    return Ok(true);
                }
                let order = if least == Value::Null { Ordering::Less } else { order(&value, &least) };
                if order.is_lt() {
                    least = value;
                    having.clear();
                }
                if order.is_le() {
                    having.push(place);
                }
                Ok(true)
            })
        };
        self.every((0, Cell::Null), places, compare).await?;
        Ok((least, having))
    }
}
