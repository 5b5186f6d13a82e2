//! `sensormark report`: tables and ranking, derived from a run's folder.

use crate::arguments::{FormatName, ReportArguments};
use crate::failure::Failure;
use sensormark::measurement::ResultsFolder;
use sensormark::measurement::folder::write_beside;
use sensormark::report::tables::Document;
use sensormark::report::{Report, ReportOptions, csv, json, markdown, raw, text};
use std::io::Write;
use std::path::Path;
use std::process::ExitCode;

/// Prints the report of an earlier run.
pub fn report(arguments: &ReportArguments) -> Result<ExitCode, Failure> {
    let folder = ResultsFolder::open(&arguments.results)?;
    let weights = arguments.weights.as_deref();
    let mut formats = arguments.format.clone();
    let files = write_files(&folder, arguments)?;
    if files == 0 && formats.is_empty() {
        formats.push(FormatName::Text);
    }
    print(&folder, &formats, weights)?;
    Ok(ExitCode::SUCCESS)
}

/// The name of the page in a run's folder.
pub const PAGE: &str = "report.html";

/// Draws the workload's figures, and the report as a page, into the folder.
///
/// # Errors
/// When they cannot be written.
pub fn draw(folder: &ResultsFolder, weights: Option<&Path>) -> Result<(), Failure> {
    let report = derive(folder, weights)?;
    report.write_figures(folder).map_err(Failure::usage)?;
    folder.write_bytes(PAGE, report.html(Some(folder)).as_bytes())?;
    Ok(())
}

/// Writes the files that are asked for, and says which; gives how many.
fn write_files(folder: &ResultsFolder, arguments: &ReportArguments) -> Result<usize, Failure> {
    let wanted = [&arguments.html, &arguments.samples, &arguments.latencies];
    let count = wanted.iter().filter(|file| file.is_some()).count();
    if count == 0 {
        return Ok(0);
    }
    let report = derive(folder, arguments.weights.as_deref())?;
    let write = |file: &Path, text: String| -> Result<(), Failure> {
        write_beside(file, text.as_bytes())?;
        eprintln!("wrote {}", file.display());
        Ok(())
    };
    if let Some(file) = &arguments.html {
        write(file, report.html(Some(folder)))?;
    }
    if let Some(file) = &arguments.samples {
        write(
            file,
            raw::samples(report.field(), folder).map_err(Failure::usage)?,
        )?;
    }
    if let Some(file) = &arguments.latencies {
        write(
            file,
            raw::latencies(report.field()).map_err(Failure::usage)?,
        )?;
    }
    Ok(count)
}

/// Derives the report, by the weights of a file where one is given.
fn derive(folder: &ResultsFolder, weights: Option<&Path>) -> Result<Report, Failure> {
    let mut options = ReportOptions::default();
    if let Some(path) = weights {
        let text = std::fs::read_to_string(path)
            .map_err(|error| Failure::usage(format!("cannot read {}: {error}", path.display())))?;
        options = ReportOptions::from_toml(&text)
            .map_err(|error| Failure::usage(format!("{}: {error}", path.display())))?;
    }
    Report::from_folder(folder, &options).map_err(Failure::usage)
}

/// Prints the report of a folder in these formats.
pub fn print(
    folder: &ResultsFolder,
    formats: &[FormatName],
    weights: Option<&Path>,
) -> Result<(), Failure> {
    if formats.is_empty() {
        return Ok(());
    }
    let report = derive(folder, weights)?;
    for format in formats {
        print_text(&rendered(report.document(), *format));
    }
    Ok(())
}

/// A document in this format.
pub fn rendered(document: &Document, format: FormatName) -> String {
    match format {
        FormatName::Text => text::render(document, width()),
        FormatName::Json => json::render(document),
        FormatName::Csv => csv::render(document),
        FormatName::Markdown => markdown::render(document),
    }
}

/// The terminal's width; 80 where there is none.
fn width() -> usize {
    rustix::termios::tcgetwinsize(std::io::stdout())
        .map_or(80, |size| usize::from(size.ws_col).max(40))
}

/// Prints to standard output; a reader that has gone away (`| head`) is no error.
pub fn print_text(text: &str) {
    let mut output = std::io::stdout().lock();
    let _ = output
        .write_all(text.as_bytes())
        .and_then(|()| output.flush());
}
