//! A database that one process alone may have open.

use crate::support::{Place, errors, held_against};

/// Processes that share the clients, as the larger scales have them: the second one could not open the file.
pub fn clients_that_processes_would_share_are_in_one() {
    let place = Place::new();
    let settings = ["devices=4", "clients=4", "records=744", "processes=2", "limit_seconds=5", "grown=0"];
    let output = place.measure("billing", &settings, &["--on", "duckdb:reading"]);
    let trials = place.trials();
    assert!(!trials.is_empty(), "{}", errors(&output));
    for trial in &trials {
        assert!(held_against(trial).is_empty(), "{}", errors(&output));
        let loads = trial["loads"].as_array().expect("loads");
        assert!(!loads.is_empty(), "{trial}");
        for load in loads {
            assert_eq!(load["processes"], 1, "{load}");
            let failed = load["errors"].as_object().map(serde_json::Map::len);
            assert_eq!(failed, Some(0), "{load}");
        }
    }
}
