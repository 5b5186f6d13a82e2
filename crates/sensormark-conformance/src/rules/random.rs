//! C-R: random cases.

use super::super::rule::{Over, Rule, own};
use crate::properties::random;

pub(super) fn rules() -> Vec<Rule> {
    vec![own!(
        "C-R-01",
        "random schemas, layouts, readings and questions are answered as the reference answers",
        Over::Store,
        random
    )]
}
