//! Arguments that say which processes a probe watches.

use super::headings::SERVERS;
use super::values::time;
use clap::Args;
use sensormark_engine::server_probes::ProbeChoice;
use sensormark_result::probe::Processes;
use std::path::PathBuf;
use std::time::Duration;

/// Arguments of `probe`.
#[derive(Debug, Args)]
pub struct ProbeArguments {
    #[command(flatten)]
    pub named: NamedProcesses,
    /// A folder that the server keeps data in: its space is counted, and its disk's traffic; several times for several
    #[arg(long = "disk", value_name = "FOLDER")]
    pub disks: Vec<PathBuf>,
    /// Time between two samples: 500ms, 1s, or a number of seconds
    #[arg(long, value_name = "TIME", default_value = "1s", value_parser = time)]
    pub interval: Duration,
}

/// Which processes.
#[derive(Debug, Args)]
#[group(required = true, multiple = true)]
pub struct NamedProcesses {
    /// The server's process id; its descendants belong to it
    #[arg(long, value_name = "NUMBER", conflicts_with_all = ["unit", "container"])]
    pid: Option<i32>,
    /// The server's systemd unit
    #[arg(long, value_name = "NAME", conflicts_with = "container")]
    unit: Option<String>,
    /// The server's container: its id, or its name where docker or podman may be asked
    #[arg(long, value_name = "NAME")]
    container: Option<String>,
    /// The TCP port that the server listens on; beside another option, the port whose connections count
    #[arg(long, value_name = "NUMBER")]
    pub port: Option<u16>,
}

impl NamedProcesses {
    /// What was named.
    ///
    /// # Errors
    /// A name that no process can have.
    pub fn processes(&self) -> Result<Processes, String> {
        let named = [
            self.pid.map(|pid| format!("pid:{pid}")),
            self.unit.as_ref().map(|unit| format!("unit:{unit}")),
            self.container.as_ref().map(|name| format!("container:{name}")),
            self.port.map(|port| format!("port:{port}")),
        ];
        let first = named.into_iter().flatten().next().unwrap_or_default();
        first.parse().map_err(|error| format!("{error}"))
    }
}

/// Probes of servers that sensormark does not start.
#[derive(Debug, Args)]
pub struct ServerProbeArguments {
    /// Measure a server given by URL with a probe beside it. PROCESSES is port, port:5432, pid:NUMBER, unit:NAME or container:NAME. With disk=, name the folder of its data. With host=, reach another host (ssh:NAME, slurm:NAME, kubernetes:NAME, docker:NAME or a command). With program=, say where sensormark is there. With several servers, give each its own probe: STORE= in place of server=
    #[arg(help_heading = SERVERS, long = "probe", value_name = "server=PROCESSES[,disk=FOLDER][,host=LAUNCHER]")]
    pub probes: Vec<ProbeChoice>,
}
