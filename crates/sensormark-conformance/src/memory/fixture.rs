//! Small schemas, plans and batches for tests of this crate.

use super::*;
use sensormark_store::batch::Column;
use sensormark_store::name::DatabaseName;

/// Four sensors.
pub(crate) fn schema() -> Schema {
    Schema::of_sensors(1..=4, TimeResolution::Nanoseconds)
}

pub(crate) fn plan(schema: Schema) -> Plan {
    Plan {
        endpoint: Endpoint {
            url: Secret::new("anything"),
            label: "test".into(),
            managed: true,
            ports: Vec::new(),
        },
        database: DatabaseName::new("test").unwrap(),
        owner: "tests".into(),
        schema: Arc::new(schema),
        layout: Layout::row_per_reading(),
        durability: Durability::Default,
        clients: 1,
        timeout_ms: 1_000,
    }
}

/// Readings of table 0: (time, series, value).
pub(crate) fn batch(schema: &Schema, rows: &[(i64, u32, f64)]) -> Batch {
    let mut batch = Batch::new(0, &schema.tables[0]);
    batch.times_ns = rows.iter().map(|row| row.0).collect();
    batch.series = rows.iter().map(|row| row.1).collect();
    batch.columns[0] = Column { values: Values::F64(rows.iter().map(|row| row.2).collect()), present: None };
    batch
}
