//! A guarded connection to a database whose answers are planned.

use super::*;
use std::cell::RefCell;
use std::collections::VecDeque;
use std::future::{pending, ready};
use std::pin::pin;
use std::rc::Rc;
use std::task::{Context, Waker};

/// What becomes of an operation.
#[derive(Clone, Copy)]
enum Planned {
    /// It is carried out.
    Done,
    /// It is carried out, and its answer gets lost.
    Lost,
    /// It never ends.
    Hung,
}

/// Operations end as it is planned; those after that are carried out.
#[derive(Clone, Default)]
struct Answers(Rc<RefCell<VecDeque<Planned>>>);

impl Answers {
    fn next<'a, T: 'a>(&self, done: T) -> LocalFuture<'a, Result<T, Fault>> {
        let lost = StoreError::new(ErrorKind::Unavailable, "carry out what a test plans", "on purpose");
        match self.0.borrow_mut().pop_front() {
            Some(Planned::Hung) => Box::pin(pending()),
            Some(Planned::Lost) => Box::pin(ready(Err(lost.into()))),
            Some(Planned::Done) | None => Box::pin(ready(Ok(done))),
        }
    }
}

impl Connection for Answers {
    fn run<'a>(&'a mut self, _: &'a str) -> LocalFuture<'a, Result<(), Fault>> {
        self.next(())
    }

    fn prepare<'a>(&'a mut self, _: &'a str, _: &'a [String]) -> LocalFuture<'a, Result<Prepared, Fault>> {
        self.next(Prepared(0))
    }

    fn text(&self, _: Prepared) -> &str {
        ""
    }

    fn forget(&mut self) -> LocalFuture<'_, Result<(), Fault>> {
        self.next(())
    }

    fn query<'a>(
        &'a mut self,
        _: Prepared,
        _: &'a [Cell<'a>],
        _: &'a mut EachRow<'_>,
    ) -> LocalFuture<'a, Result<(), Fault>> {
        self.next(())
    }

    fn execute<'a>(&'a mut self, _: Prepared, _: &'a [Cell<'a>]) -> LocalFuture<'a, Result<u64, Fault>> {
        self.next(1)
    }

    fn write<'a>(&'a mut self, _: Block<'a>) -> LocalFuture<'a, Result<u64, Fault>> {
        self.next(1)
    }

    fn within(&mut self, _: Option<Duration>) {}

    fn plan<'a>(&'a mut self, _: &'a str, _: &'a [String]) -> LocalFuture<'a, Result<Option<String>, Fault>> {
        self.next(None)
    }

    fn close(self: Box<Self>) -> LocalFuture<'static, Result<(), Fault>> {
        self.next(())
    }
}

fn ended<T>(future: impl Future<Output = T>) -> T {
    match pin!(future).poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(done) => done,
        Poll::Pending => panic!("it waits"),
    }
}

fn guarded(planned: &[Planned], allowed: Duration) -> (Answers, Guarded) {
    let answers = Answers::default();
    answers.0.borrow_mut().extend(planned);
    (answers.clone(), Guarded::new(Box::new(answers), allowed))
}

fn error(fault: Fault) -> StoreError {
    match fault {
        Fault::Known(error) => error,
        Fault::Partly { fault, .. } => error(*fault),
        other => panic!("{other:?}"),
    }
}

#[test]
fn what_asks_or_is_not_committed_is_not_in_doubt() {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
    let _clock = runtime.enter();
    let planned = [Planned::Done, Planned::Lost, Planned::Lost, Planned::Done, Planned::Lost, Planned::Lost];
    let (answers, mut connection) = guarded(&planned, Duration::from_secs(600));
    let statement = ended(connection.prepare("INSERT", &[])).unwrap();
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
    answers.0.borrow_mut().push_back(Planned::Lost);
    assert!(error(ended(connection.execute(statement, &[])).unwrap_err()).is_in_doubt());
}

#[test]
fn what_takes_too_long_fails_and_the_connection_is_given_up() {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
    runtime.block_on(async {
        let (_, mut connection) = guarded(&[Planned::Done, Planned::Hung], Duration::from_secs(600));
        connection.within(Some(Duration::from_millis(20)));
        connection.run("SELECT 1").await.unwrap();
        let late = error(connection.run("SELECT 2").await.unwrap_err());
        assert_eq!((late.kind(), late.is_in_doubt()), (ErrorKind::Timeout, true));
        assert!(late.context().contains("20 ms"), "{late}");
        let gone = error(connection.run("SELECT 3").await.unwrap_err());
        assert_eq!((gone.kind(), gone.is_in_doubt()), (ErrorKind::Unavailable, false));
    });
}
