//! The answer in figures: who costs least, how sure that is, and the few figures behind it. A terminal's last screen ([`super::brief`]) and programs
//! ([`super::Report::json`]) read the same summary. It ranks nobody: see [`super::ranking`].

mod figures;
mod lacking;
mod words;

use crate::{prelude::*, requirements::Standing};
pub(super) use figures::figures;
pub use figures::{Estimate, SummaryColumn};
pub use lacking::LackingRow;
use lacking::best_first;

/// Who is named after those that cost least, at most.
const NEXT: usize = 2;

/// What a report comes to.
#[derive(Clone, Serialize)]
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
    /// Who leads each ranking, with how many more cannot be told apart from it; null where nobody is ranked.
    pub winner: Option<String>,
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
    /// What is weighed, and how much.
    pub criteria: Vec<SummaryCriterion>,
    /// Who is ranked, ranking by ranking, best first.
    pub ranked: Vec<SummaryRow>,
    /// Who was measured and is not ranked, because it lacks something that others have; the best first, by the first column.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub lacking: Vec<LackingRow>,
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

/// A criterion of the costs.
#[derive(Clone, Serialize)]
pub struct SummaryCriterion {
    /// What weights call it.
    pub id: &'static str,
    /// The unit of its values.
    pub unit: &'static str,
    /// How much it counts.
    pub weight: f64,
    /// Less than this counts as this.
    pub floor: f64,
}

/// Somebody who is ranked.
#[derive(Debug, Clone, Serialize)]
pub struct SummaryRow {
    /// The ranking that it is in.
    pub ranking: Group,
    /// Its rank there; those that share one cannot be told apart.
    pub rank: usize,
    /// Its name.
    pub label: String,
    /// Whether the database runs inside the client.
    pub embedded: bool,
    /// Its cost over the lowest of its ranking.
    pub ratio: f64,
    /// The 95 % interval of that, where there are enough repetitions and it is not the lowest.
    pub interval: Option<Interval>,
    /// Its value by each criterion over the lowest of its ranking.
    pub ratios: BTreeMap<&'static str, f64>,
    /// The share of all weights for which it costs least, 0 to 1.
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
#[derive(Clone, Serialize)]
pub struct NotRanked {
    /// Its name.
    pub label: String,
    /// Why.
    pub reason: String,
}

impl NotRanked {
    fn new(label: &str, reason: &str) -> Self {
        Self { label: clean(label), reason: clean(reason) }
    }
}

impl Summary {
    /// The summary of a field and its ranking, each layout once.
    pub fn new(field: &Field, ranking: &Ranking) -> Self {
        let ranking = &ranking.by_layout(field);
        let ranked_arms = ranking.ranked.iter().map(|one| one.arm(field));
        let lacking_arms = || ranking.lacking.iter().map(|&place| &field.contestants()[place]);
        let arms = ranked_arms.chain(lacking_arms()).collect_vec();
        let (columns, mut values) = measured(field, &arms);
        let figures = values.split_off(ranking.ranked.len());
        let lacking = lacking_arms().zip(figures).map(|(arm, figures)| LackingRow {
            label: arm.label.clone(),
            rough: is_rough(field, arm),
            figures,
        });
        let lacking = best_first(lacking.collect(), &columns);
        let rows = ranking.ranked.iter().zip(values);
        let requirements = ranking.requirements.as_ref();
        let answer = |one: &Ranked| requirements?.of_layout(&one.label);
        let ranked = rows.map(|(one, figures)| row(field, ranking, one, answer(one), figures)).collect_vec();
        let certainty = certainty(ranking, &ranked);
        let is_tested = ranking.basis == Basis::Significance;
        Self {
            workload: clean(field.run.title()),
            scale: clean(&field.run.scale),
            stores: each_once(field.trials.iter().map(|trial| clean(&trial.implementation.store))),
            trials: field.trials.len(),
            counted: field.trials.iter().filter(|trial| trial.verdict.is_valid()).count(),
            states: states(field),
            repetitions: field.blocks.len(),
            readings: Readings::of(field),
            seconds: seconds(field),
            headline: headline(field, ranking).iter().map(|text| clean(text)).collect(),
            winner: winner(ranking),
            requirements: requirements.cloned(),
            certainty,
            because: because(field, certainty, is_tested),
            is_tested,
            columns,
            criteria: ranking
                .criteria
                .iter()
                .map(|&(Criterion { id, unit, floor, .. }, weight)| SummaryCriterion {
                    id,
                    unit,
                    weight,
                    floor,
                })
                .collect(),
            ranked,
            lacking,
            not_ranked: ranking
                .unranked
                .iter()
                .map(|(label, reason)| NotRanked::new(label, reason))
                .collect(),
            not_measured: field
                .run
                .not_measured
                .iter()
                .map(|one| NotRanked::new(&one.implementation, &one.reason))
                .collect(),
            checks: checks(field),
        }
    }
}

/// The columns in which anybody has a figure, and each one's figures.
fn measured(field: &Field, arms: &[&Arm]) -> (Vec<SummaryColumn>, Vec<Vec<Known>>) {
    let costs = Costs::of(field);
    let mut columns = vec![];
    let mut rows = vec![vec![]; arms.len()];
    for (column, of) in figures(field) {
        let found = arms.iter().map(|arm| Some(of(field, &costs, arm)?.value)).collect_vec();
        if found.iter().any(Option::is_some) {
            columns.push(column);
            rows.iter_mut().zip(found).for_each(|(row, found)| row.push(found));
        }
    }
    (columns, rows)
}

/// Whether a trial of it, or of what it reads, counts although the machine was busy.
fn is_rough(field: &Field, read: &Arm) -> bool {
    let is = |arm: &Arm| field.valid_of(arm).any(TrialRecord::is_rough);
    is(read) || field.write_of(read).is_some_and(is)
}

fn row(
    field: &Field,
    ranking: &Ranking,
    one: &Ranked,
    answer: Option<&LayoutAnswer>,
    figures: Vec<Known>,
) -> SummaryRow {
    let read = one.arm(field);
    let ids = ranking.criteria.iter().map(|(criterion, _)| criterion.id);
    SummaryRow {
        ranking: one.group,
        rank: one.rank,
        label: one.label.clone(),
        embedded: read.implementation.embedded,
        ratio: one.ratio,
        interval: one.interval,
        ratios: ids.zip(one.ratios.iter().copied()).collect(),
        win_share: one.win_share,
        rough: is_rough(field, read),
        meets: answer.map(|answer| answer.outcome),
        reason: answer.and_then(|answer| answer.reasons.first().cloned()),
        figures,
    }
}

fn certainty(ranking: &Ranking, ranked: &[SummaryRow]) -> Certainty {
    match ranking.basis {
        _ if ranked.is_empty() => Certainty::NotDecided,
        _ if ranked.iter().any(|one| one.rough) => Certainty::Rough,
        Basis::Significance => Certainty::Firm,
        _ => Certainty::Single,
    }
}

fn states(field: &Field) -> States {
    let mut states = States::default();
    for trial in &field.trials {
        match (trial.is_disturbed(), trial.verdict.is_valid()) {
            (true, _) => states.disturbed += 1,
            (false, true) => states.valid += 1,
            (false, false) => states.invalid += 1,
        }
    }
    states
}

fn seconds(field: &Field) -> Known {
    let at = |text: &str| text.parse::<jiff::Timestamp>().ok();
    let (first, last) = (at(&field.run.started)?, at(field.run.finished.as_deref()?)?);
    Some(last.duration_since(first).as_secs_f64())
}

/// The answer: what is wrong before what the user asked to hold, and that before who costs least.
pub(crate) fn headline(field: &Field, ranking: &Ranking) -> Vec<String> {
    let requirements = ranking.requirements.as_ref();
    let mut sentences = data_faults(field);
    sentences.extend(requirements.into_iter().flat_map(Requirements::sentences));
    // Who costs least of those that meet everything was said, and of the others nobody asked.
    if requirements.is_none() || ranking.ranked.is_empty() {
        if field.trials.is_empty() {
            sentences.push("No trial was finished, so nothing can be ranked.".to_owned());
        } else {
            sentences.extend(cheapest(ranking));
        }
    }
    sentences
}

fn data_faults(field: &Field) -> Vec<String> {
    field
        .all()
        .filter_map(|(side, arm)| {
            let mut kinds = field
                .attempts_of(arm)
                .find(|trial| trial.verdict.has_data_fault())?
                .verdict
                .reasons()
                .iter()
                .filter(|reason| reason.kind.is_data_fault())
                .map(|reason| reason.kind.text())
                .collect_vec();
            kinds.dedup();
            let doing = if side == "both" { String::new() } else { format!(", {side}") };
            Some(format!("{}{doing}: {}.", arm.label, listed(kinds)))
        })
        .collect()
}

/// Who costs least, a sentence for each ranking.
fn cheapest(ranking: &Ranking) -> Vec<String> {
    if ranking.ranked.is_empty() {
        let below = if ranking.lacking.is_empty() { "the reasons are" } else { "what was measured is" };
        return vec![format!("Nothing can be ranked; {below} below.")];
    }
    if let [one] = ranking.ranked.as_slice() {
        return vec![format!("{} alone can be ranked, so there is nothing to compare it with.", one.label)];
    }
    let several = ranking.groups().count() > 1;
    let sentence = |group: &[Ranked]| {
        let among = if several { format!("{}: ", group[0].group.title()) } else { String::new() };
        format!("{among}{}", cheapest_of(ranking, group))
    };
    ranking.groups().map(sentence).collect()
}

/// Who costs least of a ranking, and how many times as much the next do.
fn cheapest_of(ranking: &Ranking, group: &[Ranked]) -> String {
    let first = Ranking::first(group);
    let names = first.iter().map(|one| one.label.as_str()).collect_vec();
    let named = match names.as_slice() {
        [_, _, _, more @ ..] if !more.is_empty() => {
            format!("{} and {} more", names[..3].join(", "), more.len())
        }
        names => listed(names),
    };
    let leads = match (first.len(), ranking.basis) {
        (1, _) if group.len() == 1 => return format!("{named} alone can be ranked."),
        (1, _) => format!("{named} costs least on this machine for this load"),
        (_, Basis::Significance) => {
            format!("{named} cost least on this machine for this load and cannot be told apart")
        }
        _ => format!("{named} cost least on this machine for this load, and about the same"),
    };
    let next = group
        .iter()
        .filter(|one| one.rank > 1)
        .take(NEXT)
        .map(|one| format!("{} {}", one.label, times(one.ratio)))
        .collect_vec();
    if next.is_empty() { format!("{leads}.") } else { format!("{leads}; then {}.", listed(&next)) }
}

/// Who leads each ranking, and how many more cannot be told apart from it. Nobody does who misses what has to hold, or who promises less than others here.
fn winner(ranking: &Ranking) -> Option<String> {
    let leads = |group: &[Ranked]| {
        let first = Ranking::first(group);
        let one = first.first().filter(|one| one.meets.is_none_or(Standing::leads))?;
        let winner = match first.len() - 1 {
            0 => one.label.clone(),
            more => format!("{} and {more} more, tied", one.label),
        };
        one.group.promises_most().then_some(winner)
    };
    let winners = ranking.groups().filter_map(leads).collect_vec();
    (!winners.is_empty()).then(|| winners.join("; "))
}

/// Why the order is not surer.
fn because(field: &Field, certainty: Certainty, is_tested: bool) -> Vec<String> {
    let mut because = vec![];
    let found = field
        .trials
        .iter()
        .filter(|trial| trial.is_disturbed())
        .flat_map(|trial| &trial.phases)
        .filter_map(|phase| phase.totals.as_ref())
        .map(|total| &total.disturbance)
        .filter(|found| found.is_disturbed());
    if let Some((other, steal)) = found
        .map(|found| (found.other_share, found.steal_share))
        .reduce(|one, next| (one.0.max(next.0), one.1.max(next.1)))
        .filter(|_| certainty != Certainty::Firm)
    {
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

/// What was checked of data and answers.
fn checks(field: &Field) -> String {
    if field.trials.is_empty() {
        return "Nothing was checked yet".to_owned();
    }
    let sum = |of: fn(&TrialRecord) -> Option<u64>| field.trials.iter().filter_map(of).total();
    let checked = sum(|trial| Some(trial.answers.as_ref()?.checked));
    let answers = match (checked, sum(|trial| Some(trial.answers.as_ref()?.wrong))) {
        (0, _) => "No answer was checked".to_owned(),
        (checked, 0) => format!("All {} checked answers right", thousands(checked)),
        (checked, wrong) => format!("{} of {} checked answers WRONG", thousands(wrong), thousands(checked)),
    };
    let stored = sum(|trial| Some(trial.ledger.as_ref()?.stored));
    let data = match (stored, sum(|trial| Some(trial.ledger.as_ref()?.lost))) {
        (0, 0) => "nothing was stored".to_owned(),
        (_, 0) => "nothing acknowledged was lost".to_owned(),
        (_, lost) => format!("{} acknowledged readings LOST", thousands(lost)),
    };
    format!("{answers} · {data}")
}
