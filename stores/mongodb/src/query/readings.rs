//! Whole readings: points, ranges, the latest of each series, everything, and entities.

use super::choice::Choice;
use super::decode::{Decoder, KEY, time_of, value};
use super::expression::{Condition, field};
use super::source::{Source, add_conditions, filtered, inside, tag_expression, time_filter};
use super::{OPERATION, Question, Reader};
use crate::connection::{TimeLimit, unreadable};
use crate::schema::SAMPLES;
use crate::schema::{Fields, MEASUREMENT, PhysicalEntity, PhysicalTable, Tags};
use mongodb::bson::{Bson, Document, RawBsonRef, RawDocument, doc};
use sensormark_store::{
    Answer, Batch, FieldSet, Index, QueryStyle, Shape, StoreError, Table, Value,
};

/// Readings that are handed on at once when everything is read.
const PART: usize = 20_000;

impl Reader<'_> {
    /// The chosen fields of the readings in the range.
    pub(super) async fn range(
        &self,
        question: &Question<'_>,
        fields: FieldSet,
        coarse: bool,
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
            let mut further = doc! { "projection": projection(table, kept, fields, sole) };
            if sole.is_some() && question.range.length_ns() > 1 {
                further.insert("sort", doc! { &kept.time: 1 });
            }
            self.find(kept, filter, further, |document| decoder.take(document))
                .await?;
        } else {
            let stages = vec![
                doc! { "$match": filter },
                doc! { "$project": nested_projection(question, fields, sole) },
            ];
            self.pipeline(kept, stages, |document| decoder.take(document))
                .await?;
        }
        Ok(Answer::Readings(decoder.batch.sorted()))
    }

    /// Of each series the latest reading that has any of the fields.
    pub(super) async fn last_readings(
        &self,
        question: &Question<'_>,
        fields: FieldSet,
    ) -> Result<Answer, StoreError> {
        if question.is_empty() {
            return Ok(question.empty());
        }
        let (table, kept) = (question.table, question.kept);
        let sole = question.choice.sole(table);
        let mut latest = Latest::new(question, fields, sole);
        let conditions = [Condition::Any(fields)];
        if let (true, Some(_)) = (kept.is_flat(), sole) {
            let mut filter = question.choice.filter(table, kept);
            filter.extend(time_filter(kept, question.range, true));
            add_conditions(&mut filter, table, kept, &conditions);
            let further = doc! {
                "projection": projection(table, kept, fields, sole),
                "sort": { &kept.time: -1 },
                "limit": 1,
                "singleBatch": true,
            };
            let mut decoder = decoder(question, fields, sole);
            self.find(kept, filter, further, |document| decoder.take(document))
                .await?;
            return Ok(Answer::Readings(decoder.batch));
        }
        let mut source = Source::new(question, &conditions);
        let output = latest.output(&source);
        let key = if sole.is_some() {
            Bson::Null
        } else {
            source.key()
        };
        let group = if self.is_in_order(kept) && sole.is_none() {
            source.stages.push(doc! { "$sort": reversed(kept) });
            doc! { "_id": key, "r": { "$first": output } }
        } else {
            let newest = doc! { source.time.trim_start_matches('$'): -1 };
            doc! { "_id": key, "r": { "$top": { "sortBy": newest, "output": output } } }
        };
        source.stages.push(doc! { "$group": group });
        self.pipeline(kept, source.stages, |document| latest.take(document))
            .await?;
        Ok(Answer::Readings(latest.batch.sorted()))
    }

    /// Whether an index has the readings in the order of series and time.
    fn is_in_order(&self, kept: &PhysicalTable) -> bool {
        kept.shape == Shape::RowPerReading
            && self.physical.layout.index == Index::SeriesTime
            && !matches!(kept.tags, Tags::Pairs(_))
    }

    /// Every stored reading.
    pub(crate) async fn scan(
        &self,
        number: usize,
        sink: &mut dyn FnMut(&Batch),
    ) -> Result<(), StoreError> {
        let (table, kept) = self.physical.table(number)?;
        let choice = Choice::of(table, &sensormark_store::Selection::All);
        let sole = choice.sole(table);
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
        self.link
            .ask(OPERATION, command, TimeLimit::EachPart, take)
            .await?;
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
        self.link
            .ask(OPERATION, command, TimeLimit::EachPart, take)
            .await?;
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

pub(super) fn decoder<'a>(
    question: &'a Question<'_>,
    fields: FieldSet,
    sole: Option<u32>,
) -> Decoder<'a> {
    Decoder::new(
        question.query.table,
        question.table,
        question.kept,
        fields,
        sole,
        |series| question.choice.admits(series),
    )
}

fn entity_key(
    table: &Table,
    kept: &PhysicalTable,
    entity: &PhysicalEntity,
    document: &RawDocument,
) -> Result<(u32, i64), StoreError> {
    let mut key = Vec::new();
    for &tag in kept.roster.identity() {
        let part = document
            .get(&entity.tags[tag])
            .map_err(|error| wrong(&error))?;
        super::decode::push_part(&mut key, part)?;
    }
    if let Some(property) = entity_property(table, kept, entity, document)? {
        crate::schema::series::key_text(&mut key, &property);
    }
    let series = kept
        .roster
        .find(&key)
        .ok_or_else(|| wrong(&"an entity bears tags that no series has"))?;
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
    let raw = document
        .get(&entity.tags[tag])
        .map_err(|error| wrong(&error))?;
    let text = match raw {
        Some(RawBsonRef::String(text)) => text.to_owned(),
        Some(RawBsonRef::Int64(value)) => value.to_string(),
        _ => return Err(wrong(&"an entity's tag is neither text nor a whole number")),
    };
    Ok(Some(crate::schema::series::property_name(&text)))
}

/// The parts of a flat document that an answer needs.
fn projection(
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
            let values: Vec<Bson> = kept
                .roster
                .identity()
                .iter()
                .map(|&tag| tag_expression(table, kept, tag))
                .collect();
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
            parts.extend(
                fields
                    .iter()
                    .map(|field| (format!("{under}.{}", names[field]), 1.into())),
            );
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
        parts.insert(
            &kept.inner,
            if untouched { Bson::Int32(1) } else { readings },
        );
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

/// The index's order, backwards.
fn reversed(kept: &PhysicalTable) -> Document {
    let mut order = kept.roster.identity_paths(-1);
    order.insert(&kept.time, -1);
    order
}

/// Decodes the latest readings of groups: `{_id: key, r: {t, v0…}}`.
struct Latest<'a> {
    table: &'a Table,
    kept: &'a PhysicalTable,
    choice: &'a Choice,
    fields: FieldSet,
    sole: Option<u32>,
    batch: Batch,
}

impl<'a> Latest<'a> {
    fn new(question: &'a Question<'_>, fields: FieldSet, sole: Option<u32>) -> Self {
        Self {
            table: question.table,
            kept: question.kept,
            choice: &question.choice,
            fields,
            sole,
            batch: Batch::new(question.query.table, question.table),
        }
    }

    /// What a group gives of its latest reading.
    fn output(&self, source: &Source<'_>) -> Document {
        let mut output = doc! { "t": &source.time };
        for field in self.fields.iter() {
            output.insert(format!("v{field}"), source.field(field));
        }
        output
    }

    fn take(&mut self, document: &RawDocument) -> Result<(), StoreError> {
        let series = match self.sole {
            Some(series) => series,
            None => {
                let id = document.get("_id").map_err(|error| wrong(&error))?;
                series_of(self.kept, id)?
            }
        };
        if !self.choice.admits(series) {
            return Ok(());
        }
        let latest = document.get_document("r").map_err(|error| wrong(&error))?;
        let time = latest.get("t").map_err(|error| wrong(&error))?;
        let time = time.ok_or_else(|| wrong(&"a reading has no time"))?;
        self.batch.times_ns.push(time_of(time)?);
        self.batch.series.push(series);
        for field in self.fields.iter() {
            let raw = latest
                .get(format!("v{field}"))
                .map_err(|error| wrong(&error))?;
            let value = value(self.table.fields[field].kind, raw)?;
            self.batch.columns[field]
                .push(value)
                .map_err(|_| wrong(&"a value is not of its field's type"))?;
        }
        Ok(())
    }
}

/// The series of a group's key, as [`Source::key`] makes it.
pub(super) fn series_of(
    kept: &PhysicalTable,
    key: Option<RawBsonRef<'_>>,
) -> Result<u32, StoreError> {
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
    kept.roster
        .find(&parts)
        .ok_or_else(|| wrong(&"a group bears tags that no series has"))
}
