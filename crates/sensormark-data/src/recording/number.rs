//! Numbers as cells write them, and what a comma or a point in them means.
//!
//! "1,200" is 1200 where commas group thousands, and 1.2 where a comma is the decimal mark. A cell alone does not say which, so it is read
//! both ways here. `marks` decides for a whole column.

use super::*;
use std::borrow::Cow;

// Thousands with marks between them.
pattern!(GROUPED, r"^[1-9]#?#?(?:[^#]###)+$");

/// A number, and which marks it was written with.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ReadNumber {
    pub number: Number,
    /// What stands between its thousands.
    pub group: Option<char>,
    /// Whether it has a decimal mark.
    pub has_decimal: bool,
    /// Whether 64-bit floating point has another value than was written.
    pub is_rounded: bool,
}

/// What the marks in the numbers of a column mean.
#[derive(Clone, Copy)]
pub struct Marks {
    /// A point or a comma.
    pub decimal: char,
    /// What stands between thousands, if anything does.
    pub group: Option<char>,
}

impl Marks {
    /// 1234.5
    pub const PLAIN: Self = Self { decimal: '.', group: None };

    /// The number that a text is with these marks.
    pub fn read(self, text: &str) -> Option<Number> {
        let read = read(text, self.decimal)?;
        read.group.is_none_or(|group| Some(group) == self.group).then_some(read.number)
    }
}

impl Number {
    /// Whether both are the same number, however they are written.
    pub fn is_same(self, other: Self) -> bool {
        match (self, other) {
            (Self::Integer(one), Self::Integer(other)) => one == other,
            _ => self.float() == other.float() && self.float().is_finite(),
        }
    }
}

/// Reads a number with this decimal mark, and with thousands grouped by any other mark.
pub fn read(text: &str, decimal: char) -> Option<ReadNumber> {
    if text.starts_with('−') {
        return read(&text.replacen('−', "-", 1), decimal);
    }
    let digits = text.trim_start_matches(['-', '+']);
    let is_infinite = ["inf", "infinity"].iter().any(|word| word.eq_ignore_ascii_case(digits));
    let begins = |first: char| first.is_ascii_digit() || first == decimal;
    if !is_infinite && !digits.starts_with(begins) {
        return None;
    }
    let (plain, group) = plain(text, digits, decimal)?;
    let number = match plain.parse() {
        Ok(whole) => Integer(whole),
        Err(_) => Float(plain.parse().ok()?),
    };
    Some(ReadNumber {
        number,
        group,
        has_decimal: digits.contains(decimal),
        is_rounded: is_rounded(&plain, number),
    })
}

/// The number as Rust writes it, and what its thousands were grouped by; nothing where they are not grouped by threes.
fn plain<'t>(text: &'t str, digits: &str, decimal: char) -> Option<(Cow<'t, str>, Option<char>)> {
    let is_mark = |one: char| !one.is_ascii_digit() && ".,'’ \u{a0}\u{202f}".contains(one);
    let (whole, fraction) = digits.split_once(decimal).unwrap_or((digits, ""));
    if fraction.contains(is_mark) {
        return None;
    }
    let Some(mark) = whole.chars().find(|one| is_mark(*one)) else {
        let is_rust = decimal == '.' || !digits.contains(decimal);
        return Some((if is_rust { text.into() } else { text.replacen(decimal, ".", 1).into() }, None));
    };
    let is_grouped = GROUPED.is_match(whole) && whole.matches(is_mark).all_equal();
    let group = match mark {
        '\u{a0}' | '\u{202f}' => ' ',
        '’' => '\'',
        mark => mark,
    };
    is_grouped.then(|| (text.replace(mark, "").replacen(decimal, ".", 1).into(), Some(group)))
}

/// Whether floating point has another value than these digits say. Only digits before the point count, and a fraction where there is no room for any.
fn is_rounded(plain: &str, number: Number) -> bool {
    let value = number.float();
    // From 2^53 on, floating point skips whole numbers.
    if !value.is_finite() || value.abs() < 9_007_199_254_740_992.0 || plain.contains(['e', 'E']) {
        return false;
    }
    let (whole, fraction) = plain.split_once('.').unwrap_or((plain, ""));
    fraction.bytes().any(|digit| digit != b'0')
        || format!("{value:.0}") != whole.strip_prefix('+').unwrap_or(whole)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_comma_is_read_both_ways() {
        let number = |text, decimal| read(text, decimal).map(|read| (read.number, read.group));
        let (integer, float) = (Number::Integer, Number::Float);
        for (text, point, comma) in [
            ("12", Some((integer(12), None)), Some((integer(12), None))),
            ("-12.5", Some((float(-12.5), None)), None),
            ("21,5", None, Some((float(21.5), None))),
            ("1,200", Some((integer(1_200), Some(','))), Some((float(1.2), None))),
            ("-1.200", Some((float(-1.2), None)), Some((integer(-1_200), Some('.')))),
            ("0,125", None, Some((float(0.125), None))),
            ("1,721,992.25", Some((float(1_721_992.25), Some(','))), None),
            ("1.000,5", None, Some((float(1_000.5), Some('.')))),
            ("1 234,5", None, Some((float(1_234.5), Some(' ')))),
            ("1\u{202f}234", Some((integer(1_234), Some(' '))), Some((integer(1_234), Some(' ')))),
            ("1'234.5", Some((float(1_234.5), Some('\''))), None),
            ("1,20,000", None, None),
            ("−1.5", Some((float(-1.5), None)), None),
            ("1234,567,890", None, None),
            ("1.2.3", None, None),
            ("2015.02.11", None, None),
            ("x1", None, None),
            ("", None, None),
        ] {
            assert_eq!(number(text, '.'), point, "{text}");
            assert_eq!(number(text, ','), comma, "{text}");
        }
    }

    #[test]
    fn what_floating_point_cannot_keep_is_seen() {
        let is_rounded = |text| read(text, '.').expect("a number").is_rounded;
        for text in [
            "9007199254740993",
            "-9007199254740993",
            "9007199254740993.0",
            "9007199254740992.5",
            "9,007,199,254,740,993",
            "18446744073709551617",
        ] {
            assert!(is_rounded(text), "{text}");
        }
        for text in [
            "9007199254740992",
            "9007199254740994",
            "9007199254740991",
            "0.1",
            "1e300",
            "18446744073709551616",
        ] {
            assert!(!is_rounded(text), "{text}");
        }
    }

    #[test]
    fn numbers_are_the_same_however_they_are_written() {
        let same = |one, other| Number::is_same(one, other);
        assert!(same(Number::Integer(-999), Number::Float(-999.0)));
        assert!(!same(Number::Integer(-999), Number::Float(-999.5)));
        let (one, other) = (9_007_199_254_740_992, 9_007_199_254_740_993);
        assert!(!same(Number::Integer(one), Number::Integer(other)));
    }
}
