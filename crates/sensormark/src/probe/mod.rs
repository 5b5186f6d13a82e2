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

mod device;
mod disk;
mod disturbance;
mod environment;
mod error;
mod exited_processes;
mod flushes;
mod host;
mod limits;
mod memory;
mod recorder;
mod recording;
mod redact;
mod sock_diag;
mod table;
mod threads;
mod totals;
mod tree;
mod wire;

pub use device::{DeviceKind, FolderDevice, of_folder as device_of_folder};
pub use disk::{DiskUsage, free_bytes, usage as disk_usage};
pub use disturbance::{Disturbance, DisturbanceLimits};
pub use environment::{Environment, Processor};
pub use error::ProbeError;
pub use flushes::FlushRate;
pub use host::{DiskCounters, HostSample, HostSampler};
pub use limits::Limits;
pub use recorder::{Recorder, monotonic_ns};
pub use recording::{HostColumns, Phase, Recording, SamplingCost, TreeColumns, TreeRecord};
pub use redact::{redact, redact_arguments};
pub use table::{ProcessRow, ProcessTable};
pub use totals::{HostTotals, PhaseTotals, RoleTotals};
pub use tree::{ProcessTree, Scan, Scope, TreeSample};
pub use wire::{WireSample, WireScope};
