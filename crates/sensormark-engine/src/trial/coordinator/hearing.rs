//! What the trial's processes say. One bell stands for all of them, so that waiting costs as much as what is said, however many they are.

use super::Coordinator;
use crate::context::RunEvent;
use crate::failure::TrialFailure;
use crate::role::Event;
use sensormark_result::probe::monotonic_ns;
use std::time::{Duration, Instant};

/// How often the coordinator looks around while it waits for its processes.
const LOOK: Duration = Duration::from_millis(5);
/// How often it does while time passes.
const LOOK_MEANWHILE: Duration = Duration::from_millis(20);

impl Coordinator<'_> {
    /// Waits for an event of each process that passes; gives up when none of them makes progress for `limit`.
    pub(super) fn await_all(
        &mut self,
        processes: usize,
        limit: Duration,
        passes: fn(&Event) -> bool,
    ) -> Result<Vec<Event>, TrialFailure> {
        let mut deadline = Instant::now() + limit;
        let mut look = Instant::now();
        let mut events: Vec<Option<Event>> = (0..processes).map(|_| None).collect();
        let mut missing = processes;
        // First all of them: what was said before has rung already.
        let mut heard: Vec<usize> = (0..processes).collect();
        while missing > 0 {
            if Instant::now() >= look {
                self.look_around()?;
                look = Instant::now() + LOOK;
            }
            if self.kill.is_with_clients() {
                return Ok(Vec::new());
            }
            for number in heard {
                // One that has what is waited for is heard again the next time.
                if events.get(number).is_none_or(Option::is_some) {
                    continue;
                }
                if self.listen_to(number)? {
                    deadline = Instant::now() + limit;
                }
                events[number] = self.roles[number].take(passes);
                missing -= usize::from(events[number].is_some());
            }
            let silent = || events.iter().position(Option::is_none);
            if Instant::now() >= deadline
                && let Some(number) = silent()
            {
                return Err(self.roles[number].silent(limit).into());
            }
            heard = if missing > 0 { self.bell.wait(LOOK) } else { Vec::new() };
        }
        Ok(events.into_iter().flatten().collect())
    }

    /// Lets time pass until an instant of CLOCK_MONOTONIC, and looks around meanwhile; less of it when the server stops.
    pub(super) fn pass_until(&mut self, until_ns: u64) -> Result<(), TrialFailure> {
        let mut heard: Vec<usize> = (0..self.roles.len()).collect();
        while self.crash.is_none() && !self.kill.is_done() {
            self.look_around()?;
            for number in heard {
                self.listen_to(number)?;
            }
            let left = until_ns.saturating_sub(monotonic_ns());
            if left == 0 {
                break;
            }
            heard = self.bell.wait(LOOK_MEANWHILE.min(Duration::from_nanos(left)));
        }
        Ok(())
    }

    /// Takes in what a process has said, without waiting. Whether it made progress.
    fn listen_to(&mut self, number: usize) -> Result<bool, TrialFailure> {
        let progress = self.roles[number].listen(Instant::now())?;
        if let Some(progress) = progress {
            self.kill.tell(progress);
            self.context.observer.event(RunEvent::Progress(progress));
        }
        Ok(progress.is_some())
    }
}
