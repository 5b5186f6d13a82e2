//! Searches: the first and last reading that passes, the smallest value, the series that match.

use super::decode::{time_of, value};
use super::expression::{Condition, field};
use super::readings::series_of;
use super::source::{Source, add_conditions, time_filter};
use super::{OPERATION, Question, Reader};
use crate::connection::unreadable;
use mongodb::bson::{RawDocument, doc};
use sensormark_store::{Answer, FieldSet, FieldType, Moment, Predicate, StoreError};

const TIME: &str = "_t";
const VALUE: &str = "_v";

impl Reader<'_> {
    /// The earliest reading that passes, or the latest.
    pub(super) async fn first(
        &self,
        question: &Question<'_>,
        predicate: Predicate,
        last: bool,
    ) -> Result<Answer, StoreError> {
        if question.is_empty() {
            return Ok(Answer::Moment(None));
        }
        one_series(question)?;
        let (table, kept) = (question.table, question.kept);
        let conditions = [Condition::Passes(predicate)];
        let direction = if last { -1 } else { 1 };
        let mut found = Found::new(question, predicate.field);
        if kept.is_flat() {
            let mut filter = question.choice.filter(table, kept);
            filter.extend(time_filter(kept, question.range, true));
            add_conditions(&mut filter, table, kept, &conditions);
            let further = doc! {
                "projection": {
                    "_id": 0,
                    TIME: format!("${}", kept.time),
                    VALUE: field(kept, "$", predicate.field),
                },
                "sort": { &kept.time: direction },
                "limit": 1,
                "singleBatch": true,
            };
            self.find(kept, filter, further, |document| found.take(document)).await?;
        } else {
            let mut source = Source::new(question, &conditions);
            source.stages.push(doc! { "$project": {
                "_id": 0,
                TIME: &source.time,
                VALUE: source.field(predicate.field),
            } });
            source.stages.push(doc! { "$sort": { TIME: direction } });
            source.stages.push(doc! { "$limit": 1 });
            self.pipeline(kept, source.stages, |document| found.take(document)).await?;
        }
        Ok(Answer::Moment(found.moment))
    }

    /// The smallest value and its time, the earliest of equals.
    pub(super) async fn minimum(&self, question: &Question<'_>, number: usize) -> Result<Answer, StoreError> {
        if question.is_empty() {
            return Ok(Answer::Moment(None));
        }
        one_series(question)?;
        let mut found = Found::new(question, number);
        let mut source = Source::new(question, &[Condition::Any(FieldSet::one(number))]);
        source.stages.push(doc! { "$project": {
            "_id": 0,
            TIME: &source.time,
            VALUE: source.field(number),
        } });
        source.stages.push(doc! { "$sort": { VALUE: 1, TIME: 1 } });
        source.stages.push(doc! { "$limit": 1 });
        self.pipeline(question.kept, source.stages, |document| found.take(document)).await?;
        Ok(Answer::Moment(found.moment))
    }

    /// The series that have a reading that passes.
    pub(super) async fn matching(
        &self,
        question: &Question<'_>,
        predicate: Predicate,
    ) -> Result<Answer, StoreError> {
        if question.is_empty() {
            return Ok(Answer::Series(Vec::new()));
        }
        let (table, kept) = (question.table, question.kept);
        let sole = question.choice.sole(table);
        let mut source = Source::new(question, &[Condition::Passes(predicate)]);
        let mut series = Vec::new();
        if sole.is_some() {
            source.stages.push(doc! { "$limit": 1 });
            source.stages.push(doc! { "$project": { "_id": 0, VALUE: "1" } });
        } else {
            let key = source.key();
            source.stages.push(doc! { "$group": { "_id": key } });
        }
        let take = |document: &RawDocument| {
            let found = match sole {
                Some(series) => series,
                None => series_of(kept, document.get("_id").map_err(|error| wrong(&error))?)?,
            };
            if question.choice.admits(found) {
                series.push(found);
            }
            Ok(())
        };
        self.pipeline(kept, source.stages, take).await?;
        series.sort_unstable();
        series.dedup();
        Ok(Answer::Series(series))
    }
}

/// Searches are of one series: of several, the lowest at the same time is not known to the server.
fn one_series(question: &Question<'_>) -> Result<(), StoreError> {
    if question.choice.is_several() && question.choice.sole(question.table).is_none() {
        return Err(StoreError::unsupported(
            OPERATION,
            "a search over several series; search them one by one",
        ));
    }
    Ok(())
}

fn wrong(error: &dyn std::fmt::Display) -> StoreError {
    unreadable(OPERATION, &error.to_string())
}

struct Found {
    kind: FieldType,
    moment: Option<Moment>,
}

impl Found {
    fn new(question: &Question<'_>, field: usize) -> Self {
        Self { kind: question.table.fields[field].kind, moment: None }
    }

    fn take(&mut self, document: &RawDocument) -> Result<(), StoreError> {
        let time = document
            .get(TIME)
            .map_err(|error| wrong(&error))?
            .ok_or_else(|| wrong(&"a reading has no time"))?;
        let raw = document.get(VALUE).map_err(|error| wrong(&error))?;
        self.moment = Some(Moment { time_ns: time_of(time)?, value: value(self.kind, raw)? });
        Ok(())
    }
}
