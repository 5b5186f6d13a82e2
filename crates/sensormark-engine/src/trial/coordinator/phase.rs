//! A phase of a trial, from what its processes get to know before it to what they did together.
//!
//! One listener stands for all processes, so that waiting costs as much as what is said, however many they are. A load that is fed has its line opened and its
//! source started, watched and heard. The server may be killed in mid-load, or stop by itself: both end in a start on the same data. A host of a load that was
//! client-bound spoils the whole, however little its share shows in the sum.

use super::{Coordinator, Written};
use crate::context::{RunEvent, stopped};
use crate::failure::TrialFailure;
use crate::intake::Feed;
use crate::judge::client::CEILING_FACTOR;
use crate::many_hosts;
use crate::outcome::PhaseOutcome;
use crate::role::{Event, RoleError, RoleProcess};
use crate::trial::feed::{Brought, Feeding, Journal, LEAD_NS, SOURCE};
use crate::trial::own_line::decode;
use crate::trial::plausible;
use crate::trial::protocol::{Command, DoubtfulLoad, Prepare, Report, is_finished, is_report};
use crate::trial::role::{asked_about, process_name};
use crate::trial::script::{About, LEAD_IN, PhaseSpec, Window, find};
use crate::trial::support::{Support, support};
use crate::trial::watch::tree;
use sensormark_data::units::duration_ns;
use sensormark_result::measurement::names;
use sensormark_result::measurement::record::{Figure, LoadRecord, TrialRecord};
use sensormark_result::measurement::verdict::{Reason, ReasonKind};
use sensormark_result::probe::monotonic_ns;
use serde_json::Value;
use std::collections::BTreeSet;
use std::thread;
use std::time::{Duration, Instant};

impl Coordinator<'_> {
    /// By load: what the client does; and why the phase cannot be measured.
    pub(super) fn supported(&self, phase: &PhaseSpec) -> (Vec<Option<String>>, Option<String>) {
        let store = self.deployment.store();
        let mut client_side = Vec::new();
        let mut missing = phase.task.as_ref().and_then(|task| task.missing.clone());
        for load in &phase.loads {
            let schema = &self.plan.schema;
            client_side.push(match support(store, &self.plan.layout, schema, load) {
                Support::Native => None,
                Support::ClientSide(reason) => Some(reason),
                Support::Not(reason) => {
                    missing.get_or_insert(reason);
                    None
                }
            });
        }
        (client_side, missing)
    }

    /// Why a phase cannot be measured that needs all of earlier loads, when one of them was cut, or that asks about one that was not measured itself.
    pub(super) fn incomplete(&self, phase: &PhaseSpec) -> Option<String> {
        let is_whole = |need: &&About| {
            let place = find(self.steps, need);
            let mut written = self.written.iter();
            let found = written.find(|one| Some((one.step, one.load)) == place);
            found.is_some_and(|one| one.outcome.issued.first_missing().is_none())
        };
        if let Some(missing) = phase.needs.iter().find(|need| !is_whole(need)) {
            let before = &missing.phase;
            return Some(format!("{before} before it did not come to its end"));
        }
        let is_written = |place| self.written.iter().any(|one| (one.step, one.load) == place);
        let loads = phase.loads.iter();
        let mut earlier = loads.filter_map(|load| {
            let place = asked_about(self.steps, load, &phase.name)?;
            Some((load.about.as_ref()?, place))
        });
        let (missing, _) = earlier.find(|(_, place)| !is_written(*place))?;
        Some(format!("{} before it was not measured", missing.phase))
    }

    pub(super) fn prepare(&self, number: usize, phase: &PhaseSpec) -> Prepare {
        let doubtful = self.written.iter().map(|written| {
            let exceptions = written.outcome.exceptions.iter();
            DoubtfulLoad {
                step: written.step,
                load: written.load,
                indices: exceptions.map(|exception| exception.index).collect(),
            }
        });
        let cut_at = |place: (usize, usize)| {
            let written = self.written.iter();
            let mut same = written.filter(|written| (written.step, written.load) == place);
            same.next().and_then(|written| written.outcome.issued.first_missing())
        };
        let watermarks = phase.loads.iter().map(|load| {
            let place = asked_about(self.steps, load, &phase.name)?;
            cut_at(place)
        });
        Prepare {
            step: number,
            doubtful: doubtful.filter(|one| !one.indices.is_empty()).collect(),
            watermarks: watermarks.collect(),
            feed: None,
            own_line: false,
        }
    }
}

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
            heard = if missing > 0 { self.notifications.wait(LOOK) } else { Vec::new() };
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
            heard = self.notifications.wait(LOOK_MEANWHILE.min(Duration::from_nanos(left)));
        }
        Ok(())
    }

    /// Takes in what a process has said, without waiting. Whether it made progress.
    fn listen_to(&mut self, number: usize) -> Result<bool, TrialFailure> {
        let progress = self.roles[number].listen(Instant::now())?;
        if let Some(progress) = progress {
            self.kill.tell(progress);
            // Whatever was written before the first readings of a phase counts as flushed.
            let is_first = progress.done > 0 && !self.kill.is_done() && !self.kill.is_written;
            if let Some(power) = self.context.power.filter(|_| is_first) {
                power.keep()?;
                self.kill.is_written = true;
            }
            self.context.observer.event(RunEvent::Progress(progress));
        }
        Ok(progress.is_some())
    }
}

/// How long a client on another host may take to say what its source has to know.
const LONGEST_OPENING: Duration = Duration::from_secs(10);

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
        let line = source.open().map_err(TrialFailure::System)?;
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
        if self.growth.is_overdue() {
            return Err(TrialFailure::OutOfTime);
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
                && role.listen(Instant::now() + LOOK_MEANWHILE).is_ok()
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
        while Instant::now() < deadline && role.listen(Instant::now() + LOOK_MEANWHILE).is_ok() {
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
            thread::sleep(LOOK_MEANWHILE);
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
        role.listen(Instant::now() + LOOK_MEANWHILE)?;
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

impl Coordinator<'_> {
    /// Notes a server that has stopped, and kills it when it is time for that. The clients will say what they had of it: that is waited for.
    pub(super) fn look_at_server(&mut self) -> Result<(), TrialFailure> {
        if self.kill.is_due() && self.deployment.is_ours() {
            self.deployment.kill()?;
            self.cut_power()?;
            self.stop_clients();
            self.kill.done(false);
        } else if self.kill.is_due() {
            self.roles.iter_mut().for_each(RoleProcess::kill);
            self.cut_power()?;
            self.kill.done(true);
        }
        if self.crash.is_none() && !self.kill.is_done() {
            self.crash = self.deployment.check().err();
            if let Some(crash) = &self.crash {
                self.context.observer.event(stopped(crash));
                self.stop_clients();
            }
        }
        Ok(())
    }

    /// Cuts the power, where it can be cut.
    fn cut_power(&mut self) -> Result<(), TrialFailure> {
        let Some(power) = self.context.power else { return Ok(()) };
        if !self.kill.is_written {
            let text = "nothing was acknowledged before the power was cut: give the clients longer with --set kill_after_seconds=…";
            return Err(TrialFailure::System(text.to_owned()));
        }
        self.kill.lost = Some(power.cut()?);
        Ok(())
    }

    /// Has everything run again that was killed or has stopped, on the same data, and keeps how long its start took.
    pub(super) fn bring_back(&mut self, record: &mut TrialRecord) -> Result<(), TrialFailure> {
        if !self.deployment.is_ours() {
            return Ok(());
        }
        self.announce("start again");
        let began = Instant::now();
        self.deployment.restart()?;
        let took = began.elapsed();
        let figure = Figure::new(took.as_secs_f64(), "s");
        record.figures.insert(names::RESTART.to_owned(), figure);
        Ok(())
    }
}

impl Coordinator<'_> {
    /// Takes down what the loads of a phase have written.
    pub(super) fn note_written(
        &mut self,
        (step, phase): (usize, &PhaseSpec),
        outcome: &PhaseOutcome,
        produced: Option<u64>,
    ) {
        for (load, outcome) in outcome.loads.iter().enumerate() {
            if phase.loads[load].writes {
                self.written.push(Written { step, load, outcome: outcome.clone(), produced });
            }
        }
    }

    /// What the processes did, by this host's clock, as one, and the highest rate that they could have come to.
    pub(super) fn merge(
        &mut self,
        reports: Vec<Event>,
        (phase, start_ns): (&PhaseSpec, u64),
        record: &mut TrialRecord,
    ) -> Result<(PhaseOutcome, Option<f64>), TrialFailure> {
        let (mut parts, mut rates, mut ceilings) = (Vec::new(), Vec::new(), Vec::new());
        let mut hosts = BTreeSet::new();
        tracing::debug!(reports = reports.len(), bytes = length(&reports), "reports are here");
        let begun = Instant::now();
        for (process, event) in reports.into_iter().enumerate() {
            let Event::Report(value) = event else {
                continue;
            };
            let report = self.plausible(process, value, phase)?;
            rates.extend(self.host_rate(process, &report));
            hosts.insert(self.roles[process].host());
            ceilings.push(report.ceiling);
            parts.push(self.by_own_clock(process, start_ns, report.outcome));
        }
        let hosts = u32::try_from(hosts.len()).unwrap_or(u32::MAX);
        let joined = many_hosts::join(parts, hosts);
        let joined = joined.map_err(|(place, problem)| self.roles[place].implausible(problem))?;
        tracing::debug!(phase = phase.name, took = ?begun.elapsed(), "reports are merged");
        self.judge_hosts(phase, rates, record);
        let missing = || TrialFailure::System("a trial sent no report".to_owned());
        Ok((joined.ok_or_else(missing)?, ceilings.into_iter().sum()))
    }

    /// The report of this process, as far as it can be true.
    fn plausible(&self, process: usize, value: Value, phase: &PhaseSpec) -> Result<Report, TrialFailure> {
        let read = serde_json::from_value(value).map_err(|error| error.to_string());
        let checked = read.and_then(|report| {
            plausible::report(&report, phase)?;
            Ok(report)
        });
        checked.map_err(|problem| match self.roles.get(process) {
            Some(role) => role.implausible(problem).into(),
            None => TrialFailure::System(problem),
        })
    }
}

/// How long these reports are as they were sent, in bytes.
fn length(reports: &[Event]) -> usize {
    let lengths = reports.iter().map(serde_json::to_vec);
    lengths.flatten().map(|line| line.len() + 1).sum()
}

/// The report names a host that is slower than this share of the fastest one.
const SLOW_SHARE: f64 = 0.8;

/// What one process did in a phase, or those of one host.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct HostRate {
    host: String,
    clients: usize,
    per_second: f64,
    ceiling: Option<f64>,
}

impl Coordinator<'_> {
    /// What this process did, if it ran on another host.
    pub(super) fn host_rate(&self, process: usize, report: &Report) -> Option<HostRate> {
        let host = self.roles.get(process)?.host()?;
        let load = report.outcome.loads.first()?;
        Some(HostRate {
            host: host.to_owned(),
            clients: load.issued.clients(),
            per_second: load.operations_per_second(),
            ceiling: report.ceiling,
        })
    }

    /// Judges each host of a phase by itself, and keeps its rate. The rates are those of processes.
    pub(super) fn judge_hosts(&mut self, phase: &PhaseSpec, rates: Vec<HostRate>, record: &mut TrialRecord) {
        let rates = by_host(rates);
        if rates.len() < 2 || phase.warm_up {
            return;
        }
        for rate in &rates {
            let mut keep = |name: &str, figure: Figure| {
                let name = format!("{name}/{}/{}", phase.name, rate.host);
                record.figures.insert(name, figure);
            };
            keep(names::HOST_RATE, Figure::new(rate.per_second, "1/s"));
            let clients = rate.clients as f64;
            keep(names::HOST_CLIENTS, Figure::new(clients, "clients"));
        }
        let bound = rates.iter().filter_map(|rate| near_ceiling(phase, rate));
        self.reasons.extend(bound);
        record.warnings.extend(slowest(phase, &rates));
    }
}

/// What the processes of each host did together.
fn by_host(rates: Vec<HostRate>) -> Vec<HostRate> {
    let mut hosts: Vec<HostRate> = Vec::new();
    for rate in rates {
        let Some(host) = hosts.iter_mut().find(|one| one.host == rate.host) else {
            hosts.push(rate);
            continue;
        };
        host.clients += rate.clients;
        host.per_second += rate.per_second;
        let ceilings = host.ceiling.zip(rate.ceiling);
        host.ceiling = ceilings.map(|(one, more)| one + more);
    }
    hosts
}

fn near_ceiling(phase: &PhaseSpec, rate: &HostRate) -> Option<Reason> {
    let ceiling = rate.ceiling?;
    (rate.per_second * CEILING_FACTOR > ceiling).then(|| {
        let text = format!(
            "{}: {} did {:.0} operations a second, and without a database no more than {ceiling:.0}",
            phase.name, rate.host, rate.per_second
        );
        Reason::new(ReasonKind::ClientBound, text)
    })
}

/// The host with the slowest clients, where it is far behind: hosts may have unequal numbers of clients.
fn slowest(phase: &PhaseSpec, rates: &[HostRate]) -> Option<String> {
    let of_client = |rate: &HostRate| rate.per_second / rate.clients.max(1) as f64;
    let by_rate = |one: &&HostRate, other: &&HostRate| of_client(one).total_cmp(&of_client(other));
    let slow = rates.iter().min_by(by_rate)?;
    let fast = rates.iter().max_by(by_rate)?;
    (of_client(slow) < SLOW_SHARE * of_client(fast)).then(|| {
        format!(
            "{}: {} was the slowest load host: each of its clients did {:.1} operations a second, and each of {} did {:.1}",
            phase.name,
            slow.host,
            of_client(slow),
            fast.host,
            of_client(fast)
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rate(host: &str, per_second: f64, ceiling: Option<f64>) -> HostRate {
        HostRate { host: host.to_owned(), clients: 2, per_second, ceiling }
    }

    #[test]
    fn a_host_at_its_own_limit_counts_and_the_slowest_is_named() {
        let phase = PhaseSpec::new("load", Vec::new());
        assert!(near_ceiling(&phase, &rate("a", 400.0, Some(1_000.0))).is_none());
        assert!(near_ceiling(&phase, &rate("a", 400.0, None)).is_none());
        let reason = near_ceiling(&phase, &rate("a", 600.0, Some(1_000.0))).expect("bound");
        assert!(reason.text.contains("a did 600 operations"));
        let rates = [rate("a", 100.0, None), rate("b", 70.0, None)];
        let told = slowest(&phase, &rates).expect("far behind");
        assert!(told.contains("b was the slowest load host: each of its clients did 35.0"), "{told}");
        assert_eq!(slowest(&phase, &rates[..1]), None);
    }

    #[test]
    fn processes_of_one_host_add_up_and_fewer_clients_are_not_slower() {
        let phase = PhaseSpec::new("load", Vec::new());
        // Five processes of two clients each, over two hosts in turn.
        let rates = ["a", "b", "a", "b", "a"].map(|host| rate(host, 100.0, Some(400.0)));
        let hosts = by_host(rates.to_vec());
        let a = HostRate { clients: 6, ..rate("a", 300.0, Some(1_200.0)) };
        let b = HostRate { clients: 4, ..rate("b", 200.0, Some(800.0)) };
        assert_eq!(hosts, [a, b]);
        assert_eq!(slowest(&phase, &hosts), None);
    }
}
