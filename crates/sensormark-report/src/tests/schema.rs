//! The published schema of the result format, against the records that the program writes.

use super::fields::fields_of;
use super::*;
use sensormark_result::measurement::NotMeasured;
use sensormark_result::measurement::latency::LatencyRecorder;
use sensormark_result::measurement::lifecycle::TaskRecord;
use sensormark_result::measurement::record::{
    AnswersRecord, ClassRecord, LatencyRecord, LedgerRecord, LimitRecord, LoadRecord, PhaseRecord,
};
use sensormark_result::measurement::server::{
    ClientProbeRecord, MemoryLimitRecord, ProbeRecord, ServerRecord,
};
use sensormark_result::measurement::shared_window::SharedWindow;
use sensormark_result::measurement::verdict::{RULES, Reason, ReasonKind, Verdict};
use sensormark_result::probe::{
    ClientHost, Environment, FlushRate, HostTotals, PhaseTotals, RoleTotals, ServerHost,
};
use sensormark_store::{DaySplit, Encoding, Extremes, Shape};
use serde_json::{Value, json};

const SCHEMA: &str = include_str!("../../../../docs/reference/result.schema.json");

/// A validator of one of the two records.
fn validator(record: &str) -> jsonschema::Validator {
    let mut schema: Value = serde_json::from_str(SCHEMA).unwrap();
    schema.as_object_mut().unwrap().remove("oneOf");
    schema["$ref"] = json!(format!("#/$defs/{record}"));
    jsonschema::validator_for(&schema).unwrap()
}

fn assert_valid(validator: &jsonschema::Validator, value: &Value) {
    let errors: Vec<String> =
        validator.iter_errors(value).map(|error| format!("{}: {error}", error.instance_path())).collect();
    assert!(errors.is_empty(), "{errors:#?}");
}

fn full_run() -> Value {
    let mut run = run();
    let folder = tempfile::tempdir().unwrap();
    let environment = Environment::read(&[("data", folder.path())]).unwrap();
    run.environment = serde_json::to_value(environment).unwrap();
    run.not_measured.push(NotMeasured {
        implementation: "GridDB".to_owned(),
        reason: "not available: there is no client library".to_owned(),
    });
    run.trials.push("1-sqlite-bulk-write".to_owned());
    serde_json::to_value(run).unwrap()
}

fn limit(is_undecided: bool) -> LimitRecord {
    LimitRecord {
        text: "p99 of load < 1 s".to_owned(),
        measured: None,
        unit: "ns".to_owned(),
        words: "too few operations".to_owned(),
        met: false,
        is_undecided,
        needs_readings: is_undecided.then_some(1e6),
    }
}

/// Every shape but that of a row for each reading.
fn shapes() -> [Shape; 6] {
    let split = DaySplit { day_start_ns: 0, day_end_ns: 1 };
    [
        Shape::RowPerField,
        Shape::RecordPerSpan { span_ns: 1, encoding: Encoding::BinaryJson },
        Shape::Bucketed { limit: 200, per_ns: 1, split, extremes: Extremes::PerBucket },
        Shape::Summary { per_ns: 1, split },
        Shape::GrowingArray,
        Shape::NativeTimeSeries,
    ]
}

/// A server of somebody else's, with a probe on another host.
fn add_probe(trial: &mut TrialRecord) {
    let server = trial.server.as_mut().unwrap();
    server.managed = false;
    server.probe = Some(ProbeRecord {
        host: Some("db1".to_owned()),
        missing: vec!["disk I/O".to_owned()],
        ..ProbeRecord::default()
    });
    let mut totals = trial.phases.iter_mut().filter_map(|phase| phase.totals.as_mut());
    let totals = totals.find(|totals| totals.roles.contains_key("server")).unwrap();
    totals.server_host = Some(ServerHost::default());
    let client = totals.roles.iter().next();
    totals.client_hosts.push(ClientHost {
        roles: client.map(|(name, role)| (name.clone(), role.clone())).into_iter().collect(),
        ..ClientHost::default()
    });
    let role = totals.roles.get_mut("server").unwrap();
    role.retransmitted_segments = Some(1);
    role.mean_round_trip_ns = Some(1);
    trial.client_probes.push(ClientProbeRecord {
        role: "reader".to_owned(),
        probe: ProbeRecord { host: Some("pi2".to_owned()), ..ProbeRecord::default() },
    });
}

/// A load in open loop that two hosts made.
fn full_load(latency: &LatencyRecord) -> LoadRecord {
    let class = ClassRecord {
        operations: 30,
        readings: 300,
        failed: 1,
        latency: latency.clone(),
        service: Some(latency.clone()),
    };
    LoadRecord {
        phase: "load-1".to_owned(),
        name: "load".to_owned(),
        labels: [("hours".to_owned(), json!(3.0))].into(),
        warm_up: false,
        writes: true,
        clients: 2,
        processes: 2,
        open_loop: true,
        planned: 31,
        seconds: 1.5,
        shared: Some(SharedWindow { hosts: 2, seconds: 1.25, operations: 24.5, readings: 245.0 }),
        classes: [("write".to_owned(), class)].into(),
        errors: [("timeout".to_owned(), 1)].into(),
        first_error: Some("timeout".to_owned()),
        late: 1,
        not_started: 1,
        statements: 31,
        reconnects: 1,
        datagram_bytes: 12,
        answers: AnswersRecord::default(),
        pacing_p99_ns: Some(1),
        ceiling: Some(7_148.5),
        cut: Some("the time was up".to_owned()),
        not_supported: Some("it has none".to_owned()),
        client_side: Some("the median".to_owned()),
    }
}

/// The same of one host, which says as little as it can.
fn plain_load(latency: &LatencyRecord) -> LoadRecord {
    let mut load = full_load(latency);
    load.shared = None;
    for class in load.classes.values_mut() {
        class.service = None;
    }
    (load.first_error, load.cut) = (None, None);
    (load.pacing_p99_ns, load.ceiling) = (None, None);
    (load.not_supported, load.client_side) = (None, None);
    load
}

fn full_trials() -> Vec<Value> {
    let mut trials = two();
    let mut recorder = LatencyRecorder::new();
    (1..30).for_each(|operation| recorder.record(operation * 1_000_000, operation * 100_000_000));
    let (_, seconds, summary) = recorder.finish().expect("all in memory");
    let latency = LatencyRecord { open_loop: true, summary, seconds };
    trials[0].loads.push(full_load(&latency));
    trials[2].loads.push(plain_load(&latency));
    trials[0].latencies.insert("raw".to_owned(), latency);
    trials[0].errors.insert("timeout".to_owned(), 2);
    trials[2].limits.extend([false, true].map(limit));
    trials[2].tasks.push(TaskRecord { means: vec!["VACUUM INTO".to_owned()], ..TaskRecord::default() });
    trials[1].verdict = Verdict::Inconclusive(vec![Reason::new(ReasonKind::HostDisturbed, "steal")]);
    trials[2].phases[0].totals = None;
    for (trial, peak_bytes) in trials[2..].iter_mut().zip([Some(1 << 30), None]) {
        if let Some(server) = &mut trial.server {
            server.memory_limit = Some(MemoryLimitRecord {
                limit_bytes: 2 << 30,
                peak_bytes,
                limit_reached: peak_bytes,
                killed_processes: 1,
            });
        }
    }
    trials[2].implementation.server = Some("fast".to_owned());
    add_probe(&mut trials[3]);
    trials[2].disturbances.push("measured: steal".to_owned());
    for shape in shapes() {
        let mut trial = trials[3].clone();
        trial.implementation.layout.shape = shape;
        trials.push(trial);
    }
    for (kind, ..) in &RULES {
        trials.push(invalid(trials[2].clone(), *kind, "seen"));
    }
    trials.iter().map(|trial| serde_json::to_value(trial).unwrap()).collect()
}

#[test]
fn what_the_program_writes_is_valid() {
    assert_valid(&validator("run"), &full_run());
    let validator = validator("trial");
    full_trials().iter().for_each(|trial| assert_valid(&validator, trial));
}

/// Runs of older versions have none of these.
#[test]
fn what_is_there_in_some_runs_alone_is_valid_with_and_without() {
    let mut run = full_run();
    let rate = FlushRate::measure(tempfile::tempdir().unwrap().path()).unwrap();
    run["environment"]["flushes"] = json!({ "data": rate });
    assert_valid(&validator("run"), &run);
    run["environment"]["flushes"]["data"]["colour"] = json!("red");
    assert!(!validator("run").is_valid(&run));
}

#[test]
fn the_schema_itself_tells_runs_from_trials() {
    let schema: Value = serde_json::from_str(SCHEMA).unwrap();
    assert!(jsonschema::meta::is_valid(&schema));
    let validator = jsonschema::validator_for(&schema).unwrap();
    assert!(validator.is_valid(&full_run()));
    assert!(full_trials().iter().all(|trial| validator.is_valid(trial)));
    assert!(!validator.is_valid(&json!({ "schema_version": 1 })));
}

/// Records of earlier versions do not say what a store advises.
#[test]
fn the_size_of_a_write_is_valid_with_and_without() {
    let mut trial = full_trials()[0].clone();
    trial["write_sizes"] = json!([super::writes::advised(345)]);
    assert_valid(&validator("trial"), &trial);
    trial["write_sizes"][0]["colour"] = json!("red");
    assert!(!validator("trial").is_valid(&trial));
}

/// The places of all objects with fields of a record, as JSON pointers. (Maps by name are open, and end the descent only
/// where their values do.)
fn objects(value: &Value, at: &str, found: &mut Vec<String>) {
    if let Value::Object(entries) = value {
        let open =
            ["/parameters", "/latencies", "/errors", "/labels", "/classes", "/figures", "/roles", "/folders"];
        if !open.iter().any(|name| at.ends_with(name)) {
            found.push(at.to_owned());
        }
        for (name, inner) in entries.iter().filter(|(name, _)| *name != "parameters") {
            objects(inner, &format!("{at}/{name}"), found);
        }
    }
    if let Value::Array(items) = value {
        for (place, inner) in items.iter().enumerate().take(1) {
            objects(inner, &format!("{at}/{place}"), found);
        }
    }
}

/// In every object of every record, each field is needed but those of some workloads alone, and no other is allowed.
#[test]
fn a_missing_and_an_unknown_field_fail_everywhere() {
    let mut checked = 0;
    for (record, value) in
        [("run", full_run()), ("trial", full_trials()[0].clone()), ("trial", full_trials()[1].clone())]
    {
        let validator = validator(record);
        let mut places = Vec::new();
        objects(&value, "", &mut places);
        for place in places {
            let mut extended = value.clone();
            extended.pointer_mut(&place).unwrap()["colour"] = json!("red");
            assert!(!validator.is_valid(&extended), "{record}{place} takes an unknown field");
            let names: Vec<String> =
                value.pointer(&place).unwrap().as_object().unwrap().keys().cloned().collect();
            for name in names {
                let mut reduced = value.clone();
                reduced.pointer_mut(&place).unwrap().as_object_mut().unwrap().remove(&name);
                // machine-tool has no loads, one host shares nothing, and earlier versions kept no bound of logs.
                let is_optional = ["loads", "shared", "log_bound"].contains(&&*name);
                assert!(
                    validator.is_valid(&reduced) == is_optional,
                    "{record}{place}/{name} is not required, or is"
                );
                checked += 1;
            }
        }
    }
    assert!(checked > 200, "{checked} fields were tried");
}

#[test]
fn wrong_values_fail() {
    let trial = full_trials()[0].clone();
    let validator = validator("trial");
    for (place, wrong) in [
        ("/schema_version", json!(1)),
        ("/side", json!("sideways")),
        ("/repetition", json!(-1)),
        ("/verdict", json!({ "state": "invalid", "reasons": [] })),
        ("/verdict", json!({ "state": "valid", "reasons": [] })),
        ("/ledger/stored", json!(1.5)),
        ("/latencies/raw/seconds/0/v2", json!("xyz")),
        ("/loads/0/planned", json!(-1)),
        ("/loads/0/shared/seconds", json!("1")),
        ("/implementation/layout/shape", json!({ "record_per_span": {} })),
    ] {
        let mut changed = trial.clone();
        *changed.pointer_mut(place).unwrap() = wrong;
        assert!(!validator.is_valid(&changed), "{place}");
    }
}

/// Records that leave out what is empty cannot show every field, so each field of the records themselves is looked for.
#[test]
fn every_field_that_a_record_can_have_is_in_the_schema() {
    let schema: Value = serde_json::from_str(SCHEMA).unwrap();
    let records = [
        ("run", fields_of::<RunRecord>()),
        ("not_measured", fields_of::<NotMeasured>()),
        ("trial", fields_of::<TrialRecord>()),
        ("phase", fields_of::<PhaseRecord>()),
        ("load", fields_of::<LoadRecord>()),
        ("class", fields_of::<ClassRecord>()),
        ("shared_window", fields_of::<SharedWindow>()),
        ("ledger", fields_of::<LedgerRecord>()),
        ("answers", fields_of::<AnswersRecord>()),
        ("latency", fields_of::<LatencyRecord>()),
        ("server", fields_of::<ServerRecord>()),
        ("totals", fields_of::<PhaseTotals>()),
        ("role", fields_of::<RoleTotals>()),
        ("host", fields_of::<HostTotals>()),
    ];
    for (record, fields) in records {
        let known = schema["$defs"][record]["properties"].as_object().unwrap();
        assert!(!fields.is_empty(), "{record}");
        for field in fields {
            assert!(known.contains_key(*field), "{record} lacks {field}");
        }
    }
}

/// Results that were kept are those of real runs of all workloads.
#[test]
fn kept_results_are_valid() {
    let kept = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/results");
    let validator = validator("trial");
    let mut workloads_with_loads = 0;
    for result in std::fs::read_dir(kept).unwrap() {
        let Ok(trials) = std::fs::read_dir(result.unwrap().path().join("trials")) else {
            continue;
        };
        let mut has_loads = false;
        for trial in trials {
            let bytes = std::fs::read(trial.unwrap().path()).unwrap();
            let trial: Value = serde_json::from_slice(&bytes).unwrap();
            assert_valid(&validator, &trial);
            has_loads |= trial.get("loads").is_some();
        }
        workloads_with_loads += u32::from(has_loads);
    }
    assert!(workloads_with_loads > 3, "{workloads_with_loads}");
}
