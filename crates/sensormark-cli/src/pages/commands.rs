//! Every command that a page shows is one that the program takes, in blocks and within sentences, also behind what starts it elsewhere. So are the targets
//! of make and what cargo is to install.

use super::shown::{inline, is_placeholder, lines};
use crate::arguments::Arguments;
use clap::{CommandFactory, Parser};
use std::path::Path;

/// The commands of this program that a page shows in its blocks.
fn commands(page: &str) -> Vec<String> {
    let lines = lines(page).into_iter().map(|line| launched(&line));
    lines.filter(|line| line.starts_with("sensormark ")).collect()
}

/// The command without what another program needs to start it: sudo, a container and its options.
fn launched(line: &str) -> String {
    let is_container = |names: &[&str]| names.iter().any(|one| line.starts_with(one));
    if let Some(rest) = line.strip_prefix("sudo ") {
        return rest.to_owned();
    }
    if is_container(&["podman run ", "docker run ", "podman exec ", "docker exec "]) {
        // The image is named like the program, which it starts.
        let start = line.find(" sensormark ").map_or(line.len(), |at| at + 1);
        return line[start..].to_owned();
    }
    line.to_owned()
}

fn check(command: &str) -> Result<(), String> {
    match Arguments::try_parse_from(command.split_whitespace()) {
        Err(error) if error.use_stderr() => Err(error.to_string()),
        // Taken; or help or the version, which are shown in place of it.
        _ => Ok(()),
    }
}

/// Whether a text only names a command, as "`sensormark servers start`" does.
fn is_name(command: &str) -> bool {
    let mut known = Arguments::command();
    for word in command.split_whitespace().skip(1) {
        let Some(below) = known.find_subcommand(word) else {
            return false;
        };
        known = below.clone();
    }
    true
}

#[test]
fn every_command_of_the_pages_is_accepted() {
    let mut accepted = 0;
    for page in super::docs() {
        for command in commands(&page.text) {
            if let Err(error) = check(&command) {
                panic!("{}: {command}\n{error}", page.path.display());
            }
            accepted += 1;
        }
    }
    assert!(accepted >= 75, "{accepted}");
}

#[test]
fn every_command_within_a_sentence_is_accepted() {
    let (mut accepted, mut faults) = (0, Vec::new());
    for page in super::docs() {
        let found = inline(&page.text).into_iter();
        let found = found.map(|line| launched(&line));
        for command in found.filter(|line| line.starts_with("sensormark ")) {
            if command.split_whitespace().any(is_placeholder) {
                continue;
            }
            match check(&command) {
                Err(error) if !is_name(&command) => {
                    faults.push(format!("{}: {command}\n{error}", page.path.display()));
                }
                _ => accepted += 1,
            }
        }
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
    assert!(accepted >= 15, "{accepted}");
}

/// The targets of make that a command names.
fn targets(command: &str) -> Vec<&str> {
    let Some(rest) = command.strip_prefix("make ") else {
        return Vec::new();
    };
    let words = rest.split_whitespace();
    words.filter(|word| !word.contains('=') && !word.starts_with('-')).collect()
}

#[test]
fn every_target_of_make_is_in_the_makefile() {
    let makefile = std::fs::read_to_string(super::root().join("Makefile")).expect("the Makefile");
    let defined = |target: &str| {
        let start = format!("{target}:");
        makefile.lines().any(|line| line.starts_with(&start))
    };
    let mut named = Vec::new();
    for page in super::all() {
        for command in [lines(&page.text), inline(&page.text)].concat() {
            for target in targets(&command) {
                assert!(defined(target), "{}: make {target}", page.path.display());
                named.push(target.to_owned());
            }
        }
    }
    for target in ["run", "build", "test"] {
        assert!(named.iter().any(|one| one == target), "{target}: {named:?}");
    }
}

/// What is wrong with a line of `cargo install`, if anything: its folder, its package and its features are those of the repository.
fn fault_of_installing(command: &str) -> Option<String> {
    let mut words = command.strip_prefix("cargo install ")?.split_whitespace();
    let mut package = None;
    let mut features = Vec::new();
    while let Some(word) = words.next() {
        match word {
            "--path" => package = words.next().and_then(|path| path.rsplit('/').next()),
            "--git" => drop(words.next()),
            "--features" => features.extend(words.next()?.split(',')),
            "--locked" | "--no-default-features" => {}
            option if option.starts_with('-') => {
                return Some(format!("{option} is not known here"));
            }
            name => package = Some(name),
        }
    }
    let package = package.unwrap_or_default();
    let manifest = super::root().join("crates").join(package).join("Cargo.toml");
    let Some(table) = manifest_table(&manifest) else {
        return Some(format!("there is no package {package:?}"));
    };
    let known = table.get("features").and_then(toml::Value::as_table);
    let is_known = |feature: &&str| known.is_some_and(|known| known.contains_key(*feature));
    let unknown = features.iter().find(|feature| !is_known(feature));
    unknown.map(|feature| format!("{package} has no feature {feature}"))
}

fn manifest_table(manifest: &Path) -> Option<toml::Table> {
    std::fs::read_to_string(manifest).ok()?.parse().ok()
}

#[test]
fn every_line_of_cargo_install_names_what_is_there() {
    let mut tried = 0;
    for page in super::docs() {
        for command in lines(&page.text) {
            if let Some(fault) = fault_of_installing(&command) {
                panic!("{}: {command}: {fault}", page.path.display());
            }
            tried += usize::from(command.starts_with("cargo install "));
        }
    }
    assert!(tried >= 3, "{tried}");
}

#[test]
fn faults_are_found() {
    assert!(check("sensormark runs machine-tool").is_err());
    assert!(!is_name("sensormark severs start"));
    assert!(is_name("sensormark servers start"));
    assert!(fault_of_installing("cargo install --path crates/sensormark-clii").is_some());
    let features = |names: &str| {
        fault_of_installing(&format!("cargo install --path crates/sensormark-cli --features {names}"))
    };
    assert_eq!(features("sqlite,postgresql"), None);
    assert!(features("sqlite,postgres").is_some());
    assert_eq!(targets("make drill SEED=7 docs"), ["drill", "docs"]);
}

#[test]
fn commands_are_found_in_lists_and_after_others() {
    let page = "1. Do:\n\n        sensormark list # all\n\n```sh\n$ sensormark init a.toml && sensormark run a.toml\n\
        sudo sensormark doctor\npodman run --rm \\\n  sensormark run devops\n```\n\n```text\nsensormark says\n```\n";
    let expected = [
        "sensormark list",
        "sensormark init a.toml",
        "sensormark run a.toml",
        "sensormark doctor",
        "sensormark run devops",
    ];
    assert_eq!(commands(page), expected);
}
