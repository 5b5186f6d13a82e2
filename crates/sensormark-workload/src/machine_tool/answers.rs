//! What a read should have found, and what the writer should have stored: computed from the generator and the journal,
//! never from a database.

use super::cycle::{channel_sums, find_cycle, is_high, is_low};
use super::fetched::{Fetched, ReadOutcome};
use super::read_cycle::{CycleAnswer, Reach, Strategy, two_seconds};
use sensormark_data::machine_tool::{CHANNELS, MachineTool};
use sensormark_result::ledger::journal::{Entry, Standing};
use sensormark_result::ledger::reconcile::Written;
use sensormark_store::{Batch, Column, TimeRange, Values};
use std::ops::Range;

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
        Self { tool: MachineTool::new(seed), entries }
    }

    /// What a read around this time should find with this strategy; `Err` where the samples hold no whole cycle there: too many
    /// were lost, or came too late. Then a reader that finds none is right.
    ///
    /// # Errors
    /// Why there is no cycle.
    pub fn cycle(&self, strategy: Strategy, around_ns: i64) -> Result<CycleAnswer, String> {
        match strategy {
            Strategy::Individual => self.cycle_by_searches(around_ns, Reach::Second),
            Strategy::IndividualUnbounded => self.cycle_by_searches(around_ns, Reach::Everything),
            Strategy::Bulk | Strategy::BulkOne => {
                let near = self.near(two_seconds(around_ns));
                let points = find_cycle(&near.times_ns, &near.columns[0], around_ns)
                    .map_err(|error| error.to_string())?;
                let [t1, t2, t3, t4, t5] =
                    [points.t1, points.t2, points.t3, points.t4, points.t5].map(|row| near.times_ns[row]);
                Ok(near.answer(around_ns, [t1, t2, t3, t4, t5], points.samples()))
            }
        }
    }

    /// The five searches, one after the other, each in the range that the reader asks about.
    fn cycle_by_searches(&self, around_ns: i64, reach: Reach) -> Result<CycleAnswer, String> {
        // One by one, so that a search without a bound looks no further than it has to.
        let angle = |entry: &Entry| self.tool.sample(entry.sequence)[0];
        let found = |range: TimeRange, entry: Option<&Entry>| {
            entry.map(|entry| entry.time_ns).ok_or_else(|| format!("nothing found in {range:?}"))
        };
        let first = |range: TimeRange, passes: fn(u16) -> bool| {
            let mut within = self.within(range).iter();
            found(range, within.find(|entry| passes(angle(entry))))
        };
        let last = |range: TimeRange, passes: fn(u16) -> bool| {
            let mut within = self.within(range).iter();
            found(range, within.rfind(|entry| passes(angle(entry))))
        };
        let t1 = first(reach.after(around_ns), is_high)?;
        let t2 = last(reach.before(t1), is_low)?;
        let t3 = last(reach.before(t2), is_high)?;
        let low = self.near(TimeRange::new(t3, t2));
        let row = (0..low.times_ns.len()).min_by_key(|&row| low.columns[0][row]);
        let t4 = row.map(|row| low.times_ns[row]).ok_or("nothing between t3 and t2")?;
        let t5 = first(reach.after(t1), is_low)?;
        let cycle = self.near(TimeRange::new(t4, t5));
        let all = 0..cycle.times_ns.len();
        Ok(cycle.answer(around_ns, [t1, t2, t3, t4, t5], all))
    }

    fn within(&self, range: TimeRange) -> &[Entry] {
        let before = |time_ns: i64| self.entries.partition_point(|entry| entry.time_ns < time_ns);
        let (from, to) = (before(range.start_ns), before(range.end_ns));
        &self.entries[from..to.max(from)]
    }

    fn near(&self, range: TimeRange) -> Near {
        let mut near = Near { times_ns: Vec::new(), columns: Default::default() };
        for entry in self.within(range) {
            near.times_ns.push(entry.time_ns);
            for (column, value) in near.columns.iter_mut().zip(self.tool.sample(entry.sequence)) {
                column.push(value);
            }
        }
        near
    }

    /// Compares a read with what it should have found: the difference in words, and whether it rightly found no whole cycle.
    pub fn check(&self, strategy: Strategy, outcome: &ReadOutcome) -> (Option<String>, bool) {
        let fetched = outcome.fetched.iter();
        let mut differences = fetched.filter_map(|fetched| self.differs(fetched));
        if let Some(difference) = differences.next() {
            return (Some(difference), false);
        }
        let expected = self.cycle(strategy, outcome.around_ns);
        if outcome.found.as_ref().ok() == expected.as_ref().ok() {
            return (None, outcome.found.is_err());
        }
        let (around_ns, got) = (outcome.around_ns, &outcome.found);
        let difference =
            format!("the machine cycle around {around_ns} ns: expected {expected:?}, got {got:?}");
        (Some(difference), false)
    }
}

impl WrittenSamples {
    /// How a range that was fetched differs from what is stored there, in words.
    fn differs(&self, got: &Fetched) -> Option<String> {
        let near = self.near(got.range);
        let column = |(number, values): (usize, Vec<u16>)| {
            let values = if got.fields.contains(number) { values } else { Vec::new() };
            Column { values: Values::U16(values), present: None }
        };
        let batch = Batch {
            table: 0,
            series: vec![0; near.times_ns.len()],
            times_ns: near.times_ns,
            columns: near.columns.into_iter().enumerate().map(column).collect(),
        };
        let expected = Fetched::of(got.range, got.fields, &batch);
        (*got != expected).then(|| {
            format!(
                "the readings from {} to before {} ns: expected {} with checksum {:016x}, got {} with {:016x}",
                got.range.start_ns, got.range.end_ns, expected.readings, expected.checksum, got.readings, got.checksum
            )
        })
    }
}

/// Samples of a range of time, in columns.
struct Near {
    times_ns: Vec<i64>,
    columns: [Vec<u16>; CHANNELS],
}

impl Near {
    fn answer(&self, around_ns: i64, points_ns: [i64; 5], samples: Range<usize>) -> CycleAnswer {
        CycleAnswer {
            around_ns,
            points_ns,
            samples: samples.len() as u64,
            sums: channel_sums(self.columns.each_ref().map(Vec::as_slice), samples),
        }
    }
}

impl Written for WrittenSamples {
    fn for_each(&self, sink: &mut dyn FnMut(&Batch, Standing)) {
        let mut batch = Batch {
            table: 0,
            times_ns: Vec::new(),
            series: Vec::new(),
            columns: vec![Column { values: Values::U16(Vec::new()), present: None }; CHANNELS],
        };
        for standing in [Standing::Acknowledged, Standing::InDoubt] {
            let chosen: Vec<&Entry> =
                self.entries.iter().filter(|entry| entry.standing == standing).collect();
            for chunk in chosen.chunks(CHUNK) {
                batch.clear();
                for entry in chunk {
                    batch.times_ns.push(entry.time_ns);
                    batch.series.push(0);
                    for (column, value) in batch.columns.iter_mut().zip(self.tool.sample(entry.sequence)) {
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
    fn a_search_without_a_bound_finds_past_a_gap_and_answers_follow_what_is_stored() {
        let samples = samples();
        let around_ns = 1_000_000_000_000 + 1_500_000_000;
        // Of the samples from 1.5 to 3.5 s nothing is stored.
        let stored = |entry: &&Entry| !(around_ns..around_ns + 2_000_000_000).contains(&entry.time_ns);
        let left = samples.entries.iter().filter(stored).copied().collect();
        let left = WrittenSamples::new(7, left);
        assert_eq!(left.entries.len(), 3_000);
        assert!(left.cycle(Strategy::Individual, around_ns).is_err());
        let found = left.cycle(Strategy::IndividualUnbounded, around_ns).unwrap();
        assert!(found.points_ns[0] >= around_ns + 2_000_000_000, "{found:?}");
    }

    #[test]
    fn a_right_read_passes_and_every_wrong_one_is_named() {
        let samples = samples();
        let around_ns = 1_000_000_000_000 + 2_345_678_901;
        let right = samples.cycle(Strategy::Bulk, around_ns).unwrap();
        assert_eq!(samples.cycle(Strategy::Individual, around_ns).unwrap(), right);
        let outcome = |found: Result<CycleAnswer, &str>| ReadOutcome {
            around_ns,
            found: found.map_err(str::to_owned),
            fetched: Vec::new(),
        };
        assert_eq!(samples.cycle(Strategy::IndividualUnbounded, around_ns).unwrap(), right);
        let check = |outcome: &ReadOutcome| samples.check(Strategy::Bulk, outcome);
        assert_eq!(check(&outcome(Ok(right.clone()))), (None, false));
        let mut sums = right.clone();
        sums.sums[4] += 1;
        let mut points = right.clone();
        points.points_ns[3] += 1_000_000;
        let mut short = right;
        short.samples -= 1;
        for wrong in [outcome(Ok(sums)), outcome(Ok(points)), outcome(Ok(short)), outcome(Err("no t1"))] {
            let (difference, rightly_none) = check(&wrong);
            assert!(difference.unwrap().starts_with("the machine cycle around"));
            assert!(!rightly_none);
        }
    }

    #[test]
    fn where_samples_were_lost_finding_no_cycle_is_right_and_finding_one_is_wrong() {
        let whole = samples();
        let around_ns = 1_000_000_000_000 + 2_345_678_901;
        let found = whole.cycle(Strategy::Bulk, around_ns).unwrap();
        let mut entries = whole.entries;
        // Nothing for more than a second after the time asked for.
        entries.retain(|entry| !(around_ns..around_ns + 1_100_000_000).contains(&entry.time_ns));
        let holed = WrittenSamples::new(7, entries);
        let outcome = |found: Result<CycleAnswer, &str>| ReadOutcome {
            around_ns,
            found: found.map_err(str::to_owned),
            fetched: Vec::new(),
        };
        // A search without a bound finds past the hole.
        for strategy in [Strategy::Individual, Strategy::Bulk, Strategy::BulkOne] {
            let none = holed.check(strategy, &outcome(Err("no t1")));
            assert_eq!(none, (None, true), "{strategy:?}");
            let (difference, _) = holed.check(strategy, &outcome(Ok(found.clone())));
            assert!(difference.is_some(), "{strategy:?}");
        }
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
