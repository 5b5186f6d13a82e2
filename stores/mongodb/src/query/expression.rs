//! Expressions of the aggregation language: where values are, windows, parts of a day, conditions.

use crate::schema::{Fields, PhysicalTable};
use mongodb::bson::{Bson, DateTime, Document, doc};
use sensormark_store::query::DaySplit;
use sensormark_store::{Comparison, FieldSet, Predicate, Table, Window};

/// A kept time, as documents hold it.
pub(super) fn instant(kept: &PhysicalTable, time_ns: i64) -> Bson {
    if kept.date {
        Bson::DateTime(DateTime::from_millis(time_ns.div_euclid(1_000_000)))
    } else {
        Bson::Int64(time_ns)
    }
}

/// The value of a field of the reading whose parts begin with this prefix: `$`, `$_m.` or `$$m.`.
pub(super) fn field(kept: &PhysicalTable, prefix: &str, field: usize) -> Bson {
    match &kept.fields {
        Fields::Beside(names) => Bson::String(format!("{prefix}{}", names[field])),
        Fields::Under(under, names) => Bson::String(format!("{prefix}{under}.{}", names[field])),
        Fields::Array(name) => {
            let place = i32::try_from(field).unwrap_or(i32::MAX);
            doc! { "$arrayElemAt": [format!("{prefix}{name}"), place] }.into()
        }
    }
}

/// The path of a field in a condition; `prefix` is empty or ends in a dot.
pub(super) fn field_path(kept: &PhysicalTable, prefix: &str, field: usize) -> String {
    match &kept.fields {
        Fields::Beside(names) => format!("{prefix}{}", names[field]),
        Fields::Under(under, names) => format!("{prefix}{under}.{}", names[field]),
        Fields::Array(name) => format!("{prefix}{name}.{field}"),
    }
}

/// Whether a value is there. In the order of all values nothing but absence is under or at null.
pub(super) fn is_there(value: Bson) -> Document {
    doc! { "$gt": [value, Bson::Null] }
}

/// A further condition on readings.
#[derive(Debug, Clone, Copy)]
pub(super) enum Condition {
    /// A field's value is on one side of a threshold.
    Passes(Predicate),
    /// One of these fields is there.
    Any(FieldSet),
}

impl Condition {
    /// Whether every reading fulfils it anyway.
    fn is_idle(self, table: &Table) -> bool {
        match self {
            Self::Passes(_) => false,
            Self::Any(fields) => {
                fields == table.all_fields() || fields.iter().any(|field| !table.fields[field].nullable)
            }
        }
    }

    /// As a condition of a match; `prefix` is empty or ends in a dot.
    pub(super) fn matching(self, table: &Table, kept: &PhysicalTable, prefix: &str) -> Option<Document> {
        if self.is_idle(table) {
            return None;
        }
        Some(match self {
            Self::Passes(predicate) => {
                let path = field_path(kept, prefix, predicate.field);
                doc! { path: { operator(predicate.comparison): predicate.threshold } }
            }
            Self::Any(fields) => {
                let mut exist: Vec<Document> = fields
                    .iter()
                    .map(|field| doc! { field_path(kept, prefix, field): { "$exists": true } })
                    .collect();
                if exist.len() == 1 {
                    exist.swap_remove(0)
                } else {
                    doc! { "$or": exist }
                }
            }
        })
    }

    /// As an expression about a reading whose parts begin with this prefix.
    pub(super) fn expression(self, table: &Table, kept: &PhysicalTable, prefix: &str) -> Option<Document> {
        if self.is_idle(table) {
            return None;
        }
        Some(match self {
            Self::Passes(predicate) => {
                let value = field(kept, prefix, predicate.field);
                let passes = doc! { operator(predicate.comparison): [value.clone(), predicate.threshold] };
                if table.fields[predicate.field].nullable {
                    doc! { "$and": [is_there(value), passes] }
                } else {
                    passes
                }
            }
            Self::Any(fields) => {
                let there: Vec<Document> =
                    fields.iter().map(|one| is_there(field(kept, prefix, one))).collect();
                doc! { "$or": there }
            }
        })
    }
}

const fn operator(comparison: Comparison) -> &'static str {
    match comparison {
        Comparison::Above => "$gt",
        Comparison::Below => "$lt",
    }
}

/// A time expression in ns.
pub(super) fn nanoseconds(kept: &PhysicalTable, time: &str) -> Bson {
    if kept.date {
        doc! { "$multiply": [{ "$toLong": time }, 1_000_000_i64] }.into()
    } else {
        Bson::String(time.to_owned())
    }
}

/// The start of a time's window in ns; no time is before `earliest_ns`.
pub(super) fn window_start(time: &Bson, window: Window, earliest_ns: i64) -> Bson {
    let (width, origin) = (window.width_ns, window.origin_ns.rem_euclid(window.width_ns));
    let since = if origin == 0 { time.clone() } else { doc! { "$subtract": [time.clone(), origin] }.into() };
    let rest: Bson = doc! { "$mod": [since, width] }.into();
    let rest: Bson = if earliest_ns >= origin {
        rest
    } else {
        // a remainder has the sign of what is divided
        doc! { "$mod": [{ "$add": [rest, width] }, width] }.into()
    };
    doc! { "$subtract": [time.clone(), rest] }.into()
}

/// Whether a time in ns is by day.
pub(super) fn is_day(time: &Bson, split: DaySplit) -> Document {
    let after_midnight = doc! { "$mod": [time.clone(), DaySplit::DAY_NS] };
    doc! { "$and": [
        { "$gte": [after_midnight.clone(), split.day_start_ns] },
        { "$lt": [after_midnight, split.day_end_ns] },
    ] }
}
