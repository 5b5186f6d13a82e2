//! The report: from a results folder to verdicts, an answer, a ranking and tables, in four formats.
//!
//! Everything is derived from the raw records, again each time: the same folder and options give the same report, on any machine. Reading the folder is the
//! only I/O. The flow:
//!
//! - [`field`] sorts trials into implementations and repetitions.
//! - [`costs`] takes what each costs.
//! - [`ranking`] compares and ranks.
//! - `sections` say it all in one [`tables::Document`]. [`Report`] has that, with the trials and the ranking.
//! - [`text`], [`json`], [`csv`] and [`markdown`] draw that.
//! - [`size`] counts the readings that were measured.
//! - [`summary`] holds what all of it comes to, and [`brief`] draws that.
#![cfg_attr(
    not(test),
    deny(
        clippy::print_stdout,
        clippy::print_stderr,
        reason = "these macros panic where the write fails; what is said goes through the command's module output"
    )
)]

pub mod brief;
mod by_label;
mod claims;
pub mod clean;
pub mod collection;
pub mod compare;
mod contest;
pub mod costs;
pub mod criteria;
pub mod csv;
mod disturbed;
pub mod durability;
pub mod field;
mod forest;
pub mod html;
pub mod json;
mod keeping_up;
mod life;
mod lifecycle;
pub mod markdown;
pub mod number;
pub mod options;
mod prelude;
pub mod prices;
pub mod ranking;
pub mod raw;
pub mod requirements;
mod run_report;
mod sections;
mod shell;
pub mod size;
pub mod statements;
pub mod studies;
pub mod summary;
pub mod tables;
#[cfg(test)]
pub(crate) mod tests;
pub mod text;
pub mod tidy;
mod timed;
pub mod wrapping;

pub use options::{Projection, ReportOptions};
pub use run_report::Report;
use sensormark_engine::scale::Scale;
use sensormark_result::measurement::folder::ResultsFolder;
pub use shell::quoted;

/// Repetitions that are advised where an order is not tested.
const FIRM_REPETITIONS: u32 = 5;
/// What the scale `firm` takes for each database, in seconds: two take about ten minutes.
const FIRM_SECONDS_A_STORE: f64 = 300.0;

/// The words of a command without this option where its value is so, and without the tolerance of disturbances.
fn without(line: &[String], option: &str, is: impl Fn(&str) -> bool) -> Vec<String> {
    let mut own: Vec<String> = vec![];
    for word in line {
        if is(word) && own.last().is_some_and(|last| last == option) {
            own.pop();
        } else if word != "--tolerate-disturbance" {
            own.push(quoted(word));
        }
    }
    own
}

impl Report {
    /// For programs; see [`json`].
    pub fn json(&self) -> String {
        json::render_with(self.document(), Some(self.summary()))
    }

    /// One page that explains itself; see [`html`].
    pub fn html(&self, folder: Option<&ResultsFolder>) -> String {
        html::render(&[(self, folder)])
    }

    /// The command that measures the same again, so that the order can be tested, with the time that it takes; none where it was tested.
    pub fn firmer(&self) -> Option<String> {
        let run = &self.field().run;
        let summary = self.summary();
        let is_firm = summary.certainty == summary::Certainty::Firm;
        // A load of several hosts has as many commands.
        if is_firm || run.command_line.is_empty() || run.shard.1 > 1 {
            return None;
        }
        if let Some(firm) = self.at_scale_firm(summary.stores.len()) {
            return Some(firm);
        }
        let mut own = without(&run.command_line, "--set", |word| word.starts_with("repetitions="));
        if summary.states.disturbed > 0 && !own.iter().any(|word| word == "--strict") {
            own.push("--strict".to_owned());
        }
        let long = match summary.seconds {
            Some(seconds) => {
                let once = seconds / summary.repetitions.max(1) as f64;
                format!("   # about {}", brief::span(once * f64::from(FIRM_REPETITIONS)))
            }
            None => String::new(),
        };
        Some(format!("sensormark {} --set repetitions={FIRM_REPETITIONS}{long}", own.join(" ")))
    }

    /// The command of a quick run with nothing set at the scale that decides, which is made for such a run; none of any other run.
    fn at_scale_firm(&self, stores: usize) -> Option<String> {
        let run = &self.field().run;
        let line = &run.command_line;
        let is_plain = line.first().is_some_and(|command| command == "run")
            && !line.iter().any(|word| word.starts_with("--set") || word == "--find-limit");
        if !is_plain || run.scale != Scale::Quick.name() {
            return None;
        }
        let mut own = without(line, "--scale", |word| word == Scale::Quick.name());
        own.retain(|word| !word.starts_with("--scale="));
        let long = brief::span(FIRM_SECONDS_A_STORE * stores.max(1) as f64);
        let (own, scale) = (own.join(" "), Scale::Firm.name());
        Some(format!("sensormark {own} --scale {scale}   # about {long}"))
    }
}
