//! Reading a user's workload file: TOML in, [`Parameters`] out, or one message with file, line and the nearest right word.
//!
//! [`form`] says what may stand in a file, and serde reads it. [`source`] knows where each value stood. [`tables`] and [`phases`] check what the values mean
//! together.

mod dashboards;
mod error;
mod form;
mod life;
mod lifecycle;
mod phases;
mod queries;
mod source;
mod tables;

#[cfg(test)]
mod tests;

use super::layouts::Indexes;
use super::limit::{Limit, What};
use super::parameters::Parameters;
pub use dashboards::DashboardPart;
pub use error::FileError;
use form::{File, Text};
use sensormark_data::quantity::{Quantity, quantity};
use sensormark_data::units::round_u64;
pub use source::Source;
use std::path::Path;
pub use tables::check_name;

/// Layouts by name; `reading` and `flat` are the first by other workloads' names.
const LAYOUTS: [&str; 8] =
    ["individual", "bulk", "reading", "buckets", "flat", "bucketed", "summary", "array"];

/// Whether a text names a store as after `--on`; says what is wrong where it does not.
pub type StoreCheck<'a> = &'a dyn Fn(&str) -> Result<(), String>;

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
    let source = Source::new(text, file, settings)?;
    let mut file: File = source.read()?;
    let dashboards = dashboards::spread(&source, &mut file)?;
    let texts = |list: &[Text]| list.iter().map(|text| text.value.clone()).collect::<Vec<_>>();
    for store in file.stores.iter().flatten() {
        is_store(store).map_err(|why| source.error(store, why))?;
    }
    let layouts = layouts(&file, &source)?;
    if let Some(day) = file.day.as_ref().filter(|day| day[0] >= day[1] || day[1] > 24) {
        return Err(source.error(day, "day is from one hour to a later one, like [6, 22]"));
    }
    let tables = tables::tables(&source, &file, folder)?;
    let life = life::life(&source, &file, &tables)?;
    let phases = phases::phases(&source, &file, &tables, life.as_ref())?;
    let mut parameters = Parameters {
        name: file.name.clone().unwrap_or_default(),
        repetitions: file.repetitions.map_or(1, |repetitions| repetitions.0),
        stores: file.stores.as_deref().map_or_else(|| vec!["sqlite".to_owned()], texts),
        layouts,
        index: file.index.or(file.statements.map(|_| Indexes::With)),
        statements: file.statements,
        variants: file.variants.clone(),
        bucket: file.bucket.map(|bucket| bucket.0),
        day: file.day.as_ref().map(|day| day.value),
        limits: Vec::new(),
        durability: file.durability,
        server_memory_bytes: server_memory(&file, &source)?,
        keep_ns: file.keep.as_ref().map(|keep| keep.0),
        in_proportion: None,
        tables,
        life,
        dashboards,
        phases,
    };
    parameters.limits = limits(&file, &source, &parameters)?;
    Ok(parameters)
}

fn layouts(file: &File, source: &Source<'_>) -> Result<Vec<String>, FileError> {
    let Some(named) = &file.layouts else {
        return Ok(LAYOUTS[..2].iter().map(|name| (*name).to_owned()).collect());
    };
    for layout in &named.value {
        tables::number(source, "layout", &LAYOUTS.map(str::to_owned), Some(layout), layout)?;
    }
    if named.is_empty() {
        let message = "layouts is an empty list; write layouts = [\"individual\", \"bulk\"]";
        return Err(source.error(named, message));
    }
    Ok(named.iter().map(|layout| layout.value.clone()).collect())
}

/// Memory of servers; none where it is not said.
fn server_memory(file: &File, source: &Source<'_>) -> Result<Option<u64>, FileError> {
    let bytes = |text: &Text| match quantity(text) {
        Some((bytes, Quantity::Size)) if bytes >= 1.0 => Ok(round_u64(bytes)),
        _ => {
            let message =
                format!("server_memory = {:?} is no size; write it like \"1 GB\" or \"512 MiB\"", text.value);
            Err(source.error(text, message))
        }
    };
    file.server_memory.as_ref().map(bytes).transpose()
}

fn limits(file: &File, source: &Source<'_>, parameters: &Parameters) -> Result<Vec<Limit>, FileError> {
    let phases = || parameters.phases.iter();
    let loads = phases().flat_map(|phase| &phase.writers).map(|writers| &writers.name);
    let asked = phases().flat_map(|phase| &phase.queries).map(|query| &query.name);
    let names: Vec<String> = loads.chain(asked).cloned().collect();
    let asks = phases().any(|phase| !phase.queries.is_empty());
    let has_rate = phases().flat_map(|phase| &phase.writers).any(|writers| writers.rate.is_some());
    let limit = |text: &str| {
        let limit = Limit::parse(text, &names, parameters.readings_per_second())?;
        match limit.what {
            What::WrongAnswers if !asks => {
                Err("nothing is asked here, so that no answer can be wrong: add [[queries]], or leave this limit out".to_owned())
            }
            What::Headroom if !has_rate => {
                Err("headroom is looked for from the rate of the writers: give them one, [writers] rate = 1000".to_owned())
            }
            _ => Ok(limit),
        }
    };
    let each = file.limits.iter();
    each.map(|text| limit(text).map_err(|why| source.error(text, why))).collect()
}
