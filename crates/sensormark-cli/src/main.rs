//! `sensormark`: which database to keep sensor data in.
//!
//! Arguments in, exit code out: [`arguments`] says what can be asked for, one module a command does it. Everything that measures is
//! in the library.

mod arguments;
mod compare;
mod doctor;
mod explain;
mod failure;
mod generate;
mod init;
mod list;
mod measure;
mod progress;
mod registry;
mod replay;
mod report;
mod role;
mod run;
mod serve;
mod servers;

use arguments::{Arguments, Command};
use clap::Parser;

use std::process::ExitCode;

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    let outcome = match arguments.command {
        Command::Run(arguments) => run::run(&arguments),
        Command::Report(arguments) => report::report(&arguments),
        Command::Compare(arguments) => compare::compare(&arguments),
        Command::Serve(arguments) => serve::serve(&arguments),
        Command::Replay(arguments) => replay::replay(&arguments),
        Command::Generate(arguments) => generate::generate(&arguments),
        Command::Init(arguments) => init::init(&arguments),
        Command::List(arguments) => list::list(&arguments),
        Command::Explain(arguments) => explain::explain(&arguments),
        Command::Doctor => doctor::doctor(),
        Command::Servers(arguments) => servers::servers(&arguments),
        Command::Role { name } => role::role(&name),
    };
    match outcome {
        Ok(code) => code,
        Err(failure) => failure.show(),
    }
}
