//! That two keys of a table do not go together.

use super::error::FileError;
use super::section::{Place, Section};

/// That two keys of a table do not go together, with both values and why.
pub fn disagree(
    section: &Section<'_, '_>,
    (key, place): (&str, &Place),
    (other, other_place): (&str, &Place),
    why: &str,
) -> FileError {
    let (value, its) = (section.typed(place), section.typed(other_place));
    section.error(place, format!("{key} is {value} and {other} is {its}: {why}"))
}
