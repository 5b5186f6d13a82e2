//! Before a phase: whether it can be measured at all, and what its processes get to know of what was written before.

use super::super::protocol::{DoubtfulLoad, Prepare};
use super::super::role::asked_about;
use super::super::script::{About, PhaseSpec, find};
use super::super::support::{Support, support};
use super::Coordinator;

impl Coordinator<'_> {
    /// By load: what the client does; and why the phase cannot be measured.
    pub(super) fn supported(&self, phase: &PhaseSpec) -> (Vec<Option<String>>, Option<String>) {
        let (mut client_side, mut missing) = (Vec::new(), None);
        for load in &phase.loads {
            let store = self.deployment.store();
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
