//! A range of readings that the server takes out of their documents one by one and puts together again: one document a series.

use super::decode::Decoder;
use super::expression::Condition;
use super::readings::{decoder, series_of, wrong};
use super::source::Source;
use super::{Question, Reader};
use mongodb::bson::{Bson, RawBsonRef, RawDocument, doc};
use sensormark_store::{Answer, FieldSet, StoreError};

/// The readings of a series.
const READINGS: &str = "r";

impl Reader<'_> {
    /// The chosen fields of the readings in the range, by `$match → $project → $unwind → $match → $group`.
    pub(super) async fn unwound(
        &self,
        question: &Question<'_>,
        fields: FieldSet,
        coarse: bool,
    ) -> Result<Answer, StoreError> {
        let sole = question.choice.sole(question.table);
        let mut source = Source::with_days(question, &[Condition::Any(fields)], coarse);
        let key = if sole.is_some() { Bson::Null } else { source.key() };
        let readings = doc! { "$push": source.reading() };
        source.stages.push(doc! { "$group": { "_id": key, READINGS: readings } });
        let mut decoder = decoder(question, fields, sole);
        let take = |document: &RawDocument| take(question, sole, &mut decoder, document);
        self.pipeline(question.kept, source.stages, take).await?;
        Ok(Answer::Readings(decoder.batch.sorted()))
    }
}

fn take(
    question: &Question<'_>,
    sole: Option<u32>,
    decoder: &mut Decoder<'_>,
    document: &RawDocument,
) -> Result<(), StoreError> {
    let series = match sole {
        Some(series) => series,
        None => {
            let key = document.get("_id").map_err(|error| wrong(&error))?;
            series_of(question.kept, key)?
        }
    };
    match document.get(READINGS).map_err(|error| wrong(&error))? {
        Some(RawBsonRef::Array(readings)) if question.choice.admits(series) => {
            decoder.readings(readings, series)
        }
        _ => Ok(()),
    }
}
