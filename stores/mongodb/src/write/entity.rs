//! Readings that update their entity: an upsert of the entity's document, then an insert of the reading.

use super::command::{Writer, refusal};
use super::growing::identity;
use crate::schema::{PhysicalEntity, PhysicalTable};
use mongodb::bson::RawDocumentBuf;
use mongodb::options::{Acknowledgment, WriteConcern};
use sensormark_store::{
    Acknowledgement, Atomicity, Capability, Durability, EntityReading, ErrorKind, Shape, StoreError, Table,
};

const OPERATION: &str = "update an entity in MongoDB";

impl Writer<'_> {
    /// Updates an entity and inserts its reading.
    pub(crate) async fn upsert(&self, write: EntityReading<'_>) -> Result<Acknowledgement, StoreError> {
        let (table, kept) = self.physical.table(write.reading.table)?;
        let Some(entity) = &kept.entity else {
            return Err(StoreError::unsupported(
                OPERATION,
                "the table has no entity; write its readings plainly",
            ));
        };
        if write.reading.len() != 1 {
            return Err(StoreError::new(
                ErrorKind::Rejected,
                OPERATION,
                "an upsert is of exactly one reading; use a write for several",
            ));
        }
        match write.atomicity {
            Atomicity::Separate => self.separately(table, kept, entity, write).await,
            Atomicity::Atomic => self.atomically(table, kept, entity, write).await,
        }
    }

    async fn separately(
        &self,
        table: &Table,
        kept: &PhysicalTable,
        entity: &PhysicalEntity,
        write: EntityReading<'_>,
    ) -> Result<Acknowledgement, StoreError> {
        let command = self.entity_update(table, kept, entity, write, true)?;
        if let Some(silent) = self.silent {
            self.link.kept.note(&command);
            silent.lock().await.send(&command).await?;
        } else {
            let answer = self.link.run(OPERATION, command).await?;
            if let Some((_, error)) = refusal(OPERATION, &answer) {
                return Err(error);
            }
        }
        let mut done = self.write(write.reading).await?;
        done.statements += 1;
        Ok(done)
    }

    async fn atomically(
        &self,
        table: &Table,
        kept: &PhysicalTable,
        entity: &PhysicalEntity,
        write: EntityReading<'_>,
    ) -> Result<Acknowledgement, StoreError> {
        if let Capability::Unsupported(reason) = self.topology.transactions() {
            return Err(StoreError::unsupported(OPERATION, reason));
        }
        if kept.shape == Shape::NativeTimeSeries {
            return Err(StoreError::unsupported(
                OPERATION,
                "time-series collections refuse writes in transactions; use two commits",
            ));
        }
        let update = self.entity_update(table, kept, entity, write, false)?;
        let insert = self.prepare(table, kept, write.reading, 0..1, false)?;
        let check = |answer: &_| refusal(OPERATION, answer).map_or(Ok(()), |(_, error)| Err(error));
        self.link
            .transaction(
                OPERATION,
                vec![update, insert.command],
                concern(self.durability, &self.link.consistency.acknowledgment),
                check,
            )
            .await?;
        Ok(Acknowledgement { readings: 1, sent: 1, statements: 2 })
    }

    fn entity_update(
        &self,
        table: &Table,
        kept: &PhysicalTable,
        entity: &PhysicalEntity,
        write: EntityReading<'_>,
        concern: bool,
    ) -> Result<RawDocumentBuf, StoreError> {
        let (series, time) = (write.reading.series[0], write.reading.times_ns[0]);
        let mut wire = self.head("update", &entity.collection, concern, 512);
        wire.open_array("updates");
        wire.open(0);
        wire.open("q");
        identity(&mut wire, "_id", table, kept, series);
        wire.close();
        wire.open("u");
        wire.open("$set");
        wire.time(&entity.last_time, time, kept.date);
        wire.close();
        wire.open("$setOnInsert");
        for (tag, name) in entity.tags.iter().enumerate() {
            wire.value(name, &table.series.tag(series, tag));
        }
        for (name, value) in entity.columns.iter().zip(write.entity) {
            wire.value(name, value);
        }
        wire.close();
        wire.close();
        wire.boolean("upsert", true);
        wire.finish()
    }
}

/// The write concern of a transaction's commit.
fn concern(durability: Durability, members: &Acknowledgment) -> WriteConcern {
    let mut concern = WriteConcern::default();
    concern.w = Some(members.clone());
    concern.journal = match durability {
        Durability::Durable => Some(true),
        Durability::Relaxed => Some(false),
        Durability::Default | Durability::Unacknowledged => None,
    };
    concern
}
