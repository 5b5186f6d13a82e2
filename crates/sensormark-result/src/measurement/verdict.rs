//! Verdicts: whether a trial's figures may be believed, and if not, why.
//!
//! Only valid trials are ranked. Which observation leads to which reason is decided by the `judge` of the engine. It combines them by [`RULES`], which has the
//! words of each, and what excuses it.

use serde::{Deserialize, Serialize};
use std::fmt;

/// The state of a trial that counts although the host was disturbed.
pub const DISTURBED_STATE: &str = "disturbed";
/// The state of a trial that does not count because the host was disturbed.
const NOT_COUNTED: &str = "disturbed, not counted";

/// Whether a trial's figures may be believed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "state", content = "reasons")]
pub enum Verdict {
    /// Nothing speaks against the figures.
    Valid,
    /// They must not be used.
    Invalid(Vec<Reason>),
    /// The host was disturbed, and such trials do not count in this run.
    Inconclusive(Vec<Reason>),
}

/// One reason for a verdict.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Reason {
    /// What kind of reason.
    pub kind: ReasonKind,
    /// What was seen, with figures.
    pub text: String,
}

/// The kinds of reasons.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ReasonKind {
    /// An answer differs from the generator's.
    WrongAnswer,
    /// An acknowledged reading is not stored.
    LostData,
    /// A reading is stored more than once.
    DuplicatedData,
    /// A reading is stored with another time or value, or was never written.
    AlteredData,
    /// More than 1 % of the operations failed.
    Errors,
    /// An operation did not come back in time.
    Hung,
    /// The server stopped during the trial.
    ServerCrashed,
    /// The database could not be started or reached.
    Unreachable,
    /// The trial's own process failed.
    ClientFailed,
    /// The client was the bottleneck.
    ClientBound,
    /// The source could not keep its own pace.
    SourceLate,
    /// Too little was measured.
    TooShort,
    /// The user broke the run off.
    Interrupted,
    /// Steal, swapping or other load on the host.
    HostDisturbed,
    /// Answers came so late that the schedule was lost although the database says nothing was wrong.
    LateAnswers,
}

/// Against whom a kind of reason speaks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Against {
    /// The database: data were wrong or lost, which nothing excuses.
    Data,
    /// The database, whatever the host did.
    Database,
    /// The database, if the host was not disturbed.
    DatabaseOrHost,
    /// Not the database: the host, this program or the user.
    Others,
}

/// What excuses a kind of reason.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd)]
pub enum Excuse {
    /// Nothing.
    Nothing,
    /// A disturbed host. Where that may be the cause of all reasons, the trial is inconclusive and not invalid.
    Host,
    /// The same, and `--tolerate-disturbance` makes it a warning.
    Toleration,
}

/// The judge's table, a row a kind in the order of [`ReasonKind`]: the kind, its words, when it is given, against whom it speaks, and what excuses it. A trial
/// with a reason is never ranked, unless toleration excuses all that it has.
pub static RULES: [(ReasonKind, &str, &str, Against, Excuse); 15] = {
    use {Against::*, Excuse::*, ReasonKind::*};
    [
        (WrongAnswer, "wrong answer", "an answer differs from the generator's", Data, Nothing),
        (LostData, "lost data", "an acknowledged reading is not stored", Data, Nothing),
        (DuplicatedData, "duplicated data", "a reading is stored more than once", Data, Nothing),
        (AlteredData, "altered data", "a reading is not what was written, or should be gone", Data, Nothing),
        (Errors, "errors", "over 1 % of the operations failed", Database, Nothing),
        (Hung, "hung operation", "an operation did not come back in time", DatabaseOrHost, Host),
        (ServerCrashed, "server stopped", "the server stopped by itself", Database, Nothing),
        (Unreachable, "database unreachable", "it could not be started or reached", Others, Nothing),
        (ClientFailed, "client failed", "a process of sensormark failed", Others, Nothing),
        (ClientBound, "client-bound", "the client was the bottleneck", Others, Nothing),
        (SourceLate, "source late", "operations started late, not for the database", Others, Toleration),
        (TooShort, "too short", "too little was measured", Others, Host),
        (Interrupted, "interrupted", "the user broke the run off", Others, Nothing),
        (HostDisturbed, "host disturbed", "steal, swapping or other programs", Others, Toleration),
        (LateAnswers, "late answers", "answers came after the time limit", DatabaseOrHost, Host),
    ]
};

impl ReasonKind {
    /// The kind in words.
    pub fn text(self) -> &'static str {
        RULES[self as usize].1
    }

    /// Against whom it speaks.
    pub fn against(self) -> Against {
        RULES[self as usize].3
    }

    /// What excuses it.
    pub fn excuse(self) -> Excuse {
        RULES[self as usize].4
    }

    /// Whether the database gave wrong data or lost some, which nothing excuses.
    pub fn is_data_fault(self) -> bool {
        self.against() == Against::Data
    }
}

impl Verdict {
    /// The verdict in one word.
    pub const fn word(&self) -> &'static str {
        match self {
            Self::Valid => "valid",
            Self::Invalid(_) => "invalid",
            Self::Inconclusive(_) => NOT_COUNTED,
        }
    }

    /// The verdict in words, of a trial whose host was disturbed in these ways: one that counts nevertheless is not called valid. It is one line, so it has the
    /// first of them alone.
    pub fn told(&self, disturbances: &[impl AsRef<str>]) -> String {
        match self {
            Self::Valid if !disturbances.is_empty() => {
                let first = disturbances[0].as_ref();
                let more = match disturbances.len() - 1 {
                    0 => String::new(),
                    more => format!("; {more} more: --full"),
                };
                format!("{DISTURBED_STATE} ({first}{more})")
            }
            verdict => verdict.to_string(),
        }
    }

    /// Whether the figures may be ranked.
    pub const fn is_valid(&self) -> bool {
        matches!(self, Self::Valid)
    }

    /// Whether a disturbed host kept the trial from a conclusion.
    pub const fn is_inconclusive(&self) -> bool {
        matches!(self, Self::Inconclusive(_))
    }

    /// Whether data was wrong or lost.
    pub fn has_data_fault(&self) -> bool {
        self.reasons().iter().any(|reason| reason.kind.is_data_fault())
    }

    /// Whether a later attempt of the same trial, with this verdict, counts instead of one with the earlier verdict. The first conclusive attempt counts,
    /// unless a later one shows data that was wrong or lost.
    pub(super) fn counts_instead_of(&self, earlier: &Self) -> bool {
        earlier.is_inconclusive() || (self.has_data_fault() && !earlier.has_data_fault())
    }

    /// The reasons, none for a valid trial.
    pub fn reasons(&self) -> &[Reason] {
        match self {
            Self::Valid => &[],
            Self::Invalid(reasons) | Self::Inconclusive(reasons) => reasons,
        }
    }
}

impl Reason {
    /// A reason of this kind.
    pub fn new(kind: ReasonKind, text: impl Into<String>) -> Self {
        Self { kind, text: text.into() }
    }
}

impl fmt::Display for Verdict {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let word = match self {
            Self::Valid => return formatter.write_str(self.word()),
            Self::Invalid(_) | Self::Inconclusive(_) => self.word(),
        };
        let reasons: Vec<String> =
            self.reasons().iter().map(|reason| format!("{}: {}", reason.kind.text(), reason.text)).collect();
        write!(formatter, "{word} ({})", reasons.join("; "))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_conclusion_counts_unless_data_was_wrong_later() {
        let reasons = |kind| vec![Reason::new(kind, "so")];
        let verdict = |kind| Verdict::Invalid(reasons(kind));
        let disturbed = Verdict::Inconclusive(reasons(ReasonKind::HostDisturbed));
        let lost = verdict(ReasonKind::LostData);
        let crashed = verdict(ReasonKind::ServerCrashed);
        assert!(Verdict::Valid.counts_instead_of(&disturbed));
        assert!(disturbed.counts_instead_of(&disturbed));
        assert!(lost.counts_instead_of(&Verdict::Valid) && lost.counts_instead_of(&crashed));
        for later in [&Verdict::Valid, &disturbed, &crashed] {
            assert!(!later.counts_instead_of(&Verdict::Valid), "{later}");
            assert!(!later.counts_instead_of(&lost), "{later}");
        }
    }

    #[test]
    fn each_kind_has_its_row_and_nothing_excuses_wrong_data() {
        for (row, (kind, _, _, against, excuse)) in RULES.iter().enumerate() {
            assert_eq!(*kind as usize, row, "{kind:?}");
            assert!(*against != Against::Data || *excuse == Excuse::Nothing, "{kind:?}");
        }
    }

    #[test]
    fn the_page_on_methods_has_the_table() {
        let page = include_str!("../../../../docs/explanation/methodology.md");
        for (_, text, when, against, excuse) in &RULES {
            let against = match against {
                Against::Data => "the data",
                Against::Database => "the database",
                Against::DatabaseOrHost => "the database or the host",
                Against::Others => "others",
            };
            let excuse = if *excuse == Excuse::Nothing { "no" } else { "yes" };
            let row = format!("| {text} | {when} | {against} | {excuse} |");
            assert!(page.contains(&row), "{row}");
        }
    }

    #[test]
    fn a_disturbed_trial_never_reads_as_valid() {
        let quiet: [&str; 0] = [];
        assert_eq!(Verdict::Valid.told(&quiet), "valid");
        assert_eq!(Verdict::Valid.told(&["measured: steal"]), "disturbed (measured: steal)");
        let lost = Verdict::Invalid(vec![Reason::new(ReasonKind::LostData, "1")]);
        assert_eq!(lost.told(&["steal"]), "invalid (lost data: 1)");
    }
}
