//! The rank that a phase waited for.

/// One rank that took longer than the others.
pub(super) struct Slowest {
    /// How many times as long as the fastest.
    pub times: f64,
    /// What a reader is told of it.
    pub text: String,
}
