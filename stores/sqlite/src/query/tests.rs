//! Plans of the statements that the session keeps: what an index is for goes through the index.

use crate::connection::SqliteSession;
use crate::dialect::SqliteDialect;
use crate::{Sqlite, schema};
use sensormark_kit::BackendSession;
use sensormark_relational::physical_schema::PhysicalSchema;
use sensormark_store::{
    Aggregate, Ask, Batch, Comparison, DatabaseName, Durability, Family, Field, FieldSet, FieldType,
    Function, Grouping, Plan, Predicate, Query, Schema, Selection, Series, Store, Table, Tag, TagColumn,
    TimeRange, TimeResolution, Value, Window,
};
use std::sync::Arc;
use std::task::{Context, Poll, Waker};

fn now<T>(mut future: sensormark_store::LocalFuture<'_, T>) -> T {
    match future.as_mut().poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(result) => result,
        Poll::Pending => panic!("sessions that block are ready when first polled"),
    }
}

/// 40 hosts with one tag, or three.
fn hosts(tags: usize) -> Schema {
    let column = |tag: usize| {
        TagColumn::Text((0..40).map(|host| format!("{}-{}", host / (1 + 10 * tag), tag)).collect())
    };
    Schema {
        tables: vec![Table {
            name: "cpu".into(),
            tags: (0..tags).map(|tag| Tag { name: format!("tag{tag}") }).collect(),
            fields: vec![Field { name: "usage".into(), kind: FieldType::F64, nullable: false }],
            entity: None,
            time_resolution: TimeResolution::Nanoseconds,
            series: Series::new((0..tags).map(column).collect()),
        }],
    }
}

fn questions() -> Vec<Query> {
    let passes = Predicate { field: 0, comparison: Comparison::Above, threshold: 90.0 };
    let fields = FieldSet::one(0);
    let coarse_filter = true;
    let asks = [
        Ask::Point { fields },
        Ask::Range { fields, coarse_filter },
        Ask::First(passes),
        Ask::Last(passes),
        Ask::Minimum { field: 0 },
        Ask::LastReading { fields },
        Ask::SeriesMatching(passes),
        Ask::Aggregate {
            aggregates: vec![Aggregate { function: Function::Max, field: 0 }],
            grouping: Grouping { window: Some(Window { width_ns: 60, origin_ns: 0 }), ..Grouping::default() },
            from_sums: false,
        },
    ];
    let selections = [
        Selection::One(3),
        Selection::Set(vec![3, 5]),
        Selection::Tagged { tag: 0, value: "3-0".into() },
        Selection::All,
    ];
    let mut questions = Vec::new();
    for ask in asks {
        for series in &selections {
            questions.push(Query {
                table: 0,
                series: series.clone(),
                range: TimeRange::new(1_000, 2_000),
                ask: ask.clone(),
            });
        }
    }
    questions
}

/// The plans of all questions' statements, with what was asked.
fn plans(tags: usize, variant: &str) -> Vec<(String, String)> {
    let folder = tempfile::tempdir().unwrap();
    let schema = hosts(tags);
    let offers = schema::layouts(&schema, Family::PerReading);
    let plan = Plan {
        endpoint: Sqlite::new().endpoint(folder.path().to_str().unwrap()).unwrap(),
        database: DatabaseName::new("plans").unwrap(),
        owner: "owner".into(),
        layout: offers.iter().find(|offer| offer.variant == variant).unwrap().layout,
        schema: Arc::new(schema),
        durability: Durability::Default,
        clients: 1,
        timeout_ms: 5_000,
    };
    let store = Sqlite::new();
    now(now(store.administrator(&plan)).unwrap().create()).unwrap();
    let physical = Arc::new(PhysicalSchema::new(&SqliteDialect, &plan.schema, plan.layout).unwrap());
    let mut session = SqliteSession::connect(&plan, Arc::clone(&physical)).unwrap();
    let mut batch = Batch::new(0, &plan.schema.tables[0]);
    for row in 0..20_000_i64 {
        batch.times_ns.push(row / 40);
        batch.series.push(u32::try_from(row % 40).unwrap());
        batch.columns[0].push(Value::F64(row as f64)).unwrap();
    }
    now(Box::pin(session.write(&batch))).unwrap();
    now(now(store.administrator(&plan)).unwrap().settle()).unwrap();
    let mut session = SqliteSession::connect(&plan, physical).unwrap();
    for query in questions() {
        now(Box::pin(session.query(&query))).unwrap();
    }
    let planned = session.plans.iter().flat_map(|(shape, plan)| {
        let statements = plan.statements.iter();
        statements.map(move |statement| (format!("{shape:?}"), &statement.text))
    });
    let explained = |(asked, sql): (String, &String)| {
        let explain = format!("EXPLAIN QUERY PLAN {sql}");
        let mut statement = session.connection.prepare(&explain).unwrap();
        let lines = statement.raw_query().mapped(|row| row.get(3));
        let lines: Vec<String> = lines.collect::<Result<_, _>>().unwrap();
        (asked, lines.join("; "))
    };
    planned.map(explained).collect()
}

#[test]
fn what_an_index_is_for_goes_through_it() {
    for (tags, variant) in [(1, ""), (1, "clustered"), (3, ""), (3, "clustered"), (3, "tags-inline")] {
        for (asked, plan) in plans(tags, variant) {
            // All series without a table of tags: the range of time alone is no help, and a scan is right.
            let scans = asked.contains("All") && plan.contains("SCAN r");
            let inline = tags == 1 || variant == "tags-inline";
            assert!(!plan.contains("SCAN r") || (scans && inline), "{tags} tags, {variant}: {asked}: {plan}");
            if asked.contains("One") && !asked.contains("Minimum") && !asked.contains("Aggregate") {
                assert!(!plan.contains("TEMP B-TREE"), "{tags} tags, {variant}: {asked}: {plan}");
            }
            if asked.contains("LastReading") || asked.contains("Matching") {
                assert!(!plan.contains("SCAN r"), "{tags} tags, {variant}: {asked}: {plan}");
            }
        }
    }
}
