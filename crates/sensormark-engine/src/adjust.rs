//! How a user overrides one of a workload's numbers.

use super::parameter::Parameter;
use sensormark_data::nearest::unknown;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

/// Overrides numbers by `NAME=VALUE`; the table says what may be set, and to what.
///
/// # Errors
/// A name that there is not, with the nearest right one; a value of another kind or out of bounds.
pub fn adjust<T: Serialize + DeserializeOwned>(
    parameters: &T,
    settings: &[String],
    table: &[Parameter],
) -> Result<T, String> {
    let numbers = serde_json::to_value(parameters).expect("parameters have string keys");
    let numbers = adjust_values(numbers, settings, table)?;
    serde_json::from_value(numbers).map_err(|error| error.to_string())
}

/// The same for numbers in an object. Numbers that make sense only together are checked by the caller, when all are set.
///
/// # Errors
/// A name that there is not, with the nearest right one; a value of another kind or out of bounds.
pub fn adjust_values(numbers: Value, settings: &[String], table: &[Parameter]) -> Result<Value, String> {
    let Value::Object(mut numbers) = numbers else {
        return Err("these parameters cannot be set one by one".to_owned());
    };
    for setting in settings {
        let (name, value) =
            setting.split_once('=').ok_or_else(|| format!("--set {setting}: write it as NAME=VALUE"))?;
        let name = name.trim().replace('-', "_");
        let Some(parameter) = table.iter().find(|one| one.name == name) else {
            let known = table.iter().map(|one| one.name.to_owned());
            return Err(unknown("parameter", &name, known));
        };
        let value = parameter.read(value).map_err(|why| format!("--set {setting}: {why}"))?;
        numbers.insert(name, value);
    }
    Ok(Value::Object(numbers))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parameter::{at_least, over};
    use crate::parameters;
    use crate::scale::Scale;

    parameters! {
        /// Numbers of a test.
        pub struct Numbers {
            /// how many
            reads: u32, Plain, at_least(1.0) => 12, 12, 13, 14;
            /// how long
            measured_seconds: f64, Seconds, over(0.0) => 4.0, 4.0, 5.0, 6.0;
        }
    }

    #[test]
    fn numbers_are_set_by_name_and_wrong_ones_are_refused() {
        let numbers = Numbers::of(Scale::Quick);
        let set = |text: &str| adjust(&numbers, &[text.to_owned()], Numbers::TABLE);
        assert_eq!(set("reads=30").unwrap().reads, 30);
        assert_eq!(set("measured-seconds=2.5").unwrap().measured_seconds, 2.5);
        assert_eq!(set("measured_seconds=15m").unwrap().measured_seconds, 900.0);
        assert!(set("raeds=30").unwrap_err().contains("did you mean reads?"));
        assert!(set("reads=many").unwrap_err().starts_with("--set reads=many"));
        assert!(set("reads").unwrap_err().contains("NAME=VALUE"));
    }
}
