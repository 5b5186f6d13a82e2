//! What each column is: the time, a tag, a field of some type, a row number, or left out; and what was assumed.
//!
//! More than half of a column's values decide what it is. Rows whose values are something else are then bad rows. So one slip of a logger neither turns numbers
//! into text nor goes unseen.

use super::*;

/// Decides what each column is.
pub fn decide(dialect: &Dialect, evidence: &Evidence) -> Result<Plan> {
    if evidence.rows == 0 {
        return empty(&dialect.source);
    }
    let (columns, options) = (&evidence.columns[..], &dialect.options);
    let named = Named::new(columns, options)?;
    let search = Search { dialect, seen: columns, options, taken: &named.taken };
    let time = match &named.time[..] {
        [] => search.alone()?,
        columns => search.named(columns)?,
    };
    let said = Said::new(evidence, options)?;
    let (table, note) = table_name_of(&dialect.source.name);
    let notes = dialect.notes.iter().chain(&time.notes).cloned();
    let mut plan = Plan {
        table,
        assumptions: notes.chain(zone_note(&time, columns)).chain(note).collect(),
        time,
        named,
        columns: Vec::new(),
        fields: Vec::new(),
        tags: Vec::new(),
        names: BTreeSet::new(),
    };
    for column in columns {
        let role = plan.role(column, dialect, &said)?;
        plan.columns.push(ColumnReport { label: column.label.clone(), role, field: None, absent: 0 });
    }
    match plan.fields.len() {
        0 => unclear!("no column of {} holds values beside the time and the tags", dialect.source),
        fields if fields > FieldSet::CAPACITY => unclear!(
            "{fields} columns of values are more than the {} of a table; name those to keep with --only",
            FieldSet::CAPACITY
        ),
        _ => Ok(plan),
    }
}

impl Plan {
    /// What a column is. Tags and fields are taken note of, and what is assumed.
    fn role(&mut self, seen: &ColumnEvidence, dialect: &Dialect, said: &Said) -> Result<&'static str> {
        let (column, label) = (seen.number, &seen.label);
        let given = self.named.types.get(&column).copied();
        if self.time.columns.contains(&column) {
            return Ok("time");
        }
        if self.named.left_out.contains(&column) {
            return Ok("left out as asked");
        }
        if self.named.tags.contains(&column) {
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
            odd::check(seen, self.named.tags.is_empty())?;
        }
        self.field(seen, given, said)?;
        Ok("field")
    }

    /// Takes note of a field, or of two where a column has numbers and texts.
    fn field(&mut self, seen: &ColumnEvidence, given: Option<Option<FieldType>>, said: &Said) -> Result<()> {
        let ColumnEvidence { label, distinct, .. } = seen;
        let is_mixed = given == Some(None);
        let is_number = is_mixed || seen.is_mostly(seen.numeric);
        let kind = given.flatten();
        let mut field = FieldSource {
            name: self.name(label),
            column: seen.number,
            kind: Text,
            marks: Marks::PLAIN,
            numbers: None,
        };
        if !is_number || kind.is_some_and(|kind| !kind.is_number()) {
            field.kind = kind.unwrap_or(if seen.is_mostly(seen.truths) { Bool } else { Text });
            if field.kind == Text && (1..DISTINCT).contains(&distinct.len()) {
                self.assumptions.push(format!(
                    "column {label} is text with {} different values, kept as a field; if it names the sensor, say --tags {label}",
                    distinct.len()
                ));
            }
            self.fields.push(field);
            return Ok(());
        }
        field.marks = said.marks(seen)?;
        if said.has_units {
            self.assumptions.extend(odd::unit(seen)?);
        }
        let numbers = if field.marks.decimal == ',' { &seen.comma } else { &seen.point };
        field.kind = kind.unwrap_or(if numbers.floats > 0 { F64 } else { I64 });
        if is_mixed {
            let texts = self.name(&format!("{label} text"));
            self.assumptions.push(format!(
                "column {label} is field {} where it is a number, and field {texts} where it is not",
                field.name
            ));
            field.numbers = Some(field.kind);
            self.fields.push(field.clone());
            (field.name, field.kind) = (texts, Text);
        } else if field.kind == F64
            && let Some((example, kept)) = &numbers.rounded_example
        {
            self.assumptions.push(format!(
                "{} numbers in column {label} have more digits than 64-bit floating point keeps: {example} becomes {kept:.0}; --type {label}=text keeps them",
                numbers.rounded
            ));
        }
        self.fields.push(field);
        Ok(())
    }

    /// The contract's name of what the file calls so.
    fn name(&mut self, label: &str) -> String {
        let (name, note) = free_name_of(label, &mut self.names);
        self.assumptions.extend(note);
        name
    }
}

impl Named {
    fn new(columns: &[ColumnEvidence], options: &RecordingOptions) -> Result<Self> {
        let time = all(columns, options.time.as_slice(), "--time")?;
        let tags = all(columns, &options.tags, "--tags")?;
        let mut left_out = all(columns, &options.leave_out, "--leave-out")?;
        let types = options.types.iter().map(|text| typed(columns, text));
        let types: BTreeMap<_, _> = types.collect::<Result<_>>()?;
        let mut named = BTreeMap::new();
        for (option, named_columns) in [("--time", &time), ("--tags", &tags), ("--leave-out", &left_out)] {
            for column in named_columns {
                if let Some(one) = named.insert(column, option) {
                    return unclear!(
                        "column {} is named by both {one} and {option}; a column is one thing",
                        columns[*column].label
                    );
                }
            }
        }
        let taken = tags.iter().chain(&left_out).chain(types.keys()).copied().collect();
        let only = all(columns, &options.only, "--only")?;
        if !only.is_empty() {
            let kept = [&only[..], &time, &tags].concat();
            left_out.extend((0..columns.len()).filter(|column| !kept.contains(column)));
        }
        Ok(Self { time, tags, left_out, types, taken })
    }
}

/// The columns of one option: each text is a name, or several with commas between.
fn all(columns: &[ColumnEvidence], texts: &[String], option: &str) -> Result<Vec<usize>> {
    texts
        .iter()
        .flat_map(|text| {
            let is_one = columns.iter().any(|column| column.label == *text);
            text.split(move |mark| mark == ',' && !is_one)
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
            return unclear!(
                "--type {text}: write it as COLUMN=TYPE; types are bool, integer, float, text and mixed"
            );
        }
    };
    Ok((find(columns, name, "--type")?, kind))
}

/// The column with this name, as the file has it or as the contract would.
fn find(columns: &[ColumnEvidence], name: &str, option: &str) -> Result<usize> {
    let labels = || columns.iter().map(|column| &column.label);
    labels()
        .position(|label| label == name)
        .or_else(|| labels().position(|label| name_of(label) == name))
        .map_or_else(|| unclear!("{option}: {}", unknown("column", name, labels().cloned())), Ok)
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
