//! Parts of texts: lists of answers, and numbers and comments of the workload file.

/// Columns before a comment.
const COMMENTS_AT: usize = 37;

/// The parts of a list, without empty ones.
pub fn list(text: &str) -> impl Iterator<Item = &str> {
    text.split(',').map(str::trim).filter(|one| !one.is_empty())
}

/// A line with its comment.
pub fn commented(line: &str, comment: &str) -> String {
    format!("{line:<COMMENTS_AT$} # {comment}\n")
}

/// A number of at most three decimals, or six where it is small.
pub fn number(value: f64) -> String {
    let text = if value < 0.01 { format!("{value:.6}") } else { format!("{value:.3}") };
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}
