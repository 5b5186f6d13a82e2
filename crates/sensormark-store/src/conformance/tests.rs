//! The suite tried on itself: a store that keeps the rules passes.

use super::*;
use crate::memory::MemoryStore;
use crate::store::RepeatedWrite;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// The names of the tests that fail, with what is wrong.
fn failures(store: Arc<dyn Store>) -> Vec<(String, String)> {
    let tasks = rule::tasks(&store, rules::all());
    let place = Place::find(&store).unwrap();
    let suite = Suite::new(store, place, TIMEOUT_MS);
    let failed = |task: &Task| {
        let caught = catch_unwind(AssertUnwindSafe(|| run(&suite, task)));
        let Broken(text) = caught
            .unwrap_or_else(|_| Err(Broken("panicked".into())))
            .err()?;
        Some((task.name(), text))
    };
    let failures = tasks.iter().filter_map(failed).collect();
    block_on(suite.drop_all()).unwrap();
    failures
}

#[test]
fn a_store_that_keeps_the_rules_passes() {
    for repeated in [
        RepeatedWrite::KeepsBoth,
        RepeatedWrite::Replaces,
        RepeatedWrite::Refused,
    ] {
        let failures = failures(Arc::new(MemoryStore::new(repeated)));
        assert!(failures.is_empty(), "{failures:#?}");
    }
}
