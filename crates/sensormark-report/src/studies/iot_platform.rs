//! The IoT-platform study: MongoDB and InfluxDB behind a platform of one home (in Czech). Its figures are means of five runs, those that its prose gives.

mod claims;
mod printed;

use super::figure::Figure;
use super::quantity::{Quantity, amount, rate, time};
use super::select::{Loads, Metric, Results, loads};
use super::study::{Declaration, Study};
use super::table::{Column, Row, column, section, table, words};
use crate::claims::{Found, Values, has, mean, ratios};
use crate::field::Arm;
use crate::sections::cells::{counted, geometric_mean, listed};
use crate::tables::{Cell, Digits, Number, Spread, TOO_FEW, Table};
use printed::{
    DOCUMENT_BYTES, DOCUMENTS, FLUX, FROM_SUMS, INDEXED, INFLUXDB, MONGODB, OWN_INDEX, POINTS, TABLES,
    TEMPERATURES, TIMES, Variants, WITH_INDEX, WITHOUT_INDEX, YEAR,
};
use sensormark_data::number::significant;
use sensormark_result::measurement::record::{LoadRecord, TrialRecord};
use sensormark_result::measurement::{disk, names};
use sensormark_store::Shape;
use sensormark_workload::iot_platform::{DAYS, LOAD, MESSAGES, NAME, PlatformQuery as Query};

/// The study.
pub const STUDY: Study = Study {
    workload: NAME,
    title: "Porovnání výkonu MongoDB vs InfluxDB pro time-series data",
    authors: &["Martin Skalický"],
    venue: "19 December 2022",
    versions: &[("InfluxDB", "2.5.1"), ("MongoDB", "4.4.18")],
    system: "Ubuntu Desktop 20.04 LTS in Gnome Boxes on Fedora Workstation 36; client: Mongoose",
    notes: &[
        "The study's charts are not in the text at hand; these are the figures that its prose gives.",
        "Its period ends on \"9. 12. 2022\", 9 December or 12 September: its year-long results have about 350 days.",
    ],
    notes_title: "What the study leaves open:",
    declare: |results| Some(Platform::new(results).declare()),
    draw: |_| Vec::new(),
};

/// What a row of ratios is about.
const BY_QUERY: [&str; 2] = ["implementation", "query"];

/// A run, and what stands for the study's databases.
struct Platform<'a> {
    results: Results<'a>,
    mongodb: Found<'a, 'static>,
    indexed: Found<'a, 'static>,
    influxdb: Found<'a, 'static>,
}

fn asked(query: Query, days: u64) -> Loads {
    loads(query.name()).with(DAYS, days)
}

/// The mean time of a query.
fn ms(query: Query, days: u64) -> Quantity<'static> {
    amount(format!("{days} d"), "ms", asked(query, days).mean_ms())
        .or("not asked, not supported or no valid trial")
}

/// Values loaded.
fn loaded() -> Metric<'static> {
    loads(LOAD).metric(|load| Some(load.readings() as f64))
}

/// Documents when the trial was over, as the database counts them; rows and points, of which each is a value, as they were read back.
fn records(trial: &TrialRecord) -> Option<f64> {
    match trial.figures.get(names::DOCUMENTS) {
        Some(counted) => counted.value,
        None if trial.implementation.layout.shape == Shape::RowPerReading => {
            Some(loads(LOAD).first(trial)?.readings() as f64)
        }
        None => None,
    }
}

/// How time grows with the span: the exponent e of time ~ span^e between the shortest and the longest span of which there are times.
fn growth(times: &[(u64, Values)]) -> Cell {
    let times = times.iter();
    let known = times.filter_map(|(days, values)| Some((*days as f64, mean(values)?)));
    let known: Vec<(f64, f64)> = known.collect();
    match known[..] {
        [first, .., last] if first.1 > 0.0 => {
            let exponent = (last.1 / first.1).ln() / (last.0 / first.0).ln();
            Cell::Number(Number { value: exponent, spread: Spread::None, digits: Digits::Decimals(2) })
        }
        _ => Cell::Missing("one span alone".to_owned()),
    }
}

impl<'a> Platform<'a> {
    fn new(results: Results<'a>) -> Self {
        let first = |title, layouts: &[&str]| results.first_layout(title, layouts);
        Self {
            results,
            mongodb: ("MongoDB bucketed", first(MONGODB, &WITHOUT_INDEX)),
            indexed: ("MongoDB bucketed", first(MONGODB, &WITH_INDEX)),
            influxdb: ("InfluxDB flat", first(INFLUXDB, &FLUX)),
        }
    }

    fn declare(&self) -> Declaration {
        let is_empty = self.mongodb.1.is_none() && self.influxdb.1.is_none();
        let setting = format!(
            "Study: {} ({}). Its machine: 2 vCPU (Ryzen 3600), 2 GB, SATA SSD, virtual. Means of five runs of one question each. Ratios tell of the machines and versions as much as of the databases.",
            STUDY.title,
            STUDY.authors.join(", ")
        );
        let mut queries = vec![self.writing()];
        queries.extend(TABLES.iter().map(|one| self.by_query(one)));
        queries.push(self.own());
        Declaration {
            tables: vec![
                section("platform", "The platform's queries", queries),
                section("effects", "What the designs are worth", self.effects()),
            ],
            claims: if is_empty { Vec::new() } else { self.claims() },
            instead_of_claims: vec!["Neither MongoDB with documents of a day nor InfluxDB has a valid trial here, so none of the study's claims can be judged.".to_owned()],
            claims_note: Some("MongoDB without an index, as the study has it, where it is not named.".to_owned()),
            figures: TABLES.iter().map(|one| self.figure(one)).collect(),
            setting: (!is_empty).then_some(setting),
            published: vec![self.published()],
            ..Declaration::default()
        }
    }

    /// The spans that were asked about, in days, ascending.
    fn spans(&self, queries: &[Query]) -> Vec<u64> {
        let is_of = |load: &_| queries.iter().any(|query| loads(query.name()).has(load));
        self.results.numbers(DAYS, is_of)
    }

    /// The mean times of a query, in ms.
    fn ms(&self, arm: &Arm, query: Query, days: u64) -> Values {
        self.results.values(arm, &ms(query, days).metric)
    }

    fn writing(&self) -> Table {
        let messages = || loads(MESSAGES);
        let grown = Metric::new(disk::growth_bytes);
        let quantities = [
            rate("messages", "1/s", messages().operations_a_second()),
            amount("mean", "ms", messages().mean_ms()),
            time("p99", "ms", messages().latency_ms(|one| one.p99_ns)).or(TOO_FEW),
            rate("load", "values/s", loads(LOAD).readings_a_second()),
            amount("disk", "MB", grown.clone().times(1e-6)),
            amount("disk a value", "bytes", grown.over(loaded())),
            amount("documents", "", Metric::new(records)).or("not counted"),
            amount("of documents", "MB", Metric::named(names::DOCUMENT_BYTES).times(1e-6))
                .or("the database keeps no such count"),
        ];
        let title = "Writing: message by message, then everything in batches";
        let mut table = self.results.table("platform_writing", title, &quantities);
        table.note("mean and p99: of a message. disk: growth of the data folder, at rest after the load, logs apart. documents: documents, rows or points after the load. Bytes of documents are as MongoDB counts them (collStats), before compression and without indexes.");
        let cut = self.results.arms().flat_map(|arm| {
            let is_cut = move |one: &&str| loads(one).cut(self.results, arm).is_some();
            let cut = [MESSAGES, LOAD].into_iter().filter(is_cut);
            cut.map(move |operation| format!("{} ({operation})", arm.label))
        });
        let cut: Vec<String> = cut.collect();
        let cut: Vec<&str> = cut.iter().map(String::as_str).collect();
        if !cut.is_empty() {
            table.note(format!("Cut at the time limit, with the rate until then: {}. Queries are then about what was loaded.", listed(&cut)));
        }
        table
    }

    fn by_query(&self, (id, title, variants): &(&str, &str, Variants)) -> Table {
        let queries: Vec<Query> = variants.iter().map(|(query, _)| *query).collect();
        let spans = self.spans(&queries);
        let row = |arm: &Arm, (query, ending): &(Query, &str)| -> Option<Row> {
            let asked: Vec<_> = spans.iter().map(|&days| ms(*query, days)).collect();
            let times = spans.iter().map(|&days| (days, self.ms(arm, *query, days)));
            let grows = growth(&times.collect::<Vec<_>>());
            let mut columns = self.results.columns_if_any(arm, &asked)?;
            columns.push(column("grows with span^", "", grows));
            Some((words([&format!("{}{ending}", arm.label)]), columns))
        };
        let arms = self.results.arms();
        let rows = arms.flat_map(|arm| variants.iter().filter_map(move |one| row(arm, one)));
        let mut table = table(id, title, &["implementation"], rows);
        let asked = queries.iter().map(|query| loads(query.name()));
        self.note_client(&mut table, &asked.collect::<Vec<_>>());
        if *id == TABLES[0].0 {
            table.note("grows with span^x, here and below: 1 is in proportion to the span, 0 not at all; from the shortest span to the longest.");
        }
        table
    }

    /// Says for whom some of these queries were done in the client.
    fn note_client(&self, table: &mut Table, asked: &[Loads]) {
        let in_client = |trial: &TrialRecord| {
            let mut loads = asked.iter().flat_map(|one| one.finished(trial));
            loads.any(|load| load.client_side.is_some())
        };
        let arms = self.results.arms();
        let arms = arms.filter(|arm| self.results.field.valid_of(arm).any(in_client));
        let names: Vec<&str> = arms.map(|arm| arm.label.as_str()).collect();
        if !names.is_empty() {
            let names = listed(&names);
            table.note(format!("Done in the client, because the database cannot: {names}."));
        }
    }

    /// The chart and the statistics, which are about other properties too.
    fn own(&self) -> Table {
        let all = [(Query::Chart, "chart"), (Query::Statistics, "statistics")];
        let quantities = all.into_iter().flat_map(|(query, word)| {
            let spans = self.spans(&[query]).into_iter();
            spans.map(move |days| ms(query, days).called(format!("{word}, {days} d")))
        });
        let quantities: Vec<_> = quantities.collect();
        let rows = self.results.arms().filter_map(|arm| {
            let columns = self.results.columns_if_any(arm, &quantities)?;
            Some((words([&arm.label]), columns))
        });
        let title =
            "The platform's own: a chart of the last 24 hours, statistics of every property of a device";
        let mut table = table("platform_own", title, &["implementation"], rows);
        self.note_client(&mut table, &all.map(|(query, _)| loads(query.name())));
        let number = |name| self.results.field.run.parameters.get(name)?.as_u64();
        let counted = |name, noun| Some(counted(usize::try_from(number(name)?).ok()?, noun));
        if let Some(questions) = counted("questions", "question")
            && let Some(points) = counted("points", "point")
        {
            table.note(format!("All queries: mean of {questions}, each about another stretch, property or device. A chart has at most {points}."));
        }
        table
    }

    /// How many times as long the slower of two queries took, or of two implementations, by span: whom the row names, the slower one and the other.
    fn effect(
        &self,
        id: &str,
        title: &str,
        keys: &[&str],
        spans: &[u64],
        queries: &[(Query, Query)],
        compared: Vec<[&Arm; 3]>,
    ) -> Table {
        let rows = compared.into_iter().flat_map(|[named, slow, fast]| {
            queries.iter().filter_map(move |&(slower, faster)| {
                let ratio = |&days: &u64| {
                    let ratio = ratios(&self.ms(slow, slower, days), &self.ms(fast, faster, days));
                    (format!("{days} d"), ratio)
                };
                let ratios: Vec<_> = spans.iter().map(ratio).collect();
                let is_any = ratios.iter().any(|(_, values)| has(values));
                let key = words([&named.label, slower.name()]);
                let key = key.into_iter().take(keys.len()).collect();
                is_any.then(|| (key, times_columns(ratios)))
            })
        });
        table(id, title, keys, rows)
    }

    /// Implementations whose layouts differ in this ending alone: with it, and without.
    fn pairs(&self, ending: &str) -> Vec<[&'a Arm; 2]> {
        self.results.pairs(|one, other| one.layout_name.strip_suffix(ending) == Some(&other.layout_name))
    }

    fn index(&self) -> Table {
        let own_index = OWN_INDEX.into_iter().flat_map(|named| {
            let is = |one: &str, other: &str| named == [one, other];
            self.results
                .pairs(move |one, other| one.title == MONGODB && is(&one.layout_name, &other.layout_name))
        });
        let indexes: Vec<[&Arm; 2]> = self.pairs("-no-index").into_iter().chain(own_index).collect();
        let mut index = self.effect(
            "effect_index",
            "The index: without it a question took so many times as long",
            &BY_QUERY,
            &self.spans(&INDEXED),
            &same(&INDEXED),
            indexes.iter().map(|&[without, with]| [with, without, with]).collect(),
        );
        for [without, with] in indexes {
            let message = loads(MESSAGES).mean_ms();
            let of = |arm| self.results.values(arm, &message);
            if let Some(ratio) = mean(&ratios(&of(with), &of(without))) {
                let ratio = significant(ratio, 3);
                index.note(format!(
                    "{}: a message took {ratio} times as long with the index as without.",
                    with.label
                ));
            }
        }
        index
    }

    fn effects(&self) -> Vec<Table> {
        let each = || self.results.arms().map(|arm| [arm; 3]).collect::<Vec<_>>();
        let ways = ["-unwind", "-set-window-fields"].into_iter().flat_map(|ending| self.pairs(ending));
        let day_filter = self.effect(
            "effect_day_filter",
            "The filter by day: raw values without it took so many times as long",
            &BY_QUERY[..1],
            &self.spans(&[Query::RawWithoutDays]),
            &[(Query::RawWithoutDays, Query::Raw)],
            each(),
        );
        vec![
            day_filter,
            self.index(),
            self.effect(
                "effect_sums",
                "Sums kept at write time: from raw values a question took so many times as long",
                &BY_QUERY,
                &self.spans(&FROM_SUMS.map(|(_, sums)| sums)),
                &FROM_SUMS,
                each(),
            ),
            self.effect(
                "effect_way_of_asking",
                "Ways of asking the same documents: a question took so many times as long as in the usual way",
                &BY_QUERY,
                &self.spans(&INDEXED),
                &same(&[Query::Raw, Query::HourlyMeans, Query::DailyMeans]),
                ways.map(|[way, usual]| [way, way, usual]).collect(),
            ),
            self.cost_of_sums(),
        ]
    }

    /// What keeping sums costs, against the layout of the same database that keeps none.
    fn cost_of_sums(&self) -> Table {
        let plain_of = |name: &str| {
            let mut families = ["summary", "bucketed"].into_iter();
            let rest = families.find_map(|family| name.strip_prefix(family))?;
            Some(format!("flat{rest}"))
        };
        let pairs = self
            .results
            .pairs(|sums, plain| plain_of(&sums.layout_name).as_ref() == Some(&plain.layout_name));
        let seconds_a_value = loads(LOAD).readings_a_second().inverted();
        let costs = [
            ("a message", loads(MESSAGES).mean_ms()),
            ("load", seconds_a_value),
            ("disk", Metric::new(disk::growth_bytes).over(loaded())),
        ];
        let rows = pairs.into_iter().map(|[sums, plain]| {
            let ratio = |(name, metric): &(&str, Metric<'_>)| {
                let of = |arm| self.results.values(arm, metric);
                ((*name).to_owned(), ratios(&of(sums), &of(plain)))
            };
            let columns = times_columns(costs.iter().map(ratio).collect());
            (words([&sums.label, &plain.label]), columns)
        });
        let title = "What keeping sums costs when writing: so many times the time and disk of values alone";
        let table = table("effect_cost_of_sums", title, &["implementation", "against"], rows);
        table.noted("MongoDB's documents of a day differ from documents of a value in more than their sums.")
    }

    fn published(&self) -> Table {
        let year = |query: Query, days| {
            let found = |load: &LoadRecord| load.readings() as f64 / load.operations() as f64;
            asked(query, days).metric(move |load| Some(found(load)))
        };
        let documents = Metric::new(records).over(loaded()).times(1e3);
        let bytes = Metric::named(names::DOCUMENT_BYTES).over(loaded());
        let a_value = DOCUMENT_BYTES / POINTS;
        let mut rows: Vec<(&str, Quantity<'_>, f64)> = TIMES
            .iter()
            .map(|(query, name, title, days, printed)| (*title, ms(*query, *days).called(*name), *printed))
            .collect();
        let amounts = [
            (MONGODB, amount("documents for a thousand values", "", documents), DOCUMENTS / POINTS * 1e3),
            (MONGODB, amount("bytes of documents a value", "bytes", bytes), a_value),
            (INFLUXDB, amount("temperatures in 90 days", "values", year(Query::Raw, 90)), TEMPERATURES[0]),
            (INFLUXDB, amount("temperatures in a year", "values", year(Query::Raw, YEAR)), TEMPERATURES[1]),
            (INFLUXDB, amount("values in all", "values", loaded()), POINTS),
        ];
        rows.extend(amounts);
        rows.sort_by_key(|(title, ..)| *title != MONGODB);
        let rows = rows.into_iter().filter_map(|(title, quantity, printed)| {
            let (_, arm) = if title == MONGODB { self.mongodb } else { self.influxdb };
            let quantity = quantity.or("not asked at this scale");
            Some(quantity.beside(self.results, &arm?.label, arm?, printed))
        });
        let title = "The figures that its text gives";
        table("published_platform", title, &["implementation", "figure"], rows).noted("The study's year has about 350 days, ours 365. Its 300 MB are taken to be the data of its 36,000 documents as MongoDB counts it, before compression.")
    }

    /// The study's charts: each query's time over the span, by variant.
    fn figure(&self, (id, title, variants): &(&str, &str, Variants)) -> Figure {
        let here = self.results.arms().flat_map(|arm| {
            variants.iter().flat_map(move |&(query, ending)| {
                let spans = self.spans(&[query]).into_iter();
                spans.map(move |days| {
                    let time = ms(query, days).cell(self.results, arm);
                    (format!("{}{ending}", arm.label), Some(Cell::Count(days)), time)
                })
            })
        });
        let mut figure =
            Figure::lines(id, &format!("{title}: time over span"), ("span", "days"), ("mean", "ms"))
                .all_here(here);
        for (query, ending) in *variants {
            for (_, _, name, days, ms) in TIMES.iter().filter(|(own, ..)| own == query) {
                figure.published(&format!("{name}{ending}"), "", Cell::Count(*days), *ms);
            }
        }
        figure
    }
}

/// Ratios over repetitions as columns.
fn times_columns(ratios: Vec<(String, Values)>) -> Vec<Column> {
    let none = "not measured on both sides";
    let columns = ratios.into_iter();
    columns.map(|(name, values)| column(name, "times", geometric_mean(&values, none))).collect()
}

/// Each query beside itself.
fn same(queries: &[Query]) -> Vec<(Query, Query)> {
    queries.iter().map(|&one| (one, one)).collect()
}
