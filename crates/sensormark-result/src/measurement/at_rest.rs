//! How many readings a database held when it was at rest: what its disk is of, and the size that a report speaks of. It is no count of what was written later.

use super::names;
use super::record::{LoadRecord, PhaseRecord, TrialRecord};
use sensormark_data::units::{Total, round_u64};

impl TrialRecord {
    /// Readings that were stored when the disk was last measured; what was written after that is in the ledger and not on that disk. All that were stored where
    /// the disk was not seen, and none where nothing was counted or stored.
    pub fn readings_at_rest(&self) -> Option<u64> {
        let is_settled = |phase: &PhaseRecord| {
            let name = format!("{}/{}", names::DISK_SETTLED, phase.name);
            self.figures.contains_key(&name)
        };
        let settled = self.phases.iter().rposition(is_settled);
        // What databases before it held is in the ledger, too.
        let known = settled.and_then(|place| {
            let name = format!("{}/{}", names::READINGS_AT_REST, self.phases[place].name);
            self.figures.get(&name)?.value
        });
        if let Some(stored) = known.filter(|stored| *stored > 0.0) {
            return Some(round_u64(stored));
        }
        let later = settled.map_or(&[][..], |place| &self.phases[place + 1..]);
        let is_later = |load: &&LoadRecord| later.iter().any(|phase| phase.name == load.phase);
        let writes = self.loads.iter().filter(|load| load.writes);
        let written: u64 = writes.filter(is_later).map(LoadRecord::readings).total();
        let ledger = self.ledger.as_ref()?;
        let stored = (ledger.stored + ledger.history).checked_sub(written)?;
        (stored > 0).then_some(stored)
    }
}
