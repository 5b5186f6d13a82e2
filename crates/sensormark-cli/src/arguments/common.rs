//! Arguments of every command that measures.

use super::headings::{MEASURING, OUTPUT, SERVERS};
use super::names::{CacheName, ExplainFormat, ProgressName};
use super::probing::ServerProbeArguments;
use super::values::{Size, millicores, size, time, whole_seconds};
use clap::Args;
use sensormark_engine::pinning::Pinning;
use std::path::PathBuf;
use std::time::Duration;

/// Arguments of every command that measures.
#[derive(Debug, Args)]
pub struct CommonArguments {
    /// Where results go: a folder for each run is made in it
    #[arg(help_heading = OUTPUT, long, value_name = "FOLDER", default_value = "results")]
    pub results: PathBuf,
    /// Keep the data of servers that sensormark starts on this folder's disk
    #[arg(help_heading = SERVERS, long, value_name = "FOLDER")]
    pub data: Option<PathBuf>,
    /// Keep the logs of servers that sensormark starts (write-ahead log, commit log, journal) on this folder's disk
    #[arg(help_heading = SERVERS, long, value_name = "FOLDER")]
    pub log_folder: Option<PathBuf>,
    /// Memory that each server may use for caches and heaps: 1GB, 512MiB, or a number of MiB [default: 1024, or what the file says]
    #[arg(help_heading = SERVERS, long, value_name = "SIZE", value_parser = size)]
    pub server_memory: Option<Size>,
    /// The most memory that each server may take with all its processes and the page cache of its files: a control group around it
    #[arg(help_heading = SERVERS, long, value_name = "SIZE", value_parser = size)]
    pub memory_limit: Option<Size>,
    /// The cores that each server may use, such as 0.5; the client is not held to it
    #[arg(help_heading = SERVERS, long, value_name = "CORES", value_parser = millicores, requires = "memory_limit")]
    pub cpu_limit: Option<u32>,
    /// Settings of servers that sensormark starts: as-published for their makers' or a study's own, in place of the memory given
    #[arg(help_heading = SERVERS, long, value_name = "NAME")]
    pub profile: Option<String>,
    /// The longest that a server may take to be ready: 90s, 2m, or a number of seconds [default: what suits the database]
    #[arg(help_heading = SERVERS, long, value_name = "TIME", value_parser = whole_seconds)]
    pub start_timeout: Option<u64>,
    /// Hold servers that sensormark starts, and the client, to processors of their own: half each, or such as 0-5/6-7
    #[arg(help_heading = SERVERS, long, value_name = "SERVER/CLIENT", num_args = 0..=1, require_equals = true, default_missing_value = "halves")]
    pub pin: Option<Pinning>,
    #[command(flatten)]
    pub probing: ServerProbeArguments,
    /// What phases that only read find in memory
    #[arg(help_heading = MEASURING, long, value_enum, default_value_t)]
    pub cache: CacheName,
    /// The longest that an operation may take: 500ms, 10s, or a number of seconds
    #[arg(help_heading = MEASURING, long, value_name = "TIME", default_value = "10s", value_parser = time)]
    pub timeout: Duration,
    /// Print the plan alone: trials, time, disk and servers. Nothing is started, written or measured
    #[arg(help_heading = MEASURING, long, value_enum, value_name = "FORMAT", num_args = 0..=1, require_equals = true, default_missing_value = "text")]
    pub dry_run: Option<ExplainFormat>,
    /// Let trials of a busy machine not count, as at the scales firm, standard and study: sensormark repeats them up to twice
    #[arg(help_heading = MEASURING, long, conflicts_with = "tolerate_disturbance")]
    pub strict: bool,
    /// Let trials of a busy machine count, marked as rough, and repeat none
    #[arg(help_heading = MEASURING, long)]
    pub tolerate_disturbance: bool,
    /// A TOML file with a weight for each criterion of the cost that does not count once: disk = 3
    #[arg(help_heading = OUTPUT, long, value_name = "FILE")]
    pub weights: Option<PathBuf>,
    /// A TOML file with what a core, memory, disk and traffic cost: the report then says the money of a month (docs/how-to/prices.toml is one)
    #[arg(help_heading = OUTPUT, long, value_name = "FILE")]
    pub prices: Option<PathBuf>,
    /// Print every table at the end, instead of the answer and the ranking
    #[arg(help_heading = OUTPUT, long)]
    pub full: bool,
    /// How progress is shown
    #[arg(help_heading = OUTPUT, long, value_enum, default_value_t)]
    pub progress: ProgressName,
    /// Plant a fault in every store, to see it caught: NAME[:NUMBER] (for tests of sensormark itself)
    #[arg(long, value_name = "FAULT", hide = true)]
    pub plant: Option<String>,
}
