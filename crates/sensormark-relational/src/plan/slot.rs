//! Parameters of a statement: what each stands for, and its value for a question.
//!
//! While a statement is written, its text holds marks. [`Slots::finish`] puts placeholders in their places. So the parts of a statement
//! may be written in any order.

use crate::cell::Cell;
use crate::column_type::ColumnType;
use crate::dialect::Placeholder;
use crate::physical_schema::PhysicalSchema;
use crate::table::PhysicalTable;
use sensormark_store::record::json;
use sensormark_store::{Ask, DaySplit, Derived, Query, Selection, StoreError, Table, TagColumn, Window};
use std::fmt::Write as _;

/// What a parameter stands for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Slot {
    /// The first key of time in the range.
    Start,
    /// The first key of time after it.
    End,
    /// The range's start in ns.
    StartNs,
    /// The range's end in ns.
    EndNs,
    /// The first span that the range touches.
    FirstSpan,
    /// The last span that it touches.
    LastSpan,
    /// One key column of the one series.
    Key(usize),
    /// One key column of one of the question's series, by its place among them and the column's.
    Member(usize, usize),
    /// One key column of all series of the set, an array.
    KeySet(usize),
    /// One key column of all series of the table, an array.
    KeyAll(usize),
    /// All series of the set, JSON.
    JsonSet,
    /// The key columns of each series of the set (of all series, where the question names none), one parameter each.
    Members,
    /// The value of the tag that is selected by.
    TagValue,
    /// The threshold.
    Threshold,
    /// The windows' width in ns.
    Width,
    /// Where windows start in ns.
    Origin,
    /// The windows' width as an interval.
    WidthInterval,
    /// Where windows start, as a key of time.
    OriginTimestamp,
    /// When day begins, in ns after midnight.
    DayStart,
    /// When night begins, in ns after midnight.
    DayEnd,
    /// One key column of the other series.
    OtherKey(usize),
    /// A number of what is derived, by its place.
    Number(usize),
    /// How many readings are asked for.
    Count,
}

/// What opens and closes a mark: no statement holds these characters.
const MARK: [char; 2] = ['\u{1}', '\u{2}'];

/// A statement's parameters, as they come up while its text is written.
#[derive(Debug, Default)]
pub struct Slots {
    slots: Vec<Slot>,
    kinds: Vec<ColumnType>,
}

impl Slots {
    /// The mark of the parameter for this slot.
    pub fn use_slot(&mut self, slot: Slot, kind: ColumnType) -> String {
        let position = self.slots.iter().position(|&other| other == slot).unwrap_or_else(|| {
            self.slots.push(slot);
            self.kinds.push(kind);
            self.slots.len() - 1
        });
        format!("{}{position}{}", MARK[0], MARK[1])
    }

    /// The text with placeholders in place of marks, the slots that they stand for and their types.
    pub fn finish(self, marked: &str, placeholder: Placeholder) -> (String, Vec<Slot>, Vec<ColumnType>) {
        let mut text = String::with_capacity(marked.len());
        let mut positions = Vec::new();
        let mut pieces = marked.split(MARK);
        text.push_str(pieces.next().unwrap_or_default());
        while let (Some(position), Some(rest)) = (pieces.next(), pieces.next()) {
            let position: usize = position.parse().unwrap_or_default();
            positions.push(position);
            match placeholder {
                Placeholder::Numbered(sign) => {
                    let _ = write!(text, "{sign}{}", position + 1);
                }
                // Question marks of members are in the text already.
                Placeholder::Positional if self.slots[position] == Slot::Members => {}
                Placeholder::Positional => text.push('?'),
            }
            text.push_str(rest);
        }
        if placeholder != Placeholder::Positional {
            return (text, self.slots, self.kinds);
        }
        let slots = positions.iter().map(|&place| self.slots[place]).collect();
        let kinds = positions.iter().map(|&place| self.kinds[place]).collect();
        (text, slots, kinds)
    }
}

/// A question with its table: what slots take their values from.
#[derive(Debug, Clone, Copy)]
pub struct Bindings<'a> {
    /// The plan's tables.
    pub physical: &'a PhysicalSchema,
    /// The question's table.
    pub table: &'a PhysicalTable,
    /// The same, as the schema describes it.
    pub description: &'a Table,
    /// The question.
    pub query: &'a Query,
}

impl<'a> Bindings<'a> {
    /// A question with its table.
    ///
    /// # Errors
    /// [`sensormark_store::ErrorKind::NotFound`] when the schema has no such table.
    pub fn new(physical: &'a PhysicalSchema, query: &'a Query) -> Result<Self, StoreError> {
        let (description, table) = physical.table(query.table)?;
        Ok(Self { physical, table, description, query })
    }

    /// The value of a slot; no value for slots of several series, which [`Bindings::each_series`] gives, and for intervals.
    pub fn value(&self, slot: Slot) -> Cell<'a> {
        let range = self.query.range;
        let span_ns = self.physical.span().map_or(1, |span| span.0);
        let whole = match slot {
            Slot::Start => self.physical.bound_key(range.start_ns),
            Slot::End => self.physical.bound_key(self.end_ns()),
            Slot::StartNs => range.start_ns,
            Slot::EndNs => self.end_ns(),
            Slot::FirstSpan => range.start_ns.div_euclid(span_ns),
            Slot::LastSpan => self.end_ns().saturating_sub(1).div_euclid(span_ns),
            Slot::Key(key) => return self.key(key),
            Slot::Member(member, key) => return self.member_key(member, key),
            Slot::TagValue => return self.tag_value(),
            Slot::Threshold => return self.threshold(),
            Slot::Number(place) => return self.number(place),
            Slot::OtherKey(key) => match self.query.ask {
                Ask::Derived(Derived::Difference { other, .. }) => {
                    return self.table.key_cell(self.description, key, other);
                }
                _ => return Cell::Null,
            },
            Slot::Count => match self.query.ask {
                Ask::Derived(Derived::Nearest { count, .. }) => count.into(),
                _ => return Cell::Null,
            },
            Slot::Width => return self.of_window(|window| window.width_ns),
            Slot::Origin => return self.of_window(|window| window.origin_ns),
            Slot::OriginTimestamp => {
                return self.of_window(|window| self.physical.time_key(window.origin_ns));
            }
            Slot::DayStart => return self.of_day(|split| split.day_start_ns),
            Slot::DayEnd => return self.of_day(|split| split.day_end_ns),
            Slot::KeySet(_) | Slot::KeyAll(_) | Slot::JsonSet | Slot::Members | Slot::WidthInterval => {
                return Cell::Null;
            }
        };
        Cell::I64(whole)
    }

    /// The end of the range that is meant: a point is asked for by its start.
    fn end_ns(&self) -> i64 {
        match self.query.ask {
            Ask::Point { .. } => self.query.range.start_ns.saturating_add(1),
            _ => self.query.range.end_ns,
        }
    }

    fn key(&self, key: usize) -> Cell<'a> {
        match self.query.series {
            Selection::One(series) => self.table.key_cell(self.description, key, series),
            _ => Cell::Null,
        }
    }

    fn member_key(&self, member: usize, key: usize) -> Cell<'a> {
        let known = |series: &&u32| **series < self.description.series.len();
        let series = match &self.query.series {
            Selection::Set(set) => set.iter().filter(known).nth(member).copied(),
            _ => u32::try_from(member).ok(),
        };
        series.map_or(Cell::Null, |series| self.table.key_cell(self.description, key, series))
    }

    fn tag_value(&self) -> Cell<'a> {
        match &self.query.series {
            Selection::Tagged { tag, value } => match self.description.series.columns().get(*tag) {
                Some(TagColumn::Integer(_)) => value.parse().map_or(Cell::Null, Cell::I64),
                _ => Cell::Text(value),
            },
            _ => Cell::Null,
        }
    }

    fn threshold(&self) -> Cell<'a> {
        match &self.query.ask {
            Ask::First(predicate) | Ask::Last(predicate) | Ask::SeriesMatching(predicate) => {
                Cell::F64(predicate.threshold)
            }
            _ => self.number(0),
        }
    }

    fn number(&self, place: usize) -> Cell<'a> {
        match &self.query.ask {
            Ask::Derived(derived) => derived.numbers().get(place).map_or(Cell::Null, |&one| Cell::F64(one)),
            _ => Cell::Null,
        }
    }

    /// The windows of an aggregate, where it has them.
    pub fn window(&self) -> Option<Window> {
        match &self.query.ask {
            Ask::Aggregate { grouping, .. } => grouping.window,
            Ask::Derived(derived) => derived.window(),
            _ => None,
        }
    }

    fn of_window(&self, part: impl FnOnce(Window) -> i64) -> Cell<'a> {
        self.window().map_or(Cell::Null, |window| Cell::I64(part(window)))
    }

    fn of_day(&self, part: impl FnOnce(DaySplit) -> i64) -> Cell<'a> {
        match &self.query.ask {
            Ask::Aggregate { grouping, .. } => {
                grouping.by_day_part.map_or(Cell::Null, |split| Cell::I64(part(split)))
            }
            _ => Cell::Null,
        }
    }

    /// Calls for each series that a question names and the table has. If it names none, calls for all of them.
    pub fn each_series(&self, mut each: impl FnMut(u32)) {
        let count = self.description.series.len();
        match &self.query.series {
            Selection::One(series) if *series < count => each(*series),
            Selection::One(_) => {}
            Selection::Set(set) => set.iter().filter(|&&it| it < count).for_each(|&it| each(it)),
            Selection::Tagged { .. } | Selection::All => (0..count).for_each(each),
        }
    }

    /// The series of the set as a JSON array, of keys or of arrays of keys.
    pub fn json_set(&self) -> String {
        let mut text = vec![b'['];
        let width = self.table.keys.len();
        self.each_series(|series| {
            if text.len() > 1 {
                text.push(b',');
            }
            for key in 0..width {
                text.extend_from_slice(match (width, key) {
                    (1, _) => b"",
                    (_, 0) => b"[",
                    _ => b",",
                });
                match self.table.key_cell(self.description, key, series) {
                    Cell::Text(value) => json::text(value, &mut text),
                    Cell::I64(value) => json::integer(value, &mut text),
                    Cell::I32(value) => json::integer(i64::from(value), &mut text),
                    _ => text.extend_from_slice(b"null"),
                }
            }
            if width > 1 {
                text.push(b']');
            }
        });
        text.push(b']');
        // JSON of texts is text.
        String::from_utf8(text).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_parameter_that_is_used_twice_is_bound_once_or_twice() {
        let marked = |slots: &mut Slots| {
            let end = slots.use_slot(Slot::End, ColumnType::I64);
            let start = slots.use_slot(Slot::Start, ColumnType::I64);
            let again = slots.use_slot(Slot::End, ColumnType::I64);
            format!("SELECT {start} + {end} - {again}")
        };
        let mut slots = Slots::default();
        let text = marked(&mut slots);
        let (text, slots, _) = slots.finish(&text, Placeholder::Numbered('$'));
        assert_eq!(text, "SELECT $2 + $1 - $1");
        assert_eq!(slots, [Slot::End, Slot::Start]);
        let mut slots = Slots::default();
        let text = marked(&mut slots);
        let (text, slots, _) = slots.finish(&text, Placeholder::Positional);
        assert_eq!(text, "SELECT ? + ? - ?");
        assert_eq!(slots, [Slot::Start, Slot::End, Slot::End]);
    }
}
