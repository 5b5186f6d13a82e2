//! The contract between sensormark and the databases that it measures.
//!
//! The pipeline (crate `sensormark`) sees this crate alone; a store (one crate a database) depends on
//! this crate, on `sensormark-kit` and `sensormark-server`, and on its driver. Data flows through the modules in this order:
//!
//! 1. [`schema`]: what readings look like, without saying how a database keeps them;
//! 2. [`layout`]: the schema design that a store chooses for them, and [`series_key`]: the order of tags in its keys and indexes;
//! 3. [`batch`]: readings in columns;
//! 4. [`query`] and [`answer`]: the logical operations and what they give back;
//! 5. [`capability`]: what a store does natively, in the client, or not at all;
//! 6. [`store`]: the traits that a store implements. [`name`] says what its databases are called, [`write_size`] how large a write is,
//!    [`statement`] what it sends, [`server`] what sensormark starts;
//! 7. [`census`]: exact counts and checksums of what is stored;
//! 8. [`error`]: one error for all databases;
//! 9. [`mod@reference`]: answers computed from readings in memory, the oracle; [`null`] and [`memory`]: stores without a database; [`faulty`]: a fault planted in another store.
//!
//! Stores share what is beside them: [`record`] has encodings of readings of a span, [`client_side`] aggregates and searches in memory, [`text`]
//! and [`lines`] readings as text.
//!
//! It is not the place for anything that names a workload or a database. The numbered rules that every
//! store keeps are in `docs/reference/store-contract.md`; the suite in `sensormark-conformance` cites them by number.

pub mod schema;

pub mod series_key;

pub mod layout;

pub mod batch;

pub mod query;

pub mod answer;

pub mod capability;

pub mod size;

pub mod store;

pub mod write_size;

pub mod name;

pub mod statement;

pub mod server;

pub mod census;

pub mod error;

pub mod reference;

pub mod record;

pub mod client_side;

pub mod text;

pub mod lines;

pub mod wire;

pub mod null;

pub mod memory;

pub mod faulty;

pub use answer::{Answer, Group, Moment};
pub use batch::{Batch, Column, TextColumn, Values};
pub use capability::{Capability, Operation};
pub use census::{Census, SeriesCensus};
pub use error::{ErrorKind, StoreError};
pub use layout::{
    Encoding, Extremes, Family, Index, Layout, LayoutOffer, QueryStyle, Scope, Shape, Standing,
    TagPlacement, TimeKey, WriteMethod,
};
pub use name::DatabaseName;
pub use query::{
    Aggregate, Ask, Comparison, DaySplit, Function, Grouping, Predicate, Query, Selection,
    TimeRange, Window,
};
pub use schema::{
    Entity, Field, FieldSet, FieldType, Schema, Series, Table, Tag, TagColumn, TimeResolution,
    Value,
};
pub use series_key::SeriesKey;
pub use server::{Installation, Launch, ServerOptions};
pub use size::{Documents, Size};
pub use statement::Statement;
pub use store::{
    Acknowledgement, Administrator, AnswerSource, Atomicity, Description, Durability, Endpoint,
    EntityReading, Limits, LocalFuture, Plan, RepeatedWrite, Secret, Session, SessionKind, Setting,
    Store,
};
pub use write_size::WriteSize;
