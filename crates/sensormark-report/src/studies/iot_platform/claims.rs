//! The claims of the IoT-platform study.
//!
//! A claim of a factor ("halves", "3.5 times") holds where at least three quarters of the factor are reached, and each claim says so.

use super::printed::{MONGODB, WITHOUT_INDEX, YEAR};
use super::{Platform, ms};
use crate::claims::{Claim, Values, claim, has, is_less, is_within, ratios, shown, times};
use crate::field::Arm;
use sensormark_data::number::significant;
use sensormark_workload::iot_platform::PlatformQuery as Query;

/// So much of a claimed factor has to be reached.
const ENOUGH: f64 = 0.75;
/// What counts as as fast: no more than so many times the time.
const AS_FAST: f64 = 1.25;
/// Tenths of a second, in ms: under a second.
const TENTHS_MS: f64 = 1_000.0;

/// What it takes for a claimed factor to hold.
fn enough(claimed: f64) -> String {
    let least = significant(claimed * ENOUGH, 3);
    format!("{least} times or more (three quarters of {claimed})")
}

/// Whether the slow one takes about this many times as long as the fast one.
fn factor(slow: &Values, fast: &Values, factor: f64) -> (Option<bool>, String) {
    let held = is_less(&times(fast, factor * ENOUGH), slow);
    (held, format!("{} times", shown(&ratios(slow, fast))))
}

fn milliseconds(days: u64, one: &Values, other: &Values) -> String {
    format!("{days} d: {} against {} ms", shown(one), shown(other))
}

/// Who was compared, by their names here.
fn here(arms: &[&Arm]) -> String {
    let labels: Vec<&str> = arms.iter().map(|arm| arm.label.as_str()).collect();
    format!("here {}", labels.join(" and "))
}

impl Platform<'_> {
    /// All of them, in the order of the study.
    pub fn claims(&self) -> Vec<Claim> {
        let mut claims = vec![
            self.day_filter_halves(),
            self.index_helps(),
            self.grows_without_sums(),
            self.sums_match(),
            self.windows(),
            self.tenths(),
            self.faster_ranges(),
        ];
        claims.extend(self.faster_than_best());
        claims
    }

    fn day_filter_halves(&self) -> Claim {
        let text = "the coarse filter by day halves the time of a day's raw values (MongoDB)";
        claim(text, enough(2.0), |claim| {
            let arm = claim.needs(self.mongodb)?;
            let mut others = Vec::new();
            for days in self.spans(&[Query::RawWithoutDays]) {
                let of = |query| self.ms(arm, query, days);
                let (without, with) = (of(Query::RawWithoutDays), of(Query::Raw));
                let (held, text) = factor(&without, &with, 2.0);
                if days == 1 {
                    let words = milliseconds(days, &without, &with);
                    claim.part(held, format!("{text} ({words})"));
                } else if has(&without) {
                    others.push(format!("over {days} d {text}"));
                }
            }
            claim.missing_if_open("MongoDB bucketed over a day, with and without the filter");
            others.push(here(&[arm]));
            claim.aside(others.join(", "));
            Some(())
        })
    }

    fn index_helps(&self) -> Claim {
        let text = "the index makes MongoDB 2 to 3 times as fast, less as the span grows where nothing is pre-computed";
        let enough = enough(2.0);
        let holds =
            format!("from sums {enough}; from raw values less over the longest span than over the shortest");
        claim(text, holds, |claim| {
            let without = self.results.first_layout(MONGODB, &WITHOUT_INDEX[..2]);
            let (Some(with), Some(without)) = (self.indexed.1, without) else {
                claim.missing("MongoDB bucketed with and without the index");
                return None;
            };
            claim.about(with);
            claim.about(without);
            let both = |query, days| [without, with].map(|arm| self.ms(arm, query, days));
            for days in self.spans(&[Query::DailyMeansFromSums]) {
                let [slow, fast] = both(Query::DailyMeansFromSums, days);
                let (held, text) = factor(&slow, &fast, 2.0);
                if has(&slow) && has(&fast) {
                    claim.part(held, format!("daily means from sums, {days} d: {text}"));
                }
            }
            if let [first, .., last] = self.spans(&[Query::DailyMeans])[..] {
                let [early, late] = [first, last].map(|days| {
                    let [slow, fast] = both(Query::DailyMeans, days);
                    ratios(&slow, &fast)
                });
                if has(&early) && has(&late) {
                    let (one, other) = (shown(&early), shown(&late));
                    let text = format!("from raw values {one} times over {first} d, {other} over {last} d");
                    claim.part(is_less(&late, &early), text);
                }
            }
            claim.missing_if_open("MongoDB's daily means");
            Some(())
        })
    }

    fn grows_without_sums(&self) -> Claim {
        let text = "from raw values the cost of daily means grows with the values read, from sums very slowly (MongoDB)";
        claim(text, "from raw values it grows more than from sums", |claim| {
            let arm = claim.needs(self.mongodb)?;
            if let [first, .., last] = self.spans(&[Query::DailyMeansFromSums])[..] {
                let growth = |query| ratios(&self.ms(arm, query, last), &self.ms(arm, query, first));
                let (raw, sums) = (growth(Query::DailyMeans), growth(Query::DailyMeansFromSums));
                if has(&raw) && has(&sums) {
                    let (one, other) = (shown(&raw), shown(&sums));
                    let text = format!(
                        "from {first} d to {last} d: {one} times the time from raw values, {other} times from sums"
                    );
                    claim.part(is_less(&sums, &raw), text);
                }
            }
            claim.missing_if_open("MongoDB's daily means over several spans");
            claim.aside(here(&[arm]));
            Some(())
        })
    }

    fn sums_match(&self) -> Claim {
        let text = "with the index, MongoDB's daily means from pre-computed sums are as fast as InfluxDB's";
        let holds = format!("{AS_FAST} times InfluxDB's time or less");
        claim(text, holds, |claim| {
            let [mongodb, influxdb] = claim.needs_both(self.indexed, self.influxdb)?;
            for days in self.spans(&[Query::DailyMeansFromSums]) {
                let sums = self.ms(mongodb, Query::DailyMeansFromSums, days);
                let other = self.ms(influxdb, Query::DailyMeans, days);
                if has(&sums) && has(&other) {
                    let held = is_less(&sums, &times(&other, AS_FAST));
                    claim.part(held, milliseconds(days, &sums, &other));
                }
            }
            claim.missing_if_open("daily means of both");
            claim.aside(here(&[mongodb, influxdb]));
            Some(())
        })
    }

    fn windows(&self) -> Claim {
        let text = "windows make a year's chart 3.5 times (1 h) and 6 times (1 day) cheaper (InfluxDB)";
        let holds = format!("1 h {}, 1 day {}", enough(3.5), enough(6.0));
        claim(text, holds, |claim| {
            let arm = claim.needs(self.influxdb)?;
            let spans = self.spans(&[Query::Raw]);
            let Some(&longest) = spans.last() else {
                claim.missing("InfluxDB over a year");
                return None;
            };
            let part = |(window, query, claimed)| {
                let of = |query| self.ms(arm, query, longest);
                let (held, text) = factor(&of(Query::Raw), &of(query), claimed);
                (held, format!("{window} {text}"))
            };
            let hours = ("1 h", Query::HourlyMeans, 3.5);
            let parts = [hours, ("1 day", Query::DailyMeans, 6.0)].map(part);
            if longest == YEAR {
                parts.into_iter().for_each(|(held, text)| claim.part(held, text));
                claim.aside(here(&[arm]));
            } else {
                claim.missing("InfluxDB over a year");
                let texts = parts.map(|(_, text)| text);
                claim.aside(format!("over {longest} d {}", texts.join(", ")));
            }
            Some(())
        })
    }

    fn tenths(&self) -> Claim {
        let text = "MongoDB still answers about a year in tenths of a second";
        claim(text, format!("under {TENTHS_MS} ms"), |claim| {
            let arm = claim.needs(self.mongodb)?;
            for (query, words) in [
                (Query::Raw, "raw values"),
                (Query::DailyMeans, "daily means"),
                (Query::DailyMeansFromSums, "from sums"),
            ] {
                let own = self.ms(arm, query, YEAR);
                if has(&own) {
                    let held = is_within(&own, 0.0, TENTHS_MS);
                    claim.part(held, format!("{words} {} ms", shown(&own)));
                }
            }
            claim.missing_if_open("MongoDB over a year");
            claim.aside(here(&[arm]));
            Some(())
        })
    }

    fn faster_ranges(&self) -> Claim {
        let text = "InfluxDB gives raw values about 50 % faster than MongoDB";
        claim(text, enough(1.5), |claim| {
            for days in self.spans(&[Query::Raw]) {
                let raw = ms(Query::Raw, days).metric;
                let both = [self.mongodb, self.influxdb];
                let [slow, fast] = self.results.both(claim, both, &raw)?;
                if has(&slow.values) && has(&fast.values) {
                    claim.over(&slow, 1.5 * ENOUGH, &fast, &format!("ms over {days} d"));
                }
            }
            claim.missing_if_open("raw values of both");
            Some(())
        })
    }

    /// The same against MongoDB's layout that is the fastest here, span by span; none where it was measured with one.
    fn faster_than_best(&self) -> Option<Claim> {
        let influxdb = self.influxdb.1?;
        let text = "InfluxDB gives raw values faster than MongoDB's best layout";
        let holds = "at all (not a claim of the study)";
        let claim = claim(text, holds, |claim| {
            for days in self.spans(&[Query::Raw]) {
                let raw = ms(Query::Raw, days);
                let fast = self.results.sample(influxdb, &raw.metric);
                if let Some(best) = self.results.best(MONGODB, &raw)
                    && has(&fast.values)
                {
                    claim.over(&best, 1.0, &fast, &format!("ms over {days} d"));
                }
            }
            Some(())
        });
        (!claim.is_open()).then_some(claim)
    }
}
