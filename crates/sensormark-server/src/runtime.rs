//! A runtime for one thread, made so that want of file descriptors is an error.

use std::fs::File;
use std::io;
use tokio::runtime::{Builder, Runtime};

/// More files than a runtime opens.
const FILES: usize = 8;

/// A runtime for one thread, with input, output and time. tokio itself panics where it cannot open all of its files, so they are tried before.
///
/// # Errors
/// When this process may not open as many files as that takes.
pub fn runtime() -> io::Result<Runtime> {
    let tried: io::Result<Vec<File>> = (0..FILES).map(|_| File::open("/dev/null")).collect();
    drop(tried?);
    Builder::new_current_thread().enable_all().build()
}
