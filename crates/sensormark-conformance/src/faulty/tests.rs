//! Each fault does what its name says, where it says, and nothing else.

use super::*;
use crate::memory::{MemoryStore, fixture};
use sensormark_store::answer::Answer;
use sensormark_store::census::Census;
use sensormark_store::query::{
    Aggregate, Ask, Comparison, Function, Grouping, Predicate, Selection, TimeRange,
};
use sensormark_store::schema::FieldSet;

/// Something done with a session of a store with these faults (one in the other) in a new database, on a runtime of its own.
fn with<T>(faults: &str, action: impl AsyncFnOnce(&mut dyn Session, &Plan) -> T) -> T {
    let plan = fixture::plan(fixture::schema());
    let mut store: Arc<dyn Store> = Arc::new(MemoryStore::new(RepeatedWrite::KeepsBoth));
    for fault in faults.split('+') {
        store = Arc::new(FaultyStore::new(store, fault.parse().unwrap()));
    }
    tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(async {
        store.administrator(&plan).await.unwrap().create().await.unwrap();
        let mut session = store.connect(&plan).await.unwrap();
        action(&mut *session, &plan).await
    })
}

/// Rows (time, series, value) that are stored after two batches of five were written.
fn stored_with(fault: &str) -> Vec<(i64, f64)> {
    with(fault, async |session, plan| {
        for start in [0, 5] {
            let rows: Vec<_> =
                (start..start + 5).map(|row| (i64::from(row) * 1_500_000, 0, f64::from(row))).collect();
            let batch = fixture::batch(&plan.schema, &rows);
            let acknowledged = session.write(&batch).await.unwrap();
            assert_eq!((acknowledged.readings, acknowledged.sent), (5, 5));
        }
        let mut rows = Vec::new();
        let mut sink = |batch: &Batch| {
            for row in 0..batch.len() {
                let value = batch.columns[0].number(row).unwrap();
                rows.push((batch.times_ns[row], value));
            }
        };
        session.scan(0, &mut sink).await.unwrap();
        rows
    })
}

#[test]
fn readings_are_dropped_duplicated_corrupted_and_rounded_by_number() {
    let values = |fault| -> Vec<f64> { stored_with(fault).iter().map(|row| row.1).collect() };
    assert_eq!(values("drop:4"), [0.0, 1.0, 2.0, 4.0, 5.0, 6.0, 8.0, 9.0]);
    assert!(values("drop:1").is_empty());
    assert_eq!(values("duplicate:9"), [0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 8.0, 9.0]);
    assert_eq!(values("corrupt:10"), [0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 10.0]);
    assert_eq!(values("drop:11").len(), 10);
    let times: Vec<i64> = stored_with("round:1ms").iter().map(|row| row.0).collect();
    assert_eq!(times[..4], [0, 1_000_000, 3_000_000, 4_000_000]);
}

/// A question of each kind, about one reading of value 5.
fn questions() -> Vec<(AnswerKind, Query)> {
    let fields = FieldSet::one(0);
    let predicate = Predicate { field: 0, comparison: Comparison::Above, threshold: 1.0 };
    let asks = [
        Ask::Point { fields },
        Ask::Range { fields, coarse_filter: false },
        Ask::First(predicate),
        Ask::Last(predicate),
        Ask::Minimum { field: 0 },
        Ask::Aggregate {
            aggregates: vec![Aggregate { function: Function::Mean, field: 0 }],
            grouping: Grouping::default(),
            from_sums: false,
        },
        Ask::LastReading { fields },
        Ask::SeriesMatching(predicate),
    ];
    asks.into_iter()
        .map(|ask| {
            let query = Query { table: 0, series: Selection::One(0), range: TimeRange::new(7, 8), ask };
            (AnswerKind::of(&query.ask), query)
        })
        .collect()
}

/// The answers to these questions, in pairs: each is asked twice.
async fn answers(session: &mut dyn Session, plan: &Plan) -> Vec<[Answer; 2]> {
    let batch = fixture::batch(&plan.schema, &[(7, 0, 5.0)]);
    session.write(&batch).await.unwrap();
    let mut answers = Vec::new();
    for (_, query) in questions() {
        let first = session.query(&query).await.unwrap();
        answers.push([first, session.query(&query).await.unwrap()]);
    }
    answers
}

#[test]
fn answers_of_one_kind_are_wrong_and_the_others_right() {
    let right = with("drop:1000", answers);
    for (kind, _) in questions() {
        let wrong = with(&format!("wrong-answer:{}:2", kind.text()), answers);
        for ((other, query), (wrong, right)) in questions().iter().zip(wrong.iter().zip(&right)) {
            let second = wrong[1].disagreement(&right[1], query);
            assert_eq!(wrong[0], right[0], "{kind:?}");
            assert_eq!(second.is_some(), *other == kind, "{kind:?} and {other:?}: {second:?}");
        }
    }
    let empty = with("empty-answer:2", answers);
    assert!(empty.iter().all(|pair| !pair[0].is_empty() && pair[1].is_empty()));
}

#[test]
fn operations_fail_and_connections_break_by_number() {
    let kinds = |fault| {
        with(fault, async |session, plan| {
            let batch = fixture::batch(&plan.schema, &[(7, 0, 5.0)]);
            let mut kinds = Vec::new();
            for _ in 0..4 {
                let result = session.write(&batch).await;
                kinds.push(result.err().map(|error| (error.kind(), error.is_in_doubt())));
            }
            let mut census = Census::new(&plan.schema);
            session.scan(0, &mut |batch| census.add(batch)).await.unwrap();
            (kinds, census.readings())
        })
    };
    let rejected = Some((ErrorKind::Rejected, false));
    assert_eq!(kinds("error:2"), (vec![None, rejected, None, rejected], 2));
    let cut = |in_doubt| Some((ErrorKind::Unavailable, in_doubt));
    assert_eq!(kinds("cut:2"), (vec![None, cut(true), cut(false), cut(false)], 2));
}

#[test]
fn operations_wait_before_or_after() {
    for (fault, least_ms) in [("late:30:2", 30), ("hang:30:2", 30), ("spin:0", 0)] {
        let durations = with(fault, async |session, plan| {
            let batch = fixture::batch(&plan.schema, &[(7, 0, 5.0)]);
            let mut durations = Vec::new();
            for _ in 0..2 {
                let started = Instant::now();
                session.write(&batch).await.unwrap();
                durations.push(started.elapsed());
            }
            durations
        });
        assert!(durations[1] >= Duration::from_millis(least_ms), "{fault}");
    }
    let hung = with("hang", async |session, plan| {
        let batch = fixture::batch(&plan.schema, &[(7, 0, 5.0)]);
        let limit = Duration::from_millis(50);
        tokio::time::timeout(limit, session.write(&batch)).await.is_err()
    });
    assert!(hung);
}

#[test]
fn spinning_takes_its_share_of_the_operation_longer() {
    let took = with("late:40+spin:150", async |session, plan| {
        let batch = fixture::batch(&plan.schema, &[(7, 0, 5.0)]);
        let started = Instant::now();
        session.write(&batch).await.unwrap();
        started.elapsed()
    });
    assert!(took >= Duration::from_millis(100), "{took:?}");
}

#[test]
fn spinning_takes_only_every_so_many_operations() {
    let took = with("late:40+spin:10000:2", async |session, plan| {
        let batch = fixture::batch(&plan.schema, &[(7, 0, 5.0)]);
        let started = Instant::now();
        session.write(&batch).await.unwrap();
        let first = started.elapsed();
        session.write(&batch).await.unwrap();
        (first, started.elapsed())
    });
    assert!(took.1 - took.0 >= Duration::from_secs(4), "{took:?}");
    assert!(took.0 < Duration::from_secs(4), "{took:?}");
}

#[test]
fn faults_are_written_and_read() {
    for (pattern, description) in FAULTS {
        let text = pattern
            .replace(['[', ']'], "")
            .replace("UNIT", "1ms")
            .replace("KIND", "first")
            .replace("PERCENT", "5")
            .replace("MS", "20")
            .replace(":N", ":3");
        let fault: Fault = text.parse().unwrap_or_else(|error| panic!("{text}: {error}"));
        assert_eq!(fault.to_string().parse::<Fault>().unwrap(), fault, "{text}");
        assert!(!description.is_empty());
    }
    for bad in [
        "",
        "drop",
        "drop:0",
        "drop:x",
        "drop:1:2",
        "round:5ms",
        "wrong-answer:nothing",
        "late",
        "cut",
        "spin:-1",
        "spin:5:0",
    ] {
        let error = bad.parse::<Fault>().unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Configuration, "{bad}");
    }
}
