//! What became of each probe of the search for a limit: it held, it did not, or nothing is known of its rate.
//!
//! A rate counts as one that does not hold where its probe was *measured*. A probe whose server, process or host was lost says nothing about its rate. It is
//! tried once more. If that fails too, the search ends, and finds no limit.

use super::super::limit::is_left_open;
use super::raised::Raised;
use super::search::Search;
use sensormark_engine::trial::Ending;
use sensormark_result::measurement::record::{LimitRecord, TrialRecord};
use sensormark_result::measurement::verdict::{Reason, ReasonKind, Verdict};
use sensormark_store::ErrorKind;

/// The most probes of an implementation, those that could not be measured not counted.
pub(super) const MOST_PROBES: usize = 14;
/// The most times in a row that a probe of a disturbed host, or of a client that was late, is repeated.
const MOST_REPEATS: u32 = 2;

/// What became of a probe.
#[derive(Debug, PartialEq)]
enum Outcome {
    /// Its rate holds.
    Held,
    /// Its rate does not hold, and why.
    Missed(String),
    /// Nothing is known of its rate, and why.
    Unmeasured(Vec<Reason>),
}

/// The probes of an implementation so far, and what they have shown.
pub(super) struct Probes<'a> {
    /// What is raised.
    pub raised: Raised<'a>,
    /// The rates that they were of.
    pub search: Search,
    /// The last trial of the first rate, that of the sensors.
    pub first: Option<TrialRecord>,
    /// Whether the lowest rate that did not hold may have failed for what is not the database.
    pub is_missed_by_chance: bool,
    /// What the lowest rate that did not hold has missed.
    pub gave_way: String,
    /// What became of each, in words.
    pub said: Vec<String>,
    /// The trial that could not be measured, again, which ended the search; with its rate.
    pub unmeasured: Option<(f64, TrialRecord)>,
    /// Probes in a row that a disturbed host or a client that was late spoiled.
    disturbed: u32,
    /// Whether the last probe could not be measured.
    is_again: bool,
    /// Probes that could not be measured, and were tried again.
    again: usize,
}

impl<'a> Probes<'a> {
    /// None yet, of a search from this rate or number.
    pub const fn new(raised: Raised<'a>, first: f64) -> Self {
        Self {
            raised,
            search: Search::new(raised.sought, first),
            first: None,
            is_missed_by_chance: false,
            gave_way: String::new(),
            said: Vec::new(),
            unmeasured: None,
            disturbed: 0,
            is_again: false,
            again: 0,
        }
    }

    /// Whether no other probe follows.
    pub fn is_over(&self) -> bool {
        let all = self.said.len() >= MOST_PROBES + self.again;
        self.unmeasured.is_some() || self.search.is_over() || all
    }

    /// Takes up the trial of a probe. Gives what became of it, in words.
    pub fn take(&mut self, rate: f64, record: TrialRecord, ending: Ending) -> String {
        let outcome = outcome(&record, ending, self.raised);
        let text = format!("{rate:.0} {}: {}", self.raised.sought.counted(), words(&outcome));
        self.said.push(format!("probe {}: {text}", self.said.len() + 1));
        match outcome {
            Outcome::Unmeasured(reasons) => self.lost(rate, record, reasons),
            Outcome::Held => self.measured(rate, record, None),
            Outcome::Missed(why) => self.measured(rate, record, Some(why)),
        }
        text
    }

    /// A trial that could not be measured: the first is tried again.
    fn lost(&mut self, rate: f64, mut record: TrialRecord, mut reasons: Vec<Reason>) {
        let is_interrupted = reasons.iter().any(|reason| reason.kind == ReasonKind::Interrupted);
        if !self.is_again && !is_interrupted {
            self.is_again = true;
            self.again += 1;
            return;
        }
        let times = if self.is_again { ", twice" } else { "" };
        for reason in &mut reasons {
            let text = &reason.text;
            let counted = self.raised.sought.counted();
            reason.text = format!("probe of {rate:.0} {counted}{times}: {text}");
        }
        record.verdict = Verdict::Invalid(reasons);
        self.unmeasured = Some((rate, record));
    }

    fn measured(&mut self, rate: f64, record: TrialRecord, missed: Option<String>) {
        let held = missed.is_none();
        self.is_again = false;
        let by_chance = is_of_this_side(&record) && !held;
        let is_hopeless = record.limits.iter().any(is_missed_at_any_rate);
        if rate == self.search.first {
            self.first = Some(record);
        }
        // A disturbed trial that did not hold says nothing about the rate.
        if by_chance && self.disturbed < MOST_REPEATS {
            self.disturbed += 1;
            return;
        }
        self.disturbed = 0;
        if let Some(missed) = missed.filter(|_| self.search.missed.is_none_or(|lowest| rate <= lowest)) {
            (self.is_missed_by_chance, self.gave_way) = (by_chance, missed);
        }
        self.search.learn(rate, held);
        self.search.is_hopeless |= is_hopeless;
    }
}

fn words(outcome: &Outcome) -> String {
    match outcome {
        Outcome::Held => "held".to_owned(),
        Outcome::Missed(why) => why.clone(),
        Outcome::Unmeasured(reasons) => {
            let told = reasons.iter();
            let told = told.map(|reason| format!("{}: {}", reason.kind.text(), reason.text));
            let told: Vec<String> = told.collect();
            format!("could not be measured ({})", told.join("; "))
        }
    }
}

fn outcome(record: &TrialRecord, ending: Ending, raised: Raised<'_>) -> Outcome {
    let Err(missed) = verdict(record, raised) else {
        return Outcome::Held;
    };
    unmeasured(record, ending).map_or(Outcome::Missed(missed), Outcome::Unmeasured)
}

/// Why a probe that did not hold says nothing about its rate: it was broken off, or its server, process or connections were lost.
fn unmeasured(record: &TrialRecord, ending: Ending) -> Option<Vec<Reason>> {
    let mut reasons = record.verdict.reasons().to_vec();
    let is_lost = |reason: &Reason| {
        matches!(
            reason.kind,
            ReasonKind::ServerCrashed
                | ReasonKind::Unreachable
                | ReasonKind::ClientFailed
                | ReasonKind::Interrupted
        )
    };
    if ending == Ending::BrokenOff || reasons.iter().any(is_lost) {
        return Some(reasons);
    }
    let broken = [ErrorKind::Unavailable, ErrorKind::Crashed];
    let of_load = |kind: ErrorKind| record.errors.get(kind.text()).copied();
    let failed: u64 = broken.into_iter().filter_map(of_load).sum();
    let text = || format!("{failed} operations lost their connection or found nobody listening");
    (failed > 0).then(|| {
        reasons.push(Reason::new(ReasonKind::Unreachable, text()));
        reasons
    })
}

/// Whether a probe that did not hold may have failed for what is not the database: a busy host, or clients that cannot send so fast.
fn is_of_this_side(record: &TrialRecord) -> bool {
    let reasons = record.verdict.reasons();
    let is_client = |reason: &Reason| matches!(reason.kind, ReasonKind::SourceLate | ReasonKind::ClientBound);
    record.is_disturbed() || (!reasons.is_empty() && reasons.iter().all(is_client))
}

/// The disk is that of the data that was loaded, before anybody wrote at a rate.
fn is_missed_at_any_rate(limit: &LimitRecord) -> bool {
    limit.measured.is_some() && !limit.met && limit.text.trim_start().starts_with("disk")
}

/// Why a probe did not hold.
fn verdict(record: &TrialRecord, raised: Raised<'_>) -> Result<(), String> {
    if !record.verdict.is_valid() {
        return Err(record.verdict.to_string());
    }
    if let Some(behind) = raised.behind(record) {
        return Err(behind);
    }
    let missed = missed_limits(record).find(|limit| !raised.holds_by_slowest(record, limit));
    missed.map_or(Ok(()), |limit| Err(format!("missed: {} ({})", limit.text, limit.words)))
}

/// The limits that speak against a rate. What is open at every rate says nothing of this one.
pub(super) fn missed_limits(record: &TrialRecord) -> impl Iterator<Item = &LimitRecord> {
    let limits = record.limits.iter();
    limits.filter(|limit| !limit.met && !is_left_open(limit))
}

#[cfg(test)]
mod tests {
    use super::super::super::parameters::Parameters;
    use super::super::raised::Sought;
    use super::*;
    use sensormark_engine::tests::trials as fixture;

    static OWN: Parameters = Parameters {
        name: String::new(),
        repetitions: 1,
        stores: Vec::new(),
        layouts: Vec::new(),
        index: None,
        statements: None,
        variants: None,
        bucket: None,
        day: None,
        limits: Vec::new(),
        durability: None,
        server_memory_bytes: None,
        keep_ns: None,
        in_proportion: None,
        tables: Vec::new(),
        life: None,
        dashboards: Vec::new(),
        phases: Vec::new(),
    };
    const RAISED: Raised<'static> = Raised { sought: Sought::Rate, own: &OWN };

    /// A disk that is too small is so at every rate.
    #[test]
    fn a_missed_limit_of_the_disk_is_missed_at_any_rate() {
        let mut limit = missed();
        assert!(!is_missed_at_any_rate(&limit));
        limit.text = "disk for 90d <= 1 MB".to_owned();
        assert!(is_missed_at_any_rate(&limit));
    }

    /// Half an hour of data foretold too much disk for 90 days, and the search ended at its first probe.
    #[test]
    fn what_is_open_at_every_rate_speaks_against_none() {
        let mut record = trial(&[]);
        let mut open = missed();
        open.text = "disk for 90d <= 1 MB".to_owned();
        (open.measured, open.is_undecided) = (None, true);
        record.limits.push(open);
        assert_eq!(outcome(&record, Ending::Whole, RAISED), Outcome::Held);
        record.limits.push(missed());
        let Outcome::Missed(why) = outcome(&record, Ending::Whole, RAISED) else {
            panic!("p99 was missed");
        };
        assert!(why.contains("p99"), "{why}");
        assert_eq!(missed_limits(&record).count(), 1);
    }

    /// A trial with this against it.
    fn trial(reasons: &[ReasonKind]) -> TrialRecord {
        let mut record = fixture::attempt(0, [("load", 0.0, 100), ("ask", 0.0, 100)]);
        let reasons = reasons.iter().map(|kind| Reason::new(*kind, "so it was"));
        let reasons: Vec<Reason> = reasons.collect();
        record.verdict = match reasons.is_empty() {
            true => Verdict::Valid,
            false => Verdict::Invalid(reasons),
        };
        record
    }

    /// What a search has learned after one rate that held and this.
    fn after(probes: &[(&[ReasonKind], Ending)]) -> Probes<'static> {
        let mut all = Probes::new(RAISED, 100.0);
        all.take(100.0, trial(&[]), Ending::Whole);
        for (reasons, ending) in probes {
            assert!(!all.is_over(), "{:?}", all.said);
            let rate = all.search.next();
            all.take(rate, trial(reasons), *ending);
        }
        all
    }

    /// A killed process made a rate one that does not hold, and the answer was lower than what held.
    #[test]
    fn a_probe_that_was_lost_is_tried_again_and_is_no_rate_that_does_not_hold() {
        for (kind, ending) in [
            (ReasonKind::ClientFailed, Ending::BrokenOff),
            (ReasonKind::ServerCrashed, Ending::Whole),
            (ReasonKind::Unreachable, Ending::BrokenOff),
            (ReasonKind::Hung, Ending::BrokenOff),
        ] {
            let lost: (&[ReasonKind], Ending) = (&[kind], ending);
            let once = after(&[lost]);
            assert_eq!(once.search.missed, None, "{kind:?}");
            assert!(!once.is_over() && once.search.next() == 400.0, "{kind:?}");
            let held = after(&[lost, (&[], Ending::Whole), lost]);
            assert_eq!(held.search.held, Some(400.0));
            assert!(!held.is_over(), "each rate may be tried again: {kind:?}");
            let twice = after(&[lost, lost]);
            let (rate, record) = twice.unmeasured.as_ref().expect("it ended the search");
            assert!(twice.is_over() && *rate == 400.0, "{kind:?}");
            let reason = &record.verdict.reasons()[0];
            assert_eq!(reason.kind, kind);
            assert_eq!(reason.text, "probe of 400 readings a second, twice: so it was");
            assert!(twice.said[2].contains("could not be measured"), "{:?}", twice.said);
        }
    }

    #[test]
    fn what_was_measured_and_missed_is_a_rate_that_does_not_hold() {
        for kind in [ReasonKind::Errors, ReasonKind::Hung, ReasonKind::LostData] {
            let missed = after(&[(&[kind], Ending::Whole)]);
            assert_eq!(missed.search.missed, Some(400.0), "{kind:?}");
            assert!(!missed.is_missed_by_chance);
        }
    }

    /// One late probe, by 0.05 ms, made the answer lower than the rate of the sensors.
    #[test]
    fn a_client_that_was_late_is_asked_again_and_leaves_the_limit_open() {
        for kind in [ReasonKind::SourceLate, ReasonKind::ClientBound] {
            let late: (&[ReasonKind], Ending) = (&[kind], Ending::Whole);
            let twice = after(&[late, late]);
            assert_eq!(twice.search.missed, None, "{kind:?}");
            let held = after(&[late, (&[], Ending::Whole)]);
            assert_eq!(held.search.held, Some(400.0), "{kind:?}");
            let always = after(&[late, late, late]);
            assert_eq!(always.search.missed, Some(400.0), "{kind:?}");
            assert!(always.is_missed_by_chance, "{kind:?}");
        }
        let both: &[ReasonKind] = &[ReasonKind::SourceLate, ReasonKind::LostData];
        let lost = after(&[(both, Ending::Whole)]);
        assert_eq!(lost.search.missed, Some(400.0), "the database lost data");
    }

    #[test]
    fn an_interrupted_probe_ends_the_search_at_once() {
        let ended = after(&[(&[ReasonKind::Interrupted], Ending::BrokenOff)]);
        assert!(ended.is_over() && ended.unmeasured.is_some());
        assert_eq!(ended.search.missed, None);
    }

    /// A server that somebody else started may be started again in mid-probe, which only its clients see.
    #[test]
    fn lost_connections_make_a_missed_limit_one_of_a_probe_that_was_not_measured() {
        let limit = missed();
        let mut record = trial(&[]);
        record.limits.push(limit);
        let outcome_of = |record: &TrialRecord| outcome(record, Ending::Whole, RAISED);
        assert!(matches!(outcome_of(&record), Outcome::Missed(_)));
        let kind = ErrorKind::Unavailable.text().to_owned();
        record.errors.insert(kind, 3);
        let Outcome::Unmeasured(reasons) = outcome_of(&record) else {
            panic!("it was measured");
        };
        assert_eq!(reasons[0].kind, ReasonKind::Unreachable);
        record.limits.clear();
        assert_eq!(outcome_of(&record), Outcome::Held);
    }

    fn missed() -> LimitRecord {
        LimitRecord {
            text: "p99 of dashboard < 100 ms".to_owned(),
            measured: Some(3.4e8),
            unit: "ns".to_owned(),
            words: "340 ms".to_owned(),
            met: false,
            is_undecided: false,
            needs_readings: None,
        }
    }

    /// The rows of one ranking were at 6,402, 5,872 and 104 readings a second.
    #[test]
    fn what_is_kept_is_at_the_rate_of_the_sensors() {
        let named =
            |name: &str, reasons: &[ReasonKind]| TrialRecord { name: name.to_owned(), ..trial(reasons) };
        let kept = |all: &Probes| all.first.as_ref().map(|record| record.name.clone());
        let mut holds = Probes::new(RAISED, 100.0);
        holds.take(100.0, named("own", &[]), Ending::Whole);
        holds.take(400.0, named("higher", &[]), Ending::Whole);
        assert_eq!(kept(&holds).as_deref(), Some("own"));
        let mut misses = Probes::new(RAISED, 100.0);
        misses.take(100.0, named("own", &[ReasonKind::Errors]), Ending::Whole);
        misses.take(25.0, named("lower", &[]), Ending::Whole);
        assert_eq!(kept(&misses).as_deref(), Some("own"));
        let mut late = Probes::new(RAISED, 100.0);
        late.take(100.0, named("late", &[ReasonKind::SourceLate]), Ending::Whole);
        late.take(100.0, named("own", &[]), Ending::Whole);
        assert_eq!(kept(&late).as_deref(), Some("own"));
    }
}
