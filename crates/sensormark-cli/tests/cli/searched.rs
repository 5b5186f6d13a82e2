//! `run FILE --find-limit` to its end, on a file that `init` wrote about a small plant.

use crate::support::{Place, said};
use serde_json::Value;

/// What 10 sensors send in a second.
pub const NEEDED: f64 = 10.0;
/// No rate over this many readings a second can hold: a limit forbids it.
pub const MOST: f64 = 100.0;

/// What came of a search.
pub struct Searched {
    pub code: Option<i32>,
    /// What was printed, each run of white space as one blank.
    pub text: String,
    /// What the summary says of the requirements.
    requirements: Value,
    pub trials: Vec<Value>,
}

impl Searched {
    /// The answer about a layout.
    pub fn of(&self, label: &str) -> &Value {
        let layouts = self.requirements["layouts"].as_array().expect("layouts");
        let one = layouts.iter().find(|one| one["label"] == label);
        one.unwrap_or_else(|| panic!("no {label}: {}", self.text))
    }

    pub fn nobody_meets_all(&self) {
        let cheapest = self.requirements["cheapest"].as_array();
        assert_eq!(cheapest.map(Vec::len), Some(0), "{}", self.text);
    }

    pub fn said(&self, words: &str) {
        assert!(self.text.contains(words), "{words}: {}", self.text);
    }

    /// It meets all, or all that could be decided. Its headroom is the highest rate that held over the rate of the sensors, and the search ended close below what is forbidden.
    pub fn meets(&self, label: &str, outcome: &str) {
        let answer = self.of(label);
        assert_eq!(answer["outcome"], outcome, "{}", self.text);
        let headroom = answer["headroom"].as_f64().expect("a headroom");
        assert!(headroom >= 2.0, "{headroom}: {}", self.text);
        assert!(headroom * NEEDED <= MOST * 1.1, "{headroom}: {}", self.text);
        let is_known = answer["disk_bytes"].is_number();
        assert_eq!(is_known, outcome == "meets", "{answer}");
        let trial = self.trial(label);
        let rate = trial["figures"]["highest_rate"]["value"].as_f64().expect("the highest rate");
        assert!((rate - headroom * NEEDED).abs() < 1e-6 * rate, "{rate}, {headroom}: {}", self.text);
        assert!(self.probes(label) >= 3, "below, over and between: {trial}");
    }

    /// It misses this, in these words.
    pub fn misses(&self, label: &str, words: &str) {
        let answer = self.of(label);
        assert_eq!(answer["outcome"], "misses", "{}", self.text);
        let reasons = answer["reasons"].to_string();
        assert!(reasons.contains(words), "{words}: {reasons}");
    }

    /// How many rates were tried.
    pub fn probes(&self, label: &str) -> usize {
        let trial = self.trial(label);
        let warnings = trial["warnings"].as_array().expect("warnings").iter();
        let probes = warnings.filter_map(Value::as_str);
        let probes = probes.filter(|text| text.starts_with("probe "));
        probes.count()
    }

    fn trial(&self, label: &str) -> &Value {
        let is_its = |one: &&Value| {
            let title = one["implementation"]["title"].as_str().expect("a title");
            label.starts_with(title)
        };
        self.trials.iter().find(is_its).expect("its trial")
    }
}

/// Looks for the limit of these stores. The settings are those that any user has: short phases, and limits that a busy machine cannot break but the last.
pub fn searched(on: &str, limits: &str) -> Searched {
    let place = Place::new();
    let written =
        place.run(&["init", "plant.toml", "--yes", "--sensors=10", "--every=1s", "--asks=live", "--on", on]);
    assert!(written.status.success(), "{}", said(&written));
    let limits =
        format!("limits=lost = 0,wrong answers = 0,throughput of writers <= {MOST},headroom >= 2,{limits}");
    let mut arguments = vec!["run", "plant.toml", "--find-limit", "--tolerate-disturbance"];
    for setting in
        ["series.duration=1h", "mixed.duration=1s", "mixed.warm_up=200ms", "writers.batch=2", &limits]
    {
        arguments.extend(["--set", setting]);
    }
    let output = place.run(&arguments);
    let text = said(&output);
    let folder = place.run_folder();
    let report = place.run(&["report", &folder.to_string_lossy(), "--format", "json"]);
    let json: Value = serde_json::from_slice(&report.stdout).expect("a report");
    let words: Vec<&str> = text.split_whitespace().collect();
    Searched {
        code: output.status.code(),
        text: words.join(" "),
        requirements: json["summary"]["requirements"].clone(),
        trials: place.trials(),
    }
}
