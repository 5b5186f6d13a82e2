//! Partial aggregates that a client adds up, with one rule for sums that do not fit.
//!
//! A sum of whole numbers is exact. It is a whole number where it fits into 64 bits, and the nearest floating point number where it does
//! not. It never wraps around, and never fails. The contract's oracle has the same rule.

use sensormark_store::Value;

/// A sum of parts, each of them whole or floating.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct PartialSum {
    whole: i128,
    real: f64,
    has_whole: bool,
    has_real: bool,
}

impl PartialSum {
    /// The sum of these parts.
    pub fn of<'a>(parts: impl IntoIterator<Item = &'a Value>) -> Self {
        let mut sum = Self::default();
        for part in parts {
            sum.add(part);
        }
        sum
    }

    /// Adds a part; an absent one, or one that is no number, adds nothing.
    pub fn add(&mut self, part: &Value) {
        match part {
            Value::I64(whole) => self.add_whole((*whole).into()),
            // One of more than 64 bits is written out.
            Value::Text(digits) => self.add_whole(digits.parse().unwrap_or_default()),
            Value::F64(real) => {
                self.real += *real;
                self.has_real = true;
            }
            _ => {}
        }
    }

    const fn add_whole(&mut self, whole: i128) {
        self.whole += whole;
        self.has_whole = true;
    }

    /// The sum; absent where there was no part.
    pub fn value(self) -> Value {
        match (self.has_whole, self.has_real) {
            (false, false) => Value::Null,
            (true, false) => whole_sum(self.whole),
            (_, true) => Value::F64(self.whole as f64 + self.real),
        }
    }
}

/// A sum of whole numbers.
fn whole_sum(sum: i128) -> Value {
    i64::try_from(sum).map_or(Value::F64(sum as f64), Value::I64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sum_over_64_bits_is_the_nearest_floating_point_number() {
        let most = Value::I64(i64::MAX);
        let sum = PartialSum::of([&most, &most]);
        assert_eq!(sum.value(), Value::F64(2.0 * i64::MAX as f64));
        let back = PartialSum::of([&most, &most, &Value::I64(-i64::MAX)]);
        assert_eq!(back.value(), most, "what is in between may be larger");
    }

    #[test]
    fn absent_parts_add_nothing() {
        assert_eq!(PartialSum::of([&Value::Null]).value(), Value::Null);
        let parts = [Value::Null, Value::F64(0.5), Value::I64(2)];
        assert_eq!(PartialSum::of(&parts).value(), Value::F64(2.5));
    }
}
