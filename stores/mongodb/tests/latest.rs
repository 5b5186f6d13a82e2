//! What is asked of few readings examines as few documents when each series has sixteen times as many: the server counts them in its profile. Tried in every
//! layout with an index on series and time, with one tag that tells series apart and with several, and with a field that most readings lack.

mod support;

use libtest_mimic::{Arguments, Trial};
use mongodb::bson::{Bson, Document, doc};
use sensormark_conformance::reference::Reference;
use sensormark_statements::FileStore;
use sensormark_store::{
    Aggregate, AnswerSource, Ask, Batch, Endpoint, Family, Field, FieldSet, FieldType, Function, Grouping,
    Index, Plan, Query, Selection, Series, Session, Shape, Store, Table, TagColumn, TimeRange, Value, Window,
};
use std::sync::Arc;
use support::{block_on, command, field, plan, table};

const START: i64 = 1_700_000_040_000_000_000;
const MINUTE: i64 = 60_000_000_000;
/// Readings of a series, a minute apart, before there are sixteen times as many.
const FEW: i64 = 100;
const SERIES: u32 = 8;

type Outcome<T> = Result<T, Box<dyn std::error::Error>>;

fn main() {
    let arguments = Arguments::from_args();
    let store = Arc::new(sensormark_stores::mongodb());
    let missing = store.installation().err().map(|error| error.to_string());
    if let Some(reason) = &missing {
        eprintln!("ignored: {reason}");
    }
    let everything = Trial::test("what is examined does not grow", move || {
        let server = support::server(&store, None, None)?;
        block_on(all(&store, server.endpoint())).map_err(|error| error.to_string())?;
        Ok(())
    });
    libtest_mimic::run(&arguments, vec![everything.with_ignored_flag(missing.is_some())]).exit();
}

async fn all(store: &FileStore, endpoint: &Endpoint) -> Outcome<()> {
    for tables in [
        vec![by_one_tag("one")],
        vec![by_several_tags("several")],
        vec![by_one_tag("one"), by_several_tags("several")],
    ] {
        for family in [Family::PerReading, Family::PerSpan { span_ns: 7 * MINUTE }] {
            let schema = Arc::new(sensormark_store::Schema { tables: tables.clone() });
            for offer in store.layouts(&schema, family) {
                if offer.layout.index != Index::SeriesTime {
                    continue;
                }
                let layout = (family, offer.variant.as_str());
                let plan = plan(store, endpoint, "latest", tables.clone(), layout);
                let what = format!("{} tables, {family:?}, {}", tables.len(), offer.variant);
                in_layout(store, &plan).await.map_err(|error| format!("{what}: {error}"))?;
            }
        }
    }
    Ok(())
}

/// Sensors at two sites; a site is no key.
fn by_one_tag(name: &str) -> Table {
    let sites = (0..SERIES).map(|one| format!("$site {}", one % 2));
    let sensors = (0..i64::from(SERIES)).collect();
    tagged(name, &["sensor", "site"], vec![TagColumn::Integer(sensors), TagColumn::Text(sites.collect())])
}

/// Sensors in rooms of houses: all three tags are the key, and none by itself.
fn by_several_tags(name: &str) -> Table {
    let texts = |divisor: u32, count: u32| {
        let text = |one| format!("$t{}", one / divisor % count);
        TagColumn::Text((0..SERIES).map(text).collect())
    };
    tagged(name, &["house", "room", "sensor"], vec![texts(4, 2), texts(2, 2), texts(1, 2)])
}

fn tagged(name: &str, tags: &[&str], columns: Vec<TagColumn>) -> Table {
    let rare = Field { nullable: true, ..field("rare", FieldType::I64) };
    let tag = |name: &&str| sensormark_store::Tag { name: (*name).to_owned() };
    Table {
        tags: tags.iter().map(tag).collect(),
        series: Series::new(columns).every(MINUTE),
        fields: vec![field("value", FieldType::F64), rare],
        ..table(name, "", vec![0], Vec::new())
    }
}

/// The readings of these minutes; the last of each ten has the rare field too.
fn readings(number: usize, table: &Table, minutes: std::ops::Range<i64>) -> Batch {
    let mut batch = Batch::new(number, table);
    for minute in minutes {
        for series in 0..table.series.len() {
            batch.series.push(series);
            batch.times_ns.push(START + minute * MINUTE);
            let value = Value::F64(minute as f64 + f64::from(series) / 8.0);
            batch.columns[0].push(value).expect("a number");
            let rare = match minute % 10 {
                9 => Value::I64(minute),
                _ => Value::Null,
            };
            batch.columns[1].push(rare).expect("a number or none");
        }
    }
    batch
}

/// Asks of few readings, and again of sixteen times as many.
async fn in_layout(store: &FileStore, plan: &Plan) -> Outcome<()> {
    let mut administrator = store.administrator(plan).await?;
    administrator.create().await?;
    let mut session = store.connect(plan).await?;
    let mut reference = Reference::new(Arc::clone(&plan.schema));
    let mut examined = Vec::new();
    for minutes in [0..FEW, FEW..16 * FEW] {
        let end = minutes.end;
        for (number, table) in plan.schema.tables.iter().enumerate() {
            let batch = readings(number, table, minutes.clone());
            session.write(&batch).await?;
            reference.add(&batch);
        }
        reference.prepare();
        let mut counts = Vec::new();
        for query in questions(plan, end) {
            counts.push(asked(&mut *session, plan, &reference, &query).await?);
        }
        examined.push(counts);
    }
    for (query, (few, many)) in
        std::iter::zip(questions(plan, FEW), std::iter::zip(&examined[0], &examined[1]))
    {
        // With bounds, or a field that readings may lack, MongoDB 6.0 reads buckets ahead, up to 4 MB of a series, before it unpacks the first.
        let is_read_ahead = plan.layout.shape == Shape::NativeTimeSeries
            && (query.range.end_ns < i64::MAX || query.ask == Ask::LastReading { fields: FieldSet::one(1) });
        let most = few + 2 * i64::from(SERIES);
        assert!(
            is_read_ahead || *many <= most,
            "{few} examined, and {many} of 16 times as many: {query:?} in {:?}",
            plan.layout
        );
    }
    session.close().await?;
    administrator.drop_database().await?;
    Ok(())
}

/// Keys and documents that the server examined for a question that it answered as it should.
async fn asked(session: &mut dyn Session, plan: &Plan, reference: &Reference, query: &Query) -> Outcome<i64> {
    command(plan, doc! { "profile": 2 }).await?;
    let answer = session.query(query).await?;
    command(plan, doc! { "profile": 0 }).await?;
    let difference = answer.disagreement(&reference.answer(query), query);
    assert_eq!(difference, None, "{query:?} in {:?}", plan.layout);
    let is_question =
        ["pipeline", "find"].map(|part| doc! { format!("command.{part}"): { "$exists": true } });
    let filter = doc! { "$or": is_question.to_vec() };
    let seen = command(plan, doc! { "find": "system.profile", "filter": filter }).await?;
    command(plan, doc! { "drop": "system.profile" }).await?;
    let entries = seen.get_document("cursor")?.get_array("firstBatch")?;
    let count = |entry: &Document| {
        ["keysExamined", "docsExamined"].map(|name| match entry.get(name) {
            Some(Bson::Int32(count)) => i64::from(*count),
            Some(Bson::Int64(count)) => *count,
            _ => 0,
        })
    };
    assert!(!entries.is_empty(), "the profile has no question");
    let counts = entries.iter().filter_map(Bson::as_document).flat_map(count);
    Ok(counts.sum())
}

/// The latest readings of a tag and of all, until now and until the middle of the data; the means of a tag's last minutes.
fn questions(plan: &Plan, minutes: i64) -> Vec<Query> {
    let mut all = Vec::new();
    for (table, described) in plan.schema.tables.iter().enumerate() {
        let last = described.tags.len() - 1;
        let tagged = |tag: usize| Selection::Tagged { tag, value: described.series.columns()[tag].text(1) };
        for series in [Selection::All, tagged(0), tagged(last)] {
            for end in [i64::MAX, START + minutes / 2 * MINUTE] {
                for fields in [described.all_fields(), FieldSet::one(1)] {
                    all.push(Query {
                        table,
                        series: series.clone(),
                        range: TimeRange::new(START, end),
                        ask: Ask::LastReading { fields },
                    });
                }
            }
        }
        let means = Ask::Aggregate {
            aggregates: vec![Aggregate { function: Function::Mean, field: 0 }],
            grouping: Grouping {
                window: Some(Window { width_ns: 5 * MINUTE, origin_ns: 0 }),
                ..Grouping::default()
            },
            from_sums: false,
        };
        let end = START + minutes * MINUTE;
        all.push(Query {
            table,
            series: tagged(last),
            range: TimeRange::new(end - 20 * MINUTE, end),
            ask: means,
        });
    }
    all
}
