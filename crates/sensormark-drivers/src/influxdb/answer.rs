//! Answers in `MessagePack`, as InfluxDB writes them: each row is handed on where it lies. Numbers are exact, absent values differ from empty text, and no digits are parsed.
//!
//! Only what InfluxDB writes is understood; everything else is an unexpected answer.

use super::http::{garbled, refused};
use super::row::Cells;
use crate::{Cell, EachRow, Fault};
use sensormark_kit::url::percent_decoded;
use sensormark_store::StoreError;

/// What rows are made of.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub(super) struct Wanted {
    /// The tags of GROUP BY, which each row begins with.
    tags: Vec<String>,
    /// Whether its time follows.
    is_timed: bool,
    /// Whether each becomes a line with the name of its series, as answers of several statements do.
    are_lines: bool,
}

impl Wanted {
    /// What this statement's rows are made of.
    pub(super) fn of(text: &str) -> Self {
        let (_, groups) = text.rsplit_once(" GROUP BY ").unwrap_or_default();
        let groups = groups.split(" fill(").next().unwrap_or_default();
        Self {
            tags: groups.split('"').skip(1).step_by(2).map(str::to_owned).collect(),
            is_timed: text.starts_with("SELECT time, "),
            are_lines: text.contains(';') || text.starts_with("EXPLAIN "),
        }
    }
}

/// An item.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Item<'a> {
    Cell(Cell<'a>),
    /// The start of a list of this many items.
    List(usize),
    /// The start of this many pairs.
    Pairs(usize),
}

/// Why an item could not be read: the bytes end too early, it is nothing that InfluxDB writes, or what it says.
enum Stop {
    Early,
    Strange,
    Fault(Fault),
}

impl From<StoreError> for Stop {
    fn from(error: StoreError) -> Self {
        Self::Fault(error.into())
    }
}

/// A place in an answer.
struct Answer<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl<'a> Answer<'a> {
    fn take(&mut self, count: usize) -> Result<&'a [u8], Stop> {
        let end = self.at.checked_add(count).ok_or(Stop::Strange)?;
        let part = self.bytes.get(self.at..end).ok_or(Stop::Early)?;
        self.at = end;
        Ok(part)
    }

    fn number(&mut self, count: usize) -> Result<u64, Stop> {
        Ok(self.take(count)?.iter().fold(0, |number, &byte| number << 8 | u64::from(byte)))
    }

    fn length(&mut self, count: usize) -> Result<usize, Stop> {
        usize::try_from(self.number(count)?).map_err(|_| Stop::Strange)
    }

    fn text(&mut self, count: usize) -> Result<Item<'a>, Stop> {
        let text = std::str::from_utf8(self.take(count)?);
        text.map(|text| Item::Cell(Cell::Text(text))).map_err(|_| Stop::Strange)
    }

    #[inline]
    fn item(&mut self) -> Result<Item<'a>, Stop> {
        let kind = self.take(1)?[0];
        Ok(match kind {
            0x00..=0x7f => Item::Cell(Cell::I64(kind.into())),
            0x80..=0x8f => Item::Pairs(usize::from(kind & 0x0f)),
            0x90..=0x9f => Item::List(usize::from(kind & 0x0f)),
            0xa0..=0xbf => self.text(usize::from(kind & 0x1f))?,
            0xc0 => Item::Cell(Cell::Null),
            0xc2 | 0xc3 => Item::Cell(Cell::Bool(kind == 0xc3)),
            0xca => {
                let bits = u32::try_from(self.number(4)?).map_err(|_| Stop::Strange)?;
                Item::Cell(Cell::F64(f32::from_bits(bits).into()))
            }
            0xcb => Item::Cell(Cell::F64(f64::from_bits(self.number(8)?))),
            0xcc..=0xcf => {
                let number = self.number(1 << (kind - 0xcc))?;
                Item::Cell(Cell::I64(i64::try_from(number).map_err(|_| Stop::Strange)?))
            }
            0xd0..=0xd3 => {
                let bytes = 1 << (kind - 0xd0);
                let unused = 64 - 8 * bytes;
                Item::Cell(Cell::I64(self.number(bytes)?.cast_signed() << unused >> unused))
            }
            0xd9..=0xdb => {
                let length = self.length(1 << (kind - 0xd9))?;
                self.text(length)?
            }
            0xdc | 0xdd => Item::List(self.length(2 << (kind - 0xdc))?),
            0xde | 0xdf => Item::Pairs(self.length(2 << (kind - 0xde))?),
            0xe0..=0xff => Item::Cell(Cell::I64(i64::from(kind) - 256)),
            _ => return Err(Stop::Strange),
        })
    }

    fn skip(&mut self) -> Result<(), Stop> {
        let mut left = 1_usize;
        while left > 0 {
            left -= 1;
            match self.item()? {
                Item::List(count) => left += count,
                Item::Pairs(count) => left += 2 * count,
                Item::Cell(_) => {}
            }
        }
        Ok(())
    }

    fn word(&mut self) -> Result<&'a str, Stop> {
        match self.item()? {
            Item::Cell(Cell::Text(text)) => Ok(text),
            _ => Err(Stop::Strange),
        }
    }

    fn list(&mut self) -> Result<usize, Stop> {
        match self.item()? {
            Item::List(count) => Ok(count),
            Item::Cell(Cell::Null) => Ok(0),
            _ => Err(Stop::Strange),
        }
    }

    fn pairs(&mut self) -> Result<usize, Stop> {
        match self.item()? {
            Item::Pairs(count) => Ok(count),
            _ => Err(Stop::Strange),
        }
    }

    /// An object: its results, or its series; the first refusal counts.
    fn object(
        &mut self,
        list: &str,
        of_each: &mut dyn FnMut(&mut Self) -> Result<(), Stop>,
    ) -> Result<(), Stop> {
        let mut refusal = Ok(());
        for _ in 0..self.pairs()? {
            match self.word()? {
                "error" => refusal = Err(Stop::Fault(refused(200, self.word()?))),
                name if name == list => {
                    for _ in 0..self.list()? {
                        match of_each(self) {
                            Err(Stop::Fault(fault)) if refusal.is_ok() => refusal = Err(Stop::Fault(fault)),
                            done => done?,
                        }
                    }
                }
                _ => self.skip()?,
            }
        }
        refusal
    }

    /// The rows of a series; false where no more are wanted.
    fn series(&mut self, wanted: &Wanted, in_parts: bool, each: &mut EachRow<'_>) -> Result<(), Stop> {
        let (mut name, mut tags, mut has_time) = ("", Vec::new(), false);
        for _ in 0..self.pairs()? {
            match self.word()? {
                "name" => name = self.word()?,
                "tags" => {
                    for _ in 0..self.pairs()? {
                        let tag = self.word()?;
                        let value = percent_decoded(self.word()?).map_err(|_| Stop::Strange)?;
                        tags.push((tag, value));
                    }
                }
                "columns" => {
                    for place in 0..self.list()? {
                        has_time |= self.word()? == "time" && place == 0;
                    }
                }
                "values" => {
                    let value = |tag: &String| tags.iter().find(|(name, _)| name == tag);
                    let keys = wanted.tags.iter().map(|tag| value(tag).map_or("", |(_, value)| value));
                    let mut row = Cells::plain(keys.map(Cell::Text).collect());
                    for _ in 0..self.list()? {
                        self.row(&mut row, wanted, has_time)?;
                        if wanted.are_lines {
                            let line = row.line(name);
                            each(&Cells::plain(vec![Cell::Text(&line)]))?;
                        } else {
                            each(&row)?;
                        }
                    }
                }
                "partial" if self.item()? == Item::Cell(Cell::Bool(true)) && !in_parts => {
                    let what = "the answer was cut at the server's max-row-limit, which must be 0";
                    return Err(garbled(what).into());
                }
                "partial" => {}
                _ => self.skip()?,
            }
        }
        Ok(())
    }

    /// Puts the cells of a row behind its keys.
    #[inline]
    fn row<'b>(&mut self, row: &mut Cells<'b>, wanted: &Wanted, has_time: bool) -> Result<(), Stop>
    where
        'a: 'b,
    {
        row.cells.truncate(wanted.tags.len());
        for place in 0..self.list()? {
            match self.item()? {
                Item::Cell(_) if place == 0 && has_time && !wanted.is_timed => {}
                Item::Cell(cell) => row.cells.push(cell),
                _ => return Err(Stop::Strange),
            }
        }
        Ok(())
    }
}

/// The sentence of a refusal, which comes in the form of an answer.
pub(super) fn sentence(bytes: &[u8]) -> Option<&str> {
    let mut answer = Answer { bytes, at: 0 };
    match (answer.pairs(), answer.word(), answer.word()) {
        (Ok(1), Ok("error"), Ok(sentence)) => Some(sentence),
        _ => None,
    }
}

fn fault(stop: Stop) -> Fault {
    match stop {
        Stop::Early => garbled("the answer ends too early").into(),
        Stop::Strange => garbled("the answer is not what InfluxDB writes").into(),
        Stop::Fault(fault) => fault,
    }
}

/// Hands on the rows of all answers that are whole, and says how many bytes they took. An answer that is not `in_parts` is one.
pub(super) fn read(
    bytes: &[u8],
    wanted: &Wanted,
    in_parts: bool,
    each: &mut EachRow<'_>,
) -> Result<usize, Fault> {
    let mut answer = Answer { bytes, at: 0 };
    while answer.at < bytes.len() {
        let start = answer.at;
        if in_parts {
            match answer.skip() {
                Err(Stop::Early) => return Ok(start),
                done => done.map_err(fault)?,
            }
            answer.at = start;
        }
        let results = answer.object("results", &mut |answer| {
            answer.object("series", &mut |answer| answer.series(wanted, in_parts, each))
        });
        results.map_err(fault)?;
    }
    Ok(answer.at)
}

#[cfg(test)]
mod tests {
    use super::*;
    use sensormark_kit::Row;
    use sensormark_store::{FieldType, Value};

    /// `{"results":[{"statement_id":0,"series":[{"name":"m","tags":{"a":"b"},"columns":["time","v"],"values":[[1000,null],[-1,2.5]]}]}]}`
    const ANSWER: &[u8] = b"\x81\xa7results\x91\x82\xacstatement_id\x00\xa6series\x91\x84\xa4name\xa1m\xa4tags\x81\xa1a\xa1b\xa7columns\x92\xa4time\xa1v\xa6values\x92\x92\xd1\x03\xe8\xc0\x92\xff\xcb\x40\x04\x00\x00\x00\x00\x00\x00";

    #[test]
    fn rows_are_handed_on_where_they_lie() {
        let wanted =
            Wanted::of("SELECT time, \"v\" FROM \"m\" GROUP BY time(1ns, 0ns), \"z\", \"a\" fill(none)");
        let mut rows = Vec::new();
        let mut each = |row: &dyn Row| {
            rows.push((
                row.text(0)?.to_owned(),
                row.text(1)?.to_owned(),
                row.integer(2)?,
                row.value(3, FieldType::F64)?,
            ));
            Ok(true)
        };
        assert_eq!(read(ANSWER, &wanted, false, &mut each).unwrap(), ANSWER.len());
        let row = |time, value| (String::new(), "b".to_owned(), time, value);
        assert_eq!(rows, [row(1_000, Value::Null), row(-1, Value::F64(2.5))]);
        for end in 1..ANSWER.len() {
            assert!(read(&ANSWER[..end], &wanted, false, &mut |_| Ok(true)).is_err());
            assert_eq!(read(&ANSWER[..end], &wanted, true, &mut |_| Ok(true)).unwrap(), 0);
        }
    }

    #[test]
    fn names_behind_the_groups_are_no_tags() {
        let text = "SELECT time, \"max\" FROM (SELECT max(\"v\") FROM \"m\" GROUP BY time(1ns, 0ns) fill(none)) WHERE \"max\" > 1.0";
        assert_eq!(Wanted::of(text), Wanted { is_timed: true, ..Wanted::default() });
    }

    #[test]
    fn an_error_within_is_a_refusal() {
        let body = b"\x81\xa7results\x91\x81\xa5error\xb5database not found: x";
        let refused = read(body, &Wanted::default(), false, &mut |_| Ok(true));
        assert!(matches!(refused, Err(Fault::Refused { text, .. }) if text == "database not found: x"));
    }

    #[test]
    fn a_time_that_is_not_named_is_left_out() {
        let mut found = Vec::new();
        read(ANSWER, &Wanted::of("SELECT max(\"v\")"), false, &mut |row| {
            found.push(row.value(0, FieldType::F64)?);
            Ok(true)
        })
        .unwrap();
        assert_eq!(found, [Value::Null, Value::F64(2.5)]);
    }

    #[test]
    fn hostile_answers_are_errors() {
        let examples = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fuzz/influxdb-message");
        let texts = ["SELECT time, \"v\" GROUP BY \"a\"", "SELECT \"v\"", "SHOW TAG KEYS; SHOW FIELD KEYS"];
        let wanted = texts.map(Wanted::of);
        let kinds = [FieldType::Bool, FieldType::I64, FieldType::F64, FieldType::Text];
        sensormark_conformance::fuzz::target("InfluxDB messages", examples.as_ref(), |bytes| {
            for wanted in &wanted {
                for in_parts in [false, true] {
                    let _ = read(bytes, wanted, in_parts, &mut |row| {
                        let _ = (row.text(0), row.integer(1), row.printed(1));
                        let _ = kinds.map(|kind| row.value(2, kind));
                        Ok(true)
                    });
                }
            }
            let _ = sentence(bytes);
        });
    }
}
