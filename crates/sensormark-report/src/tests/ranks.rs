//! Who is ranked, with what score, and how sure that is.

use super::*;
use crate::brief::{Paths, Room, render};
use crate::criteria;
use sensormark_data::number::significant;
use sensormark_result::measurement::disk;
use sensormark_result::measurement::names;
use sensormark_result::measurement::record::{Cache, Figure, Side, TrialRecord};
use sensormark_result::measurement::verdict::ReasonKind;
use sensormark_result::probe::RoleTotals;
use sensormark_result::statistics::Basis;
use sensormark_result::statistics::synthetic::Random;
use sensormark_store::Durability;

/// By hand: the costly one uses twice as much by five criteria, the same time for a question, and half the wire. A steady rate has no load time.
#[test]
fn ratios_are_the_formulas() {
    let report = report(two());
    assert_eq!(order(&report), ["MariaDB bulk", "MariaDB individual"]);
    let ratios: Vec<f64> = report.ranking().ranked.iter().map(|one| one.ratio).collect();
    let expected = 2.0_f64.powf(4.0 / 7.0);
    assert!((ratios[0] - 1.0).abs() < 1e-12 && (ratios[1] - expected).abs() < 1e-9, "{ratios:?}");
    assert_eq!(cell(&report, "ranking_servers", "MariaDB individual", "cost"), "1.5");
    for (criterion, ratio) in [("load CPU", "2.0"), ("question time", "1.0"), ("on the wire", "1.0")] {
        assert_eq!(cell(&report, "ratios_servers", "MariaDB individual", criterion), ratio, "{criterion}");
    }
    assert_eq!(cell(&report, "ratios_servers", "MariaDB bulk", "on the wire"), "2.0");
}

#[test]
fn few_repetitions_are_a_single_trial() {
    let text = report(two()).json();
    let told = "Single trial: 1 repetition, so there are no intervals, and who differs by less than 10 % shares a rank";
    assert!(text.contains(told), "{text}");
    let twice: Vec<TrialRecord> = (0..2)
        .flat_map(|r| [pair("A", "x", r, CHEAP, CHEAP), pair("B", "x", r, CHEAP, CHEAP)].concat())
        .collect();
    assert_eq!(report(twice).ranking().basis, Basis::SingleTrial);
}

/// Costs with a wobble that is not the same for all.
fn wobbled(used: Used, percent: f64) -> Used {
    Used {
        server_cpu: used.server_cpu * (1.0 + percent / 100.0),
        client_cpu: used.client_cpu * (1.0 + percent / 100.0),
        ..used
    }
}

#[test]
fn ranks_are_shared_where_repetitions_cannot_tell() {
    let wobble = [[1.0, -1.5, 0.5, 2.0, -1.0], [-1.0, 1.0, 0.2, -0.5, 1.5]];
    let mut trials = Vec::new();
    for repetition in 0..5_u32 {
        let by = |arm: usize| wobble[arm][repetition as usize];
        for (title, used, arm) in [("A", CHEAP, 0), ("B", CHEAP, 1), ("C", COSTLY, 0)] {
            let used = wobbled(used, by(arm));
            trials.extend(pair(title, "x", repetition, used, used));
        }
    }
    let report = report(trials);
    assert_eq!(report.ranking().basis, Basis::Significance);
    let ranks: Vec<(&str, usize)> =
        report.ranking().ranked.iter().map(|one| (&*one.label, one.rank)).collect();
    assert_eq!(ranks.iter().map(|(_, rank)| *rank).collect::<Vec<_>>(), [1, 1, 3]);
    assert_eq!(ranks[2].0, "C x");
    let text = report.text(160);
    assert!(
        text.contains("cost least on this machine for this load and cannot be told apart; then C x 1.5×."),
        "{text}"
    );
    assert!(cell(&report, "ranking_servers", "C x", "cost").starts_with("1.5 [1."));
}

/// Two that differ by less than 10 % in one repetition share a rank.
#[test]
fn a_small_difference_of_one_repetition_is_none() {
    let alike = |percent: f64| {
        let used = wobbled(CHEAP, percent);
        let mut trials = pair("A", "x", 0, CHEAP, CHEAP).to_vec();
        trials.extend(pair("B", "x", 0, used, used));
        report(trials)
    };
    let near = alike(20.0);
    assert_eq!(near.ranking().ranked.iter().map(|one| one.rank).collect::<Vec<_>>(), [1, 1]);
    assert!(
        near.summary().headline[0]
            .contains("A x and B x cost least on this machine for this load, and about the same.")
    );
    let far = alike(100.0);
    assert_eq!(far.ranking().ranked.iter().map(|one| one.rank).collect::<Vec<_>>(), [1, 2]);
}

/// Eight layouts of five repetitions, of which some vary much; of one the first repetitions alone are valid in some rounds.
fn random_trials(round: u32, random: &mut Random) -> Vec<TrialRecord> {
    let mut trials = Vec::new();
    for layout in 0..8 {
        let (cost, noise) = (100.0 * random.uniform(), 30.0 * random.uniform().powi(3));
        for repetition in 0..5 {
            let percent = cost + noise * random.normal();
            let used = wobbled(CHEAP, percent.max(-90.0));
            let of_it = pair("MariaDB", &format!("l{layout}"), repetition, used, used);
            let is_lost = round.is_multiple_of(5) && layout == 3 && repetition > 1;
            trials.extend(of_it.into_iter().map(|trial| match is_lost {
                true => invalid(trial, ReasonKind::Errors, "2 %"),
                false => trial,
            }));
        }
    }
    trials
}

/// Rank 7 stood above rank 8 which cost less: what varies most differs from few. In every form the rows stand in one order, in which no cost and no rank
/// falls.
#[test]
fn rank_cost_and_order_never_contradict_each_other() {
    let mut random = Random::new(33);
    let mut shared = 0;
    for round in 0..40 {
        let report = report(random_trials(round, &mut random));
        let summary = report.summary();
        assert_eq!(summary.ranked[0].rank, 1);
        for (place, rows) in summary.ranked.windows(2).enumerate() {
            let (above, below) = (&rows[0], &rows[1]);
            assert!(above.ratio <= below.ratio, "{above:?} {below:?}");
            let is_in_order = above.rank <= below.rank && below.rank <= place + 2;
            assert!(is_in_order, "{above:?} {below:?}");
            shared += usize::from(above.rank == below.rank);
        }
        let rows = summary.ranked.iter();
        let rows: Vec<[String; 2]> = rows.map(|row| [row.rank.to_string(), row.label.clone()]).collect();
        let mut tables = report.document().tables();
        let table = tables.find(|table| table.id == "ranking_servers");
        let of_table = table.expect("a ranking").rows.iter();
        let text = |cell| crate::number::cell_text(cell);
        let of_table: Vec<[String; 2]> = of_table.map(|row| [text(&row[0]), text(&row[1])]).collect();
        assert_eq!(of_table, rows);
        let first = &rows[0][1];
        assert!(summary.winner.expect("a winner").starts_with(first));
        assert!(summary.headline[0].starts_with(first), "{rows:?}");
    }
    assert!(shared > 40, "{shared} ranks were shared");
}

#[test]
fn a_server_without_a_probe_lacks_what_others_have() {
    let mut trials = two();
    for trial in &mut trials[..2] {
        trial.server.as_mut().unwrap().managed = false;
        for phase in &mut trial.phases {
            if let Some(totals) = &mut phase.totals {
                totals.roles.remove("server");
            }
        }
    }
    let report = report(trials);
    let summary = report.summary();
    let [row] = summary.lacking.as_slice() else {
        panic!("one lacks something: {:?}", summary.lacking);
    };
    assert_eq!(row.label, "MariaDB individual");
    let columns = summary.columns.iter().map(|column| column.id);
    let measured = columns.zip(&row.figures);
    let measured: Vec<&str> = measured.filter_map(|(id, figure)| figure.map(|_| id)).collect();
    assert_eq!(measured, ["lost", "read_mean", "disk_per_reading"]);
    let room = Room { width: 100, height: None };
    let screen = render(&summary, &Paths::default(), room);
    let line = screen.lines().find(|line| line.starts_with("  – MariaDB individual "));
    let line = line.unwrap_or_else(|| panic!("what was measured has no row: {screen}"));
    let ranked = screen.lines().find(|line| line.contains("MariaDB bulk  ")).expect("it is ranked");
    assert!(screen.find(ranked) < screen.find(line), "the ranked come first: {screen}");
    assert_eq!(order(&report), ["MariaDB bulk"]);
    let reason = cell(&report, "not_ranked", "MariaDB individual", "reason");
    assert_eq!(
        reason,
        "lacks load CPU, on the wire, peak memory, question CPU and written to the device (an existing server without a probe beside it)"
    );
    assert_eq!(cell(&report, "resources_write", "MariaDB individual", "server CPU"), "–");
}

#[test]
fn embedded_databases_and_servers_are_two_rankings() {
    let mut trials = two();
    trials.extend(pair("SQLite", "individual", 0, COSTLY, COSTLY));
    let report = report(trials);
    let rows: Vec<(&str, usize, f64)> =
        report.ranking().ranked.iter().map(|one| (one.group.id(), one.rank, one.ratio)).collect();
    assert_eq!(rows[0], ("embedded", 1, 1.0));
    assert_eq!(rows[1], ("servers", 1, 1.0));
    assert_eq!((rows[2].0, rows[2].1), ("servers", 2));
}

#[test]
fn who_promises_less_is_ranked_apart() {
    let mut trials = two();
    for trial in &mut trials[..2] {
        trial.implementation.durability = Durability::Durable;
    }
    let report = report(trials);
    let rows = report.ranking().ranked.iter();
    let rows: Vec<(&str, &str)> = rows.map(|one| (one.group.id(), &*one.label)).collect();
    assert_eq!(rows, [("servers", "MariaDB individual"), ("servers_promise_less", "MariaDB bulk")]);
    let text = report.text(160);
    assert!(
        text.contains("Servers that promise less: default") && text.contains("durability class: durable."),
        "{text}"
    );
    assert_eq!(report.summary().winner.as_deref(), Some("MariaDB individual"));
}

#[test]
fn a_servers_memory_has_each_page_once_where_that_was_measured() {
    let mut trial = two().remove(0);
    let role = |trial: &mut TrialRecord, set: fn(&mut RoleTotals)| {
        let totals = trial.phases.iter_mut().flat_map(|phase| &mut phase.totals);
        totals.flat_map(|totals| totals.roles.values_mut()).for_each(set);
        let values = criteria::values(trial, &run());
        [values["server_memory"], values["client_memory"]]
    };
    let [server, client] = role(&mut trial, |role| role.end_proportional_bytes = None);
    let held = role(&mut trial, |role| {
        role.end_proportional_bytes = Some(role.end_resident_bytes / 2);
    });
    assert_eq!(held, [server / 2.0, client]);
}

#[test]
fn what_was_read_hot_and_what_was_read_cold_are_ranked_apart() {
    let mut trials = two();
    let reads = trials.clone().into_iter();
    trials.extend(reads.filter(|trial| trial.side == Side::Read).map(|mut read| {
        read.implementation.cache = Cache::Cold;
        read.name.push_str("-cold");
        read
    }));
    let report = report(trials);
    let mut order = order(&report);
    order.sort_unstable();
    let names = ["MariaDB bulk", "MariaDB individual"];
    let cold = names.map(|name| format!("{name}, cold"));
    assert_eq!(order, [names[0], &cold[0], names[1], &cold[1]]);
    let note = "cold: before each phase that only reads";
    assert!(report.text(160).contains(note));
}

/// Datagrams are counted over the whole trial: 12,200 samples at 1,000 a second are 12.2 s; 1,220,000 bytes are 100,000 a second.
#[test]
fn datagrams_are_network_too_and_logs_are_no_price_of_a_reading() {
    let mut trials = two();
    trials[0].figures.insert(names::DATAGRAM_BYTES.to_owned(), Figure::new(1_220_000.0, "bytes"));
    let network = criteria::values(&trials[0], &run())["network"];
    assert!((network - (800.0 + 800.0)).abs() < 1e-9, "{network}");
    // Logs that shrink, and logs that grow to their bound: 8 MB of data either way.
    for [before, before_logs, settled, logs] in [[100e6, 60e6, 50e6, 2e6], [40e6, 16e6, 921e6, 889e6]] {
        for (name, value) in [
            (names::DISK_BEFORE, before),
            (names::DISK_BEFORE_LOGS, before_logs),
            (names::DISK_SETTLED, settled),
            (names::DISK_SETTLED_LOGS, logs),
        ] {
            let figure = Figure::new(value, "bytes");
            trials[0].figures.insert(name.to_owned(), figure);
        }
        assert_eq!(disk::growth_bytes(&trials[0]), Some(8e6));
        assert_eq!(criteria::values(&trials[0], &run())["disk"], 8.0);
        let report = report(trials.clone());
        let of = |table: &str, column: &str| cell(&report, table, &trials[0].implementation.label(), column);
        assert_eq!(of("settling", "bound of the logs"), "max_wal_size = 1GB");
        assert_eq!(of("projection", "a reading"), significant(8e6 / 12_000.0, 3));
    }
}

#[test]
fn nothing_at_all_is_said_so() {
    let empty = report(Vec::new());
    assert!(empty.text(80).contains("No trial was finished, so nothing can be ranked."));
    let alone: Vec<TrialRecord> = pair("MariaDB", "bulk", 0, CHEAP, CHEAP).into_iter().take(1).collect();
    let found = report(alone);
    assert_eq!(
        cell(&found, "not_ranked", "MariaDB bulk", "reason"),
        "there is no read trial of what it wrote"
    );
}

/// What loses readings writes less and costs less, and its cost cannot say it. So it is not ranked above who kept up; where nobody did, the report says it.
#[test]
fn who_does_not_keep_up_stands_below_who_does() {
    let mut trials = two();
    for trial in &mut trials {
        if let Some(ledger) = &mut trial.ledger {
            ledger.lost_at_queue = 0;
        }
    }
    let kept = report(trials.clone());
    assert_eq!(cell(&kept, "ranking_servers", "MariaDB bulk", "keeps up"), "yes");
    assert!(!kept.text(200).contains("flatters"));
    let ledger = trials[2].ledger.as_mut().unwrap();
    (ledger.produced, ledger.lost_at_queue) = (12_000, 3_000);
    let below = report(trials.clone());
    assert_eq!(order(&below), ["MariaDB individual"]);
    assert_eq!(cell(&below, "not_ranked", "MariaDB bulk", "reason"), "did not keep up: lost 25 %");
    let figures = &mut trials[1].figures;
    figures.insert(names::KEEPS_UP.to_owned(), Figure::new(0.0, ""));
    figures.insert(names::READS_PER_SECOND.to_owned(), Figure::new(1.26, ""));
    let mut durable = trials.clone();
    for trial in &mut durable {
        trial.implementation.durability = Durability::Durable;
        trial.figures.insert(names::STATEMENTS.to_owned(), Figure::new(12_000.0, ""));
    }
    // Of both the one kept up.
    durable[1].figures.insert(names::KEEPS_UP.to_owned(), Figure::new(1.0, ""));
    let slow_disk = RunRecord {
        environment: serde_json::json!({ "flushes": { "data": { "per_second": 120.4 } } }),
        ..run()
    };
    let of_disk = Report::new(slow_disk, durable, &ReportOptions::default());
    assert_eq!(
        cell(&of_disk, "not_ranked", "MariaDB bulk", "reason"),
        "this disk flushes 120 times a second, and 1,000 durable writes were due"
    );
    let behind = report(trials);
    assert_eq!(cell(&behind, "ranking_servers", "MariaDB bulk", "keeps up"), "no: lost 25 %");
    assert_eq!(cell(&behind, "ranking_servers", "MariaDB individual", "keeps up"), "no: 1.3 reads/s");
    let text = behind.json();
    let told = "MariaDB bulk and MariaDB individual did not keep up with the load. What was not written or read cost nothing, so its cost flatters them";
    assert!(text.contains(told), "{text}");
}

#[test]
fn alike_warnings_are_told_once() {
    let mut trials = two();
    for (place, trial) in trials.iter_mut().enumerate() {
        trial.warnings.push(format!("others used {place}.{place} % of the time"));
    }
    trials[0].warnings.push("alone".to_owned());
    let report = report(trials);
    let text = report.text(200);
    assert!(text.contains("others used 0.0 % of the time; and alike in 3 more trials"), "{text}");
    assert!(
        text.contains("MariaDB individual (write): alone") && !text.contains("others used 2.2"),
        "{text}"
    );
    let table = report.document().tables().find(|table| table.id == "warnings").unwrap();
    assert_eq!(table.rows.len(), 5);
}

/// Sensitivity says for how many weights somebody costs least, and which one weight would change that.
#[test]
fn sensitivity_says_what_the_weights_decide() {
    let report = report(two());
    let text = report.json();
    let shares = "by the share of all possible weights (evenly drawn; this is no probability): MariaDB bulk ";
    assert!(text.contains(shares), "{text}");
    assert!(
        text.contains("MariaDB individual costs least if you weigh on the wire over 5.00 instead of 1."),
        "{text}"
    );
    assert!(!report.summary().headline.join(" ").contains("weights"));
}
