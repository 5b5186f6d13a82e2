//! GridDB's C client, wrapped so that the rest of the driver needs no `unsafe`.
//!
//! Every handle keeps what it came from alive, closes itself, and stays on its thread.
#![allow(unsafe_code, reason = "GridDB has a C client and no network protocol that is open to others")]

use super::foreign::{
    Blob, Code, ColumnInfo, ContainerInfo, ContainerRows, Flag, Functions, Handle, PlanLine, Property, Text,
};
use super::kind::{Kind, TYPES};
use crate::foreign::text_at;
use crate::{Cell, Fault};
use sensormark_kit::unexpected;
use sensormark_store::StoreError;
use std::cell::RefCell;
use std::ffi::{CStr, CString};
use std::fmt::Display;
use std::mem::zeroed;
use std::ptr::{null, null_mut};
use std::rc::Rc;
use std::sync::{Mutex, PoisonError};

/// A text as the library takes it.
fn text(value: &str) -> Result<CString, Fault> {
    Ok(CString::new(value).map_err(|_| unexpected("a text holds a NUL character"))?)
}

/// Codes that say only that a cause failed.
const SAY_NOTHING: [i32; 5] = [0, 140_000, 140_027, 150_000, 60_000];
/// A connection that broke, a time-out on it among the reasons.
const BROKEN: i32 = 140_028;

/// A refusal with these codes: its own, then those of its causes. Behind each stand its classes, in which `x` stands for a digit.
pub(super) fn refused(numbers: &[i32], text: String) -> Fault {
    // That the client stopped trying, which it calls a time-out too, is not meant.
    let reasons = text.replace("Failover timed out", "");
    let is_silent = reasons.contains("timed out") || reasons.contains("Failed to connect");
    let mut codes = Vec::new();
    if numbers.contains(&BROKEN) && is_silent {
        codes.push(format!("{BROKEN}-silent"));
    }
    for &number in numbers {
        codes.push(number.to_string());
        if !SAY_NOTHING.contains(&number) {
            codes.extend(
                [(10, "x"), (100, "xx"), (1_000, "xxx")].map(|(part, x)| format!("{}{x}", number / part)),
            );
        }
    }
    Fault::Refused { codes, source: text.clone().into(), text }
}

/// What the library says of the last failure of a resource.
fn failure(library: &Functions, resource: Handle, code: Code) -> Fault {
    let (mut codes, mut texts) = (vec![code], Vec::<String>::new());
    // SAFETY: the resource is one of the library's, and alive; the buffer is as long as stated, and the library ends the text with a NUL.
    unsafe {
        for level in 0..(library.gsGetErrorStackSize)(resource).min(8) {
            let mut buffer = [0; 1024];
            (library.gsFormatErrorMessage)(resource, level, buffer.as_mut_ptr(), buffer.len());
            codes.push((library.gsGetErrorCode)(resource, level));
            let said = text_at(buffer.as_ptr());
            if !texts.iter().any(|text| text.contains(&said)) {
                texts.push(said);
            }
        }
    }
    codes.dedup();
    refused(&codes, texts.join("; "))
}

/// A resource that gives itself back, and before that keeps what it came from.
struct Owned {
    library: &'static Functions,
    raw: Handle,
    close: fn(&Functions, *mut Handle),
    from: Option<Rc<Self>>,
}

impl Drop for Owned {
    fn drop(&mut self) {
        (self.close)(self.library, &raw mut self.raw);
    }
}

impl Owned {
    fn check(&self, code: Code) -> Result<(), Fault> {
        if code == 0 { Ok(()) } else { Err(failure(self.library, self.raw, code)) }
    }
}

/// Calls a function on a resource.
macro_rules! call {
    ($on:expr, $function:ident $(, $argument:expr)*) => {{
        let on = &*$on;
        // SAFETY: the resource is open; what arguments point to lives until after the call.
        on.check(unsafe { (on.library.$function)(on.raw $(, $argument)*) })
    }};
}

/// The resource that a function gives of another one, if it gives any.
macro_rules! give {
    ($on:expr, $function:ident($($argument:expr),*), $close:ident($($how:expr)?)) => {{
        let (from, mut raw): (&Rc<Owned>, Handle) = (&$on, null_mut());
        // SAFETY: the resource is open, and what came from it is closed, because it kept this.
        let close = |library: &Functions, raw| unsafe { (library.$close)(raw $(, $how)?) };
        call!(from, $function $(, $argument)*, &raw mut raw).map(|()| {
            let given = Owned { library: from.library, raw, close, from: Some(Rc::clone(from)) };
            (!raw.is_null()).then_some(given)
        })
    }};
}

/// There is one where the library says that there is.
fn there<T>(found: Option<T>) -> Result<T, Fault> {
    Ok(found.ok_or_else(|| unexpected("the C client gives nothing"))?)
}

/// Ns in a unit of a TIMESTAMP.
pub(super) const MILLISECOND: i64 = 1_000_000;

/// The words of a column: its name in quotes, its type's, and what else it is (`PRIMARY KEY`, `NULL`).
pub(super) type Column<'a> = Vec<&'a str>;

/// `GSTypeOption`s.
const NULLABLE: i32 = 1 << 1;
const NOT_NULL: i32 = 1 << 2;

/// What was sent, with its values.
type Sent = Vec<(String, Vec<String>)>;

/// One connection.
pub(super) struct Connection {
    store: Rc<Owned>,
    /// What was sent, where somebody wants to know.
    pub(super) sent: RefCell<Option<Sent>>,
}

/// An open container.
#[derive(Clone)]
pub(super) struct Container {
    owned: Rc<Owned>,
    name: Rc<str>,
}

/// One row, whose fields hold anything until they are set. It serves all containers of its columns.
pub(super) struct Row(Owned);

/// What a question found: rows, the value of an aggregate, or a plan.
pub(super) struct Found(Rc<Owned>);

fn handles(rows: &[Row]) -> Vec<Handle> {
    rows.iter().map(|row| row.0.raw).collect()
}

/// Texts as the library takes them, in pairs.
fn pairs(all: &[(&str, String)]) -> Result<Vec<[CString; 2]>, Fault> {
    all.iter().map(|(name, value)| Ok([text(name)?, text(value)?])).collect()
}

fn properties(pairs: &[[CString; 2]]) -> Vec<Property> {
    pairs.iter().map(|[name, value]| Property { name: name.as_ptr(), value: value.as_ptr() }).collect()
}

impl Connection {
    /// A connection with these properties, which asks nothing yet. Those of the `factory` are for all later connections of this process, so they are set with it.
    pub(super) fn open(
        library: &'static Functions,
        factory: &[(&str, String)],
        own: &[(&str, String)],
    ) -> Result<Self, Fault> {
        static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());
        let _guard = ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner);
        // SAFETY: it takes nothing, and the default factory lives for ever.
        let raw = unsafe { (library.gsGetDefaultFactory)() };
        let all = Rc::new(Owned { library, raw, close: |_, _| {}, from: None });
        let (factory, own) = (pairs(factory)?, pairs(own)?);
        let (shared, own) = (properties(&factory), properties(&own));
        call!(all, gsSetFactoryProperties, shared.as_ptr(), shared.len())?;
        let store = give!(all, gsGetGridStore(own.as_ptr(), own.len()), gsCloseGridStore(1))?;
        Ok(Self { store: Rc::new(there(store)?), sent: RefCell::default() })
    }

    #[inline]
    fn note(&self, text: &str, values: impl FnOnce() -> Vec<String>) {
        if let Some(sent) = &mut *self.sent.borrow_mut() {
            sent.push((text.to_owned(), values()));
        }
    }

    #[inline]
    fn note_call(&self, call: &str, container: &Container, value: impl Display) {
        self.note(call, || vec![container.name.to_string(), value.to_string()]);
    }

    /// Makes a container, unless it is there and has this shape. Its first column may be the key.
    pub(super) fn make(&self, name: &str, time_series: bool, columns: &[Column<'_>]) -> Result<(), Fault> {
        let name = text(name)?;
        let names =
            columns.iter().map(|words| text(words[0].trim_matches('"'))).collect::<Result<Vec<_>, _>>()?;
        let column = |(words, name): (&Column<'_>, &CString)| ColumnInfo {
            name: name.as_ptr(),
            kind: TYPES.iter().find(|one| words[1] == one.0).map_or(-1, |one| one.2),
            index_flags: -1,
            options: if words[2..] == ["NULL"] { NULLABLE } else { NOT_NULL },
        };
        let infos: Vec<_> = columns.iter().zip(&names).map(column).collect();
        // SAFETY: a description of zeros is one of nothing.
        let mut info: ContainerInfo = unsafe { zeroed() };
        (info.name, info.kind) = (name.as_ptr(), time_series.into());
        (info.columns, info.column_count) = (infos.as_ptr(), infos.len());
        info.row_key_assigned = columns[0].contains(&"KEY").into();
        let made = give!(
            self.store,
            gsPutContainerGeneralV4_3(name.as_ptr(), &raw const info, 0),
            gsCloseContainer(0)
        );
        made.map(drop)
    }

    /// The container of this name, if it is there.
    pub(super) fn container(&self, name: &str) -> Result<Option<Container>, Fault> {
        self.note("gsGetContainerGeneral", || vec![name.to_owned()]);
        let text = text(name)?;
        let found = give!(self.store, gsGetContainerGeneral(text.as_ptr()), gsCloseContainer(0))?;
        Ok(found.map(|owned| Container { owned: Rc::new(owned), name: name.into() }))
    }

    /// Drops a container; one that is not there is fine.
    pub(super) fn drop_container(&self, name: &str) -> Result<(), Fault> {
        call!(self.store, gsDropContainer, text(name)?.as_ptr())
    }

    /// The names of all containers, or of so many a partition. It fails where a partition does not answer.
    pub(super) fn names(&self, most: Option<i64>) -> Result<Vec<String>, Fault> {
        let all = give!(self.store, gsGetPartitionController(), gsClosePartitionController())?;
        let (all, most) = (there(all)?, most.as_ref().map_or(null(), std::ptr::from_ref));
        let (mut partitions, mut names) = (0, Vec::new());
        call!(&all, gsGetPartitionCount, &raw mut partitions)?;
        for partition in 0..partitions {
            let (mut found, mut count) = (null(), 0);
            call!(&all, gsGetPartitionContainerNames, partition, 0, most, &raw mut found, &raw mut count)?;
            // SAFETY: the list holds `count` texts until the next call.
            names.extend((0..count).map(|number| unsafe { text_at(*found.add(number)) }));
        }
        Ok(names)
    }

    /// Makes an index on a column, of the kind that its type has by default (a tree).
    pub(super) fn index(&self, container: &Container, column: &str) -> Result<(), Fault> {
        call!(container.owned, gsCreateIndex, text(column.trim_matches('"'))?.as_ptr(), -1)
    }

    /// Lets rows wait for a commit, where each statement commits by itself until then.
    pub(super) fn commit_by_hand(&self, container: &Container) -> Result<(), Fault> {
        call!(container.owned, gsSetAutoCommit, 0)
    }

    /// Commits.
    pub(super) fn commit(&self, container: &Container) -> Result<(), Fault> {
        self.note("gsCommit", || vec![container.name.to_string()]);
        call!(container.owned, gsCommit)
    }

    /// Takes back what was not committed.
    pub(super) fn abort(&self, container: &Container) -> Result<(), Fault> {
        call!(container.owned, gsAbort)
    }

    /// Puts a row, in place of the one with its key.
    pub(super) fn put(&self, container: &Container, row: &Row) -> Result<(), Fault> {
        self.note_call("gsPutRow", container, "1 row");
        let mut existed: Flag = 0;
        call!(container.owned, gsPutRow, null(), row.0.raw, &raw mut existed)
    }

    /// The same of rows in one request.
    pub(super) fn put_rows(&self, container: &Container, rows: &[Row]) -> Result<(), Fault> {
        self.note_call("gsPutMultipleRows", container, format_args!("{} rows", rows.len()));
        let (rows, mut existed): (_, Flag) = (handles(rows), 0);
        call!(container.owned, gsPutMultipleRows, rows.as_ptr(), rows.len(), &raw mut existed)
    }

    /// The same of rows of several containers. They go one request a node.
    pub(super) fn put_many(&self, parts: &[(Container, Vec<Row>)]) -> Result<(), Fault> {
        let names = parts.iter().map(|part| text(&part.0.name)).collect::<Result<Vec<_>, _>>()?;
        let rows: Vec<Vec<Handle>> = parts.iter().map(|part| handles(&part.1)).collect();
        let entry = |(name, rows): (&CString, &Vec<Handle>)| ContainerRows {
            name: name.as_ptr(),
            rows: rows.as_ptr(),
            count: rows.len(),
        };
        let entries: Vec<_> = names.iter().zip(&rows).map(entry).collect();
        self.note("gsPutMultipleContainerRows", || {
            let (count, first) = (rows.iter().map(Vec::len).sum::<usize>(), &parts[0].0.name);
            vec![format!("{count} rows into {} containers, the first of which is {first}", parts.len())]
        });
        call!(self.store, gsPutMultipleContainerRows, entries.as_ptr(), entries.len())
    }

    /// Reads the row with this key, if there is one.
    pub(super) fn row_by(
        &self,
        container: &Container,
        kind: Kind,
        key: i64,
        row: &mut Row,
    ) -> Result<bool, Fault> {
        let (row, mut exists): (_, Flag) = (row.0.raw, 0);
        if kind == Kind::Timestamp {
            self.note_call("gsGetRowByTimestamp", container, key);
            call!(container.owned, gsGetRowByTimestamp, key, row, 0, &raw mut exists)?;
        } else {
            self.note_call("gsGetRowByLong", container, key);
            call!(container.owned, gsGetRowByLong, key, row, 0, &raw mut exists)?;
        }
        Ok(exists != 0)
    }

    /// A row of a container's columns.
    pub(super) fn row(&self, container: &Container) -> Result<Row, Fault> {
        let mut row = there(give!(container.owned, gsCreateRowByContainer(), gsCloseRow())?)?;
        // It outlives the container.
        row.from = Some(Rc::clone(&self.store));
        Ok(Row(row))
    }

    /// Asks questions in TQL, several of them together; answers in their order.
    pub(super) fn ask(&self, questions: &[(Container, &str)]) -> Result<Vec<Found>, Fault> {
        let query = |(container, tql): &(Container, &str)| {
            self.note(tql, || vec![container.name.to_string()]);
            Ok(Rc::new(there(give!(container.owned, gsQuery(text(tql)?.as_ptr()), gsCloseQuery())?)?))
        };
        let queries = questions.iter().map(query).collect::<Result<Vec<Rc<Owned>>, Fault>>()?;
        if let [query] = &queries[..] {
            return Ok(vec![Found(Rc::new(there(give!(*query, gsFetch(0), gsCloseRowSet())?)?))]);
        }
        let all: Vec<Handle> = queries.iter().map(|query| query.raw).collect();
        call!(self.store, gsFetchAll, all.as_ptr(), all.len())?;
        let found =
            |query: &Rc<Owned>| Ok(Found(Rc::new(there(give!(*query, gsGetRowSet(), gsCloseRowSet())?)?)));
        queries.iter().map(found).collect()
    }
}

impl Row {
    /// Sets a field; the library copies what it gets.
    #[inline]
    pub(super) fn set(&mut self, column: i32, kind: Kind, cell: Cell<'_>) -> Result<(), Fault> {
        let row = &self.0;
        match (kind, cell) {
            (_, Cell::Null) => call!(row, gsSetRowFieldNull, column),
            (_, Cell::Bool(value)) => call!(row, gsSetRowFieldByBool, column, value.into()),
            (Kind::Integer, Cell::I64(value)) => {
                call!(row, gsSetRowFieldByInteger, column, i32::try_from(value).unwrap_or(i32::MAX))
            }
            (Kind::Timestamp, Cell::I64(value)) => call!(row, gsSetRowFieldByTimestamp, column, value),
            (_, Cell::I64(value)) => call!(row, gsSetRowFieldByLong, column, value),
            (_, Cell::F64(value)) => call!(row, gsSetRowFieldByDouble, column, value),
            (_, Cell::Text(value)) => call!(row, gsSetRowFieldByString, column, text(value)?.as_ptr()),
            (_, Cell::Bytes(value)) => {
                let blob = Blob { size: value.len(), data: value.as_ptr().cast() };
                call!(row, gsSetRowFieldByBlob, column, &raw const blob)
            }
            _ => Err(unexpected("a value that no column takes").into()),
        }
    }

    /// A field's value, which belongs to the row: what changes a row needs it for itself.
    pub(super) fn cell(&self, column: i32, kind: Kind) -> Result<Cell<'_>, Fault> {
        macro_rules! read {
            ($function:ident) => {{
                // SAFETY: zeros are a value of each type that is read: numbers, and pointers to nothing.
                let mut value = unsafe { zeroed() };
                call!(&self.0, $function, column, &raw mut value)?;
                value
            }};
        }
        if read!(gsGetRowFieldNull) != 0 {
            return Ok(Cell::Null);
        }
        Ok(match kind {
            Kind::Bool => Cell::Bool(read!(gsGetRowFieldAsBool) != 0),
            Kind::Integer => Cell::I64(read!(gsGetRowFieldAsInteger).into()),
            Kind::Long => Cell::I64(read!(gsGetRowFieldAsLong)),
            Kind::Double => Cell::F64(read!(gsGetRowFieldAsDouble)),
            // In ns.
            Kind::Timestamp => Cell::I64(read!(gsGetRowFieldAsTimestamp).saturating_mul(MILLISECOND)),
            Kind::String => {
                let value: Text = read!(gsGetRowFieldAsString);
                // SAFETY: the library gives a text that ends with NUL and stays until the row changes.
                Cell::Text(utf8(unsafe { CStr::from_ptr(value) }.to_bytes())?)
            }
            Kind::Blob | Kind::Json => {
                let blob: Blob = read!(gsGetRowFieldAsBlob);
                let bytes = match blob.size {
                    0 => &[],
                    // SAFETY: the library gives so many bytes, which stay until the row changes.
                    size => unsafe { std::slice::from_raw_parts(blob.data.cast::<u8>(), size) },
                };
                if kind == Kind::Json { Cell::Text(utf8(bytes)?) } else { Cell::Bytes(bytes) }
            }
        })
    }
}

fn utf8(bytes: &[u8]) -> Result<&str, StoreError> {
    std::str::from_utf8(bytes).map_err(|_| unexpected("a text is not UTF-8"))
}

impl Found {
    pub(super) fn has_next(&self) -> bool {
        // SAFETY: the row set is open.
        unsafe { (self.0.library.gsHasNextRow)(self.0.raw) != 0 }
    }

    /// Reads the next row.
    pub(super) fn next(&self, row: &mut Row) -> Result<(), Fault> {
        call!(self.0, gsGetNextRow, row.0.raw)
    }

    /// The value of an aggregate, a floating point number or a whole one; none where there was nothing to aggregate.
    pub(super) fn aggregate(&self, kind: Kind) -> Result<Cell<'static>, Fault> {
        if !self.has_next() {
            return Ok(Cell::Null);
        }
        let found = there(give!(self.0, gsGetNextAggregation(), gsCloseAggregationResult())?)?;
        let (mut whole, mut real, mut assigned): (_, _, Flag) = (0, 0.0, 0);
        if kind == Kind::Double {
            call!(&found, gsGetAggregationValueAsDouble, &raw mut real, &raw mut assigned)?;
        } else {
            call!(&found, gsGetAggregationValueAsLong, &raw mut whole, &raw mut assigned)?;
        }
        if assigned == 0 {
            return Err(unexpected("an aggregate is of another type").into());
        }
        Ok(if kind == Kind::Double { Cell::F64(real) } else { Cell::I64(whole) })
    }

    /// The lines of a plan as people read them: indented by their depth, what each is, its value, and the part of the question that it is of.
    pub(super) fn plan(&self) -> Result<String, Fault> {
        let mut lines = Vec::new();
        while self.has_next() {
            // SAFETY: zeros are a line without texts.
            let mut line: PlanLine = unsafe { zeroed() };
            call!(self.0, gsGetNextQueryAnalysis, &raw mut line)?;
            // SAFETY: its texts live until the next call, and are copied before.
            let mut words =
                [line.kind, line.value, line.statement].map(|part| unsafe { text_at(part) }).to_vec();
            words.retain(|word| !word.is_empty());
            lines.push("  ".repeat(usize::try_from(line.depth).unwrap_or(0)) + &words.join(" "));
        }
        Ok(lines.join("\n"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn codes(numbers: &[i32], text: &str) -> Vec<String> {
        match refused(numbers, text.to_owned()) {
            Fault::Refused { codes, .. } => codes,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn a_code_stands_before_its_classes() {
        assert_eq!(codes(&[140_015], ""), ["140015", "14001x", "1400xx", "140xxx"]);
        assert_eq!(codes(&[140_027, 10_016], ""), ["140027", "10016", "1001x", "100xx", "10xxx"]);
    }

    #[test]
    fn a_silent_server_is_told_from_one_that_is_gone() {
        let silent = "Failover timed out (reason=Connection timed out on receiving (receivedSize=0))";
        assert_eq!(codes(&[140_028], silent)[0], "140028-silent");
        let gone = "Failover timed out (reason=Connection problem occurred on receiving (reset by peer))";
        assert_eq!(codes(&[140_028], gone)[0], "140028");
    }
}
