//! A phase that is over: its connections are still open, and what its clients counted is put together when resources have been read.

use super::answers::compare_found;
use super::client::LoadState;
use super::client_threads::{ClientThreads, Stage, ThreadDone, tally_options};
use super::operations::Slot;
use super::outcome::{Cut, LoadOutcome, LoadSummary, PhaseOutcome, put_away};
use super::phase::Load;
use super::release::Release;
use super::tally::Tally;
use super::work_distribution::{ClientDone, Issued};
use sensormark_store::Plan;
use std::io;

/// The clients of a phase, at rest and still connected, and what they counted.
pub struct Finished {
    pub(super) clients: ClientThreads,
    pub(super) done: Vec<ThreadDone>,
    pub(super) start_ns: u64,
    pub(super) end_ns: u64,
    pub(super) cut: Option<Cut>,
    /// When the phase was cut, or over, in ns of CLOCK_MONOTONIC.
    pub(super) cut_ns: u64,
}

impl Finished {
    /// Says goodbye to the database on all connections, and ends the threads.
    pub fn close(&mut self) {
        self.clients.stage.send_replace(Stage::Close);
        for thread in self.clients.threads.drain(..) {
            // A thread that panics while it says goodbye has handed over its counts before.
            let _ = thread.join();
        }
    }

    /// How many threads worked, and how long they were ready to run and had no processor, in ns; the latter where the kernel says it. Ask before
    /// [`Finished::outcome`], which hands over what was counted.
    pub fn waited(&self) -> (usize, Option<u64>) {
        let waited = self.done.iter().map(|part| part.waited_ns).sum();
        (self.clients.seats.len(), waited)
    }

    /// Puts together what the clients counted, and compares the answers that were kept. This takes time and memory: do it when resources have
    /// been read. What was counted is handed over once.
    pub fn outcome(&mut self) -> PhaseOutcome {
        let loads = self.clients.phase.loads.len();
        let mut by_load: Vec<Vec<ThreadDone>> = (0..loads).map(|_| Vec::new()).collect();
        let cpu_ns = self.done.iter().map(|part| part.cpu_ns).sum();
        for part in std::mem::take(&mut self.done) {
            by_load[part.load].push(part);
        }
        let loads: Vec<LoadOutcome> =
            by_load.into_iter().enumerate().map(|(number, parts)| self.load_outcome(number, parts)).collect();
        let complete = |(load, outcome): (&Load, &LoadOutcome)| {
            load.accompanies || load.feed.is_some() || outcome.issued.is_complete(load.clients)
        };
        let whole = self.clients.phase.loads.iter().zip(&loads).all(complete);
        PhaseOutcome {
            start_ns: self.start_ns,
            end_ns: self.end_ns,
            cpu_ns,
            cut: (!whole).then(|| self.cut.unwrap_or(Cut::Stopped)),
            loads,
        }
    }

    fn load_outcome(&self, number: usize, parts: Vec<ThreadDone>) -> LoadOutcome {
        let shared = &self.clients.shared;
        let (load, state) = (&self.clients.phase.loads[number], &shared.loads[number]);
        let mut tally = Tally::new(tally_options(shared, number, self.start_ns));
        let mut clients = Vec::new();
        let (mut reconnects, mut datagram_bytes) = (0, 0);
        for part in parts {
            tally.merge(part.tally);
            clients.extend(part.clients);
            reconnects += part.reconnects;
            datagram_bytes += part.datagram_bytes;
        }
        let not_started =
            if load.accompanies { 0 } else { count_not_started(state, &clients, self.cut_ns, &mut tally) };
        if let Some(next_ns) = next_due_ns(state, &clients).filter(|_| tally.last_ns > self.start_ns) {
            tally.last_ns = tally.last_ns.max(next_ns);
        }
        if let Err(error) = check_kept(state, &shared.target.plan, &mut tally) {
            let why = put_away("answers that wait to be compared", &error);
            tally.broken.get_or_insert(why);
        }
        let summary = LoadSummary {
            name: load.name.clone(),
            clients: load.clients.of,
            open_loop: state.is_open_loop(),
            class_names: load.operations.classes().to_vec(),
            start_ns: state.release.as_ref().map_or(self.start_ns, Release::start_ns),
            not_started,
            issued: Issued::new(&state.assignments, &clients),
            reconnects,
            datagram_bytes,
        };
        LoadOutcome::new(summary, tally)
    }
}

/// When the first operation that did not start was due, in open loop. Those before it fill the time until then, even where each takes a moment. So one write of
/// a schedule of ten seconds is a write in ten seconds.
fn next_due_ns(state: &LoadState, clients: &[ClientDone]) -> Option<u64> {
    let release = state.release.as_ref()?;
    let left = clients.iter().filter_map(|client| state.assignments.positions_left(client).next());
    let next = left.chain(state.assignments.positions_untaken().next()).min();
    release.due_ns(next.unwrap_or_else(|| state.operations.len()))
}

/// Counts the operations that were due before the cut and could not start: they were late by at least the time until then.
fn count_not_started(state: &LoadState, clients: &[ClientDone], cut_ns: u64, tally: &mut Tally) -> u64 {
    let Some(release) = &state.release else {
        return 0;
    };
    let mut count = 0;
    let left = clients
        .iter()
        .map(|client| Box::new(state.assignments.positions_left(client)) as Box<dyn Iterator<Item = u64>>);
    let untaken: Box<dyn Iterator<Item = u64>> = Box::new(state.assignments.positions_untaken());
    for positions in left.chain([untaken]) {
        let due = positions.map_while(|position| release.due_ns(position));
        for due_ns in due.take_while(|due_ns| *due_ns < cut_ns) {
            tally.not_started(0, due_ns, cut_ns);
            count += 1;
        }
    }
    count
}

fn check_kept(state: &LoadState, plan: &Plan, tally: &mut Tally) -> io::Result<()> {
    let kept = std::mem::take(&mut tally.kept);
    let mut slot = Slot::new(&plan.schema);
    for kept in kept.in_order()? {
        let kept = kept?;
        let operations = state.operations.as_ref();
        let line = kept.check(operations, &mut slot, &state.doubtful, &mut tally.answers);
        tally.lines.extend(line.map(|line| (kept.index, line)));
    }
    let mut found = std::mem::take(&mut tally.found);
    found.sort_unstable_by_key(|(index, _)| *index);
    for one in found {
        let operations = state.operations.as_ref();
        if let Some(note) = compare_found(operations, one, &mut tally.answers) {
            *tally.notes.entry(note).or_default() += 1;
        }
    }
    state.operations.compared();
    Ok(())
}
