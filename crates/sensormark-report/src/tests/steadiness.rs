//! What the report says of a trial's course over time and of the machine: steadiness, noise between repetitions, warnings, and what the disk comes to.

use super::*;
use sensormark_result::measurement::latency::LatencyRecorder;
use sensormark_result::measurement::names;
use sensormark_result::measurement::record::{Figure, LatencyRecord};
use sensormark_result::probe::Environment;
use sensormark_result::statistics::synthetic::Random;
use sensormark_workload::own::find_limit::HIGHEST_RATE;

/// Twenty operations in each of `seconds` seconds, of 2 ms times a shape over time (0 to 1), with 5 % of noise a second.
fn course(seconds: u64, seed: u64, shape: impl Fn(f64) -> f64) -> LatencyRecord {
    let mut random = Random::new(seed);
    let mut recorder = LatencyRecorder::new();
    for second in 0..=seconds {
        let mean_ns = 2e6 * shape(second as f64 / seconds as f64) * (1.0 + 0.05 * random.normal());
        for operation in 0..20 {
            let at_ns = second * 1_000_000_000 + operation * 50_000_000;
            recorder.record(sensormark_data::units::round_u64(mean_ns), at_ns);
        }
    }
    let (_, seconds, summary) = recorder.finish().expect("all in memory");
    LatencyRecord { open_loop: false, summary, seconds }
}

/// The report of two implementations that wrote with these courses.
fn with_course(individual: LatencyRecord, bulk: LatencyRecord) -> Report {
    let mut trials = two();
    trials[0].latencies.insert("write".to_owned(), individual);
    trials[2].latencies.insert("write".to_owned(), bulk);
    report(trials)
}

#[test]
fn a_database_that_has_not_come_to_rest_is_warned_about() {
    // The first second settles quickly and then stays; the second has a compaction debt that it never pays.
    let warming = course(120, 51, |time| 1.0 + 2.0 * (-time / 0.03).exp());
    let falling = course(120, 52, |time| 1.0 + time);
    let report = with_course(warming, falling);
    let steady = |arm| cell(&report, "steadiness", arm, "steady");
    let found = steady("MariaDB individual (write)");
    let after = found.strip_prefix("after ").and_then(|rest| rest.strip_suffix(" s"));
    let after: u64 = after.and_then(|text| text.parse().ok()).expect(&found);
    assert!((5..=40).contains(&after), "{found}");
    let found = steady("MariaDB bulk (write)");
    assert!(found.starts_with("no: "), "{found}");
    let text = report.json();
    assert!(
        text.contains("MariaDB bulk (write): write was not steady in 1 of 1 repetition: its figures are of a database that had not come to rest"),
        "{text}"
    );
    assert!(!text.contains("MariaDB individual (write): write was not steady"));
    let mean = cell(&report, "steadiness", "MariaDB individual (write)", "latency then");
    assert!((mean.starts_with("2.0") || mean.starts_with("1.9")) && mean.contains('['), "{mean}");
}

#[test]
fn short_trials_are_told_nothing_of() {
    let report = with_course(course(39, 53, |_| 1.0), course(30, 54, |time| 1.0 + time));
    assert!(report.document().tables().all(|table| table.id != "steadiness"));
    let long = with_course(course(45, 55, |_| 1.0), course(30, 56, |_| 1.0));
    let mean = cell(&long, "steadiness", "MariaDB individual (write)", "latency then");
    assert_eq!(mean, "–", "an interval takes 60 s");
}

/// Repetitions with these mean latencies of a write, in ms.
fn repeated(means_ms: [u64; 4]) -> Report {
    let mut trials = Vec::new();
    for (repetition, mean_ms) in (0..).zip(means_ms) {
        let mut pair = pair("MariaDB", "bulk", repetition, CHEAP, CHEAP);
        let timed = fixture::latency(false, 10_000, mean_ms * 1_000_000);
        pair[0].latencies.insert(names::WRITE.to_owned(), timed);
        trials.extend(pair);
    }
    report(trials)
}

#[test]
fn noisy_repetitions_are_warned_about() {
    let noisy = repeated([100, 150, 80, 120]).json();
    assert!(
        noisy.contains("MariaDB bulk (write): noisy repetitions: the mean of 1 of 2 operations varies by more than 10 %, most that of write, by 27 % (standard deviation)"),
        "{noisy}"
    );
    assert!(!repeated([100, 105, 98, 101]).json().contains("noisy"));
}

/// The report's warnings on a machine that is so.
fn warned(change: fn(&mut Environment)) -> String {
    let mut run = run();
    let mut environment = Environment::read(&[]).unwrap();
    let processor = &mut environment.processor;
    (processor.logical_cores, processor.governor, processor.turbo) = (16, None, Some(false));
    environment.clock_source = Some("tsc".to_owned());
    environment.limits.cgroup_cores = None;
    change(&mut environment);
    run.environment = serde_json::to_value(environment).unwrap();
    let report = Report::new(run, two(), &ReportOptions::default());
    let sections = report.document().sections.iter();
    let warnings = sections.filter(|section| section.id == "warnings");
    format!("{:?}", warnings.collect::<Vec<_>>())
}

#[test]
fn what_a_reader_should_know_of_the_machine_is_told() {
    assert_eq!(warned(|_| ()), "[]");
    type Change = fn(&mut Environment);
    let told: [(Change, &str); 5] = [
        (|here| here.processor.logical_cores = 2, "client and server share 2 cores"),
        (
            |here| here.processor.governor = Some("powersave".to_owned()),
            "the frequency governor is powersave",
        ),
        (|here| here.processor.turbo = Some(true), "turbo is on"),
        (|here| here.clock_source = Some("hpet".to_owned()), "the clock source is hpet"),
        (|here| here.limits.cgroup_cores = Some(0.5), "a control group allows 0.50 of 16 cores"),
    ];
    for (change, words) in told {
        let text = warned(change);
        assert!(text.contains(words), "{words}: {text}");
    }
}

#[test]
fn disk_and_headroom_are_projected_from_the_rate() {
    // 80 MB for 12,000 readings are 6,667 bytes each; 1,000 a second are 576 GB a day.
    let mut trials = two();
    let found = Figure::new(2_500.0, "readings/s");
    trials[0].figures.insert(HIGHEST_RATE.to_owned(), found);
    let options = ReportOptions {
        projection: Projection { rate: None, disk_bytes: Some(5.76e12) },
        ..ReportOptions::default()
    };
    let own = Report::new(run(), trials.clone(), &options);
    for (column, expected) in [
        ("a reading", "6,667"),
        ("a day", "576"),
        ("a month", "17,280"),
        ("a year", "210,240"),
        ("full after", "10.0"),
        ("headroom", "2.50"),
    ] {
        let found = cell(&own, "projection", "MariaDB individual", column);
        assert_eq!(found, expected, "{column}");
    }
    assert_eq!(cell(&own, "projection", "MariaDB bulk", "headroom"), "–");
    let options = ReportOptions {
        projection: Projection { rate: Some(10.0), disk_bytes: None },
        ..ReportOptions::default()
    };
    let slower = Report::new(run(), trials, &options);
    assert_eq!(cell(&slower, "projection", "MariaDB individual", "a day"), "5.76");
}
