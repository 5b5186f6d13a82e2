//! Tests of the source with real queues and real time.

use super::super::queue::{CAPACITY_READINGS, Received};
use super::*;
use sensormark_engine::scheduling::Grant;

/// A queue with its two other ends.
fn queue() -> (Queue, Queue, Queue) {
    let queue = Queue::create().expect("a queue");
    let (source, writer) = (Queue::source(&queue.address()), Queue::writer(&queue.address()));
    (queue, source.expect("the source's end"), writer.expect("the writer's end"))
}

/// Takes everything up to the end marker, on a thread of its own.
fn receiver(queue: Queue) -> std::thread::JoinHandle<(Vec<Received>, u64)> {
    std::thread::spawn(move || {
        let mut readings = Vec::new();
        loop {
            match queue.receive().expect("receive") {
                Received::End { attempted } => return (readings, attempted),
                reading => readings.push(reading),
            }
        }
    })
}

/// A source on a thread of its own, so that what it asks of the kernel ends with it.
fn run(config: SourceConfig, queue: Queue) -> SourceReport {
    let source = std::thread::spawn(move || run_source(&config, &queue, &AtomicBool::new(false)));
    source.join().expect("the source ends well").expect("no error")
}

#[test]
fn two_seconds_reach_the_writer_complete_and_in_order() {
    let (_queue, source, writer) = queue();
    let writer = receiver(writer);
    let start_ns = monotonic_ns() + 10_000_000;
    let report = run(SourceConfig { start_ns: Some(start_ns), ..SourceConfig::new(42, 2_000) }, source);
    let (readings, attempted) = writer.join().expect("the writer ends well");
    assert_eq!((report.attempted, report.sent, report.lost), (2_000, 2_000, 0));
    assert_eq!((report.end, report.end_marker_sent, attempted), (SourceEnd::Complete, true, 2_000));
    let machine = MachineTool::new(42);
    let expected: Vec<_> =
        (0..2_000).map(|sequence| Received::Reading { sequence, values: machine.sample(sequence) }).collect();
    assert!(readings == expected, "readings differ from the generator's");
    assert_eq!((report.start_ns, report.pacing.ticks), (start_ns, 2_000));
    assert!(report.elapsed_ns >= 1_999_000_000);
    // Generous: other work may hold this machine.
    assert!(report.pacing.p50_ns.is_some_and(|error_ns| error_ns < 20_000_000), "{:?}", report.pacing);
    assert!(report.cpu_ns > 0 && report.cpu_ns < 1_000_000_000, "{} ns", report.cpu_ns);
}

#[test]
fn without_a_writer_the_queue_fills_and_the_rest_is_one_run_of_losses() {
    let (_queue, source, writer) = queue();
    let room = CAPACITY_READINGS;
    let period_ns = NonZeroU64::new(10_000).expect("not zero");
    let config = SourceConfig { period_ns, end_patience_ns: 0, ..SourceConfig::new(1, room + 100) };
    let report = run(config, source);
    assert_eq!((report.attempted, report.sent, report.lost), (room + 100, room, 100));
    assert_eq!(report.lost_runs, [LossRun { first: room, length: 100 }]);
    assert_eq!(report.lost_run_lengths, BTreeMap::from([(100, 1)]));
    assert!(!report.end_marker_sent, "there was no room for it");
    let readings = (0..room).map(|_| writer.receive().expect("receive"));
    for (expected, received) in (0..).zip(readings) {
        assert!(matches!(received, Received::Reading { sequence, .. } if sequence == expected));
    }
}

#[test]
fn losses_are_joined_to_runs_and_counted_by_length() {
    let mut losses = Losses::default();
    [3, 4, 5, 9, 11, 12, 13].into_iter().for_each(|sequence| losses.record(sequence));
    let runs = [(3, 3), (9, 1), (11, 3)].map(|(first, length)| LossRun { first, length });
    assert_eq!((losses.runs.as_slice(), losses.total), (runs.as_slice(), 7));
    assert_eq!(losses.by_length(), BTreeMap::from([(1, 1), (3, 2)]));
}

#[test]
fn the_stop_flag_and_the_end_of_all_takers_end_it_with_a_report() {
    let (queue, source, writer) = queue();
    let stopped = run_source(&SourceConfig::new(1, 10), &source, &AtomicBool::new(true)).expect("no error");
    assert_eq!((stopped.end, stopped.attempted, stopped.end_marker_sent), (SourceEnd::Stopped, 0, true));
    assert_eq!(writer.receive().expect("receive"), Received::End { attempted: 0 });

    let source = std::thread::spawn(move || run(SourceConfig::new(1, 1_000_000), source));
    std::thread::sleep(std::time::Duration::from_millis(50));
    drop((queue, writer));
    let report = source.join().expect("the source ends well");
    assert_eq!((report.end, report.end_marker_sent), (SourceEnd::QueueRemoved, false));
    assert!(report.attempted > 0 && report.lost == 0);
}

#[test]
fn report_and_configuration_survive_json() {
    let (_queue, source, _writer) = queue();
    let report = run(SourceConfig { period_ns: NonZeroU64::MIN, ..SourceConfig::new(1, 5) }, source);
    let text = serde_json::to_string(&report).expect("write");
    assert_eq!(serde_json::from_str::<SourceReport>(&text).expect("read"), report);
    let config: SourceConfig = serde_json::from_str(r#"{"seed": 1, "samples": 5}"#).expect("defaults");
    assert_eq!(config, SourceConfig::new(1, 5));
    assert!(serde_json::from_str::<SourceConfig>(r#"{"seed": 1, "samples": 5, "periods": 1}"#).is_err());
}

/// For a person: `cargo test --release pacing_figures -- --ignored --nocapture`, on an idle machine.
#[test]
#[ignore = "prints figures of this machine, 12 s for each policy"]
fn pacing_figures() {
    for real_time_priority in [None, Some(50)] {
        let (_queue, source, writer) = queue();
        let writer = receiver(writer);
        let scheduling = SchedulingRequest { real_time_priority, ..SchedulingRequest::default() };
        let report = run(SourceConfig { scheduling, ..SourceConfig::new(42, 12_000) }, source);
        writer.join().expect("the writer ends well");
        let PacingSummary { p50_ns, p99_ns, p99_9_ns, max_ns, .. } = report.pacing;
        println!(
            "real time {:?}: p50 {p50_ns:?}, p99 {p99_ns:?}, p99.9 {p99_9_ns:?}, max {max_ns} ns; CPU {} ns; lost {}",
            report.scheduling.real_time, report.cpu_ns, report.lost
        );
        assert_ne!(report.scheduling.timer_slack, Grant::NotRequested);
    }
}
