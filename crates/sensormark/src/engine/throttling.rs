//! Whether the limit of a control group held the client back. The kernel stops every process of a group that has had its share of a period
//! until the next one, for up to a tenth of a second at a time, so that what is measured then is the limit. Sharing a core with others
//! is another matter: see the host's disturbance and the warning about few cores.

use crate::measurement::record::{PhaseRecord, ServerRecord};
use crate::measurement::verdict::{Reason, ReasonKind};
use crate::probe::Limits;

/// The share of its processor time that a group may use without being held back now and then.
const SHARE: f64 = 0.9;

/// The reason, where our processes used up what their control group may use in this phase. A server that we started is one of them; one that was there is not.
pub fn throttled(
    phase: &PhaseRecord,
    server: Option<&ServerRecord>,
    limits: Limits,
) -> Option<Reason> {
    let quota = limits.cgroup_cores?;
    if limits
        .allowed_cores
        .is_some_and(|cores| quota >= cores as f64)
    {
        return None;
    }
    let totals = phase.totals.as_ref().filter(|totals| totals.span_ns > 0)?;
    let is_ours = |role: &str| role != "server" || server.is_some_and(|server| server.managed);
    let roles = totals.roles.iter().filter(|(name, _)| is_ours(name));
    let used_ns: u64 = roles.map(|(_, role)| role.cpu_ns).sum();
    let used = used_ns as f64 / totals.span_ns as f64;
    (used > SHARE * quota).then(|| {
        Reason::new(
            ReasonKind::ClientBound,
            format!(
                "{}: the control group may use {quota:.2} cores, and all that belongs to the run used {used:.2}",
                phase.name
            ),
        )
    })
}
