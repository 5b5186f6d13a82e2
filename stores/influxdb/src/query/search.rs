//! Finding by value: first, last, minimum, and the series that match.
//!
//! The server finds; where several series are asked of, each gives its own and the client takes the right one.

use super::Reader;
use super::message::{Rows, whole};
use super::readings::only;
use crate::query::statement::Statement;
use sensormark_store::{Answer, FieldType, Moment, Predicate, Query, StoreError, Value};

impl Reader<'_> {
    pub(super) async fn search(
        &mut self,
        query: &Query,
        predicate: Predicate,
        latest: bool,
    ) -> Result<Answer, StoreError> {
        if self.physical.layout.in_second_language() {
            return self.search_in_flux(query, predicate, latest).await;
        }
        let physical = self.physical;
        let measurement = &physical.tables[query.table];
        let known = only(&query.series);
        let mut statement = Statement::new();
        statement.select(&[&measurement.fields[predicate.field]], &measurement.name);
        statement.within(query.range);
        statement.of_series(measurement, &query.series);
        statement.passing(measurement, predicate);
        if known.is_none() {
            statement.group_by_keys(measurement);
        }
        statement.push(if latest { " ORDER BY time DESC LIMIT 1" } else { " ORDER BY time ASC LIMIT 1" });
        let mut best: Option<((i64, u32), Moment)> = None;
        for rows in self.rows("search", statement.text()).await? {
            let series = rows.series(measurement, known)?;
            if rows.count == 0 {
                continue;
            }
            let moment = moment(&rows, measurement.kinds[predicate.field])?;
            let rank = if latest { -moment.time_ns } else { moment.time_ns };
            if best.as_ref().is_none_or(|(other, _)| (rank, series) < *other) {
                best = Some(((rank, series), moment));
            }
        }
        Ok(Answer::Moment(best.map(|(_, moment)| moment)))
    }

    /// `min()` gives the time of the earliest of equals.
    pub(super) async fn minimum(&mut self, query: &Query, field: usize) -> Result<Answer, StoreError> {
        if self.physical.layout.in_second_language() {
            return self.minimum_in_flux(query, field).await;
        }
        let physical = self.physical;
        let measurement = &physical.tables[query.table];
        let mut statement = Statement::new();
        let name = measurement.fields[field].as_str();
        statement.select_functions(std::iter::once(("min", name)), &measurement.name);
        statement.within(query.range);
        statement.of_series(measurement, &query.series);
        let rows = self.rows("find a minimum", statement.text()).await?;
        let found = rows.iter().find(|rows| rows.count > 0);
        let moment = found.map(|rows| moment(rows, measurement.kinds[field])).transpose()?;
        Ok(Answer::Moment(moment.filter(|moment| moment.value != Value::Null)))
    }

    pub(super) async fn matching(
        &mut self,
        query: &Query,
        predicate: Predicate,
    ) -> Result<Answer, StoreError> {
        if self.physical.layout.in_second_language() {
            return self.matching_in_flux(query, predicate).await;
        }
        let physical = self.physical;
        let measurement = &physical.tables[query.table];
        let mut statement = Statement::new();
        statement.select(&[&measurement.fields[predicate.field]], &measurement.name);
        statement.within(query.range);
        statement.of_series(measurement, &query.series);
        statement.passing(measurement, predicate);
        statement.group_by_keys(measurement);
        statement.push(" LIMIT 1");
        let mut found = Vec::new();
        for rows in self.rows("find series", statement.text()).await? {
            found.push(rows.series(measurement, None)?);
        }
        found.sort_unstable();
        Ok(Answer::Series(found))
    }
}

fn moment(rows: &Rows<'_>, kind: FieldType) -> Result<Moment, StoreError> {
    let (time_ns, mut values) = rows.cells().row(1)?;
    let value = match (values.pop().unwrap_or(Value::Null), kind) {
        (Value::F64(value), FieldType::U16) => whole(value).map_or(Value::F64(value), Value::I64),
        (value, _) => value,
    };
    Ok(Moment { time_ns, value })
}
