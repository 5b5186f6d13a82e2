//! `churn` of a workload file: how many series a table has in all, when some of them end and others begin.

use super::parameters::{Parameters, PhasePart, SeriesPart, WritersPart};
use sensormark_data::shapes::churn::Churn;
use sensormark_data::units::round_u64;

/// The most series that a table may have in all.
const MOST_SERIES: u64 = 10_000_000;
/// The most that may be said of a day.
const MOST_A_DAY: f64 = 1e6;
/// A series sends so many readings at least.
const LEAST_READINGS: u64 = 2;

impl SeriesPart {
    /// Which series report in so many ticks.
    pub fn churn_in(&self, ticks: u64) -> Churn {
        Churn::new(self.count, round_u64(self.churn * 1e6), self.interval_ns, ticks)
    }

    /// Checks that series live long enough to be seen, and that there are not too many in all.
    ///
    /// # Errors
    /// What is wrong, with both values.
    pub fn check_churn(&self) -> Result<(), String> {
        if !(0.0..=MOST_A_DAY).contains(&self.churn) {
            return Err("churn is the share of the series that end in a day, 0 or more: 0.05 is one in twenty, and with 2 a series lives for half a day".to_owned());
        }
        let churn = self.churn_in(self.ticks());
        let (life, all) = (churn.shortest_life(), churn.series_before(u64::MAX));
        if let Some(life) = life.filter(|life| *life < LEAST_READINGS) {
            return Err(format!(
                "churn is {} a day, so that a series lives {life} intervals, and {LEAST_READINGS} are the least; make churn or interval smaller",
                self.churn
            ));
        }
        if all > MOST_SERIES {
            return Err(format!(
                "churn is {} a day, which makes {all} series in all, and {MOST_SERIES} are the most; make churn, count or duration smaller",
                self.churn
            ));
        }
        Ok(())
    }
}

impl Parameters {
    /// Which series of a table report when. Series end and begin as long as it is known how far writers come: who writes as fast as it can
    /// goes on with the last ones.
    pub fn churn(&self, table: usize) -> Churn {
        let series = &self.tables[table].series;
        let sent = |(phase, part): (&PhasePart, &WritersPart)| {
            let turns = match (part.turns(series), part.rate, phase.duration_ns) {
                (Some(turns), ..) => return turns / u64::from(series.count),
                (None, Some(rate), Some(duration_ns)) => rate * duration_ns as f64 / 1e9,
                _ => 0.0,
            };
            round_u64((turns / f64::from(series.count)).ceil())
        };
        let phases = self.phases.iter();
        let writers = phases.flat_map(|phase| phase.writers.iter().map(move |part| (phase, part)));
        let ticks: u64 = writers.filter(|(_, part)| part.is_of(table)).map(sent).sum();
        series.churn_in(ticks.max(series.ticks()))
    }
}
