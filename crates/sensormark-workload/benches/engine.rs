//! What the engine itself costs: operations a second over the null store, which takes everything and does nothing.
//!
//! `throughput` is wall time with two threads; `cost` prints the CPU time of the client threads an operation, which other load on the machine
//! does not change.

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use sensormark_conformance::null::NullStore;
use sensormark_engine::adjust::adjust_values;
use sensormark_engine::clients::Clients;
use sensormark_engine::operations::{Operations, Slot};
use sensormark_engine::outcome::PhaseOutcome;
use sensormark_engine::phase::{Load, Phase, Target};
use sensormark_engine::scale::Scale;
use sensormark_engine::trial::script::phases;
use sensormark_engine::trial::{Subject, WorkloadFactory};
use sensormark_store::{
    Answer, AnswerSource, Ask, Batch, DatabaseName, Durability, Endpoint, FieldSet, Layout, Plan, Query,
    Schema, Secret, Selection, TimeRange, TimeResolution, Values,
};
use sensormark_workload::shipped::SENSOR_OPERATIONS;
use std::sync::Arc;
use std::time::Duration;

/// Writes of `rows` readings each, or questions for one reading.
struct Readings {
    operations: u64,
    rows: i64,
    ask: bool,
    classes: [String; 1],
}

impl Readings {
    fn of(operations: u64, rows: i64, ask: bool) -> Arc<dyn Operations> {
        Arc::new(Self { operations, rows, ask, classes: ["operation".to_owned()] })
    }
}

impl Operations for Readings {
    fn len(&self) -> u64 {
        self.operations
    }

    fn classes(&self) -> &[String] {
        &self.classes
    }

    fn fill(&self, index: u64, _watermark: u64, slot: &mut Slot) {
        let series = u32::try_from(index % 100).expect("small");
        let first = i64::try_from(index).expect("small") * self.rows * 1_000;
        if self.ask {
            let query = slot.ask();
            query.series = Selection::One(series);
            query.range = TimeRange::new(first, first + 1);
            query.ask = Ask::Point { fields: FieldSet::first(1) };
            return;
        }
        let batch = slot.write(0);
        batch.times_ns.extend((0..self.rows).map(|row| first + row * 1_000));
        batch.series.resize(batch.times_ns.len(), series);
        if let Values::F64(values) = &mut batch.columns[0].values {
            values.extend((0..self.rows).map(|row| (first + row) as f64));
        }
    }

    fn expected(&self, _index: u64, _query: &Query) -> Option<Answer> {
        None
    }
}

/// What a load of sensor-operations does with these numbers, by its place in the trial.
fn sensors(place: usize, settings: &[&str]) -> Arc<dyn Operations> {
    let settings: Vec<String> = settings.iter().map(|&text| text.to_owned()).collect();
    let preset = SENSOR_OPERATIONS.preset(Scale::Study).expect("a scale");
    let numbers = adjust_values(preset, &settings, SENSOR_OPERATIONS.parameters()).expect("numbers");
    let store = NullStore::new(Arc::new(Nothing));
    let subject = Subject { store: &store, layout: &Layout::row_per_reading(), layout_name: "individual" };
    let steps = SENSOR_OPERATIONS.build(&numbers, 42, subject).expect("a workload").steps();
    let load = &phases(&steps).nth(place).expect("a phase").loads[0];
    Arc::new(Unchecked(Arc::clone(&load.operations)))
}

/// Questions whose answers are not judged, because those of the null store are empty.
struct Unchecked(Arc<dyn Operations>);

impl Operations for Unchecked {
    fn len(&self) -> u64 {
        self.0.len()
    }

    fn classes(&self) -> &[String] {
        self.0.classes()
    }

    fn fill(&self, index: u64, watermark: u64, slot: &mut Slot) {
        self.0.fill(index, watermark, slot);
    }

    fn expected(&self, _index: u64, _query: &Query) -> Option<Answer> {
        None
    }
}

struct Nothing;

impl AnswerSource for Nothing {
    fn answer(&self, _query: &Query) -> Answer {
        Answer::Moment(None)
    }

    fn scan(&self, _table: usize, _sink: &mut dyn FnMut(&Batch)) {}
}

fn target() -> Target {
    let plan = Plan {
        endpoint: Endpoint { url: Secret::new(""), label: "null".into(), managed: true, ports: Vec::new() },
        database: DatabaseName::new("bench").expect("a right name"),
        owner: "bench".into(),
        schema: Arc::new(Schema::of_sensors(0..100, TimeResolution::Nanoseconds)),
        layout: Layout::row_per_reading(),
        durability: Durability::Default,
        clients: 1,
        timeout_ms: 10_000,
    };
    Target::new(Arc::new(NullStore::new(Arc::new(Nothing))), Arc::new(plan))
}

fn run(target: &Target, operations: &Arc<dyn Operations>, clients: u32) -> PhaseOutcome {
    let phase = Phase {
        loads: vec![Load::new("load", Arc::clone(operations), clients)],
        workers: Some(2),
        ..Phase::default()
    };
    let connected = Clients::connect(target, phase).expect("the null store connects");
    let mut finished = connected.run(&mut |_| {}).expect("nothing fails");
    finished.close();
    finished.outcome()
}

fn engine(criterion: &mut Criterion) {
    let target = target();
    let mut group = criterion.benchmark_group("engine");
    group.sample_size(10);
    for (name, work, rows, clients) in [
        ("write_single", Readings::of(2_000_000, 1, false), 1, 2),
        ("ask_single", Readings::of(2_000_000, 1, true), 1, 2),
        ("write_single_16_clients", Readings::of(2_000_000, 1, false), 1, 16),
        ("write_batches_of_1000", Readings::of(50_000, 1_000, false), 1_000, 2),
        ("sensor_operations_write", sensors(0, &["sweep=false", "single=2000000"]), 1, 1),
        ("sensor_operations_read", sensors(1, &["sweep=false", "single=2000000"]), 1, 1),
        (
            "sensor_operations_multi_write",
            sensors(2, &["sweep=false", "clients=1", "multi=50000000"]),
            1_000,
            1,
        ),
    ] {
        let operations = work.len();
        let readings = operations * rows;
        group.throughput(Throughput::Elements(readings));
        group.bench_function(name, |bencher| {
            // The time from the common start to the last operation's end, not that of starting threads.
            bencher.iter_custom(|times| {
                let runs = (0..times).map(|_| run(&target, &work, clients));
                let seconds: f64 = runs.map(|outcome| outcome.seconds()).sum();
                Duration::from_secs_f64(seconds)
            });
        });
        let outcome = run(&target, &work, clients);
        assert_eq!(outcome.loads[0].operations(), operations);
        println!(
            "{name}: {:.0} operations/s, {:.0} readings/s, {:.3} µs of CPU an operation",
            operations as f64 / outcome.seconds(),
            readings as f64 / outcome.seconds(),
            outcome.cpu_ns as f64 / 1e3 / operations as f64
        );
    }
    group.finish();
}

criterion_group!(benches, engine);
criterion_main!(benches);
