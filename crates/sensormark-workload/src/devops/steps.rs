//! What a trial goes through: a load for each number of workers, the questions, growth.

use super::history::History;
use super::parameters::Parameters;
use super::questions::{QuestionKind, Questions};
use super::writes::{Lanes, Plan, Writes};
use crate::live::live;
use sensormark_data::devops::Devops;
use sensormark_data::devops::fields::MEASUREMENTS;
use sensormark_data::units::round_u64;
use sensormark_engine::answers::Checking;
use sensormark_engine::operations::Operations;
use sensormark_engine::trial::Subject;
use sensormark_engine::trial::script::{About, LoadSpec, PhaseSpec, Step};
use sensormark_engine::work_distribution::WorkDistribution;
use sensormark_result::measurement::names;
use sensormark_store::Schema;
use std::num::NonZeroU64;
use std::sync::Arc;
use std::time::Duration;

/// Labels of phases.
pub const OPERATION: &str = "operation";
/// Workers that load.
pub const WORKERS: &str = "workers";
/// Clients that ask.
pub const CLIENTS: &str = "clients";
/// Hours of data that are there after a load, or are asked about.
pub const HOURS: &str = "hours";
/// The phase of settling after a load.
pub const SETTLED: &str = "settled";
/// The operation that loads an empty database.
pub const LOAD: &str = "load";
/// The operation that adds to the data.
pub const GROW: &str = "grow";

/// The steps on one layout of one store.
pub struct Script {
    /// The numbers.
    pub parameters: Arc<Parameters>,
    /// What is loaded before everything is asked.
    pub base: Arc<Plan>,
    /// The steps.
    pub steps: Vec<Step>,
}

/// What the steps are made with.
struct Maker {
    parameters: Arc<Parameters>,
    lanes: Arc<Lanes>,
    history: Arc<History>,
    seed: u64,
}

impl Script {
    /// The steps for a subject.
    pub fn new(parameters: Arc<Parameters>, data: Devops, schema: Arc<Schema>, subject: Subject<'_>) -> Self {
        let readings: Vec<u64> = (0..MEASUREMENTS.len())
            .map(|table| readings_per_write(&parameters, &schema, table, subject))
            .collect();
        let plan = |ticks| Arc::new(Plan::new(data.hosts, ticks, &readings));
        let base = plan(0..parameters.ticks());
        let more = parameters.more_ticks();
        let live = parameters.ticks()..parameters.ticks() + parameters.live_ticks();
        let last = more.last().copied().unwrap_or(live.end);
        let maker = Maker {
            lanes: Arc::new(Lanes::new(&data, last, &base)),
            history: Arc::new(History::new(data, schema, last)),
            parameters: Arc::clone(&parameters),
            seed: data.seed,
        };
        let mut steps = Vec::new();
        for (place, workers) in parameters.workers.iter().enumerate() {
            if place > 0 {
                steps.push(Step::Reset);
            }
            let name = format!("load-{workers}");
            if *workers == parameters.most_workers() {
                steps.push(Step::Size(base.stored()));
            }
            maker.load(&mut steps, &name, LOAD, &base, (*workers, parameters.hours));
        }
        // The database holds what the last number of workers has loaded.
        let loaded = format!("load-{}", parameters.most_workers());
        let (first, most) = (parameters.clients.first(), parameters.clients.last());
        for clients in &parameters.clients {
            let is_end = Some(clients) == first || Some(clients) == most;
            for kind in QuestionKind::ALL {
                if is_end || kind == QuestionKind::MaximumShort {
                    let name = format!("{}-{clients}", kind.name());
                    let about = (loaded.as_str(), &base, parameters.hours);
                    steps.push(maker.question(&name, kind, *clients, about));
                }
            }
        }
        let maker = Maker { parameters: Arc::new(parameters.for_growth()), ..maker };
        let mut from = live.end;
        if !live.is_empty() {
            // As hosts send them: tick by tick.
            let readings: Vec<u64> = readings.iter().map(|count| (*count).min(data.hosts.into())).collect();
            let after = About { phase: loaded, load: LOAD.to_owned() };
            steps.push(maker.live(after, &Arc::new(Plan::new(data.hosts, live, &readings))));
        }
        for (hours, to) in parameters.more_hours.iter().zip(more) {
            let grown = plan(from..to);
            let name = format!("grow-{hours}h");
            let workers = parameters.most_workers();
            steps.push(Step::Size(grown.stored()));
            maker.load(&mut steps, &name, GROW, &grown, (workers, *hours));
            for kind in QuestionKind::ALL {
                let asked = format!("{}-{hours}h", kind.name());
                steps.push(maker.question(&asked, kind, 1, (&name, &grown, *hours)));
            }
            from = to;
        }
        Self { parameters, base, steps }
    }
}

/// Readings in a write of a table.
fn readings_per_write(parameters: &Parameters, schema: &Schema, table: usize, subject: Subject<'_>) -> u64 {
    if parameters.batch > 0 {
        return parameters.batch;
    }
    let table = &schema.tables[table];
    let size = subject.store.write_size(subject.layout, table);
    round_u64(size.readings_per_write() as f64 * parameters.batch_times).max(1)
}

fn limit(seconds: f64) -> Option<Duration> {
    (seconds > 0.0).then(|| Duration::from_secs_f64(seconds))
}

impl Maker {
    /// A load and the rest after it.
    fn load(
        &self,
        steps: &mut Vec<Step>,
        name: &str,
        operation: &str,
        plan: &Arc<Plan>,
        (workers, hours): (u32, f64),
    ) {
        let writes = Writes::new(Arc::clone(plan), Arc::clone(&self.lanes));
        let load = LoadSpec {
            distribution: WorkDistribution::COUNTER,
            ..LoadSpec::writing(LOAD, Arc::new(writes), workers)
        };
        let settled = format!("settled-{name}");
        let mut phase = PhaseSpec::new(name, vec![load])
            .label(OPERATION, operation)
            .label(WORKERS, workers)
            .label(HOURS, hours)
            .label(names::STORED, plan.stored())
            .label(SETTLED, settled.as_str());
        // What it grows by takes as long as it takes, within the budget.
        phase.limit = limit(self.parameters.load_seconds).filter(|_| operation == LOAD);
        steps.push(Step::Run(phase));
        steps.push(Step::Settle(settled));
    }

    /// Ticks come at their rate, and dashboards ask about the newest.
    fn live(&self, after: About, plan: &Arc<Plan>) -> Step {
        let writes = Arc::new(Writes::new(Arc::clone(plan), Arc::clone(&self.lanes)));
        let writing = LoadSpec {
            distribution: WorkDistribution::COUNTER,
            ..LoadSpec::writing(LOAD, writes, self.parameters.most_workers())
        };
        let rate = plan.writes() as f64 / self.parameters.live_seconds;
        let asked = [QuestionKind::MaximumShort, QuestionKind::LastOfSite].map(|kind| {
            let mut questions = self.questions(kind, plan);
            questions.is_newest = true;
            (kind.name(), Arc::new(questions) as Arc<dyn Operations>)
        });
        live(OPERATION, after, writing, rate, asked)
    }

    fn questions(&self, kind: QuestionKind, plan: &Arc<Plan>) -> Questions {
        let (parameters, history) = (Arc::clone(&self.parameters), Arc::clone(&self.history));
        Questions::new(kind, parameters, history, Arc::clone(plan), self.seed)
    }

    /// Questions of one kind about a load: its phase, what it writes, and the hours of data that there are.
    fn question(
        &self,
        name: &str,
        kind: QuestionKind,
        clients: u32,
        (phase, plan, hours): (&str, &Arc<Plan>, f64),
    ) -> Step {
        let questions = self.questions(kind, plan);
        let checking = match NonZeroU64::new(self.parameters.check_one_in) {
            Some(several) if several.get() > 1 => Checking::OneIn(several),
            _ => Checking::All,
        };
        let load = LoadSpec {
            about: Some(About { phase: phase.to_owned(), load: LOAD.to_owned() }),
            distribution: WorkDistribution::COUNTER,
            ..LoadSpec::asking(kind.name(), Arc::new(questions), clients, checking)
        };
        let mut phase = PhaseSpec::new(name, vec![load])
            .label(OPERATION, kind.name())
            .label(CLIENTS, clients)
            .label(HOURS, hours)
            .label(names::STORED, plan.stored());
        phase.limit = limit(self.parameters.query_seconds);
        Step::Run(phase)
    }
}
