//! The claims of the study, judged by what was measured here.

use super::facts::{Facts, Values, bytes_a_value, mean_ns};
use crate::report::claims::{Claim, is_less, is_level, least, mean, ratios, shown, table, times};
use crate::report::field::Arm;
use crate::report::number::significant;
use crate::report::tables::Section;
use crate::workload::devops::questions::Kind;
use sensormark_store::Durability;

/// What differs by less than this part counts as level.
const LEVEL: f64 = 0.2;
/// The study's ratios, as workloads.md has them: ingest, disk, answers.
const INGEST: f64 = 2.5;
const DISK: f64 = 20.0;
const ANSWERS: f64 = 5.7;
/// Those of its summary, which are others: ingest, disk, and answers that are "up to" so much faster.
const SUMMARY: (f64, f64, f64) = (3.9, 16.6, 1.16);

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
    judged.note(format!("Ingest by {} workers.", facts.workers()));
    section.table(judged);
    section
}

fn claims(pair: &Pair<'_>) -> Vec<Claim> {
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
    let mut claims = vec![
        pair.less("InfluxDB ingests faster than MongoDB", 1.0, &ingest),
        pair.less("… 2.5 times as fast or more", INGEST, &ingest),
        pair.less("InfluxDB needs less disk than MongoDB", 1.0, &disk),
        pair.less("… a twentieth of it or less", DISK, &disk),
        pair.less(faster, 1.0, &answers),
        pair.less("… 5.7 times as fast or more", ANSWERS, &answers),
        pair.level_ingest(),
        pair.level_ratio(),
        pair.less("the summary: ingests 3.9 times as fast", SUMMARY.0, &ingest),
        pair.less("the summary: a 16.6th of the disk", SUMMARY.1, &disk),
        pair.up_to(
            "the summary: answers up to 16 % faster",
            SUMMARY.2,
            &answers,
        ),
    ];
    for (text, cost) in [
        (
            "InfluxDB ingests faster than MongoDB's best layout",
            &ingest,
        ),
        ("InfluxDB needs less disk than MongoDB's best layout", &disk),
        (
            "InfluxDB answers the study's question faster than MongoDB's best layout",
            &answers,
        ),
    ] {
        claims.extend(pair.less_than_best(text, cost));
    }
    claims
}

fn inverted(values: Values) -> Values {
    values
        .into_iter()
        .map(|value| value.map(|value| 1.0 / value))
        .collect()
}

impl<'a> Pair<'a> {
    /// Both, or a note of who is missing.
    fn both(&self, claim: &mut Claim) -> Option<(&'a Arm, &'a Arm)> {
        if self.influxdb.is_none() {
            claim.missing("InfluxDB");
        }
        if self.mongodb.is_none() {
            claim.missing("MongoDB");
        }
        self.influxdb.zip(self.mongodb)
    }

    /// Whether InfluxDB's cost times the factor is under MongoDB's.
    fn less(&self, text: &str, factor: f64, of: &Cost<'_>) -> Claim {
        let holds = if factor > 1.0 {
            format!("{factor} times or more, no tolerance")
        } else {
            "at all".to_owned()
        };
        let mut claim = Claim::new(text, holds);
        if let Some((influxdb, mongodb)) = self.both(&mut claim) {
            let raised = times(&(of.cost)(influxdb), factor);
            let held = is_less(&raised, &(of.cost)(mongodb));
            of.against(&mut claim, held, influxdb, mongodb);
        }
        claim
    }

    /// The same against the layout of MongoDB whose cost is the least here; none where MongoDB was measured with one layout.
    fn less_than_best(&self, text: &str, of: &Cost<'_>) -> Option<Claim> {
        let arms: Vec<&Arm> = self
            .facts
            .arms()
            .filter(|arm| {
                arm.implementation.title == "MongoDB"
                    && arm.implementation.durability == Durability::Default
            })
            .collect();
        let best = least(arms.iter().copied(), of.cost).filter(|_| arms.len() > 1)?;
        let influxdb = self.influxdb?;
        let mut claim = Claim::new(text, "at all (not a claim of the study)");
        let held = is_less(&(of.cost)(influxdb), &best.values);
        of.against(&mut claim, held, influxdb, best.arm);
        Some(claim)
    }

    /// Whether InfluxDB's cost is under MongoDB's, by no more than the factor.
    fn up_to(&self, text: &str, factor: f64, of: &Cost<'_>) -> Claim {
        let mut claim = Claim::new(
            text,
            format!("faster, and by {factor} times or less, no tolerance"),
        );
        if let Some((influxdb, mongodb)) = self.both(&mut claim) {
            let (ours, theirs) = ((of.cost)(influxdb), (of.cost)(mongodb));
            let faster = is_less(&ours, &theirs);
            let not_further = is_less(&theirs, &times(&ours, factor));
            let held = match (faster, not_further) {
                (Some(true), Some(true)) => Some(true),
                (Some(false), _) | (_, Some(false)) => Some(false),
                _ => None,
            };
            of.against(&mut claim, held, influxdb, mongodb);
        }
        claim
    }

    fn level_ingest(&self) -> Claim {
        let kept = (1.0 - LEVEL) * 100.0;
        let mut claim = Claim::new(
            "ingest stays level as the data grows",
            format!("{kept} % or more of the rate at first"),
        );
        let facts = self.facts;
        let Some(&hours) = facts.parameters.more_hours.last() else {
            claim.missing("a longer span (--set more_hours=)");
            return claim;
        };
        self.both(&mut claim);
        for arm in [self.influxdb, self.mongodb].into_iter().flatten() {
            let first = facts.ingest(arm, facts.workers());
            let last = facts.growth(arm, hours);
            if mean(&first).is_none() || mean(&last).is_none() {
                claim.missing(&format!("{} growing", arm.label));
                continue;
            }
            claim.about(arm);
            claim.part(
                is_less(&times(&first, 1.0 - LEVEL), &last),
                format!(
                    "{}: {} values/s at {} h, {} at {} h",
                    arm.label,
                    shown(&first),
                    facts.parameters.hours,
                    shown(&last),
                    hours
                ),
            );
        }
        claim
    }

    fn level_ratio(&self) -> Claim {
        let mut claim = Claim::new(
            "the ratio of questions a second stays level as clients are added",
            format!("{} to {} times", 1.0 - LEVEL, 1.0 / (1.0 - LEVEL)),
        );
        let (first, most) = self.facts.clients();
        if first == most {
            claim.missing("several numbers of clients (--set clients=1,4)");
            return claim;
        }
        let Some((influxdb, mongodb)) = self.both(&mut claim) else {
            return claim;
        };
        let ratio = |clients: u32| {
            let rate = |arm: &Arm| self.facts.asked(arm, Kind::MaximumShort, clients);
            ratios(&rate(influxdb), &rate(mongodb))
        };
        let (one, other) = (ratio(first), ratio(most));
        if mean(&one).is_none() || mean(&other).is_none() {
            claim.missing("the study's question");
            return claim;
        }
        claim.about(influxdb);
        claim.about(mongodb);
        claim.part(
            is_level(&other, &one, LEVEL),
            format!(
                "{} to {}: ×{} with {first}, ×{} with {most} clients",
                influxdb.label,
                mongodb.label,
                shown(&one),
                shown(&other)
            ),
        );
        claim
    }
}

impl Cost<'_> {
    /// Adds the part, with both implementations' figures and how many times as good the first is.
    fn against(&self, claim: &mut Claim, held: Option<bool>, one: &Arm, other: &Arm) {
        let times = mean(&ratios(&(self.cost)(other), &(self.cost)(one)));
        let times = times.map_or_else(|| "–".to_owned(), |times| significant(times, 3));
        claim.about(one);
        claim.about(other);
        claim.part(
            held,
            format!(
                "{} {} against {} {} of {}, ×{times}",
                one.label,
                shown(&(self.shown)(one)),
                shown(&(self.shown)(other)),
                self.unit,
                other.label
            ),
        );
    }
}
