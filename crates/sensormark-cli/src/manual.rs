//! `sensormark completions` and `sensormark man`: what a shell and `man` want to know, made from the arguments themselves.

use crate::arguments::Arguments;
use crate::failure::Failure;
use clap::CommandFactory;
use clap_complete::Shell;
use std::path::Path;
use std::process::ExitCode;

/// Prints the completions of a shell.
pub fn completions(shell: Shell) -> ExitCode {
    let mut text = Vec::new();
    clap_complete::generate(shell, &mut Arguments::command(), "sensormark", &mut text);
    crate::report::print_text(&String::from_utf8_lossy(&text));
    ExitCode::SUCCESS
}

/// Writes a page for the program and for each command.
///
/// # Errors
/// When the folder or a page cannot be written.
pub fn man(folder: &Path) -> Result<ExitCode, Failure> {
    let written = std::fs::create_dir_all(folder)
        .and_then(|()| clap_mangen::generate_to(Arguments::command(), folder));
    written.map_err(|error| Failure::usage(format!("{}: {error}", folder.display())))?;
    println!("manual pages are in {}", folder.display());
    Ok(ExitCode::SUCCESS)
}
