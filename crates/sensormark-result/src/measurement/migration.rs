//! Results of older formats, brought up to this one step by step when they are read. Files stay as they are; what a step does stands in
//! `docs/reference/result-format.md`. A newer format is never guessed at.

use super::record::SCHEMA_VERSION;
use serde_json::Value;

/// The step from each format to the next, the first from format 1.
const STEPS: [fn(&mut Value); 2] = [bound_storage, say_hot];

/// Brings a run's or trial's record of an older format up to [`SCHEMA_VERSION`]; one of this format is left as it is.
///
/// # Errors
/// A format that there never was, in words.
pub fn migrate(record: &mut Value, format: u64) -> Result<(), String> {
    let done = usize::try_from(format).unwrap_or(usize::MAX).checked_sub(1);
    let done = done.filter(|done| *done <= STEPS.len());
    let done = done.ok_or_else(|| format!("there is no result format {format}"))?;
    for step in &STEPS[done..] {
        step(record);
    }
    if let Some(record) = record.as_object_mut() {
        record.insert("schema_version".to_owned(), Value::from(SCHEMA_VERSION));
    }
    Ok(())
}

/// From 1 to 2: in format 1 `storage_written_bytes` may be what the kernel charged, whole folios, however little the device wrote. The charge
/// moves to `storage_dirtied_bytes`, and what was written is at most what the device wrote.
fn bound_storage(record: &mut Value) {
    let phases = record.get_mut("phases").and_then(Value::as_array_mut);
    for phase in phases.into_iter().flatten() {
        let device = phase.pointer("/totals/host/disk_written_bytes");
        let device = device.and_then(Value::as_u64);
        let roles = phase.pointer_mut("/totals/roles");
        let roles = roles.and_then(Value::as_object_mut);
        let roles = roles.into_iter().flat_map(|roles| roles.values_mut());
        // What is no object is damaged, which its reader says after this.
        for role in roles.filter_map(Value::as_object_mut) {
            if role.contains_key("storage_dirtied_bytes") {
                continue;
            }
            let charged = role.get("storage_written_bytes").and_then(Value::as_u64);
            let written = charged.map(|charged| device.map_or(charged, |bound| charged.min(bound)));
            role.insert("storage_dirtied_bytes".to_owned(), Value::from(charged));
            role.insert("storage_written_bytes".to_owned(), Value::from(written));
        }
    }
}

/// From 2 to 3: until then everything was read hot.
fn say_hot(record: &mut Value) {
    let implementation = record.get_mut("implementation");
    if let Some(implementation) = implementation.and_then(Value::as_object_mut) {
        implementation.insert("cache".to_owned(), Value::from("hot"));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn trial(roles: Value) -> Value {
        let totals = json!({ "roles": roles, "host": { "disk_written_bytes": 1_000 } });
        let phases = json!([{ "totals": totals }, { "totals": null }]);
        json!({ "schema_version": 1, "implementation": { "store": "sqlite" }, "phases": phases })
    }

    #[test]
    fn damaged_records_are_left_for_their_reader() {
        let mut record = trial(json!({ "server": 5, "trial": [], "coordinator": null }));
        record["implementation"] = json!("sqlite");
        migrate(&mut record, 1).expect("a format of old");
        let roles = &record["phases"][0]["totals"]["roles"];
        assert_eq!(roles, &json!({ "server": 5, "trial": [], "coordinator": null }));
        assert_eq!(record["implementation"], "sqlite");
        for mut none in [json!(7), json!([]), json!("run")] {
            migrate(&mut none, 1).expect("a format of old");
        }
    }

    #[test]
    fn what_the_kernel_charged_is_told_from_what_was_written() {
        let mut record = trial(json!({
            "server": { "storage_written_bytes": 5_000 },
            "trial": { "storage_written_bytes": 400 },
            "coordinator": { "storage_written_bytes": null },
            "newer": { "storage_written_bytes": 7, "storage_dirtied_bytes": 8 },
        }));
        migrate(&mut record, 1).unwrap();
        let expected = json!({
            "server": { "storage_written_bytes": 1_000, "storage_dirtied_bytes": 5_000 },
            "trial": { "storage_written_bytes": 400, "storage_dirtied_bytes": 400 },
            "coordinator": { "storage_written_bytes": null, "storage_dirtied_bytes": null },
            "newer": { "storage_written_bytes": 7, "storage_dirtied_bytes": 8 },
        });
        assert_eq!(record["phases"][0]["totals"]["roles"], expected);
        assert_eq!(record["implementation"]["cache"], "hot");
        assert_eq!(record["schema_version"], STEPS.len() + 1, "a step for each older format");
        let once = record.clone();
        migrate(&mut record, 3).unwrap();
        assert_eq!(record, once, "this format is left as it is");
        for never in [0, 4, u64::MAX] {
            assert!(migrate(&mut record, never).is_err());
        }
    }
}
