//! C-C: what is stated is what happens.

use super::super::check::{Check, Verdict, ensure};
use super::super::data::{DAY, Data, Dataset, SPLIT};
use super::super::rule::{Over, Rule, check_queries, loaded, own, queries, unsupported};
use super::super::suite::{Case, Loaded};
use super::derived;
use super::query::{WHOLE, question, tables};
use Dataset::{Channels, Devices, Fleet, Mixed, Values};
use sensormark_store::capability::Operation;
use sensormark_store::query::{
    Aggregate, Ask, Comparison, Function, Grouping, Predicate, Query, Selection, TimeRange, Window,
};
use sensormark_store::question::Question;
use sensormark_store::schema::{FieldSet, Table};

pub(super) fn rules() -> Vec<Rule> {
    const ALL: &[Dataset] = &[Mixed, Channels, Values, Devices, Fleet];
    vec![
        own!("C-C-01", "what is not native has a reason", Over::Layouts(&Dataset::ALL), reasons),
        queries!("C-C-02", "each named question is answered, or refused as stated", ALL, one_of_each),
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

/// Every named question that the data set's tables allow, at least once.
pub(crate) fn one_of_each(data: &Data) -> Vec<Query> {
    let mut queries = Vec::new();
    for table in tables(data) {
        let description = &data.schema.tables[table];
        let fields = description.all_fields();
        let field = data.numeric(table)[0];
        let predicate = Predicate { field, comparison: Comparison::Above, threshold: 10.0 };
        let one = Selection::One(data.series_with(table, field));
        let time = data.times(table, 0)[3];
        queries.push(question(table, Selection::One(0), (time, time + 1), Ask::Point { fields }));
        for ask in [
            Ask::Range { fields: FieldSet::one(field), coarse_filter: true },
            Ask::First(predicate),
            Ask::Last(predicate),
            Ask::Minimum { field },
        ] {
            queries.push(question(table, one.clone(), WHOLE, ask));
        }
        for ask in derived::one_of_each(data, table) {
            queries.push(question(table, one.clone(), WHOLE, ask));
        }
        for series in of_each(description) {
            for ask in [
                Ask::Range { fields, coarse_filter: false },
                Ask::LastReading { fields },
                Ask::SeriesMatching(predicate),
            ] {
                queries.push(question(table, series.clone(), WHOLE, ask));
            }
            queries.extend(
                aggregates(description, &series, field)
                    .map(|ask| question(table, series.clone(), WHOLE, ask)),
            );
        }
        queries.push(Query::chart(
            table,
            data.series_with(table, field),
            TimeRange::new(WHOLE.0, WHOLE.1),
            field,
            7,
        ));
    }
    queries.retain(|query| Question::of(query).is_some());
    queries
}

/// Each way to say which series are meant.
fn of_each(table: &Table) -> Vec<Selection> {
    let tag = table.tags.len().checked_sub(1);
    let tagged = tag.map(|tag| Selection::Tagged { tag, value: table.series.columns()[tag].text(0) });
    let set = Selection::Set((0..table.series.len().min(2)).collect());
    [Selection::One(0), set, Selection::All].into_iter().chain(tagged).collect()
}

/// Aggregates in every grouping. Those that are no question of these series are left out later.
fn aggregates(table: &Table, series: &Selection, field: usize) -> impl Iterator<Item = Ask> {
    let plain = Grouping::default();
    let daily = Grouping { window: Some(Window { width_ns: DAY, origin_ns: 0 }), ..plain };
    let parts = Grouping { by_day_part: Some(SPLIT), ..plain };
    let by_series = Grouping { by_series: true, ..plain };
    let by_tag = Grouping { by_tag: table.tags.len().checked_sub(1), ..plain };
    let ask = move |functions: &[Function], grouping, from_sums| Ask::Aggregate {
        aggregates: functions.iter().map(|&function| Aggregate { function, field }).collect(),
        grouping,
        from_sums,
    };
    let sums = [plain, daily, parts].map(|grouping| ask(&[Function::Mean], grouping, true));
    let statistics = matches!(series, Selection::Tagged { .. })
        .then(|| ask(&[Function::Count, Function::Last, Function::MostFrequent], by_series, false));
    let plain = [plain, daily, by_series, by_tag].map(|grouping| ask(&[Function::Max], grouping, false));
    let parts = ask(&[Function::Mean], parts, false);
    plain.into_iter().chain([parts]).chain(sums).chain(statistics)
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
