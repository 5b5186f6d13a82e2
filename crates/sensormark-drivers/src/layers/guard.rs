//! What a connection that waits for a server has around it: a bound of time, and what is in doubt after a failure.
//!
//! No operation takes longer than it is allowed. One that does is cancelled on the server, and the connection is of no more use: an answer may be on its way.
//! What failed may nevertheless be stored. What only asked or prepared stores nothing, and a transaction that was not yet to be committed neither.

use super::{Layer, Layered, Operation};
use crate::{Connection, Driver, Fault, Place};
use sensormark_store::{ErrorKind, LocalFuture, StoreError};
use std::future::{Future, poll_fn, ready};
use std::pin::Pin;
use std::task::Poll;
use std::time::Duration;
use tokio::time::{Instant, Sleep, sleep, timeout};

/// How much longer than the server's own bound the client waits, so that the server may say so itself.
const GRACE: Duration = Duration::from_millis(250);

/// Opens a connection and bounds its operations, all by the time that the place allows.
///
/// # Errors
/// The driver's, and that it takes too long.
pub async fn opened(driver: &dyn Driver, place: &Place) -> Result<Layered<Guard>, Fault> {
    let Ok(opened) = timeout(place.timeout, driver.open(place)).await else {
        let millis = place.timeout.as_millis();
        let text = format!("no answer within {millis} ms; check host, port and the server's load");
        let error = StoreError::new(ErrorKind::Timeout, "connect to the server", text);
        return Err(error.with_doubt(false).into());
    };
    let mut connection = Layered::around(opened?, Guard::new(place.timeout));
    connection.within(Some(place.timeout));
    Ok(connection)
}

/// The bound, whether it was passed, and whether a transaction is open.
pub struct Guard {
    allowed: Option<Duration>,
    /// None where operations are not bounded here.
    timer: Option<Pin<Box<Sleep>>>,
    passed: bool,
    in_transaction: bool,
}

impl Guard {
    /// Operations take this long at most.
    pub fn new(allowed: Duration) -> Self {
        Self { allowed: Some(allowed), timer: Some(Box::pin(sleep(allowed))), ..Self::without_time() }
    }

    /// Operations are not bounded: what waits for nobody bounds its own time.
    pub const fn without_time() -> Self {
        Self { allowed: None, timer: None, passed: false, in_transaction: false }
    }

    fn error(kind: ErrorKind, text: String) -> StoreError {
        StoreError::new(kind, "wait for the database", text)
    }
}

impl Layer for Guard {
    fn before<'a>(
        &'a mut self,
        _: &'a mut Box<dyn Connection>,
    ) -> Option<LocalFuture<'a, Result<(), Fault>>> {
        let text = "this session's connection is gone after an earlier failure; connect again";
        let gone = || Self::error(ErrorKind::Unavailable, text.to_owned()).with_doubt(false).into();
        self.passed.then(|| Box::pin(ready(Err(gone()))) as LocalFuture<'a, _>)
    }

    /// The timer is set anew only when it fires: an operation costs a look at the clock.
    async fn during<T>(&mut self, mut operation: LocalFuture<'_, Result<T, Fault>>) -> Result<T, Fault> {
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
        let text = format!(
            "no answer within {} ms; allow more time, ask for less, or look into the server's log",
            allowed.as_millis()
        );
        Err(Self::error(ErrorKind::Timeout, text).into())
    }

    async fn failed(
        &mut self,
        connection: &mut Box<dyn Connection>,
        operation: Operation,
        fault: Fault,
    ) -> Fault {
        if self.passed {
            // Whether it is heard or not, the connection is given up.
            drop(timeout(GRACE, connection.cancel()).await);
        }
        match fault {
            Fault::Known(error) if operation == Operation::Read || self.in_transaction => {
                Fault::Known(error.with_doubt(false))
            }
            fault => fault,
        }
    }

    fn has_run(&mut self, text: &str) {
        self.in_transaction = text.get(..5).is_some_and(|start| start.eq_ignore_ascii_case("BEGIN"));
    }

    fn within(&mut self, time: Option<Duration>) {
        let before = std::mem::replace(&mut self.allowed, time);
        if let (Some(time), Some(timer)) = (time.filter(|_| before != time), &mut self.timer) {
            timer.as_mut().reset(Instant::now() + time);
        }
    }
}
