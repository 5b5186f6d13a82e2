//! A workload file's text, and settings that stand for its keys, as one TOML table. Every value keeps its place, so that messages name line, table and key.

use super::error::FileError;
use super::form::At;
use sensormark_data::nearest::unknown;
use serde::de::DeserializeOwned;
use std::ops::Range;
use toml::Spanned;
use toml::de::{DeTable, DeValue, Deserializer};

/// What has a place in the file.
pub trait Placed {
    fn place(&self) -> &Place;
}

impl Placed for Place {
    fn place(&self) -> &Place {
        self
    }
}

impl<T> Placed for At<T> {
    fn place(&self) -> &Place {
        &self.place
    }
}

/// A place: bytes of the text; or beyond its end, the number of a setting.
pub type Place = Range<usize>;

/// Keys that hold a list of texts: a setting gives them with commas.
const LISTS: [&str; 5] = ["stores", "layouts", "limits", "values", "fields"];

/// What may be one table or a list of them.
const SINGLE: [&str; 2] = ["series", "writers"];

/// What is missing most, and what it could be.
const EXAMPLES: [(&str, &str); 6] = [
    ("count", "100"),
    ("interval", "\"10s\""),
    ("duration", "\"1h\""),
    ("name", "\"temperature\""),
    ("shape", "\"walk\""),
    ("kind", "\"window mean\""),
];

/// A file's text, its settings, and both as one table.
pub struct Source<'t> {
    text: &'t str,
    file: &'t str,
    settings: &'t [String],
    /// The whole file.
    pub root: Spanned<DeTable<'t>>,
}

impl<'t> Source<'t> {
    /// Reads the text as TOML, and puts the settings (`series.count=10`) in.
    ///
    /// # Errors
    /// What is no TOML, with its line, or a setting that stands for nothing.
    pub fn new(text: &'t str, file: &'t str, settings: &'t [String]) -> Result<Self, FileError> {
        let root = DeTable::parse(text).map_err(|error| FileError {
            file: file.to_owned(),
            line: error.span().map(|span| line_of(text, span.start)),
            message: error.message().to_owned(),
        })?;
        let mut source = Self { text, file, settings, root };
        for (number, setting) in settings.iter().enumerate() {
            let wrong = |message: String| FileError { file: file.to_owned(), line: None, message };
            let (name, value) = setting
                .split_once('=')
                .ok_or_else(|| wrong(format!("--set {setting}: write it as NAME=VALUE")))?;
            let (name, place) = (name.trim(), text.len() + 1 + number);
            let value = Spanned::new(place..place, setting_value(name, value.trim(), place));
            put(source.root.get_mut(), name, value).map_err(wrong)?;
        }
        for key in SINGLE {
            let one = source.root.get_mut().get_mut(key).filter(|one| one.get_ref().is_table());
            if let Some(one) = one {
                let list = Spanned::new(one.span(), one.get_ref().clone());
                *one.get_mut() = DeValue::Array(std::iter::once(list).collect());
            }
        }
        Ok(source)
    }

    /// The file in its form.
    ///
    /// # Errors
    /// The first thing that has another form.
    pub fn read<T: DeserializeOwned>(&self) -> Result<T, FileError> {
        let root = Deserializer::from(self.root.clone());
        T::deserialize(root).map_err(|error| self.explain(&error.span().unwrap_or(0..0), error.message()))
    }

    /// What is wrong at a place.
    pub fn error(&self, of: &dyn Placed, message: impl AsRef<str>) -> FileError {
        let (place, label) = (of.place(), self.find(of.place()).label);
        let is_plain = label.is_empty() || self.setting(place).is_some();
        let label = if is_plain { String::new() } else { label + ": " };
        self.plain(place, &format!("{label}{}", message.as_ref()))
    }

    /// That a key has to be there, in the table at this place.
    pub fn missing(&self, table: &dyn Placed, key: &str, example: &str) -> FileError {
        let at = self.find(table.place());
        self.plain(table.place(), &format!("{key} is missing {}; write {key} = {example}", at.title()))
    }

    /// That two keys of a table do not go together, with both values and why.
    pub fn disagree(
        &self,
        (key, one): (&str, &dyn Placed),
        (other, its): (&str, &dyn Placed),
        why: &str,
    ) -> FileError {
        let (value, its) = (self.typed(one), self.typed(its));
        self.error(one, format!("{key} is {value} and {other} is {its}: {why}"))
    }

    /// A value as it was typed.
    pub fn typed(&self, of: &dyn Placed) -> &str {
        match self.setting(of.place()) {
            Some(setting) => setting.split_once('=').map_or("", |(_, value)| value.trim()),
            None => &self.text[of.place().clone()],
        }
    }

    fn setting(&self, place: &Place) -> Option<&'t String> {
        self.settings.get(place.start.checked_sub(self.text.len() + 1)?)
    }

    /// Without the name of the table.
    fn plain(&self, place: &Place, message: &str) -> FileError {
        let (line, message) = match self.setting(place) {
            Some(setting) => (None, format!("--set {setting}: {message}")),
            None => (Some(line_of(self.text, place.start)), message.to_owned()),
        };
        FileError { file: self.file.to_owned(), line, message }
    }

    /// What serde says, in our words.
    fn explain(&self, place: &Place, message: &str) -> FileError {
        let at = self.find(place);
        let quoted: Vec<String> = message.split('`').skip(1).step_by(2).map(str::to_owned).collect();
        let known = || quoted.iter().skip(1).cloned();
        if message.starts_with("unknown field") && self.setting(place).is_some() {
            let full = |name: String| format!("{}.{name}", at.label).trim_start_matches('.').to_owned();
            let message = unknown("parameter", &full(quoted[0].clone()), known().map(full));
            return FileError { file: self.file.to_owned(), line: None, message };
        }
        if message.starts_with("unknown field") {
            return self.plain(place, &unknown(&format!("key {}", at.title()), &quoted[0], known()));
        }
        if message.starts_with("missing field") {
            let example =
                EXAMPLES.iter().find(|(key, _)| *key == quoted[0]).map_or("…", |(_, example)| example);
            return self.missing(place, &quoted[0], example);
        }
        if message.starts_with("unknown variant") {
            return self.error(place, unknown(&at.key, &quoted[0], known()));
        }
        let Some((_, expected)) = message.split_once(", expected ") else {
            return self
                .error(place, message.replace("{key}", &at.key).replace("{typed}", self.typed(place)));
        };
        let expected = match expected.trim_end_matches(" for key") {
            "a string" => "a text in quotes".to_owned(),
            "f64" => "a number".to_owned(),
            "a sequence" => "a list, like [\"one\", \"two\"]".to_owned(),
            text if text.starts_with("struct") => format!("a table: [{}]", at.key),
            text => text.to_owned(),
        };
        self.error(place, format!("{} must be {expected}", at.key))
    }

    /// The table and the key at a place.
    fn find(&self, place: &Place) -> Found {
        find(self.root.get_ref(), "", place).unwrap_or_default()
    }
}

/// Where something stands.
#[derive(Default)]
struct Found {
    /// The table: "series", "queries.dashboard"; empty for the whole file.
    label: String,
    /// The key; empty where the table itself is meant.
    key: String,
}

impl Found {
    fn title(&self) -> String {
        if self.label.is_empty() { "of the file".to_owned() } else { format!("in [{}]", self.label) }
    }
}

/// A setting's value: TOML, or a word without quotes; texts between commas where a list is meant.
fn setting_value<'t>(name: &str, text: &'t str, place: usize) -> DeValue<'t> {
    let key = name.rsplit('.').next().unwrap_or(name);
    let value =
        DeValue::parse(text).map(Spanned::into_inner).unwrap_or_else(|_| DeValue::String(text.into()));
    match value {
        DeValue::String(list) if LISTS.contains(&key) => {
            let one = |one: &str| Spanned::new(place..place, DeValue::String(one.trim().to_owned().into()));
            DeValue::Array(list.split(',').map(one).collect())
        }
        value => value,
    }
}

/// Puts a value where its name says: "series.count", "queries.dashboard.rate".
fn put<'t>(table: &mut DeTable<'t>, name: &str, value: Spanned<DeValue<'t>>) -> Result<(), String> {
    let place = value.span();
    let key = |text: &str| Spanned::new(place.clone(), text.to_owned().into());
    let Some((head, rest)) = name.split_once('.') else {
        table.remove(name);
        table.insert(key(name), value);
        return Ok(());
    };
    if !table.contains_key(head) {
        table.insert(key(head), Spanned::new(place.clone(), DeValue::Table(DeTable::new())));
    }
    let tables = match table.get_mut(head).map(Spanned::get_mut) {
        Some(DeValue::Table(inner)) => return put(inner, rest, value),
        Some(DeValue::Array(tables)) => tables,
        _ => return Err(format!("--set {name}: {head} holds no keys")),
    };
    let (wanted, rest) = rest.split_once('.').unwrap_or((rest, ""));
    let known: Vec<String> =
        tables.iter().filter_map(|one| named(one.get_ref().as_table()?).map(str::to_owned)).collect();
    let found = tables.iter_mut().find_map(|one| match one.get_mut() {
        DeValue::Table(table) if named(table) == Some(wanted) => Some(table),
        _ => None,
    });
    match found {
        Some(table) if !rest.is_empty() => put(table, rest, value),
        _ => Err(unknown("parameter", name, known.into_iter().map(|name| format!("{head}.{name}.…")))),
    }
}

/// What a table among others is called.
fn named<'a>(table: &'a DeTable<'_>) -> Option<&'a str> {
    table.get("name").or_else(|| table.get("table"))?.get_ref().as_str()
}

/// The table and key at a place, from this table on, whose label is known.
fn find(table: &DeTable<'_>, label: &str, place: &Place) -> Option<Found> {
    let is_there = |span: &Place| span.start <= place.start && place.end <= span.end;
    table.iter().find_map(|(key, value)| {
        let name = key.get_ref().as_ref();
        let below = if label.is_empty() { name.to_owned() } else { format!("{label}.{name}") };
        let of_table = |one: &Spanned<DeValue<'_>>, inner: &DeTable<'_>, label: String| {
            let inside = find(inner, &label, place);
            inside.or_else(|| is_there(&one.span()).then(|| Found { label, key: String::new() }))
        };
        let here = || Found { label: label.to_owned(), key: name.to_owned() };
        if key.span() == *place {
            return Some(here());
        }
        match value.get_ref() {
            DeValue::Table(inner) => of_table(value, inner, below),
            DeValue::Array(list) if list.iter().any(|one| one.get_ref().is_table()) => {
                let is_only = SINGLE.contains(&name) && list.get(1).is_none();
                list.iter().find_map(|one| {
                    let inner = one.get_ref().as_table()?;
                    let own = named(inner).filter(|_| !is_only);
                    of_table(one, inner, own.map_or_else(|| below.clone(), |own| format!("{below}.{own}")))
                })
            }
            _ => is_there(&value.span()).then(here),
        }
    })
}

fn line_of(text: &str, byte: usize) -> usize {
    text.bytes().take(byte).filter(|&one| one == b'\n').count() + 1
}
