//! What drivers of C libraries share: a library's functions, found by name, and texts that it gives.
#![allow(unsafe_code, reason = "such a library is found at run time")]

use std::ffi::{CStr, c_char};

/// The functions of a library that a driver calls, each under its own name, by what they take and give.
macro_rules! functions {
    ($($takes:tt -> $gives:ty: $($name:ident)+;)*) => {
        /// The functions that the driver calls.
        pub(crate) struct Functions {
            $($(pub(super) $name: unsafe extern "C" fn $takes -> $gives,)+)*
        }

        impl Functions {
            /// Loads the library of this file, which stays loaded.
            ///
            /// # Safety
            /// Its functions have the types of its header.
            pub(super) unsafe fn load(file: &std::path::Path) -> Result<&'static Self, libloading::Error> {
                // SAFETY: loading runs the library's initialisers; by the caller's promise the symbols are functions of these types.
                unsafe {
                    let library = libloading::Library::new(file)?;
                    let functions = Self { $($($name: *library.get(stringify!($name))?,)+)* };
                    std::mem::forget(library);
                    Ok(Box::leak(Box::new(functions)))
                }
            }
        }
    };
}
pub(crate) use functions;

/// A text of the library's, which it keeps.
///
/// # Safety
/// The pointer is null, or of a text that ends with NUL and is there until this function returns.
pub(crate) unsafe fn text_at(pointer: *const c_char) -> String {
    if pointer.is_null() {
        return String::new();
    }
    // SAFETY: by the caller's promise.
    unsafe { CStr::from_ptr(pointer) }.to_string_lossy().into_owned()
}
