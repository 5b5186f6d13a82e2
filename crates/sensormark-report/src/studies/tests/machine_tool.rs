//! The study's figures beside ours, and its claims.

use super::*;
use sensormark_result::measurement::names;
use sensormark_result::measurement::record::Figure;
use sensormark_store::{TimeKey, WriteMethod};

const WRITERS: [&str; 5] =
    ["MariaDB individual", "MariaDB bulk", "MongoDB individual", "MongoDB bulk", "InfluxDB"];
const READERS: [&str; 7] = [
    "MariaDB individual",
    "MariaDB bulk",
    "MongoDB individual",
    "MongoDB bulk",
    "InfluxDB individual",
    "InfluxDB bulk",
    "InfluxDB bulk-1",
];

/// What a row of the study says was used, in the order of its criteria.
fn used(row: &[f64], server_io: f64) -> Used {
    let round = sensormark_data::units::round_u64;
    Used {
        server_cpu: row[0],
        server_memory: round(row[1]),
        server_io: round(server_io),
        client_cpu: row[3],
        client_memory: round(row[4]),
        network: round(row[5]),
        disk: round(row.get(6).copied().unwrap_or(0.0)),
    }
}

/// The study's own printed figures as if they had been measured here.
fn as_published() -> Vec<TrialRecord> {
    let mut trials = Vec::new();
    let parted = |name: &'static str| name.split_once(' ').unwrap_or((name, "individual"));
    for name in WRITERS {
        let (title, layout) = parted(name);
        let row = printed("machine-tool", "write", &[&format!("write {name}")]);
        trials.push(trial(ours(title, layout, None), 0, used(&row, row[2])));
    }
    for name in READERS {
        let (title, strategy) = parted(name);
        let layout = match title {
            "InfluxDB" => "individual",
            _ => strategy,
        };
        let row = printed("machine-tool", "read", &[&format!("read {name}")]);
        let used = used(&[&row[..6], &[0.0]].concat(), 0.0);
        let mut trial = trial(ours(title, layout, Some(strategy)), 0, used);
        let totals = trial.phases[1].totals.as_mut().expect("a measured phase");
        let server = totals.roles.get_mut("server").expect("a server");
        let bytes = sensormark_data::units::round_u64(row[2] * 1e3);
        server.storage_read_bytes = Some(bytes * SECONDS);
        trial.figures.insert(
            names::KEEPS_UP.to_owned(),
            Figure::new(f64::from(u8::from(name != "MongoDB individual")), ""),
        );
        trials.push(trial);
    }
    trials
}

fn ours(title: &str, layout: &str, strategy: Option<&str>) -> sensormark_result::measurement::Implementation {
    let mut ours = implementation(title, layout, strategy);
    if title == "InfluxDB" {
        ours.layout.write = WriteMethod::Datagram;
    }
    ours
}

const CLAIMS: [&str; 14] = [
    "bulk beats individual on CPU, I/O and disk (writing)",
    "InfluxDB needs the least disk",
    "MongoDB individual cannot keep up with 3 reads a second",
    "server reads stay under the raw data rate (22 kB/s) for all but MariaDB individual (data in cache)",
    "no reading is lost on UDP",
    "bulk-1 saves network over bulk (InfluxDB reading)",
    "MariaDB bulk is the best overall",
    "InfluxDB individual is the best at reading",
    "MariaDB bulk is the best at writing",
    "MariaDB bulk needs the least network (writing)",
    "InfluxDB's client is the smallest (writing)",
    "reading needs more network than writing, for all but InfluxDB individual",
    "InfluxDB's server uses less memory when reading than when writing",
    "bulk reading is not worthwhile in InfluxDB",
];

/// The judge of the claims, judged: on the study's own figures all hold, and all ratios are 1.
#[test]
fn on_the_studys_own_figures_its_claims_hold() {
    kept::kept_variants("machine-tool", &as_published(), report);
    let decided = report(thrice(as_published()));
    for claim in CLAIMS {
        assert_eq!(
            cell(&decided, "claims", claim, "here"),
            "held",
            "{claim}: {}",
            cell(&decided, "claims", claim, "figures")
        );
    }
    let report = report(as_published());
    for table in ["published_write", "published_read"] {
        let table = report.document().tables().find(|found| found.id == table).unwrap();
        for row in &table.rows {
            let ratio = number::cell_text(&row[5]);
            assert!(ratio == "1.00" || (number::cell_text(&row[3]) == "0" && ratio == "–"), "{row:?}");
        }
    }
    let table = report.document().tables().find(|found| found.id == "published_scores").unwrap();
    assert_eq!(table.rows.len(), 7 * 4, "three scores and a rank of each");
    // Three of scores, seven criteria of five writers and six of seven readers.
    assert_eq!(drawn_as(&report, "published"), (16, 77));
}

/// The study wrote each sample by itself: what wrote a second's samples at once stands for none of its rows, however cheap it was.
#[test]
fn what_was_written_in_seconds_is_none_of_the_studys_rows() {
    let alone = report(thrice(as_published()));
    let mut trials = as_published();
    for trial in as_published() {
        let mut in_seconds = trial;
        let ours = &mut in_seconds.implementation;
        if !ours.layout_name.starts_with("individual") {
            continue;
        }
        ours.layout_name = ours.layout_name.replace("individual", "individual-in-seconds");
        in_seconds.name += "-in-seconds";
        if let Some(ledger) = &mut in_seconds.ledger {
            ledger.in_doubt_not_stored = 7;
        }
        let totals = in_seconds.phases[1].totals.as_mut().expect("measured");
        for role in totals.roles.values_mut() {
            role.cpu_percent_of_core /= 10.0;
            role.cpu_ns /= 10;
        }
        trials.insert(0, in_seconds);
    }
    let beside = report(thrice(trials));
    let rows = |report: &Report, id: &str| {
        let table = report.document().tables().find(|table| table.id == id);
        let rows = table.map(|table| table.rows.clone()).unwrap_or_default();
        rows.iter().map(|row| row.iter().map(number::cell_text).collect::<Vec<_>>()).collect::<Vec<_>>()
    };
    for id in ["published_write", "published_read", "published_scores", "claims"] {
        assert!(!rows(&alone, id).is_empty(), "{id}");
        assert_eq!(rows(&beside, id), rows(&alone, id), "{id}");
    }
}

/// InfluxDB's floating point fields and MongoDB's dates, where they were measured beside layouts that are ours and here are dearer.
#[test]
fn the_studys_rows_are_compared_with_layouts_as_the_study_had_them() {
    let mut trials = as_published();
    let mut as_theirs = Vec::new();
    for trial in &mut trials {
        let mut like = trial.clone();
        let variant = match trial.implementation.title.as_str() {
            "InfluxDB" => {
                like.implementation.layout.float_fields = true;
                "-udp-floats"
            }
            "MongoDB" => {
                like.implementation.layout.time = TimeKey::Native;
                "-dates"
            }
            _ => continue,
        };
        like.implementation.layout_name += variant;
        like.name += variant;
        as_theirs.push(like);
        let totals = trial.phases[1].totals.as_mut().unwrap();
        for role in totals.roles.values_mut() {
            role.cpu_percent_of_core *= 3.0;
            role.cpu_ns *= 3;
        }
    }
    assert_eq!(as_theirs.len(), 8);
    trials.extend(as_theirs);
    let report = report(trials);
    kept::kept("machine-tool-as-theirs", &report);
    let mut compared = 0;
    for table in ["published_write", "published_read"] {
        let mut tables = report.document().tables();
        let table = tables.find(|found| found.id == table).unwrap();
        for row in &table.rows {
            let ratio = number::cell_text(&row[5]);
            assert!(ratio == "1.00" || ratio == "–", "{row:?}");
            compared += u32::from(ratio == "1.00");
        }
    }
    assert!(compared > 40, "{compared}");
}

/// The report says where the study gives two figures for one thing.
#[test]
fn the_studys_disagreements_are_in_the_report() {
    let text = report(as_published()).json();
    assert!(
        text.contains("difficulty term is left out of the sum") && text.contains("the study's text says 75"),
        "{text}"
    );
}

#[test]
fn a_claim_is_refuted_by_one_part_and_not_judged_without_all() {
    let mut trials = as_published();
    trials.retain(|trial| trial.implementation.title != "InfluxDB");
    let found = report(thrice(trials));
    for claim in [CLAIMS[1], CLAIMS[3], CLAIMS[4], CLAIMS[5], CLAIMS[6], CLAIMS[7]] {
        assert_eq!(cell(&found, "claims", claim, "here"), "cannot be judged", "{claim}");
        assert!(cell(&found, "claims", claim, "figures").contains("no valid trial of InfluxDB"));
    }
    assert_eq!(cell(&found, "claims", CLAIMS[0], "here"), "held");
    let mut trials = as_published();
    // MongoDB bulk needs 4 MB here, less than InfluxDB's 5; and a datagram is lost.
    for trial in trials.iter_mut().filter(|trial| trial.ledger.is_some()) {
        if trial.implementation.title == "MongoDB" && trial.implementation.layout_name == "bulk" {
            trial.figures.insert(names::DISK_SETTLED.to_owned(), Figure::new(44e6, "bytes"));
        }
        if trial.implementation.title == "InfluxDB" {
            trial.ledger.as_mut().unwrap().in_doubt_not_stored = 1;
        }
    }
    trials.retain(|trial| trial.implementation.title != "MariaDB");
    let found = report(thrice(trials));
    kept::kept_claims("machine-tool-refuted", &found);
    assert_eq!(cell(&found, "claims", CLAIMS[1], "here"), "did not hold");
    assert!(cell(&found, "claims", CLAIMS[1], "figures").contains("5.00 against 4.00 MB of MongoDB bulk"));
    assert_eq!(cell(&found, "claims", CLAIMS[4], "here"), "did not hold");
    assert_eq!(cell(&found, "claims", CLAIMS[0], "here"), "cannot be judged");
    assert!(cell(&found, "claims", CLAIMS[0], "figures").contains("no valid trial of MariaDB"));
}

#[test]
fn within_the_noise_nothing_is_decided() {
    let mut trials = Vec::new();
    for (repetition, wobble) in [0.9, 1.1, 1.0, 0.95].into_iter().enumerate() {
        for trial in as_published().into_iter().filter(|trial| trial.implementation.title == "InfluxDB") {
            let mut trial = trial;
            trial.repetition = u32::try_from(repetition).unwrap();
            let totals = trial.phases[1].totals.as_mut().unwrap();
            if let Some(reader) = totals.roles.get_mut("reader") {
                let bytes = 2_000_000.0
                    * if trial.implementation.strategy.as_deref() == Some("bulk") { wobble } else { 1.0 };
                reader.sent_wire_bytes = Some(sensormark_data::units::round_u64(bytes));
                reader.received_wire_bytes = Some(0);
            }
            trials.push(trial);
        }
    }
    assert_eq!(cell(&report(trials), "claims", CLAIMS[5], "here"), "undecided");
}

/// Two single trials stated flatly what two others denied.
#[test]
fn a_single_trial_and_a_disturbed_host_decide_nothing() {
    let outcome = |trials| {
        let report = report(trials);
        for claim in CLAIMS {
            assert_eq!(cell(&report, "claims", claim, "here"), "undecided", "{claim}");
        }
        cell(&report, "claims", CLAIMS[1], "figures")
    };
    assert!(outcome(as_published()).contains("undecided: fewer than three valid repetitions"));
    let mut trials = thrice(as_published());
    for trial in &mut trials {
        trial.disturbances.push("steal 9 %".to_owned());
    }
    assert!(outcome(trials).contains("undecided: the host was disturbed, which was tolerated"));
}

/// What the study measured in another way, and databases that it did not try.
#[test]
fn a_run_as_the_study_and_others_bulk_are_kept() {
    let mut run = run();
    run.as_study = true;
    let mut trials = thrice(as_published());
    for layout in ["individual", "bulk"] {
        trials.extend(thrice(pair("PostgreSQL", layout, 0, COSTLY, CHEAP).to_vec()));
    }
    let found = Report::new(run, trials, &ReportOptions::default());
    kept::kept("machine-tool-as-study", &found);
    let others = [pair("SQLite", "individual", 0, COSTLY, COSTLY), pair("SQLite", "bulk", 0, CHEAP, CHEAP)];
    let alone = report(thrice(others.concat()));
    kept::kept("machine-tool-others", &alone);
    // A reader that kept up in one repetition alone.
    let mut trials = thrice(as_published());
    let first = trials
        .iter_mut()
        .find(|trial| trial.implementation.label() == "MongoDB individual" && trial.answers.is_some());
    if let Some(first) = first {
        first.figures.insert(names::KEEPS_UP.to_owned(), Figure::new(1.0, ""));
    }
    kept::kept_claims("machine-tool-keeps-up", &report(trials));
}
