//! `sensormark clean`: removes what runs that were killed left, on this machine and in databases on servers that the user names.
//!
//! Whose a database is and whether its run lives is decided in [`leftover`](sensormark_engine::leftover); what is found on this machine, by the supervisor.

use crate::arguments::{CleanArguments, milliseconds};
use crate::failure::{Failure, NOT_VALID};
use crate::output::line;
use crate::registry::registry;
use sensormark_engine::leftover::{Leftover, Place};
use sensormark_engine::selection::{Choice, parse, redacted};
use sensormark_report::clean::clean as shown;
use sensormark_report::quoted;
use sensormark_server::{RunState, Supervisor};
use sensormark_store::Secret;
use std::process::ExitCode;

/// The most databases that a run which begins names one by one.
const MOST_NAMED: usize = 3;

/// Removes what may go, and says what does not.
///
/// # Errors
/// When a place is named wrongly or cannot be reached.
pub fn clean(arguments: &CleanArguments) -> Result<ExitCode, Failure> {
    let supervisor = Supervisor::new(None)?;
    let choices = choices(&arguments.places)?;
    let mut found = this_machine(&supervisor, arguments.dry_run);
    let mut is_all_gone = true;
    for place in Place::all(&supervisor, choices.iter())? {
        let (databases, are_gone) = databases(&supervisor, &place, arguments)?;
        found.extend(databases);
        is_all_gone &= are_gone;
    }
    if found.is_empty() {
        line("nothing is left of runs that are gone")?;
    }
    for text in found {
        line(shown(&text))?;
    }
    Ok(match is_all_gone {
        true => ExitCode::SUCCESS,
        false => ExitCode::from(NOT_VALID),
    })
}

/// The places that the user named.
fn choices(places: &[String]) -> Result<Vec<Choice>, Failure> {
    let registry = registry();
    let mut choices = Vec::new();
    for place in places {
        choices.extend(parse(place, &registry).map_err(Failure::usage)?);
    }
    if let Some(choice) = choices.iter().find(|choice| choice.url.is_none()) {
        let name = choice.store.description().name;
        return Err(Failure::usage(format!(
            "{name}: say where, as {name}=URL; what {name} left on this machine goes without being named"
        )));
    }
    Ok(choices)
}

/// What dead runs left on this machine: a line each, of what was done or would be.
pub fn this_machine(supervisor: &Supervisor, is_dry: bool) -> Vec<String> {
    if is_dry { supervisor.orphans() } else { supervisor.clean_orphans() }
}

/// The databases of a place, a line each, and whether all that may go are gone.
fn databases(
    supervisor: &Supervisor,
    place: &Place,
    arguments: &CleanArguments,
) -> Result<(Vec<String>, bool), Failure> {
    let timeout_ms = milliseconds(arguments.timeout);
    let found = place.databases(supervisor, timeout_ms)?;
    let mut failures = Vec::new();
    let mut lines = Vec::new();
    for one in &found {
        let done = if !one.may_go(arguments.older_than) {
            why_it_stays(one).to_owned()
        } else if arguments.dry_run {
            "would be dropped".to_owned()
        } else {
            match place.drop_database(one, timeout_ms) {
                Ok(()) => "dropped".to_owned(),
                Err(error) => {
                    failures.push(one.clone());
                    format!("could not be dropped: {error}")
                }
            }
        };
        lines.push(format!("{}: {done}", named(&place.choice, one)));
    }
    // A drop that found nothing under the name says nothing of it.
    if !arguments.dry_run && !found.is_empty() {
        for one in place.databases(supervisor, timeout_ms)? {
            if one.may_go(arguments.older_than) && !failures.contains(&one) {
                let named = named(&place.choice, &one);
                lines.push(format!("{named}: is still there; drop it yourself"));
                failures.push(one);
            }
        }
    }
    Ok((lines, failures.is_empty()))
}

fn why_it_stays(one: &Leftover) -> &'static str {
    match one.run {
        RunState::Live => "left alone, because its run is going on",
        RunState::Ended | RunState::Unknown => {
            "left alone, because this machine does not know whether its run is going on; --older-than 0s drops it all the same"
        }
    }
}

/// A database in words, with its age.
fn named(choice: &Choice, one: &Leftover) -> String {
    let (title, age) = (choice.title(), one.age_text());
    let run = match one.run {
        RunState::Live => "a run that is going on",
        RunState::Ended => "a run that was killed",
        RunState::Unknown => "an unknown run",
    };
    format!("{title} {} of {run}, {age}", one.database)
}

/// What ended runs left in these places. A run that begins prints it. A place that cannot be asked says so when it is measured.
pub fn name_left(supervisor: &Supervisor, choices: &[&Choice], timeout_ms: u64) -> Vec<String> {
    let places = Place::all(supervisor, choices.iter().copied());
    let mut notes = Vec::new();
    for place in places.unwrap_or_default() {
        let found = match place.databases(supervisor, timeout_ms) {
            Ok(found) => found,
            Err(error) => {
                tracing::warn!(%error, "databases that earlier runs left could not be looked for");
                continue;
            }
        };
        let left = found.iter().filter(|one| one.run != RunState::Live);
        let left: Vec<String> = left.map(|one| named(&place.choice, one)).collect();
        let store = place.choice.store.description().name;
        let url = place.choice.url.as_ref().map_or("URL", Secret::expose);
        let named = quoted(&redacted(&format!("{store}={url}"), &registry()));
        notes.extend(
            left.iter().take(MOST_NAMED).map(|left| {
                format!("{left}, was not dropped; sensormark clean {named} says whether it may go")
            }),
        );
        if let Some(more) = left.len().checked_sub(MOST_NAMED).filter(|more| *more > 0) {
            let title = place.choice.title();
            notes.push(format!("{title} has {more} more such databases"));
        }
    }
    notes
}
