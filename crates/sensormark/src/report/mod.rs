//! The report: from a results folder to verdicts, an answer, a ranking and tables, in four formats.
//!
//! Everything is derived from the raw records, again each time: the same folder and options give the same report, on any
//! machine. Reading the folder is the only I/O. The flow: [`field`] sorts trials into implementations and repetitions,
//! [`criteria`] takes the score's values from each, [`ranking`] scores and ranks, `sections` say it all in one
//! [`tables::Document`], and [`text`], [`json`], [`csv`] and [`markdown`] draw that. [`summary`] holds what all of it comes to, and [`brief`] draws that.

pub mod brief;
pub(crate) mod claims;
pub mod clean;
pub mod compare;
mod contest;
pub mod costs;
pub mod criteria;
pub mod csv;
mod disturbed;
mod durability;
pub mod field;
pub mod html;
pub mod json;
mod keeping_up;
pub mod markdown;
pub mod number;
pub mod ranking;
pub mod raw;
pub(crate) mod sections;
pub mod statements;
pub mod summary;
pub mod tables;
#[cfg(test)]
pub(crate) mod tests;
pub mod text;
pub mod tidy;
mod timed;

use crate::measurement::folder::{FolderError, ResultsFolder};
use crate::measurement::record::{RunRecord, TrialRecord};
use crate::score::{ScoreError, Weights};
use field::Field;
use ranking::Ranking;
use std::collections::BTreeMap;
use std::path::PathBuf;
use summary::Summary;
use tables::Document;

/// Why there is no report.
#[derive(Debug, thiserror::Error)]
pub enum ReportError {
    /// The folder cannot be read.
    #[error(transparent)]
    Folder(#[from] FolderError),
    /// The weights do not fit the criteria.
    #[error("the weights do not fit: {0}")]
    Score(#[from] ScoreError),
    /// A figure cannot be drawn.
    #[error(transparent)]
    Drawing(#[from] crate::studies::drawing::DrawingError),
}

/// What a report is made with.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct ReportOptions {
    /// How much each criterion counts; the study's weights, or those of workloads of phases, where none are given.
    pub weights: Option<Weights>,
    /// The difficulty of implementations, 1 (easy) to 5, by their names in the ranking. Used only when everybody ranked
    /// has one.
    pub difficulty: BTreeMap<String, f64>,
    /// The same as the study published it, of writing and of reading; used where a run follows the study and nobody gave another.
    pub published_difficulty: [BTreeMap<String, f64>; 2],
    /// What disk is projected to.
    pub projection: Projection,
}

/// What the user will write, and onto what.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Projection {
    /// Readings a second; where it is not given, what the workload's own sensors send.
    pub rate: Option<f64>,
    /// The size of the disk, in bytes.
    pub disk_bytes: Option<f64>,
}

impl ReportOptions {
    /// From the text of a weights file: a table of weights for each side, and perhaps `[difficulty]`, 1 (easy) to 5 by name in the ranking.
    ///
    /// # Errors
    /// Text that is not so.
    pub fn from_toml(text: &str) -> Result<Self, ScoreError> {
        let (weights, difficulty) = Weights::with_difficulty(text)?;
        Ok(Self {
            weights: Some(weights),
            difficulty,
            ..Self::default()
        })
    }
}

impl ReportOptions {
    /// The options, with the published difficulties where the run follows its study and nobody gave others.
    fn of_study(&self, field: &Field) -> Self {
        let mut options = self.clone();
        let is_studys = field.run.workload == crate::workload::machine_tool::NAME;
        if field.run.as_study && is_studys && options.difficulty.is_empty() {
            options.published_difficulty = crate::studies::published_difficulties(field);
        }
        options
    }

    /// Whether anybody gave a difficulty.
    fn has_difficulty(&self) -> bool {
        let published = self.published_difficulty.iter();
        !self.difficulty.is_empty() || published.clone().any(|side| !side.is_empty())
    }

    /// The difficulty of an implementation, by its name in the ranking; `side` is 0 for writing and 1 for reading.
    fn difficulty_of(&self, side: usize, name: &str) -> Option<f64> {
        let published = || self.published_difficulty.get(side)?.get(name);
        self.difficulty.get(name).or_else(published).copied()
    }
}

/// Repetitions that are advised where an order is not tested.
const FIRM_REPETITIONS: u32 = 5;

/// A report, ready to be drawn.
#[derive(Debug, Clone, PartialEq)]
pub struct Report {
    document: Document,
    field: Field,
    ranking: Ranking,
}

impl Report {
    /// Derives the report of a run's folder.
    ///
    /// # Errors
    /// A folder that cannot be read, and weights that do not fit.
    pub fn from_folder(
        folder: &ResultsFolder,
        options: &ReportOptions,
    ) -> Result<Self, ReportError> {
        Self::new(folder.run()?, folder.trials()?, options)
    }

    /// Derives the report of a run and its trials.
    ///
    /// # Errors
    /// Weights that do not fit.
    pub fn new(
        run: RunRecord,
        trials: Vec<TrialRecord>,
        options: &ReportOptions,
    ) -> Result<Self, ReportError> {
        let field = Field::new(run, trials);
        let options = &options.of_study(&field);
        let ranking = Ranking::new(&field, options)?;
        let mut document = sections::document(&field, &ranking, options);
        document.neutralise();
        Ok(Self {
            document,
            field,
            ranking,
        })
    }

    /// Draws the workload's own figures into the folder's `figures/` and says which files they are; none for a workload
    /// without figures.
    ///
    /// # Errors
    /// When they cannot be drawn or written.
    pub fn write_figures(&self, folder: &ResultsFolder) -> Result<Vec<PathBuf>, ReportError> {
        let drawn = crate::studies::drawings(&self.field)?;
        if drawn.is_empty() {
            return Ok(Vec::new());
        }
        let figures = folder.path().join("figures");
        std::fs::create_dir_all(&figures).map_err(|source| FolderError::Io {
            action: "make the folder of figures",
            path: figures.clone(),
            hint: "; is the disk full or the folder not yours to write?",
            source,
        })?;
        let mut written = Vec::new();
        for (name, svg) in drawn {
            let path = PathBuf::from("figures").join(name);
            folder.replace_bytes(&path.to_string_lossy(), svg.as_bytes())?;
            written.push(folder.path().join(path));
        }
        Ok(written)
    }

    /// What the report says, without a format.
    pub const fn document(&self) -> &Document {
        &self.document
    }

    /// The trials, sorted.
    pub const fn field(&self) -> &Field {
        &self.field
    }

    /// Who won.
    pub const fn ranking(&self) -> &Ranking {
        &self.ranking
    }

    /// For a terminal of this width, in columns.
    pub fn text(&self, width: usize) -> String {
        text::render(&self.document, width)
    }

    /// The answer in figures.
    pub fn summary(&self) -> Summary {
        Summary::new(&self.field, &self.ranking)
    }

    /// For programs; see [`json`].
    pub fn json(&self) -> String {
        let summary = serde_json::to_value(self.summary()).expect("the keys are strings");
        json::render_with(&self.document, Some(summary))
    }

    /// For spreadsheets and data frames; see [`csv`].
    pub fn csv(&self) -> String {
        csv::render(&self.document)
    }

    /// One page that explains itself; see [`html`].
    pub fn html(&self, folder: Option<&ResultsFolder>) -> String {
        html::render(&[(self, folder)])
    }

    /// Whether somebody could be ranked: a workload that asks what survives a kill ranks nobody.
    pub fn has_answer(&self) -> bool {
        self.field.run.workload != crate::workload::durability::NAME
    }

    /// The command that measures the same again, so that the order can be tested, with the time that it takes; none where it was tested.
    pub fn firmer(&self) -> Option<String> {
        let run = &self.field.run;
        let summary = self.summary();
        if summary.certainty == summary::Certainty::Firm || run.command_line.is_empty() {
            return None;
        }
        let mut own: Vec<&str> = Vec::new();
        for text in &run.command_line {
            if text.starts_with("repetitions=") && own.last() == Some(&"--set") {
                own.pop();
            } else if text != "--tolerate-disturbance" {
                own.push(text);
            }
        }
        if summary.states.disturbed > 0 && !own.contains(&"--strict") {
            own.push("--strict");
        }
        let own: Vec<String> = own.into_iter().map(quoted).collect();
        let long = match summary.seconds {
            Some(seconds) => {
                let once = seconds / summary.repetitions.max(1) as f64;
                format!(
                    "   (about {})",
                    brief::span(once * f64::from(FIRM_REPETITIONS))
                )
            }
            None => String::new(),
        };
        Some(format!(
            "sensormark {} --set repetitions={FIRM_REPETITIONS}{long}",
            own.join(" ")
        ))
    }

    /// For documents.
    pub fn markdown(&self) -> String {
        markdown::render(&self.document)
    }
}

/// The argument as a shell takes it.
pub fn quoted(argument: &str) -> String {
    let is_plain = !argument.is_empty()
        && argument
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || b"-_./,:=@%+".contains(&byte));
    if is_plain {
        argument.to_owned()
    } else {
        format!("'{}'", argument.replace('\'', "'\\''"))
    }
}
