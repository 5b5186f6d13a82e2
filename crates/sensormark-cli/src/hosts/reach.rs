//! Asks each host for this program before anything is measured, and copies it there where that is asked for.

use super::Hosts;
use crate::failure::Failure;
use sensormark_engine::launcher::Launcher;
use std::fs::File;
use std::io::Read;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Command, Output, Stdio};
use std::thread;
use std::time::{Duration, Instant};

/// How long a host may take to answer.
const LONGEST_ANSWER: Duration = Duration::from_secs(30);
/// How long it may take to copy the program to a host.
const LONGEST_COPY: Duration = Duration::from_secs(600);
/// What this program says to `-V`.
const VERSION: &str = concat!("sensormark ", env!("SENSORMARK_VERSION"));
/// Takes the program from standard input into a folder of its own, and prints that folder.
const TAKE: &str = "umask 077; d=$(mktemp -d \"${TMPDIR:-/tmp}/sensormark-XXXXXXXX\") && cat > \"$d/sensormark\" && chmod 700 \"$d/sensormark\" && echo \"$d\"";
/// The exit code of a shell, and of many launchers, where there is no such program.
const NOT_FOUND: i32 = 127;
/// The exit code of ssh where the host cannot be reached.
const NO_CONNECTION: i32 = 255;

/// Copies of the program on other hosts. Dropping it removes them.
#[derive(Default)]
pub struct Copies(Vec<(Launcher, String)>);

impl Drop for Copies {
    fn drop(&mut self) {
        for (launcher, folder) in &self.0 {
            let mut remove = launcher.other(&["rm", "-rf", "--", folder]);
            if !run(&mut remove, Stdio::null(), LONGEST_ANSWER).is_ok_and(|out| out.status.success()) {
                let host = launcher.host().unwrap_or_default();
                crate::messages::say(format_args!(
                    "sensormark: {folder} on {host} could not be removed: remove it by hand"
                ));
            }
        }
    }
}

/// Sees to it that each host has this program in this version.
///
/// # Errors
/// The first host that cannot be reached, has no such program or another version.
pub fn reach(hosts: &mut Hosts, program: &Path) -> Result<Copies, Failure> {
    let mut copies = Copies::default();
    if hosts.deploys() {
        for (launcher, _) in hosts.launchers().filter(|(_, is_named)| !is_named) {
            // By the whole command: two namespaces may each have a pod of one name.
            let mut known = copies.0.iter();
            let known = known.find(|(one, _)| one.shown() == launcher.shown());
            let folder = match known {
                Some((_, folder)) => folder.clone(),
                None => {
                    let folder = deploy(launcher, program)?;
                    copies.0.push((launcher.clone(), folder.clone()));
                    folder
                }
            };
            *launcher = launcher.clone().with_program(&format!("{folder}/sensormark"));
        }
    }
    let mut asked: Vec<Launcher> = Vec::new();
    for (launcher, _) in hosts.launchers() {
        if !asked.contains(launcher) {
            asked.push(launcher.clone());
        }
    }
    thread::scope(|scope| {
        let begin = |one| thread::Builder::new().spawn_scoped(scope, move || ask(one));
        let questions: Vec<_> = asked.iter().map(begin).collect();
        questions.into_iter().try_for_each(|question| {
            let question = question.map_err(|error| {
                let advice = "raise the limit of processes (ulimit -u)";
                Failure::input_output(format!("cannot start a thread: {error}; {advice}"))
            })?;
            let gone = |_| Err(Failure::usage("a host could not be asked"));
            question.join().unwrap_or_else(gone)
        })
    })?;
    Ok(copies)
}

/// Asks a host for the program's version.
fn ask(launcher: &Launcher) -> Result<(), Failure> {
    let (host, program) = (shown(launcher), launcher.program());
    let output = answered(launcher, launcher.command(&["-V"]), Stdio::null(), LONGEST_ANSWER)?;
    let version = String::from_utf8_lossy(&output.stdout).trim().to_owned();
    if !output.status.success() {
        let said = last_line(&output);
        let is_missing = output.status.code() == Some(NOT_FOUND)
            || ["not found", "No such file"].iter().any(|text| said.contains(text));
        return Err(if is_missing {
            Failure::unreachable(format!(
                "there is no program {program} on {host}: install sensormark there, say where it is with --host-program, or copy this one with --deploy ({said})"
            ))
        } else {
            unreachable(launcher, &output)
        });
    }
    if version != VERSION {
        return Err(Failure::unreachable(format!(
            "{host} has {version:?} and this is {VERSION:?}: roles and probes of one run are of one version; install this one there, or copy it with --deploy"
        )));
    }
    Ok(())
}

/// Copies the program to a host. Gives the folder there.
fn deploy(launcher: &Launcher, program: &Path) -> Result<String, Failure> {
    let file = File::open(program)
        .map_err(|error| Failure::input_output(format!("{}: {error}", program.display())))?;
    let take = launcher.other(&["sh", "-c", TAKE]);
    let output = answered(launcher, take, Stdio::from(file), LONGEST_COPY)?;
    let folder = String::from_utf8_lossy(&output.stdout).trim().to_owned();
    let is_folder = folder.starts_with('/') && !folder.contains(char::is_whitespace);
    if !output.status.success() || !is_folder {
        return Err(unreachable(launcher, &output));
    }
    Ok(folder)
}

fn answered(
    launcher: &Launcher,
    mut command: Command,
    input: Stdio,
    limit: Duration,
) -> Result<Output, Failure> {
    let words = launcher.shown();
    run(&mut command, input, limit).map_err(|error| {
        Failure::unreachable(format!("{} cannot be reached by {words}: {error}", shown(launcher)))
    })
}

fn unreachable(launcher: &Launcher, output: &Output) -> Failure {
    let (host, words, said) = (shown(launcher), launcher.shown(), last_line(output));
    let hint = if output.status.code() == Some(NO_CONNECTION) {
        "; ssh must get there without a password"
    } else {
        ""
    };
    let status = output.status;
    Failure::unreachable(format!("{host} cannot be reached by {words} ({status}): {said}{hint}"))
}

fn shown(launcher: &Launcher) -> &str {
    launcher.host().unwrap_or("this host")
}

fn last_line(output: &Output) -> String {
    let text = String::from_utf8_lossy(&output.stderr);
    let line = text.lines().rfind(|line| !line.trim().is_empty());
    line.unwrap_or("it said nothing").trim().to_owned()
}

/// Runs a command whose output is short. Ends it after the limit.
fn run(command: &mut Command, input: Stdio, limit: Duration) -> std::io::Result<Output> {
    let mut child =
        command.stdin(input).stdout(Stdio::piped()).stderr(Stdio::piped()).process_group(0).spawn()?;
    let deadline = Instant::now() + limit;
    let status = loop {
        if let Some(status) = child.try_wait()? {
            break status;
        }
        if Instant::now() >= deadline {
            child.kill()?;
            child.wait()?;
            let text = format!("no answer within {} s", limit.as_secs());
            return Err(std::io::Error::other(text));
        }
        thread::sleep(Duration::from_millis(10));
    };
    let (mut stdout, mut stderr) = (Vec::new(), Vec::new());
    if let Some(mut output) = child.stdout.take() {
        output.read_to_end(&mut stdout)?;
    }
    if let Some(mut output) = child.stderr.take() {
        output.read_to_end(&mut stderr)?;
    }
    Ok(Output { status, stdout, stderr })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::arguments::HostsArguments;

    #[test]
    fn two_hosts_of_one_name_each_get_a_copy() {
        let scratch = tempfile::tempdir().expect("a folder");
        let program = scratch.path().join("program");
        let text = format!("#!/bin/sh\necho '{VERSION}'\n");
        std::fs::write(&program, text).expect("room");
        let launchers = ["one", "two"].map(|name| {
            let folder = scratch.path().join(name);
            std::fs::create_dir(&folder).expect("room");
            format!("env TMPDIR={} HOST=pod-0", folder.display())
        });
        let arguments =
            HostsArguments { load_hosts: launchers.to_vec(), deploy: true, ..HostsArguments::default() };
        let mut hosts = Hosts::new(&arguments, &[]).expect("launchers");
        let copies = reach(&mut hosts, &program).map_err(|failure| format!("{failure:?}"));
        let copies = copies.expect("both answer");
        let count = |name: &str| {
            let entries = std::fs::read_dir(scratch.path().join(name));
            entries.expect("a folder").count()
        };
        assert_eq!([count("one"), count("two")], [1, 1]);
        drop(copies);
        assert_eq!([count("one"), count("two")], [0, 0], "nothing stays");
    }
}
