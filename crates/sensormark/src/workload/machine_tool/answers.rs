//! What the reader should have found, and what the writer should have stored: computed from the generator and the journal,
//! never from a database.

use super::cycle::{channel_sums, find_cycle};
use super::reader::{CycleAnswer, ReadOutcome};
use crate::dataset::machine_tool::{CHANNELS, MachineTool};
use crate::ledger::journal::{Entry, Standing};
use crate::ledger::reconcile::Written;
use crate::measurement::record::AnswersRecord;
use sensormark_store::{Batch, Column, Values};

/// How many samples are generated at a time.
const CHUNK: usize = 10_000;

/// Everything that a writer sent and that was not refused, with the times that it stamped.
#[derive(Debug, Clone)]
pub struct WrittenSamples {
    tool: MachineTool,
    entries: Vec<Entry>,
}

impl WrittenSamples {
    /// The samples of this journal.
    pub fn new(seed: u64, mut entries: Vec<Entry>) -> Self {
        entries.retain(|entry| entry.standing != Standing::Refused);
        entries.sort_by_key(|entry| entry.time_ns);
        Self {
            tool: MachineTool::new(seed),
            entries,
        }
    }

    /// How many samples there are.
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// Times of the first and the last sample, in ns since the Unix epoch.
    pub fn bounds_ns(&self) -> Option<(i64, i64)> {
        Some((self.entries.first()?.time_ns, self.entries.last()?.time_ns))
    }

    /// What a read around this time should find; `Err` says why there is no cycle.
    ///
    /// # Errors
    /// When the samples hold no whole cycle there (too many were lost).
    pub fn cycle(&self, around_ns: i64) -> Result<CycleAnswer, String> {
        const REACH_NS: i64 = 2_500_000_000;
        let from = self
            .entries
            .partition_point(|entry| entry.time_ns < around_ns - REACH_NS);
        let to = self
            .entries
            .partition_point(|entry| entry.time_ns < around_ns + REACH_NS);
        let near = &self.entries[from..to];
        let times: Vec<i64> = near.iter().map(|entry| entry.time_ns).collect();
        let mut columns: [Vec<u16>; CHANNELS] = Default::default();
        for entry in near {
            for (column, value) in columns.iter_mut().zip(self.tool.sample(entry.sequence)) {
                column.push(value);
            }
        }
        let points =
            find_cycle(&times, &columns[0], around_ns).map_err(|error| error.to_string())?;
        let time = |row: usize| times[row];
        Ok(CycleAnswer {
            around_ns,
            points_ns: [
                time(points.t1),
                time(points.t2),
                time(points.t3),
                time(points.t4),
                time(points.t5),
            ],
            samples: points.samples().len() as u64,
            sums: channel_sums(columns.each_ref().map(Vec::as_slice), points.samples()),
        })
    }

    /// Compares all reads with what they should have found.
    pub fn check(&self, outcomes: &[ReadOutcome]) -> AnswersRecord {
        let mut record = AnswersRecord::default();
        for outcome in outcomes {
            let got = match (&outcome.found, &outcome.missing) {
                (Some(found), _) => format!("{found:?}"),
                (None, Some(missing)) => missing.clone(),
                (None, None) => continue,
            };
            record.answered += 1;
            record.checked += 1;
            let expected = self.cycle(outcome.around_ns);
            if outcome.found.as_ref() == expected.as_ref().ok() && outcome.found.is_some() {
                continue;
            }
            record.wrong += 1;
            record.first_wrong.get_or_insert_with(|| {
                format!(
                    "read {}: the machine cycle around {} ns: expected {expected:?}, got {got}",
                    outcome.index, outcome.around_ns
                )
            });
        }
        record
    }
}

impl Written for WrittenSamples {
    fn for_each(&self, sink: &mut dyn FnMut(&Batch, Standing)) {
        let mut batch = Batch {
            table: 0,
            times_ns: Vec::new(),
            series: Vec::new(),
            columns: vec![
                Column {
                    values: Values::U16(Vec::new()),
                    present: None
                };
                CHANNELS
            ],
        };
        for standing in [Standing::Acknowledged, Standing::InDoubt] {
            let chosen: Vec<&Entry> = self
                .entries
                .iter()
                .filter(|entry| entry.standing == standing)
                .collect();
            for chunk in chosen.chunks(CHUNK) {
                batch.clear();
                for entry in chunk {
                    batch.times_ns.push(entry.time_ns);
                    batch.series.push(0);
                    for (column, value) in batch
                        .columns
                        .iter_mut()
                        .zip(self.tool.sample(entry.sequence))
                    {
                        if let Values::U16(values) = &mut column.values {
                            values.push(value);
                        }
                    }
                }
                sink(&batch, standing);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn samples() -> WrittenSamples {
        let entry = |sequence: u64| Entry {
            sequence,
            time_ns: 1_000_000_000_000 + i64::try_from(sequence).unwrap() * 1_000_000,
            standing: Standing::Acknowledged,
        };
        WrittenSamples::new(7, (0..5_000).map(entry).collect())
    }

    #[test]
    fn a_right_read_passes_and_every_wrong_one_is_named() {
        let samples = samples();
        let around_ns = 1_000_000_000_000 + 2_345_678_901;
        let right = samples.cycle(around_ns).unwrap();
        let outcome = |found: Option<CycleAnswer>, missing: Option<&str>| ReadOutcome {
            index: 3,
            around_ns,
            found,
            missing: missing.map(str::to_owned),
        };
        assert_eq!(
            samples.check(&[outcome(Some(right.clone()), None)]).wrong,
            0
        );
        let mut sums = right.clone();
        sums.sums[4] += 1;
        let mut points = right.clone();
        points.points_ns[3] += 1_000_000;
        let mut short = right;
        short.samples -= 1;
        for wrong in [
            outcome(Some(sums), None),
            outcome(Some(points), None),
            outcome(Some(short), None),
            outcome(None, Some("no t1")),
        ] {
            let record = samples.check(&[wrong]);
            assert_eq!((record.checked, record.wrong), (1, 1));
            assert!(
                record
                    .first_wrong
                    .unwrap()
                    .starts_with("read 3: the machine cycle around")
            );
        }
        assert_eq!(samples.check(&[outcome(None, None)]).answered, 0);
    }

    #[test]
    fn refused_samples_were_not_written() {
        let mut entries = samples().entries;
        entries[10].standing = Standing::Refused;
        entries[11].standing = Standing::InDoubt;
        let samples = WrittenSamples::new(7, entries);
        let mut counts = (0, 0);
        samples.for_each(&mut |batch, standing| match standing {
            Standing::Acknowledged => counts.0 += batch.len(),
            _ => counts.1 += batch.len(),
        });
        assert_eq!(counts, (4_998, 1));
    }
}
