//! Asking: each question is one prepared statement, answered by the database itself.
//!
//! The relational planner writes the statement and puts the answer together; here it is sent. Statements are prepared once for each
//! shape of question and session.

mod scan;

use crate::cell::native;
use crate::cell::{Parameter, array};
use crate::connection::{Link, Planning};
use crate::sent;
use bytes::BufMut;
use futures_util::future::join;
use sensormark_kit::ByShape;
use sensormark_relational::cell::Cell;
use sensormark_relational::decode::Decoder;
use sensormark_relational::physical_schema::PhysicalSchema;
use sensormark_relational::plan::shape::QueryShape;
use sensormark_relational::plan::slot::{Bindings, Slot};
use sensormark_relational::plan::{Form, Plan, Statement, checked, nothing_to_find};
use sensormark_relational::table::PhysicalTable;
use sensormark_relational::wire::{WireRow, read_rows};
use sensormark_store::{Answer, Ask, Query, Selection, StoreError};
use std::rc::Rc;
use tokio_postgres::types::Type;

const OPERATION: &str = "query PostgreSQL";

/// Prepared statements for questions, by shape.
pub(crate) type Statements = ByShape<QueryShape, Rc<Prepared>>;

pub(crate) struct Prepared {
    statement: sent::Prepared,
    slots: Vec<Slot>,
    form: Form,
    planning: Planning,
}

/// What asks questions over a connection.
pub(crate) struct Reader<'a> {
    /// The connection.
    pub(crate) link: &'a mut Link,
    /// Its prepared statements.
    pub(crate) statements: &'a mut Statements,
    /// The plan's tables.
    pub(crate) physical: &'a PhysicalSchema,
}

impl Reader<'_> {
    /// Answers a question.
    pub(crate) async fn query(&mut self, query: &Query) -> Result<Answer, StoreError> {
        let asked = checked(self.physical, query)?;
        if let Some(nothing) = nothing_to_find(&asked) {
            return Ok(nothing);
        }
        let prepared = self.prepared(asked).await?;
        let encoded = Encoded::new(&prepared.slots, asked);
        let value = |&slot: &Slot| Parameter(encoded.value(slot, asked));
        let cells = || prepared.slots.iter().map(value);
        let mut decoder = Decoder::new(asked, 1);
        let change = (self.link.planning != prepared.planning).then(|| prepared.planning.statement());
        self.link.planning = prepared.planning;
        if let Some(change) = change {
            self.link.kept.note_text(change, || None);
        }
        self.link.kept.note(&prepared.statement, || Box::new(cells()));
        let client = &self.link.client;
        let asking = async {
            let asked = client.query_raw(&prepared.statement.statement, cells());
            let rows = match change {
                None => asked.await?,
                Some(change) => {
                    // Both go out together.
                    let (changed, rows) = join(client.batch_execute(change), asked).await;
                    changed?;
                    rows?
                }
            };
            let form = &prepared.form;
            read_rows(rows, |row| decoder.row(form, &WireRow::<false>(row))).await
        };
        self.link.wire.run(OPERATION, asking).await??;
        Ok(decoder.finish(&prepared.form))
    }

    async fn prepared(&mut self, asked: Bindings<'_>) -> Result<Rc<Prepared>, StoreError> {
        let (physical, link) = (self.physical, &mut *self.link);
        let make = async || {
            let plan = Plan::new(physical, asked.query)?;
            let [statement] = <[Statement; 1]>::try_from(plan.statements).map_err(|statements| {
                let count = statements.len();
                StoreError::unsupported(OPERATION, format!("a question of {count} statements"))
            })?;
            let kinds: Vec<Type> = statement.kinds.iter().map(|&kind| native(kind)).collect();
            let Statement { text, slots, form, .. } = statement;
            Ok(Rc::new(Prepared {
                statement: link.prepare("prepare a query", text, &kinds).await?,
                slots,
                form,
                planning: planning(asked.query, asked.table),
            }))
        };
        let shape = QueryShape::of(asked.query, physical);
        self.statements.prepared(shape, make).await
    }
}

/// Questions that may read and sort much are planned for their range; those that an index leads to their readings are planned once.
fn planning(query: &Query, table: &PhysicalTable) -> Planning {
    let by_key = matches!(query.series, Selection::One(_)) && !table.keys.is_empty();
    let each_time = match &query.ask {
        Ask::Range { .. } => !by_key && !table.keys.is_empty(),
        Ask::Aggregate { grouping, .. } => !by_key || grouping.window.is_some(),
        Ask::SeriesMatching(_) => true,
        _ => false,
    };
    if each_time { Planning::EachTime } else { Planning::Once }
}

/// Values that must be encoded before a statement is sent: arrays and intervals.
struct Encoded(Vec<(Slot, Vec<u8>)>);

impl Encoded {
    /// Encodes what these slots need.
    fn new(slots: &[Slot], asked: Bindings<'_>) -> Self {
        let mut encoded = Vec::new();
        for &slot in slots {
            let bytes = match slot {
                Slot::KeySet(key) | Slot::KeyAll(key) => {
                    let column = &asked.table.columns[asked.table.keys[key]];
                    let mut cells = Vec::new();
                    asked.each_series(|series| {
                        cells.push(asked.table.key_cell(asked.description, key, series));
                    });
                    array(&native(column.kind), cells.len(), cells.into_iter())
                }
                Slot::WidthInterval => {
                    let mut bytes = Vec::with_capacity(16);
                    bytes.put_i64(asked.window().map_or(0, |window| window.width_ns / 1_000));
                    bytes.put_i64(0);
                    bytes
                }
                _ => continue,
            };
            encoded.push((slot, bytes));
        }
        Self(encoded)
    }

    /// A slot's value.
    fn value<'a>(&'a self, slot: Slot, asked: Bindings<'a>) -> Cell<'a> {
        match self.0.iter().find(|(other, _)| *other == slot) {
            Some((_, bytes)) => Cell::Encoded(bytes),
            None => asked.value(slot),
        }
    }
}
