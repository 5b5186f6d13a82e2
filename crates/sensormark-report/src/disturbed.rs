//! Which trials count although the host was disturbed: what they show may be the disturbance's doing, so that nothing is decided by them.

use crate::prelude::*;

/// The arm's trials that are valid although the host was disturbed.
pub fn tolerated<'a>(field: &'a Field, arm: &'a Arm) -> impl Iterator<Item = &'a TrialRecord> {
    field.valid_of(arm).filter(|trial| trial.is_rough())
}
