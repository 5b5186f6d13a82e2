//! Writes without an end of ten readings each, of one series.

use crate::operations::{ENDLESS, Extent, Operations, Slot};
use sensormark_store::{Answer, Field, FieldType, Query, Schema, Series, Table, TimeResolution, Value};

/// Readings of a write.
pub const BATCH: u64 = 10;

/// A table of one series and one field.
pub fn schema() -> Schema {
    let field = Field { name: "number".to_owned(), kind: FieldType::I64, nullable: false };
    Schema {
        tables: vec![Table {
            name: "readings".to_owned(),
            tags: Vec::new(),
            fields: vec![field],
            entity: None,
            time_resolution: TimeResolution::Seconds,
            series: Series::single(),
        }],
    }
}

/// Reading n has the number n.
pub struct Readings {
    classes: [String; 1],
}

impl Readings {
    /// All of them.
    #[expect(clippy::new_without_default, reason = "for tests alone")]
    pub fn new() -> Self {
        Self { classes: ["write".to_owned()] }
    }
}

impl Operations for Readings {
    fn len(&self) -> u64 {
        ENDLESS
    }

    fn extent(&self) -> Extent {
        Extent::of(BATCH as f64)
    }

    fn classes(&self) -> &[String] {
        &self.classes
    }

    fn fill(&self, index: u64, _watermark: u64, slot: &mut Slot) {
        let batch = slot.write(0);
        for number in (index * BATCH..(index + 1) * BATCH).map(u64::cast_signed) {
            batch.series.push(0);
            batch.times_ns.push(number * 1_000_000_000);
            batch.columns[0].push(Value::I64(number)).expect("the type of the schema");
        }
    }

    fn expected(&self, _index: u64, _query: &Query) -> Option<Answer> {
        None
    }
}
