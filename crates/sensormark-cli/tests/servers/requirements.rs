//! A file that `init` wrote, on an embedded database and a server, measured to the end of the search for its limit. Nobody can meet one requirement, one of
//! them meets another, and both meet a third.

use crate::searched::{Searched, searched};

const EMBEDDED: &str = "SQLite individual";
const SERVER: &str = "PostgreSQL individual";

fn both(limit: &str) -> Searched {
    let found = searched("sqlite:individual,postgresql:individual", limit);
    for trial in &found.trials {
        let durability = trial["implementation"]["durability"].as_str();
        assert_eq!(durability, Some("durable"), "as the file says");
    }
    found
}

pub fn a_requirement_that_both_meet() {
    let found = both("disk for 20m <= 100 GB");
    assert_eq!(found.code, Some(0), "{}", found.text);
    found.meets(EMBEDDED, "meets");
    found.meets(SERVER, "meets");
    found.said("PostgreSQL individual meet all 5 requirements. Of them ");
    found.said("for 20m) costs least");
    // Which of them that is depends on the machine. Beside an embedded database a server is named too.
    if found.text.contains("Of them SQLite individual") {
        found.said("costs least, of servers PostgreSQL individual (");
    }
}

/// A row of PostgreSQL has a header of 24 bytes besides its values and index: over 100 bytes a reading. SQLite's rows take 55.
pub fn a_requirement_that_one_of_them_meets() {
    let found = both("disk for 20m <= 900 kB");
    assert_eq!(found.code, Some(1), "one misses a limit: {}", found.text);
    found.meets(EMBEDDED, "meets");
    found.misses(SERVER, "misses disk for 20m (");
    found.said("SQLite individual alone meets all 5 requirements (");
    found.said("PostgreSQL individual misses disk for 20m (");
    // No rate changes what a reading takes on disk. A busy machine has the probe repeated twice.
    assert!(found.probes(SERVER) <= 3, "{}", found.text);
}

pub fn a_requirement_that_nobody_can_meet() {
    let found = both("disk for 20m <= 1 kB");
    assert_eq!(found.code, Some(1), "{}", found.text);
    for label in [EMBEDDED, SERVER] {
        found.misses(label, "misses disk for 20m (");
        assert!(found.probes(label) <= 3, "{}", found.text);
    }
    found.nobody_meets_all();
    found.said("None of 2 layouts meets all 5 requirements.");
}
