//! Groups: how their key is asked for, and how the server's groups become the contract's.
//!
//! Several pipelines may each give some of a group's values; they meet here by the group's key.

use super::decode::value;
use super::readings::series_of;
use super::{OPERATION, Question};
use crate::connection::unreadable;
use crate::schema::series::property_name;
use mongodb::bson::{Bson, Document, RawBsonRef, RawDocument};
use sensormark_store::{Aggregate, FieldType, Function, Group, Grouping, StoreError, Value};
use std::collections::{BTreeMap, HashMap};

/// Parts of a group's key.
const SERIES: &str = "s";
const TAG: &str = "g";
const WINDOW: &str = "w";
const DAY: &str = "d";

/// Expressions of the parts of a group's key.
pub(super) struct KeyParts {
    /// What tells series apart, where groups are by series and there are several.
    pub(super) series: Option<Bson>,
    /// A tag's value.
    pub(super) tag: Option<Bson>,
    /// The start of the window in ns.
    pub(super) window: Option<Bson>,
    /// Whether it is day.
    pub(super) day: Option<Bson>,
}

impl KeyParts {
    /// The key as a `$group` takes it.
    pub(super) fn id(self) -> Bson {
        let mut id = Document::new();
        let parts = [(SERIES, self.series), (TAG, self.tag), (WINDOW, self.window), (DAY, self.day)];
        for (name, part) in parts {
            if let Some(part) = part {
                id.insert(name, part);
            }
        }
        if id.is_empty() { Bson::Null } else { id.into() }
    }
}

type Key = (Option<u32>, Option<i64>, Option<bool>);

/// Groups that are being put together.
pub(super) struct Groups<'a> {
    question: &'a Question<'a>,
    aggregates: &'a [Aggregate],
    grouping: Grouping,
    sole: Option<u32>,
    /// The lowest series by what a tag's group is called.
    lowest: HashMap<String, u32>,
    groups: BTreeMap<Key, Vec<Value>>,
}

pub(super) fn wrong(error: &dyn std::fmt::Display) -> StoreError {
    unreadable(OPERATION, &error.to_string())
}

impl<'a> Groups<'a> {
    pub(super) fn new(
        question: &'a Question<'a>,
        aggregates: &'a [Aggregate],
        grouping: Grouping,
        sole: Option<u32>,
    ) -> Self {
        let table = question.table;
        let mut lowest = HashMap::new();
        if let Some(tag) = grouping.by_tag {
            let column = &table.series.columns()[tag];
            for series in 0..table.series.len() {
                let mut name = column.text(series);
                if question.kept.roster.is_property(tag) {
                    name = property_name(&name);
                }
                lowest.entry(name).or_insert(series);
            }
        }
        Self { question, aggregates, grouping, sole, lowest, groups: BTreeMap::new() }
    }

    /// The group of a document's `_id`, with no values yet where it is new.
    pub(super) fn at(&mut self, document: &RawDocument) -> Result<&mut Vec<Value>, StoreError> {
        let id = match document.get("_id").map_err(|error| wrong(&error))? {
            Some(RawBsonRef::Document(id)) => Some(id),
            _ => None,
        };
        let part = |name: &str| -> Result<Option<RawBsonRef<'_>>, StoreError> {
            match id {
                Some(id) => id.get(name).map_err(|error| wrong(&error)),
                None => Ok(None),
            }
        };
        let series = if self.grouping.by_series {
            match self.sole {
                Some(series) => Some(series),
                None => Some(series_of(self.question.kept, part(SERIES)?)?),
            }
        } else if self.grouping.by_tag.is_some() {
            Some(self.lowest_of(part(TAG)?)?)
        } else {
            None
        };
        let window = match (self.grouping.window, part(WINDOW)?) {
            (None, _) => None,
            (Some(_), Some(RawBsonRef::Int64(start))) => Some(start),
            (Some(_), Some(RawBsonRef::Int32(start))) => Some(i64::from(start)),
            _ => return Err(wrong(&"a group has no window")),
        };
        let night = match (self.grouping.by_day_part, part(DAY)?) {
            (None, _) => None,
            (Some(_), Some(RawBsonRef::Boolean(day))) => Some(!day),
            _ => return Err(wrong(&"a group has no part of the day")),
        };
        let none = || {
            let absent = |one: &Aggregate| match one.function {
                Function::Count => Value::I64(0),
                _ => Value::Null,
            };
            self.aggregates.iter().map(absent).collect()
        };
        Ok(self.groups.entry((series, window, night)).or_insert_with(none))
    }

    fn lowest_of(&self, tag: Option<RawBsonRef<'_>>) -> Result<u32, StoreError> {
        let found = match tag {
            Some(RawBsonRef::String(text)) => self.lowest.get(text),
            Some(RawBsonRef::Int64(value)) => self.lowest.get(&value.to_string()),
            _ => None,
        };
        found.copied().ok_or_else(|| wrong(&"a group bears a tag that no series has"))
    }

    /// The groups.
    pub(super) fn finish(self) -> Vec<Group> {
        self.groups
            .into_iter()
            .map(|((series, window_start_ns, night), values)| Group {
                series,
                window_start_ns,
                day: night.map(|night| !night),
                values,
            })
            .collect()
    }
}

/// The type of an aggregate's value.
pub(super) const fn value_type(function: Function, field: FieldType) -> FieldType {
    match function {
        Function::Count => FieldType::I64,
        Function::Mean | Function::StandardDeviation | Function::TimeWeightedShare => FieldType::F64,
        _ => field,
    }
}

/// A value out of a group's document.
pub(super) fn value_at(document: &RawDocument, name: &str, kind: FieldType) -> Result<Value, StoreError> {
    value(kind, document.get(name).map_err(|error| wrong(&error))?)
}

/// A whole number out of a group's document, 0 where there is none.
pub(super) fn whole_at(document: &RawDocument, name: &str) -> Result<i64, StoreError> {
    match value_at(document, name, FieldType::I64)? {
        Value::I64(value) => Ok(value),
        _ => Ok(0),
    }
}
