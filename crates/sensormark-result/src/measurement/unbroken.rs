//! What is done to its end, also when another thread is about to end the process: files of results, making and dropping a database.
//!
//! A second Ctrl-C ends the process at once. It waits for what has begun, and nothing further is begun.

use std::cell::Cell;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

/// Threads that do such things.
static WRITERS: AtomicUsize = AtomicUsize::new(0);
/// Whether the process is about to end.
static ENDING: AtomicBool = AtomicBool::new(false);

thread_local! {
    /// How many of these guards this thread holds.
    static HELD: Cell<usize> = const { Cell::new(0) };
}

/// Something that is done to its end.
pub struct Unbroken(());

/// Begins something that is to be done to its end. Where the process is about to end, the thread stays here.
pub fn begin() -> Unbroken {
    let is_inside = HELD.get() > 0;
    HELD.set(HELD.get() + 1);
    WRITERS.fetch_add(1, Ordering::SeqCst);
    while !is_inside && ENDING.load(Ordering::SeqCst) {
        // It is not one that is waited for.
        WRITERS.fetch_sub(1, Ordering::SeqCst);
        std::thread::sleep(Duration::from_secs(1));
        WRITERS.fetch_add(1, Ordering::SeqCst);
    }
    Unbroken(())
}

impl Drop for Unbroken {
    fn drop(&mut self) {
        HELD.set(HELD.get() - 1);
        WRITERS.fetch_sub(1, Ordering::SeqCst);
    }
}

/// Lets nothing more begin, and waits at most this long for what has begun. The process is to end then.
pub fn end(limit: Duration) {
    ENDING.store(true, Ordering::SeqCst);
    let deadline = Instant::now() + limit;
    while WRITERS.load(Ordering::SeqCst) > 0 && Instant::now() < deadline {
        std::thread::sleep(Duration::from_millis(1));
    }
}
