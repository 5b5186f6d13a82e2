//! A machine that others keep busy, as a newcomer's laptop is: a ranking all the same, marked as rough, in the time that was announced.

use crate::support::Place;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// A loop on every processor, until it is dropped.
struct BusyLoops(Vec<Child>);

impl BusyLoops {
    fn on_every_processor() -> Self {
        let processors = std::thread::available_parallelism().map_or(1, usize::from);
        let busy = |_| {
            let mut shell = Command::new("sh");
            shell.args(["-c", "while :; do :; done"]).stdin(Stdio::null());
            shell.spawn().expect("a shell")
        };
        Self((0..processors).map(busy).collect())
    }
}

impl Drop for BusyLoops {
    fn drop(&mut self) {
        for child in &mut self.0 {
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}

/// The seconds that were announced: "2 trials, about 12 s" or "about 2 min".
fn announced(text: &str) -> Option<Duration> {
    let line = text.lines().find(|line| line.contains(" trials, about "))?;
    let (number, unit) = line.split_once("about ")?.1.split_once(' ')?;
    let number: u64 = number.parse().ok()?;
    Some(Duration::from_secs(if unit.starts_with("min") { number * 60 } else { number }))
}

pub fn a_busy_machine_gets_a_rough_ranking_in_the_announced_time() -> Option<&'static str> {
    const RUN: [&str; 12] = [
        "run",
        "machine-tool",
        "--on",
        "sqlite:individual,sqlite:bulk",
        "--set",
        "measured_seconds=4",
        "--set",
        "history_seconds=2",
        "--set",
        "warmup_seconds=1",
        "--progress",
        "plain",
    ];
    let place = Place::new();
    let _busy = BusyLoops::on_every_processor();
    let began = Instant::now();
    let output = place.command(&RUN).output().expect("the program");
    let took = began.elapsed();
    let (printed, told) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success(), "{printed}{told}");
    assert!(printed.contains("~ rough: other programs used up to "), "{printed}{told}");
    assert!(printed.contains("  1 SQLite "), "{printed}{told}");
    assert!(told.contains("this machine is busy: other programs used"), "{told}");
    let announced = announced(&told).unwrap_or_else(|| panic!("no time is announced: {told}"));
    // What a debug build starts and stops is no part of the announcement.
    let most = announced.mul_f64(1.5) + Duration::from_secs(10);
    assert!(took <= most, "{took:?} instead of {announced:?}: {told}");
    None
}

/// Of six such runs two ended with exit code 1, and with 20 questions half of all trials did not count. The client was slow over the null store
/// because others had the processors.
pub fn a_server_on_a_busy_machine_is_ranked_too() -> Option<&'static str> {
    const BOILER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../data/boiler.csv");
    let _busy = BusyLoops::on_every_processor();
    for questions in ["questions=20", "questions=600"] {
        for further in [&[][..], &["--tolerate-disturbance"]] {
            let place = Place::new();
            let run = ["replay", BOILER, "--on=postgresql", "--set=grown=0", "--set", questions];
            let output = place.run(&[&run[..], further].concat());
            let printed = String::from_utf8_lossy(&output.stdout);
            assert!(output.status.success(), "{questions}: {printed}");
            assert!(printed.contains("~ rough: other programs used up to "), "{printed}");
        }
    }
    None
}

pub fn a_strict_run_on_a_busy_machine_ranks_nobody() -> Option<&'static str> {
    const RUN: [&str; 12] = [
        "run",
        "devops",
        "--on",
        "sqlite:individual",
        "--strict",
        "--set",
        "hosts=10",
        "--set",
        "hours=1",
        "--set",
        "more_hours=",
        "--full",
    ];
    let place = Place::new();
    let _busy = BusyLoops::on_every_processor();
    let output = place.command(&RUN).output().expect("the program");
    let printed = String::from_utf8_lossy(&output.stdout);
    assert_eq!(output.status.code(), Some(1), "{printed}");
    assert!(printed.contains("disturbed, not counted"), "{printed}");
    assert!(printed.contains("Nothing can be ranked"), "{printed}");
    None
}
