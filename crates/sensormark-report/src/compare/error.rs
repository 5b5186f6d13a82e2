//! Why nothing can be compared.

/// Why two runs, or the implementations of one, cannot be compared.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum CompareError {
    /// They are of different workloads.
    #[error("the first run is of {first}, the second of {second}: only runs of one workload can be compared")]
    Workloads {
        /// The first's.
        first: String,
        /// The second's.
        second: String,
    },
    /// Nothing was measured in both.
    #[error("no implementation has valid trials in both runs, so there is nothing to compare")]
    NothingInCommon,
    /// The one run has nothing to go by.
    #[error("no trial of the run is valid, so there is nothing to compare: see sensormark report")]
    NothingValid,
    /// The one run has nobody else.
    #[error(
        "the run has valid trials of {0} alone: give a second run, or measure several implementations in one"
    )]
    NobodyElse(String),
}
