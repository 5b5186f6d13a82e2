//! What a search raises: the rate of the writers, or how many people watch the dashboards; and what must hold for it besides the file's limits.
//!
//! People are enough of a reason of their own: if the file limits no latency of a panel, its 99th percentile must be within the refresh. A percentile that few
//! people's questions leave open holds where even the slowest of them does, because the search begins with few.

use super::super::limit::{Comparison, Limit, What};
use super::super::parameters::Parameters;
use sensormark_data::quantity::length_text;
use sensormark_result::measurement::record::{LimitRecord, LoadRecord, TrialRecord};

/// What is looked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sought {
    /// The highest rate of the writers, in readings a second.
    Rate,
    /// The most people who watch.
    Users,
}

/// The figure of the most people who can watch.
pub const MOST_USERS: &str = "most_users";
/// The name of the figure.
pub const HIGHEST_RATE: &str = "highest_rate";
/// The line among the limits that says which rate it is.
pub const HIGHEST_RATE_LIMIT: &str = "highest rate that holds the limits";
/// The line among the limits that says how many people it is.
pub const MOST_USERS_LIMIT: &str = "most people whose panels hold the limits";

impl Sought {
    /// What is counted, after a number.
    pub(super) const fn counted(self) -> &'static str {
        match self {
            Self::Rate => "readings a second",
            Self::Users => "people who watch",
        }
    }

    /// What one probe is of.
    pub(super) const fn one(self) -> &'static str {
        match self {
            Self::Rate => "rate",
            Self::Users => "number",
        }
    }

    /// The name of the figure, and its unit.
    pub(super) const fn figure(self) -> (&'static str, &'static str) {
        match self {
            Self::Rate => (HIGHEST_RATE, "readings/s"),
            Self::Users => (MOST_USERS, "users"),
        }
    }

    /// The line among the limits that says which rate or number it is.
    pub(super) fn found(self, measured: Option<f64>, words: String, is_open: bool) -> LimitRecord {
        let (text, unit) = match self {
            Self::Rate => (HIGHEST_RATE_LIMIT, "1/s"),
            Self::Users => (MOST_USERS_LIMIT, "people"),
        };
        LimitRecord {
            text: text.to_owned(),
            measured,
            unit: unit.to_owned(),
            words,
            met: measured.is_some(),
            is_undecided: measured.is_none() && is_open,
            needs_readings: None,
        }
    }

    /// Where the search begins, and what must hold besides the file's limits.
    ///
    /// # Errors
    /// Why nothing can be raised, after the option's name.
    pub(super) fn begin(self, own: &mut Parameters) -> Result<f64, &'static str> {
        if self == Self::Rate {
            let writers = own.phases.iter().flat_map(|phase| &phase.writers);
            return match writers.filter(|writers| writers.rate.is_some()).count() {
                1 => Ok(own.readings_per_second()),
                0 => Err("looks for the highest rate of the writers; give them one: [writers] rate = 1000"),
                _ => Err("looks for one rate, and several groups of writers have one"),
            };
        }
        if own.dashboards.is_empty() {
            return Err(
                "users looks for how many people can watch, and the file has no dashboard: write [[dashboards]] with name, panels, refresh and users",
            );
        }
        for dashboard in &own.dashboards {
            for panel in &dashboard.panels {
                let is_its = |limit: &Limit| limit.what.is_latency() && limit.of.as_ref() == Some(panel);
                if !own.limits.iter().any(is_its) {
                    own.limits.push(within_refresh(panel, dashboard.refresh_ns));
                }
            }
        }
        Ok(own.users())
    }

    /// Puts another number in the place of the file's.
    pub(super) fn put(self, own: &mut Parameters, number: f64) {
        match self {
            Self::Rate => {
                let writers = own.phases.iter_mut().flat_map(|phase| &mut phase.writers);
                writers.filter_map(|writers| writers.rate.as_mut()).for_each(|rate| *rate = number);
            }
            Self::Users => own.watch(number / own.users()),
        }
    }
}

/// That a panel is drawn before it is asked for again.
fn within_refresh(panel: &str, refresh_ns: i64) -> Limit {
    Limit {
        text: format!("p99 of {panel} <= {}", length_text(refresh_ns)),
        what: What::P99,
        of: Some(panel.to_owned()),
        comparison: Comparison::AtMost,
        bound: refresh_ns as f64,
        kept_readings: None,
    }
}

/// What is looked for in this file.
#[derive(Clone, Copy)]
pub(super) struct Raised<'a> {
    pub sought: Sought,
    /// Whose limits these are.
    pub own: &'a Parameters,
}

impl Raised<'_> {
    /// That somebody could not keep up, in words: writers, or the panels of those who watch.
    pub fn behind(&self, record: &TrialRecord) -> Option<String> {
        let is_behind = |load: &&LoadRecord| match load.writes {
            true => load.fell_behind() > 0,
            // As many as have a connection may wait for it as the phase ends.
            false => self.is_panel(&load.name) && load.fell_behind() > load.clients.into(),
        };
        let load = record.loads.iter().find(is_behind)?;
        Some(format!("{} could not keep up: {}", load.name, load.not_started_words()))
    }

    fn is_panel(&self, name: &str) -> bool {
        let mut panels = self.own.dashboards.iter().flat_map(|dashboard| &dashboard.panels);
        self.sought == Sought::Users && panels.any(|panel| panel == name)
    }

    /// Whether a panel's percentile is open for too few questions, and even the slowest of them holds it.
    pub fn holds_by_slowest(&self, record: &TrialRecord, held: &LimitRecord) -> bool {
        let mut limits = self.own.limits.iter();
        let limit = limits.find(|limit| limit.text == held.text && limit.what.is_latency());
        let panel = limit.filter(|limit| limit.of.as_ref().is_some_and(|of| self.is_panel(of)));
        let slowest = panel.map(|limit| Limit { what: What::Slowest, ..limit.clone() });
        held.measured.is_none() && slowest.is_some_and(|slowest| slowest.hold(record, None).met)
    }
}

/// Whether a line says what was found, and is no limit of the file.
pub fn is_found(text: &str) -> bool {
    [HIGHEST_RATE_LIMIT, MOST_USERS_LIMIT].contains(&text)
}

/// Whether a line says what the file's own rate or number misses, besides the file's own limits.
pub fn is_of_needed(text: &str) -> bool {
    [Sought::Rate, Sought::Users].iter().any(|sought| text.ends_with(sought.counted()))
}
