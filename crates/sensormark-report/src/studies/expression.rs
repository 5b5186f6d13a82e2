//! Figures by expressions: `mean extract devices=1600 / mean extract devices=400 - 1 * 100`.
//!
//! An operand is a number, a name of the file's figures, or a word of `super::metric`. After a word stand the loads that it is of, by operation and labels.
//! `@NAME` at its end says whose it is. The operators `+ - * / or` apply from left to right. A definition may say more: `time [ms] EXPRESSION | why it is missing`.

use super::{
    metric::{self, Kind},
    scope::{Scope, value},
    scores,
    select::Loads,
    table::NOT_MEASURED,
};
use crate::{
    claims::{Values, ratios},
    prelude::*,
};

const OPERATORS: [&str; 5] = ["+", "-", "*", "/", "or"];

/// What is measured, as a table's column, a point of a drawing or a claim has it.
pub struct Quantity {
    /// Its unit.
    pub unit: String,
    /// What it is.
    pub kind: Kind,
    /// How it comes out.
    pub expression: String,
    missing: String,
}

/// The operands, each with the operator before it.
pub fn operands(text: &str) -> Vec<(&str, Vec<&str>)> {
    let mut all: Vec<(&str, Vec<&str>)> = vec![("", vec![])];
    for word in text.split_whitespace() {
        match all.last_mut() {
            Some((_, words)) if words.is_empty() || !OPERATORS.contains(&word) => words.push(word),
            _ => all.push((word, vec![])),
        }
    }
    all
}

fn combined(one: Values, operator: &str, other: &Values) -> Values {
    let both = |apply: fn(f64, f64) -> f64| {
        let pairs = one.iter().zip(other);
        pairs.map(|(one, other)| Some(apply((*one)?, (*other)?))).collect()
    };
    match operator {
        "+" => both(|one, other| one + other),
        "-" => both(|one, other| one - other),
        "*" => both(|one, other| one * other),
        "/" => ratios(&one, other),
        _ => one.iter().zip(other).map(|(one, other)| one.or(*other)).collect(),
    }
}

/// The parts of a definition: kind, unit, expression, and why it is missing.
pub fn parts(definition: &str) -> (Option<Kind>, Option<&str>, &str, Option<&str>) {
    let (head, missing) =
        definition.split_once(" | ").map_or((definition, None), |(head, missing)| (head, Some(missing)));
    let kind = metric::KINDS.into_iter().find_map(|(word, kind)| Some((kind, head.strip_prefix(word)?)));
    let (kind, head) = kind.map_or((None, head), |(kind, rest)| (Some(kind), rest.trim_start()));
    let unit = head.strip_prefix('[').and_then(|rest| rest.split_once("] "));
    let (unit, expression) = unit.map_or((None, head), |(unit, rest)| (Some(unit), rest));
    (kind, unit, expression, missing)
}

impl Quantity {
    /// The same with another reason why it is missing, if that says one.
    pub fn or(mut self, missing: &str) -> Self {
        if !missing.is_empty() {
            missing.clone_into(&mut self.missing);
        }
        self
    }
}

impl<'a> Scope<'a> {
    /// What a definition says. One that is a figure of the file has from that what it does not say itself.
    pub fn quantity(&self, definition: &str) -> Quantity {
        let (kind, unit, expression, missing) = parts(definition);
        let operands = operands(expression);
        let name = operands[0].1.first().copied().unwrap_or_default();
        let base = self.file.figures.get(name).map(|text| self.quantity(text));
        let own_kind = base.as_ref().map_or_else(|| metric::kind(name), |base| base.kind);
        let default = if matches!(name, "p50" | "p99") { TOO_FEW } else { NOT_MEASURED };
        let (own_unit, own_missing) = base.map_or((None, None), |base| (Some(base.unit), Some(base.missing)));
        let own_unit = own_unit.filter(|_| operands.len() == 1);
        let or = |own: Option<&str>, base: Option<String>| own.map(str::to_owned).or(base);
        Quantity {
            unit: or(unit, own_unit).unwrap_or_default(),
            kind: kind.unwrap_or(own_kind),
            expression: expression.to_owned(),
            missing: or(missing, own_missing).unwrap_or_else(|| default.to_owned()),
        }
    }

    /// The mean over an implementation's repetitions, or why there is none.
    pub fn cell(&self, of: &Quantity, arm: Option<&'a Arm>) -> Cell {
        let values = self.values(&of.expression, arm);
        let is_inside =
            arm.is_some_and(|arm| arm.implementation.embedded) && of.expression.contains("/server");
        let missing = match is_inside {
            true => Some("embedded: one process, shown as the client's".to_owned()),
            false => self.fill(&of.missing),
        };
        let missing = &*missing.unwrap_or_else(|| NOT_MEASURED.to_owned());
        match of.kind {
            Kind::Rate | Kind::Time => geometric_mean(&values, missing),
            Kind::Amount => mean(&values, missing),
            Kind::Count => Cell::count(values.into_iter().flatten().next().map(round_u64), missing),
        }
    }

    /// An expression in each repetition, of an implementation where it does not name another.
    pub fn values(&self, expression: &str, arm: Option<&'a Arm>) -> Values {
        let Some(text) = self.fill(expression) else {
            return vec![];
        };
        let all = operands(&text).into_iter().map(|(operator, words)| (operator, self.operand(&words, arm)));
        let all = all.reduce(|(_, one), (operator, other)| ("", combined(one, operator, &other)));
        all.map_or_else(Vec::new, |(_, values)| values)
    }

    fn operand(&self, words: &[&str], arm: Option<&'a Arm>) -> Values {
        let whose = words.iter().position(|word| word.starts_with('@'));
        let arm = whose.map_or(arm, |place| self.subject(&words[place..].join(" ")[1..]));
        let words = &words[..whose.unwrap_or(words.len())];
        let Some((name, rest)) = words.split_first() else {
            return vec![];
        };
        if let Some(number) = value(name).as_f64() {
            return vec![Some(number); self.results.field.blocks.len()];
        }
        let Some(arm) = arm else {
            return vec![];
        };
        if let Some(definition) = self.file.figures.get(*name) {
            let (_, _, expression, _) = parts(definition);
            let named = rest.iter().filter_map(|word| word.split_once('='));
            let scope = named.fold(self.clone(), |scope, (name, text)| scope.with(name, value(text)));
            return scope.values(expression, Some(arm));
        }
        if let Some(of) = name.strip_prefix("score/") {
            return scores::values(self, arm, of);
        }
        let (of, run) = (Loads::parse(&rest.join(" ")), &self.results.field.run);
        self.results.field.figures(arm, |trial| metric::metric(name, &of, trial, run))
    }
}
