//! The mixed phase of a workload file: writers and queries.

use super::disagreement::disagree;
use super::error::FileError;
use super::fields::Names;
use super::section::{At, Section};
use crate::own::parameters::{
    ByPart, FieldKind, FieldPart, MixedPart, OfPart, QueryKind, QueryPart, SeriesPart, TagPart, WhenPart,
    WritersPart,
};
use sensormark_data::nearest::unknown;
use sensormark_data::quantity::length_text;

/// What the file says besides the mixed phase.
pub struct Data<'d> {
    /// When readings are taken.
    pub series: &'d SeriesPart,
    /// The tags.
    pub tags: &'d [TagPart],
    /// The fields.
    pub fields: &'d [FieldPart],
}

const KINDS: [(&str, QueryKind); 10] = [
    ("point", QueryKind::Point),
    ("range", QueryKind::Range),
    ("last value", QueryKind::LastValue),
    ("matching", QueryKind::Matching),
    ("window mean", QueryKind::Mean),
    ("mean", QueryKind::Mean),
    ("minimum", QueryKind::Minimum),
    ("maximum", QueryKind::Maximum),
    ("sum", QueryKind::Sum),
    ("count", QueryKind::Count),
];

const QUERY_KEYS: [&str; 13] = [
    "name", "kind", "field", "fields", "of", "by", "span", "window", "when", "above", "below", "clients",
    "rate",
];

/// The most clients of anything.
pub const MOST_CLIENTS: u64 = 10_000;
/// The most windows of an answer.
const MOST_WINDOWS: i64 = 100_000;

/// The mixed phase; none where the file has none.
pub fn mixed(root: &Section<'_, '_>, data: &Data<'_>) -> Result<Option<MixedPart>, FileError> {
    let section = root.section("mixed", &["duration", "warm_up", "check_one_in"])?;
    let writers = root.section("writers", &["clients", "batch", "rate"])?;
    let queries = root.sections("queries", &QUERY_KEYS)?;
    let Some(section) = section else {
        return match writers.iter().chain(&queries).next() {
            None => Ok(None),
            Some(stray) => Err(root.error(
                stray.place(),
                "writers and queries need a [mixed] table that says how long: duration = \"30s\"",
            )),
        };
    };
    if writers.is_none() && queries.is_empty() {
        let message = "[mixed] needs [writers] or [[queries]]: nothing is measured in it";
        return Err(root.error(section.place(), message));
    }
    let duration = section.duration("duration")?;
    let duration = duration.ok_or_else(|| section.missing("duration", "\"30s\""))?;
    let warm_up = section.duration("warm_up")?;
    let writers = writers.map(|section| self::writers(&section, data)).transpose()?;
    let mut names = Names::default();
    let mut parts = Vec::new();
    for query in &queries {
        parts.push(self::query(query, data, &mut names)?);
    }
    Ok(Some(MixedPart {
        duration_ns: duration.value.unsigned_abs(),
        warm_up_ns: warm_up.map_or(0, |at| at.value.unsigned_abs()),
        check_one_in: section.whole("check_one_in", 1..=20)?.map_or(1, |at| at.value),
        writers,
        queries: parts,
    }))
}

/// Clients of anything; one where it is not said.
pub fn clients(section: &Section<'_, '_>) -> Result<u32, FileError> {
    let clients = section.whole("clients", 1..=MOST_CLIENTS)?;
    Ok(clients.map_or(1, |at| u32::try_from(at.value).unwrap_or(1)))
}

/// How many turns an operation writes. A batch so small that it would often be empty is refused.
pub fn batch(section: &Section<'_, '_>, series: &SeriesPart, otherwise: u64) -> Result<u64, FileError> {
    let Some(batch) = section.whole("batch", 1..=1_000_000)? else {
        return Ok(otherwise);
    };
    let absent = series.missing + series.late;
    let often = (1..=batch.value).try_fold(1.0_f64, |share, _| {
        let share = share * absent;
        (share > 1e-6).then_some(share)
    });
    if absent > 0.0 && often.is_some() {
        let message = format!(
            "with {:.1} % of the readings missing or late, batches of {} would often be empty; write more at once, or nothing missing and late",
            absent * 100.0,
            batch.value
        );
        return Err(section.error(&batch.place, message));
    }
    Ok(batch.value)
}

fn writers(section: &Section<'_, '_>, data: &Data<'_>) -> Result<WritersPart, FileError> {
    Ok(WritersPart {
        clients: clients(section)?,
        batch: batch(section, data.series, 100)?,
        rate: rate(section)?,
    })
}

/// A rate; none where it is not said.
fn rate(section: &Section<'_, '_>) -> Result<Option<f64>, FileError> {
    let Some(rate) = section.number("rate")? else {
        return Ok(None);
    };
    if !(0.001..=1e9).contains(&rate.value) {
        let message = "rate is how many a second, 0.001 to a thousand million; without it, clients go as fast as they can";
        return Err(section.error(&rate.place, message));
    }
    Ok(Some(rate.value))
}

fn query(section: &Section<'_, '_>, data: &Data<'_>, names: &mut Names) -> Result<QueryPart, FileError> {
    let name = section.text("name")?;
    let name = name.ok_or_else(|| section.missing("name", "\"dashboard\""))?;
    if ["load", "writers", ""].contains(&name.value.as_str()) || name.value.contains(" of ") {
        let message = format!("{:?} cannot be a query's name; take another", name.value);
        return Err(section.error(&name.place, message));
    }
    names.take(section, &name)?;
    let section = &section.called(&name.value);
    let kind_text = section.text("kind")?;
    let kind = section.word("kind", &KINDS)?.ok_or_else(|| section.missing("kind", "\"window mean\""))?;
    let (span_ns, window_ns) = lengths(section, &kind, data)?;
    if kind_text.is_some_and(|at| at.value == "window mean") && window_ns.is_none() {
        return Err(section.missing("window", "\"1m\""));
    }
    let (above, below) = thresholds(section, &kind)?;
    Ok(QueryPart {
        name: name.value,
        kind: kind.value,
        fields: chosen_fields(section, &kind, data)?,
        of: of(section, &kind, data)?,
        by: by(section, &kind, data)?,
        span_ns,
        window_ns,
        when: when(section)?,
        above,
        below,
        clients: clients(section)?,
        rate: rate(section)?,
    })
}

fn when(section: &Section<'_, '_>) -> Result<WhenPart, FileError> {
    let words = [("anywhere", WhenPart::Anywhere), ("latest", WhenPart::Latest)];
    let when = section.word("when", &words)?;
    Ok(when.map_or(WhenPart::Anywhere, |at| at.value))
}

impl QueryKind {
    /// Whether numbers are computed with.
    const fn needs_number(self) -> bool {
        matches!(self, Self::Matching | Self::Mean | Self::Minimum | Self::Maximum | Self::Sum)
    }

    /// Whether it is an aggregate, which may have windows and groups.
    pub const fn is_aggregate(self) -> bool {
        matches!(self, Self::Mean | Self::Minimum | Self::Maximum | Self::Sum | Self::Count)
    }
}

fn lengths(
    section: &Section<'_, '_>,
    kind: &At<QueryKind>,
    data: &Data<'_>,
) -> Result<(Option<i64>, Option<i64>), FileError> {
    let span = section.duration("span")?;
    let window = section.duration("window")?;
    match (&span, kind.value) {
        (Some(span), QueryKind::Point) => {
            return Err(disagree(
                section,
                ("span", &span.place),
                ("kind", &kind.place),
                "a point is one reading and has no span",
            ));
        }
        (None, QueryKind::Point | QueryKind::LastValue) => {}
        (None, _) => return Err(section.missing("span", "\"1h\"")),
        (Some(span), _) if span.value > data.series.duration_ns => {
            let message = format!(
                "span is {}, longer than the data: series.duration is {}",
                section.typed(&span.place),
                length_text(data.series.duration_ns)
            );
            return Err(section.error(&span.place, message));
        }
        _ => {}
    }
    if let Some(window) = &window {
        if !kind.value.is_aggregate() {
            return Err(disagree(
                section,
                ("window", &window.place),
                ("kind", &kind.place),
                "windows are for mean, minimum, maximum, sum and count",
            ));
        }
        let span_ns = span.as_ref().map_or(0, |at| at.value);
        if span_ns / window.value > MOST_WINDOWS {
            let message = format!(
                "window is {} and span is {}: that is {} windows, and {MOST_WINDOWS} are the most",
                section.typed(&window.place),
                length_text(span_ns),
                span_ns / window.value
            );
            return Err(section.error(&window.place, message));
        }
    }
    Ok((span.map(|at| at.value), window.map(|at| at.value)))
}

fn thresholds(
    section: &Section<'_, '_>,
    kind: &At<QueryKind>,
) -> Result<(Option<f64>, Option<f64>), FileError> {
    let (above, below) = (section.number("above")?, section.number("below")?);
    let matching = kind.value == QueryKind::Matching;
    let given = above.as_ref().map(|at| ("above", &at.place));
    let given = given.or(below.as_ref().map(|at| ("below", &at.place)));
    match (given, &below) {
        (Some(given), _) if !matching => {
            let why = "thresholds are for kind \"matching\"";
            return Err(disagree(section, given, ("kind", &kind.place), why));
        }
        (Some(("above", place)), Some(below)) => {
            let why = "give one of them";
            let below = ("below", &below.place);
            return Err(disagree(section, ("above", place), below, why));
        }
        (None, _) if matching => return Err(section.missing("above", "90")),
        _ => {}
    }
    Ok((above.map(|at| at.value), below.map(|at| at.value)))
}

/// The fields that are asked for: all of them for readings, where none is named; the only or first one that fits for aggregates.
fn chosen_fields(
    section: &Section<'_, '_>,
    kind: &At<QueryKind>,
    data: &Data<'_>,
) -> Result<Vec<String>, FileError> {
    let (kind, kind_place) = (kind.value, ("kind", &kind.place));
    let numeric = |field: &&FieldPart| {
        !kind.needs_number() || matches!(field.kind, FieldKind::Integer | FieldKind::Float)
    };
    let one = section.text("field")?;
    let many = section.texts("fields")?;
    let named: Vec<At<String>> = match (one, many) {
        (Some(one), None) => vec![one],
        (None, Some(many)) => many,
        (None, None) => Vec::new(),
        (Some(one), Some(_)) => {
            let message =
                format!("field is {:?}, and there is a list of fields too: give one of them", one.value);
            return Err(section.error(&one.place, message));
        }
    };
    let single = kind.needs_number() || kind.is_aggregate();
    if let Some(second) = named.get(1)
        && single
    {
        let why = "this kind of query is about one field";
        return Err(disagree(section, ("the second of fields", &second.place), kind_place, why));
    }
    for at in &named {
        let names = data.fields.iter().map(|field| field.name.clone());
        let field = data.fields.iter().find(|field| field.name == at.value);
        let field = field.ok_or_else(|| section.error(&at.place, unknown("field", &at.value, names)))?;
        if !numeric(&field) {
            let why = "this field is not a number, and the query needs one";
            return Err(disagree(section, ("field", &at.place), kind_place, why));
        }
    }
    if !named.is_empty() {
        return Ok(named.into_iter().map(|at| at.value).collect());
    }
    if !single {
        return Ok(data.fields.iter().map(|field| field.name.clone()).collect());
    }
    let first = data.fields.iter().find(numeric);
    let first = first.ok_or_else(|| {
        let message = "this kind of query is about a number, and no field is one";
        section.error(section.place(), message)
    })?;
    Ok(vec![first.name.clone()])
}

fn tag(
    section: &Section<'_, '_>,
    at: &At<String>,
    data: &Data<'_>,
    more: &[&str],
) -> Result<String, FileError> {
    if data.tags.iter().any(|tag| tag.name == at.value) {
        return Ok(at.value.clone());
    }
    let tags = data.tags.iter().map(|tag| tag.name.clone());
    let known = more.iter().map(|word| (*word).to_owned()).chain(tags);
    Err(section.error(&at.place, unknown("tag or word", &at.value, known)))
}

fn of(section: &Section<'_, '_>, kind: &At<QueryKind>, data: &Data<'_>) -> Result<OfPart, FileError> {
    let Some(at) = section.text("of")? else {
        return Ok(if kind.value == QueryKind::Matching { OfPart::All } else { OfPart::One });
    };
    if kind.value == QueryKind::Point && at.value != "one" {
        let why = "a point is of one series";
        return Err(disagree(section, ("of", &at.place), ("kind", &kind.place), why));
    }
    match at.value.as_str() {
        "one" => Ok(OfPart::One),
        "all" => Ok(OfPart::All),
        _ => tag(section, &at, data, &["one", "all"]).map(OfPart::Tag),
    }
}

fn by(section: &Section<'_, '_>, kind: &At<QueryKind>, data: &Data<'_>) -> Result<ByPart, FileError> {
    let Some(at) = section.text("by")? else {
        return Ok(ByPart::Nothing);
    };
    if !kind.value.is_aggregate() {
        let why = "groups are for mean, minimum, maximum, sum and count";
        return Err(disagree(section, ("by", &at.place), ("kind", &kind.place), why));
    }
    match at.value.as_str() {
        "series" => Ok(ByPart::Series),
        _ => tag(section, &at, data, &["series"]).map(ByPart::Tag),
    }
}
