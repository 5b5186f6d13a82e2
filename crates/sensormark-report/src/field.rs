//! Who is compared: trials sorted by implementation and repetition. It judges nothing and computes no figure.

use crate::prelude::*;

/// The trials of one side of one implementation, one a repetition.
#[derive(Debug)]
pub struct Arm {
    /// The name in tables, printable, unique among its side's.
    pub label: String,
    /// What was measured.
    pub implementation: Implementation,
    /// Places in [`Field::trials`], one for each of [`Field::blocks`].
    pub places: Vec<Option<usize>>,
}

/// A run's trials, sorted.
#[derive(Debug)]
pub struct Field {
    /// The run.
    pub run: RunRecord,
    /// The trials that count: of each implementation and repetition the first attempt that came to a conclusion ([`TrialRecord::counts_instead_of`]).
    pub trials: Vec<TrialRecord>,
    /// Other attempts, which do not count.
    pub superseded: Vec<TrialRecord>,
    /// The repetitions that there are, ascending.
    pub blocks: Vec<u32>,
    /// What was written, in the order of the first repetition.
    pub writes: Vec<Arm>,
    /// What was read.
    pub reads: Vec<Arm>,
    /// What did both at once.
    pub mixed: Vec<Arm>,
}

/// Whether both kept their data in the same way, whatever their servers were.
pub fn same_layout(one: &Implementation, other: &Implementation) -> bool {
    one.store == other.store
        && one.layout_name == other.layout_name
        && one.layout == other.layout
        && one.durability == other.durability
}

/// What trials of one write and its reads have in common.
fn same_data(one: &Implementation, other: &Implementation) -> bool {
    same_layout(one, other) && one.server == other.server
}

/// Whether they read the same data in the same way, or wrote it.
fn same_arm(one: &Implementation, other: &Implementation) -> bool {
    same_data(one, other) && one.strategy == other.strategy && one.cache == other.cache
}

/// Whether both measured the same of the same implementation.
fn same_trial(one: &TrialRecord, other: &TrialRecord) -> bool {
    one.side == other.side && same_arm(&one.implementation, &other.implementation)
}

impl Field {
    /// Sorts the trials of a run.
    pub fn new(run: RunRecord, mut all: Vec<TrialRecord>) -> Self {
        all.sort_by_cached_key(|of| (of.repetition, of.turn, of.attempt, of.started.clone()));
        let (mut trials, mut superseded): (Vec<TrialRecord>, Vec<TrialRecord>) = Default::default();
        for trial in all {
            let same = trials
                .iter_mut()
                .find(|other| other.repetition == trial.repetition && same_trial(other, &trial));
            match same {
                None => trials.push(trial),
                Some(earlier) if trial.counts_instead_of(earlier) => {
                    superseded.push(std::mem::replace(earlier, trial));
                }
                Some(_) => superseded.push(trial),
            }
        }
        let mut blocks = trials.iter().map(|trial| trial.repetition).collect_vec();
        blocks.sort_unstable();
        blocks.dedup();
        let [writes, reads, mixed] =
            [Side::Write, Side::Read, Side::Mixed].map(|side| arms(&trials, &blocks, side));
        Self { run, trials, superseded, blocks, writes, reads, mixed }
    }

    /// Who is ranked: ways of reading, each with what it reads; where trials do both at once, those.
    pub fn contestants(&self) -> &[Arm] {
        if self.has_phases() { &self.mixed } else { &self.reads }
    }

    /// Whether trials go through phases of loads, writing and asking in one.
    pub fn has_phases(&self) -> bool {
        self.reads.is_empty() && self.writes.is_empty() && !self.mixed.is_empty()
    }

    /// The arm that wrote what this one reads; itself where it does both.
    pub fn write_of(&self, read: &Arm) -> Option<&Arm> {
        self.writers().find(|write| same_data(&write.implementation, &read.implementation))
    }

    /// The arms that read what this one wrote.
    pub fn reads_of<'a>(&'a self, write: &'a Arm) -> impl Iterator<Item = &'a Arm> {
        self.reads.iter().filter(|read| same_data(&write.implementation, &read.implementation))
    }

    /// The arm's trials, by repetition.
    pub fn trials_of<'a>(&'a self, arm: &'a Arm) -> impl Iterator<Item = &'a TrialRecord> {
        arm.places.iter().flatten().map(|place| &self.trials[*place])
    }

    /// The trials of all arms, arm by arm, each with what its side is called, and its arm.
    pub fn each(&self) -> impl Iterator<Item = (&'static str, &Arm, &TrialRecord)> {
        self.all().flat_map(move |(side, arm)| self.trials_of(arm).map(move |trial| (side, arm, trial)))
    }

    /// The trials of all arms, arm by arm.
    pub fn by_arm(&self) -> impl Iterator<Item = &TrialRecord> {
        self.each().map(|(_, _, trial)| trial)
    }

    /// The arms that write.
    pub fn writers(&self) -> impl Iterator<Item = &Arm> {
        self.writes.iter().chain(&self.mixed)
    }

    /// Those of these arms that have a valid trial.
    pub fn believed<'a>(&'a self, arms: &'a [Arm]) -> impl Iterator<Item = &'a Arm> {
        arms.iter().filter(|arm| self.valid_of(arm).next().is_some())
    }

    /// The arm's trials whose figures may be believed.
    pub fn valid_of<'a>(&'a self, arm: &'a Arm) -> impl Iterator<Item = &'a TrialRecord> {
        self.trials_of(arm).filter(|trial| trial.verdict.is_valid())
    }

    /// All of the arm's trials, attempts included that do not count.
    pub fn attempts_of<'a>(&'a self, arm: &'a Arm) -> impl Iterator<Item = &'a TrialRecord> {
        let counts = self.trials_of(arm).next();
        self.superseded
            .iter()
            .filter(move |trial| counts.is_some_and(|one| same_trial(one, trial)))
            .chain(self.trials_of(arm))
    }

    /// A figure of the arm in each repetition; none where the trial is missing or not valid.
    pub fn figures(&self, arm: &Arm, figure: impl Fn(&TrialRecord) -> Known) -> Vec<Known> {
        let of = |place: &Option<usize>| {
            let trial = &self.trials[(*place)?];
            if trial.verdict.is_valid() { figure(trial) } else { None }
        };
        arm.places.iter().map(of).collect()
    }

    /// All arms: writes, reads, and what did both at once, each with what its side is called.
    pub fn all(&self) -> impl Iterator<Item = (&'static str, &Arm)> {
        [("write", &self.writes), ("read", &self.reads), ("both", &self.mixed)]
            .into_iter()
            .flat_map(|(side, arms)| arms.iter().map(move |arm| (side, arm)))
    }
}

fn arms(trials: &[TrialRecord], blocks: &[u32], side: Side) -> Vec<Arm> {
    let mut arms: Vec<Arm> = vec![];
    for (place, trial) in trials.iter().enumerate().filter(|(_, trial)| trial.side == side) {
        // Every repetition is listed.
        let Ok(block) = blocks.binary_search(&trial.repetition) else {
            continue;
        };
        let arm = arms
            .iter()
            .position(|arm| same_arm(&arm.implementation, &trial.implementation))
            .unwrap_or_else(|| {
                arms.push(Arm {
                    label: unique(clean(&trial.implementation.label()), &arms),
                    implementation: trial.implementation.clone(),
                    places: vec![None; blocks.len()],
                });
                arms.len() - 1
            });
        arms[arm].places[block] = Some(place);
    }
    arms
}

/// The label, with a number behind it where it is taken.
fn unique(label: String, arms: &[Arm]) -> String {
    (1..)
        .map(|number| if number == 1 { label.clone() } else { format!("{label} ({number})") })
        .find(|label| arms.iter().all(|arm| arm.label != *label))
        .expect("numbers do not end")
}
