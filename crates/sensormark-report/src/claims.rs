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

/// One part of a claim.
struct Part {
    /// Whether it held; `None` when it is undecided.
    held: Option<bool>,
    /// What decides it.
    figures: String,
}

/// A claim, taken apart.
#[derive(Default)]
pub struct Claim {
    text: String,
    /// What it takes to hold, with every tolerance.
    holds: String,
    parts: Vec<Part>,
    /// What the claim is about and was not measured here.
    missing: Vec<String>,
    /// What is worth knowing beside it.
    aside: String,
    /// Whom it is about; everybody where it does not say.
    about: Vec<String>,
}

/// What a claim is about: what the report calls it where it was not measured, and what stands for it here.
pub type Found<'a, 'n> = (&'n str, Option<&'a Arm>);

impl Claim {
    /// A claim in the study's words, and what it takes to hold, before anything is known.
    pub fn new(text: impl Into<String>, holds: impl Into<String>) -> Self {
        Self { text: text.into(), holds: holds.into(), ..Self::default() }
    }

    /// Adds a part: whether it held (`None`: undecided), and the figures that decide it.
    pub fn part(&mut self, held: Option<bool>, figures: String) {
        self.parts.push(Part { held, figures });
    }

    /// Says whom it is about: whose repetitions have to be enough and undisturbed.
    pub fn about(&mut self, arm: &Arm) {
        if !self.about.contains(&arm.label) {
            self.about.push(arm.label.clone());
        }
    }

    /// What stands for something, which the claim is then about; nothing where it was not measured, which is noted.
    pub fn needs<'a>(&mut self, (name, arm): Found<'a, '_>) -> Option<&'a Arm> {
        match arm {
            Some(arm) => self.about(arm),
            None => self.missing(name),
        }
        arm
    }

    /// Notes what the claim is about and was not measured.
    pub fn missing(&mut self, what: &str) {
        if !self.missing.iter().any(|known| known == what) {
            self.missing.push(what.to_owned());
        }
    }

    /// Notes what is worth knowing beside it.
    pub fn aside(&mut self, words: String) {
        self.aside = words;
    }

    /// Whether nothing speaks for or against it yet.
    pub fn is_open(&self) -> bool {
        self.parts.is_empty()
    }

    /// Whether something that it is about was not measured.
    pub fn is_missing(&self) -> bool {
        !self.missing.is_empty()
    }

    /// Notes what was not measured where nothing speaks for or against it.
    pub fn missing_if_open(&mut self, what: &str) {
        if self.is_open() {
            self.missing(what);
        }
    }

    /// What became of it, and why it is undecided where it is. `doubt` is why its figures may not decide.
    fn outcome(&self, doubt: Option<&'static str>) -> (&'static str, Option<&'static str>) {
        let any = |held| self.parts.iter().any(|part| part.held == held);
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
        let mut all = self.parts.iter().map(|part| part.figures.clone()).collect_vec();
        if !self.missing.is_empty() {
            all.push(format!("no valid trial of {}", listed(&self.missing)));
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
            let pairs = first.iter().zip(second);
            let apart = pairs.map(|(one, other)| Some((*one)? - (*other)?)).collect_vec();
            let Interval { low, high } = interval(&apart)?;
            (high < 0.0 || low > 0.0).then_some(high < 0.0)
        }
    }
}

/// Whether all hold: refuted by one, undecided where one is.
pub fn all(parts: impl IntoIterator<Item = Option<bool>>) -> Option<bool> {
    parts.into_iter().reduce(|one, other| match (one, other) {
        (Some(false), _) | (_, Some(false)) => Some(false),
        _ => Some(one? && other?),
    })?
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
    let raised = values.iter().map(|value| Some((*value)? * factor));
    raised.collect()
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
    let columns = ["claim", "here", "figures", "holds when"];
    let mut table = Table::new(id, title, &columns);
    for (claim, doubt) in claims.iter().zip(doubts) {
        let (outcome, why) = claim.outcome(doubt);
        table.row(row![&claim.text, outcome, claim.figures(why), &claim.holds,]);
    }
    table.note("Undecided: fewer than three valid repetitions, a disturbed host that was tolerated, or a 95 % interval over repetitions that crosses what the claim takes.");
    table
}
