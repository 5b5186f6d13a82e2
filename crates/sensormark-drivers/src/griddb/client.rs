//! GridDB's C client, wrapped so that the rest of the driver needs no `unsafe`.
//!
//! Every handle keeps what it came from alive, closes itself, and stays on its thread.
#![allow(unsafe_code, reason = "GridDB has a C client and no network protocol that is open to others")]

use super::foreign::{Blob, Code, ColumnInfo, ContainerInfo, ContainerRows, Flag, Functions, Handle};
use super::foreign::{IndexInfo, PlanLine, Property, Text};
use crate::foreign::text_at;
use crate::{Cell, Fault};
use sensormark_kit::unexpected;
use sensormark_store::StoreError;
use std::cell::RefCell;
use std::ffi::{CStr, CString};
use std::mem::zeroed;
use std::path::PathBuf;
use std::ptr::null_mut;
use std::rc::Rc;
use std::sync::{Mutex, OnceLock, PoisonError};

/// Files that may be the library, the most particular first.
fn candidates() -> Vec<PathBuf> {
    let named = |name: &str| std::env::var_os(name).map(PathBuf::from);
    let mut files: Vec<PathBuf> = named("SENSORMARK_GRIDDB_CLIENT").into_iter().collect();
    for home in ["SENSORMARK_GRIDDB_HOME", "GS_HOME"].into_iter().filter_map(named) {
        files.extend(["lib", "lib64", "bin"].map(|folder| home.join(folder).join("libgridstore.so")));
    }
    files.extend(["libgridstore.so.0", "libgridstore.so"].map(PathBuf::from));
    files
}

/// The library, loaded when it is first needed; else why it cannot be.
pub(super) fn library() -> Result<&'static Functions, String> {
    static LIBRARY: OnceLock<Result<&'static Functions, String>> = OnceLock::new();
    let load = || {
        let mut failures = Vec::new();
        for file in candidates().into_iter().filter(|file| !file.is_absolute() || file.is_file()) {
            // SAFETY: a file of this name, in a folder that the user or the system names, is GridDB's client.
            match unsafe { Functions::load(&file) } {
                Ok(functions) => return Ok(functions),
                Err(error) => failures.push(format!("{}: {error}", file.display())),
            }
        }
        Err(failures.join("; "))
    };
    LIBRARY.get_or_init(load).clone()
}

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
            codes.extend([(10, "x"), (100, "xx"), (1_000, "xxx")].map(|(part, x)| format!("{}{x}", number / part)));
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

    /// What this call gives; none where it gives nothing.
    fn give(
        self: &Rc<Self>,
        close: fn(&Functions, *mut Handle),
        call: impl FnOnce(Handle, *mut Handle) -> Code,
    ) -> Result<Option<Self>, Fault> {
        let mut raw = null_mut();
        self.check(call(self.raw, &raw mut raw))?;
        Ok((!raw.is_null()).then(|| Self { library: self.library, raw, close, from: Some(Rc::clone(self)) }))
    }
}

/// There is one where the library says that there is.
fn there<T>(found: Option<T>) -> Result<T, Fault> {
    Ok(found.ok_or_else(|| unexpected("the C client gives nothing"))?)
}

/// The type of a column.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    String,
    Bool,
    Integer,
    Long,
    Double,
    /// Milliseconds since the epoch; ns outside of this file.
    Timestamp,
    Blob,
    /// A BLOB that holds text.
    Json,
}

/// Names of `GSType`, by number; arrays have none of ours.
const TYPES: [&str; 11] =
    ["STRING", "BOOL", "BYTE", "SHORT", "INTEGER", "LONG", "FLOAT", "DOUBLE", "TIMESTAMP", "GEOMETRY", "BLOB"];

impl Kind {
    /// The type of this name.
    pub(super) fn named(name: &str) -> Option<Self> {
        Some(match name {
            "STRING" => Self::String,
            "BOOL" => Self::Bool,
            "INTEGER" => Self::Integer,
            "LONG" => Self::Long,
            "DOUBLE" => Self::Double,
            "TIMESTAMP" => Self::Timestamp,
            "BLOB" => Self::Blob,
            "JSON" => Self::Json,
            _ => return None,
        })
    }
}

/// Ns in a unit of a TIMESTAMP.
pub(super) const MILLISECOND: i64 = 1_000_000;

/// A column to be made: its name, its type's name, whether it may be null.
pub(super) type Column<'a> = (&'a str, &'a str, bool);

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

/// Properties as the library takes them.
fn with_properties<T>(all: &[(&str, String)], call: impl FnOnce(*const Property, usize) -> T) -> Result<T, Fault> {
    let texts = all.iter().map(|(name, value)| Ok((text(name)?, text(value)?)));
    let texts = texts.collect::<Result<Vec<_>, Fault>>()?;
    let entries = texts.iter().map(|(name, value)| Property { name: name.as_ptr(), value: value.as_ptr() });
    let entries: Vec<_> = entries.collect();
    Ok(call(entries.as_ptr(), entries.len()))
}

impl Connection {
    /// A connection with these properties, which asks nothing yet. Those of the `factory` are for all later connections of this process, so they are set with it.
    pub(super) fn open(
        library: &'static Functions,
        factory: &[(&str, String)],
        properties: &[(&str, String)],
    ) -> Result<Self, Fault> {
        static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());
        let _guard = ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner);
        // SAFETY: the default factory lives for ever; entries live until after the calls, with their number.
        unsafe {
            let shared = Rc::new(Owned { library, raw: (library.gsGetDefaultFactory)(), close: |_, _| {}, from: None });
            let set = |first, count| (library.gsSetFactoryProperties)(shared.raw, first, count);
            shared.check(with_properties(factory, set)?)?;
            let close = |library: &Functions, raw| (library.gsCloseGridStore)(raw, 1);
            let store = with_properties(properties, |first, count| {
                shared.give(close, |factory, place| (library.gsGetGridStore)(factory, first, count, place))
            })?;
            Ok(Self { store: Rc::new(there(store?)?), sent: RefCell::default() })
        }
    }

    /// Notes what is sent, where somebody wants to know.
    #[inline]
    fn note(&self, text: &str, values: impl FnOnce() -> Vec<String>) {
        if let Some(sent) = &mut *self.sent.borrow_mut() {
            sent.push((text.to_owned(), values()));
        }
    }

    /// Makes a container, unless it is there and has this shape.
    pub(super) fn make(&self, name: &str, time_series: bool, keyed: bool, columns: &[Column<'_>]) -> Result<(), Fault> {
        let name = text(name)?;
        let names = columns.iter().map(|column| text(column.0)).collect::<Result<Vec<_>, _>>()?;
        let column = |(&(_, kind, nullable), name): (&Column<'_>, &CString)| ColumnInfo {
            name: name.as_ptr(),
            kind: TYPES.iter().zip(0..).find(|(one, _)| **one == kind).map_or(-1, |(_, number)| number),
            index_flags: -1,
            options: if nullable { NULLABLE } else { NOT_NULL },
        };
        let columns: Vec<_> = columns.iter().zip(&names).map(column).collect();
        // SAFETY: a description of zeros is one of nothing.
        let empty: ContainerInfo = unsafe { zeroed() };
        let info = ContainerInfo {
            name: name.as_ptr(),
            kind: time_series.into(),
            column_count: columns.len(),
            columns: columns.as_ptr(),
            row_key_assigned: keyed.into(),
            ..empty
        };
        self.opened(|library, store, place| {
            // SAFETY: the description and what it points to live until after the call.
            unsafe { (library.gsPutContainerGeneralV4_3)(store, name.as_ptr(), &raw const info, 0, place) }
        })?;
        Ok(())
    }

    fn opened(&self, call: impl FnOnce(&Functions, Handle, *mut Handle) -> Code) -> Result<Option<Owned>, Fault> {
        // SAFETY: the container is open; its queries are closed, since they kept it.
        let close = |library: &Functions, raw| unsafe { (library.gsCloseContainer)(raw, 0) };
        self.store.give(close, |store, place| call(self.store.library, store, place))
    }

    /// The container of this name, if it is there.
    pub(super) fn container(&self, name: &str) -> Result<Option<Container>, Fault> {
        self.note("gsGetContainerGeneral", || vec![name.to_owned()]);
        let text = text(name)?;
        // SAFETY: the name lives until after the call.
        let call = |library: &Functions, store, place| unsafe { (library.gsGetContainerGeneral)(store, text.as_ptr(), place) };
        Ok(self.opened(call)?.map(|owned| Container { owned: Rc::new(owned), name: name.into() }))
    }

    /// Drops a container; one that is not there is fine.
    pub(super) fn drop_container(&self, name: &str) -> Result<(), Fault> {
        let name = text(name)?;
        // SAFETY: the name lives until after the call.
        self.store.check(unsafe { (self.store.library.gsDropContainer)(self.store.raw, name.as_ptr()) })
    }

    /// The names of all containers, or of so many a partition. It fails where a partition does not answer.
    pub(super) fn names(&self, most: Option<i64>) -> Result<Vec<String>, Fault> {
        let library = self.store.library;
        let most = most.as_ref().map_or(std::ptr::null(), std::ptr::from_ref);
        let (mut partitions, mut names) = (0, Vec::new());
        // SAFETY: the controller is open until the end; names are copied before the next call, which ends their life; their list holds `count` texts.
        unsafe {
            let close = |library: &Functions, raw| (library.gsClosePartitionController)(raw);
            let all = there(self.store.give(close, |store, place| (library.gsGetPartitionController)(store, place))?)?;
            all.check((library.gsGetPartitionCount)(all.raw, &raw mut partitions))?;
            for partition in 0..partitions {
                let (mut found, mut count) = (std::ptr::null(), 0);
                let (list, size) = (&raw mut found, &raw mut count);
                all.check((library.gsGetPartitionContainerNames)(all.raw, partition, 0, most, list, size))?;
                names.extend((0..count).map(|number| text_at(*found.add(number))));
            }
        }
        Ok(names)
    }

    /// What the server says of a container: its kind, columns, row key and indexes.
    pub(super) fn described(&self, name: &str) -> Result<String, Fault> {
        let (container, store) = (text(name)?, &self.store);
        // SAFETY: the name lives until after the call. What the description points to lives until the next call, and is copied before; lists hold as many entries as it says.
        unsafe {
            let (mut info, mut exists): (ContainerInfo, Flag) = (zeroed(), 0);
            let (info_at, exists_at) = (&raw mut info, &raw mut exists);
            store.check((store.library.gsGetContainerInfoV4_3)(store.raw, container.as_ptr(), info_at, exists_at))?;
            let kind = if info.kind == 1 { "TIMESERIES" } else { "COLLECTION" };
            let mut lines = vec![format!("{kind} {name}")];
            for number in 0..info.column_count {
                let column = &*info.columns.add(number);
                let kind = usize::try_from(column.kind).ok().and_then(|kind| TYPES.get(kind)).unwrap_or(&"ARRAY");
                let key = if info.row_key_assigned != 0 && number == 0 { " row key" } else { "" };
                let filled = if column.options & NOT_NULL != 0 { " NOT NULL" } else { "" };
                lines.push(format!("  {} {kind}{key}{filled}", text_at(column.name)));
            }
            lines.extend((0..info.index_count).map(|number| index(&*info.indexes.add(number))));
            Ok(lines.join("\n"))
        }
    }

    /// Puts rows into several containers. They go one request a node.
    pub(super) fn put_many(&self, parts: &[(Container, Vec<Row>)]) -> Result<(), Fault> {
        let names = parts.iter().map(|(container, _)| text(&container.name)).collect::<Result<Vec<_>, _>>()?;
        let rows: Vec<Vec<Handle>> = parts.iter().map(|(_, rows)| handles(rows)).collect();
        let entry = |(name, rows): (&CString, &Vec<Handle>)| ContainerRows {
            name: name.as_ptr(),
            rows: rows.as_ptr(),
            count: rows.len(),
        };
        let entries: Vec<_> = names.iter().zip(&rows).map(entry).collect();
        self.note("gsPutMultipleContainerRows", || {
            let rows: usize = rows.iter().map(Vec::len).sum();
            vec![format!("{rows} rows into {} containers, the first of which is {}", parts.len(), parts[0].0.name)]
        });
        // SAFETY: entries, names and rows live until after the call.
        let code = unsafe {
            (self.store.library.gsPutMultipleContainerRows)(self.store.raw, entries.as_ptr(), entries.len())
        };
        self.store.check(code)
    }

    /// A row of a container's columns, whose fields hold anything until they are set. It serves all containers of these columns.
    pub(super) fn row(&self, container: &Container) -> Result<Row, Fault> {
        // SAFETY: the row is open.
        let close = |library: &Functions, raw| unsafe { (library.gsCloseRow)(raw) };
        // SAFETY: the container is open.
        let call = |container, place| unsafe { (self.store.library.gsCreateRowByContainer)(container, place) };
        let mut row = there(container.owned.give(close, call)?)?;
        // It outlives the container.
        row.from = Some(Rc::clone(&self.store));
        Ok(Row(row))
    }

    fn query(&self, container: &Container, tql: &str) -> Result<Rc<Owned>, Fault> {
        self.note(tql, || vec![container.name.to_string()]);
        let tql = text(tql)?;
        // SAFETY: the query is open, and its row set closed, since it kept this.
        let close = |library: &Functions, raw| unsafe { (library.gsCloseQuery)(raw) };
        // SAFETY: the container is open, and the text lives until after the call.
        let call = |container, place| unsafe { (self.store.library.gsQuery)(container, tql.as_ptr(), place) };
        Ok(Rc::new(there(container.owned.give(close, call)?)?))
    }

    /// Asks questions in TQL, several of them together; answers in their order.
    pub(super) fn ask(&self, questions: &[(Container, &str)]) -> Result<Vec<Found>, Fault> {
        let library = self.store.library;
        let queries = questions.iter().map(|(container, tql)| self.query(container, tql));
        let queries = queries.collect::<Result<Vec<_>, _>>()?;
        let is_one = queries.len() == 1;
        if !is_one {
            let all: Vec<Handle> = queries.iter().map(|query| query.raw).collect();
            // SAFETY: the queries are open.
            self.store.check(unsafe { (library.gsFetchAll)(self.store.raw, all.as_ptr(), all.len()) })?;
        }
        // SAFETY: the row set is open.
        let close = |library: &Functions, raw| unsafe { (library.gsCloseRowSet)(raw) };
        let found = |query: &Rc<Owned>| {
            // SAFETY: the query is open, and where there are several, it was fetched.
            let set = query.give(close, |query, place| unsafe {
                if is_one { (library.gsFetch)(query, 0, place) } else { (library.gsGetRowSet)(query, place) }
            })?;
            Ok(Found(Rc::new(there(set)?)))
        };
        queries.iter().map(found).collect()
    }
}

/// An index in words.
///
/// # Safety
/// It is of a description that the library has just given.
unsafe fn index(index: &IndexInfo) -> String {
    let kind = match index.kind {
        1 => "TREE",
        2 => "HASH",
        _ => "SPATIAL",
    };
    // SAFETY: by the caller's promise; the list holds as many names as it says.
    let columns = unsafe {
        let named = (0..index.column_name_count).map(|number| text_at(*index.column_names.add(number)));
        let columns = named.collect::<Vec<_>>().join(", ");
        if columns.is_empty() { text_at(index.column_name) } else { columns }
    };
    format!("  INDEX {kind} ({columns})")
}

/// An open container.
#[derive(Clone)]
pub(super) struct Container {
    owned: Rc<Owned>,
    name: Rc<str>,
}

fn handles(rows: &[Row]) -> Vec<Handle> {
    rows.iter().map(|row| row.0.raw).collect()
}

impl Container {
    fn call(&self, call: impl FnOnce(&Functions, Handle) -> Code) -> Result<(), Fault> {
        self.owned.check(call(self.owned.library, self.owned.raw))
    }

    /// Makes an index on a column, of the kind that its type has by default (a tree).
    pub(super) fn index(&self, column: &str) -> Result<(), Fault> {
        let column = text(column)?;
        // SAFETY: the container is open, and the name lives until after the call.
        self.call(|library, container| unsafe { (library.gsCreateIndex)(container, column.as_ptr(), -1) })
    }

    /// Lets rows wait for a commit, where each statement commits by itself until then.
    pub(super) fn commit_by_hand(&self) -> Result<(), Fault> {
        // SAFETY: the container is open.
        self.call(|library, container| unsafe { (library.gsSetAutoCommit)(container, 0) })
    }

    /// Commits.
    pub(super) fn commit(&self, connection: &Connection) -> Result<(), Fault> {
        connection.note("gsCommit", || vec![self.name.to_string()]);
        // SAFETY: the container is open.
        self.call(|library, container| unsafe { (library.gsCommit)(container) })
    }

    /// Takes back what was not committed.
    pub(super) fn abort(&self) -> Result<(), Fault> {
        // SAFETY: the container is open.
        self.call(|library, container| unsafe { (library.gsAbort)(container) })
    }

    /// Puts rows in one request, in place of those with their keys.
    pub(super) fn put(&self, connection: &Connection, rows: &[Row], alone: bool) -> Result<(), Fault> {
        let (call, words) = if alone { ("gsPutRow", "1 row".to_owned()) } else { ("gsPutMultipleRows", format!("{} rows", rows.len())) };
        connection.note(call, || vec![self.name.to_string(), words]);
        let (rows, mut existed): (_, Flag) = (handles(rows), 0);
        // SAFETY: container and rows are open; without a key a row's own is taken.
        self.call(|library, container| unsafe {
            match rows[..] {
                [row] if alone => (library.gsPutRow)(container, std::ptr::null(), row, &raw mut existed),
                _ => (library.gsPutMultipleRows)(container, rows.as_ptr(), rows.len(), &raw mut existed),
            }
        })
    }

    /// Reads the row with this key, if there is one.
    pub(super) fn row_by(&self, connection: &Connection, kind: Kind, key: i64, row: &mut Row) -> Result<bool, Fault> {
        let (name, key) = match kind {
            Kind::Integer => ("gsGetRowByInteger", key),
            Kind::Timestamp => ("gsGetRowByTimestamp", key),
            _ => ("gsGetRowByLong", key),
        };
        connection.note(name, || vec![self.name.to_string(), key.to_string()]);
        let (row, mut exists): (_, Flag) = (row.0.raw, 0);
        let exists_at = &raw mut exists;
        // SAFETY: container and row are open.
        self.call(|library, container| unsafe {
            match kind {
                Kind::Integer => (library.gsGetRowByInteger)(container, i32::try_from(key).unwrap_or(i32::MAX), row, 0, exists_at),
                Kind::Timestamp => (library.gsGetRowByTimestamp)(container, key, row, 0, exists_at),
                _ => (library.gsGetRowByLong)(container, key, row, 0, exists_at),
            }
        })?;
        Ok(exists != 0)
    }
}

/// One row.
pub(super) struct Row(Owned);

impl Row {
    /// Sets a field; the library copies what it gets.
    #[inline]
    pub(super) fn set(&mut self, column: i32, kind: Kind, cell: Cell<'_>) -> Result<(), Fault> {
        let (library, row) = (self.0.library, self.0.raw);
        // SAFETY: the row is open; texts and bytes live until after the call.
        let code = unsafe {
            match (kind, cell) {
                (_, Cell::Null) => (library.gsSetRowFieldNull)(row, column),
                (_, Cell::Bool(value)) => (library.gsSetRowFieldByBool)(row, column, value.into()),
                (Kind::Integer, Cell::I64(value)) => {
                    (library.gsSetRowFieldByInteger)(row, column, i32::try_from(value).unwrap_or(i32::MAX))
                }
                (Kind::Timestamp, Cell::I64(value)) => (library.gsSetRowFieldByTimestamp)(row, column, value),
                (_, Cell::I64(value)) => (library.gsSetRowFieldByLong)(row, column, value),
                (_, Cell::F64(value)) => (library.gsSetRowFieldByDouble)(row, column, value),
                (_, Cell::Text(value)) => (library.gsSetRowFieldByString)(row, column, text(value)?.as_ptr()),
                (_, Cell::Bytes(value)) => {
                    let blob = Blob { size: value.len(), data: value.as_ptr().cast() };
                    (library.gsSetRowFieldByBlob)(row, column, &raw const blob)
                }
                _ => return Err(unexpected("a value that no column takes").into()),
            }
        };
        self.0.check(code)
    }

    /// What this call reads of a field.
    #[inline]
    fn read<T>(&self, column: i32, call: impl FnOnce(&Functions) -> unsafe extern "C" fn(Handle, i32, *mut T) -> Code) -> Result<T, Fault> {
        // SAFETY: all zeros are a value of each type that is read (numbers, and pointers to nothing); the row is open.
        unsafe {
            let mut value = zeroed();
            self.0.check(call(self.0.library)(self.0.raw, column, &raw mut value))?;
            Ok(value)
        }
    }

    /// A field's value, which belongs to the row: what changes a row needs it for itself.
    pub(super) fn cell(&self, column: i32, kind: Kind) -> Result<Cell<'_>, Fault> {
        if self.read(column, |library| library.gsGetRowFieldNull)? != 0 {
            return Ok(Cell::Null);
        }
        Ok(match kind {
            Kind::Bool => Cell::Bool(self.read(column, |library| library.gsGetRowFieldAsBool)? != 0),
            Kind::Integer => Cell::I64(self.read(column, |library| library.gsGetRowFieldAsInteger)?.into()),
            Kind::Long => Cell::I64(self.read(column, |library| library.gsGetRowFieldAsLong)?),
            Kind::Double => Cell::F64(self.read(column, |library| library.gsGetRowFieldAsDouble)?),
            Kind::Timestamp => {
                let milliseconds: i64 = self.read(column, |library| library.gsGetRowFieldAsTimestamp)?;
                Cell::I64(milliseconds.saturating_mul(MILLISECOND))
            }
            Kind::String => {
                let value: Text = self.read(column, |library| library.gsGetRowFieldAsString)?;
                // SAFETY: the library gives a text that ends with NUL and stays until the row changes.
                Cell::Text(utf8(unsafe { CStr::from_ptr(value) }.to_bytes())?)
            }
            Kind::Blob | Kind::Json => {
                let blob: Blob = self.read(column, |library| library.gsGetRowFieldAsBlob)?;
                let bytes = match blob.size {
                    0 => &[],
                    // SAFETY: the library gives `size` bytes that stay until the row changes.
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

/// What a question found: rows, the value of an aggregate, or a plan.
pub(super) struct Found(Rc<Owned>);

impl Found {
    pub(super) fn has_next(&self) -> bool {
        // SAFETY: the row set is open.
        unsafe { (self.0.library.gsHasNextRow)(self.0.raw) != 0 }
    }

    /// Reads the next row.
    pub(super) fn next(&self, row: &mut Row) -> Result<(), Fault> {
        // SAFETY: row set and row are open.
        self.0.check(unsafe { (self.0.library.gsGetNextRow)(self.0.raw, row.0.raw) })
    }

    /// The value of an aggregate, a floating point number or a whole one; none where there was nothing to aggregate.
    pub(super) fn aggregate(&self, kind: Kind) -> Result<Cell<'static>, Fault> {
        if !self.has_next() {
            return Ok(Cell::Null);
        }
        let library = self.0.library;
        // SAFETY: the result is open.
        let close = |library: &Functions, raw| unsafe { (library.gsCloseAggregationResult)(raw) };
        // SAFETY: the row set is open.
        let found = self.0.give(close, |set, place| unsafe { (library.gsGetNextAggregation)(set, place) })?;
        let (found, mut assigned): (_, Flag) = (there(found)?, 0);
        let (mut whole, mut real) = (0, 0.0);
        // SAFETY: the result is open.
        found.check(unsafe {
            match kind {
                Kind::Double => (library.gsGetAggregationValueAsDouble)(found.raw, &raw mut real, &raw mut assigned),
                _ => (library.gsGetAggregationValueAsLong)(found.raw, &raw mut whole, &raw mut assigned),
            }
        })?;
        if assigned == 0 {
            return Err(unexpected("an aggregate is of another type").into());
        }
        Ok(if kind == Kind::Double { Cell::F64(real) } else { Cell::I64(whole) })
    }

    /// The lines of a plan as people read them: indented by their depth, what each is, its value, and the part of the question that it is of.
    pub(super) fn plan(&self) -> Result<String, Fault> {
        let mut lines = Vec::new();
        while self.has_next() {
            // SAFETY: the row set is open; the line's texts live until the next call on it, and are copied before.
            unsafe {
                let mut line: PlanLine = zeroed();
                self.0.check((self.0.library.gsGetNextQueryAnalysis)(self.0.raw, &raw mut line))?;
                let mut words = [line.kind, line.value, line.statement].map(|part| text_at(part)).to_vec();
                words.retain(|word| !word.is_empty());
                lines.push("  ".repeat(usize::try_from(line.depth).unwrap_or(0)) + &words.join(" "));
            }
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
