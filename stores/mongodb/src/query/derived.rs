//! What is derived from readings, by pipelines whose documents hold a time `w` and values `v0`, `v1`, …
//!
//! Neighbours and moments come from `$setWindowFields` (<https://www.mongodb.com/docs/manual/reference/operator/aggregation/setWindowFields/>).

use super::aggregate::key;
use super::expression::Condition;
use super::groups::{value_at, whole_at};
use super::source::Source;
use super::{Question, Reader};
use mongodb::bson::{Bson, Document, RawDocument, doc};
use sensormark_store::{
    Answer, Derived, FieldSet, Group, Grouping, Layout, Operation, QueryStyle, Shape, StoreError,
};

/// Whether a pipeline answers this operation in this layout. A grid needs documents that are not there, and two series are subtracted by the client.
pub(crate) fn derives(operation: Operation, layout: &Layout) -> bool {
    match operation {
        Operation::Interpolated | Operation::Difference => false,
        Operation::RowsByValue => {
            matches!(layout.shape, Shape::RowPerReading | Shape::NativeTimeSeries)
                && layout.queries == QueryStyle::Usual
        }
        _ => true,
    }
}

impl Reader<'_> {
    pub(super) async fn derived(
        &self,
        question: &Question<'_>,
        derived: &Derived,
    ) -> Result<Answer, StoreError> {
        if let Derived::RowsByValue { fields, predicate } = *derived {
            return self.range(question, fields, false, Some(predicate)).await;
        }
        if question.is_empty() {
            return Ok(Answer::Groups(Vec::new()));
        }
        let inputs = derived.inputs();
        let conditions: Vec<Condition> =
            inputs.iter().map(|&field| Condition::Any(FieldSet::one(field))).collect();
        let mut source = Source::new(question, &conditions);
        let grouping = Grouping { window: derived.window(), ..Grouping::default() };
        let window = key(question, &source, grouping, question.choice.sole(question.table)).window;
        let mut values = doc! { "_id": 0, "w": window.unwrap_or_else(|| source.nanoseconds()) };
        for (name, &field) in ["a", "b"].into_iter().zip(&inputs) {
            values.insert(name, source.field(field));
        }
        source.stages.push(doc! { "$project": values });
        source.stages.extend(stages(derived));
        let kinds = derived.kinds(question.table);
        let mut groups = Vec::new();
        let take = |document: &RawDocument| {
            let start = (!derived.is_of_all()).then(|| whole_at(document, "w")).transpose()?;
            let values = (0..)
                .zip(&kinds)
                .map(|(place, &kind): (u32, _)| value_at(document, &format!("v{place}"), kind));
            let values = values.collect::<Result<_, _>>()?;
            groups.push(Group { series: None, window_start_ns: start, day: None, values });
            Ok(())
        };
        self.pipeline(question.kept, source.stages, take).await?;
        Ok(Answer::groups(groups))
    }
}

/// From times `w` and values `a` and `b` to the answer's values.
fn stages(derived: &Derived) -> Vec<Document> {
    let beside = |output: Document| doc! { "$setWindowFields": { "output": output } };
    let in_order = |output: Document| doc! { "$setWindowFields": { "sortBy": { "w": 1 }, "output": output } };
    let scale = doc! { "$multiply": ["$x", "$y"] };
    match *derived {
        Derived::Correlation { .. } => vec![
            beside(doc! {
                "c": { "$covarianceSamp": ["$a", "$b"] },
                "x": { "$stdDevSamp": "$a" },
                "y": { "$stdDevSamp": "$b" },
            }),
            doc! { "$limit": 1 },
            doc! { "$project": { "v0": {
                "$cond": [{ "$gt": [scale.clone(), 0] }, { "$divide": ["$c", scale] }, Bson::Null],
            } } },
        ],
        Derived::OutOfRange { above, below, .. } => vec![
            doc! { "$group": { "_id": "$w", "v0": { "$max": "$a" }, "v1": { "$min": "$a" } } },
            doc! { "$match": { "$or": [{ "v0": { "$gt": above } }, { "v1": { "$lt": below } }] } },
            doc! { "$project": { "w": "$_id", "v0": 1, "v1": 1 } },
        ],
        Derived::CrossMean { .. } => vec![doc! { "$project": {
            "w": 1,
            "v0": "$a",
            "v1": "$b",
            "v2": { "$add": [{ "$divide": ["$a", 2] }, { "$divide": ["$b", 2] }] },
        } }],
        Derived::Nearest { to, count, .. } => vec![
            doc! { "$set": { "d": { "$add": [
                square(doc! { "$subtract": ["$a", to[0]] }),
                square(doc! { "$subtract": ["$b", to[1]] }),
            ] } } },
            doc! { "$sort": { "d": 1, "w": 1 } },
            doc! { "$limit": i64::from(count) },
            doc! { "$project": { "w": 1, "v0": { "$sqrt": "$d" }, "v1": "$a", "v2": "$b" } },
        ],
        Derived::Segments { threshold, .. } => vec![
            in_order(doc! { "b": { "$shift": { "output": "$a", "by": -1 } } }),
            doc! { "$set": { "n": {
                "$cond": [{ "$gt": [square(doc! { "$subtract": ["$a", "$b"] }), threshold] }, 1, 0],
            } } },
            in_order(doc! { "n": { "$sum": "$n", "window": { "documents": ["unbounded", "current"] } } }),
            doc! { "$group": { "_id": "$n", "w": { "$min": "$w" }, "v0": { "$max": "$w" }, "v1": { "$avg": "$a" } } },
        ],
        Derived::ZScores { beyond, .. } => {
            let mut stages = vec![
                beside(doc! { "m": { "$avg": "$a" }, "d": { "$stdDevSamp": "$a" } }),
                doc! { "$match": { "d": { "$gt": 0 } } },
                doc! { "$project": {
                    "w": 1,
                    "v0": "$a",
                    "v1": { "$divide": [{ "$subtract": ["$a", "$m"] }, "$d"] },
                } },
            ];
            let bounded = |beyond: f64| doc! { "$match": { "$or": [{ "v1": { "$gt": beyond } }, { "v1": { "$lt": -beyond } }] } };
            stages.extend(beyond.map(bounded));
            stages
        }
        _ => Vec::new(),
    }
}

fn square(value: Document) -> Document {
    doc! { "$multiply": [value.clone(), value] }
}
