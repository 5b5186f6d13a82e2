//! What the estimate counts: starts, phases, restarts, what is written; and what it leaves out.

use crate::{durability, machine_tool, shipped};
use sensormark_conformance::memory::MemoryStore;
use sensormark_engine::adjust::adjust_values;
use sensormark_engine::context::CaseRunner;
use sensormark_engine::estimate::*;
use sensormark_engine::run_plan::RunPlan;
use sensormark_engine::scale::Scale;
use sensormark_engine::selection::Choice;
use sensormark_engine::trial::WorkloadFactory;
use sensormark_engine::trial::case::TrialRunner;
use sensormark_engine::trial::cases::cases;
use sensormark_result::measurement::record::Side;
use sensormark_store::Durability;
use sensormark_store::store::RepeatedWrite;
use std::sync::Arc;

/// The plan of a workload at `quick` with these settings on the memory store.
fn planned(factory: Arc<dyn WorkloadFactory>, settings: &[&str], terms: Terms) -> CaseEstimate {
    let settings: Vec<String> = settings.iter().map(|&text| text.to_owned()).collect();
    let preset = factory.preset(Scale::Quick).expect("a scale");
    let parameters = adjust_values(preset, &settings, factory.parameters()).expect("numbers");
    let choice = Choice::of(Arc::new(MemoryStore::new(RepeatedWrite::Replaces)));
    let (cases, _) = cases(factory.as_ref(), &parameters, &[choice], Durability::Default).expect("cases");
    let runner = TrialRunner { factory, parameters };
    runner.estimate(&cases[0], &terms)
}

fn hot() -> Terms {
    Terms::default()
}

#[test]
fn windows_and_schedules_take_their_own_time() {
    let machine = |settings: &[&str]| planned(Arc::new(machine_tool::MachineToolWorkload), settings, hot());
    assert!(machine(&[]).seconds() > machine(&["history_seconds=0"]).seconds());
    let case = machine(&["reads=30", "history_seconds=0"]);
    let [write, read] = &case.trials[..2] else {
        panic!("{case:?}");
    };
    // A second of warm-up and 4 measured; 3 and 30 reads at 3 a second, the first of each at once.
    assert!((5.2..6.5).contains(&write.seconds), "{write:?}");
    assert!((10.3..11.5).contains(&read.seconds), "{read:?}");
    assert_eq!((write.side, read.side), (Side::Write, Side::Read));
    assert!(read.label.contains("read "), "{read:?}");
}

/// A year at `study` took twice as long as was said.
#[test]
fn a_life_takes_what_its_writers_rate_takes() {
    let life = planned(Arc::new(shipped::YEAR), &["rate=1000"], hot());
    // 100 sensors, 4 readings a day, 364 days.
    assert!((140.0..170.0).contains(&life.seconds()), "{life:?}");
}

#[test]
fn more_to_write_and_to_ask_takes_longer_and_a_limit_cuts_it() {
    let seconds = |settings: &[&str]| {
        let one_size = [&["more_hours="], settings].concat();
        planned(Arc::new(shipped::DEVOPS), &one_size, hot()).seconds()
    };
    let usual = seconds(&[]);
    assert!(seconds(&["hosts=100", "load_seconds=0", "query_seconds=0"]) > 2.0 * usual);
    assert!(seconds(&["queries=100000", "query_seconds=0"]) > 5.0 * usual);
    let cut = seconds(&["queries=100000", "query_seconds=1"]);
    // Twelve kinds and numbers of clients.
    assert!(cut < usual + 14.0, "{cut} {usual}");
}

#[test]
fn what_is_written_needs_room() {
    let bytes = |settings: &[&str]| planned(Arc::new(shipped::DEVOPS), settings, hot()).disk_bytes;
    let one = bytes(&["more_hours="]);
    let four = bytes(&["more_hours=16"]);
    // 32,400 readings an hour, at least 16 bytes each.
    assert!(one > 4 * 32_400 * 16, "{one}");
    assert!(four > 2 * one, "{four} {one}");
}

#[test]
fn a_kill_counts_its_own_time() {
    let seconds = |text: &str| planned(Arc::new(durability::DurabilityWorkload), &[text], hot()).seconds();
    let (short, long) = (seconds("kill_after_seconds=2"), seconds("kill_after_seconds=12"));
    // Ten seconds more, and what is written in them is read back.
    assert!((10.0..14.0).contains(&(long - short)), "{short} {long}");
}

#[test]
fn a_plan_counts_all_repetitions_and_one_disk_at_a_time() {
    let factory: Arc<dyn WorkloadFactory> = Arc::new(shipped::DEVOPS);
    let parameters = factory.preset(Scale::Quick).expect("a scale");
    let choice = Choice::of(Arc::new(MemoryStore::new(RepeatedWrite::Replaces)));
    let (cases, _) = cases(factory.as_ref(), &parameters, &[choice], Durability::Default).expect("cases");
    let runner = TrialRunner { factory, parameters };
    let once = RunPlan::new(&runner, &cases, 1, &hot());
    let thrice = RunPlan::new(&runner, &cases, 3, &hot());
    let before = once.seconds() - once.cases.iter().map(CaseEstimate::seconds).sum::<f64>();
    assert!((thrice.seconds() - before - 3.0 * (once.seconds() - before)).abs() < 1e-6);
    assert_eq!(thrice.trials(), 3 * once.trials());
    assert_eq!(thrice.disk_bytes(), once.disk_bytes());
}
