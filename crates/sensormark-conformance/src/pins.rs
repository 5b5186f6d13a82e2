//! Pins: what a store's layouts become in its database, as text that is kept beside the store's tests.
//!
//! [`pin`] compares it with the kept text, and holds every key and index of several tags to [`SeriesKey`]'s order. It runs no server: a store
//! gives its statements from a unit test. `SENSORMARK_WRITE_PINS=1` writes the text anew; the difference is then read like any other.

use sensormark_store::layout::{Family, LayoutOption};
use sensormark_store::query::DaySplit;
use sensormark_store::schema::{
    Entity, Field, FieldType, Schema, Series, Table, Tag, TagColumn, TimeResolution,
};
use sensormark_store::series_key::SeriesKey;
use std::fmt::Write as _;
use std::path::Path;
use std::sync::Arc;

/// Writes the kept text instead of comparing with it.
const WRITE_VARIABLE: &str = "SENSORMARK_WRITE_PINS";

const HOUR: i64 = 3_600_000_000_000;

/// Every family that a workload may ask for.
const FAMILIES: [(&str, Family); 5] = [
    ("a reading", Family::PerReading),
    ("a span", Family::PerSpan { span_ns: 1_000_000_000 }),
    ("buckets", Family::Bucketed { limit: 200, per_ns: 24 * HOUR, split: SPLIT }),
    ("sums", Family::Summary { per_ns: 24 * HOUR, split: SPLIT }),
    ("a growing record", Family::GrowingArray),
];

const SPLIT: DaySplit = DaySplit { day_start_ns: 6 * HOUR, day_end_ns: 22 * HOUR };

/// Compares the statements of all of a store's layouts with the text in `tests/pins/schema.txt` below `crate_folder`.
///
/// # Panics
/// When they differ, when an index has several tags in another order than [`SeriesKey`]'s, or when the text cannot be read or written.
pub fn pin(
    crate_folder: &str,
    layouts: impl Fn(&Schema, Family) -> Vec<LayoutOption>,
    statements: impl Fn(&Arc<Schema>, &LayoutOption) -> Vec<String>,
) {
    let mut text = String::new();
    for (words, schema) in [("one table", only()), ("two tables", both())] {
        let schema = Arc::new(schema);
        for (family_words, family) in FAMILIES {
            for offer in layouts(&schema, family) {
                let variant = match offer.variant.as_str() {
                    "" => "usual",
                    variant => variant,
                };
                writeln!(text, "# {words}, {family_words}: {variant}").expect("text grows");
                for statement in statements(&schema, &offer) {
                    in_order(&schema, &statement);
                    writeln!(text, "{statement}").expect("text grows");
                }
                text.push('\n');
            }
        }
    }
    let file = Path::new(crate_folder).join("tests/pins/schema.txt");
    if let Err(text) = hold(&file, &text) {
        panic!("{text}");
    }
}

/// Compares a text with the one that is kept in a file, or writes it there where `SENSORMARK_WRITE_PINS` asks for that.
///
/// # Errors
/// The first line that differs; a file that cannot be read or written.
pub fn hold(file: &Path, text: &str) -> Result<(), String> {
    let failed = |error: std::io::Error| format!("{}: {error}", file.display());
    if std::env::var_os(WRITE_VARIABLE).is_some() {
        if let Some(folder) = file.parent() {
            std::fs::create_dir_all(folder).map_err(failed)?;
        }
        std::fs::write(file, text).map_err(failed)?;
    }
    let kept = std::fs::read_to_string(file).map_err(failed)?;
    if kept == text {
        return Ok(());
    }
    let mut lines = kept.lines().zip(text.lines()).enumerate();
    let differs = match lines.find(|(_, (kept, now))| kept != now) {
        Some((line, (kept, now))) => format!("line {}: kept {kept:?}, now {now:?}", line + 1),
        None => format!("{} bytes are kept, {} are there now", kept.len(), text.len()),
    };
    Err(format!("{} says otherwise: {differs}; {WRITE_VARIABLE}=1 writes it anew", file.display()))
}

/// Fails where a list of columns in a statement has several tags of a table and not in the order of its key.
fn in_order(schema: &Schema, statement: &str) {
    for table in &schema.tables {
        let keys: Vec<Vec<&str>> = (1..=table.tags.len())
            .map(|count| {
                let key = SeriesKey::among(table, count);
                let name = |&tag: &usize| table.tags[tag].name.as_str();
                key.tags().iter().map(name).collect()
            })
            .collect();
        for columns in lists(statement) {
            let tags: Vec<&str> = columns.into_iter().filter(|column| table.tag(column).is_some()).collect();
            assert!(
                tags.len() < 2 || keys.contains(&tags),
                "{tags:?} is not the order of the series' key {keys:?}: {statement}"
            );
        }
    }
}

/// The lists of bare names in a statement, as keys and indexes are: in brackets or braces, without types.
fn lists(statement: &str) -> Vec<Vec<&str>> {
    let opened = statement.split(['(', '{']).skip(1);
    let closed = opened.filter_map(|piece| piece.split([')', '}']).next());
    closed
        .map(|list| list.split(',').map(column).collect::<Vec<_>>())
        .filter(|columns| columns.iter().all(|column| !column.contains([' ', ':'])))
        .collect()
}

/// A column's name without quotes, direction and what it is below.
fn column(part: &str) -> &str {
    let name = part.trim().trim_end_matches(": 1").trim_matches(['"', '`', ' ']);
    name.rsplit('.').next().unwrap_or(name)
}

/// Series that one tag tells apart, and it is not the first.
fn hosts() -> Table {
    let words = |words: [&str; 4]| TagColumn::Text(words.map(str::to_owned).to_vec());
    Table {
        name: "cpu".to_owned(),
        tags: tags(&["region", "hostname", "rack"]),
        fields: vec![field("usage", FieldType::F64), field("free", FieldType::I64)],
        entity: Some(Entity {
            name: "hosts".to_owned(),
            columns: vec![field("place", FieldType::Text)],
            last_time_column: "last_seen".to_owned(),
        }),
        time_resolution: TimeResolution::Seconds,
        series: Series::new(vec![
            words(["north", "north", "south", "south"]),
            words(["host_0", "host_1", "host_2", "host_3"]),
            TagColumn::Integer(vec![1, 2, 1, 2]),
        ]),
    }
}

/// Series that no tag tells apart alone: two devices, known by identifier and by name, of two things each with up to three properties.
fn properties() -> Table {
    let words = |words: [&str; 8]| TagColumn::Text(words.map(str::to_owned).to_vec());
    Table {
        name: "property_values".to_owned(),
        tags: tags(&["device_id", "device_name", "thing_id", "property_id"]),
        fields: vec![field("value", FieldType::F64)],
        entity: None,
        time_resolution: TimeResolution::Milliseconds,
        series: Series::new(vec![
            words(["d1", "d1", "d1", "d1", "d2", "d2", "d2", "d2"]),
            words(["one", "one", "one", "one", "two", "two", "two", "two"]),
            words(["light", "light", "light", "box", "light", "light", "light", "box"]),
            words(["power", "level", "colour", "power", "power", "level", "colour", "power"]),
        ]),
    }
}

fn only() -> Schema {
    Schema { tables: vec![properties()] }
}

fn both() -> Schema {
    Schema { tables: vec![hosts(), properties()] }
}

fn tags(names: &[&str]) -> Vec<Tag> {
    let tag = |name: &&str| Tag { name: (*name).to_owned() };
    names.iter().map(tag).collect()
}

fn field(name: &str, kind: FieldType) -> Field {
    Field { name: name.to_owned(), kind, nullable: false }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_of_names_are_told_from_lists_of_columns() {
        let found =
            lists("CREATE TABLE t (`a` INT NOT NULL, `b` INT, PRIMARY KEY (`a`, `b`(190)), KEY (\"a\"))");
        assert_eq!(found, [vec!["a", "b"], vec!["190"], vec!["a"]]);
        let found = lists(r#"{ "key": { "tags.a": 1, "b": 1 }, "name": "x" }"#);
        assert_eq!(found, [vec!["a", "b"]]);
    }

    #[test]
    #[should_panic(expected = "is not the order of the series' key")]
    fn another_order_is_found() {
        in_order(&only(), "CREATE INDEX ON t (property_id, device_id, time)");
    }

    #[test]
    fn the_key_s_order_passes() {
        in_order(&only(), "CREATE INDEX ON t (device_id, thing_id, property_id, time)");
        in_order(&only(), "CREATE TABLE t (property_id text, device_id text)");
    }
}
