//! Data sets as files and streams: line protocol, CSV and JSON lines.
//!
//! A [`DataSet`] has a schema and gives its readings in batches. It is written in any format, straight from columns. Names, tags and punctuation
//! are prepared once, and no value is allocated. What is written is exact: every number reads back to the same bits.
//!
//! It writes to no database (that is a store's matter), and the formats here are for exchange: a store has its own encoder.

mod data_set;
mod options;
mod request;

mod csv;
mod json;
mod line_protocol;

mod output;

#[cfg(test)]
pub(crate) mod tests;

use crate::prelude::*;
pub(crate) use data_set::BATCH;
pub use data_set::{BatchSink, DataSet, Shard};
pub use options::{ExportOptions, Format};
pub use output::{Summary, export};
use output::{Writer, starts};
pub use request::DataRequest;
