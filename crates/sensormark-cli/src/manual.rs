//! `sensormark completions` and `sensormark man`: what a shell and `man` want to know, made from the arguments themselves.

use crate::arguments::Arguments;
use crate::failure::Failure;
use clap::CommandFactory;
use clap_complete::Shell;
use std::path::Path;
use std::process::ExitCode;

/// Prints the completions of a shell.
///
/// # Errors
/// When they cannot be written.
pub fn completions(shell: Shell) -> Result<ExitCode, Failure> {
    let mut text = Vec::new();
    clap_complete::generate(shell, &mut Arguments::command(), "sensormark", &mut text);
    crate::output::print(&String::from_utf8_lossy(&text))?;
    Ok(ExitCode::SUCCESS)
}

/// Writes a page for the program and for each command.
///
/// # Errors
/// When the folder or a page cannot be written.
pub fn man(folder: &Path) -> Result<ExitCode, Failure> {
    let written =
        std::fs::create_dir_all(folder).and_then(|()| clap_mangen::generate_to(Arguments::command(), folder));
    written.map_err(|error| {
        Failure::input_output(format!(
            "cannot write manual pages to {}: {error}; name another folder",
            folder.display()
        ))
    })?;
    crate::output::line(format_args!("manual pages are in {}", folder.display()))?;
    Ok(ExitCode::SUCCESS)
}
