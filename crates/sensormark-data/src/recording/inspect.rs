//! What is in a file, and the options to read it with: reading is tried, and where it stops with one choice, that is taken and said.

use super::*;
use clap::{Args, Command, FromArgMatches};
use serde_json::Value;

/// What is said of a file.
pub struct Inspection {
    /// Several lines.
    pub text: String,
    /// Whether the last line is the command that measures it. Else the user has to choose.
    pub is_clear: bool,
}

/// Looks at a file. What is printed names it as `shown`.
///
/// # Errors
/// When it cannot be opened, or nothing helps to read it.
pub fn inspect(path: &Path, shown: &str, options: &RecordingOptions) -> Result<Inspection> {
    let (mut options, mut text) = (options.clone(), String::new());
    for _ in 0..30 {
        let (words, choices) = match Recording::read(path, &options) {
            Ok(recording) => {
                text += &format!(
                    "{}\n{}Read it so:\n  {}",
                    recording.report.to_string().trim_end(),
                    odd(&recording),
                    command(shown, &options)
                );
                return Ok(Inspection { text, is_clear: true });
            }
            Err(RecordingError::BadRows { rows, bad, .. }) if bad.count * 2 < rows => {
                let words =
                    format!("{} of {rows} rows cannot be read:\n{bad}The command leaves them out", bad.count);
                (words, vec![vec!["--skip-bad-rows".to_owned()]])
            }
            Err(RecordingError::Unclear { words, choices }) if !choices.is_empty() => (words, choices),
            Err(error) => return Err(error),
        };
        let words = words.trim_end_matches('.').replace(&path.display().to_string(), shown);
        text += &format!("Asked: {words}.\n");
        if let [choice] = &choices[..] {
            options = with(&options, choice)?;
            continue;
        }
        text += "Choose one:";
        for choice in choices {
            text += &format!("\n  {}", command(shown, &with(&options, &choice)?));
        }
        break;
    }
    Ok(Inspection { text, is_clear: false })
}

/// The options with those of a choice, which count more.
fn with(options: &RecordingOptions, choice: &[String]) -> Result<RecordingOptions> {
    let typed = RecordingOptions::typed(&[&options.arguments(), choice].concat()).or_else(unclear)?;
    let mut options = RecordingOptions { name: options.name.clone(), ..typed };
    options.decimal_comma &= options.thousands.as_deref() != Some(",");
    Ok(options)
}

/// What is odd about the values, in lines.
fn odd(recording: &Recording) -> String {
    let readings = &recording.readings;
    // What loggers write for "no value".
    let no_values = "-99 -200 -999 -9999 -99999 -32768 999 9999 99999 32767 65535 -7999";
    let mut text = String::new();
    for (field, column) in recording.schema.tables[0].fields.iter().zip(&readings.columns) {
        let numbers: Vec<f64> = (0..readings.len()).filter_map(|row| column.number(row)).collect();
        let Some((least, most)) = numbers
            .iter()
            .copied()
            .minmax_by(f64::total_cmp)
            .into_option()
            .filter(|_| field.kind.is_number())
        else {
            continue;
        };
        for extreme in [least, most].into_iter().dedup() {
            let name = &field.name;
            let count = numbers.iter().filter(|number| **number == extreme).count();
            if no_values.split(' ').contains(&extreme.to_string().as_str()) {
                text += &format!(
                    "Odd: {extreme} in {count} readings of {name}; if that is no value, say --absent {extreme}.\n"
                );
            } else if count == readings.len() && count > 1 {
                text += &format!("Odd: {extreme} in every reading of {name}.\n");
            }
        }
    }
    text
}

/// The command that measures the file.
fn command(shown: &str, options: &RecordingOptions) -> String {
    format!("sensormark replay {}", quoted(&[vec![shown.to_owned()], options.arguments()].concat()))
}

impl RecordingOptions {
    /// The options as they are typed.
    pub fn arguments(&self) -> Vec<String> {
        let mut arguments = Vec::new();
        let Ok(Value::Object(options)) = serde_json::to_value(self) else {
            return arguments;
        };
        for (key, value) in options.into_iter().filter(|(key, _)| key != "name") {
            let option = if key == "types" { "--type".to_owned() } else { format!("--{key}") };
            let is_switch = key != "header" && value.is_boolean();
            let values = match value {
                Value::Null => continue,
                Value::Bool(false) if is_switch => continue,
                Value::Array(values) => values,
                value => vec![value],
            };
            for value in values {
                arguments.push(option.clone());
                if !is_switch {
                    arguments.push(value.as_str().map_or_else(|| value.to_string(), str::to_owned));
                }
            }
        }
        arguments
    }

    /// The options that were typed so.
    ///
    /// # Errors
    /// What is wrong with them, in words.
    pub fn typed(arguments: &[String]) -> Result<Self, String> {
        let matches = Self::augment_args(Command::new("").no_binary_name(true).args_override_self(true))
            .try_get_matches_from(arguments);
        matches.and_then(|matches| Self::from_arg_matches(&matches)).map_err(|error| {
            error.to_string().lines().next().unwrap_or_default().trim_start_matches("error: ").to_owned()
        })
    }
}
