//! `sensormark compare`: one run against an earlier one, or the implementations of one run with the one that leads.

use crate::arguments::{CompareArguments, FailOn};
use crate::failure::{Failure, NOT_VALID};
use crate::messages;
use crate::output;
use crate::report::{formats, rendered, write_file};
use sensormark_report::compare::Comparison;
use sensormark_report::field::Field;
use sensormark_report::html;
use sensormark_result::measurement::ResultsFolder;
use std::path::Path;
use std::process::ExitCode;

/// Prints what changed from the first run to the second, or how the implementations of one run stand to the one that leads.
pub fn compare(arguments: &CompareArguments) -> Result<ExitCode, Failure> {
    if !(0.0..=1_000.0).contains(&arguments.threshold) {
        return Err(Failure::usage(format!(
            "--threshold {}: give a percentage from 0 to 1000",
            arguments.threshold
        )));
    }
    let first = field(&arguments.first)?;
    let comparison = match &arguments.second {
        Some(second) => Comparison::new(&first, &field(second)?, arguments.threshold / 100.0),
        None => Comparison::in_turns(&first),
    };
    let comparison = comparison.map_err(Failure::usage)?;
    let document = comparison.document();
    if let Some(file) = &arguments.html {
        write_file(file, &html::render_document(document, &comparison.headline()))?;
    }
    for format in formats(&arguments.format, arguments.html.is_some()) {
        output::print(&rendered(document, format))?;
    }
    match arguments.fail_on {
        Some(FailOn::Regression) => judge(&comparison, arguments),
        None => Ok(ExitCode::SUCCESS),
    }
}

fn field(folder: &Path) -> Result<Field, Failure> {
    let folder = ResultsFolder::open(folder)?;
    Ok(Field::new(folder.run()?, folder.trials()?))
}

/// A gate that could test nothing must not let everything through, and one that sees little says so.
fn judge(comparison: &Comparison, arguments: &CompareArguments) -> Result<ExitCode, Failure> {
    let regressions = comparison.regressions();
    if !regressions.is_empty() {
        messages::say(format_args!("regressions: {}", regressions.join("; ")));
        return Ok(ExitCode::from(NOT_VALID));
    }
    if comparison.tested() == 0 {
        let why = if comparison.disturbed() > 0 {
            "decides nothing where the host was disturbed, and it was in all: measure again without --tolerate-disturbance"
        } else {
            "needs three valid repetitions in both runs, and no figure has them: run with --set repetitions=5, on a host that is not busy"
        };
        return Err(Failure::usage(format!("--fail-on regression {why}")));
    }
    Ok(sharpness(comparison, arguments))
}

/// No regression was found: says which figures a change of the threshold's size would not have shown in, and fails where `--must-see` asks for more.
fn sharpness(comparison: &Comparison, arguments: &CompareArguments) -> ExitCode {
    let (begin, option, percent, end, code) = match arguments.must_see {
        Some(percent) => ("not sharp enough:", "must-see", percent, "", ExitCode::from(NOT_VALID)),
        None => (
            "warning: no regression was found, but",
            "threshold",
            arguments.threshold,
            ", or fail on that with --must-see PERCENT",
            ExitCode::SUCCESS,
        ),
    };
    let blunt = comparison.blunter_than(percent / 100.0);
    let Some(first) = blunt.first() else {
        return ExitCode::SUCCESS;
    };
    messages::say(format_args!(
        "{begin} in {} of {} tested figures a change of --{option} {percent} % could go unseen. Least is seen in {}, over {:.0} %. More repetitions see smaller changes: run with --set repetitions=10{end}",
        blunt.len(),
        comparison.tested(),
        first.name,
        first.detectable * 100.0
    ));
    code
}
