//! Reading a user's workload file: TOML in, [`Parameters`] out, or one message with file, line and the nearest right word.
//!
//! [`section`] takes values out of tables and knows where each stood; the other modules say what each table may hold. What the parameters mean is not known here.

mod disagreement;
mod error;
mod fields;
mod queries;
mod section;
mod whole;

#[cfg(test)]
mod tests;

use super::parameters::Parameters;
pub use error::FileError;
pub use fields::check_name;
use std::path::Path;
pub use whole::StoreCheck;

/// Reads a workload file. Settings (`NAME=VALUE`, `series.count=10`) stand for what the file says.
///
/// # Errors
/// The first thing that is wrong.
pub fn read(path: &Path, settings: &[String], is_store: StoreCheck<'_>) -> Result<Parameters, FileError> {
    let text = std::fs::read_to_string(path).map_err(|error| FileError {
        file: path.display().to_string(),
        line: None,
        message: match error.kind() {
            std::io::ErrorKind::NotFound => {
                "there is no such file; sensormark init writes one to start from".to_owned()
            }
            _ => format!("cannot be read: {error}"),
        },
    })?;
    let folder = path.parent().unwrap_or_else(|| Path::new(""));
    parse(&text, &path.display().to_string(), folder, settings, is_store)
}

/// The same for a text; recordings are looked for in `folder`.
///
/// # Errors
/// The first thing that is wrong.
pub fn parse(
    text: &str,
    file: &str,
    folder: &Path,
    settings: &[String],
    is_store: StoreCheck<'_>,
) -> Result<Parameters, FileError> {
    let source = section::Source::new(text, file, settings)?;
    let parameters = whole::whole(&source, folder, is_store)?;
    source.check_settings()?;
    Ok(parameters)
}
