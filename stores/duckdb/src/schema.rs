//! What the store offers: layouts by family, capabilities and limits.
//!
//! The relational planner makes tables of a layout, with the choices in [`crate::dialect`]. The usual layout has no index. The reasons:
//!
//! - DuckDB keeps the smallest and the largest value of each column in each group of 122,880 rows and skips groups by them
//!   (<https://duckdb.org/docs/current/sql/indexes>).
//! - Its documentation advises against primary keys where data are loaded (<https://duckdb.org/docs/current/guides/performance/schema>).
//! - An index on several columns serves no scan.

use sensormark_kit::offer;
use sensormark_store::{
    Capability, DefaultSelection, Encoding, Family, Index, Layout, LayoutOption, Limits, Operation,
    QueryStyle, Schema, Scope, Shape, Table, TagPlacement, TimeKey, WriteMethod,
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
    let several_tags = schema.tables.iter().any(|table| table.tags.len() > 1);
    let usual = Layout {
        tags: if several_tags {
            TagPlacement::OwnTable
        } else {
            TagPlacement::Inline
        },
        index: Index::None,
        ..Layout::row_per_reading()
    };
    let mut offers = match family {
        Family::PerReading => per_reading(schema, usual),
        Family::PerSpan { span_ns } => vec![offer(
            "",
            usual.with_shape(Shape::RecordPerSpan {
                span_ns,
                encoding: Encoding::Arrays,
            }),
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
    if schema.tables.iter().any(|table| !table.tags.is_empty()) && !offers.is_empty() {
        offers.push(other_tags(&offers[0]));
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
    let on_request = |variant: &str, layout, description: &str| {
        offer(variant, layout, DefaultSelection::OnRequest, description)
    };
    if schema.tables.iter().any(|table| !table.tags.is_empty()) {
        offers.push(on_request(
            "series-index",
            usual.with_index(Index::Series),
            "the same with an index (ART) on the series, which serves a series of under a thousandth of the rows",
        ));
    }
    offers.extend([
        on_request(
            "timestamp-ns",
            usual.with_time(TimeKey::Native),
            "the same with time TIMESTAMP_NS",
        ),
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

/// The usual layout of a family with tags where it does not usually have them.
fn other_tags(usual: &LayoutOption) -> LayoutOption {
    let (tags, variant, words) = if usual.layout.tags == TagPlacement::Inline {
        (
            TagPlacement::OwnTable,
            "tags-in-table",
            "the usual layout with tags in a table of their own, readings refer to it by number",
        )
    } else {
        (
            TagPlacement::Inline,
            "tags-inline",
            "the usual layout with every tag in every row, which DuckDB keeps as a dictionary",
        )
    };
    let layout = usual.layout.with_tags(tags);
    offer(variant, layout, DefaultSelection::OnRequest, words)
}

/// Why DuckDB does not have this layout, if it does not.
pub(crate) fn unsupported(layout: &Layout) -> Option<&'static str> {
    let rows = layout.shape == Shape::RowPerReading;
    match layout.shape {
        Shape::Bucketed { .. } | Shape::GrowingArray => {
            return Some(
                "lists that grow are written anew by each change; choose rows or rows with sums",
            );
        }
        Shape::NativeTimeSeries => return Some("DuckDB has no container for time series"),
        Shape::RecordPerSpan { span_ns, .. } if span_ns <= 0 => {
            return Some("a span lasts at least 1 ns");
        }
        Shape::Summary { per_ns, .. } if per_ns <= 0 => {
            return Some("a period lasts at least 1 ns");
        }
        Shape::RecordPerSpan { encoding, .. } if encoding != Encoding::Arrays => {
            return Some("records of a span are lists, which DuckDB keeps by columns");
        }
        _ => {}
    }
    match (layout.time, layout.scope, layout.tags, layout.write) {
        (TimeKey::Native, ..) if !rows => Some("TIMESTAMP_NS is offered for rows of readings"),
        (_, Scope::Shared | Scope::PerSeries, ..) => {
            Some("a table for each of the schema's is offered")
        }
        (_, _, TagPlacement::Subdocument | TagPlacement::KeyValueArray, _) => {
            Some("tags are columns, or rows of their own table")
        }
        (_, _, _, WriteMethod::FastPath | WriteMethod::ConcatenatedStatements) => Some(
            "an appender is DuckDB's fastest path already; multi-row shows what statements cost",
        ),
        (_, _, _, WriteMethod::Datagram) => Some("an embedded database gets no datagrams"),
        (_, _, _, WriteMethod::MultiRow) if !rows => {
            Some("this way of writing is offered for rows of readings")
        }
        _ if layout.foreign_key => {
            Some("a foreign key is an index on the readings, which slows loading down")
        }
        _ if layout.queries != QueryStyle::Usual => Some("DuckDB is asked in one way"),
        _ => match layout.index {
            Index::None => None,
            Index::Series if rows => None,
            _ => Some(
                "an index on several columns serves no scan; rows have none, or one on the series",
            ),
        },
    }
}

/// How DuckDB does an operation with this layout and table.
pub(crate) fn capability(operation: Operation, layout: &Layout, _: &Table) -> Capability {
    if let Some(reason) = unsupported(layout) {
        return Capability::Unsupported(reason.to_owned());
    }
    match operation {
        Operation::FromSums | Operation::ExtremesOfPartsFromSums
            if !matches!(layout.shape, Shape::Summary { .. }) =>
        {
            Capability::Unsupported("no sums are kept at write time in this layout".to_owned())
        }
        _ => Capability::Native,
    }
}

/// The largest statements with this layout and table.
pub(crate) fn limits(layout: &Layout, table: &Table) -> Limits {
    let readings_per_statement = match layout.write {
        WriteMethod::MultiRow => {
            let tags = match layout.tags {
                TagPlacement::OwnTable => table.tags.len().min(1),
                _ => table.tags.len(),
            };
            (VALUES / (tags + table.fields.len() + 1)).clamp(1, ROWS)
        }
        _ => TRANSACTION,
    };
    Limits {
        readings_per_statement,
    }
}
