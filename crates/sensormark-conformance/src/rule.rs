//! Rules, and the tests that they become: one for each layout that the store offers for each of a rule's data sets.

use super::check::{Check, Verdict, While, ensure};
use super::client::Client;
use super::data::{DAY, Data, Dataset, SECOND, SPLIT};
use super::suite::{Case, Loaded, Subject};
use sensormark_store::answer::Answer;
use sensormark_store::capability::{Capability, Operation};
use sensormark_store::error::ErrorKind;
use sensormark_store::layout::{DefaultSelection, Family, Layout, LayoutOption, WriteMethod};
use sensormark_store::query::{Aggregate, Ask, Function, Query, Selection};
use sensormark_store::question::Question;
use sensormark_store::schema::{Schema, Table};
use sensormark_store::store::{AnswerSource, LocalFuture, Store};
use std::collections::{BTreeSet, HashMap, HashSet};
use std::sync::Arc;

/// A numbered rule of `CONTRACT.md`.
#[derive(Clone, Copy)]
pub(super) struct Rule {
    /// Its number there.
    pub(super) number: &'static str,
    /// The rule in a few words.
    pub(super) title: &'static str,
    /// What it is tried on.
    pub(super) over: Over,
    /// How it is tried.
    pub(super) kind: Kind,
}

/// What a rule is tried on.
#[derive(Clone, Copy)]
pub(super) enum Over {
    /// The store, once.
    Store,
    /// The store's usual layout of a reading by itself, with each of these data sets.
    Usual(&'static [Dataset]),
    /// Every layout that the store offers for each of these data sets, but those that send datagrams.
    Layouts(&'static [Dataset]),
    /// The same without layouts that are measured on request alone: for what hardly depends on the layout.
    Measured(&'static [Dataset]),
    /// Every layout that sends datagrams.
    Datagrams(&'static [Dataset]),
}

/// How a rule is tried.
#[derive(Clone, Copy)]
pub(super) enum Kind {
    /// Questions to a database that holds the data set, answered as the reference answers.
    Queries(fn(&Data) -> Vec<Query>),
    /// A check of a database that holds the data set.
    Loaded(LoadedCheck),
    /// A check that makes its own databases.
    Own(AsyncCheck),
    /// The same, while no other check runs, since it disturbs the server.
    Alone(AsyncCheck),
}

/// A rule whose questions are asked of a loaded data set.
macro_rules! queries {
    ($number:literal, $title:literal, $datasets:expr, $queries:expr) => {
        $crate::rule::Rule {
            number: $number,
            title: $title,
            over: $crate::rule::Over::Layouts($datasets),
            kind: $crate::rule::Kind::Queries($queries),
        }
    };
}
pub(super) use queries;

/// A rule with a check of a loaded data set.
macro_rules! loaded {
    ($number:literal, $title:literal, $datasets:expr, $check:path) => {
        $crate::rule::Rule {
            number: $number,
            title: $title,
            over: $crate::rule::Over::Layouts($datasets),
            kind: $crate::rule::Kind::Loaded(|case, loaded| Box::pin($check(case, loaded))),
        }
    };
}
pub(super) use loaded;

/// A rule with a check of its own.
macro_rules! own {
    ($number:literal, $title:literal, $over:expr, $check:path) => {
        $crate::rule::Rule {
            number: $number,
            title: $title,
            over: $over,
            kind: $crate::rule::Kind::Own(|case| Box::pin($check(case))),
        }
    };
}
pub(super) use own;

/// A rule whose check disturbs the server, or is disturbed by others on it.
macro_rules! alone {
    ($number:literal, $title:literal, $over:expr, $check:path) => {
        $crate::rule::Rule {
            number: $number,
            title: $title,
            over: $over,
            kind: $crate::rule::Kind::Alone(|case| Box::pin($check(case))),
        }
    };
}
pub(super) use alone;

/// A check.
pub(super) type AsyncCheck = for<'a> fn(&'a Case<'a>) -> LocalFuture<'a, Check<Verdict>>;

/// A check of a loaded database.
pub(super) type LoadedCheck = for<'a> fn(&'a Case<'a>, &'a Loaded) -> LocalFuture<'a, Check<Verdict>>;

/// One rule on one subject: a test.
#[derive(Clone)]
pub(super) struct Task {
    pub(super) rule: Rule,
    pub(super) subject: Option<Subject>,
}

impl Task {
    /// The test's name: number, data set, family and layout, title.
    pub(super) fn name(&self) -> String {
        let subject = self.subject.as_ref().map_or(String::new(), |subject| {
            let variant = match subject.offer.variant.as_str() {
                "" => "usual",
                variant => variant,
            };
            let (dataset, family) = (subject.dataset.text(), family_text(subject.family));
            format!(" [{dataset}, {family}, {variant}]")
        });
        format!("{}{subject} {}", self.rule.number, self.rule.title)
    }
}

pub(super) const fn family_text(family: Family) -> &'static str {
    match family {
        Family::PerReading => "per reading",
        Family::PerSpan { .. } => "per span",
        Family::Bucketed { .. } => "bucketed",
        Family::Summary { .. } => "summary",
        Family::GrowingArray => "growing array",
    }
}

/// The families that layouts are asked for: buckets small enough to fill up.
pub(super) const FAMILIES: [Family; 5] = [
    Family::PerReading,
    Family::PerSpan { span_ns: SECOND },
    Family::Bucketed { limit: 50, per_ns: DAY, split: SPLIT },
    Family::Summary { per_ns: DAY, split: SPLIT },
    Family::GrowingArray,
];

impl Rule {
    /// The named questions that it asks of a data set, where it asks any: several functions one by one, and what has no name not at all.
    pub(super) fn questions(&self, data: &Data) -> Option<Vec<Query>> {
        let Kind::Queries(queries) = self.kind else { return None };
        let mut named: Vec<Query> = Vec::new();
        for query in queries(data).iter().flat_map(one_by_one) {
            if Question::of(&query).is_some() && !named.contains(&query) {
                named.push(query);
            }
        }
        Some(named)
    }
}

/// A query with several functions as one for each, unless it has a name as it is.
pub(super) fn one_by_one(query: &Query) -> Vec<Query> {
    match &query.ask {
        Ask::Aggregate { aggregates, grouping, from_sums }
            if aggregates.len() > 1 && Question::of(query).is_none() =>
        {
            let one = |one: &Aggregate| {
                let ask =
                    Ask::Aggregate { aggregates: vec![*one], grouping: *grouping, from_sums: *from_sums };
                Query { ask, ..query.clone() }
            };
            aggregates.iter().map(one).collect()
        }
        _ => vec![query.clone()],
    }
}

/// All tests of these rules for a store.
pub(super) fn tasks(store: &Arc<dyn Store>, rules: Vec<Rule>) -> Vec<Task> {
    let data: HashMap<Dataset, Arc<Data>> =
        Dataset::ALL.into_iter().map(|dataset| (dataset, Arc::new(Data::new(dataset)))).collect();
    let mut tasks = Vec::new();
    for rule in rules {
        // databases take their time to make: what is measured on request alone is tried on one data set, but for questions
        let mut tried = HashSet::new();
        for dataset in rule.over.datasets() {
            let data = &data[dataset];
            if rule.questions(data).is_some_and(|questions| questions.is_empty()) {
                continue;
            }
            for family in FAMILIES {
                let offers = store.layouts(&data.schema, family).into_iter();
                let fitting = offers.filter(|offer| {
                    rule.over.holds(family, offer)
                        && (offer.default_selection != DefaultSelection::OnRequest
                            || !matches!(rule.kind, Kind::Own(_))
                            || tried.insert((family_text(family), offer.variant.clone())))
                });
                tasks.extend(fitting.map(|offer| Task {
                    rule,
                    subject: Some(Subject { dataset: *dataset, family, offer, data: Arc::clone(data) }),
                }));
            }
        }
        if matches!(rule.over, Over::Store) {
            tasks.push(Task { rule, subject: None });
        }
    }
    tasks
}

/// Which of these tests are in a part of the suite that tries every rule: the first of each rule and family, and every named question everywhere.
pub(super) fn part(tasks: &[Task]) -> Vec<bool> {
    let mut tried = HashSet::new();
    let is_first = |task: &Task| {
        let family = task.subject.as_ref().map(|one| family_text(one.family));
        tried.insert((task.rule.number, family)) || task.rule.number == "C-C-02"
    };
    tasks.iter().map(is_first).collect()
}

impl Over {
    const fn datasets(self) -> &'static [Dataset] {
        match self {
            Self::Store => &[],
            Self::Usual(datasets)
            | Self::Layouts(datasets)
            | Self::Measured(datasets)
            | Self::Datagrams(datasets) => datasets,
        }
    }

    /// Whether the rule is tried on this offer.
    fn holds(self, family: Family, offer: &LayoutOption) -> bool {
        let datagrams = offer.layout.write == WriteMethod::Datagram;
        match self {
            Self::Store => false,
            Self::Usual(_) => {
                family == Family::PerReading && offer.default_selection == DefaultSelection::Usual
            }
            Self::Layouts(_) => !datagrams,
            Self::Measured(_) => !datagrams && offer.default_selection != DefaultSelection::OnRequest,
            Self::Datagrams(_) => datagrams,
        }
    }
}

/// The first of these operations that is stated as unsupported, with the reason.
pub(super) fn unsupported(case: &Case<'_>, table: &Table, needed: &[Operation]) -> Option<String> {
    refusal(case.store(), &case.subject().offer.layout, table, needed)
}

fn refusal(store: &dyn Store, layout: &Layout, table: &Table, needed: &[Operation]) -> Option<String> {
    needed.iter().find_map(|&operation| match store.capability(operation, layout, table) {
        Capability::Unsupported(reason) => Some(format!("{operation:?}: {reason}")),
        Capability::Native | Capability::ClientSide(_) => None,
    })
}

/// Asks all questions of a loaded database.
pub(super) async fn check_queries(case: &Case<'_>, loaded: &Loaded, queries: Vec<Query>) -> Check<Verdict> {
    let mut client = case.connect(&loaded.plan).await?;
    let mut reasons = BTreeSet::new();
    let mut answered = 0;
    for query in &queries {
        let expected = loaded.reference.answer(query);
        match ask(case, &mut client, query, &expected).await? {
            None => answered += 1,
            Some(reason) => {
                reasons.insert(reason);
            }
        }
    }
    client.close().await?;
    if answered > 0 {
        return Ok(Verdict::Kept);
    }
    let reasons: Vec<String> = reasons.into_iter().collect();
    Ok(Verdict::Ignored(reasons.join("; ")))
}

/// Asks one question and compares the answer. Gives the reason where it is rightly not supported.
pub(super) async fn ask(
    case: &Case<'_>,
    client: &mut Client,
    query: &Query,
    expected: &Answer,
) -> Check<Option<String>> {
    let subject = case.subject();
    let asked = Asked { store: case.store(), layout: &subject.offer.layout, schema: &subject.data.schema };
    ask_of(&asked, client, query, expected).await
}

/// What a question is put to.
pub(super) struct Asked<'a> {
    pub(super) store: &'a dyn Store,
    pub(super) layout: &'a Layout,
    pub(super) schema: &'a Schema,
}

/// As [`ask`], of any store, layout and schema.
pub(super) async fn ask_of(
    asked: &Asked<'_>,
    client: &mut Client,
    query: &Query,
    expected: &Answer,
) -> Check<Option<String>> {
    let table = &asked.schema.tables[query.table];
    let stated = refusal(asked.store, asked.layout, table, &Operation::needed(query, table));
    let result = client.try_ask(query).await.while_doing(|| format!("{query:?}"))?;
    let answer = match (result, &stated) {
        (Err(error), Some(_)) if error.kind() == ErrorKind::Unsupported => return Ok(stated),
        (Err(error), None) if error.kind() == ErrorKind::Unsupported && may_refuse(query, table) => {
            return Ok(Some(error.to_string()));
        }
        (Err(error), Some(reason)) => {
            return Err(
                format!("{query:?} is stated as unsupported ({reason}) and fails with {error}").into()
            );
        }
        (Err(error), None) => return Err(format!("{query:?}: {error}").into()),
        (Ok(answer), Some(_)) if answer.is_empty() && is_about_nothing(query, table) => {
            return Ok(stated);
        }
        (Ok(_), Some(reason)) => {
            return Err(format!("{query:?} is answered though it is stated as unsupported ({reason})").into());
        }
        (Ok(answer), None) => answer,
    };
    if let Answer::Readings(batch) = &answer {
        let checked = batch.check(table, true);
        ensure!(checked.is_ok(), "{query:?}: {}", checked.unwrap_err());
    }
    let difference = answer.disagreement(expected, query);
    ensure!(difference.is_none(), "{query:?}: {}", difference.unwrap_or_default());
    Ok(None)
}

/// Whether the question names no series or no time, so that a store need not ask its database.
fn is_about_nothing(query: &Query, table: &Table) -> bool {
    names_no_series(query, table) || query.range.length_ns() == 0
}

fn names_no_series(query: &Query, table: &Table) -> bool {
    match &query.series {
        Selection::One(_) | Selection::All => false,
        Selection::Set(numbers) => numbers.is_empty(),
        Selection::Tagged { tag, value } => table.series.with_tag(*tag, value).is_empty(),
    }
}

/// Whether a store may answer this with [`ErrorKind::Unsupported`] without having stated so: what is asked of one series, asked of several.
fn may_refuse(query: &Query, table: &Table) -> bool {
    let only = table.series.len() == 1 && !names_no_series(query, table);
    let one = matches!(query.series, Selection::One(_)) || only;
    match &query.ask {
        Ask::Point { .. } | Ask::First(_) | Ask::Last(_) | Ask::Minimum { .. } => !one,
        Ask::Aggregate { aggregates, grouping, .. } => {
            let of_one = |function| matches!(function, Function::Last | Function::TimeWeightedShare);
            !one && !grouping.by_series && aggregates.iter().any(|one| of_one(one.function))
        }
        Ask::Range { .. } | Ask::LastReading { .. } | Ask::SeriesMatching(_) | Ask::Derived(_) => false,
    }
}
