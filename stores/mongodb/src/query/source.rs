//! Where the readings in question come from: stages of a pipeline after which each document is one reading.
//!
//! For documents of single readings that is one match; documents that hold several are matched by their own time, their
//! readings are filtered inside, and then unwound.

use super::Question;
use super::choice::Choice;
use super::expression::{Condition, field, instant, nanoseconds};
use crate::schema::{PhysicalTable, Tags};
use mongodb::bson::{Bson, Document, doc};
use sensormark_store::{QueryStyle, Shape, Table, TimeRange, Window};

/// The reading, unwound out of its document.
pub(super) const READING: &str = "_m";
/// The property that it is of.
const PROPERTY: &str = "_p";

/// Stages that give the readings in question, and where their parts are.
pub(super) struct Source<'a> {
    /// The stages.
    pub(super) stages: Vec<Document>,
    /// The reading's time, with its dollar sign.
    pub(super) time: String,
    table: &'a Table,
    kept: &'a PhysicalTable,
    prefix: &'static str,
}

impl<'a> Source<'a> {
    pub(super) fn new(question: &Question<'a>, conditions: &[Condition]) -> Self {
        Self::with_days(question, conditions, true)
    }

    /// The same; without `coarse` no document's day is looked at.
    pub(super) fn with_days(question: &Question<'a>, conditions: &[Condition], coarse: bool) -> Self {
        let (table, kept) = (question.table, question.kept);
        let mut source = Self {
            stages: Vec::new(),
            time: if kept.is_flat() {
                format!("${}", kept.time)
            } else {
                format!("${READING}.{}", kept.inner_time)
            },
            table,
            kept,
            prefix: if kept.is_flat() { "$" } else { "$_m." },
        };
        let mut filter = question.choice.filter(table, kept);
        filter.extend(time_filter(kept, question.range, coarse));
        if kept.is_flat() {
            add_conditions(&mut filter, table, kept, conditions);
            source.stages.push(doc! { "$match": filter });
            return source;
        }
        source.stages.push(doc! { "$match": filter });
        source.unwind(question, conditions);
        source
    }

    fn unwind(&mut self, question: &Question<'a>, conditions: &[Condition]) {
        let (table, kept) = (self.table, self.kept);
        let mut keep: Document = (0..table.tags.len())
            .filter(|&tag| !kept.roster.is_property(tag))
            .filter_map(|tag| kept.tag_path(table, tag))
            .map(|path| (path, Bson::Int32(1)))
            .collect();
        keep.insert("_id", 0);
        if kept.queries != QueryStyle::Usual {
            keep.insert(&kept.time, 1);
        }
        let readings = match kept.shape {
            Shape::Bucketed { .. } => match question.choice.sole(table) {
                Some(series) => {
                    let property = kept.roster.property(series).unwrap_or_default();
                    format!("${}.{property}.{}", kept.inner, crate::schema::SAMPLES)
                }
                None => {
                    self.unwind_properties(&question.choice, &keep);
                    keep.insert(PROPERTY, "$_p.k");
                    format!("${PROPERTY}.v.{}", crate::schema::SAMPLES)
                }
            },
            _ => format!("${}", kept.inner),
        };
        if kept.queries == QueryStyle::Usual {
            let inside = inside(table, kept, question.range, conditions);
            keep.insert(READING, filtered(Bson::String(readings), inside));
        } else {
            keep.insert(READING, readings);
        }
        self.stages.push(doc! { "$project": keep });
        self.stages.push(doc! { "$unwind": format!("${READING}") });
        if kept.queries != QueryStyle::Usual {
            self.stages.push(doc! { "$match": after_unwinding(question, conditions) });
        }
        if let (Shape::Bucketed { .. }, Choice::Series(numbers)) = (kept.shape, &question.choice)
            && numbers.len() > 1
        {
            let each: Vec<Document> = numbers
                .iter()
                .map(|&series| {
                    let mut one = Choice::Series(vec![series]).filter(table, kept);
                    one.insert(PROPERTY, kept.roster.property(series).unwrap_or_default());
                    one
                })
                .collect();
            self.stages.push(doc! { "$match": { "$or": each } });
        }
    }

    /// The time of a reading's document in ns, where all readings of a document are of one window of this width and origin.
    pub(super) fn window_of_document(&self, window: Window) -> Option<Bson> {
        match self.kept.shape {
            Shape::Bucketed { per_ns, .. }
                if self.kept.queries != QueryStyle::Usual
                    && window.width_ns == per_ns
                    && window.origin_ns.rem_euclid(per_ns) == 0 =>
            {
                Some(nanoseconds(self.kept, &format!("${}", self.kept.time)))
            }
            _ => None,
        }
    }

    /// The reading itself.
    pub(super) fn reading(&self) -> String {
        format!("${READING}")
    }

    /// One document a property.
    fn unwind_properties(&mut self, choice: &Choice, keep: &Document) {
        let mut keep = keep.clone();
        keep.insert(PROPERTY, doc! { "$objectToArray": format!("${}", self.kept.inner) });
        self.stages.push(doc! { "$project": keep });
        self.stages.push(doc! { "$unwind": format!("${PROPERTY}") });
        if let Some(names) = choice.properties(self.kept) {
            self.stages.push(doc! { "$match": { "_p.k": { "$in": names } } });
        }
    }

    /// The value of a field.
    pub(super) fn field(&self, number: usize) -> Bson {
        field(self.kept, self.prefix, number)
    }

    /// The time in ns.
    pub(super) fn nanoseconds(&self) -> Bson {
        nanoseconds(self.kept, &self.time)
    }

    /// The value of a tag; of the one that names properties, the property's name.
    pub(super) fn tag(&self, tag: usize) -> Bson {
        tag_expression(self.table, self.kept, tag)
    }

    /// What tells series apart: a value, or a document of several.
    pub(super) fn key(&self) -> Bson {
        key_expression(self.table, self.kept)
    }
}

/// The value of a tag of a document.
pub(super) fn tag_expression(table: &Table, kept: &PhysicalTable, tag: usize) -> Bson {
    if kept.roster.is_property(tag) {
        return Bson::String(format!("${PROPERTY}"));
    }
    match (kept.tag_path(table, tag), &kept.tags) {
        (Some(path), _) => Bson::String(format!("${path}")),
        (None, Tags::Pairs(name) | Tags::Under(name)) => {
            let place = i32::try_from(tag).unwrap_or(i32::MAX);
            doc! { "$arrayElemAt": [format!("${name}.val"), place] }.into()
        }
        (None, Tags::Beside(_)) => Bson::Null,
    }
}

/// What tells series apart: a value, or a document of several.
pub(super) fn key_expression(table: &Table, kept: &PhysicalTable) -> Bson {
    let mut parts: Vec<Bson> =
        kept.roster.identity().iter().map(|&tag| tag_expression(table, kept, tag)).collect();
    if kept.roster.property(0).is_some() {
        parts.push(Bson::String(format!("${PROPERTY}")));
    }
    if parts.len() == 1 {
        parts.swap_remove(0)
    } else {
        // a document, since neither groups' paths nor partitions take arrays
        let named = (0..).zip(parts);
        let document: Document =
            named.map(|(number, part): (u32, Bson)| (format!("k{number}"), part)).collect();
        document.into()
    }
}

/// Conditions of a match, added to it.
pub(super) fn add_conditions(
    filter: &mut Document,
    table: &Table,
    kept: &PhysicalTable,
    conditions: &[Condition],
) {
    for condition in conditions {
        let Some(further) = condition.matching(table, kept, "") else {
            continue;
        };
        // a choice of several series may have taken the name of the condition already
        if further.keys().any(|key| filter.contains_key(key)) {
            let before = std::mem::take(filter);
            filter.insert("$and", vec![before, further]);
        } else {
            filter.extend(further);
        }
    }
}

/// The condition on a document's own time: of the reading, or of its span or day. Without `coarse` no day is looked at.
pub(super) fn time_filter(kept: &PhysicalTable, range: TimeRange, coarse: bool) -> Document {
    let unit = match kept.shape {
        Shape::RecordPerSpan { span_ns, .. } => span_ns,
        Shape::Bucketed { per_ns, .. } if coarse => per_ns,
        Shape::Bucketed { .. } | Shape::GrowingArray => return Document::new(),
        _ => 1,
    };
    let first = range.start_ns.saturating_sub(range.start_ns.rem_euclid(unit));
    if unit == 1 && range.length_ns() == 1 {
        return doc! { &kept.time: instant(kept, first) };
    }
    let (start, end) = (instant(kept, first), instant(kept, range.end_ns));
    let is_native = kept.shape == Shape::NativeTimeSeries;
    let (mut inside, mut outside) = (Document::new(), Vec::new());
    if is_native && first < LONGEST_BUCKET {
        outside.push(doc! { &kept.time: { "$lt": start } });
    } else {
        inside.insert("$gte", start);
    }
    if is_native && range.end_ns > KEYS_OF_BUCKETS_END {
        outside.push(doc! { &kept.time: { "$gte": end } });
    } else {
        inside.insert("$lt", end);
    }
    let mut filter = Document::new();
    if !inside.is_empty() {
        filter.insert(&kept.time, inside);
    }
    if !outside.is_empty() {
        filter.insert("$nor", outside);
    }
    filter
}

/// Time-series collections have seconds of 32 bits in the keys of their buckets; they end here, in ns. MongoDB 6.0 turns an upper bound behind it into one on
/// these keys, cut off, and finds nothing; it leaves a bound alone that is said by `$nor`.
const KEYS_OF_BUCKETS_END: i64 = (1 << 31) * 1_000_000_000;

/// How much time a bucket holds at most, in ns (<https://www.mongodb.com/docs/manual/core/timeseries/timeseries-granularity/>). A lower bound becomes one on
/// the keys of buckets that began so much before it. Before 1970 that is cut off too.
const LONGEST_BUCKET: i64 = 30 * 86_400 * 1_000_000_000;

/// The bounds of a reading's time.
pub(super) fn bounds(kept: &PhysicalTable, range: TimeRange) -> Document {
    doc! { "$gte": instant(kept, range.start_ns), "$lt": instant(kept, range.end_ns) }
}

/// The conditions on a reading inside its document: its time, unless the documents' own times settle it, and further ones.
pub(super) fn inside(
    table: &Table,
    kept: &PhysicalTable,
    range: TimeRange,
    conditions: &[Condition],
) -> Vec<Document> {
    let aligned = match kept.shape {
        Shape::RecordPerSpan { span_ns, .. } => {
            range.start_ns.rem_euclid(span_ns) == 0 && range.end_ns.rem_euclid(span_ns) == 0
        }
        _ => false,
    };
    let mut all = Vec::new();
    if !aligned {
        let time = format!("$$m.{}", kept.inner_time);
        all.push(doc! { "$gte": [&time, instant(kept, range.start_ns)] });
        all.push(doc! { "$lt": [&time, instant(kept, range.end_ns)] });
    }
    all.extend(conditions.iter().filter_map(|condition| condition.expression(table, kept, "$$m.")));
    all
}

/// The conditions on a reading that was taken out of its document.
fn after_unwinding(question: &Question<'_>, conditions: &[Condition]) -> Document {
    let (table, kept, range) = (question.table, question.kept, question.range);
    let time = format!("{READING}.{}", kept.inner_time);
    let mut filter = doc! { time: bounds(kept, range) };
    let further: Vec<Document> =
        conditions.iter().filter_map(|condition| condition.matching(table, kept, "_m.")).collect();
    if !further.is_empty() {
        filter.insert("$and", further);
    }
    filter
}

/// An array's elements that fulfil these conditions.
pub(super) fn filtered(input: Bson, mut conditions: Vec<Document>) -> Bson {
    let condition = match conditions.len() {
        0 => return input,
        1 => conditions.swap_remove(0),
        _ => doc! { "$and": conditions },
    };
    doc! { "$filter": { "input": input, "as": "m", "cond": condition } }.into()
}
