//! What several findings come to.

use super::*;
use crate::tests::trials::attempt;
use sensormark_result::probe::{DisturbanceLimits, Limits};

fn record() -> TrialRecord {
    attempt(0, [("write", 0.0, 1_000), ("read", 0.0, 1_000)])
}

/// Tolerated, a late source on a disturbed host was invalid; not tolerated, it was inconclusive.
#[test]
fn toleration_is_never_harsher() {
    use ReasonKind::{ClientBound, HostDisturbed, LateAnswers, LostData, SourceLate};
    let severity = |findings: &[Finding], tolerate| {
        let mut record = record();
        conclude(&mut record, findings.to_vec(), tolerate);
        match record.verdict {
            Verdict::Valid => 0,
            Verdict::Inconclusive(_) => 1,
            Verdict::Invalid(_) => 2,
        }
    };
    let found = |kind| Finding::new(kind, "so");
    let both = |findings: &[Finding]| [severity(findings, false), severity(findings, true)];
    assert_eq!(both(&[]), [0, 0]);
    let disturbed = found(HostDisturbed);
    assert_eq!(both(std::slice::from_ref(&disturbed)), [1, 0]);
    assert_eq!(both(&[disturbed.clone(), found(SourceLate)]), [1, 0]);
    // The host or the database may have kept an answer back.
    assert_eq!(both(&[found(LateAnswers), disturbed.clone()]), [1, 1]);
    // A limit of the client's own is certain.
    assert_eq!(both(&[disturbed.clone(), found(ClientBound)]), [2, 2]);
    assert_eq!(both(&[disturbed, found(LostData)]), [2, 2]);
    assert_eq!(both(&[found(SourceLate)]), [2, 2]);
}

#[test]
fn a_trial_that_was_broken_off_keeps_what_was_known() {
    let mut record = attempt(0, [("write", 0.5, 1_000), ("read", 0.0, 1_000)]);
    let circumstances = circumstances(true);
    let evidence = Evidence {
        data: vec![Reason::new(ReasonKind::LostData, "1")],
        failure: Some(Reason::new(ReasonKind::ServerCrashed, "gone")),
        ..Evidence::default()
    };
    judge(&mut record, evidence, &circumstances);
    let kinds: Vec<ReasonKind> = record.verdict.reasons().iter().map(|one| one.kind).collect();
    use ReasonKind::{HostDisturbed, LostData, ServerCrashed};
    assert_eq!(kinds, [LostData, HostDisturbed, ServerCrashed]);
    assert_eq!(record.disturbances.len(), 1);
    assert!(matches!(record.verdict, Verdict::Invalid(_)));
}

fn circumstances(tolerate: bool) -> Circumstances {
    Circumstances {
        embedded: true,
        timeout_ms: 1_000,
        cores: 2,
        limits: Limits { allowed_cores: Some(2), cgroup_cores: None, cgroup_memory_bytes: None },
        tolerate_disturbance: tolerate,
        disturbance: DisturbanceLimits::default(),
    }
}

/// A trial whose source was 2 ms late, with this share of the processors' time taken by others.
fn judged(others: f64, tolerate: bool) -> TrialRecord {
    let mut record = attempt(0, [("write", others, 1_000), ("read", 0.0, 1_000)]);
    record.loads[0].pacing_p99_ns = Some(2_000_000);
    let circumstances = circumstances(tolerate);
    let evidence = Evidence { works: work::of_loads(&record), ..Evidence::default() };
    judge(&mut record, evidence, &circumstances);
    record
}

/// It was invalid when the disturbance was tolerated, because the disturbance was not among the reasons any more.
#[test]
fn a_source_that_a_disturbed_host_made_late_counts_where_that_is_rough() {
    let strict = judged(0.5, false);
    assert!(strict.verdict.is_inconclusive(), "{}", strict.verdict);
    let tolerated = judged(0.5, true);
    assert!(tolerated.verdict.is_valid(), "{}", tolerated.verdict);
    assert!(tolerated.is_rough() && !strict.is_rough());
    assert_eq!(tolerated.disturbances, strict.disturbances);
    assert_eq!(tolerated.disturbances.len(), 1);
    assert_eq!(tolerated.state(), "disturbed");
    assert_eq!(strict.state(), "disturbed, not counted");
    let warned = |begin: &str| tolerated.warnings.iter().any(|text| text.starts_with(begin));
    assert!(warned("tolerated: host disturbed: ") && warned("tolerated: source late: "));
    let quiet = judged(0.0, true);
    assert!(matches!(quiet.verdict, Verdict::Invalid(_)), "nothing excuses it");
    assert!(quiet.disturbances.is_empty());
}

/// A trial with this share of the processors' time taken by others, whose client did 1,000 operations a second and so many over the null store.
fn client_bound(others: f64, ceiling: f64) -> Verdict {
    let mut record = attempt(0, [("write", others, 1_000), ("read", 0.0, 1_000)]);
    record.loads[0].ceiling = Some(ceiling);
    let circumstances = Circumstances { embedded: false, ..circumstances(true) };
    let evidence = Evidence { works: work::of_loads(&record), ..Evidence::default() };
    judge(&mut record, evidence, &circumstances);
    record.verdict
}

/// On a busy host the first was "disturbed, not counted", also where disturbances were to be tolerated.
#[test]
fn a_slow_client_is_one_on_a_busy_host_too() {
    for others in [0.0, 0.5] {
        let found = client_bound(others, 1_900.0);
        let kinds: Vec<ReasonKind> = found.reasons().iter().map(|one| one.kind).collect();
        assert!(kinds.contains(&ReasonKind::ClientBound), "{found}");
        assert!(matches!(found, Verdict::Invalid(_)), "{found}");
        assert!(client_bound(others, 2_000.0).is_valid());
    }
}

/// DuckDB at 50 questions a second of 13 ms was "source late" on a quiet machine: its own work had the processors. Where others had them, they are named.
#[test]
fn an_embedded_database_that_makes_its_client_wait_is_no_late_source() {
    for (embedded, others, is_valid, word) in [
        (true, 0.0, true, "the database had the processors"),
        (true, 0.5, true, "tolerated: source late"),
        (false, 0.0, false, "source late"),
    ] {
        let mut record = attempt(0, [("write", others, 1_000), ("read", others, 1_000)]);
        for load in &mut record.loads {
            (load.open_loop, load.pacing_p99_ns) = (true, Some(3_000_000));
        }
        let circumstances = Circumstances { embedded, ..circumstances(true) };
        let evidence = Evidence { works: work::of_loads(&record), ..Evidence::default() };
        judge(&mut record, evidence, &circumstances);
        let said = format!("{} {:?}", record.verdict, record.warnings);
        assert_eq!(record.verdict.is_valid(), is_valid, "{said}");
        assert!(said.contains(word), "{word}: {said}");
        let database = said.contains("the database had");
        assert_eq!(database, embedded && others == 0.0, "{said}");
    }
}
