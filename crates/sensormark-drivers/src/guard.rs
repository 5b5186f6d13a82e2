//! What a connection has around it: a bound of time, and what is in doubt after a failure.
//!
//! No operation takes longer than it is allowed. One that does is cancelled on the server, and the connection is of no more use: an answer may be on its way.
//! What failed may nevertheless be stored. What only asked or prepared stores nothing, and a transaction that was not yet to be committed neither.

use crate::{Block, Cell, Connection, Driver, EachRow, Fault, Place, Prepared};
use sensormark_store::{ErrorKind, LocalFuture, SessionKind, StoreError};
use std::future::{Future, poll_fn};
use std::ops::{Deref, DerefMut};
use std::pin::Pin;
use std::task::Poll;
use std::time::Duration;
use tokio::time::{Instant, Sleep, sleep, timeout};

/// How much longer than the server's own bound the client waits, so that the server may say so itself.
const GRACE: Duration = Duration::from_millis(250);

/// Opens a connection. The place says how long that and each operation may take.
///
/// # Errors
/// The driver's, and that it takes too long.
pub async fn opened(driver: &dyn Driver, place: &Place) -> Result<Guarded, Fault> {
    // A library in this process bounds its own time, and what it refuses was rolled back.
    if driver.session() == SessionKind::Blocking {
        return Ok(Guarded { connection: driver.open(place).await?, guard: Guard::default() });
    }
    // A driver that ends in time by itself knows more: whether nobody listens, or nobody answers.
    let Ok(opened) = timeout(place.timeout + GRACE, driver.open(place)).await else {
        let millis = place.timeout.as_millis();
        let text = format!("no answer within {millis} ms; check host, port and the server's load");
        let error = StoreError::new(ErrorKind::Timeout, "connect to the server", text);
        return Err(error.with_doubt(false).into());
    };
    Ok(Guarded::new(opened?, place.timeout))
}

/// A connection that is guarded. Operations are its own; what needs no wait is the connection's.
pub struct Guarded {
    connection: Box<dyn Connection>,
    guard: Guard,
}

/// The bound, whether it was passed, and whether a transaction is open.
#[derive(Default)]
struct Guard {
    allowed: Option<Duration>,
    /// None where operations are not bounded here.
    timer: Option<Pin<Box<Sleep>>>,
    passed: bool,
    in_transaction: bool,
}

fn failure(kind: ErrorKind, text: impl Into<String>) -> StoreError {
    StoreError::new(kind, "wait for the database", text)
}

impl Guard {
    /// Waits for an operation. The timer is set anew only when it fires: an operation costs a look at the clock.
    async fn wait<T>(&mut self, mut operation: LocalFuture<'_, Result<T, Fault>>) -> Result<T, Fault> {
        let (Some(allowed), Some(timer)) = (self.allowed, &mut self.timer) else { return operation.await };
        let deadline = Instant::now() + allowed + GRACE;
        let done = poll_fn(|context| {
            if let Poll::Ready(done) = operation.as_mut().poll(context) {
                return Poll::Ready(Some(done));
            }
            while timer.as_mut().poll(context).is_ready() {
                if Instant::now() >= deadline {
                    return Poll::Ready(None);
                }
                timer.as_mut().reset(deadline);
            }
            Poll::Pending
        });
        if let Some(done) = done.await {
            return done;
        }
        self.passed = true;
        let millis = allowed.as_millis();
        let advice = "allow more time, ask for less, or look into the server's log";
        Err(failure(ErrorKind::Timeout, format!("no answer within {millis} ms; {advice}")).into())
    }
}

/// Carries out an operation that may leave something stored behind, or not.
macro_rules! carry_out {
    ($this:ident, stores: $stores:literal, $method:ident($($argument:expr),*)) => {{
        if $this.guard.passed {
            let text = "this session's connection is gone after an earlier failure; connect again";
            return Err(failure(ErrorKind::Unavailable, text).with_doubt(false).into());
        }
        match $this.guard.wait($this.connection.$method($($argument),*)).await {
            Ok(done) => Ok(done),
            // Boxed, so that what seldom happens takes no room in each operation's future.
            Err(fault) => Err(Box::pin($this.failed($stores, fault)).await),
        }
    }};
}

impl Guarded {
    fn new(connection: Box<dyn Connection>, allowed: Duration) -> Self {
        let guard = Guard { timer: Some(Box::pin(sleep(allowed))), ..Guard::default() };
        let mut guarded = Self { connection, guard };
        guarded.within(Some(allowed));
        guarded
    }

    /// What becomes of an operation's failure.
    async fn failed(&mut self, stores: bool, fault: Fault) -> Fault {
        if self.guard.passed {
            // Whether it is heard or not, the connection is given up.
            drop(timeout(GRACE, self.connection.cancel()).await);
        }
        match fault {
            Fault::Known(error) if !stores || self.guard.in_transaction => {
                Fault::Known(error.with_doubt(false))
            }
            fault => fault,
        }
    }

    /// As [`Connection::run`].
    ///
    /// # Errors
    /// The connection's, and that it takes too long; so with all operations.
    pub async fn run(&mut self, text: &str) -> Result<(), Fault> {
        carry_out!(self, stores: true, run(text))?;
        self.guard.in_transaction = text.get(..5).is_some_and(|start| start.eq_ignore_ascii_case("BEGIN"));
        Ok(())
    }

    /// As [`Connection::prepare`].
    ///
    /// # Errors
    /// As [`Guarded::run`].
    pub async fn prepare(&mut self, text: &str, types: &[String]) -> Result<Prepared, Fault> {
        carry_out!(self, stores: false, prepare(text, types))
    }

    /// As [`Connection::query`].
    ///
    /// # Errors
    /// As [`Guarded::run`].
    pub async fn query(
        &mut self,
        statement: Prepared,
        values: &[Cell<'_>],
        each: &mut EachRow<'_>,
    ) -> Result<(), Fault> {
        carry_out!(self, stores: false, query(statement, values, each))
    }

    /// As [`Connection::execute`].
    ///
    /// # Errors
    /// As [`Guarded::run`].
    pub async fn execute(&mut self, statement: Prepared, values: &[Cell<'_>]) -> Result<u64, Fault> {
        carry_out!(self, stores: true, execute(statement, values))
    }

    /// As [`Connection::write`].
    ///
    /// # Errors
    /// As [`Guarded::run`].
    pub async fn write(&mut self, block: Block<'_>) -> Result<u64, Fault> {
        carry_out!(self, stores: true, write(block))
    }

    /// As [`Connection::plan`].
    ///
    /// # Errors
    /// As [`Guarded::run`].
    pub async fn plan(&mut self, explain: &str, values: &[String]) -> Result<Option<String>, Fault> {
        carry_out!(self, stores: false, plan(explain, values))
    }

    /// As [`Connection::close`].
    ///
    /// # Errors
    /// As [`Guarded::run`].
    pub async fn close(self) -> Result<(), Fault> {
        let Self { connection, mut guard } = self;
        guard.wait(connection.close()).await
    }

    /// As [`Connection::within`].
    pub fn within(&mut self, time: Option<Duration>) {
        let before = std::mem::replace(&mut self.guard.allowed, time);
        if let (Some(time), Some(timer)) = (time.filter(|_| before != time), &mut self.guard.timer) {
            timer.as_mut().reset(Instant::now() + time);
        }
        self.connection.within(time);
    }
}

impl Deref for Guarded {
    type Target = dyn Connection;

    fn deref(&self) -> &Self::Target {
        &*self.connection
    }
}

impl DerefMut for Guarded {
    fn deref_mut(&mut self) -> &mut Self::Target {
        &mut *self.connection
    }
}

#[cfg(test)]
mod tests;
