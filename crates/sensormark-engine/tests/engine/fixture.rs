//! A small workload for the engine's tests: writes of sensor readings, and questions about them.

use sensormark_conformance::faulty::FaultyStore;
use sensormark_conformance::memory::MemoryStore;
use sensormark_conformance::null::NullStore;
use sensormark_conformance::reference::Reference;
use sensormark_data::random::Stream;
use sensormark_engine::clients::Clients;
use sensormark_engine::operations::{Operations, Slot};
use sensormark_engine::outcome::{LoadOutcome, PhaseOutcome};
use sensormark_engine::phase::{Load, Phase, Target};
use sensormark_engine::written::WrittenLoads;
use sensormark_result::ledger::reconcile::{Expected, reconcile};
use sensormark_result::measurement::record::LedgerRecord;
use sensormark_store::{
    Aggregate, Answer, AnswerSource, Ask, Batch, DatabaseName, Durability, Endpoint, FieldSet, Function,
    Grouping, Layout, Plan, Query, RepeatedWrite, Schema, Secret, Selection, Store, TimeRange,
    TimeResolution, Values,
};
use std::num::NonZeroU64;
use std::sync::Arc;

/// Sensors of the workload.
const SENSORS: u32 = 10;
/// From one reading of a sensor to the next, in ns: not a whole millisecond, so that rounding shows.
const STEP_NS: i64 = 1_000_001;

/// Readings of ten sensors: operation i writes `rows` readings of sensor i modulo 10.
pub struct Writes {
    operations: u64,
    rows: u64,
    classes: [String; 1],
}

impl Writes {
    pub fn new(operations: u64, rows: u64) -> Arc<Self> {
        Arc::new(Self { operations, rows, classes: ["write".to_owned()] })
    }

    fn readings(&self, index: u64, batch: &mut Batch) {
        let sensor = u32::try_from(index % u64::from(SENSORS)).expect("small");
        let stream = Stream::new(7, u64::from(sensor), 0);
        for row in 0..self.rows {
            let number = (index / u64::from(SENSORS)) * self.rows + row;
            batch.times_ns.push(time(number));
            batch.series.push(sensor);
            if let Values::F64(values) = &mut batch.columns[0].values {
                values.push(stream.normal(number));
            }
        }
    }
}

fn time(number: u64) -> i64 {
    1_000_000_000 + i64::try_from(number).expect("small") * STEP_NS
}

impl Operations for Writes {
    fn len(&self) -> u64 {
        self.operations
    }

    fn classes(&self) -> &[String] {
        &self.classes
    }

    fn fill(&self, index: u64, _watermark: u64, slot: &mut Slot) {
        self.readings(index, slot.write(0));
    }

    fn expected(&self, _index: u64, _query: &Query) -> Option<Answer> {
        None
    }
}

/// Questions about what [`Writes`] writes: points and sums in turn, or sums alone.
pub struct Questions {
    operations: u64,
    written: u64,
    /// Readings before the last one of a sum.
    before: i64,
    answers: Reference,
    classes: [String; 2],
}

/// The first class of questions that are not points.
const FIRST: &str = "first";

impl Questions {
    pub fn new(operations: u64, writes: &Writes) -> Arc<Self> {
        Self::about(operations, writes, 5, ["point", "sum"])
    }

    /// Sums of this many readings and one, in two classes in turn: "first" and "second".
    pub fn sums(operations: u64, writes: &Writes, before: i64) -> Arc<Self> {
        Self::about(operations, writes, before, [FIRST, "second"])
    }

    fn about(operations: u64, writes: &Writes, before: i64, classes: [&str; 2]) -> Arc<Self> {
        let schema = Arc::new(schema());
        let mut answers = Reference::new(Arc::clone(&schema));
        let mut batch = Batch::new(0, &schema.tables[0]);
        for index in 0..writes.operations {
            writes.readings(index, &mut batch);
        }
        answers.add(&batch);
        answers.prepare();
        Arc::new(Self {
            operations,
            written: writes.operations * writes.rows,
            before,
            answers,
            classes: classes.map(str::to_owned),
        })
    }
}

impl Operations for Questions {
    fn len(&self) -> u64 {
        self.operations
    }

    fn classes(&self) -> &[String] {
        &self.classes
    }

    fn class(&self, index: u64) -> usize {
        usize::from(index % 2 == 1)
    }

    fn least_watermark(&self) -> u64 {
        u64::from(SENSORS)
    }

    fn fill(&self, index: u64, watermark: u64, slot: &mut Slot) {
        let query = slot.ask();
        let stream = Stream::new(7, 99, 0);
        let sensor = stream.word(2 * index) % u64::from(SENSORS);
        // Below operation `watermark`, each sensor has this many readings.
        let readings = (watermark.min(self.written) / u64::from(SENSORS)).max(1);
        let is_point = self.class(index) == 0 && self.classes[0] != FIRST;
        // Sums alone are all of as many readings: none begins before the first.
        let least = match self.classes[0].as_str() {
            FIRST => u64::try_from(self.before).expect("not negative"),
            _ => 0,
        };
        let bound = NonZeroU64::new(readings - least).expect("at least one");
        let number = least + stream.below(2 * index + 1, bound);
        query.series = Selection::One(u32::try_from(sensor).expect("small"));
        let at = time(number);
        if is_point {
            query.range = TimeRange::new(at, at + 1);
            query.ask = Ask::Point { fields: FieldSet::first(1) };
        } else {
            query.range = TimeRange::new(at - self.before * STEP_NS, at + 1);
            query.ask = Ask::Aggregate {
                aggregates: vec![Aggregate { function: Function::Sum, field: 0 }],
                grouping: Grouping::default(),
                from_sums: false,
            };
        }
    }

    fn answer_len(&self, _index: u64, _query: &Query) -> Option<usize> {
        Some(1)
    }

    fn expected(&self, _index: u64, query: &Query) -> Option<Answer> {
        Some(self.answers.answer(query))
    }
}

/// Ten sensors.
pub fn schema() -> Schema {
    Schema::of_sensors(0..i64::from(SENSORS), TimeResolution::Nanoseconds)
}

fn plan() -> Plan {
    Plan {
        endpoint: Endpoint {
            url: Secret::new("anything"),
            label: "test".into(),
            managed: true,
            ports: Vec::new(),
        },
        database: DatabaseName::new("engine").expect("a right name"),
        owner: "tests".into(),
        schema: Arc::new(schema()),
        layout: Layout::row_per_reading(),
        durability: Durability::Default,
        clients: 1,
        timeout_ms: 200,
    }
}

/// Operations on a store; its operations may take 200 ms.
pub fn target(store: Arc<dyn Store>) -> Target {
    Target::new(store, Arc::new(plan()))
}

struct Nothing;

impl AnswerSource for Nothing {
    fn answer(&self, _query: &Query) -> Answer {
        Answer::Moment(None)
    }

    fn scan(&self, _table: usize, _sink: &mut dyn FnMut(&Batch)) {}
}

/// A store that takes everything and answers nothing.
pub fn null() -> Target {
    target(Arc::new(NullStore::new(Arc::new(Nothing))))
}

/// A store in memory with an empty database, and a planted fault if one is named.
pub fn memory(fault: Option<&str>) -> Target {
    let mut store: Arc<dyn Store> = Arc::new(MemoryStore::new(RepeatedWrite::KeepsBoth));
    if let Some(fault) = fault {
        store = Arc::new(FaultyStore::new(store, fault.parse().expect("a fault")));
    }
    let target = target(store);
    block_on(async {
        let mut administrator = target.store.administrator(&target.plan).await.expect("here");
        administrator.create().await.expect("new");
    });
    target
}

pub fn block_on<T>(work: impl Future<Output = T>) -> T {
    let runtime =
        tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime of one thread");
    runtime.block_on(work)
}

pub fn run(target: &Target, phase: Phase) -> PhaseOutcome {
    let clients = Clients::connect(target, phase).expect("all clients connect");
    let mut finished = clients.run(&mut |_| {}).expect("no thread dies");
    finished.close();
    finished.outcome()
}

/// Runs one load by itself.
pub fn run_load(target: &Target, load: Load) -> LoadOutcome {
    let phase = Phase { loads: vec![load], ..Phase::default() };
    run(target, phase).loads.remove(0)
}

/// What the ledger says after this load.
pub fn ledger(target: &Target, operations: Arc<Writes>, outcome: &LoadOutcome) -> LedgerRecord {
    let schema = Arc::clone(&target.plan.schema);
    let mut written = WrittenLoads::default();
    written.add(operations, Arc::clone(&schema), outcome, true);
    let mut ledger = LedgerRecord {
        attempted: outcome.writes.attempted,
        refused: outcome.writes.refused,
        ..LedgerRecord::default()
    };
    block_on(async {
        let session = target.store.connect(&target.plan).await;
        let mut session = session.expect("the database is there");
        reconcile(&schema, &written, || Expected::of(&schema, &written), session.as_mut(), &mut ledger)
            .await
            .expect("a scan");
    });
    ledger
}
