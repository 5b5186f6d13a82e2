//! Answers against the contract's reference, questions below their watermark, limits against records.

use super::answers::Answers;
use super::parameters::{
    ByPart, FieldKind, FieldPart, OfPart, Parameters, QueryKind, QueryPart, SeriesPart, ShapePart, TablePart,
    TagPart, WhenPart, WritersPart, split,
};
use super::questions::{Horizon, Questions};
use super::sensors;
use super::writes::{Batches, Copies, Writes};
use sensormark_conformance::reference::Reference;
use sensormark_data::shapes::order::Order;
use sensormark_engine::operations::{Operations, Slot};
use sensormark_store::{AnswerSource, Batch, RepeatedWrite, Schema, Selection, TimeResolution};
use std::collections::BTreeMap;
use std::sync::Arc;

const SECOND_NS: i64 = 1_000_000_000;
const BATCH: u64 = 9;

fn field(name: &str, kind: FieldKind, shape: ShapePart) -> FieldPart {
    FieldPart {
        name: name.to_owned(),
        kind,
        shape,
        noise: 0.0,
        decimals: None,
        bits: None,
        repeats: 0.0,
        outliers: 0.0,
        hold_ns: 0,
    }
}

fn parameters() -> Parameters {
    let walk = ShapePart::Walk { min: 10.0, max: 30.0, period_ns: 60_000_000_000 };
    let counter = ShapePart::Counter { start: 0.0, step: 10.0 };
    let tag = |name: &str, values: &[&str]| TagPart {
        name: name.to_owned(),
        values: values.iter().map(|one| (*one).to_owned()).collect(),
        pattern: format!("{name}_{{}}"),
        first: None,
    };
    Parameters {
        life: None,
        dashboards: Vec::new(),
        name: String::new(),
        repetitions: 1,
        stores: Vec::new(),
        limits: Vec::new(),
        durability: None,
        server_memory_bytes: None,
        keep_ns: None,
        in_proportion: None,
        tables: vec![TablePart {
            series: SeriesPart {
                table: "readings".to_owned(),
                count: 6,
                start_ns: 1_767_225_600 * SECOND_NS,
                interval_ns: SECOND_NS,
                jitter_ns: SECOND_NS / 2,
                staggered: false,
                resolution: None,
                entity: None,
                generator: None,
                burst: 1,
                burst_interval_ns: SECOND_NS,
                duration_ns: 400 * SECOND_NS,
                missing: 0.05,
                late: 0.1,
                late_by_ns: 5 * SECOND_NS,
                repeated: 0.1,
                churn: 0.0,
            },
            tags: vec![tag("sensor", &[]), tag("hall", &["north", "south"])],
            fields: vec![
                field("temperature", FieldKind::Float, walk),
                field("pulses", FieldKind::Integer, counter),
                field("open", FieldKind::Bool, ShapePart::Chance(0.5)),
            ],
        }],
        phases: Vec::new(),
        layouts: vec!["individual".to_owned()],
        index: None,
        statements: None,
        variants: None,
        bucket: None,
        day: None,
    }
}

fn query(kind: QueryKind) -> QueryPart {
    QueryPart {
        name: "query".to_owned(),
        table: 0,
        kind,
        fields: vec!["temperature".to_owned()],
        drawn: None,
        of: OfPart::One,
        by: ByPart::Nothing,
        by_day: None,
        from_sums: false,
        step_ns: None,
        span_ns: Some(60 * SECOND_NS),
        window_ns: None,
        when: WhenPart::Anywhere,
        above: None,
        below: None,
        clients: 1,
        rate: None,
        count: None,
        after: None,
        file: None,
    }
}

fn grouped_queries() -> [QueryPart; 4] {
    let mut parts = query(QueryKind::Mean);
    (parts.of, parts.by) = (OfPart::All, ByPart::DayAndNight(split(None)));
    let mut chart = query(QueryKind::Chart);
    (chart.window_ns, chart.step_ns) = (Some(7 * SECOND_NS), Some(20 * SECOND_NS));
    chart.span_ns = Some(30 * SECOND_NS);
    let mut statistics = query(QueryKind::Statistics);
    statistics.fields.extend(["pulses", "open"].map(str::to_owned));
    statistics.of = OfPart::Tag("hall".to_owned());
    let mut with = query(QueryKind::Mean);
    with.of = OfPart::With(BTreeMap::from([("hall".to_owned(), "south".to_owned())]));
    [parts, chart, statistics, with]
}

fn queries() -> Vec<QueryPart> {
    let kinds = [
        QueryKind::Point,
        QueryKind::Range,
        QueryKind::LastValue,
        QueryKind::Mean,
        QueryKind::Minimum,
        QueryKind::Maximum,
        QueryKind::Sum,
        QueryKind::Count,
    ];
    let mut queries: Vec<QueryPart> = kinds.map(query).to_vec();
    for kind in [QueryKind::Mean, QueryKind::Sum, QueryKind::Maximum] {
        let mut windows = query(kind);
        windows.fields = vec!["pulses".to_owned()];
        windows.window_ns = Some(7 * SECOND_NS);
        windows.of = OfPart::All;
        windows.by = ByPart::Tag("hall".to_owned());
        queries.push(windows);
    }
    let mut by_series = query(QueryKind::Mean);
    by_series.of = OfPart::Tag("hall".to_owned());
    by_series.by = ByPart::Series;
    by_series.when = WhenPart::Latest;
    let mut matching = query(QueryKind::Matching);
    matching.of = OfPart::All;
    matching.above = Some(22.0);
    let mut all_fields = query(QueryKind::Range);
    all_fields.fields = ["temperature", "pulses", "open"].map(str::to_owned).to_vec();
    all_fields.of = OfPart::All;
    let mut last = query(QueryKind::LastValue);
    last.span_ns = None;
    last.of = OfPart::All;
    queries.extend([by_series, matching, all_fields, last]);
    queries.extend(grouped_queries());
    for kind in [
        QueryKind::StandardDeviation,
        QueryKind::RowsByValue,
        QueryKind::Interpolated,
        QueryKind::Correlation,
        QueryKind::OutOfRange,
        QueryKind::Difference,
        QueryKind::CrossMean,
        QueryKind::Nearest,
        QueryKind::Segments,
        QueryKind::ZScores,
        QueryKind::Outliers,
    ] {
        let mut one = query(kind);
        if kind.fields().is_none_or(|fields| fields > 1) {
            one.fields.push("pulses".to_owned());
        }
        one.window_ns = kind.needs_window().then_some(7 * SECOND_NS);
        [one.above, one.below] = kind.thresholds().map(|may| may.then_some(20.0));
        queries.push(one);
    }
    let mut drawn = query(QueryKind::Mean);
    drawn.fields.push("pulses".to_owned());
    (drawn.drawn, drawn.of, drawn.by) = (Some(1), OfPart::All, ByPart::Series);
    queries.push(drawn);
    queries
}

struct Place {
    schema: Arc<Schema>,
    sensors: Arc<sensormark_data::shapes::Sensors>,
    copies: Copies,
}

impl Place {
    fn new(repeated: RepeatedWrite) -> Self {
        Self::with_churn(repeated, 0.0)
    }

    /// Series end, a share of them in a day.
    fn with_churn(repeated: RepeatedWrite, churn: f64) -> Self {
        let mut parameters = parameters();
        parameters.tables[0].series.churn = churn;
        let sensors = sensors::sensors(&parameters, 0, 7, TimeResolution::Milliseconds);
        Self {
            schema: Arc::new(sensors::schema(&parameters, 7)),
            sensors: Arc::new(sensors.expect("it fits")),
            copies: Copies {
                sent: repeated != RepeatedWrite::Refused,
                kept: repeated == RepeatedWrite::KeepsBoth,
            },
        }
    }

    fn writes(&self) -> Writes {
        let sensors = Arc::clone(&self.sensors);
        let part = WritersPart {
            name: "load".to_owned(),
            table: 0,
            clients: 1,
            batch: BATCH,
            readings: Some(2_400),
            ..WritersPart::default()
        };
        let order = Order::of_time(sensors.series());
        Writes::new(&part, vec![(sensors, self.copies)], (0..2_400, order), Batches(vec![BATCH]), false)
    }

    /// What a database holds after so many operations.
    fn reference(&self, operations: u64, repeated: RepeatedWrite) -> Reference {
        let mut reference = Reference::new(Arc::clone(&self.schema)).with_repeated_write(repeated);
        let (writes, mut slot) = (self.writes(), Slot::new(&self.schema));
        for index in 0..operations {
            writes.fill(index, u64::MAX, &mut slot);
            reference.add(slot.batch().expect("it writes"));
        }
        reference.prepare();
        reference
    }

    fn questions(&self, part: &QueryPart, number: u64) -> Questions {
        let answers = Answers::new(Arc::clone(&self.schema), 0, Arc::clone(&self.sensors), self.copies);
        let horizon = Horizon {
            first_ns: i64::MIN,
            turns_before: 0,
            batches: Batches(vec![BATCH]),
            order: Order::of_time(self.sensors.series()),
            turns_end: 2_400,
            turns_loaded: 2_400,
            lag_ticks: self.sensors.longest_delay(self.copies.sent),
        };
        Questions::new(part, number, 7, Arc::new(answers), horizon, 1_000)
    }
}

/// Series live so long that six new ones come in a hundred seconds.
const A_HUNDRED_SECONDS: f64 = 864.0;

/// In 400 seconds each of six places has four series and some a fifth; each has a sensor's name of its own, and the hall of its place.
#[test]
fn series_end_and_others_begin_under_new_names() {
    let place = Place::with_churn(RepeatedWrite::Replaces, A_HUNDRED_SECONDS);
    let series = &place.schema.tables[0].series;
    let [sensor, hall] = [0, 1].map(|tag| move |one: u32| series.columns()[tag].text(one));
    let names: std::collections::BTreeSet<_> = (0..series.len()).map(sensor).collect();
    assert_eq!((series.len(), names.len()), (6 + 23, 29));
    assert!((6..29).all(|one| hall(one) == hall(one % 6)));
    let (writes, mut slot) = (place.writes(), Slot::new(&place.schema));
    let mut sent = vec![0; 29];
    for index in 0..writes.len() {
        writes.fill(index, u64::MAX, &mut slot);
        let batch = slot.batch().expect("it writes");
        for (&one, &time_ns) in batch.series.iter().zip(&batch.times_ns) {
            let life = place.sensors.churn.life(one);
            assert!(time_ns >= place.sensors.boundary_ns(life.start), "{one} had not begun");
            assert!(time_ns < place.sensors.boundary_ns(life.end.min(500)), "{one} had ended");
            sent[one as usize] += 1;
        }
    }
    assert!(sent[..24].iter().all(|&sent| sent > 0), "{sent:?}");
    // One that has ended is asked about, and not where the latest is meant.
    let ended = |when: WhenPart| {
        let mut part = query(QueryKind::LastValue);
        (part.when, part.span_ns) = (when, None);
        let questions = place.questions(&part, 0);
        let mut slot = Slot::new(&place.schema);
        let drawn = (0..200).map(|index| {
            questions.fill(index, u64::MAX, &mut slot);
            let Selection::One(one) = slot.query().series else { panic!("one series is drawn") };
            place.sensors.churn.life(one).end < 394
        });
        drawn.filter(|ended| *ended).count()
    };
    assert_eq!(ended(WhenPart::Latest), 0);
    assert!(ended(WhenPart::Anywhere) > 100);
}

/// Whatever a database holds beyond the watermark, the answer is the same, and the one that is expected.
#[test]
fn answers_are_the_reference_s_at_every_watermark() {
    for (repeated, churn) in [
        (RepeatedWrite::Replaces, 0.0),
        (RepeatedWrite::KeepsBoth, 0.0),
        (RepeatedWrite::Refused, 0.0),
        (RepeatedWrite::Replaces, A_HUNDRED_SECONDS),
        (RepeatedWrite::KeepsBoth, A_HUNDRED_SECONDS),
    ] {
        let place = Place::with_churn(repeated, churn);
        let whole = place.reference(place.writes().len(), repeated);
        for watermark in [30, 101, 200] {
            let partial = place.reference(watermark, repeated);
            for (number, part) in queries().iter().enumerate() {
                let questions = place.questions(part, number as u64);
                assert!(questions.least_watermark() <= watermark);
                let mut slot = Slot::new(&place.schema);
                for index in 0..40 {
                    questions.fill(index, watermark, &mut slot);
                    let query = slot.query();
                    let expected = questions.expected(index, query).expect("it is known");
                    for reference in [&partial, &whole] {
                        let difference = reference.answer(query).disagreement(&expected, query);
                        assert_eq!(difference, None, "{repeated:?}, {watermark}: {query:?}");
                    }
                }
            }
        }
    }
}

#[test]
fn questions_reach_the_latest_data_and_are_not_all_the_same() {
    let place = Place::new(RepeatedWrite::Replaces);
    let mut part = query(QueryKind::Count);
    part.when = WhenPart::Latest;
    let questions = place.questions(&part, 0);
    let mut slot = Slot::new(&place.schema);
    questions.fill(0, 200, &mut slot);
    let end_ns = slot.query().range.end_ns;
    // 1,800 turns are 300 ticks, of which the last six may still be on the way.
    assert_eq!(end_ns, place.sensors.boundary_ns(294));
    let questions = place.questions(&query(QueryKind::Point), 1);
    let mut seen = std::collections::BTreeSet::new();
    for index in 0..50 {
        questions.fill(index, u64::MAX, &mut slot);
        seen.insert(slot.query().range.start_ns);
    }
    assert!(seen.len() > 45, "{}", seen.len());
}

#[test]
fn what_is_kept_of_what_is_sent_is_what_a_database_has() {
    for repeated in [RepeatedWrite::Replaces, RepeatedWrite::KeepsBoth] {
        let place = Place::new(repeated);
        let (writes, mut slot) = (place.writes(), Slot::new(&place.schema));
        let mut kept = Reference::new(Arc::clone(&place.schema));
        let mut sent = 0;
        for index in 0..writes.len() {
            writes.fill(index, u64::MAX, &mut slot);
            sent += slot.batch().map_or(0, Batch::len);
            writes.fill_kept(index, &mut slot);
            kept.add(slot.batch().expect("it writes"));
        }
        kept.prepare();
        let stored = place.reference(writes.len(), repeated).census();
        if repeated == RepeatedWrite::KeepsBoth {
            assert_eq!(stored, kept.census());
        } else {
            assert_eq!(stored, kept.census());
            assert!(sent as u64 > stored.readings());
        }
    }
}
