//! The program alone. All else is a library of its own, so that its compilation need not wait for that of the engine.

use std::process::ExitCode;

fn main() -> ExitCode {
    sensormark_cli::main()
}
