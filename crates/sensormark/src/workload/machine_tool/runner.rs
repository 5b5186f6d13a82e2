//! One machine-tool cell: a write trial, then a read trial for each strategy on what it stored.
//!
//! What happens inside a trial is in [`super::write_trial`] and [`super::read_trial`].

use super::answers::WrittenSamples;
use super::parameters::Parameters;
use super::read_cycle::Strategy;
use super::trial::{Trial, broken_off_trial, plan};
use super::{NAME, explain, read_trial, write_trial};
use crate::engine::context::{Cell, CellRunner, RunContext, TrialPosition};
use crate::engine::failure::TrialFailure;
use crate::engine::site::Site;
use crate::engine::study_protocol::Protocol;
use crate::engine::trial::cell::{drop_database, new_record as trial_record, open_site};
use crate::measurement::record::{Side, TrialRecord};
use crate::measurement::statements::StatementsRecord;
use crate::measurement::write_size::write_sizes;
use sensormark_store::{Plan, StoreError};

/// The machine-tool workload with these numbers.
pub struct MachineToolRunner {
    /// Every number of the run.
    pub parameters: Parameters,
}

impl CellRunner for MachineToolRunner {
    fn trials(&self, cell: &Cell) -> usize {
        1 + cell.strategies.len()
    }

    fn seconds(&self, cell: &Cell) -> f64 {
        let write = self.parameters.warmup_seconds + self.parameters.measured_seconds + 1.5;
        let read = self.parameters.warmup_seconds
            + f64::from(self.parameters.reads) / self.parameters.reads_per_second
            + 0.7;
        write + read * cell.strategies.len() as f64
    }

    fn only_reads(&self, cell: &Cell) -> bool {
        !cell.strategies.is_empty()
    }

    fn run_cell(
        &self,
        context: &RunContext<'_>,
        cell: &Cell,
        turn: TrialPosition,
        _earlier: &[TrialRecord],
        finished: &mut dyn FnMut(TrialRecord),
    ) {
        let mut write = new_record(cell, None, turn);
        let site = match open_site(context, cell, 1) {
            Ok(site) => site,
            Err(error) => {
                return finished(broken_off_trial(context, write, &TrialFailure::from(error)));
            }
        };
        let plan = match prepare(context, cell, &site) {
            Ok(plan) => plan,
            Err(error) => {
                return finished(broken_off_trial(context, write, &TrialFailure::from(error)));
            }
        };
        write.write_sizes = write_sizes(site.store(), &plan.layout, &plan.schema);
        let mut trial = Trial {
            context,
            parameters: &self.parameters,
            cell,
            site: &site,
            plan: &plan,
        };
        let (mut write, written) = write_trial::run(&mut trial, write);
        let strategies = in_turn(context.protocol, &cell.strategies, turn.repetition);
        if let (Some(written), true) = (&written, strategies.is_empty()) {
            show_write(&trial, &mut write, written);
        }
        finished(write);
        for (number, &strategy) in strategies.iter().enumerate() {
            let mut record = new_record(cell, Some(strategy), turn);
            record.implementation.cache = context.cache;
            finished(match &written {
                _ if context.is_interrupted() => break,
                Some(written) => {
                    let mut record = read_trial::run(&mut trial, record, strategy, written);
                    show_read(&trial, &mut record, strategy, written);
                    if number + 1 == strategies.len() {
                        show_write(&trial, &mut record, written);
                    }
                    record
                }
                None => broken_off_trial(
                    context,
                    record,
                    &TrialFailure::System(
                        "what the write trial before it stored is not known".to_owned(),
                    ),
                ),
            });
        }
        drop_database(context, &site, &plan);
    }
}

/// Keeps the statements of one cycle's reading, in the first repetition and where the trial came to its end.
fn show_read(
    trial: &Trial<'_>,
    record: &mut TrialRecord,
    strategy: Strategy,
    written: &WrittenSamples,
) {
    if let Some(bounds) = written.bounds_ns()
        && record.answers.is_some()
    {
        keep_shown(record, || {
            explain::record_read(trial.site, trial.plan, strategy, bounds)
        });
    }
}

/// Keeps the statements of one more write, in the record of a cell's last trial: readers are checked against what was stored before.
fn show_write(trial: &Trial<'_>, record: &mut TrialRecord, written: &WrittenSamples) {
    let came_to_its_end = record.answers.is_some() || record.ledger.is_some();
    if let Some((_, last_ns)) = written.bounds_ns()
        && came_to_its_end
    {
        keep_shown(record, || {
            explain::record_write(trial.site, trial.plan, trial.context.seed, last_ns)
        });
    }
}

fn keep_shown(
    record: &mut TrialRecord,
    show: impl FnOnce() -> Result<StatementsRecord, StoreError>,
) {
    if record.repetition > 0 {
        return;
    }
    match show() {
        Ok(shown) => {
            let kept = record.statements.get_or_insert_default();
            kept.schema = shown.schema;
            kept.operations.extend(shown.operations);
        }
        Err(error) => {
            let text = format!("statements are not shown: {error}");
            record.warnings.push(text);
        }
    }
}

/// The cell's reading strategies; where the run follows the study, each repetition begins with the next one.
fn in_turn(protocol: Option<&Protocol>, named: &[String], repetition: u32) -> Vec<Strategy> {
    let mut strategies: Vec<Strategy> = Strategy::ALL
        .into_iter()
        .filter(|strategy| named.iter().any(|name| name == strategy.name()))
        .collect();
    if protocol.is_some_and(|study| study.strategies_turn) && !strategies.is_empty() {
        let first = repetition as usize % strategies.len();
        strategies.rotate_left(first);
    }
    strategies
}

fn prepare(context: &RunContext<'_>, cell: &Cell, site: &Site) -> Result<Plan, StoreError> {
    let plan = plan(site, cell, &context.owner, context.timeout_ms)?;
    site.administer(&plan, async |administrator| administrator.create().await)?;
    Ok(plan)
}

fn new_record(cell: &Cell, strategy: Option<Strategy>, position: TrialPosition) -> TrialRecord {
    let strategy = strategy.map(Strategy::name);
    let side = strategy.map_or(Side::Write, |_| Side::Read);
    let part = strategy.map_or_else(|| "write".to_owned(), |name| format!("read-{name}"));
    trial_record(NAME, cell, position, Some(&part), (side, strategy))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::study_protocol;

    #[test]
    fn as_the_study_did_each_repetition_begins_with_the_next_strategy() {
        let named = ["bulk-1", "individual", "bulk"].map(str::to_owned);
        let order = |protocol: Option<&Protocol>, repetition| {
            let strategies = in_turn(protocol, &named, repetition).into_iter();
            strategies.map(Strategy::name).collect::<Vec<_>>()
        };
        let study = study_protocol::protocol(NAME);
        assert!(study.is_some());
        assert_eq!(order(study, 0), ["individual", "bulk", "bulk-1"]);
        assert_eq!(order(study, 1), ["bulk", "bulk-1", "individual"]);
        assert_eq!(order(study, 2), ["bulk-1", "individual", "bulk"]);
        assert_eq!(order(study, 3), order(study, 0));
        assert_eq!(order(None, 1), order(study, 0), "ours stays");
        assert!(in_turn(study, &[], 1).is_empty());
    }
}
