//! Stores that are files: what a database is asked is text, in a language that its experts read.
//!
//! A store is `store.toml` ([`config`]) and a file of statements ([`sections`]), which are templates over `standard.sql`. A question passes these stations:
//!
//! 1. [`layouts`] finds the block of the plan's layout. [`template`] puts its sections together. What templates see is in [`physical`] and [`mod@table`].
//! 2. [`question`] renders the statements of a named question, once a shape. [`slots`] gives their values.
//! 3. A driver (`sensormark-drivers`) carries it over a [`link`].
//! 4. [`decode`] puts rows together to an answer, by the statement's form.
//!
//! Beside them:
//!
//! - [`session`] and [`mod@write`]: one client's work
//! - [`recorded`]: statements that are kept for people
//! - [`admin`]: databases are made and removed
//! - [`meaning`]: what failures mean
//! - [`FileStore`]: the contract's store
//!
//! What no statement answers, the client answers from the readings.

pub mod admin;

pub mod config;

pub mod decode;

pub mod files;

pub mod layouts;

pub mod link;

pub mod meaning;

pub mod physical;

pub mod question;

pub mod recorded;

pub mod sections;

pub mod server;

pub mod session;

pub mod slots;

pub mod store;

pub mod table;

pub mod template;

pub mod text;

pub mod write;

pub use store::FileStore;
