//! Blocks of rows on their way to the server: a prepared INSERT, a binary COPY, arrays, or a text of many statements.

use super::value::{Parameter, array, element, is_of_record, put_record, put_with_length};
use super::{Session, Statement};
use crate::{Block, Cell, Fault, Rows, pieces};
use bytes::{BufMut, Bytes, BytesMut};
use futures_util::SinkExt;
use sensormark_store::{ErrorKind, StoreError};
use std::pin::pin;
use std::rc::Rc;
use tokio_postgres::types::Type;

const OPERATION: &str = "write readings to";

/// Bytes of COPY that are encoded before they are handed on.
const COPY_CHUNK: usize = 64 * 1024;

impl Session {
    /// Writes a block by its encoder; how many statements or requests carried it.
    pub(super) async fn write_block(&mut self, block: Block<'_>) -> Result<u64, Fault> {
        let rows = block.rows;
        if block.encoder == "statements" {
            let text = statements(self.statements[block.statement.0].text.as_str(), rows);
            let link = &mut self.links[0];
            link.pump.run(OPERATION, Box::pin(link.client.batch_execute(&text)).as_mut()).await?;
            return Ok(1);
        }
        let ready = self.ready(0, block.statement).await?;
        let kept = &self.statements[block.statement.0];
        let (types, counted) = (Rc::clone(&kept.types), kept.is_counted);
        let (stored, sent) = match block.encoder {
            // Boxed, so that a write of one row waits in a small future.
            "copy" => (Box::pin(self.copy(&ready, rows, &types)).await?, 1),
            "arrays" => {
                let mut arrays = Vec::with_capacity(types.len());
                for (slot, kind) in types.iter().enumerate() {
                    let mut out = Vec::with_capacity(20 + rows.len() * 12);
                    let cells = (0..rows.len()).map(|row| rows.cell(row, slot));
                    array(element(kind), rows.len(), cells, &mut out);
                    arrays.push(out);
                }
                let values = arrays.iter().map(|array| Parameter::Encoded(array));
                (self.links[0].execute(&ready, values).await?, 1)
            }
            _ => self.insert(&ready, rows, &types).await?,
        };
        if counted && stored != rows.len() as u64 {
            let text = format!("{} rows were sent and the server says that it stored {stored}", rows.len());
            let error = StoreError::new(ErrorKind::Protocol, format!("{OPERATION} PostgreSQL"), text)
                .with_doubt(true);
            return Err(Fault::Known(error));
        }
        Ok(sent)
    }

    /// A prepared INSERT, of as many rows as its slots are for; what it stored, and how often it was sent.
    async fn insert(
        &mut self,
        statement: &Statement,
        rows: &Rows<'_>,
        types: &[Type],
    ) -> Result<(u64, u64), Fault> {
        let columns = rows.sources.len().max(1);
        let at_once = (types.len() / columns).max(1);
        let (mut stored, mut sent, mut first) = (0, 0, 0);
        let records: Vec<usize> = (0..columns).filter(|&slot| is_of_record(rows.sources[slot])).collect();
        while first < rows.len() {
            let mut encoded = Vec::with_capacity(records.len() * at_once);
            for row in first..first + at_once {
                for &slot in &records {
                    let mut out = Vec::new();
                    put_record(rows, row, slot, &types[slot], &mut out)?;
                    encoded.push(out);
                }
            }
            let value = |number: usize| {
                let (row, slot) = (number / columns, number % columns);
                match records.iter().position(|&one| one == slot) {
                    Some(place) => Parameter::Encoded(&encoded[row * records.len() + place]),
                    None => Parameter::Cell(rows.cell(first + row, slot)),
                }
            };
            let values: Vec<Parameter<'_>> = (0..at_once * columns).map(value).collect();
            stored += self.links[0].execute(statement, values.iter().copied()).await?;
            (sent, first) = (sent + 1, first + at_once);
        }
        Ok((stored, sent))
    }

    /// A binary COPY: the rows are encoded piece by piece while the server takes them.
    async fn copy(&mut self, statement: &Statement, rows: &Rows<'_>, types: &[Type]) -> Result<u64, Fault> {
        let link = &mut self.links[0];
        let client = &link.client;
        let sending = pin!(async {
            let sink = client.copy_in::<_, Bytes>(statement).await?;
            let mut sink = pin!(sink);
            let mut buffer = BytesMut::with_capacity(COPY_CHUNK + 4096);
            buffer.put_slice(b"PGCOPY\n\xff\r\n\0");
            buffer.put_u64(0);
            for row in 0..rows.len() {
                if let Err(error) = put_row(rows, row, types, &mut buffer) {
                    // The sink is dropped: the server hears that the COPY failed.
                    return Ok(Err(error));
                }
                if buffer.len() >= COPY_CHUNK {
                    sink.feed(buffer.split().freeze()).await?;
                    buffer.reserve(COPY_CHUNK + 4096);
                }
            }
            buffer.put_i16(-1);
            sink.feed(buffer.freeze()).await?;
            sink.finish().await.map(Ok)
        });
        Ok(link.pump.run(OPERATION, sending).await??)
    }
}

/// A row of COPY: how many values, and each with its length.
#[inline]
fn put_row(rows: &Rows<'_>, row: usize, types: &[Type], buffer: &mut BytesMut) -> Result<(), StoreError> {
    buffer.put_i16(i16::try_from(types.len()).unwrap_or(i16::MAX));
    for (slot, kind) in types.iter().enumerate() {
        if is_of_record(rows.sources[slot]) {
            let mut record = Vec::new();
            put_record(rows, row, slot, kind, &mut record)?;
            buffer.put_i32(i32::try_from(record.len()).unwrap_or(i32::MAX));
            buffer.put_slice(&record);
        } else {
            put_with_length(rows.cell(row, slot), kind, buffer);
        }
    }
    Ok(())
}

/// One string of statements, a row each, with the values in the place of the slots.
fn statements(text: &str, rows: &Rows<'_>) -> String {
    let mut out = Vec::with_capacity(rows.len() * (text.len() + rows.sources.len() * 16));
    for row in 0..rows.len() {
        for (slot, piece) in pieces(text) {
            match slot.map(|slot| rows.cell(row, slot)) {
                // The server takes no number for a truth value.
                Some(Cell::Bool(value)) => out.extend_from_slice(if value { b"true" } else { b"false" }),
                Some(cell) => cell.literal(&mut out),
                None => {}
            }
            out.extend_from_slice(piece.as_bytes());
        }
        out.push(b';');
    }
    String::from_utf8(out).unwrap_or_default()
}
