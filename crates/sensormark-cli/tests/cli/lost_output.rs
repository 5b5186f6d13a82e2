//! Output that cannot be written: results that are lost are an error, messages that are lost change nothing, and a reader that left is no failure.

use crate::interruption::{signal, wait_until};
use crate::support::{Place, SHORT, errors, said};
use std::fs::{self, File};
use std::process::{Command, Output, Stdio};
use std::thread::sleep;
use std::time::Duration;

/// A device on which every write fails, as on a full disk.
fn full() -> File {
    let device = File::options().write(true).open("/dev/full");
    device.expect("Linux has it")
}

/// Standard output goes to the full device.
fn unread(place: &Place, arguments: &[&str]) -> Output {
    let output = place.command(arguments).stdout(full()).output();
    output.expect("it starts")
}

#[track_caller]
fn is_lost(place: &Place, arguments: &[&str]) {
    let output = unread(place, arguments);
    let text = errors(&output);
    assert_eq!(output.status.code(), Some(4), "{arguments:?}: {text}");
    assert!(text.contains("cannot write to standard output"), "{arguments:?}: {text}");
    assert!(!text.contains("panicked"), "{arguments:?}: {text}");
}

#[test]
fn results_that_are_lost_are_an_error() {
    let place = Place::new();
    let run = [&SHORT[..], &["--on", "sqlite:bulk/bulk"]].concat();
    is_lost(&place, &run);
    let folder = place.run_folder();
    let folder = folder.to_str().expect("a plain path");
    for arguments in [
        &["report", folder][..],
        &["report", "--full", folder],
        &["compare", folder, folder],
        &["doctor"],
        &["list"],
        &["list", "devops"],
        &["explain", "machine-tool", "--on", "sqlite:bulk"],
        &["run", "machine-tool", "--on", "sqlite:bulk", "--dry-run"],
        &["servers", "status"],
        &["install-servers", "--check", "strace"],
        &["clean"],
        &["completions", "bash"],
        &["--help"],
        &["run", "--help"],
        &["--version"],
    ] {
        is_lost(&place, arguments);
    }
}

#[test]
fn a_reader_that_left_is_no_failure() {
    let place = Place::new();
    for arguments in [&["list"][..], &["servers", "status"], &["completions", "bash"], &["--help"]] {
        let (reader, writer) = std::io::pipe().expect("a pipe");
        drop(reader);
        let output = place.command(arguments).stdout(writer).output();
        let output = output.expect("it starts");
        let text = errors(&output);
        assert!(output.status.success(), "{arguments:?}: {text}");
        assert!(!text.contains("panicked"), "{text}");
    }
}

/// The program without a standard error.
fn without_errors(place: &Place, arguments: &[&str]) -> Output {
    let program = place.command(&[]).get_program().to_owned();
    let mut command = place.command(&[]);
    let variables: Vec<_> =
        command.get_envs().map(|(n, v)| (n.to_owned(), v.map(ToOwned::to_owned))).collect();
    command = Command::new("sh");
    command.args(["-c", "exec \"$0\" \"$@\" 2>&-"]).arg(program).args(arguments).current_dir(place.path());
    for (name, value) in variables {
        command.env(name, value.unwrap_or_default());
    }
    command.stdin(Stdio::null()).output().expect("sh is there")
}

#[test]
fn messages_that_are_lost_change_no_exit_code() {
    let place = Place::new();
    let rows: String = (10..60).map(|second| format!("2026-01-01T00:00:{second}Z,{second}\n")).collect();
    fs::write(place.path().join("r.csv"), format!("time,value\n{rows}")).expect("ours");
    let run = [&SHORT[..], &["--on", "sqlite:bulk/bulk", "-v"]].concat();
    let output = place.command(&run).stderr(full()).output();
    let output = output.expect("it starts");
    let code = output.status.code();
    assert!(matches!(code, Some(0 | 1)), "{code:?}: {}", said(&output));
    let folder = place.run_folder();
    let folder = folder.to_str().expect("a plain path");
    let gate = ["compare", folder, folder, "--fail-on", "regression"];
    for (arguments, code) in [
        (&["run", "machine-tol"][..], 2),
        (&["frobnicate"], 2),
        (&[], 2),
        (&gate, 2),
        (&["run", "machine-tool", "--on", "sqlite=@nothing"], 3),
        (&["report", folder, "--html", "page.html"], 0),
        (&["generate", "machine-tool", "--for", "1m", "--format", "csv", "-o", "d.csv"], 0),
        (&["replay", "r.csv", "--dry-run"], 0),
    ] {
        let output = place.command(arguments).stderr(full()).output();
        let output = output.expect("it starts");
        assert_eq!(output.status.code(), Some(code), "full: {arguments:?}");
        let output = without_errors(&place, arguments);
        assert_eq!(output.status.code(), Some(code), "closed: {arguments:?}");
    }
}

/// What explains is stuck in a pipe that nobody reads, so the first signal cannot end it. A handler that died of its own message never saw a second one.
#[test]
fn a_second_control_c_counts_where_nobody_can_be_told_of_the_first() {
    let place = Place::new();
    let (reader, writer) = std::io::pipe().expect("a pipe");
    let room = rustix::pipe::fcntl_setpipe_size(&writer, 4_096).expect("a smaller pipe");
    let mut child = place
        .command(&["explain", "devops", "--on", "sqlite"])
        .stdout(writer)
        .stderr(full())
        .spawn()
        .expect("the program starts");
    wait_until("a full pipe", || rustix::io::ioctl_fionread(&reader).expect("a pipe") >= room as u64);
    signal(&child, "INT");
    sleep(Duration::from_millis(500));
    assert!(child.try_wait().expect("ours").is_none(), "it was not stuck");
    signal(&child, "INT");
    let mut status = None;
    wait_until("the end", || {
        status = child.try_wait().expect("ours");
        status.is_some()
    });
    assert_eq!(status.and_then(|status| status.code()), Some(130));
    assert!(place.leftovers().is_empty(), "{:?}", place.leftovers());
}
