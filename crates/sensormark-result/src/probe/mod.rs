//! What the machine was asked to do: CPU, memory, storage, network and disk of process trees and of the host. The figures come from the kernel's own counters.
//! An inventory of the environment comes with them. Both sides are measured by the same code. It judges nothing (verdicts do) and measures no operation (the
//! engine does).
//!
//! The flow:
//!
//! - [`Scan`] lists the processes of the host once.
//! - [`ProcessTree`] adds up those of one role.
//! - [`HostSampler`] reads the host.
//! - [`Recorder`] does both each second and keeps a [`Recording`].
//! - [`Recording::totals`] gives what a phase has cost.
//!
//! A server that sensormark did not start is found by [`Processes`]. [`ProbeService`] watches it on its own host, and prints [`ProbeLine`]s.

mod clock;
mod control_group;
mod device;
mod disk;
mod disturbance;
mod environment;
mod error;
mod exited_processes;
mod flushes;
mod host;
mod limits;
mod lines;
mod listeners;
mod memory;
mod process_storage;
mod processes;
mod recorder;
mod recording;
mod redact;
mod service;
mod several_hosts;
mod sock_diag;
mod table;
mod threads;
mod totals;
mod tree;
mod wire;

pub use clock::monotonic_ns;
pub use control_group::ControlGroup;
pub use device::{DeviceKind, FolderDevice, of_folder as device_of_folder};
pub use disk::{DiskUsage, free_bytes, usage as disk_usage};
pub use disturbance::{Disturbance, DisturbanceLimits};
pub use environment::{Environment, Processor};
pub use error::{FindError, ProbeError};
pub use flushes::FlushRate;
pub use host::{DiskCounters, HostSample, HostSampler};
pub use limits::Limits;
pub use lines::{Hello, HostFacts, LINES_VERSION, Mark, ProbeCommand, ProbeLine, ProbeSample};
pub use processes::{FoundProcesses, Processes};
pub use recorder::Recorder;
pub use recording::{HostColumns, Phase, Recording, SamplingCost, TreeColumns, TreeRecord};
pub use redact::{HIDDEN, redact, redact_arguments};
pub use service::{ProbeService, Teller, Watched, boot_id};
pub use several_hosts::ClientSeen;
pub use table::{ProcessRow, ProcessTable};
pub use totals::{ClientHost, HostTotals, PhaseTotals, RoleTotals, ServerHost};
pub use tree::{ProcessTree, Scan, Scope, TreeSample};
pub use wire::{WireSample, WireScope};
