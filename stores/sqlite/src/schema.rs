//! What the store offers: layouts by family, capabilities and limits.
//!
//! How a layout becomes tables is the relational planner's, with the choices in [`crate::dialect`].

use sensormark_kit::offer;
use sensormark_relational::layouts::{self, not_embedded, values_in_a_row};
use sensormark_store::{
    Capability, DefaultSelection, Encoding, Family, Index, Layout, LayoutOption, Limits, Operation,
    QueryStyle, Schema, Shape, Table, TimeKey, WriteMethod,
};

#[cfg(test)]
mod pins;

/// Bound values of one statement, SQLite's own limit.
pub const VARIABLES: usize = 32_766;
/// Readings in one transaction of the usual way of writing.
pub const TRANSACTION: usize = 1_000_000;
/// Statements in one request of concatenated ones.
pub const CONCATENATED: usize = 10_000;
/// Rows in one statement of many; more do not help.
const ROWS: usize = 1_000;

/// The layouts that SQLite has for this schema and family, the usual one first.
pub fn layouts(schema: &Schema, family: Family) -> Vec<LayoutOption> {
    let usual = layouts::usual(schema);
    let mut offers = match family {
        Family::PerReading => per_reading(schema, usual),
        Family::PerSpan { span_ns } => per_span(usual, span_ns),
        Family::Summary { per_ns, split } => summary(usual.with_shape(Shape::Summary { per_ns, split })),
        Family::Bucketed { .. } | Family::GrowingArray => Vec::new(),
    };
    if schema.has_tags() && !offers.is_empty() {
        offers.push(layouts::other_tags(
            offers[0].layout,
            "the usual layout with every tag in every row",
            "the usual layout with tags in a table of their own, readings refer to it by number",
        ));
    }
    offers.retain(|offer| unsupported(&offer.layout).is_none());
    offers
}

fn per_reading(schema: &Schema, usual: Layout) -> Vec<LayoutOption> {
    let indexed = |index| usual.with_index(index);
    let shaped = |shape| usual.with_shape(shape);
    let written = |write| usual.with_write(write);
    let tagged = schema.has_tags();
    let entities = layouts::has_entities(schema);
    let mut offers = vec![
        offer(
            "",
            usual,
            DefaultSelection::Usual,
            "STRICT rowid table, a row a reading: series, time_ns INTEGER, a column a field; index (series, time_ns)",
        ),
        offer(
            "clustered",
            indexed(Index::Clustered),
            DefaultSelection::Further,
            "the same row WITHOUT ROWID, PRIMARY KEY (series, time_ns, copy): one b-tree in place of table and index",
        ),
    ];
    if tagged {
        offers.push(offer(
            "series-index",
            indexed(Index::Series),
            if entities { DefaultSelection::Further } else { DefaultSelection::OnRequest },
            "rowid table whose only index is on the series, as a foreign key would have it",
        ));
    }
    offers.extend([
        offer(
            "no-index",
            indexed(Index::None),
            DefaultSelection::OnRequest,
            "rowid table without an index: every question reads the whole table",
        ),
        offer(
            "row-per-field",
            shaped(Shape::RowPerField),
            DefaultSelection::OnRequest,
            "rowid table, a row a value: series, time_ns, field INTEGER, value ANY; index (series, time_ns)",
        ),
        offer(
            "multi-row",
            written(WriteMethod::MultiRow),
            DefaultSelection::OnRequest,
            "the usual table, written by INSERT … VALUES (…), (…), … of up to 1,000 rows",
        ),
        offer(
            "concatenated",
            written(WriteMethod::ConcatenatedStatements),
            DefaultSelection::OnRequest,
            "the usual table, written by single INSERTs in one string, parsed anew each time",
        ),
    ]);
    offers
}

fn per_span(usual: Layout, span_ns: i64) -> Vec<LayoutOption> {
    let encoded = |encoding| usual.with_shape(Shape::RecordPerSpan { span_ns, encoding });
    vec![
        offer(
            "",
            encoded(Encoding::Json),
            DefaultSelection::Usual,
            "a row a span: series, span, size, data TEXT {\"measurements\":[{\"ns\":…,\"m\":[…]},…]}; index (series, span)",
        ),
        offer(
            "blob",
            encoded(Encoding::Blob),
            DefaultSelection::OnRequest,
            "a row a span: series, span, size, data BLOB of little-endian columns that the client packs; index (series, span)",
        ),
        offer(
            "jsonb",
            encoded(Encoding::BinaryJson),
            DefaultSelection::OnRequest,
            "a row a span with SQLite's own parsed JSON (JSONB), read back by json(data); index (series, span)",
        ),
        offer(
            "no-index",
            encoded(Encoding::Json).with_index(Index::None),
            DefaultSelection::OnRequest,
            "a row a span with JSON text and no index",
        ),
    ]
}

fn summary(usual: Layout) -> Vec<LayoutOption> {
    let indexed = |index| usual.with_index(index);
    vec![
        offer(
            "",
            usual,
            DefaultSelection::Usual,
            "rowid table, a row a reading, index (series, time_ns); in the same transaction count, sum, min, max of each field by series, period, day or night",
        ),
        offer(
            "clustered",
            indexed(Index::Clustered),
            DefaultSelection::OnRequest,
            "the same with readings WITHOUT ROWID, PRIMARY KEY (series, time_ns, copy)",
        ),
        offer(
            "no-index",
            indexed(Index::None),
            DefaultSelection::OnRequest,
            "the same without an index on the readings; the sums keep theirs",
        ),
    ]
}

/// Why SQLite does not have this layout, if it does not.
pub fn unsupported(layout: &Layout) -> Option<&'static str> {
    if let Some(reason) = not_embedded(layout) {
        return Some(reason);
    }
    match layout.shape {
        Shape::Bucketed { .. } | Shape::GrowingArray => {
            return Some("documents that grow are not a table's way; choose rows or rows with sums");
        }
        Shape::NativeTimeSeries => return Some("SQLite has no container for time series"),
        Shape::RecordPerSpan { encoding, .. }
            if !matches!(encoding, Encoding::Json | Encoding::BinaryJson | Encoding::Blob) =>
        {
            return Some("SQLite has no arrays or documents; choose JSON, JSONB or blob");
        }
        _ => {}
    }
    let rows = layout.shape == Shape::RowPerReading;
    if layout.index == Index::Clustered && !rows && !matches!(layout.shape, Shape::Summary { .. }) {
        return Some("only rows of whole readings are offered clustered");
    }
    if layout.index == Index::FirstTagTime {
        return Some("an index holds all tags that tell series apart");
    }
    match (layout.time, layout.write) {
        (TimeKey::Native, _) => Some("SQLite has no type for times"),
        (_, WriteMethod::FastPath) => {
            Some("a prepared statement in one transaction is SQLite's fastest path already")
        }
        (_, WriteMethod::MultiRow | WriteMethod::ConcatenatedStatements) if !rows => {
            Some("this way of writing is offered for rows of readings")
        }
        _ if layout.queries != QueryStyle::Usual => Some("SQLite is asked in one way"),
        _ => None,
    }
}

/// How SQLite does an operation with this layout and table.
pub fn capability(operation: Operation, layout: &Layout, _: &Table) -> Capability {
    if let Some(reason) = unsupported(layout) {
        return Capability::Unsupported(reason.to_owned());
    }
    match (layouts::capability(operation, layout), layout.shape) {
        (Capability::Native, Shape::RecordPerSpan { encoding, .. }) => in_records(operation, encoding),
        (capability, _) => capability,
    }
}

/// What can be done inside records of a span.
fn in_records(operation: Operation, encoding: Encoding) -> Capability {
    match operation {
        Operation::Write
        | Operation::UpsertSeparately
        | Operation::UpsertAtomically
        | Operation::Point
        | Operation::Range => Capability::Native,
        Operation::RangeOfSomeFields => Capability::ClientSide(
            "the fields share one record; it is read whole and the chosen fields are decoded".to_owned(),
        ),
        _ if encoding == Encoding::Blob => Capability::ClientSide(
            "SQLite does not look into a packed record; records are read and searched in the client"
                .to_owned(),
        ),
        _ => Capability::Native,
    }
}

/// The largest statements with this layout and table.
pub fn limits(layout: &Layout, table: &Table) -> Limits {
    let readings_per_statement = match layout.write {
        WriteMethod::MultiRow => rows_per_statement(values_in_a_row(layout, table)),
        WriteMethod::ConcatenatedStatements => CONCATENATED,
        _ => TRANSACTION,
    };
    Limits { readings_per_statement }
}

/// Rows of this many columns in one statement.
pub const fn rows_per_statement(columns: usize) -> usize {
    let fit = VARIABLES / columns;
    if fit < ROWS { fit } else { ROWS }
}
