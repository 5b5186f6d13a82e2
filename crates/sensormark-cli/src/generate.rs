//! `sensormark generate`: a workload's data set as a file or stream. One grammar for all workloads; what an option means for one, its factory says.

use crate::arguments::GenerateArguments;
use crate::failure::Failure;
use crate::registry::{Workload, adjusted, no_scale, own_data};
use sensormark_data::export::{DataRequest, DataSet, ExportOptions, Shard, export};
use sensormark_data::units::{duration_ns, signed};
use sensormark_store::TimeRange;
use sensormark_workload::checked;
use std::process::ExitCode;

/// Writes the data set, or questions with their right answers.
pub fn generate(arguments: &GenerateArguments) -> Result<ExitCode, Failure> {
    let request = request(arguments)?;
    let (factory, numbers, file) = match Workload::find(&arguments.workload)? {
        Workload::Factory(factory) => {
            let scale = arguments.scale.unwrap_or_default().scale();
            let numbers = adjusted(factory.as_ref(), scale, &arguments.settings)?;
            (factory, numbers, String::new())
        }
        Workload::File(path) => {
            no_scale(arguments.scale)?;
            let own = own_data(&path, &arguments.settings)?;
            (own.factory, own.parameters, format!("{}: ", path.display()))
        }
    };
    let wrong = |why: String| Failure::usage(format!("{file}{why}"));
    let Some(count) = arguments.answers else {
        return write(&factory.data_set(&numbers, &request).map_err(wrong)?, arguments);
    };
    for line in checked::lines(factory.as_ref(), &numbers, arguments.seed, count).map_err(wrong)? {
        crate::output::line(line)?;
    }
    Ok(ExitCode::SUCCESS)
}

/// Which stretch of the data is wanted.
fn request(arguments: &GenerateArguments) -> Result<DataRequest, Failure> {
    let start_ns = arguments.start.as_deref().map(start_ns).transpose()?;
    let duration_ns = arguments.lasts.map(duration_ns).map(signed);
    Ok(DataRequest { seed: arguments.seed, start_ns, duration_ns })
}

fn start_ns(text: &str) -> Result<i64, Failure> {
    let start: jiff::Timestamp = text.parse().map_err(|error| {
        Failure::usage(format!("--start {text}: {error}; write it like 2026-01-01T00:00:00Z"))
    })?;
    let start_ns = i64::try_from(start.as_nanosecond()).ok();
    start_ns
        .filter(|&start_ns| TimeRange::OF_READINGS.contains(start_ns))
        .ok_or_else(|| Failure::usage(format!("--start {text}: times lie in the years 1970 to 2261")))
}

fn write(data: &DataSet, arguments: &GenerateArguments) -> Result<ExitCode, Failure> {
    let options = ExportOptions {
        format: arguments.format,
        shard: arguments.shard.unwrap_or(Shard::WHOLE),
        table: arguments.table.clone(),
    };
    let file = arguments.output.as_deref().filter(|path| path.as_os_str() != "-");
    if let Some(summary) = export(data, &options, file).map_err(Failure::usage)? {
        crate::messages::say(format_args!(
            "{} readings, {} values, {} bytes",
            summary.readings, summary.values, summary.bytes
        ));
    }
    Ok(ExitCode::SUCCESS)
}
