//! C-S: values, times and tags come back as they were written.

use super::super::check::{Broken, Check, Verdict, ensure};
use super::super::data::{BASE, Data, Dataset, SECOND};
use super::super::rule::{Over, Rule, ask, own, queries};
use super::super::suite::Case;
use Dataset::{Channels, Fleet, Mixed, Names, Texts, Values};
use sensormark_store::answer::Answer;
use sensormark_store::batch::Batch;
use sensormark_store::error::ErrorKind;
use sensormark_store::layout::TimeKey;
use sensormark_store::query::{Aggregate, Ask, Function, Grouping, Query, Selection, TimeRange};
use sensormark_store::schema::{Field, FieldType, TagColumn, TimeResolution, Value};
use sensormark_store::store::AnswerSource;

pub(super) fn rules() -> Vec<Rule> {
    vec![
        own!(
            "C-S-01",
            "numbers come back exactly, the extremes included",
            Over::Layouts(&[Mixed, Channels, Values]),
            numbers
        ),
        own!("C-S-02", "text comes back exactly", Over::Layouts(&[Mixed, Texts]), text),
        own!(
            "C-S-03",
            "absent values stay absent, and apart from zero, false and empty",
            Over::Layouts(&[Mixed]),
            absent
        ),
        own!(
            "C-S-04",
            "times come back to the resolution that the layout states",
            Over::Layouts(&[Mixed, Channels, Values]),
            times
        ),
        own!(
            "C-S-05",
            "tables do not mix, and hold up to 64 fields",
            Over::Layouts(&[Fleet]),
            several_tables
        ),
        queries!("C-S-06", "tags hold any Unicode", &[Names], any_tag),
        queries!("C-S-07", "integer tags are found by their digits", &[Mixed, Values, Names], integer_tags),
    ]
}

/// A batch of one series in which each reading has `values[row]` in the fields of their types, and a plain value in the others.
fn batch_of(case: &Case<'_>, values: &[Value], plain: impl Fn(&Field, usize) -> Value) -> Batch {
    let table = &case.subject().data.schema.tables[0];
    let mut batch = Batch::new(0, table);
    for (row, value) in values.iter().enumerate() {
        batch.series.push(0);
        batch.times_ns.push(BASE + i64::try_from(row).unwrap_or(0) * 250_000_000);
        for (column, field) in batch.columns.iter_mut().zip(&table.fields) {
            let lacks = *value == Value::Null && !field.nullable;
            if lacks || column.push(value.clone()).is_err() {
                column.push(plain(field, row)).expect("plain values fit");
            }
        }
    }
    batch
}

/// Zero, false or empty.
fn zero(kind: FieldType) -> Value {
    match kind {
        FieldType::Bool => Value::Bool(false),
        FieldType::I64 | FieldType::U16 => Value::I64(0),
        FieldType::F64 => Value::F64(0.0),
        FieldType::Text => Value::Text(String::new()),
    }
}

/// Writes a batch and reads it back by scan and by range.
async fn round_trip(case: &Case<'_>, batches: &[Batch]) -> Check<Verdict> {
    let (plan, mut client) = case.client().await?;
    for batch in batches {
        client.write(batch).await?;
    }
    let reference = case.reference(batches);
    let mut refused = None;
    for (number, table) in plan.schema.tables.iter().enumerate() {
        let query = Query {
            table: number,
            series: Selection::All,
            range: TimeRange::new(0, i64::MAX),
            ask: Ask::Range { fields: table.all_fields(), coarse_filter: false },
        };
        let expected = reference.answer(&query);
        let scanned = Answer::Readings(client.readings(&plan.schema, number).await?);
        let difference = scanned.disagreement(&expected, &query);
        ensure!(difference.is_none(), "scan: {}", difference.unwrap_or_default());
        refused = ask(case, &mut client, &query, &expected).await?.or(refused);
    }
    client.close().await?;
    Ok(refused.map_or(Verdict::Kept, Verdict::Ignored))
}

async fn numbers(case: &Case<'_>) -> Check<Verdict> {
    let least = if case.store().refuses_least_number().is_some() {
        refuses_least_number(case).await?;
        i64::MIN + 1
    } else {
        i64::MIN
    };
    let mut values: Vec<Value> =
        [least, i64::MAX, -1, 0, 1, 65_535, 65_536, 32_768, 1 << 53, (1 << 53) + 1].map(Value::I64).into();
    values.extend(
        [
            0.0,
            -0.0,
            f64::from_bits(1),
            f64::MIN_POSITIVE,
            f64::MAX,
            f64::MIN,
            1e308,
            -1e-308,
            0.1,
            1.0 / 3.0,
            123_456_789.123_456_79,
            9_007_199_254_740_993.0,
            1.0,
        ]
        .map(Value::F64),
    );
    values.extend([Value::Bool(true), Value::Bool(false)]);
    let batch = batch_of(case, &values, |field, _| zero(field.kind));
    round_trip(case, &[batch]).await
}

/// Where a store says so, a batch with the least whole number is refused, and nothing of it is stored.
async fn refuses_least_number(case: &Case<'_>) -> Check {
    let batch = batch_of(case, &[Value::I64(i64::MIN)], |field, _| zero(field.kind));
    let fields = &case.subject().data.schema.tables[0].fields;
    if fields.iter().all(|field| field.kind != FieldType::I64) {
        return Ok(());
    }
    let (plan, mut client) = case.client().await?;
    match client.try_write(&batch).await? {
        Ok(_) => {
            return Err(Broken("the least whole number is taken, not refused".into()));
        }
        Err(error) => ensure!(
            error.kind() == ErrorKind::TooLarge && error.acknowledged() == 0,
            "the least whole number fails with {error}"
        ),
    }
    let stored = client.readings(&plan.schema, 0).await?;
    ensure!(stored.is_empty(), "a refused reading is stored");
    client.close().await
}

async fn text(case: &Case<'_>) -> Check<Verdict> {
    let long = "long ".repeat(1_000);
    let values: Vec<Value> = [
        "",
        " ",
        "  leading and trailing  ",
        "plain",
        "comma, equals=, space",
        "\"double\" 'single' `back`",
        "back\\slash\\",
        "\\n \\t \\\"",
        "line\nbreak\r\ncarriage\ttab",
        "null",
        "NULL",
        "true",
        "1",
        "1i",
        "ä ö ü ß é",
        "日本語 ☕ 😀 e\u{301}",
        "\u{1}\u{7f}\u{85}\u{2028}",
        "{\"json\": [1, 2]}",
        "%s %d $1 ?1 :name @x",
        "'; drop table readings; --",
        long.as_str(),
    ]
    .map(|text| Value::Text(text.to_owned()))
    .into();
    let batch = batch_of(case, &values, |field, _| zero(field.kind));
    round_trip(case, &[batch]).await
}

async fn absent(case: &Case<'_>) -> Check<Verdict> {
    let values = vec![Value::Null; 40];
    let fields = &case.subject().data.schema.tables[0].fields;
    let batch = batch_of(case, &values, |field, _| zero(field.kind));
    // besides readings that lack all that they may: readings of zeros, and each field absent by itself
    let zeros = values.iter().map(|_| Value::Bool(false)).collect::<Vec<_>>();
    let mut one_by_one = batch_of(case, &zeros, |field, _| zero(field.kind));
    for (row, time) in one_by_one.times_ns.iter_mut().enumerate() {
        *time += 3_600 * SECOND + i64::try_from(row).unwrap_or(0);
    }
    for (number, (column, field)) in one_by_one.columns.iter_mut().zip(fields).enumerate() {
        if field.nullable {
            let present = (0..values.len()).map(|row| row % 8 != number && row % 7 != number);
            column.present = Some(present.collect());
        }
    }
    round_trip(case, &[batch, one_by_one]).await
}

async fn times(case: &Case<'_>) -> Check<Verdict> {
    let subject = case.subject();
    let table = &subject.data.schema.tables[0];
    let layout = &subject.offer.layout;
    let resolution = case.store().time_resolution(layout, table);
    ensure!(
        layout.time == TimeKey::Native || resolution == TimeResolution::Nanoseconds,
        "a layout with keys of nanoseconds states a resolution of {resolution:?}"
    );
    let unit = resolution.nanoseconds();
    let fine = unit / 3; // 0 where every nanosecond is kept
    let kept = TimeRange::OF_READINGS;
    let mut times = vec![
        kept.start_ns,
        kept.end_ns - unit,
        31_536_000 * SECOND,
        BASE,
        BASE + 999_999_999 / unit * unit,
        BASE + SECOND,
        4_102_444_800 * SECOND + 123_456_789 / unit * unit,
    ];
    let dense = BASE + 86_399 * SECOND + 987_654_321 / unit * unit;
    times.extend((0..20).map(|step| dense + step * unit));
    let mut batch = batch_of(case, &vec![Value::I64(7); times.len()], |field, row| match field.kind {
        FieldType::F64 => Value::F64(row as f64),
        kind => zero(kind),
    });
    batch.times_ns = times.into_iter().map(|time| time + fine).collect();
    round_trip(case, &[batch.sorted()]).await
}

async fn several_tables(case: &Case<'_>) -> Check<Verdict> {
    let data = &case.subject().data;
    round_trip(case, &data.batches).await
}

fn range_query(table: usize, fields: sensormark_store::schema::FieldSet, series: Selection) -> Query {
    Query { table, series, range: Data::everything(), ask: Ask::Range { fields, coarse_filter: false } }
}

fn any_tag(data: &Data) -> Vec<Query> {
    let table = &data.schema.tables[0];
    let TagColumn::Text(names) = &table.series.columns()[0] else {
        return Vec::new();
    };
    let tagged = |value: &String| Selection::Tagged { tag: 0, value: value.clone() };
    let mut queries: Vec<Query> =
        names.iter().map(|name| range_query(0, table.all_fields(), tagged(name))).collect();
    queries.push(range_query(0, table.all_fields(), Selection::All));
    queries.push(Query {
        table: 0,
        series: Selection::All,
        range: Data::everything(),
        ask: Ask::Aggregate {
            aggregates: vec![Aggregate { function: Function::Sum, field: 0 }],
            grouping: Grouping { by_tag: Some(0), ..Grouping::default() },
            from_sums: false,
        },
    });
    queries
}

fn integer_tags(data: &Data) -> Vec<Query> {
    let table = &data.schema.tables[0];
    let mut queries = Vec::new();
    for (tag, column) in table.series.columns().iter().enumerate() {
        if let TagColumn::Integer(values) = column {
            let strangers = ["0", "-9223372036854775808", "007"].map(str::to_owned);
            for value in values.iter().map(i64::to_string).chain(strangers) {
                let series = Selection::Tagged { tag, value };
                queries.push(range_query(0, table.all_fields(), series));
            }
        }
    }
    queries
}
