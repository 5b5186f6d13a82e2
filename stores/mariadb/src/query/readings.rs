//! Questions that readings answer: a point, a range, the last of each series, and reading everything back.

use super::cells;
use super::document::Reader;
use super::source::Source;
use super::sql::Sql;
use crate::connection::{Link, cell};
use crate::schema::{Content, Model, SECOND_NS, TableModel, quoted};
use crate::write::insert::read_back;
use mysql_async::Row;
use sensormark_store::{
    Answer, Batch, ErrorKind, FieldSet, Query, StoreError, Table, TimeRange, Value,
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

/// All readings of a range with these fields.
pub(crate) async fn range(
    link: &mut Link,
    model: &Model,
    query: &Query,
    fields: FieldSet,
) -> Result<Answer, StoreError> {
    const OPERATION: &str = "read a range";
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
        source.push_selection(&mut sql, &query.series);
        source.push_spans(&mut sql, query.range);
        order.push(format!("r.{span}"));
    } else {
        source.push_from(&mut sql, false);
        source.push_where(&mut sql, query);
        order.extend(source.order());
    }
    sql.push(" ORDER BY ").list(&order);
    collect(link, OPERATION, sql, query, &source, fields, query.range).await
}

/// The last reading of each series that has any of these fields.
pub(crate) async fn last(
    link: &mut Link,
    model: &Model,
    query: &Query,
    fields: FieldSet,
) -> Result<Answer, StoreError> {
    const OPERATION: &str = "read the last of each series";
    check_fields(model, query, fields)?;
    let source = Source::new(model, query, fields)?;
    let Content::Readings { time } = &source.described.content else {
        return last_moment(link, model, query, fields).await;
    };
    let mut sql = Sql::new("SELECT ");
    sql.list(&columns(&source, fields));
    if source.is_single(query) {
        source.push_from(&mut sql, false);
        source.push_where(&mut sql, query);
        sql.push(&format!(" ORDER BY r.{time} DESC LIMIT 1"));
    } else {
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
        source.push_where(&mut sql, query);
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
    }
    let answer = collect(link, OPERATION, sql, query, &source, fields, query.range).await?;
    let Answer::Readings(batch) = answer else {
        return Ok(answer);
    };
    Ok(Answer::Readings(one_a_series(batch)))
}

fn names_of(alias: &str, names: &[String]) -> String {
    let names: Vec<String> = names.iter().map(|name| format!("{alias}.{name}")).collect();
    names.join(", ")
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

/// The same where a reading is not a row: the latest time of each series first, then the readings of these times.
async fn last_moment(
    link: &mut Link,
    model: &Model,
    query: &Query,
    fields: FieldSet,
) -> Result<Answer, StoreError> {
    const OPERATION: &str = "read the last of each series";
    let source = Source::new(model, query, fields)?;
    let identity: Vec<String> = source.identity().collect();
    let mut sql = Sql::new("SELECT ");
    let mut latest = identity.clone();
    if source.is_single(query) {
        latest.push(source.time());
        sql.list(&latest);
        source.push_from(&mut sql, false);
        source.push_where(&mut sql, query);
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
        source.push_where(&mut sql, query);
        sql.push(" GROUP BY ").list(&identity);
    }
    let mut moments = Vec::new();
    link.rows(OPERATION, &sql.text, sql.parameters, &mut |row| {
        let series = source.described.series.of_row(&row, 0)?;
        moments.push((series, cell::integer(&row, identity.len())?));
        Ok(())
    })
    .await?;
    moments.sort_unstable();
    let mut readings = Batch::new(query.table, source.table);
    for (series, time_ns) in moments {
        let mut point = query.clone();
        point.series = sensormark_store::Selection::One(series);
        point.range = TimeRange::new(time_ns, time_ns.saturating_add(1));
        if let Answer::Readings(batch) = range(link, model, &point, fields).await?
            && !batch.is_empty()
        {
            readings.push_row(&batch, 0);
        }
    }
    Ok(Answer::Readings(readings))
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

async fn collect(
    link: &mut Link,
    operation: &str,
    sql: Sql,
    query: &Query,
    source: &Source<'_>,
    fields: FieldSet,
    range: TimeRange,
) -> Result<Answer, StoreError> {
    let mut collector = Collector::new(
        query.table,
        source.table,
        source.described,
        fields,
        Some(range),
    );
    link.rows(operation, &sql.text, sql.parameters, &mut |row| {
        collector.add(&row)
    })
    .await?;
    Ok(Answer::Readings(collector.finish()?.sorted()))
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

/// Puts rows together to readings.
struct Collector<'a> {
    described: &'a TableModel,
    fields: Vec<usize>,
    whole: bool,
    range: Option<TimeRange>,
    batch: Batch,
    /// Rows of fields of readings of one series and time, which are not complete yet.
    open: Option<(u32, i64)>,
    parts: Vec<Vec<Value>>,
}

impl<'a> Collector<'a> {
    fn new(
        number: usize,
        table: &Table,
        described: &'a TableModel,
        fields: FieldSet,
        range: Option<TimeRange>,
    ) -> Self {
        Self {
            described,
            fields: fields.iter().collect(),
            whole: fields == table.all_fields(),
            range,
            batch: Batch::new(number, table),
            open: None,
            parts: Vec::new(),
        }
    }

    fn add(&mut self, row: &Row) -> Result<(), StoreError> {
        let series = self.described.series.of_row(row, 0)?;
        let first = self.described.series.width();
        match &self.described.content {
            Content::Readings { .. } => {
                self.batch.times_ns.push(cell::integer(row, first)?);
                self.batch.series.push(series);
                for (number, &field) in self.fields.iter().enumerate() {
                    cells::push(&mut self.batch.columns[field], row, first + 1 + number)?;
                }
                Ok(())
            }
            Content::Fields { .. } => self.add_field(row, series, first),
            Content::Records { span_ns, .. } => {
                let start_ns = cell::integer(row, first)?.saturating_mul(*span_ns);
                if self.whole {
                    // From a scan the document comes after its length.
                    let column = first + if self.range.is_some() { 1 } else { 2 };
                    self.add_document(cell::text(row, column)?, series, start_ns)
                } else {
                    self.add_arrays(row, series, start_ns, first + 1)
                }
            }
        }
    }

    /// A row of one field: it belongs to the first reading of its series and time that does not have the field yet.
    fn add_field(&mut self, row: &Row, series: u32, first: usize) -> Result<(), StoreError> {
        let time_ns = cell::integer(row, first)? * SECOND_NS + cell::integer(row, first + 1)?;
        if self.open != Some((series, time_ns)) {
            self.close()?;
            self.open = Some((series, time_ns));
        }
        let number = usize::try_from(cell::integer(row, first + 2)?).unwrap_or(usize::MAX);
        let Some(column) = self.batch.columns.get(number) else {
            return Err(cell::unexpected(first + 2, "number of a field"));
        };
        let value = cells::value(row, first + 3, column.values.kind())?;
        let lacking = self
            .parts
            .iter()
            .position(|part| part[number] == Value::Null);
        let part = lacking.unwrap_or_else(|| {
            self.parts.push(vec![Value::Null; self.batch.columns.len()]);
            self.parts.len() - 1
        });
        self.parts[part][number] = value;
        Ok(())
    }

    /// Completes the readings that rows of fields were collected for.
    fn close(&mut self) -> Result<(), StoreError> {
        let Some((series, time_ns)) = self.open.take() else {
            return Ok(());
        };
        for mut part in self.parts.drain(..) {
            self.batch.times_ns.push(time_ns);
            self.batch.series.push(series);
            for &field in &self.fields {
                let value = std::mem::replace(&mut part[field], Value::Null);
                let pushed = self.batch.columns[field].push(value);
                pushed.map_err(|_| cell::unexpected(field, "value of the field's type"))?;
            }
        }
        Ok(())
    }

    fn add_document(&mut self, text: &str, series: u32, start_ns: i64) -> Result<(), StoreError> {
        let mut reader = Reader::new(text);
        let mut more = reader.first_reading()?;
        while more {
            let time_ns = start_ns + reader.reading_time()?;
            let wanted = self.range.is_none_or(|range| range.contains(time_ns));
            for (number, column) in self.batch.columns.iter_mut().enumerate() {
                if number > 0 {
                    reader.expect(b',')?;
                }
                if wanted {
                    reader.value(column)?;
                } else {
                    reader.skip_value()?;
                }
            }
            if wanted {
                self.batch.times_ns.push(time_ns);
                self.batch.series.push(series);
            }
            more = reader.next_reading()?;
        }
        Ok(())
    }

    /// Arrays of times and of each chosen field's values, of which readings out of range and without any field are left out.
    fn add_arrays(
        &mut self,
        row: &Row,
        series: u32,
        start_ns: i64,
        first: usize,
    ) -> Result<(), StoreError> {
        let Some(range) = self.range.filter(|_| cell::value(row, first).is_some()) else {
            return Ok(());
        };
        let mut times = Reader::new(cell::text(row, first)?);
        let mut values = Vec::with_capacity(self.fields.len());
        for number in 1..=self.fields.len() {
            values.push(Reader::new(cell::text(row, first + number)?));
        }
        times.expect(b'[')?;
        for reader in &mut values {
            reader.expect(b'[')?;
        }
        loop {
            let time_ns = start_ns + times.integer()?;
            let wanted = range.contains(time_ns);
            let any = values.iter_mut().any(|reader| !reader.is_null());
            for (reader, &field) in values.iter_mut().zip(&self.fields) {
                if wanted && any {
                    reader.value(&mut self.batch.columns[field])?;
                } else {
                    reader.skip_value()?;
                }
            }
            if wanted && any {
                self.batch.times_ns.push(time_ns);
                self.batch.series.push(series);
            }
            if !times.skip(b',') {
                return Ok(());
            }
            for reader in &mut values {
                reader.expect(b',')?;
            }
        }
    }

    fn finish(mut self) -> Result<Batch, StoreError> {
        self.close()?;
        Ok(self.batch)
    }
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
