//! Arguments of the commands that find what killed runs left, and clean up.

use super::values::{age, time};
use clap::Args;
use std::time::Duration;

/// Arguments of `clean`.
#[derive(Debug, Args)]
pub struct CleanArguments {
    /// Servers, or folders of embedded databases, to look into; without one, this machine alone is cleaned
    #[arg(value_name = "STORE=URL")]
    pub places: Vec<String>,
    /// Only say what would be removed
    #[arg(long)]
    pub dry_run: bool,
    /// How old a database has to be whose run this machine does not know: 24h, 7d, 0s
    #[arg(long, value_name = "TIME", default_value = "24h", value_parser = age)]
    pub older_than: Duration,
    /// The longest that an operation may take: 500ms, 10s, or a number of seconds
    #[arg(long, value_name = "TIME", default_value = "10s", value_parser = time)]
    pub timeout: Duration,
}

/// Arguments of `doctor`.
#[derive(Debug, Args)]
pub struct DoctorArguments {
    /// Remove what killed runs left on this machine, as sensormark clean does
    #[arg(long)]
    pub clean: bool,
}
