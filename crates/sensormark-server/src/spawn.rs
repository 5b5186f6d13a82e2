//! Starting processes: as an unprivileged user, in a session of their own, with a minimal environment, tied to this process.
//!
//! The helpers are `setsid`, `taskset`, `setpriv` and `prlimit` (util-linux), and a shell for the control group. They change what must be changed between fork
//! and exec and then become the program, so the process id stays. One thread, which lives as long as this process, starts all processes, because the kernel
//! sends the parent-death signal when the *thread* that started a process ends.

use super::files::file_error;
use super::process::RUN_VARIABLE;
use super::user::User;
use rustix::process::{Resource, getrlimit};
use sensormark_store::error::{ErrorKind, StoreError};
use sensormark_store::server::Command;
use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::{OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::process::{Child, Stdio};
use std::sync::OnceLock;
use std::sync::mpsc::{Sender, channel};

/// Where programs are looked for, here and in the children.
const SEARCH_PATH: &str = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";

/// The soft limit of open files that servers get, where the hard limit permits.
const OPEN_FILES: u64 = 65_536;

/// What a shell does to get into a control group (the file is its first argument) and become the command that follows.
const JOIN_GROUP: &str = r#"echo $$ > "$0" && exec "$@""#;

/// The circumstances in which the commands of one server run.
#[derive(Debug, Clone)]
pub(super) struct Surroundings {
    /// The run's name, put into the environment.
    pub run: String,
    /// HOME, TMPDIR and the working folder.
    pub folder: PathBuf,
    /// Where standard output and standard error go.
    pub log: PathBuf,
    /// The user to change to.
    pub user: Option<User>,
    /// Whether the processes die with this one.
    pub tied: bool,
    /// The processors that they are held to, as the kernel lists them.
    pub processors: Option<String>,
    /// The files by which they get into the control groups that bound them.
    pub groups: Vec<PathBuf>,
}

/// Starts a command. Its process leads a session and a process group of its own.
///
/// # Errors
/// [`ErrorKind::NotInstalled`] when a program is missing; otherwise what the system says.
pub(super) fn spawn(command: &Command, surroundings: &Surroundings) -> Result<Child, StoreError> {
    let program = find_program(&command.program)?;
    let log = open_log(&surroundings.log)?;
    let copy = open_log(&surroundings.log)?;
    let mut native = changed_into(surroundings)?;
    native
        .arg("--")
        .arg(&program)
        .args(&command.arguments)
        .env_clear()
        .env("PATH", SEARCH_PATH)
        .env("LANG", "C.UTF-8")
        .env("HOME", &surroundings.folder)
        .env("TMPDIR", &surroundings.folder)
        .env(RUN_VARIABLE, &surroundings.run)
        .envs(command.environment.iter().map(|(name, value)| (name, value)))
        .current_dir(&surroundings.folder)
        .stdin(if command.input.is_some() { Stdio::piped() } else { Stdio::null() })
        .stdout(log)
        .stderr(copy);
    let mut child = on_the_long_lived_thread(native).map_err(|error| {
        let operation = format!("start {}", program.display());
        StoreError::new(ErrorKind::Overload, operation, error.to_string())
            .with_source(error)
            .with_doubt(false)
    })?;
    // Where memory is short, the kernel is to end the server, and not us, who say what happened. What the server starts inherits it.
    std::fs::write(format!("/proc/{}/oom_score_adj", child.id()), "1000").ok();
    if let (Some(input), Some(mut pipe)) = (command.input.clone(), child.stdin.take()) {
        // On a thread of its own: a program that does not read must not hold us up; it gets EPIPE or the rest.
        let writing =
            std::thread::Builder::new().spawn(move || pipe.write_all(input.expose().as_bytes()).ok());
        if let Err(error) = writing {
            child.kill().ok();
            child.wait().ok();
            let operation = format!("start {}", program.display());
            let text = format!("cannot start a thread: {error}; raise the limit of processes");
            return Err(StoreError::new(ErrorKind::Overload, operation, text)
                .with_source(error)
                .with_doubt(false));
        }
    }
    Ok(child)
}

/// The program that changes session, control group, processors, limits and user as is wanted, and then becomes the command that follows.
fn changed_into(surroundings: &Surroundings) -> Result<std::process::Command, StoreError> {
    let mut native = std::process::Command::new(find_program(Path::new("setsid"))?);
    for processes in &surroundings.groups {
        // While it still has our rights, and before it has taken any memory of note.
        native.arg(find_program(Path::new("sh"))?).args(["-c", JOIN_GROUP]).arg(processes);
    }
    if let Some(processors) = &surroundings.processors {
        native.arg(find_program(Path::new("taskset"))?).args(["--cpu-list", processors]);
    }
    if let Some(limit) = wanted_open_files() {
        native.arg(find_program(Path::new("prlimit"))?).arg(format!("--nofile={limit}:"));
    }
    native
        .arg(find_program(Path::new("setpriv"))?)
        .arg("--no-new-privs")
        .args(surroundings.tied.then_some(["--pdeathsig", "KILL"]).into_iter().flatten());
    if let Some(user) = &surroundings.user {
        native
            .args(["--reuid", &user.uid.to_string()])
            .args(["--regid", &user.gid.to_string()])
            .arg("--clear-groups");
    }
    Ok(native)
}

fn open_log(path: &Path) -> Result<File, StoreError> {
    OpenOptions::new()
        .append(true)
        .create(true)
        .mode(0o600)
        .open(path)
        .map_err(|error| file_error("open the server's log", path, error))
}

/// The soft limit of open files that a server gets, where ours is lower: a connection takes one or more. Not the hard
/// limit whatever it is, since some servers make tables of that size.
fn wanted_open_files() -> Option<u64> {
    let limits = getrlimit(Resource::Nofile);
    let possible = limits.maximum.unwrap_or(OPEN_FILES).min(OPEN_FILES);
    limits.current.is_some_and(|current| current < possible).then_some(possible)
}

/// The program's path: as given when it has a folder, else found in the search path.
fn find_program(program: &Path) -> Result<PathBuf, StoreError> {
    let runnable = |path: &Path| {
        path.metadata().is_ok_and(|about| about.is_file() && about.permissions().mode() & 0o111 != 0)
    };
    let found = if program.components().count() > 1 {
        Some(program.to_owned()).filter(|path| runnable(path))
    } else {
        SEARCH_PATH.split(':').map(|folder| Path::new(folder).join(program)).find(|path| runnable(path))
    };
    found.ok_or_else(|| {
        let advice = if matches!(program.to_str(), Some("setsid" | "setpriv" | "prlimit")) {
            "install the package util-linux"
        } else {
            "install the server (sensormark install-servers), or name the folder where it is"
        };
        StoreError::new(
            ErrorKind::NotInstalled,
            "start a server",
            format!("there is no program {}; {advice}", program.display()),
        )
    })
}

/// What the long-lived thread is asked: start this, answer there.
type Request = (std::process::Command, Sender<io::Result<Child>>);

fn on_the_long_lived_thread(command: std::process::Command) -> io::Result<Child> {
    static THREAD: OnceLock<Option<Sender<Request>>> = OnceLock::new();
    let gone = || io::Error::other("the thread that starts processes cannot be started");
    let thread = THREAD.get_or_init(|| {
        let (sender, requests) = channel::<Request>();
        std::thread::Builder::new()
            .name("sensormark-spawn".into())
            .spawn(move || {
                for (mut command, answer) in requests {
                    answer.send(command.spawn()).ok();
                }
            })
            .ok()
            .map(|_| sender)
    });
    let (answer, received) = channel();
    thread.as_ref().ok_or_else(gone)?.send((command, answer)).map_err(|_| gone())?;
    received.recv().map_err(|_| gone())?
}
