//! Writes: a batch as rows in a transaction, with sums and entities where the layout has them.

use crate::link::Link;
use crate::physical::Physical;
use crate::recorded::Recorded;
use crate::session::FileSession;
use crate::text::repeated;
use sensormark_drivers::{Block, Cell, MadeRow, Prepared, RowShape, Rows, Source, pieces, put_literals};
use sensormark_kit::batch_sums::sums_of;
use sensormark_store::{
    Acknowledgement, Atomicity, Batch, EntityReading, ErrorKind, StoreError, TagPlacement, Values,
    WriteMethod,
};
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::ops::Range;
use std::rc::Rc;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Why an entity and its reading are two commits, also of one statement or request (`upsert_reading`).
pub const TWO_COMMITS: &str = "two commits";
/// What a failure was met in.
const OPERATION: &str = "write readings";
/// How long a commit that met another one waits before it begins again: at first, and at most.
const PAUSE: Duration = Duration::from_micros(50);
const LONGEST_PAUSE: Duration = Duration::from_millis(5);

/// The statements that write one table.
pub(crate) struct Writer {
    insert: Text,
    /// For a row whose key is there already.
    repeated: Option<Text>,
    /// A batch of several rows, where it is another statement.
    many: Option<Text>,
    /// Rows of one statement, where they are several.
    rows: usize,
    /// Whether the fields of a reading, a row each, are one statement.
    fields_together: bool,
    /// Readings of one transaction or request at most.
    most: usize,
    /// Adds to a row of sums. Where `write_many` is a statement of its own, `insert` does that by itself.
    add_sums: Option<Text>,
    entity: Option<Text>,
    /// The entity and its reading in one statement.
    both: Option<Text>,
}

/// A statement of writing.
struct Text {
    text: String,
    /// What carries its rows.
    encoder: String,
    /// What its slots hold.
    sources: Vec<Source>,
    types: Vec<String>,
    /// What the session knows it by, by how many rows it is for.
    prepared: RefCell<BTreeMap<usize, Prepared>>,
}

impl Text {
    /// The statement of this name; none where the layout does not have it.
    fn of(physical: &Physical, table: usize, name: &str) -> Result<Option<Self>, StoreError> {
        let (text, mut names) = physical.rendered(table, name)?;
        if text.is_empty() {
            return Ok(None);
        }
        let form = physical.templates.form(name);
        // What has no slots (a COPY, the load of a file) carries rows that have those of `row`.
        if names.is_empty() {
            names = physical.rendered(table, "row")?.1;
        }
        let (mut sources, mut types) = (Vec::new(), Vec::new());
        for name in names {
            let slot = physical.tables[table].slots.get(&name);
            let Some((source, type_name)) = slot.and_then(|slot| Some((slot.source?, &slot.type_name)))
            else {
                let text = format!("a row has no value :{name}");
                return Err(StoreError::new(ErrorKind::Configuration, OPERATION, text));
            };
            sources.push(source);
            types.push(match form {
                "arrays" => physical.files.config.array_type(type_name),
                _ => type_name.clone(),
            });
        }
        let encoder = if form.is_empty() { "rows" } else { form }.to_owned();
        Ok(Some(Self { text, encoder, sources, types, prepared: RefCell::default() }))
    }
}

/// Where the transaction ends that starts with this reading: after so many readings, or before its texts are too many bytes.
fn end_of(batch: &Batch, start: usize, most: usize, most_bytes: usize) -> usize {
    let texts = batch.columns.iter().filter_map(|column| match &column.values {
        Values::Text(values) if !values.is_empty() => Some(values),
        _ => None,
    });
    let (texts, mut bytes): (Vec<_>, usize) = (texts.collect(), 0);
    let fits = |&reading: &usize| {
        bytes += texts.iter().map(|text| text.get(reading).len()).sum::<usize>();
        bytes <= most_bytes
    };
    start + (start..batch.len().min(start + most)).take_while(fits).count().max(1)
}

/// Rows of one statement, and readings of one transaction or request, in a layout of which this is said.
pub fn sizes(
    option: impl Fn(&str) -> Option<usize>,
    values: usize,
    most: usize,
    width: usize,
) -> (usize, usize) {
    let rows = option("rows in a statement").map_or(1, |rows| rows.min(values / width.max(1)).max(1));
    let said = option("statements in a request").or_else(|| option("readings in a request"));
    (rows, said.unwrap_or(most))
}

impl Writer {
    /// The statements of this table.
    fn new(physical: &Physical, table: usize) -> Result<Self, StoreError> {
        let config = &physical.files.config;
        let text = |name: &str| Text::of(physical, table, name);
        let mut insert = text("insert")?.ok_or_else(|| {
            StoreError::new(ErrorKind::Configuration, OPERATION, "a store has a statement `insert`")
        })?;
        let option = |word: &str| physical.option(word).and_then(|text| text.parse::<usize>().ok());
        let own_tags = physical.layout.tags == TagPlacement::OwnTable;
        let most = config.most(&physical.schema.tables[table], own_tags);
        let (rows, most) = sizes(option, config.slots.values, most, insert.sources.len());
        if option("statements in a request").is_some() {
            "statements".clone_into(&mut insert.encoder);
        }
        let has_entity = physical.schema.tables[table].entity.is_some();
        let of_entity = |name: &str| if has_entity { text(name) } else { Ok(None) };
        Ok(Self {
            insert,
            repeated: text("insert_repeated")?,
            many: text("write_many")?,
            rows,
            fields_together: option("fields in a statement").is_some(),
            most,
            add_sums: text("add_sums")?,
            entity: of_entity("upsert_entity")?,
            both: of_entity("upsert_reading")?,
        })
    }

    /// What carries so many readings.
    fn carrier(&self, readings: usize) -> &Text {
        self.many.as_ref().filter(|_| readings > 1).unwrap_or(&self.insert)
    }

    /// What adds so many readings to sums, once they are written.
    fn adds_sums(&self, readings: usize) -> Option<&Text> {
        self.add_sums.as_ref().filter(|_| readings > 1 || self.many.is_none())
    }
}

impl FileSession {
    fn writer(&mut self, table: usize) -> Result<Rc<Writer>, StoreError> {
        if let Some(writer) = &self.writers[table] {
            return Ok(Rc::clone(writer));
        }
        let writer = Rc::new(Writer::new(&self.physical, table)?);
        self.writers[table] = Some(Rc::clone(&writer));
        Ok(writer)
    }

    /// Writes a batch as one transaction, or as several where it is larger than the largest of them.
    pub(crate) async fn write_batch(&mut self, batch: &Batch) -> Result<Acknowledgement, StoreError> {
        let writer = self.writer(batch.table)?;
        let most_bytes = self.physical.files.config.batch.most_bytes.unwrap_or(usize::MAX);
        let (mut done, mut start) = (Acknowledgement::default(), 0);
        while start < batch.len() {
            let readings = start..end_of(batch, start, writer.most, most_bytes);
            start = readings.end;
            let after = |error: StoreError| {
                let acknowledged = error.acknowledged() + done.readings;
                error.after_acknowledging(acknowledged)
            };
            self.enter().map_err(after)?;
            let written = self.commit(&writer, batch, readings.clone()).await;
            self.link.connection.leave();
            let statements = written.map_err(after)?;
            done.sent += readings.len() as u64;
            let is_sent_alone = self.physical.layout.write == WriteMethod::Datagram;
            done.readings = if is_sent_alone { 0 } else { done.sent };
            // The driver makes as many as there are partitions or containers.
            let is_apart = matches!(&*writer.carrier(readings.len()).encoder, "partitions" | "containers");
            done.statements += if writer.rows > 1 || is_sent_alone || is_apart { statements } else { 1 };
        }
        Ok(done)
    }

    fn enter(&mut self) -> Result<(), StoreError> {
        let entered = self.link.connection.enter();
        self.link.outcome(OPERATION, entered)
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
        self.again(async |session| {
            session.transaction(0).await?;
            let done = session.insert(writer, batch, readings.clone()).await;
            session.end(done).await
        })
        .await
    }

    /// Commits something, and does it again where another commit changed the same rows. Only a library in this process refuses so, and its sessions block.
    async fn again<T>(
        &mut self,
        commit: impl AsyncFn(&mut Self) -> Result<T, StoreError>,
    ) -> Result<T, StoreError> {
        let (deadline, mut pause) = (Instant::now() + self.time, PAUSE);
        loop {
            let done = commit(self).await;
            let (Some(text), Err(error)) = (&self.link.files.config.batch.again, &done) else { return done };
            if error.kind() != ErrorKind::Conflict {
                return done;
            }
            if Instant::now() >= deadline {
                return Err(StoreError::new(ErrorKind::Overload, OPERATION, text.as_str()));
            }
            std::thread::sleep(pause);
            pause = LONGEST_PAUSE.min(pause * 2);
        }
    }

    /// Whether one statement carries so many readings, so that it is a commit by itself.
    fn is_whole(&self, writer: &Writer, readings: usize) -> bool {
        let encoder = &writer.carrier(readings).encoder;
        let is_row = match self.physical.rows {
            RowShape::Fields => readings == 1 && writer.fields_together,
            _ => readings <= writer.rows,
        };
        let is_one = encoder == "rows" && is_row;
        let adds = writer.adds_sums(readings).is_some();
        !adds && (is_one || self.physical.files.config.batch.whole.contains(encoder))
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

    /// Begins, ends or undoes a transaction.
    async fn transaction(&mut self, step: usize) -> Result<(), StoreError> {
        let files = Arc::clone(&self.link.files);
        let text = &files.config.batch.transaction[step];
        if text.is_empty() {
            return Ok(());
        }
        if let Some(recorded) = &mut self.recorded {
            recorded.note(text, [], 1);
        }
        let prepared = self.link.prepared(OPERATION, text, &[]).await?;
        let done = self.link.connection.execute(prepared, &[]).await;
        self.link.outcome(OPERATION, done.map(|_| ()))
    }

    /// Writes readings, and what they add to sums; how many statements carried the readings.
    async fn insert(
        &mut self,
        writer: &Writer,
        batch: &Batch,
        readings: Range<usize>,
    ) -> Result<u64, StoreError> {
        let physical = Arc::clone(&self.physical);
        let description = physical.schema.table(batch.table)?;
        let text = writer.carrier(readings.len());
        let is_rows = text.encoder == "rows";
        let (together, several) = (writer.fields_together && is_rows, writer.rows > 1 && is_rows);
        let parts: &mut dyn Iterator<Item = Range<usize>> = if together {
            // Each field of the reading is a row.
            &mut readings.clone().map(|reading| reading..reading + 1)
        } else if several {
            // As many whole statements as fit at once, then the rest.
            let whole = readings.start + readings.len() / writer.rows * writer.rows;
            &mut [readings.start..whole, whole..readings.end].into_iter().filter(|part| !part.is_empty())
        } else {
            &mut std::iter::once(readings.clone())
        };
        let mut statements = 0;
        for part in parts {
            let most = writer.rows.min(part.len());
            let rows = Rows::new(batch, description, &text.sources, physical.rows, part)
                .with_shared(&physical.tables[batch.table].shared);
            let (at_once, repeated) = match (together, several) {
                (true, _) => (rows.len(), None),
                (_, true) => (most, None),
                _ => (1, writer.repeated.as_ref()),
            };
            statements += self.send(text, at_once, repeated, &rows).await?;
        }
        if let Some(text) = writer.adds_sums(readings.len())
            && let Some(summary) = physical.summary()
        {
            let sums = sums_of(batch, readings, description, summary)?;
            let made = sums.iter().map(|row| {
                let values = row.values.iter().map(Cell::of).collect();
                MadeRow { reading: row.reading, values }
            });
            let made: Vec<_> = made.collect();
            self.send(text, 1, None, &Rows::made(batch, description, &text.sources, &made)).await?;
        }
        Ok(statements)
    }

    /// Writes rows by a statement that takes so many of them at once.
    async fn send(
        &mut self,
        text: &Text,
        at_once: usize,
        repeated: Option<&Text>,
        rows: &Rows<'_>,
    ) -> Result<u64, StoreError> {
        let statement = self.for_rows(text, at_once).await?;
        let repeated = match repeated {
            Some(text) => Some(self.for_rows(text, 1).await?),
            None => None,
        };
        let block = Block { statement, encoder: &text.encoder, repeated, rows };
        if let Some(recorded) = &mut self.recorded {
            let sent = self.link.connection.text(statement);
            match self.link.connection.written(&block) {
                Some(lines) => recorded.note(&lines, [], 1),
                None => note_rows(recorded, sent, at_once, &text.encoder, rows)?,
            }
        }
        let done = self.link.connection.write(block).await;
        self.link.outcome(OPERATION, done)
    }

    /// The statement for so many rows, prepared when it is first used.
    async fn for_rows(&mut self, text: &Text, rows: usize) -> Result<Prepared, StoreError> {
        if let Some(known) = text.prepared.borrow().get(&rows) {
            return Ok(*known);
        }
        let style = &self.physical.files.config.slots.style;
        let whole = repeated(&text.text, text.sources.len(), style, rows);
        let types = vec![&*text.types; rows].concat();
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
        let batch = write.reading;
        let description = physical.schema.table(batch.table)?;
        write.check(description)?;
        let values: Vec<Cell<'_>> = write.entity.iter().map(Cell::of).collect();
        let writer = self.writer(batch.table)?;
        let Some(entity) = &writer.entity else {
            return Err(StoreError::unsupported("update an entity", "the layout has no statement for it"));
        };
        let acknowledged = |statements| Acknowledgement { readings: 1, sent: 1, statements };
        let reason = physical.option(TWO_COMMITS);
        if let (Some(reason), Atomicity::Atomic) = (reason, write.atomicity) {
            return Err(StoreError::unsupported("update an entity", reason));
        }
        let at_once = reason.is_some() || write.atomicity == Atomicity::Atomic;
        if let Some(both) = writer.both.as_ref().filter(|_| at_once) {
            // A statement has the fields of the reading in one row.
            let shape = if physical.rows == RowShape::Fields { RowShape::Readings } else { physical.rows };
            let row = Rows::new(batch, description, &both.sources, shape, 0..1)
                .with_values(&values)
                .with_shared(&physical.tables[batch.table].shared);
            self.send(both, 1, None, &row).await?;
            return Ok(acknowledged(1));
        }
        let row = Rows::new(batch, description, &entity.sources, RowShape::Readings, 0..1);
        let row = row.with_values(&values);
        self.enter()?;
        let done = self.update_and_insert(&writer, entity, &row, write).await;
        self.link.connection.leave();
        done.map(|_| acknowledged(2))
    }

    /// Updates an entity by this row, and inserts its reading: in two commits or in one.
    async fn update_and_insert(
        &mut self,
        writer: &Writer,
        entity: &Text,
        row: &Rows<'_>,
        write: EntityReading<'_>,
    ) -> Result<u64, StoreError> {
        if write.atomicity == Atomicity::Separate {
            self.again(async |session| session.send(entity, 1, None, row).await).await?;
            return self.commit(writer, write.reading, 0..1).await;
        }
        self.again(async |session| {
            session.transaction(0).await?;
            let done = match session.send(entity, 1, None, row).await {
                Ok(_) => session.insert(writer, write.reading, 0..1).await,
                failed => failed,
            };
            session.end(done).await
        })
        .await
    }
}

/// Notes what a block sends, with the values of its first statement.
fn note_rows(
    recorded: &mut Recorded,
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
            let mut sent = Vec::new();
            put_literals(pieces(text), |slot| cell(row, slot), &mut sent);
            recorded.note(&String::from_utf8_lossy(&sent), [], 1);
        }
        return Ok(());
    }
    let values = (0..together.min(rows.len())).flat_map(|row| (0..width).map(move |slot| (row, slot)));
    recorded.note(text, values.map(|(row, slot)| cell(row, slot)), (rows.len() / together) as u64);
    Ok(())
}

/// Series whose tags are written at once.
const TAGS_AT_ONCE: usize = 50_000;

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
        let Some(text) = Text::of(physical, number, "fill_tags")? else {
            continue;
        };
        let statement = link.prepared(OPERATION, &text.text, &text.types).await?;
        let mut batch = Batch::new(number, description);
        batch.series.extend(0..description.series.len());
        batch.times_ns.resize(batch.series.len(), 0);
        // Each write has the time of an operation, so a million series go in parts.
        for from in (0..batch.len()).step_by(TAGS_AT_ONCE) {
            let part = from..batch.len().min(from + TAGS_AT_ONCE);
            let rows = Rows::new(&batch, description, &text.sources, RowShape::Readings, part);
            let block = Block { statement, encoder: &text.encoder, repeated: None, rows: &rows };
            let done = link.connection.write(block).await;
            link.outcome(OPERATION, done)?;
        }
    }
    Ok(())
}
