//! Cells of Flux's answers as times and values.
//!
//! Numbers come in digits enough to be exact, times by RFC 3339 with up to nine digits of a second. Text comes as the scripts
//! escape it, since carriage returns do not outlast CSV as InfluxDB writes it.

use sensormark_store::{Column, FieldType, Value, Values};
use std::borrow::Cow;

/// A time in ns since the epoch; none where the text is none.
pub(super) fn time(text: &str) -> Option<i64> {
    let bytes = text.as_bytes();
    let body = bytes.strip_suffix(b"Z")?;
    let number = |from: usize, to: usize| digits(body.get(from..to)?);
    let separators = [(4, b'-'), (7, b'-'), (10, b'T'), (13, b':'), (16, b':')];
    if separators.iter().any(|&(at, sign)| body.get(at) != Some(&sign)) {
        return None;
    }
    let days = days_before(number(0, 4)?, number(5, 7)?, number(8, 10)?);
    let seconds = number(11, 13)? * 3_600 + number(14, 16)? * 60 + number(17, 19)?;
    let fraction = match body.get(19..) {
        Some([]) => 0,
        Some([b'.', part @ ..]) if (1..=9).contains(&part.len()) => {
            let unused = u32::try_from(9 - part.len()).ok()?;
            digits(part)? * 10_i64.pow(unused)
        }
        _ => return None,
    };
    (days * 86_400 + seconds).checked_mul(1_000_000_000)?.checked_add(fraction)
}

fn digits(bytes: &[u8]) -> Option<i64> {
    bytes
        .iter()
        .try_fold(0_i64, |number, byte| byte.is_ascii_digit().then(|| number * 10 + i64::from(byte - b'0')))
}

/// Days from the epoch to a day of the Gregorian calendar. Years are counted from March, so that a leap day is a year's last:
/// the months from March on begin (153·m + 2)/5 days into it.
fn days_before(year: i64, month: i64, day: i64) -> i64 {
    let (year, month) = if month > 2 { (year, month - 3) } else { (year - 1, month + 9) };
    let leap_days = year.div_euclid(4) - year.div_euclid(100) + year.div_euclid(400);
    year * 365 + leap_days + (153 * month + 2) / 5 + day - 719_469
}

/// A value of this type; none where the text is none.
pub(super) fn value(kind: FieldType, text: &str) -> Option<Value> {
    Some(match kind {
        FieldType::Bool => Value::Bool(truth(text)?),
        FieldType::I64 | FieldType::U16 => Value::I64(text.parse().ok()?),
        FieldType::F64 => Value::F64(text.parse().ok()?),
        FieldType::Text => Value::Text(unescaped(text).into_owned()),
    })
}

/// Appends a cell to a column of its type; false where the text is no such value.
pub(super) fn push(column: &mut Column, text: &str) -> bool {
    let pushed = match &mut column.values {
        Values::Bool(values) => truth(text).map(|value| values.push(value)),
        Values::I64(values) => text.parse().ok().map(|value| values.push(value)),
        Values::U16(values) => text.parse().ok().map(|value| values.push(value)),
        Values::F64(values) => text.parse().ok().map(|value| values.push(value)),
        Values::Text(values) => {
            values.push(&unescaped(text));
            Some(())
        }
    };
    if pushed.is_some()
        && let Some(present) = &mut column.present
    {
        present.push(true);
    }
    pushed.is_some()
}

fn truth(text: &str) -> Option<bool> {
    match text {
        "true" => Some(true),
        "false" => Some(false),
        _ => None,
    }
}

/// The text that a script escaped: a backslash doubled, a carriage return as `\r`.
fn unescaped(text: &str) -> Cow<'_, str> {
    if !text.contains('\\') {
        return Cow::Borrowed(text);
    }
    let mut plain = String::with_capacity(text.len());
    let mut rest = text.chars();
    while let Some(character) = rest.next() {
        if character != '\\' {
            plain.push(character);
            continue;
        }
        match rest.next() {
            Some('r') => plain.push('\r'),
            Some(other) => plain.push(other),
            None => {}
        }
    }
    Cow::Owned(plain)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_exact() {
        for (text, ns) in [
            ("1970-01-01T00:00:00Z", 0),
            ("1970-01-01T00:00:00.000000001Z", 1),
            ("2000-02-29T23:59:59.5Z", 951_868_799_500_000_000),
            ("2024-03-01T00:00:00Z", 1_709_251_200_000_000_000),
            ("2262-04-11T23:47:16.854775806Z", i64::MAX - 1),
        ] {
            assert_eq!(time(text), Some(ns), "{text}");
        }
        for text in [
            "",
            "2024-03-01",
            "2024-03-01T00:00:00",
            "2024-03-01T00:00:00.Z",
            "2024-03-01 00:00:00Z",
            "2362-04-11T23:47:16Z",
        ] {
            assert_eq!(time(text), None, "{text}");
        }
    }

    #[test]
    fn text_is_unescaped() {
        assert_eq!(unescaped("a\\\\r\\r"), "a\\r\r");
        assert_eq!(value(FieldType::Text, ""), Some(Value::Text(String::new())));
    }

    #[test]
    fn what_is_no_value_is_none() {
        assert_eq!(value(FieldType::I64, "1.5"), None);
        assert_eq!(value(FieldType::Bool, ""), None);
        assert_eq!(value(FieldType::F64, "5e-324"), Some(Value::F64(5e-324)));
        assert!(!push(&mut Column::new(FieldType::U16), "70000"));
    }
}
