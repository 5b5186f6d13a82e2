//! Values in the text of questions. Nothing is prepared: InfluxDB reads each text anew.

use crate::lines::encoded;
use crate::{Cell, pieces};

/// The latest time that InfluxDB keeps, and one more; its opposite is the earliest.
pub(super) const LATEST: i64 = i64::MAX - 1;

/// A value, texts between these quotes. Numbers have no exponent, and floating point ones a point: comparisons are then of such numbers.
pub(super) fn literal(cell: Cell<'_>, kind: &str, quote: char, out: &mut String) {
    let text = |value: &str, out: &mut String| {
        out.push(quote);
        for letter in value.chars() {
            if letter == quote {
                out.push('\\');
            }
            out.push(letter);
        }
        out.push(quote);
    };
    match cell {
        Cell::I64(value) if kind == "tag" => text(&value.to_string(), out),
        Cell::I64(value) if kind == "time" => out.push_str(&value.clamp(-LATEST, LATEST).to_string()),
        Cell::I64(value) => out.push_str(&value.to_string()),
        Cell::F64(value) => {
            let digits = value.to_string();
            out.push_str(&digits);
            if !digits.contains('.') {
                out.push_str(".0");
            }
        }
        Cell::Text(value) => text(&encoded(value), out),
        // Of a series that is not there: no encoded value is so.
        _ => text("%", out),
    }
}

/// A statement of InfluxQL with its values.
pub(super) fn influxql(text: &str, types: &[String], cells: &[Cell<'_>]) -> String {
    let mut out = String::with_capacity(text.len() + 64);
    for (slot, piece) in pieces(text) {
        if let Some(cell) = slot.and_then(|slot| cells.get(slot)) {
            let kind = slot.and_then(|slot| types.get(slot)).map_or("tag", String::as_str);
            literal(*cell, kind, '\'', &mut out);
        }
        out.push_str(piece);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_as_influxql_reads_them() {
        let types: Vec<String> = ["float", "tag", "time", "tag"].map(str::to_owned).into();
        for (number, digits) in
            [(90.0, "90.0"), (-0.25, "-0.25"), (1e20, "100000000000000000000.0"), (1e-7, "0.0000001")]
        {
            let cells = [Cell::F64(number), Cell::Text("it's\\"), Cell::I64(i64::MIN), Cell::I64(7)];
            let text = influxql("$1 $2 $3 $4;", &types, &cells);
            assert_eq!(text, format!("{digits} 'it\\'s%5C' -9223372036854775806 '7';"));
        }
    }
}
