//! What a database goes through in its life besides its clients' work: a task of a phase, and what it changes of what has to be stored.
//!
//! The coordinator does a task between two spells of its phase's work, and proves the data after it.

mod means;

pub use means::{ADD_COLUMN, BACKUP, CORRECT, DELETE, Entry, Means, RESTART, RESTORE, check_means};

use crate::deployment::Deployment;
use sensormark_result::ledger::journal::Standing;
use sensormark_result::ledger::reconcile::Written;
use sensormark_server::{ManagedServer, Supervisor};
use sensormark_store::{Batch, Plan, ServerOptions, Store, StoreError, Values};
use std::ops::Range;
use std::path::Path;
use std::time::Duration;

/// What is done beside a phase's clients, or in place of them.
pub trait Task: Send + Sync {
    /// Its name in a workload file.
    fn name(&self) -> &str;

    /// Does it. Statements and programs go into `done` as they are done.
    ///
    /// # Errors
    /// What failed. [`sensormark_store::ErrorKind::Unsupported`] and `NotInstalled`: the database has no means for it here, and why.
    fn run(&self, site: &Site<'_>, done: &mut Done) -> Result<(), StoreError>;

    /// How long the phase's clients work before it, and as long after it.
    fn beside(&self) -> Duration {
        Duration::ZERO
    }

    /// Whether the clients work on until all of their work is done, however long it takes.
    fn is_beside_all(&self) -> bool {
        false
    }

    /// Why it cannot be done on this store; the phase is then not measured.
    fn missing(&self, store: &dyn Store) -> Option<String> {
        let _ = store;
        None
    }

    /// The tables that it fills, by their numbers: no client writes them, and their content is asked for, not counted.
    fn fills(&self) -> Vec<usize> {
        Vec::new()
    }

    /// What it changes of what has to be stored.
    fn change(&self) -> Option<Change> {
        None
    }
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
    /// Statements and programs, without secrets.
    pub means: Vec<String>,
    /// CPU time of programs and servers that it ran, in seconds.
    pub program_seconds: f64,
    /// The size of what it left.
    pub bytes: Option<u64>,
    /// It made a copy of what is stored: what is written later is not in it.
    pub is_backup: bool,
    /// The copy that it brought back, which is proved in place of the database, and dropped.
    pub restored: Option<Plan>,
    /// What it changed is proved with everything else at the end of the trial.
    pub is_proved_later: bool,
    /// What is gone goes in parts of this width, so that the oldest readings may stay so much longer, in ns.
    pub slack_ns: i64,
    /// Its parts, and how long each took, in seconds.
    pub parts: Vec<(String, f64)>,
    /// The statement that drops it; the administrator does where there is none.
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
    fn apply(&self, batch: &Batch) -> Batch {
        match self {
            Self::Gone(table, before_ns) if *table == batch.table => {
                batch.kept(|row| batch.times_ns[row] >= *before_ns)
            }
            Self::Corrected(table, times, field, value) if *table == batch.table => {
                let mut batch = batch.clone();
                if let Values::F64(values) = &mut batch.columns[*field].values {
                    let corrected = values.iter_mut().zip(&batch.times_ns);
                    corrected.filter(|(_, time)| times.contains(time)).for_each(|(one, _)| *one = *value);
                }
                batch
            }
            _ => batch.clone(),
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
    pub filled: Vec<usize>,
}

impl<W> Changed<'_, W> {
    fn change(&self, batch: &Batch, standing: Standing, sink: &mut dyn FnMut(&Batch, Standing)) {
        let Some((first, others)) = self.changes.split_first() else {
            return sink(batch, standing);
        };
        sink(&others.iter().fold(first.apply(batch), |batch, change| change.apply(&batch)), standing);
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
        assert_eq!(Change::Gone(0, 2).apply(&batch), of(&[2, 3], &[20.0, 30.0]));
        assert_eq!(Change::Gone(1, 2).apply(&batch), batch, "another table");
        let corrected = Change::Corrected(0, 1..3, 0, 0.5).apply(&batch);
        assert_eq!(corrected, of(&[1, 2, 3], &[0.5, 0.5, 30.0]));
        let changes = [Change::Gone(0, 2), Change::Corrected(0, 1..3, 0, 0.5)];
        let changed = Changed {
            written: One(&batch),
            changes: changes.iter().collect(),
            slack_ns: 0,
            filled: Vec::new(),
        };
        changed.for_each(&mut |batch, _| assert_eq!(*batch, of(&[2, 3], &[0.5, 30.0])));
    }
}
