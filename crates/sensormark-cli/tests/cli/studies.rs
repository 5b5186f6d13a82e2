//! What the studies stated, as it is listed, and a run at a study's scale. On servers: `tests/servers/studies.rs`.

use crate::support::{Place, errors, said};

#[test]
fn what_a_study_stated_is_listed_and_a_workload_of_nobodys_study_is_refused() {
    let place = Place::new();
    let listed = place.run(&["list", "billing", "--as-study"]);
    let text = said(&listed);
    assert_eq!(listed.status.code(), Some(0), "{text}");
    for words in ["Done as stated", "Not possible, or not done", "320 connections"] {
        assert!(text.contains(words), "{words:?}: {text}");
    }
    let refused = place.run(&["run", "durability", "--as-study"]);
    let text = errors(&refused);
    assert_eq!(refused.status.code(), Some(2), "{text}");
    assert!(text.contains("durability is after no study"), "{text}");
}

/// The study's scale, with phases as short as a test's.
#[test]
fn the_studys_scale_follows_its_protocol() {
    let place = Place::new();
    let output = place.short(&["--on=sqlite:individual", "--scale=study"]);
    let text = said(&output);
    let record = place.record();
    assert_eq!(record["scale"], "study", "{text}");
    assert_eq!(record["as_study"], true, "{text}");
    let flat = text.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(flat.contains("As the study did"), "{text}");
    // Its statements are kept with its trials: history, one write, and one reading a strategy.
    let trials = place.trials();
    let mut shown: Vec<&str> = trials
        .iter()
        .filter(|trial| trial["implementation"]["layout_name"] == "individual")
        .filter_map(|trial| trial["statements"]["operations"].as_array())
        .flatten()
        .filter(|operation| operation["statements"][0]["text"].is_string())
        .filter_map(|operation| operation["name"].as_str())
        .collect();
    shown.sort_unstable();
    let wanted = ["history", "read bulk", "read bulk-1", "read individual", "write"];
    assert_eq!(shown, wanted, "{text}");
    for words in ["Schema of each layout", "Statements of each layout"] {
        let page = std::fs::read_to_string(place.run_folder().join("report.html"));
        assert!(page.is_ok_and(|page| page.contains(words)), "{words}");
    }
}
