//! From what a file says to a schema and sensors.

use super::homes::HomeTurns;
use super::parameters::{
    EntityKind, FieldKind, FieldPart, Generator, Parameters, ShapePart, TablePart, TagPart,
};
use super::walks::Walks;
use sensormark_data::devops::Devops;
use sensormark_data::iot_platform::{self, Homes};
use sensormark_data::random::finalise;
use sensormark_data::recording::Recording;
use sensormark_data::shapes::churn::Churn;
use sensormark_data::shapes::shape::{FieldShape, Shape, Walked};
use sensormark_data::shapes::{Sensors, Timing, meter};
use sensormark_store::name::{column_name, table_name};
use sensormark_store::{
    Column, Field, FieldType, Schema, Series, Table, Tag, TagColumn, TimeResolution, Value, Values,
};
use std::num::NonZeroU64;
use std::sync::Arc;

/// What readings look like, times as finely as the file's lengths of time need; then its rollups, which the database fills.
pub fn schema(parameters: &Parameters, seed: u64) -> Schema {
    let mut schema = readings(parameters, seed);
    if let (Some(life), [part]) = (&parameters.life, parameters.tables.as_slice()) {
        let rollups = life.rollups.iter().map(|rollup| rollup.table(part, &schema.tables[0]));
        let rollups: Vec<Table> = rollups.collect();
        schema.tables.extend(rollups);
    }
    schema
}

/// The tables that sensors write.
pub fn readings(parameters: &Parameters, seed: u64) -> Schema {
    let series = &parameters.tables[0].series;
    if let Some(generator) = series.generator {
        return generator.schema(seed, series.count);
    }
    let tables = parameters.tables.iter().enumerate();
    Schema { tables: tables.map(|(number, part)| table(part, &parameters.churn(number))).collect() }
}

impl Generator {
    /// The tables that it makes, of so many hosts or homes.
    pub fn schema(self, seed: u64, count: u32) -> Schema {
        match self {
            Self::Devops(walk) => Devops { seed, hosts: count, walk }.schema(),
            Self::Homes => iot_platform::schema(count),
        }
    }

    /// What makes the readings of a table, by its number.
    fn readings(self, seed: u64, count: u32, table: usize) -> Arc<dyn Walked> {
        match self {
            Self::Devops(walk) => Arc::new(Walks::new(Devops { seed, hosts: count, walk }, table)),
            Self::Homes => Arc::new(HomeTurns::new(Homes::new(seed, count))),
        }
    }
}

fn table(part: &TablePart, churn: &Churn) -> Table {
    let series = &part.series;
    let mut columns = Vec::new();
    let mut combinations = 1_u64;
    for tag in &part.tags {
        columns.push(match tag.first {
            Some(first) => {
                let all = 0..churn.series_before(u64::MAX);
                TagColumn::Integer(all.map(|number| first.saturating_add_unsigned(number)).collect())
            }
            None => TagColumn::Text(tag_values(tag, churn, combinations)),
        });
        combinations = combinations.saturating_mul(tag.values.len().max(1) as u64);
    }
    let field = |field: &FieldPart| Field {
        name: column_name(&field.name).0,
        kind: field_type(field.kind),
        nullable: false,
    };
    Table {
        name: table_name(&series.table).0,
        tags: part.tags.iter().map(|tag| Tag { name: column_name(&tag.name).0 }).collect(),
        fields: part.fields.iter().map(field).collect(),
        entity: part.series.entity.map(|EntityKind::Meters| meter::entity()),
        time_resolution: part.series.resolution.unwrap_or_else(|| resolution(part)),
        series: Series::new(columns).every(series.interval_ns),
    }
}

/// What is to be said of names that the schema has otherwise than the file.
pub fn renamed(part: &TablePart) -> impl Iterator<Item = String> {
    let tags = part.tags.iter().map(|tag| &tag.name);
    let columns = tags.chain(part.fields.iter().map(|field| &field.name));
    columns.filter_map(|name| column_name(name).1).chain(table_name(&part.series.table).1)
}

/// A tag's value of each series: its own, or one of the tag's, which is that of its place, so that several tags with values go through all their combinations.
fn tag_values(tag: &TagPart, churn: &Churn, combinations: u64) -> Vec<String> {
    let value = |series: u64| {
        let Some(several) = NonZeroU64::new(tag.values.len() as u64) else {
            return tag.pattern.replace("{}", &series.to_string());
        };
        let place = series % u64::from(churn.places) / combinations % several;
        tag.values[usize::try_from(place).unwrap_or(0)].clone()
    };
    (0..churn.series_before(u64::MAX)).map(value).collect()
}

const fn field_type(kind: FieldKind) -> FieldType {
    match kind {
        FieldKind::Bool => FieldType::Bool,
        FieldKind::Integer => FieldType::I64,
        FieldKind::Float => FieldType::F64,
        FieldKind::Text => FieldType::Text,
    }
}

/// The coarsest resolution in which start, interval and jitter are whole: milliseconds at the coarsest.
fn resolution(part: &TablePart) -> TimeResolution {
    let series = &part.series;
    let lengths = [series.start_ns, series.interval_ns, series.jitter_ns, series.burst_interval_ns];
    let whole = |resolution: &TimeResolution| {
        let unit = resolution.nanoseconds();
        lengths.iter().all(|length| length % unit == 0)
    };
    [TimeResolution::Milliseconds, TimeResolution::Microseconds]
        .into_iter()
        .find(whole)
        .unwrap_or(TimeResolution::Nanoseconds)
}

/// The sensors of a table, by its number, with times cut to this resolution.
///
/// # Errors
/// When the resolution is too coarse for the interval, or a recording cannot be read, in words.
pub fn sensors(
    parameters: &Parameters,
    number: usize,
    seed: u64,
    resolution: TimeResolution,
) -> Result<Sensors, String> {
    let part = &parameters.tables[number];
    let series = &part.series;
    let unit_ns = resolution.nanoseconds();
    if series.burst_interval_ns < series.jitter_ns + unit_ns {
        return Err(format!(
            "the layout keeps times to {unit_ns} ns, and readings are taken {} ns apart at the least: two of them would share a time",
            series.burst_interval_ns - series.jitter_ns
        ));
    }
    if series.generator == Some(Generator::Homes) && resolution > TimeResolution::Milliseconds {
        return Err("devices send times of milliseconds, and the layout keeps fewer digits".to_owned());
    }
    let timing = Timing {
        start_ns: series.start_ns,
        interval_ns: series.interval_ns,
        jitter_ns: if series.staggered { series.interval_ns - unit_ns } else { series.jitter_ns },
        staggered: series.staggered,
        burst: i64::from(series.burst),
        burst_interval_ns: series.burst_interval_ns,
        unit_ns,
        missing: series.missing,
        late: series.late,
        late_ticks: series.late_ticks(),
        stale: parameters.life.as_ref().map_or(0.0, |life| life.stale),
        stale_ticks: parameters.life.as_ref().map_or(0, |life| life.stale_ticks(series)),
        repeated: series.repeated,
    };
    let generated = series.generator.map(|one| Shape::Walked(one.readings(seed, series.count, number)));
    let fields = part.fields.iter();
    let fields = fields.map(|field| shape(field, series.interval_ns, generated.clone()));
    let fields = fields.collect::<Result<Vec<_>, _>>()?;
    // Tables of the same form hold other values.
    let seed = if number == 0 { seed } else { finalise(seed ^ number as u64) };
    Ok(Sensors::new(seed, series.count, timing, fields).with_churn(parameters.churn(number)))
}

fn shape(field: &FieldPart, interval_ns: i64, generated: Option<Shape>) -> Result<FieldShape, String> {
    let period = |ns: u64| NonZeroU64::new(ns).unwrap_or(NonZeroU64::MIN);
    let shape = match &field.shape {
        ShapePart::Constant(value) => Shape::Constant(*value),
        ShapePart::Random { min, max } => Shape::Random(*min, *max),
        ShapePart::Sine { min, max, period_ns } => Shape::Sine(*min, *max, period(*period_ns)),
        ShapePart::Sawtooth { min, max, period_ns } => Shape::Sawtooth(*min, *max, period(*period_ns)),
        ShapePart::Walk { min, max, period_ns } => Shape::Walk(*min, *max, period(*period_ns)),
        ShapePart::Counter { start, step } => Shape::Counter(*start, *step),
        ShapePart::Temperature => Shape::Temperature,
        ShapePart::Meter(field) => Shape::Meter(*field),
        ShapePart::Chance(share) => Shape::Chance(*share),
        ShapePart::Truth(value) => Shape::Truth(*value),
        ShapePart::Words(words) => Shape::Words(words.clone()),
        ShapePart::Recorded { file, column, options } => {
            let recording = Recording::read(file, options).map_err(|error| error.to_string())?;
            Shape::Recorded(Arc::new(recorded(&recording, column, field)?))
        }
        ShapePart::Generated => generated.ok_or("nothing generates this field")?,
    };
    let hold = u64::try_from(field.hold_ns / interval_ns.max(1)).unwrap_or(0);
    Ok(FieldShape {
        kind: field_type(field.kind),
        shape,
        noise: field.noise,
        decimals: field.decimals,
        bits: field.bits,
        repeats: field.repeats,
        outliers: field.outliers,
        hold_ticks: NonZeroU64::new(hold).unwrap_or(NonZeroU64::MIN),
    })
}

/// A recording's column, as the field's type and without gaps.
fn recorded(recording: &Recording, name: &str, field: &FieldPart) -> Result<Values, String> {
    let table = &recording.schema.tables[0];
    let found = table.fields.iter().position(|one| same(&one.name, name));
    let number = found.ok_or_else(|| {
        let known = table.fields.iter().map(|one| one.name.clone());
        sensormark_data::nearest::unknown("column", name, known)
    })?;
    let column = &recording.readings.columns[number];
    let rows: Vec<usize> = (0..recording.readings.len()).filter(|&row| column.has(row)).collect();
    if rows.is_empty() {
        return Err(format!("column {name:?} of the recording is empty"));
    }
    take(column, &rows, field.kind).ok_or_else(|| {
        format!(
            "column {name:?} of the recording holds {:?}, and field {} is of type {:?}",
            table.fields[number].kind, field.name, field.kind
        )
    })
}

fn take(column: &Column, rows: &[usize], kind: FieldKind) -> Option<Values> {
    let mut taken = Column::new(field_type(kind));
    for &row in rows {
        let value = match column.value(row) {
            Value::I64(whole) if kind == FieldKind::Float => Value::F64(whole as f64),
            value => value,
        };
        taken.push(value).ok()?;
    }
    Some(taken.values)
}

/// Whether a column of a recording, whose name was made one of the schema's, is the one that the user means.
fn same(name: &str, wanted: &str) -> bool {
    let plain = |text: &str| -> String {
        let kept = text.chars().filter(|one| one.is_ascii_alphanumeric());
        kept.map(|one| one.to_ascii_lowercase()).collect()
    };
    name == wanted || plain(name) == plain(wanted) || name == column_name(wanted).0
}
