//! What a database goes through in its life besides its clients' work: a task of a phase, and what it changes of what has to be stored.
//!
//! The coordinator does a task between two spells of its phase's work, and proves the data after it.

mod means;

pub use means::{BACKUP, CORRECT, DELETE, Entry, RESTART, RESTORE, check_means, render};

use crate::deployment::Deployment;
use minijinja::Value;
use sensormark_result::ledger::journal::Standing;
use sensormark_result::ledger::reconcile::Written;
use sensormark_result::measurement::lifecycle::TaskRecord;
use sensormark_server::{ManagedServer, Supervisor};
use sensormark_store::{Batch, Plan, ServerOptions, Values};
use std::borrow::Cow;
use std::ops::Range;
use std::path::Path;

/// What is done beside a phase's clients, or in place of them, by a database's own means.
#[derive(Debug, Default)]
pub struct Task {
    /// Its name in results.
    pub name: String,
    /// The means that are used, by their names, and what their steps are told beside names of places and tables.
    pub parts: Vec<(String, Value)>,
    /// The table that it is about.
    pub table: usize,
    /// How long the phase's clients work before it, and as long after it, in ns.
    pub beside_ns: u64,
    /// Whether it is of a life's rounds: clients work on until all of their work is done, however long it takes. What the store has no means for is noted, and
    /// what is changed is proved with everything else at the end of the trial. It fills all tables but the first: no client writes them, and their content is
    /// asked for, not counted.
    pub is_round: bool,
    /// Why it cannot be done on this store; the phase is then not measured.
    pub missing: Option<String>,
    /// What it changes of what has to be stored.
    pub change: Option<Change>,
}

/// Where a task is done.
pub struct Site<'a> {
    /// The server, or the embedded database's folder.
    pub deployment: &'a Deployment,
    /// The database.
    pub plan: &'a Plan,
    /// A folder for backups, the same for all tasks of a trial.
    pub folder: &'a Path,
    /// What starts a second server.
    pub supervisor: &'a Supervisor,
    /// Its options.
    pub options: &'a ServerOptions,
}

/// What a task did.
#[derive(Default)]
pub struct Done {
    /// What results have of it: its means, without secrets, its parts and its cost.
    pub record: TaskRecord,
    /// The copy that it brought back, which is proved in place of the database, and dropped.
    pub restored: Option<Plan>,
    /// What is gone goes in parts of this width, so that the oldest readings may stay so much longer, in ns.
    pub slack_ns: i64,
    /// The statement that drops the copy; the administrator does where there is none.
    pub drop: String,
    /// The second server that has it.
    pub server: Option<ManagedServer>,
}

/// A change of what has to be stored.
#[derive(Debug, Clone, PartialEq)]
pub enum Change {
    /// Readings of this table before this time are gone.
    Gone(usize, i64),
    /// Readings of this table in this range of time have this value in this field of floating point numbers.
    Corrected(usize, Range<i64>, usize, f64),
}

impl Change {
    fn apply<'b>(&self, mut batch: Cow<'b, Batch>) -> Cow<'b, Batch> {
        match self {
            Self::Gone(table, before_ns) if *table == batch.table => {
                Cow::Owned(batch.kept(|row| batch.times_ns[row] >= *before_ns))
            }
            Self::Corrected(table, times, field, value) if *table == batch.table => {
                let Batch { columns, times_ns, .. } = batch.to_mut();
                if let Values::F64(values) = &mut columns[*field].values {
                    let corrected = values.iter_mut().zip(&*times_ns);
                    corrected.filter(|(_, time)| times.contains(time)).for_each(|(one, _)| *one = *value);
                }
                batch
            }
            _ => batch,
        }
    }
}

/// What was written, with these changes in their order.
pub struct Changed<'a, W> {
    /// What was written.
    pub written: W,
    /// The changes.
    pub changes: Vec<&'a Change>,
    /// Readings that are gone may stay so much longer, in ns.
    pub slack_ns: i64,
    /// Tables that tasks fill.
    pub filled: Range<usize>,
}

impl<W> Changed<'_, W> {
    fn change(&self, batch: &Batch, standing: Standing, sink: &mut dyn FnMut(&Batch, Standing)) {
        let changes = self.changes.iter();
        let changed = changes.fold(Cow::Borrowed(batch), |batch, change| change.apply(batch));
        sink(&changed, standing);
    }
}

impl<W: Written> Written for Changed<'_, W> {
    fn for_each(&self, sink: &mut dyn FnMut(&Batch, Standing)) {
        self.written.for_each(&mut |batch, standing| self.change(batch, standing, sink));
    }

    fn for_each_kept(&self, sink: &mut dyn FnMut(&Batch, Standing)) {
        self.written.for_each_kept(&mut |batch, standing| self.change(batch, standing, sink));
    }

    fn replaces(&self) -> bool {
        self.written.replaces()
    }

    fn gone(&self, table: usize) -> Range<i64> {
        if self.filled.contains(&table) {
            return i64::MIN..i64::MAX;
        }
        let gone = self.changes.iter().filter_map(|change| match change {
            Change::Gone(of, before_ns) if *of == table => Some(*before_ns),
            _ => None,
        });
        gone.max().map_or(i64::MIN..i64::MIN, |before_ns| before_ns.saturating_sub(self.slack_ns)..before_ns)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use sensormark_store::Column;

    struct One<'a>(&'a Batch);

    impl Written for One<'_> {
        fn for_each(&self, sink: &mut dyn FnMut(&Batch, Standing)) {
            sink(self.0, Standing::Acknowledged);
        }
    }

    fn of(times_ns: &[i64], values: &[f64]) -> Batch {
        let values = Values::F64(values.to_vec());
        Batch {
            table: 0,
            times_ns: times_ns.to_vec(),
            series: vec![0; times_ns.len()],
            columns: vec![Column { values, present: None }],
        }
    }

    /// What is exactly so old stays, and the reading that a correction ends at keeps its value.
    #[test]
    fn a_change_is_of_its_table_and_time_alone() {
        let batch = of(&[1, 2, 3], &[10.0, 20.0, 30.0]);
        assert_eq!(*Change::Gone(0, 2).apply(Cow::Borrowed(&batch)), of(&[2, 3], &[20.0, 30.0]));
        assert_eq!(*Change::Gone(1, 2).apply(Cow::Borrowed(&batch)), batch, "another table");
        let corrected = Change::Corrected(0, 1..3, 0, 0.5).apply(Cow::Borrowed(&batch));
        assert_eq!(*corrected, of(&[1, 2, 3], &[0.5, 0.5, 30.0]));
        let changes = [Change::Gone(0, 2), Change::Corrected(0, 1..3, 0, 0.5)];
        let changed =
            Changed { written: One(&batch), changes: changes.iter().collect(), slack_ns: 0, filled: 0..0 };
        changed.for_each(&mut |batch, _| assert_eq!(*batch, of(&[2, 3], &[0.5, 30.0])));
    }
}
