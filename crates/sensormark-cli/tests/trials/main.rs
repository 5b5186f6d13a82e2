//! Trials of phases with real processes and a real database (SQLite): exact counts, verdicts that name each planted fault, cuts and interruption.
//!
//! The test program is its own trial process: started as `… role trial` it runs the one test that acts as it.

#![cfg(feature = "sqlite")]

mod place;
mod sound;
mod verdicts;
mod workload;

use sensormark_engine::connection::Registry;
use sensormark_engine::role::Event;
use sensormark_engine::role_line::{RoleLine, tell};
use sensormark_engine::trial::{WorkloadFactories, role};
use sensormark_store::Store;
use std::sync::Arc;

/// The trial's process. The coordinator starts this program with the arguments `role trial`. The test harness takes them as a filter that only this test
/// passes. So no other test's path may hold either word.
#[test]
fn act_as_role_trial() {
    if std::env::args().nth(1).as_deref() != Some("role") {
        return;
    }
    let (line, configuration) = RoleLine::open(false).expect("a configuration");
    let factories = WorkloadFactories::new(vec![Arc::new(workload::Sensors)]);
    if let Err(error) = role::run(line, &configuration, &registry(), &factories) {
        tell(&Event::Failed { unreachable: false, message: error.to_string() });
    }
}

/// SQLite alone.
pub fn registry() -> Registry {
    let sqlite: Arc<dyn Store> = Arc::new(sensormark_stores::sqlite());
    Registry::new(vec![sqlite])
}
