//! Layers around a connection without a database.

use super::faults::{Faults, Planned};
use super::guard::Guard;
use super::null::Null;
use super::reconnect::Reconnect;
use super::*;
use crate::{Databases, Driver, Named, Place, Purpose};
use sensormark_store::{Endpoint, ErrorKind, Secret, SessionKind, StoreError};
use std::future::Future;
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Context, Poll, Waker};

fn ended<T>(future: impl Future<Output = T>) -> T {
    match pin!(future).poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(done) => done,
        Poll::Pending => panic!("it waits"),
    }
}

fn planned(faults: &[Planned]) -> (Faults, Box<dyn Connection>) {
    let plan = Faults::default();
    plan.0.borrow_mut().extend(faults);
    (plan.clone(), Box::new(Layered::around(Box::new(Null::default()), plan)))
}

fn error(fault: Fault) -> StoreError {
    match fault {
        Fault::Known(error) => error,
        Fault::Refused { text, .. } => panic!("{text}"),
    }
}

#[test]
fn what_asks_or_is_not_committed_is_not_in_doubt() {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
    let _clock = runtime.enter();
    let lost = Planned::Lost(ErrorKind::Unavailable);
    let (plan, connection) = planned(&[Planned::Done, lost, lost, Planned::Done, lost, lost]);
    let mut connection = Layered::around(connection, Guard::new(Duration::from_secs(600)));
    let statement = ended(connection.prepare("INSERT", &[])).unwrap_or_else(|_| panic!("prepared"));
    let asked = error(ended(connection.query(statement, &[], &mut |_| Ok(true))).unwrap_err());
    assert!(!asked.is_in_doubt());
    let written = error(ended(connection.execute(statement, &[])).unwrap_err());
    assert!(written.is_in_doubt());
    ended(connection.run("BEGIN")).unwrap();
    let written = error(ended(connection.execute(statement, &[])).unwrap_err());
    assert!(!written.is_in_doubt());
    let other = error(ended(connection.execute(statement, &[])).unwrap_err());
    assert!(!other.is_in_doubt());
    ended(connection.run("COMMIT")).unwrap();
    plan.0.borrow_mut().push_back(lost);
    assert!(error(ended(connection.execute(statement, &[])).unwrap_err()).is_in_doubt());
}

/// Opens connections that break at once, and counts them.
#[derive(Default)]
struct Counting(AtomicUsize);

impl Driver for Counting {
    fn session(&self) -> SessionKind {
        SessionKind::Async
    }

    fn databases(&self) -> Databases {
        Databases::Server
    }

    fn endpoint(&self, _: &Named, _: &str) -> Result<Endpoint, StoreError> {
        unreachable!("no test asks")
    }

    fn open<'a>(&'a self, _: &'a Place) -> LocalFuture<'a, Result<Box<dyn Connection>, Fault>> {
        self.0.fetch_add(1, Ordering::Relaxed);
        Box::pin(async { Ok(Box::new(Null::default()) as Box<dyn Connection>) })
    }
}

#[test]
fn a_broken_connection_is_opened_anew_with_what_was_prepared() {
    let driver = Arc::new(Counting::default());
    let endpoint = Endpoint { url: Secret::new(""), label: String::new(), managed: true, ports: Vec::new() };
    let place = Place {
        endpoint,
        database: None,
        file: std::path::PathBuf::new(),
        timeout: Duration::from_secs(1),
        purpose: Purpose::Work,
    };
    let steps = [Planned::Done, Planned::Done, Planned::Refused(ErrorKind::Unavailable)];
    let (_, connection) = planned(&steps);
    let known: Arc<dyn Driver> = Arc::clone(&driver) as _;
    let mut connection = Layered::around(connection, Reconnect::new(known, place));
    ended(connection.run("SET a = 1")).unwrap();
    let statement = ended(connection.prepare("SELECT 1", &[])).unwrap();
    assert!(ended(connection.execute(statement, &[])).is_err());
    assert_eq!(driver.0.load(Ordering::Relaxed), 0);
    ended(connection.execute(statement, &[])).unwrap();
    assert_eq!((driver.0.load(Ordering::Relaxed), connection.text(statement)), (1, "SELECT 1"));
}

#[test]
fn what_takes_too_long_fails_and_the_connection_is_given_up() {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
    runtime.block_on(async {
        let (_, connection) = planned(&[Planned::Done, Planned::Hung]);
        let mut connection = Layered::around(connection, Guard::new(Duration::from_secs(600)));
        connection.within(Some(Duration::from_millis(20)));
        connection.run("SELECT 1").await.unwrap();
        let late = error(connection.run("SELECT 2").await.unwrap_err());
        assert_eq!((late.kind(), late.is_in_doubt()), (ErrorKind::Timeout, true));
        assert!(late.context().contains("20 ms"), "{late}");
        let gone = error(connection.run("SELECT 3").await.unwrap_err());
        assert_eq!((gone.kind(), gone.is_in_doubt()), (ErrorKind::Unavailable, false));
    });
}
