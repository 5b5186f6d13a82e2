//! `sensormark`: which database to keep sensor data in.
//!
//! Arguments in, exit code out: [`arguments`] says what can be asked for, one module a command does it. Everything that measures is
//! in `sensormark-workload`, `sensormark-engine` and `sensormark-report`.

#![cfg_attr(
    not(test),
    deny(
        clippy::print_stdout,
        clippy::print_stderr,
        reason = "these macros panic where the write fails, and the exit code is lost; see module output"
    )
)]

mod arguments;
mod clean;
mod collect;
mod compare;
mod doctor;
mod dry_run;
mod durability_class;
mod explain;
mod failure;
mod generate;
mod hosts;
mod init;
mod install_servers;
mod list;
mod manual;
mod measure;
mod messages;
mod misused;
mod output;
#[cfg(test)]
mod pages;
mod probe;
mod progress;
mod registry;
mod replay;
mod report;
mod role;
mod run;
mod server_memory;
mod servers;
mod signals;

use arguments::{Arguments, Command};
use clap::Parser;
use std::io::IsTerminal;
use std::process::ExitCode;
use tracing_subscriber::Layer;
use tracing_subscriber::filter::{LevelFilter, Targets};
use tracing_subscriber::layer::SubscriberExt;
use tracing_subscriber::util::SubscriberInitExt;

/// Runs the command that the process's arguments ask for, and returns its exit code.
pub fn main() -> ExitCode {
    let arguments = match Arguments::try_parse() {
        Ok(arguments) => arguments.settled(),
        Err(error) => {
            let typed: Vec<String> =
                std::env::args_os().skip(1).map(|word| word.to_string_lossy().into_owned()).collect();
            if let Some(message) = misused::explained(&error, &typed) {
                return failure::Failure::usage(message).show();
            }
            return output::parser(&error).map_or_else(|failure| failure.show(), ExitCode::from);
        }
    };
    show_warnings(arguments.quiet, arguments.verbose);
    // Before this process has threads, and before it knows any folder.
    if let Command::Run(asked) = &arguments.command
        && asked.power_cut
        && let Err(why) = sensormark_power::own_mounts()
    {
        return failure::Failure::usage(why).show();
    }
    let measures = matches!(arguments.command, Command::Run(_) | Command::Replay(_) | Command::Explain(_));
    if measures {
        signals::catch();
    }
    let outcome = match arguments.command {
        Command::Run(mut arguments) => run::run(&mut arguments),
        Command::Report(arguments) => report::report(&arguments),
        Command::Collect(arguments) => collect::collect(&arguments),
        Command::Compare(arguments) => compare::compare(&arguments),
        Command::Replay(arguments) => replay::replay(&arguments),
        Command::Inspect(arguments) => replay::inspect(&arguments),
        Command::Generate(arguments) => generate::generate(&arguments),
        Command::Init(arguments) => init::init(&arguments),
        Command::List(arguments) => list::list(&arguments),
        Command::Explain(arguments) => explain::explain(&arguments),
        Command::Doctor(arguments) => doctor::doctor(&arguments),
        Command::Clean(arguments) => clean::clean(&arguments),
        Command::InstallServers(named) => install_servers::install_servers(&named, arguments.quiet),
        Command::Servers(arguments) => servers::servers(&arguments),
        Command::Probe(arguments) => probe::probe(&arguments),
        Command::Completions { shell } => manual::completions(shell),
        Command::Man { folder } => manual::man(&folder),
        Command::Role { name, place } => role::role(&name, place.as_deref()),
    };
    match outcome {
        Ok(code) => code,
        Err(failure) => failure.show(),
    }
}

/// What the program notices beside its work goes to standard error: warnings, and more where `--verbose` asks for it.
fn show_warnings(quiet: bool, verbose: u8) {
    let (own, others) = match (quiet, verbose) {
        (true, _) => (LevelFilter::ERROR, LevelFilter::OFF),
        (false, 0) => (LevelFilter::WARN, LevelFilter::OFF),
        (false, 1) => (LevelFilter::DEBUG, LevelFilter::OFF),
        (false, _) => (LevelFilter::TRACE, LevelFilter::DEBUG),
    };
    let targets = Targets::new().with_default(others).with_target("sensormark", own);
    let wants_none = std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
    let is_coloured = std::io::stderr().is_terminal() && !wants_none;
    let lines = tracing_subscriber::fmt::layer()
        .with_writer(std::io::stderr)
        .with_ansi(is_coloured)
        .without_time()
        .with_target(false);
    let shown = tracing_subscriber::registry().with(lines.with_filter(targets));
    // There is no other in this process.
    let _ = shown.try_init();
}
