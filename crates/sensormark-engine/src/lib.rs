//! The engine: issues operations at their instants and takes those instants down.
//!
//! A trial is made of phases of clients:
//!
//! - [`operations`] says what is issued, [`work_distribution`] who issues it, and [`release`] when, in open loop.
//! - [`clients`] runs a phase, in which each [`client`] counts into a [`tally`], and gives an [`outcome`].
//! - [`inquiry`] is an operation of several questions.
//! - [`intake`] is for a load whose readings come by themselves.
//!
//! [`trial`] makes trials of such phases, and [`explain`] shows the operations. [`run`] measures the trials of a run in the order of its [`run_plan`]. The plan
//! knows how long each takes by its [`estimate`], which [`time_left`] corrects. A trial's database runs at a [`deployment`].
//!
//! It is not where a workload says what to issue, nor where figures are summed up (`measurement`).
#![cfg_attr(
    not(any(test, feature = "tests")),
    deny(
        clippy::print_stdout,
        clippy::print_stderr,
        reason = "these macros panic where the write fails; what is said goes through the command's module output"
    )
)]

pub mod pacing;

pub mod scheduling;

pub mod launcher;

pub mod placement;

mod last_words;

pub mod notifications;

pub mod role;
pub mod role_error;

pub mod role_line;

pub mod clock;

pub mod watchdog;

pub mod connection;

pub mod slot;

pub mod operations;

pub mod inquiry;

pub mod intake;

mod fed;

pub mod explain;

mod warm_up;

pub mod work_distribution;

pub mod watermark;

pub mod release;

pub mod answers;

pub mod tally;

pub mod phase;
pub mod power;

pub mod benchmark_case;
pub mod client;

mod client_threads;

mod thread;

pub mod clients;

pub mod finished;

pub mod outcome;

pub mod many_hosts;

pub mod entities;

pub mod written;

pub mod scale;

pub mod adjust;

pub mod parameter;

pub mod selection;

pub mod study_protocol;

pub mod context;

pub mod server_probe;

pub mod server_probes;

pub mod deployment;

pub mod server_elsewhere;
pub mod server_line;
pub mod server_role;

pub mod owner_mark;

pub mod leftover;

pub mod existing;

mod quiet_host;

pub mod repeats;

pub mod estimate;

pub mod run_plan;

pub mod time_left;

pub mod judge;

mod freed;

pub mod lifecycle;

pub mod run;

pub mod failure;

pub mod pinning;

pub mod cold;

pub mod memory_limit;

pub mod trial;

#[cfg(any(test, feature = "tests"))]
pub mod tests;
