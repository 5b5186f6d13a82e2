//! A trial whose load is fed: its line is opened, its source started, watched and heard, and what is measured of it goes by the clock.

use super::super::feed::{Brought, Feeding, Journal, LEAD_NS, SOURCE};
use super::super::own_line::decode;
use super::super::protocol::{Command, is_finished, is_report};
use super::super::role::process_name;
use super::super::script::{LEAD_IN, PhaseSpec, Window};
use super::super::watch::tree;
use super::Coordinator;
use crate::failure::TrialFailure;
use crate::intake::Feed;
use crate::role::{Event, RoleError, RoleProcess};
use sensormark_data::units::duration_ns;
use sensormark_result::measurement::record::{LoadRecord, TrialRecord};
use sensormark_result::probe::monotonic_ns;
use serde_json::Value;
use std::thread;
use std::time::{Duration, Instant};

/// How long a client on another host may take to say what its source has to know.
const LONGEST_OPENING: Duration = Duration::from_secs(10);
/// How often the coordinator looks around while it waits.
const LOOK: Duration = Duration::from_millis(20);

impl Coordinator<'_> {
    /// Opens the line of a phase whose load is fed, with a new journal.
    pub(super) fn open_line(&mut self, phase: &PhaseSpec) -> Result<Option<Feed>, TrialFailure> {
        let mut sources = phase.loads.iter().filter_map(|load| load.source.as_ref());
        let Some(source) = sources.next() else {
            return Ok(None);
        };
        if self.client_is_elsewhere() {
            self.feeding = Some(Feeding::new(None));
            return Ok(None);
        }
        let line = source.open(self.context.supervisor.home());
        let line = line.map_err(TrialFailure::System)?;
        let journal = Journal::create()?;
        let feed = journal.feed(line.as_ref());
        self.feeding = Some(Feeding::new(Some(line)));
        self.journal = Some(journal);
        Ok(Some(feed))
    }

    /// Whether the fed client is on another host, where it opens its line itself.
    fn client_is_elsewhere(&self) -> bool {
        self.roles.first().is_some_and(|role| role.host().is_some())
    }

    /// Launches the source, if there is one; gives the common start.
    pub(super) fn launch_source(&mut self) -> Result<Option<u64>, TrialFailure> {
        let lead_ns = LEAD_NS + self.lead_ns();
        let Some(feeding) = &mut self.feeding else {
            return Ok(None);
        };
        let name = process_name(self.kind, SOURCE);
        feeding.launch(self.context.placement.source(), &name)?;
        Ok(Some(monotonic_ns() + lead_ns))
    }

    /// Tells the source, if there is one, what it has to know. It runs where its client does.
    pub(super) fn start_source(&mut self, start_ns: u64) -> Result<(), TrialFailure> {
        let Some(feeding) = &mut self.feeding else {
            return Ok(());
        };
        let told = match feeding.told(start_ns) {
            Some(told) => told,
            None => line_of(&mut self.roles)?,
        };
        let source = feeding.start(&told)?;
        if source.host().is_none() {
            self.watch.recorder().add(tree(SOURCE, source, None)?)?;
        }
        Ok(())
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
            self.watch.begin_phase(LEAD_IN)?;
            self.pass_until(measured_ns)?;
        }
        self.announce(&phase.name);
        self.watch.begin_phase(&phase.name)?;
        self.pass_until(measured_ns + duration_ns(window.lasts))?;
        self.watch.end_phase(!phase.warm_up)?;
        Ok(())
    }

    /// Looks around once: whether the user breaks off, at the server, and at what feeds the load.
    pub(super) fn look_around(&mut self) -> Result<(), TrialFailure> {
        if self.context.is_interrupted() {
            return Err(RoleError::Interrupted.into());
        }
        self.look_at_server()?;
        self.watch.look()?;
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
        if self.feeding.is_some() && self.client_is_elsewhere() {
            for role in &mut self.roles {
                drop(role.send(&Command::Stop));
            }
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
        if self.client_is_elsewhere() {
            self.hear_journal(deadline);
        }
    }

    /// Takes the journal that a client on another host has sent with its report.
    pub(super) fn take_journal(&mut self, reports: &[Event]) -> Result<(), TrialFailure> {
        if let Some(Event::Report(report)) = reports.first()
            && let Some(journal) = journal_of(report)?
        {
            self.journal = Some(journal);
        }
        Ok(())
    }

    /// After a failure: takes the journal of a client on another host, if it still comes.
    fn hear_journal(&mut self, deadline: Instant) {
        let Some(role) = self.roles.first_mut() else {
            return;
        };
        if role.send(&Command::Report).is_err() {
            return;
        }
        while Instant::now() < deadline && role.listen(Instant::now() + LOOK).is_ok() {
            if let Some(Event::Report(report)) = role.take(is_report) {
                // What cannot be understood is not counted: the failure before it is what the trial tells.
                self.journal = journal_of(&report).ok().flatten();
                return;
            }
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
                return Err(feeding.silent(limit).into());
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

/// What the client's process says that its source has to know.
fn line_of(roles: &mut [RoleProcess]) -> Result<Value, TrialFailure> {
    let Some(role) = roles.first_mut() else {
        return Err(TrialFailure::System("nobody opened a line".to_owned()));
    };
    let deadline = Instant::now() + LONGEST_OPENING;
    while Instant::now() < deadline {
        role.listen(Instant::now() + LOOK)?;
        if let Some(Event::Line(told)) = role.take(|event| matches!(event, Event::Line(_))) {
            return Ok(told);
        }
    }
    Err(role.silent(LONGEST_OPENING).into())
}

/// The journal in a report, if there is one.
fn journal_of(report: &Value) -> Result<Option<Journal>, TrialFailure> {
    let Some(encoded) = report.get("journal").and_then(Value::as_str) else {
        return Ok(None);
    };
    let bytes = decode(encoded).map_err(TrialFailure::System)?;
    Journal::of_bytes(&bytes).map(Some)
}
