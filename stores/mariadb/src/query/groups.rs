//! Answers to questions for aggregates: groups and values of one or more statements, put together by the groups' keys.

use super::aggregate::{is_plain, source};
use super::source::Source;
use super::sql::Sql;
use super::{Reader, cells};
use crate::connection::cell;
use mysql_async::Row;
use sensormark_store::{
    Aggregate, Answer, FieldSet, FieldType, Function, Group, Grouping, Query, StoreError,
    TagColumn, Value,
};
use std::collections::BTreeMap;

/// Series, window's start, night.
type Key = (Option<u32>, Option<i64>, Option<bool>);

/// What is asked, as far as answers depend on it.
struct Asked<'a> {
    query: &'a Query,
    aggregates: &'a [Aggregate],
    grouping: Grouping,
    from_sums: bool,
}

impl Reader<'_> {
    /// Answers a question for aggregates.
    pub(crate) async fn groups(
        &mut self,
        query: &Query,
        aggregates: &[Aggregate],
        grouping: Grouping,
        from_sums: bool,
    ) -> Result<Answer, StoreError> {
        let sqls = self.asked(query)?;
        let asked = Asked {
            query,
            aggregates,
            grouping,
            from_sums,
        };
        let mut groups = BTreeMap::new();
        let mut sqls = sqls.iter();
        let plain: Vec<usize> = (0..aggregates.len())
            .filter(|&number| is_plain(aggregates[number].function))
            .collect();
        if !plain.is_empty()
            && let Some(sql) = sqls.next()
        {
            self.one(&asked, sql, &plain, &mut groups).await?;
        }
        for (number, aggregate) in aggregates.iter().enumerate() {
            if !is_plain(aggregate.function)
                && let Some(sql) = sqls.next()
            {
                self.one(&asked, sql, &[number], &mut groups).await?;
            }
        }
        let group = |((series, window_start_ns, night), values): (Key, Vec<Value>)| Group {
            series,
            window_start_ns,
            day: night.map(|night: bool| !night),
            values,
        };
        Ok(Answer::groups(groups.into_iter().map(group).collect()))
    }

    /// Runs one statement, and puts the values of these aggregates to their groups.
    async fn one(
        &mut self,
        asked: &Asked<'_>,
        sql: &Sql,
        numbers: &[usize],
        groups: &mut BTreeMap<Key, Vec<Value>>,
    ) -> Result<(), StoreError> {
        let model = self.model;
        let source = source(model, asked.query, FieldSet::first(0), asked.from_sums)?;
        let fields = &source.table.fields;
        let lacking = asked.lacking();
        let mut sink = |row: Row| {
            let (key, first) = asked.key(&source, &row)?;
            let values = groups.entry(key).or_insert_with(|| lacking.clone());
            for (column, &number) in numbers.iter().enumerate() {
                let Aggregate { function, field } = asked.aggregates[number];
                values[number] = value(&row, first + column, function, fields[field].kind)?;
            }
            Ok(())
        };
        self.rows("aggregate", sql, asked.query, &source, &mut sink)
            .await
    }
}

impl Asked<'_> {
    /// How many columns name a group's series.
    fn series_columns(&self, source: &Source<'_>) -> usize {
        if self.grouping.by_tag.is_some() {
            1
        } else if self.grouping.by_series {
            source.described.series.width()
        } else {
            0
        }
    }

    /// Reads a group's key; the number of columns that it took.
    fn key(&self, source: &Source<'_>, row: &Row) -> Result<(Key, usize), StoreError> {
        let mut column = self.series_columns(source);
        let series = match self.grouping.by_tag {
            Some(tag) => {
                let value = match source.table.series.columns()[tag] {
                    TagColumn::Text(_) => cell::text(row, 0)?.to_owned(),
                    TagColumn::Integer(_) => cell::integer(row, 0)?.to_string(),
                };
                Some(source.described.series.lowest_with(tag, &value)?)
            }
            None if self.grouping.by_series => Some(source.described.series.of_row(row, 0)?),
            None => None,
        };
        let mut window_start = None;
        if let Some(window) = self.grouping.window {
            let origin = window.origin_ns.rem_euclid(window.width_ns);
            let start = cell::integer(row, column)?.saturating_mul(window.width_ns);
            window_start = Some(start.saturating_add(origin));
            column += 1;
        }
        let mut night = None;
        if self.grouping.by_day_part.is_some() {
            night = Some(cell::integer(row, column)? == 0);
            column += 1;
        }
        Ok(((series, window_start, night), column))
    }

    /// What a group has until its values are known.
    fn lacking(&self) -> Vec<Value> {
        let lacking = |aggregate: &Aggregate| match aggregate.function {
            Function::Count => Value::I64(0),
            _ => Value::Null,
        };
        self.aggregates.iter().map(lacking).collect()
    }
}

/// The value of an aggregate over a field of this type.
fn value(
    row: &Row,
    column: usize,
    function: Function,
    kind: FieldType,
) -> Result<Value, StoreError> {
    match function {
        Function::Count => cell::integer(row, column).map(Value::I64),
        Function::Sum if kind == FieldType::F64 => cells::value(row, column, kind),
        Function::Sum => cells::whole_sum(row, column),
        Function::Mean | Function::TimeWeightedShare => cells::value(row, column, FieldType::F64),
        _ => cells::value(row, column, kind),
    }
}
