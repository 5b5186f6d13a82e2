//! A load that several hosts made: what each host did, the network between both ends, and figures that clocks leave open.

use super::phases::report;
use super::{cell, two};
use crate::Report;
use sensormark_result::measurement::clock::ClockRecord;
use sensormark_result::measurement::names;
use sensormark_result::measurement::record::{Figure, TrialRecord};
use sensormark_result::measurement::shared_window::SharedWindow;
use sensormark_result::tests::fixture::usual;

fn has(report: &Report, table: &str) -> bool {
    report.document().tables().any(|found| found.id == table)
}

fn add(trial: &mut TrialRecord, figures: &[(&str, &str, f64)]) {
    for (name, whose, value) in figures {
        let name = format!("{name}/load/{whose}");
        trial.figures.insert(name, Figure::new(*value, ""));
    }
}

#[test]
fn the_host_with_the_slowest_clients_is_marked_not_the_one_with_fewer() {
    let mut trial = usual("MariaDB", 10);
    // b has one client less, and each of c's does less.
    add(
        &mut trial,
        &[
            (names::HOST_RATE, "a", 300.0),
            (names::HOST_CLIENTS, "a", 3.0),
            (names::HOST_RATE, "b", 200.0),
            (names::HOST_CLIENTS, "b", 2.0),
            (names::HOST_RATE, "c", 240.0),
            (names::HOST_CLIENTS, "c", 3.0),
        ],
    );
    let report = report(vec![trial]);
    assert_eq!(cell(&report, "load_hosts", "b", "operations"), "200");
    assert_eq!(cell(&report, "load_hosts", "c", "of each client"), "80.0");
    let remarks = ["a", "b", "c"].map(|host| cell(&report, "load_hosts", host, "remark"));
    assert_eq!(remarks, ["", "", "slowest"]);
}

#[test]
fn the_network_is_shown_of_both_ends_where_it_was_seen() {
    let mut trial = usual("MariaDB", 10);
    assert!(!has(&report(vec![trial.clone()]), "network"));
    for (number, phase) in (1..).zip(&mut trial.phases) {
        let roles = &mut phase.totals.as_mut().unwrap().roles;
        let client = roles.get_mut("trial").unwrap();
        client.sent_wire_bytes = Some(2_000_000);
        client.retransmitted_segments = Some(number);
        client.mean_round_trip_ns = Some(number * 100_000);
        let server = roles.get_mut("server").unwrap();
        server.received_wire_bytes = Some(1_500_000);
        server.retransmitted_segments = Some(0);
    }
    let report = report(vec![trial]);
    assert_eq!(cell(&report, "network", "client", "sent"), "4.00");
    assert_eq!(cell(&report, "network", "client", "sent again"), "3.00");
    assert_eq!(cell(&report, "network", "client", "round trip"), "150");
    assert_eq!(cell(&report, "network", "server", "received"), "3.00");
    assert_eq!(cell(&report, "network", "server", "sent again"), "0");
    assert_eq!(cell(&report, "network", "server", "round trip"), "–");
}

#[test]
fn of_a_study_the_measured_phase_counts() {
    let mut trials = two();
    assert!(!has(&super::report(trials.clone()), "network"));
    for trial in &mut trials {
        for phase in &mut trial.phases {
            let Some(totals) = &mut phase.totals else {
                continue;
            };
            for role in totals.roles.values_mut() {
                role.mean_round_trip_ns = Some(if phase.name == "measured" { 40_000 } else { 1 });
            }
        }
    }
    let report = super::report(trials);
    assert_eq!(cell(&report, "network", "server", "round trip"), "40.0");
}

/// 10 s were written. Clocks that are known to 0.4 s leave 0.8 s open, those known to 0.6 s more than a tenth.
#[test]
fn throughput_that_clocks_leave_open_is_marked() {
    for (uncertainty_ns, is_marked) in [(400_000_000, false), (600_000_000, true)] {
        let mut trial = usual("MariaDB", 10);
        trial.loads[0].not_started = 1;
        trial.clocks.push(ClockRecord {
            phase: "load".to_owned(),
            host: "a".to_owned(),
            offset_ns: 0,
            uncertainty_ns,
            drift_ppm: 0.0,
        });
        let report = report(vec![trial]);
        let remark = cell(&report, "phase_load", "MariaDB individual", "remark");
        assert_eq!(remark.contains("throughput uncertain"), is_marked, "{remark}");
    }
}

/// 10 s of a load. Its hosts were at work together for 8 s, in which they did 160 of 170 operations, or for half a second.
#[test]
fn rates_of_several_hosts_count_over_the_window_that_all_shared() {
    for (seconds, rate, remark) in [(8.0, "20.0", ""), (0.5, "17.0", "too short")] {
        let mut trial = usual("MariaDB", 10);
        assert!(!has(&report(vec![trial.clone()]), "shared_windows"));
        let load = &mut trial.loads[0];
        load.seconds = 10.0;
        load.classes.get_mut("load").expect("its class").operations = 170;
        load.shared = Some(SharedWindow { hosts: 3, seconds, operations: 160.0, readings: 160.0 });
        // What is kept and read again says the same.
        let kept = serde_json::to_string(&trial).expect("a record");
        let report = report(vec![serde_json::from_str(&kept).expect("a record")]);
        let of = |table: &str, column: &str| cell(&report, table, "MariaDB individual", column);
        assert_eq!(of("phase_load", "operations"), rate);
        assert_eq!(of("shared_windows", "hosts"), "3");
        assert_eq!(of("shared_windows", "whole load"), "10.0");
        assert_eq!(of("shared_windows", "remark"), remark);
    }
}
