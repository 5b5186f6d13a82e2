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

/// Late readings come up to so many intervals late.
const LATE_TICKS: i64 = 5;
/// Windows of a dashboard's curve.
const WINDOWS: i64 = 12;
/// A number swings in so many intervals at least.
const LEAST_SWING: i64 = 30;
/// Intervals that an alert looks back.
const ALERT_TICKS: i64 = 6;
/// Questions of a kind in a second.
const QUESTIONS_A_SECOND: u64 = 50;
/// The most readings of a write.
const LARGEST_BATCH: u64 = 1_000;
/// A batch is to be empty no more often than this, because readings are late.
const EMPTY: f64 = 1e-6;

impl Answers {
    /// The file of this title, with remarks on where the answers are from.
    pub fn file(&self, title: &str, remarks: &[String]) -> String {
        let title = title.replace(['"', '\\'], "").replace(char::is_control, "");
        let fitted = self.fitted();
        let is_whole = fitted == *self;
        [
            fitted.head(&title, remarks),
            fitted.limits(is_whole),
            fitted.series(),
            fitted.life(is_whole),
            fitted.tags_and_fields(),
            fitted.load(),
            fitted.queries(),
        ]
        .concat()
    }

    fn head(&self, title: &str, remarks: &[String]) -> String {
        let stores = quoted(self.stores.iter().map(String::as_str));
        let remarks = remarks.iter().map(|remark| format!("# {}\n", remark.replace(char::is_control, " ")));
        let remarks: String = remarks.collect();
        let mut text = format!(
            "# What sensormark init was told. Change what you like, then: sensormark run FILE\n\
             # docs/reference/workload-file.md describes every key; a wrong one is refused with its line and the nearest right word.\n{remarks}\n\
             name = \"{title}\"\n"
        );
        let is_life = self.means.is_some();
        if !is_life {
            text += &commented(
                &format!("keep = \"{}\"", self.keep),
                "how long data are kept: the answer is for so much",
            );
        }
        text += &commented("repetitions = 1", "3 or more for intervals in the ranking");
        text +=
            &commented(&format!("stores = [{stores}]"), "the databases that come into question; --on wins");
        let (layouts, why) = match is_life {
            true => ("\"individual\"", "a row a reading"),
            false => ("\"individual\", \"bulk\"", "a row a reading; a record for a span of readings"),
        };
        text += &commented(&format!("layouts = [{layouts}]"), why);
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
    fn limits(&self, is_whole: bool) -> String {
        let mut text = String::from(
            "\n# The requirements. The answer says which layouts meet all of them, and what the others miss.\nlimits = [\n",
        );
        let rate = number(self.writing_rate());
        let mut limit = |limit: &str, comment: &str| {
            text += &commented(&format!("    \"{limit}\","), comment);
        };
        let keeps_up = format!("writes keep up with {rate} readings a second");
        let is_life = self.means.is_some();
        if !is_life {
            limit("not started of writers = 0", &keeps_up);
        }
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
        if !is_life {
            limit(
                &format!("headroom >= {}", number(self.headroom)),
                "times today's rate; run --find-limit alone looks for it",
            );
        }
        if is_whole {
            limit(&format!("{DISK_FOR} {} <= {}", self.keep, self.disk.text), "at today's rate");
        }
        limit(
            &format!("memory <= {}", self.memory.text),
            "the database's processes, at the end of any phase",
        );
        text + "]\n"
    }

    /// A length of so many intervals.
    fn intervals(&self, ticks: i64) -> String {
        length_text(self.interval_ns.saturating_mul(ticks))
    }

    /// Intervals of the longest swing of a number: about as many as questions look back, so that they see it move.
    const fn swing_ticks(&self) -> i64 {
        let ticks = self.reach_ns / self.interval_ns;
        if ticks < LEAST_SWING { LEAST_SWING } else { ticks }
    }

    fn series(&self) -> String {
        let mut text = String::from("\n[series]\n");
        text += &commented(&format!("count = {}", self.sensors), "sensors");
        text += &commented(
            &format!("interval = \"{}\"", length_text(self.interval_ns)),
            "from reading to reading of one sensor",
        );
        if self.late > 0.0 {
            text += &commented(&format!("late = {}", self.late), "share that comes out of order ...");
            let by = match self.late_by_ns {
                Some(by_ns) => length_text(by_ns.max(self.interval_ns)),
                None => self.intervals(LATE_TICKS),
            };
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
        let period = self.intervals(self.swing_ticks());
        let hold = self.intervals(10);
        for measure in &self.measures {
            text += &measure.table(&period, &hold);
        }
        text
    }

    fn load(&self) -> String {
        let rate = self.writing_rate();
        let absent = self.late;
        let least = if absent > 0.0 { round_u64((EMPTY.ln() / absent.ln()).ceil()).max(1) } else { 1 };
        let batch = self.write_size.unwrap_or_else(|| round_u64(rate).clamp(1, LARGEST_BATCH)).max(least);
        let mut text = match self.means {
            None => {
                String::from(
                    "# The data is loaded in sizes, each four times the one before, as fast as the clients can.\n[load]\nclients = 2\n\n# At each size writers go on at the rate of the sensors, and questions are asked at the same time.\n[mixed]\n",
                ) + &commented("# duration = \"24s\"", "how long at each size; else the budget says it")
                    + &commented("warm_up = \"500ms\"", "queries alone, not counted")
            }
            Some(_) => "[mixed]\n".to_owned(),
        };
        text += &commented("check_one_in = 10", "one answer of so many is compared in full");
        text += "\n[writers]\nclients = 1\n";
        text += &commented(&format!("batch = {batch}"), "readings in a write");
        let why = self.means.map_or("; --find-limit begins here", |_| "");
        text + &commented(&format!("rate = {}", number(rate)), &format!("readings a second{why}"))
    }

    fn queries(&self) -> String {
        let reach = length_text(self.reach_ns);
        let window = self.interval_ns * (self.reach_ns / WINDOWS / self.interval_ns).max(1);
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
                        + &format!("of = \"one\"\nspan = \"{reach}\"\n")
                }
                Asked::Dashboards => {
                    let (span, window) = (length_text(window * WINDOWS), length_text(window));
                    commented("kind = \"window mean\"", "a curve over all sensors of a site")
                        + &format!(
                            "field = \"{}\"\nof = \"site\"\nspan = \"{span}\"\nwindow = \"{window}\"\nwhen = \"latest\"\n",
                            self.number().map_or("", Measure::name)
                        )
                }
                Asked::Alerts => {
                    let span = self.intervals(ALERT_TICKS);
                    let field = self.wandering();
                    let above = field.map_or(0.0, |one| one.threshold(self.swing_ticks().unsigned_abs()));
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
