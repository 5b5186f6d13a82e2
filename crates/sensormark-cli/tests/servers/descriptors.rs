//! Few file descriptors: what cannot be opened becomes a message, never a panic.

use crate::existing_server::Running;
use crate::support::{Place, SHORT, errors, said};
use std::process::Command;

/// The limits that are tried: from one that is too small for anything to one that just does.
const LIMITS: [u32; 8] = [4, 6, 8, 9, 10, 11, 12, 14];

pub fn a_run_by_url_with_few_descriptors() {
    let place = Place::new();
    let server = Running::start(&place);
    let on = format!("postgresql:bulk/bulk={}", server.url);
    let words = SHORT.join(" ");
    for limit in LIMITS {
        let run = place.command(&[]);
        let script = format!("ulimit -n {limit}; exec \"$0\" {words} --on \"$1\"");
        let mut shell = Command::new("sh");
        shell.args(["-c", &script]).arg(run.get_program()).arg(&on);
        shell.current_dir(place.path());
        for (name, value) in run.get_envs() {
            shell.env(name, value.unwrap_or_default());
        }
        let output = shell.output().expect("a shell");
        let text = said(&output);
        assert!(!text.contains("panicked"), "{limit}: {text}");
        assert!(!output.status.success() || !text.is_empty(), "{limit}");
        if output.status.code() != Some(0) && output.status.code() != Some(1) {
            let known = ["open files", "sensormark: ", "cannot"];
            assert!(known.iter().any(|words| errors(&output).contains(words)), "{limit}: {text}");
        }
    }
}
