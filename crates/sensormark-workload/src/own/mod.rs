//! The user's own workload: what a TOML file says is loaded, then written and asked about at once; limits say what must hold.
//!
//! The flow begins with [`file`](mod@file), which reads the file into [`parameters`]. Its data set is made by [`sensors`]. What clients issue is in [`writes`] and
//! [`questions`], and what is due in [`answers`]. The trial's steps are in [`factory`]. Limits of a trial are read and judged by [`limit`]. The highest rate that
//! holds them is found by [`find_limit`]. A person answers [`questionnaire`], which writes a file. A file that shows everything is [`template`].
//!
//! How an implementation goes through it:
//!
//! | phase | what happens |
//! | --- | --- |
//! | load | the data of `duration`, in the order of sending, in closed loop |
//! | settled | the database comes to rest |
//! | warm-up | the queries, not counted (where the file says so) |
//! | mixed | writers go on where the load ended, and each query has clients of its own, all at once |
//!
//! A file with `[retention]`, `[[rollups]]` or `[compression]` goes through a *life* in place of that ([`life`]): rounds of writing and asking. Beside them old data
//! go and aggregates are renewed.
//!
//! Queries while others write keep below what is acknowledged. They are about ticks whose readings were all sent before the watermark, late ones and copies too.
//! So each has one right answer, which is computed from the generator.
//!
//! It is not where data are generated (`dataset::shapes`), nor where operations are issued (`engine`).

pub mod answers;
mod churn;
pub mod factory;
pub mod file;
pub mod find_limit;
mod homes;
mod kind;
pub mod layouts;
mod life;
pub mod lifecycle;
pub mod limit;
pub mod parameters;
pub mod questionnaire;
pub mod questions;
pub mod sensors;
pub mod sizes;
pub mod template;
mod walks;
pub mod writes;

#[cfg(test)]
mod tests;

pub use factory::OwnWorkload;
pub use parameters::Parameters;

/// The workload's name.
pub const NAME: &str = "own";
/// The name of the loading phase and its load.
pub const LOAD: &str = "load";
/// The name of the phase in which everything goes on at once.
pub const MIXED: &str = "mixed";
/// What the phases of a life are called, with the number of their round.
pub const LIFE: &str = "round";
/// The name of the mixed phase's writing load.
pub const WRITERS: &str = "writers";
