//! Installing servers: what is here, what would need root or a network, and an installation with the clients of registries replaced.

use crate::support::{Place, errors, said};
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use std::process::Command;

/// What the script calls, and nothing that installs.
const TOOLS: &str = "bash cat chmod cut dirname env find flock grep head install mkdir mktemp mv nice realpath rm sed sort stat tail uname";

/// A folder of programs: the tools, and these scripts of a shell by their names.
fn programs(place: &Place, scripts: &[(&str, &str)]) -> PathBuf {
    let folder = place.path().join("programs");
    fs::create_dir(&folder).expect("a folder");
    for tool in TOOLS.split(' ') {
        let found = ["/bin", "/usr/bin"].map(|folder| PathBuf::from(folder).join(tool));
        let found = found.iter().find(|path| path.exists());
        std::os::unix::fs::symlink(found.expect(tool), folder.join(tool)).expect(tool);
    }
    for (name, script) in scripts {
        let path = folder.join(name);
        fs::write(&path, format!("#!/bin/bash\n{script}\n")).expect(name);
        fs::set_permissions(&path, PermissionsExt::from_mode(0o755)).expect(name);
    }
    folder
}

/// Installs with nothing on the search path but these programs.
fn install(place: &Place, programs: &PathBuf, arguments: &[&str]) -> Command {
    let mut command = place.command(&["install-servers"]);
    command
        .args(arguments)
        .env("PATH", programs)
        .env_remove("JAVA_HOME")
        .env_remove("SENSORMARK_SERVERS")
        .env_remove("SENSORMARK_QUESTDB_HOME");
    command
}

/// Maven that makes the file which it is asked for, and a Java of the right version.
const REGISTRY: [(&str, &str); 2] = [
    (
        "mvn",
        r#"for argument in "$@"; do
  case $argument in
    -DoutputDirectory=*) folder=${argument#*=} ;;
    -Dartifact=*) version=${argument##*:} ;;
  esac
done
echo jar >"$folder/questdb-$version.jar""#,
    ),
    ("java", r#"echo 'openjdk version "17.0.1" 2021-10-19' >&2"#),
];

#[test]
fn a_server_is_installed_once_into_the_folder_that_is_named() {
    let place = Place::new();
    let programs = programs(&place, &REGISTRY);
    let folder = place.path().join("servers");
    let named = folder.to_str().expect("a path");
    let arguments = ["questdb", "--folder", named];
    let first = install(&place, &programs, &arguments).output().expect("it starts");
    let text = said(&first);
    assert_eq!(first.status.code(), Some(0), "{text}");
    assert!(text.contains("questdb     installed  QuestDB 9."), "{text}");
    assert!(errors(&first).contains("questdb     installing"), "what goes on");
    assert!(errors(&first).contains("SENSORMARK_SERVERS="), "how it is found");
    let installed = fs::read_dir(folder.join("questdb/lib")).expect("the server");
    let installed = installed.flatten().next().expect("a file").path();
    fs::write(&installed, "mine").expect("the file");
    let again = install(&place, &programs, &arguments).output().expect("it starts");
    let text = said(&again);
    assert!(text.contains("questdb     present    QuestDB 9."), "{text}");
    let kept = fs::read_to_string(&installed).expect("the file");
    assert_eq!(kept, "mine", "a second run changes nothing");
}

#[test]
fn what_is_missing_is_said_and_left_alone() {
    let place = Place::new();
    let programs = programs(&place, &REGISTRY);
    let folder = place.path().join("servers");
    let named = folder.to_str().expect("a path");
    let output =
        install(&place, &programs, &["questdb", "--check", "--folder", named]).output().expect("it starts");
    assert_eq!(output.status.code(), Some(1));
    assert!(said(&output).contains("questdb     missing"));
    assert!(!folder.exists());
}

#[test]
fn a_system_without_apt_get_is_told_once_which_names_need_it() {
    let place = Place::new();
    let programs = programs(&place, &REGISTRY);
    let output = install(&place, &programs, &["strace", "chromium", "questdb", "--folder", "servers"])
        .output()
        .expect("it starts");
    let text = errors(&output);
    assert_eq!(output.status.code(), Some(1), "{text}");
    assert_eq!(text.matches("sensormark: ").count(), 1, "{text}");
    for words in [
        "nothing was installed",
        "strace chromium; there is no apt-get here",
        "install-servers --folder servers questdb",
    ] {
        assert!(text.contains(words), "{words:?} is not in: {text}");
    }
    assert!(!place.path().join("servers/questdb").exists());
}

/// As another user, because root is always allowed: the program is copied to where that user may run it.
#[test]
fn without_root_nothing_is_installed_and_the_command_with_sudo_is_told() {
    let place = Place::new();
    let programs = programs(&place, &[("apt-get", "exit 1"), ("sudo", "exit 1")]);
    let program = place.path().join("sensormark");
    fs::copy(env!("CARGO_BIN_EXE_sensormark"), &program).expect("a copy");
    let folder = place.path().join("servers");
    fs::create_dir(&folder).expect("a folder");
    fs::set_permissions(&folder, PermissionsExt::from_mode(0o777)).expect("everybody's");
    let mut command = if rustix::process::geteuid().is_root() {
        let mut command = Command::new("/usr/bin/setpriv");
        command.args(["--reuid=65534", "--regid=65534", "--clear-groups"]);
        command.arg(&program);
        command
    } else {
        Command::new(&program)
    };
    let output = command
        .args(["install-servers", "strace", "--folder"])
        .arg(&folder)
        .current_dir(place.path())
        .env("PATH", &programs)
        .output()
        .expect("it starts");
    let text = errors(&output);
    assert_eq!(output.status.code(), Some(1), "{text}");
    let advice = format!(
        "run it as root: sudo {} install-servers --folder {} strace",
        program.display(),
        folder.display()
    );
    assert!(text.contains(&advice), "{advice:?} is not in: {text}");
    assert_eq!(text.matches("sensormark: ").count(), 1, "{text}");
}

#[test]
fn without_a_network_there_is_one_error_with_what_the_client_said() {
    let place = Place::new();
    let offline = "echo 'Could not transfer artifact: Unknown host repo.maven.apache.org' >&2; exit 1";
    let programs = programs(&place, &[("mvn", offline), REGISTRY[1], ("python3", "exit 0")]);
    let output = install(&place, &programs, &["questdb", "duckdb", "--folder", "servers"])
        .output()
        .expect("it starts");
    let text = errors(&output);
    assert_eq!(output.status.code(), Some(1), "{text}");
    assert_eq!(text.matches("sensormark: ").count(), 1, "{text}");
    assert!(text.contains("cannot be reached: Could not transfer artifact: Unknown host"), "{text}");
    assert!(text.contains("http_proxy"), "{text}");
    let table = said(&output);
    assert!(table.contains("duckdb      missing    not tried"), "{table}");
}

#[test]
fn names_are_those_of_run_and_unknown_ones_are_told() {
    let place = Place::new();
    let check = |name: &str| place.run(&["install-servers", "--check", name]);
    let text = said(&check("pg"));
    assert!(text.starts_with("postgresql  "), "{text}");
    for (name, words) in [
        ("mariadbb", "did you mean mariadb?"),
        ("sqlite", "SQLite is built into sensormark, so there is nothing to install"),
    ] {
        let output = check(name);
        let text = errors(&output);
        assert_eq!(output.status.code(), Some(2), "{text}");
        assert!(text.contains(words), "{text}");
    }
}
