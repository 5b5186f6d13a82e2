//! Questions that readings answer: a point, a range, the last of each series, and reading everything back.

use super::collect::Collector;
use super::source::Source;
use super::sql::Sql;
use super::{Reader, cells};
use crate::connection::{Link, cell};
use crate::schema::{Content, Model, quoted};
use crate::write::insert::read_back;
use mysql_async::Row;
use sensormark_store::{
    Answer, Ask, Batch, ErrorKind, FieldSet, Query, Selection, StoreError, TimeRange, Value,
};

/// Readings handed over at once when everything is read back.
const SCAN_BATCH: usize = 8_192;

/// Fields that a question may choose: at least one, and all there.
fn check_fields(model: &Model, query: &Query, fields: FieldSet) -> Result<(), StoreError> {
    let (table, _) = model.table(query.table)?;
    if fields.is_empty() || fields.bits() & !table.all_fields().bits() != 0 {
        return Err(StoreError::new(
            ErrorKind::NotFound,
            "choose fields",
            format!(
                "table {} has fields 0 to {}, at least one is to be chosen",
                table.name,
                table.fields.len()
            ),
        ));
    }
    Ok(())
}

/// The statement for all readings of a range with these fields.
pub(crate) fn range_statement(
    model: &Model,
    query: &Query,
    fields: FieldSet,
) -> Result<Sql, StoreError> {
    check_fields(model, query, fields)?;
    let source = Source::new(model, query, fields)?;
    let mut sql = Sql::new("SELECT ");
    sql.list(&columns(&source, fields));
    let mut order: Vec<String> = if source.is_single(query) {
        Vec::new()
    } else {
        source.identity().collect()
    };
    if let Content::Records { span, .. } = &source.described.content {
        sql.push(&format!(" FROM {} r", source.described.name));
        source.push_selection(&mut sql);
        source.push_spans(&mut sql);
        order.push(format!("r.{span}"));
    } else {
        source.push_from(&mut sql, false);
        source.push_where(&mut sql);
        order.extend(source.order());
    }
    sql.push(" ORDER BY ").list(&order);
    Ok(sql)
}

/// The statement for the last reading of each series that has any of these fields; where a reading is not a row, for its time.
pub(crate) fn last_statement(
    model: &Model,
    query: &Query,
    fields: FieldSet,
) -> Result<Sql, StoreError> {
    check_fields(model, query, fields)?;
    let source = Source::new(model, query, fields)?;
    let Content::Readings { time } = &source.described.content else {
        return Ok(last_time_statement(&source, query));
    };
    let mut sql = Sql::new("SELECT ");
    sql.list(&columns(&source, fields));
    if source.is_single(query) {
        source.push_from(&mut sql, false);
        source.push_where(&mut sql);
        sql.push(&format!(" ORDER BY r.{time} DESC LIMIT 1"));
        return Ok(sql);
    }
    // The latest time of each series, which an index on (series, time) gives by itself, then the rows of these times.
    let names: Vec<String> = source
        .described
        .identifying()
        .map(|key| key.name.clone())
        .collect();
    sql.push(&format!(
        " FROM (SELECT {}, MAX(r.{time}) AS `$t`",
        names_of("r", &names)
    ));
    source.push_from(&mut sql, false);
    source.push_where(&mut sql);
    sql.push(&format!(
        " GROUP BY {}) m JOIN {} r ON ",
        names_of("r", &names),
        source.described.name
    ));
    for name in &names {
        sql.push(&format!("r.{name} = m.{name} AND "));
    }
    sql.push(&format!("r.{time} = m.`$t`"));
    let present: Vec<String> = fields
        .iter()
        .map(|field| format!("{} IS NOT NULL", source.field(field)))
        .collect();
    sql.push(&format!(" WHERE ({})", present.join(" OR ")));
    Ok(sql)
}

fn names_of(alias: &str, names: &[String]) -> String {
    let names: Vec<String> = names.iter().map(|name| format!("{alias}.{name}")).collect();
    names.join(", ")
}

/// The latest time of each series.
fn last_time_statement(source: &Source<'_>, query: &Query) -> Sql {
    let mut latest: Vec<String> = source.identity().collect();
    let identity = latest.clone();
    let mut sql = Sql::new("SELECT ");
    if source.is_single(query) {
        latest.push(source.time());
        sql.list(&latest);
        source.push_from(&mut sql, false);
        source.push_where(&mut sql);
        let order: Vec<String> = source
            .order()
            .into_iter()
            .map(|column| column + " DESC")
            .collect();
        sql.push(" ORDER BY ").list(&order).push(" LIMIT 1");
    } else {
        latest.push(format!("MAX({})", source.time()));
        sql.list(&latest);
        source.push_from(&mut sql, false);
        source.push_where(&mut sql);
        sql.push(" GROUP BY ").list(&identity);
    }
    sql
}

/// What is selected of a reading: identity, time, and the fields (or the record with them).
fn columns(source: &Source<'_>, fields: FieldSet) -> Vec<String> {
    let mut columns: Vec<String> = source.identity().collect();
    match &source.described.content {
        Content::Readings { time } => {
            columns.push(format!("r.{time}"));
            columns.extend(fields.iter().map(|field| source.field(field)));
        }
        Content::Fields {
            second,
            nanosecond,
            number,
            measurement,
        } => columns
            .extend([second, nanosecond, number, measurement].map(|name| format!("r.{name}"))),
        Content::Records { span, document, .. } => {
            columns.push(format!("r.{span}"));
            if fields == source.table.all_fields() {
                columns.push(format!("r.{document}"));
            } else {
                // Only the chosen fields go over the wire, each as an array.
                let extract =
                    |path: &str| format!("JSON_EXTRACT(r.{document}, '$.measurements[*].{path}')");
                columns.push(extract("ns"));
                columns.extend(fields.iter().map(|field| extract(&format!("m[{field}]"))));
            }
        }
    }
    columns
}

/// Of readings of the same series (and time), the first.
fn one_a_series(batch: Batch) -> Batch {
    if batch.series.windows(2).all(|pair| pair[0] != pair[1]) {
        return batch;
    }
    let mut kept = batch.clone();
    kept.clear();
    for row in 0..batch.len() {
        if kept.series.last() != Some(&batch.series[row]) {
            kept.push_row(&batch, row);
        }
    }
    kept
}

impl Reader<'_> {
    /// All readings of a range with these fields.
    pub(crate) async fn range(
        &mut self,
        query: &Query,
        fields: FieldSet,
    ) -> Result<Answer, StoreError> {
        let asked = self.asked(query)?;
        let batch = self
            .collect("read a range", &asked[0], query, fields)
            .await?;
        Ok(Answer::Readings(batch))
    }

    /// The last reading of each series that has any of these fields.
    pub(crate) async fn last(
        &mut self,
        query: &Query,
        fields: FieldSet,
    ) -> Result<Answer, StoreError> {
        const OPERATION: &str = "read the last of each series";
        let asked = self.asked(query)?;
        let (_, described) = self.model.table(query.table)?;
        if !matches!(described.content, Content::Readings { .. }) {
            return self.last_moment(OPERATION, &asked[0], query, fields).await;
        }
        let batch = self.collect(OPERATION, &asked[0], query, fields).await?;
        Ok(Answer::Readings(one_a_series(batch)))
    }

    /// The same where a reading is not a row: the latest time of each series first, then the readings of these times.
    async fn last_moment(
        &mut self,
        operation: &str,
        sql: &Sql,
        query: &Query,
        fields: FieldSet,
    ) -> Result<Answer, StoreError> {
        let source = Source::new(self.model, query, fields)?;
        let described = source.described;
        let width = described.series.width();
        let mut moments = Vec::new();
        let mut sink = |row: Row| {
            moments.push((
                described.series.of_row(&row, 0)?,
                cell::integer(&row, width)?,
            ));
            Ok(())
        };
        self.rows(operation, sql, query, &source, &mut sink).await?;
        moments.sort_unstable();
        let mut readings = Batch::new(query.table, source.table);
        for (series, time_ns) in moments {
            let point = Query {
                series: Selection::One(series),
                range: TimeRange::new(time_ns, time_ns.saturating_add(1)),
                ask: Ask::Point { fields },
                ..*query
            };
            if let Answer::Readings(batch) = self.range(&point, fields).await?
                && !batch.is_empty()
            {
                readings.push_row(&batch, 0);
            }
        }
        Ok(Answer::Readings(readings))
    }

    async fn collect(
        &mut self,
        operation: &str,
        sql: &Sql,
        query: &Query,
        fields: FieldSet,
    ) -> Result<Batch, StoreError> {
        let source = Source::new(self.model, query, fields)?;
        let mut collector = Collector::new(
            query.table,
            source.table,
            source.described,
            fields,
            Some(query.range),
        );
        let mut sink = |row: Row| collector.add(&row);
        self.rows(operation, sql, query, &source, &mut sink).await?;
        Ok(collector.finish()?.sorted())
    }
}

/// Reads back everything of a table.
pub(crate) async fn scan(
    link: &mut Link,
    model: &Model,
    number: usize,
    sink: &mut dyn FnMut(&Batch),
) -> Result<(), StoreError> {
    let (table, described) = model.table(number)?;
    let mut sql = read_back(table, described);
    if let Content::Fields {
        second, nanosecond, ..
    } = &described.content
    {
        // The rows of one reading must follow one another.
        let mut order: Vec<String> = described
            .identifying()
            .map(|key| key.name.clone())
            .collect();
        order.extend([second.clone(), nanosecond.clone()]);
        sql.push_str(&format!(" ORDER BY {}", order.join(", ")));
    }
    let mut collector = Collector::new(number, table, described, table.all_fields(), None);
    link.stream("scan", &sql, &mut |row| {
        collector.add(&row)?;
        if collector.batch.len() >= SCAN_BATCH {
            sink(&collector.batch);
            collector.batch.clear();
        }
        Ok(())
    })
    .await?;
    let rest = collector.finish()?;
    if !rest.is_empty() {
        sink(&rest);
    }
    Ok(())
}

/// Reads back every entity of a table.
pub(crate) async fn scan_entities(
    link: &mut Link,
    model: &Model,
    number: usize,
    sink: &mut dyn FnMut(u32, i64, &[Value]),
) -> Result<(), StoreError> {
    let (table, described) = model.table(number)?;
    let Some((entity, names)) = table.entity.as_ref().zip(described.entity.as_ref()) else {
        return Err(StoreError::unsupported(
            "read entities back",
            format!("table {} has none", table.name),
        ));
    };
    let mut columns: Vec<String> = described
        .identifying()
        .map(|key| key.name.clone())
        .collect();
    let first = columns.len();
    columns.push(names.last_time.clone());
    columns.extend(entity.columns.iter().map(|column| quoted(&column.name)));
    let sql = format!("SELECT {} FROM {}", columns.join(", "), names.name);
    let mut values = Vec::new();
    link.stream("read entities back", &sql, &mut |row| {
        values.clear();
        for (column, field) in entity.columns.iter().enumerate() {
            values.push(cells::value(&row, first + 1 + column, field.kind)?);
        }
        let series = described.series.of_row(&row, 0)?;
        sink(series, cell::integer(&row, first)?, &values);
        Ok(())
    })
    .await
}
