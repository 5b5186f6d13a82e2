//! Aggregates over readings, by window, series, tag and part of the day.
//!
//! Count, sum, minimum, maximum, mean and last value come from one pipeline. The most frequent value and the share of time each have a pipeline of their own,
//! because they look at a field's readings in another order.

use super::expression::{Condition, is_day, is_there, window_start};
use super::groups::{Groups, KeyParts, value_at, value_type, whole_at, wrong};
use super::source::Source;
use super::{OPERATION, Question, Reader};
use mongodb::bson::{Bson, Document, RawBsonRef, RawDocument, doc};
use sensormark_store::{
    Aggregate, FieldSet, FieldType, Function, Group, Grouping, QueryStyle, StoreError, Value,
};

impl Reader<'_> {
    /// The groups that aggregates over the range give.
    pub(super) async fn aggregate(
        &self,
        question: &Question<'_>,
        aggregates: &[Aggregate],
        grouping: Grouping,
    ) -> Result<Vec<Group>, StoreError> {
        if question.is_empty() {
            return Ok(Vec::new());
        }
        let sole = question.choice.sole(question.table);
        if let Some(reason) = unsupported(question, aggregates, grouping, sole) {
            return Err(StoreError::unsupported(OPERATION, reason));
        }
        let mut groups = Groups::new(question, aggregates, grouping, sole);
        if aggregates.iter().any(|one| !has_own_pipeline(one.function)) {
            self.in_one(question, aggregates, grouping, sole, &mut groups).await?;
        }
        for (number, aggregate) in aggregates.iter().enumerate() {
            let at = (number, *aggregate);
            match aggregate.function {
                Function::MostFrequent => {
                    self.most_frequent(question, at, grouping, sole, &mut groups).await?;
                }
                Function::TimeWeightedShare => {
                    self.share(question, at, grouping, sole, &mut groups).await?;
                }
                _ => {}
            }
        }
        Ok(groups.finish())
    }

    async fn in_one(
        &self,
        question: &Question<'_>,
        aggregates: &[Aggregate],
        grouping: Grouping,
        sole: Option<u32>,
        groups: &mut Groups<'_>,
    ) -> Result<(), StoreError> {
        let fields = aggregates
            .iter()
            .filter(|one| !has_own_pipeline(one.function))
            .fold(FieldSet::first(0), |set, one| set.with(one.field));
        let mut source = Source::new(question, &[Condition::Any(fields)]);
        let id = key(question, &source, grouping, sole).id();
        let mut values = Document::new();
        for (number, aggregate) in aggregates.iter().enumerate() {
            accumulate(&mut values, question, &source, number, *aggregate);
        }
        if question.kept.queries == QueryStyle::WindowFunctions {
            source.stages.extend(by_window_functions(id, values));
        } else {
            let mut group = doc! { "_id": id };
            group.extend(values);
            source.stages.push(doc! { "$group": group });
        }
        let take = |document: &RawDocument| {
            let values = groups.at(document)?;
            for (number, aggregate) in aggregates.iter().enumerate() {
                if !has_own_pipeline(aggregate.function) {
                    values[number] = accumulated(question, document, number, *aggregate)?;
                }
            }
            Ok(())
        };
        self.pipeline(question.kept, source.stages, take).await
    }

    async fn most_frequent(
        &self,
        question: &Question<'_>,
        (number, aggregate): (usize, Aggregate),
        grouping: Grouping,
        sole: Option<u32>,
        groups: &mut Groups<'_>,
    ) -> Result<(), StoreError> {
        let field = aggregate.field;
        let mut source = Source::new(question, &[Condition::Any(FieldSet::one(field))]);
        let key = key(question, &source, grouping, sole).id();
        let by_value = doc! { "k": key, "v": source.field(field) };
        source.stages.push(doc! { "$group": { "_id": by_value, "n": { "$sum": 1 } } });
        source.stages.push(doc! { "$sort": { "n": -1, "_id.v": 1 } });
        source.stages.push(doc! { "$group": { "_id": "$_id.k", "v": { "$first": "$_id.v" } } });
        let kind = question.table.fields[field].kind;
        let take = |document: &RawDocument| {
            groups.at(document)?[number] = value_at(document, "v", kind)?;
            Ok(())
        };
        self.pipeline(question.kept, source.stages, take).await
    }

    async fn share(
        &self,
        question: &Question<'_>,
        (number, aggregate): (usize, Aggregate),
        grouping: Grouping,
        sole: Option<u32>,
        groups: &mut Groups<'_>,
    ) -> Result<(), StoreError> {
        let field = aggregate.field;
        let mut source = Source::new(question, &[Condition::Any(FieldSet::one(field))]);
        let end = question.query.range.end_ns;
        let parts = key(question, &source, grouping, sole);
        let until: Bson = match (&parts.window, grouping.window) {
            (Some(start), Some(window)) => {
                let window_end = doc! { "$add": [start.clone(), window.width_ns] };
                doc! { "$min": [window_end, end] }.into()
            }
            // a bare number would ask for a field of that name
            _ => doc! { "$literal": end }.into(),
        };
        let series = if sole.is_some() { Bson::Null } else { source.key() };
        source.stages.push(doc! { "$project": {
            "_id": 0,
            "key": parts.id(),
            "series": series,
            "t": source.nanoseconds(),
            "v": source.field(field),
            "until": until,
        } });
        source.stages.push(doc! { "$setWindowFields": {
            "partitionBy": "$series",
            "sortBy": { "t": 1 },
            "output": { "next": { "$shift": { "output": "$t", "by": 1 } } },
        } });
        // a window's end may be infinitely far away: then sums are floating point numbers, as for any that pass 64 bits
        let held = doc! { "$subtract": [{ "$min": ["$next", "$until"] }, "$t"] };
        source.stages.push(doc! { "$group": {
            "_id": "$key",
            "all": { "$sum": held.clone() },
            "on": { "$sum": { "$cond": ["$v", held, 0_i64] } },
        } });
        let take = |document: &RawDocument| {
            let all = number_at(document, "all")?;
            let on = number_at(document, "on")?;
            groups.at(document)?[number] = Value::F64(on / all);
            Ok(())
        };
        self.pipeline(question.kept, source.stages, take).await
    }
}

const fn has_own_pipeline(function: Function) -> bool {
    matches!(function, Function::MostFrequent | Function::TimeWeightedShare)
}

fn unsupported(
    question: &Question<'_>,
    aggregates: &[Aggregate],
    grouping: Grouping,
    sole: Option<u32>,
) -> Option<String> {
    let several = question.choice.is_several() && sole.is_none() && !grouping.by_series;
    for one in aggregates {
        let field = &question.table.fields[one.field];
        let ordered = matches!(one.function, Function::Last | Function::TimeWeightedShare);
        if several && ordered {
            return Some(
                "last values and shares of time in a group of several series; group by series".to_owned(),
            );
        }
        let numeric = matches!(one.function, Function::Sum | Function::Min | Function::Max | Function::Mean);
        if numeric && matches!(field.kind, FieldType::Bool | FieldType::Text) {
            return Some(format!(
                "{:?} of {}, which is no number; use count, last or most frequent",
                one.function, field.name
            ));
        }
        if one.function == Function::TimeWeightedShare && field.kind != FieldType::Bool {
            return Some(format!("the share of time of {}, which is no truth value", field.name));
        }
    }
    None
}

/// The parts of the groups' key.
pub(super) fn key(
    question: &Question<'_>,
    source: &Source<'_>,
    grouping: Grouping,
    sole: Option<u32>,
) -> KeyParts {
    let time = source.nanoseconds();
    KeyParts {
        series: (grouping.by_series && sole.is_none()).then(|| source.key()),
        tag: grouping.by_tag.map(|tag| match sole {
            Some(series) if question.kept.roster.is_property(tag) => {
                let name = question.kept.roster.property(series).unwrap_or_default();
                doc! { "$literal": name }.into()
            }
            _ => source.tag(tag),
        }),
        window: grouping.window.map(|window| {
            source
                .window_of_document(window)
                .unwrap_or_else(|| window_start(&time, window, question.range.start_ns))
        }),
        day: grouping.by_day_part.map(|split| is_day(&time, split).into()),
    }
}

/// Stages that give each reading its group's values, and then keep one reading of each group.
fn by_window_functions(key: Bson, values: Document) -> [Document; 3] {
    let mut first = doc! { "_id": "$key" };
    for name in values.keys() {
        first.insert(name, doc! { "$first": format!("${name}") });
    }
    [
        doc! { "$set": { "key": key } },
        doc! { "$setWindowFields": { "partitionBy": "$key", "output": values } },
        doc! { "$group": first },
    ]
}

fn accumulate(
    group: &mut Document,
    question: &Question<'_>,
    source: &Source<'_>,
    number: usize,
    aggregate: Aggregate,
) {
    let value = source.field(aggregate.field);
    let nullable = question.table.fields[aggregate.field].nullable;
    let counted: Bson =
        if nullable { doc! { "$cond": [is_there(value.clone()), 1, 0] }.into() } else { Bson::Int32(1) };
    let accumulator = match aggregate.function {
        Function::Count => doc! { "$sum": counted },
        Function::Sum => {
            if nullable {
                group.insert(format!("n{number}"), doc! { "$sum": counted });
            }
            doc! { "$sum": value }
        }
        Function::Min => doc! { "$min": value },
        Function::Max => doc! { "$max": value },
        Function::Mean => doc! { "$avg": value },
        Function::StandardDeviation => doc! { "$stdDevSamp": value },
        Function::Last => {
            // documents are compared part by part: the latest time is the largest
            let latest = doc! { "t": &source.time, "v": value.clone() };
            if nullable {
                doc! { "$max": { "$cond": [is_there(value), latest, Bson::Null] } }
            } else {
                doc! { "$max": latest }
            }
        }
        Function::MostFrequent | Function::TimeWeightedShare => return,
    };
    group.insert(format!("v{number}"), accumulator);
}

fn accumulated(
    question: &Question<'_>,
    document: &RawDocument,
    number: usize,
    aggregate: Aggregate,
) -> Result<Value, StoreError> {
    let field = &question.table.fields[aggregate.field];
    let name = format!("v{number}");
    let kind = value_type(aggregate.function, field.kind);
    match aggregate.function {
        Function::Sum if field.nullable && whole_at(document, &format!("n{number}"))? == 0 => Ok(Value::Null),
        Function::Last => match document.get(&name).map_err(|error| wrong(&error))? {
            Some(RawBsonRef::Document(latest)) => value_at(latest, "v", kind),
            _ => Ok(Value::Null),
        },
        _ => value_at(document, &name, kind),
    }
}

fn number_at(document: &RawDocument, name: &str) -> Result<f64, StoreError> {
    match value_at(document, name, FieldType::F64)? {
        Value::F64(value) => Ok(value),
        _ => Err(wrong(&"a share of time is no number")),
    }
}
