//! Questions in Flux: each becomes a script, whose answer comes as CSV.
//!
//! Flux has a table for each series and field. The server finds, aggregates and puts fields side by side; text is escaped on its
//! way, since InfluxDB's CSV would lose carriage returns. It writes nothing; what is read back whole is read by InfluxQL.

mod cell;
mod groups;
mod readings;
mod rows;
mod script;
mod search;

use self::rows::Rows;
use self::script::{Script, Source};
use super::Reader;
use crate::connection::Message;
use crate::schema::{Measurement, PhysicalSchema};
use bytes::Bytes;
use sensormark_store::{FieldSet, FieldType, Selection, StoreError};

/// The time of a reading.
const TIME: &str = "_time";

/// The start of a window, where the range does not begin later.
const START: &str = "_start";

/// The stop of a window, where the range does not stop earlier.
const STOP: &str = "_stop";

/// The value of a field.
const VALUE: &str = "_value";

/// The name of a field.
const FIELD: &str = "_field";

impl Reader<'_> {
    /// Runs a script; the answer's rows borrow the connection's memory.
    async fn run<'a>(&'a mut self, operation: &'a str, script: Script<'_>) -> Result<Rows<'a>, StoreError> {
        let script = script.finish();
        self.link.kept.note_flux(&script);
        let body = Bytes::from(envelope(&script));
        let path = self.link.flux_path();
        let message =
            Message { accept: "text/csv", ..Message::post(operation, &path, "application/json", body) };
        self.link.demand(message).await?;
        Ok(Rows::new(operation, self.link.body()))
    }

    /// Where scripts read from.
    fn source(&self) -> Source {
        Source { bucket: self.link.bucket(self.database), holds_stop: self.link.organisation().is_none() }
    }
}

/// The request that carries a script: an answer under headers, without annotations.
fn envelope(script: &str) -> String {
    serde_json::json!({
        "query": script,
        "type": "flux",
        "dialect": {"header": true, "delimiter": ",", "annotations": []},
    })
    .to_string()
}

/// The fields that are text, or those that are not.
fn of_text(physical: &PhysicalSchema, table: usize, fields: FieldSet, text: bool) -> FieldSet {
    let kinds = &physical.tables[table].kinds;
    fields
        .iter()
        .filter(|&field| (kinds[field] == FieldType::Text) == text)
        .fold(FieldSet::first(0), FieldSet::with)
}

/// The tags that tell the series of an answer apart: none where it is of one series.
fn keys<'a>(measurement: &'a Measurement, selection: &Selection) -> &'a [usize] {
    if matches!(selection, Selection::One(_)) { &[] } else { &measurement.keys }
}

/// The series that a row is of.
fn series(rows: &Rows<'_>, measurement: &Measurement, selection: &Selection) -> Result<u32, StoreError> {
    if let Selection::One(series) = selection {
        return Ok(*series);
    }
    measurement.series_with(|tag| rows.named(&measurement.tags[tag])).ok_or_else(|| rows.strange())
}

/// The field that a row is of, by its name.
fn field(rows: &Rows<'_>, measurement: &Measurement) -> Result<usize, StoreError> {
    let name = rows.named(FIELD);
    let found = measurement.fields.iter().position(|one| one == name);
    found.ok_or_else(|| rows.strange())
}

/// The time in the column of this name.
fn time(rows: &Rows<'_>, name: &str) -> Result<i64, StoreError> {
    cell::time(rows.cell(rows.needed(name)?)).ok_or_else(|| rows.strange())
}
