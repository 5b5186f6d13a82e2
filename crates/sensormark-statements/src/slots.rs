//! What `:name` stands for in the statements of a table: its type, what a row has there, and what a question asks with.

use crate::config::{Config, SetStyle};
use crate::question::Asked;
use sensormark_drivers::{Cell, RowShape, Source};
use sensormark_kit::Key;
use sensormark_store::record::json;
use sensormark_store::{Ask, Derived, Encoding, Layout, Selection, Shape, Table, TagColumn};
use std::collections::HashMap;

/// A name's meanings.
#[derive(Debug)]
pub struct Slot {
    /// The name of its type; of a question's tag, the question says it.
    pub type_name: String,
    /// What a row has there.
    pub source: Option<Source>,
    /// What a question asks with.
    pub value: Option<Bound>,
}

/// A value of a question.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Bound {
    /// The range's start; a point's time.
    Start,
    /// The first instant after the range; after a point.
    End,
    /// The same in ns, where the column of time is of the database's own type.
    EndNs,
    /// One key column of the one series; behind them come its tags.
    Key(usize),
    /// The keys of the series of the set, or of all, as one JSON array.
    Json,
    /// One key column of these series, as an array.
    Column(usize),
    /// The value of the tag that is selected by.
    Tag,
    /// The threshold.
    Threshold,
    /// The windows' width in ns.
    Width,
    /// Where windows start in ns.
    Origin,
    /// When day begins, in ns after midnight.
    DayStart,
    /// When night begins, in ns after midnight.
    DayEnd,
    /// The first span that the range touches.
    FirstSpan,
    /// The last span that it touches.
    LastSpan,
    /// The start of the first span.
    SpanStart,
    /// One key column of the other series.
    OtherKey(usize),
    /// A further number of what is derived, by its place.
    Number(usize),
    /// How many readings are asked for.
    Count,
    /// One key column of the n-th of the series that are named.
    Nth(usize, usize),
    /// The second in which the range starts.
    StartSecond,
    /// The ns after it.
    StartNanosecond,
    /// The second in which the range ends.
    EndSecond,
    /// The ns after it.
    EndNanosecond,
}

/// Ns in a second.
const SECOND: i64 = 1_000_000_000;

/// Names that mean the same in all tables, with the types that `store.toml` names.
const FIXED: [(&str, &str, Option<Source>, Option<Bound>); 28] = [
    ("end_ns", "i64", None, Some(Bound::EndNs)),
    ("tag", "text", None, Some(Bound::Tag)),
    ("threshold", "f64", None, Some(Bound::Threshold)),
    ("width", "i64", None, Some(Bound::Width)),
    ("origin", "i64", None, Some(Bound::Origin)),
    ("day_start", "i64", None, Some(Bound::DayStart)),
    ("day_end", "i64", None, Some(Bound::DayEnd)),
    ("first_span", "i64", None, Some(Bound::FirstSpan)),
    ("last_span", "i64", None, Some(Bound::LastSpan)),
    ("series", "series", Some(Source::Series), Some(Bound::Key(0))),
    ("field", "field", Some(Source::FieldNumber), None),
    ("span", "i64", Some(Source::Span), None),
    ("size", "size", Some(Source::Size), None),
    ("packed", "bytes", Some(Source::Packed), None),
    ("period", "i64", Some(Source::Made(0)), None),
    ("day", "bool", Some(Source::Made(1)), None),
    ("other_series", "series", None, Some(Bound::OtherKey(0))),
    ("above", "f64", None, Some(Bound::Number(0))),
    ("below", "f64", None, Some(Bound::Number(1))),
    ("near_a", "f64", None, Some(Bound::Number(0))),
    ("near_b", "f64", None, Some(Bound::Number(1))),
    ("count", "i64", None, Some(Bound::Count)),
    ("second", "i64", Some(Source::Time(SECOND)), None),
    ("nanosecond", "i64", Some(Source::Nanosecond), None),
    ("start_second", "i64", None, Some(Bound::StartSecond)),
    ("start_nanosecond", "i64", None, Some(Bound::StartNanosecond)),
    ("end_second", "i64", None, Some(Bound::EndSecond)),
    ("end_nanosecond", "i64", None, Some(Bound::EndNanosecond)),
];

/// The meanings of all names, where these columns identify series.
pub fn slots(
    config: &Config,
    table: &Table,
    keys: &[Key],
    layout: &Layout,
    rows: RowShape,
) -> HashMap<String, Slot> {
    let mut slots = HashMap::new();
    let mut put = |name: &str, type_name: &str, source, value| {
        slots.insert(name.to_owned(), Slot { type_name: type_name.to_owned(), source, value });
    };
    let named = |name: &str| config.type_name(name);
    for (name, type_name, source, value) in FIXED {
        put(name, named(type_name), source, value);
    }
    let (time, unit_ns) = (config.time_type(layout.time), config.unit_ns(layout.time));
    for (name, value) in [
        ("start", Bound::Start),
        ("time", Bound::Start),
        ("end", Bound::End),
        ("span_start", Bound::SpanStart),
    ] {
        put(name, time, Some(Source::Time(unit_ns)), Some(value));
    }
    let (mut json, mut offset) = ("json", "i64");
    if let Shape::RecordPerSpan { span_ns, encoding } = layout.shape {
        json = if encoding == Encoding::BinaryJson { "binary_json" } else { json };
        offset = if i32::try_from(span_ns).is_ok() { "offset" } else { offset };
    }
    put("json", named(json), Some(Source::Json), None);
    put("nanoseconds", &config.array_type(named(offset)), Some(Source::Offsets), None);
    for field in table.fields.iter().rev() {
        let type_name = config.field_type(field.kind);
        put("value", type_name, Some(Source::Value(None)), None);
        let name = format!("value_{}", Config::field_word(field.kind));
        put(&name, type_name, Some(Source::Value(Some(field.kind))), None);
    }
    for (number, (tag, column)) in table.tags.iter().zip(table.series.columns()).enumerate() {
        let (tag, type_name) = (&tag.name, config.tag_type(column));
        let key = keys.iter().position(|&key| key == Key::Tag(number)).or(Some(keys.len() + number));
        put(&format!("key_{tag}"), &type_name, Some(Source::Tag(number)), key.map(Bound::Key));
        put(&format!("other_key_{tag}"), &type_name, None, key.map(Bound::OtherKey));
        for set in ["set", "all"] {
            let array = config.array_type(&type_name);
            put(&format!("{set}_{tag}"), &array, None, key.map(Bound::Column));
        }
    }
    let (set, value) = match (config.slots.set, keys.first()) {
        (SetStyle::Array, Some(Key::Tag(tag))) => {
            (config.array_type(&config.tag_type(&table.series.columns()[*tag])), Bound::Column(0))
        }
        (SetStyle::Array, _) => (config.array_type(named("series")), Bound::Column(0)),
        (SetStyle::Json, _) => (named("text").to_owned(), Bound::Json),
    };
    for name in ["set", "all"] {
        put(name, &set, None, Some(value));
    }
    of_fields(config, table, rows, &mut put);
    for (number, column) in table.entity.iter().flat_map(|entity| &entity.columns).enumerate() {
        let type_name = config.field_type(column.kind);
        put(&format!("entity_{number}"), type_name, Some(Source::Made(number)), None);
    }
    slots
}

/// The meanings of names of fields: their values, and what is added up of them, in the order in which rows of sums have it.
fn of_fields(
    config: &Config,
    table: &Table,
    rows: RowShape,
    put: &mut impl FnMut(&str, &str, Option<Source>, Option<Bound>),
) {
    let mut parts = (2..).map(Source::Made);
    for (number, field) in table.fields.iter().enumerate() {
        let type_name = config.field_type(field.kind);
        match rows {
            RowShape::Records(_) => {
                let source = Source::FieldArray(number);
                put(&format!("field_{number}"), &config.array_type(type_name), Some(source), None);
            }
            _ => put(&format!("field_{number}"), type_name, Some(Source::Field(number)), None),
        }
        let parts_of = [
            ("count", config.type_name("i64")),
            ("sum", config.sum_type(field.kind)),
            ("min", type_name),
            ("max", type_name),
        ];
        for (part, type_name) in parts_of.into_iter().filter(|_| field.kind.is_number()) {
            put(&format!("{part}_{number}"), type_name, parts.next(), None);
        }
    }
}

/// What values borrow from while a statement runs.
#[derive(Debug, Default)]
pub struct Held<'a> {
    json: String,
    columns: Vec<(usize, Vec<i64>, Vec<&'a str>)>,
}

impl<'a> Asked<'a> {
    /// What the values of these slots borrow from.
    pub fn held(&self, slots: &[Bound]) -> Held<'a> {
        let mut held = Held::default();
        for &slot in slots {
            match slot {
                Bound::Column(key) => {
                    let (mut integers, mut texts) = (Vec::new(), Vec::new());
                    self.each_series(|series| match self.key(key, series) {
                        Cell::Text(value) => texts.push(value),
                        Cell::I64(value) => integers.push(value),
                        _ => {}
                    });
                    held.columns.push((key, integers, texts));
                }
                Bound::Json => held.json = self.json_of_series(),
                _ => {}
            }
        }
        held
    }

    /// The value of a key column of a series.
    fn key(&self, key: usize, series: u32) -> Cell<'a> {
        let keys = self.table.series.keys();
        match keys.get(key) {
            Some(Key::Number) => Cell::I64(series.into()),
            Some(&Key::Tag(tag)) => Cell::tag(self.description, tag, series),
            None => Cell::tag(self.description, key - keys.len(), series),
        }
    }

    /// `[key, …]`, or `[[key, key], …]` where a series has several.
    fn json_of_series(&self) -> String {
        let keys = self.table.series.keys().len();
        let mut text = vec![b'['];
        self.each_series(|series| {
            if text.len() > 1 {
                text.push(b',');
            }
            for key in 0..keys {
                if keys > 1 {
                    text.push(if key == 0 { b'[' } else { b',' });
                }
                match self.key(key, series) {
                    Cell::Text(value) => json::text(value, &mut text),
                    Cell::I64(value) => json::integer(value, &mut text),
                    _ => {}
                }
            }
            if keys > 1 {
                text.push(b']');
            }
        });
        text.push(b']');
        // JSON of texts is text.
        String::from_utf8(text).unwrap_or_default()
    }

    /// Calls for each series that a question names and the table has. If it names none, calls for all of them.
    fn each_series(&self, mut each: impl FnMut(u32)) {
        let count = self.description.series.len();
        match &self.query.series {
            Selection::One(series) if *series < count => each(*series),
            Selection::One(_) => {}
            Selection::Set(set) => set.iter().filter(|&&it| it < count).for_each(|&it| each(it)),
            Selection::Tagged { .. } | Selection::All => (0..count).for_each(each),
        }
    }

    /// A number that the range says.
    fn of_range(&self, slot: Bound) -> Option<i64> {
        let range = self.query.range;
        let span_ns = self.physical.span_ns().unwrap_or(1);
        let end_ns = match self.query.ask {
            Ask::Point { .. } => range.start_ns.saturating_add(1),
            _ => range.end_ns,
        };
        Some(match slot {
            Bound::Start => self.physical.in_unit(range.start_ns),
            Bound::End => self.physical.in_unit(end_ns),
            Bound::EndNs => end_ns,
            Bound::SpanStart => {
                let in_span = range.start_ns.rem_euclid(span_ns);
                self.physical.in_unit(range.start_ns.saturating_sub(in_span))
            }
            Bound::FirstSpan => range.start_ns.div_euclid(span_ns),
            Bound::LastSpan => end_ns.saturating_sub(1).div_euclid(span_ns),
            Bound::StartSecond => range.start_ns.div_euclid(SECOND),
            Bound::StartNanosecond => range.start_ns.rem_euclid(SECOND),
            Bound::EndSecond => end_ns.div_euclid(SECOND),
            Bound::EndNanosecond => end_ns.rem_euclid(SECOND),
            _ => return None,
        })
    }

    /// The value of a slot.
    pub fn value<'b>(&self, slot: Bound, held: &'b Held<'a>) -> Cell<'b>
    where
        'a: 'b,
    {
        if let Some(number) = self.of_range(slot) {
            return Cell::I64(number);
        }
        let grouping = self.grouping();
        let some = |value: Option<i64>| value.map_or(Cell::Null, Cell::I64);
        match slot {
            Bound::Key(key) => match self.query.series {
                Selection::One(series) => self.key(key, series),
                _ => Cell::Null,
            },
            Bound::Nth(nth, key) => {
                let series = match &self.query.series {
                    Selection::Set(set) => set[nth],
                    _ => u32::try_from(nth).unwrap_or(u32::MAX),
                };
                let is_there = series < self.description.series.len();
                if is_there { self.key(key, series) } else { Cell::Null }
            }
            Bound::Json => Cell::Text(&held.json),
            Bound::Column(key) => match held.columns.iter().find(|column| column.0 == key) {
                Some((_, integers, texts)) if texts.is_empty() => Cell::Integers(integers),
                Some((_, _, texts)) => Cell::Texts(texts),
                None => Cell::Null,
            },
            Bound::Tag => match &self.query.series {
                Selection::Tagged { tag, value } => match self.description.series.columns().get(*tag) {
                    Some(TagColumn::Integer(_)) => some(value.parse().ok()),
                    _ => Cell::Text(value),
                },
                _ => Cell::Null,
            },
            Bound::Threshold => match &self.query.ask {
                Ask::First(passes) | Ask::Last(passes) | Ask::SeriesMatching(passes) => {
                    Cell::F64(passes.threshold)
                }
                _ => self.value(Bound::Number(0), held),
            },
            Bound::Number(place) => match &self.query.ask {
                Ask::Derived(derived) => {
                    derived.numbers().get(place).map_or(Cell::Null, |&one| Cell::F64(one))
                }
                _ => Cell::Null,
            },
            Bound::OtherKey(key) => match self.query.ask {
                Ask::Derived(Derived::Difference { other, .. }) => self.key(key, other),
                _ => Cell::Null,
            },
            Bound::Count => match self.query.ask {
                Ask::Derived(Derived::Nearest { count, .. }) => Cell::I64(count.into()),
                _ => Cell::Null,
            },
            Bound::Width => some(self.window().map(|window| window.width_ns)),
            Bound::Origin => some(self.window().map(|window| window.origin_ns)),
            Bound::DayStart => some(grouping.by_day_part.map(|split| split.day_start_ns)),
            Bound::DayEnd => some(grouping.by_day_part.map(|split| split.day_end_ns)),
            // The others are of the range.
            _ => Cell::Null,
        }
    }
}
