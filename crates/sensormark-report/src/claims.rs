//! Claims of a study, each with whether it held here, the figures that decide it, and what it takes to hold.
//!
//! A claim of many parts is refuted by one of them and holds only with all. It is undecided if one of these is so:
//!
//! - an implementation that it is about has fewer than three valid repetitions;
//! - the host was disturbed (and that was tolerated);
//! - the interval over repetitions crosses what it takes.
//!
//! A study's file has its claims (`studies`); how one is judged is here.

use crate::prelude::*;

/// A figure in each repetition; none where there is no valid trial.
pub type Values = Vec<Known>;

/// A claim in the study's words, taken apart.
#[derive(Default)]
pub struct Claim {
    /// The claim.
    pub text: String,
    /// What it takes to hold, with every tolerance.
    pub holds: String,
    /// Its parts: whether each held (`None`: undecided), and the figures that decide it.
    pub parts: Vec<(Option<bool>, String)>,
    /// What the claim is about and was not measured here.
    pub missing: Vec<String>,
    /// What is worth knowing beside it.
    pub aside: String,
    /// Whom it is about, whose repetitions have to be enough and undisturbed; everybody where it does not say.
    pub about: Vec<String>,
}

impl Claim {
    /// What became of it, and why it is undecided where it is. `doubt` is why its figures may not decide.
    fn outcome(&self, doubt: Option<&'static str>) -> (&'static str, Option<&'static str>) {
        let any = |held| self.parts.iter().any(|part| part.0 == held);
        if self.parts.is_empty() || (!self.missing.is_empty() && !any(Some(false))) {
            ("cannot be judged", None)
        } else if doubt.is_some() {
            ("undecided", doubt)
        } else if any(Some(false)) {
            ("did not hold", None)
        } else if any(None) {
            ("undecided", Some("the interval crosses what it takes"))
        } else {
            ("held", None)
        }
    }

    fn figures(&self, why: Option<&str>) -> String {
        let mut all = self.parts.iter().map(|part| part.1.clone()).collect_vec();
        if !self.missing.is_empty() {
            all.push(format!("no valid trial of {}", listed(each_once(&self.missing))));
        }
        if !self.aside.is_empty() {
            all.push(self.aside.clone());
        }
        if let Some(why) = why {
            all.push(format!("undecided: {why}"));
        }
        all.join("; ")
    }

    /// Why a run's figures may not decide this claim.
    fn doubt(&self, field: &Field) -> Option<&'static str> {
        let mut arms = field.all().map(|(_, arm)| arm).filter(|arm| {
            field.valid_of(arm).next().is_some() && (self.about.is_empty() || self.about.contains(&arm.label))
        });
        arms.find_map(|arm| doubt(field, arm))
    }
}

/// Why the figures of an implementation may not decide anything.
pub fn doubt(field: &Field, arm: &Arm) -> Option<&'static str> {
    if field.valid_of(arm).count() < SMALLEST_REPETITIONS {
        Some("fewer than three valid repetitions")
    } else if tolerated(field, arm).next().is_some() {
        Some("the host was disturbed, which was tolerated")
    } else {
        None
    }
}

/// Whether the first is less than the second; `None` where the interval over paired repetitions crosses that, or there are fewer than three.
pub fn is_less(first: &[Known], second: &[Known]) -> Option<bool> {
    match compare(first, second) {
        Ok(comparison) => (comparison.p_value? < SIGNIFICANCE).then_some(comparison.ratio < 1.0),
        // A 0 has no ratio, but a difference.
        Err(_) => {
            let apart = first.iter().zip(second).map(|(one, other)| Some((*one)? - (*other)?)).collect_vec();
            let Interval { low, high } = interval(&apart)?;
            (high < 0.0 || low > 0.0).then_some(high < 0.0)
        }
    }
}

/// Whether any of these figures was measured.
pub fn has(values: &[Known]) -> bool {
    values.iter().any(Option::is_some)
}

/// Whether one is as much as the other, to this part of it either way: 0.2 is from 0.8 times to 1 / 0.8 times.
pub fn is_level(one: &[Known], other: &[Known], part: f64) -> Option<bool> {
    let interval = compare(one, other).ok()?.interval?;
    inside(interval, 1.0 - part, 1.0 / (1.0 - part))
}

/// Whether the mean is from `low` to `high`.
pub fn is_within(values: &[Known], low: f64, high: f64) -> Option<bool> {
    inside(interval(values)?, low, high)
}

fn interval(values: &[Known]) -> Option<Interval> {
    let values = values.iter().copied().flatten().collect_vec();
    summarize(&values).ok()?.interval
}

/// Whether an interval is inside or outside; neither where it crosses a border.
pub fn inside(interval: Interval, low: f64, high: f64) -> Option<bool> {
    if interval.low >= low && interval.high <= high {
        Some(true)
    } else {
        (interval.high < low || interval.low > high).then_some(false)
    }
}

/// The figures times a factor.
pub fn times(values: &[Known], factor: f64) -> Values {
    values.iter().map(|value| Some((*value)? * factor)).collect()
}

/// One divided by the other, repetition by repetition.
pub fn ratios(one: &[Known], other: &[Known]) -> Values {
    let ratio = |(one, other): (&Known, &Known)| Some((*one)? / other.filter(|other| *other > 0.0)?);
    one.iter().zip(other).map(ratio).collect()
}

/// The mean of what was measured.
pub fn mean(values: &[Known]) -> Known {
    let values = values.iter().copied().flatten().collect_vec();
    (!values.is_empty()).then(|| values.iter().sum::<f64>() / values.len() as f64)
}

/// The mean for a sentence; a dash where nothing was measured.
pub fn shown(values: &[Known]) -> String {
    mean(values).map_or_else(|| "–".to_owned(), |value| significant(value, 3))
}

/// The table of these claims, judged by one run.
pub fn table(field: &Field, claims: &[Claim]) -> Table {
    let doubts = claims.iter().map(|claim| claim.doubt(field)).collect();
    doubted("claims", "Did they hold here?", claims, doubts)
}

/// The table of claims, each with why its figures may not decide it.
pub fn doubted(id: &str, title: &str, claims: &[Claim], doubts: Vec<Option<&'static str>>) -> Table {
    let mut table = Table::new(id, title, "claim; here; figures; holds when");
    for (claim, doubt) in claims.iter().zip(doubts) {
        let (outcome, why) = claim.outcome(doubt);
        table.row(row![&claim.text, outcome, claim.figures(why), &claim.holds,]);
    }
    table.note("Undecided: fewer than three valid repetitions, a disturbed host that was tolerated, or a 95 % interval over repetitions that crosses what the claim takes.");
    table
}
