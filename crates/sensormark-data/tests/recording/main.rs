//! Recordings as another tool reads them: rows, sums, extremes, means and hourly means agree with SQLite's command-line tool.
//!
//! A recording or tool that is not here makes its test ignored, with the reason in its name.

mod figures;

use std::path::{Path, PathBuf};
use std::process::Command;

use libtest_mimic::{Arguments, Failed, Trial};

const ROOT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");

fn main() {
    let arguments = Arguments::from_args();
    let root = Path::new(ROOT);
    let trials = vec![
        trial("boiler", root.join("data/boiler.csv"), 429),
        trial("office-occupancy", root.join("../shared/data/office-occupancy.csv"), 9_752),
        damaged(root.join("data/boiler.csv")),
    ];
    libtest_mimic::run(&arguments, trials).exit();
}

/// Why a test cannot be run here.
fn missing(path: &Path) -> Option<String> {
    if !path.exists() {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        return Some(format!("the recording {name} is not on this machine"));
    }
    ["sqlite3", "awk"].into_iter().find_map(|tool| {
        let there = Command::new(tool).arg("--version").output().is_ok();
        (!there).then(|| format!("{tool} is not installed"))
    })
}

fn ignorable(name: &str, path: &Path, run: impl FnOnce() -> Result<(), Failed> + Send + 'static) -> Trial {
    match missing(path) {
        None => Trial::test(name.to_owned(), run),
        Some(reason) => Trial::test(format!("{name} (ignored: {reason})"), run).with_ignored_flag(true),
    }
}

fn trial(name: &str, path: PathBuf, readings: u64) -> Trial {
    ignorable(&format!("figures of {name} agree"), &path.clone(), move || {
        let (text, report) = figures::figures(&path).map_err(|error| error.to_string())?;
        if (report.rows, report.readings) != (readings, readings) {
            return Err(format!("{} rows, {} readings", report.rows, report.readings).into());
        }
        check(&path, &text).map(|_| ()).map_err(Failed::from)
    })
}

/// A check that never fails would be worth nothing: one mean is changed a little, which it must find.
fn damaged(path: PathBuf) -> Trial {
    ignorable("a wrong figure is found", &path.clone(), move || {
        let (text, _) = figures::figures(&path).map_err(|error| error.to_string())?;
        let Some((before, hour)) = text.trim_end().rsplit_once('\n') else {
            return Err("no hours".into());
        };
        let cells: Vec<&str> = hour.split('\t').collect();
        let mean: f64 = cells[2].parse().map_err(|_| "a mean is a number")?;
        let wrong = mean * (1.0 + 1e-7);
        match check(&path, &format!("{before}\n{}\t{}\t{wrong:e}\n", cells[0], cells[1])) {
            Err(report) if report.contains(", 1 disagree") => Ok(()),
            result => Err(format!("{result:?}").into()),
        }
    })
}

/// What the script says.
fn check(path: &Path, figures: &str) -> Result<String, String> {
    let folder = tempfile::tempdir().map_err(|error| error.to_string())?;
    let ours = folder.path().join("ours");
    std::fs::write(&ours, figures).map_err(|error| error.to_string())?;
    let output = Command::new("sh")
        .arg(Path::new(ROOT).join("scripts/check-recording.sh"))
        .args([path, ours.as_path()])
        .output()
        .map_err(|error| error.to_string())?;
    let text =
        String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr);
    if output.status.success() { Ok(text) } else { Err(text) }
}
