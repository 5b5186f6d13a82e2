//! One error for all databases: what kind, may it be tried again, what was being done, and the native cause.
//!
//! Stores map native codes one by one (each store's `error.rs`); they do not lump them together. Messages never hold a password.

use std::error::Error;
use std::fmt;

/// What kind of failure it was.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ErrorKind {
    /// Nobody listens, the connection broke, or the server shut down.
    Unavailable,
    /// No answer within the time allowed.
    Timeout,
    /// Wrong user or password, or no right to do this.
    Authentication,
    /// The database, table or series is not there.
    NotFound,
    /// Something of this name is there that sensormark did not make.
    Foreign,
    /// A constraint was violated (a duplicate key, say).
    Conflict,
    /// The statement, document or message is too large.
    TooLarge,
    /// No space is left for data.
    DiskFull,
    /// The server is overloaded: too many connections, out of memory, back-pressure.
    Overload,
    /// The server refused the statement for another reason.
    Rejected,
    /// The store cannot do this.
    Unsupported,
    /// The answer could not be understood.
    Protocol,
    /// The configuration or URL is wrong.
    Configuration,
    /// The server's program is not installed.
    NotInstalled,
    /// The server stopped without being asked to.
    Crashed,
}

impl ErrorKind {
    /// The kind in words, which messages and tables show.
    pub const fn text(self) -> &'static str {
        match self {
            Self::Unavailable => "unavailable",
            Self::Timeout => "timeout",
            Self::Authentication => "authentication failed",
            Self::NotFound => "not found",
            Self::Foreign => "not made by sensormark",
            Self::Conflict => "conflict",
            Self::TooLarge => "too large",
            Self::DiskFull => "disk full",
            Self::Overload => "overloaded",
            Self::Rejected => "rejected",
            Self::Unsupported => "not supported",
            Self::Protocol => "unexpected answer",
            Self::Configuration => "wrong configuration",
            Self::NotInstalled => "not installed",
            Self::Crashed => "server stopped",
        }
    }

    /// Whether the same thing may succeed when it is tried again.
    pub const fn is_retryable(self) -> bool {
        matches!(self, Self::Unavailable | Self::Timeout | Self::Overload)
    }
}

/// A failure of a store.
#[derive(Debug)]
pub struct StoreError {
    kind: ErrorKind,
    operation: String,
    context: String,
    in_doubt: bool,
    acknowledged: u64,
    source: Option<Box<dyn Error + Send + Sync>>,
}

impl StoreError {
    /// A failure of `operation` ("connect to PostgreSQL"); `context` says what happened and what to try next.
    pub fn new(kind: ErrorKind, operation: impl Into<String>, context: impl Into<String>) -> Self {
        Self {
            kind,
            operation: operation.into(),
            context: context.into(),
            in_doubt: matches!(kind, ErrorKind::Timeout | ErrorKind::Unavailable | ErrorKind::Crashed),
            acknowledged: 0,
            source: None,
        }
    }

    /// The store cannot do this.
    pub fn unsupported(operation: impl Into<String>, reason: impl Into<String>) -> Self {
        Self::new(ErrorKind::Unsupported, operation, reason)
    }

    /// The native error beneath.
    #[must_use]
    pub fn with_source(mut self, source: impl Into<Box<dyn Error + Send + Sync>>) -> Self {
        self.source = Some(source.into());
        self
    }

    /// Whether a write that failed so may nevertheless be stored. By default: time-outs and broken connections, but not
    /// a connection that was refused before anything was sent (the store says so by this method).
    #[must_use]
    pub const fn with_doubt(mut self, in_doubt: bool) -> Self {
        self.in_doubt = in_doubt;
        self
    }

    /// How many readings of the batch, from its start, were acknowledged before the failure (a batch that was split).
    #[must_use]
    pub const fn after_acknowledging(mut self, readings: u64) -> Self {
        self.acknowledged = readings;
        self
    }

    /// What kind of failure it was.
    pub const fn kind(&self) -> ErrorKind {
        self.kind
    }

    /// What was being done.
    pub fn operation(&self) -> &str {
        &self.operation
    }

    /// What happened, in words.
    pub fn context(&self) -> &str {
        &self.context
    }

    /// Whether the write may nevertheless be stored.
    pub const fn is_in_doubt(&self) -> bool {
        self.in_doubt
    }

    /// How many readings of the batch, from its start, were acknowledged before the failure.
    pub const fn acknowledged(&self) -> u64 {
        self.acknowledged
    }
}

impl fmt::Display for StoreError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}: {}: {}", self.operation, self.kind.text(), self.context)
    }
}

impl Error for StoreError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        self.source.as_deref().map(|source| source as &(dyn Error + 'static))
    }
}
