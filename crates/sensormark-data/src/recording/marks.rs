//! Which of comma and point is the decimal mark in the numbers of a column, and what groups their thousands.
//!
//! The numbers of a column are one or two readings: with a decimal point, and with a decimal comma. A reading counts where all of them can be
//! read so. What the user said, and columns that can be read in one way alone, take readings away. Where two are left, or one that nobody asked
//! for, reading stops and names each with its options.

use super::*;

/// One way to read the numbers of a column.
struct Reading {
    marks: Marks,
    /// Whether some of the numbers have a decimal mark.
    has_decimal: bool,
    /// A number that shows it: with grouped thousands, or with a decimal comma.
    example: Option<String>,
}

/// What the file and the user say about marks.
pub struct Said {
    decimal_comma: bool,
    /// The mark between thousands, or that there is none.
    thousands: Option<Option<char>>,
    /// Whether some column can be read with decimal commas alone.
    is_comma_sure: bool,
    /// Whether a unit may follow a number.
    pub has_units: bool,
}

impl Said {
    /// What is known before a column is looked at.
    ///
    /// # Errors
    /// When the user says that a comma is both marks.
    pub fn new(evidence: &Evidence, options: &RecordingOptions) -> Result<Self> {
        let thousands = options.thousands.as_deref();
        let thousands = thousands.map(|mark| mark.chars().next().filter(|_| mark != "none"));
        if options.decimal_comma && thousands == Some(Some(',')) {
            return unclear!("--decimal-comma and --thousands , contradict each other");
        }
        let is_comma_sure = evidence.columns.iter().any(|seen| {
            let readings = readings(seen);
            seen.is_mostly(seen.numeric) && readings.len() == 1 && readings[0].has_decimal_comma()
        });
        let RecordingOptions { decimal_comma, unit_in_cells: has_units, .. } = *options;
        Ok(Self { decimal_comma, thousands, is_comma_sure, has_units })
    }

    /// How the numbers of a column are read.
    ///
    /// # Errors
    /// When that is not clear, or nobody asked for it.
    pub fn marks(&self, seen: &ColumnEvidence) -> Result<Marks> {
        let all = readings(seen);
        // Whether its decimal mark is not what the user says of thousands.
        let can_be =
            |reading: &&Reading| !reading.has_decimal || self.thousands != Some(Some(reading.marks.decimal));
        let left = match &all[..] {
            [one, other] if one.is_same(other) => vec![if self.is_comma() { other } else { one }],
            [_, _] => all.iter().filter(can_be).collect_vec(),
            _ => all.iter().collect_vec(),
        };
        let asked = left.iter().filter(|reading| self.is_asked_for(reading)).collect_vec();
        // Of 1,200 a decimal comma alone does not say that it is 1.2.
        let is_sure = left.len() == 1 || self.thousands.is_some() || self.is_comma_sure;
        if let [reading] = asked[..]
            && (is_sure || !reading.has_decimal_comma())
        {
            return Ok(reading.marks);
        }
        let shown = left.into_iter().filter(can_be).collect_vec();
        let example = shown.iter().find_map(|reading| reading.example.as_ref()).unwrap_or(&seen.example);
        let mut readings = shown.iter().map(|reading| reading.described(shown.len() > 1));
        let why = if all.is_empty() {
            "some have a decimal point and some a decimal comma, so write them in one way"
        } else if shown.is_empty() {
            "with this --thousands that is no number"
        } else {
            &format!("that is {}", readings.join(", or "))
        };
        unclear!(
            "numbers in column {0} are written like {example:?}: {why}. If they are no numbers, say ⟦!--type‖{0}=text⟧",
            seen.label
        )
    }

    /// Whether a comma is the decimal mark.
    fn is_comma(&self) -> bool {
        self.decimal_comma || self.thousands == Some(Some('.'))
    }

    /// Whether the user asked for this reading, or it needs no word.
    fn is_asked_for(&self, reading: &Reading) -> bool {
        let Marks { decimal, group } = reading.marks;
        let is_grouped_so = match self.thousands {
            _ if group.is_none() => true,
            Some(said) => said == group,
            None => decimal == ',' && group == Some('.') && self.decimal_comma,
        };
        is_grouped_so && (self.is_comma() || !reading.has_decimal_comma())
    }
}

impl Reading {
    fn has_decimal_comma(&self) -> bool {
        self.marks.decimal == ',' && self.has_decimal
    }

    /// Whether both give the same numbers.
    fn is_same(&self, other: &Self) -> bool {
        !self.has_decimal && !other.has_decimal && self.marks.group == other.marks.group
    }

    /// The number of its example, and the options that ask for it.
    fn described(&self, is_one_of_two: bool) -> String {
        let Marks { decimal, group } = self.marks;
        let number = self
            .example
            .as_ref()
            .and_then(|example| number::read(example, decimal))
            .map_or(f64::NAN, |read| read.number.float());
        let comma = (self.has_decimal_comma() && group != Some('.')).then(|| "--decimal-comma".to_owned());
        let thousands = group
            .map(String::from)
            .or(is_one_of_two.then(|| "none".to_owned()))
            .map(|mark| format!("--thousands‖{mark}"));
        format!("{number} with ⟦{}⟧", comma.into_iter().chain(thousands).join("‖"))
    }
}

/// The ways to read the numbers of a column: with a decimal point first. Where cells contradict each other, the way of most of them.
fn readings(seen: &ColumnEvidence) -> Vec<Reading> {
    let is_all = |tally: &Tally| tally.count() == seen.numeric;
    let is_one_all = is_all(&seen.point) || is_all(&seen.comma);
    [('.', &seen.point), (',', &seen.comma)]
        .into_iter()
        .filter(|(_, tally)| is_all(tally) || (!is_one_all && tally.count() * 2 > seen.numeric))
        .map(|(decimal, tally)| {
            let (group, example) = tally.grouped.clone().unzip();
            Reading {
                marks: Marks { decimal, group },
                has_decimal: tally.decimal.is_some(),
                example: example.or_else(|| tally.decimal.clone()),
            }
        })
        .collect()
}
