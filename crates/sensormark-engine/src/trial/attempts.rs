//! A trial put together from its attempts: a phase in which the host was disturbed is taken from an earlier attempt.
//!
//! Every attempt goes through the same operations on a new database, and each phase's figures stay those of one attempt, in which the host was
//! quiet during that phase. Whether data was right is never taken from elsewhere: a phase with a wrong answer or an error stays as it is, and
//! so does the ledger.

use super::account::add_loads;
use crate::judge::host::{disturbances, made_late};
use crate::judge::work::{measured_phases, of_loads};
use sensormark_result::measurement::names;
use sensormark_result::measurement::record::{LoadRecord, TrialRecord};
use sensormark_result::probe::DisturbanceLimits;
use std::collections::BTreeSet;

/// Takes each phase in which the host was disturbed from the first of the earlier attempts in which it was quiet, with a warning that says so. What
/// no attempt has stays.
pub fn take_quiet_phases(record: &mut TrialRecord, earlier: &[TrialRecord], limits: &DisturbanceLimits) {
    if earlier.is_empty() || record.figures.contains_key(names::KILLED_AFTER) {
        return;
    }
    let disturbed_earlier: Vec<BTreeSet<String>> =
        earlier.iter().map(|attempt| disturbed_phases(attempt, limits)).collect();
    for name in disturbed_phases(record, limits) {
        let quiet = earlier
            .iter()
            .zip(&disturbed_earlier)
            .find(|(attempt, disturbed)| !disturbed.contains(&name) && is_whole(attempt, &name));
        if let Some((attempt, _)) = quiet
            && is_whole(record, &name)
        {
            take(record, attempt, &name);
        }
    }
    let loads = std::mem::take(&mut record.loads);
    (record.errors, record.answers) = Default::default();
    add_loads(record, loads);
}

/// The phases in which a host was disturbed, or made a source late.
fn disturbed_phases(record: &TrialRecord, limits: &DisturbanceLimits) -> BTreeSet<String> {
    let works = of_loads(record);
    let measured = measured_phases(record, &works);
    let phases: Vec<_> = measured.iter().map(|(phase, _)| *phase).collect();
    let disturbed = disturbances(&phases, limits).into_iter().flat_map(|(_, names, _)| names);
    let late = measured.iter();
    let late = late.filter(|(phase, works)| made_late(phase, works).is_some());
    disturbed.chain(late.map(|(phase, _)| phase.name.as_str())).map(str::to_owned).collect()
}

/// Whether a phase was measured to its end with nothing to say against its data.
fn is_whole(record: &TrialRecord, phase: &str) -> bool {
    let mut own = record.loads.iter().filter(|load| load.phase == phase);
    let is_here = record.phases.iter().any(|one| one.name == phase && one.totals.is_some());
    is_here
        && own.all(|load| {
            load.answers.wrong == 0
                && load.failed() == 0
                && load.cut.is_none()
                && load.not_supported.is_none()
        })
}

/// Puts an earlier attempt's measurement of a phase in the place of this one's.
fn take(record: &mut TrialRecord, earlier: &TrialRecord, name: &str) {
    let theirs = earlier.phases.iter().find(|phase| phase.name == name);
    let ours = record.phases.iter_mut().find(|phase| phase.name == name);
    let (Some(theirs), Some(ours)) = (theirs, ours) else {
        return;
    };
    *ours = theirs.clone();
    let of_phase = |load: &&LoadRecord| load.phase == name;
    let place = record.loads.iter().position(|load| of_phase(&load));
    let place = place.unwrap_or(record.loads.len());
    record.loads.retain(|load| load.phase != name);
    let loads = earlier.loads.iter().filter(of_phase).cloned();
    record.loads.splice(place..place, loads);
    let suffix = format!("/{name}");
    for (figure, value) in &mut record.figures {
        if figure.ends_with(&suffix)
            && let Some(theirs) = earlier.figures.get(figure)
        {
            value.clone_from(theirs);
        }
    }
    record.warnings.push(format!(
        "{name}: measured in attempt {}, because the host was disturbed in attempt {}",
        earlier.attempt + 1,
        record.attempt + 1
    ));
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::trials::attempt;

    fn planned(record: &TrialRecord) -> Vec<(&str, u64)> {
        let loads = record.loads.iter();
        loads.map(|load| (load.phase.as_str(), load.planned)).collect()
    }

    #[test]
    fn each_disturbed_phase_is_of_the_first_attempt_in_which_it_was_quiet() {
        let limits = DisturbanceLimits::default();
        let first = attempt(0, [("write", 0.5, 1), ("read", 0.0, 2)]);
        let mut second = attempt(1, [("write", 0.0, 10), ("read", 0.5, 20)]);
        take_quiet_phases(&mut second, std::slice::from_ref(&first), &limits);
        assert_eq!(planned(&second), [("write", 10), ("read", 2)]);
        assert_eq!(second.phases[1].operations, 2);
        assert!(disturbed_phases(&second, &limits).is_empty());
        let answers = second.answers.expect("counted again");
        assert_eq!(answers.answered, 12);
        assert_eq!(
            second.warnings,
            ["read: measured in attempt 1, because the host was disturbed in attempt 2"]
        );
        // What no attempt has stays, and stays disturbed.
        let mut both = attempt(1, [("write", 0.5, 10), ("read", 0.5, 20)]);
        take_quiet_phases(&mut both, &[first], &limits);
        assert_eq!(planned(&both), [("write", 10), ("read", 2)]);
        assert_eq!(disturbed_phases(&both, &limits).into_iter().collect::<Vec<_>>(), ["write"]);
    }

    #[test]
    fn what_is_wrong_with_the_data_stays() {
        let limits = DisturbanceLimits::default();
        let first = attempt(0, [("write", 0.5, 1), ("read", 0.0, 2)]);
        let mut second = attempt(1, [("write", 0.0, 10), ("read", 0.5, 20)]);
        second.loads[1].answers.wrong = 1;
        take_quiet_phases(&mut second, &[first], &limits);
        assert_eq!(planned(&second), [("write", 10), ("read", 20)]);
        assert_eq!(second.answers.map(|answers| answers.wrong), Some(1));
    }
}
