//! What each column is: the time, a tag, a field of some type, a row number, or left out; and what was assumed.
//!
//! More than half of a column's values decide what it is. Rows whose values are something else are then bad rows. So one slip of a logger neither turns numbers
//! into text nor goes unseen.

use std::collections::{BTreeMap, BTreeSet};

use sensormark_store::{FieldSet, FieldType};

use super::dialect::Dialect;
use super::error::{RecordingError, empty, unclear};
use super::evidence::{ColumnEvidence, Evidence, Tally};
use super::find_time::{Found, Search};
use super::marks::Said;
use super::names::{column_note, free_name_of, name_of, table_name_of};
use super::number::Marks;
use super::odd;
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
    /// The names of the texts of columns of numbers and texts.
    pub text_names: BTreeMap<usize, String>,
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
    /// Two fields: numbers of this type, and texts where a cell is none.
    Mixed(FieldType, Marks),
    /// A number that counts the rows: left out.
    RowNumber,
    /// Without a value in any row: left out.
    Empty,
    /// Left out by the user.
    LeftOut,
}

/// Decides what each column is.
pub(super) fn decide(
    dialect: &Dialect,
    evidence: &Evidence,
    options: &RecordingOptions,
) -> Result<Plan, RecordingError> {
    if evidence.rows == 0 {
        return empty(&dialect.source.given);
    }
    let labels = labels(dialect);
    let named = Named::new(&labels, dialect, options)?;
    let mut assumptions = [&dialect.source.notes[..], &dialect.notes].concat();
    assume_header(dialect, &labels, &mut assumptions);
    let (seen, taken) = (&evidence.columns[..], named.others());
    let search = Search { dialect, seen, labels: &labels, options, taken };
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
        if options.unit_in_cells
            && matches!(role, Role::Field(FieldType::I64 | FieldType::F64, _) | Role::Mixed(..))
        {
            assumptions.extend(odd::unit(seen, &labels[column])?);
        }
        assume_role(role, seen, &labels[column], &mut assumptions);
        roles.push(role);
    }
    check_fields(dialect, &roles)?;
    let kept = labels.iter().zip(&roles).filter(|(_, role)| is_kept(role));
    assumptions.extend(kept.filter_map(|(label, _)| column_note(label)));
    assumptions.extend(table_name_of(&dialect.source.given, options).1);
    let (names, text_names) = contract_names(&labels, &roles);
    for (&column, texts) in &text_names {
        let (label, numbers) = (&labels[column], &names[column]);
        assumptions.push(format!(
            "column {label} is field {numbers} where it is a number, and field {texts} where it is not"
        ));
    }
    Ok(Plan { names, text_names, roles, labels, time, is_bare_date, assumptions })
}

/// What the user said of columns, by their numbers.
struct Named {
    time: Vec<usize>,
    tags: Vec<usize>,
    left_out: Vec<usize>,
    /// Columns that are not among those to keep.
    dropped: Vec<usize>,
    /// Types, and columns of numbers and texts, which have none.
    types: BTreeMap<usize, Option<FieldType>>,
}

impl Named {
    fn new(labels: &[String], dialect: &Dialect, options: &RecordingOptions) -> Result<Self, RecordingError> {
        let all = |names: &[String], option| all(labels, names, option);
        let mut time = all(options.time.as_slice(), "--time")?;
        let mut tags = all(&options.tags, "--tags")?;
        let mut left_out = all(&options.leave_out, "--leave-out")?;
        let mut types = BTreeMap::new();
        for text in &options.types {
            let (column, kind) = typed(labels, text)?;
            types.insert(column, kind);
        }
        if !dialect.group_key.is_empty() && time.is_empty() && tags.is_empty() {
            let known = |names: &[&str]| {
                let is_named = |column: &usize| names.contains(&labels[*column].as_str());
                (0..labels.len()).filter(is_named).collect::<Vec<usize>>()
            };
            time = known(&["_time"]);
            tags = all(&dialect.group_key, "--tags")?;
            left_out.extend(known(&["result", "table", "_start", "_stop"]));
        }
        let mut dropped = Vec::new();
        let only = all(&options.only, "--only")?;
        if !only.is_empty() {
            let kept = [&only[..], &time, &tags].concat();
            let other = |column: &usize| !kept.contains(column) && !left_out.contains(column);
            dropped = (0..labels.len()).filter(other).collect();
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
        Ok(Self { time, tags, left_out, dropped, types })
    }

    /// Columns that are not the time, because the user made them something else.
    fn others(&self) -> Vec<usize> {
        let others = self.tags.iter().chain(&self.left_out);
        others.chain(self.types.keys()).copied().collect()
    }
}

/// The columns of one option: each text is a name, or several with commas between.
fn all(labels: &[String], texts: &[String], option: &'static str) -> Result<Vec<usize>, RecordingError> {
    let mut columns = Vec::new();
    for text in texts {
        match text.split_once(',') {
            Some(_) if !labels.contains(text) => {
                for name in text.split(',') {
                    columns.push(find(labels, name, option)?);
                }
            }
            _ => columns.push(find(labels, text, option)?),
        }
    }
    Ok(columns)
}

/// A column and its type; none where it is numbers and texts.
fn typed(labels: &[String], text: &str) -> Result<(usize, Option<FieldType>), RecordingError> {
    let (name, kind) = text.rsplit_once('=').unwrap_or_default();
    let kind = match kind {
        "bool" => Some(FieldType::Bool),
        "integer" => Some(FieldType::I64),
        "float" => Some(FieldType::F64),
        "text" => Some(FieldType::Text),
        "mixed" => None,
        _ => {
            return unclear(format!(
                "--type {text}: write it as COLUMN=TYPE; types are bool, integer, float, text and mixed"
            ));
        }
    };
    Ok((find(labels, name, "--type")?, kind))
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
    matches!(role, Role::Field(..) | Role::Mixed(..) | Role::Tag { .. })
}

/// The contract's names, and those of the texts of mixed columns. Fields and tags come first, so that a column that is left out takes no name from them.
fn contract_names(labels: &[String], roles: &[Role]) -> (Vec<String>, BTreeMap<usize, String>) {
    let mut taken = BTreeSet::new();
    let mut names = vec![String::new(); labels.len()];
    for wanted in [true, false] {
        for (column, role) in roles.iter().enumerate() {
            if is_kept(role) == wanted {
                names[column] = free_name_of(&labels[column], &mut taken);
            }
        }
    }
    let mixed = roles.iter().enumerate().filter(|(_, role)| matches!(role, Role::Mixed(..)));
    let texts =
        mixed.map(|(column, _)| (column, free_name_of(&format!("{} text", labels[column]), &mut taken)));
    let texts = texts.collect();
    (names, texts)
}

fn assume_header(dialect: &Dialect, labels: &[String], assumptions: &mut Vec<String>) {
    if !dialect.has_header {
        assumptions.push(format!(
            "line 1 is a reading, not a header; columns are called {} to {}",
            labels[0],
            labels[labels.len() - 1]
        ));
    }
}

fn assume_zone(time: &TimeSource, evidence: &Evidence, labels: &[String], assumptions: &mut Vec<String>) {
    // Of a date and a time of day, the time of day names the zone.
    let seen = &evidence.columns[time.columns[time.columns.len() - 1]];
    let (all, label) = (seen.present(), time.label(labels));
    let without = all - seen.zoned;
    if time.format.is_count() || time.format.has_zone() || without == 0 {
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
    if named.left_out.contains(&column) || named.dropped.contains(&column) {
        return Ok(Role::LeftOut);
    }
    if named.tags.contains(&column) {
        // As numbers, 1 and +1 would be one tag; as text they are what the file has.
        let integer = whole && seen.unusual_integers == 0;
        let kind = named.types.get(&column);
        return Ok(Role::Tag { integer: kind.map_or(integer, |kind| *kind == Some(FieldType::I64)) });
    }
    let given = named.types.get(&column).copied();
    if seen.present() == 0 && given.is_none() {
        return Ok(Role::Empty);
    }
    let is_nameless = column == 0 && dialect.has_header && dialect.names[0].is_empty();
    if is_nameless && !seen.is_uneven && given.is_none() {
        return Ok(Role::RowNumber);
    }
    if given.is_none() {
        odd::check(seen, label, named.tags.is_empty())?;
    }
    let is_number = seen.is_mostly(seen.numeric) || given == Some(None);
    if !is_number || matches!(given, Some(Some(FieldType::Text | FieldType::Bool))) {
        let is_truth = seen.is_mostly(seen.truths);
        let found = if is_truth { FieldType::Bool } else { FieldType::Text };
        return Ok(Role::Field(given.flatten().unwrap_or(found), Marks::PLAIN));
    }
    let marks = said.marks(seen, label)?;
    let numbers = if marks.decimal == ',' { &seen.comma } else { &seen.point };
    let found = if numbers.floats + numbers.large_integers > 0 { FieldType::F64 } else { FieldType::I64 };
    Ok(match given {
        Some(None) => Role::Mixed(found, marks),
        given => Role::Field(given.flatten().unwrap_or(found), marks),
    })
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

fn check_fields(dialect: &Dialect, roles: &[Role]) -> Result<(), RecordingError> {
    let fields = |role: &Role| match role {
        Role::Field(..) => 1,
        Role::Mixed(..) => 2,
        _ => 0,
    };
    let fields: usize = roles.iter().map(fields).sum();
    if fields == 0 {
        return unclear(format!(
            "no column of {} holds values beside the time and the tags",
            dialect.source.given.display()
        ));
    }
    if fields > FieldSet::CAPACITY {
        return unclear(format!(
            "{fields} columns of values are more than the {} that a table can have; leave some out with --leave-out",
            FieldSet::CAPACITY
        ));
    }
    Ok(())
}
