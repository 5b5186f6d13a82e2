//! `[[dashboards]]`: people who watch panels. A panel is a query. All panels of a dashboard ask at the same instants, because their rates are the same and
//! every rate of a phase begins with the phase.

use super::error::FileError;
use super::form::{At, File, Length, Text, Whole};
use super::source::Source;
use super::tables::number;
use crate::own::parameters::Parameters;
use sensormark_data::units::round_u64;
use serde::{Deserialize, Serialize};

/// What a panel's people share at most, as the pool of a dashboard's server does: questions wait for a connection, and their latency says so.
const CONNECTIONS: u32 = 10;

/// A dashboard as a workload has it: queries that people watch.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DashboardPart {
    /// Its name.
    pub name: String,
    /// Names of queries.
    pub panels: Vec<String>,
    /// How often a panel asks while one person watches.
    pub refresh_ns: i64,
    /// Who watch.
    pub users: u32,
}

/// A dashboard.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Dashboard {
    pub name: Text,
    /// Names of queries.
    pub panels: At<Vec<Text>>,
    /// How often a panel asks while one person watches.
    pub refresh: At<Length>,
    /// Who watch.
    pub users: Whole<100_000>,
}

/// Gives each panel the rate of those who watch it; and the dashboards.
///
/// # Errors
/// A panel that is no query, or has a rate or clients besides.
pub fn spread(source: &Source<'_>, file: &mut File) -> Result<Vec<DashboardPart>, FileError> {
    let File { dashboards, queries, .. } = file;
    let known: Vec<String> = queries.iter().map(|query| query.name.value.clone()).collect();
    for dashboard in dashboards.iter() {
        let seconds = dashboard.refresh.0 as f64 / 1e9;
        if dashboard.panels.is_empty() || seconds <= 0.0 {
            let message = format!(
                "the dashboard {:?} needs panels, which are names of queries, and a time over 0 from one refresh to the next",
                dashboard.name.value
            );
            return Err(source.error(dashboard, &message));
        }
        for panel in &dashboard.panels.value {
            number(source, "query", &known, Some(panel), panel)?;
            for query in queries.iter_mut().filter(|query| query.name.value == panel.value) {
                if query.rate.is_some() || query.clients.is_some() {
                    let message = "a panel is on one dashboard, which says its rate and clients; leave them out of the query";
                    return Err(source.error(panel, message));
                }
                let rate = f64::from(dashboard.users.0) / seconds;
                query.value.rate = Some(At { value: rate, place: dashboard.refresh.place.clone() });
                query.value.clients = Some(Whole(dashboard.users.0.min(CONNECTIONS)));
            }
        }
    }
    let part = |dashboard: &At<Dashboard>| DashboardPart {
        name: dashboard.name.value.clone(),
        panels: dashboard.panels.iter().map(|panel| panel.value.clone()).collect(),
        refresh_ns: dashboard.refresh.0,
        users: dashboard.users.0,
    };
    Ok(dashboards.iter().map(part).collect())
}

impl Parameters {
    /// How many people watch dashboards.
    pub fn users(&self) -> f64 {
        self.dashboards.iter().map(|dashboard| f64::from(dashboard.users)).sum()
    }

    /// Lets so many times the people watch each dashboard.
    pub fn watch(&mut self, times: f64) {
        for dashboard in &self.dashboards {
            let users = f64::from(dashboard.users) * times;
            let clients = u32::try_from(round_u64(users.ceil())).unwrap_or(CONNECTIONS);
            let queries = self.phases.iter_mut().flat_map(|phase| &mut phase.queries);
            for query in queries.filter(|query| dashboard.panels.contains(&query.name)) {
                query.rate = Some(users * 1e9 / dashboard.refresh_ns as f64);
                query.clients = clients.clamp(1, CONNECTIONS);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::parse;
    use crate::own::parameters::Parameters;
    use std::path::Path;

    const FILE: &str = r#"
[series]
count = 10
interval = "1s"
duration = "1m"
[[fields]]
name = "value"
shape = "walk"
min = 0
max = 1
period = "10s"
[mixed]
duration = "5s"
[[queries]]
name = "now"
kind = "last value"
[[queries]]
name = "hour"
kind = "mean"
span = "30s"
[[dashboards]]
name = "hall"
panels = ["now", "hour"]
refresh = "10s"
users = 50
"#;

    fn read(text: &str, settings: &[&str]) -> Result<Parameters, String> {
        let settings: Vec<String> = settings.iter().map(|one| (*one).to_owned()).collect();
        let read = parse(text, "own.toml", Path::new(""), &settings, &|_| Ok(()));
        read.map_err(|error| error.to_string())
    }

    /// Fifty people who each refresh every ten seconds are five questions a second, of each panel.
    #[test]
    fn panels_have_the_rate_of_those_who_watch() {
        let rates = |settings: &[&str]| -> Vec<(Option<f64>, u32)> {
            let phases = read(FILE, settings).expect("a file").phases;
            let queries = phases.iter().flat_map(|phase| &phase.queries);
            queries.map(|query| (query.rate, query.clients)).collect()
        };
        assert_eq!(rates(&[]), [(Some(5.0), 10), (Some(5.0), 10)]);
        assert_eq!(rates(&["dashboards.hall.users=5"]), [(Some(0.5), 5), (Some(0.5), 5)]);
    }

    /// A hundred people watch as the file would let them, had it said so.
    #[test]
    fn more_people_watch_at_a_higher_rate() {
        let mut own = read(FILE, &[]).expect("a file");
        assert_eq!(own.users(), 50.0);
        own.watch(2.0);
        let said = read(FILE, &["dashboards.hall.users=100"]).expect("a file");
        assert_eq!(own.phases, said.phases);
        own.watch(0.04);
        assert_eq!((own.phases[1].queries[0].rate, own.phases[1].queries[0].clients), (Some(0.2), 2));
    }

    #[test]
    fn a_wrong_dashboard_gets_one_message_with_its_line() {
        for (from, to, message) in [
            ("\"now\", \"hour\"", "\"now\", \"hours\"", "own.toml:23: dashboards.hall: there is no query"),
            ("\"now\", \"hour\"", "", "needs panels"),
            ("span = \"30s\"", "span = \"30s\"\nrate = 1", "leave them out of the query"),
            ("\"now\", \"hour\"", "\"now\", \"now\"", "a panel is on one dashboard"),
            ("users = 50", "users = 0", "users must be a whole number"),
            ("refresh = \"10s\"", "refresh = 10", "refresh is a length of time"),
            ("refresh = \"10s\"", "refresh = \"1h\"\ncolour = 1", "colour"),
        ] {
            let error = read(&FILE.replace(from, to), &[]).expect_err(to);
            assert!(error.contains(message), "{to}: {error}");
        }
    }

    /// Their 90 days are 777,600,000 readings.
    #[test]
    fn in_proportion_is_the_first_size_that_foretells_yours() {
        const GREENHOUSE: &str = include_str!("../../../../../docs/how-to/greenhouse.toml");
        let text = GREENHOUSE.replace("when = \"latest\"", "when = \"anywhere\"");
        let mut own = read(&text, &[]).expect("a file");
        assert!(!own.your_size().expect("it is kept").old.is_empty());
        let all = own.phases.len();
        assert_eq!(own.measure_in_proportion(), Ok(1.0 / 16.0));
        let sizes: Vec<u64> = own.phases.iter().filter_map(|phase| phase.size).collect();
        assert_eq!(sizes.last(), Some(&48_600_000));
        assert!(own.phases.len() < all && !own.phases.last().expect("a phase").queries.is_empty());
        // As much of the data lies on disk as of theirs.
        assert!(own.your_size().expect("it is kept").old.is_empty());
        let mut endless = read(GREENHOUSE, &[]).expect("a file");
        endless.keep_ns = None;
        assert!(endless.measure_in_proportion().expect_err("no size").contains("keep"));
    }

    /// A panel that reaches an hour back was asked by no probe, and so each of them "missed" its limit.
    #[test]
    fn a_search_asks_every_panel_and_judges_none_that_it_cannot_ask() {
        const GREENHOUSE: &str = include_str!("../../../../../docs/how-to/greenhouse.toml");
        let probe = |day: &str| {
            let text = GREENHOUSE.replace("span = \"1h\"", &format!("span = \"{day}\""));
            let all = read(&text, &[]).expect("a file");
            let one = all.at_one_size();
            let words = all.words_of_probes(&one).expect("it grows");
            let queries = one.phases.iter().flat_map(|phase| &phase.queries);
            let asked: Vec<String> = queries.map(|query| query.name.clone()).collect();
            let is_judged = one.limits.iter().any(|limit| limit.of.as_deref() == Some("day"));
            (asked.join(" "), is_judged, words)
        };
        let told = |asked: &str, is_judged, words: &str| (asked.to_owned(), is_judged, words.to_owned());
        let hour = "with 759,300 readings stored";
        assert_eq!(probe("1h"), told("live day hot", true, hour));
        let day = "with 189,800 readings stored; max of day <= 2 s is not asked there";
        assert_eq!(probe("1d"), told("live hot", false, day));
    }
}
