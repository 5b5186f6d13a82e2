//! Which of our implementations stands for which of the study's, and what each used.

use crate::measurement::record::TrialRecord;
use crate::published::MachineTool;
use crate::report::ReportOptions;
use crate::report::criteria;
use crate::report::field::{Arm, Field};
use crate::report::ranking::Ranking;
use sensormark_store::{Durability, Layout, Shape, TimeKey, WriteMethod};
use std::collections::BTreeMap;

/// The study, and what of it was measured here with valid trials.
pub struct Counterparts<'a> {
    /// The trials.
    pub field: &'a Field,
    /// The study.
    pub study: &'a MachineTool,
    /// Rows of the study's write table that have a counterpart.
    pub writes: Vec<(&'a str, &'a Arm)>,
    /// Rows of its read table that have one.
    pub reads: Vec<(&'a str, &'a Arm)>,
    /// The ranking among these alone: scores depend on who is compared. Absent when there is none.
    pub ranking: Option<Ranking>,
}

impl<'a> Counterparts<'a> {
    /// Finds the counterparts.
    pub fn new(field: &'a Field, study: &'a MachineTool, options: &ReportOptions) -> Self {
        let (writes, reads) = pairs(field, study);
        let ranking = ranking(field, &reads, options);
        Self {
            field,
            study,
            writes,
            reads,
            ranking,
        }
    }

    /// What stands for this row of the study's write table.
    pub fn write(&self, name: &str) -> Option<&'a Arm> {
        self.writes
            .iter()
            .find(|(row, _)| *row == name)
            .map(|(_, arm)| *arm)
    }

    /// What stands for this row of the study's read table.
    pub fn read(&self, name: &str) -> Option<&'a Arm> {
        self.reads
            .iter()
            .find(|(row, _)| *row == name)
            .map(|(_, arm)| *arm)
    }

    /// A criterion of an arm in each repetition.
    pub fn values(&self, arm: &Arm, criterion: &str) -> Vec<Option<f64>> {
        self.field.figures(arm, |trial: &TrialRecord| {
            criteria::values(trial, &self.field.run)
                .get(criterion)
                .copied()
        })
    }
}

/// A row of the study's, by its implementation's name, and what stands for it here.
type Pairs<'a> = Vec<(&'a str, &'a Arm)>;

/// What stands for the rows of the study's write table, and of its read table.
fn pairs<'a>(field: &'a Field, study: &'a MachineTool) -> (Pairs<'a>, Pairs<'a>) {
    let writes: Pairs<'a> = study
        .write
        .iter()
        .filter_map(|row| {
            Some((
                row.implementation.as_str(),
                write(field, &row.implementation)?,
            ))
        })
        .collect();
    let reads = study.score.iter().filter_map(|row| {
        let written = writes
            .iter()
            .find(|(name, _)| *name == row.write_implementation)
            .map(|(_, arm)| *arm);
        let (name, write_name) = (&row.implementation, &row.write_implementation);
        Some((name.as_str(), read(field, name, write_name, written)?))
    });
    let reads = reads.collect();
    (writes, reads)
}

/// The study's grades of difficulty, of writing and of reading, by the names of the arms that read.
pub fn difficulties(field: &Field, study: &MachineTool) -> [BTreeMap<String, f64>; 2] {
    let (writes, reads) = pairs(field, study);
    let [mut writing, mut reading] = [BTreeMap::new(), BTreeMap::new()];
    // Tables of resources name what wrote; the ranking names what read, for both sides.
    for (name, arm) in &writes {
        let row = study.write.iter().find(|row| row.implementation == *name);
        writing.extend(row.map(|row| (arm.label.clone(), row.difficulty)));
    }
    for (name, arm) in &reads {
        let score = study.score.iter().find(|row| row.implementation == *name);
        let row = study.read.iter().find(|row| row.implementation == *name);
        reading.extend(row.map(|row| (arm.label.clone(), row.difficulty)));
        let written = score.and_then(|score| {
            let mut rows = study.write.iter();
            rows.find(|row| row.implementation == score.write_implementation)
        });
        writing.extend(written.map(|row| (arm.label.clone(), row.difficulty)));
    }
    [writing, reading]
}

/// The study's name of an implementation as the database's title and the rest: "InfluxDB", "bulk-1".
fn parted(name: &str) -> (&str, Option<&str>) {
    name.split_once(' ')
        .map_or((name, None), |(title, word)| (title, Some(word)))
}

/// Whether the layout is of the family that the study's word names.
fn is_family(arm: &Arm, word: &str) -> bool {
    let name = arm.implementation.layout_name.as_str();
    name == word
        || name
            .strip_prefix(word)
            .is_some_and(|rest| rest.starts_with('-'))
}

fn is_usable(field: &Field, arm: &Arm) -> bool {
    field.valid_of(arm).next().is_some()
}

/// In what a layout is unlike what the study wrote, worst first: InfluxDB's writer sent floating point fields in datagrams, and MongoDB's times
/// were dates of milliseconds.
fn unlike(title: &str, layout: &Layout) -> [bool; 2] {
    match title {
        "InfluxDB" => [layout.write != WriteMethod::Datagram, !layout.float_fields],
        "MongoDB" => [
            layout.shape == Shape::NativeTimeSeries,
            layout.time != TimeKey::Native,
        ],
        _ => [false; 2],
    }
}

/// The nearest to what the study did: as the database comes, the layout as the study's, else the usual one of the family.
fn write<'a>(field: &'a Field, name: &str) -> Option<&'a Arm> {
    let (title, word) = parted(name);
    let fits = |arm: &&Arm| {
        arm.implementation.title == title
            && word.is_none_or(|word| is_family(arm, word))
            && is_usable(field, arm)
    };
    field.writes.iter().filter(fits).min_by_key(|arm| {
        let implementation = &arm.implementation;
        (
            implementation.durability != Durability::Default,
            unlike(title, &implementation.layout),
            implementation.layout_name != word.unwrap_or("individual"),
        )
    })
}

/// The same way of reading, best of what its write counterpart wrote.
fn read<'a>(
    field: &'a Field,
    name: &str,
    written_name: &str,
    written: Option<&Arm>,
) -> Option<&'a Arm> {
    let (title, word) = parted(name);
    let (word, family) = (word?, parted(written_name).1);
    let fits = |arm: &&Arm| {
        let implementation = &arm.implementation;
        implementation.title == title
            && implementation.strategy.as_deref() == Some(word)
            && family.is_none_or(|family| is_family(arm, family))
            && is_usable(field, arm)
    };
    field.reads.iter().filter(fits).min_by_key(|arm| {
        let own = field.write_of(arm).map(|write| &write.label);
        (
            own.is_none() || own != written.map(|write| &write.label),
            arm.implementation.durability != Durability::Default,
        )
    })
}

/// The ranking of these alone.
fn ranking(field: &Field, reads: &[(&str, &Arm)], options: &ReportOptions) -> Option<Ranking> {
    let mut own = field.clone();
    own.reads
        .retain(|read| reads.iter().any(|(_, arm)| arm.label == read.label));
    let ranking = Ranking::new(&own, options).ok()?;
    ranking.board.as_ref()?;
    // Places are those of the field as it was.
    let place = |label: &str| field.reads.iter().position(|read| read.label == label);
    let mut ranking = ranking;
    for one in &mut ranking.ranked {
        one.read = place(&one.standing.name)?;
    }
    Some(ranking)
}
