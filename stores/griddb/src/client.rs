//! GridDB's C client (libgridstore), loaded at run time and wrapped so that the rest of the store needs no `unsafe`.
//!
//! This is the one module of the store with foreign calls. The library itself, connections, and what the client says of a failure are here. Calls are declared
//! in [`foreign`], containers and queries are wrapped in [`rows`], and a row in [`row`]. Every handle keeps what it came from alive, closes itself, and stays
//! on its thread. No GridDB code is built or shipped: without the library everything else works, and [`library`] says what is missing.
#![allow(
    unsafe_code,
    reason = "GridDB has a C client and no network protocol that is open to others"
)]

mod foreign;

mod described;

mod row;

mod rows;

pub(crate) use row::{Cells, Row};
pub(crate) use rows::{Container, Found, Spare};

use crate::sent::Kept;
use foreign::{ContainerInfo, ContainerRows, Functions, Property};
use std::collections::BTreeMap;
use std::ffi::{CStr, CString, c_char, c_void};
use std::fmt;
use std::path::PathBuf;
use std::ptr::{self, NonNull};
use std::rc::Rc;
use std::sync::{Mutex, OnceLock, PoisonError};

/// What the client says of a failure.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Failure {
    /// The error's number, and those of its causes.
    pub(crate) codes: Vec<i32>,
    /// What it says, the latest first.
    pub(crate) text: String,
}

impl Failure {
    /// A failure that this module finds before the client does.
    pub(crate) fn of(code: i32, text: &str) -> Self {
        Self {
            codes: vec![code],
            text: text.to_owned(),
        }
    }

    /// The error's own number.
    pub(crate) fn code(&self) -> i32 {
        self.codes.first().copied().unwrap_or_default()
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "GridDB error {}: {}", self.code(), self.text)
    }
}

impl std::error::Error for Failure {}

/// The client's own number for a parameter that it cannot take.
pub(crate) const ILLEGAL_PARAMETER: i32 = 140_002;

/// The type of a column (`GSType`).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// STRING.
    Text = 0,
    /// BOOL.
    Bool = 1,
    /// INTEGER, 32 bits.
    Integer = 4,
    /// LONG, 64 bits.
    Long = 5,
    /// DOUBLE.
    Double = 7,
    /// TIMESTAMP, milliseconds.
    Timestamp = 8,
    /// BLOB.
    Blob = 10,
}

/// A column to be made.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ColumnShape {
    /// Its name.
    pub(crate) name: String,
    /// Its type.
    pub(crate) kind: Kind,
    /// Whether it may be null.
    pub(crate) nullable: bool,
}

/// A container to be made.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ContainerShape {
    /// Its columns.
    pub(crate) columns: Vec<ColumnShape>,
    /// Whether the first of them is the row key.
    pub(crate) keyed: bool,
    /// Whether it is a time series rather than a collection.
    pub(crate) time_series: bool,
}

/// The library.
pub(crate) struct Library {
    functions: Functions,
}

/// Names under which the library may be found, the most particular first.
fn candidates() -> Vec<PathBuf> {
    let mut paths = Vec::new();
    if let Some(file) = std::env::var_os("SENSORMARK_GRIDDB_CLIENT") {
        paths.push(PathBuf::from(file));
    }
    for variable in ["SENSORMARK_GRIDDB_HOME", "GS_HOME"] {
        if let Some(home) = std::env::var_os(variable) {
            for folder in ["lib", "lib64", "bin"] {
                paths.push(PathBuf::from(&home).join(folder).join("libgridstore.so"));
            }
        }
    }
    paths.extend(["libgridstore.so.0", "libgridstore.so"].map(PathBuf::from));
    paths
}

fn load() -> Result<Library, String> {
    let mut failures = Vec::new();
    for path in candidates() {
        if path.is_absolute() && !path.is_file() {
            continue;
        }
        // SAFETY: loading runs the library's initialisers; a file of this name, in a folder that the user or the system names, is GridDB's client.
        let loaded = unsafe { libloading::Library::new(&path) };
        // SAFETY: the library is GridDB's client, and is never unloaded (it is leaked below).
        let found = loaded.and_then(|library| {
            let functions = unsafe { Functions::find(&library) }?;
            std::mem::forget(library);
            Ok(functions)
        });
        match found {
            Ok(functions) => return Ok(Library { functions }),
            Err(error) => failures.push(format!("{}: {error}", path.display())),
        }
    }
    Err(failures.join("; "))
}

/// The library, loaded when it is first needed; else why it cannot be.
pub(crate) fn library() -> Result<&'static Library, String> {
    static LIBRARY: OnceLock<Result<Library, String>> = OnceLock::new();
    LIBRARY.get_or_init(load).as_ref().map_err(Clone::clone)
}

/// A text as the library takes it.
fn text(value: &str) -> Result<CString, Failure> {
    CString::new(value).map_err(|_| Failure::of(ILLEGAL_PARAMETER, "a text holds a NUL character"))
}

/// What the library says of the last failure of a resource.
fn failure(functions: &Functions, resource: *mut c_void, code: i32) -> Failure {
    const ROOM: usize = 1024;
    // SAFETY: the resource is one of the library's, and alive.
    let depth = unsafe { (functions.stack_size)(resource) }.min(8);
    let mut codes = vec![code];
    let mut texts: Vec<String> = Vec::new();
    for level in 0..depth {
        let mut buffer: [c_char; ROOM] = [0; ROOM];
        // SAFETY: as above; the buffer is as long as stated, and the library ends the text with a NUL.
        let (at, said) = unsafe {
            (functions.error_message)(resource, level, buffer.as_mut_ptr(), ROOM);
            let at = (functions.error_code)(resource, level);
            (at, CStr::from_ptr(buffer.as_ptr()).to_string_lossy())
        };
        if level > 0 || at != code {
            codes.push(at);
        }
        if !said.is_empty() && !texts.iter().any(|text| text.contains(&*said)) {
            texts.push(said.into_owned());
        }
    }
    Failure {
        codes,
        text: texts.join("; "),
    }
}

/// Properties as the library takes them. What they point to lives as long as they do.
struct Properties {
    _texts: Vec<(CString, CString)>,
    entries: Vec<Property>,
}

impl Properties {
    fn new(map: &BTreeMap<&str, String>) -> Result<Self, Failure> {
        let pair = |(name, value): (&&str, &String)| Ok((text(name)?, text(value)?));
        let texts = map.iter().map(pair).collect::<Result<Vec<_>, Failure>>()?;
        let entry = |(name, value): &(CString, CString)| Property {
            name: name.as_ptr(),
            value: value.as_ptr(),
        };
        let entries = texts.iter().map(entry).collect();
        Ok(Self {
            _texts: texts,
            entries,
        })
    }
}

/// One connection, shared by what came from it.
#[derive(Clone)]
pub(crate) struct Connection(Rc<Open>);

struct Open {
    functions: &'static Functions,
    raw: NonNull<foreign::GridStore>,
    /// What was sent, once it is kept.
    kept: Kept,
}

impl Drop for Open {
    fn drop(&mut self) {
        let mut raw = self.raw.as_ptr();
        // SAFETY: the connection is open, and everything that came from it is closed: it kept this alive.
        unsafe { (self.functions.close)(&raw mut raw, 1) };
    }
}

impl Connection {
    /// A connection with these properties; `factory` are those that all later connections of this process share, so they are set with it.
    pub(crate) fn open(
        library: &'static Library,
        factory: &BTreeMap<&str, String>,
        properties: &BTreeMap<&str, String>,
    ) -> Result<Self, Failure> {
        static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());
        let functions = &library.functions;
        let (shared, own) = (Properties::new(factory)?, Properties::new(properties)?);
        let _guard = ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner);
        let mut raw = ptr::null_mut();
        // SAFETY: the pointers are to entries that live until after the calls, with their number; the default factory lives for ever.
        unsafe {
            let factory = (functions.default_factory)();
            let (first, count) = (shared.entries.as_ptr(), shared.entries.len());
            let code = (functions.set_factory)(factory, first, count);
            if code != 0 {
                return Err(failure(functions, factory.cast(), code));
            }
            let (first, count) = (own.entries.as_ptr(), own.entries.len());
            let code = (functions.open)(factory, first, count, &raw mut raw);
            match NonNull::new(raw) {
                Some(raw) if code == 0 => {
                    let kept = Kept::default();
                    let open = Open {
                        functions,
                        raw,
                        kept,
                    };
                    Ok(Self(Rc::new(open)))
                }
                _ => Err(failure(functions, factory.cast(), code)),
            }
        }
    }

    /// What is sent over it, where it is kept.
    pub(crate) fn kept(&self) -> &Kept {
        &self.0.kept
    }

    fn check(&self, code: i32) -> Result<(), Failure> {
        if code == 0 {
            return Ok(());
        }
        Err(failure(self.0.functions, self.0.raw.as_ptr().cast(), code))
    }

    /// Makes a container, or gives the one that is there and has this shape.
    pub(crate) fn put_container(
        &self,
        name: &str,
        shape: &ContainerShape,
    ) -> Result<Container, Failure> {
        const NULLABLE: i32 = 1 << 1;
        const NOT_NULL: i32 = 1 << 2;
        let name = text(name)?;
        let names = shape.columns.iter().map(|column| text(&column.name));
        let names = names.collect::<Result<Vec<_>, _>>()?;
        let column = |(column, name): (&ColumnShape, &CString)| foreign::ColumnInfo {
            name: name.as_ptr(),
            kind: column.kind as i32,
            index_flags: -1,
            options: if column.nullable { NULLABLE } else { NOT_NULL },
        };
        let columns: Vec<_> = shape.columns.iter().zip(&names).map(column).collect();
        let info = ContainerInfo {
            name: name.as_ptr(),
            kind: i32::from(shape.time_series),
            column_count: columns.len(),
            columns: columns.as_ptr(),
            row_key_assigned: shape.keyed.into(),
            column_order_ignorable: 0,
            time_series: ptr::null(),
            trigger_count: 0,
            triggers: ptr::null(),
            data_affinity: ptr::null(),
            index_count: 0,
            indexes: ptr::null(),
            row_key_column_count: 0,
            row_key_columns: ptr::null(),
        };
        let mut raw = ptr::null_mut();
        // SAFETY: the description and what it points to live until after the call.
        let code = unsafe {
            let store = self.0.raw.as_ptr();
            (self.0.functions.put_container)(store, name.as_ptr(), &raw const info, 0, &raw mut raw)
        };
        self.check(code)?;
        let missing = || Failure::of(ILLEGAL_PARAMETER, "the container was not made");
        Container::new(self, raw, &name, Spare::default()).ok_or_else(missing)
    }

    /// The container of this name, if it is there.
    pub(crate) fn container(&self, name: &str) -> Result<Option<Container>, Failure> {
        self.container_like(name, Spare::default())
    }

    /// The same of a container that shares rows with others of its schema.
    pub(crate) fn container_like(
        &self,
        name: &str,
        spare: Spare,
    ) -> Result<Option<Container>, Failure> {
        self.kept().note_call("gsGetContainerGeneral", name, "");
        let name = text(name)?;
        let mut raw = ptr::null_mut();
        // SAFETY: the name lives until after the call.
        let code = unsafe {
            (self.0.functions.get_container)(self.0.raw.as_ptr(), name.as_ptr(), &raw mut raw)
        };
        self.check(code)?;
        Ok(Container::new(self, raw, &name, spare))
    }

    /// Drops a container; one that is not there is fine.
    pub(crate) fn drop_container(&self, name: &str) -> Result<(), Failure> {
        let name = text(name)?;
        // SAFETY: the name lives until after the call.
        let code = unsafe { (self.0.functions.drop_container)(self.0.raw.as_ptr(), name.as_ptr()) };
        self.check(code)
    }

    /// Puts rows into several containers, which are named; the containers' rows go one request a node.
    pub(crate) fn put_many(&self, parts: &[(&str, &[Row])]) -> Result<(), Failure> {
        let names = parts.iter().map(|part| text(part.0));
        let names = names.collect::<Result<Vec<_>, _>>()?;
        let raw_rows: Vec<Vec<*mut foreign::Row>> =
            parts.iter().map(|part| row::raw(part.1)).collect();
        let entry = |(name, rows): (&CString, &Vec<*mut foreign::Row>)| ContainerRows {
            name: name.as_ptr(),
            rows: rows.as_ptr(),
            count: rows.len(),
        };
        let entries: Vec<_> = names.iter().zip(&raw_rows).map(entry).collect();
        self.kept().note_rows("gsPutMultipleContainerRows", parts);
        // SAFETY: entries, names and rows live until after the call.
        let code = unsafe {
            (self.0.functions.put_many)(self.0.raw.as_ptr(), entries.as_ptr(), entries.len())
        };
        self.check(code)
    }

    /// Runs queries together; their row sets are then taken by [`rows::Query::found`].
    fn fetch_all(&self, queries: &[*mut foreign::Query]) -> Result<(), Failure> {
        // SAFETY: the queries are open: the caller holds them.
        let code = unsafe {
            (self.0.functions.fetch_all)(self.0.raw.as_ptr(), queries.as_ptr(), queries.len())
        };
        self.check(code)
    }

    /// The names of all containers.
    pub(crate) fn names(&self) -> Result<Vec<String>, Failure> {
        self.some_names(None)
    }

    /// Fails where a partition does not answer: asks each for no more than one container's name.
    pub(crate) fn ask_all_partitions(&self) -> Result<(), Failure> {
        self.some_names(Some(1)).map(drop)
    }

    /// The names of all containers, or of so many a partition.
    fn some_names(&self, most: Option<i64>) -> Result<Vec<String>, Failure> {
        let functions = self.0.functions;
        let mut controller = ptr::null_mut();
        let mut names = Vec::new();
        // SAFETY: the controller is open until it is closed below; names are copied before the next call, which ends their life.
        unsafe {
            let code = (functions.partitions)(self.0.raw.as_ptr(), &raw mut controller);
            self.check(code)?;
            let listed = list(functions, controller, most, &mut names);
            let failed = listed.map_err(|code| failure(functions, controller.cast(), code));
            (functions.close_partitions)(&raw mut controller);
            failed?;
        }
        Ok(names)
    }
}

/// Appends the names of the containers of all partitions, or of so many of each.
///
/// # Safety
/// The controller is open.
unsafe fn list(
    functions: &Functions,
    controller: *mut foreign::Partitions,
    most: Option<i64>,
    names: &mut Vec<String>,
) -> Result<(), i32> {
    let done = |code: i32| if code == 0 { Ok(()) } else { Err(code) };
    let mut partitions = 0;
    let most = most.as_ref().map_or(ptr::null(), ptr::from_ref);
    // SAFETY: by the caller's promise.
    done(unsafe { (functions.partition_count)(controller, &raw mut partitions) })?;
    for partition in 0..partitions {
        let (mut found, mut count) = (ptr::null(), 0);
        // SAFETY: by the caller's promise; `most` lives until the end; the list holds `count` texts until the next call.
        unsafe {
            done((functions.container_names)(
                controller,
                partition,
                0,
                most,
                &raw mut found,
                &raw mut count,
            ))?;
            for number in 0..count {
                let name = CStr::from_ptr(*found.add(number));
                names.push(name.to_string_lossy().into_owned());
            }
        }
    }
    Ok(())
}
