//! The second reading of a file: cells into typed columns, rows into readings, and what cannot be read into faults.

use super::*;
use indexmap::IndexSet;

/// Everything that was read.
pub struct Taken {
    pub schema: Schema,
    pub readings: Batch,
    pub timing: Timing,
    pub bad: BadRows,
    /// What is said of times that are read as others.
    pub notes: Vec<String>,
}

/// Reads all rows.
pub fn take(
    dialect: &Dialect,
    plan: &Plan,
    evidence: &Evidence,
    options: &RecordingOptions,
) -> Result<Taken> {
    let mut taker = Taker::new(plan, evidence.rows, options);
    let mut bad = BadRows::default();
    let (mut count, quotes) = (0, rows::well_quoted(dialect.delimiter));
    rows::for_each(dialect, |row| {
        count += 1;
        if let Err(fault) = taker.row(row.record, row.is_torn(dialect, &quotes)?) {
            bad.add(row.start, explained(fault, row.record, dialect), &evidence.columns);
        }
        Ok(())
    })?;
    if count != evidence.rows {
        return unclear(format!(
            "{} changed while it was read ({} rows, then {count}); read a copy",
            dialect.source, evidence.rows
        ));
    }
    let starts = bad.first.iter().map(|(start, _)| *start).collect_vec();
    for ((start, _), line) in bad.first.iter_mut().zip(lines_of(&dialect.source, &starts)?) {
        *start = line - dialect.source.lines_before;
    }
    let is_unreadable = bad.by_kind.keys().any(|kind| ![NO_VALUE, NO_ROW].contains(kind));
    if taker.batch.is_empty() && bad.count > 0 || is_unreadable && !options.skip_bad_rows {
        return Err(RecordingError::BadRows { file: dialect.source.to_string(), rows: count, bad });
    }
    Ok(taker.finish(bad))
}

/// The fault of a row, or that it is none: empty, the header again, or what a power cut left.
fn explained(fault: Fault, record: &ByteRecord, dialect: &Dialect) -> Fault {
    let (kind, reason) = if record.as_slice().contains(&0) {
        (ENCODING, "holds NUL bytes, as a file has after a power cut")
    } else if record.iter().all(|cell| cell.trim_ascii().is_empty()) {
        (NO_ROW, "is empty")
    } else if dialect.is_header(record) {
        (NO_ROW, "is the header again")
    } else {
        return fault;
    };
    Fault::of_row(kind, record, reason)
}

/// Turns rows into readings.
struct Taker<'p> {
    plan: &'p Plan,
    rules: CellRules<'p>,
    batch: Batch,
    /// The values of the row at hand, one a field.
    values: Vec<Value>,
    /// Times that are written as others.
    oddities: BTreeMap<&'static str, u64>,
    /// The values of the tags of each series.
    series: IndexSet<Vec<String>>,
}

impl<'p> Taker<'p> {
    fn new(plan: &'p Plan, rows: u64, options: &'p RecordingOptions) -> Self {
        let rows = usize::try_from(rows).unwrap_or(usize::MAX);
        Self {
            batch: Batch {
                table: 0,
                times_ns: Vec::with_capacity(rows),
                series: Vec::with_capacity(rows),
                columns: plan.fields.iter().map(|field| Column::new(field.kind)).collect(),
            },
            plan,
            rules: CellRules::new(options),
            values: Vec::new(),
            oddities: BTreeMap::new(),
            series: IndexSet::new(),
        }
    }

    /// Takes one row, all of it or nothing.
    fn row(&mut self, record: &ByteRecord, torn: bool) -> Result<(), Fault> {
        if torn {
            let reason = "runs on into the next lines: a quote is not closed";
            return Err(Fault::of_row("a quote that is not closed", record, reason));
        }
        if record.len() != self.plan.columns.len() {
            let reason =
                format!("has {} cells, the other rows have {}", record.len(), self.plan.columns.len());
            return Err(Fault::of_row("another number of cells", record, reason));
        }
        let time_ns = self.time(record)?;
        self.values.clear();
        for field in &self.plan.fields {
            let text = text(record, field.column)?;
            self.values.push(field.read(&self.rules, text).map_err(|reason| {
                Fault::of_cell("a value that does not fit its column", field.column, text, reason)
            })?);
        }
        if self.values.iter().all(|value| *value == Value::Null) {
            return Err(Fault::of_row(NO_VALUE, record, "has a time and no value, which is no reading"));
        }
        let series = self.series(record)?;
        self.batch.times_ns.push(time_ns);
        self.batch.series.push(series);
        for (column, value) in self.batch.columns.iter_mut().zip(self.values.drain(..)) {
            column.push(value).expect("read as the column's type");
        }
        Ok(())
    }

    fn time(&mut self, record: &ByteRecord) -> Result<i64, Fault> {
        let time = &self.plan.time;
        let text = time.text(record)?;
        let wrong = |reason: String| Fault::of_cell("no readable time", time.columns[0], &text, reason);
        let instant = time.format.read(&text).map_err(|fault| wrong(fault.to_string()))?;
        if time.plausible.as_ref().is_some_and(|plausible| !plausible.contains(&instant.time_ns)) {
            return Err(wrong(format!(
                "is no plausible time, as the others are; --time-format {} takes it as it is",
                time.format
            )));
        }
        if let Some(oddity) = instant.oddity {
            *self.oddities.entry(oddity).or_default() += 1;
        }
        Ok(instant.time_ns)
    }

    /// The number of the row's series; a new one for tags that were not met before.
    fn series(&mut self, record: &ByteRecord) -> Result<u32, Fault> {
        let tags = self.plan.tags.iter().map(|tag| {
            let text = text(record, tag.column)?;
            let number = text.parse::<i64>().ok().filter(|_| tag.is_integer);
            let reason = match number {
                _ if self.rules.is_absent(text) => "is no value, and this column says which series it is",
                _ if text.contains('\0') => "holds a NUL character",
                None if tag.is_integer => "is not a whole number, as the column's other tags are",
                None => return Ok(text.to_owned()),
                Some(number) => return Ok(number.to_string()),
            };
            Err(Fault::of_cell("no value for a tag", tag.column, text, reason))
        });
        Ok(u32::try_from(self.series.insert_full(tags.collect::<Result<_, _>>()?).0)
            .expect("fewer than 2^32 series"))
    }

    fn finish(self, bad: BadRows) -> Taken {
        let Plan { tags, fields, .. } = self.plan;
        let tag_columns = tags.iter().enumerate().map(|(place, tag)| {
            let values = self.series.iter().map(|tags| &tags[place]);
            if tag.is_integer {
                TagColumn::Integer(values.map(|value| value.parse().expect("a whole number")).collect())
            } else {
                TagColumn::Text(values.cloned().collect())
            }
        });
        let table_fields = fields.iter().zip(&self.batch.columns).map(|(field, values)| Field {
            name: field.name.clone(),
            kind: field.kind,
            nullable: values.present.is_some(),
        });
        let timing = Timing::of(&self.batch);
        let mut series = if tags.is_empty() { Series::single() } else { Series::new(tag_columns.collect()) };
        if let Some(interval_ns) = timing.interval_ns {
            series = series.every(interval_ns);
        }
        let tag_names = tags.iter().map(|tag| tag.name.as_str()).collect_vec();
        let table =
            table(&self.plan.table, &tag_names, table_fields, resolution(&self.batch.times_ns), series);
        let notes = self.oddities.iter().map(|(words, count)| format!("{count} times are {words}")).collect();
        Taken { schema: Schema { tables: vec![table] }, readings: self.batch, timing, bad, notes }
    }
}

impl FieldSource {
    /// Reads a cell, or says why it cannot be. Of a column of numbers and texts each field has its own cells.
    fn read(&self, rules: &CellRules, text: &str) -> Result<Value, &'static str> {
        match (self.numbers.map(|numbers| self.read_as(numbers, rules, text)), self.kind) {
            (None, kind) | (Some(Err(_)), kind @ Text) => self.read_as(kind, rules, text),
            (Some(Ok(_)), Text) => Ok(Value::Null),
            (Some(number), _) => Ok(number.unwrap_or(Value::Null)),
        }
    }

    /// Reads a cell as this type, or says why it cannot be.
    fn read_as(&self, kind: FieldType, rules: &CellRules, text: &str) -> Result<Value, &'static str> {
        if rules.is_absent(text) {
            return Ok(Value::Null);
        }
        match (kind, text, self.marks.read(rules.plain(text))) {
            (Bool, ..) => truth(text, usize::MAX).map(Value::Bool).ok_or("is not true or false"),
            (Text, ..) if text.contains('\0') => Err("holds a NUL character"),
            (Text, ..) => Ok(Value::Text(text.to_owned())),
            (.., Some(number)) if rules.is_absent_number(number) => Ok(Value::Null),
            (F64, _, Some(number)) if number.float().is_finite() => Ok(Value::F64(number.float())),
            (F64, _, Some(_)) => Err("is not a finite number"),
            (F64, ..) => Err("is not a number"),
            (.., Some(Integer(value))) => Ok(Value::I64(value)),
            _ => Err("is not written as a whole number of 64 bits"),
        }
    }
}

/// The coarsest resolution in which all times are whole.
fn resolution(times_ns: &[i64]) -> TimeResolution {
    let coarse = [TimeResolution::Seconds, TimeResolution::Milliseconds, TimeResolution::Microseconds];
    let whole =
        coarse.into_iter().find(|coarse| times_ns.iter().all(|time| time % coarse.nanoseconds() == 0));
    whole.unwrap_or(TimeResolution::Nanoseconds)
}
