//! What can be asked for on the command line.

use clap::{Args, Parser, Subcommand, ValueEnum};
use sensormark::dataset::export::Shard;
use sensormark::dataset::recording::TimeFormat;
use sensormark::engine::pinning::Pinning;
use std::path::PathBuf;

/// Which database to keep sensor data in: measured on this machine, for this load, every answer checked.
#[derive(Debug, Parser)]
#[command(name = "sensormark", version, about, max_term_width = 100)]
pub struct Arguments {
    /// What to do.
    #[command(subcommand)]
    pub command: Command,
}

/// The commands.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Measure a workload on databases and rank them
    Run(RunArguments),
    /// Derive tables and ranking again from the raw results of a run
    Report(ReportArguments),
    /// Hold a run against an earlier one: what changed, by how much, and whether that is more than noise
    Compare(CompareArguments),
    /// Show the pages of many runs in a browser, and compare any two; on loopback only
    Serve(ServeArguments),
    /// Write a commented workload file to start from
    Init(InitArguments),
    /// Show workloads, stores, layouts and capabilities, or every number behind a workload's scale
    List(ListArguments),
    /// Show what a workload does to each database: schema, statements, plans, size of a write, settings
    Explain(ExplainArguments),
    /// Show what is here: servers, versions, limits, clock; and how to install what is missing
    Doctor,
    /// Load your own recording (CSV) into databases, ask about it, check every answer, and compare
    Replay(ReplayArguments),
    /// Write a workload's data set to a file or to standard output
    Generate(GenerateArguments),
    /// Start, stop or list servers by hand, in scratch folders, bound to loopback
    Servers(ServersArguments),
    /// One process of a trial; started by sensormark itself
    #[command(hide = true)]
    Role {
        /// The role's name.
        name: String,
    },
}

/// Arguments of `run`.
#[derive(Debug, Args)]
pub struct RunArguments {
    /// The workload's name (sensormark list shows all), or a file of your own (sensormark init writes one)
    pub workload: String,
    /// Stores to measure: STORE[#NAME][:LAYOUT[/STRATEGY]][=URL],… or all; #NAME tells servers of one store apart [default: sqlite, or what the file says]
    #[arg(long)]
    pub on: Option<String>,
    /// How large the run is [default: quick]; a file says that itself
    #[arg(long, value_enum)]
    pub scale: Option<ScaleName>,
    /// Override one number behind the scale (sensormark list WORKLOAD shows them), or a file's key (series.count=10): NAME=VALUE
    #[arg(long = "set", value_name = "NAME=VALUE")]
    pub settings: Vec<String>,
    /// Follow the protocol of the workload's study as far as it is stated (sensormark list WORKLOAD --as-study shows it); --scale study does
    #[arg(long)]
    pub as_study: bool,
    /// For a file with limits: find the highest rate of its writers that holds them
    #[arg(long)]
    pub find_limit: bool,
    /// What an acknowledged write promises
    #[arg(long, value_enum, default_value_t)]
    pub durability: DurabilityName,
    /// The seed of data and operations
    #[arg(long, default_value_t = 1)]
    pub seed: u64,
    #[command(flatten)]
    pub common: CommonArguments,
}

/// Arguments of every command that measures.
#[derive(Debug, Args)]
pub struct CommonArguments {
    /// Where results go: a folder for each run is made in it
    #[arg(long, value_name = "FOLDER", default_value = "results")]
    pub results: PathBuf,
    /// Keep the data of servers that sensormark starts on this folder's disk
    #[arg(long, value_name = "FOLDER")]
    pub data: Option<PathBuf>,
    /// Keep the logs of servers that sensormark starts (write-ahead log, commit log, journal) on this folder's disk
    #[arg(long, value_name = "FOLDER")]
    pub log_folder: Option<PathBuf>,
    /// Memory that each server may use for caches and heaps, in MB
    #[arg(long, value_name = "MB", default_value_t = 1024)]
    pub server_memory: u64,
    /// The most memory that each server may take with all its processes and the page cache of its files, in MB: a control group around it
    #[arg(long, value_name = "MB", value_parser = clap::value_parser!(u64).range(1..1 << 40))]
    pub memory_limit: Option<u64>,
    /// Settings of servers that sensormark starts: as-published for their makers' or a study's own, in place of the memory given
    #[arg(long, value_name = "NAME")]
    pub profile: Option<String>,
    /// The longest that a server may take to be ready, in seconds [default: what suits the database]
    #[arg(long, value_name = "SECONDS", value_parser = clap::value_parser!(u64).range(1..))]
    pub start_timeout: Option<u64>,
    /// Hold servers that sensormark starts, and the client, to processors of their own: half each, or such as 0-5/6-7
    #[arg(long, value_name = "SERVER/CLIENT", num_args = 0..=1, require_equals = true, default_missing_value = "halves")]
    pub pin: Option<Pinning>,
    /// What phases that only read find in memory
    #[arg(long, value_enum, default_value_t)]
    pub cache: CacheName,
    /// The longest that an operation may take, in seconds
    #[arg(long, value_name = "SECONDS", default_value_t = 10.0)]
    pub timeout: f64,
    /// Count trials of a disturbed host, marked as such, instead of measuring them again
    #[arg(long)]
    pub tolerate_disturbance: bool,
    /// A TOML file with the weights of the criteria (the study's by default), and perhaps difficulties
    #[arg(long, value_name = "FILE")]
    pub weights: Option<PathBuf>,
    /// How progress is shown
    #[arg(long, value_enum, default_value_t)]
    pub progress: ProgressName,
    /// Plant a fault in every store, to see it caught: NAME[:NUMBER] (for tests of sensormark itself)
    #[arg(long, value_name = "FAULT", hide = true)]
    pub plant: Option<String>,
}

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
    /// Write the one-second samples of every process as CSV, for data frames
    #[arg(long, value_name = "FILE")]
    pub samples: Option<PathBuf>,
    /// Write latencies by operation and second as CSV, for data frames
    #[arg(long, value_name = "FILE")]
    pub latencies: Option<PathBuf>,
    /// A TOML file with the weights of the criteria (the study's by default), and perhaps difficulties
    #[arg(long, value_name = "FILE")]
    pub weights: Option<PathBuf>,
    /// Project the disk at this many readings a second [default: what the workload's own sensors send]
    #[arg(long, value_name = "READINGS")]
    pub rate: Option<f64>,
    /// Say when a disk of this many GB is full
    #[arg(long, value_name = "GB")]
    pub disk: Option<f64>,
}

/// Arguments of `compare`.
#[derive(Debug, Args)]
pub struct CompareArguments {
    /// The folder of the run that is compared with
    pub first: PathBuf,
    /// The folder of the run that is compared
    pub second: PathBuf,
    /// Formats, one after the other
    #[arg(long, value_enum, value_delimiter = ',', default_value = "text")]
    pub format: Vec<FormatName>,
    /// Exit with 1 when a figure became worse; needs three repetitions in both runs
    #[arg(long, value_enum)]
    pub fail_on: Option<FailOn>,
    /// The smallest change that counts, in percent: how far the machine may drift from one run to another by itself
    #[arg(long, value_name = "PERCENT", default_value_t = 2.0)]
    pub threshold: f64,
}

/// What makes a comparison fail.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum FailOn {
    /// A figure that is significantly worse, or an implementation that is no longer valid
    Regression,
}

/// Arguments of `serve`.
#[derive(Debug, Args)]
pub struct ServeArguments {
    /// Folders of runs, or folders that hold them
    #[arg(required = true)]
    pub results: Vec<PathBuf>,
    /// The port on loopback; 0 takes a free one
    #[arg(long, default_value_t = 7878)]
    pub port: u16,
}

/// Arguments of `replay`.
#[derive(Debug, Args)]
pub struct ReplayArguments {
    /// The recording: a CSV file; delimiter, time column, format and types are found out and told
    pub file: PathBuf,
    /// Stores to measure: STORE[:LAYOUT][=URL],… or all
    #[arg(long, default_value = "sqlite")]
    pub on: String,
    /// The column that holds the time, where the file does not tell
    #[arg(long, value_name = "COLUMN")]
    pub time: Option<String>,
    /// Columns that say which series a reading is of
    #[arg(long, value_name = "COLUMN", value_delimiter = ',')]
    pub tags: Vec<String>,
    /// The character between cells, where the file does not tell
    #[arg(long, value_name = "CHARACTER")]
    pub delimiter: Option<char>,
    /// Whether the first line names the columns: true or false
    #[arg(long, value_name = "BOOL")]
    pub header: Option<bool>,
    /// How the time is written, where the file does not tell
    #[arg(long, value_name = "FORMAT")]
    pub time_format: Option<TimeFormat>,
    /// The type of a column, where another than the one found is wanted: bool, integer, float or text
    #[arg(long = "type", value_name = "COLUMN=TYPE")]
    pub types: Vec<String>,
    /// Columns to leave out
    #[arg(long, value_name = "COLUMN", value_delimiter = ',')]
    pub leave_out: Vec<String>,
    /// Texts that stand for "no value"
    #[arg(long, value_name = "TEXT", value_delimiter = ',')]
    pub absent: Vec<String>,
    /// Read 21,5 as a number
    #[arg(long)]
    pub decimal_comma: bool,
    /// Count and leave out rows that cannot be read, instead of stopping at them
    #[arg(long)]
    pub skip_bad_rows: bool,
    /// How large the run is
    #[arg(long, value_enum, default_value_t)]
    pub scale: ScaleName,
    /// Override one number behind the scale: questions, batch, repetitions
    #[arg(long = "set", value_name = "NAME=VALUE")]
    pub settings: Vec<String>,
    /// What an acknowledged write promises
    #[arg(long, value_enum, default_value_t)]
    pub durability: DurabilityName,
    /// The seed of the questions
    #[arg(long, default_value_t = 1)]
    pub seed: u64,
    #[command(flatten)]
    pub common: CommonArguments,
}

/// Arguments of `init`.
#[derive(Debug, Args)]
pub struct InitArguments {
    /// The file to write; one that is there is left alone
    #[arg(default_value = "workload.toml")]
    pub file: PathBuf,
}

/// Arguments of `generate`.
#[derive(Debug, Args)]
pub struct GenerateArguments {
    /// The workload's name (sensormark list shows all), or a file of your own
    pub workload: String,
    /// The format: line-protocol, csv or json (JSON lines)
    #[arg(long, default_value = "line-protocol")]
    pub format: String,
    /// The file; standard output without it, or for -
    #[arg(long, short, value_name = "FILE")]
    pub output: Option<PathBuf>,
    /// How large the data set is; machine-tool has --seconds instead
    #[arg(long, value_enum)]
    pub scale: Option<ScaleName>,
    /// Override one number behind the scale (sensormark list WORKLOAD shows them): NAME=VALUE
    #[arg(long = "set", value_name = "NAME=VALUE")]
    pub settings: Vec<String>,
    /// machine-tool: the time of the first sample, RFC 3339 [default: 2026-01-01T00:00:00Z]
    #[arg(long, value_name = "TIME")]
    pub start: Option<String>,
    /// machine-tool: how many seconds of samples [default: 60]
    #[arg(long, value_name = "SECONDS")]
    pub seconds: Option<f64>,
    /// The seed of the data
    #[arg(long, default_value_t = 1)]
    pub seed: u64,
    /// One part of the series: I/N, I from 0
    #[arg(long, value_name = "I/N")]
    pub shard: Option<Shard>,
    /// One table alone; all without it (a CSV file holds one)
    #[arg(long, value_name = "NAME")]
    pub table: Option<String>,
}

/// Arguments of `list`.
#[derive(Debug, Args)]
pub struct ListArguments {
    /// A workload, to see every number behind its scale and the layouts of every store
    pub workload: Option<String>,
    /// The scale [default: quick]
    #[arg(long, value_enum)]
    pub scale: Option<ScaleName>,
    /// Show the protocol of the workload's study, and what of it run --as-study does
    #[arg(long, requires = "workload")]
    pub as_study: bool,
}

/// Arguments of `explain`.
#[derive(Debug, Args)]
pub struct ExplainArguments {
    /// The workload's name (sensormark list shows all), or a file of your own
    pub workload: String,
    /// Stores to look into: STORE[:LAYOUT[/STRATEGY]][=URL],… or all [default: sqlite, or what the file says]
    #[arg(long)]
    pub on: Option<String>,
    /// Whose numbers questions and writes have [default: quick]; little is loaded at any scale
    #[arg(long, value_enum)]
    pub scale: Option<ScaleName>,
    /// Override one number behind the scale, or a file's key: NAME=VALUE
    #[arg(long = "set", value_name = "NAME=VALUE")]
    pub settings: Vec<String>,
    /// What an acknowledged write promises
    #[arg(long, value_enum, default_value_t)]
    pub durability: DurabilityName,
    /// The seed of data and operations
    #[arg(long, default_value_t = 1)]
    pub seed: u64,
    /// Keep the data of servers that sensormark starts on this folder's disk
    #[arg(long, value_name = "FOLDER")]
    pub data: Option<PathBuf>,
    /// Memory that each server may use for caches and heaps, in MB
    #[arg(long, value_name = "MB", default_value_t = 1024)]
    pub server_memory: u64,
    /// The longest that an operation may take, in seconds
    #[arg(long, value_name = "SECONDS", default_value_t = 10.0)]
    pub timeout: f64,
    /// The format
    #[arg(long, value_enum, default_value_t)]
    pub format: ExplainFormat,
    /// How progress is shown
    #[arg(long, value_enum, default_value_t)]
    pub progress: ProgressName,
}

/// Formats of `explain`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
pub enum ExplainFormat {
    /// For people
    #[default]
    Text,
    /// For programs
    Json,
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
    Start {
        /// The store
        store: String,
        /// Memory for caches and heaps, in MB
        #[arg(long, value_name = "MB", default_value_t = 1024)]
        server_memory: u64,
        /// What an acknowledged write promises, where that is a setting of the server
        #[arg(long, value_enum, default_value_t)]
        durability: DurabilityName,
        /// Keep its data on this folder's disk
        #[arg(long, value_name = "FOLDER")]
        data: Option<PathBuf>,
    },
    /// Stop the servers of a store that were started so, and remove their folders
    Stop {
        /// The store
        store: String,
    },
    /// Show the servers that run
    Status,
}

/// Names of scales.
#[derive(Debug, Clone, Copy, Default, ValueEnum)]
pub enum ScaleName {
    /// Seconds, to try things out
    #[default]
    Quick,
    /// Minutes, repeated, to decide something
    Standard,
    /// The study's own size and durations
    Study,
}

/// Names of durability classes.
#[derive(Debug, Clone, Copy, Default, ValueEnum)]
pub enum DurabilityName {
    /// As the database comes
    #[default]
    Default,
    /// An acknowledged write is on disk
    Durable,
    /// The last second or so may be lost
    Relaxed,
    /// Nothing is acknowledged
    Unacknowledged,
}

/// Names of what phases that only read find in memory.
#[derive(Debug, Clone, Copy, Default, ValueEnum)]
pub enum CacheName {
    /// What the phases before left there
    #[default]
    Hot,
    /// Little: before each such phase the database is started again, its files dropped from the page cache
    Cold,
}

/// How progress is shown.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
pub enum ProgressName {
    /// Bars on a terminal, plain lines elsewhere
    #[default]
    Auto,
    /// Plain lines
    Plain,
    /// Nothing but the result
    Quiet,
    /// One JSON object a line, on standard error
    Json,
}

/// Formats of reports.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum FormatName {
    /// For people, at a terminal
    Text,
    /// For programs
    Json,
    /// For spreadsheets
    Csv,
    /// For documents
    Markdown,
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;
    use std::path::Path;

    /// The commands that a page shows: indented lines, up to their comment, each `sensormark` of them.
    fn commands(page: &str) -> Vec<&str> {
        page.lines()
            .filter(|line| line.starts_with("    sensormark "))
            .filter_map(|line| line.split(" #").next())
            .flat_map(|line| line.split("&&"))
            .map(str::trim)
            .collect()
    }

    #[test]
    fn every_command_of_the_pages_is_accepted() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
        let docs = fs::read_dir(root.join("docs")).expect("docs");
        let mut pages: Vec<PathBuf> = docs.flatten().map(|entry| entry.path()).collect();
        pages.retain(|page| page.extension().is_some_and(|name| name == "md"));
        pages.push(root.join("README.md"));
        let mut accepted = 0;
        for page in pages {
            let text = fs::read_to_string(&page).expect("a page");
            for command in commands(&text) {
                let parsed = Arguments::try_parse_from(command.split_whitespace());
                if let Err(error) = parsed {
                    panic!("{}: {command}\n{error}", page.display());
                }
                accepted += 1;
            }
        }
        assert!(accepted >= 30, "{accepted}");
    }
}
