//! A run that may use a fraction of a core measures that limit, and says so.

use crate::Outcome;
use crate::support::{Place, errors, reasons};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// A control group with this much of a core, which it gets before all others, of version 1 or 2; removed in the end.
struct Group(PathBuf);

impl Group {
    /// None where this user may not make one.
    fn new(percent: u32) -> Option<Self> {
        let name = format!("sensormark-test-{}", std::process::id());
        let quota = percent * 1_000;
        let mounts = Path::new("/sys/fs/cgroup");
        let one = mounts.join("cpu").join(&name);
        if mounts.join("cpu/cpu.cfs_quota_us").is_file() && std::fs::create_dir(&one).is_ok() {
            let group = Self(one);
            std::fs::write(group.0.join("cpu.cfs_quota_us"), quota.to_string()).ok()?;
            std::fs::write(group.0.join("cpu.shares"), "262144").ok()?;
            return Some(group);
        }
        let two = mounts.join(&name);
        std::fs::create_dir(&two).ok()?;
        let group = Self(two);
        std::fs::write(group.0.join("cpu.max"), format!("{quota} 100000")).ok()?;
        std::fs::write(group.0.join("cpu.weight"), "10000").ok()?;
        Some(group)
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir(&self.0);
    }
}

pub fn clients_of_a_fraction_of_a_core_are_client_bound() -> Outcome {
    let Some(group) = Group::new(20) else {
        return Some("no control group can be made here");
    };
    let place = Place::new();
    let run = place.command(&[
        "run",
        concat!(env!("CARGO_MANIFEST_DIR"), "/tests/page/own.toml"),
        "--on=postgresql:individual",
        "--set=repetitions=1",
        "--set=mixed.duration=3s",
        "--results=results",
        "--tolerate-disturbance",
        "--progress=quiet",
    ]);
    // A shell joins the group and becomes the program.
    let mut limited = Command::new("sh");
    limited
        .args(["-c", "echo $$ > \"$0\" && exec \"$@\""])
        .arg(group.0.join("cgroup.procs"))
        .arg(run.get_program())
        .args(run.get_args())
        .current_dir(place.path())
        .envs(
            run.get_envs()
                .filter_map(|(name, value)| Some((name, value?))),
        )
        .stdin(Stdio::null());
    let output = limited.output().expect("a shell");
    let trials = place.trials();
    assert_eq!(trials.len(), 1, "{}", errors(&output));
    let kinds = reasons(&trials[0]);
    assert!(
        kinds.iter().any(|kind| kind == "client_bound"),
        "{}: {}",
        trials[0]["verdict"],
        errors(&output)
    );
    let text = trials[0]["verdict"].to_string();
    assert!(text.contains("control group may use 0.20 cores"), "{text}");
    assert_eq!(output.status.code(), Some(1), "{}", errors(&output));
    let report = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(report.contains("client-bound"), "{report}");
    None
}
