//! Looking at the host before a run, and waiting for a quiet one before a trial is repeated. A disturbance often lasts for seconds, and an attempt in the midst
//! of it is lost too. It judges no trial; the trial's own samples do.

use super::context::{RunContext, RunEvent};
use super::repeats::{DisturbedHost, RepeatBudget};
use sensormark_result::probe::{Disturbance, DisturbanceLimits, HostSampler, ProbeError, ProcessTable};
use std::time::{Duration, Instant};

/// How long the host is looked at.
const LOOK: Duration = Duration::from_secs(1);
/// How often work and rest take turns meanwhile: a hypervisor takes time only from a processor that wants to work.
const TURN: Duration = Duration::from_millis(10);

/// Looks at the host before anything is measured, and says what to expect of it. Nothing is said of a host that is quiet or cannot be looked at, nor to a
/// user who tolerates a disturbance anyway. Whether it is busy.
pub fn look_ahead(context: &RunContext<'_>) -> bool {
    let expected = match context.disturbed_host {
        DisturbedHost::Refused => "trials that it disturbs do not count, so sensormark repeats them",
        DisturbedHost::Rough => "expect a rough ranking",
        DisturbedHost::Tolerated => return false,
    };
    let Ok(found) = look(&context.disturbance) else {
        return false;
    };
    if found.is_disturbed() {
        let text = format!("this machine is busy: {}; {expected}", found.reasons.join("; "));
        context.observer.event(RunEvent::Note(text));
    }
    found.is_disturbed()
}

/// Waits until the host is quiet, the budget's wait is over or the user breaks the run off. Says whether it is quiet; a host that cannot be looked at
/// is taken for quiet.
pub fn wait(context: &RunContext<'_>, budget: &mut RepeatBudget) -> bool {
    let (began, longest) = (Instant::now(), budget.wait());
    let (mut told, mut is_quiet) = (false, false);
    while began.elapsed() + LOOK <= longest && !context.is_interrupted() {
        match look(&context.disturbance) {
            Ok(found) if found.is_disturbed() => {
                if !told {
                    let why = found.reasons.join("; ");
                    let text = format!("waiting for a quiet host: {why}");
                    context.observer.event(RunEvent::Note(text));
                }
                told = true;
            }
            _ => {
                is_quiet = true;
                break;
            }
        }
    }
    budget.waited(began);
    is_quiet
}

/// What disturbs the host now, while one of its processors is kept half busy.
fn look(limits: &DisturbanceLimits) -> Result<Disturbance, ProbeError> {
    let host = HostSampler::new(None)?;
    let cpu_ns = || {
        let used = rustix::time::clock_gettime(rustix::time::ClockId::ProcessCPUTime);
        u64::try_from(used.tv_sec * 1_000_000_000 + used.tv_nsec).unwrap_or(0)
    };
    let (first, cpu, began) = (host.sample(&ProcessTable::scan()?)?, cpu_ns(), Instant::now());
    while began.elapsed() < LOOK {
        let turn = Instant::now();
        while turn.elapsed() < TURN {
            std::hint::spin_loop();
        }
        std::thread::sleep(TURN);
    }
    let span = u64::try_from(began.elapsed().as_nanos()).unwrap_or(u64::MAX);
    let last = host.sample(&ProcessTable::scan()?)?;
    let ours = cpu_ns().saturating_sub(cpu);
    Ok(Disturbance::between(&first, &last, span, ours, limits))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_look_at_the_host_counts_its_own_work_as_ours() {
        let all = DisturbanceLimits { steal_share: 1.0, swap_bytes_per_second: f64::MAX, other_share: 1.0 };
        let found = look(&all).expect("proc");
        assert!(!found.is_disturbed() && found.span_ns >= 1_000_000_000);
        let none = DisturbanceLimits { steal_share: -1.0, ..all };
        assert!(look(&none).expect("proc").is_disturbed());
    }
}
