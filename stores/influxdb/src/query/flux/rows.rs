//! Answers of Flux: rows of CSV under headers, read where they lie.
//!
//! An answer is a run of blocks, each a header and rows, with an empty line before the next header. Only what InfluxDB writes is
//! understood. Times, numbers and text become values in `cell`.

use crate::error::{garbled, refused};
use sensormark_store::StoreError;
use std::borrow::Cow;

/// The first column that a script has named; before it are an empty one, the result's name and the table's number.
const FIRST: usize = 3;

/// A place in an answer.
pub(super) struct Rows<'a> {
    operation: &'a str,
    rest: &'a [u8],
    columns: Vec<String>,
    cells: Vec<Cow<'a, str>>,
    table: (String, String),
    begins: bool,
}

impl<'a> Rows<'a> {
    /// The answer's start.
    pub(super) const fn new(operation: &'a str, body: &'a [u8]) -> Self {
        Self {
            operation,
            rest: body,
            columns: Vec::new(),
            cells: Vec::new(),
            table: (String::new(), String::new()),
            begins: false,
        }
    }

    /// Goes to the next row; false at the end.
    pub(super) fn advance(&mut self) -> Result<bool, StoreError> {
        loop {
            if self.skip_blank() {
                self.columns.clear();
            }
            if self.rest.is_empty() {
                return Ok(false);
            }
            self.line()?;
            if !self.columns.is_empty() {
                break;
            }
            self.columns = self.cells.iter().map(|cell| cell.to_string()).collect();
            self.table = (String::new(), String::new());
        }
        if self.columns.get(1).is_some_and(|name| name == "error") {
            let sentence = self.cells.get(1).map_or("", |cell| cell.as_ref());
            return Err(refused(self.operation, 200, sentence));
        }
        if self.cells.len() != self.columns.len() || self.cells.len() < FIRST {
            return Err(self.strange());
        }
        self.begins = self.table.0 != self.cells[1] || self.table.1 != self.cells[2];
        if self.begins {
            self.table = (self.cells[1].to_string(), self.cells[2].to_string());
        }
        Ok(true)
    }

    /// Whether the row is the first one of a table: its group's key may be another one.
    pub(super) const fn begins_table(&self) -> bool {
        self.begins
    }

    /// The name of the result that the row is of.
    pub(super) fn result(&self) -> &str {
        &self.cells[1]
    }

    /// Which column has this name.
    pub(super) fn column(&self, name: &str) -> Option<usize> {
        let found = self.columns.iter().skip(FIRST).position(|one| one == name);
        found.map(|place| place + FIRST)
    }

    /// Which column has this name, which must be there.
    pub(super) fn needed(&self, name: &str) -> Result<usize, StoreError> {
        self.column(name).ok_or_else(|| garbled(self.operation, &format!("the answer has no column {name}")))
    }

    /// A cell of the row; empty where it holds nothing.
    pub(super) fn cell(&self, column: usize) -> &str {
        &self.cells[column]
    }

    /// The cell of the column with this name; empty where there is none.
    pub(super) fn named(&self, name: &str) -> &str {
        self.column(name).map_or("", |column| self.cell(column))
    }

    /// An answer that is not what InfluxDB writes.
    pub(super) fn strange(&self) -> StoreError {
        garbled(self.operation, "the answer is not what InfluxDB writes")
    }

    /// Goes over empty lines; whether there was one.
    fn skip_blank(&mut self) -> bool {
        let before = self.rest.len();
        while let [b'\r' | b'\n', rest @ ..] = self.rest {
            self.rest = rest;
        }
        self.rest.len() < before
    }

    /// Reads one line's cells, the end of the line included.
    fn line(&mut self) -> Result<(), StoreError> {
        self.cells.clear();
        loop {
            let cell = if let [b'"', rest @ ..] = self.rest {
                self.rest = rest;
                self.quoted()?
            } else {
                let bytes = self.rest;
                let end =
                    bytes.iter().position(|byte| matches!(byte, b',' | b'\r' | b'\n')).unwrap_or(bytes.len());
                let (cell, rest) = bytes.split_at(end);
                self.rest = rest;
                Cow::Borrowed(self.text(cell)?)
            };
            self.cells.push(cell);
            match self.rest {
                [b',', rest @ ..] => self.rest = rest,
                [b'\r', b'\n', rest @ ..] | [b'\n', rest @ ..] => {
                    self.rest = rest;
                    return Ok(());
                }
                _ => return Err(garbled(self.operation, "the answer ends too early")),
            }
        }
    }

    /// Reads a cell whose opening quote is read: quotes in it are doubled, and a line's end is written as two characters.
    fn quoted(&mut self) -> Result<Cow<'a, str>, StoreError> {
        let bytes = self.rest;
        let mut end = 0;
        let mut plain = true;
        loop {
            match bytes.get(end..) {
                Some([b'"', b'"', ..]) => {
                    plain = false;
                    end += 2;
                }
                Some([b'"', ..]) => break,
                Some([b'\r', ..]) => {
                    plain = false;
                    end += 1;
                }
                Some([_, ..]) => end += 1,
                _ => return Err(garbled(self.operation, "the answer ends too early")),
            }
        }
        self.rest = &bytes[end + 1..];
        let text = self.text(&bytes[..end])?;
        Ok(if plain {
            Cow::Borrowed(text)
        } else {
            Cow::Owned(text.replace("\"\"", "\"").replace("\r\n", "\n"))
        })
    }

    fn text(&self, bytes: &'a [u8]) -> Result<&'a str, StoreError> {
        std::str::from_utf8(bytes).map_err(|_| self.strange())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use sensormark_store::ErrorKind;

    const ANSWER: &[u8] = b",result,table,_value,host\r\n,_result,0,1.5,a\r\n,_result,0,2,a\r\n,_result,1,,\"b,\"\"c\"\"\"\r\n\r\n,result,table,_value\r\n,other,0,\"x\r\n\r\ny\"\r\n\r\n";

    #[test]
    fn rows_are_read_under_their_headers() {
        let mut rows = Rows::new("ask", ANSWER);
        let mut seen = Vec::new();
        while rows.advance().unwrap() {
            seen.push((
                rows.result().to_owned(),
                rows.begins_table(),
                rows.named("_value").to_owned(),
                rows.named("host").to_owned(),
            ));
        }
        let row = |result: &str, begins, value: &str, host: &str| {
            (result.to_owned(), begins, value.to_owned(), host.to_owned())
        };
        assert_eq!(
            seen,
            [
                row("_result", true, "1.5", "a"),
                row("_result", false, "2", "a"),
                row("_result", true, "", "b,\"c\""),
                row("other", true, "x\n\ny", ""),
            ]
        );
    }

    #[test]
    fn an_answer_without_its_end_is_no_answer() {
        for end in 1..ANSWER.len() - 3 {
            if ANSWER[..end].ends_with(b"\n") {
                continue;
            }
            let mut rows = Rows::new("ask", &ANSWER[..end]);
            let result = loop {
                match rows.advance() {
                    Ok(true) => {}
                    other => break other,
                }
            };
            assert!(result.is_err() || ANSWER[..end].ends_with(b"\r"), "{end}");
        }
    }

    #[test]
    fn an_error_among_the_rows_is_a_refusal() {
        let body = b",result,table,_value\r\n,_result,0,1\r\n\r\n,error,reference\r\n,no database,\r\n";
        let mut rows = Rows::new("ask", body);
        assert!(rows.advance().unwrap());
        assert_eq!(rows.advance().unwrap_err().kind(), ErrorKind::NotFound);
    }

    #[test]
    fn hostile_answers_are_errors() {
        use super::super::cell;
        use sensormark_store::FieldType;
        let examples = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fuzz/csv");
        let kinds = [FieldType::Bool, FieldType::I64, FieldType::F64, FieldType::Text];
        sensormark_conformance::fuzz::target("InfluxDB CSV", examples.as_ref(), |bytes| {
            let mut rows = Rows::new("ask", bytes);
            while let Ok(true) = rows.advance() {
                let _ = (rows.begins_table(), rows.result(), rows.named("_value"));
                for name in ["_time", "_start", "_value"] {
                    let Ok(column) = rows.needed(name) else {
                        continue;
                    };
                    let text = rows.cell(column);
                    let _ = cell::time(text);
                    for kind in kinds {
                        let _ = cell::value(kind, text);
                    }
                }
            }
        });
    }
}
