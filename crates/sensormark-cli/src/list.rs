//! `sensormark list`: workloads, stores, layouts, capabilities, and every number behind a scale.

use crate::arguments::ListArguments;
use crate::failure::Failure;
use crate::registry::registry;
use crate::run::parameters;
use sensormark::workload::machine_tool::{self, Parameters, cells};
use sensormark::workload::selection::{Choice, unknown};
use sensormark_store::{Capability, Operation, Standing, Store, TimeResolution};
use std::fmt::Write;
use std::process::ExitCode;
use std::sync::Arc;

/// Prints what there is.
pub fn list(arguments: &ListArguments) -> Result<ExitCode, Failure> {
    let text = match arguments.workload.as_deref() {
        None => everything(),
        Some(machine_tool::NAME) => workload(arguments)?,
        Some(other) => {
            return Err(Failure::usage(unknown(
                "workload",
                other,
                [machine_tool::NAME.to_owned()],
            )));
        }
    };
    crate::report::print_text(&text);
    Ok(ExitCode::SUCCESS)
}

fn everything() -> String {
    let mut text = String::from("Workloads\n");
    let _ = writeln!(
        text,
        "  {:<20} a machine's five channels at 1 kHz, written and read by the cycle",
        machine_tool::NAME
    );
    text.push_str("\nStores\n");
    for store in registry().stores() {
        let description = store.description();
        let kind = if description.embedded {
            "embedded"
        } else {
            "server"
        };
        let _ = writeln!(
            text,
            "  {:<12} {} ({kind}); an existing one: --on {}={}",
            description.name, description.title, description.name, description.url_example
        );
        for (class, words) in &description.durability {
            let _ = writeln!(text, "  {:<12}   durability {}: {words}", "", class.text());
        }
    }
    text.push_str("\nsensormark list WORKLOAD shows its numbers, layouts and capabilities.\n");
    text
}

fn workload(arguments: &ListArguments) -> Result<String, Failure> {
    let scale = arguments.scale.scale();
    let numbers = serde_json::to_value(parameters(scale, &[])?).map_err(Failure::usage)?;
    let mut text = format!("{}, scale {}\n", machine_tool::NAME, scale.name());
    for (name, meaning) in Parameters::documentation() {
        let _ = writeln!(
            text,
            "  {name:<20} {:>8}  {meaning}",
            numbers[name].to_string()
        );
    }
    text.push_str("  (override one with --set NAME=VALUE)\n\nLayouts\n");
    for store in registry().stores() {
        layouts(&mut text, store);
    }
    Ok(text)
}

fn layouts(text: &mut String, store: &Arc<dyn Store>) {
    let choice = Choice {
        store: Arc::clone(store),
        layout: None,
        strategy: None,
        url: None,
    };
    let table = &machine_tool::schema(TimeResolution::Nanoseconds).tables[0];
    for (name, offer) in cells::offers(&choice) {
        let standing = if offer.standing == Standing::OnRequest {
            " (only when named)"
        } else {
            ""
        };
        let _ = writeln!(
            text,
            "  {}:{name}{standing}\n      {}",
            store.description().name,
            offer.description
        );
        for operation in [
            Operation::Search,
            Operation::Minimum,
            Operation::Range,
            Operation::RangeOfSomeFields,
        ] {
            match store.capability(operation, &offer.layout, table) {
                Capability::Native => {}
                Capability::ClientSide(reason) => {
                    let _ = writeln!(text, "      {operation:?}: in the client: {reason}");
                }
                Capability::Unsupported(reason) => {
                    let _ = writeln!(text, "      {operation:?}: not supported: {reason}");
                }
            }
        }
    }
}
