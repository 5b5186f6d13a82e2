//! JSON documents of records read back, by hand in linear time: no tree is built.
//!
//! It reads what [`crate::write::document`] writes, and arrays that the server takes out of it.

use sensormark_store::{Column, ErrorKind, StoreError, Values};

/// A position in a document.
pub(crate) struct Reader<'a> {
    text: &'a str,
    at: usize,
    scratch: String,
}

impl<'a> Reader<'a> {
    /// At a text's start.
    pub(crate) const fn new(text: &'a str) -> Self {
        Self {
            text,
            at: 0,
            scratch: String::new(),
        }
    }

    fn wrong(&self) -> StoreError {
        StoreError::new(
            ErrorKind::Protocol,
            "read a JSON document of MariaDB",
            format!("byte {} is not what is expected there", self.at),
        )
    }

    fn peek(&mut self) -> Option<u8> {
        let bytes = self.text.as_bytes();
        while matches!(bytes.get(self.at), Some(b' ' | b'\n' | b'\t' | b'\r')) {
            self.at += 1;
        }
        bytes.get(self.at).copied()
    }

    /// Steps over this byte.
    pub(crate) fn expect(&mut self, byte: u8) -> Result<(), StoreError> {
        if self.skip(byte) {
            Ok(())
        } else {
            Err(self.wrong())
        }
    }

    /// Steps over this byte if it comes next.
    pub(crate) fn skip(&mut self, byte: u8) -> bool {
        let found = self.peek() == Some(byte);
        self.at += usize::from(found);
        found
    }

    /// Steps over a name and its colon.
    fn name(&mut self, name: &str) -> Result<(), StoreError> {
        self.expect(b'"')?;
        if !self.text[self.at..].starts_with(name) {
            return Err(self.wrong());
        }
        self.at += name.len();
        self.expect(b'"')?;
        self.expect(b':')
    }

    /// Steps to the first reading of a document, if it has one.
    pub(crate) fn first_reading(&mut self) -> Result<bool, StoreError> {
        self.expect(b'{')?;
        self.name("measurements")?;
        self.expect(b'[')?;
        Ok(!self.skip(b']'))
    }

    /// Reads the time of a reading, and steps to the first of its values.
    pub(crate) fn reading_time(&mut self) -> Result<i64, StoreError> {
        self.expect(b'{')?;
        self.name("ns")?;
        let ns = self.integer()?;
        self.expect(b',')?;
        self.name("m")?;
        self.expect(b'[')?;
        Ok(ns)
    }

    /// Steps over the end of a reading; whether another follows.
    pub(crate) fn next_reading(&mut self) -> Result<bool, StoreError> {
        self.expect(b']')?;
        self.expect(b'}')?;
        if self.skip(b',') {
            return Ok(true);
        }
        self.expect(b']').map(|()| false)
    }

    fn bare(&mut self) -> &'a str {
        self.peek();
        let rest = &self.text[self.at..];
        let length = rest
            .bytes()
            .position(|byte| matches!(byte, b',' | b']' | b'}' | b' '))
            .unwrap_or(rest.len());
        self.at += length;
        &rest[..length]
    }

    /// Reads a whole number.
    pub(crate) fn integer(&mut self) -> Result<i64, StoreError> {
        let digits = self.bare();
        digits.parse().map_err(|_| self.wrong())
    }

    /// Steps over a value.
    pub(crate) fn skip_value(&mut self) -> Result<(), StoreError> {
        if self.peek() == Some(b'"') {
            return self.string();
        }
        self.bare();
        Ok(())
    }

    /// Whether null comes next.
    pub(crate) fn is_null(&mut self) -> bool {
        self.peek() == Some(b'n')
    }

    /// Reads a value into a column; null becomes an absent one.
    pub(crate) fn value(&mut self, column: &mut Column) -> Result<(), StoreError> {
        if self.is_null() {
            self.bare();
            column.push_null();
            return Ok(());
        }
        match &mut column.values {
            Values::Text(values) => {
                self.string()?;
                values.push(&self.scratch);
            }
            Values::Bool(values) => values.push(match self.bare() {
                "true" => true,
                "false" => false,
                _ => return Err(self.wrong()),
            }),
            Values::I64(values) => values.push(self.integer()?),
            Values::U16(values) => {
                let value = u16::try_from(self.integer()?);
                values.push(value.map_err(|_| self.wrong())?);
            }
            Values::F64(values) => {
                let digits = self.bare();
                values.push(digits.parse().map_err(|_| self.wrong())?);
            }
        }
        if let Some(present) = &mut column.present {
            present.push(true);
        }
        Ok(())
    }

    /// Reads a string into the scratch buffer.
    fn string(&mut self) -> Result<(), StoreError> {
        self.expect(b'"')?;
        self.scratch.clear();
        loop {
            let rest = &self.text[self.at..];
            let Some(plain) = rest.find(['"', '\\']) else {
                return Err(self.wrong());
            };
            self.scratch.push_str(&rest[..plain]);
            self.at += plain + 1;
            if rest.as_bytes()[plain] == b'"' {
                return Ok(());
            }
            let character = self.escaped()?;
            self.scratch.push(character);
        }
    }

    fn escaped(&mut self) -> Result<char, StoreError> {
        let byte = self.text.as_bytes().get(self.at).copied();
        self.at += 1;
        Ok(match byte {
            Some(b'n') => '\n',
            Some(b't') => '\t',
            Some(b'r') => '\r',
            Some(b'b') => '\x08',
            Some(b'f') => '\x0c',
            Some(b'u') => {
                let mut code = self.hexadecimal()?;
                if (0xd800..0xdc00).contains(&code) && self.text[self.at..].starts_with("\\u") {
                    self.at += 2;
                    let low = self.hexadecimal()?.wrapping_sub(0xdc00);
                    code = 0x1_0000 + ((code - 0xd800) << 10) + (low & 0x3ff);
                }
                char::from_u32(code).ok_or_else(|| self.wrong())?
            }
            Some(same @ (b'"' | b'\\' | b'/')) => char::from(same),
            _ => return Err(self.wrong()),
        })
    }

    fn hexadecimal(&mut self) -> Result<u32, StoreError> {
        let digits = self.text.get(self.at..self.at + 4);
        let code = digits.and_then(|digits| u32::from_str_radix(digits, 16).ok());
        self.at += 4;
        code.ok_or_else(|| self.wrong())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::write::document;
    use sensormark_store::{Batch, Field, FieldType, Series, Table, TimeResolution, Value};

    fn batch() -> (Table, Batch) {
        let kinds = [
            FieldType::F64,
            FieldType::Text,
            FieldType::Bool,
            FieldType::I64,
            FieldType::U16,
        ];
        let fields = kinds.iter().enumerate().map(|(number, &kind)| Field {
            name: format!("f{number}"),
            kind,
            nullable: true,
        });
        let table = Table {
            name: "t".to_owned(),
            tags: Vec::new(),
            fields: fields.collect(),
            entity: None,
            time_resolution: TimeResolution::Nanoseconds,
            series: Series::single(),
        };
        let mut batch = Batch::new(0, &table);
        let text = Value::Text("a\"\\\u{1}\nß𝄞 ".into());
        for (time, values) in [
            (
                3,
                [
                    Value::F64(0.1 + 0.2),
                    text,
                    Value::Bool(true),
                    Value::I64(i64::MIN),
                    Value::I64(65_535),
                ],
            ),
            (
                9,
                [
                    Value::F64(5e-324),
                    Value::Text(String::new()),
                    Value::Null,
                    Value::Null,
                    Value::I64(0),
                ],
            ),
        ] {
            batch.times_ns.push(time);
            batch.series.push(0);
            for (column, value) in batch.columns.iter_mut().zip(values) {
                column.push(value).unwrap();
            }
        }
        (table, batch)
    }

    #[test]
    fn what_is_written_is_read_back_bit_by_bit() {
        let (table, batch) = batch();
        let mut text = String::new();
        document::push(&mut text, 3, &batch, 0);
        document::push(&mut text, 9, &batch, 1);
        document::finish(&mut text);
        let mut read = Batch::new(0, &table);
        let mut reader = Reader::new(&text);
        let mut more = reader.first_reading().unwrap();
        while more {
            read.times_ns.push(reader.reading_time().unwrap());
            read.series.push(0);
            for (number, column) in read.columns.iter_mut().enumerate() {
                assert!(number == 0 || reader.skip(b','));
                reader.value(column).unwrap();
            }
            more = reader.next_reading().unwrap();
        }
        assert_eq!(read, batch);
    }

    #[test]
    fn pairs_of_surrogates_are_one_character() {
        let mut column = Column::new(FieldType::Text);
        Reader::new("\"\\ud834\\udd1e\"")
            .value(&mut column)
            .unwrap();
        assert_eq!(column.value(0), Value::Text("𝄞".into()));
    }

    #[test]
    fn a_damaged_document_is_an_error() {
        assert!(Reader::new("{\"measurements\":").first_reading().is_err());
        assert!(
            Reader::new("\"abc")
                .value(&mut Column::new(FieldType::Text))
                .is_err()
        );
    }
}
