//! Arguments that place the processes of a trial on other hosts.

use super::headings::HOSTS;
use clap::Args;
use std::net::Ipv4Addr;
use std::path::PathBuf;

/// Arguments that place the processes of a trial on other hosts.
#[derive(Debug, Default, Clone, Args)]
pub struct HostsArguments {
    /// Run a role on another host: source, writer, reader, load for clients that have no such name, or server. LAUNCHER is ssh:HOST, slurm:NODE, kubernetes:POD, docker:CONTAINER, a command in quotes, or a name for --launcher
    #[arg(help_heading = HOSTS, long = "host", value_name = "ROLE=LAUNCHER")]
    pub roles: Vec<String>,
    /// Spread the clients of loads over these hosts, a process on each: names for --launcher, or launchers
    #[arg(help_heading = HOSTS, long, value_name = "HOST,…", value_delimiter = ',')]
    pub load_hosts: Vec<String>,
    /// The command that reaches a host by its name: 'srun -N1 -n1 -w {host}'
    #[arg(help_heading = HOSTS, long, value_name = "COMMAND")]
    pub launcher: Option<String>,
    /// The address of its host that a server of sensormark's own listens on, so that roles on other hosts reach it. Not GridDB; by password, without TLS
    #[arg(help_heading = HOSTS, long, value_name = "ADDRESS")]
    pub server_address: Option<Ipv4Addr>,
    /// A TOML file with all of this: launcher, program, load, server_address, and a table of roles
    #[arg(help_heading = HOSTS, long = "hosts", value_name = "FILE")]
    pub file: Option<PathBuf>,
    /// Where sensormark is on the other hosts [default: sensormark, as a command there]
    #[arg(help_heading = HOSTS, long, value_name = "PATH")]
    pub host_program: Option<String>,
    /// Copy this program to a scratch folder on each host, and remove it at the end
    #[arg(help_heading = HOSTS, long, conflicts_with = "host_program")]
    pub deploy: bool,
}
