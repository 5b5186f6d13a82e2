//! What a phase led to: counts, latencies and answers of its loads, as a trial process reports them.
//!
//! Made from the tallies of all threads after the phase; several processes' outcomes of one load become one. Whether figures may be
//! believed is not decided here.

use super::tally::{ClassTally, Exception, Tally, WriteCounts};
use super::work_distribution::Issued;
use sensormark_result::measurement::latency::{
    LatencyRecorder, LatencySummary, SecondHistogram, merge_seconds,
};
use sensormark_result::measurement::record::AnswersRecord;
use sensormark_result::measurement::shared_window::SharedWindow;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::io;

/// What one phase led to.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct PhaseOutcome {
    /// When it began, in ns of CLOCK_MONOTONIC.
    pub start_ns: u64,
    /// When its last operation finished, in ns of CLOCK_MONOTONIC.
    pub end_ns: u64,
    /// CPU time of the threads that clients run on, in ns.
    pub cpu_ns: u64,
    /// Why it ended before all operations were issued.
    pub cut: Option<Cut>,
    /// Its loads, in order.
    pub loads: Vec<LoadOutcome>,
}

/// Why a phase ended before all operations were issued.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Cut {
    /// Its time was over.
    TimeLimit,
    /// It was told to stop.
    Stopped,
    /// More than half of many operations had failed.
    Hopeless,
}

/// What one load led to.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct LoadOutcome {
    /// Its name.
    pub name: String,
    /// Clients that issued it, in all processes.
    pub clients: u32,
    /// Whether operations had instants at which they were due.
    pub open_loop: bool,
    /// From the phase's start to the end of the load's last operation, in seconds.
    pub seconds: f64,
    /// The window that its hosts shared, where several made it. No process says this of itself.
    #[serde(skip)]
    pub shared: Option<SharedWindow>,
    /// By class.
    pub classes: BTreeMap<String, ClassOutcome>,
    /// Failed operations by kind.
    pub errors: BTreeMap<String, u64>,
    /// The first failure.
    pub first_error: Option<String>,
    /// Operations that succeeded after the time limit of an operation.
    pub late: u64,
    /// Operations that were due before the phase was cut and could not start. They are in the latency with what they had waited by then.
    pub not_started: u64,
    /// The longest operation, in ns.
    pub longest_ns: u64,
    /// Counts of readings written.
    pub writes: WriteCounts,
    /// Which operations were issued.
    pub issued: Issued,
    /// Writes that were not acknowledged as a whole.
    pub exceptions: Vec<Exception>,
    /// Answers that came, were compared, and were wrong.
    pub answers: AnswersRecord,
    /// In open loop: from when an operation was due to when it was sent, of those whose client was free.
    pub pacing: Option<LatencySummary>,
    /// Connections made again.
    pub reconnects: u64,
    /// Bytes handed to the kernel in datagrams.
    pub datagram_bytes: u64,
    /// Lines of the file that the application makes of the answers, by the questions' numbers.
    pub lines: BTreeMap<u64, String>,
    /// How often something was found right that is worth reporting.
    pub notes: BTreeMap<String, u64>,
    /// What of this program broke: a client's line from its source, or the file of what is put away.
    pub broken: Option<String>,
    /// What the journal of a fed load took, in ns.
    pub journal_ns: u64,
}

/// What one class of operations led to.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ClassOutcome {
    /// Operations that succeeded.
    pub operations: u64,
    /// Readings that they wrote, or readings, groups and series that they found.
    pub readings: u64,
    /// Operations that failed.
    pub failed: u64,
    /// From due to finished in open loop, else from sent to finished.
    pub latency: Latencies,
    /// From sent to finished, in open loop.
    pub service: Option<Latencies>,
}

/// A distribution of latencies.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Latencies {
    /// Its figures.
    pub summary: LatencySummary,
    /// Its histograms, one a second.
    pub seconds: Vec<SecondHistogram>,
}

impl TryFrom<LatencyRecorder> for Latencies {
    type Error = io::Error;

    fn try_from(recorder: LatencyRecorder) -> io::Result<Self> {
        let (_, seconds, summary) = recorder.finish()?;
        Ok(Self { summary, seconds })
    }
}

impl Latencies {
    /// Adds another process's latencies of the same class.
    ///
    /// # Errors
    /// When a histogram cannot be read, in words.
    pub fn merge(&mut self, other: &Self) -> Result<(), String> {
        let (one, more) = (self.summary.count as f64, other.summary.count as f64);
        let sum_ns = self.summary.mean_ns * one + other.summary.mean_ns * more;
        self.seconds = merge_seconds(&self.seconds, &other.seconds)?;
        self.summary = LatencySummary::of_seconds(&self.seconds)?;
        if one + more > 0.0 {
            self.summary.mean_ns = sum_ns / (one + more);
        }
        Ok(())
    }
}

impl TryFrom<ClassTally> for ClassOutcome {
    type Error = io::Error;

    fn try_from(tally: ClassTally) -> io::Result<Self> {
        Ok(Self {
            operations: tally.operations,
            readings: tally.readings,
            failed: tally.failed,
            latency: tally.latency.try_into()?,
            service: tally.service.map(TryInto::try_into).transpose()?,
        })
    }
}

/// What was put into a file while the phase ran.
fn read_again(
    classes: Vec<ClassTally>,
    pacing: LatencyRecorder,
) -> io::Result<(Vec<ClassOutcome>, LatencySummary)> {
    let classes: io::Result<_> = classes.into_iter().map(TryInto::try_into).collect();
    Ok((classes?, pacing.finish()?.2))
}

/// What is said when something that was put into a file without a name cannot be read again.
pub(super) fn put_away(what: &str, error: &io::Error) -> String {
    let folder = std::env::temp_dir();
    format!(
        "{what} were put into a file in {}, which cannot be read again: {error}. Check that disk, or set TMPDIR to a folder on another one",
        folder.display()
    )
}

/// What a load's outcome takes besides its tally.
pub(super) struct LoadSummary {
    pub name: String,
    pub clients: u32,
    pub open_loop: bool,
    pub class_names: Vec<String>,
    pub start_ns: u64,
    pub not_started: u64,
    pub issued: Issued,
    pub reconnects: u64,
    pub datagram_bytes: u64,
}

impl LoadOutcome {
    pub(super) fn new(summary: LoadSummary, tally: Tally) -> Self {
        let LoadSummary { name, clients, open_loop, class_names, .. } = summary;
        let text = |kind: &'static str| kind.to_owned();
        let mut broken = tally.broken;
        let read = read_again(tally.classes, tally.pacing);
        let (classes, pacing) = read.unwrap_or_else(|error| {
            broken.get_or_insert_with(|| put_away("latencies", &error));
            (Vec::new(), LatencySummary::empty())
        });
        let mut exceptions = tally.exceptions;
        exceptions.sort_unstable_by_key(|exception| exception.index);
        Self {
            name,
            clients,
            open_loop,
            seconds: tally.last_ns.saturating_sub(summary.start_ns) as f64 / 1e9,
            shared: None,
            classes: class_names.into_iter().zip(classes).collect(),
            errors: tally.errors.into_iter().map(|(kind, count)| (text(kind), count)).collect(),
            first_error: tally.first_error.map(|(_, error)| error),
            late: tally.late,
            not_started: summary.not_started,
            longest_ns: tally.longest_ns,
            writes: tally.writes,
            issued: summary.issued,
            exceptions,
            answers: tally.answers,
            pacing: open_loop.then_some(pacing),
            reconnects: summary.reconnects,
            datagram_bytes: summary.datagram_bytes,
            lines: tally.lines,
            notes: tally.notes,
            broken,
            journal_ns: tally.journal_ns,
        }
    }

    /// Operations that succeeded.
    pub fn operations(&self) -> u64 {
        self.classes.values().map(|class| class.operations).sum()
    }

    /// Readings that were written or found.
    pub fn readings(&self) -> u64 {
        self.classes.values().map(|class| class.readings).sum()
    }

    /// Operations that failed.
    pub fn failed(&self) -> u64 {
        self.errors.values().sum()
    }

    /// The window over which its throughput counts, where several hosts made it.
    fn window(&self) -> Option<SharedWindow> {
        self.shared.filter(SharedWindow::is_counted)
    }

    /// Operations a second, failed ones not counted.
    pub fn operations_per_second(&self) -> f64 {
        match self.window() {
            Some(window) => window.operations / window.seconds,
            None => self.operations() as f64 / self.seconds.max(1e-9),
        }
    }

    /// Readings a second.
    pub fn readings_per_second(&self) -> f64 {
        match self.window() {
            Some(window) => window.readings / window.seconds,
            None => self.readings() as f64 / self.seconds.max(1e-9),
        }
    }

    /// Adds what the same load led to in another process that began at the same instant.
    ///
    /// # Errors
    /// When a histogram cannot be read, or both are not of one load, in words.
    pub fn merge(&mut self, other: Self) -> Result<(), String> {
        self.lines.extend(other.lines);
        self.broken = self.broken.take().or(other.broken);
        self.journal_ns += other.journal_ns;
        for (note, count) in other.notes {
            *self.notes.entry(note).or_default() += count;
        }
        self.seconds = self.seconds.max(other.seconds);
        for (name, more) in other.classes {
            let Some(class) = self.classes.get_mut(&name) else {
                self.classes.insert(name, more);
                continue;
            };
            class.operations += more.operations;
            class.readings += more.readings;
            class.failed += more.failed;
            class.latency.merge(&more.latency)?;
            if let (Some(service), Some(more)) = (&mut class.service, &more.service) {
                service.merge(more)?;
            }
        }
        for (kind, count) in other.errors {
            *self.errors.entry(kind).or_default() += count;
        }
        self.first_error = self.first_error.take().or(other.first_error);
        self.late += other.late;
        self.not_started += other.not_started;
        self.longest_ns = self.longest_ns.max(other.longest_ns);
        self.writes.add(other.writes);
        self.issued.merge(&other.issued)?;
        self.exceptions.extend(other.exceptions);
        self.exceptions.sort_unstable_by_key(|one| one.index);
        self.answers.add(other.answers);
        // Percentiles of two processes cannot be put together without their histograms: the worse one is kept.
        self.pacing = match (self.pacing.take(), other.pacing) {
            (Some(one), Some(other)) => Some(if one.p99_ns >= other.p99_ns { one } else { other }),
            (one, other) => one.or(other),
        };
        self.reconnects += other.reconnects;
        self.datagram_bytes += other.datagram_bytes;
        Ok(())
    }
}

impl PhaseOutcome {
    /// Adds what the same phase led to in another process that began at the same instant.
    ///
    /// # Errors
    /// When a histogram cannot be read, or both are not of one phase, in words.
    pub fn merge(&mut self, other: Self) -> Result<(), String> {
        self.start_ns = self.start_ns.min(other.start_ns);
        self.end_ns = self.end_ns.max(other.end_ns);
        self.cpu_ns += other.cpu_ns;
        self.cut = self.cut.or(other.cut);
        for (load, more) in self.loads.iter_mut().zip(other.loads) {
            load.merge(more)?;
        }
        Ok(())
    }

    /// Over how long its throughput counts, in seconds: of several loads the shortest.
    pub fn counted_seconds(&self) -> f64 {
        let windows = self.loads.iter().filter_map(LoadOutcome::window);
        let shortest = windows.map(|window| window.seconds).reduce(f64::min);
        shortest.unwrap_or_else(|| self.seconds())
    }

    /// From its start to the end of its last operation, in seconds.
    pub fn seconds(&self) -> f64 {
        self.end_ns.saturating_sub(self.start_ns) as f64 / 1e9
    }
}
