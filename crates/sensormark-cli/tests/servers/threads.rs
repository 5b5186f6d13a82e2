//! Few threads and processes: what cannot be started becomes a message. It is neither a panic nor a wait without end.

use crate::existing_server::Running;
use crate::support::{Place, SHORT, said};
use std::process::{Command, Output};

/// Users that have no other processes, which the limit would count. The tests run at the same time, so each has its own.
const USERS: [u32; 2] = [64_321, 64_322];

/// Processes and threads that are tried: from one, which is too few for anything, to more than a short run has on any machine.
const LIMITS: [u32; 9] = [1, 2, 3, 4, 5, 6, 8, 12, 512];

/// What the system says of a thread or process that cannot be had.
const SHORTAGE: &str = "temporarily unavailable";

/// How long a run may take before it counts as hanging, in seconds.
const LONGEST: &str = "300";

/// A short run of this user, who may have so many threads and processes.
fn run(place: &Place, on: &str, (user, limit): (u32, u32)) -> Output {
    let run = place.command(&[&SHORT[..], &["--on", on]].concat());
    let mut limited = Command::new("timeout");
    limited.args(["--signal=KILL", LONGEST, "setpriv"]);
    limited.args([format!("--reuid={user}"), format!("--regid={user}")]);
    limited.args(["--clear-groups", "--", "prlimit"]);
    limited.arg(format!("--nproc={limit}:{limit}")).arg("--");
    limited.arg(run.get_program()).args(run.get_args());
    limited.current_dir(place.path());
    for (name, value) in run.get_envs() {
        limited.env(name, value.unwrap_or_default());
    }
    limited.env("HOME", place.path());
    limited.output().expect("timeout is there")
}

/// Tries all limits; the largest has to do, and some smaller one must not.
fn try_all(on: &str, user: u32) -> Option<String> {
    if !rustix::process::geteuid().is_root() {
        return Some("takes root, which becomes a user without other processes".to_owned());
    }
    let mut failures = 0;
    for limit in LIMITS {
        let place = Place::new();
        for name in ["state", "results"] {
            let folder = place.path().join(name);
            std::fs::create_dir(&folder).expect("a folder");
            std::os::unix::fs::chown(&folder, Some(user), Some(user)).expect("root may do it");
        }
        let output = run(&place, on, (user, limit));
        let (code, text) = (output.status.code(), said(&output));
        assert!(!text.contains("panicked"), "{limit}: {text}");
        assert!(matches!(code, Some(0 | 1 | 3 | 4)), "{limit}: {code:?} {text}");
        let is_short = text.contains(SHORTAGE);
        failures += u32::from(is_short);
        assert!(is_short || matches!(code, Some(0 | 1)), "{limit}: {text}");
        let left = place.leftovers();
        assert!(left.is_empty(), "{limit}: {left:?}");
        if limit == LIMITS[LIMITS.len() - 1] {
            assert!(!is_short && !place.trials().is_empty(), "{text}");
        }
    }
    assert!(failures > 0, "no limit was too small");
    None
}

pub fn an_embedded_database_with_few_threads() -> Option<String> {
    try_all("sqlite:bulk/bulk", USERS[0])
}

/// By a name, which is looked up on a thread of its own.
pub fn a_run_by_url_with_few_threads() -> Option<String> {
    let place = Place::new();
    let server = Running::start(&place);
    let url = server.url.replacen("@127.0.0.1:", "@localhost:", 1);
    try_all(&format!("postgresql:bulk/bulk={url}"), USERS[1])
}
