//! Prepared statements of a session, by their shape.

use crate::connection::Link;
use scylla::statement::prepared::PreparedStatement;
use sensormark_kit::ByShape;
use sensormark_store::{Aggregate, Comparison, FieldSet, StoreError};

/// The shape of a statement; of those of one table, its number first, then fields as bits or a field's number.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) enum Shape {
    Insert(usize),
    Note,
    LookUp,
    Entity(usize),
    LastTime(usize),
    Range(usize, FieldSet),
    Latest(usize, FieldSet, bool),
    Search(usize, usize, Comparison, bool),
    Least(usize, usize),
    Equal(usize, usize),
    Aggregate(usize, Vec<Aggregate>),
    Scan(usize),
    Entities(usize),
}

/// Prepared statements by their shape.
#[derive(Debug)]
pub(crate) struct Statements {
    keyspace: String,
    prepared: ByShape<Shape, PreparedStatement>,
}

impl Statements {
    /// None yet, in this keyspace.
    pub(crate) fn new(keyspace: &str) -> Self {
        Self { keyspace: keyspace.to_owned(), prepared: ByShape::default() }
    }

    /// The statement of a shape, prepared when it is first needed; `text` writes it, given the keyspace.
    pub(crate) async fn get(
        &mut self,
        link: &Link,
        shape: Shape,
        text: impl FnOnce(&str) -> String,
    ) -> Result<PreparedStatement, StoreError> {
        let keyspace = &self.keyspace;
        let make = async || link.prepare("prepare a statement", &text(keyspace)).await;
        self.prepared.prepared(shape, make).await
    }
}
