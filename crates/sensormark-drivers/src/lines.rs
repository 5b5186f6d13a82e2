//! Rows as lines of the line protocol: `table,tag=value field=1i time`. QuestDB and InfluxDB read it.

#[cfg(any(feature = "influxdb", feature = "questdb"))]
mod table;

#[cfg(any(feature = "influxdb", feature = "questdb"))]
pub(crate) use self::table::{Dialect, Outlet, Writing, encoded};

use sensormark_store::Table;
use std::borrow::Cow;

/// What InfluxDB calls a field, or an entity's column: none may be called time. A schema's names have no capitals.
pub fn field_name(name: &str) -> Cow<'_, str> {
    if name == "time" { "Field_time".into() } else { name.into() }
}

/// What it calls a tag: it knows a field and a tag of one name apart by order alone.
pub fn tag_name<'a>(table: &Table, name: &'a str) -> Cow<'a, str> {
    if name == "time" || table.field(name).is_some() { format!("Tag_{name}").into() } else { name.into() }
}
