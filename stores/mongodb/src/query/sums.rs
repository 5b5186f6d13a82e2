//! Aggregates from the sums that buckets keep: no reading is looked at.

use super::choice::Choice;
use super::expression::{nanoseconds, window_start};
use super::groups::{Groups, KeyParts, value_at, value_type, whole_at};
use super::source::{key_expression, tag_expression, time_filter};
use super::{OPERATION, Question, Reader};
use crate::schema::COUNT;
use crate::schema::Fields;
use crate::schema::layout_options::has_one_pair;
use mongodb::bson::{Bson, Document, RawDocument, doc};
use sensormark_store::{Aggregate, FieldSet, FieldType, Function, Group, Grouping, Shape, StoreError, Value};

/// The sums of a property.
const SUMS: &str = "_s";
const PROPERTY: &str = "_p";
const PARTS: [&str; 2] = ["day", "night"];

impl Reader<'_> {
    /// The groups that aggregates over the range give.
    pub(super) async fn kept_sums(
        &self,
        question: &Question<'_>,
        aggregates: &[Aggregate],
        grouping: Grouping,
    ) -> Result<Vec<Group>, StoreError> {
        if let Some(reason) = not_in_sums(question, aggregates, grouping) {
            return Err(StoreError::unsupported(OPERATION, reason));
        }
        if question.is_empty() {
            return Ok(Vec::new());
        }
        let sole = question.choice.sole(question.table);
        let (table, kept) = (question.table, question.kept);
        let mut stages = sums(question, aggregates, grouping, sole);
        let time = nanoseconds(kept, &format!("${}", kept.time));
        let key = KeyParts {
            series: (grouping.by_series && sole.is_none()).then(|| key_expression(table, kept)),
            tag: grouping.by_tag.map(|tag| tag_expression(table, kept, tag)),
            window: grouping.window.map(|window| window_start(&time, window, question.range.start_ns)),
            day: grouping.by_day_part.map(|_| Bson::String(format!("${SUMS}.day"))),
        };
        let mut group = doc! { "_id": key.id() };
        for field in fields_of(aggregates).iter() {
            for (name, accumulator) in [("n", "$sum"), ("s", "$sum"), ("l", "$min"), ("h", "$max")] {
                let path = format!("${SUMS}.{name}{field}");
                group.insert(format!("{name}{field}"), doc! { accumulator: path });
            }
        }
        stages.push(doc! { "$group": group });
        let mut groups = Groups::new(question, aggregates, grouping, sole);
        let take = |document: &RawDocument| take(question, aggregates, &mut groups, document);
        self.pipeline(kept, stages, take).await?;
        Ok(groups.finish())
    }
}

fn take(
    question: &Question<'_>,
    aggregates: &[Aggregate],
    groups: &mut Groups<'_>,
    document: &RawDocument,
) -> Result<(), StoreError> {
    let mut values = Vec::with_capacity(aggregates.len());
    let mut any = false;
    for aggregate in aggregates {
        let (field, function) = (aggregate.field, aggregate.function);
        let count = whole_at(document, &format!("n{field}"))?;
        any |= count > 0;
        let kind = question.table.fields[field].kind;
        let at = |name: &str, kind| value_at(document, &format!("{name}{field}"), kind);
        values.push(match function {
            Function::Count => Value::I64(count),
            _ if count == 0 => Value::Null,
            Function::Min => at("l", kind)?,
            Function::Max => at("h", kind)?,
            Function::Mean => match at("s", value_type(function, kind))? {
                Value::F64(sum) => Value::F64(sum / count as f64),
                other => other,
            },
            _ => at("s", kind)?,
        });
    }
    if any {
        *groups.at(document)? = values;
    }
    Ok(())
}

fn fields_of(aggregates: &[Aggregate]) -> FieldSet {
    aggregates.iter().fold(FieldSet::first(0), |set, one| set.with(one.field))
}

fn not_in_sums(
    question: &Question<'_>,
    aggregates: &[Aggregate],
    grouping: Grouping,
) -> Option<&'static str> {
    let Shape::Bucketed { per_ns, split, .. } = question.kept.shape else {
        return Some("no sums are kept at write time in this layout; ask for the readings' own");
    };
    let off = |time: i64| time.rem_euclid(per_ns) != 0;
    let range = question.query.range;
    if off(range.start_ns) || off(range.end_ns) {
        return Some("the range does not start and end with the days of the buckets");
    }
    if grouping.window.is_some_and(|window| off(window.width_ns) || off(window.origin_ns)) {
        return Some("the windows are not made of whole days of the buckets");
    }
    if grouping.by_day_part.is_some_and(|wanted| wanted != split) {
        return Some("the buckets' sums are split into day and night at other times");
    }
    let of_part = grouping.by_day_part.is_some() && has_one_pair(question.kept.shape);
    let extreme = |one: &Aggregate| matches!(one.function, Function::Min | Function::Max);
    if of_part && aggregates.iter().any(extreme) {
        return Some("a bucket keeps one smallest and one largest value for day and night");
    }
    let kept = |aggregate: &Aggregate| {
        let kind = question.table.fields[aggregate.field].kind;
        match aggregate.function {
            Function::Count => true,
            Function::Sum | Function::Min | Function::Max | Function::Mean => {
                !matches!(kind, FieldType::Bool | FieldType::Text)
            }
            _ => false,
        }
    };
    (!aggregates.iter().all(kept)).then_some("buckets hold count, sum, minimum and maximum of numbers alone")
}

/// Stages after which each document is a property's sums of a day, or of a part of it: `_s: {day, n…, s…, l…, h…}`.
fn sums(
    question: &Question<'_>,
    aggregates: &[Aggregate],
    grouping: Grouping,
    sole: Option<u32>,
) -> Vec<Document> {
    let (table, kept) = (question.table, question.kept);
    let mut filter = question.choice.filter(table, kept);
    filter.extend(time_filter(kept, question.range, true));
    let mut stages = vec![doc! { "$match": filter }];
    let mut keep: Document = (0..table.tags.len())
        .filter(|&tag| !kept.roster.is_property(tag))
        .filter_map(|tag| kept.tag_path(table, tag))
        .map(|path| (path, Bson::Int32(1)))
        .collect();
    keep.insert("_id", 0);
    keep.insert(&kept.time, 1);
    let sums = match sole {
        Some(series) => {
            let property = kept.roster.property(series).unwrap_or_default();
            keep.insert(PROPERTY, doc! { "$literal": property });
            format!("${}.{property}", kept.inner)
        }
        None => {
            let mut opened = keep.clone();
            opened.insert(PROPERTY, doc! { "$objectToArray": format!("${}", kept.inner) });
            stages.push(doc! { "$project": opened });
            stages.push(doc! { "$unwind": format!("${PROPERTY}") });
            if let Some(chosen) = chosen(question) {
                stages.push(doc! { "$match": chosen });
            }
            keep.insert(PROPERTY, format!("${PROPERTY}.k"));
            format!("${PROPERTY}.v")
        }
    };
    let rows: Vec<Bson> = if grouping.by_day_part.is_some() {
        PARTS.iter().map(|part| row(question, aggregates, &sums, &[part])).collect()
    } else {
        vec![row(question, aggregates, &sums, &PARTS)]
    };
    keep.insert(SUMS, rows);
    stages.push(doc! { "$project": keep });
    stages.push(doc! { "$unwind": format!("${SUMS}") });
    stages
}

/// The condition on properties of several series.
fn chosen(question: &Question<'_>) -> Option<Document> {
    let (table, kept) = (question.table, question.kept);
    let names = question.choice.properties(kept)?;
    let Choice::Series(numbers) = &question.choice else {
        return Some(doc! { "_p.k": { "$in": names } });
    };
    let each: Vec<Document> = numbers
        .iter()
        .map(|&series| {
            let mut one = Choice::Series(vec![series]).filter(table, kept);
            one.insert("_p.k", kept.roster.property(series).unwrap_or_default());
            one
        })
        .collect();
    Some(doc! { "$or": each })
}

/// The sums of these parts of the day together.
fn row(question: &Question<'_>, aggregates: &[Aggregate], sums: &str, parts: &[&str]) -> Bson {
    let names = match &question.kept.fields {
        Fields::Beside(names) | Fields::Under(_, names) => names.as_slice(),
        Fields::Array(_) => &[],
    };
    let mut row = doc! { "day": parts[0] == PARTS[0] };
    for field in fields_of(aggregates).iter() {
        let Some(name) = names.get(field) else {
            continue;
        };
        let of = |what: &str| -> Vec<String> {
            parts.iter().map(|part| format!("{sums}.{name}.{what}.{part}")).collect()
        };
        row.insert(format!("n{field}"), doc! { "$sum": of(COUNT) });
        row.insert(format!("s{field}"), doc! { "$sum": of("sum") });
        for (prefix, what, operator) in [("l", "min", "$min"), ("h", "max", "$max")] {
            let paths = if has_one_pair(question.kept.shape) {
                vec![format!("{sums}.{name}.{what}")]
            } else {
                of(what)
            };
            row.insert(format!("{prefix}{field}"), doc! { operator: paths });
        }
    }
    row.into()
}
