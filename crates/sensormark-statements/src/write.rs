//! Writes: a batch as rows in a transaction, with sums and entities where the layout has them.

use crate::link::Link;
use crate::physical::Physical;
use crate::series::Key;
use crate::session::FileSession;
use crate::sums::sums_of;
use crate::text::repeated;
use sensormark_drivers::{Block, Cell, Connection, Prepared, RowShape, Rows, Source};
use sensormark_store::{
    Acknowledgement, Atomicity, Batch, Encoding, EntityReading, ErrorKind, FieldType, Shape, StoreError,
    Value,
};
use std::cell::RefCell;
use std::collections::{BTreeMap, HashMap};
use std::ops::Range;
use std::rc::Rc;
use std::sync::Arc;

/// What a failure was met in.
const OPERATION: &str = "write readings";

/// The statements that write one table.
#[derive(Clone)]
pub struct Writer(Rc<Statements>);

struct Statements {
    insert: Text,
    /// For a row whose key is there already.
    repeated: Option<Text>,
    /// What carries rows, and how many readings at most.
    encoder: String,
    /// A batch of several rows, where it is another statement.
    many: Option<(Text, String)>,
    /// Rows of one statement, where they are several; and the statements that were prepared, by their rows.
    rows: usize,
    /// Whether the fields of a reading, a row each, are one statement.
    fields_together: bool,
    /// Readings of one transaction or request at most.
    most: usize,
    /// Adds to a row of sums; and the fields that have sums.
    add_sums: Option<(Text, Vec<usize>)>,
    entity: Option<Text>,
    /// The entity and its reading in one statement.
    both: Option<Text>,
}

/// A statement of writing.
struct Text {
    text: String,
    names: Vec<String>,
    /// What its slots hold, of a statement for rows.
    sources: Vec<Source>,
    types: Vec<String>,
    /// What the session knows it by, by how many rows it is for.
    prepared: RefCell<BTreeMap<usize, Prepared>>,
}

impl Text {
    /// The statement of this name; none where the layout does not have it.
    fn of(physical: &Physical, table: usize, name: &str) -> Result<Option<Self>, StoreError> {
        if !physical.templates.defines(name) {
            return Ok(None);
        }
        let (text, names) = physical.rendered(table, name)?;
        let types = names.iter().map(|name| type_name(physical, table, name)).collect();
        Ok((!text.is_empty()).then_some(Self {
            text,
            names,
            sources: Vec::new(),
            types,
            prepared: RefCell::default(),
        }))
    }

    /// The same for rows.
    fn of_rows(physical: &Physical, table: usize, name: &str) -> Result<Option<Self>, StoreError> {
        let Some(mut text) = Self::of(physical, table, name)? else {
            return Ok(None);
        };
        match physical.templates.form(name) {
            // A COPY has no slots: its rows have those of `row`.
            "copy" => {
                if let Some(row) = Self::of(physical, table, "row")? {
                    (text.names, text.types) = (row.names, row.types);
                }
            }
            "arrays" => {
                text.types.iter_mut().for_each(|kind| *kind = physical.files.config.array_type(kind));
            }
            _ => {}
        }
        let sources = text.names.iter().map(|name| source(physical, table, name));
        text.sources = sources.collect::<Result<_, _>>()?;
        Ok(Some(text))
    }
}

/// What a slot of a row holds.
fn source(physical: &Physical, table: usize, name: &str) -> Result<Source, StoreError> {
    let description = &physical.schema.tables[table];
    let number = |text: &str| text.parse().ok().filter(|&field| field < description.fields.len());
    let found = match name {
        "series" => Some(Source::Series),
        "time" => Some(Source::Time(physical.unit_ns())),
        "field" => Some(Source::FieldNumber),
        "value" => Some(Source::Value),
        "span" => Some(Source::Span),
        "size" => Some(Source::Size),
        "json" | "record" => Some(Source::Json),
        "packed" => Some(Source::Packed),
        "nanoseconds" => Some(Source::Offsets),
        _ => match (name.strip_prefix("key_"), name.strip_prefix("field_")) {
            (Some(tag), _) => description.tag(tag).map(Source::Tag),
            (_, Some(field)) => number(field).map(|field| match physical.row_shape() {
                RowShape::Records(_) => Source::FieldArray(field),
                _ => Source::Field(field),
            }),
            _ => None,
        },
    };
    found.ok_or_else(|| {
        StoreError::new(ErrorKind::Configuration, OPERATION, format!("a row has no value :{name}"))
    })
}

/// The name of a slot's type.
fn type_name(physical: &Physical, table: usize, name: &str) -> String {
    let (config, description) = (&physical.files.config, &physical.schema.tables[table]);
    let kind = |number: &str| {
        let field = number.parse::<usize>().ok().and_then(|field| description.fields.get(field));
        field.map(|field| field.kind)
    };
    let tag = |name: &str| {
        description.tag(name).map(|tag| match &description.series.columns()[tag] {
            sensormark_store::TagColumn::Text(_) => config.type_name("tag_text"),
            sensormark_store::TagColumn::Integer(_) => config.type_name("tag_integer"),
        })
    };
    match name {
        "time" => physical.time_type().to_owned(),
        "series" => config.type_name("series").to_owned(),
        "span" | "period" => config.type_name("i64").to_owned(),
        "size" => config.type_name("size").to_owned(),
        "field" => config.type_name("field").to_owned(),
        "value" => description.fields.first().map_or("", |field| config.field_type(field.kind)).to_owned(),
        "json" | "record" => match physical.layout.shape {
            Shape::RecordPerSpan { encoding: Encoding::BinaryJson, .. } => config.type_name("binary_json"),
            _ => config.type_name("json"),
        }
        .to_owned(),
        "packed" => config.type_name("bytes").to_owned(),
        "nanoseconds" => {
            let is_short = physical.span_ns().is_some_and(|span_ns| i32::try_from(span_ns).is_ok());
            config.array_type(config.type_name(if is_short { "offset" } else { "i64" }))
        }
        "day" => config.type_name("bool").to_owned(),
        _ => {
            let (start, number) = name.rsplit_once('_').unwrap_or((name, ""));
            match (start, kind(number)) {
                ("field", Some(kind)) if physical.span_ns().is_some() => {
                    config.array_type(config.field_type(kind))
                }
                ("field" | "min" | "max", Some(kind)) => config.field_type(kind).to_owned(),
                ("sum", Some(FieldType::F64)) => config.field_type(FieldType::F64).to_owned(),
                ("sum" | "count", _) => config.type_name("i64").to_owned(),
                ("entity", _) => entity_type(physical, table, number),
                _ => name.strip_prefix("key_").and_then(tag).unwrap_or_default().to_owned(),
            }
        }
    }
}

fn entity_type(physical: &Physical, table: usize, number: &str) -> String {
    let entity = physical.schema.tables[table].entity.as_ref();
    let column = entity.and_then(|entity| entity.columns.get(number.parse::<usize>().ok()?));
    column.map_or_else(String::new, |column| physical.files.config.field_type(column.kind).to_owned())
}

/// Rows of one statement, and readings of one transaction or request, in a layout: (rows, most, encoder).
pub fn sizes(
    physical_option: impl Fn(&str) -> Option<usize>,
    values: usize,
    most: usize,
    width: usize,
) -> (usize, usize) {
    let rows =
        physical_option("rows in a statement").map_or(1, |rows| rows.min(values / width.max(1)).max(1));
    let most = physical_option("statements in a request").unwrap_or(most);
    (rows, most)
}

impl Writer {
    /// The statements of this table.
    fn new(physical: &Physical, table: usize) -> Result<Self, StoreError> {
        let config = &physical.files.config;
        let insert = Text::of_rows(physical, table, "insert")?.ok_or_else(|| {
            StoreError::new(ErrorKind::Configuration, OPERATION, "a store has a statement `insert`")
        })?;
        let option = |word: &str| physical.option(word).and_then(|text| text.parse::<usize>().ok());
        let (rows, most) = sizes(option, config.slots.values, config.batch.most, insert.names.len());
        let encoder = match physical.templates.form("insert") {
            "" if physical.option("statements in a request").is_some() => "statements",
            "" => "rows",
            other => other,
        };
        let many = Text::of_rows(physical, table, "write_many")?;
        let fields = physical.schema.tables[table].fields.iter().enumerate();
        let numeric = fields.filter(|(_, field)| !matches!(field.kind, FieldType::Bool | FieldType::Text));
        let numeric: Vec<usize> = numeric.map(|(number, _)| number).collect();
        let entity = physical.schema.tables[table].entity.is_some();
        Ok(Self(Rc::new(Statements {
            repeated: Text::of_rows(physical, table, "insert_repeated")?,
            many: many.map(|text| (text, physical.templates.form("write_many").to_owned())),
            encoder: encoder.to_owned(),
            rows,
            fields_together: option("fields in a statement").is_some(),
            most,
            add_sums: Text::of(physical, table, "add_sums")?.map(|text| (text, numeric)),
            entity: if entity { Text::of(physical, table, "upsert_entity")? } else { None },
            both: if entity { Text::of(physical, table, "upsert_reading")? } else { None },
            insert,
        })))
    }
}

impl Writer {
    /// What carries so many readings: the statement, and its encoder.
    fn carrier(&self, readings: usize) -> (&Text, &str) {
        match &self.0.many {
            Some((text, encoder)) if readings > 1 => (text, encoder),
            _ => (&self.0.insert, &self.0.encoder),
        }
    }
}

impl FileSession {
    fn writer(&mut self, table: usize) -> Result<Writer, StoreError> {
        if let Some(writer) = &self.writers[table] {
            return Ok(writer.clone());
        }
        let writer = Writer::new(&self.physical, table)?;
        self.writers[table] = Some(writer.clone());
        Ok(writer)
    }

    /// Writes a batch as one transaction, or as several where it is larger than the largest of them.
    pub(crate) async fn write_batch(&mut self, batch: &Batch) -> Result<Acknowledgement, StoreError> {
        let writer = self.writer(batch.table)?;
        let mut done = Acknowledgement::default();
        for start in (0..batch.len()).step_by(writer.0.most) {
            let readings = start..batch.len().min(start + writer.0.most);
            self.enter().map_err(|error| error.after_acknowledging(done.readings))?;
            let written = self.commit(&writer, batch, readings.clone()).await;
            self.link.connection.leave();
            let statements = written.map_err(|error| error.after_acknowledging(done.readings))?;
            done.readings += readings.len() as u64;
            done.statements += if writer.0.rows > 1 { statements } else { 1 };
        }
        done.sent = done.readings;
        Ok(done)
    }

    fn enter(&mut self) -> Result<(), StoreError> {
        let entered = self.link.connection.enter();
        entered.map_err(|fault| self.link.failure(OPERATION, fault))
    }

    /// Writes rows as one commit: a single row by its statement alone, more in a transaction.
    async fn commit(
        &mut self,
        writer: &Writer,
        batch: &Batch,
        readings: Range<usize>,
    ) -> Result<u64, StoreError> {
        if self.is_whole(writer, readings.len()) {
            return self.insert(writer, batch, readings).await;
        }
        self.begin().await?;
        let done = self.insert(writer, batch, readings).await;
        self.end(done).await
    }

    /// Whether one statement carries so many readings, so that it is a commit by itself.
    fn is_whole(&self, writer: &Writer, readings: usize) -> bool {
        let (_, encoder) = writer.carrier(readings);
        let is_row = match self.physical.row_shape() {
            RowShape::Fields => readings == 1 && writer.0.fields_together,
            _ => readings <= writer.0.rows,
        };
        let is_one = encoder == "rows" && is_row;
        writer.0.add_sums.is_none()
            && (is_one || self.physical.files.config.batch.whole.iter().any(|one| one == encoder))
    }

    async fn begin(&mut self) -> Result<(), StoreError> {
        self.transaction(0).await
    }

    /// Ends a transaction: all or nothing.
    async fn end<T>(&mut self, done: Result<T, StoreError>) -> Result<T, StoreError> {
        let done = match done {
            Ok(done) => self.transaction(1).await.map(|()| done),
            failed => failed,
        };
        if done.is_err() {
            // What failed is reported; a failing ROLLBACK leaves the transaction to the closing of the connection.
            drop(self.transaction(2).await);
        }
        done
    }

    async fn transaction(&mut self, step: usize) -> Result<(), StoreError> {
        let files = Arc::clone(&self.link.files);
        let text = &files.config.batch.transaction[step];
        if text.is_empty() {
            return Ok(());
        }
        self.execute(text, &[], &[]).await
    }

    /// Runs a prepared statement with these values.
    async fn execute(&mut self, text: &str, types: &[String], cells: &[Cell<'_>]) -> Result<(), StoreError> {
        if let Some(recorded) = &mut self.recorded {
            recorded.note(text, cells.iter().copied(), 1);
        }
        let prepared = self.link.prepared(OPERATION, text, types).await?;
        let done = self.link.connection.execute(prepared, cells).await;
        done.map(|_| ()).map_err(|fault| self.link.failure(OPERATION, fault))
    }

    async fn insert(
        &mut self,
        writer: &Writer,
        batch: &Batch,
        readings: Range<usize>,
    ) -> Result<u64, StoreError> {
        let physical = Arc::clone(&self.physical);
        let description = physical.schema.table(batch.table)?;
        let shape = physical.row_shape();
        let (text, encoder) = writer.carrier(readings.len());
        let mut statements = 0;
        let together = writer.0.fields_together && encoder == "rows";
        let several = writer.0.rows > 1 && encoder == "rows";
        let parts: &mut dyn Iterator<Item = Range<usize>> = if together {
            // Each field of the reading is a row.
            &mut readings.clone().map(|reading| reading..reading + 1)
        } else if several {
            // As many whole statements as fit at once, then the rest.
            let whole = readings.start + readings.len() / writer.0.rows * writer.0.rows;
            &mut [readings.start..whole, whole..readings.end].into_iter().filter(|part| !part.is_empty())
        } else {
            &mut std::iter::once(readings.clone())
        };
        for part in parts {
            let most = writer.0.rows.min(part.len());
            let rows = Rows::new(batch, description, &text.sources, shape, part);
            let (at_once, repeated) = match (together, several) {
                (true, _) => (rows.len(), None),
                (_, true) => (most, None),
                _ => (1, writer.0.repeated.as_ref()),
            };
            statements += self.send((text, at_once), encoder, repeated, &rows).await?;
        }
        if let Some((text, fields)) = &writer.0.add_sums
            && let Some(summary) = physical.summary()
        {
            for ((series, period, day), sums) in sums_of(batch, readings, fields, summary)? {
                let cells = sums_cells(&physical, batch.table, text, (series, period, day));
                let cells: Vec<Cell<'_>> =
                    cells.into_iter().chain(sums.iter().flat_map(|sum| sum.cells())).collect();
                self.execute(&text.text, &text.types, &cells).await?;
            }
        }
        Ok(statements)
    }

    /// Writes rows by a statement that takes so many of them at once.
    async fn send(
        &mut self,
        (text, at_once): (&Text, usize),
        encoder: &str,
        repeated: Option<&Text>,
        rows: &Rows<'_>,
    ) -> Result<u64, StoreError> {
        let statement = self.for_rows(text, at_once).await?;
        let repeated = match repeated {
            Some(text) => Some(self.for_rows(text, 1).await?),
            None => None,
        };
        if let Some(recorded) = &mut self.recorded {
            let text = self.link.connection.text(statement);
            note_rows(recorded, text, at_once, encoder, rows)?;
        }
        let block = Block { statement, encoder, repeated, rows };
        let done = self.link.connection.send(block).await;
        done.map_err(|fault| self.link.failure(OPERATION, fault))
    }

    /// The statement for so many rows, prepared when it is first used.
    async fn for_rows(&mut self, text: &Text, rows: usize) -> Result<Prepared, StoreError> {
        if let Some(known) = text.prepared.borrow().get(&rows) {
            return Ok(*known);
        }
        let style = &self.physical.files.config.slots.style;
        let whole = repeated(&text.text, text.names.len(), style, rows);
        let types: Vec<String> = (0..rows).flat_map(|_| text.types.iter().cloned()).collect();
        let prepared = self.link.prepared(OPERATION, &whole, &types).await?;
        text.prepared.borrow_mut().insert(rows, prepared);
        Ok(prepared)
    }

    /// Inserts a reading and updates its entity.
    pub(crate) async fn upsert_reading(
        &mut self,
        write: EntityReading<'_>,
    ) -> Result<Acknowledgement, StoreError> {
        let physical = Arc::clone(&self.physical);
        let values = entity_cells(&physical, write)?;
        let writer = self.writer(write.reading.table)?;
        let Some(entity) = &writer.0.entity else {
            return Err(StoreError::unsupported("update an entity", "the layout has no statement for it"));
        };
        let cells: Vec<Cell<'_>> = entity
            .names
            .iter()
            .map(|name| values.get(name.as_str()).copied().unwrap_or(Cell::Null))
            .collect();
        if let (Atomicity::Atomic, Some(both)) = (write.atomicity, &writer.0.both) {
            let reading = |name: &str| match source(&physical, write.reading.table, name) {
                Ok(Source::Field(field)) => Cell::field(write.reading, 0, field),
                Ok(Source::Tag(tag)) => {
                    Cell::tag(&physical.schema.tables[write.reading.table], tag, write.reading.series[0])
                }
                _ => Cell::Null,
            };
            let cell = |name: &String| values.get(name.as_str()).copied().unwrap_or_else(|| reading(name));
            let cells: Vec<Cell<'_>> = both.names.iter().map(cell).collect();
            self.execute(&both.text, &both.types, &cells).await?;
            return Ok(Acknowledgement { readings: 1, sent: 1, statements: 1 });
        }
        self.enter()?;
        let readings = 0..write.reading.len();
        let done = match write.atomicity {
            Atomicity::Separate => match self.execute(&entity.text, &entity.types, &cells).await {
                Ok(()) => self.commit(&writer, write.reading, readings).await,
                Err(error) => Err(error),
            },
            Atomicity::Atomic => match self.begin().await {
                Err(error) => Err(error),
                Ok(()) => {
                    let done = match self.execute(&entity.text, &entity.types, &cells).await {
                        Ok(()) => self.insert(&writer, write.reading, readings).await,
                        Err(error) => Err(error),
                    };
                    self.end(done).await
                }
            },
        };
        self.link.connection.leave();
        done.map(|_| Acknowledgement { readings: 1, sent: 1, statements: 2 })
    }
}

/// The cells of a row of sums before the sums: tags or the number of the series, period, day.
fn sums_cells<'a>(
    physical: &'a Physical,
    table: usize,
    text: &Text,
    (series, period, day): (u32, i64, bool),
) -> Vec<Cell<'a>> {
    let description = &physical.schema.tables[table];
    let cell = |name: &String| match name.as_str() {
        "period" => Some(Cell::I64(period)),
        "day" => Some(Cell::Bool(day)),
        "series" => Some(Cell::I64(series.into())),
        name => {
            let tag = name.strip_prefix("key_").and_then(|tag| description.tag(tag))?;
            Some(Cell::tag(description, tag, series))
        }
    };
    text.names.iter().map_while(cell).collect()
}

/// Notes what a block sends, with the values of its first statement.
fn note_rows(
    recorded: &mut crate::recorded::Recorded,
    text: &str,
    together: usize,
    encoder: &str,
    rows: &Rows<'_>,
) -> Result<(), StoreError> {
    let width = rows.sources.len();
    if rows.is_empty() || width == 0 {
        return Ok(());
    }
    let mut document = Vec::new();
    if let Some(&source) = rows.sources.iter().find(|source| matches!(source, Source::Json | Source::Packed))
    {
        rows.document(0, source, &mut document)?;
    }
    let cell = |row: usize, slot: usize| match rows.sources[slot] {
        Source::Json => Cell::Text(std::str::from_utf8(&document).unwrap_or_default()),
        Source::Packed => Cell::Bytes(&document),
        _ => rows.cell(row, slot),
    };
    if encoder == "statements" {
        for row in 0..rows.len() {
            recorded.note(&literal_text(text, &|slot| cell(row, slot)), [], 1);
        }
        return Ok(());
    }
    let values = (0..together.min(rows.len())).flat_map(|row| (0..width).map(move |slot| (row, slot)));
    recorded.note(text, values.map(|(row, slot)| cell(row, slot)), (rows.len() / together) as u64);
    Ok(())
}

/// A text with values in place of its numbered slots.
fn literal_text<'a>(text: &str, cell: &dyn Fn(usize) -> Cell<'a>) -> String {
    let (mut out, mut rest) = (Vec::new(), text);
    while let Some(place) = rest.find(['?', '$']) {
        let digits = rest[place + 1..].find(|letter: char| !letter.is_ascii_digit());
        let end = digits.map_or(rest.len(), |digits| place + 1 + digits);
        out.extend_from_slice(&rest.as_bytes()[..place]);
        let number: usize = rest[place + 1..end].parse().unwrap_or(1);
        cell(number - 1).literal(&mut out);
        rest = &rest[end..];
    }
    out.extend_from_slice(rest.as_bytes());
    String::from_utf8_lossy(&out).into_owned()
}

/// What an entity is inserted (or updated) with, by the slots' names.
fn entity_cells<'a>(
    physical: &'a Physical,
    write: EntityReading<'a>,
) -> Result<HashMap<String, Cell<'a>>, StoreError> {
    const OPERATION: &str = "update an entity";
    let description = physical.schema.table(write.reading.table)?;
    let rejected = |text: String| Err(StoreError::new(ErrorKind::Rejected, OPERATION, text));
    let Some(entity) = &description.entity else {
        return Err(StoreError::unsupported(OPERATION, "the table has no entity"));
    };
    if write.reading.len() != 1 {
        let count = write.reading.len();
        return rejected(format!("an entity is updated with one reading, not {count}"));
    }
    if write.entity.len() != entity.columns.len() {
        return rejected(format!("{} values for {} columns", write.entity.len(), entity.columns.len()));
    }
    let series = &physical.tables[write.reading.table].series;
    let mut cells = HashMap::from([(
        "time".to_owned(),
        Cell::I64(write.reading.times_ns[0].div_euclid(physical.unit_ns())),
    )]);
    for (number, key) in series.keys().iter().enumerate() {
        let name = match key {
            Key::Number => "series".to_owned(),
            Key::Tag(tag) => format!("key_{}", description.tags[*tag].name),
        };
        cells.insert(name, series.cell(number, write.reading.series[0]));
    }
    let values = write.entity.iter().enumerate();
    cells
        .extend(values.map(|(number, value): (usize, &Value)| (format!("entity_{number}"), Cell::of(value))));
    Ok(cells)
}

/// Fills the tables of tags.
///
/// # Errors
/// What the database says.
pub async fn fill_tags(link: &mut Link, physical: &Physical) -> Result<(), StoreError> {
    const OPERATION: &str = "fill the tables of tags";
    for (number, description) in physical.schema.tables.iter().enumerate() {
        if !physical.tables[number].own_tags {
            continue;
        }
        let Some(text) = Text::of_rows(physical, number, "fill_tags")? else {
            continue;
        };
        let prepared = link.prepared(OPERATION, &text.text, &text.types).await?;
        if physical.templates.form("fill_tags") == "arrays" {
            let mut batch = Batch::new(number, description);
            batch.series.extend(0..description.series.len());
            batch.times_ns.resize(batch.series.len(), 0);
            let rows = Rows::new(&batch, description, &text.sources, RowShape::Readings, 0..batch.len());
            let block = Block { statement: prepared, encoder: "arrays", repeated: None, rows: &rows };
            let done = link.connection.send(block).await;
            done.map_err(|fault| link.failure(OPERATION, fault))?;
            continue;
        }
        for series in 0..description.series.len() {
            let cell = |name: &String| match name.strip_prefix("key_").and_then(|tag| description.tag(tag)) {
                Some(tag) => Cell::tag(description, tag, series),
                None => Cell::I64(series.into()),
            };
            let cells: Vec<Cell<'_>> = text.names.iter().map(cell).collect();
            let done = link.connection.execute(prepared, &cells).await;
            done.map_err(|fault| link.failure(OPERATION, fault))?;
        }
    }
    Ok(())
}
