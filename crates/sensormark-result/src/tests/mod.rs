//! Records with known numbers, for the tests of this crate and of those above it (feature `tests`).

pub mod fixture;
