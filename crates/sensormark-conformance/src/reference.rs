//! The reference: answers any question about readings in memory, exactly as the contract's docs say.
//!
//! It is the oracle of the conformance suite and of everything whose answers come from a recording rather than from a
//! generator. It is written to be obviously right, then fast enough: readings are kept in columns in the order of (series, time)
//! and found by binary search; ten million fit. It is not a database: nothing here is shared, durable or measured.

use sensormark_store::answer::{Answer, Moment};
use sensormark_store::batch::{Batch, Column, Values};
use sensormark_store::census::Census;
use sensormark_store::query::{Ask, Predicate, Query, Selection, TimeRange};
use sensormark_store::schema::{FieldSet, Schema, TimeResolution, Value};
use sensormark_store::store::{AnswerSource, RepeatedWrite};
use std::cmp::Ordering;
use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;

mod aggregate;
pub(crate) mod derived;
#[cfg(test)]
mod tests;

/// Readings of a schema in memory, and the answers to questions about them.
///
/// Add readings, [`prepare`](Self::prepare), then ask; more may be added afterwards, followed by `prepare` again.
#[derive(Debug, Clone)]
pub struct Reference {
    schema: Arc<Schema>,
    repeated: RepeatedWrite,
    tables: Vec<Rows>,
}

/// The readings and entities of one table.
#[derive(Debug, Clone)]
struct Rows {
    batch: Batch,
    /// The row at which each series starts, and the number of rows at the end; valid when `ready`.
    starts: Vec<usize>,
    ready: bool,
    resolution: TimeResolution,
    entities: BTreeMap<u32, (i64, Vec<Value>)>,
}

impl Reference {
    /// No readings yet, of tables that keep every nanosecond and both of two readings of the same (series, time).
    pub fn new(schema: Arc<Schema>) -> Self {
        let rows = |number| Rows {
            batch: Batch::new(number, &schema.tables[number]),
            starts: Vec::new(),
            ready: false,
            resolution: TimeResolution::Nanoseconds,
            entities: BTreeMap::new(),
        };
        let tables = (0..schema.tables.len()).map(rows).collect();
        Self { schema, repeated: RepeatedWrite::KeepsBoth, tables }
    }

    /// What becomes of a reading whose (series, time) is there already: kept too, put in its place, or left out.
    #[must_use]
    pub const fn with_repeated_write(mut self, repeated: RepeatedWrite) -> Self {
        self.repeated = repeated;
        self
    }

    /// Cuts the times of a table's readings off to this resolution, as a store does that keeps no more.
    ///
    /// # Panics
    /// When there is no such table.
    #[must_use]
    pub fn with_resolution(mut self, table: usize, resolution: TimeResolution) -> Self {
        self.tables[table].resolution = resolution;
        self
    }

    /// The schema of the readings.
    pub const fn schema(&self) -> &Arc<Schema> {
        &self.schema
    }

    /// Adds readings, in any order.
    ///
    /// # Panics
    /// When the batch is not one of the schema's, by [`Batch::check`].
    pub fn add(&mut self, batch: &Batch) {
        batch.check(&self.schema.tables[batch.table], false).expect("readings fit their table");
        let rows = &mut self.tables[batch.table];
        let unit = rows.resolution.nanoseconds();
        let cut = |time: &i64| time - time.rem_euclid(unit);
        rows.batch.times_ns.extend(batch.times_ns.iter().map(cut));
        rows.batch.series.extend_from_slice(&batch.series);
        for (column, more) in rows.batch.columns.iter_mut().zip(&batch.columns) {
            append(column, more);
        }
        rows.ready = false;
    }

    /// Sets the last time of an entity, adding the entity with these columns when it is new.
    ///
    /// # Panics
    /// When there is no such table.
    pub fn add_entity(&mut self, table: usize, series: u32, last_time_ns: i64, columns: &[Value]) {
        let rows = &mut self.tables[table];
        let unit = rows.resolution.nanoseconds();
        let entity = rows.entities.entry(series).or_insert_with(|| (0, columns.to_vec()));
        entity.0 = last_time_ns - last_time_ns.rem_euclid(unit);
    }

    /// Sorts what was added, and settles repeated readings. Cheap when nothing was added since.
    pub fn prepare(&mut self) {
        for (number, rows) in self.tables.iter_mut().enumerate() {
            if !rows.ready {
                rows.prepare(self.repeated, self.schema.tables[number].series.len());
            }
        }
    }

    /// Whether a reading of this series and time, cut off as the table's times are, is there. Call [`prepare`](Self::prepare) before.
    pub fn holds(&self, table: usize, series: u32, time_ns: i64) -> bool {
        let time_ns = time_ns - time_ns.rem_euclid(self.tables[table].resolution.nanoseconds());
        !self.rows_of(table, series, TimeRange::new(time_ns, time_ns + 1)).is_empty()
    }

    /// Counts and checksums of everything.
    pub fn census(&self) -> Census {
        let mut census = Census::new(&self.schema);
        for rows in &self.tables {
            census.add(&rows.batch);
        }
        census
    }

    /// The rows of a series in a range, in the order of time.
    fn rows_of(&self, table: usize, series: u32, range: TimeRange) -> Range<usize> {
        let rows = &self.tables[table];
        assert!(rows.ready, "readings were added and not prepared");
        let Some(&[start, end]) =
            rows.starts.get(series as usize..).and_then(|starts| starts.first_chunk::<2>())
        else {
            return 0..0;
        };
        let times = &rows.batch.times_ns[start..end];
        let first = start + times.partition_point(|&time| time < range.start_ns);
        let last = start + times.partition_point(|&time| time < range.end_ns);
        first..last.max(first)
    }

    /// The chosen series, ascending.
    fn chosen(&self, query: &Query) -> Vec<u32> {
        let series = &self.schema.tables[query.table].series;
        match &query.series {
            Selection::One(number) => vec![*number],
            Selection::Set(numbers) => {
                let mut numbers = numbers.clone();
                numbers.sort_unstable();
                numbers.dedup();
                numbers
            }
            Selection::Tagged { tag, value } => series.with_tag(*tag, value),
            Selection::All => (0..series.len()).collect(),
        }
    }

    /// The rows in question, in the order of (series, time), with their series.
    fn rows(&self, query: &Query) -> impl Iterator<Item = (u32, Range<usize>)> {
        let (table, range) = (query.table, query.range);
        self.chosen(query).into_iter().map(move |series| (series, self.rows_of(table, series, range)))
    }

    fn column(&self, query: &Query, field: usize) -> &Column {
        &self.tables[query.table].batch.columns[field]
    }

    fn moment(&self, query: &Query, field: usize, row: usize) -> Moment {
        Moment {
            time_ns: self.tables[query.table].batch.times_ns[row],
            value: self.column(query, field).value(row),
        }
    }

    /// Whether the reading has any of the fields.
    fn has_any(&self, query: &Query, fields: FieldSet, row: usize) -> bool {
        fields.iter().any(|field| self.column(query, field).has(row))
    }

    fn passes(&self, query: &Query, predicate: Predicate, row: usize) -> bool {
        self.column(query, predicate.field).number(row).is_some_and(|value| predicate.passes(value))
    }

    fn readings(&self, query: &Query, fields: FieldSet, rows: impl Iterator<Item = usize>) -> Answer {
        let description = &self.schema.tables[query.table];
        let stored = &self.tables[query.table].batch;
        let mut batch = Batch::new(query.table, description);
        for row in rows {
            batch.times_ns.push(stored.times_ns[row]);
            batch.series.push(stored.series[row]);
            for field in fields.iter() {
                batch.columns[field]
                    .push(stored.columns[field].value(row))
                    .expect("columns of one table have the same types");
            }
        }
        Answer::Readings(batch)
    }

    fn range(&self, query: &Query, fields: FieldSet) -> Answer {
        let rows = self.rows(query).flat_map(|(_, rows)| rows);
        self.readings(query, fields, rows.filter(|&row| self.has_any(query, fields, row)))
    }

    fn last_readings(&self, query: &Query, fields: FieldSet) -> Answer {
        let rows =
            self.rows(query).filter_map(|(_, mut rows)| rows.rfind(|&row| self.has_any(query, fields, row)));
        self.readings(query, fields, rows)
    }

    fn first(&self, query: &Query, predicate: Predicate) -> Option<Moment> {
        let times = &self.tables[query.table].batch.times_ns;
        self.rows(query)
            .filter_map(|(_, mut rows)| rows.find(|&row| self.passes(query, predicate, row)))
            .min_by_key(|&row| times[row])
            .map(|row| self.moment(query, predicate.field, row))
    }

    fn last(&self, query: &Query, predicate: Predicate) -> Option<Moment> {
        let times = &self.tables[query.table].batch.times_ns;
        self.rows(query)
            .filter_map(|(_, mut rows)| rows.rfind(|&row| self.passes(query, predicate, row)))
            .min_by_key(|&row| std::cmp::Reverse(times[row]))
            .map(|row| self.moment(query, predicate.field, row))
    }

    fn minimum(&self, query: &Query, field: usize) -> Option<Moment> {
        let column = self.column(query, field);
        let times = &self.tables[query.table].batch.times_ns;
        self.rows(query)
            .flat_map(|(_, rows)| rows)
            .filter(|&row| column.has(row))
            .min_by(|&one, &other| {
                compare(&column.value(one), &column.value(other)).then(times[one].cmp(&times[other]))
            })
            .map(|row| self.moment(query, field, row))
    }

    fn matching(&self, query: &Query, predicate: Predicate) -> Vec<u32> {
        self.rows(query)
            .filter(|(_, rows)| rows.clone().any(|row| self.passes(query, predicate, row)))
            .map(|(series, _)| series)
            .collect()
    }
}

impl AnswerSource for Reference {
    /// # Panics
    /// When readings were added and not prepared, or the question names a table or field that is not there.
    fn answer(&self, query: &Query) -> Answer {
        match &query.ask {
            Ask::Point { fields } => {
                let start = query.range.start_ns;
                let mut point = query.clone();
                point.range = TimeRange::new(start, start.saturating_add(1));
                self.range(&point, *fields)
            }
            Ask::Range { fields, .. } => self.range(query, *fields),
            Ask::First(predicate) => Answer::Moment(self.first(query, *predicate)),
            Ask::Last(predicate) => Answer::Moment(self.last(query, *predicate)),
            Ask::Minimum { field } => Answer::Moment(self.minimum(query, *field)),
            Ask::Aggregate { aggregates, grouping, .. } => {
                Answer::groups(self.aggregate(query, aggregates, *grouping))
            }
            Ask::LastReading { fields } => self.last_readings(query, *fields),
            Ask::SeriesMatching(predicate) => Answer::Series(self.matching(query, *predicate)),
            Ask::Derived(derived) => self.derived(query, *derived),
        }
    }

    fn scan(&self, table: usize, sink: &mut dyn FnMut(&Batch)) {
        sink(&self.tables[table].batch);
    }

    fn scan_entities(&self, table: usize, sink: &mut dyn FnMut(u32, i64, &[Value])) {
        for (series, (last_time_ns, columns)) in &self.tables[table].entities {
            sink(*series, *last_time_ns, columns);
        }
    }
}

impl Rows {
    fn prepare(&mut self, repeated: RepeatedWrite, series: u32) {
        let batch = &self.batch;
        let key = |row: usize| (batch.series[row], batch.times_ns[row]);
        let rises = |row: usize| match repeated {
            RepeatedWrite::KeepsBoth => key(row - 1) <= key(row),
            RepeatedWrite::Replaces | RepeatedWrite::Refused => key(row - 1) < key(row),
        };
        if !(1..batch.len()).all(rises) {
            let mut order: Vec<usize> = (0..batch.len()).collect();
            order.sort_by_key(|&row| key(row)); // stable: of equal keys, the first added is first
            match repeated {
                RepeatedWrite::KeepsBoth => {}
                RepeatedWrite::Refused => order.dedup_by_key(|row| key(*row)),
                RepeatedWrite::Replaces => {
                    order.reverse();
                    order.dedup_by_key(|row| key(*row));
                    order.reverse();
                }
            }
            self.batch = gather(batch, &order);
        }
        let rows = &self.batch.series;
        self.starts = (0..=series).map(|number| rows.partition_point(|&other| other < number)).collect();
        self.ready = true;
    }
}

/// The rows of a batch in this order.
fn gather(batch: &Batch, order: &[usize]) -> Batch {
    Batch {
        table: batch.table,
        times_ns: pick(&batch.times_ns, order),
        series: pick(&batch.series, order),
        columns: batch
            .columns
            .iter()
            .map(|column| Column {
                values: match &column.values {
                    Values::Bool(values) => Values::Bool(pick(values, order)),
                    Values::I64(values) => Values::I64(pick(values, order)),
                    Values::U16(values) => Values::U16(pick(values, order)),
                    Values::F64(values) => Values::F64(pick(values, order)),
                    Values::Text(values) => {
                        let mut picked = sensormark_store::batch::TextColumn::default();
                        for &row in order {
                            picked.push(values.get(row));
                        }
                        Values::Text(picked)
                    }
                },
                present: column.present.as_ref().map(|present| pick(present, order)),
            })
            .collect(),
    }
}

fn pick<T: Copy>(values: &[T], order: &[usize]) -> Vec<T> {
    order.iter().map(|&row| values[row]).collect()
}

/// Appends a column to another of the same type.
fn append(column: &mut Column, more: &Column) {
    let (had, added) = (column.values.len(), more.values.len());
    match (&mut column.values, &more.values) {
        (Values::Bool(values), Values::Bool(more)) => values.extend_from_slice(more),
        (Values::I64(values), Values::I64(more)) => values.extend_from_slice(more),
        (Values::U16(values), Values::U16(more)) => values.extend_from_slice(more),
        (Values::F64(values), Values::F64(more)) => values.extend_from_slice(more),
        (Values::Text(values), Values::Text(more)) => {
            for row in 0..more.len() {
                values.push(more.get(row));
            }
        }
        _ => unreachable!("the batch was checked against its table"),
    }
    if column.present.is_some() || more.present.is_some() {
        let present = column.present.get_or_insert_with(|| vec![true; had]);
        match &more.present {
            Some(more) => present.extend_from_slice(more),
            None => present.resize(had + added, true),
        }
    }
}

/// The order of two values of the same type: numbers by value, false before true, text by bytes.
fn compare(one: &Value, other: &Value) -> Ordering {
    match (one, other) {
        (Value::Bool(one), Value::Bool(other)) => one.cmp(other),
        (Value::I64(one), Value::I64(other)) => one.cmp(other),
        (Value::F64(one), Value::F64(other)) => one.partial_cmp(other).expect("readings hold no NaN"),
        (Value::Text(one), Value::Text(other)) => one.as_bytes().cmp(other.as_bytes()),
        _ => unreachable!("values of one field have one type"),
    }
}
