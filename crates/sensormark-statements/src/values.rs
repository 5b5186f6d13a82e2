//! The values of a question's slots.

use crate::config::SetStyle;
use crate::question::Asked;
use crate::series::Key;
use crate::table::TableShape;
use sensormark_drivers::Cell;
use sensormark_store::record::json;
use sensormark_store::{Ask, ErrorKind, Selection, StoreError, Table, TagColumn};

/// What a slot of a question stands for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Slot {
    /// The range's start; a point's time.
    Start,
    /// The first instant after the range; after a point.
    End,
    /// The same in ns, where the column of time is of the database's own type.
    EndNs,
    /// One key column of the one series.
    Key(usize),
    /// The keys of the series of the set.
    Set,
    /// The keys of all series.
    All,
    /// One key column of the series of the set, or of all, as an array.
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
}

/// What values borrow from while a statement runs.
#[derive(Debug, Default)]
pub struct Held<'a> {
    json: String,
    integers: Vec<i64>,
    texts: Vec<&'a str>,
    columns: Vec<(usize, Vec<i64>, Vec<&'a str>)>,
}

const OPERATION: &str = "plan a question";

impl Slot {
    /// The slot of this name.
    ///
    /// # Errors
    /// [`ErrorKind::Configuration`] where no slot has this name.
    pub fn of(name: &str, table: &TableShape, description: &Table) -> Result<Self, StoreError> {
        let is_key = |key: &Key| match key {
            Key::Number => name == "series",
            Key::Tag(tag) => name.strip_prefix("key_") == Some(&description.tags[*tag].name),
        };
        let is_column = |key: &Key| {
            let column = name.strip_prefix("set_").or_else(|| name.strip_prefix("all_"));
            column.is_some_and(|column| match key {
                Key::Number => column == "series",
                Key::Tag(tag) => column == description.tags[*tag].name,
            })
        };
        let keys = table.series.keys();
        Ok(match name {
            "start" | "time" => Self::Start,
            "end" | "point_end" => Self::End,
            "end_ns" => Self::EndNs,
            "set" => Self::Set,
            "all" => Self::All,
            "tag" => Self::Tag,
            "threshold" => Self::Threshold,
            "width" => Self::Width,
            "origin" => Self::Origin,
            "day_start" => Self::DayStart,
            "day_end" => Self::DayEnd,
            "first_span" | "point_span" => Self::FirstSpan,
            "last_span" => Self::LastSpan,
            _ => match (keys.iter().position(is_key), keys.iter().position(is_column)) {
                (Some(key), _) => Self::Key(key),
                (None, Some(key)) => Self::Column(key),
                (None, None) => {
                    let text = format!("a question has no value :{name}");
                    return Err(StoreError::new(ErrorKind::Configuration, OPERATION, text));
                }
            },
        })
    }

    /// The name of its type.
    pub fn type_name(self, asked: &Asked<'_>) -> String {
        let config = &asked.physical.files.config;
        let of_tag = |tag: usize| match &asked.description.series.columns()[tag] {
            TagColumn::Text(_) => config.type_name("tag_text"),
            TagColumn::Integer(_) => config.type_name("tag_integer"),
        };
        let of_key = |key: usize| match asked.table.series.keys().get(key) {
            Some(Key::Tag(tag)) => of_tag(*tag),
            _ => config.type_name("series"),
        };
        match self {
            Self::Start | Self::End => asked.physical.time_type().to_owned(),
            Self::Column(key) => config.array_type(of_key(key)),
            Self::Key(key) => of_key(key).to_owned(),
            Self::Set | Self::All if config.slots.set == SetStyle::Json => {
                config.type_name("text").to_owned()
            }
            Self::Set | Self::All => config.array_type(of_key(0)),
            Self::Tag => match &asked.query.series {
                Selection::Tagged { tag, .. } => of_tag(*tag).to_owned(),
                _ => config.type_name("text").to_owned(),
            },
            Self::Threshold => config.type_name("f64").to_owned(),
            _ => config.type_name("i64").to_owned(),
        }
    }
}

impl<'a> Asked<'a> {
    /// What the values of these slots borrow from.
    pub fn held(&self, slots: &[Slot]) -> Held<'a> {
        let mut held = Held::default();
        for &slot in slots {
            if let Slot::Column(key) = slot {
                let (mut integers, mut texts) = (Vec::new(), Vec::new());
                self.each_series(|series| match self.table.series.cell(key, series) {
                    Cell::Text(value) => texts.push(value),
                    Cell::I64(value) => integers.push(value),
                    _ => {}
                });
                held.columns.push((key, integers, texts));
            }
        }
        if !slots.iter().any(|slot| matches!(slot, Slot::Set | Slot::All)) {
            return held;
        }
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
                match self.table.series.cell(key, series) {
                    Cell::Text(value) => {
                        json::text(value, &mut text);
                        held.texts.push(value);
                    }
                    Cell::I64(value) => {
                        json::integer(value, &mut text);
                        held.integers.push(value);
                    }
                    _ => {}
                }
            }
            if keys > 1 {
                text.push(b']');
            }
        });
        text.push(b']');
        // JSON of texts is text.
        held.json = String::from_utf8(text).unwrap_or_default();
        held
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

    /// The value of a slot.
    pub fn value<'b>(&self, slot: Slot, held: &'b Held<'a>) -> Cell<'b>
    where
        'a: 'b,
    {
        let range = self.query.range;
        let span_ns = self.physical.span_ns().unwrap_or(1);
        let grouping = self.grouping();
        let end_ns = match self.query.ask {
            Ask::Point { .. } => range.start_ns.saturating_add(1),
            _ => range.end_ns,
        };
        let some = |value: Option<i64>| value.map_or(Cell::Null, Cell::I64);
        match slot {
            Slot::Start => Cell::I64(self.physical.in_unit(range.start_ns)),
            Slot::End => Cell::I64(self.physical.in_unit(end_ns)),
            Slot::EndNs => Cell::I64(end_ns),
            Slot::Column(key) => match held.columns.iter().find(|column| column.0 == key) {
                Some((_, integers, texts)) if texts.is_empty() => Cell::Integers(integers),
                Some((_, _, texts)) => Cell::Texts(texts),
                None => Cell::Null,
            },
            Slot::FirstSpan => Cell::I64(range.start_ns.div_euclid(span_ns)),
            Slot::LastSpan => Cell::I64(end_ns.saturating_sub(1).div_euclid(span_ns)),
            Slot::Key(key) => match self.query.series {
                Selection::One(series) => self.table.series.cell(key, series),
                _ => Cell::Null,
            },
            Slot::Set | Slot::All => match self.physical.files.config.slots.set {
                SetStyle::Json => Cell::Text(&held.json),
                SetStyle::Array if !held.texts.is_empty() => Cell::Texts(&held.texts),
                SetStyle::Array => Cell::Integers(&held.integers),
            },
            Slot::Tag => match &self.query.series {
                Selection::Tagged { tag, value } => match self.description.series.columns().get(*tag) {
                    Some(TagColumn::Integer(_)) => some(value.parse().ok()),
                    _ => Cell::Text(value),
                },
                _ => Cell::Null,
            },
            Slot::Threshold => match &self.query.ask {
                Ask::First(passes) | Ask::Last(passes) | Ask::SeriesMatching(passes) => {
                    Cell::F64(passes.threshold)
                }
                _ => Cell::Null,
            },
            Slot::Width => some(grouping.window.map(|window| window.width_ns)),
            // No reading is before 1970. With an origin that is not after any of them, whole numbers that are cut off towards 0 give the window's start.
            Slot::Origin => some(grouping.window.map(|window| match window.origin_ns {
                origin if origin <= range.start_ns.max(0) => origin,
                origin => origin.rem_euclid(window.width_ns) - window.width_ns,
            })),
            Slot::DayStart => some(grouping.by_day_part.map(|split| split.day_start_ns)),
            Slot::DayEnd => some(grouping.by_day_part.map(|split| split.day_end_ns)),
        }
    }
}
