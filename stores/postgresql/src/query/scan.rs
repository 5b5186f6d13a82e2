//! Reading everything back: readings and entities, in pieces, whatever the size of the table.

use super::Reader;
use super::build::Form;
use super::decode::{Decoder, integer, raw, unexpected, value};
use super::relation::Builder;
use super::slot::Slots;
use crate::schema::{joined, quoted};
use futures_util::{StreamExt, TryStreamExt};
use sensormark_store::{Ask, Batch, FieldType, Query, Selection, StoreError, TimeRange, Value};
use std::pin::pin;
use tokio_postgres::Row;

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
        self.link
            .batch(OPERATION, "SET statement_timeout = 0")
            .await?;
        let scanned = self.scan_table(number, sink).await;
        self.link
            .batch(OPERATION, "RESET statement_timeout")
            .await?;
        scanned
    }

    async fn scan_table(
        &mut self,
        number: usize,
        sink: &mut dyn FnMut(&Batch),
    ) -> Result<(), StoreError> {
        let model = self.model;
        let (description, table) = model.table(number)?;
        let query = Query {
            table: number,
            series: Selection::All,
            range: TimeRange::new(i64::MIN, i64::MAX),
            ask: Ask::Range {
                fields: description.all_fields(),
                coarse_filter: false,
            },
        };
        let builder = Builder {
            model,
            table,
            description,
            query: &query,
            slots: Slots::default(),
        };
        let (text, form) = builder.everything();
        let preparing = self.link.client.prepare_typed(&text, &[]);
        let statement = self.link.wire.run("prepare a query", preparing).await?;
        let no_parameters: [crate::cell::Cell<'_>; 0] = [];
        let asking = self.link.client.query_raw(&statement, no_parameters);
        let rows = self.link.wire.run(OPERATION, asking).await?;
        let mut rows = pin!(rows);
        let mut decoder = Decoder::new(model, table, description, &query).in_pieces(PIECE);
        loop {
            let mut failure = None;
            let reading = async {
                while let Some(row) = rows.try_next().await? {
                    if let Err(error) = decoder.row(&form, &row) {
                        failure = Some(error);
                        break;
                    }
                    if let Some(piece) = decoder.take_piece(&form) {
                        return Ok(Some(piece));
                    }
                }
                Ok(None)
            };
            let piece = self.link.wire.run(OPERATION, reading).await?;
            if let Some(error) = failure {
                return Err(error);
            }
            match piece {
                Some(piece) => sink(&piece),
                None => break,
            }
        }
        let rest = decoder.take();
        if !rest.is_empty() {
            sink(&rest);
        }
        Ok(())
    }

    /// Every entity of a table.
    pub(crate) async fn scan_entities(
        &mut self,
        number: usize,
        sink: &mut dyn FnMut(u32, i64, &[Value]),
    ) -> Result<(), StoreError> {
        let model = self.model;
        let (description, table) = model.table(number)?;
        let (Some(entity), Some(shape)) = (&table.entity, &description.entity) else {
            return Err(StoreError::unsupported(
                OPERATION,
                format!("table {} has no entity", description.name),
            ));
        };
        let keys = table.key_columns().map(|column| column.name.clone());
        let columns = shape.columns.iter().map(|column| quoted(&column.name));
        let list = joined(keys.chain([entity.last_time.clone()]).chain(columns));
        let text = format!("SELECT {list} FROM {}", entity.name);
        let query = Query {
            table: number,
            series: Selection::All,
            range: TimeRange::new(i64::MIN, i64::MAX),
            ask: Ask::Range {
                fields: description.all_fields(),
                coarse_filter: false,
            },
        };
        let mut decoder = Decoder::new(model, table, description, &query);
        let kinds: Vec<FieldType> = shape.columns.iter().map(|column| column.kind).collect();
        let first = table.keys.len();
        let mut one = |row: &Row| {
            let series = decoder.series_of(row, 0)?;
            let key = raw(row, first)?.ok_or_else(|| unexpected("an entity has no last time"))?;
            let mut values = Vec::with_capacity(kinds.len());
            for (position, &kind) in kinds.iter().enumerate() {
                values.push(value(kind, raw(row, first + 1 + position)?)?);
            }
            sink(series, model.time_ns(integer(key)?), &values);
            Ok(())
        };
        let preparing = self.link.client.prepare_typed(&text, &[]);
        let statement = self.link.wire.run("prepare a query", preparing).await?;
        let client = &self.link.client;
        let mut failure = None;
        let reading = async {
            let no_parameters: [crate::cell::Cell<'_>; 0] = [];
            let rows = client.query_raw(&statement, no_parameters).await?;
            let mut rows = pin!(rows);
            while let Some(row) = rows.next().await {
                if failure.is_none() {
                    failure = one(&row?).err();
                }
            }
            Ok(())
        };
        self.link.wire.run(OPERATION, reading).await?;
        failure.map_or(Ok(()), Err)
    }
}

impl Builder<'_> {
    /// The statement for everything in the table.
    fn everything(&self) -> (String, Form) {
        let fields = self.description.all_fields();
        if self.model.layout.shape == sensormark_store::Shape::RowPerField {
            return self.field_rows(fields, &format!("{} r", self.table.name), Vec::new());
        }
        let columns = self
            .table
            .columns
            .iter()
            .filter(|column| self.is_read_back(column.content));
        let keys = self.keys();
        let columns = joined(
            keys.into_iter()
                .chain(columns.map(|column| format!("r.{}", column.name))),
        );
        let form = match self.model.span() {
            Some((_, encoding)) => Form::Records(fields, super::build::whole_record(encoding)),
            None => Form::Readings(fields),
        };
        (format!("SELECT {columns} FROM {} r", self.table.name), form)
    }

    fn is_read_back(&self, content: crate::schema::Content) -> bool {
        use crate::schema::Content;
        !matches!(
            content,
            Content::SeriesNumber | Content::Tag(_) | Content::Size
        )
    }
}
