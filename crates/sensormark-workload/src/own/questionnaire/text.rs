//! Parts of texts: lists of answers, and numbers of the workload file.

/// The parts of a list, without empty ones.
pub fn list(text: &str) -> impl Iterator<Item = &str> {
    text.split(',').map(str::trim).filter(|one| !one.is_empty())
}

/// A number of at most three decimals, or six where it is small.
pub fn number(value: f64) -> String {
    let text = if value < 0.01 { format!("{value:.6}") } else { format!("{value:.3}") };
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}
