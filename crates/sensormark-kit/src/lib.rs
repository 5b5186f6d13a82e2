//! What every store needs, written once.
//!
//! A store implements three small traits ([`backend`]). Its [`Backend`] declares its layouts and its server ([`Declaration`]), and connects. Its [`BackendSession`] writes
//! and asks. Its [`BackendAdministrator`] makes and removes one database. [`Adapter`] makes the contract's `Store`, `Session` and
//! `Administrator` of them:
//!
//! - it boxes futures; those of a session that blocks are ready when first polled, because nothing in them waits;
//! - it refuses layouts that the store does not offer, and numbers of tables that the schema does not have, and updates of entities where a table has none;
//! - it answers empty batches;
//! - it keeps what a plan's schema becomes, which all of its sessions share;
//! - it decides by one protocol which databases may be made and dropped ([`ownership`]).
//!
//! Beside them:
//!
//! - [`layouts`]: how a store names what it offers;
//! - [`io_error`]: what broken connections mean;
//! - [`url`]: what URLs of servers have in common;
//! - [`folder`]: the files of embedded databases;
//! - [`series`]: which series a row is of;
//! - [`row`]: a row that a driver gives;
//! - [`sums`]: partial sums; [`parts`]: partial aggregates that the client adds up; [`batch_sums`]: what a batch adds to sums that are kept;
//! - [`tagged`]: the series of a tag's value;
//! - `tls`, a feature: who vouches for a server's certificate.
//!
//! The kit speaks to no database and measures nothing.

pub mod adapter;

pub mod backend;

pub mod batch_sums;

pub mod folder;

pub mod io_error;

pub mod layouts;

pub mod mark;

pub mod ownership;

pub mod parts;

pub mod row;

pub mod series;

pub mod sums;

pub mod tagged;

#[cfg(feature = "tls")]
pub mod tls;

pub mod url;

pub use adapter::Adapter;
pub use backend::{Backend, BackendAdministrator, BackendSession, Declaration};
pub use layouts::offer;
pub use mark::{Found, Mark};
pub use row::{Document, Row, unexpected};
pub use series::{Key, SeriesMap};

/// Statements of different shapes that a session keeps at most; more than any workload has. With one more all are made anew, so that a session cannot grow without end.
/// A store whose driver or connection keeps prepared statements itself bounds them by this number too, so that all stores keep as many.
pub const MOST_SHAPES: usize = 512;
