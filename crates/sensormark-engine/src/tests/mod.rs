//! Trials and operations with known numbers, for tests here and in crates above (feature `tests`).

#[cfg(test)]
pub mod readings;
pub mod trials;
