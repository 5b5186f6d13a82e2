//! temporary
use crate::arguments::{FormatName, ReportArguments};
use crate::failure::Failure;
use sensormark::measurement::ResultsFolder;
use std::io::Write;
use std::path::Path;
use std::process::ExitCode;
/// t
pub fn report(arguments: &ReportArguments) -> Result<ExitCode, Failure> {
    let folder = ResultsFolder::open(&arguments.results)?;
    print(&folder, &arguments.format, None)?;
    Ok(ExitCode::SUCCESS)
}
/// t
pub fn print(
    folder: &ResultsFolder,
    _formats: &[FormatName],
    _weights: Option<&Path>,
) -> Result<(), Failure> {
    for t in folder.trials()? {
        println!(
            "{} {} {:?}",
            t.name,
            t.verdict,
            t.figures
                .iter()
                .map(|(k, v)| (k.clone(), v.value))
                .collect::<Vec<_>>()
        );
        println!("{:?} {:?}", t.ledger, t.answers);
        for (n, l) in &t.latencies {
            println!("   {n} {:?}", l.summary);
        }
        for p in &t.phases {
            if let Some(t) = &p.totals {
                for (r, x) in &t.roles {
                    println!(
                        "   {} {:.2}s {r}: cpu {:.2}% rss {} io {:?} wire {:?}",
                        p.name,
                        p.seconds,
                        x.cpu_percent_of_core,
                        x.end_resident_bytes,
                        x.storage_written_bytes,
                        x.sent_wire_bytes
                    );
                }
            }
        }
        println!("   {:?}", t.warnings);
    }
    Ok(())
}
/// t
pub fn print_text(text: &str) {
    let _ = std::io::stdout().write_all(text.as_bytes());
}
