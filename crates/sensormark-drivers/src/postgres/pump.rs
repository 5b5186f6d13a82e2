//! Input and output of a connection, done by the task that waits for the answer.
//!
//! `tokio-postgres` splits a connection in two: a client that sends requests and a connection that does the input and output. Here one task polls both,
//! in the order in which they wake each other: a request costs one wake-up by the kernel and no change of tasks.

use super::error::fault;
use crate::Fault;
use futures_util::task::AtomicWaker;
use sensormark_store::{ErrorKind, StoreError};
use std::future::{Future, poll_fn};
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll, Wake, Waker};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio_postgres::{AsyncMessage, Error};

/// The driver's connection without its stream's types.
pub(super) trait Duplex {
    /// Does input and output until nothing more can be done now.
    fn poll(&mut self, context: &mut Context<'_>) -> Poll<Option<Result<AsyncMessage, Error>>>;
}

impl<S, T> Duplex for tokio_postgres::Connection<S, T>
where
    S: AsyncRead + AsyncWrite + Unpin,
    T: AsyncRead + AsyncWrite + Unpin,
{
    fn poll(&mut self, context: &mut Context<'_>) -> Poll<Option<Result<AsyncMessage, Error>>> {
        self.poll_message(context)
    }
}

/// A waker that notes that it was woken, and wakes the task only when it is not running anyway.
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

/// A gate with the waker made of it.
struct Side(Arc<Gate>, Waker);

impl Side {
    fn new(shared: &Arc<Shared>) -> Self {
        let gate = Arc::new(Gate { woken: AtomicBool::new(false), shared: Arc::clone(shared) });
        Self(Arc::clone(&gate), Waker::from(gate))
    }

    fn set(&self, woken: bool) -> bool {
        self.0.woken.swap(woken, Ordering::AcqRel)
    }
}

/// The half of a connection that does input and output.
pub(crate) struct Pump {
    connection: Box<dyn Duplex>,
    /// What messages call the server.
    title: &'static str,
    shared: Arc<Shared>,
    input: Side,
    request: Side,
    broken: bool,
}

impl Pump {
    pub(super) fn new(connection: Box<dyn Duplex>, title: &'static str) -> Self {
        let shared = Arc::new(Shared { polling: AtomicBool::new(false), task: AtomicWaker::new() });
        let (input, request) = (Side::new(&shared), Side::new(&shared));
        Self { connection, title, shared, input, request, broken: false }
    }

    /// What messages call the server.
    pub(crate) const fn title(&self) -> &'static str {
        self.title
    }

    /// Whether nothing more can be sent.
    pub(super) const fn is_broken(&self) -> bool {
        self.broken
    }

    /// Runs a request to its end; `operation` comes before the server's title. A request that is dropped before leaves an answer on its way: the connection is then of no more use.
    pub(crate) async fn run<T>(
        &mut self,
        operation: &str,
        mut request: Pin<&mut impl Future<Output = Result<T, Error>>>,
    ) -> Result<T, Fault> {
        if self.broken {
            let text = "this session's connection is gone after an earlier failure; connect again";
            let operation = format!("{operation} {}", self.title);
            let error = StoreError::new(ErrorKind::Unavailable, operation, text).with_doubt(false);
            return Err(Fault::Known(error));
        }
        self.request.set(true);
        self.input.set(true);
        let done = poll_fn(|context| self.poll(context, request.as_mut())).await;
        done.map_err(|error| fault(&format!("{operation} {}", self.title), error))
    }

    fn poll<T>(
        &mut self,
        context: &mut Context<'_>,
        mut request: Pin<&mut impl Future<Output = Result<T, Error>>>,
    ) -> Poll<Result<T, Error>> {
        self.shared.task.register(context.waker());
        self.shared.polling.store(true, Ordering::Release);
        let (mut end, mut failed) = (Poll::Pending, None);
        loop {
            let mut moved = false;
            if self.request.set(false) {
                moved = true;
                end = request.as_mut().poll(&mut Context::from_waker(&self.request.1));
                if end.is_ready() {
                    break;
                }
            }
            if !self.broken && self.input.set(false) {
                moved = true;
                match self.connection.poll(&mut Context::from_waker(&self.input.1)) {
                    Poll::Ready(Some(Ok(_))) => drop(self.input.set(true)),
                    Poll::Ready(other) => {
                        self.broken = true;
                        failed = other.and_then(Result::err);
                    }
                    Poll::Pending => {}
                }
            }
            if !moved {
                break;
            }
        }
        self.shared.polling.store(false, Ordering::Release);
        match (end, failed) {
            // The connection's own failure says more than "connection closed".
            (Poll::Ready(Err(error)), Some(cause)) if error.is_closed() => Poll::Ready(Err(cause)),
            (Poll::Pending, Some(cause)) => Poll::Ready(Err(cause)),
            (end, _) => end,
        }
    }

    /// Waits until the server has heard that the client is gone.
    pub(super) async fn finish(mut self) {
        poll_fn(|context| match self.connection.poll(context) {
            Poll::Ready(Some(Ok(_))) => {
                context.waker().wake_by_ref();
                Poll::Pending
            }
            Poll::Ready(_) => Poll::Ready(()),
            Poll::Pending => Poll::Pending,
        })
        .await;
    }
}
