//! One connection to the server, driven in line with what waits for it.
//!
//! The driver splits a connection in two: a client that sends requests and a connection that does the input and output. Here one task polls both, in the order
//! in which they wake each other. So a request costs one wake-up by the kernel and no change of tasks. It holds the time-out and the cache of prepared
//! statements; it knows neither tables nor layouts.

use crate::config::Options;
use crate::driver::Driver;
use crate::error::store_error;
use crate::sent::Kept;
use futures_util::task::AtomicWaker;
use sensormark_store::{ErrorKind, StoreError};
use std::future::{Future, poll_fn};
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll, Wake, Waker};
use std::time::Duration;
use tokio::time::{Instant, Sleep};
use tokio_postgres::{Client, Error};

/// How much longer than the server's own statement time-out the client waits, so that the server may say so itself.
const GRACE: Duration = Duration::from_millis(250);

/// A connected client: requests go through `client`, and only progress while [`Wire::run`] runs.
pub(crate) struct Link {
    /// What sends requests.
    pub(crate) client: Client,
    /// What does the input and output for it.
    pub(crate) wire: Wire,
    /// How the server plans prepared statements now.
    pub(crate) planning: Planning,
    /// What was sent, where statements are shown.
    pub(crate) kept: Kept,
}

/// How the server plans prepared statements.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Planning {
    /// Once and for all values, when that looks as good as a plan for the values: its default.
    Once,
    /// Each time, with the values. Without values the server takes any range of time for a small one, and picks plans that take twice as long over a large one.
    EachTime,
}

impl Planning {
    /// The statement that makes the server plan so.
    pub(crate) const fn statement(self) -> &'static str {
        match self {
            Self::Once => "SET plan_cache_mode = auto",
            Self::EachTime => "SET plan_cache_mode = force_custom_plan",
        }
    }
}

/// The half of a connection that does input and output, with the time allowed.
pub(crate) struct Wire {
    connection: Box<dyn Driver>,
    gates: Gates,
    timer: Pin<Box<Sleep>>,
    timeout: Duration,
    broken: Option<ErrorKind>,
}

/// A waker that notes who was woken, and wakes the task only when it is not running anyway.
struct Gate {
    woken: AtomicBool,
    shared: Arc<Shared>,
}

struct Shared {
    polling: AtomicBool,
    task: AtomicWaker,
}

impl Wake for Gate {
    fn wake(self: Arc<Self>) {
        self.wake_by_ref();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        self.woken.store(true, Ordering::Release);
        if !self.shared.polling.load(Ordering::Acquire) {
            self.shared.task.wake();
        }
    }
}

/// One gate for each side.
struct Gates {
    shared: Arc<Shared>,
    connection: (Arc<Gate>, Waker),
    request: (Arc<Gate>, Waker),
}

impl Gates {
    fn new() -> Self {
        let shared = Arc::new(Shared { polling: AtomicBool::new(false), task: AtomicWaker::new() });
        let gate = || {
            let gate = Arc::new(Gate { woken: AtomicBool::new(false), shared: Arc::clone(&shared) });
            (Arc::clone(&gate), Waker::from(gate))
        };
        let (connection, request) = (gate(), gate());
        Self { shared, connection, request }
    }
}

impl Link {
    /// Connects within the time allowed.
    pub(crate) async fn open(
        options: &Options,
        database: &str,
        timeout: Duration,
    ) -> Result<Self, StoreError> {
        let connecting = options.connect(database, timeout);
        Self::of(connecting, timeout).await
    }

    /// Connects to a server that answers questions alone, within the time allowed.
    pub(crate) async fn open_replica(
        options: &Options,
        database: &str,
        timeout: Duration,
    ) -> Result<Self, StoreError> {
        let connecting = options.connect_to_replica(database, timeout);
        Self::of(connecting, timeout).await
    }

    async fn of(
        connecting: impl Future<Output = Result<(Client, Box<dyn Driver>), StoreError>>,
        timeout: Duration,
    ) -> Result<Self, StoreError> {
        let (client, connection) = match tokio::time::timeout(timeout, connecting).await {
            Ok(connected) => connected?,
            Err(_) => {
                return Err(StoreError::new(
                    ErrorKind::Timeout,
                    "connect to PostgreSQL",
                    format!(
                        "no answer within {} ms; check host, port and the server's load",
                        timeout.as_millis()
                    ),
                )
                .with_doubt(false));
            }
        };
        Ok(Self {
            client,
            wire: Wire {
                connection,
                gates: Gates::new(),
                timer: Box::pin(tokio::time::sleep(timeout + GRACE)),
                timeout: timeout + GRACE,
                broken: None,
            },
            planning: Planning::Once,
            kept: Kept::default(),
        })
    }

    /// Runs statements without parameters, one after the other, as one request.
    pub(crate) async fn batch(&mut self, operation: &str, text: &str) -> Result<(), StoreError> {
        self.wire.run(operation, self.client.batch_execute(text)).await
    }

    /// Says goodbye and waits until the server has heard it, or the time is over.
    pub(crate) async fn close(self) -> Result<(), StoreError> {
        let Self { client, mut wire, .. } = self;
        if wire.broken.is_some() {
            return Ok(());
        }
        drop(client);
        let mut timer = pin!(tokio::time::sleep(wire.timeout));
        poll_fn(|context| {
            loop {
                match wire.connection.poll(context) {
                    Poll::Ready(Some(Ok(_))) => {}
                    Poll::Ready(_) => return Poll::Ready(()),
                    Poll::Pending => return timer.as_mut().poll(context),
                }
            }
        })
        .await;
        Ok(())
    }
}

impl Wire {
    /// Waits longer (or shorter) from now on.
    pub(crate) fn allow(&mut self, timeout: Duration) {
        self.timeout = timeout + GRACE;
        self.timer.as_mut().reset(Instant::now() + self.timeout);
    }

    /// Runs a request of the client to its end, doing the input and output for it.
    pub(crate) async fn run<T>(
        &mut self,
        operation: &str,
        request: impl Future<Output = Result<T, Error>>,
    ) -> Result<T, StoreError> {
        if let Some(kind) = self.broken {
            return Err(StoreError::new(
                kind,
                operation,
                "this session's connection is gone after an earlier failure; connect again",
            )
            .with_doubt(false));
        }
        let mut request = pin!(request);
        let deadline = Instant::now() + self.timeout;
        self.gates.request.0.woken.store(true, Ordering::Relaxed);
        self.gates.connection.0.woken.store(true, Ordering::Relaxed);
        let end = poll_fn(|context| self.poll(context, request.as_mut(), deadline)).await;
        end.map_err(|failure| match failure {
            Failure::Native(error) => {
                let error = store_error(operation, error);
                if self.broken.is_some() {
                    self.broken = Some(error.kind());
                }
                error
            }
            Failure::TimedOut => {
                self.broken = Some(ErrorKind::Unavailable);
                StoreError::new(
                    ErrorKind::Timeout,
                    operation,
                    format!(
                        "no answer within {} ms; allow more time, ask for less, or look into the server's log",
                        self.timeout.saturating_sub(GRACE).as_millis()
                    ),
                )
            }
        })
    }

    fn poll<T>(
        &mut self,
        context: &mut Context<'_>,
        mut request: Pin<&mut impl Future<Output = Result<T, Error>>>,
        deadline: Instant,
    ) -> Poll<Result<T, Failure>> {
        let shared = &self.gates.shared;
        shared.task.register(context.waker());
        shared.polling.store(true, Ordering::Release);
        let mut end = Poll::Pending;
        let mut failed = None;
        loop {
            let mut moved = false;
            let (gate, waker) = &self.gates.request;
            if gate.woken.swap(false, Ordering::AcqRel) {
                moved = true;
                if let Poll::Ready(result) = request.as_mut().poll(&mut Context::from_waker(waker)) {
                    end = Poll::Ready(result);
                    break;
                }
            }
            let (gate, waker) = &self.gates.connection;
            if self.broken.is_none() && gate.woken.swap(false, Ordering::AcqRel) {
                moved = true;
                match self.connection.poll(&mut Context::from_waker(waker)) {
                    Poll::Ready(Some(Ok(_))) => gate.woken.store(true, Ordering::Release),
                    Poll::Ready(Some(Err(error))) => {
                        self.broken = Some(ErrorKind::Unavailable);
                        failed = Some(error);
                    }
                    Poll::Ready(None) => self.broken = Some(ErrorKind::Unavailable),
                    Poll::Pending => {}
                }
            }
            if !moved {
                break;
            }
        }
        self.gates.shared.polling.store(false, Ordering::Release);
        self.conclude(context, end, failed, deadline)
    }

    /// What a round of polling comes to: the request's own end, the connection's, or the clock's.
    fn conclude<T>(
        &mut self,
        context: &mut Context<'_>,
        end: Poll<Result<T, Error>>,
        failed: Option<Error>,
        deadline: Instant,
    ) -> Poll<Result<T, Failure>> {
        if let Poll::Ready(result) = end {
            return Poll::Ready(result.map_err(|error| {
                // The connection's own failure says more than "connection closed".
                Failure::Native(failed.filter(|_| error.is_closed()).unwrap_or(error))
            }));
        }
        if let Some(error) = failed {
            return Poll::Ready(Err(Failure::Native(error)));
        }
        while self.timer.as_mut().poll(context).is_ready() {
            if Instant::now() >= deadline {
                return Poll::Ready(Err(Failure::TimedOut));
            }
            self.timer.as_mut().reset(deadline);
        }
        Poll::Pending
    }
}

enum Failure {
    Native(Error),
    TimedOut,
}
