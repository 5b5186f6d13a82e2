//! Questions and answers against readings that are looked through one by one; parameters.

use super::factory::IotPlatformWorkload;
use super::parameters::Parameters;
use super::query::PlatformQuery;
use super::questions::{Questions, Subjects};
use super::writes::{BatchWrites, MessageWrites, Written};
use sensormark_data::iot_platform::{DAY_NS, HOUR_NS, Homes, START_NS, schema};
use sensormark_engine::adjust::adjust_values;
use sensormark_engine::operations::{Operations, Slot};
use sensormark_engine::scale::Scale;
use sensormark_engine::trial::WorkloadFactory;
use sensormark_store::{Answer, Ask, Batch, FieldType, Group, Query, Selection, Value};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

const DAYS: u32 = 9;

fn subjects(homes: u32, batch: u64) -> Subjects {
    let homes = Arc::new(Homes::new(7, homes));
    Subjects {
        schema: Arc::new(schema(homes.homes)),
        load: Arc::new(BatchWrites::new(Arc::clone(&homes), 0..u64::from(DAYS) * 24, batch)),
        homes,
        seed: 3,
        split: Parameters::of(Scale::Quick).split(),
        points: 50,
    }
}

/// Everything that the load writes, by its operations.
fn written(subjects: &Subjects) -> Batch {
    let mut all = Batch::new(0, &subjects.schema.tables[0]);
    let mut slot = Slot::new(&subjects.schema);
    for index in 0..subjects.load.len() {
        subjects.load.fill(index, u64::MAX, &mut slot);
        let batch = slot.batch().expect("a write");
        for row in 0..batch.len() {
            all.push_row(batch, row);
        }
    }
    all
}

fn asked(questions: &Questions, schema: &sensormark_store::Schema, watermark: u64) -> Vec<Query> {
    let mut slot = Slot::new(schema);
    let question = |index| {
        questions.fill(index, watermark, &mut slot);
        slot.query().clone()
    };
    (0..questions.len()).map(question).collect()
}

/// The rows in question, by looking at every one.
fn rows(all: &Batch, query: &Query, schema: &sensormark_store::Schema) -> Vec<usize> {
    let series = &schema.tables[0].series;
    let is_chosen = |number: u32| match &query.series {
        Selection::One(one) => *one == number,
        Selection::Tagged { tag, value } => series.columns()[*tag].text(number) == *value,
        _ => unreachable!("no question chooses so"),
    };
    let mut rows: Vec<usize> = (0..all.len())
        .filter(|&row| is_chosen(all.series[row]) && query.range.contains(all.times_ns[row]))
        .collect();
    rows.sort_by_key(|&row| (all.series[row], all.times_ns[row]));
    rows
}

#[test]
fn the_load_writes_everything_once_whatever_its_batches() {
    let small = written(&subjects(2, 600)).sorted();
    assert_eq!(small, written(&subjects(2, 100_000)).sorted());
    let homes = Homes::new(7, 2);
    let mut all = Batch::new(0, &schema(2).tables[0]);
    for home in 0..2 {
        homes.push_hours(home, 0..u64::from(DAYS) * 24, &(0..u32::MAX), &mut all);
    }
    assert_eq!(small, all.sorted());
}

#[test]
fn the_load_goes_on_where_the_one_before_ended() {
    let homes = Arc::new(Homes::new(7, 2));
    let (middle, end) = (3 * 24, u64::from(DAYS) * 24);
    let of = |hours| Arc::new(BatchWrites::new(Arc::clone(&homes), hours, 900));
    let load = of(middle..end);
    let first = Subjects { load: of(0..middle), ..subjects(2, 900) };
    let more = Subjects { load: Arc::clone(&load) as Arc<dyn Written>, ..subjects(2, 900) };
    let mut all = written(&first);
    let grown = written(&more);
    for row in 0..grown.len() {
        all.push_row(&grown, row);
    }
    let count = all.len() as f64;
    assert_eq!(all.sorted(), written(&subjects(2, 100_000)).sorted());
    assert_eq!(load.hours_before(load.len()), end);
    assert_eq!(more.load.end_ns(0), START_NS + 3 * DAY_NS);
    let stored = load.stored() as f64;
    assert!((stored / count - 1.0).abs() < 0.02, "{stored} told, {count} written");
    // Questions are about all of it, that of before too.
    let questions = Questions::new(&more, PlatformQuery::DailyMeans, 2, 60);
    assert_eq!(questions.least_watermark(), 0);
    let asked = asked(&questions, &more.schema, u64::MAX);
    assert!(asked.iter().any(|query| query.range.start_ns < START_NS + DAY_NS));
    assert!(asked.iter().any(|query| query.range.end_ns == START_NS + i64::from(DAYS) * DAY_NS));
}

#[test]
fn messages_are_the_first_of_the_load_in_the_order_of_time() {
    let subjects = subjects(2, 5_000);
    let messages = MessageWrites::new(Arc::clone(&subjects.homes), 0..1_500, 240);
    assert_eq!(messages.len(), 1_500);
    let mut slot = Slot::new(&subjects.schema);
    let mut keys = BTreeSet::new();
    let mut last = i64::MIN;
    for index in 0..messages.len() {
        messages.fill(index, u64::MAX, &mut slot);
        let batch = slot.batch().expect("a write");
        assert!((1..=4).contains(&batch.len()));
        assert!(batch.times_ns.iter().all(|&time| time == batch.times_ns[0]));
        assert!(last <= batch.times_ns[0]);
        last = batch.times_ns[0];
        for row in 0..batch.len() {
            assert!(keys.insert((batch.times_ns[row], batch.series[row])));
        }
    }
    let all = written(&subjects);
    let earlier: BTreeSet<(i64, u32)> = (0..all.len())
        .map(|row| (all.times_ns[row], all.series[row]))
        .filter(|(time, _)| *time < last)
        .collect();
    assert!(earlier.is_subset(&keys));
    let few = MessageWrites::new(Arc::clone(&subjects.homes), 0..1_000_000, 1);
    assert!((450..640).contains(&few.len()), "{}", few.len());
}

#[test]
fn what_is_newest_is_that_of_the_messages_that_have_come() {
    let loaded = subjects(2, 5_000);
    let (first, more) = (0..1_500, 1_500..2_100);
    let messages = |numbers| Arc::new(MessageWrites::new(Arc::clone(&loaded.homes), numbers, 240));
    let of = |load: Arc<MessageWrites>| Subjects { load, ..loaded.clone() };
    let before = written(&of(messages(first)));
    let live = of(messages(more));
    assert_eq!(live.load.len(), 600);
    let questions = Questions::new(&live, PlatformQuery::Latest, 1, 20);
    for watermark in [questions.least_watermark(), 250, 600, u64::MAX] {
        let (mut all, mut found) = (before.clone(), 0);
        let mut slot = Slot::new(&live.schema);
        for index in 0..watermark.min(600) {
            live.load.fill(index, u64::MAX, &mut slot);
            let batch = slot.batch().expect("a write");
            (0..batch.len()).for_each(|row| all.push_row(batch, row));
        }
        for (index, query) in asked(&questions, &live.schema, watermark).iter().enumerate() {
            let Some(Answer::Readings(got)) = questions.expected(index as u64, query) else {
                panic!("readings")
            };
            // In the order of time: the last one counts.
            let rows = rows(&all, query, &live.schema).into_iter();
            let latest: BTreeMap<u32, i64> = rows.map(|row| (all.series[row], all.times_ns[row])).collect();
            assert_eq!(latest, got.series.iter().copied().zip(got.times_ns).collect(), "{watermark}");
            found += latest.len();
        }
        assert!(found > 20, "{found}");
    }
}

#[test]
fn raw_values_are_those_that_were_written() {
    let subjects = subjects(2, 5_000);
    let all = written(&subjects);
    for query in [PlatformQuery::Raw, PlatformQuery::RawWithoutDays] {
        let questions = Questions::new(&subjects, query, 2, 12);
        for (index, query) in asked(&questions, &subjects.schema, u64::MAX).iter().enumerate() {
            let Some(Answer::Readings(got)) = questions.expected(index as u64, query) else {
                panic!("readings")
            };
            let rows = rows(&all, query, &subjects.schema);
            assert!(rows.len() > 170, "a reading a quarter of an hour");
            assert_eq!(got.len(), rows.len());
            for (place, row) in rows.into_iter().enumerate() {
                assert_eq!(got.times_ns[place], all.times_ns[row]);
                assert_eq!(got.columns[2].value(place), all.columns[2].value(row));
                assert_eq!(got.columns[1].value(place), Value::Null);
            }
        }
    }
}

/// The mean of each key's temperatures, by looking at every row.
fn means<K: Ord>(all: &Batch, rows: &[usize], field: usize, key: impl Fn(i64) -> K) -> BTreeMap<K, f64> {
    let mut sums: BTreeMap<K, (f64, f64)> = BTreeMap::new();
    for &row in rows {
        let sum = sums.entry(key(all.times_ns[row])).or_default();
        sum.0 += all.columns[field].number(row).expect("a number");
        sum.1 += 1.0;
    }
    let mean = |(key, (sum, count))| (key, sum / count);
    sums.into_iter().map(mean).collect()
}

fn mean_of(group: &Group) -> f64 {
    match group.values[..] {
        [Value::F64(mean)] => mean,
        _ => panic!("{group:?}"),
    }
}

#[test]
fn means_are_those_of_what_was_written_from_sums_too() {
    let subjects = subjects(1, 5_000);
    let all = written(&subjects);
    let split = subjects.split;
    for query in PlatformQuery::ALL {
        let questions = Questions::new(&subjects, query, 3, 6);
        for (index, question) in asked(&questions, &subjects.schema, u64::MAX).iter().enumerate() {
            let Ask::Aggregate { grouping, from_sums, .. } = &question.ask else {
                continue;
            };
            assert_eq!(*from_sums, query.from_sums());
            if query == PlatformQuery::Statistics {
                continue;
            }
            let Some(Answer::Groups(got)) = questions.expected(index as u64, question) else {
                panic!("groups")
            };
            let rows = rows(&all, question, &subjects.schema);
            let Selection::One(series) = question.series else { panic!("one series") };
            let field = if subjects.homes.kind(series) == FieldType::F64 { 2 } else { 1 };
            let wanted = means(&all, &rows, field, |time| {
                let window = grouping.window.map(|window| window.start_of(time));
                let night = grouping.by_day_part.map(|_| !split.is_day(time));
                (window, night)
            });
            assert_eq!(got.len(), wanted.len(), "{query:?}");
            for (group, ((window, night), mean)) in got.iter().zip(wanted) {
                assert_eq!(group.window_start_ns, window);
                assert_eq!(group.day, night.map(|night| !night));
                assert!((mean_of(group) - mean).abs() < 1e-9 * mean.abs().max(1.0));
            }
            let groups = match query {
                PlatformQuery::HourlyMeans => 60..=72,
                PlatformQuery::DailyMeans | PlatformQuery::DailyMeansFromSums => 3..=3,
                PlatformQuery::DayAndNight | PlatformQuery::DayAndNightFromSums => 2..=2,
                PlatformQuery::Chart => 5..=50,
                _ => 1..=1,
            };
            assert!(groups.contains(&got.len()), "{query:?}: {}", got.len());
        }
    }
}

#[test]
fn statistics_are_those_of_what_was_written() {
    let subjects = subjects(2, 5_000);
    let all = written(&subjects);
    let questions = Questions::new(&subjects, PlatformQuery::Statistics, 1, 24);
    let mut devices = BTreeSet::new();
    for (index, query) in asked(&questions, &subjects.schema, u64::MAX).iter().enumerate() {
        assert_eq!(query.range.end_ns, START_NS + i64::from(DAYS) * DAY_NS);
        let Some(Answer::Groups(got)) = questions.expected(index as u64, query) else { panic!("groups") };
        let rows = rows(&all, query, &subjects.schema);
        let series: BTreeSet<u32> = rows.iter().map(|&row| all.series[row]).collect();
        assert_eq!(got.iter().filter_map(|group| group.series).collect::<BTreeSet<_>>(), series);
        devices.insert(series.first().copied());
        for group in got {
            let number = group.series.expect("by series");
            let own: Vec<usize> = rows.iter().copied().filter(|&row| all.series[row] == number).collect();
            statistics_of(&all, &own, subjects.homes.kind(number), query.range.end_ns, &group);
        }
    }
    assert_eq!(devices.len(), 24, "each device has its turn");
}

/// Compares the statistics of one property: integers 0 to 3, floats 4 to 7, truth values 8 to 10, texts 11 and 12.
fn statistics_of(all: &Batch, rows: &[usize], kind: FieldType, end_ns: i64, group: &Group) {
    let count = |place: usize| group.values[place] == Value::I64(rows.len() as i64);
    let last = *rows.last().expect("readings");
    match kind {
        FieldType::I64 | FieldType::F64 => {
            let (first, field) = if kind == FieldType::I64 { (0, 1) } else { (4, 2) };
            let numbers: Vec<f64> = rows.iter().map(|&row| all.columns[field].number(row).unwrap()).collect();
            let number = |place: usize| match &group.values[place] {
                Value::I64(value) => *value as f64,
                Value::F64(value) => *value,
                other => panic!("{other:?}"),
            };
            assert!(count(first));
            let least = numbers.iter().copied().fold(f64::MAX, f64::min);
            let most = numbers.iter().copied().fold(f64::MIN, f64::max);
            assert_eq!((number(first + 1), number(first + 2)), (least, most));
            let mean = numbers.iter().sum::<f64>() / numbers.len() as f64;
            assert!((number(first + 3) - mean).abs() < 1e-9 * mean.abs().max(1.0));
        }
        FieldType::Bool => {
            let (mut on, mut whole) = (0.0, 0.0);
            for (place, &row) in rows.iter().enumerate() {
                let until = rows.get(place + 1).map_or(end_ns, |&next| all.times_ns[next]);
                let held = (until - all.times_ns[row]) as f64;
                whole += held;
                if all.columns[0].value(row) == Value::Bool(true) {
                    on += held;
                }
            }
            assert!(count(8));
            assert_eq!(group.values[9], all.columns[0].value(last));
            let Value::F64(share) = group.values[10] else { panic!("a share") };
            assert!((share - on / whole).abs() < 1e-9);
        }
        FieldType::Text | FieldType::U16 => {
            let mut counts: BTreeMap<String, usize> = BTreeMap::new();
            for &row in rows {
                *counts.entry(all.columns[3].value(row).to_string()).or_default() += 1;
            }
            let most = counts.values().copied().max();
            let best = counts.iter().find(|(_, count)| Some(**count) == most);
            assert!(count(11));
            assert_eq!(Some(group.values[12].to_string()), best.map(|(text, _)| text.clone()));
        }
    }
}

#[test]
fn questions_keep_below_what_was_loaded_and_come_again_the_same() {
    let subjects = subjects(2, 5_000);
    for query in PlatformQuery::ALL {
        let questions = Questions::new(&subjects, query, 2, 30);
        let least = questions.least_watermark();
        assert!(least > 0 && least <= subjects.load.len());
        for watermark in least..=subjects.load.len() {
            let end_ns = subjects.load.end_ns(watermark);
            for query in asked(&questions, &subjects.schema, watermark) {
                assert!(query.range.start_ns >= START_NS && query.range.end_ns <= end_ns);
                assert_eq!(query.range.length_ns(), 2 * DAY_NS);
            }
        }
        let all = asked(&questions, &subjects.schema, u64::MAX);
        assert_eq!(all, asked(&questions, &subjects.schema, subjects.load.len()));
        let steps = all.iter().map(|one| (one.range.start_ns - START_NS) % query.step_ns());
        assert!(steps.into_iter().all(|rest| rest == 0));
    }
    let starts = |query| -> Vec<i64> {
        let questions = Questions::new(&subjects, query, 2, 30);
        let all = asked(&questions, &subjects.schema, u64::MAX);
        all.iter().map(|one| one.range.start_ns).collect()
    };
    let raw = starts(PlatformQuery::Raw);
    assert_eq!(raw, starts(PlatformQuery::RawWithoutDays));
    assert!(raw.iter().any(|start| (start - START_NS) % DAY_NS == 5 * HOUR_NS || start % DAY_NS != 0));
    assert_eq!(starts(PlatformQuery::DailyMeans), starts(PlatformQuery::DailyMeansFromSums));
    assert!(raw.iter().collect::<BTreeSet<_>>().len() > 15);
}

fn set(settings: &[&str]) -> Result<Parameters, String> {
    let settings: Vec<String> = settings.iter().map(|&one| one.to_owned()).collect();
    let preset = IotPlatformWorkload.preset(Scale::Quick).expect("numbers");
    let numbers = adjust_values(preset, &settings, IotPlatformWorkload.parameters())?;
    IotPlatformWorkload.check(&numbers)?;
    Parameters::read(&numbers)
}

#[test]
fn every_number_is_documented_and_every_scale_makes_sense() {
    for scale in Scale::ALL {
        let preset = IotPlatformWorkload.preset(scale).expect("numbers");
        IotPlatformWorkload.check(&preset).expect("sense");
        let names: BTreeSet<&str> =
            preset.as_object().expect("an object").keys().map(String::as_str).collect();
        let documented: BTreeSet<&str> =
            IotPlatformWorkload.parameters().iter().map(|one| one.name).collect();
        assert_eq!(names, documented);
    }
    assert_eq!(IotPlatformWorkload.repetitions(&IotPlatformWorkload.preset(Scale::Standard).unwrap()), 5);
}

#[test]
fn lists_are_set_as_people_write_them_and_wrong_numbers_are_refused() {
    let numbers = set(&["spans=1,7", "layouts=flat", "queries=chart,daily"]).expect("sense");
    assert_eq!((numbers.spans, numbers.layouts), (vec![1, 7], vec!["flat".to_owned()]));
    assert_eq!(set(&["spans=[2]"]).unwrap().spans, [2]);
    assert_eq!(set(&["spans=3"]).unwrap().spans, [3]);
    assert!(set(&["variants="]).unwrap().variants.is_empty());
    for (settings, words) in [
        (vec!["spans=1,90"], "spans: 90 days are more than there is data of; set days=90 or more"),
        (vec!["days=5"], "spans: 7 days"),
        (vec!["spans=7,1"], "ascending"),
        (vec!["spans=week"], "--set spans=week: \"week\" in spans"),
        (vec!["layouts=bucketd"], "did you mean bucketed?"),
        (vec!["queries=dayly"], "did you mean daily?"),
        (vec!["queries=raw,raw"], "named twice"),
        (vec!["variants=no-index"], "like flat-no-index"),
        (vec!["day_begins=22"], "day begins before it ends"),
        (vec!["homes=0"], "homes"),
        (vec!["questions=0"], "questions is 0; it must be 1 to"),
        (vec!["dayz=3"], "did you mean days?"),
    ] {
        let message = set(&settings).expect_err("refused");
        assert!(message.contains(words), "{settings:?}: {message}");
    }
}
