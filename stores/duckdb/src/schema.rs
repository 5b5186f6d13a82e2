//! What the store offers: layouts by family, capabilities and limits.
//!
//! The relational planner makes tables of a layout, with the choices in [`crate::dialect`]. The usual layout has no index. The reasons:
//!
//! - DuckDB keeps the smallest and the largest value of each column in each group of 122,880 rows and skips groups by them
//!   (<https://duckdb.org/docs/current/sql/indexes>).
//! - Its documentation advises against primary keys where data are loaded (<https://duckdb.org/docs/current/guides/performance/schema>).
//! - An index on several columns serves no scan.

use sensormark_kit::{offer, on_request};
use sensormark_relational::layouts::{self, not_embedded, values_in_a_row};
use sensormark_store::{
    Capability, DefaultSelection, Encoding, Family, Index, Layout, LayoutOption, Limits, Operation,
    QueryStyle, Schema, Shape, Table, TimeKey, WriteMethod,
};

#[cfg(test)]
mod pins;

/// Readings in one transaction.
pub(crate) const TRANSACTION: usize = 1_000_000;
/// Rows in one statement of many: from about a hundred on, a row costs the same and preparing costs more.
const ROWS: usize = 250;
/// Values in one statement of many.
const VALUES: usize = 5_000;

/// The layouts that DuckDB has for this schema and family, the usual one first.
pub(crate) fn layouts(schema: &Schema, family: Family) -> Vec<LayoutOption> {
    let usual = layouts::usual(schema).with_index(Index::None);
    let mut offers = match family {
        Family::PerReading => per_reading(schema, usual),
        Family::PerSpan { span_ns } => vec![offer(
            "",
            usual.with_shape(Shape::RecordPerSpan { span_ns, encoding: Encoding::Arrays }),
            DefaultSelection::Usual,
            "a row a span: series, span, size, ns INTEGER[], a list a field; no index",
        )],
        Family::Summary { per_ns, split } => vec![offer(
            "",
            usual.with_shape(Shape::Summary { per_ns, split }),
            DefaultSelection::Usual,
            "a row a reading, no index; in the same transaction count, sum, min, max of each field by series, period, day or night, PRIMARY KEY on these",
        )],
        Family::Bucketed { .. } | Family::GrowingArray => Vec::new(),
    };
    if schema.has_tags() && !offers.is_empty() {
        offers.push(layouts::other_tags(
            offers[0].layout,
            "the usual layout with every tag in every row, which DuckDB keeps as a dictionary",
            "the usual layout with tags in a table of their own, readings refer to it by number",
        ));
    }
    offers.retain(|offer| unsupported(&offer.layout).is_none());
    offers
}

fn per_reading(schema: &Schema, usual: Layout) -> Vec<LayoutOption> {
    let mut offers = vec![offer(
        "",
        usual,
        DefaultSelection::Usual,
        "a row a reading: series, time BIGINT (ns), a column a field; no index, the smallest and largest values of row groups skip them",
    )];
    if schema.has_tags() {
        offers.push(on_request(
            "series-index",
            usual.with_index(Index::Series),
            "the same with an index (ART) on the series, which serves a series of under a thousandth of the rows",
        ));
    }
    offers.extend([
        on_request("timestamp-ns", usual.with_time(TimeKey::Native), "the same with time TIMESTAMP_NS"),
        on_request(
            "row-per-field",
            usual.with_shape(Shape::RowPerField),
            "a row a value: series, time, field SMALLINT, a column of values for each type",
        ),
        on_request(
            "multi-row",
            usual.with_write(WriteMethod::MultiRow),
            "the usual table, written by INSERT … VALUES (…), (…), … of up to 250 rows",
        ),
    ]);
    offers
}

/// Why DuckDB does not have this layout, if it does not.
pub(crate) fn unsupported(layout: &Layout) -> Option<&'static str> {
    if let Some(reason) = not_embedded(layout) {
        return Some(reason);
    }
    let rows = layout.shape == Shape::RowPerReading;
    match layout.shape {
        Shape::Bucketed { .. } | Shape::GrowingArray => {
            return Some("lists that grow are written anew by each change; choose rows or rows with sums");
        }
        Shape::NativeTimeSeries => return Some("DuckDB has no container for time series"),
        Shape::RecordPerSpan { encoding, .. } if encoding != Encoding::Arrays => {
            return Some("records of a span are lists, which DuckDB keeps by columns");
        }
        _ => {}
    }
    match (layout.time, layout.write) {
        (TimeKey::Native, _) if !rows => Some("TIMESTAMP_NS is offered for rows of readings"),
        (_, WriteMethod::FastPath | WriteMethod::ConcatenatedStatements) => {
            Some("an appender is DuckDB's fastest path already; multi-row shows what statements cost")
        }
        (_, WriteMethod::MultiRow) if !rows => Some("this way of writing is offered for rows of readings"),
        _ if layout.foreign_key => {
            Some("a foreign key is an index on the readings, which slows loading down")
        }
        _ if layout.queries != QueryStyle::Usual => Some("DuckDB is asked in one way"),
        _ => match layout.index {
            Index::None => None,
            Index::Series if rows => None,
            _ => Some("an index on several columns serves no scan; rows have none, or one on the series"),
        },
    }
}

/// How DuckDB does an operation with this layout and table.
pub(crate) fn capability(operation: Operation, layout: &Layout, _: &Table) -> Capability {
    if let Some(reason) = unsupported(layout) {
        return Capability::Unsupported(reason.to_owned());
    }
    layouts::capability(operation, layout)
}

/// The largest statements with this layout and table.
pub(crate) fn limits(layout: &Layout, table: &Table) -> Limits {
    let readings_per_statement = match layout.write {
        WriteMethod::MultiRow => (VALUES / values_in_a_row(layout, table)).clamp(1, ROWS),
        _ => TRANSACTION,
    };
    Limits { readings_per_statement }
}
