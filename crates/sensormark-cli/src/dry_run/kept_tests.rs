//! The plans of kept results against what those runs took: one set of figures stands for all servers, so a plan is right within twice.

use crate::registry::{factories, registry};
use sensormark_engine::adjust::adjust_values;
use sensormark_engine::estimate::Terms;
use sensormark_engine::run_plan::RunPlan;
use sensormark_engine::scale::Scale;
use sensormark_engine::selection::parse;
use sensormark_engine::study_protocol;
use sensormark_engine::trial::WorkloadFactory;
use sensormark_engine::trial::case::TrialRunner;
use sensormark_engine::trial::cases::cases;
use sensormark_result::measurement::{Cache, RunRecord};
use sensormark_store::{Durability, ServerOptions};
use serde_json::Value;
use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Arc;

/// The parameters of a kept run, with lists as lists: runs of before have them as they were typed ("1,8").
fn typed(factory: &dyn WorkloadFactory, kept: &Value) -> Value {
    let table = factory.parameters();
    let kept = kept.as_object().expect("names and values");
    let known = kept.iter().filter(|(name, _)| table.iter().any(|one| one.name == *name));
    let text = |value: &Value| match value {
        Value::String(text) => text.clone(),
        Value::Array(values) => {
            let texts = values.iter().map(|one| one.as_str().map_or_else(|| one.to_string(), str::to_owned));
            texts.collect::<Vec<_>>().join(",")
        }
        other => other.to_string(),
    };
    let mut settings: Vec<String> = known.map(|(name, value)| format!("{name}={}", text(value))).collect();
    // Runs of before have no live phase.
    let has_live = table.iter().any(|one| one.name == "live_seconds") && !kept.contains_key("live_seconds");
    settings.extend(has_live.then(|| "live_seconds=0".to_owned()));
    let preset = factory.preset(Scale::Study).expect("the study's numbers");
    adjust_values(preset, &settings, table).expect("numbers that were measured with")
}

/// The layouts that the run measured, as `--on` names them. A study's protocol may name others since.
fn measured(folder: &Path) -> String {
    let trials = std::fs::read_dir(folder.join("trials")).expect("kept trials");
    let mut names = BTreeSet::new();
    for trial in trials {
        let text = std::fs::read(trial.expect("an entry").path()).expect("a kept trial");
        let trial: Value = serde_json::from_slice(&text).expect("a record");
        let of = |name: &str| trial["implementation"][name].as_str().expect("a name").to_owned();
        names.insert(format!("{}:{}", of("store"), of("layout_name")));
    }
    names.into_iter().collect::<Vec<_>>().join(",")
}

/// What the run took and what its plan says, in seconds; none where this program was built without its stores.
fn compared(workload: &str) -> Option<(f64, f64)> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/results");
    let folder = root.join(workload);
    let text = std::fs::read(folder.join("run.json")).expect("a kept run");
    let run: RunRecord = serde_json::from_slice(&text).expect("a record");
    let time = |text: &str| text.parse::<jiff::Timestamp>().expect("a time");
    let (began, ended) = (time(&run.started), time(&run.finished.expect("it ended")));
    let took = ended.duration_since(began).as_secs_f64();
    let choices = parse(&measured(&folder), &registry()).ok()?;
    let factories = factories();
    let factory = factories.find(workload).expect("a workload");
    let protocol = study_protocol::protocol(workload).expect("a study");
    let parameters = typed(factory.as_ref(), &run.parameters);
    let durability = Durability::Default;
    let (cases, _) = cases(factory.as_ref(), &parameters, &choices, durability).expect("cases");
    let runner = TrialRunner { factory: Arc::clone(factory), parameters };
    let log_bytes = ServerOptions::default().log_bytes();
    let terms = Terms::new(Cache::Hot, Some(protocol), log_bytes);
    let plan = RunPlan::new(&runner, &cases, run.repetitions, &terms);
    Some((took, plan.seconds()))
}

#[test]
fn plans_of_kept_results_come_close_to_what_they_took() {
    let mut wrong = Vec::new();
    for workload in ["billing", "devops", "iot-platform", "machine-tool", "sensor-operations"] {
        let Some((took, planned)) = compared(workload) else {
            eprintln!("{workload}: not tried, this program was built without one of its stores");
            continue;
        };
        let ratio = planned / took;
        eprintln!("{workload}: took {took:.0} s, planned {planned:.0} s, {ratio:.2} times");
        if !(0.5..2.0).contains(&ratio) {
            wrong.push(format!("{workload}: {took:.0} s, planned {planned:.0} s"));
        }
    }
    assert!(wrong.is_empty(), "{wrong:?}");
}
