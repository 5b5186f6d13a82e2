//! Reading back everything that is stored, page by page.

use super::{Reader, columns, decode};
use crate::schema::Rows;
use crate::statements::Shape;
use scylla::response::PagingState;
use sensormark_store::{Batch, StoreError, TimeRange, Value};

impl Reader<'_> {
    /// Every stored reading.
    pub(crate) async fn scan(
        &mut self,
        table: usize,
        sink: &mut dyn FnMut(&Batch),
    ) -> Result<(), StoreError> {
        let physical = self.physical;
        let own = &physical.tables[table];
        let description = &physical.schema.tables[table];
        let all = description.all_fields();
        let text = |keyspace: &str| {
            let (columns, _) = columns(physical, table, all);
            format!("SELECT \"_series\", {columns} FROM {keyspace}.\"{}\"", own.readings())
        };
        let mut statement = self.statements.get(self.link, Shape::Scan(table), text).await?;
        statement.set_page_size(own.page());
        let everything = TimeRange::new(i64::MIN, i64::MAX);
        let mut batch = Batch::new(table, description);
        let mut state = Some(PagingState::start());
        while let Some(from) = state {
            let (page, next) = self.link.scan_page("scan", &mut statement, from).await?;
            batch.clear();
            decode::each(std::slice::from_ref(&page), |row| {
                let series = decode::series(row)?;
                match own.rows {
                    Rows::Reading { unit_ns } => decode::reading(row, series, unit_ns, all, &mut batch),
                    Rows::Record { span_ns, json } => {
                        decode::record(row, series, (span_ns, json), everything, all, &mut batch)
                    }
                }
            })?;
            if !batch.is_empty() {
                sink(&batch);
            }
            state = next;
        }
        Ok(())
    }

    /// Every entity.
    pub(crate) async fn scan_entities(
        &mut self,
        table: usize,
        sink: &mut dyn FnMut(u32, i64, &[Value]),
    ) -> Result<(), StoreError> {
        let own = &self.physical.tables[table];
        let Some(entity) = &self.physical.schema.tables[table].entity else {
            return Err(StoreError::unsupported("read entities back", format!("table {table} has none")));
        };
        let text = |keyspace: &str| {
            let columns = entity.columns.iter();
            let columns: String = columns.map(|column| format!(", \"{}\"", column.name)).collect();
            format!(
                "SELECT \"_series\", \"{}\"{columns} FROM {keyspace}.\"{}\"",
                entity.last_time_column,
                own.entities()
            )
        };
        let mut statement = self.statements.get(self.link, Shape::Entities(table), text).await?;
        let mut pages = Vec::new();
        let mut state = Some(PagingState::start());
        while let Some(from) = state {
            let scanned = self.link.scan_page("scan entities", &mut statement, from);
            let (page, next) = scanned.await?;
            pages.push(page);
            state = next;
        }
        decode::each(&pages, |row| {
            let series = decode::series(row)?;
            let last = decode::big(decode::next(row)?)?;
            let values: Vec<Value> = entity
                .columns
                .iter()
                .map(|column| decode::value(column.kind, decode::optional(row)?))
                .collect::<Result<_, _>>()?;
            sink(series, last, &values);
            Ok(())
        })
    }
}
