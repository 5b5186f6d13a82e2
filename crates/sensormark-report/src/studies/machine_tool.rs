//! The machine-tool study: resources and scores of MariaDB, MongoDB and InfluxDB, written to and read from at 1,000 samples a second.

mod claims;
mod drawings;
pub mod printed;

use super::figure::Figure;
use super::quantity::{Quantity, amount};
use super::select::{Metric, Results};
use super::study::{Declaration, Study};
use super::table::{Row, column, section, table, words};
use crate::claims::Found;
use crate::criteria::{self, figure};
use crate::field::{Arm, Field};
use crate::ranking::{Ranked, Ranking};
use crate::sections::cells::points;
use crate::tables::{Cell, Section, Spread, Table};
use printed::{CRITERIA, READING, SCORES, WRITING};
use sensormark_data::number::fixed;
use sensormark_result::measurement::names;
use sensormark_result::measurement::record::TrialRecord;
use sensormark_store::{Durability, Layout, Shape, TimeKey, WriteMethod};
use sensormark_workload::machine_tool::{NAME, is_in_seconds};
use std::collections::BTreeMap;

/// The study.
pub const STUDY: Study = Study {
    workload: NAME,
    title: "High-frequency machine-tool sensor data in MariaDB, MongoDB and InfluxDB (a description: the text at hand begins at the abstract)",
    authors: &[],
    venue: "",
    versions: &[("InfluxDB", "not stated"), ("MariaDB", "not stated"), ("MongoDB", "not stated")],
    system: "CentOS 7; clients in C and C++. The study states no version of a database",
    notes: &[
        "The read scores come out to the printed whole percent in one way only: the difficulty term is left out of the sum, and its weight stays in the divisor. The write scores, with the difficulty term in, come within 2.5 points, because server CPU is printed as whole percents.",
        "MariaDB individual's score for reading: the text at hand has a garbled \"1%\" in Table III; read = 71 is inferred. It is what the total takes, (15 + 71) / 2 = 43, and what the formula gives of Table V.",
        "MariaDB bulk: the table says 71 in total, which is the mean of its write and read scores; the study's text says 75.",
        "MariaDB individual and MongoDB individual have the same printed total, 43, and are ranked 6 and 7. From the printed columns they are 42.3 and 43.1, so their ranks change places, within what the rounding of server CPU allows. All other ranks come out as printed.",
        "The study tried one InfluxDB writer; its write score stands in the row of all three ways of reading.",
        "MongoDB individual did not keep up with three reads a second.",
        "InfluxDB bulk-1's client memory is a leak in the study's own reader, it says.",
    ],
    notes_title: "What the study leaves open or says twice differently:",
    declare: |results| Some(MachineTool::new(results).declare()),
    draw: drawings::drawings,
};

/// For how long it measured, in seconds.
const MEASURED_SECONDS: u32 = 900;

/// A row of the study's, by its implementation's name, and what stands for it here.
type Pairs<'a> = Vec<(&'static str, &'a Arm)>;

/// A run, and what of the study was measured in it with valid trials.
struct MachineTool<'a> {
    results: Results<'a>,
    writes: Pairs<'a>,
    reads: Pairs<'a>,
    /// The ranking among these alone, because scores depend on who is compared. Absent when there is none.
    ranking: Option<Ranking>,
}

/// The study's grades of difficulty, of writing and of reading, by the names in the ranking of what stands for its implementations here.
pub fn published_difficulties(field: &Field) -> [BTreeMap<String, f64>; 2] {
    let (writes, reads) = pairs(field);
    let of_writer = |name: &str| {
        let row = WRITING.iter().find(|(own, ..)| *own == name);
        row.map(|(.., difficulty)| *difficulty)
    };
    let [mut writing, mut reading] = [BTreeMap::new(), BTreeMap::new()];
    // Tables of resources name what wrote; the ranking names what read, on both sides.
    for (name, arm) in &writes {
        writing.extend(of_writer(name).map(|difficulty| (arm.label.clone(), difficulty)));
    }
    for (name, arm) in &reads {
        let row = READING.iter().find(|(own, ..)| own == name);
        reading.extend(row.map(|(.., difficulty)| (arm.label.clone(), *difficulty)));
        let score = SCORES.iter().find(|score| score.name == *name);
        let written = score.and_then(|score| of_writer(score.writer));
        writing.extend(written.map(|difficulty| (arm.label.clone(), difficulty)));
    }
    [writing, reading]
}

/// What stands for the rows of the study's write table, and of its read table.
fn pairs(field: &Field) -> (Pairs<'_>, Pairs<'_>) {
    let writes = WRITING.iter().filter_map(|(name, ..)| Some((*name, written(field, name)?)));
    let writes: Pairs<'_> = writes.collect();
    let reads = SCORES.iter().filter_map(|row| {
        let written = writes.iter().find(|(name, _)| *name == row.writer);
        let written = written.map(|(_, arm)| *arm);
        Some((row.name, read(field, row.name, row.writer, written)?))
    });
    let reads = reads.collect();
    (writes, reads)
}

/// The study's name of an implementation as the database's title and the rest: "InfluxDB", "bulk-1".
fn parted(name: &str) -> (&str, Option<&str>) {
    name.split_once(' ').map_or((name, None), |(title, word)| (title, Some(word)))
}

/// Whether the layout is of the family that the study's word names.
fn is_family(arm: &Arm, word: &str) -> bool {
    let rest = arm.implementation.layout_name.strip_prefix(word);
    rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('-'))
}

/// In what a layout is unlike what the study wrote, worst first: InfluxDB's writer sent floating point fields in datagrams, and MongoDB's times
/// were dates of milliseconds.
fn unlike(title: &str, layout: &Layout) -> [bool; 2] {
    match title {
        "InfluxDB" => [layout.write != WriteMethod::Datagram, !layout.float_fields],
        "MongoDB" => [layout.shape == Shape::NativeTimeSeries, layout.time != TimeKey::Native],
        _ => [false; 2],
    }
}

/// Implementations of a side that have a valid trial, and stand for what the study wrote: each sample by itself, or records of a second.
fn valid<'a>(field: &'a Field, arms: &'a [Arm], title: &str) -> impl Iterator<Item = &'a Arm> {
    let own = move |arm: &&Arm| {
        let own = &arm.implementation;
        own.title == title && !is_in_seconds(&own.layout_name) && field.valid_of(arm).next().is_some()
    };
    arms.iter().filter(own)
}

/// The nearest to what the study did: as the database comes, the layout as the study's, else the usual one of the family.
fn written<'a>(field: &'a Field, name: &str) -> Option<&'a Arm> {
    let (title, word) = parted(name);
    let own = valid(field, &field.writes, title);
    let own = own.filter(|arm| word.is_none_or(|word| is_family(arm, word)));
    own.min_by_key(|arm| {
        let own = &arm.implementation;
        (
            own.durability != Durability::Default,
            unlike(title, &own.layout),
            own.layout_name != word.unwrap_or("individual"),
        )
    })
}

/// The same way of reading, best of what its write counterpart wrote.
fn read<'a>(field: &'a Field, name: &str, writer: &str, written: Option<&Arm>) -> Option<&'a Arm> {
    let (title, word) = parted(name);
    let (word, family) = (word?, parted(writer).1);
    let fits = |arm: &&Arm| {
        arm.implementation.strategy.as_deref() == Some(word)
            && family.is_none_or(|family| is_family(arm, family))
    };
    valid(field, &field.reads, title).filter(fits).min_by_key(|arm| {
        let own = field.write_of(arm).map(|write| &write.label);
        (
            own.is_none() || own != written.map(|write| &write.label),
            arm.implementation.durability != Durability::Default,
        )
    })
}

/// The ranking of these alone.
fn ranking(results: Results<'_>, reads: &Pairs<'_>) -> Option<Ranking> {
    let field = results.field;
    let mut own = field.clone();
    own.reads.retain(|read| reads.iter().any(|(_, arm)| arm.label == read.label));
    let mut ranking = Ranking::new(&own, results.options).ok()?;
    ranking.board.as_ref()?;
    // Places are those of the field as it was.
    for one in &mut ranking.ranked {
        one.read = field.reads.iter().position(|read| read.label == one.standing.name)?;
    }
    Some(ranking)
}

/// The server's resident memory at the end of the measured phase, in units of 1,024 bytes.
fn resident_kilobytes(trial: &TrialRecord) -> Option<f64> {
    let totals = criteria::measured(trial)?.totals.as_ref()?;
    Some(totals.roles.get("server")?.end_resident_bytes as f64 / 1_024.0)
}

/// Growth of the data folder from before writing until right after it, in MB.
fn unsettled_disk(trial: &TrialRecord) -> Option<f64> {
    Some((figure(trial, names::DISK_AFTER)? - figure(trial, names::DISK_BEFORE)?) / 1e6)
}

/// One of the two sides that the study measured.
struct Side<'a> {
    id: &'static str,
    title: &'static str,
    arms: &'a [Arm],
    pairs: &'a Pairs<'a>,
    /// Rows of the study: its implementation and its figures, in the order of [`CRITERIA`].
    printed: Vec<(&'static str, &'static [f64])>,
}

impl<'a> MachineTool<'a> {
    fn new(results: Results<'a>) -> Self {
        let (writes, reads) = pairs(results.field);
        Self { ranking: ranking(results, &reads), results, writes, reads }
    }

    fn declare(&self) -> Declaration {
        let is_empty = self.writes.is_empty() && self.reads.is_empty();
        let mut instead_of_claims = vec![
            "No database of the study has a valid trial here, so none of its claims can be judged."
                .to_owned(),
        ];
        let others = self.others_bulk();
        if !others.is_empty() {
            instead_of_claims.push(format!("Bulk against individual writing: {others}."));
        }
        let mut measured = self.results.field.trials.iter().filter_map(criteria::measured);
        let measured = measured
            .next()
            .map_or_else(String::new, |phase| format!(", we for {} s", fixed(phase.seconds, 0)));
        let setting = format!(
            "Study: {}. Its server: Core i5-4670, 16 GB, SATA SSD; writer: Banana Pi M3, 8 x Cortex-A7, 2 GB; reader: Core i7-4785T, 16 GB; gigabit Ethernet. It measured for {MEASURED_SECONDS} s{measured}. Ratios tell of the machines and versions as much as of the databases.",
            STUDY.title
        );
        let [writing, reading] = &self.sides();
        let write = self.beside("published_write", "Writing: the study's table IV and ours", writing);
        let read = self.beside("published_read", "Reading: the study's table V and ours", reading);
        let mut figures = self.score_figures();
        figures.extend([writing, reading].into_iter().flat_map(|side| self.bars(side)));
        Declaration {
            claims: if is_empty { Vec::new() } else { self.claims() },
            instead_of_claims,
            figures,
            setting: (!is_empty).then_some(setting),
            published: vec![
                write.noted("The study's disk is after 20 minutes of 1,000 samples a second; ours after what was written here."),
                read,
                self.scores(),
            ],
            further: vec![self.as_study()],
            ..Declaration::default()
        }
    }

    fn sides(&self) -> [Side<'_>; 2] {
        [
            Side {
                id: "write",
                title: "Writing",
                arms: &self.results.field.writes,
                pairs: &self.writes,
                printed: WRITING.iter().map(|(name, row, _)| (*name, &row[..])).collect(),
            },
            Side {
                id: "read",
                title: "Reading",
                arms: &self.results.field.reads,
                pairs: &self.reads,
                printed: READING.iter().map(|(name, row, _)| (*name, &row[..])).collect(),
            },
        ]
    }

    /// What stands for this row of the study's write table; where nothing of the database was measured, the report names the database.
    fn writer<'n>(&self, name: &'n str) -> Found<'a, 'n> {
        self.found(&self.writes, name)
    }

    /// The same of its read table.
    fn reader<'n>(&self, name: &'n str) -> Found<'a, 'n> {
        self.found(&self.reads, name)
    }

    fn found<'n>(&self, pairs: &Pairs<'a>, name: &'n str) -> Found<'a, 'n> {
        let (title, _) = parted(name);
        let is_there = self.writes.iter().chain(&self.reads).any(|(row, _)| parted(row).0 == title);
        let arm = pairs.iter().find(|(row, _)| *row == name).map(|(_, arm)| *arm);
        (if is_there { name } else { title }, arm)
    }

    /// A criterion of the score.
    fn criterion(&self, id: &'static str) -> Metric<'a> {
        let run = &self.results.field.run;
        Metric::new(move |trial| criteria::values(trial, run).get(id).copied())
    }

    fn quantity(&self, (id, name, unit): (&'static str, &'static str, &'static str)) -> Quantity<'a> {
        amount(name, unit, self.criterion(id))
    }

    /// A side's figures of the study beside ours.
    fn beside(&self, id: &str, title: &str, side: &Side<'_>) -> Table {
        let measured = side.printed.iter().filter_map(|(name, figures)| {
            let (_, arm) = side.pairs.iter().find(|(row, _)| row == name)?;
            Some((*name, *arm, *figures))
        });
        let rows = measured.clone().flat_map(|(name, arm, figures)| {
            let figures = CRITERIA.into_iter().zip(figures);
            figures.map(move |(criterion, &printed)| {
                let quantity = self.quantity(criterion);
                quantity.beside(self.results, name, arm, printed)
            })
        });
        let mut table = table(id, title, &["implementation", "figure"], rows);
        for (name, arm, _) in measured.filter(|(name, arm, _)| arm.label != *name) {
            table.note(format!("{name}: here {}.", arm.label));
        }
        table
    }

    /// Who has a score among the study's implementations alone, by the study's name; none where fewer than two have one.
    fn ranked(&self, name: &str) -> Option<&Ranked> {
        let (_, arm) = self.reader(name);
        let ranking = self.ranking.as_ref().filter(|ranking| ranking.ranked.len() > 1)?;
        let mut ranked = ranking.ranked.iter();
        ranked.find(|one| arm.is_some_and(|arm| one.label() == arm.label))
    }

    fn scores(&self) -> Table {
        let count = |value: usize| Cell::count(u64::try_from(value).ok(), "");
        let rows = SCORES.iter().filter_map(|row| -> Option<Row> {
            let one = self.ranked(row.name)?;
            let [write, read] = row.phases.map(|score| Cell::Count(score.into()));
            let columns = vec![
                column("writing, study", "", write),
                column("writing, here", "", Cell::number(one.standing.phases[0])),
                column("reading, study", "", read),
                column("reading, here", "", Cell::number(one.standing.phases[1])),
                column("total, study", "", Cell::Count(row.total.into())),
                column("total, here", "", Cell::number(one.standing.total)),
                column("rank, study", "", count(row.rank)),
                column("rank, here", "", count(one.rank)),
            ];
            Some((words([row.name]), columns))
        });
        let title = "Scores: the study's table III and ours, among these alone";
        table("published_scores", title, &["implementation"], rows).noted("The study's ranks are among its seven. Its scores weigh difficulty too; ours only when it is given for everybody.")
    }

    /// What the study measured in another way than we do: the server's resident memory, and disk before the database has settled. Empty where the run did
    /// not follow the study.
    fn as_study(&self) -> Section {
        let field = self.results.field;
        let sides = [("write", &field.writes), ("read", &field.reads)];
        let rows = sides.into_iter().flat_map(|(side, arms)| {
            let is_write = side == "write";
            let disk = move |name, metric: Metric<'a>| match is_write {
                true => amount(name, "MB", metric),
                false => amount(name, "MB", Metric::new(|_| None)).or("measured after writing alone"),
            };
            let quantities = [
                amount("server memory, resident", "kB", Metric::new(resident_kilobytes)),
                amount("server memory, ours", "kB", self.criterion("server_memory")),
                disk("disk, not settled", Metric::new(unsettled_disk)),
                disk("disk, ours", self.criterion("disk")),
            ];
            self.results.valid(arms).map(move |arm| {
                let columns = self.results.columns(arm, &quantities);
                (words([&arm.label, side]), columns)
            })
        });
        let rows = rows.filter(|_| field.run.as_study);
        let title = "Resident memory and unsettled disk beside ours";
        let table = table("as_study_resources", title, &["implementation", "side"], rows)
            .noted("resident: what ps shows as RSS, summed over the server's processes just before the end; pages that they share count in each of them. Ours counts each page once. A kB is 1,024 bytes.")
            .noted("not settled: growth of the data folder from before writing until right after it, as du had it. Ours is taken after settling.");
        section("as_study", "Memory and disk as the study took them", [table])
    }

    /// The bars of each criterion of a side.
    fn bars(&self, side: &Side<'_>) -> Vec<Figure> {
        let measured = side.printed.iter().map(|(_, figures)| figures.len()).max();
        let criteria = CRITERIA.into_iter().enumerate().take(measured.unwrap_or(0));
        let bars = criteria.map(|(place, criterion)| {
            let (id, name, unit) = criterion;
            let quantity = self.quantity(criterion);
            let printed = side.printed.iter().map(|(name, figures)| {
                let mut pairs = side.pairs.iter();
                let arm = pairs.find(|(row, _)| row == name).map(|(_, arm)| *arm);
                (*name, arm, figures[place])
            });
            let id = format!("{}_{id}", side.id);
            Figure::bars(&id, &format!("{}: {name}", side.title), (name, unit)).beside(
                self.results.valid(side.arms),
                |arm| quantity.cell(self.results, arm),
                printed,
            )
        });
        bars.collect()
    }

    /// Scores of the study's implementations among themselves; none where fewer than two of them were measured.
    fn score_figures(&self) -> Vec<Figure> {
        if SCORES.iter().all(|row| self.ranked(row.name).is_none()) {
            return Vec::new();
        }
        let sides = ["Score in total", "Score in writing", "Score in reading"];
        let figures = sides.into_iter().enumerate().map(|(side, title)| {
            let mut figure = Figure::bars(&format!("score_{side}"), title, ("score", "of 100"));
            for row in &SCORES {
                if let Some(one) = self.ranked(row.name) {
                    let phases = &one.standing.phases;
                    let score = [one.standing.total, phases[0], phases[1]][side];
                    figure.here(row.name, None, points(score, Spread::None));
                }
                let printed = [row.total, row.phases[0], row.phases[1]][side];
                figure.published(row.name, "", None, f64::from(printed));
            }
            figure.note("Among the study's implementations alone, because scores depend on who is compared.")
        });
        figures.collect()
    }
}
