//! What speaks against a trial of phases.

use crate::engine::lateness::{PACING_LIMIT_NS, late_by_host};
use crate::engine::operations::ENDLESS;
use crate::engine::throttling::throttled;
use crate::measurement::names;
use crate::measurement::record::{LoadRecord, PhaseRecord, TrialRecord};
use crate::measurement::verdict::{Reason, ReasonKind};
use crate::probe::{Disturbance, DisturbanceLimits, Limits};
use sensormark_store::ErrorKind;

/// The share of failed operations that makes a trial invalid.
pub const ERROR_SHARE: f64 = 0.01;
/// The largest share of the cores that its threads can have that a client may use.
pub const CLIENT_SHARE: f64 = 0.9;
/// How many times as fast as measured the engine must be over the null store.
pub const CEILING_FACTOR: f64 = 2.0;
/// Operations of a load that are too few for a figure, unless there are no more.
pub const FEWEST: u64 = 10;

/// Whether the host was quiet in phases shorter than this, in ns, is judged of all of them together: the kernel counts processor time in ticks of 10 ms.
pub const MOMENT_NS: u64 = 500_000_000;

/// What the judge knows besides the record.
#[derive(Debug, Clone, Copy)]
pub struct Circumstances {
    /// Whether the database runs inside the client's process, so that their costs cannot be told apart.
    pub embedded: bool,
    /// How long an operation may take, in ms.
    pub timeout_ms: u64,
    /// Cores of this machine.
    pub cores: usize,
    /// What our processes may use of them.
    pub limits: Limits,
    /// Whether a disturbed host is only warned about.
    pub tolerate_disturbance: bool,
    /// What disturbs.
    pub disturbance: DisturbanceLimits,
}

/// All reasons that the record's loads and phases give, and warnings added to the record where a reader should know.
pub fn judge(record: &mut TrialRecord, circumstances: Circumstances) -> Vec<Reason> {
    let mut reasons = Vec::new();
    reasons.extend(wrong_answers(record));
    let (mut more, mut warnings) = (Vec::new(), Vec::new());
    // What fails once the server has been killed on request is no fault of its.
    let killed = record.figures.contains_key(names::KILLED_AFTER);
    for load in &record.loads {
        if killed {
            continue;
        }
        warn(load, &mut warnings);
        if load.not_supported.is_some() {
            continue;
        }
        more.extend(errors(load));
        if !load.warm_up {
            more.extend(lateness(load, circumstances.timeout_ms));
            more.extend(too_short(load));
        }
    }
    let mut measured = Vec::new();
    for (phase, loads) in measured_phases(record) {
        if killed {
            continue;
        }
        if !circumstances.embedded {
            more.extend(client_bound(phase, &loads, circumstances.cores));
            more.extend(throttled(
                phase,
                record.server.as_ref(),
                circumstances.limits,
            ));
        }
        measured.push(phase);
    }
    let disturbed = disturbed(&measured, &circumstances.disturbance);
    if circumstances.tolerate_disturbance {
        let texts = disturbed.iter().map(|reason| &reason.text);
        warnings.extend(texts.map(|text| format!("the host was disturbed: {text}")));
    } else {
        more.extend(disturbed);
        more.extend(late_by_host(&more, measured));
    }
    record.warnings.extend(warnings);
    reasons.extend(more);
    reasons
}

/// The phases in which something was measured, with their loads.
pub fn measured_phases(record: &TrialRecord) -> Vec<(&PhaseRecord, Vec<&LoadRecord>)> {
    let with_loads = record.phases.iter().map(|phase| {
        let loads = record.loads.iter();
        let own = loads.filter(|load| load.phase == phase.name && !load.warm_up);
        (phase, own.collect::<Vec<_>>())
    });
    with_loads.filter(|(_, loads)| !loads.is_empty()).collect()
}

fn wrong_answers(record: &TrialRecord) -> Option<Reason> {
    let answers = record
        .answers
        .as_ref()
        .filter(|answers| answers.wrong > 0)?;
    let first = answers.first_wrong.as_deref().unwrap_or_default();
    Some(Reason::new(
        ReasonKind::WrongAnswer,
        format!(
            "{} of {} answers are wrong; {first}",
            answers.wrong, answers.checked
        ),
    ))
}

fn warn(load: &LoadRecord, warnings: &mut Vec<String>) {
    let (phase, name) = (&load.phase, &load.name);
    let mut say = |text: String| warnings.push(format!("{phase}, {name}: {text}"));
    if let Some(reason) = &load.not_supported {
        say(format!("not supported: {reason}"));
    }
    if let Some(reason) = &load.client_side {
        say(format!("done in the client: {reason}"));
    }
    if let Some(cut) = &load.cut {
        let rate = load.operations_per_second().unwrap_or(0.0);
        say(format!("cut: {cut}, at {rate:.1} operations a second"));
    }
    if load.not_started > 0 {
        say(format!(
            "could not keep up: {} operations were due and could not start",
            load.not_started
        ));
    }
}

fn errors(load: &LoadRecord) -> Option<Reason> {
    let (failed, all) = (load.failed(), load.failed() + load.operations());
    let share = failed as f64 / all.max(1) as f64;
    let first = load.first_error.as_deref().unwrap_or_default();
    (share > ERROR_SHARE).then(|| {
        Reason::new(
            ReasonKind::Errors,
            format!(
                "{}: {failed} of {all} operations failed; the first: {first}",
                load.phase
            ),
        )
    })
}

fn lateness(load: &LoadRecord, timeout_ms: u64) -> Vec<Reason> {
    let mut reasons = Vec::new();
    let hung = load.errors.get(ErrorKind::Timeout.text()).copied();
    if let Some(hung) = hung {
        reasons.push(Reason::new(
            ReasonKind::Hung,
            format!(
                "{}: {hung} operations did not come back in time",
                load.phase
            ),
        ));
    } else if load.late > 0 {
        reasons.push(Reason::new(
            ReasonKind::LateAnswers,
            format!(
                "{}: {} operations came back after the time limit of {timeout_ms} ms",
                load.phase, load.late
            ),
        ));
    }
    if let Some(p99) = load.pacing_p99_ns.filter(|p99| *p99 > PACING_LIMIT_NS) {
        reasons.push(Reason::new(
            ReasonKind::SourceLate,
            format!(
                "{}: operations whose client was free started late, p99 {:.2} ms, over 1 ms",
                load.phase,
                p99 as f64 / 1e6
            ),
        ));
    }
    reasons
}

fn too_short(load: &LoadRecord) -> Option<Reason> {
    let all = load.operations() + load.failed();
    (all < FEWEST.min(load.planned)).then(|| {
        Reason::new(
            ReasonKind::TooShort,
            match load.planned {
                ENDLESS.. => format!("{}: only {all} operations were issued", load.phase),
                planned => format!(
                    "{}: only {all} of {planned} operations were issued",
                    load.phase
                ),
            },
        )
    })
}

/// A client that uses up its cores, or is hardly faster without a database, measures itself.
fn client_bound(phase: &PhaseRecord, loads: &[&LoadRecord], cores: usize) -> Vec<Reason> {
    let mut reasons = Vec::new();
    let clients: u32 = loads.iter().map(|load| load.clients).sum();
    let usable = cores.min(clients as usize).max(1) as f64;
    let role = phase
        .totals
        .as_ref()
        .and_then(|totals| totals.roles.get(super::role::ROLE));
    if let Some(role) = role
        && role.cpu_percent_of_core > CLIENT_SHARE * 100.0 * usable
    {
        reasons.push(Reason::new(
            ReasonKind::ClientBound,
            format!(
                "{}: the client used {:.0} % of a core, of {:.0} % that its clients can use",
                phase.name,
                role.cpu_percent_of_core,
                usable * 100.0
            ),
        ));
    }
    for load in loads {
        if let (Some(ceiling), Some(rate)) = (load.ceiling, load.operations_per_second())
            && rate * CEILING_FACTOR > ceiling
        {
            reasons.push(Reason::new(
                ReasonKind::ClientBound,
                format!(
                    "{}: {rate:.0} operations a second, and without a database no more than {ceiling:.0}",
                    phase.name
                ),
            ));
        }
    }
    reasons
}

/// In which phases the host was disturbed.
fn disturbed(phases: &[&PhaseRecord], limits: &DisturbanceLimits) -> Vec<Reason> {
    let found = disturbances(phases, limits).into_iter();
    let reasons = found.map(|(names, found)| {
        let name = match names.as_slice() {
            [one] => (*one).to_owned(),
            [first, others @ ..] => format!("{first} and {} more short phases", others.len()),
            [] => String::new(),
        };
        let text = format!("{name}: {}", found.reasons.join(", "));
        Reason::new(ReasonKind::HostDisturbed, text)
    });
    reasons.collect()
}

/// The phases, by name, in which the host was disturbed, and how; short ones are judged all together.
pub fn disturbances<'a>(
    phases: &[&'a PhaseRecord],
    limits: &DisturbanceLimits,
) -> Vec<(Vec<&'a str>, Disturbance)> {
    let (mut found, mut moments, mut names) = (Vec::new(), Vec::new(), Vec::new());
    for phase in phases {
        let Some(totals) = &phase.totals else {
            continue;
        };
        if totals.span_ns < MOMENT_NS {
            moments.push(&totals.disturbance);
            names.push(phase.name.as_str());
        } else {
            found.push((vec![phase.name.as_str()], totals.disturbance.clone()));
        }
    }
    found.extend(Disturbance::together(&moments, limits).map(|together| (names, together)));
    found.retain(|(_, disturbance)| disturbance.is_disturbed());
    found
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use crate::measurement::record::AnswersRecord;
    use std::collections::BTreeMap;

    pub(in super::super) fn load() -> LoadRecord {
        let latency = || crate::measurement::record::LatencyRecord {
            open_loop: false,
            summary: crate::measurement::LatencyRecorder::new().finish().2,
            seconds: Vec::new(),
        };
        let class = crate::measurement::record::ClassRecord {
            operations: 1_000,
            readings: 1_000,
            failed: 0,
            latency: latency(),
            service: None,
        };
        LoadRecord {
            phase: "ask".into(),
            name: "ask".into(),
            labels: BTreeMap::new(),
            warm_up: false,
            writes: false,
            clients: 1,
            processes: 1,
            open_loop: false,
            planned: 1_000,
            seconds: 1.0,
            classes: [("ask".to_owned(), class)].into(),
            errors: BTreeMap::new(),
            first_error: None,
            late: 0,
            not_started: 0,
            statements: 0,
            reconnects: 0,
            datagram_bytes: 0,
            answers: AnswersRecord::default(),
            pacing_p99_ns: None,
            ceiling: None,
            cut: None,
            not_supported: None,
            client_side: None,
        }
    }

    fn phase(cpu_percent: f64) -> PhaseRecord {
        use crate::probe::{Disturbance, HostTotals, PhaseTotals, RoleTotals};
        let role = RoleTotals {
            cpu_percent_of_core: cpu_percent,
            ..RoleTotals::default()
        };
        PhaseRecord {
            name: "ask".into(),
            seconds: 1.0,
            totals: Some(PhaseTotals {
                span_ns: 1_000_000_000,
                roles: [(super::super::role::ROLE.to_owned(), role)].into(),
                host: HostTotals::default(),
                disturbance: Disturbance {
                    span_ns: 1_000_000_000,
                    steal_share: 0.0,
                    swap_bytes_per_second: 0.0,
                    other_share: 0.0,
                    reasons: Vec::new(),
                },
            }),
            operations: 1_000,
        }
    }

    fn bound(cpu_percent: f64, ceiling: Option<f64>, clients: u32) -> usize {
        let load = LoadRecord {
            ceiling,
            clients,
            ..load()
        };
        client_bound(&phase(cpu_percent), &[&load], 2).len()
    }

    #[test]
    fn a_group_that_used_up_its_share_was_held_back() {
        let seen = |cores: f64, cpu_percent: f64| {
            let mut phase = phase(cpu_percent);
            let role = phase
                .totals
                .as_mut()
                .expect("totals")
                .roles
                .get_mut(super::super::role::ROLE);
            role.expect("the client").cpu_ns = crate::units::round_u64(cpu_percent * 1e7);
            let limits = Limits {
                allowed_cores: Some(2),
                cgroup_cores: Some(cores),
                cgroup_memory_bytes: None,
            };
            throttled(&phase, None, limits).map(|reason| reason.kind)
        };
        assert_eq!(seen(0.25, 22.0), None);
        assert_eq!(seen(0.25, 23.0), Some(ReasonKind::ClientBound));
        assert_eq!(seen(2.0, 199.0), None, "no less than the machine has");
    }

    #[test]
    fn a_client_near_its_own_limits_measures_itself() {
        assert_eq!(bound(89.0, None, 1), 0);
        assert_eq!(bound(91.0, None, 1), 1);
        // Two clients can use both cores, sixteen no more than those.
        assert_eq!([bound(91.0, None, 2), bound(181.0, None, 16)], [0, 1]);
        assert_eq!(
            [2_000.0, 1_999.0].map(|ceiling| bound(10.0, Some(ceiling), 1)),
            [0, 1]
        );
    }

    /// A phase of this length with this share of the processors' time taken by others.
    pub(in super::super) fn with_others(span_ns: u64, other_share: f64) -> PhaseRecord {
        let limits = DisturbanceLimits::default();
        let mut phase = phase(1.0);
        if let Some(totals) = &mut phase.totals {
            totals.span_ns = span_ns;
            let mut found = totals.disturbance.clone();
            (found.span_ns, found.other_share) = (span_ns, other_share);
            totals.disturbance = Disturbance::together(&[&found], &limits).expect("one");
        }
        phase
    }

    #[test]
    fn a_tick_in_a_moment_disturbs_nothing_and_busy_moments_do() {
        let judged = |phases: &[PhaseRecord]| {
            let phases: Vec<&PhaseRecord> = phases.iter().collect();
            disturbed(&phases, &DisturbanceLimits::default())
        };
        let (tick, quiet) = (with_others(60_000_000, 0.16), with_others(60_000_000, 0.0));
        assert_eq!(judged(&[tick.clone(), quiet.clone(), quiet]).len(), 0);
        let busy = judged(&[tick.clone(), tick.clone(), tick]);
        assert_eq!(busy.len(), 1);
        assert!(busy[0].text.contains("ask and 2 more short phases"));
        let long = with_others(MOMENT_NS, 0.16);
        assert_eq!(judged(&[long.clone(), long]).len(), 2);
    }

    #[test]
    fn one_failure_in_a_hundred_is_borne() {
        let with = |failed: u64| {
            let mut load = load();
            load.errors.insert("rejected".into(), failed);
            errors(&load).map(|reason| reason.kind)
        };
        assert_eq!(with(10), None);
        assert_eq!(with(11), Some(ReasonKind::Errors));
    }

    #[test]
    fn lateness_is_named_for_what_it_is() {
        let mut late = load();
        late.late = 1;
        assert_eq!(lateness(&late, 100)[0].kind, ReasonKind::LateAnswers);
        late.errors.insert(ErrorKind::Timeout.text().into(), 1);
        assert_eq!(lateness(&late, 100)[0].kind, ReasonKind::Hung);
        let mut paced = load();
        paced.pacing_p99_ns = Some(PACING_LIMIT_NS);
        assert_eq!(lateness(&paced, 100).len(), 0);
        paced.pacing_p99_ns = Some(PACING_LIMIT_NS + 1);
        assert_eq!(lateness(&paced, 100)[0].kind, ReasonKind::SourceLate);
    }

    #[test]
    fn a_load_of_few_operations_is_only_short_when_there_are_more() {
        let mut short = load();
        short.classes.clear();
        assert_eq!(
            too_short(&short).map(|reason| reason.kind),
            Some(ReasonKind::TooShort)
        );
        short.planned = 0;
        assert_eq!(too_short(&short), None);
        assert_eq!(too_short(&load()), None);
    }
}
