//! Questions with their right answers, for other tools: what `sensormark generate WORKLOAD --answers N` writes. Answers come from the generator, like those that a
//! run is checked by.

use jiff::Timestamp;
use sensormark_conformance::memory::MemoryStore;
use sensormark_engine::operations::{Request, Slot};
use sensormark_engine::trial::script::Step;
use sensormark_engine::trial::{Subject, WorkloadFactory};
use sensormark_store::{Answer, FieldSet, Group, Query, RepeatedWrite, Selection, Store, Table, Value};
use serde_json::{Map, Value as Json, json};
use std::iter::empty;

/// So many questions of a workload at its first size, each a line: of each kind the first, then of each the second, and so on.
///
/// # Errors
/// What is wrong with the numbers, or that nothing is asked.
pub fn lines(
    factory: &dyn WorkloadFactory,
    numbers: &Json,
    seed: u64,
    count: usize,
) -> Result<Vec<Json>, String> {
    let store = MemoryStore::new(RepeatedWrite::Replaces);
    let (name, family) = factory.families(numbers)?.swap_remove(0);
    let layout = store.layouts(&factory.schema(numbers)?, family).swap_remove(0).layout;
    let workload =
        factory.build(numbers, seed, Subject { store: &store, layout: &layout, layout_name: &name })?;
    let schema = workload.schema();
    let (mut sizes, mut loads) = (0, Vec::new());
    for step in workload.steps() {
        sizes += usize::from(matches!(step, Step::Size(_)));
        if let (Step::Run(phase), true) = (step, sizes < 2) {
            loads.extend(
                phase.loads.into_iter().filter(|load| !(load.writes || load.accompanies || phase.warm_up)),
            );
        }
    }
    let (mut slot, mut lines, mut index) = (Slot::new(&schema), Vec::new(), 0);
    while lines.len() < count && loads.iter().any(|load| index < load.operations.len()) {
        for load in loads.iter().filter(|load| index < load.operations.len()) {
            load.operations.fill(index, u64::MAX, &mut slot);
            if let Request::Query = slot.request()
                && let Some(answer) = load.operations.expected(index, slot.query())
            {
                let kind = &load.operations.classes()[load.operations.class(index)];
                lines.extend(line(kind, &schema.tables[slot.query().table], slot.query(), &answer));
            }
        }
        index += 1;
    }
    lines.truncate(count);
    Ok(lines)
}

/// A question in words and as fields, and its answer: readings with the fields in question, or groups with what was computed. None where a moment is the answer.
fn line(kind: &str, table: &Table, query: &Query, answer: &Answer) -> Option<Json> {
    let mut asked = json!(query.ask);
    let other = asked.pointer_mut("/derived/difference").and_then(Json::as_object_mut);
    let other =
        other.and_then(|asked| asked.remove("other")).and_then(|other| u32::try_from(other.as_u64()?).ok());
    let tags = |series: &u32| -> Map<String, Json> {
        let tags = table.tags.iter().zip(table.series.columns());
        tags.map(|(tag, column)| (tag.name.clone(), json!(column.text(*series)))).collect()
    };
    let series = match &query.series {
        Selection::One(one) => [Some(*one), other].iter().flatten().map(tags).collect(),
        Selection::Set(some) => some.iter().map(tags).collect(),
        Selection::Tagged { tag, value } => json!({ &table.tags[*tag].name: value }),
        Selection::All => json!("all"),
    };
    let asked = named(table, asked);
    let row = |series: Option<&u32>, time_ns: Option<i64>, values: &mut dyn Iterator<Item = Value>| {
        // Without the name of its type.
        let plain = |value: Value| match json!(value) {
            Json::Object(typed) => typed.into_values().next(),
            _ => None,
        };
        json!({ "series": series.map(tags), "time_ns": time_ns, "values": values.map(plain).collect::<Vec<_>>() })
    };
    let answer: Vec<Json> = match answer {
        Answer::Readings(batch) => {
            let columns = || batch.columns.iter().filter(|column| !column.values.is_empty());
            let keys = batch.series.iter().zip(&batch.times_ns).enumerate();
            keys.map(|(at, (series, ns))| {
                row(Some(series), Some(*ns), &mut columns().map(|one| one.value(at)))
            })
            .collect()
        }
        Answer::Groups(groups) => {
            let of =
                |one: &Group| row(one.series.as_ref(), one.window_start_ns, &mut one.values.iter().cloned());
            groups.iter().map(of).collect()
        }
        Answer::Series(series) => series.iter().map(|one| row(Some(one), None, &mut empty())).collect(),
        Answer::Moment(_) => return None,
    };
    let [from, until] = [query.range.start_ns, query.range.end_ns];
    let (of, from_time, until_time) = (words(&series), time_text(from), time_text(until));
    Some(json!({
        "kind": kind, "table": table.name, "series": series, "from_ns": from, "until_ns": until, "answer": answer,
        "question": format!("{}, of {of}, from {from_time} until before {until_time}", words(&asked)), "asked": asked,
    }))
}

/// A time (ns since the Unix epoch) as RFC 3339 writes it.
pub fn time_text(ns: i64) -> String {
    Timestamp::from_nanosecond(ns.into()).map_or_else(|_| ns.to_string(), |time| time.to_string())
}

fn number(value: &Json) -> Option<usize> {
    usize::try_from(value.as_u64()?).ok()
}

/// What is asked, with the names of fields and tags for their numbers, without what is not said.
fn named(table: &Table, asked: Json) -> Json {
    let name = |field: usize| json!(table.fields[field].name);
    let own = |(key, value): (String, Json)| {
        let value = match (key.as_str(), &value) {
            (_, Json::Null | Json::Bool(false)) => return None,
            ("field" | "other", one) => name(number(one)?),
            ("fields", Json::Array(two)) if two.len() == 2 => {
                two.iter().filter_map(number).map(name).collect()
            }
            ("fields", _) => serde_json::from_value::<FieldSet>(value).ok()?.iter().map(name).collect(),
            _ => named(table, value),
        };
        Some((key, value))
    };
    match asked {
        Json::Object(asked) => Json::Object(asked.into_iter().filter_map(own).collect()),
        Json::Array(all) => all.into_iter().map(|one| named(table, one)).collect(),
        other => other,
    }
}

/// The same in words.
fn words(asked: &Json) -> String {
    asked.to_string().replace(['{', '}', '[', ']', '"'], "").replace([':', '_'], " ").replace(',', ", ")
}
