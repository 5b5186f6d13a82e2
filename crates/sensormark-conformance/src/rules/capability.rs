//! C-C: what is stated is what happens.

use super::super::check::{Check, Verdict, ensure};
use super::super::data::{BASE, DAY, Data, Dataset, SPLIT};
use super::super::rule::{Over, Rule, check_queries, loaded, own, queries, unsupported};
use super::super::suite::{Case, Loaded};
use super::query::{WHOLE, question, tables};
use Dataset::{Channels, Devices, Fleet, Mixed, Values};
use sensormark_store::capability::Operation;
use sensormark_store::query::{
    Aggregate, Ask, Comparison, Function, Grouping, Predicate, Query, Selection, Window,
};
use sensormark_store::schema::FieldSet;

pub(super) fn rules() -> Vec<Rule> {
    const ALL: &[Dataset] = &[Mixed, Channels, Values, Devices, Fleet];
    vec![
        own!("C-C-01", "what is not native has a reason", Over::Layouts(&Dataset::ALL), reasons),
        queries!("C-C-02", "an operation is answered, or refused as stated", ALL, one_of_each),
        loaded!("C-C-03", "questions change nothing, and are answered again", ALL, again),
    ]
}

async fn reasons(case: &Case<'_>) -> Check<Verdict> {
    let subject = case.subject();
    for table in &subject.data.schema.tables {
        for operation in Operation::ALL {
            let stated = case.store().capability(operation, &subject.offer.layout, table);
            ensure!(
                stated.reason().is_none_or(|reason| reason.len() > 10),
                "{operation:?} of table {}: {stated:?}",
                table.name
            );
        }
        let missing =
            unsupported(case, table, &[Operation::Write]).or(unsupported(case, table, &[Operation::Range]));
        ensure!(
            missing.is_none(),
            "every layout writes and reads ranges, but: {}",
            missing.unwrap_or_default()
        );
    }
    Ok(Verdict::Kept)
}

/// One question for each operation that is a question.
fn one_of_each(data: &Data) -> Vec<Query> {
    let mut queries = Vec::new();
    for table in tables(data) {
        let description = &data.schema.tables[table];
        let fields = description.all_fields();
        let field = data.numeric(table)[0];
        let predicate = Predicate { field, comparison: Comparison::Above, threshold: 10.0 };
        let series = data.times(table, 1).len().min(1);
        let one = Selection::One(u32::try_from(series).unwrap_or(0));
        let time = data.times(table, 0)[3];
        let point = Ask::Point { fields };
        queries.push(question(table, Selection::One(0), (time, time + 1), point));
        for ask in [
            Ask::Range { fields, coarse_filter: false },
            Ask::Range { fields: FieldSet::one(field), coarse_filter: true },
            Ask::First(predicate),
            Ask::Last(predicate),
            Ask::Minimum { field },
        ] {
            queries.push(question(table, one.clone(), WHOLE, ask));
        }
        let latest = Ask::LastReading { fields };
        queries.push(question(table, Selection::All, WHOLE, latest));
        let matching = Ask::SeriesMatching(predicate);
        queries.push(question(table, Selection::All, WHOLE, matching));
        queries.extend(aggregates(table, &one, field));
    }
    queries
}

fn aggregates(table: usize, one: &Selection, field: usize) -> Vec<Query> {
    let plain = Grouping::default();
    let daily = Grouping { window: Some(Window { width_ns: DAY, origin_ns: BASE }), ..plain };
    let parts = Grouping { by_day_part: Some(SPLIT), ..plain };
    let by_series = Grouping { by_series: true, ..plain };
    let ask = |function, grouping, from_sums| Ask::Aggregate {
        aggregates: vec![Aggregate { function, field }],
        grouping,
        from_sums,
    };
    let whole = |series: &Selection, ask| question(table, series.clone(), WHOLE, ask);
    vec![
        whole(one, ask(Function::Mean, plain, false)),
        whole(one, ask(Function::Max, daily, false)),
        whole(one, ask(Function::Mean, parts, false)),
        whole(&Selection::All, ask(Function::Sum, by_series, false)),
        whole(&Selection::All, ask(Function::Sum, plain, false)),
        whole(one, ask(Function::MostFrequent, plain, false)),
        whole(one, ask(Function::Mean, daily, true)),
    ]
}

async fn again(case: &Case<'_>, loaded: &Loaded) -> Check<Verdict> {
    let data = &case.subject().data;
    for _ in 0..2 {
        check_queries(case, loaded, one_of_each(data)).await?;
    }
    let mut client = case.connect(&loaded.plan).await?;
    let census = client.census(&data.schema).await?;
    ensure!(census == loaded.reference.census(), "what is stored has changed though nothing was written");
    client.close().await?;
    Ok(Verdict::Kept)
}
