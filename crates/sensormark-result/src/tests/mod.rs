//! Records with known numbers, for tests here and in crates above (feature `tests`).

pub mod fixture;
