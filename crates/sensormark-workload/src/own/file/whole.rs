//! The whole of a workload file, table by table.

use super::error::FileError;
use super::fields::{Names, fields, name, tags};
use super::queries::{Data, batch, clients, mixed};
use super::section::{At, Section, Source};
use crate::own::limit::{Limit, What};
use crate::own::parameters::{LoadPart, MixedPart, Parameters, SeriesPart};
use sensormark_data::nearest::unknown;
use sensormark_data::quantity::length_text;
use sensormark_data::quantity::{Quantity, quantity};
use sensormark_data::units::round_u64;
use sensormark_store::{Durability, TimeRange};
use std::path::Path;

const KEYS: [&str; 14] = [
    "name",
    "repetitions",
    "stores",
    "layouts",
    "limits",
    "durability",
    "server_memory",
    "series",
    "tags",
    "fields",
    "load",
    "mixed",
    "writers",
    "queries",
];

const SERIES_KEYS: [&str; 10] =
    ["table", "count", "start", "interval", "jitter", "duration", "missing", "late", "late_by", "repeated"];

const DURABILITIES: [(&str, Durability); 4] = [
    ("default", Durability::Default),
    ("durable", Durability::Durable),
    ("relaxed", Durability::Relaxed),
    ("unacknowledged", Durability::Unacknowledged),
];

/// When data begin, unless it is said: 2026-01-01, in ns since the Unix epoch.
const START_NS: i64 = 1_767_225_600_000_000_000;

/// Layouts by name, in the order in which they are measured.
pub const LAYOUTS: [&str; 2] = ["individual", "bulk"];

/// Whether a text names a store as after `--on`; says what is wrong where it does not.
pub type StoreCheck<'a> = &'a dyn Fn(&str) -> Result<(), String>;

/// Reads the whole file.
pub fn whole(source: &Source<'_>, folder: &Path, is_store: StoreCheck<'_>) -> Result<Parameters, FileError> {
    let root = source.root(&KEYS)?;
    let own_name = root.text("name")?;
    let repetitions = root.whole("repetitions", 1..=100)?;
    let stores = stores(&root, is_store)?;
    let layouts = layouts(&root)?;
    let series = series(&root)?;
    let mut names = Names::default();
    let tags = tags(&root, &mut names, series.count)?;
    let fields = fields(&root, &mut names, folder)?;
    let load = load(&root, &series)?;
    let data = Data { series: &series, tags: &tags, fields: &fields };
    let mixed = mixed(&root, &data)?;
    let limits = limits(&root, mixed.as_ref(), series.readings_per_second())?;
    let durability = root.word("durability", &DURABILITIES)?;
    Ok(Parameters {
        name: own_name.map_or_else(String::new, |at| at.value),
        repetitions: repetitions.map_or(1, |at| u32::try_from(at.value).unwrap_or(1)),
        stores,
        layouts,
        limits,
        durability: durability.map(|at| at.value),
        server_memory_bytes: server_memory(&root)?,
        series,
        tags,
        fields,
        load,
        mixed,
    })
}

fn stores(root: &Section<'_, '_>, is_store: StoreCheck<'_>) -> Result<Vec<String>, FileError> {
    let Some(named) = root.texts("stores")? else {
        return Ok(vec!["sqlite".to_owned()]);
    };
    for at in &named {
        is_store(&at.value).map_err(|why| root.error(&at.place, why))?;
    }
    Ok(named.into_iter().map(|at| at.value).collect())
}

fn layouts(root: &Section<'_, '_>) -> Result<Vec<String>, FileError> {
    let Some(named) = root.texts("layouts")? else {
        return Ok(LAYOUTS.map(str::to_owned).to_vec());
    };
    for at in &named {
        if !LAYOUTS.contains(&at.value.as_str()) {
            let known = LAYOUTS.map(str::to_owned);
            return Err(root.error(&at.place, unknown("layout", &at.value, known)));
        }
    }
    if named.is_empty() {
        return Err(root.missing("layouts", "[\"individual\", \"bulk\"]"));
    }
    Ok(named.into_iter().map(|at| at.value).collect())
}

fn series(root: &Section<'_, '_>) -> Result<SeriesPart, FileError> {
    let section = root.section("series", &SERIES_KEYS)?;
    let section = section.ok_or_else(|| {
        root.error(root.place(), "there is no [series] table; write one with count, interval and duration")
    })?;
    let table = match section.text("table")? {
        None => "readings".to_owned(),
        Some(_) => name(&section, "table", "readings")?.value,
    };
    let count = section.whole("count", 1..=10_000_000)?;
    let count = count.ok_or_else(|| section.missing("count", "100"))?;
    let interval = section.duration("interval")?;
    let interval = interval.ok_or_else(|| section.missing("interval", "\"10s\""))?;
    let duration = section.duration("duration")?;
    let duration = duration.ok_or_else(|| section.missing("duration", "\"1h\""))?;
    let jitter = section.duration("jitter")?;
    let late = section.share("late")?;
    let late_by = section.duration("late_by")?;
    let part = SeriesPart {
        table,
        count: u32::try_from(count.value).unwrap_or(u32::MAX),
        start_ns: start(&section)?,
        interval_ns: interval.value,
        jitter_ns: jitter.as_ref().map_or(0, |at| at.value),
        duration_ns: duration.value,
        missing: section.share("missing")?,
        late,
        late_by_ns: late_by.as_ref().map_or(interval.value, |at| at.value),
        repeated: section.share("repeated")?,
    };
    check_times(&section, &part, &duration, jitter.as_ref(), late_by.as_ref())?;
    Ok(part)
}

/// Times that make sense together.
fn check_times(
    section: &Section<'_, '_>,
    part: &SeriesPart,
    duration: &At<i64>,
    jitter: Option<&At<i64>>,
    late_by: Option<&At<i64>>,
) -> Result<(), FileError> {
    if let Some(jitter) = jitter
        && jitter.value >= part.interval_ns
    {
        let message = format!(
            "jitter is {} and interval is {}: jitter must be shorter than the interval, so that a series' readings keep their order",
            section.typed(&jitter.place),
            length_text(part.interval_ns)
        );
        return Err(section.error(&jitter.place, message));
    }
    part.check_duration().map_err(|why| section.error(&duration.place, why))?;
    let end_ns = part.start_ns.checked_add(part.duration_ns);
    if end_ns.is_none_or(|end_ns| end_ns > TimeRange::OF_READINGS.end_ns) {
        let message = format!(
            "duration is {} and start is {} ns after 1970: times lie in the years 1970 to 2261",
            section.typed(&duration.place),
            part.start_ns
        );
        return Err(section.error(&duration.place, message));
    }
    match late_by {
        Some(late_by) if part.late <= 0.0 => {
            let message = format!(
                "late_by is {} and late is 0: say too how many readings come late, late = 0.01",
                section.typed(&late_by.place)
            );
            Err(section.error(&late_by.place, message))
        }
        Some(late_by) if late_by.value < part.interval_ns => {
            let message = format!(
                "late_by is {} and interval is {}: late_by must be at least the interval, because what comes before the next reading is not late",
                section.typed(&late_by.place),
                length_text(part.interval_ns)
            );
            Err(section.error(&late_by.place, message))
        }
        _ => Ok(()),
    }
}

fn start(section: &Section<'_, '_>) -> Result<i64, FileError> {
    let Some(text) = section.text("start")? else {
        return Ok(START_NS);
    };
    let wrong = |why: String| {
        section.error(&text.place, format!("{:?}: {why}; write it like \"2026-01-01T00:00:00Z\"", text.value))
    };
    let start: jiff::Timestamp = text.value.parse().map_err(|error: jiff::Error| wrong(error.to_string()))?;
    let start_ns = i64::try_from(start.as_nanosecond()).ok();
    start_ns
        .filter(|&start_ns| TimeRange::OF_READINGS.contains(start_ns))
        .ok_or_else(|| wrong("times lie in the years 1970 to 2261".to_owned()))
}

fn load(root: &Section<'_, '_>, series: &SeriesPart) -> Result<LoadPart, FileError> {
    let Some(section) = root.section("load", &["clients", "batch"])? else {
        return Ok(LoadPart { clients: 1, batch: 0 });
    };
    Ok(LoadPart { clients: clients(&section)?, batch: batch(&section, series, 0)? })
}

/// Memory of servers; none where it is not said.
fn server_memory(root: &Section<'_, '_>) -> Result<Option<u64>, FileError> {
    let Some(text) = root.text("server_memory")? else {
        return Ok(None);
    };
    match quantity(&text.value) {
        Some((bytes, Quantity::Size)) if bytes >= 1.0 => Ok(Some(round_u64(bytes))),
        _ => {
            let message =
                format!("server_memory = {:?} is no size; write it like \"1 GB\" or \"512 MiB\"", text.value);
            Err(root.error(&text.place, message))
        }
    }
}

fn limits(root: &Section<'_, '_>, mixed: Option<&MixedPart>, rate: f64) -> Result<Vec<Limit>, FileError> {
    let mut names = vec!["load".to_owned()];
    if let Some(mixed) = mixed {
        names.extend(mixed.writers.iter().map(|_| "writers".to_owned()));
        names.extend(mixed.queries.iter().map(|query| query.name.clone()));
    }
    let texts = root.texts("limits")?.unwrap_or_default();
    let asks = mixed.is_some_and(|mixed| !mixed.queries.is_empty());
    let limit = |at: &At<String>| {
        let limit = Limit::parse(&at.value, &names, rate)?;
        if limit.what == What::WrongAnswers && !asks {
            return Err("nothing is asked here, so that no answer can be wrong: add [[queries]], or leave this limit out".to_owned());
        }
        let has_rate = mixed.and_then(|mixed| mixed.writers.as_ref()?.rate).is_some();
        if limit.what == What::Headroom && !has_rate {
            return Err(
                "headroom is looked for from the rate of the writers: give them one, [writers] rate = 1000"
                    .to_owned(),
            );
        }
        Ok(limit)
    };
    let read = |at| limit(at).map_err(|why| root.error(&at.place, why));
    texts.iter().map(read).collect()
}
