//! What the clients of a durability trial write: reading after reading, the series in turn, a second apart.
//!
//! Reading i is of series i mod n and of second i div n; its number is i, its value a random one of the pinned generator. So each is a pure function of
//! (seed, series, second), and none is written twice.

use super::WRITE;
use sensormark_data::random::Stream;
use sensormark_engine::operations::{ENDLESS, Extent, Operations, Slot};
use sensormark_store::{
    Answer, Batch, Field, FieldType, Query, Schema, Series, Table, Tag, TagColumn, TimeResolution, Value,
};

/// 2026-01-01T00:00:00Z, in ns since the Unix epoch.
const START_NS: i64 = 1_767_225_600_000_000_000;
/// From reading to reading of one series, in ns.
const INTERVAL_NS: i64 = 1_000_000_000;

/// What the readings look like: a sensor's number as a tag, a value and a running number as fields.
pub fn schema(series: u32) -> Schema {
    let field = |name: &str, kind| Field { name: name.to_owned(), kind, nullable: false };
    Schema {
        tables: vec![Table {
            name: "readings".to_owned(),
            tags: vec![Tag { name: "sensor".to_owned() }],
            fields: vec![field("value", FieldType::F64), field("number", FieldType::I64)],
            entity: None,
            time_resolution: TimeResolution::Seconds,
            series: Series::new(vec![TagColumn::Integer((0..i64::from(series)).collect())])
                .every(INTERVAL_NS),
        }],
    }
}

/// Writing operations without an end of their own: number i writes the readings from i · `batch` on.
#[derive(Debug, Clone)]
pub struct Readings {
    streams: Vec<Stream>,
    batch: u64,
    classes: [String; 1],
}

impl Readings {
    /// Batches of so many readings of so many series.
    ///
    /// # Panics
    /// Without series.
    pub fn new(seed: u64, series: u32, batch: u32) -> Self {
        assert!(series > 0, "readings are of series");
        let streams = (0..u64::from(series)).map(|one| Stream::new(seed, one, 0));
        Self { streams: streams.collect(), batch: u64::from(batch.max(1)), classes: [WRITE.to_owned()] }
    }

    fn push(&self, number: u64, batch: &mut Batch) {
        let count = self.streams.len() as u64;
        let (series, second) = (number % count, number / count);
        let stream = &self.streams[usize::try_from(series).expect("a place in memory")];
        let ticks = i64::try_from(second).unwrap_or(i64::MAX);
        batch.series.push(u32::try_from(series).expect("series are counted by u32"));
        batch.times_ns.push(START_NS.saturating_add(ticks.saturating_mul(INTERVAL_NS)));
        let running = i64::try_from(number).unwrap_or(i64::MAX);
        let values = [Value::F64(stream.unit(second) * 100.0), Value::I64(running)];
        for (column, value) in batch.columns.iter_mut().zip(values) {
            column.push(value).expect("the type of the schema");
        }
    }
}

impl Operations for Readings {
    fn len(&self) -> u64 {
        ENDLESS
    }

    fn extent(&self) -> Extent {
        Extent::of(self.batch as f64)
    }

    fn classes(&self) -> &[String] {
        &self.classes
    }

    fn fill(&self, index: u64, _watermark: u64, slot: &mut Slot) {
        let batch = slot.write(0);
        let first = index.saturating_mul(self.batch);
        for number in first..first.saturating_add(self.batch) {
            self.push(number, batch);
        }
    }

    fn expected(&self, _index: u64, _query: &Query) -> Option<Answer> {
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use sensormark_store::Census;
    use std::collections::BTreeSet;

    fn census(readings: &Readings, operations: u64, schema: &Schema) -> Census {
        let (mut census, mut slot) = (Census::new(schema), Slot::new(schema));
        for index in 0..operations {
            readings.fill(index, u64::MAX, &mut slot);
            let batch = slot.batch().unwrap();
            assert!(batch.check(&schema.tables[0], true).is_ok());
            census.add(batch);
        }
        census
    }

    #[test]
    fn readings_are_the_same_in_batches_of_any_size_and_none_comes_twice() {
        let schema = schema(16);
        let one = census(&Readings::new(1, 16, 1), 480, &schema);
        let many = census(&Readings::new(1, 16, 48), 10, &schema);
        let other = census(&Readings::new(2, 16, 48), 10, &schema);
        assert_eq!((one.readings(), one.checksum()), (480, many.checksum()));
        assert_ne!(one.checksum(), other.checksum());
        let readings = Readings::new(1, 16, 1);
        let (mut slot, mut seen) = (Slot::new(&schema), BTreeSet::new());
        for index in 0..480 {
            readings.fill(index, u64::MAX, &mut slot);
            let batch = slot.batch().unwrap();
            assert!(seen.insert((batch.series[0], batch.times_ns[0])));
        }
    }
}
