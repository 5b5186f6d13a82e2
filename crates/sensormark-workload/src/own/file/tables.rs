//! Tables of a workload file: series, tags and fields.

use super::error::FileError;
use super::form::{At, Field, File, Length, Series, ShapeName, Tag, TagValues, Text};
use super::source::{Place, Placed, Source};
use crate::checked::time_text;
use crate::own::parameters::{FieldKind, FieldPart, Generator, SeriesPart, ShapePart, TablePart, TagPart};
use sensormark_data::nearest::unknown;
use sensormark_data::quantity::length_text;
use sensormark_data::shapes::meter;
use sensormark_data::{devops, iot_platform};
use sensormark_store::name::{column_name, table_name};
use sensormark_store::{FieldType, TimeRange};
use std::collections::BTreeSet;
use std::path::Path;
use toml::Value;

/// When data begin, unless it is said: 2026-01-01, in ns since the Unix epoch.
const START_NS: i64 = 1_767_225_600_000_000_000;
/// Numbers of fields keep within what a double holds exactly.
const LARGEST: f64 = 9_007_199_254_740_992.0;
/// The most fields of a reading.
const MOST_FIELDS: usize = sensormark_store::FieldSet::CAPACITY;
/// As many hosts as a file may say.
const MOST_HOSTS: u32 = 10_000_000;
/// Names that the layouts of stores need for themselves.
const TAKEN: [&str; 4] = ["time", "time_ns", "series", "id"];

/// Whether a tag, field or table may have this name.
///
/// # Errors
/// What a name looks like, or that it is taken.
pub fn check_name(text: &str) -> Result<(), String> {
    let starts = text.starts_with(|one: char| one.is_ascii_lowercase());
    let fits = |one: u8| one.is_ascii_lowercase() || one.is_ascii_digit() || one == b'_';
    if !starts || !text.bytes().all(fits) || text.len() > 40 {
        return Err(format!(
            "{text:?} is no name: lower case letters, digits and _, a letter first, at most 40"
        ));
    }
    if TAKEN.contains(&text) {
        return Err(format!("{text:?} is a name that databases need for themselves; take another"));
    }
    Ok(())
}

/// Names that were given already.
#[derive(Default)]
pub struct Names(BTreeSet<String>);

impl Names {
    /// Takes one more; `as_stored` says what a database makes of it.
    pub fn take(
        &mut self,
        source: &Source<'_>,
        name: &Text,
        as_stored: impl Fn(&str) -> String,
    ) -> Result<(), FileError> {
        if self.0.insert(as_stored(name)) {
            return Ok(());
        }
        Err(source.error(name, format!("{:?} is there already; names are unique", name.value)))
    }
}

/// All tables.
pub fn tables(source: &Source<'_>, file: &File, folder: &Path) -> Result<Vec<TablePart>, FileError> {
    if file.series.is_empty() {
        let message = "there is no [series] table; write one with count, interval and duration";
        return Err(source.error(&(0..0), message));
    }
    if let [one] = &file.series[..]
        && let Some(generator) = &one.generator
    {
        return generated(source, file, one, generator);
    }
    let (mut names, mut known) = (Names::default(), Vec::new());
    for one in &file.series {
        let Some(name) = &one.table else {
            if file.series.len() > 1 {
                return Err(source.missing(one, "table", "\"doors\""));
            }
            known.push("readings".to_owned());
            continue;
        };
        known.push(named(source, name)?);
        names.take(source, name, |name| table_name(name).0)?;
    }
    let mut parts = Vec::new();
    for (number, one) in file.series.iter().enumerate() {
        let is_ours = |table: &Option<Text>, of: &dyn Placed| {
            Ok::<bool, FileError>(self::number(source, "table", &known, table.as_ref(), of)? == number)
        };
        let mut names = Names::default();
        let series = series(source, known[number].clone(), one, file.keep.as_ref())?;
        let mut own = Vec::new();
        for tag in &file.tags {
            if is_ours(&tag.table, tag)? {
                own.push(tag);
            }
        }
        let tags = tags(source, &own, &mut names, series.count)?;
        if let Some(churn) = one.churn.as_ref().filter(|_| tags.iter().all(|tag| !tag.values.is_empty())) {
            let message = "with churn, series begin under new values of a tag: leave `values` out of one tag";
            return Err(source.error(churn, message));
        }
        let mut fields = Vec::new();
        for field in &file.fields {
            if is_ours(&field.table, field)? {
                named(source, &field.name)?;
                names.take(source, &field.name, |name| column_name(name).0)?;
                fields.push(self::field(source, field, folder)?);
            }
        }
        if fields.is_empty() || fields.len() > MOST_FIELDS {
            let message = match fields.len() {
                0 => "there are no fields: write a [[fields]] table with name and shape".to_owned(),
                _ => format!("a reading has at most {MOST_FIELDS} fields"),
            };
            return Err(source.error(one, message));
        }
        let part = TablePart { series, tags, fields };
        part.check_meters().map_err(|why| source.error(one, why))?;
        parts.push(part);
    }
    Ok(parts)
}

/// The tables that a generator makes.
fn generated(
    source: &Source<'_>,
    file: &File,
    one: &At<Series>,
    generator: &At<Generator>,
) -> Result<Vec<TablePart>, FileError> {
    let series = series(source, String::new(), one, file.keep.as_ref())?;
    let is_plain = series.jitter_ns == 0 && !series.staggered && series.burst == 1 && series.churn == 0.0;
    let is_whole = series.missing + series.late + series.repeated == 0.0 && file.keep.is_none();
    let is_its_own = file.tags.is_empty() && file.fields.is_empty() && one.table.is_none();
    let (start_ns, interval_ns, most) = match generator.value {
        Generator::Devops(_) => (devops::START_NS, devops::INTERVAL_NS, MOST_HOSTS),
        Generator::Homes => (iot_platform::START_NS, iot_platform::HOUR_NS, iot_platform::MOST_HOMES),
    };
    let is_timed = (series.start_ns, series.interval_ns) == (start_ns, interval_ns);
    if !(is_plain && is_whole && is_its_own && is_timed && series.count <= most) {
        let message = format!(
            "this generator makes tables, tags and fields, of readings that all come: write count ({most} at most), start = {:?}, interval = {:?} and duration, and leave the rest out",
            time_text(start_ns),
            length_text(interval_ns)
        );
        return Err(source.error(generator, message));
    }
    let tag = |tag: sensormark_store::Tag| TagPart { name: tag.name, ..TagPart::default() };
    let field = |field: sensormark_store::Field| FieldPart {
        name: field.name,
        kind: match field.kind {
            FieldType::Bool => FieldKind::Bool,
            FieldType::I64 | FieldType::U16 => FieldKind::Integer,
            FieldType::F64 => FieldKind::Float,
            FieldType::Text => FieldKind::Text,
        },
        ..FieldPart::default()
    };
    let table = |table: sensormark_store::Table| TablePart {
        series: SeriesPart { table: table.name, ..series.clone() },
        tags: table.tags.into_iter().map(tag).collect(),
        fields: table.fields.into_iter().map(field).collect(),
    };
    // Its names are the same however many there are.
    Ok(generator.schema(0, 1).tables.into_iter().map(table).collect())
}

/// The number of what is meant; where nothing is named, the only one.
pub fn number(
    source: &Source<'_>,
    what: &str,
    known: &[String],
    name: Option<&Text>,
    of: &dyn Placed,
) -> Result<usize, FileError> {
    let Some(name) = name else {
        let message = format!("there are several: say which, {what} = {:?}", known[0]);
        return if known.len() == 1 { Ok(0) } else { Err(source.error(of, message)) };
    };
    let found = known.iter().position(|one| *one == name.value);
    found.ok_or_else(|| source.error(name, unknown(what, name, known.iter().cloned())))
}

fn named(source: &Source<'_>, name: &Text) -> Result<String, FileError> {
    check_name(name).map_err(|why| source.error(name, why))?;
    Ok(name.value.clone())
}

fn series(
    source: &Source<'_>,
    table: String,
    part: &At<Series>,
    keep: Option<&At<Length>>,
) -> Result<SeriesPart, FileError> {
    let ns = |length: &At<Length>| length.0;
    // All that is kept, where nothing shorter is said.
    let Some(duration) = part.duration.as_ref().or(keep) else {
        return Err(source.missing(part, "duration", "\"1h\""));
    };
    let made = SeriesPart {
        table,
        count: part.count.0,
        start_ns: part.start.as_ref().map_or(Ok(START_NS), |text| start(source, text))?,
        interval_ns: ns(&part.interval),
        jitter_ns: part.jitter.as_ref().map_or(0, ns),
        staggered: part.staggered,
        burst: part.burst.as_ref().map_or(1, |burst| burst.0),
        burst_interval_ns: ns(part.burst_interval.as_ref().unwrap_or(&part.interval)),
        duration_ns: ns(duration),
        missing: part.missing.0,
        late: part.late.0,
        late_by_ns: ns(part.late_by.as_ref().unwrap_or(&part.interval)),
        repeated: part.repeated.0,
        churn: part.churn.as_ref().map_or(0.0, |churn| churn.value),
        resolution: part.resolution,
        entity: part.entity.as_ref().map(|kind| kind.value),
        generator: part.generator.as_ref().map(|generator| generator.value),
    };
    check_times(source, part, &made, duration)?;
    if let Some(churn) = &part.churn {
        made.check_churn().map_err(|why| source.error(churn, why))?;
    }
    Ok(made)
}

/// Times that make sense together.
fn check_times(
    source: &Source<'_>,
    part: &Series,
    made: &SeriesPart,
    duration: &At<Length>,
) -> Result<(), FileError> {
    let interval = length_text(made.interval_ns);
    if let Some(burst) = part.burst_interval.as_ref().filter(|burst| burst.0 > made.interval_ns) {
        let message = format!(
            "burst_interval is {} and interval is {interval}: readings of a burst are closer together than the mean interval",
            source.typed(burst),
        );
        return Err(source.error(burst, message));
    }
    if let Some(jitter) = part.jitter.as_ref().filter(|jitter| jitter.0 >= made.burst_interval_ns) {
        let message = format!(
            "jitter is {} and interval is {}: jitter must be shorter than the interval, so that a series' readings keep their order",
            source.typed(jitter),
            length_text(made.burst_interval_ns),
        );
        return Err(source.error(jitter, message));
    }
    if made.staggered && (made.jitter_ns > 0 || made.burst > 1) {
        let message = "staggered series have no jitter and no bursts: leave those out";
        return Err(source.error(&part.interval, message));
    }
    made.check_duration().map_err(|why| source.error(duration, why))?;
    let end_ns = made.start_ns.checked_add(made.duration_ns);
    if end_ns.is_none_or(|end_ns| end_ns > TimeRange::OF_READINGS.end_ns) {
        let message = format!(
            "duration is {} and start is {} ns after 1970: times lie in the years 1970 to 2261",
            source.typed(duration),
            made.start_ns
        );
        return Err(source.error(duration, message));
    }
    let Some(late_by) = part.late_by.as_ref().map(|at| at.place.clone()) else {
        return Ok(());
    };
    let typed = source.typed(&late_by);
    if made.late <= 0.0 {
        let message =
            format!("late_by is {typed} and late is 0: say too how many readings come late, late = 0.01");
        return Err(source.error(&late_by, message));
    }
    if made.late_by_ns < made.interval_ns {
        let message = format!(
            "late_by is {typed} and interval is {interval}: late_by must be at least the interval, because what comes before the next reading is not late"
        );
        return Err(source.error(&late_by, message));
    }
    Ok(())
}

fn start(source: &Source<'_>, text: &Text) -> Result<i64, FileError> {
    let wrong = |why: String| {
        let message = format!("{:?}: {why}; write it like \"2026-01-01T00:00:00Z\"", text.value);
        source.error(text, message)
    };
    let start: jiff::Timestamp = text.parse().map_err(|error: jiff::Error| wrong(error.to_string()))?;
    let start_ns = i64::try_from(start.as_nanosecond()).ok();
    start_ns
        .filter(|&start_ns| TimeRange::OF_READINGS.contains(start_ns))
        .ok_or_else(|| wrong("times lie in the years 1970 to 2261".to_owned()))
}

/// The tags; without any, one that numbers the sensors.
fn tags(
    source: &Source<'_>,
    tags: &[&At<Tag>],
    names: &mut Names,
    count: u32,
) -> Result<Vec<TagPart>, FileError> {
    let mut parts = Vec::new();
    let (mut combinations, mut own) = (1_u64, tags.is_empty());
    for &one in tags {
        let tag = &one.value;
        let name = named(source, &tag.name)?;
        names.take(source, &tag.name, |name| column_name(name).0)?;
        let pattern = tag.pattern.as_ref().map_or_else(|| format!("{name}_{{}}"), |text| text.value.clone());
        if let Some(wrong) = tag.pattern.as_ref().filter(|_| !pattern.contains("{}")) {
            let message = format!("pattern {pattern:?} needs {{}}, which stands for a number");
            return Err(source.error(wrong, message));
        }
        if let Some(first) = tag.first.as_ref().filter(|_| tag.values.is_some() || tag.pattern.is_some()) {
            let message = "with first, a tag is the series' number: leave out values and pattern";
            return Err(source.error(first, message));
        }
        let values = match &tag.values {
            Some(values) => tag_values(source, values, &pattern)?,
            None => Vec::new(),
        };
        match values.len() {
            0 => own = true,
            several => combinations = combinations.saturating_mul(several as u64),
        }
        let first = tag.first.as_ref().map(|first| first.0.into());
        parts.push(TagPart { name, values, pattern, first });
    }
    if !own && combinations < u64::from(count) {
        let message = format!(
            "the tags have {combinations} combinations of values and there are {count} series; leave `values` out of one tag, so that each series has its own"
        );
        return Err(source.error(&tags[0].place.clone(), message));
    }
    if parts.is_empty() {
        let [name, pattern] = ["sensor", "sensor_{}"].map(str::to_owned);
        parts.push(TagPart { name, pattern, ..TagPart::default() });
    }
    Ok(parts)
}

/// A tag's values: a list, or how many.
fn tag_values(source: &Source<'_>, values: &At<TagValues>, pattern: &str) -> Result<Vec<String>, FileError> {
    let list = match &values.value {
        TagValues::Count(count) => {
            return Ok((0..*count).map(|number| pattern.replace("{}", &number.to_string())).collect());
        }
        TagValues::List(list) => list,
    };
    let mut seen = BTreeSet::new();
    for text in list {
        let value = &text.value;
        if value.is_empty() || value.contains('\0') || !seen.insert(value) {
            return Err(source.error(text, "values of a tag are texts, none empty, none twice"));
        }
    }
    if list.is_empty() {
        return Err(source.error(values, "values is an empty list"));
    }
    Ok(list.iter().map(|text| text.value.clone()).collect())
}

fn field(source: &Source<'_>, field: &At<Field>, folder: &Path) -> Result<FieldPart, FileError> {
    let kind = field.kind.unwrap_or(FieldKind::Float);
    let shape = shape(source, field, kind, folder)?;
    let shape_place = field.shape.place.clone();
    let refuse =
        |key: &str, place: Place, why: &str| source.disagree((key, &place), ("shape", &shape_place), why);
    let recorded = matches!(shape, ShapePart::Recorded { .. });
    let moves = kind.is_number() && !recorded && !matches!(shape, ShapePart::Counter { .. });
    if let Some(noise) =
        field.noise.as_ref().filter(|noise| !(0.0..=LARGEST).contains(&noise.value) || !moves)
    {
        let why = "noise is a standard deviation, 0 or more, of a number that is not a counter or recorded";
        return Err(refuse("noise", noise.place.clone(), why));
    }
    let (decimals, bits) = (&field.decimals, &field.bits);
    let places =
        [("decimals", decimals.as_ref().map(Placed::place)), ("bits", bits.as_ref().map(Placed::place))];
    for (key, place) in places.into_iter().filter_map(|(key, place)| Some((key, place?))) {
        if kind != FieldKind::Float || recorded {
            let why = format!("{key} are for float fields that are not recorded");
            return Err(refuse(key, place.clone(), &why));
        }
    }
    if let Some(hold) = &field.hold
        && !matches!(shape, ShapePart::Random { .. } | ShapePart::Chance(_) | ShapePart::Words(_))
    {
        return Err(refuse("hold", hold.place.clone(), "hold is for shape random, how long a value stays"));
    }
    Ok(FieldPart {
        name: field.name.value.clone(),
        kind,
        shape,
        noise: field.noise.as_ref().map_or(0.0, |noise| noise.value),
        decimals: decimals.as_ref().and_then(|places| u8::try_from(places.0).ok()),
        bits: bits.as_ref().and_then(|places| u8::try_from(places.0).ok()),
        repeats: field.repeats.0,
        outliers: field.outliers.0,
        hold_ns: field.hold.as_ref().map_or(0, |hold| hold.0),
    })
}

fn shape(
    source: &Source<'_>,
    field: &At<Field>,
    kind: FieldKind,
    folder: &Path,
) -> Result<ShapePart, FileError> {
    let missing = |key: &str, example: &str| source.missing(field, key, example);
    match (field.shape.value, kind) {
        (ShapeName::Recording, _) => recorded(source, field, folder),
        (ShapeName::Constant, _) => constant(source, field, kind),
        (ShapeName::Random, FieldKind::Bool) => {
            let chance = field.chance.as_ref().ok_or_else(|| missing("chance", "0.1"))?;
            if !(0.0..=1.0).contains(&chance.value) {
                return Err(source.error(chance, "chance is from 0 (never) to 1 (always)"));
            }
            Ok(ShapePart::Chance(chance.value))
        }
        (ShapeName::Random, FieldKind::Text) => {
            let values = field.values.as_deref().unwrap_or_default();
            if values.is_empty() {
                return Err(missing("values", "[\"ok\", \"failed\"]"));
            }
            if let Some(wrong) = values.iter().find(|text| text.contains('\0')) {
                return Err(source.error(wrong, "texts hold no NUL characters"));
            }
            Ok(ShapePart::Words(values.iter().map(|text| text.value.clone()).collect()))
        }
        (_, FieldKind::Bool | FieldKind::Text) => {
            let place = field.shape.place.clone();
            let message = format!(
                "shape is {} and type is {:?}: fields of type bool and text have the shapes constant, random and recording",
                source.typed(&place),
                if kind == FieldKind::Bool { "bool" } else { "text" }
            );
            Err(source.error(&place, message))
        }
        (name, _) => number_shape(source, field, name),
    }
}

/// A value that stays, of the field's type.
fn constant(source: &Source<'_>, field: &At<Field>, kind: FieldKind) -> Result<ShapePart, FileError> {
    let number = |number: f64| (number.abs() <= LARGEST).then_some(ShapePart::Constant(number));
    let (found, example) = match (kind, &field.constant) {
        (FieldKind::Bool, value) => (value.as_ref().and_then(Value::as_bool).map(ShapePart::Truth), "true"),
        (FieldKind::Text, Some(Value::String(text))) => (Some(ShapePart::Words(vec![text.clone()])), ""),
        (FieldKind::Text, _) => (None, "\"ok\""),
        (_, Some(Value::Integer(value))) => (number(*value as f64), "21"),
        (_, value) => (value.as_ref().and_then(Value::as_float).and_then(number), "21.5"),
    };
    found.ok_or_else(|| source.missing(field, "value", example))
}

fn number_shape(source: &Source<'_>, field: &At<Field>, name: ShapeName) -> Result<ShapePart, FileError> {
    if name == ShapeName::Temperature {
        return Ok(ShapePart::Temperature);
    }
    if name == ShapeName::Meter {
        let known = meter::FIELDS.map(str::to_owned);
        return self::number(source, "field of a meter", &known, Some(&field.name), &field.name)
            .map(ShapePart::Meter);
    }
    let missing = |key: &str, example: &str| source.missing(field, key, example);
    let number = |key: &str, given: &Option<At<f64>>, example: &str| {
        let given = given.as_ref().ok_or_else(|| missing(key, example))?;
        if given.abs() <= LARGEST {
            return Ok(given.value);
        }
        Err(source.error(given, format!("{key} is beyond 2^53")))
    };
    if name == ShapeName::Counter {
        let step = number("step", &field.step, "100")?;
        if let Some(wrong) = field.step.as_ref().filter(|_| !(0.0..=1e6).contains(&step) || step == 0.0) {
            let message = "step is how much the counter grows with a reading, over 0 and up to a million";
            return Err(source.error(wrong, message));
        }
        let start = if field.start.is_some() { number("start", &field.start, "")? } else { 0.0 };
        return Ok(ShapePart::Counter { start, step });
    }
    let (min, max) = (number("min", &field.min, "0")?, number("max", &field.max, "100")?);
    if let (Some(low), Some(high)) = (&field.min, &field.max)
        && min >= max
    {
        return Err(source.disagree(("max", high), ("min", low), "max must be over min"));
    }
    if name == ShapeName::Random {
        return Ok(ShapePart::Random { min, max });
    }
    let period_ns = field.period.ok_or_else(|| missing("period", "\"1h\""))?.0.unsigned_abs();
    Ok(match name {
        ShapeName::Sine => ShapePart::Sine { min, max, period_ns },
        ShapeName::Sawtooth => ShapePart::Sawtooth { min, max, period_ns },
        _ => ShapePart::Walk { min, max, period_ns },
    })
}

fn recorded(source: &Source<'_>, field: &At<Field>, folder: &Path) -> Result<ShapePart, FileError> {
    let file = field.file.as_ref().ok_or_else(|| source.missing(field, "file", "\"recording.csv\""))?;
    let column = field.column.clone().ok_or_else(|| source.missing(field, "column", "\"temperature\""))?;
    let wrong = |why: String| source.error(file, why);
    let path = std::path::absolute(folder.join(&file.value)).map_err(|error| wrong(error.to_string()))?;
    if !path.is_file() {
        return Err(wrong(format!(
            "there is no file {:?}; a recording lies beside the workload file, or has its whole path here",
            file.value
        )));
    }
    let options = field.options.clone().unwrap_or_default();
    Ok(ShapePart::Recorded { file: path, column, options })
}
