//! An operation of several questions, each made from the answers before it: a search by steps, say.
//!
//! All its questions lie inside one span, from when the first is sent to when the last is answered. What came is summed up right after the span, so
//! that it takes little memory, and compared when the phase is over. The questions themselves are a workload's
//! ([`Operations::inquire`](super::operations::Operations::inquire)).

use super::connection::Connection;
use sensormark_store::{Answer, LocalFuture, Query, Session, StoreError};
use std::fmt;

/// What questions are asked of: a client's connection, or a session that keeps its statements.
pub trait Asker {
    /// Asks one question.
    fn ask<'a>(&'a mut self, query: &'a Query) -> LocalFuture<'a, Result<Answer, StoreError>>;
}

impl Asker for Connection<'_> {
    fn ask<'a>(&'a mut self, query: &'a Query) -> LocalFuture<'a, Result<Answer, StoreError>> {
        Box::pin(self.query(query))
    }
}

/// A session, as it is.
pub struct Plain<'s>(pub &'s mut dyn Session);

impl Asker for Plain<'_> {
    fn ask<'a>(&'a mut self, query: &'a Query) -> LocalFuture<'a, Result<Answer, StoreError>> {
        self.0.query(query)
    }
}

/// What an operation of several questions led to.
pub struct Inquired {
    /// How many questions it took.
    pub questions: u64,
    /// How many readings it found.
    pub readings: u64,
    /// Why it found nothing, where the database answered and its answers hold nothing: which may be right.
    pub nothing: Option<String>,
    /// Sums up what came. Called right after the operation, outside its span.
    pub sum_up: Box<dyn FnOnce() -> Comparison>,
}

/// What a comparison led to.
#[derive(Debug, Default)]
pub struct Compared {
    /// The first difference from what is right, in words.
    pub difference: Option<String>,
    /// What is right, and worth being counted and reported ("reads rightly found no whole cycle").
    pub note: Option<String>,
}

/// What was summed up of an operation, small enough to be kept until the phase is over; compared then.
pub struct Comparison(Box<dyn FnOnce() -> Compared + Send>);

impl Comparison {
    /// This comparison.
    pub fn new(compare: impl FnOnce() -> Compared + Send + 'static) -> Self {
        Self(Box::new(compare))
    }

    /// Compares.
    pub fn compare(self) -> Compared {
        (self.0)()
    }
}

impl fmt::Debug for Comparison {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("Comparison")
    }
}
