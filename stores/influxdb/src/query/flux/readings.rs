//! Readings from Flux's tables: of a piece for each table, readings are put together in the order of series and time.
//!
//! Fields that are numbers or truth values come side by side, as the server pivots them; each text field comes by itself.

use super::script::Script;
use super::{FIELD, TIME, VALUE, cell, field, keys, of_text, series};
use crate::query::Reader;
use crate::query::flux::rows::Rows;
use crate::schema::Measurement;
use sensormark_store::{Batch, Column, FieldSet, Query, Selection, StoreError};

/// The rows of one table, in the order of time.
#[derive(Debug)]
struct Piece {
    series: u32,
    times_ns: Vec<i64>,
    columns: Vec<(usize, Column)>,
}

/// Where a table's cells are: its time, and the columns of its fields.
struct Places {
    time: usize,
    fields: Vec<(usize, usize)>,
}

impl Reader<'_> {
    /// The readings in the query's range that have any of these fields.
    pub(in crate::query) async fn range_in_flux(
        &mut self,
        query: &Query,
        fields: FieldSet,
    ) -> Result<Batch, StoreError> {
        self.pieces(query, fields, false).await
    }

    /// The same, or of each series and field the latest alone.
    pub(super) async fn pieces(
        &mut self,
        query: &Query,
        fields: FieldSet,
        latest: bool,
    ) -> Result<Batch, StoreError> {
        let physical = self.physical;
        let measurement = &physical.tables[query.table];
        let source = self.source();
        let mut script = Script::new(&source, measurement);
        let others = of_text(physical, query.table, fields, false);
        if !others.is_empty() {
            plain(&mut script, measurement, query, others, latest);
        }
        let texts = of_text(physical, query.table, fields, true);
        if !texts.is_empty() {
            script.read(query, texts);
            if latest {
                script.push(" |> last()");
            }
            script.keep(&[TIME, FIELD, VALUE], keys(measurement, &query.series));
            script.escape(VALUE);
            script.give("texts");
        }
        let rows = self.run("fetch readings", script).await?;
        let pieces = read(rows, measurement, &query.series, others)?;
        Ok(put_together(self.empty(query.table), pieces, fields))
    }
}

/// Reads fields that are no text.
fn plain(script: &mut Script<'_>, measurement: &Measurement, query: &Query, fields: FieldSet, latest: bool) {
    script.read(query, fields);
    let keys = keys(measurement, &query.series);
    if latest {
        script.push(" |> last()");
    }
    if latest || fields.len() == 1 {
        script.keep(&[TIME, FIELD, VALUE], keys);
    } else {
        script.push(" |> pivot(rowKey: [\"_time\"], columnKey: [\"_field\"], valueColumn: \"_value\")");
        let mut columns = vec![TIME];
        columns.extend(fields.iter().map(|field| measurement.fields[field].as_str()));
        script.keep(&columns, keys);
    }
    script.give("readings");
}

/// The pieces of an answer.
fn read(
    mut rows: Rows<'_>,
    measurement: &Measurement,
    selection: &Selection,
    others: FieldSet,
) -> Result<Vec<Piece>, StoreError> {
    let mut pieces: Vec<Piece> = Vec::new();
    let mut places = Places { time: 0, fields: Vec::new() };
    while rows.advance()? {
        if rows.begins_table() {
            places = find(&rows, measurement, others)?;
            pieces.push(Piece {
                series: series(&rows, measurement, selection)?,
                times_ns: Vec::new(),
                columns: places
                    .fields
                    .iter()
                    .map(|&(field, _)| (field, Column::new(measurement.kinds[field])))
                    .collect(),
            });
        }
        let Some(piece) = pieces.last_mut() else {
            return Err(rows.strange());
        };
        let time = cell::time(rows.cell(places.time)).ok_or_else(|| rows.strange())?;
        piece.times_ns.push(time);
        let pivoted = rows.result() == "readings";
        for ((_, column), &(_, place)) in piece.columns.iter_mut().zip(&places.fields) {
            let text = rows.cell(place);
            if text.is_empty() && pivoted {
                column.push_null();
            } else if !cell::push(column, text) {
                return Err(rows.strange());
            }
        }
    }
    Ok(pieces)
}

fn find(rows: &Rows<'_>, measurement: &Measurement, others: FieldSet) -> Result<Places, StoreError> {
    let time = rows.needed(TIME)?;
    let fields = if rows.column(FIELD).is_some() {
        vec![(field(rows, measurement)?, rows.needed(VALUE)?)]
    } else {
        let place = |field: usize| Some((field, rows.column(&measurement.fields[field])?));
        others.iter().filter_map(place).collect()
    };
    Ok(Places { time, fields })
}

/// The readings that the pieces are of, with columns for these fields.
fn put_together(mut batch: Batch, mut pieces: Vec<Piece>, fields: FieldSet) -> Batch {
    pieces.sort_by_key(|piece| piece.series);
    for group in pieces.chunk_by(|one, other| one.series == other.series) {
        merge(&mut batch, group, fields);
    }
    batch
}

/// Appends the readings of one series: all that its pieces have of one time is one reading.
fn merge(batch: &mut Batch, pieces: &[Piece], fields: FieldSet) {
    let mut at = vec![0; pieces.len()];
    loop {
        let times = pieces.iter().zip(&at);
        let next = times.filter_map(|(piece, &row)| piece.times_ns.get(row)).min();
        let Some(&time) = next else { return };
        let here: Vec<bool> =
            pieces.iter().zip(&at).map(|(piece, &row)| piece.times_ns.get(row) == Some(&time)).collect();
        batch.times_ns.push(time);
        batch.series.push(pieces[0].series);
        for field in fields.iter() {
            let column = &mut batch.columns[field];
            let source = pieces.iter().zip(&at).zip(&here).filter(|(_, here)| **here).find_map(
                |((piece, &row), _)| {
                    let (_, source) = piece.columns.iter().find(|one| one.0 == field)?;
                    source.has(row).then_some((source, row))
                },
            );
            match source {
                Some((source, row)) => {
                    column.push(source.value(row)).expect("columns of one field have the same type")
                }
                None => column.push_null(),
            }
        }
        for (row, here) in at.iter_mut().zip(here) {
            *row += usize::from(here);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use sensormark_store::{FieldType, Value};

    #[test]
    fn pieces_of_one_time_are_one_reading() {
        let column = |values: &[Value]| {
            let mut column = Column::new(FieldType::I64);
            for value in values {
                column.push(value.clone()).unwrap();
            }
            column
        };
        let piece = |series, field, times: &[i64], values: &[Value]| Piece {
            series,
            times_ns: times.to_vec(),
            columns: vec![(field, column(values))],
        };
        let batch = Batch {
            table: 0,
            times_ns: Vec::new(),
            series: Vec::new(),
            columns: vec![Column::new(FieldType::I64), Column::new(FieldType::I64)],
        };
        let whole = Value::I64;
        let pieces = vec![
            piece(1, 0, &[5], &[whole(7)]),
            piece(0, 0, &[1, 3], &[whole(10), whole(30)]),
            piece(0, 1, &[2, 3], &[whole(20), whole(31)]),
        ];
        let batch = put_together(batch, pieces, FieldSet::first(2));
        assert_eq!(batch.times_ns, [1, 2, 3, 5]);
        assert_eq!(batch.series, [0, 0, 0, 1]);
        let row = |row: usize| [batch.columns[0].value(row), batch.columns[1].value(row)];
        assert_eq!(row(0), [whole(10), Value::Null]);
        assert_eq!(row(1), [Value::Null, whole(20)]);
        assert_eq!(row(2), [whole(30), whole(31)]);
        assert_eq!(row(3), [whole(7), Value::Null]);
    }
}
