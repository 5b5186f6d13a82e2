//! A source that was late, and whether the host can be why. Late means the engine's own wake-ups, never the database.

use crate::measurement::record::PhaseRecord;
use crate::measurement::verdict::{Reason, ReasonKind};

/// The largest lateness of the engine's own, 99th percentile, in ns.
pub const PACING_LIMIT_NS: u64 = 1_000_000;

/// The share of one processor's time that, taken by the hypervisor, is enough to make a source late: the limit is one of the 99th percentile.
const ENOUGH: f64 = 0.01;

/// That the hypervisor took enough in one of these phases to make a source late, where one was and nothing else is said against the host.
pub fn late_by_host<'a>(
    reasons: &[Reason],
    phases: impl IntoIterator<Item = &'a PhaseRecord>,
) -> Option<Reason> {
    let has = |kind| reasons.iter().any(|reason| reason.kind == kind);
    if !has(ReasonKind::SourceLate) || has(ReasonKind::HostDisturbed) {
        return None;
    }
    phases.into_iter().find_map(|phase| {
        let totals = phase.totals.as_ref()?;
        let share = totals.host.cpu_steal_ns as f64 / totals.span_ns.max(1) as f64;
        (share >= ENOUGH).then(|| {
            let text = format!(
                "{}: the hypervisor took {:.1} % of one processor's time, and {:.1} % are enough to make a source late",
                phase.name,
                share * 100.0,
                ENOUGH * 100.0
            );
            Reason::new(ReasonKind::HostDisturbed, text)
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::measurement::verdict::Verdict;
    use crate::probe::PhaseTotals;

    fn phase(steal_ms: u64) -> PhaseRecord {
        let mut totals = PhaseTotals {
            span_ns: 3_500_000_000,
            ..PhaseTotals::default()
        };
        totals.host.cpu_steal_ns = steal_ms * 1_000_000;
        PhaseRecord {
            name: "measured".into(),
            seconds: 3.5,
            totals: Some(totals),
            operations: 3_500,
        }
    }

    /// A trial of 3.5 s was condemned for a source whose p99 was 3.57 ms late, while the hypervisor took 130 ms: 1.9 % of two processors.
    #[test]
    fn a_source_that_the_hypervisor_made_late_is_no_fault_of_the_trial() {
        let late = vec![Reason::new(ReasonKind::SourceLate, "p99 3.57 ms")];
        let excuse = late_by_host(&late, [&phase(130)]).expect("enough was taken");
        let both = [late.clone(), vec![excuse]].concat();
        assert!(late_by_host(&both, [&phase(130)]).is_none(), "said once");
        assert!(Verdict::from_reasons(both).is_inconclusive());
        assert!(late_by_host(&late, [&phase(30)]).is_none());
        let lost = [Reason::new(ReasonKind::LostData, "1 reading")];
        assert!(late_by_host(&lost, [&phase(130)]).is_none());
    }
}
