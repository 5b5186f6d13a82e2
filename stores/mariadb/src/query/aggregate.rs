//! Aggregates: one statement for all that GROUP BY computes by itself, and one for each that needs windows over rows.
//!
//! Statements give groups and values; they are put together by the groups' keys. The keys travel under names that no column has.

use super::cells;
use super::search::one_field;
use super::source::Source;
use super::sql::Sql;
use crate::connection::{Link, cell};
use crate::schema::{Model, quoted};
use mysql_async::{Row, Value as Parameter};
use sensormark_store::{
    Aggregate, Answer, DaySplit, FieldSet, FieldType, Function, Group, Grouping, Query, StoreError,
    TagColumn, Value, Window,
};
use std::collections::BTreeMap;

/// Series, window's start, night.
type Key = (Option<u32>, Option<i64>, Option<bool>);

/// Aggregates of a question.
pub(crate) struct Aggregation<'a> {
    model: &'a Model,
    query: &'a Query,
    aggregates: &'a [Aggregate],
    grouping: Grouping,
    from_sums: bool,
    groups: BTreeMap<Key, Vec<Value>>,
}

/// Answers a question for aggregates.
pub(crate) async fn aggregate(
    link: &mut Link,
    model: &Model,
    query: &Query,
    aggregates: &[Aggregate],
    grouping: Grouping,
    from_sums: bool,
) -> Result<Answer, StoreError> {
    for aggregate in aggregates {
        one_field(model, query, aggregate.field)?;
    }
    let mut aggregation = Aggregation {
        model,
        query,
        aggregates,
        grouping,
        from_sums,
        groups: BTreeMap::new(),
    };
    aggregation.plain(link).await?;
    for (number, aggregate) in aggregates.iter().enumerate() {
        match aggregate.function {
            Function::Last => aggregation.last(link, number).await?,
            Function::TimeWeightedShare => aggregation.share(link, number).await?,
            Function::MostFrequent => aggregation.most_frequent(link, number).await?,
            _ => {}
        }
    }
    Ok(aggregation.finish())
}

const fn is_plain(function: Function) -> bool {
    matches!(
        function,
        Function::Count | Function::Sum | Function::Min | Function::Max | Function::Mean
    )
}

impl Aggregation<'_> {
    /// Whether everything falls into one group.
    fn is_whole(&self, source: &Source<'_>) -> bool {
        self.key_names(source, "").is_empty()
    }

    fn source(&self, fields: FieldSet) -> Result<Source<'_>, StoreError> {
        let source = Source::new(self.model, self.query, fields)?;
        if self.from_sums {
            source.of_sums()
        } else {
            Ok(source)
        }
    }

    /// Appends the columns that groups are told apart by, under their names.
    fn push_keys(&self, sql: &mut Sql, source: &Source<'_>) {
        for (number, column) in key_columns(source, self.grouping).iter().enumerate() {
            sql.push(&format!("{column} AS `$k{number}`, "));
        }
        if let Some(window) = self.grouping.window {
            push_window_number(sql, &source.time(), window);
            sql.push(" AS `$w`, ");
        }
        if let Some(split) = self.grouping.by_day_part {
            match source.sums() {
                Some(sums) => sql.push(&format!("r.{}", sums.day)),
                None => push_is_day(sql, &source.time(), split),
            };
            sql.push(" AS `$d`, ");
        }
    }

    /// The names of those columns, from a table or query with this alias.
    fn key_names(&self, source: &Source<'_>, alias: &str) -> Vec<String> {
        let count = key_columns(source, self.grouping).len();
        let mut names: Vec<String> = (0..count)
            .map(|number| format!("{alias}`$k{number}`"))
            .collect();
        if self.grouping.window.is_some() {
            names.push(format!("{alias}`$w`"));
        }
        if self.grouping.by_day_part.is_some() {
            names.push(format!("{alias}`$d`"));
        }
        names
    }

    /// Reads a group's key; the number of columns that it took.
    fn key(&self, source: &Source<'_>, row: &Row) -> Result<(Key, usize), StoreError> {
        let mut column = key_columns(source, self.grouping).len();
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

    fn kind(&self, field: usize) -> FieldType {
        self.model.schema.tables[self.query.table].fields[field].kind
    }

    /// Count, sum, min, max and mean, all in one statement.
    async fn plain(&mut self, link: &mut Link) -> Result<(), StoreError> {
        let wanted: Vec<usize> = (0..self.aggregates.len())
            .filter(|&number| is_plain(self.aggregates[number].function))
            .collect();
        if wanted.is_empty() {
            return Ok(());
        }
        let fields = wanted.iter().fold(FieldSet::first(0), |set, &number| {
            set.with(self.aggregates[number].field)
        });
        let source = self.source(fields)?;
        let mut sql = Sql::new("SELECT ");
        self.push_keys(&mut sql, &source);
        let expressions = wanted
            .iter()
            .map(|&number| expression(&source, self.aggregates[number]))
            .collect::<Result<Vec<_>, _>>()?;
        sql.list(&expressions);
        source.push_from(&mut sql, self.grouping.by_tag.is_some());
        source.push_where(&mut sql, self.query);
        if self.is_whole(&source) {
            sql.push(" HAVING COUNT(*) > 0");
        } else {
            sql.push(" GROUP BY ").list(&self.key_names(&source, ""));
        }
        let mut found = Vec::new();
        link.rows("aggregate", &sql.text, sql.parameters, &mut |row| {
            let (key, first) = self.key(&source, &row)?;
            let mut values = self.lacking();
            for (column, &number) in wanted.iter().enumerate() {
                let Aggregate { function, field } = self.aggregates[number];
                values[number] = plain_value(&row, first + column, function, self.kind(field))?;
            }
            found.push((key, values));
            Ok(())
        })
        .await?;
        self.groups.extend(found);
        Ok(())
    }

    /// Starts a statement over the readings that have the field: keys, the field's value and its time.
    fn readings(&self, sql: &mut Sql, source: &Source<'_>, field: usize) {
        sql.push("SELECT ");
        self.push_keys(sql, source);
        let (value, time) = (source.field(field), source.time());
        sql.push(&format!("{value} AS `$v`, {time} AS `$t`"));
    }

    fn push_readings_end(&self, sql: &mut Sql, source: &Source<'_>) {
        source.push_from(sql, self.grouping.by_tag.is_some());
        source.push_where(sql, self.query);
    }

    /// The value of the latest reading of each group.
    async fn last(&mut self, link: &mut Link, number: usize) -> Result<(), StoreError> {
        let field = self.aggregates[number].field;
        let source = self.source(FieldSet::one(field))?;
        let mut sql = Sql::default();
        if self.is_whole(&source) {
            sql.push("SELECT ").push(&source.field(field));
            self.push_readings_end(&mut sql, &source);
            let order: Vec<String> = source
                .order()
                .into_iter()
                .map(|column| column + " DESC")
                .collect();
            sql.push(" ORDER BY ").list(&order).push(" LIMIT 1");
        } else {
            let mut shown = self.key_names(&source, "q.");
            shown.push("q.`$v`".to_owned());
            sql.push("SELECT ")
                .list(&shown)
                .push(" FROM (SELECT s.*, ROW_NUMBER() OVER (PARTITION BY ");
            sql.list(&self.key_names(&source, "s."))
                .push(" ORDER BY s.`$t` DESC) AS `$n` FROM (");
            self.readings(&mut sql, &source, field);
            self.push_readings_end(&mut sql, &source);
            sql.push(") s) q WHERE q.`$n` = 1");
        }
        self.merge(link, sql, number).await
    }

    /// The share of time in which a truth value was true.
    async fn share(&mut self, link: &mut Link, number: usize) -> Result<(), StoreError> {
        let field = self.aggregates[number].field;
        if self.kind(field) != FieldType::Bool {
            return Err(StoreError::unsupported(
                "aggregate",
                "a share of time is of truth values",
            ));
        }
        let source = self.source(FieldSet::one(field))?;
        let end = self.query.range.end_ns;
        let mut sql = Sql::new("SELECT ");
        let keys = self.key_names(&source, "q.");
        let mut shown = keys.clone();
        shown.push(
            "CAST(SUM(IF(q.`$v`, q.`$h`, 0)) AS DOUBLE) / CAST(SUM(q.`$h`) AS DOUBLE)".to_owned(),
        );
        sql.list(&shown)
            .push(" FROM (SELECT s.*, LEAST(COALESCE(LEAD(s.`$t`) OVER (");
        let identity: Vec<String> = (0..source.identity().count())
            .map(|number| format!("s.`$i{number}`"))
            .collect();
        if !identity.is_empty() {
            sql.push("PARTITION BY ").list(&identity);
        }
        sql.push(" ORDER BY s.`$t`) - s.`$t`, ? - s.`$t`), ? - s.`$t`");
        sql.bind([Parameter::Int(end), Parameter::Int(end)]);
        if self.grouping.window.is_some() {
            sql.push(", s.`$e`"); // what is left of the window
        }
        sql.push(") AS `$h` FROM (");
        self.readings(&mut sql, &source, field);
        for (number, column) in source.identity().enumerate() {
            sql.push(&format!(", {column} AS `$i{number}`"));
        }
        if let Some(window) = self.grouping.window {
            push_window_rest(&mut sql, &source.time(), window);
        }
        self.push_readings_end(&mut sql, &source);
        sql.push(") s) q");
        if self.is_whole(&source) {
            sql.push(" HAVING COUNT(*) > 0");
        } else {
            sql.push(" GROUP BY ").list(&keys);
        }
        self.merge(link, sql, number).await
    }

    /// The value that most readings of a group have, the smallest of equals.
    async fn most_frequent(&mut self, link: &mut Link, number: usize) -> Result<(), StoreError> {
        let field = self.aggregates[number].field;
        let source = self.source(FieldSet::one(field))?;
        let mut counted = self.key_names(&source, "s.");
        counted.push("s.`$v`".to_owned());
        let mut sql = Sql::default();
        if self.is_whole(&source) {
            sql.push("SELECT s.`$v` FROM (");
            self.readings(&mut sql, &source, field);
            self.push_readings_end(&mut sql, &source);
            sql.push(") s GROUP BY s.`$v` ORDER BY COUNT(*) DESC, s.`$v` LIMIT 1");
        } else {
            let mut shown = self.key_names(&source, "q.");
            shown.push("q.`$v`".to_owned());
            sql.push("SELECT ")
                .list(&shown)
                .push(" FROM (SELECT p.*, ROW_NUMBER() OVER (PARTITION BY ");
            sql.list(&self.key_names(&source, "p."))
                .push(" ORDER BY p.`$c` DESC, p.`$v`) AS `$n` FROM (SELECT ");
            sql.list(&counted).push(", COUNT(*) AS `$c` FROM (");
            self.readings(&mut sql, &source, field);
            self.push_readings_end(&mut sql, &source);
            sql.push(") s GROUP BY ")
                .list(&counted)
                .push(") p) q WHERE q.`$n` = 1");
        }
        self.merge(link, sql, number).await
    }

    /// Runs a statement that gives one value a group, and puts the values to their groups.
    async fn merge(&mut self, link: &mut Link, sql: Sql, number: usize) -> Result<(), StoreError> {
        let Aggregate { function, field } = self.aggregates[number];
        let kind = if function == Function::TimeWeightedShare {
            FieldType::F64
        } else {
            self.kind(field)
        };
        let mut found = Vec::new();
        let source = self.source(FieldSet::one(field))?;
        link.rows("aggregate", &sql.text, sql.parameters, &mut |row| {
            let (key, first) = self.key(&source, &row)?;
            found.push((key, cells::value(&row, first, kind)?));
            Ok(())
        })
        .await?;
        let lacking = self.lacking();
        for (key, value) in found {
            self.groups.entry(key).or_insert_with(|| lacking.clone())[number] = value;
        }
        Ok(())
    }

    fn finish(self) -> Answer {
        let group = |((series, window_start_ns, night), values): (Key, Vec<Value>)| Group {
            series,
            window_start_ns,
            day: night.map(|night: bool| !night),
            values,
        };
        Answer::groups(self.groups.into_iter().map(group).collect())
    }
}

/// The columns that name a group's series.
fn key_columns(source: &Source<'_>, grouping: Grouping) -> Vec<String> {
    match grouping.by_tag {
        Some(tag) => {
            let alias = if source.described.tags.is_some() {
                "g"
            } else {
                "r"
            };
            vec![format!("{alias}.{}", quoted(&source.table.tags[tag].name))]
        }
        None if grouping.by_series => source.identity().collect(),
        None => Vec::new(),
    }
}

/// The number of the window that holds a time, counted from the first that starts in [0, width): exact in whole numbers. Times are not
/// before 1970, so that only one window may start before 0, and division that truncates needs no more than that one corrected.
fn push_window_number(sql: &mut Sql, time: &str, window: Window) {
    let origin = window.origin_ns.rem_euclid(window.width_ns);
    if origin == 0 {
        sql.push(&format!("{time} DIV ?"))
            .bind([Parameter::Int(window.width_ns)]);
        return;
    }
    sql.push(&format!("(({time} - ?) DIV ? - ({time} < ?))"))
        .bind([
            Parameter::Int(origin),
            Parameter::Int(window.width_ns),
            Parameter::Int(origin),
        ]);
}

/// What is left of the window that holds a time, in ns, as another column.
fn push_window_rest(sql: &mut Sql, time: &str, window: Window) {
    let (origin, width) = (
        window.origin_ns.rem_euclid(window.width_ns),
        window.width_ns,
    );
    sql.push(&format!(
        ", (? - ({time} - ?) MOD ? - IF({time} < ?, ?, 0)) AS `$e`"
    ));
    sql.bind([width, origin, width, origin, width].map(Parameter::Int));
}

/// Whether a time is by day.
fn push_is_day<'a>(sql: &'a mut Sql, time: &str, split: DaySplit) -> &'a mut Sql {
    let day = DaySplit::DAY_NS;
    sql.push(&format!("({time} MOD {day} >= ? AND {time} MOD {day} < ?)"))
        .bind([split.day_start_ns, split.day_end_ns].map(Parameter::Int))
}

/// What GROUP BY computes.
fn expression(source: &Source<'_>, aggregate: Aggregate) -> Result<String, StoreError> {
    let Aggregate { function, field } = aggregate;
    if let Some(sums) = source.sums() {
        let Some(columns) = &sums.fields[field] else {
            return Err(StoreError::unsupported(
                "read sums",
                "only numeric fields have sums",
            ));
        };
        return Ok(match function {
            Function::Count => format!("SUM(r.{})", columns.count),
            Function::Sum => format!("SUM(r.{})", columns.sum),
            Function::Min => format!("MIN(r.{})", columns.min),
            Function::Max => format!("MAX(r.{})", columns.max),
            _ => format!(
                "CAST(SUM(r.{}) AS DOUBLE) / SUM(r.{})",
                columns.sum, columns.count
            ),
        });
    }
    let value = source.field(field);
    if source.table.fields[field].kind == FieldType::Text && !matches!(function, Function::Count) {
        return Err(StoreError::unsupported(
            "aggregate",
            "text is counted, and has a last and a most frequent value",
        ));
    }
    Ok(match function {
        Function::Count => format!("COUNT({value})"),
        Function::Sum => format!("SUM({value})"),
        Function::Min => format!("MIN({value})"),
        Function::Max => format!("MAX({value})"),
        // The mean of whole numbers would be a decimal of few digits.
        _ => format!("CAST(SUM({value}) AS DOUBLE) / COUNT({value})"),
    })
}

fn plain_value(
    row: &Row,
    column: usize,
    function: Function,
    kind: FieldType,
) -> Result<Value, StoreError> {
    match function {
        Function::Count => cell::integer(row, column).map(Value::I64),
        Function::Sum if kind == FieldType::F64 => cells::value(row, column, kind),
        Function::Sum => cells::whole_sum(row, column),
        Function::Mean => cells::value(row, column, FieldType::F64),
        _ => cells::value(row, column, kind),
    }
}
