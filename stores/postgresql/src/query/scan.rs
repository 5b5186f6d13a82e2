//! Reading everything back: readings and entities, in pieces, whatever the size of the table.

use super::Reader;
use crate::cell::Parameter;
use sensormark_relational::decode::{Decoder, entity};
use sensormark_relational::plan::slot::Bindings;
use sensormark_relational::plan::{Plan, entities};
use sensormark_relational::wire::{WireRow, read_piece, read_rows};
use sensormark_store::{Batch, StoreError, Value};
use std::pin::pin;

const OPERATION: &str = "read all of a table in PostgreSQL";

/// Readings in a piece.
const PIECE: usize = 4096;

impl Reader<'_> {
    /// Every reading of a table, in pieces. The time allowed is for each piece.
    pub(crate) async fn scan(
        &mut self,
        number: usize,
        sink: &mut dyn FnMut(&Batch),
    ) -> Result<(), StoreError> {
        self.link.batch(OPERATION, "SET statement_timeout = 0").await?;
        let scanned = self.scan_table(number, sink).await;
        self.link.batch(OPERATION, "RESET statement_timeout").await?;
        scanned
    }

    async fn scan_table(&mut self, number: usize, sink: &mut dyn FnMut(&Batch)) -> Result<(), StoreError> {
        let physical = self.physical;
        let (statement, query) = Plan::everything(physical, number)?;
        let asked = Bindings::new(physical, &query)?;
        let preparing = self.link.client.prepare_typed(&statement.text, &[]);
        let prepared = self.link.wire.run("prepare a query", preparing).await?;
        let no_parameters: [Parameter<'_>; 0] = [];
        let asking = self.link.client.query_raw(&prepared, no_parameters);
        let rows = self.link.wire.run(OPERATION, asking).await?;
        let mut rows = pin!(rows);
        let mut decoder = Decoder::new(asked, 1).in_pieces(PIECE);
        loop {
            let reading = read_piece::<false>(rows.as_mut(), &mut decoder, &statement.form);
            match self.link.wire.run(OPERATION, reading).await?? {
                Some(piece) => sink(&piece),
                None => break,
            }
        }
        decoder.finish_pieces(sink);
        Ok(())
    }

    /// Every entity of a table.
    pub(crate) async fn scan_entities(
        &mut self,
        number: usize,
        sink: &mut dyn FnMut(u32, i64, &[Value]),
    ) -> Result<(), StoreError> {
        let text = entities(self.physical, number)?;
        let preparing = self.link.client.prepare_typed(&text, &[]);
        let statement = self.link.wire.run("prepare a query", preparing).await?;
        let client = &self.link.client;
        let (mut key, mut values) = (String::new(), Vec::new());
        let reading = async {
            let no_parameters: [Parameter<'_>; 0] = [];
            let rows = client.query_raw(&statement, no_parameters).await?;
            read_rows(rows, |row| {
                let row = WireRow::<false>(row);
                let (series, last_ns) = entity(self.physical, number, &row, &mut key, &mut values)?;
                sink(series, last_ns, &values);
                Ok(())
            })
            .await
        };
        self.link.wire.run(OPERATION, reading).await?
    }
}
