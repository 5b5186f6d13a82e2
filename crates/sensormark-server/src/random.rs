//! Randomness from the kernel: passwords, run names and port candidates.
//!
//! Not for workloads: their data depends on the seed alone.

use sensormark_store::Secret;
use sensormark_store::error::{ErrorKind, StoreError};
use std::fs::File;
use std::io::Read;

const LETTERS_AND_DIGITS: &[u8; 62] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";

/// Random bytes.
///
/// # Errors
/// When /dev/urandom cannot be read.
pub(super) fn bytes<const N: usize>() -> Result<[u8; N], StoreError> {
    let mut bytes = [0; N];
    File::open("/dev/urandom").and_then(|mut source| source.read_exact(&mut bytes)).map_err(|error| {
        StoreError::new(ErrorKind::Configuration, "make a random name", "cannot read /dev/urandom")
            .with_source(error)
    })?;
    Ok(bytes)
}

/// A password of 24 letters and digits: 142 bits.
///
/// # Errors
/// When /dev/urandom cannot be read.
pub(super) fn password() -> Result<Secret, StoreError> {
    let mut password = String::with_capacity(24);
    while password.len() < 24 {
        for byte in bytes::<32>()? {
            // Only bytes below 4 × 62 keep all characters equally likely.
            if password.len() < 24 && byte < 248 {
                password.push(char::from(LETTERS_AND_DIGITS[usize::from(byte % 62)]));
            }
        }
    }
    Ok(Secret::new(password))
}

/// The name of a run: 16 hexadecimal digits.
///
/// # Errors
/// When /dev/urandom cannot be read.
pub(super) fn run_name() -> Result<String, StoreError> {
    Ok(format!("{:016x}", u64::from_ne_bytes(bytes()?)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn passwords_are_letters_and_digits_and_differ() {
        let (first, second) = (password().unwrap(), password().unwrap());
        assert_ne!(first, second);
        assert_eq!(first.expose().len(), 24);
        assert!(first.expose().bytes().all(|byte| byte.is_ascii_alphanumeric()));
        assert_eq!(run_name().unwrap().len(), 16);
    }
}
