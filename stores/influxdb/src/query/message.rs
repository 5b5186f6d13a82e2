//! Answers in `MessagePack`, as InfluxDB writes them: found out where each series' rows are, then read where they are needed.
//!
//! Only what InfluxDB writes is understood; everything else is an unexpected answer. Nothing is copied but text that is kept.

use crate::error::{garbled, refused};
use crate::schema::Measurement;
use sensormark_store::{Column, StoreError, Value, Values};

const OPERATION: &str = "read an answer";

/// One item.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Item<'a> {
    /// Nothing.
    Nil,
    /// A truth value.
    Bool(bool),
    /// A whole number.
    Whole(i64),
    /// A floating point number.
    Real(f64),
    /// Text.
    Text(&'a str),
    /// The start of a list of this many items.
    List(usize),
    /// The start of this many pairs.
    Pairs(usize),
}

/// Why an item could not be read.
enum Stop {
    /// The bytes end too early.
    Early,
    /// It is nothing that InfluxDB writes.
    Strange,
}

/// A place in an answer.
#[derive(Debug, Clone)]
pub(crate) struct Cells<'a> {
    bytes: &'a [u8],
    at: usize,
}

/// The rows of one series of an answer.
#[derive(Debug)]
pub(crate) struct Rows<'a> {
    tags: Vec<(&'a str, &'a str)>,
    /// How many rows there are.
    pub(crate) count: usize,
    cells: Cells<'a>,
    /// Names of the columns.
    pub(crate) columns: Vec<&'a str>,
    /// The name of the series.
    pub(crate) name: &'a str,
    /// Whether the series goes on in a later part of the answer.
    is_part: bool,
}

fn strange() -> StoreError {
    garbled(OPERATION, "the answer is not what InfluxDB writes")
}

impl<'a> Cells<'a> {
    fn new(bytes: &'a [u8]) -> Self {
        Self { bytes, at: 0 }
    }

    fn take(&mut self, count: usize) -> Result<&'a [u8], Stop> {
        let end = self.at.checked_add(count).ok_or(Stop::Strange)?;
        let part = self.bytes.get(self.at..end).ok_or(Stop::Early)?;
        self.at = end;
        Ok(part)
    }

    fn number(&mut self, count: usize) -> Result<u64, Stop> {
        let part = self.take(count)?;
        Ok(part.iter().fold(0, |number, &byte| number << 8 | u64::from(byte)))
    }

    fn length(&mut self, count: usize) -> Result<usize, Stop> {
        usize::try_from(self.number(count)?).map_err(|_| Stop::Strange)
    }

    fn text(&mut self, count: usize) -> Result<Item<'a>, Stop> {
        let part = self.take(count)?;
        std::str::from_utf8(part).map(Item::Text).map_err(|_| Stop::Strange)
    }

    fn item(&mut self) -> Result<Item<'a>, Stop> {
        let kind = self.take(1)?[0];
        Ok(match kind {
            0x00..=0x7f => Item::Whole(i64::from(kind)),
            0x80..=0x8f => Item::Pairs(usize::from(kind & 0x0f)),
            0x90..=0x9f => Item::List(usize::from(kind & 0x0f)),
            0xa0..=0xbf => self.text(usize::from(kind & 0x1f))?,
            0xc0 => Item::Nil,
            0xc2 => Item::Bool(false),
            0xc3 => Item::Bool(true),
            0xca => {
                let bits = u32::try_from(self.number(4)?).map_err(|_| Stop::Strange)?;
                Item::Real(f64::from(f32::from_bits(bits)))
            }
            0xcb => Item::Real(f64::from_bits(self.number(8)?)),
            0xcc..=0xcf => {
                let number = self.number(1 << (kind - 0xcc))?;
                Item::Whole(i64::try_from(number).map_err(|_| Stop::Strange)?)
            }
            0xd0 => Item::Whole(self.signed(1)?),
            0xd1 => Item::Whole(self.signed(2)?),
            0xd2 => Item::Whole(self.signed(4)?),
            0xd3 => Item::Whole(self.signed(8)?),
            0xd9 => {
                let length = self.length(1)?;
                self.text(length)?
            }
            0xda => {
                let length = self.length(2)?;
                self.text(length)?
            }
            0xdb => {
                let length = self.length(4)?;
                self.text(length)?
            }
            0xdc => Item::List(self.length(2)?),
            0xdd => Item::List(self.length(4)?),
            0xde => Item::Pairs(self.length(2)?),
            0xdf => Item::Pairs(self.length(4)?),
            0xe0..=0xff => Item::Whole(i64::from(kind) - 256),
            _ => return Err(Stop::Strange),
        })
    }

    /// A signed number of this many bytes.
    fn signed(&mut self, count: u32) -> Result<i64, Stop> {
        let number = self.number(count as usize)?.cast_signed();
        let unused = 64 - 8 * count;
        Ok(number << unused >> unused)
    }

    fn skip(&mut self) -> Result<(), Stop> {
        let mut left = 1_usize;
        while left > 0 {
            left -= 1;
            match self.item()? {
                Item::List(count) => left += count,
                Item::Pairs(count) => left += 2 * count,
                _ => {}
            }
        }
        Ok(())
    }

    fn word(&mut self) -> Result<&'a str, Stop> {
        match self.item()? {
            Item::Text(text) => Ok(text),
            _ => Err(Stop::Strange),
        }
    }

    fn list(&mut self) -> Result<usize, Stop> {
        match self.item()? {
            Item::List(count) => Ok(count),
            Item::Nil => Ok(0),
            _ => Err(Stop::Strange),
        }
    }

    fn pairs(&mut self) -> Result<usize, Stop> {
        match self.item()? {
            Item::Pairs(count) => Ok(count),
            _ => Err(Stop::Strange),
        }
    }

    /// Begins a row: its time, which is followed by its other cells.
    pub(crate) fn begin_row(&mut self, others: usize) -> Result<i64, StoreError> {
        match (self.item(), self.item()) {
            (Ok(Item::List(count)), Ok(Item::Whole(time))) if count == others + 1 => Ok(time),
            _ => Err(strange()),
        }
    }

    /// The next cell of a row.
    pub(crate) fn cell(&mut self) -> Result<Item<'a>, StoreError> {
        self.item().map_err(|_| strange())
    }

    /// A whole row: its time and its other cells.
    pub(crate) fn row(&mut self, others: usize) -> Result<(i64, Vec<Value>), StoreError> {
        let time = self.begin_row(others)?;
        let mut values = Vec::with_capacity(others);
        for _ in 0..others {
            values.push(self.cell()?.value()?);
        }
        Ok((time, values))
    }
}

impl Item<'_> {
    /// The item as a value.
    pub(crate) fn value(self) -> Result<Value, StoreError> {
        Ok(match self {
            Self::Nil => Value::Null,
            Self::Bool(value) => Value::Bool(value),
            Self::Whole(value) => Value::I64(value),
            Self::Real(value) => Value::F64(value),
            Self::Text(value) => Value::Text(value.to_owned()),
            Self::List(_) | Self::Pairs(_) => return Err(strange()),
        })
    }

    /// Appends the item to a column of its type.
    pub(crate) fn push_to(self, column: &mut Column) -> Result<(), StoreError> {
        match (&mut column.values, self) {
            (_, Item::Nil) => {
                column.push_null();
                return Ok(());
            }
            (Values::Bool(values), Item::Bool(value)) => values.push(value),
            (Values::I64(values), Item::Whole(value)) => values.push(value),
            (Values::U16(values), Item::Whole(value)) => {
                values.push(u16::try_from(value).map_err(|_| strange())?);
            }
            (Values::U16(values), Item::Real(value)) => {
                let value = whole(value).and_then(|value| u16::try_from(value).ok());
                values.push(value.ok_or_else(strange)?);
            }
            (Values::F64(values), Item::Real(value)) => values.push(value),
            (Values::Text(values), Item::Text(value)) => values.push(value),
            _ => return Err(strange()),
        }
        if let Some(present) = &mut column.present {
            present.push(true);
        }
        Ok(())
    }
}

/// The whole number that is kept as a floating point one, where it is whole and from 0 to before 2^52.
pub(crate) fn whole(value: f64) -> Option<i64> {
    // From here to twice this, floating point numbers are the whole numbers, in order of their bits.
    const UNIT: f64 = 4_503_599_627_370_496.0;
    if !(0.0..UNIT).contains(&value) {
        return None;
    }
    let whole = (value + UNIT).to_bits() - UNIT.to_bits();
    let whole = whole.cast_signed();
    ((whole as f64).to_bits() == value.to_bits()).then_some(whole)
}

impl<'a> Rows<'a> {
    /// The first of the rows.
    pub(crate) fn cells(&self) -> Cells<'a> {
        self.cells.clone()
    }

    /// All rows, whose first cell need not be a time.
    pub(crate) fn plain(&self) -> Result<Vec<Vec<Value>>, StoreError> {
        let mut cells = self.cells();
        let mut all = Vec::with_capacity(self.count);
        for _ in 0..self.count {
            let count = cells.list().map_err(|_| strange())?;
            let mut values = Vec::with_capacity(count);
            for _ in 0..count {
                values.push(cells.cell()?.value()?);
            }
            all.push(values);
        }
        Ok(all)
    }

    /// The value of a tag of the series, empty where it has none.
    pub(crate) fn tag(&self, key: &str) -> &'a str {
        let found = self.tags.iter().find(|(name, _)| *name == key);
        found.map_or("", |(_, value)| value)
    }

    /// The number of the series, where it is not known already.
    pub(crate) fn series(&self, measurement: &Measurement, known: Option<u32>) -> Result<u32, StoreError> {
        known
            .or_else(|| measurement.series_with(|tag| self.tag(&measurement.tags[tag])))
            .ok_or_else(|| garbled(OPERATION, "there is a series that is not in the schema"))
    }
}

/// The sentence of a refusal, which comes in the form of an answer.
pub(crate) fn sentence(bytes: &[u8]) -> Option<&str> {
    let mut cells = Cells::new(bytes);
    match (cells.pairs(), cells.word(), cells.word()) {
        (Ok(1), Ok("error"), Ok(sentence)) => Some(sentence),
        _ => None,
    }
}

/// The series of all results; none where the answer is not whole yet.
pub(crate) fn read_results<'a>(
    operation: &str,
    bytes: &'a [u8],
) -> Result<Option<Vec<Rows<'a>>>, StoreError> {
    let mut cells = Cells::new(bytes);
    let mut all = Vec::new();
    match results(operation, &mut cells, &mut all) {
        Ok(result) => result?,
        Err(Stop::Early) => return Ok(None),
        Err(Stop::Strange) => return Err(strange()),
    }
    if all.iter().any(|rows| rows.is_part) {
        return Err(garbled(operation, "the answer was cut at the server's max-row-limit, which must be 0"));
    }
    Ok(Some(all))
}

/// One part of an answer that comes in parts, and how many bytes it has; none where it is not whole yet.
pub(crate) fn read_part<'a>(
    operation: &str,
    bytes: &'a [u8],
) -> Result<Option<(Vec<Rows<'a>>, usize)>, StoreError> {
    let mut cells = Cells::new(bytes);
    let mut all = Vec::new();
    match results(operation, &mut cells, &mut all) {
        Ok(result) => result?,
        Err(Stop::Early) => return Ok(None),
        Err(Stop::Strange) => return Err(strange()),
    }
    Ok(Some((all, cells.at)))
}

type Refusal = Result<(), StoreError>;

fn results<'a>(operation: &str, cells: &mut Cells<'a>, all: &mut Vec<Rows<'a>>) -> Result<Refusal, Stop> {
    let mut refusal = Ok(());
    for _ in 0..cells.pairs()? {
        match cells.word()? {
            "error" => refusal = Err(refused(operation, 200, cells.word()?)),
            "results" => {
                for _ in 0..cells.list()? {
                    let result = one_result(operation, cells, all)?;
                    refusal = refusal.and(result);
                }
            }
            _ => cells.skip()?,
        }
    }
    Ok(refusal)
}

fn one_result<'a>(operation: &str, cells: &mut Cells<'a>, all: &mut Vec<Rows<'a>>) -> Result<Refusal, Stop> {
    let mut refusal = Ok(());
    for _ in 0..cells.pairs()? {
        match cells.word()? {
            "error" => refusal = Err(refused(operation, 200, cells.word()?)),
            "series" => {
                for _ in 0..cells.list()? {
                    all.push(one_series(cells)?);
                }
            }
            _ => cells.skip()?,
        }
    }
    Ok(refusal)
}

fn one_series<'a>(cells: &mut Cells<'a>) -> Result<Rows<'a>, Stop> {
    let mut rows = Rows {
        tags: Vec::new(),
        count: 0,
        cells: cells.clone(),
        columns: Vec::new(),
        name: "",
        is_part: false,
    };
    for _ in 0..cells.pairs()? {
        match cells.word()? {
            "name" => rows.name = cells.word()?,
            "tags" => {
                for _ in 0..cells.pairs()? {
                    rows.tags.push((cells.word()?, cells.word()?));
                }
            }
            "columns" => {
                for _ in 0..cells.list()? {
                    rows.columns.push(cells.word()?);
                }
            }
            "values" => {
                rows.count = cells.list()?;
                rows.cells = cells.clone();
                for _ in 0..rows.count {
                    cells.skip()?;
                }
            }
            "partial" => rows.is_part = matches!(cells.item()?, Item::Bool(true)),
            _ => cells.skip()?,
        }
    }
    Ok(rows)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `{"results":[{"statement_id":0,"series":[{"name":"m","tags":{"a":"b"},"columns":["time","v"],"values":[[1000,null],[-1,2.5]]}]}]}`
    const ANSWER: &[u8] = b"\x81\xa7results\x91\x82\xacstatement_id\x00\xa6series\x91\x84\xa4name\xa1m\xa4tags\x81\xa1a\xa1b\xa7columns\x92\xa4time\xa1v\xa6values\x92\x92\xd1\x03\xe8\xc0\x92\xff\xcb\x40\x04\x00\x00\x00\x00\x00\x00";

    #[test]
    fn rows_are_found_and_read() {
        let all = read_results("ask", ANSWER).unwrap().unwrap();
        let [rows] = all.as_slice() else { panic!("{all:?}") };
        assert_eq!((rows.tag("a"), rows.tag("z"), rows.count), ("b", "", 2));
        assert_eq!(rows.columns, ["time", "v"]);
        let mut cells = rows.cells();
        assert_eq!(cells.row(1).unwrap(), (1_000, vec![Value::Null]));
        assert_eq!(cells.row(1).unwrap(), (-1, vec![Value::F64(2.5)]));
        for end in 0..ANSWER.len() {
            assert!(read_results("ask", &ANSWER[..end]).unwrap().is_none());
        }
    }

    #[test]
    fn an_error_within_is_a_refusal() {
        let body = b"\x81\xa7results\x91\x81\xa5error\xb5database not found: x";
        let error = read_results("ask", body).unwrap_err();
        assert_eq!(error.kind(), sensormark_store::ErrorKind::NotFound);
    }

    #[test]
    fn hostile_answers_are_errors() {
        let examples = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fuzz/message");
        sensormark_conformance::fuzz::target("InfluxDB messages", examples.as_ref(), |bytes| {
            let _ = read_part("ask", bytes);
            let Ok(Some(all)) = read_results("ask", bytes) else {
                return;
            };
            for rows in all {
                let (mut cells, others) = (rows.cells(), rows.columns.len().max(1) - 1);
                for _ in 0..rows.count {
                    let Ok((_, values)) = cells.row(others) else {
                        break;
                    };
                    assert_eq!(values.len(), others);
                }
                let _ = rows.plain();
            }
        });
    }
}
