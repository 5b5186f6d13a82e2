//! Readings as lines of text in the line protocol: `table,tag=value field=1i,other=2.5,text="x" time`, times in ns.
//!
//! What is the same in all lines is prepared once a table ([`Lines`]). What is the same in those of a batch is prepared once a batch ([`BatchLines`]).
//! Neighbouring columns of one type that every reading has are written in one loop. A time that several readings share is copied. The caller writes how a line
//! begins, because escaping of tags differs.

use crate::batch::{Batch, Column, Values};
use crate::text::{Page, Piece, Slot};

/// What is escaped in names and values of tags, and in names of fields.
pub const IN_KEYS: &[u8] = b",= ";

/// What is escaped in quoted texts.
const IN_TEXTS: &[u8] = b"\"\\";

/// The same where line breaks are.
const IN_BROKEN_TEXTS: &[u8] = b"\"\\\n\r";

/// A table's lines: what precedes each field's value, and the time.
#[derive(Debug)]
pub struct Lines {
    keys: Vec<Piece>,
    blank: Piece,
    /// Whether whole numbers are written as floating point ones, without their `i`.
    float_fields: bool,
    /// What is escaped in quoted texts.
    in_texts: &'static [u8],
}

/// A batch's lines.
#[derive(Debug)]
pub struct BatchLines<'b> {
    lines: &'b Lines,
    batch: &'b Batch,
    cells: Vec<Cells<'b>>,
    /// The end of the line, of the latest time that two readings shared.
    stamp: Option<(i64, Piece)>,
}

/// The columns of neighbouring fields, each with what precedes its values.
#[derive(Debug)]
enum Cells<'b> {
    Whole(Vec<(&'b Piece, &'b [i64])>),
    Small(Vec<(&'b Piece, &'b [u16])>),
    Float(Vec<(&'b Piece, &'b [f64])>),
    /// Any column, which some readings may lack.
    Other(&'b Piece, &'b Column),
}

impl Lines {
    /// The lines of a table whose fields have these names; `float_fields` says whether whole numbers are written as floating point ones.
    pub fn new(fields: impl IntoIterator<Item: AsRef<str>>, float_fields: bool) -> Self {
        let key = |name: &str| {
            let mut page = Page::default();
            page.put_escaped(name, IN_KEYS);
            page.put_byte(b'=');
            Piece::new(page.written())
        };
        let fields = fields.into_iter();
        Self {
            keys: fields.map(|name| key(name.as_ref())).collect(),
            blank: Piece::new(b" "),
            float_fields,
            in_texts: IN_TEXTS,
        }
    }

    /// The same with line breaks in texts escaped, as QuestDB wants them.
    #[must_use]
    pub fn with_escaped_breaks(self) -> Self {
        Self { in_texts: IN_BROKEN_TEXTS, ..self }
    }

    /// The lines of a batch of the table.
    pub fn of<'b>(&'b self, batch: &'b Batch) -> BatchLines<'b> {
        let mut cells = Vec::new();
        for (key, column) in self.keys.iter().zip(&batch.columns) {
            add(&mut cells, key, column, batch.len());
        }
        BatchLines { lines: self, batch, cells, stamp: None }
    }
}

/// Adds a column to its neighbours, where it may be written with them.
fn add<'b>(cells: &mut Vec<Cells<'b>>, key: &'b Piece, column: &'b Column, rows: usize) {
    let is_full = column.present.is_none() && column.values.len() == rows;
    if !is_full || !key.is_short() {
        cells.push(Cells::Other(key, column));
        return;
    }
    match (&column.values, cells.last_mut()) {
        (Values::I64(values), Some(Cells::Whole(cells))) if cells.len() < Slot::VALUES => {
            cells.push((key, values));
        }
        (Values::U16(values), Some(Cells::Small(cells))) if cells.len() < Slot::VALUES => {
            cells.push((key, values));
        }
        (Values::F64(values), Some(Cells::Float(cells))) if cells.len() < Slot::VALUES => {
            cells.push((key, values));
        }
        (Values::I64(values), _) => cells.push(Cells::Whole(vec![(key, values)])),
        (Values::U16(values), _) => cells.push(Cells::Small(vec![(key, values)])),
        (Values::F64(values), _) => cells.push(Cells::Float(vec![(key, values)])),
        _ => cells.push(Cells::Other(key, column)),
    }
}

impl BatchLines<'_> {
    /// Writes the line of a reading, which begins with `head` (the blank before the first field included), and says how many values it holds.
    /// A reading without fields has no line.
    pub fn put(&mut self, row: usize, head: &[u8], page: &mut Page) -> u64 {
        let begin = page.len();
        page.put(head);
        let mut values = 0;
        for cells in &self.cells {
            values += cells.put(row, self.lines, page);
        }
        debug_assert!(values > 0, "a reading has at least one of its fields");
        if values == 0 {
            page.cut(begin);
            return 0;
        }
        // In the place of the last field's comma.
        page.cut_byte();
        self.put_time(row, page);
        values
    }

    fn put_time(&mut self, row: usize, page: &mut Page) {
        let time = self.batch.times_ns[row];
        match &self.stamp {
            Some((known, stamp)) if *known == time => page.put_value(stamp, |_| {}),
            _ => {
                let begin = page.len();
                page.put_value(&self.lines.blank, |slot| {
                    slot.put_integer(time);
                    slot.put_byte(b'\n');
                });
                if row > 0 && self.batch.times_ns[row - 1] == time {
                    self.stamp = Some((time, Piece::new(&page.written()[begin..])));
                }
            }
        }
    }
}

impl Cells<'_> {
    /// Writes a reading's fields, a comma after each, and says how many.
    #[inline]
    fn put(&self, row: usize, lines: &Lines, page: &mut Page) -> u64 {
        let float_fields = lines.float_fields;
        match self {
            Self::Whole(cells) if float_fields => put_all(cells, page, |slot, values| {
                slot.put_integer(values[row]);
                slot.put_byte(b',');
            }),
            Self::Small(cells) if float_fields => put_all(cells, page, |slot, values| {
                slot.put_small(values[row]);
                slot.put_byte(b',');
            }),
            Self::Whole(cells) => put_all(cells, page, |slot, values| {
                slot.put_integer(values[row]);
                slot.put_two(*b"i,");
            }),
            Self::Small(cells) => put_all(cells, page, |slot, values| {
                slot.put_small(values[row]);
                slot.put_two(*b"i,");
            }),
            Self::Float(cells) => put_all(cells, page, |slot, values| {
                slot.put_float(values[row]);
                slot.put_byte(b',');
            }),
            Self::Other(key, column) => put_other(key, column, row, lines, page),
        }
    }
}

#[inline]
fn put_all<C: ?Sized>(cells: &[(&Piece, &C)], page: &mut Page, put: impl Fn(&mut Slot<'_>, &C)) -> u64 {
    page.put_values(|slot| {
        for (key, values) in cells {
            slot.put_piece(key);
            put(slot, values);
        }
    });
    cells.len() as u64
}

fn put_other(key: &Piece, column: &Column, row: usize, lines: &Lines, page: &mut Page) -> u64 {
    if !column.has(row) {
        return 0;
    }
    page.put_value(key, |slot| slot.put_plain(&column.values, row));
    match &column.values {
        Values::I64(_) | Values::U16(_) if !lines.float_fields => page.put(b"i,"),
        Values::I64(_) | Values::U16(_) | Values::F64(_) | Values::Bool(_) => page.put_byte(b','),
        Values::Text(values) => {
            put_text(values.get(row), lines.in_texts, page);
            page.put_byte(b',');
        }
    }
    1
}

/// Writes a text in quotes, as a field has it: line breaks may stand as they are.
pub fn put_quoted(text: &str, page: &mut Page) {
    put_text(text, IN_TEXTS, page);
}

/// The same with line breaks escaped, as QuestDB wants them.
pub fn put_quoted_with_breaks(text: &str, page: &mut Page) {
    put_text(text, IN_BROKEN_TEXTS, page);
}

fn put_text(text: &str, escaped: &[u8], page: &mut Page) {
    page.put_byte(b'"');
    page.put_escaped(text, escaped);
    page.put_byte(b'"');
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::schema::{FieldType, Value};
    use std::fmt::Write;

    const INTEGERS: [i64; 12] = [
        0,
        7,
        -7,
        99_999_999,
        100_000_000,
        -100_000_000,
        9_999_999_999_999_999,
        10_000_000_000_000_000,
        i64::MAX,
        i64::MIN,
        1 << 40,
        10,
    ];
    const FLOATS: [f64; 6] = [0.1, 50.0, -1.5, 99.999_999_999_999_9, 3.25e-300, 123_456_789.125];

    /// A line as the standard library would write it.
    fn plain_line(names: &[String], batch: &Batch, row: usize, float_fields: bool) -> String {
        let mut line = format!("m,host={} ", batch.series[row]);
        for (name, column) in names.iter().zip(&batch.columns) {
            let value = match column.value(row) {
                Value::Null => continue,
                Value::I64(value) if float_fields => format!("{value}"),
                Value::I64(value) => format!("{value}i"),
                Value::F64(value) => format!("{value:?}"),
                Value::Bool(value) => value.to_string(),
                Value::Text(value) => {
                    format!("\"{}\"", value.replace('\\', "\\\\").replace('"', "\\\""))
                }
            };
            let name = name.replace(' ', "\\ ").replace('=', "\\=");
            write!(line, "{name}={value},").unwrap();
        }
        line.pop();
        writeln!(line, " {}", batch.times_ns[row]).unwrap();
        line
    }

    fn value(kind: FieldType, number: usize) -> Value {
        let integer = INTEGERS[number % INTEGERS.len()];
        match kind {
            FieldType::Bool => Value::Bool(number.is_multiple_of(3)),
            FieldType::I64 => Value::I64(integer),
            FieldType::U16 => Value::I64(integer.rem_euclid(1 << 16)),
            FieldType::F64 => Value::F64(FLOATS[number % FLOATS.len()]),
            FieldType::Text => Value::Text(["", "a b", "\"\\\n"][number % 3].to_owned()),
        }
    }

    /// Readings, some of which lack every thirtieth field.
    fn readings(kinds: &[FieldType]) -> Batch {
        const DAY: i64 = 1_700_000_000_000_000_000;
        let mut batch = Batch {
            table: 0,
            times_ns: Vec::new(),
            series: Vec::new(),
            columns: kinds.iter().map(|&kind| Column::new(kind)).collect(),
        };
        for (row, time) in [1, 1, 1, DAY, DAY, -5, 1, 1].into_iter().cycle().take(40).enumerate() {
            batch.times_ns.push(time);
            batch.series.push(u32::try_from(row % 4).unwrap());
            for (number, (column, &kind)) in batch.columns.iter_mut().zip(kinds).enumerate() {
                let is_absent = number % 30 == 7 && row % 2 == 1;
                let value = if is_absent { Value::Null } else { value(kind, number + row) };
                column.push(value).unwrap();
            }
        }
        batch
    }

    /// More neighbours of one type than a slot holds, names that are long or have to be escaped, columns that readings lack, and times alone and shared.
    #[test]
    fn lines_are_what_plain_formatting_makes() {
        use FieldType::{Bool, F64, I64, Text, U16};
        let runs = [(I64, 70), (F64, 40), (U16, 3), (Bool, 1), (Text, 2), (I64, 2)];
        let kinds: Vec<FieldType> =
            (runs.iter()).flat_map(|&(kind, count)| std::iter::repeat_n(kind, count)).collect();
        let name = |number: usize| match number % 10 {
            3 => format!("a name={number}"),
            4 => format!("a_name_that_is_longer_than_thirty_two_bytes_{number}"),
            5 => format!("thirty_one_bytes_and_a_number_{number}"),
            _ => format!("f{number}"),
        };
        let names: Vec<String> = (0..kinds.len()).map(name).collect();
        let batch = readings(&kinds);
        for float_fields in [false, true] {
            let lines = Lines::new(&names, float_fields);
            let (mut lines, mut page) = (lines.of(&batch), Page::default());
            for row in 0..batch.len() {
                let begin = page.len();
                let head = format!("m,host={} ", batch.series[row]);
                let values = lines.put(row, head.as_bytes(), &mut page);
                let present = batch.columns.iter().filter(|column| column.has(row));
                assert_eq!(values, present.count() as u64);
                let line = std::str::from_utf8(&page.written()[begin..]).unwrap();
                assert_eq!(line, plain_line(&names, &batch, row, float_fields));
            }
        }
    }
}
