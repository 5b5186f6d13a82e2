//! Words of TQL: names and literals.

use sensormark_store::{Comparison, FieldType, Predicate};

/// A column's name; quoted, it may be a word of the language too.
pub(super) fn name(name: &str) -> String {
    format!("\"{name}\"")
}

/// A text.
pub(super) fn text(value: &str) -> String {
    format!("'{}'", value.replace('\'', "''"))
}

/// A whole number. (The smallest is a sign and a number that no LONG holds; nothing asks for it.)
pub(super) fn whole(value: i64) -> String {
    itoa::Buffer::new().format(value.max(-i64::MAX)).to_owned()
}

/// A time in milliseconds since the epoch, to the end of the year 9999, which is as far as GridDB goes.
pub(super) fn time(milliseconds: i64) -> String {
    format!("TO_TIMESTAMP_MS({})", milliseconds.min(253_402_300_799_999))
}

/// A floating point number, which a dot tells from a whole one.
fn real(value: f64) -> String {
    let text = format!("{value:?}");
    if text.contains('.') {
        return text;
    }
    match text.split_once('e') {
        Some((digits, exponent)) => format!("{digits}.0e{exponent}"),
        None => format!("{text}.0"),
    }
}

#[expect(clippy::cast_possible_truncation, reason = "a cast to an integer saturates, which is meant")]
const fn saturated(value: f64) -> i64 {
    value as i64
}

/// The condition that a field of this type passes; none where nothing can. A whole number is over 2.5 when it is 3 or more.
pub(super) fn passes(field: &str, kind: FieldType, predicate: Predicate) -> Option<String> {
    let (field, threshold) = (name(field), predicate.threshold);
    if threshold.is_nan() {
        return None;
    }
    let above = predicate.comparison == Comparison::Above;
    if !matches!(kind, FieldType::I64 | FieldType::U16) {
        let sign = if above { '>' } else { '<' };
        if threshold.is_infinite() {
            // everything is under infinity, and nothing over it
            let all = above == (threshold < 0.0);
            return all.then(|| format!("{field} IS NOT NULL"));
        }
        return Some(format!("{field} {sign} {}", real(threshold)));
    }
    // 2^63 saturates to the number before it, over which nothing is
    let (least, most) = (-(2_f64.powi(63)), 2_f64.powi(63));
    if above && threshold >= most || !above && threshold <= least {
        return None;
    }
    if above && threshold < least || !above && threshold >= most {
        return Some(format!("{field} IS NOT NULL"));
    }
    if above {
        let bound = saturated(threshold.floor()).checked_add(1)?;
        return Some(format!("{field} >= {}", whole(bound)));
    }
    let bound = saturated(threshold.ceil()).checked_sub(1)?;
    Some(format!("{field} <= {}", whole(bound)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn passes_text(kind: FieldType, comparison: Comparison, threshold: f64) -> Option<String> {
        let predicate = Predicate { field: 0, comparison, threshold };
        passes("f", kind, predicate)
    }

    #[test]
    fn whole_numbers_are_compared_as_such() {
        use Comparison::{Above, Below};
        let of = |comparison, threshold| passes_text(FieldType::I64, comparison, threshold);
        assert_eq!(of(Above, 2.5).as_deref(), Some("\"f\" >= 3"));
        assert_eq!(of(Above, 3.0).as_deref(), Some("\"f\" >= 4"));
        assert_eq!(of(Below, 2.5).as_deref(), Some("\"f\" <= 2"));
        assert_eq!(of(Below, -3.0).as_deref(), Some("\"f\" <= -4"));
        assert_eq!(of(Above, 1e300), None);
        assert_eq!(of(Below, 1e300).as_deref(), Some("\"f\" IS NOT NULL"));
        assert_eq!(of(Above, f64::NAN), None);
    }

    #[test]
    fn real_numbers_have_a_dot() {
        assert_eq!(real(90.0), "90.0");
        assert_eq!(real(1e300), "1.0e300");
        assert_eq!(real(-0.25), "-0.25");
        assert_eq!(real(5e-324), "5.0e-324");
    }

    #[test]
    fn quotes_in_texts_are_doubled() {
        assert_eq!(text("it's"), "'it''s'");
    }
}
