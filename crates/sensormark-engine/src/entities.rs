//! Entities as upserts leave them: what they should be, from the generator, and whether they are.

use sensormark_store::{ErrorKind, Session, StoreError, Value};
use std::collections::BTreeMap;

/// What is known about every entity that was written, by table and series.
#[derive(Debug, Default)]
pub struct Entities {
    entities: BTreeMap<(usize, u32), Entity>,
}

#[derive(Debug)]
struct Entity {
    columns: Vec<Value>,
    last_time_ns: i64,
    /// Whether all of its writes were acknowledged: else its last time may be that of any of them, and it may not be there.
    certain: bool,
}

impl Entities {
    /// An upsert: of an entity with these columns, of a reading at this time, acknowledged or not.
    pub fn add(
        &mut self,
        (table, series): (usize, u32),
        time_ns: i64,
        columns: &[Value],
        acknowledged: bool,
    ) {
        let entity = self.entities.entry((table, series)).or_insert_with(|| Entity {
            columns: columns.to_vec(),
            last_time_ns: i64::MIN,
            certain: true,
        });
        entity.last_time_ns = entity.last_time_ns.max(time_ns);
        entity.certain &= acknowledged;
    }

    /// The first difference from what the database holds, and how many there are, in words; none when all entities are as they should be, or
    /// when there are none.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub async fn compare(mut self, session: &mut dyn Session) -> Result<Option<String>, StoreError> {
        let mut tables: Vec<usize> = self.entities.keys().map(|(table, _)| *table).collect();
        tables.dedup();
        let (mut different, mut first) = (0_u64, None);
        let mut differs = |text: String| {
            different += 1;
            first.get_or_insert(text);
        };
        for table in tables {
            let scanned = session
                .scan_entities(table, &mut |series, last_time_ns, columns| match self
                    .entities
                    .remove(&(table, series))
                {
                    None => differs(format!("series {series} was never written, or is there twice")),
                    Some(entity) if !entity.certain => {}
                    Some(entity) if entity.last_time_ns != last_time_ns => differs(format!(
                        "series {series}: expected the last reading at {} ns, got {last_time_ns} ns",
                        entity.last_time_ns
                    )),
                    Some(entity) if entity.columns != columns => {
                        differs(format!("series {series}: expected {:?}, got {columns:?}", entity.columns))
                    }
                    Some(_) => {}
                })
                .await;
            match scanned {
                // Some layouts keep no entities; what upserts leave of them is then nothing.
                Err(error) if error.kind() == ErrorKind::Unsupported => {
                    self.entities.retain(|(other, _), _| *other != table);
                }
                other => other?,
            }
        }
        for ((_, series), entity) in &self.entities {
            if entity.certain {
                differs(format!("series {series} is not there"));
            }
        }
        Ok(first
            .map(|first| format!("{different} entities are not as they were written; the first: {first}")))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use sensormark_store::{Acknowledgement, Answer, Batch, EntityReading, LocalFuture, Query};

    /// A database that holds these entities in table 0.
    struct Holding(Vec<(u32, i64, &'static str)>);

    impl Session for Holding {
        fn write<'a>(
            &'a mut self,
            _batch: &'a Batch,
        ) -> LocalFuture<'a, Result<Acknowledgement, StoreError>> {
            unreachable!("entities are only read here")
        }

        fn upsert<'a>(
            &'a mut self,
            _write: EntityReading<'a>,
        ) -> LocalFuture<'a, Result<Acknowledgement, StoreError>> {
            unreachable!("entities are only read here")
        }

        fn query<'a>(&'a mut self, _query: &'a Query) -> LocalFuture<'a, Result<Answer, StoreError>> {
            unreachable!("entities are only read here")
        }

        fn scan<'a>(
            &'a mut self,
            _table: usize,
            _sink: &'a mut dyn FnMut(&Batch),
        ) -> LocalFuture<'a, Result<(), StoreError>> {
            unreachable!("entities are only read here")
        }

        fn scan_entities<'a>(
            &'a mut self,
            _table: usize,
            sink: &'a mut dyn FnMut(u32, i64, &[Value]),
        ) -> LocalFuture<'a, Result<(), StoreError>> {
            for (series, time_ns, place) in &self.0 {
                sink(*series, *time_ns, &[Value::Text((*place).to_owned())]);
            }
            Box::pin(std::future::ready(Ok(())))
        }

        fn close(self: Box<Self>) -> LocalFuture<'static, Result<(), StoreError>> {
            Box::pin(std::future::ready(Ok(())))
        }
    }

    fn compare(held: &[(u32, i64, &'static str)]) -> Option<String> {
        let mut entities = Entities::default();
        let place = |name: &str| [Value::Text(name.to_owned())];
        entities.add((0, 1), 10, &place("hall"), true);
        entities.add((0, 1), 20, &place("hall"), true);
        entities.add((0, 2), 10, &place("yard"), true);
        // Never acknowledged: it may be there with either time, or not at all.
        entities.add((0, 3), 10, &place("roof"), false);
        let mut session = Holding(held.to_vec());
        crate::deployment::block_on(entities.compare(&mut session)).expect("it can be read")
    }

    #[test]
    fn every_difference_is_told_and_doubt_is_none() {
        let right = [(1, 20, "hall"), (2, 10, "yard")];
        assert_eq!(compare(&right), None);
        assert_eq!(compare(&[right[0], right[1], (3, 10, "roof")]), None);
        for (held, words) in [
            (vec![(1, 10, "hall"), right[1]], "expected the last reading at 20 ns"),
            (vec![right[0], (2, 10, "hall")], "yard"),
            (vec![right[0]], "series 2 is not there"),
            (vec![right[0], right[1], right[1]], "is there twice"),
            (vec![right[0], right[1], (4, 10, "")], "series 4 was never written"),
        ] {
            let text = compare(&held).expect("a difference");
            assert!(text.starts_with("1 entities") && text.contains(words), "{text}");
        }
    }
}
