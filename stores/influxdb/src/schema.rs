//! How a schema becomes measurements: names, tags, and what lines of points begin with.
//!
//! A table is a measurement, its tags are tags, its fields are fields. What the line protocol cannot carry in a tag's value
//! (backslashes, line breaks, other control characters) is percent-encoded, and an empty value is an absent tag. It builds no
//! questions and sends nothing.

use sensormark_store::lines::Lines;
use sensormark_store::{
    ErrorKind, FieldType, Layout, Plan, Schema, SeriesKey, StoreError, Table, WriteMethod,
};
use std::collections::HashMap;
use std::sync::{Arc, OnceLock};

pub(crate) mod layout_options;

/// The measurement that holds the owner's mark.
pub(crate) const OWNER: &str = "sensormark_owner";

/// The measurements of a plan.
#[derive(Debug)]
pub struct PhysicalSchema {
    /// The schema.
    pub(crate) schema: Arc<Schema>,
    /// How it is kept.
    pub(crate) layout: Layout,
    /// One entry a table.
    pub(crate) tables: Vec<Measurement>,
}

/// The measurement of a table.
#[derive(Debug)]
pub(crate) struct Measurement {
    /// Its name.
    pub(crate) name: String,
    /// The tags' keys.
    pub(crate) tags: Vec<String>,
    /// The fields' keys.
    pub(crate) fields: Vec<String>,
    /// Their types.
    pub(crate) kinds: Vec<FieldType>,
    /// Numbers of the tags that tell the series apart.
    pub(crate) keys: Vec<usize>,
    /// The readings' lines.
    pub(crate) lines: Lines,
    /// What the lines of each series begin with, tags included.
    heads: Heads,
    /// The same of the entities' measurement.
    entity_heads: Heads,
    /// The encoded values of the tags, a column a tag.
    values: Vec<Vec<String>>,
    /// Series by the encoded values of the tags in `keys`.
    by_keys: OnceLock<HashMap<String, u32>>,
    /// For each tag, the lowest series by encoded value.
    by_tag: Vec<OnceLock<HashMap<String, u32>>>,
}

/// Beginnings of lines, one after the other in one buffer.
#[derive(Debug, Default)]
struct Heads {
    bytes: Vec<u8>,
    ends: Vec<usize>,
}

impl Heads {
    fn get(&self, series: u32) -> &[u8] {
        let series = series as usize;
        let start = if series == 0 { 0 } else { self.ends[series - 1] };
        &self.bytes[start..self.ends[series]]
    }
}

impl PhysicalSchema {
    /// The measurements of a schema.
    pub(crate) fn new(schema: &Arc<Schema>, layout: Layout) -> Self {
        Self {
            schema: Arc::clone(schema),
            layout,
            tables: schema.tables.iter().map(|table| Measurement::new(table, layout.float_fields)).collect(),
        }
    }

    /// Names of all measurements that sensormark makes in the database.
    pub(crate) fn names(&self) -> Vec<&str> {
        let mut names = vec![OWNER];
        for table in &self.schema.tables {
            names.push(&table.name);
            names.extend(table.entity.as_ref().map(|entity| entity.name.as_str()));
        }
        names
    }

    /// Whether writes are datagrams.
    pub(crate) fn sends_datagrams(&self) -> bool {
        self.layout.write == WriteMethod::Datagram
    }
}

/// The name of the plan's database on the server: datagrams go where their listener puts them.
pub(crate) fn database<'a>(
    plan: &'a Plan,
    options: &'a crate::config::Options,
) -> Result<&'a str, StoreError> {
    if plan.layout.write != WriteMethod::Datagram {
        return Ok(options.given.as_deref().unwrap_or(plan.database.as_str()));
    }
    if options.organisation.is_some() {
        return Err(StoreError::unsupported(
            "send datagrams",
            "InfluxDB 2 listens for none; choose another layout",
        ));
    }
    options.datagrams.as_ref().map_or_else(
        || {
            Err(StoreError::new(
                ErrorKind::Unsupported,
                "send datagrams",
                "the URL names no listener of UDP; add ?udp=PORT&udp_database=sensormark_NAME as in the server's [[udp]] section (a server that sensormark starts has one on loopback alone, because datagrams ask for no password)",
            ))
        },
        |listener| Ok(listener.database.as_str()),
    )
}

/// The longest head of a line that InfluxDB takes.
const HEAD_LIMIT: usize = 65_535;

impl Measurement {
    fn new(table: &Table, float_fields: bool) -> Self {
        let tags: Vec<String> = table.tags.iter().map(|tag| tag_key(table, &tag.name)).collect();
        let fields: Vec<String> = table.fields.iter().map(|field| field_key(&field.name)).collect();
        let columns = table.series.columns();
        let values: Vec<Vec<String>> = columns
            .iter()
            .map(|column| (0..table.series.len()).map(|number| encoded(&column.text(number))).collect())
            .collect();
        let heads = heads_of(&table.name, &tags, &values, table.series.len());
        let entity_heads = table
            .entity
            .as_ref()
            .map_or_else(Heads::default, |entity| heads_of(&entity.name, &tags, &values, table.series.len()));
        Self {
            name: table.name.clone(),
            lines: Lines::new(&fields, float_fields),
            kinds: table.fields.iter().map(|field| field.kind).collect(),
            keys: SeriesKey::of(table).tags().to_vec(),
            by_tag: values.iter().map(|_| OnceLock::new()).collect(),
            by_keys: OnceLock::new(),
            tags,
            fields,
            heads,
            entity_heads,
            values,
        }
    }

    /// How many series there are.
    pub(crate) fn count(&self) -> u32 {
        u32::try_from(self.heads.ends.len()).unwrap_or(u32::MAX)
    }

    /// What the lines of a series begin with, the blank before the fields included.
    pub(crate) fn head(&self, series: u32) -> &[u8] {
        self.heads.get(series)
    }

    /// The same for the line of its entity.
    pub(crate) fn entity_head(&self, series: u32) -> &[u8] {
        self.entity_heads.get(series)
    }

    /// The encoded value of a tag of a series; empty where the tag is absent.
    pub(crate) fn tag_value(&self, tag: usize, series: u32) -> &str {
        &self.values[tag][series as usize]
    }

    /// The series whose tags in `keys` have these encoded values.
    pub(crate) fn series_with<'a>(&self, mut value: impl FnMut(usize) -> &'a str) -> Option<u32> {
        if self.keys.is_empty() {
            return Some(0);
        }
        let by_keys = self.by_keys.get_or_init(|| {
            let mut map = HashMap::new();
            for series in 0..self.count() {
                let text = joined(&self.keys, |tag| self.tag_value(tag, series));
                map.entry(text).or_insert(series);
            }
            map
        });
        if let [key] = self.keys.as_slice() {
            return by_keys.get(value(*key)).copied();
        }
        by_keys.get(&joined(&self.keys, value)).copied()
    }

    /// The lowest series whose tag has this encoded value.
    pub(crate) fn lowest_with(&self, tag: usize, value: &str) -> Option<u32> {
        let map = self.by_tag[tag].get_or_init(|| {
            let mut map = HashMap::new();
            for (series, value) in (0..).zip(&self.values[tag]) {
                map.entry(value.clone()).or_insert(series);
            }
            map
        });
        map.get(value).copied()
    }
}

fn joined<'a>(keys: &[usize], mut value: impl FnMut(usize) -> &'a str) -> String {
    let mut text = String::new();
    for (place, &key) in keys.iter().enumerate() {
        if place > 0 {
            text.push('\n'); // never in an encoded value
        }
        text.push_str(value(key));
    }
    text
}

/// InfluxDB knows a field and a tag of one name apart by order alone, and neither may be called time. Such tags begin with a capital, because a schema's names
/// have none.
fn tag_key(table: &Table, name: &str) -> String {
    if is_reserved(name) || table.field(name).is_some() { format!("Tag_{name}") } else { name.to_owned() }
}

/// The key of a field or of an entity's column.
pub(crate) fn field_key(name: &str) -> String {
    if is_reserved(name) { format!("Field_{name}") } else { name.to_owned() }
}

fn is_reserved(name: &str) -> bool {
    name == "time"
}

/// A tag's value as it is stored.
pub(crate) fn encoded(value: &str) -> String {
    let plain = |byte: u8| byte != b'%' && byte != b'\\' && byte != b'$' && byte >= 0x20 && byte != 0x7f;
    if value.bytes().all(plain) {
        return value.to_owned();
    }
    let mut text = String::with_capacity(value.len() + 8);
    for character in value.chars() {
        if u8::try_from(character).is_ok_and(|byte| byte.is_ascii() && !plain(byte)) {
            text.push_str(&format!("%{:02X}", u32::from(character)));
        } else {
            text.push(character);
        }
    }
    text
}

fn heads_of(name: &str, tags: &[String], values: &[Vec<String>], count: u32) -> Heads {
    let mut order: Vec<usize> = (0..tags.len()).collect();
    order.sort_by_key(|&tag| &tags[tag]); // the server need not sort them then
    let mut heads = Heads::default();
    for series in 0..count {
        heads.bytes.extend_from_slice(name.as_bytes());
        for &tag in &order {
            let value = &values[tag][series as usize];
            if value.is_empty() {
                continue;
            }
            heads.bytes.push(b',');
            heads.bytes.extend_from_slice(tags[tag].as_bytes());
            heads.bytes.push(b'=');
            for byte in value.bytes() {
                if matches!(byte, b',' | b' ' | b'=') {
                    heads.bytes.push(b'\\');
                }
                heads.bytes.push(byte);
            }
        }
        heads.bytes.push(b' ');
        heads.ends.push(heads.bytes.len());
    }
    heads
}

/// A failure where a series' name is longer than InfluxDB takes.
pub(crate) fn check_length(head: &[u8]) -> Result<(), StoreError> {
    if head.len() <= HEAD_LIMIT {
        return Ok(());
    }
    Err(StoreError::new(
        ErrorKind::TooLarge,
        "write a batch",
        format!(
            "measurement and tags of a series take {} bytes, InfluxDB takes {HEAD_LIMIT}; shorten the tags' values",
            head.len()
        ),
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use sensormark_store::{Field, Series, Tag, TagColumn, TimeResolution};

    fn table() -> Table {
        let words = |words: &[&str]| TagColumn::Text(words.iter().map(|&word| word.into()).collect());
        Table {
            name: "m".into(),
            tags: ["zone", "name", "v"].map(|name| Tag { name: name.into() }).into(),
            fields: ["v", "time"]
                .map(|name| Field { name: name.into(), kind: FieldType::F64, nullable: false })
                .into(),
            entity: None,
            time_resolution: TimeResolution::Nanoseconds,
            series: Series::new(vec![
                words(&["a", "a", "b"]),
                words(&["x y", "", "ends\\"]),
                words(&["1", "1", "1"]),
            ]),
        }
    }

    #[test]
    fn lines_begin_with_sorted_escaped_tags() {
        let measurement = Measurement::new(&table(), false);
        assert_eq!(measurement.head(0), b"m,Tag_v=1,name=x\\ y,zone=a ");
        assert_eq!(measurement.head(1), b"m,Tag_v=1,zone=a ");
        assert_eq!(measurement.head(2), b"m,Tag_v=1,name=ends%5C,zone=b ");
        assert_eq!(measurement.fields, ["v", "Field_time"]);
    }

    #[test]
    fn series_are_known_by_the_tag_that_tells_them_apart() {
        let measurement = Measurement::new(&table(), false);
        assert_eq!(measurement.keys, [1]);
        assert_eq!(measurement.series_with(|_| "ends%5C"), Some(2));
        assert_eq!(measurement.series_with(|_| ""), Some(1));
        assert_eq!(measurement.lowest_with(0, "a"), Some(0));
    }

    #[test]
    fn encoding_keeps_values_apart() {
        assert_eq!(encoded("a%5Cb"), "a%255Cb");
        assert_eq!(encoded("a\\b\n"), "a%5Cb%0A");
        assert_eq!(encoded("ü ☀"), "ü ☀");
    }
}
