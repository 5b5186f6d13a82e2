//! A thread that samples trees and host once a period, at absolute deadlines, and whenever a phase is marked. It keeps
//! everything until it is stopped, older rows in a file without a name. What it costs is in the recording.

use std::io;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use rustix::time::ClockId;

use super::clock::{monotonic_ns, nanoseconds};
use super::disturbance::DisturbanceLimits;
use super::error::ProbeError;
use super::host::HostSampler;
use super::recording::{HostColumns, Phase, Recording, TreeColumns, TreeRecord};
use super::tree::{ProcessTree, Scan};
use crate::spool::{Place, Spool};

/// So many of the newest rows are in memory.
const NEWEST: usize = 256;
/// When so many bytes of older rows are together, they go to a file.
const BLOCK: usize = 128 << 10;

/// Samples until it is stopped. Dropping it stops it too, and drops what it recorded.
#[derive(Debug)]
pub struct Recorder {
    commands: Sender<Command>,
    thread: JoinHandle<io::Result<Recording>>,
}

#[derive(Debug)]
enum Command {
    Add(Box<ProcessTree>),
    Follow(String, i32),
    Begin(String, Sender<u64>),
    End { proportional: bool, reply: Sender<u64> },
    Stop,
}

impl Recorder {
    /// Starts sampling every `period` (one second, as a rule).
    ///
    /// # Errors
    /// When the thread cannot be started.
    pub fn start(
        host: HostSampler,
        trees: Vec<ProcessTree>,
        period: Duration,
        limits: DisturbanceLimits,
    ) -> Result<Self, ProbeError> {
        let (commands, receiver) = channel();
        let mut sampler = Sampler::new(host, period, limits);
        for tree in trees {
            sampler.add(tree);
        }
        let thread = std::thread::Builder::new()
            .name("sampler".to_owned())
            .spawn(move || sampler.run(&receiver, period))
            .map_err(ProbeError::Thread)?;
        Ok(Self { commands, thread })
    }

    /// Follows one more tree from now on.
    ///
    /// # Errors
    /// When the sampling thread is gone.
    pub fn add(&self, tree: ProcessTree) -> Result<(), ProbeError> {
        self.send(Command::Add(Box::new(tree)))
    }

    /// Goes on with the role's tree in the session that this process leads: a server that was started again.
    ///
    /// # Errors
    /// When the sampling thread is gone.
    pub fn follow(&self, role: impl Into<String>, root: i32) -> Result<(), ProbeError> {
        self.send(Command::Follow(role.into(), root))
    }

    /// Samples now, and begins a phase there. Returns the monotonic time of that sample, in ns. Phases do not nest: an
    /// open one ends here.
    ///
    /// # Errors
    /// When the sampling thread is gone.
    pub fn begin_phase(&self, name: impl Into<String>) -> Result<u64, ProbeError> {
        let (reply, answer) = channel();
        self.send(Command::Begin(name.into(), reply))?;
        answer.recv().map_err(|_| ProbeError::SamplerGone)
    }

    /// Samples now, and ends the phase there. Returns the monotonic time of that sample, in ns. Call it before
    /// connections are closed and processes are let go. `proportional` reads the proportional set size too: a
    /// millisecond of CPU a process, more for large ones.
    ///
    /// # Errors
    /// When the sampling thread is gone.
    pub fn end_phase(&self, proportional: bool) -> Result<u64, ProbeError> {
        let (reply, answer) = channel();
        self.send(Command::End { proportional, reply })?;
        answer.recv().map_err(|_| ProbeError::SamplerGone)
    }

    /// Takes a last sample and returns all of them.
    ///
    /// # Errors
    /// When the sampling thread is gone.
    pub fn stop(self) -> Result<Recording, ProbeError> {
        self.send(Command::Stop)?;
        let recording = self.thread.join().map_err(|_| ProbeError::SamplerGone)?;
        recording.map_err(ProbeError::PutAway)
    }

    fn send(&self, command: Command) -> Result<(), ProbeError> {
        self.commands.send(command).map_err(|_| ProbeError::SamplerGone)
    }
}

struct Sampler {
    host: HostSampler,
    trees: Vec<ProcessTree>,
    /// With the newest rows alone.
    recording: Recording,
    older: Spool,
    /// Where older rows stand, in their order.
    places: Vec<Place>,
    open_phase: Option<(String, u64)>,
}

/// Rows of the host and of all trees that there were.
type Rows = (HostColumns, Vec<TreeColumns>);

impl Sampler {
    fn new(host: HostSampler, period: Duration, limits: DisturbanceLimits) -> Self {
        let recording = Recording::begun(period, limits);
        Self {
            host,
            trees: Vec::new(),
            recording,
            older: Spool::new(BLOCK),
            places: Vec::new(),
            open_phase: None,
        }
    }

    fn add(&mut self, tree: ProcessTree) {
        self.recording.trees.push(TreeRecord::of(tree.role()));
        self.trees.push(tree);
    }

    fn run(mut self, commands: &Receiver<Command>, period: Duration) -> io::Result<Recording> {
        self.sample(false);
        let mut deadline = Instant::now() + period;
        loop {
            let wait = deadline.saturating_duration_since(Instant::now());
            match commands.recv_timeout(wait) {
                Ok(command) => {
                    if !self.obey(command) {
                        return self.whole();
                    }
                }
                Err(RecvTimeoutError::Timeout) => {
                    let late = duration_ns(deadline.elapsed());
                    self.recording.cost.latest_ns = self.recording.cost.latest_ns.max(late);
                    self.sample(false);
                    deadline = self.next_deadline(deadline, period);
                }
                Err(RecvTimeoutError::Disconnected) => return self.whole(),
            }
        }
    }

    /// Deadlines are multiples of the period from the start. One that has passed already is missed, and counted.
    fn next_deadline(&mut self, deadline: Instant, period: Duration) -> Instant {
        let mut next = deadline + period;
        while next < Instant::now() && !period.is_zero() {
            next += period;
            self.recording.cost.missed += 1;
        }
        next
    }

    /// Returns whether to go on.
    fn obey(&mut self, command: Command) -> bool {
        match command {
            Command::Add(tree) => {
                self.add(*tree);
                self.sample(false);
            }
            Command::Follow(role, root) => {
                let mut trees = self.trees.iter_mut();
                if let Some(tree) = trees.find(|tree| tree.role() == role) {
                    tree.follow(root);
                }
            }
            Command::Begin(name, reply) => {
                let at = self.sample(false);
                self.close_phase(at);
                self.open_phase = Some((name, at));
                // Nobody waits any more if the caller has gone: nothing to do about it.
                let _ = reply.send(at);
            }
            Command::End { proportional, reply } => {
                let at = self.sample(proportional);
                self.close_phase(at);
                let _ = reply.send(at);
            }
            Command::Stop => {
                let at = self.sample(false);
                self.close_phase(at);
                return false;
            }
        }
        true
    }

    /// Takes all rows out of memory.
    fn take_rows(&mut self) -> Rows {
        let trees = self.recording.trees.iter_mut();
        (
            std::mem::take(&mut self.recording.host),
            trees.map(|tree| std::mem::take(&mut tree.columns)).collect(),
        )
    }

    fn spool_rows(&mut self) {
        let rows = self.take_rows();
        self.places.push(self.older.put(&rows));
    }

    /// The recording with all rows.
    fn whole(mut self) -> io::Result<Recording> {
        let newest = self.take_rows();
        let older = self.places.iter().map(|place| self.older.get(*place));
        for rows in older.chain([Ok(newest)]) {
            let (host, trees) = rows?;
            self.recording.host.append(host);
            for (tree, columns) in self.recording.trees.iter_mut().zip(trees) {
                tree.columns.append(columns);
            }
        }
        Ok(self.recording)
    }

    fn close_phase(&mut self, end_ns: u64) {
        if let Some((name, start_ns)) = self.open_phase.take() {
            self.recording.phases.push(Phase { name, start_ns, end_ns });
        }
    }

    /// Takes one sample of everything and returns its time.
    fn sample(&mut self, proportional: bool) -> u64 {
        let before = nanoseconds(ClockId::ThreadCPUTime);
        let at = monotonic_ns();
        if let Err(error) = self.sample_at(at, proportional) {
            let (failures, reason) = (&mut self.recording.failures, error.to_string());
            if !failures.contains(&reason) {
                failures.push(reason);
            }
        }
        let used = nanoseconds(ClockId::ThreadCPUTime).saturating_sub(before);
        let cost = &mut self.recording.cost;
        cost.samples += 1;
        cost.cpu_ns += used;
        cost.dearest_ns = cost.dearest_ns.max(used);
        if self.recording.host.monotonic_ns.len() >= NEWEST {
            self.spool_rows();
        }
        at
    }

    fn sample_at(&mut self, at: u64, proportional: bool) -> Result<(), ProbeError> {
        let mut scan = Scan::now()?;
        let host = self.host.sample(&scan.table)?;
        self.recording.host.push(at, &host);
        for (tree, record) in self.trees.iter_mut().zip(&mut self.recording.trees) {
            record.push(at, &tree.sample(&mut scan, proportional));
        }
        Ok(())
    }
}

fn duration_ns(duration: Duration) -> u64 {
    u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::probe::Scope;

    #[test]
    fn rows_that_were_put_away_are_in_the_recording_again() {
        let own = i32::try_from(std::process::id()).expect("pid");
        let tree = |role| ProcessTree::attach(role, own, Scope::Process, None).expect("attach");
        let host = HostSampler::new(None).expect("host");
        let limits = DisturbanceLimits::default();
        let mut sampler = Sampler::new(host, Duration::from_secs(1), limits);
        sampler.add(tree("coordinator"));
        let mut at: Vec<u64> = (0..NEWEST).map(|_| sampler.sample(false)).collect();
        assert_eq!(sampler.places.len(), 1);
        assert!(sampler.recording.host.monotonic_ns.is_empty());
        // A tree that came later has later rows alone.
        sampler.add(tree("trial"));
        at.extend((0..NEWEST + 9).map(|_| sampler.sample(true)));
        let recording = sampler.whole().expect("readable");
        assert!(recording.is_whole());
        assert_eq!(recording.host.monotonic_ns, at);
        assert_eq!(recording.trees[0].columns.monotonic_ns, at);
        assert_eq!(recording.trees[1].columns.monotonic_ns, at[NEWEST..]);
        let pieces = &recording.trees[1].columns.proportional_bytes;
        assert!(pieces.iter().all(Option::is_some));
    }

    #[test]
    fn phases_have_samples_at_both_ends_and_totals() {
        let own = i32::try_from(std::process::id()).expect("pid");
        let tree = ProcessTree::attach("coordinator", own, Scope::Process, None).expect("attach");
        let host = HostSampler::new(None).expect("host");
        let period = Duration::from_millis(20);
        let limits = DisturbanceLimits::default();
        let recorder = Recorder::start(host, vec![tree], period, limits).expect("start");
        let start_ns = recorder.begin_phase("load").expect("begin");
        std::thread::sleep(Duration::from_millis(110));
        let end_ns = recorder.end_phase(true).expect("end");
        let recording = recorder.stop().expect("stop");
        let phase = recording.phase("load").expect("phase");
        assert_eq!((phase.start_ns, phase.end_ns), (start_ns, end_ns));
        let totals = recording.phase_totals(phase).expect("totals");
        let role = &totals.roles["coordinator"];
        assert!(role.end_proportional_bytes.is_some_and(|bytes| bytes > 0));
        assert!(role.peak_resident_bytes > 0 && totals.span_ns >= 110_000_000);
        assert!(recording.cost.samples + recording.cost.missed >= 7);
        let json = serde_json::to_string(&recording).expect("json");
        let again: Recording = serde_json::from_str(&json).expect("recording");
        assert_eq!(again, recording);
    }
}
