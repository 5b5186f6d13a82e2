//! What each column is: the time, a tag, a field of some type, a row number, or left out; and what was assumed.
//!
//! More than half of a column's values decide what it is. Rows whose values are something else are then bad rows. So one slip of a logger neither turns numbers
//! into text nor goes unseen.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use sensormark_store::{FieldSet, FieldType};

use super::dialect::{Dialect, HeaderQuirk};
use super::error::{RecordingError, empty, unclear};
use super::evidence::{ColumnEvidence, Evidence, Tally};
use super::find_time::{Found, Search};
use super::marks::Said;
use super::names::{column_note, free_name_of, name_of, table_name_of};
use super::number::Marks;
use super::options::RecordingOptions;
use super::time_source::TimeSource;
use crate::nearest::unknown;

/// What is done with each column.
#[derive(Debug, Clone)]
pub(super) struct Plan {
    /// One entry a column.
    pub roles: Vec<Role>,
    /// The columns' names for people: as in the file, or made.
    pub labels: Vec<String>,
    /// The contract's names, one a column.
    pub names: Vec<String>,
    /// The time.
    pub time: TimeSource,
    /// Whether it is a column of dates without a time of day that nobody named.
    pub is_bare_date: bool,
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
    /// A field, and what the marks in its numbers mean.
    Field(FieldType, Marks),
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
        return empty(path);
    }
    let labels = labels(dialect);
    let named = Named::new(&labels, options)?;
    let mut assumptions = Vec::new();
    assume_header(dialect, &labels, &mut assumptions);
    let mut search = Search::new(path, dialect, evidence, &labels, options);
    search.taken = named.others();
    let Found { source: time, assumptions: of_time, is_bare_date } = match &named.time[..] {
        [] => search.alone()?,
        columns => search.named(columns)?,
    };
    assumptions.extend(of_time);
    assume_zone(&time, evidence, &labels, &mut assumptions);
    let said = Said::new(evidence, options)?;
    let mut roles = Vec::new();
    for (column, seen) in evidence.columns.iter().enumerate() {
        let role = if time.columns.contains(&column) {
            Role::Time
        } else {
            role(column, seen, &labels[column], dialect, &named, &said)?
        };
        assume_role(role, seen, &labels[column], &mut assumptions);
        roles.push(role);
    }
    check_fields(path, &roles)?;
    let kept = labels.iter().zip(&roles).filter(|(_, role)| is_kept(role));
    assumptions.extend(kept.filter_map(|(label, _)| column_note(label)));
    assumptions.extend(table_name_of(path, options).1);
    Ok(Plan { names: contract_names(&labels, &roles), roles, labels, time, is_bare_date, assumptions })
}

/// What the user said of columns, by their numbers.
struct Named {
    time: Vec<usize>,
    tags: Vec<usize>,
    left_out: Vec<usize>,
    types: BTreeMap<usize, FieldType>,
}

impl Named {
    fn new(labels: &[String], options: &RecordingOptions) -> Result<Self, RecordingError> {
        let find = |name: &String, option| find(labels, name, option);
        let time = options.time.as_deref().unwrap_or_default();
        let time = match labels.iter().position(|label| label == time) {
            Some(column) => vec![column],
            None => (time.split(',').filter(|name| !name.is_empty()))
                .map(|name| find(&name.to_owned(), "--time"))
                .collect::<Result<_, _>>()?,
        };
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
                return unclear(format!(
                    "column {} is named by both {one} and {other}; a column is one thing",
                    labels[column]
                ));
            }
        }
        Ok(Self { time, tags, left_out, types })
    }

    /// Columns that are not the time, because the user made them something else.
    fn others(&self) -> Vec<usize> {
        let others = self.tags.iter().chain(&self.left_out);
        others.chain(self.types.keys()).copied().collect()
    }
}

/// The column with this name, as the file has it or as the contract would.
fn find(labels: &[String], name: &str, option: &'static str) -> Result<usize, RecordingError> {
    let exact = labels.iter().position(|label| label == name);
    let found = exact.or_else(|| labels.iter().position(|label| name_of(label) == name));
    found
        .map_or_else(|| unclear(format!("{option}: {}", unknown("column", name, labels.iter().cloned()))), Ok)
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
    matches!(role, Role::Field(..) | Role::Tag { .. })
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

fn assume_zone(time: &TimeSource, evidence: &Evidence, labels: &[String], assumptions: &mut Vec<String>) {
    // Of a date and a time of day, the time of day names the zone.
    let seen = &evidence.columns[time.columns[time.columns.len() - 1]];
    let (all, label) = (seen.present(), time.label(labels));
    let without = all - seen.zoned;
    if time.format.is_count() || without == 0 {
        return;
    }
    assumptions.push(if seen.zoned == 0 {
        format!("times in column {label} name no zone and are taken as UTC")
    } else {
        format!("{without} of {all} times in column {label} name no zone and are taken as UTC")
    });
}

/// What a column that is not the time is.
fn role(
    column: usize,
    seen: &ColumnEvidence,
    label: &str,
    dialect: &Dialect,
    named: &Named,
    said: &Said,
) -> Result<Role, RecordingError> {
    let whole = seen.present() > 0 && seen.point.integers == seen.present();
    if named.left_out.contains(&column) {
        return Ok(Role::LeftOut);
    }
    if named.tags.contains(&column) {
        // As numbers, 1 and +1 would be one tag; as text they are what the file has.
        let integer = whole && seen.unusual_integers == 0;
        let kind = named.types.get(&column);
        return Ok(Role::Tag { integer: kind.map_or(integer, |kind| *kind == FieldType::I64) });
    }
    let given = named.types.get(&column).copied();
    if seen.present() == 0 && given.is_none() {
        return Ok(Role::Empty);
    }
    let is_nameless = column == 0 && dialect.has_header && dialect.names[0].is_empty();
    if is_nameless && !seen.is_uneven && given.is_none() {
        return Ok(Role::RowNumber);
    }
    let is_number = seen.is_mostly(seen.numeric);
    if !is_number || matches!(given, Some(FieldType::Text | FieldType::Bool)) {
        let is_truth = seen.is_mostly(seen.truths);
        let found = if is_truth { FieldType::Bool } else { FieldType::Text };
        return Ok(Role::Field(given.unwrap_or(found), Marks::PLAIN));
    }
    let marks = said.marks(seen, label)?;
    let numbers = if marks.decimal == ',' { &seen.comma } else { &seen.point };
    let found = if numbers.floats + numbers.large_integers > 0 { FieldType::F64 } else { FieldType::I64 };
    Ok(Role::Field(given.unwrap_or(found), marks))
}

fn assume_role(role: Role, seen: &ColumnEvidence, label: &str, assumptions: &mut Vec<String>) {
    match role {
        Role::RowNumber => assumptions.push(format!(
            "the first column has no name and counts the rows, {} to {} without a gap: left out",
            seen.first_integer.unwrap_or_default(),
            seen.last_integer.unwrap_or_default()
        )),
        Role::Empty => assumptions.push(format!("column {label} has no value in any row: left out")),
        Role::Field(FieldType::F64, marks) => {
            let numbers = if marks.decimal == ',' { &seen.comma } else { &seen.point };
            assume_rounding(numbers, label, assumptions);
        }
        Role::Field(FieldType::Text, _) if (1..super::evidence::DISTINCT).contains(&seen.distinct.len()) => {
            assumptions.push(format!(
                "column {label} is text with {} different values, kept as a field; if it says which sensor a reading is of, say --tags {label}",
                seen.distinct.len()
            ));
        }
        _ => {}
    }
}

/// Numbers that floating point cannot keep are named.
fn assume_rounding(numbers: &Tally, label: &str, assumptions: &mut Vec<String>) {
    let (example, kept) = &numbers.rounded_example;
    if numbers.rounded > 0 {
        assumptions.push(format!(
            "{} numbers in column {label} have more digits than 64-bit floating point keeps: {example} becomes {kept:.0}; --type {label}=text keeps them",
            numbers.rounded
        ));
    }
}

fn check_fields(path: &Path, roles: &[Role]) -> Result<(), RecordingError> {
    let fields = roles.iter().filter(|role| matches!(role, Role::Field(..))).count();
    if fields == 0 {
        return unclear(format!("no column of {} holds values beside the time and the tags", path.display()));
    }
    if fields > FieldSet::CAPACITY {
        return unclear(format!(
            "{fields} columns of values are more than the {} that a table can have; leave some out with --leave-out",
            FieldSet::CAPACITY
        ));
    }
    Ok(())
}
