//! Wrong usage in a newcomer's first commands. The parser of the command line calls it unexpected; this names the command that was meant.

use crate::arguments::Arguments;
use crate::registry::{named_factories, registry};
use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{Command, CommandFactory};
use sensormark_data::nearest::unknown;
use sensormark_report::quoted;

/// What is wrong with the words after the program's name, and what to type; none where the parser's own message says it.
pub fn explained(error: &clap::Error, typed: &[String]) -> Option<String> {
    let wrong = words_of(error, ContextKind::InvalidArg);
    match error.kind() {
        ErrorKind::InvalidSubcommand => no_command(typed.first()?),
        ErrorKind::MissingRequiredArgument => Some(missing(&wrong, &command_of(typed).1)?),
        ErrorKind::UnknownArgument => {
            let word = wrong.first()?;
            if let Some(message) = negative_number(word, typed) {
                Some(message)
            } else if word.starts_with('-') {
                option_without_command(word, typed)
            } else {
                databases_without_on(word, typed)
            }
        }
        ErrorKind::ArgumentConflict => {
            let is_on = |words: &[String]| words.iter().any(|word| word.starts_with("--on "));
            let is_twice = is_on(&wrong) && is_on(&words_of(error, ContextKind::PriorArg));
            is_twice
                .then(|| "--on is there twice; name all databases in one: --on sqlite,postgresql".to_owned())
        }
        ErrorKind::ValueValidation => {
            no_number(error, wrong.first()?, &words_of(error, ContextKind::InvalidValue))
        }
        _ => None,
    }
}

/// A number below 0 behind an option that takes none without =. The parser names its first digit alone.
fn negative_number(word: &str, typed: &[String]) -> Option<String> {
    let is_negative = |word: &str| {
        let number = word.strip_prefix('-').unwrap_or_default();
        number.starts_with(|first: char| first.is_ascii_digit())
    };
    let pair = (typed.windows(2)).find(|pair| is_negative(word) && is_negative(&pair[1]))?;
    let (option, number) = (pair[0].strip_prefix("--")?, &pair[1]);
    Some(format!("{number:?} is no option; if it is the value of --{option}, write --{option}={number}"))
}

/// A number was wanted. Rust's own words say which kind by what they miss.
fn no_number(error: &clap::Error, option: &str, value: &[String]) -> Option<String> {
    let reason = std::error::Error::source(error)?.to_string();
    let kind = match reason.as_str() {
        "invalid digit found in string" => "whole number",
        "invalid float literal" => "number",
        _ => return None,
    };
    let option = option.split(' ').next()?;
    Some(format!("{option}: {:?} is no {kind}", value.first()?))
}

fn words_of(error: &clap::Error, kind: ContextKind) -> Vec<String> {
    match error.get(kind) {
        Some(ContextValue::String(word)) => vec![word.clone()],
        Some(ContextValue::Strings(words)) => words.clone(),
        _ => Vec::new(),
    }
}

/// The command that the first words name, and those words.
fn command_of(typed: &[String]) -> (Command, String) {
    let mut command = Arguments::command();
    let mut words = Vec::new();
    for word in typed.iter().filter(|word| !word.starts_with('-')) {
        let Some(below) = command.find_subcommand(word).cloned() else {
            break;
        };
        command = below;
        words.push(word.as_str());
    }
    (command, words.join(" "))
}

/// The first word is no command. Often it is what a command is about.
fn no_command(word: &str) -> Option<String> {
    let command = Arguments::command();
    if command.find_subcommand(word).is_some() {
        // It is a word after it that is wrong.
        return None;
    }
    if word == "serve" {
        return Some("there is no command \"serve\" any more: open results/index.html, which each run writes, and sensormark collect results too".to_owned());
    }
    let is_workload = named_factories().iter().any(|factory| factory.name() == word);
    let shown = quoted(word);
    let (is, meant) = if is_workload {
        ("is a workload", format!("run {shown}"))
    } else if word.ends_with(".toml") {
        ("is a workload file", format!("run {shown}"))
    } else if word.ends_with(".csv") {
        ("is a recording", format!("replay {shown}"))
    } else if registry().find(word).is_some() {
        ("is a database", format!("run machine-tool --on {shown}"))
    } else {
        let commands = command.get_subcommands().filter(|one| !one.is_hide_set());
        let names = commands.map(|one| one.get_name().to_owned());
        return Some(unknown("command", word, names));
    };
    Some(format!("there is no command {word:?}, but it {is}; write sensormark {meant}"))
}

/// A command lacks what it is about.
fn missing(lacking: &[String], command: &str) -> Option<String> {
    let (needs, example) = match lacking.first()?.as_str() {
        "<WORKLOAD>" => {
            let names: Vec<String> = named_factories().iter().map(|it| it.name().to_owned()).collect();
            let names = names.join(", ");
            let needs = format!("a workload ({names}) or a file of your own");
            (needs, "machine-tool")
        }
        "<RESULTS>..." => ("a folder of results".to_owned(), "results"),
        "<FIRST>" => (
            "a run's folder, or those of two runs, the earlier one first".to_owned(),
            "results/EARLIER results/LATER",
        ),
        "<SECOND>" => (
            "the folders of two runs, the earlier one first, with --threshold or --fail-on".to_owned(),
            "results/EARLIER results/LATER",
        ),
        "<FILE>" if command == "replay" => ("a recording, a CSV file".to_owned(), "readings.csv"),
        "<STORE>" => ("a database".to_owned(), "postgresql"),
        _ => return None,
    };
    let example = if command == "report" { "results/RUN" } else { example };
    Some(format!("{command} needs {needs}; for example: sensormark {command} {example}"))
}

/// An option where a command belongs before it.
fn option_without_command(option: &str, typed: &[String]) -> Option<String> {
    let (command, words) = command_of(typed);
    let name = option.strip_prefix("--")?;
    if !words.is_empty() {
        return None;
    }
    let has_it = |one: &&Command| {
        let mut options = one.get_arguments();
        !one.is_hide_set() && options.any(|option| option.get_long() == Some(name))
    };
    let owners: Vec<&str> = command.get_subcommands().filter(has_it).map(Command::get_name).collect();
    let first = owners.first()?;
    Some(format!(
        "{option} belongs after a command ({}); sensormark {first} --help says how",
        owners.join(", ")
    ))
}

/// Names of databases that stand behind a workload without `--on`.
fn databases_without_on(word: &str, typed: &[String]) -> Option<String> {
    let (command, _) = command_of(typed);
    let is_about_databases = command.get_arguments().any(|option| option.get_long() == Some("on"));
    let is_database = |name: &str| {
        let name = name.split([':', '=', '#', ',']).next().unwrap_or(name);
        name == "all" || registry().find(name).is_some()
    };
    if !is_about_databases || !(word == "on" || is_database(word)) {
        return None;
    }
    let place = typed.iter().position(|one| one == word)?;
    let (before, behind) = typed.split_at(place);
    let databases: Vec<&str> = behind.iter().map(String::as_str).filter(|one| is_database(one)).collect();
    let databases =
        if databases.is_empty() { "sqlite,postgresql".to_owned() } else { quoted(&databases.join(",")) };
    let before: Vec<String> = before.iter().map(|one| quoted(one)).collect();
    Some(format!(
        "{word:?} stands where nothing is expected; databases come after --on: sensormark {} --on {databases}",
        before.join(" ")
    ))
}
