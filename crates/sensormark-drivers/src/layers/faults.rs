//! Failures on purpose, for tests. An operation fails before it begins, or its answer gets lost.

use super::Layer;
use crate::{Connection, Fault};
use sensormark_store::{ErrorKind, LocalFuture, StoreError};
use std::cell::RefCell;
use std::collections::VecDeque;
use std::rc::Rc;

/// What becomes of an operation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Planned {
    /// It is carried out.
    Done,
    /// It is not tried, and fails so.
    Refused(ErrorKind),
    /// It is carried out, and its answer gets lost.
    Lost(ErrorKind),
    /// It never ends.
    Hung,
}

/// What becomes of the next operations, in order; those after them are carried out. A test keeps a clone, to plan more.
#[derive(Debug, Clone, Default)]
pub struct Faults(pub Rc<RefCell<VecDeque<Planned>>>);

fn fault(kind: ErrorKind) -> Fault {
    StoreError::new(kind, "carry out what a test plans", "a failure on purpose").into()
}

impl Layer for Faults {
    fn before<'a>(
        &'a mut self,
        _: &'a mut Box<dyn Connection>,
    ) -> Option<LocalFuture<'a, Result<(), Fault>>> {
        let next = self.0.borrow().front().copied();
        let Some(Planned::Refused(kind)) = next else { return None };
        self.0.borrow_mut().pop_front();
        Some(Box::pin(std::future::ready(Err(fault(kind)))))
    }

    async fn during<T>(&mut self, operation: LocalFuture<'_, Result<T, Fault>>) -> Result<T, Fault> {
        let next = self.0.borrow_mut().pop_front();
        match next {
            Some(Planned::Hung) => std::future::pending().await,
            Some(Planned::Lost(kind)) => operation.await.and(Err(fault(kind))),
            _ => operation.await,
        }
    }
}
