//! What a report says, before it has a format: sections of sentences, lists and tables, with numbers as numbers.
//!
//! Every format draws from this one document, so that all of them say the same. Nothing here knows what a trial is.

use crate::prelude::*;
use std::borrow::Cow;

/// So many long tables in a row are named in one sentence.
const MANY: usize = 3;
/// Why a percentile is missing.
pub const TOO_FEW: &str = "fewer than 10 samples beyond it";

/// A whole report.
#[derive(Debug, PartialEq, Default, Serialize)]
pub struct Document {
    /// Its headline.
    pub title: String,
    /// Its sections, in the order of reading.
    pub sections: Vec<Section>,
}

/// A section.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Section {
    /// What programs call it.
    pub id: String,
    /// What a person reads.
    pub title: String,
    /// Its parts, in order.
    pub blocks: Vec<Block>,
}

/// A part of a section.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(tag = "kind", rename_all = "lowercase")]
pub enum Block {
    /// Sentences.
    Paragraph {
        /// Their words.
        text: String,
    },
    /// A list.
    List {
        /// Its items.
        items: Vec<String>,
    },
    /// A table.
    Table(Table),
}

/// A table: every row has one cell a column.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
pub struct Table {
    /// What programs call it, unique in the document.
    pub id: String,
    /// What a person reads.
    pub title: String,
    /// How many leading columns say what a row is about; a table that is split for want of width repeats them.
    pub keys: usize,
    /// The columns.
    pub columns: Vec<Column>,
    /// The rows.
    pub rows: Vec<Vec<Cell>>,
    /// What a reader has to know.
    pub notes: Vec<String>,
    /// Whether it is too long for people: formats for people name it, formats for programs hold it.
    #[serde(rename = "detail")]
    pub is_detail: bool,
    /// How a page draws it, where it is a figure's points.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub drawing: Option<Drawing>,
}

/// How a page draws a table of points: implementation, whose figures they are, perhaps a further key, and the figure.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Drawing {
    /// Bars, lines or a forest.
    pub shape: Shape,
    /// Whether equal steps on its axes are equal factors.
    pub logarithmic: bool,
}

/// The shape of a drawing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Shape {
    /// A bar for each row.
    Bars,
    /// A line for each implementation, over the last key.
    Lines,
    /// A ratio with its interval for each row, around 1.
    Forest,
}

/// A column.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Column {
    /// What a person reads.
    pub name: String,
    /// The unit of its numbers; empty where there is none.
    pub unit: String,
}

/// A cell.
#[derive(Debug, Clone, PartialEq)]
pub enum Cell {
    /// Words.
    Text(String),
    /// An exact count.
    Count(u64),
    /// A figure.
    Number(Number),
    /// Nothing was measured here; perhaps why. Never a zero.
    Missing(String),
}

/// A figure, perhaps with its interval.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Number {
    /// The figure, in its column's unit.
    pub value: f64,
    /// Its 95 % interval over repetitions, where there are enough.
    pub spread: Spread,
    /// What to print where there is no interval to say how many digits are worth it.
    pub digits: Digits,
}

/// How many digits are printed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Digits {
    /// So many that mean something, wherever the point stands.
    Significant(usize),
    /// So many after the point.
    Decimals(usize),
    /// As many as it takes to say it exactly.
    Exact,
}

/// How sure a figure is.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Spread {
    /// Nothing is known: a single trial, or an exact figure.
    None,
    /// Symmetric: prints as "± half its width".
    Plus(Interval),
    /// From a geometric mean or of a median: prints as "[low, high]".
    Range(Interval),
    /// No interval: the smallest and the largest of a few samples. Prints as "range low–high".
    Extremes(Interval),
}

impl Spread {
    /// The interval, if there is one.
    pub fn interval(self) -> Option<Interval> {
        match self {
            Self::None | Self::Extremes(_) => None,
            Self::Plus(interval) | Self::Range(interval) => Some(interval),
        }
    }
}

impl Cell {
    /// Words.
    pub fn text(text: impl Into<String>) -> Self {
        Self::Text(text.into())
    }

    /// A figure without an interval, printed with three significant digits.
    pub fn number(value: f64) -> Self {
        Self::Number(Number { value, spread: Spread::None, digits: Digits::Significant(3) })
    }

    /// Nothing, and why.
    pub fn missing(reason: &str) -> Self {
        Self::Missing(reason.to_owned())
    }

    /// A figure if there is one.
    pub fn maybe(value: Known, reason: &str) -> Self {
        value.map_or_else(|| Self::missing(reason), Self::number)
    }

    /// A count if there is one.
    pub fn count(value: Option<u64>, reason: &str) -> Self {
        value.map_or_else(|| Self::missing(reason), Self::Count)
    }

    /// Yes or no.
    pub fn yes(value: bool) -> Self {
        Self::text(if value { "yes" } else { "no" })
    }

    /// Whether it is words (and so stands left and may be wrapped).
    pub fn is_text(&self) -> bool {
        matches!(self, Self::Text(_))
    }
}

/// What becomes a cell by itself.
macro_rules! cells {
    ($($from:ty => $make:path),*) => {$(
        impl From<$from> for Cell {
            fn from(value: $from) -> Self {
                $make(value)
            }
        }
    )*};
}

cells!(
    &str => Self::text,
    &String => Self::text,
    String => Self::Text,
    u64 => Self::Count,
    f64 => Self::number
);

impl From<(&str, &str)> for Column {
    fn from((name, unit): (&str, &str)) -> Self {
        Self { name: name.to_owned(), unit: unit.to_owned() }
    }
}

/// A heading as the program's text has it: "name", or "name [unit]". A name from a file may have brackets, and is never read so.
impl From<&str> for Column {
    fn from(heading: &str) -> Self {
        heading.trim_end_matches(']').split_once(" [").unwrap_or((heading, "")).into()
    }
}

impl Table {
    /// An empty table with these headings: `key; key | column; column [unit]`. Without a bar the first is the key.
    pub fn new(id: &str, title: &str, headings: &str) -> Self {
        Self {
            id: id.to_owned(),
            title: title.to_owned(),
            keys: headings.split_once(" | ").map_or(1, |(keys, _)| keys.split("; ").count()),
            columns: headings.replace(" | ", "; ").split("; ").map(Column::from).collect(),
            ..Self::default()
        }
    }

    /// The same, too long for people.
    pub fn detail(id: &str, title: &str, headings: &str) -> Self {
        Self { is_detail: true, ..Self::new(id, title, headings) }
    }

    /// A table with a row for each of these arms, whose label is before these columns.
    ///
    /// # Panics
    /// When a row has not one cell a column.
    pub fn of_arms<'a>(
        id: &str,
        title: &str,
        headings: &str,
        arms: impl IntoIterator<Item = &'a Arm>,
        cells: impl Fn(&'a Arm) -> Vec<Cell>,
    ) -> Self {
        let mut table = Self::new(id, title, &format!("implementation; {headings}"));
        for arm in arms {
            table.row([row![&arm.label], cells(arm)].concat());
        }
        table
    }

    /// The table with these rows.
    ///
    /// # Panics
    /// When one has not one cell a column.
    pub fn with(mut self, rows: impl IntoIterator<Item = Vec<Cell>>) -> Self {
        rows.into_iter().for_each(|row| self.row(row));
        self
    }

    /// Adds a row.
    ///
    /// # Panics
    /// When it has not one cell a column.
    pub fn row(&mut self, cells: Vec<Cell>) {
        assert_eq!(cells.len(), self.columns.len(), "a row of {} has one cell a column", self.id);
        self.rows.push(cells);
    }

    /// The table with a note.
    pub fn noted(mut self, note: impl Into<String>) -> Self {
        self.note(note);
        self
    }

    /// Leaves out the columns of percentiles that cannot be given in any row, and names them in a note.
    fn leave_out_percentiles(&mut self) {
        let mut names = vec![];
        for place in (self.keys..self.columns.len()).rev() {
            let cells = || self.rows.iter().map(|row| &row[place]);
            if cells().all(|cell| matches!(cell, Cell::Missing(_)))
                && cells().any(|cell| matches!(cell, Cell::Missing(reason) if reason == TOO_FEW))
            {
                names.insert(0, self.columns.remove(place).name);
                self.rows.iter_mut().for_each(|row| drop(row.remove(place)));
            }
        }
        if !names.is_empty() {
            self.note(format!("Left out: {} ({TOO_FEW}).", names.join(", ")));
        }
    }

    /// All of its texts.
    fn texts(&mut self) -> impl Iterator<Item = &mut String> {
        let heads = self.columns.iter_mut().flat_map(|column| [&mut column.name, &mut column.unit]);
        let cells = self.rows.iter_mut().flatten().filter_map(|cell| match cell {
            Cell::Text(text) | Cell::Missing(text) => Some(text),
            _ => None,
        });
        heads.chain(cells).chain(&mut self.notes).chain([&mut self.title])
    }

    /// Adds a note, once.
    pub fn note(&mut self, note: impl Into<String>) {
        let note = note.into();
        if !self.notes.contains(&note) {
            self.notes.push(note);
        }
    }
}

impl Section {
    /// An empty section.
    pub fn new(id: &str, title: &str) -> Self {
        Self { id: id.to_owned(), title: title.to_owned(), blocks: vec![] }
    }

    /// A section of these tables.
    pub fn of(id: &str, title: &str, tables: impl IntoIterator<Item = Table>) -> Self {
        let mut section = Self::new(id, title);
        section.tables(tables);
        section
    }

    /// Adds sentences.
    pub fn paragraph(&mut self, text: impl Into<String>) {
        self.blocks.push(Block::Paragraph { text: text.into() });
    }

    /// Adds a list, unless it is empty.
    pub fn list(&mut self, items: Vec<String>) {
        if !items.is_empty() {
            self.blocks.push(Block::List { items });
        }
    }

    /// The blocks as people read them: many tables in a row that are too long for people are one sentence.
    pub fn for_people(&self) -> Vec<Cow<'_, Block>> {
        let is_long = |block: &Block| matches!(block, Block::Table(table) if table.is_detail);
        let runs = self.blocks.chunk_by(|one, next| is_long(one) && is_long(next));
        let shown = runs.flat_map(|run| match (run, run.len()) {
            ([Block::Table(first), .., Block::Table(last)], MANY..) => {
                let text = format!(
                    "{} tables, from {:?} to {:?}: --format csv or json prints them, and the page shows them.",
                    run.len(),
                    first.title,
                    last.title
                );
                vec![Cow::Owned(Block::Paragraph { text })]
            }
            _ => run.iter().map(Cow::Borrowed).collect(),
        });
        shown.collect()
    }

    /// Adds tables that have rows.
    pub fn tables(&mut self, tables: impl IntoIterator<Item = Table>) {
        tables.into_iter().for_each(|table| self.table(table));
    }

    /// Adds a table, unless it has no rows. Columns of percentiles that no row can give are left out.
    pub fn table(&mut self, mut table: Table) {
        if !table.rows.is_empty() {
            table.leave_out_percentiles();
            self.blocks.push(Block::Table(table));
        }
    }
}

impl Document {
    /// With these sections, unless they are empty.
    pub fn of(title: String, sections: impl IntoIterator<Item = Section>) -> Self {
        let mut document = Self { title, sections: vec![] };
        sections.into_iter().for_each(|section| document.section(section));
        document
    }

    /// Adds a section, unless it is empty.
    pub fn section(&mut self, section: Section) {
        if !section.blocks.is_empty() {
            self.sections.push(section);
        }
    }

    /// All tables, in order.
    pub fn tables(&self) -> impl Iterator<Item = &Table> {
        self.sections.iter().flat_map(|section| &section.blocks).filter_map(|block| match block {
            Block::Table(table) => Some(table),
            _ => None,
        })
    }

    /// Makes every text harmless to terminals: names come from servers, files and command lines. See [`clean`].
    pub fn neutralise(&mut self) {
        let neutral = |text: &mut String| *text = clean(text);
        neutral(&mut self.title);
        for section in &mut self.sections {
            neutral(&mut section.title);
            for block in &mut section.blocks {
                match block {
                    Block::Paragraph { text } => neutral(text),
                    Block::List { items } => items.iter_mut().for_each(neutral),
                    Block::Table(table) => table.texts().for_each(neutral),
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_heading_has_a_name_and_perhaps_a_unit() {
        let both = |name: &str, unit: &str| Column { name: name.to_owned(), unit: unit.to_owned() };
        assert_eq!(Column::from("second / first"), both("second / first", ""));
        assert_eq!(Column::from("disk [bytes/rdg]"), both("disk", "bytes/rdg"));
        assert_eq!(Column::from(("a field [x]", "")), both("a field [x]", ""));
    }

    #[test]
    fn percentiles_that_no_row_can_give_are_left_out_and_named() {
        let missing = |reason: &str| Cell::Missing(reason.to_owned());
        let mut table = Table::new("t", "T", "row; median; p90; p99; server CPU");
        let one = Cell::number(1.0);
        let other = missing("not measured");
        let cells = |name: &str, p90: Cell, p99: &str| {
            let median = one.clone();
            vec![Cell::text(name), median, p90, missing(p99), other.clone()]
        };
        table.row(cells("many", one.clone(), TOO_FEW));
        table.row(cells("few", missing(TOO_FEW), TOO_FEW));
        table.row(cells("invalid", missing("no trial"), "no trial"));
        let mut section = Section::new("s", "S");
        section.table(table);
        let Block::Table(table) = &section.blocks[0] else {
            panic!("a table: {:?}", section.blocks);
        };
        let names = table.columns.iter().map(|column| column.name.as_str());
        let names: Vec<&str> = names.collect();
        assert_eq!(names, ["row", "median", "p90", "server CPU"]);
        assert!(table.rows.iter().all(|row| row.len() == 4 && row[3] == other));
        assert_eq!(table.notes, ["Left out: p99 (fewer than 10 samples beyond it)."]);
    }

    #[test]
    fn many_long_tables_in_a_row_are_one_sentence_for_people() {
        let table = |title: &str, is_detail: bool| {
            let mut table = Table::new(title, title, "a");
            table.row(vec![Cell::text("x")]);
            table.is_detail = is_detail;
            table
        };
        let mut section = Section::new("s", "S");
        for (title, is_detail) in [("a", false), ("b", true), ("c", true), ("d", false)] {
            section.table(table(title, is_detail));
        }
        assert_eq!(section.for_people().len(), 4, "two are not many");
        for title in ["e", "f", "g"] {
            section.table(table(title, true));
        }
        let shown = section.for_people();
        assert_eq!((shown.len(), section.blocks.len()), (5, 7));
        let Block::Paragraph { text } = shown[4].as_ref() else {
            panic!("a sentence: {:?}", shown[4]);
        };
        assert!(text.starts_with("3 tables, from \"e\" to \"g\""), "{text}");
    }
}
