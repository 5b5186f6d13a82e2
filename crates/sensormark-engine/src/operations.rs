//! Operations: what clients issue, each a pure function of seed, workload and number.
//!
//! A workload's part of the engine. Operation i is the same on every store, with every number of clients and in every order in which they come to it. It is
//! written into a [`Slot`] that a client uses again and again. When operations are issued and how long they take is not known here.

use super::inquiry::{Asker, Inquired};
use super::intake::Intake;
use sensormark_store::{Answer, ErrorKind, LocalFuture, Query, StoreError};

pub use super::slot::{Request, Slot};

/// So many operations has a load that only its phase's limit ends: more than anybody does.
pub const ENDLESS: u64 = 1 << 40;

/// How much an operation has to do, on average: for estimates of time and disk alone.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Extent {
    /// Readings that it writes, or that it has to look at.
    pub readings: f64,
    /// Statements that follow each other, such as the two commits of an entity's update and its reading.
    pub statements: f64,
}

impl Extent {
    /// One statement about so many readings.
    pub const fn of(readings: f64) -> Self {
        Self { readings, statements: 1.0 }
    }
}

/// The operations of one load of a phase.
pub trait Operations: Send + Sync {
    /// How many there are.
    fn len(&self) -> u64;

    /// Whether there is none.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// How much an operation has to do, on average: one reading, where a workload says no more.
    fn extent(&self) -> Extent {
        Extent::of(1.0)
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
    /// A question asked while others write keeps below `watermark`. It is about nothing that operation number `watermark` of the writing load, or a later one,
    /// writes. The number is `u64::MAX` when nothing is being written.
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
    /// source's other end has it; the source's first reading is due at `start_ns` of CLOCK_MONOTONIC. What [`Operations::fill`] writes is then an example of a
    /// write.
    ///
    /// # Errors
    /// When there is no such line.
    fn intake(&self, address: &serde_json::Value, start_ns: u64) -> Result<Box<dyn Intake>, StoreError> {
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

    /// Writes into the slot, by [`Slot::write`] or [`Slot::upsert`], what is left of writing operation `index`. It assumes that the database keeps one of
    /// two readings of a series and time, and that all of the load was acknowledged. Each reading is then there once. The same as [`Operations::fill`] where
    /// nothing is written twice.
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

    /// The table whose readings decide the answer to this question, by its number.
    fn asked_of(&self, query: &Query) -> usize {
        query.table
    }

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
