//! A life in a workload file: `[retention]`, `[[rollups]]` and `[compression]`, and the phases that they make of one.

use super::error::FileError;
use super::form::{At, File, Rollup};
use super::source::{Placed, Source};
use super::tables::{check_name, number};
use crate::own::parameters::{LifePart, PhasePart, QueryKind, RollupPart, TablePart};
use crate::own::{LIFE, LOAD, WRITERS, life};
use sensormark_data::quantity::length_text;

/// A year of weeks.
const ROUNDS: i64 = 52;
/// The most rounds of tasks.
const MOST_ROUNDS: i64 = 1_000;
/// What a rollup may hold; the first four of it where nothing is said.
const FUNCTIONS: [QueryKind; 5] =
    [QueryKind::Count, QueryKind::Mean, QueryKind::Minimum, QueryKind::Maximum, QueryKind::Sum];

/// The life; none where the file says nothing of it.
pub fn life(source: &Source<'_>, file: &File, tables: &[TablePart]) -> Result<Option<LifePart>, FileError> {
    let retention = file.retention.as_ref();
    let compression = file.compression.as_ref();
    let place = retention.map(Placed::place).or(compression.map(Placed::place));
    let Some(place) = place.or(file.rollups.first().map(Placed::place)) else { return Ok(None) };
    let [table] = tables else {
        return Err(source.error(place, "a life is of one table: write one [series]"));
    };
    if table.series.churn > 0.0 {
        return Err(source.error(place, "a life is of series that do not end: leave churn out of [series]"));
    }
    let stray = file.load.as_ref().map(Placed::place).or(file.phases.first().map(Placed::place));
    if let Some(stray) = stray.or(file.keep.as_ref().map(Placed::place)) {
        let message = "a life writes all data in rounds, from the first reading on: leave this out, and say in [writers] and [mixed] who writes and asks";
        return Err(source.error(stray, message));
    }
    let duration_ns = table.series.duration_ns;
    let every = retention.and_then(|one| one.every.as_ref());
    let least = table.series.interval_ns.max(duration_ns / MOST_ROUNDS);
    let every_ns = every.map_or((duration_ns / ROUNDS).max(least), |every| every.0);
    if let Some(every) = every.filter(|every| every.0 < least) {
        let [least, most] = [least, duration_ns].map(length_text);
        let message = format!("every is from {least} to {most} here");
        return Err(source.error(every, message));
    }
    let mut rollups: Vec<RollupPart> = Vec::new();
    for one in &file.rollups {
        let made = rollup(source, table, one)?;
        if rollups.iter().any(|before| before.name == made.name) {
            return Err(
                source.error(one, "there is such a rollup already: give them one, with all functions")
            );
        }
        rollups.push(made);
    }
    let part = LifePart {
        every_ns,
        keep_ns: retention.map(|one| one.keep.0),
        stale: retention.map_or(0.0, |one| one.late.0),
        compress_after_ns: compression.map(|one| one.after.0),
        rollups,
    };
    let least_ns = life::least_kept_ns(&part, &table.series);
    if let Some(keep) = retention.map(|one| &one.keep).filter(|keep| keep.0 < least_ns) {
        let message = format!(
            "keep is {}: what comes late would be gone before a rollup has it; keep for {} or longer, two rounds more than late_by",
            source.typed(keep),
            length_text(least_ns)
        );
        return Err(source.error(keep, message));
    }
    Ok(Some(part))
}

fn rollup(source: &Source<'_>, table: &TablePart, one: &At<Rollup>) -> Result<RollupPart, FileError> {
    let known: Vec<String> = table.fields.iter().map(|field| field.name.clone()).collect();
    let is_number = |field: &usize| table.fields[*field].kind.is_number();
    let fields: Vec<usize> = match &one.of {
        None => (0..known.len()).filter(is_number).collect(),
        Some(of) => vec![number(source, "field", &known, Some(of), of)?],
    };
    let functions = match &one.functions {
        None => FUNCTIONS[..4].to_vec(),
        Some(named) => named.iter().map(|kind| kind.value).collect(),
    };
    let mut named = one.functions.iter().flatten();
    if let Some(other) = named.find(|kind| !FUNCTIONS.contains(&kind.value)) {
        return Err(source.error(other, "a rollup has count, mean, minimum, maximum or sum"));
    }
    if fields.is_empty() || functions.is_empty() || !fields.iter().all(is_number) {
        return Err(
            source.error(one, "a rollup is of a field that is a number, and has one function at least")
        );
    }
    let every_ns = one.every.0;
    if every_ns < table.series.interval_ns {
        return Err(source.error(&one.every, "every is shorter than the interval of the readings"));
    }
    let of = one.of.as_ref().map_or_else(String::new, |of| format!("_{}", of.value));
    let name = format!("{}{of}_{}", table.series.table, length_text(every_ns));
    check_name(&name).map_err(|why| source.error(&one.every, why))?;
    let columns = fields.iter().flat_map(|&field| functions.iter().map(move |&kind| (field, kind)));
    Ok(RollupPart { name, every_ns, columns: columns.collect() })
}

/// The rounds of a life: this phase again and again, each with its part of the data.
pub fn rounds(part: &LifePart, table: &TablePart, phase: PhasePart) -> Vec<PhasePart> {
    let duration_ns = table.series.duration_ns;
    let starts = (0..duration_ns).step_by(usize::try_from(part.every_ns).unwrap_or(usize::MAX));
    let each = (0_u32..).zip(starts).map(|(round, start)| {
        let name = format!("{LIFE}-{}", round + 1);
        let mut phase = PhasePart { name, round: Some(round), ..phase.clone() };
        for one in &mut phase.writers {
            one.load_ns = Some(part.every_ns.min(duration_ns - start));
            if one.name == LOAD {
                WRITERS.clone_into(&mut one.name);
            }
        }
        phase
    });
    each.collect()
}
