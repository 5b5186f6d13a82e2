//! Stored records as a relation of readings in SQL: what to select from, where time and fields are, and what narrows it.
//!
//! Questions are written once against this; rows of readings, rows of fields and JSON records differ here alone. It builds text
//! and says what is to be bound, and runs nothing.

use crate::design::{Design, SeriesKey, TableDesign};
use sensormark_store::{DaySplit, FieldSet, Index, Selection, Shape, Table};

/// A value that a statement is to be given.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Bind {
    /// The range's start in ns.
    Start,
    /// The range's end in ns.
    End,
    /// The number of the span that holds the range's start.
    FirstSpan,
    /// The number of the span that holds the range's last instant.
    LastSpan,
    /// The threshold of a predicate.
    Threshold,
    /// The chosen series' number.
    Series,
    /// The chosen series' tag of this number.
    Tag(usize),
    /// The chosen series as a JSON array: of numbers, of a tag, or of arrays of tags.
    Set,
    /// The tag value that chooses series.
    TagValue,
    /// Width of the windows in ns.
    Width,
    /// Origin of the windows in ns.
    Origin,
    /// When day begins, in ns after midnight.
    DayStart,
    /// When night begins, in ns after midnight.
    DayEnd,
}

/// A statement's text, and what it is to be given.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Statement {
    /// The text.
    pub sql: String,
    /// The value of parameter number i + 1.
    pub binds: Vec<Bind>,
}

impl Statement {
    /// Appends text.
    pub fn push(&mut self, text: &str) -> &mut Self {
        self.sql.push_str(text);
        self
    }

    /// A parameter with this value.
    pub fn parameter(&mut self, bind: Bind) -> String {
        let number = self.binds.iter().position(|&other| other == bind);
        let number = number.unwrap_or_else(|| {
            self.binds.push(bind);
            self.binds.len() - 1
        });
        format!("?{}", number + 1)
    }
}

/// How series are chosen, without which.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Choice {
    /// One series.
    One,
    /// A set of them.
    Set,
    /// Those with a value of the tag of this number.
    Tagged(usize),
    /// All.
    All,
}

impl Choice {
    /// How this selection chooses.
    pub const fn of(selection: &Selection) -> Self {
        match selection {
            Selection::One(_) => Self::One,
            Selection::Set(_) => Self::Set,
            Selection::Tagged { tag, .. } => Self::Tagged(*tag),
            Selection::All => Self::All,
        }
    }
}

/// The readings of one table as a relation, under an alias.
#[derive(Debug, Clone, Copy)]
pub struct Relation<'a> {
    /// The alias.
    alias: &'static str,
    /// The table in SQLite.
    pub design: &'a TableDesign,
    /// The table in the schema.
    pub table: &'a Table,
    /// Its number in the schema.
    pub number: usize,
    /// How readings become records.
    pub shape: Shape,
    index: Index,
}

impl<'a> Relation<'a> {
    /// The relation of this table.
    pub fn new(design: &'a Design, number: usize) -> Self {
        Self {
            alias: "r",
            design: &design.tables[number],
            table: &design.schema.tables[number],
            number,
            shape: design.layout.shape,
            index: design.layout.index,
        }
    }

    /// The same relation under another alias, for a statement that needs it twice.
    #[must_use]
    pub const fn aliased(self, alias: &'static str) -> Self {
        Self { alias, ..self }
    }

    /// The column under the alias.
    fn column(&self, column: &str) -> String {
        format!("{}.{column}", self.alias)
    }

    /// Whether an index finds the readings of a series.
    pub fn finds_series(&self) -> bool {
        self.index != Index::None
    }

    /// What to select from.
    pub fn from(&self) -> String {
        let (readings, alias) = (&self.design.readings, self.alias);
        match self.shape {
            Shape::RecordPerSpan { .. } => format!(
                "{readings} AS {alias} CROSS JOIN json_each({alias}.{}, '$.measurements') AS e",
                self.design.values[1]
            ),
            _ => format!("{readings} AS {alias}"),
        }
    }

    /// The table itself, without a look into its records.
    pub fn records(&self) -> String {
        format!("{} AS {}", self.design.readings, self.alias)
    }

    /// What tells records of one span apart, in the order of writing.
    pub fn records_copy(&self) -> String {
        self.column("_rowid_")
    }

    /// A reading's time in ns.
    pub fn time(&self) -> String {
        match self.shape {
            Shape::RecordPerSpan { span_ns, .. } => {
                format!(
                    "({} * {span_ns} + (e.value ->> '$.ns'))",
                    self.column(&self.design.time)
                )
            }
            _ => self.column(&self.design.time),
        }
    }

    /// A reading's value of a field.
    pub fn field(&self, field: usize) -> String {
        let values = &self.design.values;
        match self.shape {
            Shape::RecordPerSpan { .. } => format!("(e.value ->> '$.m[{field}]')"),
            Shape::RowPerField => {
                format!(
                    "(CASE {} WHEN {field} THEN {} END)",
                    self.column(&values[0]),
                    self.column(&values[1])
                )
            }
            _ => self.column(&values[field]),
        }
    }

    /// Number and value of the field that a row holds, in rows of fields.
    pub fn field_and_value(&self) -> Vec<String> {
        self.design
            .values
            .iter()
            .map(|column| self.column(column))
            .collect()
    }

    /// What tells repeated readings of one series and time apart, in the order of writing.
    pub fn copy(&self) -> String {
        match (self.shape, &self.design.copy) {
            (Shape::RecordPerSpan { .. }, _) => format!("{}, e.key", self.column("_rowid_")),
            (_, Some(copy)) => self.column(copy),
            (_, None) => self.column("_rowid_"),
        }
    }

    /// The same, latest first.
    pub fn copy_descending(&self) -> String {
        match (self.shape, &self.design.copy) {
            (Shape::RecordPerSpan { .. }, _) => {
                format!("{} DESC, e.key DESC", self.column("_rowid_"))
            }
            _ => format!("{} DESC", self.copy()),
        }
    }

    /// What records are kept in the order of, before time: the span, where there is one.
    pub fn coarse(&self) -> Option<String> {
        matches!(self.shape, Shape::RecordPerSpan { .. }).then(|| self.column(&self.design.time))
    }

    /// The columns that name a reading's series.
    pub fn series(&self) -> Vec<String> {
        let columns = self.design.key.identifying();
        columns
            .into_iter()
            .map(|column| self.column(column))
            .collect()
    }

    /// The column of a tag; in the table of tags under the alias `g`, where tags have one.
    pub fn tag(&self, tag: usize) -> String {
        match (&self.design.key, &self.design.tags) {
            (SeriesKey::Tags { columns, .. }, _) => self.column(&columns[tag]),
            (_, Some(tags)) => format!("g.{}", tags.columns[tag]),
            (_, None) => "NULL".to_owned(),
        }
    }

    /// Whether series ordered by their columns are ordered by their numbers.
    pub const fn in_series_order(&self) -> bool {
        !matches!(self.design.key, SeriesKey::Tags { .. })
    }

    /// The condition that a reading is of the chosen series.
    pub fn chosen(&self, choice: Choice, statement: &mut Statement) -> Vec<String> {
        match &self.design.key {
            SeriesKey::Only => Vec::new(),
            SeriesKey::Number(column) => self.chosen_by_number(column, choice, statement),
            SeriesKey::Tags {
                columns,
                identifying,
            } => {
                let tag = |tag: &usize| self.column(&columns[*tag]);
                match choice {
                    Choice::All => Vec::new(),
                    Choice::One => identifying
                        .iter()
                        .map(|number| {
                            let value = statement.parameter(Bind::Tag(*number));
                            format!("{} = {value}", tag(number))
                        })
                        .collect(),
                    Choice::Set => {
                        let columns: Vec<String> = identifying.iter().map(tag).collect();
                        vec![tags_in_set(&columns, &statement.parameter(Bind::Set))]
                    }
                    Choice::Tagged(number) => {
                        let value = statement.parameter(Bind::TagValue);
                        vec![format!("{} = {value}", tag(&number))]
                    }
                }
            }
        }
    }

    fn chosen_by_number(
        &self,
        column: &str,
        choice: Choice,
        statement: &mut Statement,
    ) -> Vec<String> {
        let column = self.column(column);
        match choice {
            Choice::One => vec![format!("{column} = {}", statement.parameter(Bind::Series))],
            // Naming every series lets the index find the range within each.
            Choice::All if !self.finds_series() => Vec::new(),
            _ => self
                .numbers(choice, statement)
                .map(|numbers| format!("{column} IN ({numbers})"))
                .into_iter()
                .collect(),
        }
    }

    /// A query for the numbers of the chosen series, from the table of tags.
    fn numbers(&self, choice: Choice, statement: &mut Statement) -> Option<String> {
        let tags = self.design.tags.as_ref()?;
        Some(match choice {
            Choice::One => format!("SELECT {} AS \"series\"", statement.parameter(Bind::Series)),
            Choice::Set => format!(
                "SELECT value AS \"series\" FROM json_each({})",
                statement.parameter(Bind::Set)
            ),
            Choice::Tagged(tag) => format!(
                "SELECT \"series\" FROM {} WHERE {} = {}",
                tags.table,
                tags.columns[tag],
                statement.parameter(Bind::TagValue)
            ),
            Choice::All => format!("SELECT \"series\" FROM {}", tags.table),
        })
    }

    /// A query for the chosen series, one row each with a column `series`, where the database can tell them without reading
    /// their readings; for statements that look into each series by itself.
    pub fn each_series(&self, choice: Choice, statement: &mut Statement) -> Option<String> {
        if choice == Choice::One {
            return None;
        }
        let SeriesKey::Tags {
            columns,
            identifying,
        } = &self.design.key
        else {
            return self.numbers(choice, statement);
        };
        let ([tag], true) = (identifying.as_slice(), self.finds_series()) else {
            return None;
        };
        match choice {
            Choice::One => None,
            Choice::Set => Some(format!(
                "SELECT value AS \"series\" FROM json_each({})",
                statement.parameter(Bind::Set)
            )),
            Choice::Tagged(number) if number == *tag => Some(format!(
                "SELECT {} AS \"series\"",
                statement.parameter(Bind::TagValue)
            )),
            Choice::Tagged(_) => None,
            // Steps through the index from one series to the next.
            Choice::All => {
                let (table, column) = (&self.design.readings, &columns[*tag]);
                Some(format!(
                    "WITH RECURSIVE step(\"series\") AS (SELECT min({column}) FROM {table} UNION ALL SELECT \
                     (SELECT min({column}) FROM {table} WHERE {column} > step.\"series\") FROM step WHERE \
                     step.\"series\" IS NOT NULL) SELECT \"series\" FROM step WHERE \"series\" IS NOT NULL"
                ))
            }
        }
    }

    /// The condition that a reading is in the range.
    pub fn in_range(&self, statement: &mut Statement) -> Vec<String> {
        let mut conditions = self.in_spans(statement);
        let time = self.time();
        conditions.push(format!("{time} >= {}", statement.parameter(Bind::Start)));
        conditions.push(format!("{time} < {}", statement.parameter(Bind::End)));
        conditions
    }

    /// The condition that a record's span meets the range; none for rows of readings.
    pub fn in_spans(&self, statement: &mut Statement) -> Vec<String> {
        self.coarse().map_or_else(Vec::new, |span| {
            vec![
                format!("{span} >= {}", statement.parameter(Bind::FirstSpan)),
                format!("{span} <= {}", statement.parameter(Bind::LastSpan)),
            ]
        })
    }

    /// The condition that a reading has any of the fields; none where it always has.
    pub fn has_any(&self, fields: FieldSet) -> Option<String> {
        if self.shape == Shape::RowPerField {
            let numbers: Vec<String> = fields.iter().map(|field| field.to_string()).collect();
            let values = &self.design.values;
            return Some(format!(
                "{} IN ({}) AND {} IS NOT NULL",
                self.column(&values[0]),
                numbers.join(", "),
                self.column(&values[1])
            ));
        }
        if fields
            .iter()
            .any(|field| !self.table.fields[field].nullable)
        {
            return None;
        }
        let present: Vec<String> = fields
            .iter()
            .map(|field| format!("{} IS NOT NULL", self.field(field)))
            .collect();
        Some(format!(
            "({})",
            if present.is_empty() {
                "0".to_owned()
            } else {
                present.join(" OR ")
            }
        ))
    }
}

/// Start of the window that holds this time. `floor` says that no time is before the origin.
pub fn window(time: &str, floor: bool, statement: &mut Statement) -> String {
    let (width, origin) = (
        statement.parameter(Bind::Width),
        statement.parameter(Bind::Origin),
    );
    if floor {
        format!("({time} - ({time} - {origin}) % {width})")
    } else {
        format!("({time} - ((({time} - {origin}) % {width}) + {width}) % {width})")
    }
}

/// Whether this time falls by day, 1 or 0. `floor` says that no time is before the epoch.
pub fn by_day(time: &str, floor: bool, statement: &mut Statement) -> String {
    let (start, end) = (
        statement.parameter(Bind::DayStart),
        statement.parameter(Bind::DayEnd),
    );
    let day = DaySplit::DAY_NS;
    let clock = if floor {
        format!("({time} % {day})")
    } else {
        format!("((({time} % {day}) + {day}) % {day})")
    };
    format!("({clock} >= {start} AND {clock} < {end})")
}

fn tags_in_set(columns: &[String], set: &str) -> String {
    if let [column] = columns {
        return format!("{column} IN (SELECT value FROM json_each({set}))");
    }
    let parts: Vec<String> = (0..columns.len())
        .map(|place| format!("value ->> {place}"))
        .collect();
    format!(
        "({}) IN (SELECT {} FROM json_each({set}))",
        columns.join(", "),
        parts.join(", ")
    )
}

/// Conditions joined, with the word before them; nothing where there is none.
pub fn filter(conditions: &[String]) -> String {
    if conditions.is_empty() {
        String::new()
    } else {
        format!(" WHERE {}", conditions.join(" AND "))
    }
}
