//! What each column is: the time, a tag, a field of some type, a row number, or left out; and what was assumed.
//!
//! More than half of a column's values decide what it is. Rows whose values are something else are then bad rows. So one slip of a logger neither turns numbers
//! into text nor goes unseen.

use super::*;

/// What is done with each column.
pub struct Plan {
    /// The table's name.
    pub table: String,
    /// What each column is.
    pub columns: Vec<ColumnReport>,
    /// The fields, in the file's order.
    pub fields: Vec<FieldSource>,
    /// The tags, in the file's order.
    pub tags: Vec<TagSource>,
    /// The time.
    pub time: TimeSource,
    /// What was assumed, because neither file nor options say it.
    pub assumptions: Vec<String>,
    /// Names that are taken.
    names: BTreeSet<String>,
}

/// Where the values of a field are.
#[derive(Clone)]
pub struct FieldSource {
    pub name: String,
    pub column: usize,
    pub kind: FieldType,
    /// What the marks in its numbers mean.
    pub marks: Marks,
    /// Of a column of numbers and texts: the type of its numbers.
    pub numbers: Option<FieldType>,
}

/// Where the values of a tag are, and whether they are whole numbers.
pub struct TagSource {
    pub name: String,
    pub column: usize,
    pub is_integer: bool,
}

/// Decides what each column is.
pub fn decide(dialect: &Dialect, evidence: &Evidence, options: &RecordingOptions) -> Result<Plan> {
    if evidence.rows == 0 {
        return empty(&dialect.source);
    }
    let columns = &evidence.columns[..];
    let named = Named::new(columns, dialect, options)?;
    let mut assumptions = dialect.notes.clone();
    if !dialect.has_header {
        let (first, last) = (&columns[0].label, &columns[columns.len() - 1].label);
        assumptions.push(format!("line 1 is a reading, not a header; columns are called {first} to {last}"));
    }
    let search = Search { dialect, seen: columns, options, taken: &named.taken };
    let time = match &named.time[..] {
        [] => search.alone()?,
        columns => search.named(columns)?,
    };
    assumptions.extend_from_slice(&time.notes);
    assumptions.extend(zone_note(&time, columns));
    let said = Said::new(evidence, options)?;
    let (table, note) = table_name_of(&dialect.source.given, options);
    let mut plan = Plan {
        table,
        time,
        assumptions,
        columns: Vec::new(),
        fields: Vec::new(),
        tags: Vec::new(),
        names: BTreeSet::new(),
    };
    for column in columns {
        let role = plan.role(column, dialect, &named, &said)?;
        plan.columns.push(ColumnReport { label: column.label.clone(), role, field: None, absent: 0 });
    }
    plan.assumptions.extend(note);
    match plan.fields.len() {
        0 => unclear(format!("no column of {} holds values beside the time and the tags", dialect.source)),
        fields if fields > FieldSet::CAPACITY => unclear(format!(
            "{fields} columns of values are more than the {} of a table; leave some out with --leave-out",
            FieldSet::CAPACITY
        )),
        _ => Ok(plan),
    }
}

impl Plan {
    /// What a column is. Tags and fields are taken note of, and what is assumed.
    fn role(
        &mut self,
        seen: &ColumnEvidence,
        dialect: &Dialect,
        named: &Named,
        said: &Said,
    ) -> Result<&'static str> {
        let (column, label) = (seen.number, &seen.label);
        let given = named.types.get(&column).copied();
        if self.time.columns.contains(&column) {
            return Ok("time");
        }
        if named.left_out.contains(&column) {
            return Ok("left out as asked");
        }
        if named.tags.contains(&column) {
            // As numbers, 1 and +1 would be one tag; as text they are what the file has.
            let is_integer =
                seen.present() > 0 && seen.point.integers == seen.present() && seen.unusual_integers == 0;
            let is_integer = given.map_or(is_integer, |kind| kind == Some(I64));
            let name = self.name(label);
            self.tags.push(TagSource { name, column, is_integer });
            return Ok("tag");
        }
        if given.is_none() {
            if seen.present() == 0 {
                self.assumptions.push(format!("column {label} has no value in any row: left out"));
                return Ok("empty, left out");
            }
            if column == 0 && dialect.has_header && dialect.names[0].is_empty() && seen.is_count() {
                self.assumptions
                    .push("the first column has no name and counts the rows: left out".to_owned());
                return Ok("row number, left out");
            }
            odd::check(seen, named.tags.is_empty())?;
        }
        let is_number = seen.is_mostly(seen.numeric) || given == Some(None);
        let kind = match given.flatten() {
            Some(kind) => kind,
            None if is_number => F64,
            None if seen.is_mostly(seen.truths) => Bool,
            None => Text,
        };
        if is_number && kind.is_number() {
            self.numbers(seen, given, named, said)?;
            return Ok("field");
        }
        let distinct = seen.distinct.len();
        if kind == Text && (1..DISTINCT).contains(&distinct) {
            self.assumptions.push(format!(
                "column {label} is text with {distinct} different values, kept as a field; if it names the sensor, say --tags {label}"
            ));
        }
        let name = self.name(label);
        self.fields.push(FieldSource { name, column, kind, marks: Marks::PLAIN, numbers: None });
        Ok("field")
    }

    /// Takes note of a column of numbers, or of numbers and texts, which become two fields.
    fn numbers(
        &mut self,
        seen: &ColumnEvidence,
        given: Option<Option<FieldType>>,
        named: &Named,
        said: &Said,
    ) -> Result<()> {
        let (column, label) = (seen.number, &seen.label);
        let marks = said.marks(seen)?;
        if named.has_units {
            self.assumptions.extend(odd::unit(seen)?);
        }
        let numbers = if marks.decimal == ',' { &seen.comma } else { &seen.point };
        let kind = given.flatten().unwrap_or(if numbers.floats > 0 { F64 } else { I64 });
        let name = self.name(label);
        if given == Some(None) {
            let texts = self.name(&format!("{label} text"));
            self.assumptions.push(format!(
                "column {label} is field {name} where it is a number, and field {texts} where it is not"
            ));
            let numbers = FieldSource { name, column, kind, marks, numbers: Some(kind) };
            let texts = FieldSource { name: texts, kind: Text, ..numbers.clone() };
            self.fields.extend([numbers, texts]);
            return Ok(());
        }
        if kind == F64
            && let Some((example, kept)) = &numbers.rounded_example
        {
            self.assumptions.push(format!(
                "{} numbers in column {label} have more digits than 64-bit floating point keeps: {example} becomes {kept:.0}; --type {label}=text keeps them",
                numbers.rounded
            ));
        }
        self.fields.push(FieldSource { name, column, kind, marks, numbers: None });
        Ok(())
    }

    /// The contract's name of what the file calls so.
    fn name(&mut self, label: &str) -> String {
        let (name, note) = free_name_of(label, &mut self.names);
        self.assumptions.extend(note);
        name
    }
}

/// What the user said of columns, by their numbers.
struct Named {
    time: Vec<usize>,
    tags: Vec<usize>,
    /// Columns to leave out, and those that are not among those to keep.
    left_out: Vec<usize>,
    /// Types, and columns of numbers and texts, which have none.
    types: BTreeMap<usize, Option<FieldType>>,
    /// Whether a unit may follow a number.
    has_units: bool,
    /// Columns that are not the time, because the user made them something else.
    taken: Vec<usize>,
}

impl Named {
    fn new(columns: &[ColumnEvidence], dialect: &Dialect, options: &RecordingOptions) -> Result<Self> {
        let mut time = all(columns, options.time.as_slice(), "--time")?;
        let mut tags = all(columns, &options.tags, "--tags")?;
        let mut left_out = all(columns, &options.leave_out, "--leave-out")?;
        let types = options.types.iter().map(|text| typed(columns, text));
        let types: BTreeMap<_, _> = types.collect::<Result<_>>()?;
        if !dialect.group_key.is_empty() && time.is_empty() && tags.is_empty() {
            let known = |names: &str| -> Vec<usize> {
                columns.iter().positions(|column| names.split(' ').contains(&column.label.as_str())).collect()
            };
            time = known("_time");
            tags = all(columns, &dialect.group_key, "--tags")?;
            left_out.extend(known("result table _start _stop"));
        }
        let mut named = BTreeMap::new();
        for (option, named_columns) in [("--time", &time), ("--tags", &tags), ("--leave-out", &left_out)] {
            for column in named_columns {
                if let Some(one) = named.insert(column, option) {
                    return unclear(format!(
                        "column {} is named by both {one} and {option}; a column is one thing",
                        columns[*column].label
                    ));
                }
            }
        }
        let taken = tags.iter().chain(&left_out).chain(types.keys()).copied().collect();
        let only = all(columns, &options.only, "--only")?;
        if !only.is_empty() {
            let kept = [&only[..], &time, &tags].concat();
            left_out.extend((0..columns.len()).filter(|column| !kept.contains(column)));
        }
        Ok(Self { time, tags, left_out, types, has_units: options.unit_in_cells, taken })
    }
}

/// The columns of one option: each text is a name, or several with commas between.
fn all(columns: &[ColumnEvidence], texts: &[String], option: &'static str) -> Result<Vec<usize>> {
    texts
        .iter()
        .flat_map(|text| {
            if columns.iter().any(|column| column.label == *text) {
                vec![text.as_str()]
            } else {
                text.split(',').collect()
            }
        })
        .map(|name| find(columns, name, option))
        .collect()
}

/// A column and its type; none where it is numbers and texts.
fn typed(columns: &[ColumnEvidence], text: &str) -> Result<(usize, Option<FieldType>)> {
    let (name, kind) = text.rsplit_once('=').unwrap_or_default();
    let kind = match kind {
        "bool" => Some(Bool),
        "integer" => Some(I64),
        "float" => Some(F64),
        "text" => Some(Text),
        "mixed" => None,
        _ => {
            return unclear(format!(
                "--type {text}: write it as COLUMN=TYPE; types are bool, integer, float, text and mixed"
            ));
        }
    };
    Ok((find(columns, name, "--type")?, kind))
}

/// The column with this name, as the file has it or as the contract would.
fn find(columns: &[ColumnEvidence], name: &str, option: &'static str) -> Result<usize> {
    columns
        .iter()
        .position(|column| column.label == name)
        .or_else(|| columns.iter().position(|column| name_of(&column.label) == name))
        .map_or_else(
            || {
                unclear(format!(
                    "{option}: {}",
                    unknown("column", name, columns.iter().map(|column| column.label.clone()))
                ))
            },
            Ok,
        )
}

/// What is said of times without a zone. Of a date and a time of day, the time of day names the zone.
fn zone_note(time: &TimeSource, columns: &[ColumnEvidence]) -> Option<String> {
    let seen = &columns[*time.columns.last()?];
    let all = seen.present();
    let without = all - seen.zoned;
    if is_of_tails(seen) && read_tail(&seen.example) == Some(true)
        || time.format.is_count()
        || ["%z", "%:", "%Q", "%s"].iter().any(|zone| time.format.name().contains(zone))
        || without == 0
    {
        return None;
    }
    let which = if seen.zoned == 0 { "times" } else { &format!("{without} of {all} times") };
    Some(format!("{which} in column {} name no zone and are taken as UTC", time.label))
}
