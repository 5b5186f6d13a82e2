//! Texts of a store's files: TQL with slots, behind clauses that say which containers are asked, what is taken of their rows, and how.
//!
//! Clauses end with `;`. A slot is `?1` (the kit's first value).

use super::kind::Kind;
use crate::{Cell, pieces};

/// The latest time of a TIMESTAMP, in ms: the end of the year 9999. The earliest is the epoch.
const LATEST: i64 = 253_402_300_799_999;

/// TQL with slots.
#[derive(Debug, Default)]
pub(super) struct Tql {
    first: String,
    /// A slot, how it is written, and the text behind it.
    rest: Vec<(usize, Written, String)>,
}

/// How a value is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Written {
    Plainly,
    /// As a time.
    Time,
    /// With the comparison before it: whether it is `>`, and whether the column has whole numbers.
    Compared(bool, bool),
}

impl Tql {
    fn read(text: &str, types: &[String]) -> Self {
        let (mut first, mut rest) = (String::new(), Vec::<(usize, Written, String)>::new());
        for (slot, piece) in pieces(text) {
            let Some(slot) = slot else {
                piece.clone_into(&mut first);
                continue;
            };
            let before = rest.last_mut().map_or(&mut first, |last| &mut last.2);
            let written = match types.get(slot).map(String::as_str) {
                Some("TIMESTAMP") => Written::Time,
                Some("DOUBLE") => {
                    let operator = before.trim_end_matches("whole ");
                    let (is_whole, is_above) = (operator.len() < before.len(), operator.ends_with("> "));
                    before.truncate(operator.len() - 2);
                    Written::Compared(is_above, is_whole)
                }
                _ => Written::Plainly,
            };
            rest.push((slot, written, piece.to_owned()));
        }
        Self { first, rest }
    }

    /// The text with these values; none where nothing can pass.
    pub(super) fn with<'a>(&self, cell: impl Fn(usize) -> Option<Cell<'a>>) -> Option<String> {
        let mut text = self.first.clone();
        for (slot, written, behind) in &self.rest {
            match (cell(*slot)?, *written) {
                (Cell::F64(threshold), Written::Compared(is_above, is_whole)) => {
                    text.push_str(&comparison(threshold, is_above, is_whole)?);
                }
                (Cell::I64(time), Written::Time) => {
                    text.push_str(&format!("TO_TIMESTAMP_MS({})", time.clamp(0, LATEST)));
                }
                // It would be a sign and a number that no LONG holds.
                (Cell::I64(i64::MIN), _) => text.push_str("-9223372036854775807 - 1"),
                (value, _) => text.push_str(&value.printed()),
            }
            text.push_str(behind);
        }
        Some(text)
    }
}

/// What passes a threshold; none where nothing can. A whole number is over 2.5 when it is 3 or more.
fn comparison(threshold: f64, is_above: bool, is_whole: bool) -> Option<String> {
    // 2^63 is over all whole numbers.
    let edge = if is_whole { 2_f64.powi(63) } else { f64::INFINITY };
    if threshold.is_nan() || is_above && threshold >= edge || !is_above && threshold <= -edge {
        return None;
    }
    if is_above && (threshold < -edge || threshold.is_infinite()) || !is_above && threshold >= edge {
        return Some("IS NOT NULL".to_owned());
    }
    #[expect(clippy::cast_possible_truncation, reason = "it is between the edges")]
    let whole = |bound: f64| bound as i64;
    Some(match (is_whole, is_above) {
        (true, true) => format!(">= {}", whole(threshold.floor()).saturating_add(1)),
        (true, false) => format!("<= {}", whole(threshold.ceil()).saturating_sub(1)),
        (false, _) => format!("{} {}", if is_above { '>' } else { '<' }, real(threshold)),
    })
}

/// A floating point number, which a dot tells from a whole one.
fn real(value: f64) -> String {
    let text = format!("{value:?}");
    match text.split_once('e') {
        Some((digits, exponent)) if !digits.contains('.') => format!("{digits}.0e{exponent}"),
        _ => text,
    }
}

/// Which containers.
#[derive(Debug)]
pub(super) enum Whose {
    /// The one of this name.
    Named,
    /// Those of the series in a value of the kit's: one, or several.
    Given(usize),
    /// Those of the series that a question finds in the container of tags.
    Found(Tql),
}

/// What is taken of a row or an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Take {
    /// The number of the series.
    Series,
    /// The start of the window.
    Window,
    /// A column of the row.
    Field(Kind, i32),
    /// The value of an aggregate. As INTEGER it is a sum that the server adds up in 32 bits.
    Value(Kind),
}

/// A text's clauses.
#[derive(Debug)]
pub(super) struct Plan {
    /// The table, or the container's name without that of the database.
    pub(super) name: String,
    pub(super) whose: Whose,
    pub(super) take: Vec<Take>,
    /// Whether containers are asked one after the other, because answers are long.
    pub(super) is_alone: bool,
    /// The values with the range, and with width and origin of its windows in ns: the questions are asked about each.
    pub(super) windows: Option<[usize; 4]>,
    /// The value that is the key of the one row that is wanted.
    pub(super) key: Option<usize>,
    /// What the columns of a row are put from.
    pub(super) put: Vec<usize>,
    pub(super) questions: Vec<Tql>,
    /// Types of the slots.
    pub(super) types: Vec<String>,
}

/// The slots of a list.
fn slots(text: &str) -> impl Iterator<Item = usize> {
    pieces(text).filter_map(|(slot, _)| slot)
}

impl Plan {
    /// Reads a text; none where it begins with no clause.
    pub(super) fn read(text: &str, types: &[String]) -> Option<Self> {
        let (name, rest) = text.strip_prefix("of \"")?.split_once('"')?;
        let (whose, rest) = rest.split_once(';').unwrap_or((rest, ""));
        let whose = match slots(whose).next() {
            Some(_) if whose.contains("SELECT") => Whose::Found(Tql::read(whose.trim(), types)),
            Some(slot) => Whose::Given(slot),
            None => Whose::Named,
        };
        let mut plan = Self {
            name: name.to_owned(),
            whose,
            take: Vec::new(),
            is_alone: false,
            windows: None,
            key: None,
            put: Vec::new(),
            questions: Vec::new(),
            types: types.to_vec(),
        };
        for clause in rest.split(';').map(str::trim).filter(|clause| !clause.is_empty()) {
            match clause.split_once(' ').unwrap_or((clause, "")) {
                ("take", list) => plan.take = list.split(',').filter_map(|one| take(one.trim())).collect(),
                ("alone", _) => plan.is_alone = true,
                ("windows", list) => plan.windows = slots(list).collect::<Vec<_>>().try_into().ok(),
                ("row", list) => plan.key = slots(list).next(),
                ("put", list) => plan.put = slots(list).collect(),
                _ => plan.questions.push(Tql::read(clause, types)),
            }
        }
        Some(plan)
    }

    /// The type of a slot.
    pub(super) fn kind(&self, slot: usize) -> Kind {
        self.types.get(slot).and_then(|name| Kind::named(name)).unwrap_or(Kind::Long)
    }
}

fn take(text: &str) -> Option<Take> {
    Some(match text.split_once(' ') {
        Some((kind, column)) => Take::Field(Kind::named(kind)?, column.parse().ok()?),
        None if text == "SERIES" => Take::Series,
        None if text == "WINDOW" => Take::Window,
        None => Take::Value(Kind::named(text)?),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whole_numbers_are_compared_as_such() {
        let of = |is_above, threshold| comparison(threshold, is_above, true);
        assert_eq!(of(true, 2.5).as_deref(), Some(">= 3"));
        assert_eq!(of(true, 3.0).as_deref(), Some(">= 4"));
        assert_eq!(of(false, 2.5).as_deref(), Some("<= 2"));
        assert_eq!(of(false, -3.0).as_deref(), Some("<= -4"));
        assert_eq!(of(true, 1e300), None);
        assert_eq!(of(false, 1e300).as_deref(), Some("IS NOT NULL"));
        assert_eq!(of(true, f64::NAN), None);
        assert_eq!(comparison(f64::INFINITY, false, false).as_deref(), Some("IS NOT NULL"));
        assert_eq!(comparison(f64::INFINITY, true, false), None);
    }

    #[test]
    fn real_numbers_have_a_dot() {
        assert_eq!(real(90.0), "90.0");
        assert_eq!(real(1e300), "1.0e300");
        assert_eq!(real(-0.25), "-0.25");
        assert_eq!(real(5e-324), "5.0e-324");
    }

    #[test]
    fn clauses_stand_before_a_question() {
        let types = ["TIMESTAMP", "LONG", "DOUBLE", "STRING"].map(str::to_owned);
        let text = "of \"cpu\" ?2; take SERIES, TIMESTAMP 0; SELECT * WHERE \"t\" >= ?1 AND \"f\" > whole ?3 AND \"n\" = ?4 LIMIT 1";
        let plan = Plan::read(text, &types).unwrap();
        assert!(matches!(plan.whose, Whose::Given(1)));
        assert_eq!(plan.take, [Take::Series, Take::Field(Kind::Timestamp, 0)]);
        let values = [Cell::I64(-5), Cell::I64(7), Cell::F64(2.5), Cell::Text("it's")];
        let tql = plan.questions[0].with(|slot| values.get(slot).copied());
        let expected =
            "SELECT * WHERE \"t\" >= TO_TIMESTAMP_MS(0) AND \"f\" >= 3 AND \"n\" = 'it''s' LIMIT 1";
        assert_eq!(tql.as_deref(), Some(expected));
        assert!(Plan::read("CREATE COLLECTION", &types).is_none());
    }
}
