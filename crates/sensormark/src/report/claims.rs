//! Claims of a study, each with whether it held here and the figures that decide it.
//!
//! A claim of many parts is refuted by one of them and holds only with all. What differs by less than the noise of at
//! least three repetitions is not decided; with fewer repetitions the bare figures decide, and the table says so.
//! What the claims are is the affair of each study's own module.

use super::field::Field;
use super::number::significant;
use super::sections::cells::listed;
use super::tables::{Cell, Table};
use crate::statistics::{SIGNIFICANCE, SMALLEST_REPETITIONS, compare};

/// One part of a claim.
struct Part {
    /// Whether it held; `None` when it is not decided.
    held: Option<bool>,
    /// What decides it.
    figures: String,
}

/// A claim, taken apart.
pub struct Claim {
    text: &'static str,
    parts: Vec<Part>,
    /// What the claim is about and was not measured here.
    missing: Vec<String>,
    /// What is worth knowing beside it.
    aside: String,
}

impl Claim {
    /// A claim in the study's words, before anything is known.
    pub fn new(text: &'static str) -> Self {
        Self {
            text,
            parts: Vec::new(),
            missing: Vec::new(),
            aside: String::new(),
        }
    }

    /// Adds a part: whether it held (`None`: not decided), and the figures that decide it.
    pub fn part(&mut self, held: Option<bool>, figures: String) {
        self.parts.push(Part { held, figures });
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

    fn outcome(&self) -> &'static str {
        if self.parts.iter().any(|part| part.held == Some(false)) {
            "did not hold"
        } else if !self.missing.is_empty() {
            "cannot be judged"
        } else if self.parts.iter().any(|part| part.held.is_none()) {
            "not decided"
        } else {
            "held"
        }
    }

    fn figures(&self) -> String {
        let mut all: Vec<String> = self.parts.iter().map(|part| part.figures.clone()).collect();
        if !self.missing.is_empty() {
            let names: Vec<&str> = self.missing.iter().map(String::as_str).collect();
            all.push(format!("no valid trial of {}", listed(&names)));
        }
        if !self.aside.is_empty() {
            all.push(self.aside.clone());
        }
        all.join("; ")
    }
}

/// Whether the first is less than the second; `None` when noise hides it. Without enough repetitions, and where a value is
/// 0, means decide.
pub fn is_less(first: &[Option<f64>], second: &[Option<f64>]) -> Option<bool> {
    if let Ok(comparison) = compare(first, second)
        && let Some(p) = comparison.p_value
    {
        return (p < SIGNIFICANCE).then_some(comparison.ratio < 1.0);
    }
    Some(mean(first)? < mean(second)?)
}

/// The mean of what was measured.
pub fn mean(values: &[Option<f64>]) -> Option<f64> {
    let values: Vec<f64> = values.iter().copied().flatten().collect();
    (!values.is_empty()).then(|| values.iter().sum::<f64>() / values.len() as f64)
}

/// The mean for a sentence; a dash where nothing was measured.
pub fn shown(values: &[Option<f64>]) -> String {
    mean(values).map_or_else(|| "–".to_owned(), |value| significant(value, 3))
}

/// The table of these claims.
pub fn table(field: &Field, claims: &[Claim]) -> Table {
    let columns = [("claim", ""), ("here", ""), ("figures", "")];
    let mut table = Table::new("claims", "Did they hold here?", &columns);
    for claim in claims {
        table.row(vec![
            Cell::text(claim.text),
            Cell::text(claim.outcome()),
            Cell::text(claim.figures()),
        ]);
    }
    if field.blocks.len() < SMALLEST_REPETITIONS {
        table.note("Single trial: the bare figures decide, and chance may have.");
    } else {
        table.note("Not decided: the difference is within the noise (paired by repetition, 5 %).");
    }
    table
}
