//! A run's report without a format: its trials, sorted and ranked, and what there is to say of them.

use crate::{prelude::*, sections};
use sensormark_engine::judge::data;
use sensormark_result::measurement::folder::FolderError;
use sensormark_workload::own::limit::hold_disk;

/// A report, ready to be drawn.
#[derive(Debug)]
pub struct Report {
    document: Document,
    field: Field,
    ranking: Ranking,
    prices: Option<Prices>,
}

impl Report {
    /// Derives the report of a run's folder.
    ///
    /// # Errors
    /// A folder that cannot be read.
    pub fn from_folder(folder: &ResultsFolder, options: &ReportOptions) -> Result<Self, FolderError> {
        Ok(Self::new(folder.run()?, folder.trials()?, options))
    }

    /// Derives the report of a run and its trials.
    pub fn new(run: RunRecord, trials: Vec<TrialRecord>, options: &ReportOptions) -> Self {
        let mut believed = trials.into_iter().map(data::as_its_counts_say).collect_vec();
        // A program before this one has foretold the disk.
        if let Some(rate) = own_rate(&run) {
            believed.iter_mut().for_each(|trial| hold_disk(trial, rate));
        }
        let field = Field::new(run, believed);
        let ranking = Ranking::new(&field, options);
        let prices = Prices::new(&field, &ranking, &options.prices);
        let mut document = sections::document(&field, &ranking, options, prices.as_ref());
        document.neutralise();
        Self { document, field, ranking, prices }
    }

    /// What the report says, without a format.
    pub fn document(&self) -> &Document {
        &self.document
    }

    /// The trials, sorted.
    pub fn field(&self) -> &Field {
        &self.field
    }

    /// Who won.
    pub fn ranking(&self) -> &Ranking {
        &self.ranking
    }

    /// What it costs in money, where prices were given.
    pub fn prices(&self) -> Option<&Prices> {
        self.prices.as_ref()
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
