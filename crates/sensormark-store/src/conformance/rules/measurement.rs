//! C-M.

use super::super::rule::Rule;

pub(super) fn rules() -> Vec<Rule> {
    Vec::new()
}
