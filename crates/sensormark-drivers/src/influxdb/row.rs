//! A row: cells as `MessagePack` has them, or texts of CSV, which are read as what is wanted.

use crate::Cell;
use sensormark_kit::{Document, Row, unexpected};
use sensormark_store::{Column, FieldType, StoreError, Value, Values};
use std::borrow::Cow;

/// The cells.
pub(super) struct Cells<'a> {
    pub(super) cells: Vec<Cell<'a>>,
    /// Whether they are texts of CSV, in which scripts have escaped carriage returns.
    is_csv: bool,
}

fn wrong() -> StoreError {
    unexpected("a row holds a value of another type")
}

/// The whole number that is kept as a floating point one, where it is whole and under 2^53.
fn exact(value: f64) -> Option<i64> {
    const MOST: f64 = 9_007_199_254_740_992.0;
    let whole = value.trunc();
    (whole.to_bits() == value.to_bits() && whole.abs() < MOST).then_some(whole as i64)
}

fn whole(cell: Cell<'_>) -> Result<i64, StoreError> {
    let found = match cell {
        Cell::I64(value) => Some(value),
        Cell::F64(value) => exact(value),
        Cell::Text(text) => text.parse().ok().or_else(|| time(text)),
        _ => None,
    };
    found.ok_or_else(wrong)
}

fn real(cell: Cell<'_>) -> Result<f64, StoreError> {
    match cell {
        Cell::F64(value) => Ok(value),
        Cell::I64(value) => Ok(value as f64),
        Cell::Text(text) => text.parse().map_err(|_| wrong()),
        _ => Err(wrong()),
    }
}

fn truth(cell: Cell<'_>) -> Result<bool, StoreError> {
    match cell {
        Cell::Bool(value) => Ok(value),
        Cell::Text("true") => Ok(true),
        Cell::Text("false") => Ok(false),
        _ => Err(wrong()),
    }
}

/// A time by RFC 3339 in ns since 1970; none where the text is none.
fn time(text: &str) -> Option<i64> {
    let body = text.strip_suffix('Z')?;
    let (seconds, fraction) = body.split_once('.').map_or((body, "0"), |(seconds, fraction)| (seconds, fraction));
    let signs: Vec<char> = seconds.chars().filter(|letter| !letter.is_ascii_digit()).collect();
    let numbers = seconds.split(['-', 'T', ':']).map(digits).collect::<Option<Vec<_>>>()?;
    let (&[year, month, day, hour, minute, second], 19, ['-', '-', 'T', ':', ':'], 1..=9) =
        (&*numbers, seconds.len(), &*signs, fraction.len())
    else {
        return None;
    };
    let seconds = days_before(year, month, day) * 86_400 + hour * 3_600 + minute * 60 + second;
    let unused = u32::try_from(9 - fraction.len()).ok()?;
    seconds.checked_mul(1_000_000_000)?.checked_add(digits(fraction)? * 10_i64.pow(unused))
}

/// The number that digits stand for, without a sign.
fn digits(text: &str) -> Option<i64> {
    let is_number = text.len() <= 9 && text.bytes().all(|byte| byte.is_ascii_digit());
    if is_number { text.parse().ok() } else { None }
}

/// Days from the epoch to a day of the Gregorian calendar. Years are counted from March, so that a leap day is a year's last:
/// the months from March on begin (153·m + 2)/5 days into it.
fn days_before(year: i64, month: i64, day: i64) -> i64 {
    let (year, month) = if month > 2 { (year, month - 3) } else { (year - 1, month + 9) };
    let leap_days = year.div_euclid(4) - year.div_euclid(100) + year.div_euclid(400);
    year * 365 + leap_days + (153 * month + 2) / 5 + day - 719_469
}

/// The text that a script escaped: a backslash doubled, a carriage return as `\r`.
fn unescaped(text: &str) -> Cow<'_, str> {
    if !text.contains('\\') {
        return text.into();
    }
    let (mut plain, mut rest) = (String::with_capacity(text.len()), text.chars());
    while let Some(letter) = rest.next() {
        match if letter == '\\' { rest.next() } else { None } {
            Some('r') => plain.push('\r'),
            Some(other) => plain.push(other),
            None => plain.push(letter),
        }
    }
    plain.into()
}

impl<'a> Cells<'a> {
    /// Cells of `MessagePack`.
    pub(super) const fn plain(cells: Vec<Cell<'a>>) -> Self {
        Self { cells, is_csv: false }
    }

    /// Cells of CSV.
    pub(super) const fn csv(cells: Vec<Cell<'a>>) -> Self {
        Self { cells, is_csv: true }
    }

    fn at(&self, place: usize) -> Result<Cell<'a>, StoreError> {
        self.cells.get(place).copied().ok_or_else(wrong)
    }

    fn plain_text(&self, text: &'a str) -> Cow<'a, str> {
        if self.is_csv { unescaped(text) } else { text.into() }
    }

    /// All of it in a line, behind the name of its series.
    pub(super) fn line(&self, name: &str) -> String {
        let cells: Vec<String> = (0..self.cells.len()).filter_map(|place| self.printed(place).ok()).collect();
        let name = if name.is_empty() { String::new() } else { format!("{name}: ") };
        name + &cells.join(" ")
    }
}

impl Row for Cells<'_> {
    #[inline]
    fn push(&self, place: usize, column: &mut Column) -> Result<(), StoreError> {
        let cell = self.at(place)?;
        match (&mut column.values, cell) {
            (Values::Text(values), Cell::Text(text)) => values.push(&self.plain_text(text)),
            (_, Cell::Null | Cell::Text("")) => {
                column.push_null();
                return Ok(());
            }
            (Values::F64(values), cell) => values.push(real(cell)?),
            (Values::I64(values), cell) => values.push(whole(cell)?),
            (Values::U16(values), cell) => values.push(u16::try_from(whole(cell)?).map_err(|_| wrong())?),
            (Values::Bool(values), cell) => values.push(truth(cell)?),
            (Values::Text(_), _) => return Err(wrong()),
        }
        if let Some(present) = &mut column.present {
            present.push(true);
        }
        Ok(())
    }

    fn integer(&self, place: usize) -> Result<i64, StoreError> {
        whole(self.at(place)?)
    }

    fn text(&self, place: usize) -> Result<&str, StoreError> {
        match self.at(place)? {
            Cell::Text(text) => Ok(text),
            _ => Err(wrong()),
        }
    }

    fn truth(&self, place: usize) -> Result<bool, StoreError> {
        truth(self.at(place)?)
    }

    fn value(&self, place: usize, kind: FieldType) -> Result<Value, StoreError> {
        Ok(match (kind, self.at(place)?) {
            (FieldType::Text, Cell::Text(text)) => Value::Text(self.plain_text(text).into_owned()),
            (_, Cell::Null | Cell::Text("")) => Value::Null,
            (FieldType::F64, cell) => Value::F64(real(cell)?),
            (FieldType::I64 | FieldType::U16, cell) => Value::I64(whole(cell)?),
            (FieldType::Bool, cell) => Value::Bool(truth(cell)?),
            (FieldType::Text, _) => return Err(wrong()),
        })
    }

    fn printed(&self, place: usize) -> Result<String, StoreError> {
        Ok(match self.at(place)? {
            Cell::Text(text) => text.to_owned(),
            Cell::Null => String::new(),
            Cell::Bool(value) => value.to_string(),
            cell => cell.printed(),
        })
    }

    fn is_null(&self, place: usize) -> Result<bool, StoreError> {
        Ok(self.at(place)? == Cell::Null)
    }

    fn document(&self, _: usize) -> Result<Document<'_>, StoreError> {
        Err(wrong())
    }
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
    fn what_is_no_value_is_none() {
        let row = Cells::csv(["a\\\\r\\r", "", "1.5", "5e-324", "70000"].map(Cell::Text).into());
        let value = |place, kind| row.value(place, kind).ok();
        assert_eq!(value(0, FieldType::Text), Some(Value::Text("a\\r\r".to_owned())));
        assert_eq!(value(1, FieldType::Text), Some(Value::Text(String::new())));
        assert_eq!(value(1, FieldType::Bool), Some(Value::Null));
        assert_eq!(value(2, FieldType::I64), None);
        assert_eq!(value(3, FieldType::F64), Some(Value::F64(5e-324)));
        assert!(row.push(4, &mut Column::new(FieldType::U16)).is_err());
    }

    #[test]
    fn whole_numbers_may_be_floating_point_ones() {
        let row = Cells::plain([65_535.0, 0.5].map(Cell::F64).into());
        assert_eq!(row.value(0, FieldType::U16).unwrap(), Value::I64(65_535));
        assert!(row.value(1, FieldType::U16).is_err());
    }
}
