//! Numbers as text: as many digits as mean something, thousands apart.

/// The most digits after the point.
const MOST_DECIMALS: usize = 6;

/// The value with this many significant digits, thousands apart.
pub fn significant(value: f64, digits: usize) -> String {
    let decimals = decimals(value, digits);
    if value != 0.0 && value.abs() < 0.5 / 10_f64.powi(i32::try_from(MOST_DECIMALS).unwrap_or(6)) {
        return format!("{value:.1e}");
    }
    fixed(value, decimals)
}

/// The value with this many decimals, thousands apart.
pub fn fixed(value: f64, decimals: usize) -> String {
    if !value.is_finite() {
        return value.to_string();
    }
    let text = format!("{value:.decimals$}");
    // "-0.0" is a rounded nothing.
    let text = match text.strip_prefix('-') {
        Some(rest) if rest.bytes().all(|byte| matches!(byte, b'0' | b'.')) => rest,
        _ => &text,
    };
    grouped(text)
}

/// How many there are, as people say it: every one of fewer than ten million, whole millions or billions of more.
pub fn count_text(count: f64) -> String {
    match count {
        1e12.. => format!("{} billion", fixed((count / 1e9).trunc(), 0)),
        1e10.. => format!("{} billion", fixed((count / 1e8).trunc() / 10.0, 1)),
        1e7.. => format!("{} million", fixed((count / 1e6).trunc(), 0)),
        _ => fixed(count, 0),
    }
}

/// How many decimals show this many significant digits.
pub fn decimals(value: f64, digits: usize) -> usize {
    let mut decimals = digits.saturating_sub(1);
    let mut size = value.abs();
    if size == 0.0 || !size.is_finite() {
        return 0;
    }
    while size >= 10.0 && decimals > 0 {
        size /= 10.0;
        decimals -= 1;
    }
    while size < 1.0 && decimals < MOST_DECIMALS {
        size *= 10.0;
        decimals += 1;
    }
    decimals
}

/// Commas between thousands of the whole part.
pub fn grouped(text: &str) -> String {
    let (sign, rest) = text.strip_prefix('-').map_or(("", text), |rest| ("-", rest));
    let (whole, fraction) =
        rest.split_once('.').map_or((rest, None), |(whole, fraction)| (whole, Some(fraction)));
    let mut result = sign.to_owned();
    for (place, digit) in whole.chars().enumerate() {
        if place > 0 && (whole.len() - place).is_multiple_of(3) {
            result.push(',');
        }
        result.push(digit);
    }
    if let Some(fraction) = fraction {
        result.push('.');
        result.push_str(fraction);
    }
    result
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_the_digits_that_mean_something() {
        for (value, text) in [
            (0.0, "0"),
            (-0.000_000_01, "-1.0e-8"),
            (1_234_567.8, "1,234,568"),
            (-1_234.6, "-1,235"),
            (99.96, "100.0"),
            (12.34, "12.3"),
            (1.234, "1.23"),
            (0.012_34, "0.0123"),
            (0.000_004, "0.000004"),
            (999.6, "1,000"),
        ] {
            assert_eq!(significant(value, 3), text, "{value}");
        }
        assert_eq!(fixed(-0.04, 1), "0.0");
    }

    #[test]
    fn a_count_is_said_as_people_say_it() {
        for (count, text) in [
            (97_200.0, "97,200"),
            (9_999_999.0, "9,999,999"),
            (777_600_000.0, "777 million"),
            (9_990_000_000.0, "9,990 million"),
            (31_536_000_000.0, "31.5 billion"),
            (2e12, "2,000 billion"),
        ] {
            assert_eq!(count_text(count), text);
        }
    }
}
