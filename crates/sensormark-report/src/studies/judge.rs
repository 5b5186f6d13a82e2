//! Claims by their rows: two databases compared in one figure, or two expressions with words of their own.

use crate::{
    claims::{Claim, Values, all, has, is_less, is_level, is_within, mean, ratios, shown, times},
    prelude::*,
    studies::{
        file::{ClaimRow, names},
        metric::Kind,
        scope::{IMPLEMENTATION, Scope},
    },
};

impl<'a> Scope<'a> {
    /// All of them, in the order of the file.
    pub fn claims(&self) -> Vec<Claim> {
        let claims = self.file.claims.chunk_by(|_, next| next.text.is_empty());
        claims.filter_map(|rows| self.claim(rows)).collect()
    }

    fn claim(&self, rows: &[ClaimRow]) -> Option<Claim> {
        let first = rows.first()?;
        let holds = match first.factor {
            _ if !first.holds.is_empty() => first.holds.clone(),
            Some(factor) => format!("{factor} times or more, no tolerance"),
            None => "at all".to_owned(),
        };
        let mut claim = Claim::new(self.fill(&first.text)?, self.fill(&holds)?);
        let mut asides = vec![];
        for name in names(&first.who).filter(|name| *name != IMPLEMENTATION) {
            self.needed(&mut claim, name);
        }
        for row in rows {
            for scope in self.each(&row.over) {
                let _ = scope.part(&mut claim, row, &mut asides);
            }
        }
        if !first.open.is_empty() && !claim.is_missing() {
            claim.missing_if_open(&first.open);
        }
        let here = names(&first.who).map(|name| Some(&*self.subject(name)?.label));
        if let Some(here) = here.collect::<Option<Vec<_>>>().filter(|_| first.here) {
            asides.push(format!("here {}", here.join(" and ")));
        }
        if !asides.is_empty() {
            claim.aside(asides.join(", "));
        }
        Some(claim).filter(|claim| !claim.is_open() || claim.is_missing())
    }

    /// What stands for a database, which the claim is then about; where nothing does, the claim notes it.
    pub fn needed(&self, claim: &mut Claim, name: &str) -> Option<&'a Arm> {
        let name = self.fill(name)?;
        claim.needs((self.missing_name(&name), self.subject(&name)))
    }

    fn part(&self, claim: &mut Claim, row: &ClaimRow, asides: &mut Vec<String>) -> Option<()> {
        if !self.holds(&row.only) {
            return None;
        }
        let who = names(&row.who).map(|name| self.needed(claim, name)).collect::<Vec<_>>();
        if let Some((missing, _)) = row.need.iter().find(|(_, condition)| !self.holds(condition)) {
            claim.missing(missing);
            return None;
        }
        if row.words.is_empty() {
            let [left, right] = &self.file.study.compare;
            let (left, right) = if row.left.is_empty() { (left, right) } else { (&row.left, &row.right) };
            if row.figure.is_empty() {
                return None;
            }
            let one = self.needed(claim, left);
            for name in names(right) {
                let other = self.needed(claim, name);
                if let (Some(one), Some(other)) = (one, other) {
                    self.compared(claim, row, one, other);
                }
            }
            return Some(());
        }
        let who: Vec<&Arm> = who.into_iter().collect::<Option<_>>()?;
        let scope = who.first().map_or_else(|| self.clone(), |arm| self.about(IMPLEMENTATION, arm));
        scope.expressed(claim, row, asides)
    }

    /// A part that compares two databases in one figure. Of what costs the ratio says how many times as much the other has.
    fn compared(&self, claim: &mut Claim, row: &ClaimRow, one: &'a Arm, other: &'a Arm) {
        let quantity = self.quantity(&row.figure);
        let [left, right] = [one, other].map(|arm| self.values(&quantity.expression, Some(arm)));
        if !(row.open.is_empty() || has(&left) && has(&right)) {
            return;
        }
        let unit = self.fill(&row.unit).filter(|unit| !unit.is_empty()).unwrap_or(quantity.unit);
        let is = if row.is.is_empty() && quantity.kind != Kind::Rate { "cheaper" } else { &row.is };
        let is_saved = matches!(is, "cheaper" | "to");
        let ratio = mean(&if is_saved { ratios(&right, &left) } else { ratios(&left, &right) });
        let ratio = ratio.map_or_else(String::new, |ratio| format!(", ×{}", significant(ratio, 3)));
        let (one, other) = (&one.label, &other.label);
        let words = format!("{one} {} against {} {unit} of {other}{ratio}", shown(&left), shown(&right));
        claim.part(verdict(is, &left, &right, row.factor.unwrap_or(1.0)), words);
    }

    /// A part that compares two expressions, or one with borders.
    fn expressed(&self, claim: &mut Claim, row: &ClaimRow, asides: &mut Vec<String>) -> Option<()> {
        let arm = self.subject(IMPLEMENTATION);
        let left = self.values(&row.left, arm);
        let right: Option<Values> = names(&row.right).next().map(|right| self.values(right, arm));
        let is_there = row.left.is_empty() || has(&left) && right.as_ref().is_none_or(|right| has(right));
        if !is_there {
            if !row.missing.is_empty() {
                claim.missing(&self.fill(&row.missing)?);
            }
            return None;
        }
        let right = right.unwrap_or_default();
        let percent = mean(&left).unwrap_or_default();
        let sign = if percent > 0.0 { "+" } else { "" };
        let scope = self
            .with("left", shown(&left).into())
            .with("right", shown(&right).into())
            .with("ratio", shown(&ratios(&left, &right)).into())
            .with("signed", format!("{sign}{}", fixed(percent, 1)).into());
        let mut words = scope.fill(&row.words)?;
        let undecided = row.decides.iter().find(|(_, condition)| !self.holds(condition));
        if let Some((missing, _)) = undecided {
            claim.missing(missing);
        }
        if row.aside || undecided.is_some() {
            asides.push(words);
            return Some(());
        }
        let factor = row.factor.unwrap_or(1.0);
        let border = |place: usize| {
            let values = names(&row.right).nth(place).map(|border| self.values(border, None));
            values.and_then(|values| values.into_iter().flatten().next())
        };
        let held = match &*row.is {
            "within" => is_within(&left, border(0)?, border(1).unwrap_or(f64::INFINITY)),
            is => verdict(is, &left, &right, factor),
        };
        let is_few = !self.holds(&row.refutes);
        let held = held.filter(|held| *held || !is_few);
        if is_few && held.is_none() {
            words += ", too few to refute it";
        }
        claim.part(held, words);
        Some(())
    }
}

/// Whether a relation holds of two figures.
fn verdict(is: &str, left: &Values, right: &Values, factor: f64) -> Option<bool> {
    match is {
        "less" => is_less(left, &times(right, factor)),
        "cheaper" => is_less(&times(left, factor), right),
        "to" => all([is_less(left, right), is_less(right, &times(left, factor))]),
        "level" => is_level(left, right, factor),
        "none" => Some(left.iter().flatten().all(|value| *value == 0.0)),
        _ => is_less(&times(right, factor), left),
    }
}
