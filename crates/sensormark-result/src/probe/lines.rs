//! What the probe of a server prints, one JSON object a line, and the words that it obeys. Both ends of the pipe read these; nothing here watches anything.

use std::fmt;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use super::disk::DiskUsage;
use super::host::HostSample;
use super::tree::TreeSample;

/// Version of the lines' shape.
pub const LINES_VERSION: u32 = 2;

/// One line of the probe.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "event", content = "data")]
pub enum ProbeLine {
    /// The first line: who watches what, and what cannot be seen.
    Hello(Box<Hello>),
    /// What was seen at one instant.
    Sample(Box<ProbeSample>),
    /// A phase begins, at the sample before this line.
    Began(Mark),
    /// A phase ends, at the sample before this line.
    Ended(Mark),
    /// The folders' space, asked for with `disk`.
    Disk {
        /// The space; absent where no folder was named or one cannot be read.
        usage: Option<DiskUsage>,
        /// Why it is absent.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        missing: Option<String>,
    },
    /// A line of standard input that it does not know; it goes on.
    Unknown {
        /// What is wrong, and what there is.
        message: String,
    },
}

/// Who watches what.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Hello {
    /// Version of the lines' shape, [`LINES_VERSION`].
    pub schema_version: u32,
    /// The version of sensormark.
    pub sensormark: String,
    /// How the processes were named: `port:5432`.
    pub processes: String,
    /// The first of them.
    pub pid: i32,
    /// Its program.
    pub program: String,
    /// How many there were at that moment.
    pub count: u64,
    /// TCP ports whose connections are counted; all connections of the processes where there is none.
    pub ports: Vec<u16>,
    /// Folders whose space is counted.
    pub folders: Vec<PathBuf>,
    /// Time between two samples, in ns.
    pub interval_ns: u64,
    /// The probe's monotonic clock when this was written, in ns since the boot.
    pub monotonic_ns: u64,
    /// The wall clock at that moment: RFC 3339, UTC.
    pub wall: String,
    /// The host.
    pub host: HostFacts,
    /// What cannot be measured, and which privilege or option would help; empty where all can.
    pub missing: Vec<String>,
}

/// What kind of host it is.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct HostFacts {
    /// The boot, by the kernel's random id: two processes with the same one share their clocks.
    pub boot: String,
    /// The kernel's release.
    pub kernel: String,
    /// Instruction set, as the kernel names it.
    pub architecture: String,
    /// Processors online.
    pub processors: u64,
    /// Memory of the machine, in bytes.
    pub memory_bytes: u64,
    /// The kernel's clock source.
    pub clock_source: Option<String>,
}

/// One sample. Counters of processes are since the probe began, those of the host since it was booted.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ProbeSample {
    /// The probe's monotonic clock, in ns since the boot.
    pub monotonic_ns: u64,
    /// The processes that it watches.
    pub server: TreeSample,
    /// The probe itself.
    pub probe: TreeSample,
    /// The host.
    pub host: HostSample,
}

/// An end of a phase.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Mark {
    /// The phase's name.
    pub name: String,
    /// The time of the sample there.
    pub monotonic_ns: u64,
}

/// A word of standard input.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ProbeCommand {
    /// `begin NAME`: sample now, and begin a phase there. An open one ends.
    Begin(String),
    /// `end`: sample now, memory that processes share divided among them, and end the phase there. `end quick` leaves that division out.
    End {
        /// Whether the proportional set size is read.
        proportional: bool,
    },
    /// `sample`: sample now.
    Sample,
    /// `disk NAME…`: add up the folders' space, that of logs apart. Names are those of [`sensormark_store::Logs`].
    Disk(Vec<String>),
}

impl ProbeCommand {
    /// Reads a line.
    ///
    /// # Errors
    /// What is wrong with it, and which words there are.
    pub fn parse(line: &str) -> Result<Self, String> {
        let line = line.trim();
        let (word, rest) = line.split_once(' ').unwrap_or((line, ""));
        match (word, rest.trim()) {
            ("begin", name) if !name.is_empty() => Ok(Self::Begin(name.to_owned())),
            ("end", "") => Ok(Self::End { proportional: true }),
            ("end", "quick") => Ok(Self::End { proportional: false }),
            ("sample", "") => Ok(Self::Sample),
            ("disk", names) => Ok(Self::Disk(names.split_whitespace().map(str::to_owned).collect())),
            _ => Err(format!(
                "{line:?} is none of the words that the probe knows: begin NAME, end, end quick, sample, disk NAME…"
            )),
        }
    }
}

impl fmt::Display for ProbeCommand {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Begin(name) => write!(out, "begin {name}"),
            Self::End { proportional: true } => out.write_str("end"),
            Self::End { proportional: false } => out.write_str("end quick"),
            Self::Sample => out.write_str("sample"),
            Self::Disk(names) => {
                out.write_str("disk")?;
                names.iter().try_for_each(|name| write!(out, " {name}"))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_are_read_as_they_are_written() {
        for command in [
            ProbeCommand::Begin("load by hand".to_owned()),
            ProbeCommand::End { proportional: true },
            ProbeCommand::End { proportional: false },
            ProbeCommand::Sample,
            ProbeCommand::Disk(Vec::new()),
            ProbeCommand::Disk(vec!["pg_wal".to_owned(), "ib_logfile*".to_owned()]),
        ] {
            assert_eq!(ProbeCommand::parse(&command.to_string()), Ok(command));
        }
        for line in ["", "begin", "end now", "stop", "disks"] {
            let said = ProbeCommand::parse(line).expect_err(line);
            assert!(said.contains("begin NAME, end"), "{said}");
        }
    }
}
