//! Where an export goes: a file, which is there whole or not at all, or standard output.

use std::ffi::OsString;
use std::fmt;
use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use sensormark_store::text::Page;

use super::csv::Csv;
use super::error::ExportError;
use super::json::JsonLines;
use super::line_protocol::LineProtocol;
use super::options::{ExportOptions, Format};
use super::prepared::Writer;
use super::source::{Batches, DataSet};

/// A page is handed on when it holds this many bytes.
const PAGE_BYTES: usize = 1 << 18;

/// Where an export goes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Output {
    /// A file: written beside its place and then put there, so that nobody finds half of it. One that is there is replaced.
    File(PathBuf),
    /// Standard output. When its reader leaves early, so does the export, and that is no error.
    StandardOutput,
}

/// What was written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Summary {
    /// Readings.
    pub readings: u64,
    /// Values: fields that the readings have.
    pub values: u64,
    /// Bytes.
    pub bytes: u64,
    /// Whether the reader of standard output left before the end.
    pub left_early: bool,
}

/// Writes a data set, or a shard of it.
///
/// # Errors
/// When the options do not fit the data set, or the output cannot be written (of a file nothing is left then).
pub fn export(data: &dyn DataSet, options: &ExportOptions, output: &Output) -> Result<Summary, ExportError> {
    options.check_shard(data.schema())?;
    let writer = writer(data, options)?;
    let mut batches = data.batches(options.shard);
    let fail = |source| ExportError::Write { to: output.to_string(), source };
    match output {
        Output::File(path) => {
            if path.metadata().is_ok_and(|there| !there.is_file()) {
                // A device or a named pipe: it is written to, not replaced.
                let mut there = File::options().write(true).open(path).map_err(fail)?;
                return copy(writer.as_ref(), batches.as_mut(), &mut there).map_err(fail);
            }
            let mut draft = Draft::new(path).map_err(fail)?;
            let summary = copy(writer.as_ref(), batches.as_mut(), &mut draft.file).map_err(fail)?;
            draft.publish().map_err(fail)?;
            Ok(summary)
        }
        Output::StandardOutput => {
            let mut stdout = io::stdout().lock();
            let (mut summary, result) = write_all(writer.as_ref(), batches.as_mut(), &mut stdout);
            match result.and_then(|()| stdout.flush()) {
                Err(error) if error.kind() == io::ErrorKind::BrokenPipe => {
                    summary.left_early = true;
                    Ok(summary)
                }
                result => result.map(|()| summary).map_err(fail),
            }
        }
    }
}

/// Writes a data set, or a shard of it, to anything that takes bytes.
///
/// # Errors
/// When the options do not fit the data set, or the bytes are not taken.
pub fn write_batches(
    data: &dyn DataSet,
    options: &ExportOptions,
    to: &mut dyn Write,
) -> Result<Summary, ExportError> {
    options.check_shard(data.schema())?;
    let writer = writer(data, options)?;
    let mut batches = data.batches(options.shard);
    copy(writer.as_ref(), batches.as_mut(), to)
        .map_err(|source| ExportError::Write { to: "the stream".to_owned(), source })
}

fn writer(data: &dyn DataSet, options: &ExportOptions) -> Result<Box<dyn Writer>, ExportError> {
    let schema = data.schema();
    let chosen = options.chosen(schema)?;
    Ok(match options.format {
        Format::LineProtocol => Box::new(LineProtocol::new(schema, chosen)?),
        Format::Json => Box::new(JsonLines::new(schema, chosen)),
        Format::Csv => {
            let number = chosen.unwrap_or(0);
            Box::new(Csv::new(number, &schema.tables[number]))
        }
    })
}

fn copy(writer: &dyn Writer, batches: &mut dyn Batches, to: &mut dyn Write) -> io::Result<Summary> {
    let (summary, result) = write_all(writer, batches, to);
    result.map(|()| summary)
}

/// Writes everything, and says how much was taken even where that ends early.
fn write_all(
    writer: &dyn Writer,
    batches: &mut dyn Batches,
    to: &mut dyn Write,
) -> (Summary, io::Result<()>) {
    let mut summary = Summary::default();
    let mut page = Page::default();
    writer.head(&mut page);
    let (mut readings, mut values) = (0, 0);
    loop {
        let batch = batches.next();
        if page.len() >= PAGE_BYTES || batch.is_none() {
            if let Err(error) = to.write_all(page.written()) {
                return (summary, Err(error));
            }
            summary.bytes += page.len() as u64;
            (summary.readings, summary.values) = (readings, values);
            page.clear();
        }
        let Some(batch) = batch else {
            return (summary, Ok(()));
        };
        let written = writer.batch(batch, &mut page);
        values += written;
        readings += if written > 0 { batch.len() as u64 } else { 0 };
    }
}

/// A file that is not in its place yet; removed unless it is put there.
struct Draft {
    file: File,
    beside: PathBuf,
    place: PathBuf,
    published: bool,
}

impl Draft {
    fn new(place: &Path) -> io::Result<Self> {
        // Where a link leads, the file is replaced and not the link.
        let place = place.canonicalize().unwrap_or_else(|_| place.to_owned());
        let mut name = OsString::from(".");
        name.push(place.file_name().ok_or(io::ErrorKind::IsADirectory)?);
        name.push(format!(".{}.part", std::process::id()));
        let beside = place.with_file_name(name);
        Ok(Self { file: File::create_new(&beside)?, beside, place, published: false })
    }

    fn publish(mut self) -> io::Result<()> {
        self.file.sync_all()?;
        fs::rename(&self.beside, &self.place)?;
        self.published = true;
        Ok(())
    }
}

impl Drop for Draft {
    fn drop(&mut self) {
        if !self.published {
            // What is left behind then is a hidden file that names this process.
            let _ = fs::remove_file(&self.beside);
        }
    }
}

impl Output {
    /// A file, or standard output for none and for `-`.
    pub fn from_option(path: Option<PathBuf>) -> Self {
        match path {
            Some(path) if path.as_os_str() != "-" => Self::File(path),
            _ => Self::StandardOutput,
        }
    }
}

impl fmt::Display for Output {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::File(path) => path.display().fmt(formatter),
            Self::StandardOutput => formatter.write_str("standard output"),
        }
    }
}
