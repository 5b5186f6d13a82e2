//! The answer in figures: who costs least, how sure that is, and the few figures behind it. A terminal's last screen ([`super::brief`]) and programs
//! ([`super::Report::json`]) read the same summary. It ranks nobody: see [`super::ranking`].

mod figures;
mod without_score;
mod words;

use super::clean::clean;
use super::field::{Arm, Field};
use super::ranking::{Ranked, Ranking};
use super::requirements::{LayoutAnswer, Outcome, Requirements, Standing};
use super::sections::cells::{counted, listed};
use super::size::Readings;
pub(super) use figures::figures;
pub use figures::{Estimate, SummaryColumn};
use sensormark_data::number::fixed;
use sensormark_data::units::Total;
use sensormark_result::measurement::NotMeasured;
use sensormark_result::measurement::record::TrialRecord;
use sensormark_result::statistics::{Basis, SMALLEST_REPETITIONS};
use serde::Serialize;
pub use without_score::UnscoredRow;
use without_score::best_first;

/// What a report comes to.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Summary {
    /// The workload's name, or what a file of the user's own calls itself.
    pub workload: String,
    /// The scale's name, or that of the workload's file.
    pub scale: String,
    /// The stores' names, in the order in which they were measured.
    pub stores: Vec<String>,
    /// Trials that were finished, repeats not counted.
    pub trials: usize,
    /// Of them, those whose figures count.
    #[serde(skip)]
    pub counted: usize,
    /// Of them, those of each state.
    pub states: States,
    /// Repetitions that were finished.
    pub repetitions: usize,
    /// Readings that a database held when it was at rest; absent where none did.
    pub readings: Option<Readings>,
    /// How long the run took, in seconds; absent where it goes on or was broken off.
    pub seconds: Option<f64>,
    /// The answer, one sentence an item, the most important first.
    pub headline: Vec<String>,
    /// Who leads, with how many more cannot be told apart from it; null where nobody is ranked.
    pub winner: Option<String>,
    /// For what share of all weights the first of the ranking wins, and who wins for more. Absent where there is nobody to compare it with, or where
    /// requirements are the answer.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub wins: Option<String>,
    /// Who meets what the user asked to hold, where something was.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub requirements: Option<Requirements>,
    /// How sure the order is.
    pub certainty: Certainty,
    /// Why it is not surer; empty where nothing stands in the way.
    pub because: Vec<String>,
    /// Whether ranks rest on enough repetitions that chance was tested for.
    #[serde(skip)]
    pub is_tested: bool,
    /// The figures that rows have.
    pub columns: Vec<SummaryColumn>,
    /// Who is ranked, best first.
    pub ranked: Vec<SummaryRow>,
    /// Who was measured and has no score, because a cost that it needs was not measured; the best first, by the first column.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub unscored: Vec<UnscoredRow>,
    /// Who is not ranked, and why.
    pub not_ranked: Vec<NotRanked>,
    /// What was asked for and not measured, and why.
    pub not_measured: Vec<NotRanked>,
    /// What the checks of answers and data found.
    pub checks: String,
}

/// Trials by state.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
pub struct States {
    /// Nothing speaks against them.
    pub valid: usize,
    /// Other programs used the machine meanwhile, counted or not.
    pub disturbed: usize,
    /// Their figures must not be used.
    pub invalid: usize,
}

/// How sure an order is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Certainty {
    /// At least three repetitions on a quiet machine: the ranks are tested.
    Firm,
    /// Fewer repetitions on a quiet machine.
    Single,
    /// Other programs used the machine.
    Rough,
    /// Nobody is ranked.
    NotDecided,
}

/// Somebody who is ranked.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct SummaryRow {
    /// Its rank; those that share one cannot be told apart.
    pub rank: usize,
    /// Its name.
    pub label: String,
    /// Whether the database runs inside the client.
    pub embedded: bool,
    /// Its score, of 100.
    pub score: f64,
    /// Half the width of the score's 95 % interval, where there are enough repetitions.
    pub plus_minus: Option<f64>,
    /// The share of all weights under which it wins, 0 to 1.
    pub win_share: f64,
    /// Whether a trial of it counts although the machine was busy.
    pub rough: bool,
    /// Whether it meets what the user asked to hold, where something was.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub meets: Option<Outcome>,
    /// What it misses or leaves open, the first of it.
    #[serde(skip)]
    pub reason: Option<String>,
    /// Its figures, in the order of the columns.
    pub figures: Vec<Option<f64>>,
}

/// Somebody who is not ranked.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct NotRanked {
    /// Its name.
    pub label: String,
    /// Why.
    pub reason: String,
}

impl Summary {
    /// The summary of a field and its ranking.
    pub fn new(field: &Field, ranking: &Ranking) -> Self {
        let ranked_arms = ranking.ranked.iter().map(|one| arm(field, one));
        let unscored_arms = || ranking.unscored.iter().map(|&place| &field.contestants()[place]);
        let arms: Vec<&Arm> = ranked_arms.chain(unscored_arms()).collect();
        let (columns, mut values) = measured(field, &arms);
        let figures = values.split_off(ranking.ranked.len());
        let unscored = unscored_arms().zip(figures).map(|(arm, figures)| UnscoredRow {
            label: arm.label.clone(),
            rough: is_rough(field, arm),
            figures,
        });
        let unscored = best_first(unscored.collect(), &columns);
        let rows = ranking.ranked.iter().zip(values);
        let requirements = ranking.requirements.as_ref();
        let answer = |one: &Ranked| requirements?.of_layout(one.label());
        let ranked: Vec<SummaryRow> =
            rows.map(|(one, figures)| row(field, one, answer(one), figures)).collect();
        let certainty = certainty(ranking, &ranked);
        let sentences = headline(field, ranking, &ranked, requirements);
        let is_tested = ranking.basis == Basis::Significance;
        Self {
            workload: clean(field.run.title()),
            scale: clean(&field.run.scale),
            stores: stores(field),
            trials: field.trials.len(),
            counted: field.trials.iter().filter(|trial| trial.verdict.is_valid()).count(),
            states: states(field),
            repetitions: field.blocks.len(),
            readings: Readings::of(field),
            seconds: seconds(field),
            headline: sentences.iter().map(|text| clean(text)).collect(),
            winner: winner(ranking),
            wins: requirements.is_none().then(|| wins(ranking, &ranked)).flatten(),
            requirements: requirements.cloned(),
            certainty,
            because: because(field, certainty, is_tested),
            is_tested,
            columns,
            ranked,
            unscored,
            not_ranked: not_ranked(ranking),
            not_measured: not_measured(field),
            checks: checks(field),
        }
    }
}

/// The columns in which anybody has a figure, and each one's figures.
fn measured(field: &Field, arms: &[&Arm]) -> (Vec<SummaryColumn>, Vec<Vec<Option<f64>>>) {
    let mut columns = Vec::new();
    let mut rows = vec![Vec::new(); arms.len()];
    for (column, value) in figures(field) {
        let found: Vec<Option<f64>> = arms.iter().map(|arm| Some(value(arm)?.value)).collect();
        if found.iter().any(Option::is_some) {
            columns.push(column);
            let rows = rows.iter_mut().zip(found);
            rows.for_each(|(row, found)| row.push(found));
        }
    }
    (columns, rows)
}

/// Whether a trial of it, or of what it reads, counts although the machine was busy.
fn is_rough(field: &Field, read: &Arm) -> bool {
    let arms = [Some(read), field.write_of(read)];
    let mut trials = arms.into_iter().flatten().flat_map(|arm| field.valid_of(arm));
    trials.any(TrialRecord::is_rough)
}

fn arm<'a>(field: &'a Field, one: &Ranked) -> &'a Arm {
    &field.contestants()[one.read]
}

fn row(field: &Field, one: &Ranked, answer: Option<&LayoutAnswer>, figures: Vec<Option<f64>>) -> SummaryRow {
    let read = arm(field, one);
    SummaryRow {
        rank: one.rank,
        label: one.label().to_owned(),
        embedded: read.implementation.embedded,
        score: one.standing.total,
        plus_minus: one.summary.interval.map(|interval| (interval.high - interval.low) / 2.0),
        win_share: one.win_share,
        rough: is_rough(field, read),
        meets: answer.map(|answer| answer.outcome),
        reason: answer.and_then(|answer| answer.reasons.first().cloned()),
        figures,
    }
}

fn certainty(ranking: &Ranking, ranked: &[SummaryRow]) -> Certainty {
    if ranked.is_empty() {
        Certainty::NotDecided
    } else if ranked.iter().any(|one| one.rough) {
        Certainty::Rough
    } else if ranking.basis == Basis::Significance {
        Certainty::Firm
    } else {
        Certainty::Single
    }
}

fn stores(field: &Field) -> Vec<String> {
    let mut stores: Vec<String> = Vec::new();
    for trial in &field.trials {
        let store = clean(&trial.implementation.store);
        if !stores.contains(&store) {
            stores.push(store);
        }
    }
    stores
}

fn states(field: &Field) -> States {
    let mut states = States::default();
    for trial in &field.trials {
        let state = match (trial.is_disturbed(), trial.verdict.is_valid()) {
            (true, _) => &mut states.disturbed,
            (false, true) => &mut states.valid,
            (false, false) => &mut states.invalid,
        };
        *state += 1;
    }
    states
}

fn seconds(field: &Field) -> Option<f64> {
    let at = |text: &str| text.parse::<jiff::Timestamp>().ok();
    let (first, last) = (at(&field.run.started)?, at(field.run.finished.as_deref()?)?);
    Some(last.duration_since(first).as_secs_f64())
}

/// The answer: what is wrong before what the user asked to hold, and that before who costs least.
fn headline(
    field: &Field,
    ranking: &Ranking,
    ranked: &[SummaryRow],
    requirements: Option<&Requirements>,
) -> Vec<String> {
    let mut sentences = data_faults(field);
    sentences.extend(requirements.iter().flat_map(|all| all.sentences()));
    // Who costs least of those that meet everything was said, and of the others nobody asked.
    if requirements.is_none() || ranked.is_empty() {
        sentences.push(if field.trials.is_empty() {
            "No trial was finished, so nothing can be ranked.".to_owned()
        } else {
            cheapest(ranking, ranked)
        });
    }
    sentences
}

fn data_faults(field: &Field) -> Vec<String> {
    let mut found = Vec::new();
    for (side, arm) in field.all() {
        let faulty = field.attempts_of(arm).find(|trial| trial.verdict.has_data_fault());
        let reasons = faulty.iter().flat_map(|trial| trial.verdict.reasons());
        let mut kinds: Vec<&str> =
            reasons.filter(|reason| reason.kind.is_data_fault()).map(|reason| reason.kind.text()).collect();
        kinds.dedup();
        if !kinds.is_empty() {
            let doing = if side == "both" { String::new() } else { format!(", {side}") };
            found.push(format!("{}{doing}: {}.", arm.label, listed(&kinds)));
        }
    }
    found
}

fn cheapest(ranking: &Ranking, ranked: &[SummaryRow]) -> String {
    let tied: Vec<&str> = ranking.first().iter().map(|one| one.label()).collect();
    let best = |embedded: bool| ranked.iter().find(|one| one.embedded == embedded);
    match (ranked, best(true), best(false)) {
        ([], _, _) if !ranking.unscored.is_empty() => {
            "Nothing has a score, because not all costs were measured; what was measured is below.".to_owned()
        }
        ([], _, _) => "Nothing can be ranked; the reasons are below.".to_owned(),
        ([one], _, _) => {
            format!("{} alone can be ranked, so there is nothing to compare it with.", one.label)
        }
        (_, Some(embedded), Some(server)) => format!(
            "Of embedded databases {} costs least on this machine for this load, of servers {}.",
            embedded.label, server.label
        ),
        _ if tied.len() > 1 => {
            format!("{} cost least on this machine for this load; they cannot be told apart.", listed(&tied))
        }
        ([first, ..], _, _) => {
            format!("{} costs least on this machine for this load.", first.label)
        }
    }
}

/// Who leads, and how many more cannot be told apart from it. Nobody does who misses what has to hold.
fn winner(ranking: &Ranking) -> Option<String> {
    let first = ranking.first();
    let one = first.first()?;
    if !one.meets.is_none_or(Standing::leads) {
        return None;
    }
    Some(match first.len() - 1 {
        0 => one.label().to_owned(),
        more => format!("{} and {more} more, tied", one.label()),
    })
}

/// In how many of a hundred weightings the first of the ranking comes first; and who does in more, where it is another.
fn wins(ranking: &Ranking, ranked: &[SummaryRow]) -> Option<String> {
    let [first, _, ..] = ranked else {
        return None;
    };
    let own = of_hundred(first.win_share);
    let most = ranking.most_wins()?;
    let more = if most.win_share > first.win_share {
        format!("; {} in {}", most.label(), of_hundred(most.win_share))
    } else {
        String::new()
    };
    Some(format!("{} comes first in {own} of 100 ways to weigh the costs{more}.", first.label))
}

/// A share of weights in whole hundredths, without calling nearly all of them all, or few of them none.
fn of_hundred(share: f64) -> String {
    match fixed(share * 100.0, 0).as_str() {
        "100" if share < 1.0 => "over 99".to_owned(),
        "0" if share > 0.0 => "under 1".to_owned(),
        all => all.to_owned(),
    }
}

/// Why the order is not surer.
fn because(field: &Field, certainty: Certainty, is_tested: bool) -> Vec<String> {
    let mut because = Vec::new();
    let disturbed = field.trials.iter().filter(|trial| trial.is_disturbed());
    let phases = disturbed.flat_map(|trial| &trial.phases);
    let totals = phases.filter_map(|phase| phase.totals.as_ref());
    let (mut other, mut steal): (f64, f64) = (0.0, 0.0);
    let mut is_disturbed = false;
    for total in totals.filter(|total| total.disturbance.is_disturbed()) {
        is_disturbed = true;
        other = other.max(total.disturbance.other_share);
        steal = steal.max(total.disturbance.steal_share);
    }
    if is_disturbed && certainty != Certainty::Firm {
        because.push(if other >= steal {
            format!("other programs used up to {} % of the CPU", percent(other))
        } else {
            format!("the hypervisor took up to {} % of the CPU", percent(steal))
        });
    }
    if !is_tested && certainty != Certainty::NotDecided {
        because.push(match field.blocks.len() {
            1 => "one repetition".to_owned(),
            few if few < SMALLEST_REPETITIONS => counted(few, "repetition"),
            _ => format!("fewer than {SMALLEST_REPETITIONS} valid repetitions"),
        });
    }
    because
}

/// A share in percent. The kernel's clocks disagree by some percent, and nobody used more than there is.
fn percent(share: f64) -> String {
    fixed(share.min(1.0) * 100.0, 0)
}

fn not_ranked(ranking: &Ranking) -> Vec<NotRanked> {
    let one = |(label, reason): &(String, String)| NotRanked { label: label.clone(), reason: clean(reason) };
    ranking.unranked.iter().map(one).collect()
}

fn not_measured(field: &Field) -> Vec<NotRanked> {
    let one = |one: &NotMeasured| NotRanked { label: clean(&one.implementation), reason: clean(&one.reason) };
    field.run.not_measured.iter().map(one).collect()
}

/// What was checked of data and answers.
fn checks(field: &Field) -> String {
    if field.trials.is_empty() {
        return "Nothing was checked yet".to_owned();
    }
    let sum = |count: fn(&TrialRecord) -> u64| -> u64 { field.trials.iter().map(count).total() };
    let answers = |trial: &TrialRecord| trial.answers.as_ref().map_or(0, |answers| answers.checked);
    let wrong = |trial: &TrialRecord| trial.answers.as_ref().map_or(0, |answers| answers.wrong);
    let lost = |trial: &TrialRecord| trial.ledger.as_ref().map_or(0, |ledger| ledger.lost);
    let stored = |trial: &TrialRecord| trial.ledger.as_ref().map_or(0, |ledger| ledger.stored);
    let (checked, wrong, lost, stored) = (sum(answers), sum(wrong), sum(lost), sum(stored));
    let answers = match (checked, wrong) {
        (0, _) => "No answer was checked".to_owned(),
        (checked, 0) => format!("All {} checked answers right", grouped(checked)),
        (checked, wrong) => format!("{} of {} checked answers WRONG", grouped(wrong), grouped(checked)),
    };
    let data = match (stored, lost) {
        (0, 0) => "nothing was stored".to_owned(),
        (_, 0) => "nothing acknowledged was lost".to_owned(),
        (_, lost) => format!("{} acknowledged readings LOST", grouped(lost)),
    };
    format!("{answers} · {data}")
}

fn grouped(count: u64) -> String {
    fixed(count as f64, 0)
}
