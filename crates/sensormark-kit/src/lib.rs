//! What every store needs, written once.
//!
//! A store implements three small traits ([`backend`]). Its [`Backend`] knows its layouts and its server. Its [`BackendSession`] writes
//! and asks. Its [`BackendAdministrator`] makes and removes one database. [`Adapter`] makes the contract's `Store`, `Session` and
//! `Administrator` of them:
//!
//! - it boxes futures; those of a session that blocks are ready when first polled, because nothing in them waits;
//! - it refuses layouts that the store does not offer, and numbers of tables that the schema does not have;
//! - it answers empty batches;
//! - it keeps the model of a plan, which all of its sessions share;
//! - it decides by one protocol which databases may be made and dropped ([`ownership`]).
//!
//! Beside them: [`url`], what URLs of servers have in common, [`folder`], the files of embedded databases, and [`sums`], partial aggregates.
//!
//! The kit speaks to no database and measures nothing.

pub mod adapter;

pub mod backend;

pub mod folder;

pub mod mark;

pub mod ownership;

pub mod sums;

pub mod url;

pub use adapter::Adapter;
pub use backend::{Backend, BackendAdministrator, BackendSession};
pub use mark::{Found, Mark};
