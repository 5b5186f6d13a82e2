//! What was attempted, acknowledged and stored: exact counts.
//!
//! [`journal`] is how a writer passes on what was acknowledged, [`reconcile`](fn@reconcile::reconcile) compares it with
//! what the database gives back. The rule that both keep: acknowledged ≤ stored ≤ acknowledged + in doubt.
//! What a difference means for a trial is decided in [`reasons`].

pub mod journal;
pub mod reconcile;

use crate::measurement::record::LedgerRecord;
use crate::measurement::verdict::{Reason, ReasonKind};

/// What speaks against a trial with this ledger; nothing when every acknowledged reading is stored once and unaltered.
pub fn reasons(ledger: &LedgerRecord) -> Vec<Reason> {
    let mut reasons = Vec::new();
    let mut push = |kind, count: u64, text: &str| {
        if count > 0 {
            reasons.push(Reason::new(kind, format!("{count} {text}")));
        }
    };
    push(
        ReasonKind::LostData,
        ledger.lost,
        "acknowledged readings are not stored",
    );
    push(
        ReasonKind::DuplicatedData,
        ledger.duplicated,
        "readings are stored more than once",
    );
    push(
        ReasonKind::AlteredData,
        ledger.altered,
        "stored readings differ from what was written",
    );
    reasons
}
