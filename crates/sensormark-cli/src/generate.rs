//! `sensormark generate`: a workload's data set as a file or stream.

use crate::arguments::GenerateArguments;
use crate::failure::Failure;
use sensormark::dataset::export::{
    ExportOptions, Format, MachineToolSamples, Output, Shard, export,
};
use sensormark::dataset::machine_tool::{INDEX_LIMIT, SAMPLES_PER_SECOND};
use sensormark::units::round_u64;
use sensormark::workload::machine_tool;
use sensormark::workload::selection::unknown;
use sensormark_store::TimeResolution;
use std::process::ExitCode;

/// The last second after which times in ns no longer fit: the year 2262.
const LAST_SECOND: i64 = i64::MAX / 1_000_000_000;

/// Writes the data set.
pub fn generate(arguments: &GenerateArguments) -> Result<ExitCode, Failure> {
    if arguments.workload != machine_tool::NAME {
        return Err(Failure::usage(unknown(
            "workload",
            &arguments.workload,
            [machine_tool::NAME.to_owned()],
        )));
    }
    let format: Format = arguments.format.parse().map_err(Failure::usage)?;
    let start: jiff::Timestamp = arguments.start.parse().map_err(|error| {
        Failure::usage(format!(
            "--start {}: {error}; write it like 2026-01-01T00:00:00Z",
            arguments.start
        ))
    })?;
    let samples = round_u64(arguments.seconds * SAMPLES_PER_SECOND as f64);
    let last = start
        .as_second()
        .saturating_add_unsigned(samples / SAMPLES_PER_SECOND + 1);
    if !(arguments.seconds > 0.0
        && samples <= INDEX_LIMIT
        && last < LAST_SECOND
        && start.as_second() >= 0)
    {
        let text = format!(
            "--start {} --seconds {}: times must lie between 1970 and 2262",
            arguments.start, arguments.seconds
        );
        return Err(Failure::usage(text));
    }
    let start_ns = i64::try_from(start.as_nanosecond()).map_err(Failure::usage)?;
    let schema = machine_tool::schema(TimeResolution::Nanoseconds);
    let data = MachineToolSamples::new(schema, arguments.seed, start_ns, samples);
    let options = ExportOptions {
        format,
        shard: arguments.shard.unwrap_or(Shard::WHOLE),
        table: None,
    };
    let output = Output::from_option(arguments.output.clone());
    let summary = export(&data, &options, &output).map_err(Failure::usage)?;
    if !summary.left_early {
        eprintln!(
            "{} readings, {} values, {} bytes",
            summary.readings, summary.values, summary.bytes
        );
    }
    Ok(ExitCode::SUCCESS)
}
