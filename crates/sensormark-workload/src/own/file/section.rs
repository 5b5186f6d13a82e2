//! Tables of a TOML file. Keys and values have their places, so that messages name the line.

use super::error::FileError;
use sensormark_data::nearest::unknown;
use sensormark_data::quantity::duration_ns;
use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::ops::{Range, RangeInclusive};
use toml::Spanned;
use toml::de::{DeTable, DeValue};

/// A file's text.
pub struct Source<'t> {
    text: &'t str,
    file: &'t str,
    root: Spanned<DeTable<'t>>,
    settings: BTreeMap<String, (String, DeValue<'t>)>,
    /// Names that settings could have had.
    known: RefCell<BTreeSet<String>>,
}

/// Where something stood.
#[derive(Debug, Clone)]
pub enum Place {
    /// In the file, at these bytes.
    File(Range<usize>),
    /// In a setting.
    Setting(String),
}

/// A value and where it stood.
#[derive(Debug, Clone)]
pub struct At<T> {
    /// The value.
    pub value: T,
    /// Where it stood.
    pub place: Place,
}

impl<'t> Source<'t> {
    /// Reads the text as TOML.
    pub fn new(text: &'t str, file: &'t str, settings: &'t [String]) -> Result<Self, FileError> {
        let fail = |line, message: String| FileError { file: file.to_owned(), line, message };
        let root = DeTable::parse(text).map_err(|error| {
            let line = error.span().map(|span| line_of(text, span.start));
            fail(line, error.message().to_owned())
        })?;
        let mut values = BTreeMap::new();
        for setting in settings {
            let (name, value) = setting
                .split_once('=')
                .ok_or_else(|| fail(None, format!("--set {setting}: write it as NAME=VALUE")))?;
            let parsed = DeValue::parse(value.trim()).map(Spanned::into_inner);
            // A word without quotes is a text.
            let value = parsed.unwrap_or_else(|_| DeValue::String(value.trim().into()));
            values.insert(name.trim().to_owned(), (setting.clone(), value));
        }
        Ok(Self { text, file, root, settings: values, known: RefCell::default() })
    }

    /// An error at a place.
    pub fn error(&self, place: &Place, message: impl Into<String>) -> FileError {
        let (line, message) = match place {
            Place::File(span) => (Some(line_of(self.text, span.start)), message.into()),
            Place::Setting(setting) => (None, format!("--set {setting}: {}", message.into())),
        };
        FileError { file: self.file.to_owned(), line, message }
    }

    /// The table of everything.
    pub fn root<'s>(&'s self, known: &[&str]) -> Result<Section<'s, 't>, FileError> {
        let table = self.root.get_ref();
        Section::new(self, table, Place::File(0..0), String::new(), known)
    }

    /// Fails for a setting that nothing was asked by.
    pub fn check_settings(&self) -> Result<(), FileError> {
        let known = self.known.borrow();
        match self.settings.keys().find(|name| !known.contains(*name)) {
            None => Ok(()),
            Some(name) => Err(FileError {
                file: self.file.to_owned(),
                line: None,
                message: unknown("parameter", name, known.iter().cloned()),
            }),
        }
    }
}

fn line_of(text: &str, byte: usize) -> usize {
    text.bytes().take(byte).filter(|&one| one == b'\n').count() + 1
}

/// One table of the file.
pub struct Section<'s, 't> {
    source: &'s Source<'t>,
    table: &'s DeTable<'t>,
    place: Place,
    /// Its name in settings: "series", "queries.dashboard"; empty for the whole file.
    path: String,
}

impl<'s, 't> Section<'s, 't> {
    fn new(
        source: &'s Source<'t>,
        table: &'s DeTable<'t>,
        place: Place,
        path: String,
        known: &[&str],
    ) -> Result<Self, FileError> {
        let section = Self { source, table, place, path };
        for key in table.keys() {
            if !known.contains(&key.get_ref().as_ref()) {
                let place = Place::File(key.span());
                let names = known.iter().map(|name| (*name).to_owned());
                let kind = format!("key {}", section.title());
                return Err(section.source.error(&place, unknown(&kind, key.get_ref(), names)));
            }
        }
        Ok(section)
    }

    fn title(&self) -> String {
        match self.label() {
            None => "of the file".to_owned(),
            Some(label) => format!("in [{label}]"),
        }
    }

    /// What the table is called: "series", "queries.dashboard", "queries" where it has no name yet; none for the whole file.
    fn label(&self) -> Option<String> {
        if self.path.is_empty() {
            return None;
        }
        let name = self.table.get("name");
        let name = name.and_then(|name| name.get_ref().as_str());
        Some(match name.filter(|_| !self.path.contains('.')) {
            Some(name) => format!("{}.{name}", self.path),
            None => self.path.clone(),
        })
    }

    /// The same by a name of its own among its kind. Settings and messages have it.
    pub fn called(&self, name: &str) -> Self {
        Self {
            source: self.source,
            table: self.table,
            place: self.place.clone(),
            path: format!("{}.{name}", self.path),
        }
    }

    /// Whether this key has a list.
    pub fn is_list(&self, key: &str) -> bool {
        self.table.get(key).is_some_and(|value| value.get_ref().is_array())
    }

    /// Where it stands.
    pub const fn place(&self) -> &Place {
        &self.place
    }

    /// An error at a place of this table.
    pub fn error(&self, place: &Place, message: impl Into<String>) -> FileError {
        let message = message.into();
        match (self.label(), place) {
            (Some(label), Place::File(_)) => self.source.error(place, format!("{label}: {message}")),
            _ => self.source.error(place, message),
        }
    }

    /// A value as it was typed.
    pub fn typed(&self, place: &Place) -> String {
        match place {
            Place::File(span) => self.source.text[span.clone()].to_owned(),
            Place::Setting(setting) => {
                let value = setting.split_once('=').map(|(_, value)| value.trim());
                value.unwrap_or_default().to_owned()
            }
        }
    }

    /// That something is missing that has to be there.
    pub fn missing(&self, key: &str, example: &str) -> FileError {
        let message = format!("{key} is missing {}; write {key} = {example}", self.title());
        self.source.error(&self.place, message)
    }

    fn value(&self, key: &str) -> Option<(&DeValue<'t>, Place)> {
        let name = if self.path.is_empty() { key.to_owned() } else { format!("{}.{key}", self.path) };
        let setting = self.source.settings.get(&name);
        self.source.known.borrow_mut().insert(name);
        if let Some((setting, value)) = setting {
            return Some((value, Place::Setting(setting.clone())));
        }
        let value = self.table.get(key)?;
        Some((value.get_ref(), Place::File(value.span())))
    }

    fn of_kind<T>(
        &self,
        key: &str,
        kind: &str,
        take: impl FnOnce(&DeValue<'t>) -> Option<T>,
    ) -> Result<Option<At<T>>, FileError> {
        let Some((value, place)) = self.value(key) else {
            return Ok(None);
        };
        match take(value) {
            Some(value) => Ok(Some(At { value, place })),
            None => Err(self.error(&place, format!("{key} must be {kind}"))),
        }
    }

    /// A text.
    pub fn text(&self, key: &str) -> Result<Option<At<String>>, FileError> {
        self.of_kind(key, "a text in quotes", |value| value.as_str().map(str::to_owned))
    }

    /// A truth value or nothing; another kind is left for others to say.
    pub fn truth(&self, key: &str) -> Option<At<bool>> {
        let (value, place) = self.value(key)?;
        value.as_bool().map(|value| At { value, place })
    }

    /// A number.
    pub fn number(&self, key: &str) -> Result<Option<At<f64>>, FileError> {
        self.of_kind(key, "a number", |value| {
            let text = match value {
                DeValue::Integer(number) => number.as_str(),
                DeValue::Float(number) => number.as_str(),
                _ => return None,
            };
            let number: f64 = text.replace('_', "").parse().ok()?;
            number.is_finite().then_some(number)
        })
    }

    /// A whole number within bounds, both included.
    pub fn whole(&self, key: &str, bounds: RangeInclusive<u64>) -> Result<Option<At<u64>>, FileError> {
        let kind = format!("a whole number from {} to {}", bounds.start(), bounds.end());
        self.of_kind(key, &kind, |value| {
            let DeValue::Integer(number) = value else {
                return None;
            };
            let number: u64 = number.as_str().replace('_', "").parse().ok()?;
            bounds.contains(&number).then_some(number)
        })
    }

    /// A part of one, below one.
    pub fn share(&self, key: &str) -> Result<f64, FileError> {
        match self.number(key)? {
            None => Ok(0.0),
            Some(share) if (0.0..1.0).contains(&share.value) => Ok(share.value),
            Some(share) => Err(self.error(
                &share.place,
                format!("{key} is a share, from 0 to below 1: 0.01 is one in a hundred"),
            )),
        }
    }

    /// A length of time, in ns.
    pub fn duration(&self, key: &str) -> Result<Option<At<i64>>, FileError> {
        let Some((value, place)) = self.value(key) else {
            return Ok(None);
        };
        let Some(text) = value.as_str() else {
            let message = format!(
                "{key} is a length of time and has a unit, like \"10s\"; {} has none",
                self.typed(&place)
            );
            return Err(self.error(&place, message));
        };
        let length = duration_ns(text).map_err(|why| self.error(&place, format!("{key}: {why}")))?;
        Ok(Some(At { value: length, place }))
    }

    /// A list of texts.
    pub fn texts(&self, key: &str) -> Result<Option<Vec<At<String>>>, FileError> {
        let Some((value, place)) = self.value(key) else {
            return Ok(None);
        };
        let wrong = |place: &Place| {
            self.error(place, format!("{key} must be a list of texts, like [\"one\", \"two\"]"))
        };
        if let (Some(text), Place::Setting(_)) = (value.as_str(), &place) {
            let texts = text.split(',').map(|one| At { value: one.trim().to_owned(), place: place.clone() });
            return Ok(Some(texts.collect()));
        }
        let list = value.as_array().ok_or_else(|| wrong(&place))?;
        let texts = list.iter().map(|one| {
            let place = Place::File(one.span());
            match one.get_ref().as_str() {
                Some(text) => Ok(At { value: text.to_owned(), place }),
                None => Err(wrong(&place)),
            }
        });
        texts.collect::<Result<Vec<_>, _>>().map(Some)
    }

    /// A table in this one.
    pub fn section(&self, key: &str, known: &[&str]) -> Result<Option<Section<'s, 't>>, FileError> {
        let Some(value) = self.table.get(key) else {
            return Ok(None);
        };
        let place = Place::File(value.span());
        let table = value.get_ref().as_table();
        let table = table.ok_or_else(|| self.error(&place, format!("{key} must be a table: [{key}]")))?;
        Self::new(self.source, table, place, key.to_owned(), known).map(Some)
    }

    /// A list of tables in this one.
    pub fn sections(&self, key: &str, known: &[&str]) -> Result<Vec<Section<'s, 't>>, FileError> {
        let Some(value) = self.table.get(key) else {
            return Ok(Vec::new());
        };
        let wrong =
            |span: Range<usize>| self.error(&Place::File(span), format!("{key} must be tables: [[{key}]]"));
        let list = value.get_ref().as_array();
        let list = list.ok_or_else(|| wrong(value.span()))?;
        list.iter()
            .map(|one| {
                let table = one.get_ref().as_table();
                let table = table.ok_or_else(|| wrong(one.span()))?;
                let place = Place::File(one.span());
                Self::new(self.source, table, place, key.to_owned(), known)
            })
            .collect()
    }
}

impl Section<'_, '_> {
    /// One of several words.
    pub fn word<T: Copy>(&self, key: &str, words: &[(&str, T)]) -> Result<Option<At<T>>, FileError> {
        let Some(text) = self.text(key)? else {
            return Ok(None);
        };
        let known = words.iter().find(|(word, _)| *word == text.value);
        let (_, value) = known.ok_or_else(|| {
            let names = words.iter().map(|(word, _)| (*word).to_owned());
            self.error(&text.place, unknown(key, &text.value, names))
        })?;
        Ok(Some(At { value: *value, place: text.place }))
    }
}
