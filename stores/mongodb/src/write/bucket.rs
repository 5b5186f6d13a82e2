//! Buckets: documents of a device and day. They fill up write by write, with sums that are kept in the same update, or they are made ready in the client. A
//! write's readings for one bucket go by one update.
//!
//! An increment is not idempotent: an update that was perhaps done is never sent again.

use super::command::{LARGEST_COMMAND, LARGEST_DOCUMENT, Prepared, TooLarge, Writer};
use super::rows::{Covered, Runs};
use crate::schema::layout_options::has_one_pair;
use crate::schema::{COUNT, SAMPLES};
use crate::schema::{Fields, PhysicalTable};
use crate::wire::Writer as Wire;
use sensormark_store::{Batch, Column, DaySplit, ErrorKind, Shape, StoreError, Values};
use std::collections::BTreeMap;
use std::ops::Range;

/// Day and night, as the sums of a bucket are split.
const PARTS: [&str; 2] = ["day", "night"];

/// How the documents of buckets are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Filling {
    /// By upserts of what has room, a new one where none has.
    Upsert,
    /// Made ready here and inserted whole.
    Ready,
}

impl Writer<'_> {
    /// An update of a bucket, or a ready one, per group and day among these rows, and per `limit` readings of these.
    pub(super) fn buckets(
        &self,
        kept: &PhysicalTable,
        batch: &Batch,
        rows: Range<usize>,
        (limit, filling): (u32, Filling),
        concern: bool,
    ) -> Result<Result<Prepared, TooLarge>, StoreError> {
        let (command, array) = match filling {
            Filling::Upsert => ("update", "updates"),
            Filling::Ready => ("insert", "documents"),
        };
        let mut rows = rows;
        loop {
            let runs = Runs::new(rows.clone(), |row| {
                let (day, _) = day_of(kept, batch.times_ns[row]);
                (kept.roster.group(batch.series[row]), day)
            });
            let mut wire = self.head(command, &kept.collection, concern, 4096);
            wire.open_array(array);
            let mut covered = Covered::new(rows.clone());
            let (mut place, mut largest) = (0, 0);
            for record in runs.records() {
                let members: Vec<usize> = record.iter().flat_map(|run| run.rows.clone()).collect();
                for members in members.chunks(limit as usize) {
                    let before = wire.len();
                    let bucket = Bucket::new(kept, batch, members)?;
                    match filling {
                        Filling::Upsert => bucket.update(&mut wire, place, limit),
                        Filling::Ready => bucket.document(&mut wire, place),
                    }
                    covered.add(members.iter().copied());
                    largest = largest.max(wire.len() - before);
                    place += 1;
                }
            }
            wire.close();
            if largest <= LARGEST_DOCUMENT && (wire.len() <= LARGEST_COMMAND || place == 1) {
                return Ok(Ok(Prepared {
                    command: wire.finish()?,
                    readings: rows.len(),
                    covered: covered.prefixes,
                }));
            }
            if rows.len() == 1 {
                return Ok(Err(TooLarge { bytes: largest }));
            }
            rows.end = rows.start + rows.len() / 2;
        }
    }
}

/// The day of a reading (its start in ns), and which part of it the reading is of.
fn day_of(kept: &PhysicalTable, time_ns: i64) -> (i64, &'static str) {
    let time = kept.kept(time_ns);
    let Shape::Bucketed { per_ns, split, .. } = kept.shape else {
        return (time, PARTS[0]);
    };
    (time - time.rem_euclid(per_ns), part_of(split, time))
}

fn part_of(split: DaySplit, time_ns: i64) -> &'static str {
    if split.is_day(time_ns) { PARTS[0] } else { PARTS[1] }
}

fn is_number(column: &Column) -> bool {
    matches!(column.values, Values::I64(_) | Values::U16(_) | Values::F64(_))
}

/// What has been added up of a field in a part of the day, and the rows of its smallest and largest value.
#[derive(Debug, Clone, Copy, Default)]
struct Sum {
    count: i64,
    whole: i64,
    real: f64,
    smallest: usize,
    largest: usize,
}

impl Sum {
    fn add(&mut self, column: &Column, row: usize) -> Option<()> {
        let first = self.count == 0;
        self.count += 1;
        let (below, above) = match &column.values {
            Values::I64(values) => {
                let value = values[row];
                self.whole = self.whole.checked_add(value)?;
                (value < values[self.smallest], value > values[self.largest])
            }
            Values::U16(values) => {
                self.whole = self.whole.checked_add(i64::from(values[row]))?;
                (values[row] < values[self.smallest], values[row] > values[self.largest])
            }
            Values::F64(values) => {
                self.real += values[row];
                (values[row] < values[self.smallest], values[row] > values[self.largest])
            }
            Values::Bool(_) | Values::Text(_) => (false, false),
        };
        if first || below {
            self.smallest = row;
        }
        if first || above {
            self.largest = row;
        }
        Some(())
    }

    /// The row of the smallest (`min`) or largest (`max`) value.
    fn extreme(&self, what: &str) -> usize {
        if what == "min" { self.smallest } else { self.largest }
    }

    /// The sum, of a number.
    fn put_total(&self, wire: &mut Wire, path: &[&str], column: &Column) {
        match &column.values {
            Values::I64(_) | Values::U16(_) => wire.int64(path, self.whole),
            Values::F64(_) => wire.double(path, self.real),
            Values::Bool(_) | Values::Text(_) => {}
        }
    }
}

/// Readings of one group and day, with their sums.
struct Bucket<'a> {
    kept: &'a PhysicalTable,
    batch: &'a Batch,
    rows: &'a [usize],
    day_ns: i64,
    properties: Vec<Property<'a>>,
}

/// A field's name and column, and its sums by day and by night.
type FieldSums<'a> = (&'a str, &'a Column, [Sum; 2]);

/// Readings of one series.
struct Property<'a> {
    name: &'a str,
    rows: Vec<usize>,
    /// Of each field that any of them has.
    sums: Vec<FieldSums<'a>>,
}

impl<'a> Bucket<'a> {
    fn new(kept: &'a PhysicalTable, batch: &'a Batch, rows: &'a [usize]) -> Result<Self, StoreError> {
        let mut series: BTreeMap<u32, Vec<usize>> = BTreeMap::new();
        for &row in rows {
            series.entry(batch.series[row]).or_default().push(row);
        }
        let properties = series
            .into_iter()
            .map(|(series, rows)| {
                Ok(Property {
                    name: kept.roster.property(series).unwrap_or_default(),
                    sums: sums(kept, batch, &rows)?,
                    rows,
                })
            })
            .collect::<Result<_, StoreError>>()?;
        Ok(Self { kept, batch, rows, day_ns: day_of(kept, batch.times_ns[rows[0]]).0, properties })
    }

    fn key(&self, wire: &mut Wire) {
        let series = self.batch.series[self.rows[0]];
        wire.elements(self.kept.roster.elements(series));
        wire.time(&self.kept.time, self.day_ns, self.kept.date);
    }

    fn count(&self) -> i64 {
        i64::try_from(self.rows.len()).unwrap_or(i64::MAX)
    }

    /// The times of the first and last reading.
    fn ends(&self) -> (i64, i64) {
        let times = self.rows.iter().map(|&row| self.batch.times_ns[row]);
        times.fold((i64::MAX, i64::MIN), |(first, last), time| (first.min(time), last.max(time)))
    }

    fn samples(&self, wire: &mut Wire, property: &Property<'_>) {
        for (place, &row) in property.rows.iter().enumerate() {
            self.kept.inner_reading(wire, place, self.batch, row);
        }
    }

    /// An update of a bucket that has room for all of these readings, or of a new one.
    fn update(&self, wire: &mut Wire, place: usize, limit: u32) {
        let [first, last, count] = &self.kept.bucket;
        let (earliest, latest) = self.ends();
        wire.open(place);
        wire.open("q");
        if self.count() < i64::from(limit) {
            self.key(wire);
            wire.open(count);
            wire.int64("$lte", i64::from(limit) - self.count());
            wire.close();
        } else {
            // fits into no bucket that is open: none is looked for
            wire.new_key("_id");
            self.key(wire);
        }
        wire.close();
        wire.open("u");
        wire.open("$push");
        for property in &self.properties {
            wire.open(&[self.kept.inner.as_str(), property.name, SAMPLES][..]);
            wire.open_array("$each");
            self.samples(wire, property);
            wire.close();
            wire.close();
        }
        wire.close();
        wire.open("$inc");
        wire.int64(count, self.count());
        self.each_sum(|path, column, sum| {
            wire.int64(&path(COUNT)[..], sum.count);
            sum.put_total(wire, &path("sum")[..], column);
        });
        wire.close();
        for (operator, bound, time) in [("$min", first, earliest), ("$max", last, latest)] {
            wire.open(operator);
            wire.time(bound, time, self.kept.date);
            let what = operator.trim_start_matches('$');
            self.extremes(wire, what);
            wire.close();
        }
        wire.close();
        wire.boolean("upsert", true);
        wire.close();
    }

    /// Hands over each sum with what makes its path out of what it is a sum of.
    fn each_sum(&self, mut each: impl FnMut(&dyn Fn(&'a str) -> [&'a str; 5], &Column, &Sum)) {
        for property in &self.properties {
            for (field, column, sums) in &property.sums {
                for (part, sum) in PARTS.into_iter().zip(sums) {
                    if sum.count > 0 {
                        let inner = self.kept.inner.as_str();
                        let path = |what| [inner, property.name, *field, what, part];
                        each(&path, column, sum);
                    }
                }
            }
        }
    }

    /// The smallest or largest values, each by its path.
    fn extremes(&self, wire: &mut Wire, what: &'static str) {
        if !has_one_pair(self.kept.shape) {
            self.each_sum(|path, column, sum| {
                if is_number(column) {
                    wire.cell(&path(what)[..], &column.values, sum.extreme(what));
                }
            });
            return;
        }
        for property in &self.properties {
            for (field, column, sums) in &property.sums {
                if let Some(row) = extreme_of_both(column, sums, what) {
                    let path = [self.kept.inner.as_str(), property.name, *field, what];
                    wire.cell(&path[..], &column.values, row);
                }
            }
        }
    }

    /// A document of these readings.
    fn document(&self, wire: &mut Wire, place: usize) {
        let [first, last, count] = &self.kept.bucket;
        let (earliest, latest) = self.ends();
        wire.open(place);
        self.key(wire);
        wire.time(first, earliest, self.kept.date);
        wire.time(last, latest, self.kept.date);
        wire.int64(count, self.count());
        wire.open(&self.kept.inner);
        for property in &self.properties {
            wire.open(property.name);
            wire.open_array(SAMPLES);
            self.samples(wire, property);
            wire.close();
            for (name, column, sums) in &property.sums {
                wire.open(*name);
                split(wire, COUNT, sums, |wire, part, sum| {
                    wire.int64(part, sum.count);
                });
                if is_number(column) {
                    split(wire, "sum", sums, |wire, part, sum| {
                        sum.put_total(wire, &[part], column);
                    });
                    for what in ["min", "max"] {
                        if !has_one_pair(self.kept.shape) {
                            split(wire, what, sums, |wire, part, sum| {
                                wire.cell(part, &column.values, sum.extreme(what));
                            });
                        } else if let Some(row) = extreme_of_both(column, sums, what) {
                            wire.cell(what, &column.values, row);
                        }
                    }
                }
                wire.close();
            }
            wire.close();
        }
        wire.close();
        wire.close();
    }
}

fn sums<'a>(
    kept: &'a PhysicalTable,
    batch: &'a Batch,
    rows: &[usize],
) -> Result<Vec<FieldSums<'a>>, StoreError> {
    let names = match &kept.fields {
        Fields::Beside(names) | Fields::Under(_, names) => names.as_slice(),
        Fields::Array(_) => &[],
    };
    let mut all = Vec::new();
    for (name, column) in names.iter().zip(&batch.columns) {
        let mut sums = [Sum::default(); 2];
        for &row in rows.iter().filter(|&&row| column.has(row)) {
            let (_, part) = day_of(kept, batch.times_ns[row]);
            let sum = &mut sums[usize::from(part != PARTS[0])];
            sum.add(column, row).ok_or_else(|| {
                StoreError::new(
                    ErrorKind::Rejected,
                    super::command::OPERATION,
                    "a sum of whole numbers is over 64 bits; choose a layout without sums",
                )
            })?;
        }
        if sums.iter().any(|sum| sum.count > 0) {
            all.push((name.as_str(), column, sums));
        }
    }
    Ok(all)
}

/// The row of the smallest or largest value by day and night together; none where the field is no number.
fn extreme_of_both(column: &Column, sums: &[Sum; 2], what: &str) -> Option<usize> {
    let mut rows = sums.iter().filter(|sum| sum.count > 0).map(|sum| sum.extreme(what));
    let (one, other) = (rows.next()?, rows.next());
    let Some(other) = other else {
        return is_number(column).then_some(one);
    };
    let other_is_below = match &column.values {
        Values::I64(values) => values[other] < values[one],
        Values::U16(values) => values[other] < values[one],
        Values::F64(values) => values[other] < values[one],
        Values::Bool(_) | Values::Text(_) => return None,
    };
    Some(if other_is_below == (what == "min") { other } else { one })
}

fn split(wire: &mut Wire, what: &str, sums: &[Sum; 2], put: impl Fn(&mut Wire, &str, &Sum)) {
    wire.open(what);
    for (part, sum) in PARTS.iter().zip(sums) {
        if sum.count > 0 {
            put(wire, part, sum);
        }
    }
    wire.close();
}
