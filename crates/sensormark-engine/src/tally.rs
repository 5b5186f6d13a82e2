//! What the clients of one thread count while they work, and how the counts of all threads come together.
//!
//! Plain memory of one thread: nothing here waits, locks or encodes. Instants are taken by the client.

use super::answers::KeptAnswers;
use super::inquiry::Comparison;
use sensormark_result::ledger::journal::Standing;
use sensormark_result::measurement::latency::LatencyRecorder;
use sensormark_result::measurement::record::AnswersRecord;
use sensormark_store::{Acknowledgement, StoreError};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// The instants of one operation, in ns of CLOCK_MONOTONIC.
#[derive(Debug, Clone, Copy)]
pub struct Instants {
    /// When it was due; in closed loop, when it was sent.
    pub due_ns: u64,
    /// When it was sent.
    pub sent_ns: u64,
    /// When it finished.
    pub finished_ns: u64,
}

/// A write that was not acknowledged as a whole.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Exception {
    /// The operation's number.
    pub index: u64,
    /// Readings from the batch's start that were acknowledged all the same.
    pub acknowledged: u64,
    /// What became of the others.
    pub others: Others,
}

/// What became of readings that were not acknowledged.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Others {
    /// Perhaps stored.
    InDoubt,
    /// Certainly not stored.
    Refused,
}

impl From<Others> for Standing {
    fn from(others: Others) -> Self {
        match others {
            Others::InDoubt => Self::InDoubt,
            Others::Refused => Self::Refused,
        }
    }
}

/// Counts of readings that were written.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct WriteCounts {
    /// Readings that clients tried to write.
    pub attempted: u64,
    /// Readings that the database acknowledged.
    pub acknowledged: u64,
    /// Readings that may be stored.
    pub in_doubt: u64,
    /// Readings that were refused.
    pub refused: u64,
    /// Statements or requests that carried what was written, or that operations of several questions took.
    pub statements: u64,
}

impl WriteCounts {
    /// Adds other counts.
    pub const fn add(&mut self, other: Self) {
        self.attempted += other.attempted;
        self.acknowledged += other.acknowledged;
        self.in_doubt += other.in_doubt;
        self.refused += other.refused;
        self.statements += other.statements;
    }
}

/// Counts of one class of operations.
#[derive(Debug)]
pub struct ClassTally {
    /// Operations that succeeded.
    pub operations: u64,
    /// Readings that they wrote, or readings, groups and series that they found.
    pub readings: u64,
    /// Operations that failed.
    pub failed: u64,
    /// Finished − due in open loop, else finished − sent.
    pub latency: LatencyRecorder,
    /// Finished − sent, in open loop.
    pub service: Option<LatencyRecorder>,
}

/// What a tally has to know.
#[derive(Debug, Clone, Copy)]
pub struct TallyOptions {
    /// How many classes of operations there are.
    pub classes: usize,
    /// Whether operations have instants at which they are due.
    pub open_loop: bool,
    /// When the phase began, in ns of CLOCK_MONOTONIC.
    pub start_ns: u64,
    /// Operations that were sent before this instant of CLOCK_MONOTONIC are no part of the figures.
    pub counts_from_ns: u64,
    /// How long an operation may take, in ns, before it is late.
    pub timeout_ns: u64,
    /// Whether the database acknowledges anything.
    pub acknowledges: bool,
}

/// Counts of one thread's clients of one load.
#[derive(Debug)]
pub struct Tally {
    start_ns: u64,
    counts_from_ns: u64,
    timeout_ns: u64,
    /// Whether the database acknowledges anything: where it does not, every write is in doubt.
    acknowledges: bool,
    /// By class.
    pub classes: Vec<ClassTally>,
    /// Failures by kind.
    pub errors: BTreeMap<&'static str, u64>,
    /// The first failure: when, and what.
    pub first_error: Option<(u64, String)>,
    /// Operations that succeeded after the time limit.
    pub late: u64,
    /// The longest operation, failed ones included, in ns.
    pub longest_ns: u64,
    /// When the last operation finished, in ns of CLOCK_MONOTONIC.
    pub last_ns: u64,
    /// Readings written.
    pub writes: WriteCounts,
    /// Writes that were not acknowledged as a whole.
    pub exceptions: Vec<Exception>,
    /// Answers that came, and those that were compared already.
    pub answers: AnswersRecord,
    /// Answers that wait to be compared.
    pub kept: KeptAnswers,
    /// What operations of several questions found, by number, to be compared.
    pub found: Vec<(u64, Comparison)>,
    /// Lines that the application makes of answers, by the questions' numbers.
    pub lines: BTreeMap<u64, String>,
    /// How often something was found right that is worth reporting.
    pub notes: BTreeMap<String, u64>,
    /// What of this program broke: a client's line from its source, or the file of what is put away.
    pub broken: Option<String>,
    /// What the journal of a fed load took, in ns.
    pub journal_ns: u64,
    /// In open loop, how long after it was due an operation was sent whose client was free: the engine's own error.
    pub pacing: LatencyRecorder,
}

impl Tally {
    /// Nothing counted yet.
    pub fn new(options: TallyOptions) -> Self {
        let TallyOptions { classes, open_loop, start_ns, counts_from_ns, timeout_ns, acknowledges } = options;
        let class = || ClassTally {
            operations: 0,
            readings: 0,
            failed: 0,
            latency: LatencyRecorder::new(),
            service: open_loop.then(LatencyRecorder::new),
        };
        Self {
            start_ns,
            counts_from_ns,
            timeout_ns,
            acknowledges,
            classes: (0..classes).map(|_| class()).collect(),
            errors: BTreeMap::new(),
            first_error: None,
            late: 0,
            longest_ns: 0,
            last_ns: start_ns,
            writes: WriteCounts::default(),
            exceptions: Vec::new(),
            answers: AnswersRecord::default(),
            kept: KeptAnswers::default(),
            found: Vec::new(),
            notes: BTreeMap::new(),
            broken: None,
            journal_ns: 0,
            lines: BTreeMap::new(),
            pacing: LatencyRecorder::new(),
        }
    }

    /// Counts an operation that succeeded.
    #[inline]
    pub fn succeeded(&mut self, class: usize, instants: Instants, readings: u64) {
        let Instants { due_ns, sent_ns, finished_ns } = instants;
        let since_ns = finished_ns.saturating_sub(self.start_ns);
        let service_ns = finished_ns - sent_ns;
        let tally = &mut self.classes[class];
        tally.operations += 1;
        tally.readings += readings;
        tally.latency.record(finished_ns - due_ns, since_ns);
        if let Some(service) = &mut tally.service {
            service.record(service_ns, since_ns);
        }
        self.longest_ns = self.longest_ns.max(service_ns);
        self.late += u64::from(service_ns > self.timeout_ns);
        self.last_ns = finished_ns;
    }

    /// Counts a write of readings that came by themselves and were due at these instants. Its latency is that of each of them, its service the write's.
    pub fn took_in(
        &mut self,
        class: usize,
        instants: Instants,
        readings: u64,
        due_ns: impl Iterator<Item = u64>,
    ) {
        let Instants { sent_ns, finished_ns, .. } = instants;
        let service_ns = finished_ns - sent_ns;
        self.longest_ns = self.longest_ns.max(service_ns);
        self.late += u64::from(service_ns > self.timeout_ns);
        self.last_ns = finished_ns;
        if sent_ns < self.counts_from_ns {
            return;
        }
        let since_ns = finished_ns - self.counts_from_ns;
        let tally = &mut self.classes[class];
        tally.operations += 1;
        tally.readings += readings;
        if let Some(service) = &mut tally.service {
            service.record(service_ns, since_ns);
        }
        for due_ns in due_ns.filter(|_| readings > 0) {
            let delay_ns = finished_ns.saturating_sub(due_ns);
            tally.latency.record(delay_ns, since_ns);
        }
    }

    /// Counts how late a client that was free is with an operation that was due.
    #[inline]
    pub fn was_free(&mut self, due_ns: u64, now_ns: u64) {
        // Only the whole is asked for: seconds of their own would make memory grow with the time.
        self.pacing.record(now_ns.saturating_sub(due_ns), 0);
    }

    /// Counts an operation that failed: it enters neither throughput nor latency.
    #[cold]
    pub fn failed(&mut self, class: usize, instants: Instants, index: u64, error: &StoreError) {
        self.classes[class].failed += 1;
        *self.errors.entry(error.kind().text()).or_default() += 1;
        self.longest_ns = self.longest_ns.max(instants.finished_ns - instants.sent_ns);
        self.last_ns = instants.finished_ns;
        if self.first_error.is_none() {
            self.first_error = Some((instants.finished_ns, format!("operation {index}: {error}")));
        }
    }

    /// Whether the database acknowledges anything.
    pub const fn acknowledges(&self) -> bool {
        self.acknowledges
    }

    /// Notes when the server had done what it did not acknowledge, or why it is not known to have.
    pub fn caught_up(&mut self, now_ns: u64, result: &Result<(), StoreError>) {
        self.last_ns = self.last_ns.max(now_ns);
        if let Err(error) = result {
            *self.errors.entry(error.kind().text()).or_default() += 1;
            let text = format!("after the last operation: {error}");
            self.first_error.get_or_insert((now_ns, text));
        }
    }

    /// Counts what a write of `length` readings led to.
    #[inline]
    pub fn wrote(&mut self, index: u64, length: u64, result: &Result<Acknowledgement, StoreError>) {
        self.writes.attempted += length;
        match result {
            Ok(acknowledgement) => {
                self.writes.statements += acknowledgement.statements;
                let acknowledged = acknowledgement.readings.min(length);
                self.writes.acknowledged += acknowledged;
                if !self.acknowledges {
                    self.writes.in_doubt += length - acknowledged;
                } else if acknowledged < length {
                    self.except(index, length, acknowledged, Others::InDoubt);
                }
            }
            Err(error) => {
                let acknowledged = error.acknowledged().min(length);
                self.writes.acknowledged += acknowledged;
                let others = if error.is_in_doubt() { Others::InDoubt } else { Others::Refused };
                self.except(index, length, acknowledged, others);
            }
        }
    }

    fn except(&mut self, index: u64, length: u64, acknowledged: u64, others: Others) {
        match others {
            Others::InDoubt => self.writes.in_doubt += length - acknowledged,
            Others::Refused => self.writes.refused += length - acknowledged,
        }
        self.exceptions.push(Exception { index, acknowledged, others });
    }

    /// An operation that was due and could not start before the phase was cut: late by at least this much, not absent.
    pub fn not_started(&mut self, class: usize, due_ns: u64, cut_ns: u64) {
        let late_ns = cut_ns.saturating_sub(due_ns);
        let since_ns = cut_ns.saturating_sub(self.start_ns);
        self.classes[class].latency.record(late_ns, since_ns);
    }

    /// Takes over what another thread's clients of the same load counted.
    pub fn merge(&mut self, mut other: Self) {
        for (class, more) in self.classes.iter_mut().zip(other.classes) {
            class.operations += more.operations;
            class.readings += more.readings;
            class.failed += more.failed;
            class.latency.merge(more.latency);
            if let (Some(service), Some(more)) = (&mut class.service, more.service) {
                service.merge(more);
            }
        }
        for (kind, count) in other.errors {
            *self.errors.entry(kind).or_default() += count;
        }
        self.first_error = match (self.first_error.take(), other.first_error) {
            (Some(one), Some(other)) => Some(if one.0 <= other.0 { one } else { other }),
            (one, other) => one.or(other),
        };
        self.late += other.late;
        self.longest_ns = self.longest_ns.max(other.longest_ns);
        self.last_ns = self.last_ns.max(other.last_ns);
        self.writes.add(other.writes);
        self.exceptions.append(&mut other.exceptions);
        self.answers.add(other.answers);
        self.kept.append(other.kept);
        self.found.append(&mut other.found);
        self.lines.append(&mut other.lines);
        self.broken = self.broken.take().or(other.broken);
        self.journal_ns += other.journal_ns;
        self.pacing.merge(other.pacing);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pacing_takes_no_more_memory_with_time() {
        let mut tally = Tally::new(TallyOptions {
            classes: 1,
            open_loop: true,
            start_ns: 0,
            counts_from_ns: 0,
            timeout_ns: u64::MAX,
            acknowledges: true,
        });
        for second in 0..3_600_u64 {
            let due_ns = second * 1_000_000_000;
            tally.was_free(due_ns, due_ns + 50_000 + second);
        }
        assert_eq!(tally.pacing.past_bytes(), 0);
        let summary = tally.pacing.finish().expect("all in memory").2;
        assert_eq!(summary.count, 3_600);
        // Three significant digits: the lowest value of the bucket.
        assert_eq!((summary.min_ns / 1_000, summary.max_ns / 1_000), (49, 53));
    }
}
