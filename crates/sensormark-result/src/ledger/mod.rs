//! What was attempted, acknowledged and stored: exact counts.
//!
//! [`journal`] is how a writer passes on what was acknowledged, [`reconcile`](fn@reconcile::reconcile) compares it with
//! what the database gives back. The rule that both keep: acknowledged ≤ stored ≤ acknowledged + in doubt.
//! What a difference means for a trial is decided in `judge::data` of the engine.

pub mod journal;
pub mod reconcile;
