//! Texts of commands, as mongosh writes objects: names without quotes where they are words, JSON where they are not. Commas may be missing or too many, so that a
//! template need not count. `?1` is a value. Texts and values one after the other, as in `"properties." ?1 ".samples"`, are one text.

use mongodb::bson::Bson;

/// A part of a command.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Node {
    /// What is the same each time.
    Value(Bson),
    /// A value that is bound, by its place.
    Slot(usize),
    /// Texts and values that are one text.
    Joined(Vec<Self>),
    /// Names and what they stand for.
    Document(Vec<(Self, Self)>),
    /// Several.
    Array(Vec<Self>),
}

impl Node {
    /// A text that is the same each time.
    pub(super) fn text(&self) -> Option<&str> {
        if let Self::Value(value) = self { value.as_str() } else { None }
    }

    /// The names and values of a document.
    pub(super) fn entries(&self) -> &[(Self, Self)] {
        if let Self::Document(entries) = self { entries } else { &[] }
    }

    /// What a document has under this name.
    pub(super) fn get(&self, name: &str) -> Option<&Self> {
        self.entries().iter().find(|(key, _)| key.text() == Some(name)).map(|(_, value)| value)
    }

    /// Takes out what a document has under this name.
    pub(super) fn take(&mut self, name: &str) -> Option<Self> {
        let Self::Document(entries) = self else { return None };
        let place = entries.iter().position(|(key, _)| key.text() == Some(name))?;
        Some(entries.remove(place).1)
    }

    /// A document's first name: the command's, or an operator's.
    pub(super) fn first_name(&self) -> &str {
        self.entries().first().and_then(|(name, _)| name.text()).unwrap_or_default()
    }

    /// A whole number that is the same each time.
    pub(super) fn number(&self) -> Option<i64> {
        match self {
            Self::Value(Bson::Int32(number)) => Some(i64::from(*number)),
            Self::Value(Bson::Int64(number)) => Some(*number),
            _ => None,
        }
    }
}

/// Reads a text.
///
/// # Errors
/// What cannot be read.
pub(super) fn parse(text: &str) -> Result<Node, String> {
    let mut parser = Parser { rest: text };
    let node = parser.value()?;
    match parser.next() {
        None => Ok(node),
        Some(_) => Err(parser.wrong("too much")),
    }
}

struct Parser<'a> {
    rest: &'a str,
}

impl<'a> Parser<'a> {
    /// The next sign that says something.
    fn next(&mut self) -> Option<char> {
        self.rest = self.rest.trim_start_matches(|sign: char| sign.is_whitespace() || sign == ',');
        self.rest.chars().next()
    }

    fn wrong(&self, what: &str) -> String {
        let near: String = self.rest.chars().take(40).collect();
        format!("{what} at {near:?}")
    }

    fn word(&mut self) -> &'a str {
        let is_end = |sign: char| !sign.is_alphanumeric() && !"_$.-+".contains(sign);
        let (word, rest) = self.rest.split_at(self.rest.find(is_end).unwrap_or(self.rest.len()));
        self.rest = rest;
        word
    }

    fn value(&mut self) -> Result<Node, String> {
        match self.next() {
            Some('{') => self.document(),
            Some('[') => {
                self.rest = &self.rest[1..];
                let mut all = Vec::new();
                while self.next() != Some(']') {
                    all.push(self.value()?);
                }
                self.rest = &self.rest[1..];
                Ok(Node::Array(all))
            }
            Some('"' | '?') => self.joined(),
            _ => {
                let word = self.word();
                let wide = || word.parse().map(Bson::Int64).or_else(|_| word.parse().map(Bson::Double)).ok();
                let known = match word {
                    "true" | "false" => Some(Bson::Boolean(word == "true")),
                    "null" => Some(Bson::Null),
                    number => number.parse().map(Bson::Int32).ok().or_else(wide),
                };
                known.map(Node::Value).ok_or_else(|| self.wrong(&format!("{word:?} is no value")))
            }
        }
    }

    fn document(&mut self) -> Result<Node, String> {
        self.rest = &self.rest[1..];
        let mut entries = Vec::new();
        loop {
            let name = match self.next() {
                Some('}') => break,
                Some('"' | '?') => self.joined()?,
                _ => Node::Value(self.word().into()),
            };
            if self.next() != Some(':') {
                return Err(self.wrong("a name has no colon behind it"));
            }
            self.rest = &self.rest[1..];
            entries.push((name, self.value()?));
        }
        self.rest = &self.rest[1..];
        // What JSON has for wide numbers.
        if let [(name, number)] = entries.as_slice()
            && name.text() == Some("$numberLong")
            && let Some(Ok(number)) = number.text().map(str::parse)
        {
            return Ok(Node::Value(Bson::Int64(number)));
        }
        Ok(Node::Document(entries))
    }

    fn joined(&mut self) -> Result<Node, String> {
        let mut parts = Vec::new();
        while self.rest.starts_with(['"', '?']) {
            if let Some(slot) = self.rest.strip_prefix('?') {
                let digits = slot.find(|sign: char| !sign.is_ascii_digit()).unwrap_or(slot.len());
                let number = slot[..digits].parse::<usize>().ok().and_then(|number| number.checked_sub(1));
                parts.push(Node::Slot(number.ok_or_else(|| self.wrong("a value has no number"))?));
                self.rest = &slot[digits..];
            } else {
                let mut texts = serde_json::Deserializer::from_str(self.rest).into_iter::<String>();
                let text =
                    texts.next().and_then(Result::ok).ok_or_else(|| self.wrong("a text has no end"))?;
                self.rest = &self.rest[texts.byte_offset()..];
                parts.push(Node::Value(text.into()));
            }
            self.rest = self.rest.trim_start();
        }
        Ok(if parts.len() == 1 { parts.swap_remove(0) } else { Node::Joined(parts) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_mongosh_writes_is_read() {
        let node = parse(
            r#"{find: "a", , filter: {"t.x": {$in: [?2, -5,, 1.5]}, a: {}}, "p." ?1: {$exists: true}}"#,
        );
        let node = node.unwrap();
        assert_eq!(node.first_name(), "find");
        let filter = node.get("filter").unwrap();
        assert_eq!(
            filter.get("t.x").unwrap().get("$in").unwrap(),
            &Node::Array(vec![Node::Slot(1), Node::Value((-5).into()), Node::Value(1.5.into())])
        );
        assert_eq!(node.entries()[2].0, Node::Joined(vec![Node::Value("p.".into()), Node::Slot(0)]));
        let wide = parse(r#"{"$numberLong": "1"}"#).unwrap();
        assert_eq!((wide, parse("1").unwrap().number()), (Node::Value(Bson::Int64(1)), Some(1)));
        for wrong in ["", "{a 1}", "{a: }", "{a: 1", "[1", "\"a", "{} {}", "?x", "{a: b}"] {
            assert!(parse(wrong).is_err(), "{wrong}");
        }
    }
}
