//! Cells of tables as text. Units stand in headers.

use crate::prelude::*;
use sensormark_data::number::decimals;

/// What is printed where nothing was measured.
pub const MISSING: &str = "–";

/// A cell as one text.
pub fn cell_text(cell: &Cell) -> String {
    match cell {
        Cell::Text(text) => text.clone(),
        Cell::Count(count) => thousands(*count),
        Cell::Number(number) => number_text(number),
        Cell::Missing(_) => MISSING.to_owned(),
    }
}

/// A count, its thousands apart.
pub fn thousands(count: u64) -> String {
    grouped(&count.to_string())
}

/// How many times the lowest something is: 1.0×, 1.8×, 12×.
pub fn times(ratio: f64) -> String {
    format!("{}×", significant(ratio, 2))
}

/// A number with its interval.
pub fn number_text(number: &Number) -> String {
    let plain = |value: f64| match number.digits {
        Digits::Significant(digits) => significant(value, digits),
        Digits::Decimals(decimals) => fixed(value, decimals),
        Digits::Exact => value.to_string(),
    };
    match number.spread {
        Spread::None => plain(number.value),
        Spread::Plus(interval) => {
            let half = (interval.high - interval.low) / 2.0;
            if half == 0.0 {
                return format!("{} ± 0", plain(number.value));
            }
            // The interval says which digits mean something: two of its own.
            let decimals = decimals(half, 2);
            format!("{} ± {}", fixed(number.value, decimals), fixed(half, decimals))
        }
        Spread::Range(interval) => {
            format!("{} [{}, {}]", plain(number.value), plain(interval.low), plain(interval.high))
        }
        Spread::Extremes(of) => {
            let value = plain(number.value);
            format!("{value}, range {}–{}", plain(of.low), plain(of.high))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use sensormark_result::statistics::Interval;

    #[test]
    fn an_interval_says_how_many_digits_are_printed() {
        let number = |low, high, spread: fn(Interval) -> Spread| Number {
            value: (low + high) / 2.0,
            spread: spread(Interval { low, high }),
            digits: Digits::Significant(3),
        };
        assert_eq!(number_text(&number(12.0, 12.5, Spread::Plus)), "12.25 ± 0.25");
        assert_eq!(number_text(&number(1000.0, 1200.0, Spread::Plus)), "1,100 ± 100");
        assert_eq!(number_text(&number(1.0, 3.0, Spread::Range)), "2.00 [1.00, 3.00]");
        assert_eq!(number_text(&number(5.0, 5.0, Spread::Plus)), "5.00 ± 0");
        assert_eq!(number_text(&number(1.0, 3.0, Spread::Extremes)), "2.00, range 1.00–3.00");
    }
}
