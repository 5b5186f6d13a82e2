//! JSON lines as rows: a column for each key, with points between the keys of objects in objects.

use super::*;
use serde_json::value::RawValue;

// Numbers that JSON does not have, and Python writes.
pattern!(NOT_FINITE, r"([:,\[]\s*)(NaN|-?Infinity)\b");

/// Writes the objects as CSV, a row a line. A line that is no object becomes a row of one cell, which is then a bad row.
pub fn to_csv(source: &Source, copy: &mut File) -> Result<()> {
    let mut names = BTreeSet::new();
    for (number, line) in source.reader()?.lines().enumerate() {
        if let Some(cells) = cells("", &line?) {
            names.extend(cells.into_keys());
        } else if number == 0 {
            return unclear!(
                "line 1 of {source} is no JSON object; a recording has an object a line: jq -c . {source}"
            );
        }
    }
    let mut writer = csv::WriterBuilder::new().flexible(true).from_writer(copy);
    writer.write_record(&names).map_err(io::Error::from)?;
    for line in source.reader()?.lines() {
        let line = line?;
        writer
            .write_record(match cells("", &line) {
                Some(mut cells) => names.iter().map(|name| cells.remove(name).unwrap_or_default()).collect(),
                None => vec![line],
            })
            .map_err(io::Error::from)?;
    }
    Ok(writer.flush()?)
}

/// The values of an object, as text and by their keys, which begin with what is before them.
fn cells(before: &str, object: &str) -> Option<BTreeMap<String, String>> {
    let found: BTreeMap<String, &RawValue> = match serde_json::from_str(object) {
        Err(_) if NOT_FINITE.is_match(object) => {
            return cells(before, &NOT_FINITE.replace_all(object, "$1\"$2\""));
        }
        found => found.ok()?,
    };
    let mut values = BTreeMap::new();
    for (key, value) in found {
        let key = format!("{before}{key}");
        let text = match value.get() {
            object if object.starts_with('{') => {
                values.extend(cells(&format!("{key}."), object)?);
                continue;
            }
            text if text.starts_with('"') => serde_json::from_str(text).ok()?,
            "null" => String::new(),
            plain => plain.to_owned(),
        };
        values.insert(key, text);
    }
    Some(values)
}
