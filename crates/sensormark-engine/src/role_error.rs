//! Why a role did not do what it should, with its host where that is another. The messages to and from a role are in [`super::role`].

/// Why a role did not do what it should.
#[derive(Debug, thiserror::Error)]
pub enum RoleError {
    /// The process could not be started.
    #[error("cannot start the {role} process{place}: {source}")]
    Start {
        /// The role.
        role: String,
        /// Where it runs: empty for this machine, else " on " and the host's name.
        place: String,
        /// Why not.
        source: std::io::Error,
    },
    /// The process said that it failed.
    #[error("{role}{place}: {message}")]
    Failed {
        /// The role.
        role: String,
        /// Where it runs: empty for this machine, else " on " and the host's name.
        place: String,
        /// Whether the database could not be reached.
        unreachable: bool,
        /// What it said.
        message: String,
    },
    /// The process ended without a word.
    #[error("the {role} process{place} ended early ({status}){messages}")]
    Ended {
        /// The role.
        role: String,
        /// Where it runs: empty for this machine, else " on " and the host's name.
        place: String,
        /// How it ended.
        status: String,
        /// Its last messages, with a leading separator.
        messages: String,
    },
    /// Nothing came in time.
    #[error("the {role} process{place} said nothing for {seconds} s")]
    Silent {
        /// The role.
        role: String,
        /// Where it runs: empty for this machine, else " on " and the host's name.
        place: String,
        /// How long was waited.
        seconds: u64,
    },
    /// What its host's clock shows is not known.
    #[error(
        "the offset of the clock{place} is not known: the process there answered no question about it within {seconds} s. Let the launcher pass standard input and output on at once, and start again"
    )]
    NoClock {
        /// Where it runs: " on " and the host's name.
        place: String,
        /// How long was waited.
        seconds: u64,
    },
    /// It said what cannot be.
    #[error(
        "the {role} process{place} sent a report that cannot be right: {problem}; is it the same sensormark?"
    )]
    Implausible {
        /// The role.
        role: String,
        /// Where it runs: empty for this machine, else " on " and the host's name.
        place: String,
        /// What cannot be.
        problem: String,
    },
    /// The user broke the run off.
    #[error("interrupted")]
    Interrupted,
}
