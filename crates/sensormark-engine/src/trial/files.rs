//! Files that the application makes of its answers: bills, say. Written into the results folder when a phase is over, outside every timed span.

use super::script::PhaseSpec;
use crate::outcome::PhaseOutcome;
use sensormark_result::measurement::folder::{FolderError, ResultsFolder};

/// The folder in a run's results.
pub const FOLDER: &str = "files";

/// Writes the files of a phase, one a load that makes one: `files/TRIAL/PHASE/NAME`.
///
/// # Errors
/// When a file cannot be written.
pub fn write(
    folder: &ResultsFolder,
    trial: &str,
    phase: &PhaseSpec,
    outcome: &PhaseOutcome,
) -> Result<(), FolderError> {
    for (load, outcome) in phase.loads.iter().zip(&outcome.loads) {
        let Some((name, head)) = load.operations.file() else {
            continue;
        };
        let lines = outcome.lines.values();
        let text: String =
            std::iter::once(head).chain(lines.map(String::as_str)).flat_map(|line| [line, "\n"]).collect();
        let own = format!("{FOLDER}/{trial}/{}", phase.name);
        folder.make(&own)?;
        folder.write_bytes(&format!("{own}/{name}"), text.as_bytes())?;
    }
    Ok(())
}
