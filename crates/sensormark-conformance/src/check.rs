//! How a check says that a rule is broken, or that it does not apply.

use sensormark_store::error::StoreError;
use std::fmt;

/// What a check gives, or what is wrong.
pub(super) type Check<T = ()> = Result<T, Broken>;

/// A rule that is broken, in words.
#[derive(Debug)]
pub(super) struct Broken(pub(super) String);

/// A rule that is kept, or does not apply to this store and layout.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Verdict {
    /// The store was tried and did as the rule says.
    Kept,
    /// Why the rule does not apply.
    Ignored(String),
}

impl From<StoreError> for Broken {
    fn from(error: StoreError) -> Self {
        Self(error.to_string())
    }
}

impl From<String> for Broken {
    fn from(text: String) -> Self {
        Self(text)
    }
}

impl fmt::Display for Broken {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.0)
    }
}

/// Says more of what was being done when a rule broke.
pub(super) trait While {
    /// The same with these words before it.
    fn while_doing(self, what: impl FnOnce() -> String) -> Self;
}

impl<T> While for Check<T> {
    fn while_doing(self, what: impl FnOnce() -> String) -> Self {
        self.map_err(|Broken(text)| Broken(format!("{}: {text}", what())))
    }
}

/// Breaks the rule unless the condition holds.
macro_rules! ensure {
    ($condition:expr, $($text:tt)+) => {
        if !$condition {
            return Err($crate::check::Broken(format!($($text)+)));
        }
    };
}
pub(super) use ensure;
