//! Claims by their rows: two databases compared in one figure, or two expressions with words of their own.

use super::*;

impl<'a> Scope<'a> {
    /// All of them, in the order of the file.
    pub fn claims(&self) -> Vec<Claim> {
        self.file
            .claims
            .chunk_by(|_, next| next.text.is_empty())
            .filter_map(|rows| self.claim(rows))
            .collect()
    }

    fn claim(&self, rows: &[ClaimRow]) -> Option<Claim> {
        let first = rows.first()?;
        let usual = first.factor.map(|factor| format!("{factor} times or more, no tolerance"));
        let holds = or(&first.holds, usual.as_deref().unwrap_or("at all"));
        let (text, holds) = (self.fill(&first.text)?, self.fill(holds)?);
        let mut claim = Claim { text, holds, ..Claim::default() };
        let mut asides = vec![];
        for name in names(&first.who).filter(|name| *name != IMPLEMENTATION) {
            self.needed(&mut claim, name);
        }
        for row in rows {
            for scope in self.each(&row.over) {
                let _ = scope.part(&mut claim, row, &mut asides);
            }
        }
        if !first.open.is_empty() && claim.missing.is_empty() && claim.parts.is_empty() {
            claim.missing.push(first.open.clone());
        }
        let here = names(&first.who).map(|name| Some(&*self.subject(name)?.label));
        if let Some(here) = here.collect::<Option<Vec<_>>>().filter(|_| first.here) {
            asides.push(format!("here {}", here.join(" and ")));
        }
        claim.aside = asides.join(", ");
        Some(claim).filter(|claim| !claim.parts.is_empty() || !claim.missing.is_empty())
    }

    /// What stands for a database, which the claim is then about; where nothing does, the claim notes it.
    fn needed(&self, claim: &mut Claim, name: &str) -> Option<&'a Arm> {
        let name = self.fill(name)?;
        let arm = self.subject(&name);
        match arm {
            Some(arm) => claim.about.push(arm.label.clone()),
            None => claim.missing.push(self.missing_name(&name).to_owned()),
        }
        arm
    }

    fn part(&self, claim: &mut Claim, row: &ClaimRow, asides: &mut Vec<String>) -> Option<()> {
        if !self.holds(&row.only) {
            return None;
        }
        let who = names(&row.who).map(|name| self.needed(claim, name)).collect_vec();
        if let Some((missing, _)) = row.need.iter().find(|(_, condition)| !self.holds(condition)) {
            claim.missing.push(missing.clone());
            return None;
        }
        if !row.words.is_empty() {
            let who: Vec<&Arm> = who.into_iter().collect::<Option<_>>()?;
            return who
                .first()
                .map_or_else(|| self.clone(), |arm| self.about(IMPLEMENTATION, arm))
                .expressed(claim, row, asides);
        }
        if row.figure.is_empty() {
            return None;
        }
        let [left, right] = &self.file.study.compare;
        let one = self.needed(claim, or(&row.left, left));
        for name in names(or(&row.right, right)) {
            if let Some((one, other)) = one.zip(self.needed(claim, name)) {
                self.compared(claim, row, one, other);
            }
        }
        Some(())
    }

    /// A part that compares two databases in one figure. Of what costs the ratio says how many times as much the other has.
    fn compared(&self, claim: &mut Claim, row: &ClaimRow, one: &'a Arm, other: &'a Arm) {
        let quantity = self.quantity(&row.figure);
        let [left, right] = [one, other].map(|arm| self.values(&quantity.expression, Some(arm)));
        if !(row.open.is_empty() || has(&left) && has(&right)) {
            return;
        }
        let unit = self.fill(or(&row.unit, &quantity.unit)).unwrap_or_default();
        let is = if row.is.is_empty() && quantity.kind != Kind::Rate { "cheaper" } else { &row.is };
        let ratio =
            mean(&if matches!(is, "cheaper" | "to") { ratios(&right, &left) } else { ratios(&left, &right) });
        let ratio = ratio.map_or_else(String::new, |ratio| format!(", ×{}", significant(ratio, 3)));
        let (one, other) = (&one.label, &other.label);
        let words = format!("{one} {} against {} {unit} of {other}{ratio}", shown(&left), shown(&right));
        claim.parts.push((verdict(is, &left, &[right], row.factor), words));
    }

    /// A part that compares two expressions, or one with borders.
    fn expressed(&self, claim: &mut Claim, row: &ClaimRow, asides: &mut Vec<String>) -> Option<()> {
        let arm = self.subject(IMPLEMENTATION);
        let left = self.values(&row.left, arm);
        let right = names(&row.right).map(|right| self.values(right, arm)).collect_vec();
        let is_there = row.left.is_empty() || has(&left) && right.first().is_none_or(|right| has(right));
        if !is_there {
            if !row.missing.is_empty() {
                claim.missing.push(self.fill(&row.missing)?);
            }
            return None;
        }
        let other = right.first().map_or(&[][..], |right| right);
        let percent = mean(&left).unwrap_or_default();
        let sign = if percent > 0.0 { "+" } else { "" };
        let mut words = self
            .with("left", shown(&left))
            .with("right", shown(other))
            .with("ratio", shown(&ratios(&left, other)))
            .with("signed", format!("{sign}{}", fixed(percent, 1)))
            .fill(&row.words)?;
        let undecided = row.decides.iter().find(|(_, condition)| !self.holds(condition));
        if let Some((missing, _)) = undecided {
            claim.missing.push(missing.clone());
        }
        if row.aside || undecided.is_some() {
            asides.push(words);
            return Some(());
        }
        let is_few = !self.holds(&row.refutes);
        let held = verdict(&row.is, &left, &right, row.factor).filter(|held| *held || !is_few);
        if is_few && held.is_none() {
            words += ", too few to refute it";
        }
        claim.parts.push((held, words));
        Some(())
    }
}

/// Whether a relation holds of a figure and another, or its borders.
fn verdict(is: &str, left: &Values, right: &[Values], factor: Known) -> Option<bool> {
    let factor = factor.unwrap_or(1.0);
    let mut borders = right.iter().map(|border| border.iter().flatten().next().copied());
    let right = right.first().map_or(&[][..], |right| right);
    match is {
        "less" => is_less(left, &times(right, factor)),
        "cheaper" => is_less(&times(left, factor), right),
        "to" => match (is_less(left, right), is_less(right, &times(left, factor))) {
            (Some(false), _) | (_, Some(false)) => Some(false),
            (better, within) => Some(better? && within?),
        },
        "level" => is_level(left, right, factor),
        "within" => is_within(left, borders.next()??, borders.next().flatten().unwrap_or(f64::INFINITY)),
        "none" => Some(left.iter().flatten().all(|value| *value == 0.0)),
        _ => is_less(&times(right, factor), left),
    }
}
