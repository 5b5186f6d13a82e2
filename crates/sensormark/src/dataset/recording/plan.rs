//! What each column is: the time, a tag, a field of some type, a row number, or left out; and what was assumed.
//!
//! More than half of a column's values decide what it is. Rows whose values are something else are then bad rows. So one slip of a logger neither turns numbers
//! into text nor goes unseen.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use sensormark_store::{FieldSet, FieldType};

use super::dialect::{Dialect, HeaderQuirk};
use super::error::RecordingError;
use super::evidence::{ColumnEvidence, Evidence};
use super::names::{column_note, free_name_of, name_of, table_name_of};
use super::options::RecordingOptions;
use super::time::TimeFormat;

/// Names of columns that hold times.
const TIME_WORDS: [&str; 7] = ["time", "date", "stamp", "epoch", "unix", "ts", "when"];

/// What is done with each column.
#[derive(Debug, Clone)]
pub(super) struct Plan {
    /// One entry a column.
    pub roles: Vec<Role>,
    /// The columns' names for people: as in the file, or made.
    pub labels: Vec<String>,
    /// The contract's names, one a column.
    pub names: Vec<String>,
    /// The column of the time, and its format.
    pub time: usize,
    pub format: TimeFormat,
    /// What was assumed, because neither file nor options say it.
    pub assumptions: Vec<String>,
}

/// What a column is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Role {
    /// The time.
    Time,
    /// A tag; whole numbers are kept as such.
    Tag {
        /// Whether its values are whole numbers.
        integer: bool,
    },
    /// A field.
    Field(FieldType),
    /// A number that counts the rows: left out.
    RowNumber,
    /// Without a value in any row: left out.
    Empty,
    /// Left out by the user.
    LeftOut,
}

/// Decides what each column is.
pub(super) fn decide(
    path: &Path,
    dialect: &Dialect,
    evidence: &Evidence,
    options: &RecordingOptions,
) -> Result<Plan, RecordingError> {
    if evidence.rows == 0 {
        return Err(RecordingError::Empty {
            path: path.to_owned(),
        });
    }
    let labels = labels(dialect);
    let named = Named::new(&labels, options)?;
    let mut assumptions = Vec::new();
    assume_header(dialect, &labels, &mut assumptions);
    let time = match named.time {
        Some(time) => time,
        None => find_time(path, evidence, &labels, &named, &mut assumptions)?,
    };
    let format = match options.time_format {
        Some(format) => format,
        None => time_format(&evidence.columns[time], &labels[time], &mut assumptions)?,
    };
    assume_zone(
        &evidence.columns[time],
        format,
        &labels[time],
        &mut assumptions,
    );
    let mut roles = Vec::new();
    for (column, seen) in evidence.columns.iter().enumerate() {
        let role = if column == time {
            Role::Time
        } else {
            role(column, seen, &labels[column], dialect, &named)?
        };
        assume_role(role, seen, &labels[column], &mut assumptions);
        roles.push(role);
    }
    check_fields(path, &roles)?;
    let kept = labels.iter().zip(&roles).filter(|(_, role)| is_kept(role));
    assumptions.extend(kept.filter_map(|(label, _)| column_note(label)));
    assumptions.extend(table_name_of(path, options).1);
    Ok(Plan {
        names: contract_names(&labels, &roles),
        roles,
        labels,
        time,
        format,
        assumptions,
    })
}

/// What the user said of columns, by their numbers.
struct Named {
    time: Option<usize>,
    tags: Vec<usize>,
    left_out: Vec<usize>,
    types: BTreeMap<usize, FieldType>,
}

impl Named {
    fn new(labels: &[String], options: &RecordingOptions) -> Result<Self, RecordingError> {
        let find = |name: &String, option| find(labels, name, option);
        let time = options
            .time
            .as_ref()
            .map(|name| find(name, "--time"))
            .transpose()?;
        let all = |names: &[String], option| -> Result<Vec<usize>, RecordingError> {
            names.iter().map(|name| find(name, option)).collect()
        };
        let tags = all(&options.tags, "--tags")?;
        let left_out = all(&options.leave_out, "--leave-out")?;
        let mut types = BTreeMap::new();
        for (name, kind) in &options.types {
            types.insert(find(name, "--type")?, kind.kind());
        }
        let mut taken: BTreeMap<usize, &'static str> = BTreeMap::new();
        let roles = (time.iter().map(|column| (column, "--time")))
            .chain(tags.iter().map(|column| (column, "--tags")))
            .chain(left_out.iter().map(|column| (column, "--leave-out")));
        for (&column, other) in roles {
            if let Some(one) = taken.insert(column, other) {
                return Err(RecordingError::TwoRoles {
                    column: labels[column].clone(),
                    one,
                    other,
                });
            }
        }
        Ok(Self {
            time,
            tags,
            left_out,
            types,
        })
    }
}

/// The column with this name, as the file has it or as the contract would.
fn find(labels: &[String], name: &str, option: &'static str) -> Result<usize, RecordingError> {
    let exact = labels.iter().position(|label| label == name);
    exact
        .or_else(|| labels.iter().position(|label| name_of(label) == name))
        .ok_or_else(|| RecordingError::UnknownColumn {
            name: name.to_owned(),
            option,
            columns: labels.to_vec(),
        })
}

fn labels(dialect: &Dialect) -> Vec<String> {
    let label = |(column, name): (usize, &String)| match name.as_str() {
        "" => format!("column_{}", column + 1),
        name => name.to_owned(),
    };
    dialect.names.iter().enumerate().map(label).collect()
}

/// Whether a column is stored.
const fn is_kept(role: &Role) -> bool {
    matches!(role, Role::Field(_) | Role::Tag { .. })
}

/// The contract's names. Fields and tags come first, so that a column that is left out takes no name from them.
fn contract_names(labels: &[String], roles: &[Role]) -> Vec<String> {
    let mut taken = BTreeSet::new();
    let mut names = vec![String::new(); labels.len()];
    for wanted in [true, false] {
        for (column, role) in roles.iter().enumerate() {
            if is_kept(role) == wanted {
                names[column] = free_name_of(&labels[column], &mut taken);
            }
        }
    }
    names
}

fn assume_header(dialect: &Dialect, labels: &[String], assumptions: &mut Vec<String>) {
    if !dialect.has_header {
        assumptions.push(format!(
            "line 1 is a reading, not a header; columns are called {} to {}",
            labels[0],
            labels[labels.len() - 1]
        ));
    }
    assumptions.extend(dialect.header_quirk.map(|quirk| {
        match quirk {
            HeaderQuirk::FirstUnnamed => {
                "the header has one name fewer than the rows have cells: its names belong to columns 2 and on"
            }
            HeaderQuirk::LastEmpty => "rows end with a delimiter: the last, empty column is none",
            HeaderQuirk::EmptyNames => "empty names at the header's end are none",
        }
        .to_owned()
    }));
}

/// The column that looks most like the time.
fn find_time(
    path: &Path,
    evidence: &Evidence,
    labels: &[String],
    named: &Named,
    assumptions: &mut Vec<String>,
) -> Result<usize, RecordingError> {
    let columns = || {
        (evidence.columns.iter().enumerate()).filter(|(column, _)| {
            !named.tags.contains(column)
                && !named.left_out.contains(column)
                && !named.types.contains_key(column)
        })
    };
    let dates: Vec<usize> = columns()
        .filter(|(_, seen)| seen.present() > 0 && seen.is_mostly(seen.times))
        .map(|(column, _)| column)
        .collect();
    let is_unix = |seen: &ColumnEvidence| {
        seen.present() > 0
            && seen.is_mostly(seen.numbers())
            && TimeFormat::of_numbers(seen.smallest, seen.largest).is_some()
    };
    let numbers: Vec<usize> = columns()
        .filter(|&(column, seen)| is_unix(seen) && has_time_word(&labels[column]))
        .map(|(column, _)| column)
        .collect();
    let found = if dates.is_empty() { numbers } else { dates };
    let Some(&time) = found.first() else {
        let shown =
            |(label, seen): (&String, &ColumnEvidence)| format!("{label} ({:?})", seen.example);
        return Err(RecordingError::NoTime {
            path: path.to_owned(),
            columns: labels.iter().zip(&evidence.columns).map(shown).collect(),
        });
    };
    if found.len() > 1 {
        assumptions.push(format!(
            "column {} is the time, the first of {} that look like one; --time names another",
            labels[time],
            found.len()
        ));
    }
    Ok(time)
}

/// Whether one of the words of a column's name is about time.
fn has_time_word(label: &str) -> bool {
    let name = name_of(label);
    name.split('_').any(|word| {
        TIME_WORDS
            .iter()
            .any(|time| word == *time || (time.len() > 3 && word.contains(time)))
    })
}

/// The format in which a column's times are written.
fn time_format(
    seen: &ColumnEvidence,
    label: &str,
    assumptions: &mut Vec<String>,
) -> Result<TimeFormat, RecordingError> {
    if seen.numbers() > 0 && seen.is_mostly(seen.numbers()) {
        let unix = TimeFormat::of_numbers(seen.smallest, seen.largest);
        assumptions.extend(unix.map(|format| {
            format!("numbers in column {label} are {format}, by their size: years 1990 to 2100")
        }));
        return unix.ok_or_else(|| RecordingError::NotATime {
            column: label.to_owned(),
            example: seen.example.clone(),
        });
    }
    if seen.present() == 0 || !seen.is_mostly(seen.times) {
        return Err(RecordingError::NotATime {
            column: label.to_owned(),
            example: seen.example.clone(),
        });
    }
    if seen.year_first * 2 > seen.times {
        return Ok(TimeFormat::YearMonthDay);
    }
    match (&seen.day_first, &seen.month_first) {
        (Some(_), None) => Ok(TimeFormat::DayMonthYear),
        (None, Some(_)) => Ok(TimeFormat::MonthDayYear),
        (None, None) => Err(RecordingError::AmbiguousTime {
            column: label.to_owned(),
            example: seen.example.clone(),
        }),
        (Some(day_first), Some(month_first)) => Err(RecordingError::MixedTime {
            column: label.to_owned(),
            day_first: day_first.clone(),
            month_first: month_first.clone(),
        }),
    }
}

fn assume_zone(
    seen: &ColumnEvidence,
    format: TimeFormat,
    label: &str,
    assumptions: &mut Vec<String>,
) {
    let without = seen.times - seen.zoned;
    if format.is_unix() || without == 0 {
        return;
    }
    assumptions.push(if seen.zoned == 0 {
        format!("times in column {label} name no zone and are taken as UTC")
    } else {
        format!(
            "{without} of {} times in column {label} name no zone and are taken as UTC",
            seen.times
        )
    });
}

/// What a column that is not the time is.
fn role(
    column: usize,
    seen: &ColumnEvidence,
    label: &str,
    dialect: &Dialect,
    named: &Named,
) -> Result<Role, RecordingError> {
    let whole = seen.present() > 0 && seen.integers == seen.present();
    if named.left_out.contains(&column) {
        return Ok(Role::LeftOut);
    }
    if named.tags.contains(&column) {
        // As numbers, 1 and +1 would be one tag; as text they are what the file has.
        let integer = whole && seen.unusual_integers == 0;
        let kind = named.types.get(&column);
        return Ok(Role::Tag {
            integer: kind.map_or(integer, |kind| *kind == FieldType::I64),
        });
    }
    if let Some(&kind) = named.types.get(&column) {
        return Ok(Role::Field(kind));
    }
    if seen.present() == 0 {
        return Ok(Role::Empty);
    }
    if column == 0 && dialect.has_header && dialect.names[0].is_empty() && seen.counts_up {
        return Ok(Role::RowNumber);
    }
    if seen.is_mostly(seen.numbers()) {
        let is_float = seen.floats + seen.large_integers > 0;
        return Ok(Role::Field(if is_float {
            FieldType::F64
        } else {
            FieldType::I64
        }));
    }
    if seen.is_mostly(seen.decimal_commas) {
        return Err(RecordingError::DecimalComma {
            column: label.to_owned(),
            example: seen.example.clone(),
        });
    }
    Ok(Role::Field(if seen.is_mostly(seen.truths) {
        FieldType::Bool
    } else {
        FieldType::Text
    }))
}

fn assume_role(role: Role, seen: &ColumnEvidence, label: &str, assumptions: &mut Vec<String>) {
    match role {
        Role::RowNumber => assumptions.push(format!(
            "the first column has no name and counts the rows, {} to {} without a gap: left out",
            seen.first_integer.unwrap_or_default(),
            seen.last_integer.unwrap_or_default()
        )),
        Role::Empty => assumptions.push(format!("column {label} has no value in any row: left out")),
        Role::Field(FieldType::F64) if seen.large_integers > 0 => assumptions.push(format!(
            "{} whole numbers in column {label} are over 64 bits and are kept as floating point, which loses digits; --type {label}=text keeps them",
            seen.large_integers
        )),
        Role::Field(FieldType::Text) if (1..super::evidence::DISTINCT).contains(&seen.distinct.len()) => {
            assumptions.push(format!(
                "column {label} is text with {} different values, kept as a field; if it says which sensor a reading is of, say --tags {label}",
                seen.distinct.len()
            ));
        }
        _ => {}
    }
}

fn check_fields(path: &Path, roles: &[Role]) -> Result<(), RecordingError> {
    let fields = roles
        .iter()
        .filter(|role| matches!(role, Role::Field(_)))
        .count();
    if fields == 0 {
        return Err(RecordingError::NoField {
            path: path.to_owned(),
        });
    }
    if fields > FieldSet::CAPACITY {
        return Err(RecordingError::TooManyFields {
            fields,
            most: FieldSet::CAPACITY,
        });
    }
    Ok(())
}
