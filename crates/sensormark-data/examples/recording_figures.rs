//! Prints figures of a recording for scripts/check-recording.sh, and on standard error what was found in it.

use std::process::ExitCode;

#[path = "../tests/recording/figures.rs"]
mod figures;

fn main() -> ExitCode {
    let Some(path) = std::env::args_os().nth(1) else {
        eprintln!("usage: recording_figures FILE.csv");
        return ExitCode::from(2);
    };
    match figures::figures(path.as_ref()) {
        Ok((text, report)) => {
            eprint!("{report}");
            print!("{text}");
            ExitCode::SUCCESS
        }
        Err(error) => {
            eprintln!("{error}");
            ExitCode::from(2)
        }
    }
}
