//! What the client says of a failure, and texts that it can take.

use super::foreign::Functions;
use std::ffi::{CStr, CString, c_char, c_void};
use std::fmt;

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
        Self { codes: vec![code], text: text.to_owned() }
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

/// A text as the library takes it.
pub(super) fn text(value: &str) -> Result<CString, Failure> {
    CString::new(value).map_err(|_| Failure::of(ILLEGAL_PARAMETER, "a text holds a NUL character"))
}

/// What the library says of the last failure of a resource.
pub(super) fn failure(functions: &Functions, resource: *mut c_void, code: i32) -> Failure {
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
    Failure { codes, text: texts.join("; ") }
}
