//! The file of a study, `studies/NAME.toml`: its form, and what is wrong with one. What its texts mean is in `super::scope`.

use super::*;
use serde::Deserializer;
use toml::{Spanned, de::DeValue};

/// A study.
#[derive(Deserialize, Default)]
#[serde(deny_unknown_fields, default)]
pub struct StudyFile {
    /// What it is, and what it leaves open.
    pub study: About,
    /// Its databases, each with the conditions by which one of our implementations stands for it.
    pub who: BTreeMap<String, String>,
    /// What tables and drawings run over: lists, or how they are found in a run.
    pub over: BTreeMap<String, Range>,
    /// What is measured, by names that all other sections use.
    pub figures: BTreeMap<String, String>,
    /// What the study printed, by tables.
    pub printed: Vec<Printed>,
    /// Tables of what was measured here.
    pub tables: Vec<TableRows>,
    /// Claims. A row without a text is a further part of the claim before.
    pub claims: Vec<ClaimRow>,
    /// Claims about a physical and a virtual machine, which take a run on each; `is` names the one that is faster.
    pub environments: Vec<ClaimRow>,
    /// Its figures, drawn again.
    pub drawings: Vec<DrawingRow>,
}

/// What a study is.
#[derive(Deserialize, Default)]
#[serde(deny_unknown_fields, default)]
pub struct About {
    /// The workload that repeats it.
    pub workload: String,
    /// Title, or a description that says that it is one.
    pub title: String,
    /// The databases' versions, by title.
    pub versions: BTreeMap<String, String>,
    /// The operating system and what else it names, in words.
    pub system: String,
    /// Its machines and sizes beside ours.
    pub setting: String,
    /// What is said instead of claims where nothing of the study was measured.
    pub nothing: String,
    /// The databases that claims compare which do not say it.
    pub compare: [String; 2],
    /// What a reader has to know of the claims.
    pub claims: String,
    /// What introduces the notes.
    pub open: String,
    /// What it leaves open or says twice differently.
    pub notes: String,
    /// Sections of tables: identifier and title. Those after "claims" follow what the study published.
    pub sections: Vec<[String; 2]>,
}

/// Values that something runs over.
#[derive(Deserialize)]
#[serde(untagged)]
pub enum Range {
    /// These.
    List(Vec<Value>),
    /// Lines of cells; or those that a run has: `parameter NAME`, `label NAME of LOADS`, `ends RANGE`, `pairs ONE OTHER`, `words …`.
    Found(String),
}

/// A table of a study: rows of the database, the values of `keys`, and a figure for each of `columns`. The report has it beside our figures.
#[derive(Deserialize, Default)]
#[serde(deny_unknown_fields, default)]
pub struct Printed {
    /// Whether what it does not say is as in the row before.
    pub again: bool,
    /// Its name in this file; programs call it so with `published_` before it.
    pub id: String,
    /// What a person reads.
    pub title: String,
    /// What tells a database's rows apart.
    pub keys: String,
    /// Figures.
    pub columns: String,
    /// The rows, a line each; two blanks or more stand between its cells.
    #[serde(deserialize_with = "rows")]
    pub rows: Vec<Vec<Value>>,
    /// What says what a row is about, where that is not the database, its keys and, of several columns, the figure.
    pub shown: String,
    /// A key of which ours may differ: our least then stands beside the study's least, and our most beside its most.
    pub ends: String,
    /// Why there is none of ours, where that is not the figure's own reason.
    pub missing: String,
    /// What a reader has to know.
    pub notes: String,
}

/// A text, or what is usual where it says nothing.
pub fn or<'t>(text: &'t str, usual: &'t str) -> &'t str {
    if text.is_empty() { usual } else { text }
}

/// Names with commas between them.
pub fn names(text: &str) -> impl Iterator<Item = &str> {
    text.split(", ").filter(|name| !name.is_empty())
}

/// Lines of cells.
fn rows<'de, D: Deserializer<'de>>(text: D) -> Result<Vec<Vec<Value>>, D::Error> {
    Ok(cells(&String::deserialize(text)?))
}

/// The cells of each line of a text: two blanks or more stand between them.
pub fn cells(text: &str) -> Vec<Vec<Value>> {
    let lines = text.lines().filter(|line| !line.trim().is_empty());
    let cells =
        |line: &str| line.split("  ").map(str::trim).filter(|cell| !cell.is_empty()).map(value).collect();
    lines.map(cells).collect()
}

/// A table of what was measured here.
#[derive(Deserialize, Default)]
#[serde(deny_unknown_fields, default)]
pub struct TableRows {
    /// Whether what it does not say is as in the row before.
    pub again: bool,
    /// What programs call it.
    pub id: String,
    /// What a person reads.
    pub title: String,
    /// Why there is none of ours, where that is not the figure's own reason.
    pub missing: String,
    /// Its section, the first where it does not say.
    pub section: String,
    /// A table for each of these.
    pub each: String,
    /// A row for each of these; implementations where it does not say.
    pub rows: String,
    /// What says what a row is about, where that is not what the rows run over.
    pub keys: String,
    /// Figures.
    pub columns: String,
    /// Whether rows without figures are left out.
    pub some: bool,
    /// The table is there where this has a value.
    pub only: String,
    /// What a reader has to know.
    pub notes: String,
}

/// A claim, or a part of one.
#[derive(Deserialize, Default)]
#[serde(deny_unknown_fields, default)]
pub struct ClaimRow {
    /// Whether what it does not say is as in the row before.
    pub again: bool,
    /// The claim in the study's words.
    pub text: String,
    /// What it takes to hold, with every tolerance.
    pub holds: String,
    /// A part for each of these.
    pub over: String,
    /// Only where this condition holds.
    pub only: String,
    /// What has to be there, by what is said where it is not.
    pub need: BTreeMap<String, String>,
    /// The databases that it is about.
    pub who: String,
    /// One side: a database, or an expression where the part has words of its own.
    pub left: String,
    /// The other side; several databases are several parts. Of `within` the borders.
    pub right: String,
    /// What is compared.
    pub figure: String,
    /// The unit in words, where it is not that of the figure.
    pub unit: String,
    /// `more` (where the figure says which is better: better), `less`, `level`, `within`, `none` (0), or `to` (better, by up to the factor).
    pub is: String,
    /// So many times as much, or so much apart.
    pub factor: Option<f64>,
    /// The figures in words.
    pub words: String,
    /// Whether it names beside it what stands for its databases here.
    pub here: bool,
    /// Whether the words are no part of the claim, but worth knowing.
    pub aside: bool,
    /// What has to be so for the words to decide something, by what is said to be missing where it is not.
    pub decides: BTreeMap<String, String>,
    /// Where this condition does not hold, figures that would refute the claim decide nothing.
    pub refutes: String,
    /// What is missing where there are no figures, or nothing decides.
    pub missing: String,
    /// What is missing where no part could be judged.
    pub open: String,
}

/// A figure of the study, drawn again.
#[derive(Deserialize, Default)]
#[serde(deny_unknown_fields, default)]
pub struct DrawingRow {
    /// Whether what it does not say is as in the row before.
    pub again: bool,
    /// What programs call it.
    pub id: String,
    /// What a person reads.
    pub title: String,
    /// A figure for each of these.
    pub each: String,
    /// The figure is there where this has a value.
    pub only: String,
    /// `groups` of bars; else lines, and bars where there is no x.
    pub shape: String,
    /// What it runs over, with its heading.
    pub x: String,
    /// The axis of the figures, with its unit where that is not the figure's own.
    pub y: String,
    /// Points, where they do not run over implementations and x alone.
    pub rows: String,
    /// Whose a point is.
    pub name: String,
    /// What is drawn.
    pub figure: String,
    /// Printed figures: tables, or a column of one (`COLUMN of TABLE`).
    pub printed: String,
    /// Where they stand on the axis, if no key of theirs says so.
    pub at: String,
    /// What tells several printed figures of a database apart.
    pub further: String,
    /// What a reader has to know.
    pub notes: String,
    /// A function of the program that draws it.
    pub function: String,
}

impl StudyFile {
    /// A printed table.
    pub fn printed(&self, id: &str) -> Option<&Printed> {
        self.printed.iter().find(|printed| printed.id == id)
    }

    /// Reads a study's file.
    ///
    /// # Errors
    /// What is wrong, with file, line and the nearest right word.
    pub fn read(file: &str, text: &str) -> Result<Self, FileError> {
        let mut source = Source::new(text, file, &[])?;
        for (_, rows) in source.root.get_mut() {
            if let DeValue::Array(rows) = rows.get_mut() {
                inherit(rows);
            }
        }
        let read = source.read()?;
        check::wrong(&read, &source).map_or(Ok(read), Err)
    }
}

/// Gives rows that say `again` what they do not say themselves from the row before; a text is a claim's own.
fn inherit(rows: &mut [Spanned<DeValue<'_>>]) {
    for place in 1..rows.len() {
        let before = rows[place - 1].get_ref().clone();
        if let (DeValue::Table(before), DeValue::Table(own)) = (before, rows[place].get_mut())
            && own.contains_key("again")
        {
            for (key, text) in before.into_iter().filter(|(key, _)| key.get_ref() != "text") {
                own.entry(key).or_insert(text);
            }
        }
    }
}
