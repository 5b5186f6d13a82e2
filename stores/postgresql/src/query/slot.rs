//! Parameters of a statement: what each stands for, and its value for a question.

use crate::cell::{Cell, array};
use crate::schema::{Content, Model, TableModel};
use crate::write::tag_cell;
use bytes::BufMut;
use sensormark_store::{Ask, Query, Selection, Table, TagColumn};
use tokio_postgres::types::Type;

/// What a parameter stands for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Slot {
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
    /// One key column of all series of the set, an array.
    KeySet(usize),
    /// One key column of all series of the table, an array.
    KeyAll(usize),
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
    /// Where windows start, as a timestamp.
    OriginTimestamp,
}

/// A statement's parameters, as they come up while its text is written.
#[derive(Debug, Default)]
pub(crate) struct Slots {
    /// What they stand for.
    pub(crate) slots: Vec<Slot>,
    /// Their types.
    pub(crate) kinds: Vec<Type>,
}

impl Slots {
    /// The parameter for this slot, as the text has it.
    pub(crate) fn use_slot(&mut self, slot: Slot, kind: Type) -> String {
        let position = self
            .slots
            .iter()
            .position(|&other| other == slot)
            .unwrap_or_else(|| {
                self.slots.push(slot);
                self.kinds.push(kind);
                self.slots.len() - 1
            });
        format!("${}", position + 1)
    }
}

/// Values that must be encoded before a statement is sent: arrays and intervals.
pub(crate) struct Encoded(Vec<(Slot, Vec<u8>)>);

impl Encoded {
    /// Encodes what these slots need.
    pub(crate) fn new(
        slots: &[Slot],
        query: &Query,
        table: &TableModel,
        description: &Table,
    ) -> Self {
        let mut encoded = Vec::new();
        for &slot in slots {
            let bytes = match (slot, &query.series) {
                (Slot::KeySet(key), Selection::Set(set)) => {
                    let known: Vec<u32> = set
                        .iter()
                        .copied()
                        .filter(|&series| series < description.series.len())
                        .collect();
                    let cells = known
                        .iter()
                        .map(|&series| key_cell(table, description, key, series));
                    array(&table.columns[table.keys[key]].kind, cells)
                }
                (Slot::KeyAll(key), _) => {
                    let cells = (0..description.series.len() as usize).map(|series| {
                        key_cell(
                            table,
                            description,
                            key,
                            u32::try_from(series).unwrap_or(u32::MAX),
                        )
                    });
                    array(&table.columns[table.keys[key]].kind, cells)
                }
                (Slot::WidthInterval, _) => {
                    let mut bytes = Vec::with_capacity(16);
                    bytes.put_i64(window(query).map_or(0, |window| window.width_ns / 1_000));
                    bytes.put_i64(0);
                    bytes
                }
                _ => continue,
            };
            encoded.push((slot, bytes));
        }
        Self(encoded)
    }
}

fn window(query: &Query) -> Option<sensormark_store::Window> {
    match &query.ask {
        Ask::Aggregate { grouping, .. } => grouping.window,
        _ => None,
    }
}

/// A series' value of key column number `key`.
fn key_cell<'a>(table: &TableModel, description: &'a Table, key: usize, series: u32) -> Cell<'a> {
    match table.columns[table.keys[key]].content {
        Content::Tag(tag) => tag_cell(description, tag, series),
        _ => Cell::I32(i32::try_from(series).unwrap_or(i32::MAX)),
    }
}

/// A slot's value for a question.
pub(crate) fn value<'a>(
    slot: Slot,
    query: &'a Query,
    model: &Model,
    table: &TableModel,
    description: &'a Table,
    encoded: &'a Encoded,
) -> Cell<'a> {
    let span_ns = model.span().map_or(1, |span| span.0);
    match slot {
        Slot::Start => Cell::I64(model.bound_key(query.range.start_ns)),
        Slot::End => Cell::I64(model.bound_key(query.range.end_ns)),
        Slot::StartNs => Cell::I64(query.range.start_ns),
        Slot::EndNs => Cell::I64(query.range.end_ns),
        Slot::FirstSpan => Cell::I64(query.range.start_ns.div_euclid(span_ns)),
        Slot::LastSpan => Cell::I64(query.range.end_ns.saturating_sub(1).div_euclid(span_ns)),
        Slot::Key(key) => match query.series {
            Selection::One(series) => key_cell(table, description, key, series),
            _ => Cell::Null,
        },
        Slot::TagValue => match &query.series {
            Selection::Tagged { tag, value } => match description.series.columns().get(*tag) {
                Some(TagColumn::Integer(_)) => value.parse().map_or(Cell::Null, Cell::I64),
                _ => Cell::Text(value),
            },
            _ => Cell::Null,
        },
        Slot::Threshold => match &query.ask {
            Ask::First(predicate) | Ask::Last(predicate) | Ask::SeriesMatching(predicate) => {
                Cell::F64(predicate.threshold)
            }
            _ => Cell::Null,
        },
        Slot::Width => window(query).map_or(Cell::Null, |window| Cell::I64(window.width_ns)),
        Slot::Origin => window(query).map_or(Cell::Null, |window| Cell::I64(window.origin_ns)),
        Slot::OriginTimestamp => window(query).map_or(Cell::Null, |window| {
            Cell::I64(model.time_key(window.origin_ns))
        }),
        Slot::KeySet(_) | Slot::KeyAll(_) | Slot::WidthInterval => encoded
            .0
            .iter()
            .find(|(other, _)| *other == slot)
            .map_or(Cell::Null, |(_, bytes)| Cell::Encoded(bytes)),
    }
}
