//! What relational databases have in common: tables for a layout, statements for questions and writes, answers from rows.
//!
//! A question or a batch passes three stations, each once. The first and the last are here; the one between them is the store's:
//!
//! 1. Plan: the module [`physical_schema`] turns schema and layout into tables, once. The statements that make them are in [`ddl`]. Questions become statements in
//!    [`plan`]. Each statement has [slots](plan::slot) for its parameters, and the [`Form`](plan::Form) of its rows. A store keeps statements prepared, because
//!    the text depends on the question's [shape](plan::shape) alone. A batch becomes rows of [cells](cell) in [`mod@write`], which also has the statements that
//!    take them.
//! 2. Send: the store binds each slot's value and hands the statement to its driver.
//! 3. Decode: the module [`decode`] puts rows together to an answer. The driver's row is a [`Row`](sensormark_kit::Row): decoding is compiled for it, and values go from
//!    it into their columns without a box or an allocation.
//!
//! Where databases go different ways, a [`Dialect`](dialect::Dialect) chooses: how the latest readings are found, how a set of series is
//! sent, whether the database opens records of a span. It chooses strategies that a good administrator of that database would choose;
//! the differences in words (quotes, names of types) come with it. The crate sends nothing, measures nothing, and knows no workload.
//!
//! Two kinds of database fit without a change of the plan: one with arrays and lateral joins answers as PostgreSQL does
//! ([`Walk::Lateral`](dialect::Walk), [`Aggregates::OneStatement`](dialect::Aggregates)); one without either answers as QuestDB does. A
//! strategy of its own (LATEST ON, say) is one more variant of the enum for its question, and one function beside the others.
//!
//! Text and quotes are written here and not by sea-query. Its strength is one syntax tree for three databases, and what differs here is
//! the statement's structure: LATERAL, JSON_TABLE, `json_each`, arrays as parameters, LATEST ON, SAMPLE BY, hints, compound statements. It has a node
//! for LATERAL and none for most of the others (version 1.0.2), so they would be raw text in its tree. It has no backend for DuckDB and QuestDB. It numbers parameters by value, one each time, where a slot here is bound once and used
//! several times. What is left, quotes and placeholders, is under a hundred lines here.

pub mod layouts;

pub mod binary;

pub mod column_type;

pub mod table;

pub mod expansion;

pub mod dialect;

pub mod physical_schema;

pub mod ddl;

pub mod cell;

pub mod plan;

pub mod decode;

pub mod write;

#[cfg(feature = "wire")]
pub mod wire;
