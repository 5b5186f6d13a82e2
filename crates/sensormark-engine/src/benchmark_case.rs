//! What is measured in one piece: a store with a layout.

use super::selection::Choice;
use sensormark_store::{Durability, Layout};

/// One store with one layout, and what is measured on it.
#[derive(Clone)]
pub struct BenchmarkCase {
    /// The store, and its URL if it is there already.
    pub choice: Choice,
    /// The layout's name in the workload's words.
    pub layout_name: String,
    /// The layout.
    pub layout: Layout,
    /// What an acknowledgement promises.
    pub durability: Durability,
    /// Names of what is measured on it besides writing: reading strategies.
    pub strategies: Vec<String>,
}

/// The cases without those that are named twice: what is measured on any of them is measured once.
pub fn distinct(cases: Vec<BenchmarkCase>) -> Vec<BenchmarkCase> {
    let mut distinct: Vec<BenchmarkCase> = Vec::new();
    for case in cases {
        let same = distinct.iter_mut().find(|one| {
            one.choice.file_name() == case.choice.file_name()
                && one.layout_name == case.layout_name
                && one.durability == case.durability
        });
        match same {
            None => distinct.push(case),
            Some(one) => {
                let is_new = |name: &String| !one.strategies.contains(name);
                let more: Vec<String> = case.strategies.into_iter().filter(is_new).collect();
                one.strategies.extend(more);
            }
        }
    }
    distinct
}
