//! The faults, and how they are written: `drop:100`, `late:50:10`, `wrong-answer:first`.

use sensormark_store::error::{ErrorKind, StoreError};
use sensormark_store::query::Ask;
use sensormark_store::schema::TimeResolution;
use std::fmt;
use std::str::FromStr;

/// All faults: how they are written, where `[…]` may be left out (then every one), and what they do.
pub const FAULTS: [(&str, &str); 12] = [
    ("drop:N", "acknowledges every Nth reading without writing it"),
    ("duplicate:N", "writes every Nth reading twice"),
    ("corrupt:N", "changes the first value of every Nth reading before it is written"),
    ("round:UNIT", "cuts times off to 1us, 1ms or 1s before they are written"),
    ("wrong-aggregate[:N]", "changes the first value of every Nth aggregate"),
    (
        "wrong-answer:KIND[:N]",
        "changes every Nth answer of a kind: point, range, first, last, minimum, aggregate, last-reading, series-matching",
    ),
    ("empty-answer[:N]", "gives every Nth answer as empty"),
    ("late:MS[:N]", "holds the result of every Nth operation back for MS milliseconds"),
    ("error[:N]", "fails every Nth operation without doing it"),
    ("hang[:MS[:N]]", "waits MS milliseconds before every Nth operation, or for ever"),
    (
        "cut:N",
        "does the Nth operation, then breaks the connection: it and all later ones of the session fail",
    ),
    (
        "spin:PERCENT[:N]",
        "keeps the processor busy after every Nth operation for PERCENT of the time that it took",
    ),
];

/// One fault. Numbers count from 1 in each session; a fault strikes at each multiple of `every`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fault {
    /// Acknowledges readings without writing them.
    Drop {
        /// Which readings.
        every: u64,
    },
    /// Writes readings twice.
    Duplicate {
        /// Which readings.
        every: u64,
    },
    /// Changes the first value of readings before they are written.
    Corrupt {
        /// Which readings.
        every: u64,
    },
    /// Cuts times off before they are written.
    Round {
        /// What is kept of them.
        to: TimeResolution,
    },
    /// Changes answers. Answers that hold nothing are neither counted nor changed.
    WrongAnswer {
        /// To which questions.
        kind: AnswerKind,
        /// Which of these answers.
        every: u64,
    },
    /// Empties answers.
    EmptyAnswer {
        /// Which answers that hold something.
        every: u64,
    },
    /// Holds results back.
    Late {
        /// For how long, in ms.
        by_ms: u64,
        /// The results of which operations.
        every: u64,
    },
    /// Fails operations without doing them, with [`ErrorKind::Rejected`].
    Error {
        /// Which operations.
        every: u64,
    },
    /// Waits before operations.
    Hang {
        /// For how long, in ms. Without it the wait never ends.
        length_ms: Option<u64>,
        /// Before which operations.
        every: u64,
    },
    /// Breaks the connection after an operation is done, with [`ErrorKind::Unavailable`], in doubt.
    Cut {
        /// After how many operations.
        every: u64,
    },
    /// Keeps the processor busy after operations.
    Spin {
        /// For this much of the operation's own duration, in percent.
        percent: u32,
        /// Which operations.
        every: u64,
    },
}

/// Kinds of questions, one for each [`Ask`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AnswerKind {
    /// [`Ask::Point`].
    Point,
    /// [`Ask::Range`].
    Range,
    /// [`Ask::First`].
    First,
    /// [`Ask::Last`].
    Last,
    /// [`Ask::Minimum`].
    Minimum,
    /// [`Ask::Aggregate`].
    Aggregate,
    /// [`Ask::LastReading`].
    LastReading,
    /// [`Ask::SeriesMatching`].
    SeriesMatching,
    /// [`Ask::Derived`].
    Derived,
}

impl AnswerKind {
    /// All kinds.
    pub const ALL: [Self; 9] = [
        Self::Point,
        Self::Range,
        Self::First,
        Self::Last,
        Self::Minimum,
        Self::Aggregate,
        Self::LastReading,
        Self::SeriesMatching,
        Self::Derived,
    ];

    /// The kind of this question.
    pub const fn of(ask: &Ask) -> Self {
        match ask {
            Ask::Point { .. } => Self::Point,
            Ask::Range { .. } => Self::Range,
            Ask::First(_) => Self::First,
            Ask::Last(_) => Self::Last,
            Ask::Minimum { .. } => Self::Minimum,
            Ask::Aggregate { .. } => Self::Aggregate,
            Ask::LastReading { .. } => Self::LastReading,
            Ask::SeriesMatching(_) => Self::SeriesMatching,
            Ask::Derived(_) => Self::Derived,
        }
    }

    /// The kind's name in a fault.
    pub const fn text(self) -> &'static str {
        match self {
            Self::Point => "point",
            Self::Range => "range",
            Self::First => "first",
            Self::Last => "last",
            Self::Minimum => "minimum",
            Self::Aggregate => "aggregate",
            Self::LastReading => "last-reading",
            Self::SeriesMatching => "series-matching",
            Self::Derived => "derived",
        }
    }
}

impl FromStr for Fault {
    type Err = StoreError;

    fn from_str(text: &str) -> Result<Self, StoreError> {
        let parts: Vec<&str> = text.split(':').collect();
        parse(&parts).ok_or_else(|| {
            let patterns = FAULTS.map(|(pattern, _)| pattern).join(", ");
            StoreError::new(
                ErrorKind::Configuration,
                "read a fault",
                format!("{text:?} is none of {patterns}"),
            )
        })
    }
}

fn resolution(unit: &str) -> Option<TimeResolution> {
    match unit {
        "1us" => Some(TimeResolution::Microseconds),
        "1ms" => Some(TimeResolution::Milliseconds),
        "1s" => Some(TimeResolution::Seconds),
        _ => None,
    }
}

fn parse(parts: &[&str]) -> Option<Fault> {
    let number = |text: &&str| text.parse::<u64>().ok().filter(|&number| number > 0);
    let every = |rest: &[&str]| match rest {
        [] => Some(1),
        [text] => number(text),
        _ => None,
    };
    let (&name, rest) = parts.split_first()?;
    let fault = match (name, rest) {
        ("drop", [_]) => Fault::Drop { every: every(rest)? },
        ("duplicate", [_]) => Fault::Duplicate { every: every(rest)? },
        ("corrupt", [_]) => Fault::Corrupt { every: every(rest)? },
        ("round", [unit]) => Fault::Round { to: resolution(unit)? },
        ("wrong-aggregate", rest) => Fault::WrongAnswer { kind: AnswerKind::Aggregate, every: every(rest)? },
        ("wrong-answer", [kind, rest @ ..]) => Fault::WrongAnswer {
            kind: AnswerKind::ALL.into_iter().find(|known| known.text() == *kind)?,
            every: every(rest)?,
        },
        ("empty-answer", rest) => Fault::EmptyAnswer { every: every(rest)? },
        ("late", [by, rest @ ..]) => Fault::Late { by_ms: number(by)?, every: every(rest)? },
        ("error", rest) => Fault::Error { every: every(rest)? },
        ("hang", []) => Fault::Hang { length_ms: None, every: 1 },
        ("hang", [length, rest @ ..]) => {
            Fault::Hang { length_ms: Some(number(length)?), every: every(rest)? }
        }
        ("cut", [_]) => Fault::Cut { every: every(rest)? },
        ("spin", [percent, rest @ ..]) => Fault::Spin {
            percent: percent.parse().ok().filter(|&percent| percent <= 10_000)?,
            every: every(rest)?,
        },
        _ => return None,
    };
    Some(fault)
}

impl fmt::Display for Fault {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Drop { every } => write!(formatter, "drop:{every}"),
            Self::Duplicate { every } => write!(formatter, "duplicate:{every}"),
            Self::Corrupt { every } => write!(formatter, "corrupt:{every}"),
            Self::Round { to } => write!(
                formatter,
                "round:1{}",
                match to {
                    TimeResolution::Nanoseconds => "ns",
                    TimeResolution::Microseconds => "us",
                    TimeResolution::Milliseconds => "ms",
                    TimeResolution::Seconds => "s",
                }
            ),
            Self::WrongAnswer { kind, every } => {
                write!(formatter, "wrong-answer:{}:{every}", kind.text())
            }
            Self::EmptyAnswer { every } => write!(formatter, "empty-answer:{every}"),
            Self::Late { by_ms, every } => write!(formatter, "late:{by_ms}:{every}"),
            Self::Error { every } => write!(formatter, "error:{every}"),
            Self::Hang { length_ms: None, .. } => formatter.write_str("hang"),
            Self::Hang { length_ms: Some(length), every } => write!(formatter, "hang:{length}:{every}"),
            Self::Cut { every } => write!(formatter, "cut:{every}"),
            Self::Spin { percent, every } => write!(formatter, "spin:{percent}:{every}"),
        }
    }
}
