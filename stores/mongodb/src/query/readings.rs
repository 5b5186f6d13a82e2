//! Whole readings: points, ranges, everything, and entities.

use super::decode::{Decoder, KEY, time_of, value};
use super::expression::{Condition, field};
use super::source::{add_conditions, filtered, inside, tag_expression, time_filter};
use super::{OPERATION, Question, Reader};
use crate::connection::{TimeLimit, unreadable};
use crate::schema::SAMPLES;
use crate::schema::{Fields, MEASUREMENT, PhysicalEntity, PhysicalTable, Tags};
use mongodb::bson::{Bson, Document, RawBsonRef, RawDocument, doc};
use sensormark_store::{Answer, Batch, FieldSet, Predicate, QueryStyle, Shape, StoreError, Table, Value};

/// Readings that are handed on at once when everything is read.
const PART: usize = 20_000;

impl Reader<'_> {
    /// The chosen fields of the readings in the range, of those that pass where documents are readings.
    pub(super) async fn range(
        &self,
        question: &Question<'_>,
        fields: FieldSet,
        coarse: bool,
        passes: Option<Predicate>,
    ) -> Result<Answer, StoreError> {
        if question.is_empty() {
            return Ok(question.empty());
        }
        if question.kept.queries != QueryStyle::Usual {
            return self.unwound(question, fields, coarse).await;
        }
        let (table, kept, choice) = (question.table, question.kept, &question.choice);
        let sole = choice.sole(table);
        let mut decoder = decoder(question, fields, sole);
        let mut filter = choice.filter(table, kept);
        filter.extend(time_filter(kept, question.range, coarse));
        if kept.is_flat() {
            add_conditions(&mut filter, table, kept, &[Condition::Any(fields)]);
            if let Some(predicate) = passes {
                add_conditions(&mut filter, table, kept, &[Condition::Passes(predicate)]);
            }
            let mut further = doc! { "projection": projection(table, kept, fields, sole) };
            if sole.is_some() && question.range.length_ns() > 1 {
                further.insert("sort", doc! { &kept.time: 1 });
            }
            self.find(kept, filter, further, |document| decoder.take(document)).await?;
        } else {
            let stages = vec![
                doc! { "$match": filter },
                doc! { "$project": nested_projection(question, fields, sole) },
            ];
            self.pipeline(kept, stages, |document| decoder.take(document)).await?;
        }
        Ok(Answer::Readings(decoder.batch.sorted()))
    }

    /// Every stored reading.
    pub(crate) async fn scan(&self, number: usize, sink: &mut dyn FnMut(&Batch)) -> Result<(), StoreError> {
        let (table, kept) = self.physical.table(number)?;
        let sole = (table.series.len() == 1).then_some(0);
        let mut filter = Document::new();
        if let Some(measurement) = &kept.measurement {
            filter.insert(MEASUREMENT, measurement);
        }
        let mut command = doc! {
            "find": &kept.collection,
            "filter": filter,
            "batchSize": i64::from(crate::connection::BATCH_SIZE),
        };
        if kept.is_flat() {
            let all = projection(table, kept, table.all_fields(), sole);
            command.insert("projection", all);
        }
        let mut decoder = Decoder::new(number, table, kept, table.all_fields(), sole, |_| true);
        let take = |document: &RawDocument| {
            decoder.take(document)?;
            if decoder.batch.len() >= PART {
                sink(&decoder.batch);
                decoder.batch.clear();
            }
            Ok(())
        };
        self.link.ask(OPERATION, command, TimeLimit::EachPart, take).await?;
        if !decoder.batch.is_empty() {
            sink(&decoder.batch);
        }
        Ok(())
    }

    /// Every entity.
    pub(crate) async fn scan_entities(
        &self,
        number: usize,
        sink: &mut dyn FnMut(u32, i64, &[Value]),
    ) -> Result<(), StoreError> {
        let (table, kept) = self.physical.table(number)?;
        let (Some(entity), Some(described)) = (&kept.entity, &table.entity) else {
            return Err(StoreError::unsupported(
                "read entities back",
                "the table has no entity; read its readings instead",
            ));
        };
        let command = doc! {
            "find": &entity.collection,
            "batchSize": i64::from(crate::connection::BATCH_SIZE),
        };
        let mut found = Vec::new();
        let take = |document: &RawDocument| {
            let (series, last) = entity_key(table, kept, entity, document)?;
            let mut values = Vec::with_capacity(entity.columns.len());
            for (name, column) in entity.columns.iter().zip(&described.columns) {
                let raw = document.get(name).map_err(|error| wrong(&error))?;
                values.push(value(column.kind, raw)?);
            }
            found.push((series, last, values));
            Ok(())
        };
        self.link.ask(OPERATION, command, TimeLimit::EachPart, take).await?;
        found.sort_by_key(|entity| entity.0);
        for (series, last, values) in found {
            sink(series, last, &values);
        }
        Ok(())
    }
}

pub(super) fn wrong(error: &dyn std::fmt::Display) -> StoreError {
    unreadable(OPERATION, &error.to_string())
}

pub(super) fn decoder<'a>(question: &'a Question<'_>, fields: FieldSet, sole: Option<u32>) -> Decoder<'a> {
    Decoder::new(question.query.table, question.table, question.kept, fields, sole, |series| {
        question.choice.admits(series)
    })
}

fn entity_key(
    table: &Table,
    kept: &PhysicalTable,
    entity: &PhysicalEntity,
    document: &RawDocument,
) -> Result<(u32, i64), StoreError> {
    let mut key = Vec::new();
    for &tag in kept.roster.identity() {
        let part = document.get(&entity.tags[tag]).map_err(|error| wrong(&error))?;
        super::decode::push_part(&mut key, part)?;
    }
    if let Some(property) = entity_property(table, kept, entity, document)? {
        crate::schema::series::key_text(&mut key, &property);
    }
    let series = kept.roster.find(&key).ok_or_else(|| wrong(&"an entity bears tags that no series has"))?;
    let last = document
        .get(&entity.last_time)
        .map_err(|error| wrong(&error))?
        .ok_or_else(|| wrong(&"an entity has no time of its last reading"))?;
    Ok((series, time_of(last)?))
}

/// The property's part of an entity's key, in buckets.
fn entity_property(
    table: &Table,
    kept: &PhysicalTable,
    entity: &PhysicalEntity,
    document: &RawDocument,
) -> Result<Option<String>, StoreError> {
    if kept.roster.property(0).is_none() {
        return Ok(None);
    }
    let Some(tag) = (0..table.tags.len()).find(|&tag| kept.roster.is_property(tag)) else {
        return Ok(Some(table.name.clone()));
    };
    let raw = document.get(&entity.tags[tag]).map_err(|error| wrong(&error))?;
    let text = match raw {
        Some(RawBsonRef::String(text)) => text.to_owned(),
        Some(RawBsonRef::Int64(value)) => value.to_string(),
        _ => return Err(wrong(&"an entity's tag is neither text nor a whole number")),
    };
    Ok(Some(crate::schema::series::property_name(&text)))
}

/// The parts of a flat document that an answer needs.
pub(super) fn projection(
    table: &Table,
    kept: &PhysicalTable,
    fields: FieldSet,
    sole: Option<u32>,
) -> Document {
    let mut parts = doc! { "_id": 0, &kept.time: 1 };
    if sole.is_none() {
        for &tag in kept.roster.identity() {
            if let Some(path) = kept.tag_path(table, tag) {
                parts.insert(path, 1);
            }
        }
        if let Tags::Pairs(_) = kept.tags {
            let values: Vec<Bson> =
                kept.roster.identity().iter().map(|&tag| tag_expression(table, kept, tag)).collect();
            parts.insert(KEY, values);
        }
    }
    match &kept.fields {
        Fields::Beside(names) => {
            parts.extend(fields.iter().map(|field| (names[field].clone(), 1.into())));
        }
        Fields::Under(under, _) if fields == table.all_fields() => {
            parts.insert(under, 1);
        }
        Fields::Under(under, names) => {
            parts.extend(fields.iter().map(|field| (format!("{under}.{}", names[field]), 1.into())));
        }
        Fields::Array(name) if fields == table.all_fields() => {
            parts.insert(name, 1);
        }
        Fields::Array(name) => {
            let values: Vec<Bson> = fields.iter().map(|one| field(kept, "$", one)).collect();
            parts.insert(name, values);
        }
    }
    parts
}

/// The parts of a document of several readings that an answer needs: these filtered, and cut down to the chosen fields.
fn nested_projection(question: &Question<'_>, fields: FieldSet, sole: Option<u32>) -> Document {
    let (table, kept) = (question.table, question.kept);
    let mut parts = doc! { "_id": 0 };
    if sole.is_none() {
        for &tag in kept.roster.identity() {
            if let Some(path) = kept.tag_path(table, tag) {
                parts.insert(path, 1);
            }
        }
    }
    let conditions = inside(table, kept, question.range, &[Condition::Any(fields)]);
    let cut = |readings: Bson| {
        let readings = filtered(readings, conditions.clone());
        if fields == table.all_fields() {
            readings
        } else {
            doc! { "$map": { "input": readings, "as": "m", "in": reading(kept, fields) } }.into()
        }
    };
    if !matches!(kept.shape, Shape::Bucketed { .. }) {
        let whole = Bson::String(format!("${}", kept.inner));
        let readings = cut(whole.clone());
        let untouched = readings == whole;
        parts.insert(&kept.inner, if untouched { Bson::Int32(1) } else { readings });
        return parts;
    }
    if let Some(series) = sole {
        let property = kept.roster.property(series).unwrap_or_default();
        let path = format!("{}.{property}.{SAMPLES}", kept.inner);
        let readings = cut(Bson::String(format!("${path}")));
        parts.insert(path, readings);
        return parts;
    }
    let mut properties: Bson = doc! { "$objectToArray": format!("${}", kept.inner) }.into();
    if let Some(names) = question.choice.properties(kept) {
        let chosen = doc! { "$in": ["$$p.k", names] };
        properties = doc! { "$filter": { "input": properties, "as": "p", "cond": chosen } }.into();
    }
    let readings = cut(Bson::String(format!("$$p.v.{SAMPLES}")));
    let each = doc! { "k": "$$p.k", "v": { SAMPLES: readings } };
    parts.insert(
        &kept.inner,
        doc! { "$arrayToObject": { "$map": { "input": properties, "as": "p", "in": each } } },
    );
    parts
}

/// The chosen fields of the reading `$$m`.
fn reading(kept: &PhysicalTable, fields: FieldSet) -> Document {
    let mut parts = doc! { &kept.inner_time: format!("$$m.{}", kept.inner_time) };
    match &kept.fields {
        Fields::Beside(names) | Fields::Under(_, names) => {
            for one in fields.iter() {
                parts.insert(&names[one], field(kept, "$$m.", one));
            }
        }
        Fields::Array(name) => {
            let values: Vec<Bson> = fields.iter().map(|one| field(kept, "$$m.", one)).collect();
            parts.insert(name, values);
        }
    }
    parts
}

/// The series of a group's key, as [`super::source::Source::key`] makes it.
pub(super) fn series_of(kept: &PhysicalTable, key: Option<RawBsonRef<'_>>) -> Result<u32, StoreError> {
    let mut parts = Vec::new();
    match key {
        Some(RawBsonRef::Document(values)) => {
            for value in values {
                let (_, value) = value.map_err(|error| wrong(&error))?;
                super::decode::push_part(&mut parts, Some(value))?;
            }
        }
        other => super::decode::push_part(&mut parts, other)?,
    }
    kept.roster.find(&parts).ok_or_else(|| wrong(&"a group bears tags that no series has"))
}
