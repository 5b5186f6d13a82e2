//! A row: cells as `MessagePack` has them, or texts of CSV, which are read as what is wanted.

use crate::Cell;
use jiff::Timestamp;
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

/// The whole number that is kept as a floating point one, where it is whole and from 0 to before 2^52.
fn exact(value: f64) -> Option<i64> {
    // From here to twice this, floating point numbers are the whole numbers, in order of their bits.
    const UNIT: f64 = 4_503_599_627_370_496.0;
    if !(0.0..UNIT).contains(&value) {
        return None;
    }
    let whole = ((value + UNIT).to_bits() - UNIT.to_bits()).cast_signed();
    ((whole as f64).to_bits() == value.to_bits()).then_some(whole)
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
    i64::try_from(text.parse::<Timestamp>().ok()?.as_nanosecond()).ok()
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
            ("1677-09-21T00:12:43.145224194Z", i64::MIN + 2),
        ] {
            assert_eq!(time(text), Some(ns), "{text}");
        }
        for text in ["", "2024-03-01", "2024-03-01T00:00:00", "2024-03-01T00:00:00.Z", "2362-04-11T23:47:16Z"]
        {
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
