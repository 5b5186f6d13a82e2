//! Questions: the relational planner writes their statements, once for each shape and connection, and puts their answers together.
//!
//! Here they are given their values and sent; the server prepares each text once.

mod row;

use self::row::Fetched;
use crate::connection::Link;
use crate::write::value::native;
use mysql_async::{Row, Value as Native};
use sensormark_relational::decode::{self, Decoder};
use sensormark_relational::physical_schema::PhysicalSchema;
use sensormark_relational::plan::slot::{Bindings, Slot};
use sensormark_relational::plan::{self, Plan, Plans, Statement, checked, nothing_to_find, planned};
use sensormark_store::{Answer, Batch, Query, StoreError, Value};
use std::rc::Rc;

const OPERATION: &str = "query MariaDB";

/// Readings handed over at once when everything is read back.
const SCAN_BATCH: usize = 8_192;

/// What asks questions over a connection.
pub(crate) struct Reader<'a> {
    /// The connection.
    pub(crate) link: &'a mut Link,
    /// What it has asked so far.
    pub(crate) plans: &'a mut Plans,
    /// The plan's tables.
    pub(crate) physical: &'a PhysicalSchema,
}

impl Reader<'_> {
    /// Answers a question; where a reading is not a row, the last readings are points that follow their times.
    pub(crate) async fn answer(&mut self, query: &Query) -> Result<Answer, StoreError> {
        let physical = self.physical;
        if let Some(nothing) = nothing_to_find(&checked(physical, query)?) {
            return Ok(nothing);
        }
        let (mut decoder, plan) = self.collect(query).await?;
        for point in decoder.points(plan.form()) {
            let (reading, plan) = self.collect(&point).await?;
            decoder.take_point(&reading.finish(plan.form()));
        }
        Ok(decoder.finish(plan.form()))
    }

    /// Sends a question's statements; what their rows come to.
    async fn collect<'q>(&mut self, query: &'q Query) -> Result<(Decoder<'q>, Rc<Plan>), StoreError>
    where
        Self: 'q,
    {
        let physical: &'q PhysicalSchema = self.physical;
        let asked = Bindings::new(physical, query)?;
        let plan = planned(self.plans, physical, query)?;
        let mut decoder = Decoder::new(asked, plan.statements.len());
        for statement in &plan.statements {
            let mut sink = |row: Row| decoder.row(&statement.form, &Fetched(&row));
            let values = values(statement, asked);
            self.link.rows(OPERATION, &statement.text, values, &mut sink).await?;
        }
        Ok((decoder, plan))
    }
}

/// The values of a statement's parameters.
fn values(statement: &Statement, asked: Bindings<'_>) -> Vec<Native> {
    let mut values = Vec::with_capacity(statement.slots.len());
    for &slot in &statement.slots {
        if slot != Slot::Members {
            values.push(native(asked.value(slot)));
            continue;
        }
        asked.each_series(|series| {
            let keys = 0..asked.table.keys.len();
            values.extend(keys.map(|key| native(asked.table.key_cell(asked.description, key, series))));
        });
    }
    values
}

/// Reads back everything of a table.
pub(crate) async fn scan(
    link: &mut Link,
    physical: &PhysicalSchema,
    number: usize,
    sink: &mut dyn FnMut(&Batch),
) -> Result<(), StoreError> {
    let (statement, query) = Plan::everything(physical, number)?;
    let asked = Bindings::new(physical, &query)?;
    let mut decoder = Decoder::new(asked, 1).in_pieces(SCAN_BATCH);
    link.stream("scan", &statement.text, &mut |row| {
        decoder.row(&statement.form, &Fetched(&row))?;
        if let Some(piece) = decoder.take_piece(&statement.form) {
            sink(&piece);
        }
        Ok(())
    })
    .await?;
    decoder.finish_pieces(sink);
    Ok(())
}

/// Reads back every entity of a table.
pub(crate) async fn scan_entities(
    link: &mut Link,
    physical: &PhysicalSchema,
    number: usize,
    sink: &mut dyn FnMut(u32, i64, &[Value]),
) -> Result<(), StoreError> {
    let sql = plan::entities(physical, number)?;
    let (mut key, mut values) = (String::new(), Vec::new());
    link.stream("read entities back", &sql, &mut |row| {
        let (series, last_ns) = decode::entity(physical, number, &Fetched(&row), &mut key, &mut values)?;
        sink(series, last_ns, &values);
        Ok(())
    })
    .await
}
