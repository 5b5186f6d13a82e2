//! The reader's operations: machine cycles, each around a random time over everything that is stored.
//!
//! Which time a read is around depends on the seed and the read's number alone, within the bounds of what is stored. How a cycle is read is in
//! [`super::read_cycle`], what it should have found in [`super::answers`]: a read knows no answer until its phase is over.

use super::answers::WrittenSamples;
use super::fetched::{Fetched, ReadOutcome};
use super::history::History;
use super::read_cycle::{CycleReader, ReadFailure, Strategy};
use super::writes::EXAMPLE_NS;
use sensormark_data::random::Stream;
use sensormark_data::units::{Total, signed};
use sensormark_engine::inquiry::{Asker, Compared, Comparison, Inquired};
use sensormark_engine::operations::{Operations, Slot};
use sensormark_result::ledger::journal;
use sensormark_store::{Answer, ErrorKind, LocalFuture, Query, StoreError, TimeRange};
use std::fs::File;
use std::io::BufReader;
use std::num::NonZeroU64;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

/// What is counted of reads that rightly found nothing.
const WITHOUT_CYCLE: &str = "reads rightly found no whole cycle: readings were lost or late there";

/// A cycle and its searches lie within so much of the time that a read is around, in ns: two whole seconds and more.
const NEAR_NS: i64 = 4_000_000_000;

/// What is stored, as its journal says; read when it is needed, so that it is no part of what a reader holds while it is measured.
#[derive(Debug)]
struct Stored {
    seed: u64,
    journal: Option<PathBuf>,
    history: History,
    samples: Mutex<Option<Arc<WrittenSamples>>>,
}

impl Stored {
    /// Times of the first and the last sample; of an example where nothing is said about what is stored.
    fn bounds_ns(&self) -> Result<(i64, i64), String> {
        let Some(path) = &self.journal else {
            return Ok(EXAMPLE_NS);
        };
        let found = journal::first_and_last(path).map_err(|error| error.to_string())?;
        let (first, last) = found.ok_or("nothing is stored")?;
        Ok((first.time_ns, last.time_ns))
    }

    fn samples(&self) -> Result<Option<Arc<WrittenSamples>>, String> {
        let Some(path) = &self.journal else {
            return Ok(None);
        };
        let mut kept = self.samples.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(samples) = kept.as_ref() {
            return Ok(Some(Arc::clone(samples)));
        }
        let entries = File::open(path).and_then(|file| journal::read(&mut BufReader::new(file)));
        let entries = entries.map_err(|error| format!("the journal cannot be read: {error}"))?;
        let samples = Arc::new(WrittenSamples::new(self.seed, entries));
        Ok(Some(Arc::clone(kept.insert(samples))))
    }

    /// The samples that a read around this time is about: those of history near it, or all of the journal.
    fn around(&self, around_ns: i64) -> Result<Option<Arc<WrittenSamples>>, String> {
        let of_history = self.history.bounds_ns().filter(|(_, last_ns)| around_ns <= *last_ns);
        if of_history.is_none() || self.journal.is_none() {
            return self.samples();
        }
        let near = TimeRange::new(around_ns - NEAR_NS, around_ns + NEAR_NS);
        Ok(Some(Arc::new(WrittenSamples::new(self.seed, self.history.entries(near)))))
    }

    fn compare(&self, strategy: Strategy, outcome: &ReadOutcome) -> Compared {
        match self.around(outcome.around_ns) {
            Ok(None) => Compared::default(),
            Ok(Some(samples)) => {
                let (difference, without_cycle) = samples.check(strategy, outcome);
                Compared { difference, note: without_cycle.then(|| WITHOUT_CYCLE.to_owned()) }
            }
            Err(problem) => Compared { difference: Some(problem), note: None },
        }
    }
}

/// Reads of machine cycles.
pub struct Reads {
    strategy: Strategy,
    classes: [String; 1],
    /// The number of the first of them among all reads of the trial.
    first: u64,
    count: u64,
    /// The first and the last times that may be drawn, of history and of what the source sent; or why there is none.
    bounds_ns: Result<Vec<(i64, i64)>, String>,
    stored: Arc<Stored>,
}

impl Reads {
    /// So many reads from this number on, at least `margin_ns` from both ends of what the journal says is stored.
    pub fn new(
        strategy: Strategy,
        (first, count): (u64, u64),
        margin_ns: i64,
        (seed, journal): (u64, Option<PathBuf>),
        history: History,
    ) -> Self {
        let stored = Stored { seed, journal, history, samples: Mutex::default() };
        // Layouts of spans hold whole seconds only after the second is over: what is read lies well inside.
        let bounds_ns = stored.bounds_ns().and_then(|(first_ns, last_ns)| {
            let (earliest_ns, latest_ns) = (first_ns + margin_ns, last_ns - margin_ns);
            if earliest_ns < latest_ns {
                let inside = |(first_ns, last_ns)| (first_ns + margin_ns, last_ns - margin_ns);
                let history = stored.history.bounds_ns().filter(|_| stored.journal.is_some()).map(inside);
                let history = history.filter(|(earliest_ns, latest_ns)| earliest_ns < latest_ns);
                return Ok(history.into_iter().chain([(earliest_ns, latest_ns)]).collect());
            }
            let seconds = (last_ns - first_ns) as f64 / 1e9;
            Err(format!("{seconds:.1} s of data are too little to read from; set measured_seconds higher"))
        });
        Self {
            strategy,
            classes: [format!("read {}", strategy.name())],
            first,
            count,
            bounds_ns,
            stored: Arc::new(stored),
        }
    }

    /// The time that a read is around.
    fn around_ns(&self, index: u64) -> Result<i64, StoreError> {
        let bounds_ns = self.bounds_ns.as_ref();
        let bounds_ns = bounds_ns
            .map_err(|problem| StoreError::new(ErrorKind::Configuration, "read a cycle", problem.clone()))?;
        let width = |(earliest_ns, latest_ns): &(i64, i64)| latest_ns.abs_diff(*earliest_ns);
        let all = NonZeroU64::new(bounds_ns.iter().map(width).total()).unwrap_or(NonZeroU64::MIN);
        let mut draw = Stream::new(self.stored.seed, 0, 0).below(self.first + index, all);
        for bounds in bounds_ns {
            if draw < width(bounds) {
                return Ok(bounds.0.saturating_add(signed(draw)));
            }
            draw -= width(bounds);
        }
        Ok(bounds_ns.first().map_or(0, |bounds| bounds.0))
    }
}

impl Operations for Reads {
    fn len(&self) -> u64 {
        self.count
    }

    fn classes(&self) -> &[String] {
        &self.classes
    }

    fn fill(&self, _index: u64, _watermark: u64, slot: &mut Slot) {
        slot.inquire(0, self.strategy.needed());
    }

    fn inquire<'a>(
        &'a self,
        index: u64,
        asker: &'a mut dyn Asker,
    ) -> LocalFuture<'a, Result<Inquired, StoreError>> {
        Box::pin(async move {
            let (strategy, around_ns) = (self.strategy, self.around_ns(index)?);
            let mut reader = CycleReader::new(asker);
            let found = match reader.cycle(strategy, around_ns).await {
                Ok(found) => Ok(found),
                Err(ReadFailure::Missing(why)) => Err(why),
                Err(ReadFailure::Store(error)) => return Err(error),
            };
            let CycleReader { queries, batches, .. } = reader;
            let stored = Arc::clone(&self.stored);
            Ok(Inquired {
                questions: queries,
                readings: found.as_ref().map_or(0, |found| found.samples),
                nothing: found.as_ref().err().cloned(),
                sum_up: Box::new(move || {
                    let fetched = batches.iter();
                    let fetched =
                        fetched.map(|(range, fields, batch)| Fetched::of(*range, *fields, batch)).collect();
                    let outcome = ReadOutcome { around_ns, found, fetched };
                    Comparison::new(move || stored.compare(strategy, &outcome))
                }),
            })
        })
    }

    fn most_questions(&self) -> u32 {
        self.strategy.questions()
    }

    fn compared(&self) {
        let mut kept = self.stored.samples.lock();
        if let Ok(kept) = &mut kept {
            **kept = None;
        }
    }

    fn expected(&self, _index: u64, _query: &Query) -> Option<Answer> {
        None
    }
}
