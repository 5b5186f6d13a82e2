//! The claims of the machine-tool study.
//!
//! Claims about scores are of the study's own company alone, and compared by what they fall short of 100.

use super::printed::{BEHIND, READING, SCORES, Score, WRITING};
use super::{MachineTool, parted};
use crate::claims::{Claim, Sample, Values, claim, is_less, is_within, mean, shown};
use crate::criteria::{self, figure, storage_read_rate};
use crate::field::Arm;
use crate::ranking::Ranked;
use crate::studies::select::Metric;
use sensormark_data::number::significant;
use sensormark_data::units::Total;
use sensormark_result::measurement::names;
use sensormark_result::score::Board;
use sensormark_store::WriteMethod;
use sensormark_workload::machine_tool::is_in_seconds;

/// Bytes of a raw sample: five channels of two bytes, and its time of twelve.
const RAW_BYTES: f64 = 22.0;

/// What an implementation of the study's came to here.
struct Standing<'a> {
    arm: &'a Arm,
    ranked: &'a Ranked,
    board: &'a Board,
    /// The phase whose score counts; all of them where there is none.
    phase: Option<usize>,
}

impl Standing<'_> {
    fn score(&self) -> String {
        let standing = &self.ranked.standing;
        let score = self.phase.map_or(standing.total, |phase| standing.phases[phase]);
        significant(score, 3)
    }

    /// What a score falls short of 100, in each repetition.
    fn shortfalls(&self) -> Values {
        let shortfall = |costs: &Vec<Vec<f64>>| {
            let costs: Vec<&[f64]> = costs.iter().map(Vec::as_slice).collect();
            let scores = self.board.scores_of(&costs);
            let total = || scores.iter().sum::<f64>() / scores.len() as f64;
            100.0 - self.phase.map_or_else(total, |phase| scores[phase])
        };
        let costs = self.ranked.costs.iter();
        costs.map(|costs| costs.as_ref().map(shortfall)).collect()
    }
}

impl<'a> MachineTool<'a> {
    /// All of them, in the order of the study.
    pub fn claims(&self) -> Vec<Claim> {
        vec![
            self.bulk_beats_individual(),
            self.least("InfluxDB needs the least disk", "InfluxDB", "disk", "MB"),
            self.cannot_keep_up(),
            self.reads_from_cache(),
            self.no_datagram_lost(),
            self.bulk_one_saves_network(),
            self.best("MariaDB bulk is the best overall", "MariaDB bulk", None),
            self.best("MariaDB bulk is the best at writing", "MariaDB bulk", Some(0)),
            self.best("InfluxDB individual is the best at reading", "InfluxDB individual", Some(1)),
            self.least("MariaDB bulk needs the least network (writing)", "MariaDB bulk", "network", "kbit/s"),
            self.least("InfluxDB's client is the smallest (writing)", "InfluxDB", "client_memory", "kB"),
            self.more_network(),
            self.less_memory(),
            self.bulk_reading(),
        ]
    }

    fn sample(&self, arm: &'a Arm, criterion: &'static str) -> Sample<'a> {
        self.results.sample(arm, &self.criterion(criterion))
    }

    fn bulk_beats_individual(&self) -> Claim {
        let text = "bulk beats individual on CPU, I/O and disk (writing)";
        claim(text, "less in all three, of both databases", |claim| {
            for title in ["MariaDB", "MongoDB"] {
                let [bulk, individual] = ["bulk", "individual"].map(|word| format!("{title} {word}"));
                let both = claim.needs_both(self.writer(&bulk), self.writer(&individual));
                let Some([bulk, individual]) = both else {
                    continue;
                };
                for (held, figures) in self.bulk_parts(bulk, individual) {
                    let (bulk, individual) = (&bulk.label, &individual.label);
                    claim.part(held, format!("{bulk} to {individual}: {figures}"));
                }
            }
            claim.aside(self.others_bulk());
            Some(())
        })
    }

    fn bulk_parts(&self, bulk: &Arm, individual: &Arm) -> [(Option<bool>, String); 3] {
        // Server and client together: what one saves must not land on the other.
        let run = &self.results.field.run;
        let cpu = Metric::new(move |trial| {
            let values = criteria::values(trial, run);
            let none = trial.implementation.embedded.then_some(0.0);
            let server = values.get("server_cpu").copied().or(none);
            Some(server? + values.get("client_cpu")?)
        });
        let compared = [
            ("CPU", "%", cpu),
            ("I/O", "kB/s", self.criterion("server_io")),
            ("disk", "MB", self.criterion("disk")),
        ];
        compared.map(|(name, unit, metric)| {
            let [bulk, individual] = [bulk, individual].map(|arm| self.results.values(arm, &metric));
            let (one, other) = (shown(&bulk), shown(&individual));
            let text = format!("{name} {one} against {other} {unit}");
            (is_less(&bulk, &individual), text)
        })
    }

    /// The same of databases that the study did not try.
    pub fn others_bulk(&self) -> String {
        let writes = &self.results.field.writes;
        let named = |title: &str, name: &str| {
            let mut valid = self.results.valid(writes);
            valid.find(|arm| arm.implementation.title == title && arm.implementation.layout_name == name)
        };
        let mut titles: Vec<&str> = writes.iter().map(|arm| arm.implementation.title.as_str()).collect();
        titles.dedup();
        titles.retain(|title| WRITING.iter().all(|(name, ..)| !name.starts_with(title)));
        let told = titles.into_iter().filter_map(|title| {
            let parts = self.bulk_parts(named(title, "bulk")?, named(title, "individual")?);
            let is_all = parts.iter().all(|(held, _)| *held == Some(true));
            let held = if is_all { "less in all" } else { "not less in all" };
            let figures = parts.map(|(_, figures)| figures).join(", ");
            Some(format!("{title} (not in the study), {held}: {figures}"))
        });
        let mut told: Vec<String> = told.collect();
        told.dedup();
        told.join("; ")
    }

    /// Whether a writer of the study's needs the least of something among its writers.
    fn least(&self, text: &str, name: &'static str, criterion: &'static str, unit: &str) -> Claim {
        claim(text, "less than each other writer of the study's", |claim| {
            let own = claim.needs(self.writer(name));
            for (other, ..) in WRITING.iter().filter(|(other, ..)| *other != name) {
                let other = claim.needs(self.writer(other));
                if let (Some(own), Some(other)) = (own, other) {
                    let [own, other] = [own, other].map(|arm| self.sample(arm, criterion));
                    claim.under(&own, &other, unit);
                }
            }
            Some(())
        })
    }

    /// What a reader of the study's and its writer have of something; nothing where one is missing.
    fn reader_and_writer(&self, row: &Score, criterion: &'static str) -> Option<[Sample<'a>; 2]> {
        let arms = [self.reader(row.name).1?, self.writer(row.writer).1?];
        Some(arms.map(|arm| self.sample(arm, criterion)))
    }

    fn more_network(&self) -> Claim {
        let text = "reading needs more network than writing, for all but InfluxDB individual";
        let holds = "more in each, InfluxDB individual left out as the study has it";
        claim(text, holds, |claim| {
            for row in &SCORES {
                let is_exception = row.name == "InfluxDB individual";
                if !is_exception {
                    claim.needs(self.reader(row.name));
                }
                match self.reader_and_writer(row, "network") {
                    Some([read, write]) if is_exception => claim.aside(format!(
                        "the exception, not judged: {} {} against {} kbit/s",
                        read.arm.label,
                        shown(&read.values),
                        shown(&write.values)
                    )),
                    Some([read, write]) => claim.over(&read, 1.0, &write, "kbit/s (writing)"),
                    None => {}
                }
            }
            Some(())
        })
    }

    fn less_memory(&self) -> Claim {
        let text = "InfluxDB's server uses less memory when reading than when writing";
        claim(text, "less with each way of reading", |claim| {
            for row in SCORES.iter().filter(|row| parted(row.name).0 == "InfluxDB") {
                claim.needs(self.reader(row.name));
                if let Some([read, write]) = self.reader_and_writer(row, "server_memory") {
                    claim.under(&read, &write, "kB (writing)");
                }
            }
            Some(())
        })
    }

    fn cannot_keep_up(&self) -> Claim {
        let text = format!("{BEHIND} cannot keep up with 3 reads a second");
        claim(text, "behind in every repetition", |claim| {
            let arm = claim.needs(self.reader(BEHIND))?;
            let trials = self.results.field.valid_of(arm);
            let kept = trials.filter_map(|trial| Some(figure(trial, names::KEEPS_UP)? > 0.5));
            let kept: Vec<bool> = kept.collect();
            let (all, any) = (kept.iter().all(|kept| *kept), kept.contains(&true));
            let held = match (all, any) {
                _ if kept.is_empty() => None,
                (true, _) => Some(false),
                (false, any) => (!any).then_some(true),
            };
            let reads = self.results.values(arm, &Metric::named(names::READS_PER_SECOND));
            claim.part(held, format!("{} reached {} reads a second", arm.label, shown(&reads)));
            Some(())
        })
    }

    fn reads_from_cache(&self) -> Claim {
        let samples = criteria::samples_per_second(&self.results.field.run);
        let limit = samples.unwrap_or(1_000.0) * RAW_BYTES / 1e3;
        let text = "server reads stay under the raw data rate (22 kB/s) for all but MariaDB individual (data in cache)";
        claim(text, format!("under {limit} kB/s, the raw rate here"), |claim| {
            for (name, ..) in READING {
                let is_exception = name == "MariaDB individual";
                let found = self.reader(name);
                let arm = if is_exception { found.1 } else { claim.needs(found) };
                let Some(arm) = arm else {
                    continue;
                };
                let rates = self.results.values(arm, &Metric::new(storage_read_rate));
                if mean(&rates).is_none() {
                    continue;
                }
                let text = format!("{} {} kB/s", arm.label, shown(&rates));
                if is_exception {
                    claim.aside(format!("the exception, not judged: {text}"));
                } else {
                    claim.part(is_within(&rates, 0.0, limit), text);
                }
            }
            Some(())
        })
    }

    fn no_datagram_lost(&self) -> Claim {
        claim("no reading is lost on UDP", "0 lost in all repetitions", |claim| {
            let field = self.results.field;
            for arm in self.results.valid(&field.writes) {
                let ledgers = || field.valid_of(arm).filter_map(|trial| trial.ledger.as_ref());
                let own = &arm.implementation;
                let is_studys = own.layout.write == WriteMethod::Datagram && !is_in_seconds(&own.layout_name);
                if !is_studys || ledgers().next().is_none() {
                    continue;
                }
                claim.about(arm);
                let lost: u64 = ledgers().map(|ledger| ledger.in_doubt_not_stored).total();
                let sent: u64 = ledgers().map(|ledger| ledger.attempted).total();
                let text = format!("{}: {lost} of {sent} readings", arm.label);
                claim.part(Some(lost == 0), text);
            }
            if claim.is_open() {
                claim.missing(self.writer("InfluxDB over UDP").0);
            }
            Some(())
        })
    }

    fn bulk_one_saves_network(&self) -> Claim {
        let text = "bulk-1 saves network over bulk (InfluxDB reading)";
        claim(text, "less than bulk", |claim| {
            let both = ["InfluxDB bulk-1", "InfluxDB bulk"].map(|name| self.reader(name));
            let [one, bulk] = self.results.both(claim, both, &self.criterion("network"))?;
            claim.under(&one, &bulk, "kbit/s");
            Some(())
        })
    }

    /// Whether this implementation has the best score of the study's, in one phase or (`None`) in total.
    fn best(&self, text: &str, name: &'static str, phase: Option<usize>) -> Claim {
        // What was written alike has one score for writing.
        let own = SCORES.iter().find(|row| row.name == name).map(|row| row.writer);
        let rivals = SCORES.iter().filter(|row| row.name != name);
        let rivals = rivals.filter(|row| phase != Some(0) || Some(row.writer) != own);
        let rivals: Vec<&str> = rivals.map(|row| row.name).collect();
        let holds = "a better score than each other of the study's";
        self.outscores(text, holds, name, &rivals, phase)
    }

    /// Whether reading whole seconds and choosing in the client is worth nothing in InfluxDB: it has no better score than asking for what is wanted.
    fn bulk_reading(&self) -> Claim {
        let rivals = ["InfluxDB bulk", "InfluxDB bulk-1"];
        let text = "bulk reading is not worthwhile in InfluxDB";
        let holds = "reading individually has a better score than bulk and bulk-1";
        self.outscores(text, holds, "InfluxDB individual", &rivals, Some(1))
    }

    fn standing(&self, claim: &mut Claim, name: &str, phase: Option<usize>) -> Option<Standing<'_>> {
        let (missing, arm) = self.reader(name);
        let find = || {
            let (arm, ranking) = (arm?, self.ranking.as_ref()?);
            let mut ranked = ranking.ranked.iter();
            Some(Standing {
                arm,
                ranked: ranked.find(|one| one.label() == arm.label)?,
                board: ranking.board.as_ref()?,
                phase,
            })
        };
        let found = find();
        match &found {
            Some(standing) => claim.about(standing.arm),
            None => claim.missing(missing),
        }
        found
    }

    fn outscores(&self, text: &str, holds: &str, name: &str, rivals: &[&str], phase: Option<usize>) -> Claim {
        claim(text, holds, |claim| {
            let own = self.standing(claim, name, phase);
            for rival in rivals {
                let other = self.standing(claim, rival, phase);
                let (Some(own), Some(other)) = (&own, other) else {
                    continue;
                };
                let text = format!(
                    "{} {} against {} of {}",
                    own.arm.label,
                    own.score(),
                    other.score(),
                    other.arm.label
                );
                claim.part(is_less(&own.shortfalls(), &other.shortfalls()), text);
            }
            Some(())
        })
    }
}
