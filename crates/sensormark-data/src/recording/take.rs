//! The second reading of a file: cells into typed columns, rows into readings, and what cannot be read into faults.

use super::*;

/// Reads all rows.
pub fn take(dialect: &Dialect, plan: Plan, evidence: &Evidence) -> Result<Recording> {
    let columns = plan.fields.iter().map(|field| Column::new(field.kind)).collect();
    let mut taker = Taker {
        batch: Batch { table: 0, times_ns: Vec::new(), series: Vec::new(), columns },
        plan,
        evidence,
        rules: CellRules::new(&dialect.options),
        values: Vec::new(),
        oddities: BTreeMap::new(),
        series: IndexSet::new(),
        bad: BadRows::default(),
    };
    let (mut rows, quotes, source) = (0, well_quoted(dialect.delimiter), &dialect.source);
    dialect.each_row(|row| {
        rows += 1;
        if let Err(fault) = taker.row(row.record, row.is_torn(dialect, &quotes)?) {
            taker.bad.add(row.start, explained(fault, row.record, dialect), &evidence.columns);
        }
        Ok(())
    })?;
    if rows != evidence.rows {
        return unclear!(
            "{source} changed while it was read ({} rows, then {rows}); read a copy",
            evidence.rows
        );
    }
    let bad = &mut taker.bad;
    source.count_lines(bad.first.iter_mut().map(|(start, _)| start))?;
    let is_unreadable = bad.by_kind.keys().any(|kind| ![NO_VALUE, NO_ROW].contains(kind));
    if taker.batch.is_empty() && bad.count > 0 || is_unreadable && !dialect.options.skip_bad_rows {
        return Err(RecordingError::BadRows { file: source.to_string(), rows, bad: taker.bad });
    }
    let timing = Timing::of(&taker.batch);
    taker.check_dates(&timing)?;
    taker.check_series(&timing)?;
    Ok(taker.finish(dialect, timing))
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

impl Taker<'_> {
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

    /// Puts together what was read and what was found out.
    fn finish(self, dialect: &Dialect, timing: Timing) -> Recording {
        let Plan { table: name, mut columns, tags, time, mut assumptions, .. } = self.plan;
        let readings = self.batch;
        let mut fields = Vec::new();
        for (source, values) in self.plan.fields.into_iter().zip(&readings.columns) {
            let absent = values.present.iter().flatten().filter(|is_present| !**is_present).count() as u64;
            let field = Field { name: source.name, kind: source.kind, nullable: values.present.is_some() };
            fields.push(field.clone());
            let column = &mut columns[source.column];
            // Of a column of numbers and texts, the numbers are shown.
            if column.field.is_none() {
                (column.field, column.absent) = (Some(field), absent);
            }
        }
        let tag_columns = tags.iter().enumerate().map(|(place, tag)| {
            let values = self.series.iter().map(|tags| &tags[place]);
            if tag.is_integer {
                TagColumn::Integer(values.map(|value| value.parse().expect("a whole number")).collect())
            } else {
                TagColumn::Text(values.cloned().collect())
            }
        });
        let series = if tags.is_empty() { Series::single() } else { Series::new(tag_columns.collect()) };
        let tag_names = tags.iter().map(|tag| tag.name.as_str()).collect_vec();
        let resolution = resolution(&readings.times_ns);
        let series = series.every(timing.interval_ns.unwrap_or_default());
        let table = table(&name, &tag_names, fields, resolution, series);
        assumptions.extend(self.oddities.iter().map(|(words, count)| format!("{count} times are {words}")));
        let report = RecordingReport {
            file: dialect.source.name.clone(),
            delimiter: dialect.delimiter.into(),
            header: dialect.has_header,
            rows: self.evidence.rows,
            readings: readings.len() as u64,
            series: table.series.len(),
            columns,
            time,
            resolution,
            timing,
            bad_rows: self.bad,
            assumptions,
        };
        Recording { schema: Arc::new(Schema { tables: vec![table] }), readings, report }
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
    use TimeResolution::*;
    let is_whole = |unit: &TimeResolution| times_ns.iter().all(|time_ns| time_ns % unit.nanoseconds() == 0);
    [Seconds, Milliseconds, Microseconds].into_iter().find(is_whole).unwrap_or(Nanoseconds)
}
