//! Searches: the first and last reading that passes, the smallest value, the latest reading, and the series that have one that passes.
//!
//! Rows of readings are searched by the server, one partition after the other in the order of time, until one has an answer. Records
//! of a span are fetched partition by partition and searched here.

use super::{PARTITION, Places, Reader, columns, decode, within};
use crate::connection::PIPELINE;
use crate::connection::{Cell, Cells, Link};
use crate::schema::{PhysicalSchema, Rows};
use crate::statements::Shape;
use futures_util::stream::{StreamExt, TryStreamExt, iter};
use scylla::response::PagingState;
use scylla::statement::prepared::PreparedStatement;
use sensormark_store::client_side;
use sensormark_store::{Batch, Comparison, FieldSet, FieldType, Moment, Predicate, Query, StoreError, Value};

/// What a search of one series needs; shared by searches that are under way at once.
struct Search<'a> {
    link: &'a Link,
    physical: &'a PhysicalSchema,
    query: &'a Query,
    statement: &'a PreparedStatement,
    places: &'a Places,
    predicate: Predicate,
    bound: Bound,
    backwards: bool,
}

/// The threshold as the column's type has it.
#[derive(Debug, Clone, Copy)]
enum Bound {
    Double(f64),
    Big(i64),
    Int(i32),
}

impl Bound {
    /// The bound with which a column of this type passes as numbers do; none where nothing can pass.
    fn new(kind: FieldType, predicate: Predicate) -> Option<Self> {
        let threshold = predicate.threshold;
        if threshold.is_nan() {
            return None;
        }
        if !matches!(kind, FieldType::I64 | FieldType::U16) {
            return Some(Self::Double(threshold));
        }
        // a whole number is over 2.5 when it is over 2, and under 2.5 when it is under 3
        let whole = match predicate.comparison {
            Comparison::Above => threshold.floor(),
            Comparison::Below => threshold.ceil(),
        };
        if kind == FieldType::I64 {
            return Some(Self::Big(saturated(whole)));
        }
        let clamped = saturated(whole).clamp(-1, 65_536);
        Some(Self::Int(i32::try_from(clamped).unwrap_or(65_536)))
    }

    const fn cell(self) -> Cell<'static> {
        match self {
            Self::Double(value) => Cell::Double(value),
            Self::Big(value) => Cell::Big(value),
            Self::Int(value) => Cell::Int(value),
        }
    }
}

#[expect(clippy::cast_possible_truncation, reason = "a cast to an integer saturates, which is meant")]
const fn saturated(value: f64) -> i64 {
    value as i64
}

impl Search<'_> {
    /// The first passing reading of a series, or the last.
    async fn run(&self, series: u32) -> Result<Option<Moment>, StoreError> {
        let of_series = |place: &&(u32, i64)| place.0 == series;
        let start = self.places.partitions.partition_point(|place| place.0 < series);
        let mut buckets: Vec<i64> =
            self.places.partitions[start..].iter().take_while(of_series).map(|place| place.1).collect();
        if self.backwards {
            buckets.reverse();
        }
        for bucket in buckets {
            if let Some(found) = self.partition(series, bucket).await? {
                return Ok(Some(found));
            }
        }
        Ok(None)
    }

    async fn partition(&self, series: u32, bucket: i64) -> Result<Option<Moment>, StoreError> {
        let field = self.predicate.field;
        let mut batch = Batch::new(self.query.table, &self.physical.schema.tables[self.query.table]);
        let [one, two, three, four] = within(series, bucket, self.places);
        match self.physical.tables[self.query.table].rows {
            Rows::Reading { unit_ns } => {
                let cells = [one, two, three, four, self.bound.cell()];
                let pages = self.link.pages("search", self.statement, &Cells(&cells)).await?;
                decode::each(&pages, |row| {
                    decode::reading(row, series, unit_ns, FieldSet::one(field), &mut batch)
                })?;
            }
            Rows::Record { span_ns, json } => {
                let cells = [one, two, three, four];
                let pages = self.link.pages("search", self.statement, &Cells(&cells)).await?;
                let (range, fields) = (self.query.range, FieldSet::one(field));
                decode::each(&pages, |row| {
                    decode::record(row, series, (span_ns, json), range, fields, &mut batch)
                })?;
                batch = batch.sorted();
            }
        }
        let passes = |row: &usize| {
            let number = batch.columns[field].number(*row);
            number.is_some_and(|value| self.predicate.passes(value))
        };
        let mut rows = 0..batch.len();
        let found = if self.backwards { rows.rfind(passes) } else { rows.find(passes) };
        Ok(found.map(|row| client_side::moment(&batch, field, row)))
    }
}

impl Reader<'_> {
    /// What each of the chosen series has first or last.
    async fn searched(
        &mut self,
        query: &Query,
        predicate: Predicate,
        backwards: bool,
    ) -> Result<Vec<(u32, Moment)>, StoreError> {
        let field = &self.physical.schema.tables[query.table].fields[predicate.field];
        let series = self.series(query).await?;
        let (Some(bound), Some(places)) =
            (Bound::new(field.kind, predicate), self.places(query, &series, query.range).await?)
        else {
            return Ok(Vec::new());
        };
        let statement = self.search_statement(query.table, predicate, backwards).await?;
        let search = Search {
            link: self.link,
            physical: self.physical,
            query,
            statement: &statement,
            places: &places,
            predicate,
            bound,
            backwards,
        };
        let search = &search;
        let ask = async |series: u32| Ok::<_, StoreError>((series, search.run(series).await?));
        let asked = iter(series).map(ask).buffered(PIPELINE);
        let found: Vec<(u32, Option<Moment>)> = asked.try_collect().await?;
        let found = found.into_iter();
        Ok(found.filter_map(|(series, moment)| Some((series, moment?))).collect())
    }

    async fn search_statement(
        &mut self,
        table: usize,
        predicate: Predicate,
        backwards: bool,
    ) -> Result<PreparedStatement, StoreError> {
        let physical = self.physical;
        let fields = FieldSet::one(predicate.field);
        let own = &physical.tables[table];
        if matches!(own.rows, Rows::Record { .. }) {
            return self.range_statement(table, fields).await;
        }
        let shape = Shape::Search(table, predicate.field, predicate.comparison, backwards);
        let text = |keyspace: &str| {
            let (columns, key) = columns(physical, table, fields);
            let name = &physical.schema.tables[table].fields[predicate.field].name;
            let sign = match predicate.comparison {
                Comparison::Above => '>',
                Comparison::Below => '<',
            };
            let order = if backwards { "DESC" } else { "ASC" };
            format!(
                "SELECT {columns} FROM {keyspace}.\"{}\" WHERE {PARTITION} AND \"{key}\" >= ? AND \"{key}\" <= ? AND \"{name}\" {sign} ? ORDER BY \"{key}\" {order} LIMIT 1 ALLOW FILTERING",
                own.readings()
            )
        };
        self.statements.get(self.link, shape, text).await
    }

    /// The first reading that passes, or the last; of several series at the same time, the lowest.
    pub(super) async fn search(
        &mut self,
        query: &Query,
        predicate: Predicate,
        backwards: bool,
    ) -> Result<Option<Moment>, StoreError> {
        let found = self.searched(query, predicate, backwards).await?.into_iter();
        let best = if backwards {
            found.max_by_key(|(series, moment)| (moment.time_ns, std::cmp::Reverse(*series)))
        } else {
            found.min_by_key(|(series, moment)| (moment.time_ns, *series))
        };
        Ok(best.map(|(_, moment)| moment))
    }

    /// The series with a reading that passes.
    pub(super) async fn matching(
        &mut self,
        query: &Query,
        predicate: Predicate,
    ) -> Result<Vec<u32>, StoreError> {
        let found = self.searched(query, predicate, false).await?;
        Ok(found.into_iter().map(|(series, _)| series).collect())
    }

    /// The smallest value of a field, the earliest of equals.
    pub(super) async fn minimum(
        &mut self,
        query: &Query,
        field: usize,
    ) -> Result<Option<Moment>, StoreError> {
        let physical = self.physical;
        let own = &physical.tables[query.table];
        let Rows::Reading { unit_ns } = own.rows else {
            let batch = self.range(query, query.range, FieldSet::one(field)).await?;
            return Ok(client_side::minimum(&batch, field));
        };
        let series = self.series(query).await?;
        let Some(mut places) = self.places(query, &series, query.range).await? else {
            return Ok(None);
        };
        let least = self.least(query, field, &places).await?;
        let smaller = |one: &&(usize, Value), other: &&(usize, Value)| client_side::order(&one.1, &other.1);
        let Some((_, value)) = least.iter().min_by(smaller) else {
            return Ok(None);
        };
        // the partitions that hold it, of which the earliest reading is asked for
        let holds = |one: &&(usize, Value)| client_side::order(&one.1, value).is_eq();
        places.partitions = least.iter().filter(holds).map(|(index, _)| places.partitions[*index]).collect();
        let text = |keyspace: &str| {
            let name = &physical.schema.tables[query.table].fields[field].name;
            format!(
                "SELECT \"_time\", \"{name}\" FROM {keyspace}.\"{}\" WHERE {PARTITION} AND \"_time\" >= ? AND \"_time\" <= ? AND \"{name}\" = ? LIMIT 1 ALLOW FILTERING",
                own.readings()
            )
        };
        let statement = self.statements.get(self.link, Shape::Equal(query.table, field), text).await?;
        let kind = physical.schema.tables[query.table].fields[field].kind;
        let mut batch = Batch::new(query.table, &physical.schema.tables[query.table]);
        for &(series, bucket) in &places.partitions {
            let [one, two, three, four] = within(series, bucket, &places);
            let cells = [one, two, three, four, equal_cell(kind, value)];
            let pages = self.link.pages("find the minimum", &statement, &Cells(&cells)).await?;
            decode::each(&pages, |row| {
                decode::reading(row, series, unit_ns, FieldSet::one(field), &mut batch)
            })?;
        }
        Ok(client_side::minimum(&batch, field))
    }

    /// The smallest value of each partition that has any.
    async fn least(
        &mut self,
        query: &Query,
        field: usize,
        places: &Places,
    ) -> Result<Vec<(usize, Value)>, StoreError> {
        let physical = self.physical;
        let table = &physical.schema.tables[query.table];
        let text = |keyspace: &str| {
            format!(
                "SELECT min(\"{}\") FROM {keyspace}.\"{}\" WHERE {PARTITION} AND \"_time\" >= ? AND \"_time\" <= ?",
                table.fields[field].name,
                physical.tables[query.table].readings()
            )
        };
        let shape = Shape::Least(query.table, field);
        let statement = self.statements.get(self.link, shape, text).await?;
        let (link, statement) = (self.link, &statement);
        let ask = async |(index, (series, bucket)): (usize, (u32, i64))| {
            let cells = within(series, bucket, places);
            let pages = link.pages("find the minimum", statement, &Cells(&cells)).await?;
            Ok::<_, StoreError>((index, pages))
        };
        let mut asked = iter(places.partitions.iter().copied().enumerate()).map(ask).buffered(PIPELINE);
        let mut least = Vec::new();
        while let Some((index, pages)) = asked.try_next().await? {
            decode::each(&pages, |row| {
                let value = decode::value(table.fields[field].kind, decode::optional(row)?)?;
                if value != Value::Null {
                    least.push((index, value));
                }
                Ok(())
            })?;
        }
        Ok(least)
    }

    /// Of each series the latest reading in the range that has any of the fields.
    pub(super) async fn latest(&mut self, query: &Query, fields: FieldSet) -> Result<Batch, StoreError> {
        let physical = self.physical;
        let table = &physical.schema.tables[query.table];
        let series = self.series(query).await?;
        let mut batch = Batch::new(query.table, table);
        let Some(places) = self.places(query, &series, query.range).await? else {
            return Ok(batch);
        };
        let (key, text) = (columns(physical, query.table, fields), &physical.tables[query.table]);
        let surely = fields.iter().any(|field| !table.fields[field].nullable)
            && matches!(text.rows, Rows::Reading { .. });
        let text = |keyspace: &str| {
            format!(
                "SELECT {} FROM {keyspace}.\"{}\" WHERE {PARTITION} AND \"{}\" >= ? AND \"{}\" <= ? ORDER BY \"{}\" DESC{}",
                key.0,
                text.readings(),
                key.1,
                key.1,
                key.1,
                if surely { " LIMIT 1" } else { "" }
            )
        };
        let shape = Shape::Latest(query.table, fields, surely);
        let mut statement = self.statements.get(self.link, shape, text).await?;
        statement.set_page_size(32);
        let reader = &*self;
        let (statement, places) = (&statement, &places);
        let ask = async |series: u32| reader.latest_of(query, fields, statement, places, series).await;
        let mut asked = iter(series).map(ask).buffered(PIPELINE);
        while let Some(found) = asked.try_next().await? {
            if let Some(row) = found.len().checked_sub(1) {
                batch.push_row(&found, row);
            }
        }
        Ok(batch)
    }

    /// The latest reading of a series, as the last row of a batch.
    async fn latest_of(
        &self,
        query: &Query,
        fields: FieldSet,
        statement: &PreparedStatement,
        places: &Places,
        series: u32,
    ) -> Result<Batch, StoreError> {
        let mut batch = Batch::new(query.table, &self.physical.schema.tables[query.table]);
        let partitions = &places.partitions;
        let start = partitions.partition_point(|place| place.0 < series);
        let end = partitions.partition_point(|place| place.0 <= series);
        let of_series = partitions[start..end].iter().rev();
        for &(series, bucket) in of_series {
            let cells = within(series, bucket, places);
            let mut state = Some(PagingState::start());
            while let Some(from) = state {
                let (page, next) = self.link.page("read the latest", statement, &Cells(&cells), from).await?;
                let pages = std::slice::from_ref(&page);
                self.decode(query, query.range, fields, series, pages, &mut batch)?;
                let own = &self.physical.tables[query.table];
                let more = match own.rows {
                    Rows::Reading { .. } => batch.is_empty(),
                    // a record of a later page may hold a later reading of the same span
                    Rows::Record { .. } => {
                        let first = batch.times_ns.first().map(|&time| own.key(time));
                        batch.times_ns.iter().all(|&time| first == Some(own.key(time)))
                    }
                };
                state = next.filter(|_| more);
            }
            if !batch.is_empty() {
                break;
            }
        }
        Ok(latest_last(batch))
    }
}

/// The batch with its latest reading alone.
fn latest_last(batch: Batch) -> Batch {
    let latest = (0..batch.len()).max_by_key(|&row| (batch.times_ns[row], row));
    let Some(row) = latest else { return batch };
    let mut last = batch.clone();
    last.clear();
    last.push_row(&batch, row);
    last
}

/// A value as the column's type has it.
fn equal_cell(kind: FieldType, value: &Value) -> Cell<'static> {
    match (kind, value) {
        (FieldType::U16, Value::I64(value)) => i32::try_from(*value).map_or(Cell::Null, Cell::Int),
        (_, Value::I64(value)) => Cell::Big(*value),
        (_, Value::F64(value)) => Cell::Double(*value),
        _ => Cell::Null,
    }
}
