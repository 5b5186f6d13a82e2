//! What a query of a workload file asks of its table.

use super::error::FileError;
use super::form::{At, Of, Query, TagValues, Text};
use super::source::{Placed, Source};
use super::tables::number;
use crate::own::parameters::{ByPart, FieldPart, OfPart, QueryKind, SeriesPart, TablePart, WhenPart, split};
use sensormark_data::quantity::length_text;

/// The most windows of an answer.
const MOST_WINDOWS: i64 = 100_000;
/// The word for groups by time of day.
const DAY_AND_NIGHT: &str = "day and night";

/// A query and the table that it is about.
pub struct Asked<'a, 's> {
    pub source: &'a Source<'s>,
    pub table: &'a TablePart,
    pub query: &'a At<Query>,
    pub day: Option<[u32; 2]>,
}

impl Asked<'_, '_> {
    /// That a key does not go with the kind.
    fn refuse<T>(&self, key: &str, of: &dyn Placed, why: &str) -> Result<T, FileError> {
        Err(self.source.disagree((key, of), ("kind", &self.query.kind), why))
    }

    /// Span and window, in ns.
    pub fn lengths(&self) -> Result<(Option<i64>, Option<i64>), FileError> {
        let (span, window, kind) = (&self.query.span, &self.query.window, self.query.kind.value);
        let data_ns = self.table.series.duration_ns;
        match (span, kind) {
            (Some(span), QueryKind::Point) => {
                return self.refuse("span", span, "a point is one reading and has no span");
            }
            (None, QueryKind::Point | QueryKind::LastValue) => {}
            (None, _) => return Err(self.source.missing(self.query, "span", "\"1h\"")),
            // What is written of one series or last may span more, and what begins at one time may end before.
            (Some(span), _)
                if span.0 > data_ns
                    && self.of()? != OfPart::Written
                    && self.query.when != Some(WhenPart::New)
                    && self.query.after.is_none() =>
            {
                let message = format!(
                    "span is {}, longer than the data: series.duration is {}",
                    self.source.typed(span),
                    length_text(data_ns)
                );
                return Err(self.source.error(span, message));
            }
            _ => {}
        }
        let ticks = self.table.series.ticks();
        if let Some(after) = self.query.after.as_ref().filter(|at| u64::from(at.0) >= ticks || span.is_none())
        {
            let message = format!(
                "a span begins after so many of the {ticks} readings of a series, and there are no more, or there is no span"
            );
            return Err(self.source.error(after, message));
        }
        let span_ns = span.as_ref().map(|span| span.0);
        let Some(window) = window else {
            if kind.needs_window() {
                return Err(self.source.missing(self.query, "window", "\"1m\""));
            }
            return Ok((span_ns, None));
        };
        if !kind.is_aggregate() && !kind.needs_window() {
            let why = "windows are for mean, minimum, maximum, sum, count and standard deviation";
            return self.refuse("window", window, why);
        }
        let whole_ns = span_ns.unwrap_or(0);
        let windows = whole_ns / window.0;
        if windows > MOST_WINDOWS {
            let message = format!(
                "window is {} and span is {}: that is {windows} windows, and {MOST_WINDOWS} are the most",
                self.source.typed(window),
                length_text(whole_ns),
            );
            return Err(self.source.error(window, message));
        }
        Ok((span_ns, Some(window.0)))
    }

    pub fn thresholds(&self) -> Result<(Option<f64>, Option<f64>), FileError> {
        let Query { above, below, .. } = &self.query.value;
        let kind = self.query.kind.value;
        let (may, is_range) = (kind.thresholds(), kind == QueryKind::OutOfRange);
        for ((key, given), may) in [("above", above), ("below", below)].into_iter().zip(may) {
            match given {
                Some(one) if !may => {
                    let why = "thresholds are for other kinds";
                    return self.refuse(key, one, why);
                }
                Some(one) if !one.is_finite() => {
                    return Err(self.source.error(one, "a threshold is a finite number"));
                }
                None if is_range => return Err(self.source.missing(self.query, key, "90")),
                _ => {}
            }
        }
        match (above, below) {
            (Some(above), Some(below)) if !is_range => {
                return Err(self.source.disagree(("above", above), ("below", below), "give one of them"));
            }
            (None, None) if may[0] && kind != QueryKind::Outliers => {
                return Err(self.source.missing(self.query, "above", "90"));
            }
            _ => {}
        }
        Ok((above.as_ref().map(|one| one.value), below.as_ref().map(|one| one.value)))
    }

    /// How many fields each question draws, unless the kind says it; none where it is about all of them.
    pub fn drawn(&self) -> Option<usize> {
        let Some(TagValues::Count(count)) = self.query.fields.as_deref() else { return None };
        Some(self.query.kind.value.fields().unwrap_or(*count as usize))
    }

    /// The fields that the kind can be about.
    fn fitting(&self) -> impl Iterator<Item = &FieldPart> {
        let needs_number = self.query.kind.value.needs_number();
        self.table.fields.iter().filter(move |field| !needs_number || field.kind.is_number())
    }

    /// The fields that are asked for, or drawn from: all of them for readings, where none is named; the first ones that fit for other kinds.
    pub fn fields(&self) -> Result<Vec<String>, FileError> {
        let kind = self.query.kind.value;
        let named: Vec<&Text> = match (&self.query.field, self.query.fields.as_deref()) {
            (Some(one), None) => vec![one],
            (None, Some(TagValues::List(many))) => many.iter().collect(),
            (None, Some(TagValues::Count(_))) => {
                return Ok(self.fitting().map(|field| field.name.clone()).collect());
            }
            (None, None) => Vec::new(),
            (Some(one), Some(_)) => {
                let message =
                    format!("field is {:?}, and there is a list of fields too: give one of them", one.value);
                return Err(self.source.error(one, message));
            }
        };
        let known: Vec<String> = self.table.fields.iter().map(|field| field.name.clone()).collect();
        for name in &named {
            let place = number(self.source, "field", &known, Some(name), *name)?;
            if !self.fitting().any(|field| field.name == known[place]) {
                let why = "this field is not a number, and the query needs one";
                return self.refuse("field", *name, why);
            }
        }
        let wanted = kind.fields();
        if let (Some(wanted), Some(last)) = (wanted, named.last())
            && named.len() != wanted
        {
            let why = format!("how many fields this kind of query is about: {wanted}");
            return self.refuse("the last of fields", *last, &why);
        }
        if !named.is_empty() {
            return Ok(named.into_iter().map(|name| name.value.clone()).collect());
        }
        let all = if kind.is_aggregate() { 1 } else { known.len() };
        let wanted = wanted.unwrap_or(all);
        let first: Vec<String> = self.fitting().take(wanted).map(|field| field.name.clone()).collect();
        if first.is_empty() || kind.fields().is_some() && first.len() < wanted {
            let message =
                format!("this kind of query is about {wanted} numbers, and there are {}", first.len());
            return Err(self.source.error(self.query, message));
        }
        Ok(first)
    }

    /// A tag's name, in the place of one of these words.
    fn tag(&self, text: &Text, words: &[&str]) -> Result<String, FileError> {
        let tags = self.table.tags.iter().map(|tag| tag.name.clone());
        let known: Vec<String> = words.iter().map(|word| (*word).to_owned()).chain(tags).collect();
        number(self.source, "tag or word", &known, Some(text), text)?;
        Ok(text.value.clone())
    }

    pub fn of(&self) -> Result<OfPart, FileError> {
        let kind = self.query.kind.value;
        if kind == QueryKind::Difference && self.table.series.count < 2 {
            return Err(self.source.error(&self.query.kind, "a difference is of two series"));
        }
        let Some(of) = &self.query.of else {
            return Ok(if kind == QueryKind::Matching { OfPart::All } else { OfPart::One });
        };
        let of = match &of.value {
            Of::Several(several) => {
                let message = format!("of is from 1 to {} series, which are drawn", self.table.series.count);
                let fits = (1..=self.table.series.count).contains(several) && !kind.is_of_one();
                return fits
                    .then_some(OfPart::Several(*several))
                    .ok_or_else(|| self.source.error(of, message));
            }
            Of::With(tags) => {
                for name in tags.keys() {
                    self.tag(&At { value: name.clone(), place: of.place.clone() }, &[])?;
                }
                return Ok(OfPart::With(tags.clone()));
            }
            Of::Word(word) => &At { value: word.clone(), place: of.place.clone() },
        };
        match of.as_str() {
            "one" => Ok(OfPart::One),
            "written" | "each" if kind == QueryKind::Difference => {
                self.refuse("of", of, "of two series that were written, one may have no readings yet")
            }
            "written" => self.regular(of).map(|()| OfPart::Written),
            "each" => self.regular(of).map(|()| OfPart::Each),
            _ if kind.is_of_one() => self.refuse("of", of, "this kind is of one series"),
            "all" => Ok(OfPart::All),
            _ => self.tag(of, &["one", "written", "each", "all"]).map(OfPart::Tag),
        }
    }

    /// That how far a series was written says which of its readings are there.
    fn regular(&self, of: &Text) -> Result<(), FileError> {
        let SeriesPart { missing, late, repeated, churn, .. } = self.table.series;
        if missing + late + repeated + churn > 0.0 {
            let message = "this needs series whose readings all come, in time and once, and that do not end";
            return Err(self.source.error(of, message));
        }
        Ok(())
    }

    pub fn by(&self) -> Result<ByPart, FileError> {
        let Some(by) = &self.query.by else {
            return Ok(ByPart::Nothing);
        };
        if !self.query.kind.value.is_aggregate() {
            return self.refuse(
                "by",
                by,
                "groups are for mean, minimum, maximum, sum, count and standard deviation",
            );
        }
        match by.as_str() {
            "series" => Ok(ByPart::Series),
            DAY_AND_NIGHT => Ok(ByPart::DayAndNight(split(self.day))),
            _ => self.tag(by, &["series", DAY_AND_NIGHT]).map(ByPart::Tag),
        }
    }
}
