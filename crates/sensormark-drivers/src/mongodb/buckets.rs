//! Buckets: documents of a device and day (the encoder `buckets`). They fill up write by write, with sums that are kept in the same update, or they are made ready
//! here and inserted whole. A write's readings for one bucket go by one update.
//!
//! The statement's `bucket` says how. `key` has the device's tags, and `part` what names a series in it. `names` are those of the day, of the first and last time,
//! of the number of readings, and of the parts. `day` has its begin and end, `one_pair` the least and greatest value. Besides there are `limit`, `span` and `reading`.
//!
//! An increment is not idempotent: an update that was perhaps done is never sent again.

use super::text::Node;
use super::writer::{Kind, Of, Values, Writer, joined};
use super::writing::{LARGEST_COMMAND, LARGEST_DOCUMENT, OPERATION, partly, too_large, without_gap};
use super::{Ready, Session};
use crate::{Cell, Fault, Rows, Source};
use sensormark_store::{ErrorKind, StoreError, TagColumn};
use std::collections::{BTreeMap, HashMap};

/// Readings in one command.
const MOST: usize = 10_000;
/// The readings of a part, and how many have a field.
const SAMPLES: &str = "samples";
const COUNT: &str = "nsamples";
/// Day and night, as sums are split.
const PARTS: [&str; 2] = ["day", "night"];

/// What the statement says of buckets.
struct Bucketing<'a> {
    ready: &'a Ready,
    rows: &'a Rows<'a>,
    says: &'a Node,
    names: [&'a str; 5],
    limit: usize,
    span_ns: i64,
    day_ns: [i64; 2],
    has_one_pair: bool,
    /// Ns in a unit of time, and what becomes of it.
    time: (i64, Kind),
    is_ready: bool,
}

/// What has been added up of a field in a part of the day.
#[derive(Clone, Copy)]
struct Sum<'a> {
    count: i64,
    /// Null of what is no number.
    total: Cell<'a>,
    least: Cell<'a>,
    greatest: Cell<'a>,
}

/// A field's name and what its whole numbers become, and its sums by day and by night.
type Sums<'a> = (&'a str, Kind, [Sum<'a>; 2]);

/// Readings of one series in a bucket.
struct Part<'a> {
    name: String,
    rows: Vec<usize>,
    sums: Vec<Sums<'a>>,
}

/// Something that goes into a bucket.
struct Entry<'a> {
    operator: &'static str,
    path: Vec<&'a str>,
    what: What<'a>,
}

enum What<'a> {
    Cell(Cell<'a>, Kind),
    Samples(&'a Part<'a>),
}

fn number(count: usize) -> Cell<'static> {
    Cell::I64(i64::try_from(count).unwrap_or(i64::MAX))
}

fn is_less(one: Cell<'_>, other: Cell<'_>) -> bool {
    match (one, other) {
        (Cell::I64(one), Cell::I64(other)) => one < other,
        (Cell::F64(one), Cell::F64(other)) => one < other,
        _ => false,
    }
}

impl<'a> Sum<'a> {
    const NONE: Self = Self { count: 0, total: Cell::Null, least: Cell::Null, greatest: Cell::Null };

    fn add(&mut self, cell: Cell<'a>) -> Result<(), StoreError> {
        self.count += 1;
        self.total = match (self.total, cell) {
            (Cell::I64(total), Cell::I64(value)) => Cell::I64(total.checked_add(value).ok_or_else(|| {
                let text = "a sum of whole numbers is over 64 bits; choose a layout without sums";
                StoreError::new(ErrorKind::Rejected, OPERATION, text)
            })?),
            (Cell::F64(total), Cell::F64(value)) => Cell::F64(total + value),
            (Cell::Null, Cell::I64(_) | Cell::F64(_)) => {
                (self.least, self.greatest) = (cell, cell);
                cell
            }
            _ => return Ok(()),
        };
        if is_less(cell, self.least) {
            self.least = cell;
        }
        if is_less(self.greatest, cell) {
            self.greatest = cell;
        }
        Ok(())
    }
}

/// What is kept of a field under this word: of each part of the day, or once.
fn kept<'a>(word: &str, sums: &[Sum<'a>; 2], once: bool) -> Vec<(&'static str, Cell<'a>)> {
    let value = |sum: &Sum<'a>| match word {
        COUNT => Cell::I64(sum.count),
        "sum" => sum.total,
        "min" => sum.least,
        _ => sum.greatest,
    };
    let there = PARTS.into_iter().zip(sums).filter(|(_, sum)| sum.count > 0);
    let mut all: Vec<_> = there.map(|(part, sum)| (part, value(sum))).collect();
    all.retain(|(_, value)| *value != Cell::Null);
    if once && let [(_, one), (_, other)] = all[..] {
        let is_other = if word == "min" { is_less(other, one) } else { is_less(one, other) };
        all = vec![("", if is_other { other } else { one })];
    } else if once && let [(_, one)] = all[..] {
        all = vec![("", one)];
    }
    all
}

impl<'a> Bucketing<'a> {
    fn new(ready: &'a Ready, rows: &'a Rows<'a>) -> Result<Self, Fault> {
        Self::read(ready, rows).ok_or_else(|| {
            let text = "the statement does not say how buckets are filled";
            StoreError::new(ErrorKind::Configuration, OPERATION, text).into()
        })
    }

    fn read(ready: &'a Ready, rows: &'a Rows<'a>) -> Option<Self> {
        let says = ready.bucket.as_ref()?;
        let number = |name: &str| says.get(name)?.number();
        let (Node::Array(names), Node::Array(day)) = (says.get("names")?, says.get("day")?) else {
            return None;
        };
        let names: Vec<&str> = names.iter().filter_map(Node::text).collect();
        let day: Vec<i64> = day.iter().filter_map(Node::number).collect();
        let &(_, Node::Slot(time)) = says.get("reading")?.entries().first()? else { return None };
        let Source::Time(unit_ns) = rows.sources[time] else { return None };
        Some(Self {
            ready,
            rows,
            says,
            names: names.try_into().ok()?,
            limit: usize::try_from(number("limit")?).ok()?,
            span_ns: number("span")?,
            day_ns: day.try_into().ok()?,
            has_one_pair: says.get("one_pair").is_some(),
            time: (unit_ns, ready.kinds[time]),
            is_ready: ready.name == "insert",
        })
    }

    fn values(&self, row: usize, reading: Option<usize>) -> Values<'_> {
        Values { kinds: &self.ready.kinds, of: Of::Row { rows: self.rows, row, record: None, reading } }
    }

    /// A row's time as it is kept, in ns.
    fn kept_ns(&self, row: usize) -> i64 {
        let time_ns = self.rows.batch.times_ns[self.rows.reading(row)];
        time_ns - time_ns.rem_euclid(self.time.0)
    }

    /// The rows of each bucket, in the order of their first rows.
    fn buckets(&self) -> Vec<Vec<usize>> {
        let compute = || groups(self.rows);
        let computed;
        let groups: &Vec<u32> = match self.rows.shared {
            Some(shared) => match shared.get_or_init(|| Box::new(compute())).downcast_ref() {
                Some(known) => known,
                None => {
                    computed = compute();
                    &computed
                }
            },
            None => {
                computed = compute();
                &computed
            }
        };
        let mut places = HashMap::new();
        let mut buckets: Vec<Vec<usize>> = Vec::new();
        for row in 0..self.rows.len() {
            let day = self.kept_ns(row).div_euclid(self.span_ns);
            let place = *places.entry((groups[self.rows.series(row) as usize], day)).or_insert(buckets.len());
            if place == buckets.len() {
                buckets.push(Vec::new());
            }
            buckets[place].push(row);
        }
        buckets.iter().flat_map(|rows| rows.chunks(self.limit).map(<[usize]>::to_vec)).collect()
    }

    fn parts(&self, rows: &[usize]) -> Result<Vec<Part<'a>>, StoreError> {
        let mut of_series: BTreeMap<u32, Vec<usize>> = BTreeMap::new();
        for &row in rows {
            of_series.entry(self.rows.series(row)).or_default().push(row);
        }
        let part = |rows: Vec<usize>| {
            let name = match self.says.get("part") {
                Some(Node::Joined(parts)) => joined(parts, &self.values(rows[0], None)),
                part => part.and_then(Node::text).unwrap_or_default().to_owned(),
            };
            Ok(Part { name, sums: self.sums(&rows)?, rows })
        };
        of_series.into_values().map(part).collect()
    }

    /// The sums of each field that any of these rows has.
    fn sums(&self, rows: &[usize]) -> Result<Vec<Sums<'a>>, StoreError> {
        let mut all = Vec::new();
        for (name, slot) in self.says.get("reading").map_or(&[][..], Node::entries) {
            let &Node::Slot(slot) = slot else { continue };
            let Source::Field(field) = self.rows.sources[slot] else { continue };
            let mut sums = [Sum::NONE; 2];
            for &row in rows {
                let cell = Cell::field(self.rows.batch, self.rows.reading(row), field);
                if cell != Cell::Null {
                    let in_day = self.kept_ns(row).rem_euclid(86_400_000_000_000);
                    let is_day = (self.day_ns[0]..self.day_ns[1]).contains(&in_day);
                    sums[usize::from(!is_day)].add(cell)?;
                }
            }
            if sums.iter().any(|sum| sum.count > 0) {
                all.push((name.text().unwrap_or_default(), self.ready.kinds[slot], sums));
            }
        }
        Ok(all)
    }

    fn time(&self, writer: &mut Writer, name: &str, time_ns: i64) {
        writer.cell(name, Cell::I64(time_ns.div_euclid(self.time.0)), self.time.1);
    }

    fn key(&self, writer: &mut Writer, rows: &[usize]) {
        if let Some(key) = self.says.get("key") {
            writer.entries(key, &self.values(rows[0], None));
        }
        let time_ns = self.kept_ns(rows[0]);
        self.time(writer, self.names[0], time_ns - time_ns.rem_euclid(self.span_ns));
    }

    fn samples(&self, writer: &mut Writer, name: &str, part: &Part<'_>) {
        let Some(reading) = self.says.get("reading") else { return };
        writer.open_array(name);
        for (place, &row) in part.rows.iter().enumerate() {
            let values = self.values(row, Some(self.rows.reading(row)));
            writer.put(itoa::Buffer::new().format(place), reading, &values);
        }
        writer.close();
    }

    /// The times of the first and last of these rows.
    fn ends(&self, rows: &[usize]) -> [i64; 2] {
        let times = rows.iter().map(|&row| self.kept_ns(row));
        times.fold([i64::MAX, i64::MIN], |[first, last], time| [first.min(time), last.max(time)])
    }

    /// What these rows add to a bucket: by which operator, where, and what.
    fn entries<'p>(&'p self, rows: &[usize], parts: &'p [Part<'a>]) -> Vec<Entry<'p>> {
        let [_, first, last, count, inner] = self.names;
        let [begin, end] = self.ends(rows).map(|time_ns| Cell::I64(time_ns.div_euclid(self.time.0)));
        let mut all = vec![
            Entry { operator: "$min", path: vec![first], what: What::Cell(begin, self.time.1) },
            Entry { operator: "$max", path: vec![last], what: What::Cell(end, self.time.1) },
            Entry { operator: "$inc", path: vec![count], what: What::Cell(number(rows.len()), Kind::Long) },
        ];
        for part in parts {
            let path = vec![inner, &part.name, SAMPLES];
            all.push(Entry { operator: "$push", path, what: What::Samples(part) });
            for (field, kind, sums) in &part.sums {
                for (word, operator) in [(COUNT, "$inc"), ("sum", "$inc"), ("min", "$min"), ("max", "$max")] {
                    let is_extreme = operator != "$inc";
                    let kind = if is_extreme { *kind } else { Kind::Long };
                    for (of, value) in kept(word, sums, self.has_one_pair && is_extreme) {
                        let mut path = vec![inner, &part.name, field, word];
                        path.extend((!of.is_empty()).then_some(of));
                        all.push(Entry { operator, path, what: What::Cell(value, kind) });
                    }
                }
            }
        }
        all
    }

    fn put(&self, writer: &mut Writer, name: &str, what: &What<'_>, in_each: bool) {
        match what {
            What::Cell(cell, kind) => writer.cell(name, *cell, *kind),
            What::Samples(part) if in_each => {
                writer.open(name);
                self.samples(writer, "$each", part);
                writer.close();
            }
            What::Samples(part) => self.samples(writer, name, part),
        }
    }

    /// An update of a bucket that has room for all of these rows, or of a new one.
    fn update(&self, writer: &mut Writer, rows: &[usize], entries: &[Entry<'_>]) {
        writer.open("q");
        if rows.len() < self.limit {
            self.key(writer, rows);
            writer.open(self.names[3]);
            writer.cell("$lte", number(self.limit - rows.len()), Kind::Long);
            writer.close();
        } else {
            // Fits into no bucket that is open: none is looked for.
            writer.new_key("_id");
            self.key(writer, rows);
        }
        writer.close();
        writer.open("u");
        for operator in ["$push", "$inc", "$min", "$max"] {
            writer.open(operator);
            for entry in entries.iter().filter(|entry| entry.operator == operator) {
                self.put(writer, &entry.path.join("."), &entry.what, true);
            }
            writer.close();
        }
        writer.close();
        writer.cell("upsert", Cell::Bool(true), Kind::Long);
    }

    /// The content of a document of these rows; entries of one path's beginning follow each other.
    fn document(&self, writer: &mut Writer, rows: &[usize], entries: &[Entry<'_>]) {
        self.key(writer, rows);
        let mut open: Vec<&str> = Vec::new();
        for Entry { path, what, .. } in entries {
            let Some((name, folders)) = path.split_last() else { continue };
            let same = open.iter().zip(folders).take_while(|(one, other)| one == other).count();
            open.drain(same..).for_each(|_| writer.close());
            for folder in &folders[same..] {
                writer.open(folder);
                open.push(folder);
            }
            self.put(writer, name, what, false);
        }
        open.iter().for_each(|_| writer.close());
    }

    /// The command with these buckets; how many fit.
    fn command(&self, session: &Session, buckets: &[Vec<usize>]) -> Result<(Writer, usize), Fault> {
        let mut writer = session.head(self.ready, None);
        writer.open_array(if self.is_ready { "documents" } else { "updates" });
        let (mut count, mut readings) = (0, 0);
        for rows in buckets {
            let (mark, parts) = (writer.mark(), self.parts(rows)?);
            writer.open(itoa::Buffer::new().format(count));
            let entries = self.entries(rows, &parts);
            if self.is_ready {
                self.document(&mut writer, rows, &entries);
            } else {
                self.update(&mut writer, rows, &entries);
            }
            writer.close();
            readings += rows.len();
            let bytes = writer.bytes.len() - mark.0;
            if bytes > LARGEST_DOCUMENT && count == 0 {
                return Err(too_large(bytes));
            }
            if count > 0 && (writer.bytes.len() > LARGEST_COMMAND || readings > MOST) {
                writer.rewind(mark);
                break;
            }
            count += 1;
        }
        Ok((writer, count))
    }
}

/// For each series the lowest of those that share its buckets: those that agree in all tags but the last.
fn groups(rows: &Rows<'_>) -> Vec<u32> {
    let columns = rows.description.series.columns();
    let shared = if columns.len() > 1 { columns.len() - 1 } else { columns.len() };
    let mut lowest = HashMap::new();
    let group = |series: u32| {
        let key: Vec<String> =
            columns[..shared].iter().map(|column: &TagColumn| column.text(series)).collect();
        *lowest.entry(key).or_insert(series)
    };
    (0..rows.description.series.len()).map(group).collect()
}

impl Session {
    pub(super) async fn write_buckets(&mut self, ready: &Ready, rows: &Rows<'_>) -> Result<u64, Fault> {
        let bucketing = Bucketing::new(ready, rows)?;
        let buckets = bucketing.buckets();
        let stored = |documents: usize| {
            let readings = buckets[..documents].iter().flatten().map(|&row| rows.reading(row));
            without_gap(readings.collect(), rows.reading(0))
        };
        let (mut from, mut commands) = (0, 0);
        while from < buckets.len() {
            let made = bucketing.command(self, &buckets[from..]);
            let (writer, count) = made.map_err(|fault| partly(fault, stored(from), false))?;
            if let Err(failed) = self.send(writer.finish()?).await {
                return Err(partly(failed.fault, stored(from + failed.documents), failed.goes_on));
            }
            from += count;
            commands += 1;
        }
        Ok(commands)
    }

    /// The command with the first buckets.
    pub(super) fn first_buckets(&self, ready: &Ready, rows: &Rows<'_>, most: usize) -> Result<Writer, Fault> {
        let bucketing = Bucketing::new(ready, rows)?;
        let mut buckets = bucketing.buckets();
        buckets.truncate(most);
        Ok(bucketing.command(self, &buckets)?.0)
    }
}
