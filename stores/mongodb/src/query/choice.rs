//! Which series a question is about, as conditions on documents.

use crate::schema::series::{property_name, tag_from_text, tag_value};
use crate::schema::{MEASUREMENT, PhysicalTable, Tags};
use mongodb::bson::{Bson, Document, doc};
use sensormark_store::{Selection, Table};
use std::collections::BTreeSet;

/// Which series a question is about.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Choice {
    /// None.
    Nothing,
    /// All of several.
    All,
    /// These, ascending, at least one.
    Series(Vec<u32>),
    /// Those with this value of a tag.
    Tag {
        /// The tag's number.
        tag: usize,
        /// Its value as documents hold it.
        value: Bson,
        /// Its value as text.
        text: String,
    },
}

impl Choice {
    pub(super) fn of(table: &Table, selection: &Selection) -> Self {
        let count = table.series.len();
        let series = |mut numbers: Vec<u32>| {
            numbers.retain(|&number| number < count);
            numbers.sort_unstable();
            numbers.dedup();
            if numbers.is_empty() { Self::Nothing } else { Self::Series(numbers) }
        };
        match selection {
            Selection::One(number) => series(vec![*number]),
            Selection::Set(numbers) => series(numbers.clone()),
            Selection::All if count > 1 => Self::All,
            Selection::All => series(vec![0]),
            Selection::Tagged { tag, value: text } if *tag < table.tags.len() => {
                tag_from_text(table, *tag, text).map_or(Self::Nothing, |value| Self::Tag {
                    tag: *tag,
                    value,
                    text: text.clone(),
                })
            }
            Selection::Tagged { .. } => Self::Nothing,
        }
    }

    /// The only series that it can be, if that is known.
    pub(super) fn sole(&self, table: &Table) -> Option<u32> {
        match self {
            Self::Series(numbers) if numbers.len() == 1 => Some(numbers[0]),
            Self::Tag { tag, text, .. } => match table.series.with_tag(*tag, text).as_slice() {
                [only] => Some(*only),
                _ => None,
            },
            _ => None,
        }
    }

    /// The series, ascending.
    pub(super) fn numbers(&self, table: &Table) -> Vec<u32> {
        match self {
            Self::Nothing => Vec::new(),
            Self::All => (0..table.series.len()).collect(),
            Self::Series(numbers) => numbers.clone(),
            Self::Tag { tag, text, .. } => table.series.with_tag(*tag, text),
        }
    }

    /// Whether several series may fall into an answer.
    pub(super) fn is_several(&self) -> bool {
        match self {
            Self::Nothing => false,
            Self::Series(numbers) => numbers.len() > 1,
            Self::All | Self::Tag { .. } => true,
        }
    }

    /// What a document of these series must be like; in buckets, a document of their groups.
    pub(super) fn filter(&self, table: &Table, kept: &PhysicalTable) -> Document {
        let mut filter = Document::new();
        if let Some(measurement) = &kept.measurement {
            filter.insert(MEASUREMENT, measurement);
        }
        match self {
            Self::Nothing | Self::All => {}
            Self::Series(numbers) => series(&mut filter, table, kept, numbers),
            Self::Tag { tag, value, text } if kept.roster.is_property(*tag) => {
                let _ = value;
                let path = format!("{}.{}", kept.inner, property_name(text));
                filter.insert(path, doc! { "$exists": true });
            }
            Self::Tag { tag, value, .. } => match kept.tag_path(table, *tag) {
                Some(path) => {
                    filter.insert(path, value.clone());
                }
                None => {
                    filter.insert(pairs_name(kept), pair(table, *tag, value.clone()));
                }
            },
        }
        filter
    }

    /// The names of the properties in question; none where all are.
    pub(super) fn properties(&self, kept: &PhysicalTable) -> Option<Vec<String>> {
        match self {
            Self::Series(numbers) => {
                let names: BTreeSet<String> = numbers
                    .iter()
                    .filter_map(|&number| kept.roster.property(number).map(str::to_owned))
                    .collect();
                (!names.is_empty()).then(|| names.into_iter().collect())
            }
            Self::Tag { tag, text, .. } if kept.roster.is_property(*tag) => Some(vec![property_name(text)]),
            _ => None,
        }
    }

    /// Whether a series that a document of several turned out to hold is in question.
    pub(super) fn admits(&self, series: u32) -> bool {
        match self {
            Self::Series(numbers) => numbers.binary_search(&series).is_ok(),
            _ => true,
        }
    }
}

/// A tag of a series as its documents hold it.
pub(super) fn tag_in_document(table: &Table, kept: &PhysicalTable, series: u32, tag: usize) -> Bson {
    let value = tag_value(table, series, tag);
    match kept.tags {
        Tags::Pairs(_) => pair(table, tag, value).into(),
        Tags::Beside(_) | Tags::Under(_) => value,
    }
}

fn pairs_name(kept: &PhysicalTable) -> &str {
    match &kept.tags {
        Tags::Pairs(name) | Tags::Under(name) => name,
        Tags::Beside(_) => "",
    }
}

fn pair(table: &Table, tag: usize, value: Bson) -> Document {
    doc! { "key": &table.tags[tag].name, "val": value }
}

/// Conditions for series by number: the tags that tell them apart.
fn series(filter: &mut Document, table: &Table, kept: &PhysicalTable, numbers: &[u32]) {
    let groups: BTreeSet<u32> = numbers.iter().map(|&number| kept.roster.group(number)).collect();
    let value = |series: u32, tag: usize| tag_value(table, series, tag);
    match (kept.roster.identity(), &kept.tags) {
        ([], _) => {}
        ([tag], Tags::Pairs(name)) => {
            let pairs = groups.iter().map(|&series| Bson::from(pair(table, *tag, value(series, *tag))));
            filter.insert(name, one_of(pairs.collect()));
        }
        ([tag], _) => {
            let values = groups.iter().map(|&series| value(series, *tag)).collect();
            let path = kept.tag_path(table, *tag).unwrap_or_default();
            filter.insert(path, one_of(values));
        }
        (tags, _) => {
            let each = |&series: &u32| match &kept.tags {
                Tags::Pairs(name) => {
                    let pairs: Vec<Document> =
                        tags.iter().map(|&tag| pair(table, tag, value(series, tag))).collect();
                    doc! { name: { "$all": pairs } }
                }
                Tags::Beside(_) | Tags::Under(_) => tags
                    .iter()
                    .map(|&tag| {
                        let path = kept.tag_path(table, tag).unwrap_or_default();
                        (path, value(series, tag))
                    })
                    .collect(),
            };
            let mut all: Vec<Document> = groups.iter().map(each).collect();
            if all.len() == 1 {
                filter.extend(all.swap_remove(0));
            } else {
                filter.insert("$or", all);
            }
        }
    }
}

fn one_of(mut values: Vec<Bson>) -> Bson {
    if values.len() == 1 { values.swap_remove(0) } else { doc! { "$in": values }.into() }
}
