//! The claims of the iot-platform study, judged by what was measured here.
//!
//! A claim of a factor ("halves", "3.5 times") holds where at least three quarters of the factor are reached, and each claim says so.

use super::measured::Measured;
use super::published::{INDEXED, INFLUXDB, MONGODB, YEAR};
use crate::report::claims::{
    Claim, Sample, is_less, is_within, least, ratios, shown, table, times,
};
use crate::report::field::Arm;
use crate::report::number::significant;
use crate::report::tables::Section;
use crate::workload::iot_platform::PlatformQuery as Query;
use sensormark_store::Durability;

/// So much of a claimed factor has to be reached.
const ENOUGH: f64 = 0.75;
/// What counts as as fast: no more than so many times the time.
const AS_FAST: f64 = 1.25;
/// Tenths of a second, in ms: under a second.
const TENTHS_MS: f64 = 1_000.0;

/// The section.
pub fn section(measured: &Measured<'_>) -> Section {
    let mut section = Section::new("claims", "The study's claims");
    if measured.first("MongoDB", &MONGODB).is_none()
        && measured.first("InfluxDB", &INFLUXDB).is_none()
    {
        section.paragraph(
            "Neither MongoDB with documents of a day nor InfluxDB has a valid trial here, so none of the study's claims can be judged.",
        );
        return section;
    }
    let mut claims = vec![
        day_filter(measured),
        index(measured),
        without_sums(measured),
        sums_match(measured),
        windows(measured),
        tenths(measured),
        faster_ranges(measured),
    ];
    claims.extend(faster_than_best(measured));
    let mut table = table(measured.field, &claims);
    table.note("MongoDB without an index, as the study has it, where it is not named.");
    section.table(table);
    section
}

/// What it takes for a claimed factor to hold.
fn enough(claimed: f64) -> String {
    format!(
        "{} times or more (three quarters of {claimed})",
        significant(claimed * ENOUGH, 3)
    )
}

/// Whether the slow one takes about this many times as long as the fast one.
fn factor(slow: &[Option<f64>], fast: &[Option<f64>], factor: f64) -> (Option<bool>, String) {
    let held = is_less(&times(fast, factor * ENOUGH), slow);
    let ratio = shown(&ratios(slow, fast));
    (held, format!("{ratio} times"))
}

fn has(values: &[Option<f64>]) -> bool {
    values.iter().any(Option::is_some)
}

fn milliseconds(days: u64, one: &[Option<f64>], other: &[Option<f64>]) -> String {
    format!("{days} d: {} against {} ms", shown(one), shown(other))
}

fn mongodb<'a>(measured: &Measured<'a>, claim: &mut Claim) -> Option<&'a Arm> {
    noted(
        claim,
        measured.first("MongoDB", &MONGODB),
        "MongoDB bucketed",
    )
}

fn influxdb<'a>(measured: &Measured<'a>, claim: &mut Claim) -> Option<&'a Arm> {
    noted(
        claim,
        measured.first("InfluxDB", &INFLUXDB),
        "InfluxDB flat",
    )
}

/// Notes that the claim is about this one, or that it is missing.
fn noted<'a>(claim: &mut Claim, found: Option<&'a Arm>, name: &str) -> Option<&'a Arm> {
    match found {
        Some(arm) => claim.about(arm),
        None => claim.missing(name),
    }
    found
}

/// Who was compared, by their names here.
fn named(arms: &[&Arm]) -> String {
    let labels: Vec<&str> = arms.iter().map(|arm| arm.label.as_str()).collect();
    format!("here {}", labels.join(" and "))
}

fn day_filter(measured: &Measured<'_>) -> Claim {
    let mut claim = Claim::new(
        "the coarse filter by day halves the time of a day's raw values (MongoDB)",
        enough(2.0),
    );
    let Some(arm) = mongodb(measured, &mut claim) else {
        return claim;
    };
    let of = |query, days| measured.ms(arm, query, days);
    let mut others = Vec::new();
    for days in measured.spans(&[Query::RawWithoutDays]) {
        let (without, with) = (of(Query::RawWithoutDays, days), of(Query::Raw, days));
        let (held, text) = factor(&without, &with, 2.0);
        if days == 1 {
            let words = milliseconds(days, &without, &with);
            claim.part(held, format!("{text} ({words})"));
        } else if has(&without) {
            others.push(format!("over {days} d {text}"));
        }
    }
    if claim.is_open() {
        claim.missing("MongoDB bucketed over a day, with and without the filter");
    }
    others.push(named(&[arm]));
    claim.aside(others.join(", "));
    claim
}

fn index(measured: &Measured<'_>) -> Claim {
    let mut claim = Claim::new(
        "the index makes MongoDB 2 to 3 times as fast, less as the span grows where nothing is pre-computed",
        format!(
            "from sums {}; from raw values less over the longest span than over the shortest",
            enough(2.0)
        ),
    );
    let (with, without) = (
        measured.first("MongoDB", &INDEXED),
        measured.first("MongoDB", &MONGODB[..2]),
    );
    let (Some(with), Some(without)) = (with, without) else {
        claim.missing("MongoDB bucketed with and without the index");
        return claim;
    };
    claim.about(with);
    claim.about(without);
    let ratio = |query, days| {
        let of = |arm| measured.ms(arm, query, days);
        (of(without), of(with))
    };
    for days in measured.spans(&[Query::DailyMeansFromSums]) {
        let (slow, fast) = ratio(Query::DailyMeansFromSums, days);
        let (held, text) = factor(&slow, &fast, 2.0);
        if has(&slow) && has(&fast) {
            claim.part(held, format!("daily means from sums, {days} d: {text}"));
        }
    }
    let spans = measured.spans(&[Query::DailyMeans]);
    if let [first, .., last] = spans[..] {
        let gain = |days| {
            let (slow, fast) = ratio(Query::DailyMeans, days);
            ratios(&slow, &fast)
        };
        let (early, late) = (gain(first), gain(last));
        if has(&early) && has(&late) {
            claim.part(
                is_less(&late, &early),
                format!(
                    "from raw values {} times over {first} d, {} over {last} d",
                    shown(&early),
                    shown(&late)
                ),
            );
        }
    }
    if claim.is_open() {
        claim.missing("MongoDB's daily means");
    }
    claim
}

fn without_sums(measured: &Measured<'_>) -> Claim {
    let mut claim = Claim::new(
        "from raw values the cost of daily means grows with the values read, from sums very slowly (MongoDB)",
        "from raw values it grows more than from sums",
    );
    let Some(arm) = mongodb(measured, &mut claim) else {
        return claim;
    };
    let spans = measured.spans(&[Query::DailyMeansFromSums]);
    if let [first, .., last] = spans[..] {
        let growth = |query| {
            let of = |days| measured.ms(arm, query, days);
            ratios(&of(last), &of(first))
        };
        let (raw, sums) = (growth(Query::DailyMeans), growth(Query::DailyMeansFromSums));
        if has(&raw) && has(&sums) {
            claim.part(
                is_less(&sums, &raw),
                format!(
                    "from {first} d to {last} d: {} times the time from raw values, {} times from sums",
                    shown(&raw),
                    shown(&sums)
                ),
            );
        }
    }
    if claim.is_open() {
        claim.missing("MongoDB's daily means over several spans");
    }
    claim.aside(named(&[arm]));
    claim
}

fn sums_match(measured: &Measured<'_>) -> Claim {
    let mut claim = Claim::new(
        "with the index, MongoDB's daily means from pre-computed sums are as fast as InfluxDB's",
        format!("{AS_FAST} times InfluxDB's time or less"),
    );
    let mongodb = measured.first("MongoDB", &INDEXED);
    let mongodb = noted(&mut claim, mongodb, "MongoDB bucketed");
    let (Some(mongodb), Some(influxdb)) = (mongodb, influxdb(measured, &mut claim)) else {
        return claim;
    };
    for days in measured.spans(&[Query::DailyMeansFromSums]) {
        let sums = measured.ms(mongodb, Query::DailyMeansFromSums, days);
        let other = measured.ms(influxdb, Query::DailyMeans, days);
        if has(&sums) && has(&other) {
            let held = is_less(&sums, &times(&other, AS_FAST));
            claim.part(held, milliseconds(days, &sums, &other));
        }
    }
    if claim.is_open() {
        claim.missing("daily means of both");
    }
    claim.aside(named(&[mongodb, influxdb]));
    claim
}

fn windows(measured: &Measured<'_>) -> Claim {
    let mut claim = Claim::new(
        "windows make a year's chart 3.5 times (1 h) and 6 times (1 day) cheaper (InfluxDB)",
        format!("1 h {}, 1 day {}", enough(3.5), enough(6.0)),
    );
    let Some(arm) = influxdb(measured, &mut claim) else {
        return claim;
    };
    let spans = measured.spans(&[Query::Raw]);
    let Some(&longest) = spans.last() else {
        claim.missing("InfluxDB over a year");
        return claim;
    };
    let of = |query| measured.ms(arm, query, longest);
    let parts = [
        ("1 h", Query::HourlyMeans, 3.5),
        ("1 day", Query::DailyMeans, 6.0),
    ]
    .map(|(window, query, claimed)| {
        let (held, text) = factor(&of(Query::Raw), &of(query), claimed);
        (held, format!("{window} {text}"))
    });
    if longest == YEAR {
        for (held, text) in parts {
            claim.part(held, text);
        }
        claim.aside(named(&[arm]));
    } else {
        claim.missing("InfluxDB over a year");
        let texts = parts.map(|(_, text)| text);
        claim.aside(format!("over {longest} d {}", texts.join(", ")));
    }
    claim
}

fn tenths(measured: &Measured<'_>) -> Claim {
    let mut claim = Claim::new(
        "MongoDB still answers about a year in tenths of a second",
        format!("under {TENTHS_MS} ms"),
    );
    let Some(arm) = mongodb(measured, &mut claim) else {
        return claim;
    };
    for (query, words) in [
        (Query::Raw, "raw values"),
        (Query::DailyMeans, "daily means"),
        (Query::DailyMeansFromSums, "from sums"),
    ] {
        let own = measured.ms(arm, query, YEAR);
        if has(&own) {
            let held = is_within(&own, 0.0, TENTHS_MS);
            claim.part(held, format!("{words} {} ms", shown(&own)));
        }
    }
    if claim.is_open() {
        claim.missing("MongoDB over a year");
    }
    claim.aside(named(&[arm]));
    claim
}

fn faster_ranges(measured: &Measured<'_>) -> Claim {
    let mut claim = Claim::new(
        "InfluxDB gives raw values about 50 % faster than MongoDB",
        enough(1.5),
    );
    let (mongodb, influxdb) = (
        mongodb(measured, &mut claim),
        influxdb(measured, &mut claim),
    );
    let (Some(mongodb), Some(influxdb)) = (mongodb, influxdb) else {
        return claim;
    };
    for days in measured.spans(&[Query::Raw]) {
        let slow = Sample::new(mongodb, measured.ms(mongodb, Query::Raw, days));
        let fast = Sample::new(influxdb, measured.ms(influxdb, Query::Raw, days));
        if has(&slow.values) && has(&fast.values) {
            claim.over(&slow, 1.5 * ENOUGH, &fast, &format!("ms over {days} d"));
        }
    }
    if claim.is_open() {
        claim.missing("raw values of both");
    }
    claim
}

/// The same against MongoDB's layout that is the fastest here, span by span; none where it was measured with one.
fn faster_than_best(measured: &Measured<'_>) -> Option<Claim> {
    let arms: Vec<&Arm> = measured
        .arms()
        .filter(|arm| {
            arm.implementation.title == "MongoDB"
                && arm.implementation.durability == Durability::Default
        })
        .collect();
    let influxdb = measured.first("InfluxDB", &INFLUXDB)?;
    let mut claim = Claim::new(
        "InfluxDB gives raw values faster than MongoDB's best layout",
        "at all (not a claim of the study)",
    );
    for days in measured.spans(&[Query::Raw]) {
        let of = |arm: &Arm| measured.ms(arm, Query::Raw, days);
        let fast = Sample::new(influxdb, of(influxdb));
        if let Some(best) = least(arms.iter().copied(), of)
            && has(&fast.values)
        {
            claim.over(&best, 1.0, &fast, &format!("ms over {days} d"));
        }
    }
    (arms.len() > 1 && !claim.is_open()).then_some(claim)
}
