//! A load that several hosts make without a pipe between them: what `run --shard` checks and where its part goes, and `sensormark merge`.

use crate::arguments::{ClusterArguments, HostsArguments, MergeArguments, ShardArguments};
use crate::failure::{Failure, NOT_VALID};
use crate::output;
use crate::report::{draw, options, print, runs};
use crate::signals;
use jiff::Timestamp;
use sensormark::engine::benchmark_case::BenchmarkCase;
use sensormark::engine::failure::TrialFailure;
use sensormark::engine::ranks::lines::Welcome;
use sensormark::engine::ranks::{Arrival, Ranks, part_name};
use sensormark::engine::role::RoleError;
use sensormark::engine::trial::case::TrialRunner;
use sensormark::measurement::parts::{PartsError, identity, merge as join};
use sensormark::measurement::{FolderError, ResultsFolder, RunRecord};
use serde_json::Value;
use std::collections::BTreeMap;
use std::path::Path;
use std::process::ExitCode;
use std::time::Duration;

/// Who of several hosts this process is.
#[derive(Debug, Clone, Copy)]
pub struct Rank {
    /// Its number, and how many there are.
    pub shard: (u32, u32),
    start_at: Option<Timestamp>,
    patience: Duration,
}

impl Rank {
    /// Whether it is rank 0, which leads.
    pub const fn is_first(self) -> bool {
        self.shard.0 == 0
    }

    /// Refuses what goes with no rank, before anything is started.
    ///
    /// # Errors
    /// Which option, why, and what to do.
    pub fn check(
        arguments: &ShardArguments,
        hosts: &HostsArguments,
        cluster: &ClusterArguments,
    ) -> Result<(), Failure> {
        if arguments.shard.is_none() {
            return Ok(());
        }
        let elsewhere = [
            ("--host", !hosts.roles.is_empty()),
            ("--load-hosts", !hosts.load_hosts.is_empty()),
            ("--hosts", hosts.file.is_some()),
        ];
        if let Some((option, _)) = elsewhere.into_iter().find(|(_, is_given)| *is_given) {
            return Err(Failure::usage(format!(
                "--shard with {option}: each rank makes its part of the load on its own host, so it places nothing on others; leave one of both out"
            )));
        }
        if cluster.cluster.is_some() {
            return Err(Failure::usage(
                "--shard with --cluster: a cluster that one rank starts is not reached by the others; name one that runs: --on STORE=URL",
            ));
        }
        Ok(())
    }

    /// The rank that the user asked for, if any. The cases must be ones that several ranks can load.
    ///
    /// # Errors
    /// A rank that is not known, and cases that several hosts cannot load together.
    pub fn asked(
        arguments: &ShardArguments,
        runner: &TrialRunner,
        cases: &[BenchmarkCase],
    ) -> Result<Option<Self>, Failure> {
        let Some(name) = arguments.shard else {
            return Ok(None);
        };
        let shard = name.in_environment().map_err(Failure::usage)?;
        for case in cases {
            let title = case.choice.title();
            if case.choice.store.description().embedded {
                return Err(Failure::usage(format!(
                    "--shard: {title} is embedded, so processes on several hosts cannot share it; name a server by its URL: --on STORE=URL"
                )));
            }
            if case.choice.url.is_none() {
                return Err(Failure::usage(format!(
                    "--shard: {title} is given without a URL, and a server that one rank starts is not reached by the others; name one that runs: --on STORE=URL"
                )));
            }
            runner.check_spread(case, shard.1).map_err(|why| {
                let workload = runner.factory.name();
                Failure::usage(format!(
                    "--shard: several hosts cannot make the load of {workload} together; {why}; leave --shard out"
                ))
            })?;
        }
        Ok(Some(Self { shard, start_at: arguments.start_at, patience: arguments.rank_timeout }))
    }

    /// Makes the folder of this rank's part.
    ///
    /// # Errors
    /// When it cannot be made, or is there already.
    pub fn folder(self, shared: &Path) -> Result<ResultsFolder, Failure> {
        let name = part_name(self.shard);
        ResultsFolder::create(shared, &name).map_err(|error| match error {
            FolderError::Exists(path) => Failure::usage(format!(
                "{} is there already: another process has rank {}, or an earlier run left it; give each rank once, and --results a new folder for each run",
                path.display(),
                self.shard.0
            )),
            error => error.into(),
        })
    }

    /// Waits for the other ranks. The run's record gets the name that rank 0 gives it.
    ///
    /// # Errors
    /// A rank that does not come, or that is about to do something else.
    pub fn meet(
        self,
        shared: &Path,
        cases: &[BenchmarkCase],
        welcome: Welcome,
        record: &mut RunRecord,
    ) -> Result<(Ranks, String), TrialFailure> {
        record.shard = self.shard;
        let arrival = Arrival {
            shared,
            shard: self.shard,
            terms: terms(record, cases),
            welcome,
            start_at: self.start_at,
            patience: self.patience,
        };
        let mut meanwhile = || match signals::interrupted() {
            true => Err(RoleError::Interrupted.into()),
            false => Ok(()),
        };
        let (ranks, welcome) = Ranks::meet(arrival, &mut meanwhile)?;
        record.name = welcome.run;
        Ok((ranks, welcome.owner))
    }

    /// Says where this rank's part is, and how it becomes a result.
    ///
    /// # Errors
    /// When it cannot be printed.
    pub fn tell(self, folder: &ResultsFolder, shared: &Path) -> Result<(), Failure> {
        let (rank, of) = self.shard;
        output::line(format!(
            "rank {rank} of {of} is done: {}\nwhen all are: sensormark merge {}",
            folder.path().display(),
            shared.display()
        ))
    }
}

/// What all ranks have to be about to do.
fn terms(record: &RunRecord, cases: &[BenchmarkCase]) -> BTreeMap<String, Value> {
    let mut terms = identity(record);
    let case = |case: &BenchmarkCase| {
        let (title, layout) = (case.choice.title(), &case.layout_name);
        let (strategies, class) = (case.strategies.join("+"), case.durability.text());
        format!("{title} {layout} {strategies} ({class})")
    };
    let cases: Vec<String> = cases.iter().map(case).collect();
    terms.insert("list of cases (--on)".to_owned(), cases.into());
    terms
}

/// Joins the parts of all ranks.
pub fn merge(arguments: &MergeArguments) -> Result<ExitCode, Failure> {
    let parts = runs(&arguments.parts)?;
    let folder = join(&parts, &arguments.results).map_err(|error| match error {
        PartsError::Folder(error) => error.into(),
        error @ PartsError::Unlike(_) => Failure::usage(error),
    })?;
    let options = options(None)?;
    draw(&folder, &options)?;
    print(&folder, &[crate::arguments::FormatName::Text], false, &options)?;
    output::line(format!("merged: {}", folder.path().display()))?;
    let trials = folder.trials()?;
    let is_valid = trials.iter().all(|trial| trial.verdict.is_valid());
    Ok(if is_valid { ExitCode::SUCCESS } else { ExitCode::from(NOT_VALID) })
}
