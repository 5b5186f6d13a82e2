//! What a driver's fault means: the store's table of errors, by code, class, the first words, or others behind a `*`, which a `|` separates.

use crate::config::{Config, Kind};
use sensormark_drivers::Fault;
use sensormark_store::{ErrorKind, StoreError};

/// A failure of an operation, as the contract has it.
pub fn failure(config: &Config, operation: &str, fault: Fault) -> StoreError {
    let (codes, text, source) = match fault {
        Fault::Known(error) => return error,
        Fault::FromReadings => {
            return StoreError::unsupported(operation, "the client answers it from readings");
        }
        Fault::Partly { fault, acknowledged, goes_on } => {
            let error = failure(config, operation, *fault).after_acknowledging(acknowledged);
            return if goes_on { error.with_doubt(true) } else { error };
        }
        Fault::Refused { codes, text, source } => (codes, text, source),
    };
    let mut errors = config.errors.iter();
    let says = |words: &str| match words.strip_prefix('*') {
        Some(inside) => inside.split('|').any(|inside| text.contains(inside)),
        None => words.contains(' ') && text.starts_with(words),
    };
    let by_words = errors.find(|(words, _)| says(words));
    let of = |code: &String| config.errors.iter().find(|(key, _)| key.split(' ').any(|one| one == code));
    let by_code = || codes.iter().find_map(of).map(|(_, meaning)| meaning);
    let rejected = (Kind { kind: ErrorKind::Rejected, in_doubt: false }, String::new());
    let (kind, advice) = by_words.map(|(_, meaning)| meaning).or_else(by_code).unwrap_or(&rejected);
    let code = codes.first().map(|code| format!(" (code {code})")).unwrap_or_default();
    let said = format!("{} says {text:?}{code}", config.title);
    let context = if advice.is_empty() { said } else { format!("{said}; {advice}") };
    StoreError::new(kind.kind, operation, context).with_doubt(kind.in_doubt).with_source(source)
}
