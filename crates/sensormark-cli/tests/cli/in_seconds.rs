//! machine-tool writes a second's samples in one request: the same samples, exactly counted, in a thousandth of the requests and up to a second later.

use crate::support::{Place, errors, held_against, said};
use serde_json::Value;

/// The trial of a layout and side.
fn trial<'a>(trials: &'a [Value], layout: &str, side: &str) -> Vec<&'a Value> {
    let is_it = |one: &&Value| one["implementation"]["layout_name"] == layout && one["side"] == side;
    trials.iter().filter(is_it).collect()
}

fn count(of: &Value) -> u64 {
    of.as_u64().expect("a count")
}

/// What is to hold of a database that writes each sample by itself, and a second's samples at once.
pub fn a_second_is_written_in_one_request(store: &str) {
    let place = Place::new();
    let on = format!("{store}:individual/individual,{store}:individual-in-seconds");
    let output = place.short(&["--on", &on]);
    let trials = place.trials();
    assert!(said(&output).contains("individual-in-seconds"), "{}", said(&output));
    // A second's samples are a request; from the sensor until it can be queried a sample then takes up to a second.
    for (layout, requests, longest_ns) in
        [("individual", 1_000..10_000, 0..u64::MAX), ("individual-in-seconds", 2..8, 800_000_000..u64::MAX)]
    {
        let [write] = trial(&trials, layout, "write")[..] else {
            panic!("{layout}: {}", errors(&output));
        };
        let [read] = trial(&trials, layout, "read")[..] else {
            panic!("{layout} is read in one way: {}", errors(&output));
        };
        for trial in [write, read] {
            let against = held_against(trial);
            assert!(against.is_empty(), "{} {against:?}", trial["name"]);
        }
        let ledger = &write["ledger"];
        let samples = count(&ledger["produced"]) - count(&ledger["lost_at_queue"]);
        for counted in ["attempted", "acknowledged", "stored"] {
            assert_eq!(count(&ledger[counted]), samples, "{layout}: {counted}");
        }
        assert_eq!(ledger["checksum"], ledger["expected_checksum"], "{layout}");
        // The empty database was at rest too: QuestDB's took 151 MB before it, and 118 with what was written.
        let disk = |name: &str| write["figures"][name]["value"].as_f64().expect("a size");
        assert!(disk("disk_before_bytes") < disk("disk_settled_bytes"), "{layout}: {}", write["figures"]);
        let written = count(&write["latencies"]["write"]["summary"]["count"]);
        assert!(requests.contains(&written), "{layout}: {written} requests");
        let longest = count(&write["latencies"]["sensor_delay"]["summary"]["max_ns"]);
        assert!(longest_ns.contains(&longest), "{layout}: {longest} ns");
        assert_eq!(read["answers"]["wrong"], 0, "{layout}");
        assert!(count(&read["answers"]["checked"]) >= 3, "{layout}");
    }
}

#[test]
fn sqlite_writes_a_second_in_one_request() {
    a_second_is_written_in_one_request("sqlite");
}
