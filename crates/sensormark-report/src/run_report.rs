//! A run's report without a format: its trials, sorted and ranked, and what there is to say of them.

use super::error::ReportError;
use super::field::Field;
use super::options::ReportOptions;
use super::ranking::Ranking;
use super::sections;
use super::sections::projection::own_rate;
use super::summary::Summary;
use super::tables::Document;
use sensormark_engine::judge::data;
use sensormark_result::measurement::folder::ResultsFolder;
use sensormark_result::measurement::record::{RunRecord, TrialRecord};
use sensormark_workload::own::limit::hold_disk;

/// The options, with the published difficulties where the run follows its study and nobody gave others.
fn of_study(options: &ReportOptions, field: &Field) -> ReportOptions {
    let mut options = options.clone();
    let is_studys = field.run.workload == sensormark_workload::machine_tool::NAME;
    if field.run.as_study && is_studys && options.difficulty.is_empty() {
        options.published_difficulty = crate::studies::published_difficulties(field);
    }
    options
}

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
    pub fn from_folder(folder: &ResultsFolder, options: &ReportOptions) -> Result<Self, ReportError> {
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
        let mut believed: Vec<TrialRecord> = trials.into_iter().map(data::as_its_counts_say).collect();
        // A program before this one has foretold the disk.
        if let Some(rate) = own_rate(&run) {
            believed.iter_mut().for_each(|trial| hold_disk(trial, rate));
        }
        let field = Field::new(run, believed);
        let options = &of_study(options, &field);
        let ranking = Ranking::new(&field, options)?;
        let mut document = sections::document(&field, &ranking, options);
        document.neutralise();
        Ok(Self { document, field, ranking })
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

    /// The answer in figures.
    pub fn summary(&self) -> Summary {
        Summary::new(&self.field, &self.ranking)
    }

    /// Whether somebody could be ranked: a workload that asks what survives a kill ranks nobody.
    pub fn has_answer(&self) -> bool {
        self.field.run.workload != sensormark_workload::durability::NAME
    }
}
