//! `sensormark init`: a commented workload file to start from.

use crate::arguments::InitArguments;
use crate::failure::Failure;
use sensormark::workload::own::template;
use std::io::ErrorKind;
use std::process::ExitCode;

/// Writes the file.
pub fn init(arguments: &InitArguments) -> Result<ExitCode, Failure> {
    let path = arguments.file.display();
    let known = arguments.file.extension().is_some_and(|end| end == "toml");
    if !known {
        return Err(Failure::usage(format!(
            "{path}: call it something.toml, so that sensormark run knows it for a file"
        )));
    }
    template::write(&arguments.file).map_err(|error| {
        Failure::usage(match error.kind() {
            ErrorKind::AlreadyExists => {
                format!("{path} is there already and is left alone; name another file")
            }
            _ => format!("cannot write {path}: {error}"),
        })
    })?;
    eprintln!("wrote {path}; change what you like, then: sensormark run {path}");
    Ok(ExitCode::SUCCESS)
}
