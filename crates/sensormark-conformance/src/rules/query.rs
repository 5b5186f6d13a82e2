//! C-Q: points, ranges and selections. (Searches are in [`super::search`].)

use super::super::check::{Check, Verdict, ensure};
use super::super::data::{BASE, DAY, Data, Dataset, HOUR};
use super::super::rule::{Over, Rule, ask, own, queries};
use super::super::suite::Case;
use Dataset::{Channels, Devices, Fleet, Mixed, Names, Values as Sensors};
use sensormark_store::batch::{Batch, Column, Values};
use sensormark_store::query::{Ask, Comparison, Predicate, Query, Selection, TimeRange};
use sensormark_store::schema::FieldSet;
use sensormark_store::store::AnswerSource;

pub(super) fn rules() -> Vec<Rule> {
    vec![
        queries!("C-Q-01", "a point is the reading at exactly that time, or none", ALL, points),
        queries!("C-Q-02", "ranges are half-open", ALL, half_open),
        queries!("C-Q-03", "what holds nothing is answered with nothing", ALL, nothing),
        queries!("C-Q-04", "readings come in the order of series and time, each once", ALL, everything),
        queries!("C-Q-05", "a range of some fields has these alone", ALL, some_fields),
        queries!("C-Q-06", "the coarse filter does not change the answer", ALL, coarse),
        queries!("C-Q-07", "series are selected by number, by set and by tag", TAGGED, selections),
        own!("C-Q-08", "large answers are whole", Over::Layouts(&[Channels, Sensors]), large),
    ]
}

const ALL: &[Dataset] = &[Mixed, Channels, Sensors, Devices, Fleet];
const TAGGED: &[Dataset] = &[Mixed, Sensors, Devices, Fleet, Names];

/// The tables of the data set and their numbers.
pub(super) fn tables(data: &Data) -> std::ops::Range<usize> {
    0..data.schema.tables.len()
}

pub(super) fn question(table: usize, series: Selection, range: (i64, i64), ask: Ask) -> Query {
    Query { table, series, range: TimeRange::new(range.0, range.1), ask }
}

pub(super) fn range_of_all(data: &Data, table: usize, series: Selection, range: (i64, i64)) -> Query {
    let ask = Ask::Range { fields: data.schema.tables[table].all_fields(), coarse_filter: false };
    question(table, series, range, ask)
}

pub(super) const WHOLE: (i64, i64) = (Data::everything().start_ns, Data::everything().end_ns);

/// The same instant, and what a layout that keeps milliseconds makes of it.
fn instants(time: i64) -> [i64; 2] {
    [time, time - time.rem_euclid(1_000_000)]
}

/// Some of a series' times: the first, the last and between.
fn some(times: &[i64]) -> Vec<i64> {
    let mut some: Vec<i64> = [0, 1, times.len() / 2, times.len().saturating_sub(1)]
        .into_iter()
        .filter_map(|row| times.get(row).copied())
        .collect();
    some.dedup();
    some
}

fn points(data: &Data) -> Vec<Query> {
    let mut queries = Vec::new();
    for table in tables(data) {
        let fields = data.schema.tables[table].all_fields();
        for series in [0, 1] {
            for time in some(&data.times(table, series)).into_iter().flat_map(instants) {
                for time in [time - 1, time, time + 1] {
                    let point = |fields| {
                        let ask = Ask::Point { fields };
                        question(table, Selection::One(series), (time, time + 1), ask)
                    };
                    queries.push(point(fields));
                    queries.extend(fields.iter().take(2).map(|field| point(FieldSet::one(field))));
                }
            }
        }
    }
    queries
}

fn half_open(data: &Data) -> Vec<Query> {
    let mut queries = Vec::new();
    for table in tables(data) {
        let times = data.times(table, 0);
        let Some(middle) = times.get(times.len() / 2 - 2..times.len() / 2 + 2) else {
            continue;
        };
        for (start, end) in instants(middle[0]).into_iter().zip(instants(middle[3])) {
            for range in [
                (start, end),
                (start + 1, end),
                (start, end + 1),
                (start + 1, end + 1),
                (start, start + 1),
                (end, end + 1),
            ] {
                queries.push(range_of_all(data, table, Selection::One(0), range));
            }
        }
    }
    queries
}

fn nothing(data: &Data) -> Vec<Query> {
    let mut queries = Vec::new();
    for table in tables(data) {
        let description = &data.schema.tables[table];
        let time = data.times(table, 0)[1];
        let last = description.series.len() - 1;
        let predicate =
            Predicate { field: data.numeric(table)[0], comparison: Comparison::Above, threshold: -1e9 };
        let fields = description.all_fields();
        for (series, range) in [
            (Selection::One(0), (time, time)),
            (Selection::One(0), (time + 10, time - 10)),
            (Selection::One(0), (BASE - DAY, BASE - HOUR)),
            (Selection::One(last), (BASE + 20 * DAY, BASE + 21 * DAY)),
            (Selection::Set(Vec::new()), WHOLE),
        ] {
            queries.push(range_of_all(data, table, series.clone(), range));
            let latest = Ask::LastReading { fields };
            queries.push(question(table, series.clone(), range, latest));
            let matching = Ask::SeriesMatching(predicate);
            queries.push(question(table, series, range, matching));
        }
        for range in [(time, time), (BASE - DAY, BASE - HOUR)] {
            for ask in [Ask::First(predicate), Ask::Last(predicate), Ask::Minimum { field: predicate.field }]
            {
                queries.push(question(table, Selection::One(0), range, ask));
            }
        }
    }
    queries
}

fn everything(data: &Data) -> Vec<Query> {
    let mut queries = Vec::new();
    for table in tables(data) {
        for range in [WHOLE, (BASE + HOUR, BASE + DAY + 16 * HOUR)] {
            queries.push(range_of_all(data, table, Selection::All, range));
            queries.push(range_of_all(data, table, Selection::One(0), range));
        }
    }
    queries
}

fn some_fields(data: &Data) -> Vec<Query> {
    let mut queries = Vec::new();
    for table in tables(data) {
        let count = data.schema.tables[table].fields.len();
        let sets = [
            FieldSet::one(0),
            FieldSet::one(count - 1),
            FieldSet::first(count / 2),
            FieldSet::one(0).with(count - 1),
        ];
        for fields in sets {
            if fields.is_empty() || fields.len() == count {
                continue;
            }
            for series in [Selection::One(0), Selection::All] {
                let ask = Ask::Range { fields, coarse_filter: false };
                queries.push(question(table, series, WHOLE, ask));
            }
        }
    }
    queries
}

fn coarse(data: &Data) -> Vec<Query> {
    let mut queries = half_open(data);
    queries.extend(everything(data));
    for query in &mut queries {
        if let Ask::Range { coarse_filter, .. } = &mut query.ask {
            *coarse_filter = true;
        }
    }
    queries
}

fn selections(data: &Data) -> Vec<Query> {
    let mut queries = Vec::new();
    for table in tables(data) {
        let description = &data.schema.tables[table];
        let mut choices =
            vec![Selection::Set(vec![0, 2]), Selection::Set((1..description.series.len()).collect())];
        for tag in 0..description.tags.len() {
            let tagged = |value: String| Selection::Tagged { tag, value };
            let column = &description.series.columns()[tag];
            let mut values: Vec<String> =
                (0..description.series.len()).map(|series| column.text(series)).collect();
            values.sort();
            values.dedup();
            choices.extend(values.into_iter().map(tagged));
            choices.push(tagged("1234567".to_owned()));
            choices.push(tagged("no such value".to_owned()));
        }
        for series in choices {
            queries.push(range_of_all(data, table, series, WHOLE));
        }
    }
    queries
}

/// 100,000 readings come back in one answer, in order.
async fn large(case: &Case<'_>) -> Check<Verdict> {
    const COUNT: u32 = 100_000;
    let (_, mut client) = case.client().await?;
    let subject = case.subject();
    let table = &subject.data.schema.tables[0];
    let mut batch = Batch::new(0, table);
    for row in 0..COUNT {
        batch.series.push(0);
        batch.times_ns.push(BASE + i64::from(row) * 1_000_000);
    }
    for (number, column) in batch.columns.iter_mut().enumerate() {
        let numbers = 0..COUNT;
        *column = Column {
            values: match &column.values {
                Values::U16(_) => Values::U16(
                    numbers
                        .map(|row| u16::try_from((row as usize * (number + 1)) % 4_096).unwrap_or(0))
                        .collect(),
                ),
                _ => Values::F64(numbers.map(|row| f64::from(row) / 8.0).collect()),
            },
            present: None,
        };
    }
    let acknowledged = client.write(&batch).await?;
    ensure!(
        acknowledged.readings == u64::from(COUNT),
        "{} of {COUNT} readings acknowledged",
        acknowledged.readings
    );
    let query = range_of_all(&subject.data, 0, Selection::One(0), WHOLE);
    let reference = case.reference(&[batch]);
    let refused = ask(case, &mut client, &query, &reference.answer(&query)).await?;
    client.close().await?;
    Ok(refused.map_or(Verdict::Kept, Verdict::Ignored))
}
