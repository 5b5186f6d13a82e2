//! What a reader needs to judge the figures: warnings, what was not measured, the machine, and how to do it again.

use crate::{
    prelude::*,
    sections::{hosts, memory_limit, role_hosts},
    shell::quoted,
};
use sensormark_engine::study_protocol;
use sensormark_result::probe::{DeviceKind, Environment, HIDDEN, Processor};

/// Warnings that differ in numbers alone are shown one by one up to this many.
const MOST_ALIKE: usize = 3;

/// Warnings of the machine, further ones, and those of the trials. Many that differ in numbers alone are shown once here, and each has a row in a
/// table that programs read.
pub fn warnings(field: &Field, further: Vec<String>) -> Section {
    let mut section = Section::new("warnings", "Warnings");
    let mut items = machine_warnings(field);
    items.extend(further);
    let mut table = Table::detail("warnings", "Every warning", "implementation; side; repetition; warning");
    let mut alike: Vec<(String, Vec<String>)> = vec![];
    for (side, arm, trial) in field.each() {
        for warning in &trial.warnings {
            table.row(row![&arm.label, side, u64::from(trial.repetition) + 1, warning]);
            let kind = warning.replace(|one: char| one.is_ascii_digit(), "");
            let text = format!("{} ({side}): {warning}", arm.label);
            match alike.iter_mut().find(|(known, _)| *known == kind) {
                Some((_, texts)) => texts.push(text),
                None => alike.push((kind, vec![text])),
            }
        }
    }
    for (_, texts) in alike {
        if texts.len() > MOST_ALIKE {
            let others = counted(texts.len() - 1, "more trial");
            items.push(format!("{}; and alike in {others}", texts[0]));
        } else {
            items.extend(texts);
        }
    }
    section.list(items);
    section.table(table);
    section
}

fn machine_warnings(field: &Field) -> Vec<String> {
    let Some(Environment { processor, pinned, limits, clock_source, .. }) = inventory(field) else {
        return vec![];
    };
    let cores = processor.logical_cores;
    let has_server = field.trials.iter().any(|trial| !trial.implementation.embedded);
    let shared = (has_server && cores < 4 && pinned.is_empty()).then(|| {
        format!("client and server share {}: what one uses the other lacks.", counted(cores, "core"))
    });
    let governor = processor.governor.filter(|governor| governor != "performance").map(|governor| {
        format!("the frequency governor is {governor}: CPU percentages depend on the frequency at the time; \"performance\" keeps it level.")
    });
    let quota = limits.cgroup_cores.filter(|quota| *quota < cores as f64).map(|quota| {
        format!(
            "a control group allows {} of {cores} cores, and stops the run's processes when they have used them up.",
            significant(quota, 2)
        )
    });
    let turbo = (processor.turbo == Some(true))
        .then(|| "turbo is on: the frequency depends on temperature and load.".to_owned());
    let clock = clock_source.filter(|clock| matches!(&**clock, "hpet" | "acpi_pm" | "jiffies"));
    let clock = clock.map(|clock| format!("the clock source is {clock}: each timestamp is dear."));
    [shared, governor, quota, turbo, clock].into_iter().flatten().collect()
}

/// The machine, where the run recorded it.
pub fn inventory(field: &Field) -> Option<Environment> {
    serde_json::from_value(field.run.environment.clone()).ok()
}

/// What was asked for and could not be measured.
pub fn not_measured(field: &Field) -> Section {
    let missing = field.run.not_measured.iter().map(|one| row![&one.implementation, &one.reason]);
    let table = Table::new("not_measured", "Asked for, and not measured here", "implementation; reason")
        .with(missing);
    Section::of("not_measured", "Not measured", [table])
}

/// What the run did as its study did, and what it could not; empty where it did not follow the study.
pub fn protocol(field: &Field) -> Section {
    let mut section = Section::new("protocol", "As the study did");
    let protocol = study_protocol::protocol(&field.run.workload).filter(|_| field.run.as_study);
    let Some(protocol) = protocol else {
        return section;
    };
    let measured = field.trials.iter().map(|trial| &trial.implementation).collect_vec();
    let [done, not_done] = protocol.of_run(&measured, field.trials.iter().any(is_on_hosts));
    section.paragraph("What the study did, and how this run did it:");
    section.list(done);
    section.paragraph("Not possible, or not done here:");
    section.list(not_done);
    section
}

/// Whether roles of the trial were on other hosts, or its server was.
fn is_on_hosts(trial: &TrialRecord) -> bool {
    let probe = trial.server.as_ref().and_then(|one| one.probe.as_ref());
    !trial.client_probes.is_empty() || probe.is_some_and(|probe| probe.host.is_some())
}

/// The machine, the servers and their settings.
pub fn environment(field: &Field) -> Section {
    let mut section = Section::new("environment", "Environment");
    match inventory(field) {
        Some(environment) => section.list(lines(&environment)),
        None => section.paragraph("The run recorded no inventory of its machine."),
    }
    section.tables([
        servers(field),
        role_hosts::table(field),
        hosts::rates(field),
        hosts::windows(field),
        hosts::clocks(field),
        memory_limit::table(field),
        settings(field),
    ]);
    section
}

fn lines(environment: &Environment) -> Vec<String> {
    let mut lines = vec![processor_line(&environment.processor)];
    lines.push(format!(
        "{} GB memory, {}, Linux {}, clock source {}",
        fixed(environment.memory_bytes as f64 / 1e9, 1),
        environment.distribution.as_deref().unwrap_or("unknown distribution"),
        environment.kernel_release,
        environment.clock_source.as_deref().unwrap_or("unknown")
    ));
    let guest = environment.hypervisor.as_ref().map(|name| format!("a virtual machine ({name})"));
    let inside = environment.container.as_ref().map(|name| format!("in a container ({name})"));
    let around = [guest, inside].into_iter().flatten().join(", ");
    lines.push(if around.is_empty() { "a physical machine, as far as it shows".to_owned() } else { around });
    if !environment.pinned.is_empty() {
        let held = environment
            .pinned
            .iter()
            .map(|(part, processors)| format!("{part} to processors {processors}"))
            .join(", ");
        lines.push(format!("held: {held} (an embedded database runs in the client)"));
    }
    for (name, folder) in &environment.folders {
        let kind = match folder.kind {
            DeviceKind::SolidState => "solid state",
            DeviceKind::Rotational => "rotational",
            DeviceKind::None => "no block device",
        };
        let device = folder.device.as_ref().map_or_else(String::new, |device| format!(" on {device}"));
        let flushes = environment.flushes.get(name).map_or_else(String::new, |rate| {
            let rate = significant(rate.per_second, 3);
            format!(", {rate} flushes a second (8 kB written over and flushed, one after another)")
        });
        lines.push(format!("folder {name}: {}{device} ({kind}){flushes}", folder.filesystem));
    }
    lines
}

fn processor_line(processor: &Processor) -> String {
    let cores = counted(processor.logical_cores, "logical core");
    let model = processor.model.as_deref().unwrap_or(&processor.architecture);
    let physical =
        processor.physical_cores.map(|physical| format!(" ({physical} physical)")).unwrap_or_default();
    let mhz = processor.frequency_mhz.map(|mhz| format!(", {} MHz", fixed(mhz, 0))).unwrap_or_default();
    let governor = processor.governor.as_deref().unwrap_or("not visible");
    format!("{model}, {cores}{physical}{mhz}, governor {governor}")
}

/// Versions and origins of the servers.
fn servers(field: &Field) -> Table {
    let mut table = Table::new(
        "servers",
        "Databases",
        "database; version; origin; started by; memory budget [MB]; start [s]",
    );
    for (title, server) in field
        .by_arm()
        .filter_map(|trial| Some((&trial.implementation.title, trial.server.as_ref()?)))
        .unique_by(|(title, server)| (*title, &server.version, &server.origin))
    {
        table.row(row![
            title,
            &server.version,
            &server.origin,
            if server.managed { "sensormark" } else { "somebody else" },
            Cell::maybe(server.memory_budget_bytes.map(|bytes| bytes as f64 / 1e6), "not given"),
            Cell::maybe(server.start_seconds, "not started here"),
        ]);
        server
            .notes
            .iter()
            .cloned()
            .chain(server.probe.as_ref().map(probed))
            .chain(warmed(field, title))
            .for_each(|note| table.note(format!("{title}: {note}")));
    }
    table
}

/// How long the servers of a database were warmed up, where they were.
fn warmed(field: &Field, title: &str) -> Option<String> {
    let seconds = field
        .trials
        .iter()
        .filter(|trial| trial.implementation.title == title)
        .filter_map(|trial| trial.server.as_ref()?.warm_up_seconds);
    let (least, most) = seconds.minmax_by(f64::total_cmp).into_option()?;
    let [least, most] = [least, most].map(|seconds| fixed(seconds, 1));
    let took = if least == most { least } else { format!("{least} to {most}") };
    Some(format!(
        "it runs on a Java virtual machine, so each server was warmed up before anything counted, {took} s with the trial's own operations"
    ))
}

/// Who measured a server by a probe, and what could not be.
fn probed(probe: &ProbeRecord) -> String {
    let host = probe.host.as_deref().unwrap_or("this machine");
    let milliseconds = probe.longest_round_trip_ns as f64 / 1e6;
    let mut text = format!(
        "server measured by a probe on {host} ({}), whose phases begin and end within {milliseconds:.1} ms of the client's",
        probe.processes
    );
    if !probe.missing.is_empty() {
        text += &format!("; not measured: {}", probe.missing.join("; "));
    }
    text
}

/// Every setting that was read back.
fn settings(field: &Field) -> Table {
    let settings = field.writers().flat_map(|arm| {
        let trial = field.trials_of(arm).find(|trial| !trial.settings.is_empty());
        trial
            .into_iter()
            .flat_map(|trial| &trial.settings)
            .map(|setting| row![&arm.label, &setting.name, &setting.value])
    });
    Table::detail("settings", "Settings read back from the databases", "implementation; setting | value")
        .with(settings)
}

/// How to do it again.
pub fn reproduce(field: &Field) -> Section {
    let mut section = Section::new("reproduce", "Reproduce this run");
    let run = &field.run;
    let command = run.command_line.iter().map(|argument| quoted(argument)).collect_vec();
    let mut items = vec![format!("{COMMAND}sensormark {}", command.join(" "))];
    if command.iter().any(|word| word.contains(HIDDEN)) {
        items.push(format!(
            "{HIDDEN} in the command: the user and the password, which no result keeps; write them in its place"
        ));
    }
    items.extend([
        format!("seed {}, {}, sensormark {}, started {}", run.seed, counted(field.blocks.len(), "repetition"), run.sensormark, run.started),
        format!("parameters: {}", parameters(field)),
        format!("results: {} (run.json, trials/, samples/); sensormark report derives all of this from them again", run.name),
    ]);
    section.list(items);
    section
}

fn parameters(field: &Field) -> String {
    match &field.run.parameters {
        Value::Object(entries) => entries.iter().map(|(name, value)| format!("{name}={value}")).join(" "),
        other => other.to_string(),
    }
}
