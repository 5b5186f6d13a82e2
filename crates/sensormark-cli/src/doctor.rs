//! `sensormark doctor`: what is here, and how to install what is missing.

use crate::arguments::DoctorArguments;
use crate::clean::this_machine;
use crate::failure::Failure;
use crate::registry::registry;
use sensormark_result::probe::Environment;
use sensormark_server::Supervisor;
use std::fmt::Write;
use std::path::Path;
use std::process::ExitCode;

/// Prints what is here.
///
/// # Errors
/// When the machine cannot be looked at, or what was found cannot be printed.
pub fn doctor(arguments: &DoctorArguments) -> Result<ExitCode, Failure> {
    let mut text = String::from("Databases\n");
    databases(&mut text);
    let supervisor = Supervisor::new(None)?;
    let environment = Environment::read(&[("data", supervisor.home()), ("results", Path::new("."))])
        .map_err(Failure::usage)?;
    let left = this_machine(&supervisor, !arguments.clean);
    if !left.is_empty() {
        text.push_str(match arguments.clean {
            true => "\nLeft by runs that were killed\n",
            false => "\nLeft by runs that were killed; sensormark doctor --clean removes it\n",
        });
        for what in left {
            let _ = writeln!(text, "  {what}");
        }
    }
    text.push_str("\nMachine\n");
    let value = serde_json::to_value(environment).map_err(Failure::usage)?;
    lines(&mut text, "", &value);
    crate::output::print_cleaned(&text)?;
    Ok(ExitCode::SUCCESS)
}

/// Which databases are here, and what the others lack.
fn databases(text: &mut String) {
    for store in registry().stores() {
        let description = store.description();
        match store.installation() {
            Ok(found) => {
                let place = if found.path.as_os_str().is_empty() {
                    String::new()
                } else {
                    format!(", {}", found.path.display())
                };
                let _ =
                    writeln!(text, "  {:<12} {} ({}{place})", description.title, found.version, found.origin);
            }
            Err(error) => {
                let _ = writeln!(
                    text,
                    "  {:<12} {}: {}",
                    description.title,
                    error.kind().text(),
                    error.context()
                );
            }
        }
    }
    for (name, why) in registry().left_out() {
        let _ = writeln!(text, "  {name:<12} {why}");
    }
}

/// A tree of values as indented lines.
fn lines(text: &mut String, name: &str, value: &serde_json::Value) {
    match value {
        serde_json::Value::Object(fields) => {
            for (field, value) in fields {
                let name = if name.is_empty() { field.clone() } else { format!("{name}.{field}") };
                lines(text, &name, value);
            }
        }
        serde_json::Value::Array(values) => {
            let words: Vec<String> = values
                .iter()
                .map(|value| value.as_str().map_or_else(|| value.to_string(), str::to_owned))
                .collect();
            let _ = writeln!(text, "  {name}: {}", words.join(", "));
        }
        serde_json::Value::Null => {}
        serde_json::Value::String(words) => {
            let _ = writeln!(text, "  {name}: {words}");
        }
        other => {
            let _ = writeln!(text, "  {name}: {other}");
        }
    }
}
