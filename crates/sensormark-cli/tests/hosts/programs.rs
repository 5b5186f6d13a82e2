//! The program on other hosts: its version is asked for before anything is measured, of roles and of a server's probe alike, and it is copied there when asked to.

use crate::launchers::{PROGRAM, Server};
use crate::support::{Place, errors, read_folder, said};
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

/// Refused with exit code 3 and all of these words; nothing is begun, and no password shows.
fn cannot_use(server: &Server<'_>, launcher: &[&str], words: &[&str]) {
    let place = Place::new();
    let on = server.on("bulk");
    let common = ["run", "machine-tool", "--on", &on];
    let output = place.run(&[&common[..], launcher].concat());
    let text = errors(&output);
    assert_eq!(output.status.code(), Some(3), "{launcher:?}: {text}");
    for word in words {
        assert!(text.contains(word), "{launcher:?}: {word:?} is not in: {text}");
    }
    let password = server.url.split(['@', ':']).nth(2).expect("a password");
    assert!(!text.contains(password), "the password shows");
    assert!(!place.results().exists(), "{launcher:?}: something was begun");
}

pub fn unusable() -> Option<String> {
    let place = Place::new();
    let server = Server::start(&place);
    let reader = ["--host", "reader=pi1"];
    let by = |launcher: &'static str| [&["--launcher", launcher][..], &reader].concat();
    cannot_use(
        &server,
        &[&by("env HOST={host}")[..], &["--host-program", "/nowhere/sensormark"]].concat(),
        &["there is no program /nowhere/sensormark on pi1", "--deploy"],
    );
    let other = script(place.path(), "other", "echo 'sensormark 0.0.1 (000000000000)'");
    cannot_use(
        &server,
        &[&by("env HOST={host}")[..], &["--host-program", &other]].concat(),
        &["pi1 has \"sensormark 0.0.1 (000000000000)\"", "--deploy"],
    );
    cannot_use(&server, &by("no-such-launcher {host}"), &["pi1 cannot be reached by no-such-launcher pi1"]);
    cannot_use(
        &server,
        &["--host", "reader=ssh:nobody.invalid"],
        &["nobody.invalid cannot be reached by ssh", "without a password"],
    );
    None
}

/// A program of these lines of shell.
fn script(folder: &Path, name: &str, lines: &str) -> String {
    let path = folder.join(name);
    fs::write(&path, format!("#!/bin/sh\n{lines}\n")).expect("room");
    fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).expect("ours");
    path.to_str().expect("UTF-8").to_owned()
}

/// The probe of a server on another host is asked for its version as roles are. The program is copied there too, and removed.
pub fn of_probes() -> Option<String> {
    let (place, host) = (Place::new(), Place::new());
    let server = Server::start(&place);
    let temporary = format!("TMPDIR={}", host.path().display());
    let on_host = format!("server=port,host=env {temporary} HOST=db1");
    let at = |program: &str| format!("{on_host},program={program}");
    let other = script(place.path(), "other", "echo 'sensormark 0.0.1 (000000000000)'");
    cannot_use(
        &server,
        &["--probe", &at(&other)],
        &["HOST=db1 has \"sensormark 0.0.1 (000000000000)\"", "--deploy"],
    );
    cannot_use(
        &server,
        &["--probe", &on_host, "--host-program", "/nowhere/sensormark"],
        &["there is no program /nowhere/sensormark on HOST=db1"],
    );
    // A copy is used that was not there before: no program of this name is in PATH.
    let on = server.on("individual");
    let deployed = ["--on", &on, "--probe", &on_host, "--deploy"];
    let output = place.short(&deployed);
    let trials = place.trials();
    assert!(!trials.is_empty(), "{}", said(&output));
    for trial in &trials {
        assert_eq!(trial["server"]["probe"]["host"], "HOST=db1", "{trial}");
    }
    let left = read_folder(host.path());
    assert!(left.is_empty(), "a copy is left: {left:?}");
    // What the user names for the probe is used, and nothing is copied there.
    let named = at(PROGRAM);
    let other = Place::new();
    let output = other.short(&["--on", &on, "--probe", &named, "--deploy"]);
    assert!(!other.trials().is_empty(), "{}", said(&output));
    None
}
