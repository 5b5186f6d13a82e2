//! What a layout costs by each criterion, in one repetition, in the units of [`CRITERIA`].
//!
//! [`Costs::of`] chooses the phases that count. Kinds of questions, and of loads, count alike: time and CPU are geometric means over them. Memory is the largest
//! at the end of a phase. What was written to the device and what went over the wire is of the loads alone.
//!
//! A side's CPU and I/O are those of phases in which nobody does the other. What ran at once is not divided, because any share would be a guess. So a side without
//! a phase of its own has times and memory alone. Nothing here names a workload.

use crate::{prelude::*, size};

/// Values by criterion; one that was not measured is absent, never 0.
pub type Values = BTreeMap<&'static str, f64>;
/// A load by the names of its phase and its own.
pub type LoadName = (String, String);

/// The phases and loads that count, of trials of phases.
pub struct Costs {
    writing: BTreeSet<LoadName>,
    asking: BTreeSet<LoadName>,
    /// Phases in which somebody writes and asks at once.
    pub together: BTreeSet<String>,
    /// The size that counts, where the data grow.
    size: Option<u64>,
}

/// What one repetition of a contestant costs.
pub struct Block {
    /// All criteria that were measured.
    pub values: Values,
    /// Phases that count and of which nothing was finished. Without them its costs would be of other work than the others'.
    pub lacking: Vec<String>,
}

/// The work of a side: what each kind took, in µs a unit, where it was timed; and its phases, with the units of work of each.
#[derive(Default)]
struct Work<'a> {
    times_us: Vec<Known>,
    phases: Vec<(Option<&'a PhaseRecord>, f64)>,
}

impl Work<'_> {
    fn time(&self, floor: f64) -> Known {
        geometric(self.times_us.iter().copied(), floor)
    }

    /// What a unit costs in each phase, whose loads are not divided.
    fn costs(&self, cost: impl Fn(&PhaseRecord) -> Known) -> impl Iterator<Item = Known> {
        self.phases.iter().map(move |(phase, units)| Some(cost((*phase)?)? / units))
    }
}

fn name(load: &LoadRecord) -> LoadName {
    (load.phase.clone(), load.name.clone())
}

/// Loads that measure something, unless the workload says that they do not count.
fn counted(trial: &TrialRecord) -> impl Iterator<Item = &LoadRecord> {
    trial
        .loads
        .iter()
        .filter(|load| !load.warm_up && load.is_scored())
        .filter(|load| load.operations() > 0 && load.seconds > 0.0)
}

impl Costs {
    /// Chooses what counts: every load that somebody finished operations of in a valid trial. Where the data grow, those at the measured size. Of a side those
    /// of phases that do nothing else, where there are any.
    pub fn of(field: &Field) -> Self {
        let together = field
            .trials
            .iter()
            .flat_map(|trial| &trial.phases)
            .map(|phase| &phase.name)
            .filter(|name| field.trials.iter().any(|trial| is_together(trial, name)))
            .cloned()
            .collect();
        let valid = || field.mixed.iter().flat_map(|arm| field.valid_of(arm));
        let size = size::measured(field);
        let of_side = |writes: bool| -> BTreeSet<LoadName> {
            let mut all: BTreeSet<LoadName> = valid()
                .flat_map(counted)
                .filter(|load| size.is_none() || load.stored() == size)
                .filter(|load| load.writes == writes)
                .map(name)
                .collect();
            let is_alone = |(phase, _): &LoadName| !BTreeSet::contains(&together, phase);
            if all.iter().any(is_alone) {
                all.retain(is_alone);
            }
            all
        };
        Self { writing: of_side(true), asking: of_side(false), together, size }
    }

    fn side(&self, side: Side) -> &BTreeSet<LoadName> {
        if side == Side::Write { &self.writing } else { &self.asking }
    }

    /// Whether some phase of it does nothing else, so that its costs are known.
    fn is_alone(&self, side: Side) -> bool {
        self.side(side).iter().any(|(phase, _)| !self.together.contains(phase))
    }

    /// Loads of a side that count and of which this trial finished nothing, by phase.
    fn lacking(&self, trial: &TrialRecord, side: Side) -> Vec<String> {
        let reached = size::reached(std::iter::once(trial));
        if let (Some(size), Some(reached)) = (self.size, reached)
            && reached < size
        {
            let [size, reached] = [size, reached].map(|readings| count_text(readings as f64));
            return vec![format!("a size of {size} readings (it reached {reached})")];
        }
        let own: BTreeSet<LoadName> = counted(trial).map(name).collect();
        let all = self.side(side).iter().filter(|load| !own.contains(load));
        let beside_task = |phase: &String| trial.tasks.iter().any(|task| task.phase == *phase);
        let what = |phase| if beside_task(phase) { format!("writers beside {phase}") } else { phase.clone() };
        all.map(|(phase, _)| what(phase)).collect()
    }

    /// What a contestant costs in each repetition; none where a trial is missing or not valid.
    pub fn blocks(&self, field: &Field, read: &Arm) -> Vec<Option<Block>> {
        let write = field.write_of(read);
        let valid = |arm: &Arm, block: usize| {
            let trial = &field.trials[arm.places[block]?];
            trial.verdict.is_valid().then_some(trial)
        };
        (0..field.blocks.len())
            .map(|block| Some(self.block(field, valid(write?, block)?, valid(read, block)?)))
            .collect()
    }

    fn block(&self, field: &Field, write: &TrialRecord, read: &TrialRecord) -> Block {
        let sides = [(Side::Write, write, "load_"), (Side::Read, read, "question_")];
        let mut block = Block { values: self.values(field, write, read), lacking: vec![] };
        for (side, trial, criteria) in sides {
            let lacking = self.lacking(trial, side);
            block.values.retain(|id, _| lacking.is_empty() || !id.starts_with(criteria));
            block.lacking.extend(lacking);
        }
        block.lacking = each_once(block.lacking);
        block
    }

    /// All criteria that were measured.
    fn values(&self, field: &Field, write: &TrialRecord, read: &TrialRecord) -> Values {
        let [loads, questions] = if field.has_phases() {
            [self.work(write, Side::Write), self.work(read, Side::Read)]
        } else {
            [of_rate(field, write), of_rate(field, read)]
        };
        let floors = CRITERIA.map(|criterion| criterion.floor);
        let [is_load_alone, is_question_alone] =
            [Side::Write, Side::Read].map(|side| !field.has_phases() || self.is_alone(side));
        let load_cpu = geometric(loads.costs(|phase| cpu_us(write, phase)), floors[1]);
        let question_cpu = geometric(questions.costs(|phase| cpu_us(read, phase)), floors[3]);
        let memory: Option<Vec<f64>> = [(write, &loads), (read, &questions)]
            .into_iter()
            .flat_map(|(trial, work)| work.phases.iter().map(move |(phase, _)| memory_mb(trial, (*phase)?)))
            .collect();
        let written = |phase: &PhaseRecord| {
            let (client, server) = roles(write, phase)?;
            Some(server.unwrap_or(client).storage_written_bytes? as f64)
        };
        let found = [
            loads.time(floors[0]),
            load_cpu.filter(|_| is_load_alone),
            questions.time(floors[2]),
            question_cpu.filter(|_| is_question_alone),
            self.disk(write),
            memory.and_then(|all| all.into_iter().reduce(f64::max)),
            mean(loads.costs(written)).filter(|_| is_load_alone),
            mean(loads.costs(|phase| wire(field, write, phase))).filter(|_| is_load_alone),
        ];
        CRITERIA
            .iter()
            .zip(found)
            .filter_map(|(criterion, value)| Some((criterion.id, value?)))
            .filter(|(_, value)| value.is_finite())
            .collect()
    }

    /// Bytes on disk for a reading: at the measured size with what is fixed, else by growth.
    fn disk(&self, trial: &TrialRecord) -> Known {
        let Some(size) = self.size else { return disk::of_a_reading_bytes(trial) };
        // Readings that are missing or sent twice make the number another one.
        let distance = |(readings, _): &(f64, f64)| (readings - size as f64).abs();
        let (readings, bytes) = sizes::disk(trial)
            .into_iter()
            .filter(|(readings, _)| *readings > 0.0)
            .min_by(|one, other| distance(one).total_cmp(&distance(other)))?;
        Some(bytes / readings)
    }

    /// The work of a side that counts.
    fn work<'a>(&self, trial: &'a TrialRecord, side: Side) -> Work<'a> {
        let loads = counted(trial).filter(|load| self.side(side).contains(&name(load)));
        let phases: BTreeSet<&str> = self.side(side).iter().map(|(phase, _)| &**phase).collect();
        let of = |name: &str| {
            let own = of_phase(trial, name).filter(|load| load.writes == (side == Side::Write));
            (criteria::phase(trial, name), own.map(units).sum())
        };
        Work { times_us: loads.map(unit_us).collect(), phases: phases.into_iter().map(of).collect() }
    }

    /// What a reader of the ranking has to know.
    pub fn notes(&self) -> Vec<String> {
        let undivided = [(Side::Write, "writes", "asking"), (Side::Read, "asks", "writing")]
            .into_iter()
            .filter(|(side, ..)| !self.side(*side).is_empty() && !self.is_alone(*side));
        let told = undivided.map(|(_, does, other)| {
            format!("No phase {does} without {other} at once, and that is not divided. So what it cost of CPU, of the device and of the wire ranks nobody.")
        });
        told.collect()
    }
}

/// Thousand readings a second of the loads that count, as a geometric mean.
pub fn write_rate(trial: &TrialRecord, costs: &Costs) -> Known {
    let loads = counted(trial).filter(|load| costs.writing.contains(&name(load)));
    geometric(loads.map(LoadRecord::readings_per_second), 0.0).map(|rate| rate / 1e3)
}

/// The measured phase of a steady rate: readings that the source sent and the writer took, or reads of whole cycles. Whole writes are not counted: one of many
/// readings may begin in one phase and end in the next. Writing has no time, because its rate is given.
fn of_rate<'a>(field: &Field, trial: &'a TrialRecord) -> Work<'a> {
    let work = || {
        let phase = criteria::measured(trial)?;
        let seconds = phase.totals.as_ref()?.span_ns as f64 / 1e9;
        let (times_us, units) = if trial.side == Side::Read {
            let reads = &trial.latencies.get(names::CYCLE_READ)?.summary;
            (vec![Some(reads.mean_ns / 1e3)], reads.count as f64)
        } else {
            let ledger = trial.ledger.as_ref()?;
            let taken = 1.0 - ledger.lost_at_queue as f64 / ledger.produced as f64;
            (vec![], seconds * criteria::samples_per_second(&field.run)? * taken)
        };
        (units > 0.0).then(|| Work { times_us, phases: vec![(Some(phase), units)] })
    };
    work().unwrap_or_default()
}

/// The mean; none where one of them was not measured, or there is none.
fn mean(values: impl Iterator<Item = Known>) -> Known {
    Some(summarize(&values.collect::<Option<Vec<f64>>>()?).ok()?.mean)
}

/// The geometric mean of values of which each counts at least so much; none where one of them was not measured, or there is none.
fn geometric(values: impl Iterator<Item = Known>, floor: f64) -> Known {
    let values: Option<Vec<f64>> = values.map(|value| Some(value?.max(floor))).collect();
    Some(summarize_logarithms(&values?).ok()?.geometric_mean)
}

/// What the client and the server used. An embedded database is its client's process.
fn roles<'a>(
    trial: &TrialRecord,
    phase: &'a PhaseRecord,
) -> Option<(&'a RoleTotals, Option<&'a RoleTotals>)> {
    let totals = phase.totals.as_ref()?;
    let client = criteria::client_in(trial, totals)?;
    if trial.implementation.embedded {
        Some((client, None))
    } else {
        Some((client, Some(totals.roles.get("server")?)))
    }
}

/// What a phase took of CPU on both sides, in µs.
pub fn cpu_us(trial: &TrialRecord, phase: &PhaseRecord) -> Known {
    let (client, server) = roles(trial, phase)?;
    Some(client.cpu_ns.saturating_add(server.map_or(0, |server| server.cpu_ns)) as f64 / 1e3)
}

/// What both sides hold at the end of a phase, in MB.
pub fn memory_mb(trial: &TrialRecord, phase: &PhaseRecord) -> Known {
    let (client, server) = roles(trial, phase)?;
    let held = server.map_or(0, RoleTotals::end_held_bytes);
    Some(client.end_resident_bytes.saturating_add(held) as f64 / 1e6)
}

/// An embedded database sends nothing, which is a fact and no measurement. No socket's counters hold datagrams.
fn wire(field: &Field, trial: &TrialRecord, phase: &PhaseRecord) -> Known {
    let (client, server) = roles(trial, phase)?;
    if server.is_none() {
        return Some(0.0);
    }
    let seconds = phase.totals.as_ref()?.span_ns as f64 / 1e9;
    let of_rate = criteria::datagram_rate(trial, &field.run)? * seconds;
    let datagrams: f64 = trial
        .loads
        .iter()
        .filter(|load| load.phase == phase.name)
        .map(|load| load.datagram_bytes as f64)
        .sum();
    Some(client.wire_bytes()? as f64 + datagrams + of_rate)
}

/// What is counted of a load's work: readings written, or questions.
fn units(load: &LoadRecord) -> f64 {
    if load.writes { load.readings() as f64 } else { load.operations() as f64 }
}

/// Microseconds a unit of work: in open loop, whose rate is given, the mean from due to finished; else what the load took over its work.
fn unit_us(load: &LoadRecord) -> Known {
    if !load.open_loop {
        let counted = load.counted();
        let units = if load.writes { counted.readings } else { counted.operations };
        return (units > 0.0).then(|| counted.seconds * 1e6 / units);
    }
    let sum: f64 =
        load.classes.values().map(|class| class.latency.summary.mean_ns * class.operations as f64).sum();
    Some(sum / units(load) / 1e3).filter(|time| time.is_finite())
}

/// What ran in a phase.
pub fn of_phase<'a>(trial: &'a TrialRecord, name: &str) -> impl Iterator<Item = &'a LoadRecord> {
    trial.loads.iter().filter(move |load| load.phase == name && load.not_supported.is_none())
}

/// Whether a phase writes and asks at once.
fn is_together(trial: &TrialRecord, name: &str) -> bool {
    let writes = |load: &LoadRecord| load.writes;
    of_phase(trial, name).any(writes) && !of_phase(trial, name).all(writes)
}
