//! The contract between sensormark and the databases that it measures.
//!
//! The pipeline (`sensormark-engine` and what is above it) sees this crate alone; a store (one crate a database) depends on
//! this crate, on `sensormark-kit` and `sensormark-server`, and on its driver. Data flows through the modules in this order:
//!
//! - [`schema`]: what readings look like, without saying how a database keeps them;
//! - [`layout`]: the schema design that a store chooses for them, and [`series_key`]: the order of tags in its keys and indexes;
//! - [`batch`]: readings in columns;
//! - [`query`] and [`answer`]: the logical operations and what they give back;
//! - [`capability`]: what a store does natively, in the client, or not at all;
//! - [`store`]: the traits that a store implements, [`endpoint`]: how a server is reached, [`durability`]: what an acknowledgement promises;
//! - [`name`]: what its databases are called, [`write_size`]: how large a write is, [`statement`]: what it sends, and [`server`]: what sensormark starts;
//! - [`census`]: exact counts and checksums of what is stored;
//! - [`error`]: one error for all databases.
//!
//! Stores share what is beside them: [`record`] has encodings of readings of a span, [`client_side`] aggregates and searches in memory, [`text`]
//! and [`lines`] readings as text.
//!
//! It is not the place for anything that names a workload or a database. The numbered rules that every
//! store keeps are in `crates/sensormark-conformance/CONTRACT.md`; the suite in `sensormark-conformance` cites them by number.

pub mod schema;

pub mod series_key;

pub mod layout;

pub mod batch;

pub mod query;

pub mod question;

mod checked;

pub mod answer;

pub mod capability;

pub mod size;

pub mod durability;

pub mod endpoint;

pub mod store;

pub mod write_size;

pub mod name;

pub mod statement;

pub mod launch;

pub mod server;

pub mod census;

pub mod error;

pub mod record;

pub mod client_side;

pub mod text;

pub mod lines;

pub mod wire;

pub use answer::{Answer, Group, Moment};
pub use batch::{Batch, Column, TextColumn, Values};
pub use capability::{Capability, Operation};
pub use census::{Census, SeriesCensus};
pub use durability::Durability;
pub use endpoint::{Endpoint, Secret};
pub use error::{ErrorKind, StoreError};
pub use launch::Launch;
pub use layout::{
    DefaultSelection, Encoding, Extremes, Family, Index, Layout, LayoutOption, QueryStyle, Scope, Shape,
    TagPlacement, TimeKey, WriteMethod,
};
pub use name::DatabaseName;
pub use query::{
    Aggregate, Ask, Comparison, DaySplit, Derived, Function, Grouping, Predicate, Query, Selection,
    TimeRange, Window,
};
pub use question::Question;
pub use schema::{
    Entity, Field, FieldSet, FieldType, Schema, Series, Table, Tag, TagColumn, TimeResolution, Value,
};
pub use series_key::SeriesKey;
pub use server::{Installation, ServerOptions};
pub use size::{Documents, Logs, Size};
pub use statement::Statement;
pub use store::{
    Acknowledgement, Administrator, AnswerSource, Atomicity, Description, EntityReading, Limits, LocalFuture,
    Plan, RepeatedWrite, Session, SessionKind, Setting, Store,
};
pub use write_size::WriteSize;
