//! A runtime for one thread, made so that want of file descriptors or of a thread is an error.

use std::fs::File;
use std::io;
use tokio::runtime::{Builder, Runtime};

/// More files than a runtime opens.
const FILES: usize = 8;

/// A runtime for one thread, with input, output and time. tokio itself panics where it cannot open all of its files, so they are tried before. It also panics where it
/// has no thread to look up a host's name on, so one is tried too.
///
/// # Errors
/// When this process may not open as many files as that takes, or may not have another thread.
pub fn runtime() -> io::Result<Runtime> {
    let tried: io::Result<Vec<File>> = (0..FILES).map(|_| File::open("/dev/null")).collect();
    drop(tried?);
    // It ends at once and cannot panic.
    drop(std::thread::Builder::new().spawn(|| ())?.join());
    Builder::new_current_thread().enable_all().build()
}
