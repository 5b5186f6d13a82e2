//! Blocks of rows on their way to the server: one statement executed for all of them (bulk execution), texts with values in them, or the file of a LOAD DATA.

use super::value::{native, put_column, put_literal};
use super::{Session, positional};
use crate::{Block, Cell, Fault, Prepared, Rows, Source};
use bytes::Bytes;
use futures_util::StreamExt;
use mysql_async::prelude::Queryable;
use mysql_async::{Conn, Params, Value};
use sensormark_store::{ErrorKind, StoreError};

const OPERATION: &str = "write readings to MariaDB";

/// Bytes of one packet of a LOAD DATA stream.
const INFILE_PACKET: usize = 1 << 18;

impl Session {
    /// Writes a block by its encoder; how many statements or requests carried it.
    pub(super) async fn write_block(&mut self, block: Block<'_>) -> Result<u64, Fault> {
        let (statement, rows) = (block.statement, block.rows);
        let text = self.statements[statement.0].text.as_str();
        match block.encoder {
            "statements" => {
                let text = statements(text, rows);
                self.send_text(text).await
            }
            "literals" => {
                let text = one_statement(text, rows);
                self.send_text(text).await
            }
            "infile" => self.load(statement, rows).await,
            "bulk" if rows.len() > 1 => self.bulk(statement, rows).await,
            _ => self.insert(statement, rows).await,
        }
    }

    /// Executes a prepared statement; how many rows it changed.
    pub(super) async fn execute_once(
        &mut self,
        statement: Prepared,
        values: Vec<Value>,
    ) -> Result<u64, Fault> {
        let ready = self.ready(0, statement).await?;
        self.links[0]
            .with(OPERATION, async |conn: &mut Conn| {
                conn.exec_drop(&ready, positional(values)).await?;
                Ok(conn.affected_rows())
            })
            .await
    }

    /// A prepared INSERT, of as many rows as its slots are for; how often it was sent.
    async fn insert(&mut self, statement: Prepared, rows: &Rows<'_>) -> Result<u64, Fault> {
        let ready = self.ready(0, statement).await?;
        let at_once = (usize::from(ready.num_params()) / rows.sources.len().max(1)).max(1);
        let (mut sent, mut first) = (0, 0);
        while first < rows.len() {
            let mut values = Vec::with_capacity(at_once * rows.sources.len());
            for row in first..rows.len().min(first + at_once) {
                put_values(rows, row, &mut values)?;
            }
            self.links[0]
                .with(OPERATION, async |conn: &mut Conn| conn.exec_drop(&ready, positional(values)).await)
                .await?;
            (sent, first) = (sent + 1, first + at_once);
        }
        Ok(sent)
    }

    /// One statement for all rows (`COM_STMT_BULK_EXECUTE`): one request, one commit.
    async fn bulk(&mut self, statement: Prepared, rows: &Rows<'_>) -> Result<u64, Fault> {
        let ready = self.ready(0, statement).await?;
        let mut all = Vec::with_capacity(rows.len());
        for row in 0..rows.len() {
            let mut values = Vec::with_capacity(rows.sources.len());
            put_values(rows, row, &mut values)?;
            all.push(values);
        }
        self.links[0]
            .with(OPERATION, async |conn: &mut Conn| {
                conn.exec_batch(&ready, all.into_iter().map(Params::Positional)).await
            })
            .await?;
        Ok(1)
    }

    async fn send_text(&mut self, text: String) -> Result<u64, Fault> {
        self.links[0].with(OPERATION, async |conn: &mut Conn| conn.query_drop(text).await).await?;
        Ok(1)
    }

    /// Streams rows through LOAD DATA LOCAL INFILE, which turns what it does not like into warnings: those are failures here.
    async fn load(&mut self, statement: Prepared, rows: &Rows<'_>) -> Result<u64, Fault> {
        let mut file = Bytes::from(file_of(rows));
        let text = self.statements[statement.0].text.as_str();
        let (written, warnings) = self.links[0]
            .with(OPERATION, async |conn: &mut Conn| {
                let packets = std::iter::from_fn(move || {
                    let length = file.len().min(INFILE_PACKET);
                    (length > 0).then(|| Ok(file.split_to(length)))
                });
                conn.set_infile_handler(async move { Ok(futures_util::stream::iter(packets).boxed()) });
                conn.query_drop(text).await?;
                Ok((conn.affected_rows(), conn.get_warnings()))
            })
            .await?;
        if (written, warnings) == (rows.len() as u64, 0) {
            return Ok(1);
        }
        let rows = rows.len();
        let text = format!(
            "of {rows} rows {written} were written, with {warnings} warnings; see SHOW WARNINGS, or choose another layout"
        );
        let error = StoreError::new(ErrorKind::Rejected, OPERATION, text).with_doubt(true);
        Err(Fault::Known(error))
    }
}

/// Appends a row's values; each document goes into its value as it is.
fn put_values(rows: &Rows<'_>, row: usize, values: &mut Vec<Value>) -> Result<(), StoreError> {
    for (slot, &source) in rows.sources.iter().enumerate() {
        values.push(match source {
            Source::Json | Source::Packed => {
                let mut document = Vec::new();
                rows.document(row, source, &mut document)?;
                Value::Bytes(document)
            }
            _ => native(rows.cell(row, slot)),
        });
    }
    Ok(())
}

/// What stands before the rows of an INSERT, and the pieces of one row between its slots.
fn parts(text: &str) -> (&str, impl Iterator<Item = &str> + Clone) {
    let (head, row) = text.rsplit_once(" VALUES ").unwrap_or((text, ""));
    (head, row.split('?'))
}

fn put_row<'a>(pieces: impl Iterator<Item = &'a str>, rows: &Rows<'_>, row: usize, out: &mut Vec<u8>) {
    for (place, piece) in pieces.enumerate() {
        if let Some(slot) = place.checked_sub(1) {
            put_literal(rows.cell(row, slot), out);
        }
        out.extend_from_slice(piece.as_bytes());
    }
}

/// One string of statements, one a reading: the rows of its fields are one statement.
fn statements(text: &str, rows: &Rows<'_>) -> String {
    let (head, pieces) = parts(text);
    let number = rows.sources.iter().position(|source| *source == Source::FieldNumber);
    let field = |row: usize| match number.map(|slot| rows.cell(row, slot)) {
        Some(Cell::I64(field)) => field,
        _ => 0,
    };
    let mut out = Vec::with_capacity(rows.len() * (text.len() + rows.sources.len() * 16));
    for row in 0..rows.len() {
        if row > 0 && field(row) > field(row - 1) {
            out.extend_from_slice(b", ");
        } else {
            out.extend_from_slice(if row == 0 { b"" } else { b"; " });
            out.extend_from_slice(head.as_bytes());
            out.extend_from_slice(b" VALUES ");
        }
        put_row(pieces.clone(), rows, row, &mut out);
    }
    String::from_utf8(out).unwrap_or_default()
}

/// One INSERT of all rows.
fn one_statement(text: &str, rows: &Rows<'_>) -> String {
    let (head, pieces) = parts(text);
    let mut out = Vec::with_capacity(text.len() + rows.len() * rows.sources.len() * 16);
    out.extend_from_slice(head.as_bytes());
    for row in 0..rows.len() {
        out.extend_from_slice(if row == 0 { b" VALUES " } else { b", " });
        put_row(pieces.clone(), rows, row, &mut out);
    }
    String::from_utf8(out).unwrap_or_default()
}

/// The file of all rows.
fn file_of(rows: &Rows<'_>) -> Vec<u8> {
    let mut out = Vec::with_capacity(rows.len() * (24 + 12 * rows.sources.len()));
    for row in 0..rows.len() {
        for slot in 0..rows.sources.len() {
            if slot > 0 {
                out.push(b'\t');
            }
            put_column(rows.cell(row, slot), &mut out);
        }
        out.push(b'\n');
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::RowShape;
    use sensormark_store::{Batch, Schema, TimeResolution};

    #[test]
    fn texts_have_all_rows() {
        let schema = Schema::of_sensors([7], TimeResolution::Nanoseconds);
        let mut batch = Batch::new(0, &schema.tables[0]);
        batch.series = vec![0, 0];
        batch.times_ns = vec![1, 2];
        let sources = [Source::Series, Source::Time(1)];
        let rows = Rows::new(&batch, &schema.tables[0], &sources, RowShape::Readings, 0..2);
        let insert = "INSERT INTO t (a, b) VALUES (?, ?)";
        assert_eq!(one_statement(insert, &rows), "INSERT INTO t (a, b) VALUES (0, 1), (0, 2)");
        assert_eq!(
            statements(insert, &rows),
            "INSERT INTO t (a, b) VALUES (0, 1); INSERT INTO t (a, b) VALUES (0, 2)"
        );
        assert_eq!(file_of(&rows), b"0\t1\n0\t2\n");
    }
}
