//! Parts of one run, which several ranks measured on hosts of their own, and how they become one results folder of the ordinary form.
//!
//! Rank 0 has counted and judged what all clients did. The others' parts add what their hosts saw: CPU of their clients, disturbances, and what speaks
//! against their share. Nothing is measured or counted here.

use super::folder::{FolderError, ResultsFolder};
use super::record::{RunRecord, TrialRecord};
use super::verdict::{Reason, ReasonKind, Verdict};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

/// The folder for what ranks other than 0 measured, in the merged one.
const RANKS: &str = "ranks";
/// The most missing ranks that a message names.
const MOST_NAMED: usize = 10;

/// Why parts are not one run.
#[derive(Debug, thiserror::Error)]
pub enum PartsError {
    /// A folder cannot be read or written.
    #[error(transparent)]
    Folder(#[from] FolderError),
    /// The parts do not belong together, or not all are here.
    #[error("{0}")]
    Unlike(String),
}

/// What all parts of a run have in common, by name.
pub fn identity(run: &RunRecord) -> BTreeMap<String, Value> {
    let named = [
        ("version", Value::from(run.sensormark.as_str())),
        ("result format", Value::from(run.schema_version)),
        ("workload", Value::from(run.workload.as_str())),
        ("scale", Value::from(run.scale.as_str())),
        ("seed", Value::from(run.seed)),
        ("number of repetitions", Value::from(run.repetitions)),
        ("protocol", Value::from(run.as_study)),
        ("number of ranks", Value::from(run.shard.1)),
    ];
    let parameters = run.parameters.as_object().into_iter().flatten();
    let parameters = parameters.map(|(name, value)| (format!("value of {name}"), value.clone()));
    named.into_iter().map(|(name, value)| (name.to_owned(), value)).chain(parameters).collect()
}

/// The name of the first thing in which two differ, with both values in words.
pub fn difference(
    first: &BTreeMap<String, Value>,
    other: &BTreeMap<String, Value>,
) -> Option<(String, [String; 2])> {
    let mut names = first.keys().chain(other.keys());
    let name = names.find(|name| first.get(*name) != other.get(*name))?;
    let told = |all: &BTreeMap<String, Value>| all.get(name).map_or("none".to_owned(), shown);
    Some((name.clone(), [told(first), told(other)]))
}

/// A value in a message: text as it is, and long ones cut.
fn shown(value: &Value) -> String {
    const MOST: usize = 80;
    let text = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
    if text.chars().count() <= MOST {
        return text;
    }
    text.chars().take(MOST).chain("…".chars()).collect()
}

/// One rank's part.
struct Part {
    folder: ResultsFolder,
    run: RunRecord,
    trials: Vec<TrialRecord>,
}

/// Joins parts into one folder below `results`.
///
/// # Errors
/// Parts that are missing, doubled or of different runs, by rank; a folder that cannot be read or written.
pub fn merge(folders: &[PathBuf], results: &Path) -> Result<ResultsFolder, PartsError> {
    let mut parts = Vec::new();
    for path in folders {
        let folder = ResultsFolder::open(path)?;
        parts.push(Part { run: folder.part()?, trials: folder.trials()?, folder });
    }
    parts.sort_by_key(|part| part.run.shard.0);
    check(&parts)?;
    let Some(first) = parts.first() else {
        return Err(PartsError::Unlike("there are no parts".to_owned()));
    };
    if results.join(&first.run.name).exists() {
        let folder = results.join(&first.run.name);
        return Err(PartsError::Unlike(format!(
            "{} is there already: these parts were merged before; give another folder with --results",
            folder.display()
        )));
    }
    let merged = ResultsFolder::create(results, &first.run.name)?;
    let names: BTreeSet<&str> =
        parts.iter().flat_map(|part| &part.trials).map(|trial| trial.name.as_str()).collect();
    for name in &names {
        merged.write_trial(&one_trial(name, &parts))?;
    }
    for part in &parts {
        keep_raw(part, &merged)?;
    }
    let mut run = one_run(&parts, &first.run);
    run.trials = names.into_iter().map(str::to_owned).collect();
    merged.write_run(&run)?;
    Ok(merged)
}

/// Refuses what is not all parts of one run.
fn check(parts: &[Part]) -> Result<(), PartsError> {
    let unlike = |text: String| Err(PartsError::Unlike(text));
    let Some(first) = parts.first() else {
        return unlike("there are no parts".to_owned());
    };
    let path = |part: &Part| part.folder.path().display().to_string();
    if let Some(whole) = parts.iter().find(|part| !part.run.is_part()) {
        return unlike(format!(
            "{} is a whole run, no part of one; parts are made by sensormark run --shard RANK/N",
            path(whole)
        ));
    }
    for part in &parts[1..] {
        let (rank, of) = (part.run.shard.0, first.run.shard.0);
        let found = difference(&identity(&first.run), &identity(&part.run));
        if let Some((name, [ours, theirs])) = found {
            return unlike(format!(
                "rank {rank} has another {name} than rank {of}: {theirs} in {}, {ours} in {}; merge parts of one run",
                path(part),
                path(first)
            ));
        }
        if part.run.name != first.run.name {
            return unlike(format!(
                "{} is of the run {}, and {} of the run {}: merge parts of one run",
                path(first),
                first.run.name,
                path(part),
                part.run.name
            ));
        }
    }
    for pair in parts.windows(2) {
        if let [one, other] = pair
            && one.run.shard.0 == other.run.shard.0
        {
            return unlike(format!(
                "rank {} is there twice: {} and {}; leave one out",
                one.run.shard.0,
                path(one),
                path(other)
            ));
        }
    }
    all_are_here(parts, first.run.shard.1)
}

/// Names the ranks of a run that have no part here.
fn all_are_here(parts: &[Part], of: u32) -> Result<(), PartsError> {
    let unlike = |text: String| Err(PartsError::Unlike(text));
    let is_here = |rank: &u32| parts.iter().any(|part| part.run.shard.0 == *rank);
    let missing: Vec<String> = (0..of)
        .filter(|rank| !is_here(rank))
        .map(|rank| rank.to_string())
        // The number of ranks is what a file says.
        .take(MOST_NAMED)
        .collect();
    match missing.as_slice() {
        [] => Ok(()),
        [one] => unlike(format!("rank {one} of {of} is missing: give its part too")),
        several => {
            let further = (of as usize).saturating_sub(parts.len() + several.len());
            let further = match further {
                0 => String::new(),
                further => format!(" and {further} more"),
            };
            unlike(format!("ranks {}{further} of {of} are missing: give their parts too", several.join(", ")))
        }
    }
}

fn one_run(parts: &[Part], first: &RunRecord) -> RunRecord {
    let of = first.shard.1;
    let finished: Option<Vec<&String>> = parts.iter().map(|part| part.run.finished.as_ref()).collect();
    let started = parts.iter().map(|part| &part.run.started).min();
    RunRecord {
        shard: (of, of),
        started: started.unwrap_or(&first.started).clone(),
        finished: finished.and_then(|all| all.into_iter().max().cloned()),
        ..first.clone()
    }
}

/// A trial as all ranks saw it.
fn one_trial(name: &str, parts: &[Part]) -> TrialRecord {
    let find = |part: &'_ Part| part.trials.iter().find(|trial| trial.name == name).cloned();
    let mut seen = parts.iter().map(|part| (part.run.shard.0, find(part)));
    let mut absent = Vec::new();
    let mut whole = loop {
        match seen.next() {
            Some((_, Some(first))) => break first,
            Some((rank, None)) => absent.push(rank),
            None => unreachable!("the name is of one of the trials"),
        }
    };
    for (rank, trial) in seen {
        match trial {
            Some(trial) => add(&mut whole, rank, trial),
            None => absent.push(rank),
        }
    }
    for rank in absent {
        let text = format!("rank {rank} has no record of this trial: it ended before");
        let reasons = vec![Reason::new(ReasonKind::ClientFailed, text)];
        whole.verdict = both(&whole.verdict, Verdict::Invalid(reasons));
    }
    whole
}

/// Adds what another rank saw of a trial.
fn add(whole: &mut TrialRecord, rank: u32, other: TrialRecord) {
    let told = |text: String| {
        let is_told = text.starts_with("rank ");
        if is_told { text } else { format!("rank {rank}: {text}") }
    };
    for phase in other.phases {
        let mut phases = whole.phases.iter_mut();
        let Some(same) = phases.find(|one| one.name == phase.name) else {
            continue;
        };
        if let (Some(totals), Some(more)) = (&mut same.totals, phase.totals) {
            totals.add_host(more, &format!("rank {rank}: "));
        }
    }
    let disturbances = other.disturbances.into_iter().map(told);
    whole.disturbances.extend(disturbances);
    for warning in other.warnings {
        if !whole.warnings.contains(&warning) {
            whole.warnings.push(told(warning));
        }
    }
    let held = |reasons: Vec<Reason>| {
        let named = reasons.into_iter().map(|reason| Reason { text: told(reason.text), ..reason });
        named.collect()
    };
    let verdict = match other.verdict {
        Verdict::Valid => Verdict::Valid,
        Verdict::Invalid(reasons) => Verdict::Invalid(held(reasons)),
        Verdict::Inconclusive(reasons) => Verdict::Inconclusive(held(reasons)),
    };
    whole.verdict = both(&whole.verdict, verdict);
}

/// What two hosts' verdicts come to: every reason counts, and the worse state.
fn both(one: &Verdict, other: Verdict) -> Verdict {
    let mut reasons = one.reasons().to_vec();
    for reason in other.reasons() {
        if !reasons.contains(reason) {
            reasons.push(reason.clone());
        }
    }
    let is_invalid = |verdict: &Verdict| matches!(verdict, Verdict::Invalid(_));
    if is_invalid(one) || is_invalid(&other) {
        Verdict::Invalid(reasons)
    } else if reasons.is_empty() {
        Verdict::Valid
    } else {
        Verdict::Inconclusive(reasons)
    }
}

/// Takes over what is raw: of rank 0 as it is in every run, of the others in folders of their own.
fn keep_raw(part: &Part, merged: &ResultsFolder) -> Result<(), PartsError> {
    let rank = part.run.shard.0;
    let from = part.folder.path();
    if rank == 0 {
        copy(merged, &from.join("samples"), "samples")?;
        return copy(merged, &from.join("files"), "files");
    }
    let own = format!("{RANKS}/{rank}");
    merged.make(&own)?;
    merged.write_json(&format!("{own}/run.json"), &part.run)?;
    copy(merged, &from.join("samples"), &format!("{own}/samples"))
}

/// Copies a folder with all that is in it, if it is there.
fn copy(merged: &ResultsFolder, from: &Path, name: &str) -> Result<(), PartsError> {
    let failed = |source| FolderError::Io { action: "read", path: from.to_path_buf(), hint: "", source };
    if !from.is_dir() {
        return Ok(());
    }
    merged.make(name)?;
    for entry in std::fs::read_dir(from).map_err(failed)? {
        let path = entry.map_err(failed)?.path();
        let file = path.file_name().unwrap_or_default().to_string_lossy();
        let name = format!("{name}/{file}");
        if path.is_dir() {
            copy(merged, &path, &name)?;
        } else if path.is_file() {
            let bytes = std::fs::read(&path).map_err(failed)?;
            merged.write_bytes(&name, &bytes)?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests;
