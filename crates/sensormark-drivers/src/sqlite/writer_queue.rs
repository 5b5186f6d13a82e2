//! The queue of writers inside one process.
//!
//! SQLite has one writer at a time, and a connection that finds it busy sleeps for milliseconds before it tries again. Sessions of
//! one process therefore queue here, and wake as soon as the writer before them is done; other processes still meet at
//! SQLite's own lock. It is not a lock of the data: SQLite's transactions are.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, OnceLock, PoisonError, Weak};
use std::time::Instant;

static QUEUES: OnceLock<Mutex<HashMap<PathBuf, Weak<WriterQueue>>>> = OnceLock::new();

/// The place where the writers of one file queue.
#[derive(Debug, Default)]
pub struct WriterQueue {
    busy: Mutex<bool>,
    free: Condvar,
}

/// The right to write, until it is dropped.
#[derive(Debug)]
pub struct WriterTurn(Arc<WriterQueue>);

impl WriterQueue {
    /// The queue of this file, the same one for all of the process.
    pub fn of(file: &Path) -> Arc<Self> {
        let queues = QUEUES.get_or_init(Mutex::default);
        let mut queues = queues.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(queue) = queues.get(file).and_then(Weak::upgrade) {
            return queue;
        }
        queues.retain(|_, queue| queue.strong_count() > 0);
        let queue = Arc::new(Self::default());
        queues.insert(file.to_owned(), Arc::downgrade(&queue));
        queue
    }

    fn state(&self) -> MutexGuard<'_, bool> {
        self.busy.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits for a turn to write; `None` when the deadline passes first.
    pub fn enter(self: &Arc<Self>, deadline: Instant) -> Option<WriterTurn> {
        let mut busy = self.state();
        while *busy {
            let left = deadline.checked_duration_since(Instant::now())?;
            busy = self.free.wait_timeout(busy, left).unwrap_or_else(PoisonError::into_inner).0;
        }
        *busy = true;
        Some(WriterTurn(Arc::clone(self)))
    }
}

impl Drop for WriterTurn {
    fn drop(&mut self) {
        *self.0.state() = false;
        self.0.free.notify_one();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    #[test]
    fn one_writer_at_a_time_and_waiting_ends() {
        let queue = WriterQueue::of(Path::new("queue-test"));
        let turn = queue.enter(Instant::now()).unwrap();
        let again = WriterQueue::of(Path::new("queue-test"));
        assert!(again.enter(Instant::now() + Duration::from_millis(20)).is_none());
        drop(turn);
        assert!(again.enter(Instant::now()).is_some());
    }
}
