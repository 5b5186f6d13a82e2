//! Where an export goes: a file, which is there whole or not at all, or standard output.

use super::*;
use std::{fs::Permissions, os::unix::fs::PermissionsExt};

/// What precedes the readings of each series of a table, as `start` writes it.
pub fn starts(
    table: &Table,
    start: impl Fn(u32, &mut Page) -> Result<(), String>,
) -> Result<Vec<Box<[u8]>>, String> {
    let mut page = Page::default();
    (0..table.series.len())
        .map(|series| {
            page.clear();
            start(series, &mut page)?;
            Ok(page.written().into())
        })
        .collect()
}

/// Writes a batch and says how many values it holds.
type WriteBatch = dyn Fn(&Batch, &mut Page) -> u64;

/// What writes readings of a table in one format.
pub struct Writer {
    /// What comes before all readings.
    pub head: Box<[u8]>,
    pub batch: Box<WriteBatch>,
}

/// What was written.
#[derive(Debug, Default)]
pub struct Summary {
    /// Readings.
    pub readings: u64,
    /// Values: fields that the readings have.
    pub values: u64,
    /// Bytes.
    pub bytes: u64,
}

/// Writes a data set, or a shard of it, to a file, or to standard output for none. A file is written beside its place and then put there. A file that is
/// there is replaced. When the reader of standard output leaves early, so does the export: then there is no summary, and that is no error.
///
/// # Errors
/// When the options do not fit the data set, or the output cannot be written (of a file nothing is left then), in words.
pub fn export(
    data: &DataSet,
    options: &ExportOptions,
    file: Option<&Path>,
) -> Result<Option<Summary>, String> {
    let writers = writers(data, options)?;
    let to = |to: &mut dyn Write| write(&writers, data, options, to);
    let failed = |name: &dyn Display, error: io::Error| format!("cannot write {name}: {error}");
    match file {
        // Where a link leads, the file is replaced and not the link.
        Some(path) => to_file(&path.canonicalize().unwrap_or_else(|_| path.to_owned()), to)
            .map_err(|error| failed(&path.display(), error))
            .map(Some),
        None => match to(&mut io::stdout().lock()) {
            Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(None),
            written => written.map_err(|error| failed(&"standard output", error)).map(Some),
        },
    }
}

fn to_file(place: &Path, write: impl FnOnce(&mut dyn Write) -> io::Result<Summary>) -> io::Result<Summary> {
    if place.metadata().is_ok_and(|there| !there.is_file()) {
        // A device or a named pipe: it is written to, not replaced.
        return write(&mut File::options().write(true).open(place)?);
    }
    let mut draft = tempfile::Builder::new()
        .prefix(".")
        .suffix(".part")
        .permissions(Permissions::from_mode(0o666)) // less what the user's mask takes
        .tempfile_in(place.parent().unwrap_or(place))?;
    let summary = write(&mut draft)?;
    draft.as_file().sync_all()?;
    draft.persist(place)?;
    Ok(summary)
}

/// What writes each table; nothing for those that are not wanted.
pub fn writers(data: &DataSet, options: &ExportOptions) -> Result<Vec<Option<Writer>>, String> {
    options.check(&data.schema)?;
    let writer = match options.format {
        Format::LineProtocol => line_protocol::writer,
        Format::Json => json::writer,
        Format::Csv => csv::writer,
    };
    let is_wanted = |table: &Table| options.table.as_ref().is_none_or(|name| *name == table.name);
    data.schema.tables.iter().map(|table| is_wanted(table).then(|| writer(table)).transpose()).collect()
}

/// Writes everything.
pub fn write(
    writers: &[Option<Writer>],
    data: &DataSet,
    options: &ExportOptions,
    to: &mut dyn Write,
) -> io::Result<Summary> {
    let mut summary = Summary::default();
    let mut page = Page::default();
    writers.iter().flatten().for_each(|writer| page.put(&writer.head));
    let mut hand_on = |page: &mut Page| {
        summary.bytes += page.len() as u64;
        to.write_all(page.written())?;
        page.clear();
        to.flush()
    };
    data.each_batch(options.shard, |batch| {
        let written = writers[batch.table].as_ref().map_or(0, |writer| (writer.batch)(batch, &mut page));
        summary.values += written;
        summary.readings += if written > 0 { batch.len() as u64 } else { 0 };
        if page.len() < 1 << 18 { Ok(()) } else { hand_on(&mut page) }
    })?;
    hand_on(&mut page)?;
    Ok(summary)
}
