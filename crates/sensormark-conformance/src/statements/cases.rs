//! What is asked and written for the pins: schemas of three kinds, their layouts, and one question of each kind.

use crate::rule::one_by_one;
use sensormark_store::batch::Batch;
use sensormark_store::layout::{Family, Layout, WriteMethod};
use sensormark_store::query::{
    Aggregate, Ask, Comparison, DaySplit, Derived, Function, Grouping, Predicate, Query, Selection,
    TimeRange, Window,
};
use sensormark_store::question::Question;
use sensormark_store::schema::{
    Entity, Field, FieldSet, FieldType, Schema, Series, Table, Tag, TagColumn, TimeResolution, Value,
};
use sensormark_store::store::Store;

/// Midnight UTC at the start of 1 March 2024, in ns.
pub(super) const BASE: i64 = 1_709_251_200_000_000_000;
const SECOND: i64 = 1_000_000_000;
const HOUR: i64 = 3_600 * SECOND;
const DAY: i64 = 24 * HOUR;
const SPLIT: DaySplit = DaySplit { day_start_ns: 6 * HOUR, day_end_ns: 22 * HOUR };

fn field(name: &str, kind: FieldType, nullable: bool) -> Field {
    Field { name: name.to_owned(), kind, nullable }
}

fn table(name: &str, tags: &[(&str, TagColumn)], fields: Vec<Field>) -> Table {
    let columns: Vec<TagColumn> = tags.iter().map(|(_, column)| column.clone()).collect();
    let tag = |(name, _): &(&str, TagColumn)| Tag { name: (*name).to_owned() };
    Table {
        name: name.to_owned(),
        tags: tags.iter().map(tag).collect(),
        fields,
        entity: None,
        time_resolution: TimeResolution::Nanoseconds,
        series: if columns.is_empty() { Series::single() } else { Series::new(columns) },
    }
}

/// Several tags and fields of every type; one series without tags; one tag with an entity.
pub(super) fn schemas() -> Vec<(&'static str, Schema)> {
    let texts = |texts: &[&str]| TagColumn::Text(texts.iter().map(|&text| text.into()).collect());
    let hosts = table(
        "hosts",
        &[("region", texts(&["north", "north", "south"])), ("rack", TagColumn::Integer(vec![1, 2, 1]))],
        vec![
            field("usage", FieldType::F64, true),
            field("requests", FieldType::I64, true),
            field("state", FieldType::Text, true),
            field("up", FieldType::Bool, true),
        ],
    );
    let channel = |number| field(&format!("channel_{number}"), FieldType::U16, false);
    let channels = table("channels", &[], (0..3).map(channel).collect());
    let mut meters = table(
        "meter_reads",
        &[("meter", TagColumn::Integer(vec![101, 102, 103]))],
        vec![field("usage", FieldType::F64, false), field("total", FieldType::F64, false)],
    );
    meters.entity = Some(Entity {
        name: "meters".to_owned(),
        columns: vec![field("address", FieldType::Text, false)],
        last_time_column: "last_read".to_owned(),
    });
    [("hosts", hosts), ("channels", channels), ("meters", meters)]
        .map(|(name, table)| (name, Schema { tables: vec![table] }))
        .to_vec()
}

/// The layouts of all families that a store offers for a schema, but those that send datagrams: nothing acknowledges these.
pub(super) fn layouts(store: &dyn Store, schema: &Schema) -> Vec<(String, Layout)> {
    let families = [
        ("reading", Family::PerReading),
        ("second", Family::PerSpan { span_ns: SECOND }),
        ("buckets", Family::Bucketed { limit: 50, per_ns: DAY, split: SPLIT }),
        ("sums", Family::Summary { per_ns: HOUR, split: SPLIT }),
        ("array", Family::GrowingArray),
    ];
    let mut all = Vec::new();
    for (name, family) in families {
        for offer in store.layouts(schema, family) {
            if offer.layout.write != WriteMethod::Datagram {
                let dash = if offer.variant.is_empty() { "" } else { "-" };
                all.push((format!("{name}{dash}{}", offer.variant), offer.layout));
            }
        }
    }
    all
}

/// A batch of one reading and one of three.
pub(super) fn writes(schema: &Schema) -> Vec<(String, Batch)> {
    [(1, 0), (3, 10)]
        .map(|(readings, second)| {
            let batch = batch(schema, BASE + second * SECOND, readings);
            (format!("write {readings}"), batch)
        })
        .to_vec()
}

/// Two readings, each alone, before those of [`writes`].
pub(super) fn earlier(schema: &Schema) -> [Batch; 2] {
    [-20, -10].map(|second| batch(schema, BASE + second * SECOND, 1))
}

/// Readings of the first series, half a second apart.
fn batch(schema: &Schema, start_ns: i64, readings: i64) -> Batch {
    let mut batch = Batch::new(0, &schema.tables[0]);
    for number in 0..readings {
        batch.times_ns.push(start_ns + number * SECOND / 2);
        batch.series.push(0);
        for column in &mut batch.columns {
            let value = match column.values.kind() {
                FieldType::Bool => Value::Bool(true),
                FieldType::I64 | FieldType::U16 => Value::I64(7 + number),
                FieldType::F64 => Value::F64(1.25),
                FieldType::Text => Value::Text("o'k".to_owned()),
            };
            column.push(value).expect("a value of the column's type");
        }
    }
    batch
}

/// The values of an entity's columns.
pub(super) fn entity() -> [Value; 1] {
    [Value::Text("1 Main Street".to_owned())]
}

fn asked(series: Selection, ask: Ask) -> Query {
    Query { table: 0, series, range: TimeRange::new(BASE + 1, BASE + HOUR), ask }
}

/// A question of each kind, about one series, and each selection of series in turn.
pub(super) fn questions(schema: &Schema) -> Vec<(String, Query)> {
    let table = &schema.tables[0];
    let (all, one) = (table.all_fields(), FieldSet::one(0));
    let last = FieldSet::one(table.fields.len() - 1);
    let mut questions = Vec::new();
    for (name, series) in selections(table) {
        let range = |fields| Ask::Range { fields, coarse_filter: false };
        let above = |comparison| Predicate { field: 0, comparison, threshold: 90.0 };
        for (what, ask) in [
            ("point", Ask::Point { fields: all }),
            ("range of all fields", range(all)),
            ("range of the first field", range(one)),
            ("range of two fields", range(one.with(1))),
            ("first above", Ask::First(above(Comparison::Above))),
            ("last below", Ask::Last(above(Comparison::Below))),
            ("minimum", Ask::Minimum { field: 0 }),
            ("last reading", Ask::LastReading { fields: all }),
            ("last of a field", Ask::LastReading { fields: last }),
            ("series above", Ask::SeriesMatching(above(Comparison::Above))),
            (
                "rows by value",
                Ask::Derived(Derived::RowsByValue { fields: last, predicate: above(Comparison::Above) }),
            ),
        ] {
            questions.push((format!("{what}, {name}"), asked(series.clone(), ask)));
        }
        questions.extend(aggregates(table, name, &series));
        let derived = derived().into_iter();
        questions.extend(
            derived.map(|(what, ask)| (format!("{what}, {name}"), asked(series.clone(), Ask::Derived(ask)))),
        );
    }
    // Other selections narrow all questions in the same way.
    let narrow = [
        "range of all fields",
        "last reading",
        "windows",
        "statistics",
        "last values",
        "most frequent values",
    ];
    questions.retain(|(name, _)| {
        let (what, series) = name.split_once(", ").unwrap_or_default();
        matches!(series, "one series" | "all") || narrow.contains(&what)
    });
    questions.iter().flat_map(named).collect()
}

/// The named questions that a query is: several functions are asked one by one.
fn named((title, query): &(String, Query)) -> Vec<(String, Query)> {
    let asked = one_by_one(query).into_iter().filter(|query| Question::of(query).is_some());
    let titled = asked.map(|one| match (&one.ask, one == *query) {
        (Ask::Aggregate { aggregates, .. }, false) => (format!("{title}, {:?}", aggregates[0].function), one),
        _ => (title.clone(), one),
    });
    titled.collect()
}

/// A question of the same shape with other values.
pub(super) fn another(query: &Query) -> Query {
    let mut other = query.clone();
    other.range = TimeRange::new(BASE + DAY, BASE + 3 * DAY);
    match &mut other.series {
        Selection::Set(series) if series.len() > 1 => *series = vec![1, 2],
        // Text alone: an integer tag may have no series.
        Selection::Tagged { value, .. } if value == "north" => "south".clone_into(value),
        _ => {}
    }
    match &mut other.ask {
        Ask::First(predicate) | Ask::Last(predicate) | Ask::SeriesMatching(predicate) => {
            predicate.threshold = 1.0;
        }
        Ask::Derived(Derived::OutOfRange { window, .. } | Derived::Difference { window, .. }) => {
            window.width_ns *= 2
        }
        Ask::Derived(Derived::Nearest { to, count, .. }) => (*to, *count) = ([1.0, 7.0], 2),
        Ask::Derived(Derived::Segments { threshold, .. }) => *threshold = 9.0,
        Ask::Derived(Derived::ZScores { beyond: Some(beyond), .. }) => *beyond = 2.5,
        Ask::Aggregate { grouping, .. } => {
            if let Some(window) = &mut grouping.window {
                window.width_ns *= 2;
                if window.origin_ns == query.range.start_ns {
                    window.origin_ns = other.range.start_ns;
                }
            }
            if let Some(split) = &mut grouping.by_day_part {
                split.day_start_ns += HOUR;
            }
        }
        _ => {}
    }
    other
}

/// What is derived of the first two fields of one series.
fn derived() -> [(&'static str, Derived); 9] {
    let window = Window { width_ns: 60 * SECOND, origin_ns: 0 };
    let (field, other) = (0, 1);
    let fields = FieldSet::first(2);
    [
        ("interpolated", Derived::Interpolated { fields, step_ns: SECOND }),
        ("correlation", Derived::Correlation { field, other }),
        ("out of range", Derived::OutOfRange { field, window, above: 90.0, below: 1.0 }),
        ("difference", Derived::Difference { other: 2, field, window }),
        ("cross mean", Derived::CrossMean { field, other }),
        ("nearest", Derived::Nearest { fields: [field, other], to: [2.0, 8.0], count: 5 }),
        ("segments", Derived::Segments { field, threshold: 0.5 }),
        ("z-scores", Derived::ZScores { field, beyond: None }),
        ("outliers", Derived::ZScores { field, beyond: Some(1.5) }),
    ]
}

fn selections(table: &Table) -> Vec<(&'static str, Selection)> {
    let mut selections = vec![("one series", Selection::One(0))];
    if !table.tags.is_empty() {
        let tagged = |tag: usize, value: &str| Selection::Tagged { tag, value: value.to_owned() };
        let last = table.tags.len() - 1;
        selections.extend([
            ("all", Selection::All),
            ("a set of two", Selection::Set(vec![0, 2])),
            ("no known series", Selection::Set(vec![9])),
            ("a tag", tagged(0, &table.series.columns()[0].text(0))),
            ("an integer tag", tagged(last, &table.series.columns()[last].text(1))),
            ("an unknown integer tag", tagged(last, "07")),
        ]);
    }
    selections
}

/// What GROUP BY computes by itself.
const PLAIN: [Function; 6] = [
    Function::Count,
    Function::Sum,
    Function::Min,
    Function::Max,
    Function::Mean,
    Function::StandardDeviation,
];

/// A question's name, its aggregates, their groups, and whether sums are read.
type Wanted = (&'static str, Vec<Aggregate>, Grouping, bool);

fn aggregates(table: &Table, name: &str, series: &Selection) -> Vec<(String, Query)> {
    let ask = |(what, aggregates, grouping, from_sums)| {
        let ask = Ask::Aggregate { aggregates, grouping, from_sums };
        let mut query = asked(series.clone(), ask);
        if from_sums {
            query.range = TimeRange::new(BASE, BASE + DAY);
        }
        (format!("{what}, {name}"), query)
    };
    wanted(table).into_iter().map(ask).collect()
}

fn wanted(table: &Table) -> Vec<Wanted> {
    let one = |function, field| Aggregate { function, field };
    let mean = || vec![one(Function::Mean, 0)];
    let plain = PLAIN.map(|function| one(function, 0)).to_vec();
    let window = |origin_ns| Grouping {
        window: Some(Window { width_ns: 60 * SECOND, origin_ns }),
        ..Grouping::default()
    };
    let whole = Grouping::default();
    let by_day = Grouping { by_day_part: Some(SPLIT), ..whole };
    let mut wanted = vec![
        ("total", plain, whole, false),
        ("by series", vec![one(Function::Count, 0)], Grouping { by_series: true, ..window(0) }, false),
        ("windows", vec![one(Function::Max, 0)], window(0), false),
        ("chart", mean(), window(BASE + 1), false),
        ("by day", mean(), by_day, false),
        ("sums", mean(), whole, true),
        (
            "sums by window",
            mean(),
            Grouping { window: Some(Window { width_ns: DAY, origin_ns: 0 }), ..whole },
            true,
        ),
        ("sums by day", mean(), by_day, true),
    ];
    if !table.tags.is_empty() {
        wanted.push(("by a tag", mean(), Grouping { by_tag: Some(0), ..window(0) }, false));
        let by_series = Grouping { by_series: true, ..whole };
        wanted.push(("statistics", statistics(table), by_series, false));
        wanted.push(("last values", vec![one(Function::Last, 0)], by_series, false));
        wanted.push(("most frequent values", vec![one(Function::MostFrequent, 0)], by_series, false));
    }
    wanted
}

/// Every function, of the first field or of the first truth value.
fn statistics(table: &Table) -> Vec<Aggregate> {
    let of = |field| move |function| Aggregate { function, field };
    let numbers = PLAIN.into_iter().chain([Function::Last, Function::MostFrequent]).map(of(0));
    let truth = (0..table.fields.len()).find(|&field| table.fields[field].kind == FieldType::Bool);
    numbers.chain(truth.map(|field| of(field)(Function::TimeWeightedShare))).collect()
}
