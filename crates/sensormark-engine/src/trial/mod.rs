//! Trials of phases: a workload says which phases an implementation goes through, and they are run, watched, counted and judged here.
//!
//! The flow of a trial, whose workload alone decides what a database is asked:
//!
//! - [`script`]: the workload gives a script of trials and their steps.
//! - [`case`]: the coordinator opens the database's [`place`] and starts each trial's processes ([`role`]).
//! - [`protocol`]: the coordinator leads the processes through the steps together, in these words. A source may feed a load ([`feed`]).
//! - [`account`] makes the record, and [`attempts`] takes disturbed phases from earlier attempts.
//! - [`judge`](crate::judge) gives the verdict.
//! - [`ceiling`] finds how fast the engine would be by itself.

pub mod account;

pub mod attempts;

pub mod ceiling;

mod client_hosts;

pub mod case;

pub mod own_line;

pub mod place;

pub mod plausible;

pub mod cases;

pub mod coordinator;

pub mod feed;

pub mod files;

pub mod growth;

mod kill;

mod new_record;

pub mod protocol;

pub mod role;

pub mod role_probes;

pub mod script;

pub mod spread;

pub mod support;

mod warnings;
pub mod watch;

use crate::judge::work::Work;
use crate::parameter::Parameter;
use crate::scale::Scale;
use crate::selection::Choice;
use script::{CaseTrials, Step, TrialSpec};
use sensormark_data::export::{DataRequest, DataSet};
use sensormark_result::measurement::record::{LoadRecord, NotMeasured, TrialRecord};
use sensormark_store::{Family, Layout, LayoutOption, Schema, Store, TimeResolution};
use serde_json::Value;
use std::sync::Arc;
use std::time::Duration;

/// What is measured: a store with a layout.
#[derive(Clone, Copy)]
pub struct Subject<'a> {
    /// The store.
    pub store: &'a dyn Store,
    /// The layout.
    pub layout: &'a Layout,
    /// The layout's name in the workload's words.
    pub layout_name: &'a str,
}

impl Subject<'_> {
    /// How finely times of a table are kept; the workload stamps readings no finer.
    pub fn time_resolution(&self, schema: &Schema, table: usize) -> TimeResolution {
        let table = &schema.tables[table];
        let kept = self.store.time_resolution(self.layout, table);
        kept.max(table.time_resolution)
    }
}

/// One kind of workload: what it can be made from, on both sides of the line between coordinator and trial process.
pub trait WorkloadFactory: Send + Sync {
    /// Its name ("devops").
    fn name(&self) -> &str;

    /// What it is, in one line for lists.
    fn summary(&self) -> &str {
        ""
    }

    /// Every number behind a scale, as an object by names: what the workload is run with by its name alone. None for a kind that needs
    /// more (a file).
    fn preset(&self, scale: Scale) -> Option<Value> {
        let _ = scale;
        None
    }

    /// What each of those numbers is: what may be set, to what, and what it means.
    fn parameters(&self) -> &'static [Parameter] {
        &[]
    }

    /// What of the numbers follows its study where that is asked for, as after `--set`.
    fn as_study(&self) -> &'static [&'static str] {
        &[]
    }

    /// Checks that the numbers make sense together.
    ///
    /// # Errors
    /// What does not, in words.
    fn check(&self, parameters: &Value) -> Result<(), String> {
        self.schema(parameters)?;
        self.families(parameters).map(drop)
    }

    /// The parameters for trials that may take so long: what depends on that is set.
    fn fit(&self, parameters: Value, budget: Duration) -> Value {
        let _ = budget;
        parameters
    }

    /// Whether questions are asked about what is written at the same time.
    fn asks_while_writing(&self, parameters: &Value) -> bool {
        let _ = parameters;
        false
    }

    /// How often everything is measured: the number `repetitions`, once where there is none.
    fn repetitions(&self, parameters: &Value) -> u32 {
        let number = parameters.get("repetitions").and_then(Value::as_u64);
        number.and_then(|number| u32::try_from(number).ok()).unwrap_or(1)
    }

    /// Everything that the workload writes, or a stretch of it. `sensormark generate` exports it. Only the numbers that the data depends on
    /// matter.
    ///
    /// # Errors
    /// That it cannot be generated, or what is wrong with the parameters or the request, in words.
    fn data_set(&self, parameters: &Value, request: &DataRequest) -> Result<DataSet, String> {
        let _ = (parameters, request);
        Err(format!("the data of {} cannot be generated", self.name()))
    }

    /// What readings look like. Stores are asked for layouts with this.
    ///
    /// # Errors
    /// What is wrong with the parameters, in words.
    fn schema(&self, parameters: &Value) -> Result<Schema, String>;

    /// The families of layouts that are measured, with their names here ("flat").
    ///
    /// # Errors
    /// What is wrong with the parameters, in words.
    fn families(&self, parameters: &Value) -> Result<Vec<(String, Family)>, String>;

    /// Says which of a store's layouts of the family of this name, the usual one first, are measured when the store is named without a layout, by
    /// their standing. As the store says, unless a workload is about a difference between layouts.
    fn choose(&self, parameters: &Value, family: &str, offers: &mut [LayoutOption]) {
        let _ = (parameters, family, offers);
    }

    /// The reading strategies that are measured on one of a store's layouts, and those that are not, with the reason.
    ///
    /// # Errors
    /// A strategy that there is not, with the nearest right name.
    fn strategies(
        &self,
        choice: &Choice,
        layout_name: &str,
        offer: &LayoutOption,
    ) -> Result<(Vec<String>, Vec<NotMeasured>), String> {
        let _ = (choice, layout_name, offer);
        Ok((Vec::new(), Vec::new()))
    }

    /// The body of the source's process, of a workload with a load that is fed. It gets what [`feed::Line::source`] says, and gives its report.
    ///
    /// # Errors
    /// That there is no source, or what broke it off, in words.
    fn source(&self, told: &Value) -> Result<Value, String> {
        let _ = told;
        Err(format!("{} has no source", self.name()))
    }

    /// The workload for a subject. The same parameters, seed and subject give the same workload in every process.
    ///
    /// # Errors
    /// What is wrong with the parameters, in words.
    fn build(&self, parameters: &Value, seed: u64, subject: Subject<'_>)
    -> Result<Box<dyn Workload>, String>;
}

/// How a trial ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ending {
    /// It went through all its steps.
    Whole,
    /// It was broken off, so that its figures are not there or not whole.
    BrokenOff,
}

impl Ending {
    const fn of(is_whole: bool) -> Self {
        if is_whole { Self::Whole } else { Self::BrokenOff }
    }
}

/// A workload with its parameters and one subject.
pub trait Workload: Send + Sync {
    /// What readings look like.
    fn schema(&self) -> Arc<Schema>;

    /// What an implementation goes through, in order, over all trials of a case. It begins with an empty database.
    fn steps(&self) -> Vec<Step>;

    /// The trials that a case has, in order, on one database: one that goes through all steps, as a rule.
    fn trials(&self, case: &CaseTrials) -> Vec<TrialSpec> {
        let _ = case;
        vec![TrialSpec::only(self.steps())]
    }

    /// What a load did, as far as the verdict depends on it.
    fn work(&self, load: &LoadRecord, record: &TrialRecord) -> Work {
        let _ = record;
        Work::of(load)
    }

    /// Adds figures of the workload's own to the record of a trial that has gone through its steps, or gives the record the workload's own form.
    fn figures(&self, record: &mut TrialRecord) {
        let _ = record;
    }
}

/// The workloads that the program knows.
#[derive(Default, Clone)]
pub struct WorkloadFactories {
    factories: Vec<Arc<dyn WorkloadFactory>>,
}

impl WorkloadFactories {
    /// These workloads.
    pub fn new(factories: Vec<Arc<dyn WorkloadFactory>>) -> Self {
        Self { factories }
    }

    /// All of them, in the order in which they are listed.
    pub fn all(&self) -> &[Arc<dyn WorkloadFactory>] {
        &self.factories
    }

    /// The workload of this name.
    pub fn find(&self, name: &str) -> Option<&Arc<dyn WorkloadFactory>> {
        self.factories.iter().find(|factory| factory.name() == name)
    }
}
