//! `sensormark list`: workloads, stores, layouts, capabilities, and every number behind a scale.

use crate::arguments::ListArguments;
use crate::failure::Failure;
use crate::registry::{Workload, named_factories, no_scale, numbers, own_file, registry};
use sensormark_data::nearest::unknown;
use sensormark_engine::scale::Scale;
use sensormark_engine::selection::Choice;
use sensormark_engine::study_protocol;
use sensormark_engine::trial::cases::layout_options;
use sensormark_engine::trial::script::Step;
use sensormark_engine::trial::support::{Support, support};
use sensormark_engine::trial::{Subject, WorkloadFactory};
use sensormark_report::quoted;
use sensormark_store::{DefaultSelection, LayoutOption, Store};
use serde_json::Value;
use std::collections::BTreeSet;
use std::fmt::Write;
use std::process::ExitCode;
use std::sync::Arc;

/// Prints what there is.
pub fn list(arguments: &ListArguments) -> Result<ExitCode, Failure> {
    if let (true, Some(name)) = (arguments.as_study, &arguments.workload) {
        crate::output::print(&protocol(name)?)?;
        return Ok(ExitCode::SUCCESS);
    }
    let text = match &arguments.workload {
        None => everything(),
        Some(name) => match (Workload::find(name), registry().find(name)) {
            (Ok(found), _) => of_workload(found, arguments)?,
            (Err(_), Some(store)) => of_store(store, arguments)?,
            (Err(_), None) => return Err(Failure::usage(neither(name))),
        },
    };
    crate::output::print_cleaned(&text)?;
    Ok(ExitCode::SUCCESS)
}

fn of_workload(found: Workload, arguments: &ListArguments) -> Result<String, Failure> {
    match found {
        Workload::Factory(factory) => {
            by_factory(factory.as_ref(), arguments.scale.unwrap_or_default().scale())
        }
        Workload::File(path) => {
            no_scale(arguments.scale)?;
            let own = own_file(&path, &[])?;
            let mut text = format!("{}\n\nLayouts\n", path.display());
            for store in registry().stores() {
                factory_layouts(&mut text, own.factory.as_ref(), &own.parameters, store)
                    .map_err(Failure::usage)?;
            }
            Ok(text)
        }
    }
}

/// A store's layouts, workload by workload.
fn of_store(store: &Arc<dyn Store>, arguments: &ListArguments) -> Result<String, Failure> {
    let scale = arguments.scale.unwrap_or_default().scale();
    let mut text = String::new();
    store_line(&mut text, store);
    for factory in named_factories() {
        let numbers = numbers(factory.as_ref(), scale, &[])?;
        let offers = layout_options(factory.as_ref(), &numbers, &any(store));
        let _ = writeln!(text, "\nLayouts in {}", factory.name());
        for (name, offer) in offers.map_err(Failure::usage)? {
            heading(&mut text, store, &name, &offer);
        }
    }
    let name = store.description().name;
    let _ = writeln!(
        text,
        "\n--on {name}:LAYOUT measures that layout, --on {name}:LAYOUT* every layout whose name begins so, and --on {name} all that need not be named."
    );
    Ok(text)
}

/// A name of neither a workload nor a store: the nearest right ones.
fn neither(name: &str) -> String {
    let registry = registry();
    if let Some((name, why)) = registry.find_left_out(name) {
        return format!("{name}: {why}");
    }
    let workloads = named_factories().into_iter().map(|factory| factory.name().to_owned());
    let stores = registry.stores().iter();
    let known = workloads.chain(stores.map(|store| store.description().name));
    unknown("workload or store", name, known)
}

/// What `run --as-study` does of the study behind a workload.
fn protocol(workload: &str) -> Result<String, Failure> {
    let found = study_protocol::required(workload).map_err(Failure::usage)?;
    let mut text = format!(
        "{workload}, as the study did\n  settings of servers that sensormark starts: --profile {}\n",
        found.profile
    );
    for (store, layouts) in found.layouts {
        let _ = writeln!(text, "  {store} without a layout: {}", layouts.join(", "));
    }
    for (heading, lines) in
        [("Done as stated", found.done()), ("Not possible, or not done", found.not_done(false))]
    {
        let _ = writeln!(text, "\n{heading}");
        for line in lines {
            let _ = writeln!(text, "  - {line}");
        }
    }
    Ok(text)
}

fn everything() -> String {
    let mut text = String::from("Workloads\n");
    let mut line = |name: &str, summary: &str| {
        let _ = writeln!(text, "  {name:<20} {summary}");
    };
    for factory in named_factories() {
        line(factory.name(), factory.summary());
    }
    line("FILE.toml", "your own: sensormark init writes a file to start from");
    text.push_str("\nStores\n");
    for store in registry().stores() {
        text.push_str("  ");
        store_line(&mut text, store);
    }
    for (name, why) in registry().left_out() {
        let _ = writeln!(text, "  {name:<12} {why}");
    }
    text.push_str("\nsensormark list WORKLOAD shows its numbers, layouts and capabilities; sensormark list STORE the store's layouts.\n");
    text
}

/// A store, how one that runs already is named, and its classes of durability.
fn store_line(text: &mut String, store: &Arc<dyn Store>) {
    let description = store.description();
    let kind = if description.embedded { "embedded" } else { "server" };
    let _ = writeln!(
        text,
        "{:<12} {} ({kind}); an existing one: --on {}",
        description.name,
        description.title,
        quoted(&format!("{}={}", description.name, description.url_example))
    );
    for (class, words) in &description.durability {
        let _ = writeln!(text, "  {:<12}   durability {}: {words}", "", class.text());
    }
}

/// A workload's numbers, then each store's layouts with what its phases cannot have of them.
fn by_factory(factory: &dyn WorkloadFactory, scale: Scale) -> Result<String, Failure> {
    let numbers = numbers(factory, scale, &[])?;
    let mut text = format!("{}, scale {}\n", factory.name(), scale.name());
    let empty = serde_json::Map::new();
    for (name, value) in numbers.as_object().unwrap_or(&empty) {
        let documented = factory.parameters().iter().find(|one| one.name == name);
        let meaning = documented.map_or("", |one| one.about);
        let _ = writeln!(text, "  {name:<20} {:>8}  {meaning}", value.to_string());
    }
    text.push_str("  (override one with --set NAME=VALUE)\n\nLayouts\n");
    for store in registry().stores() {
        factory_layouts(&mut text, factory, &numbers, store).map_err(Failure::usage)?;
    }
    Ok(text)
}

fn factory_layouts(
    text: &mut String,
    factory: &dyn WorkloadFactory,
    numbers: &Value,
    store: &Arc<dyn Store>,
) -> Result<(), String> {
    for (name, offer) in layout_options(factory, numbers, &any(store))? {
        heading(text, store, &name, &offer);
        let subject = Subject { store: store.as_ref(), layout: &offer.layout, layout_name: &name };
        let workload = factory.build(numbers, 1, subject)?;
        let schema = workload.schema();
        let steps = workload.steps();
        let phases = steps.iter().filter_map(|step| match step {
            Step::Run(phase) => Some(phase),
            _ => None,
        });
        let mut said = BTreeSet::new();
        for load in phases.flat_map(|phase| &phase.loads) {
            let what = load.operations.classes().join(", ");
            let line = match support(store.as_ref(), &offer.layout, &schema, load) {
                Support::Native => continue,
                Support::ClientSide(reason) => format!("{what}: in the client: {reason}"),
                Support::Not(reason) => format!("{what}: not supported: {reason}"),
            };
            if said.insert(line.clone()) {
                let _ = writeln!(text, "      {line}");
            }
        }
    }
    Ok(())
}

/// A store, whatever its layout.
fn any(store: &Arc<dyn Store>) -> Choice {
    Choice::of(Arc::clone(store))
}

fn heading(text: &mut String, store: &Arc<dyn Store>, name: &str, offer: &LayoutOption) {
    let default_selection =
        if offer.default_selection == DefaultSelection::OnRequest { " (only when named)" } else { "" };
    let _ = writeln!(
        text,
        "  {}:{name}{default_selection}\n      {}",
        store.description().name,
        offer.description
    );
}

#[cfg(test)]
mod tests {
    use super::*;
    use sensormark_store::write_size::field_value_bytes;
    use sensormark_store::{Shape, TimeKey, WriteMethod};
    use sensormark_workload::machine_tool;

    fn offered(workload: &str, choice: &Choice) -> Vec<String> {
        let offers = offers_of(workload, choice).into_iter();
        offers.map(|(name, _)| name).collect()
    }

    fn offers_of(workload: &str, choice: &Choice) -> Vec<(String, LayoutOption)> {
        let factories = named_factories();
        let mut factories = factories.iter().filter(|factory| factory.name() == workload);
        let factory = factories.next().expect("a workload");
        let numbers = numbers(factory.as_ref(), Scale::Study, &[]).expect("numbers");
        layout_options(factory.as_ref(), &numbers, choice).expect("layouts")
    }

    #[test]
    fn stores_offer_the_layouts_of_the_studies() {
        let registry = registry();
        for protocol in &study_protocol::PROTOCOLS {
            for (name, layouts) in protocol.layouts {
                // a program may be built without a store
                let Some(store) = registry.find(name) else {
                    continue;
                };
                let offered = offered(protocol.workload, &any(store));
                for layout in *layouts {
                    let is_there = offered.iter().any(|name| name == layout);
                    assert!(is_there, "{}: {name}:{layout}", protocol.workload);
                }
                let chosen = protocol.choose(vec![any(store)], |_| Ok(offered.clone())).expect("layouts");
                let chosen: Vec<_> = chosen.into_iter().filter_map(|one| one.layout).collect();
                assert_eq!(chosen, *layouts, "{}: {name}", protocol.workload);
            }
        }
    }

    /// What the reports compare the studies' rows with: dates, floating point fields over UDP, a row key of time, a foreign key, Flux.
    #[test]
    fn layouts_of_the_studies_are_as_their_reports_take_them() {
        let registry = registry();
        let mut layouts = 0;
        for protocol in &study_protocol::PROTOCOLS {
            for (name, own) in protocol.layouts {
                let Some(store) = registry.find(name) else {
                    continue;
                };
                for (named, offer) in offers_of(protocol.workload, &any(store))
                    .into_iter()
                    .filter(|(layout, _)| own.contains(&layout.as_str()))
                {
                    let layout = &offer.layout;
                    let is_as_written = match (protocol.workload, *name) {
                        (machine_tool::NAME, "influxdb") => {
                            layout.float_fields && layout.write == WriteMethod::Datagram
                        }
                        (machine_tool::NAME, "mongodb") => layout.time == TimeKey::Native,
                        ("billing", "griddb") => layout.shape == Shape::NativeTimeSeries,
                        ("billing", "mariadb") => layout.foreign_key,
                        _ => true,
                    };
                    assert!(is_as_written, "{}: {name}:{named} {layout:?}", protocol.workload);
                    layouts += 1;
                }
            }
        }
        assert!(layouts > 0);
    }

    /// 16 clients hold a write each, of a mean table, as columns and as it is sent. The process itself takes some 50 MB more, so all stay under 250 MB. Embedded
    /// databases are in the process.
    #[test]
    fn writes_of_16_clients_to_servers_are_under_200_mb() {
        let factories = named_factories();
        let mut factories = factories.iter().filter(|factory| factory.name() == "devops");
        let factory = factories.next().expect("a workload");
        let numbers = numbers(factory.as_ref(), Scale::Study, &[]).expect("numbers");
        let schema = factory.schema(&numbers).expect("a schema");
        for store in registry().stores().iter().filter(|store| !store.description().embedded) {
            for (name, offer) in offers_of("devops", &any(store)) {
                if offer.default_selection == DefaultSelection::OnRequest {
                    continue;
                }
                let title = store.description().name;
                // QuestDB's lines, GridDB's rows and documents of time series go out in parts, of which a client holds one.
                let in_parts = ["questdb", "griddb"].contains(&title.as_str())
                    || offer.layout.shape == Shape::NativeTimeSeries;
                let bytes = schema.tables.iter().map(|table| {
                    let size = store.write_size(&offer.layout, table);
                    let columns = 12 + field_value_bytes(table, |_| 8);
                    let sent = if in_parts { 0 } else { size.reading_bytes };
                    size.readings_per_write() * (columns + sent)
                });
                let held = 16 * bytes.sum::<usize>() / schema.tables.len();
                assert!(held < 200_000_000, "{title}:{name}: {held}");
            }
        }
    }
}
