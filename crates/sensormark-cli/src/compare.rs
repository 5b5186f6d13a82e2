//! `sensormark compare`: one run against an earlier one.

use crate::arguments::{CompareArguments, FailOn};
use crate::failure::{Failure, NOT_VALID};
use crate::report::{print_text, rendered};
use sensormark::measurement::ResultsFolder;
use sensormark::report::compare::Comparison;
use sensormark::report::field::Field;
use std::path::Path;
use std::process::ExitCode;

/// Prints what changed from the first run to the second.
pub fn compare(arguments: &CompareArguments) -> Result<ExitCode, Failure> {
    if !(0.0..=1_000.0).contains(&arguments.threshold) {
        return Err(Failure::usage(format!(
            "--threshold {}: give a percentage from 0 to 1000",
            arguments.threshold
        )));
    }
    let (first, second) = (field(&arguments.first)?, field(&arguments.second)?);
    let threshold = arguments.threshold / 100.0;
    let comparison = Comparison::new(&first, &second, threshold).map_err(Failure::usage)?;
    for format in &arguments.format {
        print_text(&rendered(comparison.document(), *format));
    }
    match arguments.fail_on {
        Some(FailOn::Regression) => judge(&comparison),
        None => Ok(ExitCode::SUCCESS),
    }
}

fn field(folder: &Path) -> Result<Field, Failure> {
    let folder = ResultsFolder::open(folder)?;
    Ok(Field::new(folder.run()?, folder.trials()?))
}

/// A gate that could test nothing must not let everything through.
fn judge(comparison: &Comparison) -> Result<ExitCode, Failure> {
    let regressions = comparison.regressions();
    if !regressions.is_empty() {
        eprintln!("regressions: {}", regressions.join("; "));
        return Ok(ExitCode::from(NOT_VALID));
    }
    if comparison.tested() == 0 && comparison.disturbed() > 0 {
        return Err(Failure::usage(
            "--fail-on regression decides nothing where the host was disturbed, and it was in all: measure again without --tolerate-disturbance",
        ));
    }
    if comparison.tested() == 0 {
        return Err(Failure::usage(
            "--fail-on regression needs three valid repetitions in both runs, and no figure has them: run with --set repetitions=5",
        ));
    }
    Ok(ExitCode::SUCCESS)
}
