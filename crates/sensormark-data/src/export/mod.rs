//! Data sets as files and streams: line protocol, CSV and JSON lines.
//!
//! Anything that can say its schema and give its readings in batches ([`DataSet`]) is written in any format, straight from columns. Names, tags and punctuation
//! are prepared once, and no value is allocated. What is written is exact: every number reads back to the same bits.
//!
//! It writes to no database (that is a store's matter), and the formats here are for exchange: a store has its own encoder.

mod shard;

mod error;

mod options;
mod request;
mod source;

mod prepared;

mod csv;
mod json;
mod line_protocol;

mod output;

#[cfg(test)]
mod tests;

pub use error::ExportError;
pub use options::{ExportOptions, Format};
pub use output::{Output, Summary, export, write_batches};
pub use request::DataRequest;
pub use shard::Shard;
pub use source::{Batches, DataSet, MachineToolSamples, RecordedReadings};
