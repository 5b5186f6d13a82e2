//! Tags and fields of a workload file.

use super::disagreement::disagree;
use super::error::FileError;
use super::section::{At, Section};
use crate::own::parameters::{FieldKind, FieldPart, ShapePart, TagPart};
use sensormark_store::name::column_name;
use std::collections::BTreeSet;
use std::path::Path;

const KINDS: [(&str, FieldKind); 4] = [
    ("bool", FieldKind::Bool),
    ("integer", FieldKind::Integer),
    ("float", FieldKind::Float),
    ("text", FieldKind::Text),
];

/// Names of shapes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ShapeName {
    Constant,
    Random,
    Sine,
    Sawtooth,
    Walk,
    Counter,
    Recording,
}

const SHAPES: [(&str, ShapeName); 7] = [
    ("constant", ShapeName::Constant),
    ("random", ShapeName::Random),
    ("sine", ShapeName::Sine),
    ("sawtooth", ShapeName::Sawtooth),
    ("walk", ShapeName::Walk),
    ("counter", ShapeName::Counter),
    ("recording", ShapeName::Recording),
];

const FIELD_KEYS: [&str; 16] = [
    "name", "type", "shape", "value", "min", "max", "period", "start", "step", "chance", "values", "file",
    "column", "noise", "decimals", "hold",
];

/// Numbers of fields keep within what a double holds exactly.
const LARGEST: f64 = 9_007_199_254_740_992.0;
/// The most fields of a reading.
const MOST_FIELDS: usize = sensormark_store::FieldSet::CAPACITY;
/// Names that the layouts of stores need for themselves.
const TAKEN: [&str; 4] = ["time", "time_ns", "series", "id"];

/// A name of a tag, field or table.
pub fn name(section: &Section<'_, '_>, key: &str, example: &str) -> Result<At<String>, FileError> {
    let name = section.text(key)?.ok_or_else(|| section.missing(key, &format!("{example:?}")))?;
    check_name(&name.value).map_err(|why| section.error(&name.place, why))?;
    Ok(name)
}

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
    /// Takes one more.
    pub fn take(&mut self, section: &Section<'_, '_>, name: &At<String>) -> Result<(), FileError> {
        if self.0.insert(column_name(&name.value).0) {
            return Ok(());
        }
        let message = format!("{:?} is there already; names are unique", name.value);
        Err(section.error(&name.place, message))
    }
}

/// The tags; without any, one that numbers the sensors.
pub fn tags(root: &Section<'_, '_>, names: &mut Names, count: u32) -> Result<Vec<TagPart>, FileError> {
    let mut tags = Vec::new();
    let sections = root.sections("tags", &["name", "values", "pattern"])?;
    let (mut combinations, mut own) = (1_u64, false);
    for section in &sections {
        let tag_name = name(section, "name", "region")?;
        names.take(section, &tag_name)?;
        let section = section.called(&tag_name.value);
        let pattern = section.text("pattern")?;
        let place = pattern.as_ref().map_or(section.place().clone(), |at| at.place.clone());
        let pattern = pattern.map_or_else(|| format!("{}_{{}}", tag_name.value), |at| at.value);
        let values = tag_values(&section, &pattern)?;
        if !pattern.contains("{}") {
            let message = format!("pattern {pattern:?} needs {{}}, which stands for a number");
            return Err(section.error(&place, message));
        }
        match values.len() {
            0 => own = true,
            several => combinations = combinations.saturating_mul(several as u64),
        }
        tags.push(TagPart { name: tag_name.value, values, pattern });
    }
    if tags.is_empty() {
        return Ok(vec![TagPart {
            name: "sensor".to_owned(),
            values: Vec::new(),
            pattern: "sensor_{}".to_owned(),
        }]);
    }
    if !own && combinations < u64::from(count) {
        let message = format!(
            "the tags have {combinations} combinations of values and there are {count} series; leave `values` out of one tag, so that each series has its own"
        );
        return Err(root.error(sections[0].place(), message));
    }
    Ok(tags)
}

/// A tag's values: a list, or how many; none for one of its own for each series.
fn tag_values(section: &Section<'_, '_>, pattern: &str) -> Result<Vec<String>, FileError> {
    if !section.is_list("values") {
        let count = section.whole("values", 1..=1_000_000)?;
        let count = count.map_or(0, |at| at.value);
        return Ok((0..count).map(|number| pattern.replace("{}", &number.to_string())).collect());
    }
    let list = section.texts("values")?.unwrap_or_default();
    let mut seen = BTreeSet::new();
    for value in &list {
        if value.value.is_empty() || value.value.contains('\0') || !seen.insert(&value.value) {
            let message = "values of a tag are texts, none empty, none twice";
            return Err(section.error(&value.place, message));
        }
    }
    if list.is_empty() {
        return Err(section.error(section.place(), "values is an empty list"));
    }
    Ok(list.into_iter().map(|at| at.value).collect())
}

/// The fields.
pub fn fields(root: &Section<'_, '_>, names: &mut Names, folder: &Path) -> Result<Vec<FieldPart>, FileError> {
    let sections = root.sections("fields", &FIELD_KEYS)?;
    if sections.is_empty() {
        let message = "there are no fields: write a [[fields]] table with name and shape";
        return Err(root.error(root.place(), message));
    }
    if let Some(section) = sections.get(MOST_FIELDS) {
        let message = format!("a reading has at most {MOST_FIELDS} fields");
        return Err(root.error(section.place(), message));
    }
    let mut fields = Vec::new();
    for section in &sections {
        let field_name = name(section, "name", "temperature")?;
        names.take(section, &field_name)?;
        let section = section.called(&field_name.value);
        fields.push(field(&section, field_name.value, folder)?);
    }
    Ok(fields)
}

fn field(section: &Section<'_, '_>, name: String, folder: &Path) -> Result<FieldPart, FileError> {
    let kind = section.word("type", &KINDS)?.map_or(FieldKind::Float, |at| at.value);
    let shape_name = section.word("shape", &SHAPES)?.ok_or_else(|| section.missing("shape", "\"walk\""))?;
    let shape = shape(section, &shape_name, kind, folder)?;
    let shape_place = ("shape", &shape_name.place);
    let noise = section.number("noise")?;
    let decimals = section.whole("decimals", 0..=9)?;
    let numeric = matches!(kind, FieldKind::Integer | FieldKind::Float);
    let moves = !matches!(shape, ShapePart::Counter { .. } | ShapePart::Recorded { .. });
    if let Some(noise) = &noise
        && (noise.value < 0.0 || noise.value > LARGEST || !numeric || !moves)
    {
        let why = "noise is a standard deviation, 0 or more, of a number that is not a counter or recorded";
        return Err(disagree(section, ("noise", &noise.place), shape_place, why));
    }
    if let Some(decimals) = &decimals
        && (kind != FieldKind::Float || matches!(shape, ShapePart::Recorded { .. }))
    {
        let why = "decimals are for float fields that are not recorded";
        return Err(disagree(section, ("decimals", &decimals.place), shape_place, why));
    }
    let hold = section.duration("hold")?;
    let held = matches!(shape, ShapePart::Random { .. } | ShapePart::Chance(_) | ShapePart::Words(_));
    if let Some(hold) = &hold
        && !held
    {
        return Err(disagree(
            section,
            ("hold", &hold.place),
            shape_place,
            "hold is for shape random, how long a value stays",
        ));
    }
    Ok(FieldPart {
        name,
        kind,
        shape,
        noise: noise.map_or(0.0, |at| at.value),
        decimals: decimals.and_then(|at| u8::try_from(at.value).ok()),
        hold_ns: hold.map_or(0, |at| at.value),
    })
}

fn shape(
    section: &Section<'_, '_>,
    name: &At<ShapeName>,
    kind: FieldKind,
    folder: &Path,
) -> Result<ShapePart, FileError> {
    let numeric = matches!(kind, FieldKind::Integer | FieldKind::Float);
    match (name.value, kind) {
        (ShapeName::Recording, _) => recorded(section, folder),
        (ShapeName::Constant, FieldKind::Bool) => {
            let value = section.truth("value");
            let value = value.ok_or_else(|| section.missing("value", "true"))?;
            Ok(ShapePart::Truth(value.value))
        }
        (ShapeName::Constant, FieldKind::Text) => {
            let value = section.text("value")?;
            let value = value.ok_or_else(|| section.missing("value", "\"ok\""))?;
            Ok(ShapePart::Words(vec![value.value]))
        }
        (ShapeName::Random, FieldKind::Bool) => {
            let chance = section.number("chance")?;
            let chance = chance.ok_or_else(|| section.missing("chance", "0.1"))?;
            if !(0.0..=1.0).contains(&chance.value) {
                return Err(section.error(&chance.place, "chance is from 0 (never) to 1 (always)"));
            }
            Ok(ShapePart::Chance(chance.value))
        }
        (ShapeName::Random, FieldKind::Text) => {
            let values = section.texts("values")?.unwrap_or_default();
            if values.is_empty() {
                return Err(section.missing("values", "[\"ok\", \"failed\"]"));
            }
            if let Some(wrong) = values.iter().find(|at| at.value.contains('\0')) {
                return Err(section.error(&wrong.place, "texts hold no NUL characters"));
            }
            Ok(ShapePart::Words(values.into_iter().map(|at| at.value).collect()))
        }
        (_, FieldKind::Bool | FieldKind::Text) => {
            let kind = KINDS.iter().find(|(_, one)| *one == kind);
            let message = format!(
                "shape is {} and type is {:?}: fields of type bool and text have the shapes constant, random and recording",
                section.typed(&name.place),
                kind.map_or("", |(name, _)| name)
            );
            Err(section.error(&name.place, message))
        }
        (name, _) => {
            debug_assert!(numeric);
            number_shape(section, name)
        }
    }
}

fn number_shape(section: &Section<'_, '_>, name: ShapeName) -> Result<ShapePart, FileError> {
    let number = |key: &str, example: &str| {
        let number = section.number(key)?;
        let number = number.ok_or_else(|| section.missing(key, example))?;
        if number.value.abs() > LARGEST {
            return Err(section.error(&number.place, format!("{key} is beyond 2^53")));
        }
        Ok(number)
    };
    match name {
        ShapeName::Constant => return Ok(ShapePart::Constant(number("value", "21.5")?.value)),
        ShapeName::Counter => {
            let step = number("step", "100")?;
            if !(0.0..=1e6).contains(&step.value) || step.value == 0.0 {
                let message = "step is how much the counter grows with a reading, over 0 and up to a million";
                return Err(section.error(&step.place, message));
            }
            let start = section.number("start")?.map_or(0.0, |at| at.value);
            return Ok(ShapePart::Counter { start: start.clamp(-LARGEST, LARGEST), step: step.value });
        }
        _ => {}
    }
    let (min, max) = (number("min", "0")?, number("max", "100")?);
    if min.value >= max.value {
        let why = "max must be over min";
        return Err(disagree(section, ("max", &max.place), ("min", &min.place), why));
    }
    let (min, max) = (min.value, max.value);
    if name == ShapeName::Random {
        return Ok(ShapePart::Random { min, max });
    }
    let period = section.duration("period")?;
    let period = period.ok_or_else(|| section.missing("period", "\"1h\""))?;
    let period_ns = period.value.unsigned_abs();
    Ok(match name {
        ShapeName::Sine => ShapePart::Sine { min, max, period_ns },
        ShapeName::Sawtooth => ShapePart::Sawtooth { min, max, period_ns },
        _ => ShapePart::Walk { min, max, period_ns },
    })
}

fn recorded(section: &Section<'_, '_>, folder: &Path) -> Result<ShapePart, FileError> {
    let file = section.text("file")?;
    let file = file.ok_or_else(|| section.missing("file", "\"recording.csv\""))?;
    let column = section.text("column")?;
    let column = column.ok_or_else(|| section.missing("column", "\"temperature\""))?;
    let path = folder.join(&file.value);
    let path = std::path::absolute(&path).map_err(|error| section.error(&file.place, error.to_string()))?;
    if !path.is_file() {
        return Err(section.error(&file.place, format!(
            "there is no file {:?}; a recording lies beside the workload file, or has its whole path here",
            file.value
        )));
    }
    Ok(ShapePart::Recorded { file: path, column: column.value })
}
