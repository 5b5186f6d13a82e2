//! Questions with their right answers, for other tools: what `sensormark generate WORKLOAD --answers N` writes. Answers come from the generator, like those that a
//! run is checked by.

use jiff::Timestamp;
use sensormark_conformance::memory::MemoryStore;
use sensormark_data::quantity::length_text;
use sensormark_engine::operations::{Request, Slot};
use sensormark_engine::trial::script::{LoadSpec, PhaseSpec, Step};
use sensormark_engine::trial::{Subject, WorkloadFactory};
use sensormark_store::{
    Answer, Ask, Comparison, Derived, FieldSet, Function, Predicate, Query, RepeatedWrite, Selection, Store,
    Table, Value,
};
use serde_json::{Map, Value as Json, json};

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
    let (mut sizes, mut loads) = (0, Vec::<(PhaseSpec, LoadSpec)>::new());
    for step in workload.steps() {
        sizes += usize::from(matches!(step, Step::Size(_)));
        if let (Step::Run(phase), true) = (step, sizes < 2) {
            let asks = phase.loads.iter().filter(|load| !load.writes && !phase.warm_up);
            loads.extend(asks.map(|load| (phase.clone(), load.clone())));
        }
    }
    let mut slot = Slot::new(&schema);
    let (mut lines, mut index) = (Vec::new(), 0);
    while loads.iter().any(|(_, load)| index < load.operations.len()) {
        for (phase, load) in loads.iter().filter(|(_, load)| index < load.operations.len()) {
            load.operations.fill(index, u64::MAX, &mut slot);
            if !matches!(slot.request(), Request::Query) {
                continue;
            }
            let query = slot.query();
            let Some(answer) = load.operations.expected(index, query) else { continue };
            if lines.len() == count {
                return Ok(lines);
            }
            let kind = &load.operations.classes()[load.operations.class(index)];
            let mut line = line(&schema.tables[query.table], query, &answer);
            line.insert("kind".to_owned(), json!(kind));
            line.insert("phase".to_owned(), json!(phase.name));
            lines.push(Json::Object(line));
        }
        index += 1;
    }
    match lines.len() {
        0 => Err(format!("{} asks no questions that can be told one by one", factory.name())),
        _ => Ok(lines),
    }
}

/// A question in words and as fields, and its answer as rows of columns. Times are RFC 3339.
fn line(table: &Table, query: &Query, answer: &Answer) -> Map<String, Json> {
    let series = series(table, query);
    let Said { what, fields, columns, more } = said(table, &query.ask);
    let [from, until] = [query.range.start_ns, query.range.end_ns].map(time);
    let whose = match &series {
        Json::Array(some) => some.iter().map(named).collect::<Vec<_>>().join(", "),
        tagged => named(tagged),
    };
    let words = format!("{what} of {}, from {from} until before {until}", whose);
    let key = |series: u32| tags(table, series).into_values();
    let group = |series: Option<u32>, time_ns: Option<i64>| {
        series.into_iter().flat_map(key).chain(time_ns.map(|ns| json!(time(ns))))
    };
    let grouped = |series: bool, timed: bool| {
        let tags = table.tags.iter().filter(|_| series).map(|tag| tag.name.clone());
        tags.chain(timed.then(|| "time".to_owned())).chain(columns.clone()).collect::<Vec<_>>()
    };
    let (columns, rows): (Vec<String>, Vec<Vec<Json>>) = match answer {
        Answer::Readings(batch) => {
            let chosen: Vec<usize> = columns.iter().filter_map(|name| table.field(name)).collect();
            let row = |row: usize| {
                let values = chosen.iter().map(|&field| value(&batch.columns[field].value(row)));
                group(Some(batch.series[row]), Some(batch.times_ns[row])).chain(values).collect()
            };
            (grouped(true, true), (0..batch.len()).map(row).collect())
        }
        Answer::Groups(groups) => {
            let row = |group_: &sensormark_store::Group| {
                let values = group_.values.iter().map(value);
                group(group_.series, group_.window_start_ns).chain(values).collect()
            };
            let first = groups.first();
            let is = |get: fn(&sensormark_store::Group) -> bool| first.is_some_and(get);
            let names = grouped(is(|one| one.series.is_some()), is(|one| one.window_start_ns.is_some()));
            (names, groups.iter().map(row).collect())
        }
        Answer::Series(series) => {
            (grouped(true, false), series.iter().map(|one| key(*one).collect()).collect())
        }
        Answer::Moment(moment) => {
            let row =
                |moment: &sensormark_store::Moment| vec![json!(time(moment.time_ns)), value(&moment.value)];
            (grouped(false, true), moment.iter().map(row).collect())
        }
    };
    let line = json!({
        "question": words, "table": table.name, "series": series, "from": from, "until": until,
        "fields": fields, "more": more, "columns": columns, "answer": rows,
    });
    line.as_object().cloned().unwrap_or_default()
}

fn time(ns: i64) -> String {
    Timestamp::from_nanosecond(ns.into()).map_or_else(|_| ns.to_string(), |time| time.to_string())
}

fn value(value: &Value) -> Json {
    match value {
        Value::Bool(value) => json!(value),
        Value::I64(value) => json!(value),
        Value::F64(value) => json!(value),
        Value::Text(value) => json!(value),
        Value::Null => Json::Null,
    }
}

fn tags(table: &Table, series: u32) -> Map<String, Json> {
    let tags = table.tags.iter().zip(table.series.columns());
    tags.map(|(tag, column)| (tag.name.clone(), json!(column.text(series)))).collect()
}

/// Tags in words: `hall north, sensor 7`.
fn named(tags: &Json) -> String {
    let tags = tags.as_object().into_iter().flatten();
    let all: Vec<String> =
        tags.map(|(tag, value)| format!("{tag} {}", value.as_str().unwrap_or_default())).collect();
    if all.is_empty() { "all series".to_owned() } else { all.join(" ") }
}

/// Whose readings are asked for: a list of tags, or the tags that all of them have.
fn series(table: &Table, query: &Query) -> Json {
    let other = match query.ask {
        Ask::Derived(Derived::Difference { other, .. }) => Some(other),
        _ => None,
    };
    let of = |some: &[u32]| some.iter().copied().chain(other).map(|one| tags(table, one)).collect::<Vec<_>>();
    match &query.series {
        Selection::One(one) => json!(of(&[*one])),
        Selection::Set(some) => json!(of(some)),
        Selection::Tagged { tag, value } => json!({ &table.tags[*tag].name: value }),
        Selection::All => json!({}),
    }
}

/// What is asked.
struct Said {
    what: String,
    fields: Vec<String>,
    /// What an answer's values are called.
    columns: Vec<String>,
    more: Json,
}

fn said(table: &Table, ask: &Ask) -> Said {
    let name = |field: usize| table.fields[field].name.clone();
    let names = |fields: &FieldSet| fields.iter().map(name).collect::<Vec<_>>();
    let plain = |what: &str, fields: Vec<String>, columns: Vec<String>, more: Json| Said {
        what: what.replace("{}", &fields.join(", ")),
        fields,
        columns,
        more,
    };
    let passes = |one: &Predicate| match one.comparison {
        Comparison::Above => (format!("over {}", one.threshold), json!({ "above": one.threshold })),
        Comparison::Below => (format!("under {}", one.threshold), json!({ "below": one.threshold })),
    };
    match ask {
        Ask::Point { fields } => plain("the reading ({})", names(fields), names(fields), json!({})),
        Ask::Range { fields, .. } => plain("all readings ({})", names(fields), names(fields), json!({})),
        Ask::LastReading { fields } => {
            plain("the latest reading ({})", names(fields), names(fields), json!({}))
        }
        Ask::First(one) | Ask::Last(one) => {
            let which = if matches!(ask, Ask::First(_)) { "first" } else { "last" };
            let (words, more) = passes(one);
            plain(&format!("the {which} {{}} {words}"), vec![name(one.field)], vec![name(one.field)], more)
        }
        Ask::Minimum { field } => plain("the smallest {}", vec![name(*field)], vec![name(*field)], json!({})),
        Ask::SeriesMatching(one) => {
            let (words, more) = passes(one);
            plain(&format!("which series have a {{}} {words},"), vec![name(one.field)], Vec::new(), more)
        }
        Ask::Aggregate { aggregates, grouping, .. } => {
            let one = |function: Function, field: usize| {
                let function = format!("{function:?}");
                let function = if function == "StandardDeviation" {
                    "sample standard deviation"
                } else {
                    &function.to_lowercase()
                };
                format!("{function} {}", name(field))
            };
            let columns: Vec<String> = aggregates.iter().map(|each| one(each.function, each.field)).collect();
            let width = grouping.window.map(|window| length_text(window.width_ns));
            let each = width.as_ref().map_or_else(String::new, |width| format!(" in windows of {width}"));
            let by_series = if grouping.by_series { " by series" } else { "" };
            let by_tag = grouping.by_tag.map(|tag| table.tags[tag].name.clone());
            let by = by_tag.as_ref().map_or_else(|| by_series.to_owned(), |tag| format!(" by {tag}"));
            Said {
                what: format!("{}{each}{by}", columns.join(", ")),
                fields: aggregates.iter().map(|each| name(each.field)).collect(),
                columns,
                more: json!({ "window": width, "by_series": grouping.by_series, "by_tag": by_tag }),
            }
        }
        Ask::Derived(derived) => derived_said(table, derived),
    }
}

fn derived_said(table: &Table, derived: &Derived) -> Said {
    let fields: Vec<String> = derived.fields().iter().map(|field| table.fields[field].name.clone()).collect();
    let name = |field: usize| table.fields[field].name.clone();
    let with = |names: &[&str], fields: &[String]| -> Vec<String> {
        names.iter().map(|one| (*one).to_owned()).chain(fields.to_vec()).collect()
    };
    let text = length_text;
    let (what, columns, more) = match derived {
        Derived::RowsByValue { fields, predicate: one } => {
            let columns = fields.iter().map(name).collect();
            let sign = if one.comparison == Comparison::Above { "over" } else { "under" };
            let what = format!("the readings whose {} is {sign} {}", name(one.field), one.threshold);
            (what, columns, json!({ sign: one.threshold, "of": name(one.field) }))
        }
        Derived::Interpolated { step_ns, .. } => {
            let what = format!(
                "values every {} from the start, on lines between readings of the time asked about,",
                text(*step_ns)
            );
            (what, fields.clone(), json!({ "step": text(*step_ns) }))
        }
        Derived::Correlation { .. } => {
            ("Pearson's correlation".to_owned(), with(&["correlation"], &[]), json!({}))
        }
        Derived::OutOfRange { window, above, below, .. } => {
            let width = text(window.width_ns);
            let what = format!("windows of {width} with a value over {above} or under {below}");
            (what, with(&["max", "min"], &[]), json!({ "window": width, "above": above, "below": below }))
        }
        Derived::Difference { window, .. } => {
            let width = text(window.width_ns);
            let what = format!(
                "the second series' mean less the first one's, in windows of {width} in which both have one,"
            );
            (what, with(&["difference"], &[]), json!({ "window": width }))
        }
        Derived::CrossMean { field, other } => {
            let columns = vec![name(*field), name(*other), "mean".to_owned()];
            ("both values and their mean, reading by reading,".to_owned(), columns, json!({}))
        }
        Derived::Nearest { fields: [field, other], to, count } => {
            let what = format!("the {count} readings nearest to {to:?}, the earlier first of equals,");
            (what, with(&["distance"], &[name(*field), name(*other)]), json!({ "to": to, "count": count }))
        }
        Derived::Segments { threshold, .. } => {
            let what = format!(
                "segments, begun by values whose squared difference to the one before is over {threshold}: first time, last time in ns, mean"
            );
            (what, with(&["last", "mean"], &[]), json!({ "over": threshold }))
        }
        Derived::ZScores { beyond, .. } => {
            let only = beyond.map_or_else(String::new, |beyond| format!(" over {beyond} to either side"));
            let what = format!("distances from the mean in sample standard deviations{only}");
            (
                what,
                with(&fields.iter().map(String::as_str).collect::<Vec<_>>(), &["score".to_owned()]),
                json!({ "beyond": beyond }),
            )
        }
    };
    Said { what: format!("{what} ({})", fields.join(", ")), fields, columns, more }
}
