//! Trials and operations with known numbers, for the tests of this crate and of those above it (feature `tests`).

#[cfg(test)]
pub mod readings;
pub mod trials;
