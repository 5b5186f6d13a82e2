//! Operations of several questions, phases on the connections of the one before, and loads that are fed.

use crate::fixture::{Writes, memory, null, run_load};
use sensormark_engine::clients::Clients;
use sensormark_engine::inquiry::{Asker, Compared, Comparison, Inquired};
use sensormark_engine::intake::{Feed, Intake};
use sensormark_engine::operations::{Operations, Slot};
use sensormark_engine::outcome::PhaseOutcome;
use sensormark_engine::pacing::monotonic_ns;
use sensormark_engine::phase::{Load, Pacing, Phase};
use sensormark_result::ledger::journal::{self, Standing};
use sensormark_store::{
    Answer, Ask, FieldSet, LocalFuture, Operation, Query, Selection, StoreError, TimeRange, Values,
};
use serde_json::Value;
use std::fs::File;
use std::sync::Arc;
use std::time::Duration;

/// Finds the first reading of a sensor, and then asks for that one: two questions, of which the second is made from the first's answer.
struct Steps {
    operations: u64,
    classes: [String; 1],
}

impl Steps {
    fn new(operations: u64) -> Arc<Self> {
        Arc::new(Self { operations, classes: ["by steps".to_owned()] })
    }
}

async fn times(asker: &mut dyn Asker, range: TimeRange) -> Result<Vec<i64>, StoreError> {
    let query = Query {
        table: 0,
        series: Selection::One(0),
        range,
        ask: Ask::Range { fields: FieldSet::first(1), coarse_filter: false },
    };
    match asker.ask(&query).await? {
        Answer::Readings(batch) => Ok(batch.times_ns),
        _ => Ok(Vec::new()),
    }
}

impl Operations for Steps {
    fn len(&self) -> u64 {
        self.operations
    }

    fn classes(&self) -> &[String] {
        &self.classes
    }

    fn fill(&self, _index: u64, _watermark: u64, slot: &mut Slot) {
        slot.inquire(0, &[Operation::Range]);
    }

    fn inquire<'a>(
        &'a self,
        index: u64,
        asker: &'a mut dyn Asker,
    ) -> LocalFuture<'a, Result<Inquired, StoreError>> {
        Box::pin(async move {
            let first = times(asker, TimeRange::new(0, i64::MAX)).await?;
            let first = first.first().copied().unwrap_or_default();
            let found = times(asker, TimeRange::new(first, first + 1)).await?;
            Ok(Inquired {
                questions: 2,
                readings: found.len() as u64,
                nothing: None,
                sum_up: Box::new(move || {
                    Comparison::new(move || Compared {
                        difference: (found != [first] || index == 3).then(|| "it differs".into()),
                        note: index.is_multiple_of(2).then(|| "were even".to_owned()),
                    })
                }),
            })
        })
    }

    fn expected(&self, _index: u64, _query: &Query) -> Option<Answer> {
        None
    }
}

#[test]
fn several_questions_are_one_operation_and_compared_when_the_phase_is_over() {
    let target = memory(None);
    let written = run_load(&target, Load::new("write", Writes::new(100, 1), 1));
    assert_eq!(written.operations(), 100);
    let asked = run_load(&target, Load::new("ask", Steps::new(10), 2));
    assert_eq!((asked.operations(), asked.writes.statements), (10, 20));
    assert_eq!(asked.classes["by steps"].latency.summary.count, 10);
    let answers = &asked.answers;
    assert_eq!((answers.answered, answers.checked, answers.wrong), (10, 10, 1));
    let first = answers.first_wrong.as_deref();
    assert_eq!(first, Some("question 3 (by steps): it differs"));
    assert_eq!(asked.notes["were even"], 5);
}

#[test]
fn an_inquiry_that_fails_is_an_operation_that_failed() {
    let target = memory(Some("error"));
    let asked = run_load(&target, Load::new("ask", Steps::new(4), 1));
    assert_eq!((asked.operations(), asked.failed()), (0, 4));
    assert_eq!(asked.answers.answered, 0);
}

fn phase(load: Load) -> Phase {
    Phase { loads: vec![load], ..Phase::default() }
}

#[test]
fn a_phase_goes_on_on_the_connections_of_the_one_before_it() {
    let target = memory(None);
    let write = phase(Load::new("write", Writes::new(60, 2), 3));
    let clients = Clients::connect(&target, write).expect("they connect");
    let mut first = clients.run(&mut |_| {}).expect("no thread dies");
    let count = |outcome: PhaseOutcome| (outcome.loads[0].operations(), outcome.cut);
    assert_eq!(count(first.outcome()), (60, None));
    let ask = phase(Load::new("ask", Steps::new(9), 3));
    let clients = Clients::going_on(first, ask).expect("as many clients");
    let mut second = clients.run(&mut |_| {}).expect("no thread dies");
    assert_eq!(count(second.outcome()), (9, None));
    let others = phase(Load::new("ask", Steps::new(9), 2));
    assert!(Clients::going_on(second, others).is_err());
}

/// Writes of three readings each, which come by themselves every 50 ms.
struct Fed {
    operations: u64,
    classes: [String; 1],
}

struct Coming {
    left: u64,
    next: u64,
    start_ns: u64,
    sequences: Vec<u64>,
}

const APART_NS: u64 = 50_000_000;

impl Operations for Fed {
    fn len(&self) -> u64 {
        self.operations
    }

    fn classes(&self) -> &[String] {
        &self.classes
    }

    fn fill(&self, _index: u64, _watermark: u64, slot: &mut Slot) {
        slot.write(0);
    }

    fn intake(&self, address: &Value, start_ns: u64) -> Result<Box<dyn Intake>, StoreError> {
        assert_eq!(address, "here");
        Ok(Box::new(Coming { left: self.operations, next: 0, start_ns, sequences: Vec::new() }))
    }

    fn expected(&self, _index: u64, _query: &Query) -> Option<Answer> {
        None
    }
}

impl Intake for Coming {
    fn take(&mut self, slot: &mut Slot) -> Result<bool, StoreError> {
        let batch = slot.write(0);
        self.sequences.clear();
        if self.left == 0 {
            return Ok(false);
        }
        self.left -= 1;
        for sequence in self.next..self.next + 3 {
            self.sequences.push(sequence);
            batch.times_ns.push(i64::try_from(sequence).expect("small"));
            batch.series.push(0);
            if let Values::F64(values) = &mut batch.columns[0].values {
                values.push(1.0);
            }
        }
        self.next += 3;
        let due_ns = self.due_ns(self.next - 3);
        std::thread::sleep(Duration::from_nanos(due_ns.saturating_sub(monotonic_ns())));
        Ok(true)
    }

    fn sequences(&self) -> &[u64] {
        &self.sequences
    }

    fn due_ns(&self, sequence: u64) -> u64 {
        self.start_ns + sequence / 3 * APART_NS
    }
}

#[test]
fn what_comes_by_itself_is_written_journaled_and_timed_from_when_it_was_due() {
    let scratch = tempfile::NamedTempFile::new().expect("a file");
    let load = Load {
        pacing: Pacing::Fed,
        feed: Some(Feed { address: Value::from("here"), journal: scratch.path().to_path_buf() }),
        ..Load::new("fed", Arc::new(Fed { operations: 10, classes: ["write".to_owned()] }), 1)
    };
    let fed = Phase {
        // The first five come before it is over.
        lead_in: Duration::from_nanos(APART_NS * 5 - APART_NS / 2),
        ..phase(load)
    };
    for target in [memory(None), null()] {
        File::create(scratch.path()).expect("an empty journal");
        let clients = Clients::connect(&target, fed.clone()).expect("it connects");
        let mut finished = clients.run(&mut |_| {}).expect("no thread dies");
        finished.close();
        let outcome = finished.outcome();
        let load = &outcome.loads[0];
        assert_eq!(outcome.cut, None);
        assert_eq!(load.broken, None);
        assert_eq!((load.writes.attempted, load.writes.acknowledged), (30, 30));
        let class = &load.classes["write"];
        // A machine that is stopped for a while may be late with one before.
        assert!((5..10).contains(&class.operations), "{}", class.operations);
        assert_eq!(class.latency.summary.count, 3 * class.operations);
        let service = class.service.as_ref().expect("open loop");
        assert_eq!(service.summary.count, class.operations);
        let mut file = File::open(scratch.path()).expect("the journal");
        let entries = journal::read(&mut file).expect("entries");
        let sequences = entries.iter().map(|entry| entry.sequence);
        assert!(sequences.eq(0..30));
        let acknowledged = |standing| standing == Standing::Acknowledged;
        assert!(entries.iter().all(|entry| acknowledged(entry.standing)));
    }
}
