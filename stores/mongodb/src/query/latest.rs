//! The latest reading of each series.
//!
//! Where an index has the readings in the order of series and time, the series are named one by one, also those of a tag and all of them. Then the server
//! steps from series to series and reads one document of each, however many there are. It has two ways:
//!
//! - `$sort` and `$group` with `$first` become a DISTINCT_SCAN
//!   (<https://www.mongodb.com/docs/manual/reference/operator/aggregation/first/>). Its condition is that one tag tells the series apart and that nothing but
//!   the index's fields is compared.
//! - `$lookup` finds each series' latest document by the index: with several tags or pairs of them, with fields that a reading may lack, in time-series
//!   collections, and with documents of a span.
//!
//! A time-series collection is first asked without bounds, because with them the server unpacks every bucket in them. Then the series that have a reading after
//! the range are asked again, with its bounds.
//!
//! In all other layouts the readings in question are grouped.

use super::choice::{Choice, tag_in_document};
use super::decode::{time_of, value};
use super::expression::{Condition, field};
use super::readings::{decoder, projection, series_of, wrong};
use super::source::{READING, Source, add_conditions, bounds, filtered, inside, time_filter};
use super::{Question, Reader};
use crate::schema::{MEASUREMENT, PhysicalTable, Tags};
use mongodb::bson::{Bson, Document, RawBsonRef, RawDocument, doc};
use sensormark_store::{Answer, Batch, FieldSet, Index, Shape, StoreError, Table, TimeRange};

/// Series that one command names.
const SERIES_A_COMMAND: usize = 1_000;

impl Reader<'_> {
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
        let is_in_order = self.is_in_order(kept);
        let is_native = kept.shape == Shape::NativeTimeSeries;
        if kept.is_flat() && sole.is_some() && !(is_native && is_in_order) {
            return self.last_of_one(question, fields, sole).await;
        }
        let mut latest = Latest::new(question, fields, sole);
        if !is_in_order {
            self.last_of_groups(question, &mut latest).await?;
            return Ok(Answer::Readings(latest.batch.sorted()));
        }
        for series in question.choice.numbers(table).chunks(SERIES_A_COMMAND) {
            let mut later = series.to_vec();
            if is_native {
                self.last_of_each(question, series, None, &mut latest).await?;
                later = std::mem::take(&mut latest.later);
            }
            if !later.is_empty() {
                let range = Some(question.range);
                self.last_of_each(question, &later, range, &mut latest).await?;
            }
        }
        Ok(Answer::Readings(latest.batch.sorted()))
    }

    /// The same of these series, by an index that has their readings in order; in this range or at any time.
    async fn last_of_each(
        &self,
        question: &Question<'_>,
        series: &[u32],
        range: Option<TimeRange>,
        latest: &mut Latest<'_>,
    ) -> Result<(), StoreError> {
        let (table, kept) = (question.table, question.kept);
        // Bounds inside time-series collections have every bucket in them unpacked.
        let is_stepped = match kept.shape {
            Shape::RowPerReading => !matches!(kept.tags, Tags::Pairs(_)),
            Shape::NativeTimeSeries => range.is_none(),
            _ => false,
        };
        let is_distinct = is_stepped
            && kept.roster.identity().len() == 1
            && Condition::Any(latest.fields).matching(table, kept, "").is_none();
        if is_distinct {
            let stages = distinct(question, series, range, latest);
            let take = |document: &RawDocument| latest.take(document);
            return self.pipeline(kept, stages, take).await;
        }
        let stages = one_by_one(question, series, range, latest);
        let take = |document: &RawDocument| latest.take_numbered(document);
        self.pipeline_of(1, stages, take).await
    }

    /// The same where no index has the readings in order.
    async fn last_of_groups(
        &self,
        question: &Question<'_>,
        latest: &mut Latest<'_>,
    ) -> Result<(), StoreError> {
        let mut source = Source::new(question, &[Condition::Any(latest.fields)]);
        let key = match latest.sole {
            Some(_) => Bson::Null,
            None => source.key(),
        };
        let newest = doc! { source.time.trim_start_matches('$'): -1 };
        let top = doc! { "sortBy": newest, "output": latest.output(&source.time) };
        let group = doc! { "_id": key, "r": { "$top": top } };
        source.stages.push(doc! { "$group": group });
        let take = |document: &RawDocument| latest.take(document);
        self.pipeline(question.kept, source.stages, take).await
    }

    /// The same of the only series, whose readings are documents.
    async fn last_of_one(
        &self,
        question: &Question<'_>,
        fields: FieldSet,
        sole: Option<u32>,
    ) -> Result<Answer, StoreError> {
        let (table, kept) = (question.table, question.kept);
        let mut filter = question.choice.filter(table, kept);
        filter.extend(time_filter(kept, question.range, true));
        add_conditions(&mut filter, table, kept, &[Condition::Any(fields)]);
        let further = doc! {
            "projection": projection(table, kept, fields, sole),
            "sort": { &kept.time: -1 },
            "limit": 1,
            "singleBatch": true,
        };
        let mut decoder = decoder(question, fields, sole);
        self.find(kept, filter, further, |document| decoder.take(document)).await?;
        Ok(Answer::Readings(decoder.batch))
    }

    /// Whether an index has the documents in the order of series and time.
    fn is_in_order(&self, kept: &PhysicalTable) -> bool {
        self.physical.layout.index == Index::SeriesTime
            && (kept.is_flat() || matches!(kept.shape, Shape::RecordPerSpan { .. }))
    }
}

/// Stages that the server answers by stepping through the index, from series to series.
fn distinct(
    question: &Question<'_>,
    series: &[u32],
    range: Option<TimeRange>,
    latest: &Latest<'_>,
) -> Vec<Document> {
    let kept = question.kept;
    let mut filter = Choice::Series(series.to_vec()).filter(question.table, kept);
    filter.extend(range.map_or_else(Document::new, |range| time_filter(kept, range, true)));
    // The index's order, or the same backwards.
    let mut order = kept.roster.identity_paths(-kept.time_order());
    let key = order.keys().next().map(|path| format!("${path}"));
    order.insert(&kept.time, -1);
    let time = format!("${}", kept.time);
    vec![
        doc! { "$match": filter },
        doc! { "$sort": order },
        doc! { "$group": { "_id": key, "r": { "$first": latest.output(&time) } } },
    ]
}

/// Stages that find the latest reading of one series after the other: `{_id: number, r: {t, v0…}}`.
fn one_by_one(
    question: &Question<'_>,
    series: &[u32],
    range: Option<TimeRange>,
    latest: &Latest<'_>,
) -> Vec<Document> {
    let (table, kept) = (question.table, question.kept);
    let conditions = [Condition::Any(latest.fields)];
    let mut filter = Document::new();
    if let Some(measurement) = &kept.measurement {
        filter.insert(MEASUREMENT, measurement);
    }
    let mut within = filter.clone();
    within.extend(range.map_or_else(Document::new, |range| time_filter(kept, range, true)));
    let newest = doc! { "$sort": { &kept.time: -1 } };
    let one = doc! { "$limit": 1 };
    let output = |time: &str| {
        let mut output = latest.output(time);
        output.insert("_id", 0);
        doc! { "$project": output }
    };
    let time = format!("${}", kept.time);
    let mut stages = vec![doc! { "$documents": { "$literal": keys(table, kept, series) } }];
    if kept.is_flat() {
        add_conditions(&mut within, table, kept, &conditions);
        let found = vec![doc! { "$match": within }, newest, one, output(&time)];
        stages.push(lookup(kept, "r", None, found));
    } else {
        // The latest span that has such a reading, and then the latest in all documents of that span.
        let mut reading = doc! { &kept.inner_time: bounds(kept, question.range) };
        add_conditions(&mut reading, table, kept, &conditions);
        within.insert(&kept.inner, doc! { "$elemMatch": reading });
        let span = doc! { "$project": { "_id": 0, "t": &time } };
        let found = vec![doc! { "$match": within }, newest, one.clone(), span];
        stages.push(lookup(kept, "span", None, found));
        stages.push(doc! { "$unwind": "$span" });
        let readings =
            filtered(format!("${}", kept.inner).into(), inside(table, kept, question.range, &conditions));
        let time = format!("{READING}.{}", kept.inner_time);
        let found = vec![
            doc! { "$match": filter },
            doc! { "$project": { READING: readings } },
            doc! { "$unwind": format!("${READING}") },
            doc! { "$sort": { &time: -1 } },
            one,
            output(&format!("${time}")),
        ];
        stages.push(lookup(kept, "r", Some("$span.t"), found));
    }
    stages.push(doc! { "$unwind": "$r" });
    stages.push(doc! { "$project": { "_id": "$s", "r": 1 } });
    stages
}

/// Documents that name series: by number, and by what tells them apart.
fn keys(table: &Table, kept: &PhysicalTable, series: &[u32]) -> Vec<Document> {
    let key = |&series: &u32| {
        let mut key = doc! { "s": i64::from(series) };
        for (number, &tag) in kept.roster.identity().iter().enumerate() {
            key.insert(format!("k{number}"), tag_in_document(table, kept, series, tag));
        }
        key
    };
    series.iter().map(key).collect()
}

/// The stage that finds documents of the series that [`keys`] names, and where `time` is said, of this time alone.
fn lookup(kept: &PhysicalTable, name: &str, time: Option<&str>, mut pipeline: Vec<Document>) -> Document {
    let mut lookup = doc! { "from": &kept.collection, "as": name };
    let (mut variables, mut equal) = (Document::new(), Vec::new());
    let paths = kept.roster.identity_paths(1);
    for (number, path) in paths.keys().enumerate() {
        let key = format!("k{number}");
        match (&kept.tags, number) {
            (Tags::Pairs(name), 0) => {
                lookup.insert("localField", key);
                lookup.insert("foreignField", name);
                continue;
            }
            (_, 0) => {
                lookup.insert("localField", key);
                lookup.insert("foreignField", path);
                continue;
            }
            (Tags::Pairs(name), _) => {
                equal.push(doc! { "$in": [format!("$${key}"), format!("${name}")] });
            }
            _ => equal.push(doc! { "$eq": [format!("${path}"), format!("$${key}")] }),
        }
        variables.insert(&key, format!("${key}"));
    }
    if let Some(time) = time {
        equal.push(doc! { "$eq": [format!("${}", kept.time), "$$time"] });
        variables.insert("time", time);
    }
    if !equal.is_empty() {
        pipeline.insert(0, doc! { "$match": { "$expr": { "$and": equal } } });
        lookup.insert("let", variables);
    }
    lookup.insert("pipeline", pipeline);
    doc! { "$lookup": lookup }
}

/// Decodes the latest readings of groups: `{_id: key, r: {t, v0…}}`.
struct Latest<'a> {
    table: &'a Table,
    kept: &'a PhysicalTable,
    choice: &'a Choice,
    range: TimeRange,
    fields: FieldSet,
    sole: Option<u32>,
    batch: Batch,
    /// Series whose latest reading is after the range.
    later: Vec<u32>,
}

impl<'a> Latest<'a> {
    fn new(question: &'a Question<'_>, fields: FieldSet, sole: Option<u32>) -> Self {
        Self {
            table: question.table,
            kept: question.kept,
            choice: &question.choice,
            range: question.range,
            fields,
            sole,
            batch: Batch::new(question.query.table, question.table),
            later: Vec::new(),
        }
    }

    /// What a group gives of its latest reading, whose time is at this path.
    fn output(&self, time: &str) -> Document {
        let prefix = if self.kept.is_flat() { "$" } else { "$_m." };
        let mut output = doc! { "t": time };
        for number in self.fields.iter() {
            output.insert(format!("v{number}"), field(self.kept, prefix, number));
        }
        output
    }

    /// Takes a group of the series that its tags name.
    fn take(&mut self, document: &RawDocument) -> Result<(), StoreError> {
        let series = match self.sole {
            Some(series) => series,
            None => {
                let id = document.get("_id").map_err(|error| wrong(&error))?;
                series_of(self.kept, id)?
            }
        };
        if self.choice.admits(series) {
            self.push(series, document)?;
        }
        Ok(())
    }

    /// Takes a group of the series of this number.
    fn take_numbered(&mut self, document: &RawDocument) -> Result<(), StoreError> {
        match document.get("_id").map_err(|error| wrong(&error))? {
            Some(RawBsonRef::Int64(number)) => {
                let series = u32::try_from(number).map_err(|error| wrong(&error))?;
                self.push(series, document)
            }
            _ => Err(wrong(&"a reading is of no series")),
        }
    }

    fn push(&mut self, series: u32, document: &RawDocument) -> Result<(), StoreError> {
        let latest = document.get_document("r").map_err(|error| wrong(&error))?;
        let time = latest.get("t").map_err(|error| wrong(&error))?;
        let time = time_of(time.ok_or_else(|| wrong(&"a reading has no time"))?)?;
        if time >= self.range.end_ns {
            self.later.push(series);
            return Ok(());
        }
        if time < self.range.start_ns {
            return Ok(());
        }
        self.batch.times_ns.push(time);
        self.batch.series.push(series);
        for field in self.fields.iter() {
            let raw = latest.get(format!("v{field}")).map_err(|error| wrong(&error))?;
            let value = value(self.table.fields[field].kind, raw)?;
            self.batch.columns[field]
                .push(value)
                .map_err(|_| wrong(&"a value is not of its field's type"))?;
        }
        Ok(())
    }
}
