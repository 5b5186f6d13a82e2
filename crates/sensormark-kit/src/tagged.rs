//! The series of a tag's value, which the client knows: a question by a tag may name them.
//!
//! A condition on a tag leaves a database to look at all readings, where the same question about named series steps to each of them in an index.

use sensormark_store::{Query, Schema, Selection, TagColumn};
use std::collections::HashMap;
use std::sync::{Arc, OnceLock};

/// The series of each value (as text) of a tag.
type ByValue = HashMap<String, Vec<u32>>;

/// For each table and tag the series of its values, gathered when it is first asked for.
#[derive(Debug)]
pub struct TaggedSeries {
    schema: Arc<Schema>,
    tables: Vec<Vec<OnceLock<ByValue>>>,
}

impl TaggedSeries {
    /// The series of the tags of a schema.
    pub fn new(schema: &Arc<Schema>) -> Self {
        let tags = |columns: &[TagColumn]| columns.iter().map(|_| OnceLock::new()).collect();
        let tables = schema.tables.iter();
        Self {
            tables: tables.map(|table| tags(table.series.columns())).collect(),
            schema: Arc::clone(schema),
        }
    }

    /// A question by a tag as the same one about the tag's series, where there are at most so many. Nothing for other questions, and nothing where none is named.
    pub fn named(&self, query: &Query, most: usize) -> Option<Query> {
        let (1.., Selection::Tagged { tag, value }) = (most, &query.series) else {
            return None;
        };
        let by_value = self
            .tables
            .get(query.table)?
            .get(*tag)?
            .get_or_init(|| by_value(&self.schema.tables[query.table].series.columns()[*tag]));
        let series = by_value.get(value).map_or(&[][..], Vec::as_slice);
        (series.len() <= most).then(|| Query {
            table: query.table,
            series: match series {
                [one] => Selection::One(*one),
                several => Selection::Set(several.to_vec()),
            },
            range: query.range,
            ask: query.ask.clone(),
        })
    }
}

fn by_value(column: &TagColumn) -> ByValue {
    let mut series = ByValue::new();
    for number in (0..).take(column.len()) {
        series.entry(column.text(number)).or_default().push(number);
    }
    series
}

#[cfg(test)]
mod tests {
    use super::*;
    use sensormark_store::{Ask, FieldSet, TimeRange, TimeResolution};

    fn named(value: &str, most: usize) -> Option<Selection> {
        let mut schema = Schema::of_sensors([7, 8, 9, 7], TimeResolution::Seconds);
        schema.tables[0].tags[0].name = "site".to_owned();
        let query = Query {
            table: 0,
            series: Selection::Tagged { tag: 0, value: value.to_owned() },
            range: TimeRange::new(0, 1),
            ask: Ask::LastReading { fields: FieldSet::one(0) },
        };
        let named = TaggedSeries::new(&Arc::new(schema)).named(&query, most)?;
        assert_eq!((named.range, &named.ask), (query.range, &query.ask));
        Some(named.series)
    }

    #[test]
    fn the_series_of_a_tag_are_named_up_to_so_many() {
        assert_eq!(named("7", 2), Some(Selection::Set(vec![0, 3])));
        assert_eq!(named("7", 1), None);
        assert_eq!(named("8", 1), Some(Selection::One(1)));
        // An integer tag is compared as text: 07 is another value.
        assert_eq!(named("07", 9), Some(Selection::Set(Vec::new())));
        assert_eq!(named("07", 0), None);
    }
}
