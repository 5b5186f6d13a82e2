//! Operations: what clients issue, each a pure function of seed, workload and number.
//!
//! A workload's part of the engine. Operation i is the same on every store, for every number of clients and in every order in which
//! they come to it; it is written into a [`Slot`] that a client uses again and again. When operations are issued and how long they take is not
//! known here.

use super::inquiry::{Asker, Inquired};
use super::intake::Intake;
use sensormark_store::{
    Answer, Ask, Atomicity, Batch, ErrorKind, LocalFuture, Operation, Query, Schema, Selection,
    StoreError, TimeRange, Value, Values,
};

/// So many operations has a load that only its phase's limit ends: more than anybody does.
pub const ENDLESS: u64 = 1 << 40;

/// The operations of one load of a phase.
pub trait Operations: Send + Sync {
    /// How many there are.
    fn len(&self) -> u64;

    /// Whether there is none.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Names of the classes that latencies and counts are kept by ("write", "maximum by minute").
    fn classes(&self) -> &[String];

    /// The class of operation `index`, a place in [`Operations::classes`].
    fn class(&self, index: u64) -> usize {
        let _ = index;
        0
    }

    /// Writes operation `index` into the slot, by exactly one of [`Slot::write`], [`Slot::upsert`], [`Slot::ask`] and [`Slot::inquire`].
    ///
    /// A question asked while others write keeps below `watermark`: it is about nothing that operation number `watermark` of the writing load, or a later
    /// one, writes. `u64::MAX` when nothing is being written.
    fn fill(&self, index: u64, watermark: u64, slot: &mut Slot);

    /// Asks the questions of an operation that [`Operations::fill`] made an inquiry, one after the other, each made from the answers before it. All of them
    /// are one operation with one span: only what the application itself would do between two questions belongs here.
    ///
    /// # Errors
    /// The first failure of the store's.
    fn inquire<'a>(
        &'a self,
        index: u64,
        asker: &'a mut dyn Asker,
    ) -> LocalFuture<'a, Result<Inquired, StoreError>> {
        let _ = asker;
        let text = format!("operation {index} asks no several questions");
        let error = StoreError::new(ErrorKind::Configuration, "inquire", text);
        Box::pin(std::future::ready(Err(error)))
    }

    /// How many questions an operation asks at most, one after the other: it may take the time limit of one question as often.
    fn most_questions(&self) -> u32 {
        1
    }

    /// A client's end of the line from which the readings of a fed load come ([`Pacing::Fed`](super::phase::Pacing::Fed)). The line's address is as the
    /// source's other end has it; the source's first reading is due at `start_ns` of CLOCK_MONOTONIC. What [`Operations::fill`] writes is then an example of a write.
    ///
    /// # Errors
    /// When there is no such line.
    fn intake(
        &self,
        address: &serde_json::Value,
        start_ns: u64,
    ) -> Result<Box<dyn Intake>, StoreError> {
        let _ = (address, start_ns);
        let text = "these operations are not fed";
        Err(StoreError::new(ErrorKind::Configuration, "take in", text))
    }

    /// How many operations of a writing load are issued at least before others ask about them, where operations are only shown.
    fn fewest_shown(&self) -> u64 {
        0
    }

    /// Says that all answers of a phase have been compared: what was needed for that may be dropped.
    fn compared(&self) {}

    /// Writes operation `index` into the slot as far as it matters to what a store must be able to do for it: kind of request, table and question. Readings
    /// may be left out, where making them takes long.
    fn outline(&self, index: u64, slot: &mut Slot) {
        self.fill(index, u64::MAX, slot);
    }

    /// Writes into the slot, by [`Slot::write`] or [`Slot::upsert`], what is left of writing operation `index` when the database keeps one of two readings of a
    /// series and time, and all of the load was acknowledged: each reading once. The same as [`Operations::fill`] where nothing is written twice.
    fn fill_kept(&self, index: u64, slot: &mut Slot) {
        self.fill(index, u64::MAX, slot);
    }

    /// Questions are not asked before the watermark has come this far.
    fn least_watermark(&self) -> u64 {
        0
    }

    /// How many readings, groups or series the answer to this question has, where that is quickly said: every answer's length is compared with it
    /// at once, in constant time. (All of an answer is compared for a part of the questions, later.)
    fn answer_len(&self, index: u64, query: &Query) -> Option<usize> {
        let _ = (index, query);
        None
    }

    /// The answer to this question, from the generator and as if everything had been written; none where it cannot be known.
    /// Called outside timed spans.
    fn expected(&self, index: u64, query: &Query) -> Option<Answer>;

    /// The first difference of an answer from the expected one, in words: the contract's own comparison, where a workload asks for no more.
    fn disagreement(&self, answer: &Answer, expected: &Answer, query: &Query) -> Option<String> {
        answer.disagreement(expected, query)
    }

    /// The file that the application makes of the answers, one for each phase: its name, and its first line. It is written into the run's folder of results
    /// when the phase is over.
    fn file(&self) -> Option<(&str, &str)> {
        None
    }

    /// The line of that file that an answer makes; lines come in the order of questions. Only answers that are compared make lines. Called outside
    /// timed spans.
    fn line(&self, index: u64, query: &Query, answer: &Answer) -> Option<String> {
        let _ = (index, query, answer);
        None
    }
}

/// What a slot holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Request {
    /// A batch to be written to the table of this number.
    Write(usize),
    /// A reading and its entity, in the table of this number.
    Upsert(usize, Atomicity),
    /// A question.
    Query,
    /// Several questions to the table of this number, each made from the answers before it ([`Operations::inquire`]), which need so much of the store.
    Inquiry(usize, &'static [Operation]),
}

/// One operation, in memory that is used again for the next.
#[derive(Debug, Clone)]
pub struct Slot {
    request: Request,
    batches: Vec<Batch>,
    /// Columns in which no table's batch lies now; see [`Slot::write_alone`].
    spare: Vec<Values>,
    entity: Vec<Value>,
    query: Query,
}

impl Slot {
    /// An empty slot for operations on this schema.
    pub fn new(schema: &Schema) -> Self {
        let tables = schema.tables.iter().enumerate();
        Self {
            request: Request::Query,
            batches: tables
                .map(|(number, table)| Batch::new(number, table))
                .collect(),
            spare: Vec::new(),
            entity: Vec::new(),
            query: Query {
                table: 0,
                series: Selection::All,
                range: TimeRange::new(0, 0),
                ask: Ask::LastReading {
                    fields: sensormark_store::FieldSet::first(0),
                },
            },
        }
    }

    /// Makes this a write to the table of this number, and gives its batch, emptied, to be filled.
    ///
    /// # Panics
    /// When the schema has no such table: a defect of the workload.
    #[inline]
    pub fn write(&mut self, table: usize) -> &mut Batch {
        self.request = Request::Write(table);
        let batch = &mut self.batches[table];
        batch.clear();
        batch
    }

    /// The same in memory that all tables share: a client holds one write, however many tables there are. For large writes to many tables.
    ///
    /// # Panics
    /// When the schema has no such table: a defect of the workload.
    pub fn write_alone(&mut self, table: usize) -> &mut Batch {
        let (mut times, mut series) = (Vec::new(), Vec::new());
        let others = self.batches.iter_mut().enumerate();
        for (_, batch) in
            others.filter(|(number, batch)| *number != table && batch.times_ns.capacity() > 0)
        {
            batch.clear();
            times = std::mem::take(&mut batch.times_ns);
            series = std::mem::take(&mut batch.series);
            for column in &mut batch.columns {
                let empty = Values::new(column.values.kind());
                self.spare
                    .push(std::mem::replace(&mut column.values, empty));
            }
        }
        let batch = &mut self.batches[table];
        if batch.times_ns.capacity() == 0 {
            batch.times_ns = times;
            batch.series = series;
            for column in &mut batch.columns {
                let kind = column.values.kind();
                let found = self.spare.iter().position(|spare| spare.kind() == kind);
                if let Some(place) = found {
                    column.values = self.spare.swap_remove(place);
                }
            }
        }
        self.write(table)
    }

    /// Makes this an upsert in the table of this number, and gives its batch, emptied, to be filled with one reading, and the entity's columns as
    /// the last upsert of this slot left them.
    ///
    /// # Panics
    /// When the schema has no such table: a defect of the workload.
    #[inline]
    pub fn upsert(&mut self, table: usize, atomicity: Atomicity) -> (&mut Batch, &mut Vec<Value>) {
        self.request = Request::Upsert(table, atomicity);
        let batch = &mut self.batches[table];
        batch.clear();
        (batch, &mut self.entity)
    }

    /// Makes this a question, and gives it as the last question of this slot left it.
    #[inline]
    pub const fn ask(&mut self) -> &mut Query {
        self.request = Request::Query;
        &mut self.query
    }

    /// Makes this an inquiry: several questions to the table of this number, for which the store must be able to do `needed`.
    #[inline]
    pub const fn inquire(&mut self, table: usize, needed: &'static [Operation]) {
        self.request = Request::Inquiry(table, needed);
    }

    /// What it holds.
    #[inline]
    pub const fn request(&self) -> Request {
        self.request
    }

    /// The readings of a write or upsert; none of questions.
    #[inline]
    pub fn batch(&self) -> Option<&Batch> {
        match self.request {
            Request::Write(table) | Request::Upsert(table, _) => self.batches.get(table),
            Request::Query | Request::Inquiry(..) => None,
        }
    }

    /// The entity's columns of an upsert.
    #[inline]
    pub fn entity(&self) -> &[Value] {
        &self.entity
    }

    /// The question.
    #[inline]
    pub const fn query(&self) -> &Query {
        &self.query
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use sensormark_store::{Field, FieldType, Series, Table, TimeResolution};

    fn table(kinds: &[FieldType]) -> Table {
        let field = |(number, kind): (usize, &FieldType)| Field {
            name: format!("f{number}"),
            kind: *kind,
            nullable: false,
        };
        Table {
            name: "t".to_owned(),
            tags: Vec::new(),
            fields: kinds.iter().enumerate().map(field).collect(),
            entity: None,
            time_resolution: TimeResolution::Nanoseconds,
            series: Series::single(),
        }
    }

    /// Rows that fit into the memory of all batches and spare columns of floating point numbers.
    fn rows_held(slot: &Slot) -> usize {
        let columns = slot.batches.iter().flat_map(|batch| &batch.columns);
        let of = |values: &Values| match values {
            Values::F64(values) => values.capacity(),
            _ => 0,
        };
        let held: usize = columns.map(|column| of(&column.values)).sum();
        held + slot.spare.iter().map(of).sum::<usize>()
    }

    #[test]
    fn writes_to_many_tables_take_the_memory_of_the_widest() {
        const ROWS: usize = 1_000;
        use FieldType::{F64, I64};
        let tables = vec![
            table(&[F64, F64, I64]),
            table(&[F64]),
            table(&[F64, F64, F64]),
        ];
        let mut slot = Slot::new(&Schema { tables });
        for turn in 0..12 {
            let batch = slot.write_alone(turn % 3);
            assert!(batch.is_empty() && batch.columns.iter().all(|one| one.values.is_empty()));
            batch.times_ns.resize(ROWS, 1);
            batch.series.resize(ROWS, 0);
            for column in &mut batch.columns {
                match &mut column.values {
                    Values::F64(values) => values.resize(ROWS, 0.5),
                    Values::I64(values) => values.resize(ROWS, 5),
                    other => panic!("{other:?}"),
                }
            }
            assert_eq!(slot.batch().map(Batch::len), Some(ROWS));
            assert!(rows_held(&slot) <= 3 * ROWS, "{}", rows_held(&slot));
        }
        assert_eq!(rows_held(&slot), 3 * ROWS);
    }
}
