//! Arguments of the commands that work with databases.

use super::common::CommonArguments;
use super::examples;
use super::headings::{LOAD, OUTPUT, SERVERS};
use super::hosts::HostsArguments;
use super::names::{DurabilityName, ExplainFormat, FindLimitName, ProgressName, ScaleName};
use super::values::{Size, seed, size, time};
use clap::{Args, Subcommand};
use sensormark_data::recording::RecordingOptions;
use std::path::PathBuf;
use std::time::Duration;

/// Arguments of `run`.
#[derive(Debug, Args)]
pub struct RunArguments {
    /// The workload's name (sensormark list shows all), or a file of your own (sensormark init writes one)
    pub workload: String,
    /// Stores to measure: STORE[#NAME][:LAYOUT[/STRATEGY]][=URL],… or all; LAYOUT* is every layout whose name begins so; #NAME tells servers of one store apart [default: sqlite, or what the file says]
    #[arg(help_heading = LOAD, long)]
    pub on: Option<String>,
    /// How large the run is [default: quick]; a file says that itself
    #[arg(help_heading = LOAD, long, value_enum)]
    pub scale: Option<ScaleName>,
    /// Override one number behind the scale (sensormark list WORKLOAD shows them), or a file's key (series.count=10): NAME=VALUE
    #[arg(help_heading = LOAD, long = "set", value_name = "NAME=VALUE")]
    pub settings: Vec<String>,
    /// Follow the protocol of the workload's study as far as it is stated (sensormark list WORKLOAD --as-study shows it); --scale study does
    #[arg(help_heading = LOAD, long)]
    pub as_study: bool,
    /// About how long the run may take beside repeats of disturbed trials, like 10m or 8h: more time reaches larger sizes [default: 30 s a trial at quick and firm, else no end]
    #[arg(help_heading = LOAD, long, value_name = "TIME", value_parser = time)]
    pub budget: Option<Duration>,
    /// For a file that says keep: measure a sixteenth of your readings or more, with the same share of the memory of your machine [without a word: this one's]
    #[arg(help_heading = LOAD, long, value_name = "SIZE", value_parser = size, num_args = 0..=1, conflicts_with = "memory_limit")]
    pub in_proportion: Option<Option<Size>>,
    /// For durability: cut the power of the disk as the server is killed, in each class that a database has; it takes Linux with /dev/fuse
    #[arg(help_heading = LOAD, long)]
    pub power_cut: bool,
    /// For a file with limits: find the highest rate of its writers that holds them, or how many people can watch its dashboards [without a word: rate]
    #[arg(help_heading = LOAD, long, value_enum, num_args = 0..=1, default_missing_value = "rate", value_name = "WHAT")]
    pub find_limit: Option<FindLimitName>,
    /// What an acknowledged write promises [default: durable, or what the file says]
    #[arg(help_heading = LOAD, long, value_enum)]
    pub durability: Option<DurabilityName>,
    /// The seed of data and operations
    #[arg(help_heading = LOAD, long, default_value_t = 1, value_parser = seed)]
    pub seed: u64,
    #[command(flatten)]
    pub hosts: HostsArguments,
    #[command(flatten)]
    pub common: CommonArguments,
}

/// Arguments of `replay`.
#[derive(Debug, Args)]
pub struct ReplayArguments {
    /// The recording: CSV, JSON lines or Parquet, also packed with gzip or zstd, or - for standard input; what it holds is found out and told
    pub file: PathBuf,
    /// Stores to measure: STORE[:LAYOUT][=URL],… or all
    #[arg(help_heading = LOAD, long, default_value = "sqlite")]
    pub on: String,
    #[command(flatten)]
    pub recording: RecordingOptions,
    /// How large the run is
    #[arg(help_heading = LOAD, long, value_enum, default_value_t)]
    pub scale: ScaleName,
    /// About how long the run may take beside repeats of disturbed trials, like 10m or 8h: more time reaches larger sizes [default: 30 s a trial at quick and firm, else no end]
    #[arg(help_heading = LOAD, long, value_name = "TIME", value_parser = time)]
    pub budget: Option<Duration>,
    /// Override one number behind the scale: questions, batch, grown, grown_seconds, repetitions
    #[arg(help_heading = LOAD, long = "set", value_name = "NAME=VALUE")]
    pub settings: Vec<String>,
    /// What an acknowledged write promises
    #[arg(help_heading = LOAD, long, value_enum, default_value = "durable")]
    pub durability: DurabilityName,
    /// The seed of the questions
    #[arg(help_heading = LOAD, long, default_value_t = 1, value_parser = seed)]
    pub seed: u64,
    #[command(flatten)]
    pub common: CommonArguments,
}

/// Arguments of `inspect`.
#[derive(Debug, Args)]
pub struct InspectArguments {
    /// The recording: CSV, JSON lines or Parquet, also packed with gzip or zstd, or - for standard input
    pub file: PathBuf,
    #[command(flatten)]
    pub recording: RecordingOptions,
}

/// Arguments of `explain`.
#[derive(Debug, Args)]
pub struct ExplainArguments {
    /// The workload's name (sensormark list shows all), or a file of your own
    pub workload: String,
    /// Stores to look into: STORE[:LAYOUT[/STRATEGY]][=URL],… or all [default: sqlite, or what the file says]
    #[arg(help_heading = LOAD, long)]
    pub on: Option<String>,
    /// Whose numbers questions and writes have [default: quick]; little is loaded at any scale
    #[arg(help_heading = LOAD, long, value_enum)]
    pub scale: Option<ScaleName>,
    /// Override one number behind the scale, or a file's key: NAME=VALUE
    #[arg(help_heading = LOAD, long = "set", value_name = "NAME=VALUE")]
    pub settings: Vec<String>,
    /// What an acknowledged write promises [default: durable, or what the file says]
    #[arg(help_heading = LOAD, long, value_enum)]
    pub durability: Option<DurabilityName>,
    /// The seed of data and operations
    #[arg(help_heading = LOAD, long, default_value_t = 1, value_parser = seed)]
    pub seed: u64,
    /// Keep the data of servers that sensormark starts on this folder's disk
    #[arg(help_heading = SERVERS, long, value_name = "FOLDER")]
    pub data: Option<PathBuf>,
    /// Memory that each server may use for caches and heaps: 1GB, 512MiB, or a number of MiB [default: 1024, or what the file says]
    #[arg(help_heading = SERVERS, long, value_name = "SIZE", value_parser = size)]
    pub server_memory: Option<Size>,
    /// The most memory that each server may take with all its processes and the page cache of its files: a control group around it
    #[arg(help_heading = SERVERS, long, value_name = "SIZE", value_parser = size)]
    pub memory_limit: Option<Size>,
    /// The longest that an operation may take: 500ms, 10s, or a number of seconds
    #[arg(help_heading = SERVERS, long, value_name = "TIME", default_value = "10s", value_parser = time)]
    pub timeout: Duration,
    /// The format
    #[arg(help_heading = OUTPUT, long, value_enum, default_value_t)]
    pub format: ExplainFormat,
    /// How progress is shown
    #[arg(help_heading = OUTPUT, long, value_enum, default_value_t)]
    pub progress: ProgressName,
}

/// Arguments of `servers`.
#[derive(Debug, Args)]
pub struct ServersArguments {
    /// What to do
    #[command(subcommand)]
    pub action: ServersAction,
}

/// What to do with servers.
#[derive(Debug, Subcommand)]
pub enum ServersAction {
    /// Start a store's server in a scratch folder and leave it running
    #[command(after_help = examples::SERVERS_START)]
    Start {
        /// The store
        store: String,
        /// Memory for caches and heaps: 1GB, 512MiB, or a number of MiB [default: 1024]
        #[arg(long, value_name = "SIZE", value_parser = size)]
        server_memory: Option<Size>,
        /// The most memory that it may take with all its processes and the page cache of its files: a control group around it
        #[arg(long, value_name = "SIZE", value_parser = size)]
        memory_limit: Option<Size>,
        /// What an acknowledged write promises, where that is a setting of the server
        #[arg(long, value_enum, default_value_t)]
        durability: DurabilityName,
        /// Keep its data on this folder's disk
        #[arg(long, value_name = "FOLDER")]
        data: Option<PathBuf>,
    },
    /// Stop the servers of a store that were started so, and remove their folders
    #[command(after_help = examples::SERVERS_STOP)]
    Stop {
        /// The store
        store: String,
    },
    /// Show the servers that run
    #[command(after_help = examples::SERVERS_STATUS)]
    Status,
}
