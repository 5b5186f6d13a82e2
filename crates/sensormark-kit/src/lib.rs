//! What every store needs, written once.
//!
//! A store implements [`BackendAdministrator`], which makes and removes one database; [`administrator()`] makes the contract's `Administrator` of it. It decides by one
//! protocol which databases may be made and dropped ([`ownership`]).
//!
//! Beside them:
//!
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

pub mod administrator;

pub mod batch_sums;

pub mod folder;

pub mod io_error;

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

pub use administrator::{BackendAdministrator, administrator};
pub use mark::{Found, Mark};
pub use row::{Document, Row, unexpected};
pub use series::{Key, SeriesMap};

/// Statements of different shapes that a session keeps at most; more than any workload has. With one more all are made anew, so that a session cannot grow without end.
/// A store whose driver or connection keeps prepared statements itself bounds them by this number too, so that all stores keep as many.
pub const MOST_SHAPES: usize = 512;
