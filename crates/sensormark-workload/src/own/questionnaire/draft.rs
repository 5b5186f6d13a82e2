//! The workload file that answers make: commented TOML, whose limits are the requirements.
//!
//! What nobody was asked is chosen here: how much is loaded, how often questions are asked, how many readings a write has. The file says so beside each number.

use super::answers::{Answers, Asked, Loss};
use super::measure::Measure;
use super::text::{commented, number};
use crate::own::limit::DISK_FOR;
use sensormark_data::quantity::{length_text, size_text};
use sensormark_data::units::round_u64;
use std::fmt::Write;

/// Readings that are loaded, at most; more only where few intervals would be left.
const LOADED: u64 = 200_000;
/// How many intervals the loaded data may span, the least first.
const TICKS: [u64; 10] = [30, 60, 120, 200, 300, 600, 900, 1_200, 1_800, 3_600];
/// Late readings come up to so many intervals late.
const LATE_TICKS: i64 = 5;
/// Readings of one sensor that a question about its history has, at most.
const HISTORY_TICKS: u64 = 1_000;
/// Windows of a dashboard's curve.
const WINDOWS: u64 = 12;
/// Intervals that an alert looks back.
const ALERT_TICKS: i64 = 6;
/// Questions of a kind in a second, and how long they are asked: a 99th percentile takes 1,000 answers.
const QUESTIONS_A_SECOND: u64 = 50;
const MIXED_SECONDS: u64 = 24;
/// The most readings of a write.
const LARGEST_BATCH: u64 = 1_000;
/// A batch is to be empty no more often than this, because readings are late.
const EMPTY: f64 = 1e-6;

impl Answers {
    /// The file of this title.
    pub fn file(&self, title: &str) -> String {
        let title = title.replace(['"', '\\'], "").replace(char::is_control, "");
        [self.head(&title), self.limits(), self.series(), self.tags_and_fields(), self.load(), self.queries()]
            .concat()
    }

    fn head(&self, title: &str) -> String {
        let stores = quoted(self.stores.iter().map(String::as_str));
        let mut text = format!(
            "# What sensormark init was told. Change what you like, then: sensormark run FILE --find-limit\n\
             # docs/reference/workload-file.md describes every key; a wrong one is refused with its line and the nearest right word.\n\n\
             name = \"{title}\"\n"
        );
        text += &commented("repetitions = 1", "3 or more for intervals in the ranking");
        text +=
            &commented(&format!("stores = [{stores}]"), "the databases that come into question; --on wins");
        text += &commented(
            "layouts = [\"individual\", \"bulk\"]",
            "a row a reading; a record for a span of readings",
        );
        text += &commented(
            &format!("durability = \"{}\"", self.loss.durability().text()),
            "what an acknowledged write promises; --durability wins",
        );
        let half = size_text(self.memory.bytes / 2.0);
        text += &commented(
            &format!("server_memory = \"{half}\""),
            "for caches and heaps of a server; --server-memory wins",
        );
        text
    }

    /// What must hold.
    fn limits(&self) -> String {
        let mut text = String::from(
            "\n# The requirements. The answer says which layouts meet all of them, and what the others miss.\nlimits = [\n",
        );
        let rate = number(self.readings_per_second());
        let mut limit = |limit: &str, comment: &str| {
            text += &commented(&format!("    \"{limit}\","), comment);
        };
        let keeps_up = format!("writes keep up with {rate} readings a second");
        limit("not started of writers = 0", &keeps_up);
        let lost = match &self.loss {
            Loss::Share(share) => format!("lost <= {share}"),
            _ => "lost = 0".to_owned(),
        };
        limit(&lost, "acknowledged readings that are not stored");
        limit("wrong answers = 0", "each answer is compared with the right one");
        limit("errors < 1 %", "operations that failed");
        let within = &self.within;
        for asked in &self.asked {
            let name = asked.name();
            limit(&format!("p99 of {name} <= {within}"), "99 of 100 answers come within this");
        }
        limit(
            &format!("headroom >= {}", number(self.headroom)),
            "times today's rate; run --find-limit alone looks for it",
        );
        limit(&format!("{DISK_FOR} {} <= {}", self.keep, self.disk.text), "at today's rate");
        limit(
            &format!("memory <= {}", self.memory.text),
            "the database's processes, at the end of any phase",
        );
        text + "]\n"
    }

    /// Intervals that the loaded data spans.
    fn ticks(&self) -> u64 {
        let most = LOADED / u64::from(self.sensors.max(1));
        let fitting = TICKS.iter().rev().find(|ticks| **ticks <= most);
        fitting.copied().unwrap_or(TICKS[0])
    }

    /// A length of so many intervals.
    fn intervals(&self, ticks: u64) -> String {
        let ticks = i64::try_from(ticks).unwrap_or(i64::MAX);
        length_text(self.interval_ns.saturating_mul(ticks))
    }

    fn series(&self) -> String {
        let ticks = self.ticks();
        let mut text = String::from("\n[series]\n");
        text += &commented(&format!("count = {}", self.sensors), "sensors");
        text += &commented(
            &format!("interval = \"{}\"", length_text(self.interval_ns)),
            "from reading to reading of one sensor",
        );
        let loaded = format!("of data that is loaded first: {ticks} readings a sensor");
        text += &commented(&format!("duration = \"{}\"", self.intervals(ticks)), &loaded);
        if self.late > 0.0 {
            text += &commented(&format!("late = {}", self.late), "share that comes out of order ...");
            let by = length_text(self.interval_ns.saturating_mul(LATE_TICKS));
            text += &commented(&format!("late_by = \"{by}\""), "... at most this much");
        }
        if self.repeated > 0.0 {
            text += &commented(&format!("repeated = {}", self.repeated), "share that is sent twice");
        }
        text
    }

    fn tags_and_fields(&self) -> String {
        let sites = (self.sensors / 10).clamp(1, 20);
        let mut text = String::from(
            "\n# What tells sensors apart. Without `values`, each has its own.\n[[tags]]\nname = \"sensor\"\n\n[[tags]]\nname = \"site\"\n",
        );
        text += &commented(&format!("values = {sites}"), "sites, each with its share of the sensors");
        text += "\n# What a reading holds.\n";
        let period = self.intervals(self.ticks() / 2);
        let hold = self.intervals(10);
        for measure in &self.measures {
            text += &measure.table(&period, &hold);
        }
        text
    }

    fn load(&self) -> String {
        let rate = self.readings_per_second().max(0.001);
        let absent = self.late;
        let least = if absent > 0.0 { round_u64((EMPTY.ln() / absent.ln()).ceil()).max(1) } else { 1 };
        let batch = round_u64(rate).clamp(1, LARGEST_BATCH).max(least);
        let mut text =
            String::from("# First the data is loaded, as fast as the clients can.\n[load]\nclients = 2\n\n");
        text += "# Then writers go on at the rate of the sensors, and questions are asked at the same time.\n[mixed]\n";
        let seconds = format!(
            "{QUESTIONS_A_SECOND} questions a second are {} answers, enough for a 99th percentile",
            grouped(QUESTIONS_A_SECOND * MIXED_SECONDS)
        );
        text += &commented(&format!("duration = \"{MIXED_SECONDS}s\""), &seconds);
        text += &commented("warm_up = \"2s\"", "queries alone, not counted");
        text += &commented("check_one_in = 10", "one answer of so many is compared in full");
        text += "\n[writers]\nclients = 1\n";
        text += &commented(&format!("batch = {batch}"), "readings in a write: those of about a second");
        text +=
            &commented(&format!("rate = {}", number(rate)), "readings a second; --find-limit begins here");
        text
    }

    fn queries(&self) -> String {
        let ticks = self.ticks();
        let history = self.intervals((ticks / 2).min(HISTORY_TICKS));
        let window = (ticks / (10 * WINDOWS)).max(1);
        let mut text = String::new();
        for asked in &self.asked {
            let _ = write!(text, "\n[[queries]]\nname = \"{}\"\n", asked.name());
            text += &match asked {
                Asked::Live => {
                    commented("kind = \"last value\"", "of each sensor of a site")
                        + "of = \"site\"\nwhen = \"latest\"\n"
                }
                Asked::History => {
                    commented("kind = \"range\"", "all readings of one sensor")
                        + &format!("of = \"one\"\nspan = \"{history}\"\n")
                }
                Asked::Dashboards => {
                    let (span, window) = (self.intervals(window * WINDOWS), self.intervals(window));
                    commented("kind = \"window mean\"", "a curve over all sensors of a site")
                        + &format!(
                            "field = \"{}\"\nof = \"site\"\nspan = \"{span}\"\nwindow = \"{window}\"\nwhen = \"latest\"\n",
                            self.number().map_or("", Measure::name)
                        )
                }
                Asked::Alerts => {
                    let span = length_text(self.interval_ns.saturating_mul(ALERT_TICKS));
                    let field = self.wandering();
                    let above = field.map_or(0.0, |one| one.threshold(ticks));
                    commented("kind = \"matching\"", "which sensors passed a threshold lately")
                        + &format!(
                            "field = \"{}\"\nabove = {above:?}\nspan = \"{span}\"\nwhen = \"latest\"\n",
                            field.map_or("", Measure::name)
                        )
                }
            };
            text += "clients = 4\n";
            text += &commented(&format!("rate = {QUESTIONS_A_SECOND}"), "a second, of all clients");
        }
        text
    }

    /// The first measure that is a number.
    fn number(&self) -> Option<&Measure> {
        self.measures.iter().find(|one| one.is_number())
    }

    /// The first that goes up and down, or any number.
    fn wandering(&self) -> Option<&Measure> {
        let wanders = self.measures.iter().find(|one| one.wanders());
        wanders.or_else(|| self.number())
    }
}

fn quoted<'a>(names: impl Iterator<Item = &'a str>) -> String {
    let quoted: Vec<String> = names.map(|name| toml::Value::from(name).to_string()).collect();
    quoted.join(", ")
}

fn grouped(count: u64) -> String {
    sensormark_data::number::fixed(count as f64, 0)
}
