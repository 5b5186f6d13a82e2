//! A trial whose load is fed: its line is opened, its source started, watched and heard, and what is measured of it goes by the clock.

use super::super::feed::{Brought, Feeding, Journal, LEAD_NS, SOURCE};
use super::super::protocol::is_finished;
use super::super::role::process_name;
use super::super::script::{LEAD_IN, PhaseSpec, Window};
use super::super::watch::tree;
use super::Coordinator;
use crate::engine::context::RunEvent;
use crate::engine::failure::TrialFailure;
use crate::engine::intake::Feed;
use crate::engine::role::RoleError;
use crate::measurement::record::{LoadRecord, TrialRecord};
use crate::probe::monotonic_ns;
use crate::units::duration_ns;
use serde_json::Value;
use std::thread;
use std::time::{Duration, Instant};

/// How often the coordinator looks around while it waits.
const LOOK: Duration = Duration::from_millis(20);

impl Coordinator<'_> {
    /// Opens the line of a phase whose load is fed, with a new journal.
    pub(super) fn open_line(&mut self, phase: &PhaseSpec) -> Result<Option<Feed>, TrialFailure> {
        let mut sources = phase.loads.iter().filter_map(|load| load.source.as_ref());
        let Some(source) = sources.next() else {
            return Ok(None);
        };
        let line = source.open(self.context.supervisor.home());
        let feeding = Feeding::new(line.map_err(TrialFailure::System)?);
        let journal = Journal::create()?;
        let feed = journal.feed(&feeding);
        self.feeding = Some(feeding);
        self.journal = Some(journal);
        Ok(Some(feed))
    }

    /// Starts the source, if there is one; gives the common start.
    pub(super) fn start_source(&mut self) -> Result<Option<u64>, TrialFailure> {
        let Some(feeding) = &mut self.feeding else {
            return Ok(None);
        };
        let start_ns = monotonic_ns() + LEAD_NS;
        let name = process_name(self.kind, SOURCE);
        let source = feeding.start(&self.context.program, &name, start_ns)?;
        self.recorder.add(tree(SOURCE, source, None)?)?;
        Ok(Some(start_ns))
    }

    /// Passes a phase's lead-in and the window in which it is measured.
    pub(super) fn pass_window(
        &mut self,
        phase: &PhaseSpec,
        window: Window,
        start_ns: u64,
    ) -> Result<(), TrialFailure> {
        self.pass_until(start_ns)?;
        let measured_ns = start_ns + duration_ns(window.lead_in);
        if measured_ns > start_ns {
            self.announce(LEAD_IN);
            self.recorder.begin_phase(LEAD_IN)?;
            self.pass_until(measured_ns)?;
        }
        self.announce(&phase.name);
        self.recorder.begin_phase(&phase.name)?;
        self.pass_until(measured_ns + duration_ns(window.lasts))?;
        self.recorder.end_phase(!phase.warm_up)?;
        Ok(())
    }

    /// Lets time pass until an instant of CLOCK_MONOTONIC, and looks around meanwhile; less of it when the server stops.
    fn pass_until(&mut self, until_ns: u64) -> Result<(), TrialFailure> {
        while self.crash.is_none() && !self.kill.is_done() {
            self.look_around()?;
            for role in &mut self.roles {
                let progress = role.listen(Instant::now() + Duration::from_millis(5))?;
                if let Some(progress) = progress {
                    self.kill.tell(progress);
                    self.context.observer.event(RunEvent::Progress(progress));
                }
            }
            let left = until_ns.saturating_sub(monotonic_ns());
            if left == 0 {
                break;
            }
            thread::sleep(LOOK.min(Duration::from_nanos(left)));
        }
        Ok(())
    }

    /// Looks around once: whether the user breaks off, at the server, and at what feeds the load.
    pub(super) fn look_around(&mut self) -> Result<(), TrialFailure> {
        if self.context.is_interrupted() {
            return Err(RoleError::Interrupted.into());
        }
        self.look_at_server()?;
        match &mut self.feeding {
            Some(feeding) if self.crash.is_none() => feeding.look(),
            _ => Ok(()),
        }
    }

    /// Has the source end, and with it the client.
    pub(super) fn end_feeding(&mut self) {
        if let Some(feeding) = &mut self.feeding {
            feeding.end();
        }
    }

    /// After a failure: has the source end, and gives the client the time of one operation to end too, so that its journal says what was acknowledged.
    pub(super) fn hear_out(&mut self) {
        if self.feeding.is_none() {
            return;
        }
        self.end_feeding();
        let deadline = Instant::now() + Duration::from_millis(self.context.timeout_ms);
        for role in &mut self.roles {
            while !self.context.is_interrupted()
                && Instant::now() < deadline
                && role.listen(Instant::now() + LOOK).is_ok()
                && role.take(is_finished).is_none()
            {}
        }
    }

    /// What the source reports; nothing where there is none, or where it was ended because the server had stopped.
    pub(super) fn source_report(&mut self, limit: Duration) -> Result<Option<Value>, TrialFailure> {
        let deadline = Instant::now() + limit;
        loop {
            self.look_around()?;
            if self.crash.is_some() {
                self.feeding = None;
            }
            let Some(feeding) = &mut self.feeding else {
                return Ok(None);
            };
            if let Some(report) = feeding.report() {
                self.feeding = None;
                return Ok(Some(report));
            }
            if Instant::now() >= deadline {
                return Err(RoleError::Silent {
                    role: feeding.name().to_owned(),
                    seconds: limit.as_secs(),
                }
                .into());
            }
            thread::sleep(LOOK);
        }
    }

    /// Takes what the source brought into the records of its load and of the trial.
    pub(super) fn add_brought(
        &mut self,
        brought: Brought,
        loads: &mut [LoadRecord],
        record: &mut TrialRecord,
    ) {
        for load in loads {
            load.pacing_p99_ns = brought.pacing_p99_ns;
        }
        record.figures.extend(brought.figures);
        record.warnings.extend(brought.warnings);
        self.reasons.extend(brought.reasons);
    }
}
