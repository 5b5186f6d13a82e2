//! The claims of the iot-platform study, judged by what was measured here.
//!
//! A claim of a factor ("halves", "3.5 times") holds where at least three quarters of the factor are reached.

use super::measured::{Measured, ratios, times};
use super::published::{INFLUXDB, MONGODB, YEAR};
use crate::report::claims::{Claim, is_less, mean, shown, table};
use crate::report::field::Arm;
use crate::report::number::significant;
use crate::report::tables::Section;
use crate::workload::iot_platform::PlatformQuery as Query;

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
    let claims = [
        day_filter(measured),
        index(measured),
        without_sums(measured),
        sums_match(measured),
        windows(measured),
        tenths(measured),
        faster_ranges(measured),
    ];
    let mut table = table(measured.field, &claims);
    table.note("A factor holds where three quarters of it are reached; \"as fast\" is up to a quarter slower. MongoDB without an index, as the study has it, where it is not named.");
    section.table(table);
    section
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
    let found = measured.first("MongoDB", &MONGODB);
    if found.is_none() {
        claim.missing("MongoDB bucketed");
    }
    found
}

fn influxdb<'a>(measured: &Measured<'a>, claim: &mut Claim) -> Option<&'a Arm> {
    let found = measured.first("InfluxDB", &INFLUXDB);
    if found.is_none() {
        claim.missing("InfluxDB flat");
    }
    found
}

fn day_filter(measured: &Measured<'_>) -> Claim {
    let mut claim =
        Claim::new("the coarse filter by day halves the time of a day's raw values (MongoDB)");
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
    claim.aside(others.join(", "));
    claim
}

fn index(measured: &Measured<'_>) -> Claim {
    let mut claim = Claim::new(
        "the index makes MongoDB 2 to 3 times as fast, less as the span grows where nothing is pre-computed",
    );
    let (with, without) = (
        measured.arm("MongoDB", "bucketed"),
        measured.arm("MongoDB", "bucketed-no-index"),
    );
    let (Some(with), Some(without)) = (with, without) else {
        claim.missing("MongoDB bucketed with and without the index");
        return claim;
    };
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
    claim
}

fn sums_match(measured: &Measured<'_>) -> Claim {
    let mut claim = Claim::new(
        "with the index, MongoDB's daily means from pre-computed sums are as fast as InfluxDB's",
    );
    let mongodb = measured.arm("MongoDB", "bucketed");
    if mongodb.is_none() {
        claim.missing("MongoDB bucketed");
    }
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
    claim.aside(format!("InfluxDB: {}", influxdb.label));
    claim
}

fn windows(measured: &Measured<'_>) -> Claim {
    let mut claim = Claim::new(
        "windows make a year's chart 3.5 times (1 h) and 6 times (1 day) cheaper (InfluxDB)",
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
    } else {
        claim.missing("InfluxDB over a year");
        let texts = parts.map(|(_, text)| text);
        claim.aside(format!("over {longest} d {}", texts.join(", ")));
    }
    claim
}

fn tenths(measured: &Measured<'_>) -> Claim {
    let mut claim = Claim::new("MongoDB still answers about a year in tenths of a second");
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
            // The limit does not vary, so that there is nothing to pair: every repetition has to keep it.
            let kept = own.iter().flatten().filter(|ms| **ms < TENTHS_MS).count();
            let held = match kept {
                0 => Some(false),
                all if all == own.iter().flatten().count() => Some(true),
                _ => None,
            };
            claim.part(held, format!("{words} {} ms", shown(&own)));
        }
    }
    if claim.is_open() {
        claim.missing("MongoDB over a year");
    }
    claim
}

fn faster_ranges(measured: &Measured<'_>) -> Claim {
    let mut claim = Claim::new("InfluxDB gives raw values about 50 % faster than MongoDB");
    let (mongodb, influxdb) = (
        mongodb(measured, &mut claim),
        influxdb(measured, &mut claim),
    );
    let (Some(mongodb), Some(influxdb)) = (mongodb, influxdb) else {
        return claim;
    };
    for days in measured.spans(&[Query::Raw]) {
        let (slow, fast) = (
            measured.ms(mongodb, Query::Raw, days),
            measured.ms(influxdb, Query::Raw, days),
        );
        if has(&slow) && has(&fast) {
            let (held, _) = factor(&slow, &fast, 1.5);
            let ratio = mean(&ratios(&slow, &fast)).unwrap_or(0.0);
            claim.part(held, format!("{days} d {} times", significant(ratio, 3)));
        }
    }
    if claim.is_open() {
        claim.missing("raw values of both");
    }
    claim.aside(format!("InfluxDB: {}", influxdb.label));
    claim
}
