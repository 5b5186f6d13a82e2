//! What one cell of a recording is, taken by itself.

use super::time::Written;

/// What a cell looks like.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Look {
    /// No value: empty, NA, N/A, null, NaN, or what the user named.
    Absent,
    /// A whole number of 64 bits.
    Integer(i64),
    /// A whole number over 64 bits.
    LargeInteger(f64),
    /// A number with a fraction or an exponent.
    Float(f64),
    /// A number that is infinite, or too large for 64-bit floating point.
    NotFinite,
    /// Digits after needless zeros (007): rather a name than a number.
    LeadingZeros,
    /// A number with a decimal comma.
    DecimalComma,
    /// true or false.
    Bool(bool),
    /// A date, maybe with a time of day.
    Time(Written),
    /// Anything else.
    Text,
}

/// How cells are read.
#[derive(Debug, Clone, Copy)]
pub(super) struct CellRules<'o> {
    /// Further texts for "no value".
    pub absent: &'o [String],
    /// Whether 21,5 is a number.
    pub decimal_comma: bool,
}

impl CellRules<'_> {
    /// Whether the cell holds no value.
    pub(super) fn is_absent(&self, text: &str) -> bool {
        text.is_empty()
            || (text.len() <= 4
                && ["NA", "N/A", "null", "NaN"]
                    .iter()
                    .any(|absent| absent.eq_ignore_ascii_case(text)))
            || self.absent.iter().any(|absent| absent == text)
    }

    /// What this cell (without blanks around it) looks like.
    pub(super) fn look(&self, text: &str) -> Look {
        if self.is_absent(text) {
            return Look::Absent;
        }
        if let Some(number) = self.number(text) {
            return number;
        }
        if let Some(truth) = truth(text) {
            return Look::Bool(truth);
        }
        Written::read(text).map_or(Look::Text, Look::Time)
    }

    /// The cell as a number of some kind, if it is one.
    fn number(&self, text: &str) -> Option<Look> {
        let digits = text.strip_prefix(['-', '+']).unwrap_or(text);
        if digits.eq_ignore_ascii_case("inf") || digits.eq_ignore_ascii_case("infinity") {
            return Some(Look::NotFinite);
        }
        if !digits.starts_with(|first: char| first.is_ascii_digit() || first == '.' || first == ',')
        {
            return None;
        }
        if digits.bytes().all(|byte| byte.is_ascii_digit()) {
            return Some(whole(text, digits));
        }
        if let Some(value) = self.float(text) {
            return Some(if value.is_finite() {
                Look::Float(value)
            } else {
                Look::NotFinite
            });
        }
        let comma = text.bytes().filter(|&byte| byte == b',').count() == 1
            && text.replace(',', ".").parse::<f64>().is_ok();
        comma.then_some(Look::DecimalComma)
    }

    /// The cell as floating point, correctly rounded; infinite when it is too large.
    pub(super) fn float(&self, text: &str) -> Option<f64> {
        if self.decimal_comma && text.contains(',') {
            return (!text.contains('.'))
                .then(|| text.replace(',', ".").parse().ok())
                .flatten();
        }
        text.parse().ok()
    }
}

fn whole(text: &str, digits: &str) -> Look {
    if digits.len() > 1 && digits.starts_with('0') {
        return Look::LeadingZeros;
    }
    match text.parse::<i64>() {
        Ok(value) => Look::Integer(value),
        Err(_) => text.parse::<f64>().map_or(Look::Text, Look::LargeInteger),
    }
}

/// The cell as a truth value.
pub(super) fn truth(text: &str) -> Option<bool> {
    if text.eq_ignore_ascii_case("true") {
        Some(true)
    } else if text.eq_ignore_ascii_case("false") {
        Some(false)
    } else {
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells_look_like_what_they_are() {
        let absent = ["-999".to_owned()];
        let rules = CellRules {
            absent: &absent,
            decimal_comma: false,
        };
        for (text, look) in [
            ("", Look::Absent),
            ("nan", Look::Absent),
            ("N/A", Look::Absent),
            ("NULL", Look::Absent),
            ("-999", Look::Absent),
            ("0", Look::Integer(0)),
            ("-12", Look::Integer(-12)),
            ("9223372036854775807", Look::Integer(i64::MAX)),
            (
                "9223372036854775808",
                Look::LargeInteger(9_223_372_036_854_775_808.0),
            ),
            ("007", Look::LeadingZeros),
            ("0.5", Look::Float(0.5)),
            (".5", Look::Float(0.5)),
            ("1e3", Look::Float(1000.0)),
            ("0.1", Look::Float(0.1)),
            ("0.00502101089021385", Look::Float(0.005_021_010_890_213_85)),
            ("1e999", Look::NotFinite),
            ("-inf", Look::NotFinite),
            ("21,5", Look::DecimalComma),
            ("TRUE", Look::Bool(true)),
            ("yes", Look::Text),
            ("1.2.3", Look::Text),
        ] {
            assert_eq!(rules.look(text), look, "{text}");
        }
        assert!(matches!(rules.look("2015-02-11"), Look::Time(_)));
        let comma = CellRules {
            absent: &[],
            decimal_comma: true,
        };
        assert_eq!(comma.look("21,5"), Look::Float(21.5));
        assert_eq!(comma.look("1.234,5"), Look::Text);
    }
}
