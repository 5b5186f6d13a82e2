//! Finding by value in Flux: first, last, minimum, and the series that match.
//!
//! The server finds in each series; where several are asked of, the client takes the right one.

use super::script::Script;
use super::{TIME, VALUE, cell, keys, series, time};
use crate::query::Reader;
use sensormark_store::{Answer, FieldSet, FieldType, Moment, Predicate, Query, StoreError, Value};
use std::cmp::Ordering;

/// What is looked for in each series.
#[derive(Debug, Clone, Copy)]
enum Wanted {
    First(Predicate),
    Last(Predicate),
    Least(usize),
}

impl Wanted {
    const fn field(self) -> usize {
        match self {
            Self::First(predicate) | Self::Last(predicate) => predicate.field,
            Self::Least(field) => field,
        }
    }

    /// Whether one of two series' moments is the one to take.
    fn order(self, one: &(Moment, u32), other: &(Moment, u32)) -> Ordering {
        let time = one.0.time_ns.cmp(&other.0.time_ns);
        let found = match self {
            Self::First(_) => time,
            Self::Last(_) => time.reverse(),
            Self::Least(_) => smaller(&one.0.value, &other.0.value).then(time),
        };
        found.then(one.1.cmp(&other.1))
    }
}

fn smaller(one: &Value, other: &Value) -> Ordering {
    match (one, other) {
        (Value::I64(one), Value::I64(other)) => one.cmp(other),
        (Value::F64(one), Value::F64(other)) => one.partial_cmp(other).unwrap_or(Ordering::Equal),
        _ => Ordering::Equal,
    }
}

impl Reader<'_> {
    pub(in crate::query) async fn search_in_flux(
        &mut self,
        query: &Query,
        predicate: Predicate,
        latest: bool,
    ) -> Result<Answer, StoreError> {
        let wanted = if latest { Wanted::Last(predicate) } else { Wanted::First(predicate) };
        self.moment_in_flux(query, wanted).await
    }

    pub(in crate::query) async fn minimum_in_flux(
        &mut self,
        query: &Query,
        field: usize,
    ) -> Result<Answer, StoreError> {
        self.moment_in_flux(query, Wanted::Least(field)).await
    }

    async fn moment_in_flux(&mut self, query: &Query, wanted: Wanted) -> Result<Answer, StoreError> {
        let physical = self.physical;
        let measurement = &physical.tables[query.table];
        let kind = measurement.kinds[wanted.field()];
        let source = self.source();
        let mut script = Script::new(&source, measurement);
        script.read(query, FieldSet::one(wanted.field()));
        match wanted {
            Wanted::First(predicate) => {
                script.passing(predicate);
                script.push(" |> first()");
            }
            Wanted::Last(predicate) => {
                script.passing(predicate);
                script.push(" |> last()");
            }
            Wanted::Least(_) => script.push(" |> min()"),
        }
        script.keep(&[TIME, VALUE], keys(measurement, &query.series));
        script.give("found");
        let mut rows = self.run("search", script).await?;
        let mut best: Option<(Moment, u32)> = None;
        while rows.advance()? {
            let text = rows.cell(rows.needed(VALUE)?);
            if text.is_empty() && kind != FieldType::Text {
                continue;
            }
            let moment = Moment {
                time_ns: time(&rows, TIME)?,
                value: cell::value(kind, text).ok_or_else(|| rows.strange())?,
            };
            let found = (moment, series(&rows, measurement, &query.series)?);
            if best.as_ref().is_none_or(|best| wanted.order(&found, best).is_lt()) {
                best = Some(found);
            }
        }
        Ok(Answer::Moment(best.map(|(moment, _)| moment)))
    }

    pub(in crate::query) async fn matching_in_flux(
        &mut self,
        query: &Query,
        predicate: Predicate,
    ) -> Result<Answer, StoreError> {
        let physical = self.physical;
        let measurement = &physical.tables[query.table];
        let source = self.source();
        let mut script = Script::new(&source, measurement);
        script.read(query, FieldSet::one(predicate.field));
        script.passing(predicate);
        script.push(" |> first()");
        script.keep(&[TIME], keys(measurement, &query.series));
        script.give("found");
        let mut rows = self.run("find series", script).await?;
        let mut found = Vec::new();
        while rows.advance()? {
            found.push(series(&rows, measurement, &query.series)?);
        }
        found.sort_unstable();
        found.dedup();
        Ok(Answer::Series(found))
    }

    /// The latest reading of each series: the latest value of each field, as far as it is of the latest time.
    pub(in crate::query) async fn last_readings_in_flux(
        &mut self,
        query: &Query,
        fields: FieldSet,
    ) -> Result<Answer, StoreError> {
        let all = self.pieces(query, fields, true).await?;
        let mut batch = self.empty(query.table);
        let ends =
            (0..all.len()).filter(|&row| row + 1 == all.len() || all.series[row] != all.series[row + 1]);
        for row in ends {
            batch.push_row(&all, row);
        }
        Ok(Answer::Readings(batch))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use sensormark_store::Comparison;

    #[test]
    fn of_several_series_the_right_moment_is_taken() {
        let moment = |time_ns, value, series| {
            let value = Value::I64(value);
            (Moment { time_ns, value }, series)
        };
        let predicate = Predicate { field: 0, comparison: Comparison::Above, threshold: 0.0 };
        let (early, late) = (moment(1, 5, 7), moment(2, 5, 3));
        assert!(Wanted::First(predicate).order(&early, &late).is_lt());
        assert!(Wanted::Last(predicate).order(&late, &early).is_lt());
        assert!(Wanted::Least(0).order(&early, &late).is_lt());
        assert!(Wanted::Least(0).order(&moment(9, 4, 0), &early).is_lt());
        assert!(Wanted::Last(predicate).order(&moment(2, 5, 2), &late).is_lt());
    }
}
