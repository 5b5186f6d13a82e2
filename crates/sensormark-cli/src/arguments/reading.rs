//! Arguments of the commands that read results, list or write data, and touch no database.

use super::names::{FailOn, FormatName, ScaleName};
use super::values::{Size, disk, seed, time};
use clap::Args;
use sensormark_data::export::{Format, Shard};
use sensormark_data::recording::dashed;
use std::path::PathBuf;
use std::time::Duration;

/// Arguments of `report`.
#[derive(Debug, Args)]
pub struct ReportArguments {
    /// Folders of runs, or of folders of runs
    #[arg(required = true)]
    pub results: Vec<PathBuf>,
    /// Formats, one after the other [default: text, unless a page is written]
    #[arg(long, value_enum, value_delimiter = ',')]
    pub format: Vec<FormatName>,
    /// Write the report, of several runs too, as one page that opens from disk and needs no network
    #[arg(long, value_name = "FILE")]
    pub html: Option<PathBuf>,
    /// Write the one-second samples of every process as CSV, one row a sample
    #[arg(long, value_name = "FILE")]
    pub samples: Option<PathBuf>,
    /// Write latencies by operation and second as CSV
    #[arg(long, value_name = "FILE")]
    pub latencies: Option<PathBuf>,
    /// Write every figure as CSV, one row a figure: run, workload, scale, store, layout, strategy, repetition, phase, figure, value, unit
    #[arg(long, value_name = "FILE")]
    pub tidy: Option<PathBuf>,
    /// Print every table, instead of the answer and the ranking
    #[arg(long)]
    pub full: bool,
    /// A TOML file with a weight for each criterion of the cost that does not count once: disk = 3
    #[arg(long, value_name = "FILE")]
    pub weights: Option<PathBuf>,
    /// A TOML file with what a core, memory, disk and traffic cost: the report then says the money of a month (docs/how-to/prices.toml is one)
    #[arg(long, value_name = "FILE")]
    pub prices: Option<PathBuf>,
    /// Project the disk at this many readings a second [default: what the workload's own sensors send]
    #[arg(long, value_name = "READINGS")]
    pub rate: Option<f64>,
    /// Say when a disk of this size is full: 500GB, 2TB, or a number of GB
    #[arg(long, value_name = "SIZE", value_parser = disk)]
    pub disk: Option<Size>,
}

/// Arguments of `collect`.
#[derive(Debug, Args)]
pub struct CollectArguments {
    /// Folders with runs in them or below
    #[arg(required = true)]
    pub folders: Vec<PathBuf>,
    /// Where the page goes; it opens from disk and needs no network [default: index.html in the folder, if there is one folder]
    #[arg(long, value_name = "FILE")]
    pub html: Option<PathBuf>,
}

/// Arguments of `compare`.
#[derive(Debug, Args)]
pub struct CompareArguments {
    /// The folder of the run that is compared with
    pub first: PathBuf,
    /// The folder of the run that is compared; without it the implementations of the first run are, each with the one that leads, paired by repetition
    pub second: Option<PathBuf>,
    /// Formats, one after the other [default: text, unless a page is written]
    #[arg(long, value_enum, value_delimiter = ',')]
    pub format: Vec<FormatName>,
    /// Write the comparison as a page that opens from disk and needs no network
    #[arg(long, value_name = "FILE")]
    pub html: Option<PathBuf>,
    /// Exit with 1 when a figure became worse; needs three repetitions in both runs
    #[arg(long, value_enum, requires = "second")]
    pub fail_on: Option<FailOn>,
    /// The smallest change that counts, in percent: how far the machine may drift from one run to another by itself
    #[arg(long, value_name = "PERCENT", default_value_t = 2.0, requires = "second")]
    pub threshold: f64,
    /// With --fail-on: exit with 1 too where a change of this size could go unseen in a tested figure
    #[arg(long, value_name = "PERCENT", requires = "fail_on")]
    pub must_see: Option<f64>,
}

/// Arguments of `generate`.
#[derive(Debug, Args)]
pub struct GenerateArguments {
    /// The workload's name (sensormark list shows all), or a file of your own
    pub workload: String,
    /// The format; json is JSON lines
    #[arg(long, value_enum, default_value = "line-protocol")]
    pub format: Format,
    /// The file; standard output without it, or for -
    #[arg(long, short, value_name = "FILE")]
    pub output: Option<PathBuf>,
    /// How large the data set is [default: quick]; a file says that itself
    #[arg(long, value_enum)]
    pub scale: Option<ScaleName>,
    /// Override one number behind the scale (sensormark list WORKLOAD shows them), or a file's key: NAME=VALUE
    #[arg(long = "set", value_name = "NAME=VALUE")]
    pub settings: Vec<String>,
    /// When the data begins, RFC 3339, like 2026-01-01T00:00:00Z [default: as the workload has it]
    #[arg(long, value_name = "TIME", allow_hyphen_values = true, value_parser = dashed)]
    pub start: Option<String>,
    /// How much time the data spans: 10m, 6h, 7d, or a number of seconds [default: as the scale or the file has it]
    #[arg(long = "for", alias = "seconds", value_name = "TIME", value_parser = time)]
    pub lasts: Option<Duration>,
    /// The seed of the data
    #[arg(long, default_value_t = 1, value_parser = seed)]
    pub seed: u64,
    /// One part of the series: I/N, I from 0
    #[arg(long, value_name = "I/N")]
    pub shard: Option<Shard>,
    /// Write so many questions with their right answers instead, as JSON lines
    #[arg(long, value_name = "N", conflicts_with_all = ["format", "output", "start", "lasts", "shard", "table"])]
    pub answers: Option<usize>,
    /// One table alone; all without it (a CSV file holds one)
    #[arg(long, value_name = "NAME", allow_hyphen_values = true, value_parser = dashed)]
    pub table: Option<String>,
}

/// Arguments of `list`.
#[derive(Debug, Args)]
pub struct ListArguments {
    /// A workload, to see every number behind its scale and the layouts of every store; or a store, to see its layouts in every workload
    #[arg(value_name = "WORKLOAD|STORE")]
    pub workload: Option<String>,
    /// The scale [default: quick]
    #[arg(long, value_enum)]
    pub scale: Option<ScaleName>,
    /// Show the protocol of the workload's study, and what of it run --as-study does
    #[arg(long, requires = "workload")]
    pub as_study: bool,
}
