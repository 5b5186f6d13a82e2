//! `sensormark explain`: schema, statements, plans and settings of a workload on each layout, without measuring anything.

use crate::arguments::{DurabilityName, ExplainArguments, ExplainFormat, milliseconds};
use crate::durability_class::{cases_in_class, of_shipped};
use crate::failure::{Failure, INTERRUPTED};
use crate::measure::{check_memory_limit, clean};
use crate::messages;
use crate::output;
use crate::progress::Progress;
use crate::registry::{Workload, no_scale, numbers, own_file, registry};
use crate::run::choose;
use crate::server_memory::ServerMemory;
use crate::signals;
use sensormark_engine::benchmark_case::BenchmarkCase;
use sensormark_engine::deployment::Deployment;
use sensormark_engine::existing;
use sensormark_engine::explain;
use sensormark_engine::owner_mark;
use sensormark_engine::selection::Choice;
use sensormark_engine::trial::script::{CaseTrials, Step, check};
use sensormark_engine::trial::{Subject, WorkloadFactory};
use sensormark_report::statements;
use sensormark_result::measurement::NotMeasured;
use sensormark_result::measurement::statements::StatementsRecord;
use sensormark_result::measurement::write_size::{WriteSizeRecord, write_sizes};
use sensormark_server::Supervisor;
use sensormark_store::{DatabaseName, Durability, Plan, ServerOptions, Setting};
use serde::Serialize;
use serde_json::Value;
use std::process::ExitCode;
use std::sync::Arc;

/// Clients that a server is started for.
const CLIENTS: u32 = 16;

/// What is shown of one layout.
#[derive(Serialize)]
struct Explained {
    store: String,
    title: String,
    layout: String,
    /// What the server says about its version; absent for an embedded database.
    version: Option<String>,
    write_sizes: Vec<WriteSizeRecord>,
    #[serde(flatten)]
    statements: StatementsRecord,
    settings: Vec<Setting>,
}

/// What is explained, with its numbers.
struct Explaining {
    factory: Arc<dyn WorkloadFactory>,
    numbers: Value,
    /// What an acknowledged write promises, where the user does not say.
    durability: Durability,
    /// Memory of each server for caches and heaps.
    server_memory: ServerMemory,
}

/// Shows what a workload does to each layout.
///
/// # Errors
/// Wrong arguments, or a database that cannot be reached.
pub fn explain(arguments: &ExplainArguments) -> Result<ExitCode, Failure> {
    let (explaining, own_stores) = explaining(arguments)?;
    let registry = registry();
    let supervisor = Supervisor::new(None)?;
    let on = arguments.on.clone().or(own_stores);
    let on = on.unwrap_or_else(|| "sqlite".to_owned());
    let (choices, mut missing) = choose(&on, &registry, &supervisor)?;
    let durability = arguments.durability.map_or(explaining.durability, DurabilityName::class);
    let (factory, numbers) = (explaining.factory.as_ref(), &explaining.numbers);
    let (cases, unsupported) = cases_in_class(factory, numbers, &choices, durability)?;
    missing.extend(unsupported);
    if cases.is_empty() {
        return Err(Failure::usage(
            "nothing of what was asked for is here; sensormark doctor says what is missing",
        ));
    }
    for NotMeasured { implementation, reason } in &missing {
        messages::say(format_args!("{implementation}: {reason}"));
    }
    let asked: Vec<&Choice> = cases.iter().map(|case| &case.choice).collect();
    explaining.server_memory.check(&asked)?;
    check_memory_limit(&explaining.options(arguments, durability), &asked)?;
    signals::clean_up_with(&supervisor);
    clean(&supervisor, &Progress::new(arguments.progress));
    let mut explained = Vec::new();
    for case in &cases {
        if signals::interrupted() {
            return Ok(ExitCode::from(INTERRUPTED));
        }
        let shown = explaining.show(&supervisor, case, arguments)?;
        if arguments.format == ExplainFormat::Text {
            output::print_cleaned(&text(&shown))?;
        }
        explained.push(shown);
    }
    if arguments.format == ExplainFormat::Json {
        let json = serde_json::to_string_pretty(&explained).map_err(Failure::usage)?;
        output::line(json)?;
    }
    Ok(ExitCode::SUCCESS)
}

fn explaining(arguments: &ExplainArguments) -> Result<(Explaining, Option<String>), Failure> {
    let scale = arguments.scale.unwrap_or_default().scale();
    let settings = &arguments.settings;
    Ok(match Workload::find(&arguments.workload)? {
        Workload::Factory(factory) => {
            let numbers = numbers(factory.as_ref(), scale, settings)?;
            let explaining = Explaining {
                durability: of_shipped(factory.name()),
                factory,
                numbers,
                server_memory: ServerMemory::new(arguments.server_memory, None, arguments.memory_limit),
            };
            (explaining, None)
        }
        Workload::File(path) => {
            no_scale(arguments.scale)?;
            let own = own_file(&path, settings)?;
            let explaining = Explaining {
                server_memory: own.server_memory(arguments.server_memory, arguments.memory_limit),
                factory: own.factory,
                numbers: own.parameters,
                durability: own.durability,
            };
            (explaining, Some(own.on))
        }
    })
}

impl Explaining {
    /// Options of the servers that are started.
    fn options(&self, arguments: &ExplainArguments, durability: Durability) -> ServerOptions {
        ServerOptions {
            memory_bytes: self.server_memory.bytes,
            memory_limit_bytes: arguments.memory_limit.map(|limit| limit.0),
            durability,
            clients: CLIENTS,
            ..ServerOptions::default()
        }
    }

    /// Makes a database of a case's own, shows what is done to it, and drops it.
    fn show(
        &self,
        supervisor: &Supervisor,
        case: &BenchmarkCase,
        arguments: &ExplainArguments,
    ) -> Result<Explained, Failure> {
        let options = self.options(arguments, case.durability);
        let deployment = Deployment::open(supervisor, &case.choice, &options, arguments.data.as_deref())?;
        let plan = self.plan(&deployment, case, arguments)?;
        // `sensormark clean` then leaves it alone. Where that cannot be written down, its age protects it.
        let by_url = case.choice.url.as_ref();
        let _held = by_url.and_then(|_| supervisor.hold_run(&plan.owner).ok());
        let _noted = existing::note(&deployment, &plan);
        deployment.administer(&plan, async |administrator| administrator.create().await)?;
        let shown = self.look(&deployment, &plan, case, arguments);
        // Whatever came of it, nothing is left behind.
        let dropped = deployment.administer(&plan, async |administrator| administrator.drop_database().await);
        let shown = shown?;
        dropped?;
        Ok(shown)
    }

    fn plan(
        &self,
        deployment: &Deployment,
        case: &BenchmarkCase,
        arguments: &ExplainArguments,
    ) -> Result<Plan, Failure> {
        let owner = owner_mark::new();
        Ok(Plan {
            endpoint: deployment.endpoint().clone(),
            database: DatabaseName::new(&owner)?,
            owner,
            schema: self.workload(case, arguments)?.schema(),
            layout: case.layout,
            durability: case.durability,
            clients: CLIENTS,
            timeout_ms: milliseconds(arguments.timeout),
        })
    }

    fn workload(
        &self,
        case: &BenchmarkCase,
        arguments: &ExplainArguments,
    ) -> Result<Box<dyn sensormark_engine::trial::Workload>, Failure> {
        let workload = self.factory.build(&self.numbers, arguments.seed, subject(case));
        workload.map_err(Failure::usage)
    }

    fn look(
        &self,
        deployment: &Deployment,
        plan: &Plan,
        case: &BenchmarkCase,
        arguments: &ExplainArguments,
    ) -> Result<Explained, Failure> {
        let trials = self
            .workload(case, arguments)?
            .trials(&CaseTrials { strategies: case.strategies.clone(), ..CaseTrials::default() });
        for trial in &trials {
            check(&trial.steps).map_err(Failure::usage)?;
        }
        let steps: Vec<Step> = trials.into_iter().flat_map(|trial| trial.steps).collect();
        let statements = explain::explain(deployment, plan, &steps, &signals::interrupted)?;
        let settings = deployment.administer(plan, async |administrator| administrator.settings().await);
        let (settings, description) = (settings?, deployment.store().description());
        Ok(Explained {
            store: description.name,
            title: description.title,
            layout: case.layout_name.clone(),
            version: deployment.record().map(|record| record.version.clone()),
            write_sizes: write_sizes(deployment.store(), &plan.layout, &plan.schema),
            statements,
            settings,
        })
    }
}

fn subject(case: &BenchmarkCase) -> Subject<'_> {
    Subject { store: case.choice.store.as_ref(), layout: &case.layout, layout_name: &case.layout_name }
}

fn text(shown: &Explained) -> String {
    let version = shown.version.as_deref().unwrap_or("embedded");
    let mut text = format!("{} {} ({version})\n\n", shown.title, shown.layout);
    text.push_str(&statements::text(&shown.statements, 2));
    text.push_str("\n  size of a write:\n");
    for size in &shown.write_sizes {
        text.push_str(&format!(
            "    table {}: {} readings ({} readings and {} bytes at most, about {} bytes a reading)\n",
            size.table, size.readings_per_write, size.readings, size.bytes, size.reading_bytes
        ));
    }
    if let Some(size) = shown.write_sizes.first() {
        text.push_str(&format!("    {}\n    {}\n", size.advice, size.link));
    }
    text.push_str("\n  settings:\n");
    for Setting { name, value } in &shown.settings {
        text.push_str(&format!("    {name} = {value}\n"));
    }
    text + "\n"
}
