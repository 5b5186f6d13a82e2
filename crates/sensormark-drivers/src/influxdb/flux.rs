//! Questions in Flux: `rows(KEYS; VALUES) SCRIPT`, whose answer comes as CSV.
//!
//! A key is a column, or `window WIDTH ORIGIN END`: the start of the window that `_start` and `_stop` are in, END being the slot of the range's end. A value is a column, or a field, whose
//! value stands in `_value` beside its name in `_field`; with a function before it, of results of that name. What rows of equal keys have is one row.
//!
//! An answer is a run of blocks, each a header and rows, with an empty line before the next header. Only what InfluxDB writes is understood.

use super::http::{garbled, refused};
use super::row::Cells;
use super::text::{LATEST, literal};
use crate::{Cell, EachRow, Fault, pieces};
use sensormark_kit::Row;
use sensormark_kit::url::percent_decoded;
use sensormark_store::{StoreError, Window};
use std::borrow::Cow;
use std::collections::BTreeMap;

/// The first column that a script has named; before it are an empty one, the result's name and the table's number.
const FIRST: usize = 3;

/// A question.
pub(super) struct Question {
    keys: Vec<String>,
    /// The windows, and the slot of the range's end.
    window: Option<(Window, usize)>,
    values: Vec<String>,
    script: String,
    /// Whether what a row has may be in several tables.
    is_merged: bool,
}

/// What a row begins with.
type Keys<'a> = Vec<Cow<'a, str>>;
/// What it has behind: none where there is no value.
type Found<'a> = Vec<Option<Cow<'a, str>>>;

impl Question {
    /// Reads a question about this bucket; none where it is none in Flux.
    pub(super) fn read(text: &str, bucket: &str) -> Option<Self> {
        let (head, script) = text.strip_prefix("rows(")?.split_once(')')?;
        let (keys, values) = head.split_once(';')?;
        let words = |list: &str| {
            list.split(',').map(|word| word.trim().to_owned()).filter(|word| !word.is_empty()).collect()
        };
        let (keys, values): (Vec<String>, Vec<String>) = (words(keys), words(values));
        let window = keys.iter().find_map(|key| {
            let mut numbers =
                key.strip_prefix("window ")?.split([' ', '$']).filter_map(|word| word.parse::<i64>().ok());
            let window = Window { width_ns: numbers.next()?, origin_ns: numbers.next()? };
            Some((window, usize::try_from(numbers.next()?).ok()?.checked_sub(1)?))
        });
        let script = script.trim().replace("{database}", bucket);
        let is_merged =
            script.matches("yield(").count() > 1 || values.len() > 1 && !script.contains("pivot(");
        Some(Self { keys, window, values, script, is_merged })
    }

    /// The script with values; none where the range has no time that InfluxDB keeps. Where a range holds its stop, as InfluxDB 1.8's storage has it, it stops earlier. One of a ns has no earlier stop, so that its readings are looked at one by one.
    pub(super) fn with(&self, types: &[String], cells: &[Cell<'_>], holds_stop: bool) -> Option<String> {
        let (mut out, mut start, mut instant) =
            (String::with_capacity(self.script.len() + 64), 0, String::new());
        for (slot, piece) in pieces(&self.script) {
            match slot.and_then(|slot| Some((*cells.get(slot)?, types.get(slot)?))) {
                Some((Cell::I64(time), kind)) if kind == "time" => {
                    let mut time = time.clamp(-LATEST, LATEST);
                    let is_stop = out.ends_with("stop: time(v: ");
                    if is_stop && time <= start {
                        return None;
                    }
                    if is_stop && holds_stop {
                        if time > start + 1 {
                            time -= 1;
                        } else {
                            instant = format!(" |> filter(fn: (r) => r[\"_time\"] < time(v: {time}))");
                        }
                    }
                    start = time;
                    out.push_str(&time.to_string());
                }
                // An empty tag is an absent one.
                Some((Cell::Text(""), _)) if out.ends_with(" == ") => {
                    let tag = out.rfind("r[").unwrap_or_default();
                    let name = out.split_off(tag);
                    out.push_str("not exists ");
                    out.push_str(name.trim_end_matches(" == "));
                }
                Some((cell, kind)) => literal(cell, kind, '"', &mut out),
                None => {}
            }
            out.push_str(piece);
        }
        Some(out.replace(" |> instant()", &instant))
    }

    /// Hands on the rows of an answer.
    pub(super) fn rows(&self, body: &[u8], cells: &[Cell<'_>], each: &mut EachRow<'_>) -> Result<(), Fault> {
        let end = match self.window.and_then(|(_, slot)| cells.get(slot)) {
            Some(Cell::I64(end)) => (*end).min(LATEST),
            _ => LATEST,
        };
        let text = std::str::from_utf8(body).map_err(|_| strange())?;
        let (mut reader, mut merged) = (
            Reader { rest: text, has_begun: false, cells: Vec::new() },
            BTreeMap::<Keys<'_>, Found<'_>>::new(),
        );
        let mut header = Vec::new();
        while let Some(starts) = reader.advance()? {
            if starts {
                header = std::mem::take(&mut reader.cells);
                continue;
            }
            if header.get(1).is_some_and(|name| name == "error") {
                return Err(refused(200, reader.cells.get(1).map_or("", |cell| cell)));
            }
            if header.len() != reader.cells.len() || header.len() < FIRST {
                return Err(strange().into());
            }
            let keys = self.keys_of(&header, &reader.cells, end)?;
            let found = self.values_of(&header, &reader.cells);
            if !found.is_empty() && found.iter().all(Option::is_none) {
                continue;
            }
            if !self.is_merged {
                each(&row(&keys, &found))?;
                continue;
            }
            let known = merged.entry(keys).or_insert_with(|| vec![None; self.values.len()]);
            for (known, found) in known.iter_mut().zip(found) {
                if found.is_some() {
                    *known = found;
                }
            }
        }
        for (keys, found) in &merged {
            each(&row(keys, found))?;
        }
        Ok(())
    }

    fn keys_of<'a>(
        &self,
        header: &[Cow<'_, str>],
        cells: &[Cow<'a, str>],
        end: i64,
    ) -> Result<Keys<'a>, StoreError> {
        let named = |name: &str| place(header, name).map_or(Cow::Borrowed(""), |place| cells[place].clone());
        let key = |key: &String| match self.window.filter(|_| key.starts_with("window ")) {
            Some((window, _)) => {
                let edges = [named("_start"), named("_stop")];
                let edges = Cells::csv(edges.iter().map(|edge| Cell::Text(edge)).collect());
                let (start, stop) = (edges.integer(0)?, edges.integer(1)?);
                // A window of the range's last nanosecond alone comes as one of no length at the range's start.
                let inside = if start == stop { end - 1 } else { start };
                Ok(window.start_of(inside).to_string().into())
            }
            None => match named(key) {
                cell if cell.contains('%') => percent_decoded(&cell).map(Cow::Owned).map_err(|_| strange()),
                cell => Ok(cell),
            },
        };
        self.keys.iter().map(key).collect()
    }

    fn values_of<'a>(&self, header: &[Cow<'_, str>], cells: &[Cow<'a, str>]) -> Found<'a> {
        let value = |wanted: &String| {
            if let Some(place) = place(header, wanted) {
                return Some(cells[place].clone()).filter(|cell| !cell.is_empty());
            }
            let (function, field) = wanted.split_once(' ').unwrap_or(("", wanted));
            let is_of = function.is_empty() || cells[1].split('/').next() == Some(function);
            let is_found = is_of && cells[place(header, "_field")?] == *field;
            let cell = cells[place(header, "_value")?].clone();
            // What functions have of no readings is nothing.
            let is_nothing = match function {
                "" => false,
                "count" => cell == "0",
                _ => cell.is_empty() && !cells[1].ends_with("/text"),
            };
            (is_found && !is_nothing).then_some(cell)
        };
        self.values.iter().map(value).collect()
    }
}

/// Which column has this name.
fn place(header: &[Cow<'_, str>], name: &str) -> Option<usize> {
    (FIRST..header.len()).find(|&place| header[place] == name)
}

fn row<'b>(keys: &'b Keys<'_>, found: &'b Found<'_>) -> Cells<'b> {
    let found = found.iter().map(|cell| cell.as_ref().map_or(Cell::Null, |cell| Cell::Text(cell)));
    Cells::csv(keys.iter().map(|key| Cell::Text(key)).chain(found).collect())
}

/// An answer that is not what InfluxDB writes.
fn strange() -> StoreError {
    garbled("the answer is not what InfluxDB writes")
}

fn early() -> StoreError {
    garbled("the answer ends too early")
}

/// A place in an answer, and the cells of its line.
struct Reader<'a> {
    rest: &'a str,
    has_begun: bool,
    cells: Vec<Cow<'a, str>>,
}

impl<'a> Reader<'a> {
    /// Reads the next line, and says whether it is a header: the first one, and one behind an empty line. None at the end.
    fn advance(&mut self) -> Result<Option<bool>, StoreError> {
        let starts = !self.has_begun || self.rest.starts_with(['\r', '\n']);
        self.has_begun = true;
        self.rest = self.rest.trim_start_matches(['\r', '\n']);
        if self.rest.is_empty() {
            return Ok(None);
        }
        self.cells.clear();
        loop {
            let cell = match self.rest.strip_prefix('"') {
                Some(rest) => self.quoted(rest)?,
                None => {
                    let (cell, rest) =
                        self.rest.split_at(self.rest.find([',', '\r', '\n']).unwrap_or(self.rest.len()));
                    self.rest = rest;
                    cell.into()
                }
            };
            self.cells.push(cell);
            let is_over = !self.rest.starts_with(',');
            let ends = if is_over { ["\r\n", "\n"].as_slice() } else { &[","] };
            let rest = ends.iter().find_map(|end| self.rest.strip_prefix(end));
            self.rest = rest.ok_or_else(early)?;
            if is_over {
                return Ok(Some(starts));
            }
        }
    }

    /// Reads a cell whose opening quote is read: quotes in it are doubled, and a line's end is written as two characters.
    fn quoted(&mut self, text: &'a str) -> Result<Cow<'a, str>, StoreError> {
        let (mut end, mut is_plain) = (0, true);
        loop {
            end += text[end..].find('"').ok_or_else(early)?;
            if !text[end + 1..].starts_with('"') {
                break;
            }
            (end, is_plain) = (end + 2, false);
        }
        self.rest = &text[end + 1..];
        let text = &text[..end];
        Ok(if is_plain && !text.contains('\r') {
            text.into()
        } else {
            text.replace("\"\"", "\"").replace("\r\n", "\n").into()
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use sensormark_store::{FieldType, Value};

    const ANSWER: &str = ",result,table,_value,_field,host\r\n,a,0,1.5,v,a%25\r\n,a,0,2,w,a%25\r\n,a,1,,v,\"b,\"\"c\"\"\"\r\n\r\n,result,table,host,t\r\n,other,0,\"x\r\n\r\ny\",5\r\n\r\n";

    fn rows(head: &str, answer: &str) -> Result<Vec<(String, Vec<Value>)>, Fault> {
        let question =
            Question::read(&format!("rows({head}) a |> yield() b |> yield()"), "b").expect("a question");
        let mut found = Vec::new();
        question.rows(answer.as_bytes(), &[], &mut |row| {
            let values = (1..=question.values.len()).map(|place| row.value(place, FieldType::F64));
            found.push((row.text(0)?.to_owned(), values.collect::<Result<_, _>>()?));
            Ok(true)
        })?;
        Ok(found)
    }

    #[test]
    fn what_tables_have_of_the_same_keys_is_a_row() {
        let found = rows("host; v, w, t", ANSWER).unwrap();
        let row = |host: &str, values: [Value; 3]| (host.to_owned(), values.to_vec());
        let none = Value::Null;
        assert_eq!(
            found,
            [
                row("a%", [Value::F64(1.5), Value::F64(2.0), none.clone()]),
                row("b,\"c\"", [none.clone(), none.clone(), none.clone()]),
                row("x\n\ny", [none.clone(), none, Value::F64(5.0)]),
            ]
        );
        let found = rows("host; a w, other w", ANSWER).unwrap();
        assert_eq!(found[0].1, [Value::F64(2.0), Value::Null]);
    }

    #[test]
    fn an_answer_without_its_end_is_no_answer() {
        for end in 1..ANSWER.len() - 4 {
            let cut = &ANSWER[..end];
            if !cut.ends_with(['\n', '\r']) {
                assert!(rows("host; v", cut).is_err(), "{cut:?}");
            }
        }
        let body = ",result,table,_value\r\n,_result,0,1\r\n\r\n,error,reference\r\n,no database,\r\n";
        assert!(matches!(rows("host; v", body), Err(Fault::Refused { text, .. }) if text == "no database"));
    }

    #[test]
    fn a_range_stops_earlier_where_it_holds_its_stop() {
        let text = "rows(_time; v) from(bucket: \"{database}\") |> range(start: time(v: $1), stop: time(v: $2)) |> filter(fn: (r) => r[\"a\"] == $3 and r[\"b\"] == $4) |> instant() |> last()";
        let question = Question::read(text, "d/autogen").expect("a question");
        let types: Vec<String> = ["time", "time", "tag", "tag"].map(str::to_owned).into();
        let with = |start, end, holds| {
            let cells = [Cell::I64(start), Cell::I64(end), Cell::Text("x\"$"), Cell::Text("")];
            question.with(&types, &cells, holds).expect("a script")
        };
        let filter = "filter(fn: (r) => r[\"a\"] == \"x\\\"%24\" and not exists r[\"b\"])";
        let range = |stop| {
            format!(
                "from(bucket: \"d/autogen\") |> range(start: time(v: 5), stop: time(v: {stop})) |> {filter}"
            )
        };
        assert_eq!(with(5, 9, false), format!("{} |> last()", range(9)));
        assert_eq!(with(5, 9, true), format!("{} |> last()", range(8)));
        let instant = "|> filter(fn: (r) => r[\"_time\"] < time(v: 6)) |> last()";
        assert_eq!(with(5, 6, true), format!("{} {instant}", range(6)));
    }

    #[test]
    fn windows_begin_where_they_would_without_the_range() {
        let head = "window 10 3 $1, host; v";
        let question = Question::read(&format!("rows({head}) x |> yield()"), "").expect("a question");
        let time = |ns: i64| format!("1970-01-01T00:00:00.{ns:09}Z");
        let mut found = Vec::new();
        for (start, stop) in [(15, 23), (15, 15)] {
            let body = format!(",r,t,_start,_stop,v\r\n,r,0,{},{},1\r\n", time(start), time(stop));
            question
                .rows(body.as_bytes(), &[Cell::I64(24)], &mut |row| {
                    found.push(row.integer(0)?);
                    Ok(true)
                })
                .unwrap();
        }
        assert_eq!(found, [13, 23]);
    }

    #[test]
    fn hostile_answers_are_errors() {
        let examples = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fuzz/influxdb-csv");
        let heads = ["_time, host; _value", "window 7 0 $1, host; v, count w"];
        let questions =
            heads.map(|head| Question::read(&format!("rows({head}) x |> yield()"), "").expect("a question"));
        let kinds = [FieldType::Bool, FieldType::I64, FieldType::F64, FieldType::Text];
        sensormark_conformance::fuzz::target("InfluxDB CSV", examples.as_ref(), |bytes| {
            for question in &questions {
                let _ = question.rows(bytes, &[Cell::I64(9)], &mut |row| {
                    let _ = (row.integer(0), row.text(1));
                    let _ = kinds.map(|kind| row.value(2, kind));
                    Ok(true)
                });
            }
        });
    }
}
