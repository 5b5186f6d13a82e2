//! Upserts: a reading, and the entity whose last time it sets.
//!
//! There is no lightweight transaction: the entity's columns are written with a timestamp that counts backwards, so that the
//! first write stays.

use super::chunk::Line;
use super::known::micros;
use super::{Writer, send};
use crate::connection::Cell;
use crate::schema::{PhysicalTable, Rows};
use crate::statements::Shape;
use scylla::serialize::SerializationError;
use scylla::serialize::row::{RowSerializationContext, SerializeRow};
use scylla::serialize::writers::RowWriter;
use scylla::statement::batch::{Batch as Together, BatchType};
use scylla::statement::prepared::PreparedStatement;
use sensormark_store::{Acknowledgement, Atomicity, EntityReading, StoreError, Value};

impl Writer<'_> {
    /// Inserts a reading and updates its entity.
    pub(crate) async fn upsert(&mut self, write: EntityReading<'_>) -> Result<Acknowledgement, StoreError> {
        let batch = write.reading;
        let own = &self.physical.tables[batch.table];
        let (Some(&series), Some(&time)) = (batch.series.first(), batch.times_ns.first()) else {
            return Ok(Acknowledgement::default());
        };
        let chunks = self.chunks(own, batch)?;
        let insert = self.insert(batch.table).await?;
        let (entity, last) = self.entity_statements(batch.table, own).await?;
        self.note_buckets(own, batch).await?;
        let is_known = self.known.entities[batch.table].contains(&series);
        let mut together = Together::new(BatchType::Logged);
        let mut values = Vec::new();
        if !is_known {
            together.append_statement(entity);
            values.push(Update::Entity(series, write.entity));
        }
        together.append_statement(last);
        let unit = match own.rows {
            Rows::Reading { unit_ns } => unit_ns,
            Rows::Record { .. } => 1,
        };
        values.push(Update::LastTime(time - time.rem_euclid(unit), series));
        let mut statements = 1;
        if write.atomicity == Atomicity::Atomic {
            together.append_statement(insert);
            values.extend(chunks.iter().flat_map(|chunk| &chunk.lines).map(Update::Line));
            self.link.batch("update an entity and write", &together, &values).await?;
        } else {
            // both statements are of one partition: nothing to log
            together = Together::new_with_statements(BatchType::Unlogged, together.statements);
            self.link.batch("update an entity", &together, &values).await?;
            send(self.link, &insert, &chunks, batch).await?;
            statements = 2;
        }
        self.known.entities[batch.table].insert(series);
        Ok(Acknowledgement { readings: 1, sent: 1, statements })
    }

    async fn entity_statements(
        &mut self,
        table: usize,
        own: &PhysicalTable,
    ) -> Result<(PreparedStatement, PreparedStatement), StoreError> {
        let description = &self.physical.schema.tables[table];
        let Some(entity) = &description.entity else {
            return Err(StoreError::unsupported("update an entity", "the table has no entity"));
        };
        // The first write of an entity's columns stays: its timestamp counts backwards, so that later ones lose.
        let text = |keyspace: &str| {
            let columns = entity.columns.iter();
            let columns: String = columns.map(|column| format!(", \"{}\"", column.name)).collect();
            format!(
                "INSERT INTO {keyspace}.\"{}\" (\"_series\"{columns}) VALUES (?{}) USING TIMESTAMP ?",
                own.entities(),
                ", ?".repeat(entity.columns.len())
            )
        };
        let first = self.statements.get(self.link, Shape::Entity(table), text).await?;
        let text = |keyspace: &str| {
            format!(
                "UPDATE {keyspace}.\"{}\" SET \"{}\" = ? WHERE \"_series\" = ?",
                own.entities(),
                entity.last_time_column
            )
        };
        let last = self.statements.get(self.link, Shape::LastTime(table), text).await?;
        Ok((first, last))
    }
}

/// Values of one statement of an upsert.
enum Update<'a> {
    Entity(u32, &'a [Value]),
    LastTime(i64, u32),
    Line(&'a Line<'a>),
}

impl SerializeRow for Update<'_> {
    fn serialize(
        &self,
        context: &RowSerializationContext<'_>,
        writer: &mut RowWriter<'_>,
    ) -> Result<(), SerializationError> {
        match self {
            Self::Entity(series, columns) => {
                Cell::Int(series.cast_signed()).write(writer)?;
                for (value, spec) in columns.iter().zip(context.columns().iter().skip(1)) {
                    let small = matches!(
                        spec.typ(),
                        scylla::frame::response::result::ColumnType::Native(
                            scylla::frame::response::result::NativeType::Int
                        )
                    );
                    value_cell(value, small).write(writer)?;
                }
                Cell::Big(-micros()).write(writer)
            }
            Self::LastTime(time, series) => {
                Cell::Big(*time).write(writer)?;
                Cell::Int(series.cast_signed()).write(writer)
            }
            Self::Line(line) => line.serialize(context, writer),
        }
    }

    fn is_empty(&self) -> bool {
        false
    }
}

fn value_cell(value: &Value, small: bool) -> Cell<'_> {
    match value {
        Value::Null => Cell::Unset,
        Value::Bool(value) => Cell::Bool(*value),
        Value::I64(value) if small => i32::try_from(*value).map_or(Cell::Unset, Cell::Int),
        Value::I64(value) => Cell::Big(*value),
        Value::F64(value) => Cell::Double(*value),
        Value::Text(value) => Cell::Bytes(value.as_bytes()),
    }
}
