//! DuckDB's library, loaded at run time and wrapped so that the rest of the driver needs no `unsafe`.
//!
//! This is the one module with foreign calls. The library, databases, and what DuckDB says of a failure are here. Every handle closes itself. No
//! code of DuckDB is built or shipped. The parts are:
//!
//! - [`foreign`] declares the calls;
//! - [`statement`] wraps connections and prepared statements;
//! - [`value`] is what is bound;
//! - [`answer`] has the vectors that a statement gives;
//! - [`appender`] has the vectors that an appender takes.
#![allow(unsafe_code, reason = "DuckDB is a library with a C interface, found at run time")]

mod answer;
mod appender;
mod foreign;
mod statement;
mod value;

pub(crate) use answer::{Answered, Rows, Vector};
pub(crate) use appender::Appender;
pub(crate) use statement::{Connection, Prepared};
pub(crate) use value::{Kind, Value};

use foreign::Functions;
use std::ffi::{CStr, CString, c_char};
use std::fmt;
use std::path::Path;
use std::ptr;

/// What DuckDB says of a failure.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Failure {
    /// The kind of error, by DuckDB's number; 0 where it is not said.
    pub(crate) code: u32,
    /// What it says.
    pub(crate) text: String,
}

impl fmt::Display for Failure {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{} (DuckDB's error type {})", self.text, self.code)
    }
}

impl std::error::Error for Failure {}

impl Failure {
    /// A failure that comes without its number. How its text begins, says its kind too.
    pub(crate) fn of(text: impl Into<String>) -> Self {
        Self { code: 0, text: text.into() }
    }
}

/// A text of the library's, which it keeps.
///
/// # Safety
/// The pointer is null, or of a text that ends with NUL and is there until this function returns.
unsafe fn text_at(pointer: *const c_char) -> String {
    if pointer.is_null() {
        return String::new();
    }
    // SAFETY: by the caller's promise.
    let text = unsafe { CStr::from_ptr(pointer) };
    text.to_string_lossy().into_owned()
}

/// A text as the library takes it.
fn text(value: &str) -> Result<CString, Failure> {
    CString::new(value).map_err(|_| Failure::of("a text holds a NUL character"))
}

/// The library.
pub(crate) struct Library {
    functions: Functions,
}

impl Library {
    /// Loads the library of this file. It stays loaded.
    pub(crate) fn load(file: &Path) -> Result<Self, String> {
        // SAFETY: loading runs the library's initialisers; the user, or the script that installs servers, put DuckDB there.
        let library = unsafe { libloading::Library::new(file) };
        let library = library.map_err(|error| error.to_string())?;
        // SAFETY: the library is DuckDB, and is never unloaded (it is leaked below).
        let functions = unsafe { Functions::find(&library) };
        let functions = functions.map_err(|error| error.to_string())?;
        std::mem::forget(library);
        Ok(Self { functions })
    }

    /// The library's version, without a `v` before it.
    pub(crate) fn version(&self) -> String {
        // SAFETY: the function takes nothing and gives a text that stays.
        let version = unsafe { text_at((self.functions.version)()) };
        version.trim_start_matches('v').to_owned()
    }
}

/// An open database, which any number of connections of this process share.
pub(crate) struct Database {
    library: &'static Library,
    handle: *mut foreign::Database,
}

// SAFETY: DuckDB's documentation: a database may be used by several threads; it has locks of its own.
unsafe impl Send for Database {}
// SAFETY: as above.
unsafe impl Sync for Database {}

impl Database {
    /// Opens (or makes) a database's file with these settings.
    pub(crate) fn open(
        library: &'static Library,
        file: &Path,
        settings: &[(&str, &str)],
    ) -> Result<Self, Failure> {
        let functions = &library.functions;
        let path = text(&file.to_string_lossy())?;
        let mut config = Configuration { library, handle: ptr::null_mut() };
        // SAFETY: the pointer is to a place for the handle.
        if unsafe { (functions.create_config)(&raw mut config.handle) } != 0 {
            return Err(Failure::of("Out of Memory Error: no configuration can be made"));
        }
        for (name, value) in settings {
            let (key, value) = (text(name)?, text(value)?);
            // SAFETY: the handle is open, and both texts end with NUL.
            let state = unsafe { (functions.set_config)(config.handle, key.as_ptr(), value.as_ptr()) };
            if state != 0 {
                let text = format!("Invalid Configuration Error: the library has no setting {name}");
                return Err(Failure::of(text));
            }
        }
        let (mut handle, mut message) = (ptr::null_mut(), ptr::null_mut());
        // SAFETY: the text ends with NUL, the configuration is open, and both pointers are to places for what comes back.
        let state =
            unsafe { (functions.open)(path.as_ptr(), &raw mut handle, config.handle, &raw mut message) };
        if state == 0 {
            return Ok(Self { library, handle });
        }
        // SAFETY: on failure the message is null or a text that ends with NUL, which is ours to free.
        let said = unsafe {
            let said = text_at(message);
            (functions.free)(message.cast());
            said
        };
        Err(Failure::of(said))
    }
}

impl Drop for Database {
    fn drop(&mut self) {
        // SAFETY: the handle is open and not used after this.
        unsafe { (self.library.functions.close)(&raw mut self.handle) }
    }
}

/// Settings for opening a database.
struct Configuration {
    library: &'static Library,
    handle: *mut foreign::Config,
}

impl Drop for Configuration {
    fn drop(&mut self) {
        // SAFETY: the handle is open or null, which the library takes too.
        unsafe { (self.library.functions.destroy_config)(&raw mut self.handle) }
    }
}
