//! Statements for aggregates: one for all that GROUP BY computes by itself, and one for each that needs windows over rows.
//!
//! The keys of groups travel under names that no column has. How answers are put together is in [`super::groups`].

use super::search::one_field;
use super::slot::{Slot, first_start};
use super::source::Source;
use super::sql::Sql;
use crate::schema::{Model, quoted};
use sensormark_store::{
    Aggregate, DaySplit, FieldSet, FieldType, Function, Grouping, Query, StoreError, Window,
};

/// The statements of a question for aggregates: the plain ones together, then each of the others in its order.
pub(crate) fn statements(
    model: &Model,
    query: &Query,
    aggregates: &[Aggregate],
    grouping: Grouping,
    from_sums: bool,
) -> Result<Vec<Sql>, StoreError> {
    for aggregate in aggregates {
        one_field(model, query, aggregate.field)?;
    }
    let writer = Writer {
        model,
        query,
        grouping,
        from_sums,
    };
    let plain: Vec<Aggregate> = aggregates
        .iter()
        .copied()
        .filter(|aggregate| is_plain(aggregate.function))
        .collect();
    let mut statements = Vec::new();
    if !plain.is_empty() {
        statements.push(writer.plain(&plain)?);
    }
    for aggregate in aggregates {
        match aggregate.function {
            Function::Last => statements.push(writer.last(aggregate.field)?),
            Function::TimeWeightedShare => statements.push(writer.share(aggregate.field)?),
            Function::MostFrequent => statements.push(writer.most_frequent(aggregate.field)?),
            _ => {}
        }
    }
    Ok(statements)
}

/// Whether GROUP BY computes it by itself.
pub(crate) const fn is_plain(function: Function) -> bool {
    matches!(
        function,
        Function::Count | Function::Sum | Function::Min | Function::Max | Function::Mean
    )
}

/// All readings (or sums) of a question's table with these fields.
pub(crate) fn source<'a>(
    model: &'a Model,
    query: &Query,
    fields: FieldSet,
    from_sums: bool,
) -> Result<Source<'a>, StoreError> {
    let source = Source::new(model, query, fields)?;
    if from_sums {
        source.of_sums()
    } else {
        Ok(source)
    }
}

/// What statements are written from.
struct Writer<'a> {
    model: &'a Model,
    query: &'a Query,
    grouping: Grouping,
    from_sums: bool,
}

impl Writer<'_> {
    fn source(&self, fields: FieldSet) -> Result<Source<'_>, StoreError> {
        source(self.model, self.query, fields, self.from_sums)
    }

    fn kind(&self, field: usize) -> FieldType {
        self.model.schema.tables[self.query.table].fields[field].kind
    }

    /// Whether everything falls into one group.
    fn is_whole(&self, source: &Source<'_>) -> bool {
        self.key_names(source, "").is_empty()
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
        if self.grouping.by_day_part.is_some() {
            match source.sums() {
                Some(sums) => sql.push(&format!("r.{}", sums.day)),
                None => push_is_day(sql, &source.time()),
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

    /// Count, sum, min, max and mean, all in one statement.
    fn plain(&self, aggregates: &[Aggregate]) -> Result<Sql, StoreError> {
        let fields = aggregates
            .iter()
            .fold(FieldSet::first(0), |set, one| set.with(one.field));
        let source = self.source(fields)?;
        let mut sql = Sql::new("SELECT ");
        self.push_keys(&mut sql, &source);
        let expressions = aggregates
            .iter()
            .map(|&aggregate| expression(&source, aggregate))
            .collect::<Result<Vec<_>, _>>()?;
        sql.list(&expressions);
        self.push_readings_end(&mut sql, &source);
        if self.is_whole(&source) {
            sql.push(" HAVING COUNT(*) > 0");
        } else {
            sql.push(" GROUP BY ").list(&self.key_names(&source, ""));
        }
        Ok(sql)
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
        source.push_where(sql);
    }

    /// The value of the latest reading of each group.
    fn last(&self, field: usize) -> Result<Sql, StoreError> {
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
        Ok(sql)
    }

    /// The share of time in which a truth value was true.
    fn share(&self, field: usize) -> Result<Sql, StoreError> {
        if self.kind(field) != FieldType::Bool {
            return Err(StoreError::unsupported(
                "aggregate",
                "a share of time is of truth values",
            ));
        }
        let source = self.source(FieldSet::one(field))?;
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
        sql.bind([Slot::End, Slot::End]);
        if self.grouping.window.is_some() {
            sql.push(", s.`$e`"); // what is left of the window
        }
        sql.push(") AS `$h` FROM (");
        self.readings(&mut sql, &source, field);
        for (number, column) in source.identity().enumerate() {
            sql.push(&format!(", {column} AS `$i{number}`"));
        }
        if self.grouping.window.is_some() {
            push_window_rest(&mut sql, &source.time());
        }
        self.push_readings_end(&mut sql, &source);
        sql.push(") s) q");
        if self.is_whole(&source) {
            sql.push(" HAVING COUNT(*) > 0");
        } else {
            sql.push(" GROUP BY ").list(&keys);
        }
        Ok(sql)
    }

    /// The value that most readings of a group have, the smallest of equals.
    fn most_frequent(&self, field: usize) -> Result<Sql, StoreError> {
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
        Ok(sql)
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
    if first_start(window) == 0 {
        sql.push(&format!("{time} DIV ?")).bind([Slot::Width]);
        return;
    }
    sql.push(&format!("(({time} - ?) DIV ? - ({time} < ?))"))
        .bind([Slot::Origin, Slot::Width, Slot::Origin]);
}

/// What is left of the window that holds a time, in ns, as another column.
fn push_window_rest(sql: &mut Sql, time: &str) {
    sql.push(&format!(
        ", (? - ({time} - ?) MOD ? - IF({time} < ?, ?, 0)) AS `$e`"
    ));
    sql.bind([
        Slot::Width,
        Slot::Origin,
        Slot::Width,
        Slot::Origin,
        Slot::Width,
    ]);
}

/// Whether a time is by day.
fn push_is_day<'a>(sql: &'a mut Sql, time: &str) -> &'a mut Sql {
    let day = DaySplit::DAY_NS;
    sql.push(&format!("({time} MOD {day} >= ? AND {time} MOD {day} < ?)"))
        .bind([Slot::DayStart, Slot::DayEnd])
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
