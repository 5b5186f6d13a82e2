//! Durability tried: how many of the acknowledged readings survive a crash? Clients write until their server is killed (SIGKILL). It is started again on the
//! same data folder, and everything in it is read back.
//!
//! The flow: [`parameters`] say how much is written and when the server dies, [`readings`] what is written, [`factory`] the trial's one step. In class `durable`
//! every acknowledged reading has to survive, else the trial is invalid. The other classes promise less, and the report says what they lose.
//!
//! It tries the crash of a process, in which what the operating system holds survives, or a power cut, in which only what was flushed does (`kill=power`). It
//! does not measure speed: no figure of it is ranked.

pub mod factory;
pub mod parameters;
pub mod readings;

pub use factory::DurabilityWorkload;
pub use parameters::Parameters;

/// The workload's name.
pub const NAME: &str = "durability";
/// What makes the kill a power cut.
pub const POWER_CUT: &str = "kill=power";
/// The name of its phase and its load.
pub const WRITE: &str = "write";
