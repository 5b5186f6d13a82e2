//! Connections: one is opened with its properties, shared by what came from it, and closed after that.

use super::failure::{Failure, failure, text};
use super::foreign::{self, Functions, Property};
use super::library::Library;
use crate::sent::Kept;
use std::collections::BTreeMap;
use std::ffi::CString;
use std::ptr::{self, NonNull};
use std::rc::Rc;
use std::sync::{Mutex, PoisonError};

/// Properties as the library takes them. What they point to lives as long as they do.
struct Properties {
    _texts: Vec<(CString, CString)>,
    entries: Vec<Property>,
}

impl Properties {
    fn new(map: &BTreeMap<&str, String>) -> Result<Self, Failure> {
        let pair = |(name, value): (&&str, &String)| Ok((text(name)?, text(value)?));
        let texts = map.iter().map(pair).collect::<Result<Vec<_>, Failure>>()?;
        let entry =
            |(name, value): &(CString, CString)| Property { name: name.as_ptr(), value: value.as_ptr() };
        let entries = texts.iter().map(entry).collect();
        Ok(Self { _texts: texts, entries })
    }
}

/// One connection, shared by what came from it.
#[derive(Clone)]
pub(crate) struct Connection(pub(super) Rc<Open>);

/// An open connection.
pub(super) struct Open {
    pub(super) functions: &'static Functions,
    pub(super) raw: NonNull<foreign::GridStore>,
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
                    let open = Open { functions, raw, kept };
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

    /// The error of this code, if it is one.
    pub(super) fn check(&self, code: i32) -> Result<(), Failure> {
        if code == 0 {
            return Ok(());
        }
        Err(failure(self.0.functions, self.0.raw.as_ptr().cast(), code))
    }

    /// Runs queries together; their row sets are then taken by [`rows::Query::found`].
    pub(super) fn fetch_all(&self, queries: &[*mut foreign::Query]) -> Result<(), Failure> {
        // SAFETY: the queries are open: the caller holds them.
        let code =
            unsafe { (self.0.functions.fetch_all)(self.0.raw.as_ptr(), queries.as_ptr(), queries.len()) };
        self.check(code)
    }
}
