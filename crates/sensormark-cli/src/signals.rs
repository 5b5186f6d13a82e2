//! Ctrl-C and SIGTERM: the first ends a command in good order, the second at once. Both leave nothing running and nothing but results on disk.

use crate::failure::INTERRUPTED;
use crate::messages::say;
use sensormark_engine::existing;
use sensormark_result::measurement::unbroken;
use sensormark_server::{Supervisor, forget_held};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// The longest that a file may take that is being written, and a database that is dropped, when the process is to end at once.
const HASTE: Duration = Duration::from_secs(5);

/// Set by the first signal.
static INTERRUPT: AtomicBool = AtomicBool::new(false);
/// What started servers and made folders, once there is one.
static SUPERVISOR: OnceLock<Supervisor> = OnceLock::new();

/// Whether the user broke the command off.
pub fn interrupted() -> bool {
    INTERRUPT.load(Ordering::Relaxed)
}

/// Set once the user breaks the command off.
pub const fn interrupt() -> &'static AtomicBool {
    &INTERRUPT
}

/// Catches signals from now on: before a command makes anything.
pub fn catch() {
    let set = ctrlc::set_handler(|| {
        if INTERRUPT.swap(true, Ordering::Relaxed) {
            if let Some(supervisor) = SUPERVISOR.get() {
                end_at_once(supervisor);
            }
            std::process::exit(i32::from(INTERRUPTED));
        }
        say("stopping; what is finished is kept (once more to stop at once)");
    });
    if let Err(error) = set {
        tracing::warn!(%error, "signals cannot be caught");
    }
}

/// Catches signals of a command that only starts servers: the first ends the start at once, with all that it made.
pub fn end_starts_of(supervisor: &Supervisor) {
    let supervisor = supervisor.clone();
    let set = ctrlc::set_handler(move || {
        INTERRUPT.store(true, Ordering::Relaxed);
        supervisor.stop_all();
    });
    if let Err(error) = set {
        tracing::warn!(%error, "signals cannot be caught");
    }
}

/// What this supervisor started and made goes too when a second signal comes.
pub fn clean_up_with(supervisor: &Supervisor) {
    // A command has one supervisor.
    let _ = SUPERVISOR.set(supervisor.clone());
}

/// Removes what this process made; its own clean-up does not run any more.
fn end_at_once(supervisor: &Supervisor) {
    unbroken::end(HASTE);
    let left = existing::drop_all(HASTE);
    for one in &left {
        say(format_args!("sensormark: {one}"));
    }
    // Otherwise the run stays written down as killed, and `sensormark clean` drops what it left.
    if left.is_empty() {
        forget_held();
    }
    supervisor.stop_all();
}
