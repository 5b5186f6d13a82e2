//! The series of a table: their tags as elements of documents, the tags that tell them apart, and back from tags to numbers.
//!
//! A series' tags are encoded once and copied into each document. It asks nothing of the database.

use crate::wire::Writer;
use mongodb::bson::{Bson, Document};
use sensormark_store::{Series, SeriesKey, Shape, Table, TagColumn, Value};
use std::collections::HashMap;

/// Where a document has its tags.
#[derive(Debug)]
pub(crate) enum Tags {
    /// Beside the time, by these names.
    Beside(Vec<String>),
    /// Named, in a document under this name.
    Under(String),
    /// As pairs of key and value, in an array of this name.
    Pairs(String),
}

/// The series of a table.
#[derive(Debug)]
pub(crate) struct Roster {
    /// The elements of each series' tags (of its group's, in buckets), one after the other.
    elements: Vec<u8>,
    ends: Vec<usize>,
    /// The key of the series; in buckets, of the groups.
    key: SeriesKey,
    by_key: HashMap<Box<[u8]>, u32>,
    names: Vec<String>,
    paths: Vec<String>,
    groups: Option<Groups>,
}

/// Series that share the documents of buckets.
#[derive(Debug)]
struct Groups {
    /// How many of the tags name the group; the next, if there is one, names the property.
    tags: usize,
    /// For each series the lowest of its group.
    lowest: Vec<u32>,
    /// For each series its property's name in the document.
    properties: Vec<String>,
}

impl Roster {
    pub(super) fn new(table: &Table, tags: &Tags, shape: Shape) -> Self {
        let bucketed = matches!(shape, Shape::Bucketed { .. });
        let shared = if bucketed && table.tags.len() > 1 { table.tags.len() - 1 } else { table.tags.len() };
        let (elements, ends) = encoded(table, tags, shared);
        let key = SeriesKey::among(table, shared);
        let groups = bucketed.then(|| Groups {
            tags: shared,
            lowest: lowest(&table.series, &key),
            properties: properties(table, shared),
        });
        let mut roster = Self {
            elements,
            ends,
            key,
            by_key: HashMap::new(),
            names: table.tags.iter().map(|tag| tag.name.clone()).collect(),
            paths: table
                .tags
                .iter()
                .map(|tag| match tags {
                    Tags::Under(under) | Tags::Pairs(under) => format!("{under}.{}", tag.name),
                    Tags::Beside(_) => tag.name.clone(),
                })
                .collect(),
            groups,
        };
        for series in (0..table.series.len()).rev() {
            let key = roster.key(&table.series, series);
            roster.by_key.insert(key.into(), series);
        }
        roster
    }

    fn key(&self, series: &Series, number: u32) -> Vec<u8> {
        let mut key = Vec::new();
        push_key(&mut key, series, self.key.tags(), number);
        if let Some(groups) = &self.groups {
            key_text(&mut key, &groups.properties[number as usize]);
        }
        key
    }

    /// The elements of a series' tags, ready for a document.
    pub(crate) fn elements(&self, series: u32) -> &[u8] {
        let number = series as usize;
        let start = number.checked_sub(1).map_or(0, |before| self.ends[before]);
        &self.elements[start..self.ends[number]]
    }

    /// The tags that tell series apart; in buckets, groups.
    pub(crate) fn identity(&self) -> &[usize] {
        self.key.tags()
    }

    /// The schema's names of the tags that tell series apart.
    pub(crate) fn identity_names(&self) -> impl Iterator<Item = &str> {
        self.identity().iter().map(|&tag| self.names[tag].as_str())
    }

    /// The paths of these tags, with a direction each, as in an index or order.
    pub(crate) fn identity_paths(&self, direction: i32) -> Document {
        self.identity().iter().map(|&tag| (self.paths[tag].clone(), Bson::Int32(direction))).collect()
    }

    /// The series of a key: its identifying tags' parts, and in buckets the property's name.
    pub(crate) fn find(&self, key: &[u8]) -> Option<u32> {
        self.by_key.get(key).copied()
    }

    /// The lowest series of a series' group.
    pub(crate) fn group(&self, series: u32) -> u32 {
        self.groups.as_ref().map_or(series, |groups| groups.lowest[series as usize])
    }

    /// The name of a series' property in the documents of its group; none where documents have no properties.
    pub(crate) fn property(&self, series: u32) -> Option<&str> {
        self.groups.as_ref().map(|groups| groups.properties[series as usize].as_str())
    }

    /// Whether this tag names properties rather than documents.
    pub(crate) fn is_property(&self, tag: usize) -> bool {
        self.groups.as_ref().is_some_and(|groups| tag >= groups.tags)
    }

    /// The tags' paths in a document.
    pub(super) fn tag_paths(&self) -> &[String] {
        &self.paths
    }
}

/// Appends a text's part of a key.
pub(crate) fn key_text(key: &mut Vec<u8>, text: &str) {
    key.push(b's');
    key.extend_from_slice(&text.len().to_le_bytes());
    key.extend_from_slice(text.as_bytes());
}

/// Appends an integer's part of a key.
pub(crate) fn key_integer(key: &mut Vec<u8>, value: i64) {
    key.push(b'i');
    key.extend_from_slice(&value.to_le_bytes());
}

/// A tag's value as a document holds it.
pub(crate) fn tag_value(table: &Table, series: u32, tag: usize) -> Bson {
    match table.series.tag(series, tag) {
        Value::I64(value) => Bson::Int64(value),
        Value::Text(value) => Bson::String(value),
        Value::Null | Value::Bool(_) | Value::F64(_) => Bson::Null,
    }
}

/// The value of a tag that prints as this text; none where the tag cannot have it.
pub(crate) fn tag_from_text(table: &Table, tag: usize, text: &str) -> Option<Bson> {
    match &table.series.columns()[tag] {
        TagColumn::Text(_) => Some(Bson::String(text.to_owned())),
        TagColumn::Integer(_) => {
            text.parse::<i64>().ok().filter(|value| value.to_string() == text).map(Bson::Int64)
        }
    }
}

/// The name of a property inside a document: the tag's text, with what a path cannot hold written as `%` and two digits.
pub(crate) fn property_name(text: &str) -> String {
    let mut name = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '.' => name.push_str("%2E"),
            '$' => name.push_str("%24"),
            '%' => name.push_str("%25"),
            other => name.push(other),
        }
    }
    if name.is_empty() {
        name.push('%');
    }
    name
}

fn properties(table: &Table, shared: usize) -> Vec<String> {
    let name = |series| match table.series.columns().get(shared) {
        Some(column) => property_name(&column.text(series)),
        None => table.name.clone(),
    };
    (0..table.series.len()).map(name).collect()
}

fn encoded(table: &Table, tags: &Tags, count: usize) -> (Vec<u8>, Vec<usize>) {
    let mut writer = Writer::bare();
    let mut ends = Vec::with_capacity(table.series.len() as usize);
    for series in 0..table.series.len() {
        match tags {
            Tags::Beside(names) => {
                for (tag, name) in names.iter().enumerate().take(count) {
                    writer.value(name, &table.series.tag(series, tag));
                }
            }
            Tags::Under(_) if count == 0 => {}
            Tags::Under(under) => {
                writer.open(under);
                for (tag, described) in table.tags.iter().enumerate().take(count) {
                    writer.value(&described.name, &table.series.tag(series, tag));
                }
                writer.close();
            }
            Tags::Pairs(name) => {
                writer.open_array(name);
                for (tag, described) in table.tags.iter().enumerate().take(count) {
                    writer.open(tag);
                    writer.string("key", &described.name);
                    writer.value("val", &table.series.tag(series, tag));
                    writer.close();
                }
                writer.close();
            }
        }
        ends.push(writer.len());
    }
    (writer.bytes().to_vec(), ends)
}

/// For each series the lowest of those that agree with it in the group's key.
fn lowest(series: &Series, key: &SeriesKey) -> Vec<u32> {
    let mut lowest: HashMap<Vec<u8>, u32> = HashMap::new();
    let first = |number| {
        let mut text = Vec::new();
        push_key(&mut text, series, key.tags(), number);
        *lowest.entry(text).or_insert(number)
    };
    (0..series.len()).map(first).collect()
}

/// Appends the parts of a series' key: the values of these tags.
fn push_key(text: &mut Vec<u8>, series: &Series, tags: &[usize], number: u32) {
    for &tag in tags {
        match &series.columns()[tag] {
            TagColumn::Text(values) => key_text(text, &values[number as usize]),
            TagColumn::Integer(values) => key_integer(text, values[number as usize]),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn properties_have_names_that_paths_can_hold() {
        assert_eq!(property_name("temp"), "temp");
        assert_eq!(property_name("a.b$c%"), "a%2Eb%24c%25");
        assert_eq!(property_name(""), "%");
    }
}
