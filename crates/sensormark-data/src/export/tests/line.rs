//! A reader of line protocol, written from the protocol's description and not from the writer.

use std::collections::BTreeMap;

use sensormark_store::Value;

use super::Read;

/// A cursor over one line of line protocol, written from its description.
struct Line<'t> {
    rest: std::iter::Peekable<std::str::Chars<'t>>,
}

impl Line<'_> {
    /// Up to one of the ends, which is taken too; a backslash takes an end's meaning.
    fn until(&mut self, ends: &[char]) -> (String, char) {
        let mut text = String::new();
        loop {
            match self.rest.next().expect("a line ends with a time") {
                '\\' if self.rest.peek().is_some_and(|next| matches!(next, ',' | '=' | ' ')) => {
                    text.push(self.rest.next().unwrap());
                }
                end if ends.contains(&end) => return (text, end),
                other => text.push(other),
            }
        }
    }

    fn value(&mut self) -> (Value, char) {
        if self.rest.next_if_eq(&'"').is_none() {
            let (text, end) = self.until(&[',', ' ']);
            let value = match (text.as_str(), text.strip_suffix('i')) {
                ("true", _) => Value::Bool(true),
                ("false", _) => Value::Bool(false),
                (_, Some(integer)) => Value::I64(integer.parse().unwrap()),
                (float, None) => Value::F64(float.parse().unwrap()),
            };
            return (value, end);
        }
        let mut text = String::new();
        loop {
            match self.rest.next().unwrap() {
                '\\' if self.rest.peek().is_some_and(|next| matches!(next, '"' | '\\')) => {
                    text.push(self.rest.next().unwrap());
                }
                '"' => return (Value::Text(text), self.rest.next().unwrap()),
                other => text.push(other),
            }
        }
    }
}

/// Reads line protocol; line breaks inside texts belong to them.
pub(super) fn read_line_protocol(text: &str) -> Vec<Read> {
    let mut line = Line { rest: text.chars().peekable() };
    let mut readings = Vec::new();
    while line.rest.peek().is_some() {
        let (table, mut end) = line.until(&[',', ' ']);
        assert!(table == "awkward" || table == "measurement", "{table}");
        let (mut tags, mut fields) = (BTreeMap::new(), BTreeMap::new());
        while end == ',' {
            let name = line.until(&['=']).0;
            let value;
            (value, end) = line.until(&[',', ' ']);
            tags.insert(name, value);
        }
        loop {
            let name = line.until(&['=']).0;
            let (value, end) = line.value();
            fields.insert(name, value);
            if end == ' ' {
                break;
            }
        }
        let time = line.until(&['\n']).0.parse().unwrap();
        readings.push((tags, time, fields));
    }
    readings
}
