//! The rank that a phase waited for.

/// One rank that took longer than the others.
pub(super) struct Slowest {
    /// How many times as long as the fastest.
    pub times: f64,
    /// What the report says about it.
    pub text: String,
}
