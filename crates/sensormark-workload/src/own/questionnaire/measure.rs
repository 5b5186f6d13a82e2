//! What sensors measure: well-known quantities with their usual shape, and others by a name and a type.

use super::text::list;
use crate::own::file::check_name;
use sensormark_data::nearest::unknown;
use sensormark_store::{Field, FieldType};
use serde_json::{Value, json};

/// Names of the file's tags.
const TAGS: [&str; 2] = ["sensor", "site"];

/// How a quantity moves.
#[derive(Debug, Clone, Copy, PartialEq)]
enum ValueShape {
    /// A number that wanders between these.
    Walk(f64, f64),
    /// The same in whole numbers.
    WholeWalk(f64, f64),
    /// A number that grows by so much a reading.
    Counter(f64),
    /// True or false.
    Truth,
    /// One of a few words.
    Words,
}

const KNOWN: [(&str, ValueShape); 18] = [
    ("temperature", ValueShape::Walk(15.0, 30.0)),
    ("humidity", ValueShape::Walk(20.0, 90.0)),
    ("pressure", ValueShape::Walk(980.0, 1_040.0)),
    ("power", ValueShape::Walk(0.0, 5_000.0)),
    ("voltage", ValueShape::Walk(220.0, 240.0)),
    ("current", ValueShape::Walk(0.0, 16.0)),
    ("speed", ValueShape::Walk(0.0, 3_000.0)),
    ("vibration", ValueShape::Walk(0.0, 10.0)),
    ("level", ValueShape::Walk(0.0, 100.0)),
    ("flow", ValueShape::Walk(0.0, 50.0)),
    ("co2", ValueShape::WholeWalk(400.0, 2_000.0)),
    ("brightness", ValueShape::WholeWalk(0.0, 1_000.0)),
    ("energy", ValueShape::Counter(10.0)),
    ("pulses", ValueShape::Counter(50.0)),
    ("door", ValueShape::Truth),
    ("motion", ValueShape::Truth),
    ("running", ValueShape::Truth),
    ("state", ValueShape::Words),
];

const TYPES: [(&str, ValueShape); 5] = [
    ("float", ValueShape::Walk(0.0, 100.0)),
    ("integer", ValueShape::WholeWalk(0.0, 1_000.0)),
    ("counter", ValueShape::Counter(10.0)),
    ("bool", ValueShape::Truth),
    ("text", ValueShape::Words),
];

impl ValueShape {
    /// The type of the field.
    const fn kind(self) -> &'static str {
        match self {
            Self::Walk(..) => "float",
            Self::WholeWalk(..) | Self::Counter(_) => "integer",
            Self::Truth => "bool",
            Self::Words => "text",
        }
    }
}

/// Something that a sensor measures.
#[derive(Debug, Clone, PartialEq)]
pub struct Measure {
    name: String,
    shape: ValueShape,
}

/// Reads `NAME[:TYPE], …`.
///
/// # Errors
/// What is wrong with it.
pub fn measures(text: &str) -> Result<Vec<Measure>, String> {
    let mut found: Vec<Measure> = Vec::new();
    for part in list(text) {
        let (name, kind) = match part.split_once(':') {
            Some((name, kind)) => (name.trim(), Some(kind.trim())),
            None => (part, None),
        };
        check_name(name)?;
        let known = KNOWN.iter().find(|(known, _)| *known == name);
        let shape = match (kind, known) {
            (Some(kind), _) => {
                let names = TYPES.iter().map(|(name, _)| (*name).to_owned());
                let of_type = TYPES.iter().find(|(known, _)| *known == kind);
                of_type.ok_or_else(|| unknown("type", kind, names))?.1
            }
            (None, Some((_, shape))) => *shape,
            (None, None) => TYPES[0].1,
        };
        if TAGS.contains(&name) || found.iter().any(|one| one.name == name) {
            return Err(format!("{name:?} is there already; names are unique"));
        }
        found.push(Measure { name: name.to_owned(), shape });
    }
    if found.is_empty() {
        return Err("name one thing or more, like temperature".to_owned());
    }
    Ok(found)
}

/// The answer that names this field: a well-known quantity keeps its shape if it is of that type. A name that a file cannot have is another.
pub fn answer(field: &Field) -> String {
    let kind = match field.kind {
        FieldType::Bool => "bool",
        FieldType::I64 | FieldType::U16 => "integer",
        FieldType::F64 => "float",
        FieldType::Text => "text",
    };
    let name = &field.name;
    if KNOWN.iter().any(|(known, shape)| known == name && shape.kind() == kind) {
        return name.clone();
    }
    let is_taken = TAGS.contains(&name.as_str()) || check_name(name).is_err();
    format!("{name}{}:{kind}", if is_taken { "_value" } else { "" })
}

impl Measure {
    /// Its name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Whether means and thresholds can be had of it.
    pub const fn is_number(&self) -> bool {
        !matches!(self.shape, ValueShape::Truth | ValueShape::Words)
    }

    /// Whether it goes up and down, so that it passes a threshold now and then.
    pub const fn wanders(&self) -> bool {
        matches!(self.shape, ValueShape::Walk(..) | ValueShape::WholeWalk(..))
    }

    /// A threshold that is passed now and then, after so many readings.
    pub fn threshold(&self, ticks: u64) -> f64 {
        match self.shape {
            ValueShape::Walk(min, max) | ValueShape::WholeWalk(min, max) => min + (max - min) * 0.8,
            ValueShape::Counter(step) => step * ticks as f64 / 2.0,
            ValueShape::Truth | ValueShape::Words => 0.0,
        }
    }

    /// What its table of the workload file says.
    pub fn values(&self) -> Value {
        let (bounds, step) = match self.shape {
            ValueShape::Walk(min, max) | ValueShape::WholeWalk(min, max) => (Some([min, max]), None),
            ValueShape::Counter(step) => (None, Some(step)),
            ValueShape::Truth | ValueShape::Words => (None, None),
        };
        json!({ "name": self.name, "type": self.shape.kind(), "bounds": bounds, "step": step })
    }
}
