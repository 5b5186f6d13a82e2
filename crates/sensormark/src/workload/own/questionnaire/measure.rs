//! What sensors measure: well-known quantities with their usual course, and others by a name and a type.

use super::text::{commented, list};
use crate::nearest::unknown;
use crate::workload::own::file::check_name;

/// The most fields that are asked for; a file may have more.
const MOST: usize = 32;

/// How a quantity moves.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Course {
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

const KNOWN: [(&str, Course); 18] = [
    ("temperature", Course::Walk(15.0, 30.0)),
    ("humidity", Course::Walk(20.0, 90.0)),
    ("pressure", Course::Walk(980.0, 1_040.0)),
    ("power", Course::Walk(0.0, 5_000.0)),
    ("voltage", Course::Walk(220.0, 240.0)),
    ("current", Course::Walk(0.0, 16.0)),
    ("speed", Course::Walk(0.0, 3_000.0)),
    ("vibration", Course::Walk(0.0, 10.0)),
    ("level", Course::Walk(0.0, 100.0)),
    ("flow", Course::Walk(0.0, 50.0)),
    ("co2", Course::WholeWalk(400.0, 2_000.0)),
    ("brightness", Course::WholeWalk(0.0, 1_000.0)),
    ("energy", Course::Counter(10.0)),
    ("pulses", Course::Counter(50.0)),
    ("door", Course::Truth),
    ("motion", Course::Truth),
    ("running", Course::Truth),
    ("state", Course::Words),
];

const TYPES: [(&str, Course); 5] = [
    ("float", Course::Walk(0.0, 100.0)),
    ("integer", Course::WholeWalk(0.0, 1_000.0)),
    ("counter", Course::Counter(10.0)),
    ("bool", Course::Truth),
    ("text", Course::Words),
];

/// Something that a sensor measures.
#[derive(Debug, Clone, PartialEq)]
pub struct Measure {
    name: String,
    course: Course,
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
        let course = match (kind, known) {
            (Some(kind), _) => {
                let names = TYPES.iter().map(|(name, _)| (*name).to_owned());
                let of_type = TYPES.iter().find(|(known, _)| *known == kind);
                of_type.ok_or_else(|| unknown("type", kind, names))?.1
            }
            (None, Some((_, course))) => *course,
            (None, None) => TYPES[0].1,
        };
        if ["sensor", "site"].contains(&name) || found.iter().any(|one| one.name == name) {
            return Err(format!("{name:?} is there already; names are unique"));
        }
        found.push(Measure {
            name: name.to_owned(),
            course,
        });
    }
    match found.len() {
        0 => Err("name one thing or more, like temperature".to_owned()),
        count if count > MOST => Err(format!(
            "{count} names are too many; give {MOST} or fewer here, and add the others to the file"
        )),
        _ => Ok(found),
    }
}

impl Measure {
    /// Its name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Whether means and thresholds can be had of it.
    pub const fn is_number(&self) -> bool {
        !matches!(self.course, Course::Truth | Course::Words)
    }

    /// Whether it goes up and down, so that it passes a threshold now and then.
    pub const fn wanders(&self) -> bool {
        matches!(self.course, Course::Walk(..) | Course::WholeWalk(..))
    }

    /// A threshold that is passed now and then, after so many readings.
    pub fn threshold(&self, ticks: u64) -> f64 {
        match self.course {
            Course::Walk(min, max) | Course::WholeWalk(min, max) => min + (max - min) * 0.8,
            Course::Counter(step) => step * ticks as f64 / 2.0,
            Course::Truth | Course::Words => 0.0,
        }
    }

    /// Its table of the workload file; `period` is the longest swing, `hold` how long a value stays.
    pub fn table(&self, period: &str, hold: &str) -> String {
        let walk = |kind: &str, (min, max): (f64, f64)| {
            let period = commented(&format!("period = \"{period}\""), "the longest swing");
            format!("type = \"{kind}\"\nshape = \"walk\"\nmin = {min:?}\nmax = {max:?}\n{period}")
        };
        let rest = match self.course {
            Course::Walk(min, max) => walk("float", (min, max)) + "decimals = 2\n",
            Course::WholeWalk(min, max) => walk("integer", (min, max)),
            Course::Counter(step) => {
                let step = commented(
                    &format!("step = {step:?}"),
                    "grows by so much a reading, on average",
                );
                format!("type = \"integer\"\nshape = \"counter\"\n{step}")
            }
            Course::Truth => {
                let chance = commented("chance = 0.1", "how often it is true");
                format!("type = \"bool\"\nshape = \"random\"\n{chance}hold = \"{hold}\"\n")
            }
            Course::Words => format!(
                "type = \"text\"\nshape = \"random\"\nvalues = [\"ok\", \"warning\", \"failed\"]\nhold = \"{hold}\"\n"
            ),
        };
        format!("[[fields]]\nname = \"{}\"\n{rest}\n", self.name)
    }
}
