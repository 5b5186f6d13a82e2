//! JSON lines as rows: a column for each key, with points between the keys of objects in objects.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs::File,
    io::{BufRead, Seek},
};

use serde_json::value::RawValue;

use super::{
    error::{RecordingError, unclear},
    source::Source,
};

/// A copy of the objects as CSV, a row a line. A line that is no object becomes a row of one cell, which is then a bad row.
pub fn to_csv(source: &Source) -> Result<File, RecordingError> {
    let failed = |error| source.failed(error);
    let mut names = BTreeSet::new();
    let mut lines = 0_u64;
    for line in source.reader()?.lines() {
        let cells = cells(&line.map_err(failed)?);
        lines += 1;
        if cells.is_none() && lines == 1 {
            return unclear(format!(
                "line 1 of {0} begins like JSON and is no JSON object; a recording has an object a line: jq -c . {0}",
                source.given.display()
            ));
        }
        names.extend(cells.unwrap_or_default().into_keys());
    }
    let copy = tempfile::tempfile().map_err(failed)?;
    let mut writer = csv::WriterBuilder::new().flexible(true).from_writer(copy);
    let mut write =
        |row: &mut dyn Iterator<Item = &str>| writer.write_record(row).map_err(|error| failed(error.into()));
    write(&mut names.iter().map(String::as_str))?;
    for line in source.reader()?.lines() {
        let line = line.map_err(failed)?;
        match cells(&line) {
            Some(cells) => write(&mut names.iter().map(|name| cells.get(name).map_or("", String::as_str)))?,
            None => write(&mut std::iter::once(line.as_str()))?,
        }
    }
    let mut copy = writer.into_inner().map_err(|error| failed(error.into_error()))?;
    copy.rewind().map_err(failed)?;
    Ok(copy)
}

/// The values of an object, as text and by their keys.
fn cells(line: &str) -> Option<BTreeMap<String, String>> {
    let mut cells = BTreeMap::new();
    flatten("", line, &mut cells)?;
    Some(cells)
}

fn flatten(before: &str, object: &str, cells: &mut BTreeMap<String, String>) -> Option<()> {
    for (key, value) in serde_json::from_str::<BTreeMap<String, &RawValue>>(object).ok()? {
        let key = format!("{before}{key}");
        match value.get() {
            object if object.starts_with('{') => flatten(&format!("{key}."), object, cells)?,
            text if text.starts_with('"') => drop(cells.insert(key, serde_json::from_str(text).ok()?)),
            "null" => drop(cells.insert(key, String::new())),
            plain => drop(cells.insert(key, plain.to_owned())),
        }
    }
    Some(())
}
