//! Figures by expressions: `mean extract devices=1600 / mean extract devices=400 - 1 * 100`.
//!
//! An operand is a number, a name of the file's figures, or a word of `super::metric`. After a word stand the loads that it is of, by operation and labels.
//! `@NAME` at its end says whose it is. The operators `+ - * / or` apply from left to right. A definition may say more: `time [ms] EXPRESSION | why it is missing`.

use super::*;
use crate::sections::cells;

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
    let pairs = one.iter().zip(other);
    let apply: fn(f64, f64) -> f64 = match operator {
        "+" => |one, other| one + other,
        "-" => |one, other| one - other,
        "*" => |one, other| one * other,
        "/" => return ratios(&one, other),
        _ => return pairs.map(|(one, other)| one.or(*other)).collect(),
    };
    pairs.map(|(one, other)| Some(apply((*one)?, (*other)?))).collect()
}

/// The parts of a definition: kind, unit, expression, and why it is missing.
pub fn parts(definition: &str) -> (Option<Kind>, Option<&str>, &str, Option<&str>) {
    let (head, missing) =
        definition.split_once(" | ").map_or((definition, None), |(head, missing)| (head, Some(missing)));
    let kind =
        metric::KINDS.into_iter().find_map(|(word, kind)| Some((Some(kind), head.strip_prefix(word)?)));
    let (kind, head) = kind.unwrap_or((None, head));
    let unit = head.trim_start().strip_prefix('[').and_then(|rest| rest.split_once("] "));
    let (unit, expression) = unit.map_or((None, head), |(unit, rest)| (Some(unit), rest));
    (kind, unit, expression, missing)
}

impl Quantity {
    /// The same with another reason why it is missing, if that says one.
    pub fn or(self, missing: &str) -> Self {
        Self { missing: or(missing, &self.missing).to_owned(), ..self }
    }
}

impl<'a> Scope<'a> {
    /// What a definition says. One that is a figure of the file has from that what it does not say itself.
    pub fn quantity(&self, definition: &str) -> Quantity {
        let (kind, unit, expression, missing) = parts(definition);
        let operands = operands(expression);
        let name = operands[0].1.first().copied().unwrap_or_default();
        let mut own = match self.file.figures.get(name) {
            Some(text) => self.quantity(text),
            None => {
                let missing = if matches!(name, "p50" | "p99") { TOO_FEW } else { NOT_MEASURED };
                let (kind, unit) = metric::kind(name);
                let (unit, missing) = (unit.to_owned(), missing.to_owned());
                Quantity { unit, kind, expression: String::new(), missing }
            }
        };
        if unit.is_some() || operands.len() > 1 {
            own.unit = unit.unwrap_or_default().to_owned();
        }
        own.kind = kind.unwrap_or(own.kind);
        own.expression = expression.to_owned();
        own.or(missing.unwrap_or_default())
    }

    /// The mean over an implementation's repetitions, or why there is none.
    pub fn cell(&self, of: &Quantity, arm: Option<&'a Arm>) -> Cell {
        let values = self.values(&of.expression, arm);
        let is_inside =
            arm.is_some_and(|arm| arm.implementation.embedded) && of.expression.contains("/server");
        let missing = if is_inside { cells::EMBEDDED } else { &of.missing };
        let missing = self.fill(missing).unwrap_or_else(|| NOT_MEASURED.to_owned());
        match of.kind {
            Kind::Rate | Kind::Time => geometric_mean(&values, &missing),
            Kind::Amount => cells::mean(&values, &missing),
            Kind::Count => Cell::count(values.into_iter().flatten().next().map(round_u64), &missing),
        }
    }

    /// The same of the implementation that a row is about.
    pub fn own_cell(&self, quantity: &Quantity) -> Cell {
        self.cell(quantity, self.subject(IMPLEMENTATION))
    }

    /// An expression in each repetition, of an implementation where it does not name another.
    pub fn values(&self, expression: &str, arm: Option<&'a Arm>) -> Values {
        let text = self.fill(expression).unwrap_or_default();
        operands(&text)
            .into_iter()
            .map(|(operator, words)| (operator, self.operand(&words, arm)))
            .reduce(|(_, one), (operator, other)| ("", combined(one, operator, &other)))
            .map_or_else(Vec::new, |(_, values)| values)
    }

    fn operand(&self, words: &[&str], arm: Option<&'a Arm>) -> Values {
        let whose = words.iter().position(|word| word.starts_with('@'));
        let arm = whose.map_or(arm, |place| self.subject(&words[place..].join(" ")[1..]));
        let [name, rest @ ..] = &words[..whose.unwrap_or(words.len())] else { return vec![] };
        if let Some(number) = value(name).as_f64() {
            return vec![Some(number); self.field.blocks.len()];
        }
        let Some(arm) = arm else { return vec![] };
        if let Some(definition) = self.file.figures.get(*name) {
            return rest
                .iter()
                .filter_map(|word| word.split_once('='))
                .fold(self.clone(), |scope, (name, text)| scope.with(name, value(text)))
                .values(parts(definition).2, Some(arm));
        }
        if let Some(of) = name.strip_prefix("score/") {
            return scores::values(self, arm, of);
        }
        let of = Loads::parse(&rest.join(" "));
        self.field.figures(arm, |trial| metric::metric(name, &of, trial, &self.field.run))
    }
}
