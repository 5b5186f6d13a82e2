//! The claims of the study, judged by what was measured here.

use super::facts::{Facts, Values, bytes_a_value, mean_ns};
use crate::report::claims::{Claim, is_less, mean, shown, table};
use crate::report::field::Arm;
use crate::report::number::significant;
use crate::report::tables::Section;
use crate::workload::devops::questions::Kind;

/// What differs by less than this part counts as level.
const LEVEL: f64 = 0.2;
/// The study's ratios, as workloads.md has them: ingest, disk, answers.
const INGEST: f64 = 2.5;
const DISK: f64 = 20.0;
const ANSWERS: f64 = 5.7;

/// InfluxDB and MongoDB, where they were measured.
struct Pair<'a> {
    facts: &'a Facts<'a>,
    influxdb: Option<&'a Arm>,
    mongodb: Option<&'a Arm>,
}

/// What is compared: less is better.
struct Cost<'a> {
    /// Of what is shown.
    unit: &'static str,
    cost: &'a dyn Fn(&Arm) -> Values,
    /// The same as people say it.
    shown: &'a dyn Fn(&Arm) -> Values,
}

/// The section.
pub fn section(facts: &Facts<'_>) -> Section {
    let pair = Pair {
        facts,
        influxdb: facts.counterpart("InfluxDB"),
        mongodb: facts.counterpart("MongoDB"),
    };
    let mut section = Section::new("claims", "The study's claims");
    if pair.influxdb.is_none() && pair.mongodb.is_none() {
        section.paragraph(
            "Neither database of the study, InfluxDB and MongoDB, has a valid trial here, so none of its claims can be judged.",
        );
        return section;
    }
    let claims = claims(&pair);
    let mut judged = table(facts.field, &claims);
    judged.note(format!(
        "Level: not {} % lower than at first, and for a ratio not that much higher either. Ingest by {} workers.",
        significant(LEVEL * 100.0, 2),
        facts.workers()
    ));
    section.table(judged);
    section
}

fn claims(pair: &Pair<'_>) -> [Claim; 8] {
    let facts = pair.facts;
    let rate = |arm: &Arm| facts.ingest(arm, facts.workers());
    let disk = |arm: &Arm| facts.settled(arm, None, bytes_a_value);
    let time = |arm: &Arm| facts.latency(arm, Kind::MaximumShort, facts.clients().0, mean_ns);
    let ingest = Cost {
        unit: "values/s",
        cost: &|arm| inverted(rate(arm)),
        shown: &rate,
    };
    let disk = Cost {
        unit: "bytes a value",
        cost: &disk,
        shown: &disk,
    };
    let answers = Cost {
        unit: "ms",
        cost: &time,
        shown: &time,
    };
    let faster = "InfluxDB answers the study's question faster";
    [
        pair.less("InfluxDB ingests faster than MongoDB", 1.0, &ingest),
        pair.less("… 2.5 times as fast or more", INGEST, &ingest),
        pair.less("InfluxDB needs less disk than MongoDB", 1.0, &disk),
        pair.less("… a twentieth of it or less", DISK, &disk),
        pair.less(faster, 1.0, &answers),
        pair.less("… 5.7 times as fast or more", ANSWERS, &answers),
        pair.level_ingest(),
        pair.level_ratio(),
    ]
}

fn inverted(values: Values) -> Values {
    values
        .into_iter()
        .map(|value| value.map(|value| 1.0 / value))
        .collect()
}

impl Pair<'_> {
    /// Both, or a note of who is missing.
    fn both(&self, claim: &mut Claim) -> Option<(&Arm, &Arm)> {
        if self.influxdb.is_none() {
            claim.missing("InfluxDB");
        }
        if self.mongodb.is_none() {
            claim.missing("MongoDB");
        }
        self.influxdb.zip(self.mongodb)
    }

    /// Whether InfluxDB's cost times the factor is under MongoDB's.
    fn less(&self, text: &'static str, factor: f64, of: &Cost<'_>) -> Claim {
        let mut claim = Claim::new(text);
        if let Some((influxdb, mongodb)) = self.both(&mut claim) {
            let (ours, theirs) = ((of.cost)(influxdb), (of.cost)(mongodb));
            let raised: Values = ours.iter().map(|one| one.map(|one| one * factor)).collect();
            let ratio = mean(&theirs).zip(mean(&ours));
            let ratio = ratio.map(|(theirs, ours)| significant(theirs / ours, 3));
            claim.part(
                is_less(&raised, &theirs),
                format!(
                    "{} against {} {}, ×{}",
                    shown(&(of.shown)(influxdb)),
                    shown(&(of.shown)(mongodb)),
                    of.unit,
                    ratio.as_deref().unwrap_or("–")
                ),
            );
        }
        claim
    }

    fn level_ingest(&self) -> Claim {
        let mut claim = Claim::new("ingest stays level as the data grows");
        let facts = self.facts;
        let Some(&hours) = facts.parameters.more_hours.last() else {
            claim.missing("a longer span (--set more_hours=)");
            return claim;
        };
        self.both(&mut claim);
        for arm in [self.influxdb, self.mongodb].into_iter().flatten() {
            let first = mean(&facts.ingest(arm, facts.workers()));
            let last = mean(&facts.growth(arm, hours));
            let (Some(first), Some(last)) = (first, last) else {
                claim.missing(&format!("{} growing", arm.label));
                continue;
            };
            claim.part(
                Some(last / first >= 1.0 - LEVEL),
                format!(
                    "{}: {} values/s at {} h, {} at {} h",
                    arm.implementation.title,
                    significant(first, 3),
                    facts.parameters.hours,
                    significant(last, 3),
                    hours
                ),
            );
        }
        claim
    }

    fn level_ratio(&self) -> Claim {
        let mut claim =
            Claim::new("the ratio of questions a second stays level as clients are added");
        let (first, most) = self.facts.clients();
        if first == most {
            claim.missing("several numbers of clients (--set clients=1,4)");
            return claim;
        }
        let Some((influxdb, mongodb)) = self.both(&mut claim) else {
            return claim;
        };
        let ratio = |clients: u32| {
            let rate = |arm: &Arm| mean(&self.facts.asked(arm, Kind::MaximumShort, clients));
            Some(rate(influxdb)? / rate(mongodb)?)
        };
        match (ratio(first), ratio(most)) {
            (Some(one), Some(other)) => claim.part(
                Some(is_level(other / one)),
                format!(
                    "×{} with {first}, ×{} with {most} clients",
                    significant(one, 3),
                    significant(other, 3)
                ),
            ),
            _ => claim.missing("the study's question"),
        }
        claim
    }
}

/// Whether a ratio is within a part of 1, either way.
fn is_level(ratio: f64) -> bool {
    (1.0 - LEVEL..=1.0 / (1.0 - LEVEL)).contains(&ratio)
}
