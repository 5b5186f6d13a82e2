//! Ctrl-C, a killed server, a killed coordinator: what is finished stays, nothing else does.

use crate::support::{Place, SHORT, errors, read_folder, reasons, runs};
use std::process::{Child, Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

pub fn start(place: &Place, further: &[&str]) -> Child {
    let arguments = [&SHORT, further].concat();
    place
        .command(&arguments)
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the program starts")
}

pub fn signal(child: &Child, name: &str) {
    let sent = Command::new("kill")
        .args([format!("-{name}"), child.id().to_string()])
        .status()
        .expect("kill is there");
    assert!(sent.success());
}

/// Waits until this holds, at most 60 s.
pub fn wait_until(what: &str, mut holds: impl FnMut() -> bool) {
    let deadline = Instant::now() + Duration::from_secs(60);
    while !holds() {
        assert!(Instant::now() < deadline, "waited in vain: {what}");
        sleep(Duration::from_millis(50));
    }
}

fn trial_files(place: &Place) -> usize {
    read_folder(&place.results()).iter().map(|run| read_folder(&run.join("trials")).len()).sum()
}

/// Processes whose environment or arguments name this place.
pub fn processes_of(place: &Place) -> Vec<String> {
    let mark = place.path().to_string_lossy().into_owned();
    read_folder(std::path::Path::new("/proc"))
        .into_iter()
        .filter(|path| {
            path.file_name()
                .is_some_and(|name| name.to_string_lossy().bytes().all(|byte| byte.is_ascii_digit()))
        })
        .filter(|path| {
            ["cmdline", "environ"].iter().any(|file| {
                std::fs::read(path.join(file))
                    .is_ok_and(|bytes| String::from_utf8_lossy(&bytes).contains(&mark))
            })
        })
        .map(|path| path.display().to_string())
        .collect()
}

#[test]
fn control_c_keeps_finished_trials_and_nothing_else() {
    let place = Place::new();
    let child = start(&place, &["--on", "sqlite:individual"]);
    wait_until("a finished trial", || trial_files(&place) >= 1);
    signal(&child, "INT");
    let output = child.wait_with_output().expect("it ends");
    assert_eq!(output.status.code(), Some(130), "{}", errors(&output));
    assert!(place.leftovers().is_empty(), "{:?}", place.leftovers());
    assert!(processes_of(&place).is_empty(), "{:?}", processes_of(&place));
    assert!(!place.trials().is_empty());
    let report = place.run(&["report", "--full", &place.run_folder().to_string_lossy()]);
    assert!(report.status.success(), "{}", errors(&report));
}

/// Every folder of a run has its record, from the first moment on.
fn folders_without_record(place: &Place) -> usize {
    let runs = runs(&place.results());
    let is_without = |run: &&std::path::PathBuf| !run.join("run.json").is_file();
    runs.iter().filter(is_without).count()
}

/// Waits until a process catches Ctrl-C. Until then it has made nothing.
fn wait_until_it_listens(child: &Child, place: &Place) {
    let status = format!("/proc/{}/status", child.id());
    let caught = || {
        let text = std::fs::read_to_string(&status).unwrap_or_default();
        let mask = text.lines().find_map(|line| line.strip_prefix("SigCgt:"));
        let mask = mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok());
        mask.is_some_and(|mask| mask & 2 != 0)
    };
    wait_until("the handler", || {
        let has_made = !read_folder(&place.results()).is_empty();
        let listens = caught();
        assert!(listens || !has_made, "results before the handler");
        listens
    });
}

#[test]
fn control_c_in_the_first_moments_leaves_no_folder_without_a_record() {
    for milliseconds in [0, 10, 60, 120, 200, 280, 340, 400] {
        let place = Place::new();
        let child = start(&place, &["--on", "sqlite:individual"]);
        wait_until_it_listens(&child, &place);
        sleep(Duration::from_millis(milliseconds));
        signal(&child, "INT");
        let output = child.wait_with_output().expect("it ends");
        let code = output.status.code();
        assert_eq!(code, Some(130), "{milliseconds} ms: {}", errors(&output));
        assert_eq!(folders_without_record(&place), 0, "{milliseconds} ms");
        assert!(place.leftovers().is_empty(), "{:?}", place.leftovers());
    }
}

#[test]
fn a_second_control_c_removes_the_embedded_database() {
    let place = Place::new();
    for milliseconds in [0, 1, 5, 20] {
        let child = start(&place, &["--on", "sqlite:individual"]);
        wait_until("a database", || place.has_begun());
        sleep(Duration::from_millis(700));
        signal(&child, "INT");
        sleep(Duration::from_millis(milliseconds));
        signal(&child, "INT");
        let output = child.wait_with_output().expect("it ends");
        assert_eq!(output.status.code(), Some(130), "{}", errors(&output));
        wait_until("the roles to end", || processes_of(&place).is_empty());
        assert!(place.leftovers().is_empty(), "{:?}", place.leftovers());
    }
}

#[test]
fn a_second_control_c_drops_the_database_in_a_folder_of_the_users() {
    let place = Place::new();
    let folder = place.path().join("database");
    std::fs::create_dir(&folder).expect("the place is ours");
    drops_twice_interrupted(&place, &folder);
    assert!(folder.is_dir(), "it was the user's");
}

/// A folder that the URL names and sensormark makes was left with the database in it.
#[test]
fn a_second_control_c_drops_the_database_and_the_folder_that_was_made_of_it() {
    let place = Place::new();
    let folder = place.path().join("new");
    drops_twice_interrupted(&place, &folder);
    assert!(!folder.exists(), "it was made of sensormark's own accord");
}

fn drops_twice_interrupted(place: &Place, folder: &std::path::Path) {
    let on = format!("sqlite:individual=sqlite:{}", folder.display());
    for milliseconds in [0, 5, 30] {
        let child = start(place, &["--on", &on]);
        wait_until("a database", || !read_folder(folder).is_empty());
        sleep(Duration::from_millis(700));
        signal(&child, "INT");
        sleep(Duration::from_millis(milliseconds));
        signal(&child, "INT");
        let output = child.wait_with_output().expect("it ends");
        assert_eq!(output.status.code(), Some(130), "{}", errors(&output));
        let left = read_folder(folder);
        assert!(left.is_empty(), "{left:?}: {}", errors(&output));
    }
}

#[test]
fn a_killed_coordinator_leaves_no_process_and_the_next_run_cleans_up() {
    let place = Place::new();
    let mut child = start(&place, &["--on", "sqlite:individual/bulk"]);
    wait_until("a database", || place.has_begun());
    sleep(Duration::from_millis(1_500));
    signal(&child, "KILL");
    child.wait().expect("it ends");
    wait_until("the roles to end", || processes_of(&place).is_empty());
    assert!(!place.leftovers().is_empty(), "there was something to clean");
    let _ = std::fs::remove_dir_all(place.results());
    let output = place.short(&["--on", "sqlite:bulk/bulk"]);
    assert!(output.status.code().is_some_and(|code| code < 2), "{}", errors(&output));
    assert!(place.leftovers().is_empty(), "{:?}", place.leftovers());
}

#[allow(dead_code, reason = "tests/servers runs it, where the server is")]
pub fn a_killed_server_costs_its_trial_alone() {
    let place = Place::new();
    let child = start(&place, &["--on", "postgresql:individual/bulk,sqlite:bulk/bulk"]);
    let mark = place.path().to_string_lossy().into_owned();
    let mut server = String::new();
    wait_until("the server's process", || {
        let found = Command::new("pgrep")
            .args(["-o", "-f", &format!("postgres.*-D.*{mark}")])
            .output()
            .expect("pgrep is there");
        server = String::from_utf8_lossy(&found.stdout).trim().to_owned();
        !server.is_empty()
    });
    sleep(Duration::from_millis(3_000));
    assert!(Command::new("kill").args(["-KILL", &server]).status().expect("kill is there").success());
    let output = child.wait_with_output().expect("it ends");
    let trials = place.trials();
    let crashed = trials.iter().find(|trial| reasons(trial).contains(&"server_crashed".to_owned()));
    let crashed =
        crashed.unwrap_or_else(|| panic!("no trial says that the server stopped: {}", errors(&output)));
    assert_eq!(crashed["implementation"]["store"], "postgresql");
    let others = trials.iter().filter(|trial| trial["implementation"]["store"] == "sqlite").count();
    assert_eq!(others, 2, "the others went on: {}", errors(&output));
    assert_eq!(output.status.code(), Some(1), "{}", errors(&output));
    assert!(place.leftovers().is_empty(), "{:?}", place.leftovers());
}
