//! The sizes that a file's data grows through, where it says how long data are kept. Each has four times the readings of the one before, up to all that is
//! kept.
//!
//! Every size is a phase that loads on to it, and one in which everything is asked. How many of them a trial reaches is a matter of its budget.

use super::limit::YourSize;
use super::parameters::{Parameters, PhasePart, TablePart, WhenPart};
use sensormark_data::number::count_text;
use sensormark_data::units::round_u64;
use sensormark_result::measurement::sizes::TIMES;
use sensormark_result::statistics::projection::FARTHEST;
use std::time::Duration;

/// The first size has at least so many readings, if there are so many. So a database that rests for seconds at each size reaches a large one in 30 s.
pub const FIRST_READINGS: f64 = 40_000.0;
/// How long everything is asked at a size, where the file leaves it to the budget: a part of a trial's budget between these.
const ASKED: (Duration, Duration) = (Duration::from_secs(3), Duration::from_secs(60));
/// A trial is divided into so many parts that load, rest and prove, and one for each size.
const OTHER_PARTS: usize = 3;
/// It reaches so many sizes as a rule.
const REACHED: usize = 6;
/// A search for a limit is done at the largest size of at most so many readings: each probe loads it again.
const PROBED_READINGS: u64 = 300_000;
/// Where that is too small for what is asked, at a larger one, of at most so many.
const MOST_PROBED_READINGS: u64 = 5_000_000;
/// And asks for so long: 50 questions a second have a 99th percentile then.
const PROBED: Duration = Duration::from_secs(24);

/// How much time the data of each size spans, in ns.
fn spans(tables: &[TablePart]) -> Vec<i64> {
    let longest = tables.iter().map(|table| table.series.duration_ns).max().unwrap_or(0);
    let fits = |span: i64| {
        let readings = tables.iter().map(|table| table.series.turns(span) as f64).sum::<f64>();
        let holds = |table: &TablePart| table.series.has_room(span);
        readings >= FIRST_READINGS && tables.iter().all(holds)
    };
    let mut spans = vec![longest];
    let times = TIMES.cast_signed();
    while let Some(&first) = spans.first().filter(|first| fits(**first / times)) {
        spans.insert(0, first / times);
    }
    spans
}

/// The phases of all sizes: these, again and again, the first of which loads on to the size after what was loaded before. A question about more time than a size
/// holds is not asked there.
pub fn phases(before: &[PhasePart], sized: &[PhasePart], tables: &[TablePart]) -> Vec<PhasePart> {
    let [load, further @ ..] = sized else { return Vec::new() };
    let mut loaded = vec![0; tables.len()];
    for part in before.iter().flat_map(|phase| &phase.writers) {
        loaded[part.table] += part.load_ns.unwrap_or(0);
    }
    let most = load.writers.iter().map(|part| loaded[part.table]).max().unwrap_or(0);
    let mut parts = Vec::new();
    let grown: Vec<TablePart> = load.writers.iter().map(|part| tables[part.table].clone()).collect();
    for (number, span) in spans(&grown).into_iter().filter(|span| *span > most).enumerate() {
        let mut load = load.clone();
        load.name = format!("{}-{}", load.name, number + 1);
        for part in &mut load.writers {
            let whole = span.min(tables[part.table].series.duration_ns);
            part.load_ns = Some(whole - loaded[part.table]);
            loaded[part.table] = whole;
        }
        let turns = tables.iter().zip(&loaded).map(|(table, ns)| table.series.turns(*ns));
        load.size = Some(turns.sum());
        load.writers.retain(|part| part.load_ns.is_some_and(|ns| tables[part.table].series.turns(ns) > 0));
        parts.push(load);
        for phase in further {
            let mut phase = phase.clone();
            phase.name = format!("{}-{}", phase.name, number + 1);
            phase.queries.retain(|query| query.span_ns.is_none_or(|asked| asked <= span));
            parts.push(phase);
        }
    }
    parts
}

impl Parameters {
    /// The size that the data will have; none where the file does not say how long they are kept.
    pub fn your_size(&self) -> Option<YourSize> {
        let readings = self.readings_per_second() * self.keep_ns? as f64 / 1e9;
        let in_proportion = self.in_proportion.is_some();
        let queries = self.phases.iter().flat_map(|phase| &phase.queries);
        // In proportion, as much of the data lies on disk as of yours.
        let old = queries.filter(|query| query.when == WhenPart::Anywhere && !in_proportion);
        let old = old.map(|query| query.name.clone()).collect();
        Some(YourSize { readings, old, in_proportion })
    }

    /// Asks at every size for as long as a trial's budget has time, where the file leaves it to that.
    pub fn fit(&mut self, budget: Duration) {
        let sizes = self.phases.iter().filter(|phase| phase.size.is_some()).count();
        let part = budget.div_f64((sizes.clamp(1, REACHED) + OTHER_PARTS) as f64);
        self.ask_for(part.clamp(ASKED.0, ASKED.1));
    }

    fn ask_for(&mut self, time: Duration) {
        let lasts = round_u64(time.as_nanos() as f64);
        for phase in self.phases.iter_mut().filter(|phase| phase.is_by_budget) {
            phase.duration_ns = Some(lasts);
        }
    }

    /// Ends with the first size that foretells yours, and gives the share of yours that it is: a database is to have that share of your memory.
    ///
    /// # Errors
    /// Nobody knows your size, in words.
    pub fn measure_in_proportion(&mut self) -> Result<f64, &'static str> {
        let yours = self.your_size().ok_or("write keep: how long data are kept")?;
        let mut sizes =
            self.phases.iter().enumerate().filter_map(|(place, phase)| Some((place, phase.size? as f64)));
        let last = sizes.find(|(_, size)| size * FARTHEST >= yours.readings);
        let (_, last) = last.ok_or("the file's data do not grow")?;
        let next = sizes.next().map_or(self.phases.len(), |(place, _)| place);
        self.phases.truncate(next);
        let share = last / yours.readings;
        self.in_proportion = Some(share);
        Ok(share)
    }

    /// What a probe of a rate goes through: one size alone.
    #[must_use]
    pub fn at_one_size(&self) -> Self {
        let mut one = self.clone();
        // What a probe finds is of its own size.
        one.keep_ns = None;
        one.ask_for(PROBED);
        let sizes = || self.phases.iter().enumerate().filter_map(|(place, phase)| Some((place, phase.size?)));
        let within = |most| sizes().take_while(move |(_, size)| *size <= most).last();
        let asked = |place: usize| self.phases.get(place + 1).map_or(0, |phase| phase.queries.len());
        let usual = within(PROBED_READINGS).or_else(|| sizes().next());
        let most = within(MOST_PROBED_READINGS).map(|(place, _)| asked(place));
        let large = sizes().skip_while(|size| Some(*size) < usual).find(|size| Some(asked(size.0)) >= most);
        let Some((place, _)) = large.or(usual) else { return one };
        // What the sizes before it load is loaded at once.
        let loaded = |table: usize| -> i64 {
            let writers = self.phases[..=place].iter().flat_map(|phase| &phase.writers);
            writers.filter(|part| part.table == table).filter_map(|part| part.load_ns).sum()
        };
        one.phases = self.phases.iter().skip(place).take(2).cloned().collect();
        for part in one.phases.iter_mut().flat_map(|phase| &mut phase.writers) {
            part.load_ns = part.load_ns.map(|_| loaded(part.table));
        }
        // What is not asked cannot be missed.
        let are_of = |phases: &[PhasePart], name: &String| {
            phases.iter().flat_map(|phase| &phase.queries).any(|query| query.name == *name)
        };
        let can_be_missed = |name: &String| are_of(&one.phases, name) || !are_of(&self.phases, name);
        one.limits.retain(|limit| limit.of.as_ref().is_none_or(can_be_missed));
        one
    }

    /// How many readings the probes at one size have stored, and which limits they cannot judge, in words; none where the file has one size.
    pub fn words_of_probes(&self, one: &Self) -> Option<String> {
        let size = one.phases.iter().find_map(|phase| phase.size)?;
        let mut words = format!("with {} readings stored", count_text(size as f64));
        for limit in self.limits.iter().filter(|limit| !one.limits.contains(limit)) {
            words += &format!("; {} is not asked there", limit.text);
        }
        Some(words)
    }
}
