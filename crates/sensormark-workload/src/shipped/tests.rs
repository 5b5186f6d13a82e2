//! Every question finds something, thresholds pass the shares that they are for, and the data are pinned.

mod billing;
mod devops;
mod iot_platform;
mod sensor_operations;

use super::{HYDROMETRY, SLOW_CONTROL, Shipped};
use sensormark_conformance::memory::MemoryStore;
use sensormark_data::export::{DataRequest, Shard};
use sensormark_engine::adjust::adjust_values;
use sensormark_engine::operations::Slot;
use sensormark_engine::scale::Scale;
use sensormark_engine::trial::script::phases;
use sensormark_engine::trial::{Subject, Workload, WorkloadFactory};
use sensormark_store::census::Census;
use sensormark_store::{Answer, Ask, Derived, Layout, Query, RepeatedWrite, Selection};
use serde_json::Value;
use std::collections::BTreeMap;

/// The numbers of `quick`, made small.
fn small(workload: &Shipped) -> Value {
    let settings: &[&str] = match workload.name() {
        "slow-control" => &["sensors=100", "step=2000", "grown=200000", "questions=40"],
        _ => &["many=20", "grown_hours=4", "questions=10", "sensors=20"],
    };
    let settings: Vec<String> = settings.iter().map(|one| (*one).to_owned()).collect();
    let preset = workload.preset(Scale::Quick).expect("a scale");
    adjust_values(preset, &settings, workload.parameters()).expect("numbers")
}

fn build(workload: &Shipped, numbers: &Value) -> Box<dyn Workload> {
    let store = MemoryStore::new(RepeatedWrite::Replaces);
    let subject = Subject { store: &store, layout: &Layout::row_per_reading(), layout_name: "individual" };
    workload.build(numbers, 1, subject).expect("a workload")
}

/// Each question of each kind (or of one), with its answer: `each` gets the kind's name in the file.
fn answers(workload: &Shipped, numbers: &Value, only: &str, mut each: impl FnMut(&str, &Query, &Answer)) {
    let made = build(workload, numbers);
    let mut slot = Slot::new(&made.schema());
    for load in phases(&made.steps()).flat_map(|phase| &phase.loads) {
        if load.writes || !load.name.contains(only) {
            continue;
        }
        for index in 0..load.operations.len().min(40) {
            load.operations.fill(index, u64::MAX, &mut slot);
            let query = slot.query();
            let answer =
                load.operations.expected(index, query).unwrap_or_else(|| panic!("{}: {query:?}", load.name));
            each(&load.name, query, &answer);
        }
    }
}

/// In an earlier form no window ever passed: empty answers are right, and worth nothing.
#[test]
fn every_kind_of_question_finds_something() {
    for workload in [&SLOW_CONTROL, &HYDROMETRY] {
        let mut found: BTreeMap<String, [usize; 2]> = BTreeMap::new();
        answers(workload, &small(workload), "", |kind, _, answer| {
            let [all, some] = found.entry(kind.to_owned()).or_default();
            *all += 1;
            *some += usize::from(!answer.is_empty());
        });
        for (kind, [all, some]) in found {
            let share = if ["Q2", "Q11"].contains(&&*kind) { 0.05 } else { 1.0 };
            assert!(some as f64 >= share * all as f64, "{kind}: {some} of {all}");
        }
    }
}

#[test]
fn thresholds_pass_the_shares_that_they_are_for() {
    for (workload, shape) in [(&SLOW_CONTROL, "measured"), (&SLOW_CONTROL, "uniform"), (&HYDROMETRY, "")] {
        let mut numbers = small(workload);
        numbers["questions"] = 40.into();
        if !shape.is_empty() {
            numbers["values"] = shape.into();
        }
        let (mut passed, mut all) = (0.0, 0.0);
        answers(workload, &numbers, "Q2", |_, query, answer| {
            let range = query.range.length_ns() as f64;
            if !matches!(query.series, Selection::One(_)) {
                return;
            }
            match &query.ask {
                Ask::Derived(Derived::OutOfRange { window, .. }) => all += range / window.width_ns as f64,
                Ask::Derived(Derived::RowsByValue { .. }) => all += range / 1e10,
                _ => return,
            }
            passed += answer.len() as f64;
        });
        let share = if shape.is_empty() { 0.03..0.07 } else { 0.06..0.15 };
        assert!(share.contains(&(passed / all)), "{}, {shape}: {}", workload.name(), passed / all);
    }
}

#[test]
fn golden_checksums() {
    for (workload, readings, checksum) in [
        (&SLOW_CONTROL, 60_000, 10_407_820_168_834_346_762_u64),
        (&HYDROMETRY, 1_800, 1_943_459_058_099_346_748),
    ] {
        let request = DataRequest { seed: 1, start_ns: None, duration_ns: Some(600_000_000_000) };
        let numbers = small(workload);
        let data = workload.data_set(&numbers, &request).expect("data");
        let mut census = Census::new(&workload.schema(&numbers).expect("a schema"));
        data.each_batch(Shard::WHOLE, |batch| {
            census.add(batch);
            Ok(())
        })
        .expect("data");
        assert_eq!((census.readings(), census.checksum()), (readings, checksum), "{}", workload.name());
    }
}
