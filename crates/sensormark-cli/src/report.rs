//! `sensormark report`: tables and ranking, derived from runs' folders.

use crate::arguments::{FormatName, ReportArguments};
use crate::collect::{LIST, refresh};
use crate::failure::Failure;
use crate::messages;
use crate::output;
use sensormark_report::brief::{self, Paths, Room};
use sensormark_report::durability::{Promise, is_power_cut};
use sensormark_report::prices::offers;
use sensormark_report::tables::Document;
use sensormark_report::{
    Projection, Report, ReportOptions, csv, html, json, markdown, quoted, raw, text, tidy,
};
use sensormark_result::measurement::folder::write_beside;
use sensormark_result::measurement::record::TrialRecord;
use sensormark_result::measurement::{FolderError, ResultsFolder};
use std::fmt::Display;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// Prints the reports of earlier runs, or writes them into files.
pub fn report(arguments: &ReportArguments) -> Result<ExitCode, Failure> {
    let runs = runs(&arguments.results)?;
    let folders = runs.iter().map(|run| ResultsFolder::open(run)).collect::<Result<Vec<_>, _>>()?;
    let options = ReportOptions {
        projection: projection(arguments)?,
        ..options(arguments.weights.as_deref(), arguments.prices.as_deref())?
    };
    let derived = folders.iter().map(|folder| Report::from_folder(folder, &options));
    let reports = derived.collect::<Result<Vec<_>, _>>()?;
    let formats = formats(&arguments.format, write_files(&folders, &reports, arguments)?);
    for (folder, report) in folders.iter().zip(&reports) {
        print(folder, report, &formats, arguments.full)?;
    }
    Ok(ExitCode::SUCCESS)
}

/// The formats that are printed: those that were asked for, or text, unless something is written.
pub fn formats(asked: &[FormatName], is_written: bool) -> Vec<FormatName> {
    let default = asked.is_empty() && !is_written;
    if default { vec![FormatName::Text] } else { asked.to_vec() }
}

/// Writes a file that was asked for, and says so.
///
/// # Errors
/// When it cannot be written.
pub fn write_file(file: &Path, text: &str) -> Result<(), Failure> {
    write_beside(file, text.as_bytes())?;
    messages::say(format_args!("wrote {}", file.display()));
    Ok(())
}

/// The rate and the disk that were given; a rate is above 0.
fn projection(arguments: &ReportArguments) -> Result<Projection, Failure> {
    let is_wrong = |rate: &f64| !(rate.is_finite() && *rate > 0.0);
    if let Some(rate) = arguments.rate.filter(is_wrong) {
        let text = format!("--rate {rate}: give a number above 0");
        return Err(Failure::usage(text));
    }
    Ok(Projection { rate: arguments.rate, disk_bytes: arguments.disk.map(|disk| disk.0 as f64) })
}

/// The folders of runs among these and one level below, by name.
///
/// # Errors
/// A folder that cannot be read, or is none, and no run in any.
fn runs(given: &[PathBuf]) -> Result<Vec<PathBuf>, Failure> {
    let mut runs = Vec::new();
    // A shell's results/* names the list of runs, too.
    for folder in given.iter().filter(|path| !(path.ends_with(LIST) && path.is_file())) {
        if is_run(folder) {
            runs.push(folder.clone());
            continue;
        }
        if !folder.is_dir() {
            return Err(FolderError::Nowhere(folder.clone()).into());
        }
        let below = below(folder);
        runs.extend(
            below.map_err(|error| Failure::usage(format!("cannot read {}: {error}", folder.display())))?,
        );
    }
    runs.sort();
    runs.dedup();
    if runs.is_empty() {
        let none = FolderError::NotARun(given.first().cloned().unwrap_or_default());
        return Err(none.into());
    }
    Ok(runs)
}

/// Whether a run's results are in this folder.
pub fn is_run(folder: &Path) -> bool {
    folder.join("run.json").is_file()
}

/// The folders of runs in this folder.
fn below(folder: &Path) -> std::io::Result<Vec<PathBuf>> {
    let entries = std::fs::read_dir(folder)?.flatten().map(|entry| entry.path());
    Ok(entries.filter(|path| is_run(path)).collect())
}

/// The name of the page in a run's folder.
pub const PAGE: &str = "report.html";

/// Draws the report as a page into the folder, and lists the runs beside it.
///
/// # Errors
/// When they cannot be written.
pub fn draw(folder: &ResultsFolder, report: &Report) -> Result<(), Failure> {
    folder.replace_bytes(PAGE, report.html(Some(folder)).as_bytes())?;
    if let Ok(run) = folder.path().canonicalize()
        && let Some(results) = run.parent()
    {
        refresh(results, Some((&run, report)));
    }
    Ok(())
}

/// Writes the files that are asked for, and says which; whether any was.
fn write_files(
    folders: &[ResultsFolder],
    reports: &[Report],
    arguments: &ReportArguments,
) -> Result<bool, Failure> {
    let raw_files = [&arguments.samples, &arguments.latencies, &arguments.tidy];
    let is_raw = raw_files.iter().any(|file| file.is_some());
    if arguments.html.is_none() && !is_raw {
        return Ok(false);
    }
    if is_raw && folders.len() > 1 {
        return Err(Failure::usage(
            "--samples, --latencies and --tidy are about one run: give its folder alone",
        ));
    }
    if let Some(file) = &arguments.html {
        let runs: Vec<html::Run<'_>> = reports.iter().zip(folders.iter().map(Some)).collect();
        write_file(file, &html::render(&runs))?;
    }
    for (report, folder) in reports.iter().zip(folders) {
        let field = report.field();
        write_raw(arguments.samples.as_deref(), || raw::samples(field, folder))?;
        write_raw(arguments.latencies.as_deref(), || raw::latencies(field))?;
        write_raw(arguments.tidy.as_deref(), || tidy::tidy(field))?;
    }
    Ok(true)
}

fn write_raw(file: Option<&Path>, text: impl FnOnce() -> Result<String, String>) -> Result<(), Failure> {
    file.map_or(Ok(()), |file| write_file(file, &text().map_err(Failure::usage)?))
}

/// What a report is made with: the weights and the prices of files, where they are given.
///
/// # Errors
/// A file that cannot be read or holds something else.
pub fn options(weights: Option<&Path>, prices: Option<&Path>) -> Result<ReportOptions, Failure> {
    let read = |option: &str, path: &Path| {
        std::fs::read_to_string(path).map_err(|error| {
            Failure::usage(format!("--{option}: {} cannot be read: {error}", path.display()))
        })
    };
    let wrong = |path: &Path, error: &dyn Display| Failure::usage(format!("{}: {error}", path.display()));
    let mut options = ReportOptions::default();
    if let Some(path) = weights {
        options = ReportOptions::from_toml(&read("weights", path)?).map_err(|error| wrong(path, &error))?;
    }
    if let Some(path) = prices {
        options.prices = offers(&read("prices", path)?).map_err(|error| wrong(path, &error))?;
    }
    Ok(options)
}

/// Prints the report of a folder in these formats; as text the answer and the ranking, or everything.
///
/// # Errors
/// When it cannot be printed.
pub fn print(
    folder: &ResultsFolder,
    report: &Report,
    formats: &[FormatName],
    is_full: bool,
) -> Result<(), Failure> {
    for format in formats {
        let text = match format {
            FormatName::Text if !is_full && report.has_answer() => {
                brief::render(&report.summary(), &paths(folder, report), room())
            }
            FormatName::Json => report.json(),
            other => rendered(report.document(), *other),
        };
        output::print(&text)?;
    }
    Ok(())
}

/// What a reader of the answer may do next.
fn paths(folder: &ResultsFolder, report: &Report) -> Paths {
    let own = folder.path();
    let results = own.parent().unwrap_or(own);
    let shown = |path: PathBuf| path.is_file().then(|| path.display().to_string());
    let runs = below(results).unwrap_or_default();
    let has_others = runs.len() > 1;
    let promise = Promise::new(report.field(), &power_cuts(&runs));
    Paths {
        power_cut: (!promise.untried.is_empty())
            .then(|| format!("sensormark run durability --power-cut --on {}", promise.untried.join(","))),
        promise: Some(promise.said),
        list: shown(results.join(LIST)).filter(|_| has_others),
        page: shown(own.join(PAGE)),
        everything: Some(format!("sensormark report {} --full", quoted(&own.to_string_lossy()))),
        firmer: report.firmer(),
    }
}

/// The trials of the runs that cut the power of a disk. One that cannot be read shows nothing.
fn power_cuts(runs: &[PathBuf]) -> Vec<TrialRecord> {
    let folders = runs.iter().filter_map(|run| ResultsFolder::open(run).ok());
    let cuts = folders.filter(|folder| folder.run().is_ok_and(|run| is_power_cut(&run)));
    cuts.filter_map(|folder| folder.trials().ok()).flatten().collect()
}

/// The room on the terminal; without one, everything is printed.
fn room() -> Room {
    let size = rustix::termios::tcgetwinsize(std::io::stdout()).ok();
    Room { width: width(), height: size.map(|size| usize::from(size.ws_row)).filter(|rows| *rows > 0) }
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
    rustix::termios::tcgetwinsize(std::io::stdout()).map_or(80, |size| usize::from(size.ws_col).max(40))
}
