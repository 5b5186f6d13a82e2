//! User's workloads as trials of phases: the steps that an implementation goes through, and what is said of it then.

use super::answers::Answers;
use super::layouts::Statements;
use super::life::{CHECKS, RollupQuestions, Round};
use super::limit::What;
use super::parameters::{
    OfPart, Parameters, PhasePart, QueryKind, QueryPart, TablePart, WhenPart, WritersPart, split,
};
use super::questions::{Horizon, Questions};
use super::writes::{Batches, Copies, Writes};
use super::{LOAD, MIXED, NAME, homes, layouts, lifecycle, questions, sensors};
use crate::replay::round_span;
use sensormark_data::export::{DataRequest, DataSet};
use sensormark_data::shapes::{self, Sensors, order::Order};
use sensormark_data::units::round_u64;
use sensormark_engine::answers::Checking;
use sensormark_engine::judge::work::Work;
use sensormark_engine::lifecycle::Task;
use sensormark_engine::operations::ENDLESS;
use sensormark_engine::pacing::Schedule;
use sensormark_engine::parameter;
use sensormark_engine::phase::Pacing;
use sensormark_engine::trial::script::{About, LoadSpec, PhaseSpec, Step};
use sensormark_engine::trial::support::{Support, support};
use sensormark_engine::trial::{Subject, Workload, WorkloadFactory};
use sensormark_engine::work_distribution::WorkDistribution;
use sensormark_result::measurement::names;
use sensormark_result::measurement::record::{Figure, LoadRecord, TrialRecord};
use sensormark_store::{
    DaySplit, DefaultSelection, Family, LayoutOption, RepeatedWrite, Schema, Shape, WriteMethod,
};
use serde_json::Value;
use std::num::NonZeroU64;
use std::ops::Range;
use std::sync::Arc;
use std::time::Duration;

/// A record of the layouts that keep readings by spans holds about so many readings.
const READINGS_PER_SPAN: i64 = 1_000;
/// The families of a row a reading.
const INDIVIDUAL: [&str; 3] = ["individual", "reading", "flat"];
/// A minute, of which a bucket is.
const BUCKET_NS: i64 = 60_000_000_000;
/// Readings in a full document of the layout bucketed, where the file does not say it.
const BUCKET: u32 = 200;
/// Rates are kept to a thousandth of an operation a second.
const RATE_PARTS: f64 = 1_000.0;

/// What a file calls itself where something is wrong with what is wanted of its data.
pub const THIS: &str = "this file";

/// User's workloads.
#[derive(Debug, Clone, Copy, Default)]
pub struct OwnWorkload;

fn read(parameters: &Value) -> Result<Parameters, String> {
    parameter::read(parameters)
}

impl WorkloadFactory for OwnWorkload {
    fn name(&self) -> &str {
        NAME
    }

    fn summary(&self) -> &str {
        "your own workload: sensormark init writes a file to start from, sensormark run FILE.toml measures it"
    }

    fn data_set(&self, parameters: &Value, request: &DataRequest) -> Result<DataSet, String> {
        let mut parameters = read(parameters)?;
        for table in &mut parameters.tables {
            let series = &mut table.series;
            if let Some(ticks) = request.steps(THIS, series.interval_ns)? {
                series.duration_ns = DataRequest::end_ns(0, ticks, series.interval_ns)?;
                series.check_duration()?;
            }
            if series.generator.is_some() {
                request.begins(THIS, series.start_ns)?;
            }
            series.start_ns = request.start_ns.unwrap_or(series.start_ns);
            DataRequest::end_ns(series.start_ns, series.ticks(), series.interval_ns)?;
            table.check_meters()?;
        }
        let schema = sensors::readings(&parameters, request.seed);
        let each = schema.tables.iter().enumerate().map(|(number, table)| {
            let sensors = sensors::sensors(&parameters, number, request.seed, table.time_resolution)?;
            Ok((sensors, parameters.tables[number].series.ticks()))
        });
        let tables = each.collect::<Result<Vec<_>, String>>()?;
        Ok(shapes::data_set(schema, tables))
    }

    fn schema(&self, parameters: &Value) -> Result<Schema, String> {
        // Tags of any seed will do for asking stores for layouts.
        Ok(sensors::schema(&read(parameters)?, 0))
    }

    fn asks_while_writing(&self, parameters: &Value) -> bool {
        let phases = read(parameters).map(|own| own.phases).unwrap_or_default();
        phases.iter().any(|phase| !phase.writers.is_empty() && !phase.queries.is_empty())
    }

    fn fit(&self, parameters: Value, budget: Duration) -> Value {
        // Those of another form are told elsewhere.
        let Ok(mut own) = read(&parameters) else { return parameters };
        own.fit(budget);
        serde_json::to_value(own).unwrap_or(parameters)
    }

    fn choose(&self, parameters: &Value, family: &str, offers: &mut [LayoutOption]) {
        let Ok(own) = read(parameters) else { return };
        // Nobody acknowledges a datagram.
        for offer in offers.iter_mut().filter(|offer| offer.layout.write == WriteMethod::Datagram) {
            offer.default_selection = DefaultSelection::OnRequest;
        }
        if let Some(variants) = &own.variants {
            for offer in offers.iter_mut().filter(|offer| !offer.variant.is_empty()) {
                let is_named = variants.contains(&format!("{family}-{}", offer.variant));
                offer.default_selection =
                    if is_named { DefaultSelection::Further } else { DefaultSelection::OnRequest };
            }
        } else if own.life.is_some() {
            // What is done to old data is written for the usual layouts.
            offers.iter_mut().skip(1).for_each(|offer| offer.default_selection = DefaultSelection::OnRequest);
        } else if INDIVIDUAL.contains(&family)
            && let Some(index) = own.index
        {
            layouts::choose(index, own.statements.unwrap_or(Statements::Usual), offers);
        }
    }

    fn families(&self, parameters: &Value) -> Result<Vec<(String, Family)>, String> {
        let mut parameters = read(parameters)?;
        if parameters.life.is_some() {
            parameters.layouts.retain(|layout| INDIVIDUAL.contains(&layout.as_str()));
        }
        let intervals = parameters.tables.iter().map(|table| table.series.interval_ns);
        let span_ns = round_span(intervals.clone().max().unwrap_or(1).saturating_mul(READINGS_PER_SPAN));
        let a_minute = BUCKET_NS / intervals.min().unwrap_or(1).clamp(1, BUCKET_NS);
        let a_minute = u32::try_from(a_minute).unwrap_or(u32::MAX);
        let (per_ns, split) = (DaySplit::DAY_NS, split(parameters.day));
        let family = |name: String| {
            let family = match name.as_str() {
                "bulk" => Family::PerSpan { span_ns },
                "buckets" => Family::Bucketed { limit: a_minute, per_ns: BUCKET_NS, split },
                "bucketed" => Family::Bucketed { limit: parameters.bucket.unwrap_or(BUCKET), per_ns, split },
                "summary" => Family::Summary { per_ns, split },
                "array" => Family::GrowingArray,
                _ => Family::PerReading,
            };
            (name, family)
        };
        Ok(parameters.layouts.into_iter().map(family).collect())
    }

    fn build(
        &self,
        parameters: &Value,
        seed: u64,
        subject: Subject<'_>,
    ) -> Result<Box<dyn Workload>, String> {
        let parameters = read(parameters)?;
        let mut schema = sensors::schema(&parameters, seed);
        let (mut notes, mut made) = (Vec::new(), Vec::new());
        for (number, part) in parameters.tables.iter().enumerate() {
            let resolution = subject.time_resolution(&schema, number);
            let table = &mut schema.tables[number];
            notes.extend(sensors::renamed(part));
            if resolution > table.time_resolution {
                notes.push(format!(
                    "times are cut to {} ns, all that the layout keeps",
                    resolution.nanoseconds()
                ));
            }
            let repeated = subject.store.repeated_write(subject.layout, table);
            let advised = subject.store.write_size(subject.layout, table).readings_per_write() as u64;
            table.time_resolution = resolution;
            let some = part.series.repeated > 0.0;
            let copies = Copies {
                sent: some && repeated != RepeatedWrite::Refused,
                kept: repeated == RepeatedWrite::KeepsBoth,
            };
            if some && !copies.sent {
                notes.push("nothing is sent twice, because the layout refuses it".to_owned());
            }
            let sensors = Arc::new(sensors::sensors(&parameters, number, seed, resolution)?);
            made.push((sensors, copies, advised));
        }
        let schema = Arc::new(schema);
        let tables = made.into_iter().enumerate().map(|(number, (sensors, copies, advised))| {
            let answers = Answers::new(Arc::clone(&schema), number, Arc::clone(&sensors), copies);
            OwnTable { sensors, copies, advised, answers: Arc::new(answers) }
        });
        let own = Own {
            tables: tables.collect(),
            parameters,
            schema: Arc::clone(&schema),
            seed,
            steps: Vec::new(),
            notes,
        };
        for part in own.parameters.phases.iter().flat_map(|phase| &phase.queries) {
            let subjects = questions::subjects(part, &own.tables[part.table].answers);
            if let (OfPart::With(tags), true) = (&part.of, subjects.is_empty()) {
                return Err(format!("query {}: no series has {tags:?}", part.name));
            }
        }
        Ok(Box::new(own.with_steps(subject)))
    }
}

/// A user's workload on one layout of one store.
struct Own {
    parameters: Parameters,
    schema: Arc<Schema>,
    tables: Vec<OwnTable>,
    seed: u64,
    steps: Vec<Step>,
    notes: Vec<String>,
}

/// A table's readings and answers.
struct OwnTable {
    sensors: Arc<Sensors>,
    answers: Arc<Answers>,
    copies: Copies,
    /// Turns in an operation, as the database's documentation advises.
    advised: u64,
}

/// Clients that write a table, and which turns they send.
#[derive(Clone)]
struct Group {
    about: About,
    turns: Range<u64>,
    batches: Batches,
    order: Order,
    /// Whether they write no more than that: where nothing is said of a watermark, all of it is there.
    has_end: bool,
    /// Whether the phase ends when all of it is written, so that nothing of it is missing afterwards.
    is_whole: bool,
}

impl Own {
    fn with_steps(mut self, subject: Subject<'_>) -> Self {
        let phases = self.parameters.phases.clone();
        let mut written = vec![Vec::new(); self.tables.len()];
        let mut size = None;
        for (number, phase) in phases.iter().enumerate() {
            if let Some(why) = self.refused(phase, size.is_some(), subject) {
                self.notes.push(why);
                break;
            }
            if phase.empty && !self.steps.is_empty() {
                self.steps.push(Step::Reset);
                written.iter_mut().for_each(Vec::clear);
            }
            if let Some(readings) = phase.size.filter(|readings| *readings > 0) {
                self.steps.push(Step::Size(readings));
                size = phase.size;
            }
            let before = written.clone();
            let mut loads = Vec::new();
            let first = phase.round.filter(|&round| round == 0).and_then(|_| self.tasks(0, 0, subject));
            self.steps.extend(first.map(|task| alone("prepare", task)));
            for part in &phase.writers {
                loads.push(self.writing(phase, part, &mut written));
            }
            let queries = self.supported(number, &before, subject);
            let is_warm = |part: &&QueryPart| phase.warm_up_ns > 0 && !before[part.table].is_empty();
            let warm =
                queries.iter().filter(is_warm).map(|part| self.asking(number, part, &before[part.table]));
            let warm: Vec<LoadSpec> = warm.collect();
            if !warm.is_empty() {
                self.steps.push(warm_up(named("warm-up", MIXED, &phase.name), warm, phase));
            }
            let asking = |part: &QueryPart| match part.kind {
                QueryKind::Rollup => self.asking_rollup(phase, Some(part)).pop(),
                _ => Some(self.asking(number, part, &written[part.table])),
            };
            loads.extend(queries.iter().filter_map(asking));
            let [task, after] = self.tasks_of(phase, subject);
            if let Some(why) =
                subject.store.one_process().filter(|_| phase.task.is_some() && !loads.is_empty())
            {
                self.notes.push(format!("{}: nobody writes meanwhile, because {why}", phase.name));
                loads.clear();
            }
            if loads.is_empty() && task.is_none() {
                continue;
            }
            let mut run = PhaseSpec { needs: needs(phase, &before), ..spec(phase, loads, task) };
            run.processes = subject.store.one_process().map_or(phase.processes.unwrap_or(1), |_| 1);
            if run.processes > 1 {
                // They know nothing of each other's operations.
                run.loads.iter_mut().for_each(|load| load.distribution = WorkDistribution::STRIDE);
            }
            if let Some(readings) = size.filter(|_| phase.size != Some(0)) {
                run = run.label(names::STORED, readings);
            }
            self.steps.push(Step::Run(run));
            self.steps.extend(after.map(|task| alone(&format!("{}, after", phase.name), task)));
            self.steps.extend(settled(phase));
        }
        self.end_life(&written, subject);
        self
    }

    /// The task beside a phase's clients, and the one after them: where one process alone can have the database open, a round's tasks wait for its clients.
    fn tasks_of(&self, phase: &PhasePart, subject: Subject<'_>) -> [Option<Arc<Task>>; 2] {
        let round = phase.round.filter(|round| *round > 0);
        let due = round.and_then(|round| self.tasks(round, lead_ns(phase, &self.parameters.tables), subject));
        let task = lifecycle::task(phase, &self.schema);
        if subject.store.one_process().is_some() { [task, due] } else { [task.or(due), None] }
    }

    /// What is due in a round of the file's life.
    fn tasks(&self, number: u32, lead_ns: u64, subject: Subject<'_>) -> Option<Arc<Task>> {
        let (life, series) = (self.parameters.life.as_ref()?, &self.parameters.tables[0].series);
        let round = Round { life, series, schema: &self.schema, subject, number };
        Some(Arc::new(round.task(lead_ns)))
    }

    /// The last round: all that is due then; the database comes to rest; and all windows of all rollups are asked for.
    fn end_life(&mut self, written: &[Vec<Group>], subject: Subject<'_>) {
        let Some(mut end) = self.parameters.phases.last().cloned() else { return };
        let Some(round) = end.round.as_mut() else { return };
        *round += 1;
        let tasks = self.tasks(*round, 0, subject);
        self.steps.extend(tasks.map(|task| alone("last round", task)));
        self.steps.push(Step::Settle("settled".to_owned()));
        let checks = self.asking_rollup(&end, None);
        if !checks.is_empty() {
            let mut check = PhaseSpec::new("rollups", checks).label("operation", "rollups");
            check.needs = written.iter().flatten().map(|group| group.about.clone()).collect();
            self.steps.push(Step::Run(check));
        }
    }

    /// Questions about rollups: those of a part of the file, or all windows of all of them.
    fn asking_rollup(&self, phase: &PhasePart, part: Option<&QueryPart>) -> Vec<LoadSpec> {
        let (Some(life), Some(round)) = (&self.parameters.life, phase.round) else { return Vec::new() };
        let series = &self.parameters.tables[0].series;
        let length = part
            .map_or(CHECKS.unsigned_abs() * u64::from(series.count), |part| part.count.unwrap_or(ENDLESS));
        let asked = life.rollups.iter().enumerate();
        let asked =
            asked.filter(|(_, rollup)| part.is_none_or(|part| part.window_ns == Some(rollup.every_ns)));
        let each = asked.filter_map(|(number, _)| {
            let name = part.map_or(&self.schema.tables[number + 1].name, |part| &part.name).clone();
            let (answers, named) = (&self.tables[0].answers, (number, name.clone()));
            let questions =
                RollupQuestions::new(answers, (life, series), named, (round, part), (self.seed, length))?;
            let load = LoadSpec::asking(
                name,
                Arc::new(questions),
                part.map_or(1, |part| part.clients),
                checking(phase, part),
            );
            let pacing = pacing(part.and_then(|part| part.rate));
            Some(LoadSpec {
                pacing,
                distribution: WorkDistribution::COUNTER,
                accompanies: part.is_some(),
                ..load
            })
        });
        each.collect()
    }

    /// Why a layout goes through no more phases from this one on.
    fn refused(&self, phase: &PhasePart, has_size: bool, subject: Subject<'_>) -> Option<String> {
        let of = |part: &WritersPart| &self.parameters.tables[part.table].series;
        let grows = has_size && phase.size.is_some_and(|readings| readings > 0);
        let why = if subject.layout.foreign_key && phase.writers.iter().any(|part| part.is_bulk(of(part))) {
            "with a foreign key, readings cannot come before their entity"
        } else if subject.layout.shape == Shape::GrowingArray && grows {
            "a document's array cannot grow without end"
        } else {
            return None;
        };
        Some(format!("{} and what follows are left out: {why}", phase.name))
    }

    /// The queries of a phase that the layout can answer. The others are noted, but for one that has its phase for itself: its record says why it was not asked.
    fn supported(&mut self, number: usize, written: &[Vec<Group>], subject: Subject<'_>) -> Vec<QueryPart> {
        let mut supported = Vec::new();
        let phase = &self.parameters.phases[number];
        let is_alone = phase.writers.is_empty() && phase.queries.len() == 1 && phase.task.is_none();
        let has_days = matches!(subject.layout.shape, Shape::Bucketed { .. });
        for part in phase.queries.iter().filter(|part| has_days || part.by_day != Some(false)) {
            let load = self.asking(number, part, &written[part.table]);
            match support(subject.store, subject.layout, &self.schema, &load) {
                Support::Not(reason) if !is_alone => {
                    self.notes.push(format!("query {} is not supported: {reason}", part.name));
                }
                _ => supported.push(part.clone()),
            }
        }
        supported
    }

    /// Clients that go on where those before them end.
    fn writing(&self, phase: &PhasePart, part: &WritersPart, written: &mut [Vec<Group>]) -> LoadSpec {
        let series = &self.parameters.tables[part.table].series;
        let batch = |advised: u64| match part.batch {
            _ if series.entity.is_some() && !part.is_bulk(series) => 1,
            0 => round_u64(advised as f64 * part.advised.unwrap_or(1.0) / series.readings_a_turn()).max(1),
            batch => batch,
        };
        let tables = self.tables.iter().enumerate().filter(|(table, _)| part.is_of(*table));
        let (sensors, batches): (Vec<_>, Vec<_>) = tables
            .map(|(_, table)| ((Arc::clone(&table.sensors), table.copies), batch(table.advised)))
            .unzip();
        let (several, batches) = (sensors.len() as f64, Batches(batches));
        let operations = part.rate.map(|rate| rate * several / batches.mean());
        let given = part.turns(series);
        let lasts_ns = phase.task.as_ref().map_or(phase.duration_ns, |_| Some(lifecycle::LONGEST_NS));
        let length = match (given, lasts_ns) {
            (Some(turns), _) => turns,
            (None, Some(duration_ns)) => batches.turn(length(operations, duration_ns)),
            (None, None) => 0,
        };
        let begin = if part.messages { homes::MESSAGES } else { 0 };
        let first = written[part.table].last().map_or(begin, |group: &Group| group.turns.end);
        let turns = first..first.saturating_add(length);
        let (order, has_entity) = (part.order(series), series.entity.is_some());
        // A client stays with a series, whose entity it updates in the order of time.
        let distribution = match has_entity && batches.0[0] == 1 {
            true => WorkDistribution::STRIDE,
            false => WorkDistribution::COUNTER,
        };
        let about = About { phase: phase.name.clone(), load: part.name.clone() };
        let group = Group {
            about,
            turns: turns.clone(),
            batches: batches.clone(),
            order,
            has_end: given.is_some(),
            is_whole: phase.duration_ns.is_none() || phase.task.is_some(),
        };
        for (_, written) in written.iter_mut().enumerate().filter(|(table, _)| part.is_of(*table)) {
            written.push(group.clone());
        }
        let writes = Writes::new(part, sensors, (turns, order), batches, has_entity);
        LoadSpec {
            distribution,
            pacing: pacing(operations),
            ..LoadSpec::writing(part.name.clone(), Arc::new(writes), part.clients)
        }
    }

    /// What loads of all tables side by side are in values: how many a second, and how many are stored when the database rests.
    fn add_values(&self, record: &mut TrialRecord) {
        let TrialRecord { loads, figures, .. } = record;
        let fields = self.parameters.tables.iter().map(|table| table.fields.len()).sum::<usize>();
        let a_reading = fields as f64 / self.tables.len() as f64;
        let mut stored = 0.0;
        for load in loads.iter().filter(|load| load.writes) {
            let mut phases = self.parameters.phases.iter().filter(|phase| phase.name == load.phase);
            let is_of_all = |phase: &&PhasePart| phase.writers.iter().any(|part| part.all);
            let Some(phase) = phases.find(is_of_all) else { continue };
            stored = if phase.empty { 0.0 } else { stored } + load.readings() as f64 * a_reading;
            if let Some(rate) = load.readings_per_second().filter(|rate| *rate > 0.0) {
                let rate = Figure::new(rate * a_reading, "values/s");
                figures.insert(format!("values_per_second/{}", phase.name), rate);
            }
            if let Some(rest) = &phase.settled
                && figures.contains_key(&format!("{}/{rest}", names::DISK_SETTLED))
            {
                figures.insert(format!("values/{rest}"), Figure::new(stored, "values"));
            }
        }
    }

    /// Clients that ask about a table what the last of its writers have written.
    fn asking(&self, number: usize, part: &QueryPart, written: &[Group]) -> LoadSpec {
        let phase = &self.parameters.phases[number];
        let table = &self.tables[part.table];
        let last = written.last();
        let turns = last.map_or(0..0, |group| group.turns.clone());
        let is_there = last.is_none_or(|group| group.is_whole || group.has_end);
        let series = &self.parameters.tables[part.table].series;
        let kept_ns = self.parameters.life.as_ref().zip(phase.round);
        let kept_ns = kept_ns.map_or(i64::MIN, |(life, round)| life.kept_from_ns(series, round));
        let order = last.map_or(Order::of_time(series.count), |group| group.order);
        let new_ns = || table.sensors.boundary_ns(order.at(turns.start).1);
        let horizon = Horizon {
            turns_before: turns.start,
            batches: last.map_or(Batches(vec![1]), |group| group.batches.clone()),
            order,
            turns_end: turns.end,
            turns_loaded: if is_there { turns.end } else { turns.start },
            lag_ticks: table.sensors.longest_delay(table.copies.sent),
            first_ns: if part.when == WhenPart::New { new_ns() } else { kept_ns },
        };
        let before = self.parameters.phases[..number].iter().map(|phase| phase.queries.len());
        let place =
            before.sum::<usize>() + phase.queries.iter().position(|one| one.name == part.name).unwrap_or(0);
        let length = length(part.rate, phase.duration_ns.unwrap_or(u64::MAX));
        let length = part.count.unwrap_or(length);
        // Where spans and steps are the same, so are the times.
        let place = if part.step_ns.is_some() { 0 } else { place as u64 };
        let questions = Questions::new(part, place, self.seed, Arc::clone(&table.answers), horizon, length);
        LoadSpec {
            pacing: pacing(part.rate),
            distribution: WorkDistribution::COUNTER,
            // Without an end of its own, it ends with the load.
            accompanies: phase.duration_ns.is_none() && !phase.writers.is_empty(),
            about: last.map(|group| group.about.clone()),
            ..LoadSpec::asking(
                part.name.clone(),
                Arc::new(questions),
                part.clients,
                checking(phase, Some(part)),
            )
        }
    }
}

/// What belongs to a phase, by its name; the usual phase's has no further one.
fn named(what: &str, usual: &str, phase: &str) -> String {
    if phase == usual { what.to_owned() } else { format!("{what}-{phase}") }
}

/// A phase of these clients, and what is done meanwhile.
fn spec(phase: &PhasePart, loads: Vec<LoadSpec>, task: Option<Arc<Task>>) -> PhaseSpec {
    let mut run = PhaseSpec::new(phase.name.clone(), loads);
    run.labels.clone_from(&phase.labels);
    if run.labels.is_empty() {
        run = run.label("operation", phase.name.clone());
    }
    run.limit = phase.duration_ns.filter(|_| task.is_none()).map(Duration::from_nanos);
    run.task = task;
    run
}

/// The rest after a phase: where the file says so, or the phase ends with what its writers load.
fn settled(phase: &PhasePart) -> Option<Step> {
    let is_last = phase.task.is_none() && phase.round.is_none();
    let loads = phase.writers.iter().any(|part| part.load_ns.is_some());
    let rests = phase.duration_ns.is_none() && loads && is_last;
    let usual = rests.then(|| named("settled", LOAD, &phase.name));
    phase.settled.clone().or(usual).map(Step::Settle)
}

/// Queries that are not counted.
fn warm_up(name: String, loads: Vec<LoadSpec>, phase: &PhasePart) -> Step {
    let mut warm_up = PhaseSpec::new(name, loads);
    warm_up.warm_up = true;
    warm_up.limit = Some(Duration::from_nanos(phase.warm_up_ns));
    Step::Run(warm_up)
}

/// A phase in which only a task is done.
fn alone(name: &str, task: Arc<Task>) -> Step {
    let mut phase = PhaseSpec::new(name, Vec::new());
    phase.task = Some(task);
    Step::Run(phase)
}

/// How long clients work before a round's tasks: a quarter of what the writers' rate takes.
fn lead_ns(phase: &PhasePart, tables: &[TablePart]) -> u64 {
    let seconds = phase
        .writers
        .iter()
        .filter_map(|part| Some(tables[part.table].series.turns(part.load_ns?) as f64 / part.rate? / 4.0));
    round_u64(seconds.fold(0.0, f64::max) * 1e9)
}

/// Which answers are compared in full.
fn checking(phase: &PhasePart, part: Option<&QueryPart>) -> Checking {
    match NonZeroU64::new(phase.check_one_in) {
        Some(several) if several.get() > 1 && part.is_some() => Checking::OneIn(several),
        _ => Checking::All,
    }
}

/// Writers of earlier phases that must have written all that was due: others go on where they end, or ask about it.
fn needs(phase: &PhasePart, written: &[Vec<Group>]) -> Vec<About> {
    let of_table = written.iter().enumerate().flat_map(|(table, groups)| {
        let writes = phase.writers.iter().any(|part| part.is_of(table));
        let asks = phase.queries.iter().any(|part| part.table == table);
        // Who only asks keeps below what the last writers had written when they were cut.
        let before = groups.len().saturating_sub(usize::from(!writes));
        groups.iter().take(before).filter(move |group| (writes || asks) && !group.is_whole)
    });
    of_table.map(|group| group.about.clone()).collect()
}

/// How many operations there are: those that are due, or as many as anybody could do.
fn length(rate: Option<f64>, duration_ns: u64) -> u64 {
    rate.map_or(ENDLESS, |rate| {
        let due = rate * duration_ns as f64 / 1e9;
        round_u64(due.ceil()).max(1)
    })
}

fn pacing(rate: Option<f64>) -> Pacing {
    let ticks = rate.and_then(|rate| NonZeroU64::new(round_u64(rate * RATE_PARTS)));
    let span_ns = NonZeroU64::new(round_u64(RATE_PARTS) * 1_000_000_000);
    match (ticks, span_ns) {
        (Some(ticks), Some(span_ns)) => Pacing::Open(Schedule::Rate { ticks, span_ns }),
        _ => Pacing::Closed,
    }
}

impl Workload for Own {
    fn schema(&self) -> Arc<Schema> {
        Arc::clone(&self.schema)
    }

    fn steps(&self) -> Vec<Step> {
        self.steps.clone()
    }

    fn work(&self, load: &LoadRecord, _record: &TrialRecord) -> Work {
        let mut work = Work::of(load);
        let is_own_end = |phase: &PhasePart| {
            phase.name == load.phase && (phase.duration_ns.is_none() || phase.task.is_some())
        };
        if self.parameters.phases.iter().any(is_own_end) {
            // Questions that end with a load are as many as it leaves time for.
            work.fewest = 0;
        }
        work
    }

    fn figures(&self, record: &mut TrialRecord) {
        record.warnings.extend(self.notes.iter().cloned());
        // One trial knows no highest rate.
        let limits = self.parameters.limits.iter();
        let limits = limits.filter(|limit| limit.what != What::Headroom);
        let size = self.parameters.your_size();
        let held: Vec<_> = limits.map(|limit| limit.hold(record, size.as_ref())).collect();
        record.limits = held;
        self.add_values(record);
    }
}
