//! The DevOps study: InfluxDB and MongoDB on a day of 100 hosts, of which 16 workers load 87,264,000 values.

use super::figure::Figure;
use super::quantity::{Quantity, amount, by_number, rate, time};
use super::select::{Loads, Metric, Results, loads};
use super::study::{Declaration, Study};
use super::table::{section, table, words};
use crate::claims::{Claim, Found, claim, has, is_less, is_level, ratios, shown, times};
use crate::criteria::{self, figure};
use crate::field::Arm;
use crate::sections::cells::{counted, exact};
use crate::tables::{Cell, TOO_FEW, Table};
use sensormark_result::measurement::disk::data_bytes;
use sensormark_result::measurement::names;
use sensormark_result::measurement::record::TrialRecord;
use sensormark_store::WriteMethod;
use sensormark_workload::devops::questions::QuestionKind;
use sensormark_workload::devops::steps::{CLIENTS, GROW, HOURS, LOAD, SETTLED, WORKERS};
use sensormark_workload::devops::{LAYOUTS, NAME, Parameters, figures};

/// The study. Its figures are those of its body.
pub const STUDY: Study = Study {
    workload: NAME,
    title: "Benchmarking InfluxDB vs. MongoDB for Time Series Data, Metrics & Management",
    authors: &["Vlasta Hajek", "Ales Pour", "Ivan Kudibal"],
    venue: "technical paper, January 2019",
    versions: &[("InfluxDB", "1.7.2"), ("MongoDB", "4.0.4")],
    system: "Ubuntu 16.04 LTS",
    notes: &[
        "The study's summary prints other ratios (3.9x ingest, 16.6x disk, 16 % query) than its body (2.4x, 20x, 5.7x); the figures here are the body's.",
        "2,800,990 to 1,114,616 values a second is 2.51x, not the printed 2.4x.",
        "values_per_host is printed as 100; 87,264,000 values are 100 hosts x 8,640 ticks x 101.",
        "The units of disk are ambiguous: 2.15 bytes a value fits binary megabytes (2.14), decimal ones give 2.04.",
        "43 bytes a value does not follow from 3.4 GB: of 87,264,000 values these are 39.0 bytes, or 41.8 in binary gigabytes. 43 is printed in words, and is 20 times 2.15.",
    ],
    notes_title: "What the study leaves open or says twice differently:",
    declare: |results| Some(DevOps::new(results)?.declare()),
    draw: |_| Vec::new(),
};

const MONGODB: &str = "MongoDB";
/// Hosts, hours that they report for, and workers that load.
pub const SIZES: (u64, u64, u64) = (100, 24, 16);
/// By database: values ingested a second, bytes of disk a value (178 MB and 3.4 GB in all), a question's mean time in ms, one worker's questions a second.
pub const PRINTED: [(&str, [f64; 4]); 2] =
    [("InfluxDB", [2_800_990.0, 2.15, 1.07, 934.5]), (MONGODB, [1_114_616.0, 43.0, 6.09, 164.2])];

/// What differs by less than this part counts as level.
const LEVEL: f64 = 0.2;
/// By how much its summary has answers faster at most; it prints other ratios than its body.
const SUMMARY: f64 = 1.16;
/// The study's question.
const QUESTION: QuestionKind = QuestionKind::MaximumShort;

/// A run, and what stands for the study's two databases: the usual layout.
struct DevOps<'a> {
    results: Results<'a>,
    parameters: Parameters,
    /// Numbers of workers that loaded, in the order of loading.
    workers: Vec<u64>,
    most_workers: u64,
    /// Numbers of clients that asked, in the order of asking.
    clients: Vec<u64>,
    /// The first and the last of them, which asked everything.
    ends: (u64, u64),
    found: [Found<'a, 'static>; 2],
}

/// Values a second of a load.
fn rate_of(load: Loads) -> Metric<'static> {
    Metric::new(move |trial| {
        let phase = &load.first(trial)?.phase;
        figure(trial, &format!("{}/{phase}", figures::VALUES_PER_SECOND))
    })
}

/// A figure of the rest after a load.
fn settled(load: Loads, get: fn(&TrialRecord, &str) -> Option<f64>) -> Metric<'static> {
    Metric::new(move |trial| get(trial, load.first(trial)?.labels.get(SETTLED)?.as_str()?))
}

/// Growth of the data folder until this rest, in bytes.
fn disk(trial: &TrialRecord, settled: &str) -> Option<f64> {
    let name = format!("{}/{settled}", names::DISK_SETTLED);
    Some(figure(trial, &name)? - figure(trial, names::DISK_BEFORE)?)
}

/// The same without logs, which a database keeps for itself and uses again.
fn data(trial: &TrialRecord, settled: &str) -> Option<f64> {
    let at = |name: &str| format!("{name}/{settled}");
    let (all, logs) = (at(names::DISK_SETTLED), at(names::DISK_SETTLED_LOGS));
    let before = data_bytes(trial, names::DISK_BEFORE, names::DISK_BEFORE_LOGS)?;
    Some(data_bytes(trial, &all, &logs)? - before)
}

/// Values that were stored by then.
fn values(trial: &TrialRecord, settled: &str) -> Option<f64> {
    figure(trial, &format!("{}/{settled}", figures::VALUES))
}

/// Bytes of data, without logs, per value that was stored.
fn bytes_a_value(trial: &TrialRecord, settled: &str) -> Option<f64> {
    let stored = values(trial, settled).filter(|values| *values > 0.0)?;
    Some(data(trial, settled)? / stored)
}

fn load(workers: u64) -> Loads {
    loads(LOAD).with(WORKERS, workers)
}

fn grow(hours: f64) -> Loads {
    loads(GROW).with(HOURS, hours)
}

impl<'a> DevOps<'a> {
    /// None where the run's numbers cannot be understood.
    fn new(results: Results<'a>) -> Option<Self> {
        let parameters = results.field.run.parameters.clone();
        let parameters: Parameters = serde_json::from_value(parameters).ok()?;
        let clients: Vec<u64> = parameters.clients.iter().map(|&one| one.into()).collect();
        let first = clients.first().copied().unwrap_or(1);
        Some(Self {
            results,
            ends: (first, clients.last().copied().unwrap_or(first)),
            most_workers: parameters.most_workers().into(),
            workers: parameters.workers.iter().map(|&one| one.into()).collect(),
            clients,
            parameters,
            found: PRINTED.map(|(title, _)| (title, results.layout(title, LAYOUTS[0]))),
        })
    }

    fn declare(&self) -> Declaration {
        let is_empty = self.found.iter().all(|(_, arm)| arm.is_none());
        let (title, workers) = (STUDY.title, self.most_workers);
        let Parameters { hosts, hours, .. } = &self.parameters;
        let setting = format!(
            "Study: {title}. Its server: 16 vCPU Xeon E5-2686 v4, 122 GB, provisioned-IOPS SSD; client: 8 vCPU Xeon, 15 GB; {} hosts, {} h, {} workers; here {hosts} hosts, {hours} h, {workers} workers. Ratios tell of the machines and versions as much as of the databases.",
            SIZES.0, SIZES.1, SIZES.2
        );
        let tables = [self.ingest(), self.disks(), self.questions(), self.over_clients(), self.growth()];
        let title = "Loading, disk and questions, as the study has them";
        Declaration {
            tables: vec![section("devops", title, tables)],
            claims: if is_empty { Vec::new() } else { self.claims() },
            instead_of_claims: vec!["Neither database of the study, InfluxDB and MongoDB, has a valid trial here, so none of its claims can be judged.".to_owned()],
            claims_note: Some(format!("Ingest by {workers} workers.")),
            figures: self.figures(),
            setting: (!is_empty).then_some(setting),
            published: vec![self.published()],
            ..Declaration::default()
        }
    }

    /// Questions of a kind by so many clients, about the data as it was loaded first.
    fn asked(&self, kind: QuestionKind, clients: u64) -> Loads {
        let asked = loads(kind.name()).with(CLIENTS, clients);
        asked.with(HOURS, self.parameters.hours)
    }

    /// The rate of loading by so many workers.
    fn by_workers(workers: u64) -> Quantity<'static> {
        rate("ingest", "values/s", rate_of(load(workers)))
    }

    /// The rate of the study's question by so many clients.
    fn by_clients(&self, clients: u64) -> Quantity<'static> {
        let asked = self.asked(QUESTION, clients);
        rate("questions", "1/s", asked.operations_a_second())
    }

    /// What the study printed, in the order of [`PRINTED`].
    fn compared(&self) -> [Quantity<'static>; 4] {
        let (first, _) = self.ends;
        let asked = self.asked(QUESTION, first).mean_ms();
        [
            Self::by_workers(self.most_workers),
            amount("disk", "bytes a value", settled(load(self.most_workers), bytes_a_value)),
            time("question, mean", "ms", asked),
            self.by_clients(first),
        ]
    }

    fn ingest(&self) -> Table {
        let results = self.results;
        let (hosts, hours) = (self.parameters.hosts, self.parameters.hours);
        let title =
            format!("Ingest: {hosts} hosts, {hours} h, each number of workers into an empty database");
        let rates = by_number(&self.workers, "worker", Self::by_workers);
        let mut table = results.table("devops_ingest", &title, &rates);
        for arm in results.arms() {
            let label = &arm.label;
            let cuts = [LOAD, GROW].map(|operation| loads(operation).cut(results, arm));
            if cuts.iter().any(Option::is_some) {
                table.note(format!("{label}: cut at its time limit; the rate is what it reached."));
            }
            if arm.implementation.layout.write == WriteMethod::Datagram {
                table.note(format!("{label}: sent as datagrams, which nobody acknowledges: the rate of sending. What was stored is under \"Readings and answers\"."));
            }
        }
        table
    }

    fn disks(&self) -> Table {
        let of = |get| settled(load(self.most_workers), get);
        let seconds = of(|trial, rest| Some(criteria::phase(trial, rest)?.seconds));
        let quantities = [
            amount("values", "million", of(values).per(1e6)),
            amount("settling", "s", seconds).or("not settled"),
            amount("disk", "MB", of(disk).per(1e6)),
            amount("without logs", "MB", of(data).per(1e6)),
            amount("a value", "bytes", of(bytes_a_value)),
        ];
        let title = format!("Disk after {} workers' load and settling", self.most_workers);
        let mut table = self.results.table("devops_disk", &title, &quantities);
        let stored = |arm| self.results.values(arm, &of(values));
        let mut all = self.results.arms().flat_map(stored).flatten();
        if all.any(|values| values < 1e7) {
            table.note("Under 10 million values: space that a database allocates ahead may weigh more than the data; the scales standard and study tell.");
        }
        table.noted("Growth of the data folder since the empty database; bytes a value are without logs, which a database keeps at some size and uses again.")
    }

    fn questions(&self) -> Table {
        let (first, _) = self.ends;
        let rows = QuestionKind::ALL.into_iter().flat_map(|kind| {
            let row = move |arm: &'a Arm| {
                let columns = self.results.columns(arm, &self.answers(kind, arm));
                (words([kind.name(), &arm.label]), columns)
            };
            self.results.arms().map(row)
        });
        let clients = counted(usize::try_from(first).unwrap_or(usize::MAX), "client");
        let title = format!("Questions: times with {clients}, and questions a second");
        let keys = ["question", "implementation"];
        let mut table = table("devops_questions", &title, &keys, rows);
        for kind in QuestionKind::ALL {
            let words = kind.words(&self.parameters);
            table.note(format!("{}: {words}.", kind.name()));
        }
        table
    }

    fn answers(&self, kind: QuestionKind, arm: &Arm) -> Vec<Quantity<'static>> {
        let (first, most) = self.ends;
        let asked = || self.asked(kind, first);
        let missing = asked().why_missing(self.results, arm);
        let mut answers = vec![
            time("mean", "ms", asked().mean_ms()).or(&missing),
            time("median", "ms", asked().latency_ms(|one| one.p50_ns)).or(TOO_FEW),
            time("p99", "ms", asked().latency_ms(|one| one.p99_ns)).or(TOO_FEW),
        ];
        let mut clients = vec![first, most];
        clients.dedup();
        answers.extend(by_number(&clients, "client", |clients| {
            let asked = self.asked(kind, clients).operations_a_second();
            rate("", "1/s", asked).or(&missing)
        }));
        answers
    }

    fn over_clients(&self) -> Table {
        let several = Some(&self.clients[..]).filter(|clients| clients.len() > 1);
        let rates = by_number(several.unwrap_or(&[]), "client", |clients| self.by_clients(clients));
        let words = QUESTION.words(&self.parameters);
        let title = format!("Questions a second over clients: {words}");
        self.results.table("devops_clients", &title, &rates)
    }

    fn growth(&self) -> Table {
        let more = &self.parameters.more_hours;
        let step = |hours: f64, load: Loads, clients: u64| {
            let asked = loads(QUESTION.name()).with(CLIENTS, clients);
            let rest = |get| settled(load.clone(), get);
            let quantities = [
                rate("ingest", "values/s", rate_of(load.clone())),
                amount("disk without logs", "MB", rest(data).per(1e6)),
                amount("a value", "bytes", rest(bytes_a_value)),
                time("study's question", "ms", asked.with(HOURS, hours).mean_ms()),
            ];
            (hours, quantities)
        };
        let first = step(self.parameters.hours, load(self.most_workers), self.ends.0);
        let grown = more.iter().map(|&hours| step(hours, grow(hours), 1));
        let steps: Vec<_> = [first].into_iter().chain(grown).collect();
        let arms = self.results.arms().filter(|_| !more.is_empty());
        let rows = arms.flat_map(|arm| {
            let row = |(hours, quantities): &(f64, [_; 4])| {
                let columns = self.results.columns(arm, quantities);
                (vec![Cell::text(&arm.label), exact(*hours)], columns)
            };
            steps.iter().map(row).collect::<Vec<_>>()
        });
        let title = "Growth with the span of the data";
        let mut table = table("devops_growth", title, &["implementation", "data"], rows);
        if let Some(hours) = table.columns.get_mut(1) {
            "h".clone_into(&mut hours.unit);
        }
        table.noted(format!("Ingest of what was added since the line before, by {} workers; the study's question is about that part, by 1 client.", self.most_workers))
    }

    fn claims(&self) -> Vec<Claim> {
        let [ingest, disk, answers, _] = &self.compared();
        let faster = "InfluxDB answers the study's question faster";
        let mut claims = vec![
            self.better("InfluxDB ingests faster than MongoDB", 1.0, ingest),
            self.better("… 2.5 times as fast or more", 2.5, ingest),
            self.better("InfluxDB needs less disk than MongoDB", 1.0, disk),
            self.better("… a twentieth of it or less", 20.0, disk),
            self.better(faster, 1.0, answers),
            self.better("… 5.7 times as fast or more", 5.7, answers),
            self.level_ingest(),
            self.level_ratio(),
            self.better("the summary: ingests 3.9 times as fast", 3.9, ingest),
            self.better("the summary: a 16.6th of the disk", 16.6, disk),
            claim(
                "the summary: answers up to 16 % faster",
                format!("faster, and by {} times or less, no tolerance", SUMMARY),
                |claim| {
                    let [one, other] = self.results.both(claim, self.found, &answers.metric)?;
                    claim.cheaper_by_up_to(&one, SUMMARY, &other, answers.unit);
                    Some(())
                },
            ),
        ];
        claims.extend(self.than_best("InfluxDB ingests faster", ingest));
        claims.extend(self.than_best("InfluxDB needs less disk", disk));
        claims.extend(self.than_best(faster, answers));
        claims
    }

    /// Whether InfluxDB is so many times as good as MongoDB.
    fn better(&self, text: &str, factor: f64, of: &Quantity<'_>) -> Claim {
        let holds = match factor > 1.0 {
            true => format!("{factor} times or more, no tolerance"),
            false => "at all".to_owned(),
        };
        claim(text, holds, |claim| {
            let [one, other] = self.results.both(claim, self.found, &of.metric)?;
            of.judge(claim, &one, factor, &other);
            Some(())
        })
    }

    /// The same against MongoDB's layout that is the best at it here; none where MongoDB was measured with one layout.
    fn than_best(&self, text: &str, of: &Quantity<'_>) -> Option<Claim> {
        let influxdb = self.results.sample(self.found[0].1?, &of.metric);
        let best = self.results.best(MONGODB, of)?;
        let text = format!("{text} than MongoDB's best layout");
        let holds = "at all (not a claim of the study)";
        Some(claim(text, holds, |claim| {
            of.judge(claim, &influxdb, 1.0, &best);
            Some(())
        }))
    }

    fn level_ingest(&self) -> Claim {
        let kept = (1.0 - LEVEL) * 100.0;
        let holds = format!("{kept} % or more of the rate at first");
        claim("ingest stays level as the data grows", holds, |claim| {
            let Some(&hours) = self.parameters.more_hours.last() else {
                claim.missing("a longer span (--set more_hours=)");
                return None;
            };
            for found in self.found {
                let Some(arm) = claim.needs(found) else {
                    continue;
                };
                let of = |load| self.results.values(arm, &rate_of(load));
                let (first, last) = (of(load(self.most_workers)), of(grow(hours)));
                if !has(&first) || !has(&last) {
                    claim.missing(&format!("{} growing", arm.label));
                    continue;
                }
                let text = format!(
                    "{}: {} values/s at {} h, {} at {hours} h",
                    arm.label,
                    shown(&first),
                    self.parameters.hours,
                    shown(&last)
                );
                claim.part(is_less(&times(&first, 1.0 - LEVEL), &last), text);
            }
            Some(())
        })
    }

    fn level_ratio(&self) -> Claim {
        let text = "the ratio of questions a second stays level as clients are added";
        let holds = format!("{} to {} times", 1.0 - LEVEL, 1.0 / (1.0 - LEVEL));
        claim(text, holds, |claim| {
            let (first, most) = self.ends;
            if first == most {
                claim.missing("several numbers of clients (--set clients=1,4)");
                return None;
            }
            let rates = |claim: &mut Claim, clients| {
                let rate = self.by_clients(clients).metric;
                self.results.both(claim, self.found, &rate)
            };
            let [[one, other], late] = [rates(claim, first)?, rates(claim, most)?];
            let early = ratios(&one.values, &other.values);
            let late = ratios(&late[0].values, &late[1].values);
            if !has(&early) || !has(&late) {
                claim.missing("the study's question");
                return None;
            }
            let text = format!(
                "{} to {}: ×{} with {first}, ×{} with {most} clients",
                one.arm.label,
                other.arm.label,
                shown(&early),
                shown(&late)
            );
            claim.part(is_level(&late, &early, LEVEL), text);
            Some(())
        })
    }

    fn published(&self) -> Table {
        let compared = &self.compared();
        let found = self.found.iter().zip(PRINTED);
        let found = found.filter_map(|((title, arm), (_, printed))| Some((title, (*arm)?, printed)));
        let rows = found.clone().flat_map(|(title, arm, printed)| {
            let figures = compared.iter().zip(printed);
            figures.map(move |(of, printed)| of.beside(self.results, title, arm, printed))
        });
        let title = "Ingest, disk and the study's question";
        let mut table = table("published_devops", title, &["database", "figure"], rows);
        for (title, arm, _) in found {
            table.note(format!("{title}: here {}.", arm.label));
        }
        table.noted("The study does not say whether its bytes a value count logs; ours do not.")
    }

    /// Bars of a figure that the study printed; `place` is its place in [`PRINTED`].
    fn bars(&self, id: &str, title: &str, name: &str, place: usize) -> Figure {
        let of = &self.compared()[place];
        let found = self.found.into_iter().zip(PRINTED);
        let printed = found.map(|((title, arm), (_, printed))| (title, arm, printed[place]));
        let here = |arm: &Arm| of.cell(self.results, arm);
        Figure::bars(id, title, (name, of.unit)).beside(self.results.arms(), here, printed)
    }

    fn figures(&self) -> Vec<Figure> {
        let results = self.results;
        let printed =
            |place: usize, at| PRINTED.map(|(title, printed)| (title, Cell::Count(at), printed[place]));
        let (x, y) = (("workers", ""), ("ingest", "values/s"));
        let ingest = Figure::lines("ingest", "Ingest over workers", x, y)
            .over(results, &self.workers, Self::by_workers)
            .all_published(printed(0, SIZES.2));
        let title = "The study's question: mean time";
        let words = QUESTION.words(&self.parameters);
        let question = self.bars("question", title, "mean", 2);
        let times = QuestionKind::ALL.into_iter().flat_map(|kind| {
            let time = time("", "ms", self.asked(kind, self.ends.0).mean_ms());
            results.arms().map(move |arm| {
                let time = time.cell(results, arm);
                (arm.label.clone(), Some(Cell::text(kind.name())), time)
            })
        });
        let (title, y) = ("All questions: mean time", ("mean", "ms"));
        let questions =
            Figure::groups("questions", title, "question", y).note("The study asked the one question alone.");
        let (x, y) = (("clients", ""), ("questions", "1/s"));
        let over_clients = Figure::lines("clients", "The study's question over clients", x, y)
            .over(results, &self.clients, |clients| self.by_clients(clients))
            .all_published(printed(3, 1))
            .note("The study's rate is that of one client: it is one by its mean time.");
        vec![
            ingest,
            self.bars("disk", "Disk for a value, at rest", "disk", 1),
            question.note(&format!("{words}.")),
            questions.all_here(times),
            over_clients,
        ]
    }
}
