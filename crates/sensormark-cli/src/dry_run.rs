//! `--dry-run`: what a run would do, in which order, how long, on how much disk. Nothing is started, written or measured for it.

use crate::arguments::ExplainFormat;
use crate::failure::Failure;
use crate::measure::Planned;
use crate::output;
use crate::progress::span;
use sensormark_engine::launcher::Launcher;
use sensormark_engine::run_plan::{RunPlan, ScheduledCase, in_turn, terms};
use sensormark_report::wrapping::wrap;
use sensormark_result::measurement::NotMeasured;
use sensormark_result::measurement::record::{Side, title};
use sensormark_result::probe::{Environment, free_bytes};
use serde::Serialize;
use std::collections::BTreeSet;
use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// Columns of what is printed.
const WIDTH: usize = 80;
/// Columns before what belongs to a heading.
const INDENT: usize = 14;

/// What a run would do.
#[derive(Serialize)]
struct Shown<'a> {
    workload: &'a str,
    /// What a file of the user's own calls itself.
    title: &'a str,
    scale: &'a str,
    repetitions: u32,
    /// The repeats that are to be expected on a quiet machine included.
    seconds: f64,
    /// On a machine that others use.
    most_seconds: f64,
    trials: Vec<ShownTrial>,
    disk: Disk,
    servers: Vec<Server>,
    not_measured: &'a [NotMeasured],
    notes: Vec<String>,
}

/// One trial.
#[derive(Serialize)]
struct ShownTrial {
    label: String,
    store: String,
    layout: String,
    strategy: Option<String>,
    /// From 1.
    repetition: u32,
    /// Its server's start and stop count to the first trial of a layout.
    seconds: f64,
}

/// What the databases occupy, one after another.
#[derive(Serialize)]
struct Disk {
    /// At most, where all databases lie on this machine.
    most_bytes: u64,
    free_bytes: u64,
    folder: PathBuf,
}

/// A server that would be started.
#[derive(Serialize, PartialEq, Eq, PartialOrd, Ord)]
struct Server {
    title: String,
    /// None of a server on another host: nobody asks that host for a plan.
    version: Option<String>,
    /// As the version.
    origin: Option<String>,
    /// The other host that it would be started on; none where it is this machine.
    host: Option<String>,
}

/// Measures what is planned, or shows the plan where that alone is asked for.
///
/// # Errors
/// When it cannot be measured, and when results cannot be written.
pub fn or_measure(planned: Planned<'_>) -> Result<ExitCode, Failure> {
    planned.check()?;
    match planned.common.dry_run {
        Some(format) => show(&planned, format),
        None => planned.carry_out(),
    }
}

/// Prints the plan of a run.
///
/// # Errors
/// What the run itself would fail with before it starts anything.
fn show(planned: &Planned<'_>, format: ExplainFormat) -> Result<ExitCode, Failure> {
    let shown = Shown::new(planned)?;
    match format {
        ExplainFormat::Text => output::print_cleaned(&shown.text())?,
        ExplainFormat::Json => {
            let json = serde_json::to_string_pretty(&shown).map_err(Failure::usage)?;
            output::line(json)?;
        }
    }
    Ok(ExitCode::SUCCESS)
}

/// The folder, or the nearest one above it that is there: what is not made yet will lie on that one's disk.
fn nearest(folder: &Path) -> &Path {
    let mut above = folder.ancestors();
    above.find(|one| one.is_dir()).unwrap_or(Path::new("/"))
}

impl<'a> Shown<'a> {
    fn new(planned: &'a Planned<'_>) -> Result<Self, Failure> {
        let terms = terms(planned.common.cache.cache(), planned.protocol, planned.budget);
        let plan = RunPlan::new(planned.runner, &planned.cases, planned.repetitions, &terms);
        let mut folders = planned.folders();
        if planned.common.data.is_none() {
            folders[0].1 = nearest(folders[0].1);
        }
        // A folder that cannot be used is an error of the run too.
        Environment::read(&folders).map_err(Failure::usage)?;
        let host = planned.disturbed_host();
        let schedule = plan.schedule.iter();
        Ok(Self {
            workload: planned.workload,
            title: title(planned.workload, &planned.parameters),
            scale: planned.scale,
            repetitions: planned.repetitions,
            seconds: plan.seconds() + host.expected_repeats_seconds(plan.seconds(), false),
            most_seconds: plan.most_seconds(host),
            trials: schedule.flat_map(|scheduled| trials(planned, &plan, scheduled)).collect(),
            disk: Disk {
                most_bytes: plan.disk_bytes(),
                free_bytes: free_bytes(folders[0].1).map_err(Failure::usage)?,
                folder: planned.data().to_path_buf(),
            },
            servers: servers(planned)?,
            not_measured: &planned.not_measured,
            notes: elsewhere(planned),
        })
    }

    fn text(&self) -> String {
        let mut text = self.title();
        text.push('\n');
        let widest = self.trials.iter().map(|trial| trial.label.chars().count());
        let width = widest.max().unwrap_or(0).clamp(5, WIDTH - 30);
        let _ = writeln!(text, "        {:<width$}  repetition      time", "trial");
        for (number, trial) in self.trials.iter().enumerate() {
            let _ = writeln!(
                text,
                "  {:>4}  {:<width$}  {:>10}  {:>8}",
                number + 1,
                cut(&trial.label, width),
                trial.repetition,
                span(trial.seconds)
            );
        }
        text.push('\n');
        paragraph(&mut text, "time", &self.time());
        paragraph(&mut text, "disk", &self.disk.text());
        paragraph(&mut text, "servers", &self.servers());
        for NotMeasured { implementation, reason } in self.not_measured {
            paragraph(&mut text, "left out", &format!("{implementation}: {reason}"));
        }
        for note in &self.notes {
            paragraph(&mut text, "note", note);
        }
        text.push_str("\nNothing was started, written or measured. Leave out --dry-run to measure.\n");
        text
    }

    fn title(&self) -> String {
        let trials = match self.trials.len() {
            1 => "1 trial".to_owned(),
            several => format!("{several} trials"),
        };
        let title = format!("{} · {} · {trials} · about {}", self.title, self.scale, span(self.seconds));
        wrap(&title, WIDTH).join("\n") + "\n"
    }

    fn time(&self) -> String {
        let expected = format!("about {}", span(self.seconds));
        if self.most_seconds > self.seconds * 1.1 {
            let most = span(self.most_seconds);
            return format!("{expected}; up to {most} if other programs disturb the trials");
        }
        expected
    }

    fn servers(&self) -> String {
        if self.servers.is_empty() {
            return "none is started".to_owned();
        }
        let named: Vec<String> = self.servers.iter().map(Server::text).collect();
        format!("{}; one at a time", named.join(", "))
    }
}

impl Server {
    fn text(&self) -> String {
        let mut text = self.title.clone();
        if let (Some(version), Some(origin)) = (&self.version, &self.origin) {
            let _ = write!(text, " {version} ({origin})");
        }
        if let Some(host) = &self.host {
            let _ = write!(text, " on {host}");
        }
        text
    }
}

impl Disk {
    fn text(&self) -> String {
        let folder = self.folder.display();
        let (most, free) = (size(self.most_bytes), size(self.free_bytes));
        if self.most_bytes > self.free_bytes {
            return format!(
                "at most {most} in {folder}, where only {free} are free; choose another disk with --data"
            );
        }
        format!("at most {most} in {folder}; {free} are free")
    }
}

/// The trials of a case, in their order.
fn trials(planned: &Planned<'_>, plan: &RunPlan, scheduled: &ScheduledCase) -> Vec<ShownTrial> {
    let (case, estimate) = (&planned.cases[scheduled.case], &plan.cases[scheduled.case]);
    let sides: Vec<Side> = estimate.trials.iter().map(|trial| trial.side).collect();
    let order = in_turn(planned.protocol, &sides, scheduled.repetition);
    let shown = order.into_iter().enumerate().map(|(place, number)| {
        let trial = &estimate.trials[number];
        let server = if place == 0 { estimate.server_seconds } else { 0.0 };
        ShownTrial {
            label: trial.label.clone(),
            store: case.choice.store.description().name,
            layout: case.layout_name.clone(),
            strategy: trial.strategy.clone(),
            repetition: scheduled.repetition + 1,
            seconds: trial.seconds + server,
        }
    });
    shown.collect()
}

/// The servers that would be started.
fn servers(planned: &Planned<'_>) -> Result<Vec<Server>, Failure> {
    let mut servers = BTreeSet::new();
    for case in &planned.cases {
        let description = case.choice.store.description();
        if description.embedded || case.choice.url.is_some() {
            continue;
        }
        if let Some(launcher) = planned.hosts.server() {
            let host = launcher.host().unwrap_or("another host");
            servers.insert(Server {
                title: description.title,
                version: None,
                origin: None,
                host: Some(host.to_owned()),
            });
            continue;
        }
        let found = case.choice.store.installation()?;
        servers.insert(Server {
            title: description.title,
            version: Some(found.version),
            origin: Some(found.origin),
            host: None,
        });
    }
    Ok(servers.into_iter().collect())
}

/// That servers are started on another host, where they are.
fn elsewhere(planned: &Planned<'_>) -> Vec<String> {
    let launcher = planned.hosts.server().into_iter();
    let host = launcher.filter_map(Launcher::host);
    host.map(|host| format!("servers are started on {host}, on its disk")).collect()
}

/// A heading, and what belongs to it beside it.
fn paragraph(text: &mut String, heading: &str, body: &str) {
    for (number, line) in wrap(body, WIDTH - INDENT).into_iter().enumerate() {
        let heading = if number == 0 { heading } else { "" };
        let _ = writeln!(text, "  {heading:<10}  {line}");
    }
}

/// A number of bytes in words.
fn size(bytes: u64) -> String {
    let megabytes = bytes.div_ceil(1_000_000);
    match megabytes {
        0..=999 => format!("{megabytes} MB"),
        1_000..=99_999 => format!("{:.1} GB", megabytes as f64 / 1e3),
        _ => format!("{} GB", megabytes / 1_000),
    }
}

/// The text, its end left out where it is longer.
fn cut(text: &str, most: usize) -> String {
    if text.chars().count() <= most {
        return text.to_owned();
    }
    let kept: String = text.chars().take(most - 1).collect();
    kept + "…"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_rounded_up_to_what_people_say() {
        assert_eq!(size(1), "1 MB");
        assert_eq!(size(42_000_000), "42 MB");
        assert_eq!(size(1_540_000_000), "1.5 GB");
        assert_eq!(size(300_000_000_000), "300 GB");
    }

    #[test]
    fn a_folder_that_is_not_there_lies_on_the_disk_of_the_one_above() {
        assert_eq!(nearest(Path::new("/proc/not/there")), Path::new("/proc"));
        assert_eq!(nearest(Path::new("/")), Path::new("/"));
    }

    #[test]
    fn what_is_long_is_cut_and_what_is_beside_a_heading_wraps() {
        assert_eq!(cut("abcdef", 6), "abcdef");
        assert_eq!(cut("abcdef", 4), "abc…");
        let mut text = String::new();
        paragraph(&mut text, "note", &"word ".repeat(30));
        assert!(text.lines().count() > 1);
        assert!(text.lines().all(|line| line.chars().count() <= WIDTH), "{text}");
    }
}
