//! The layouts that the store offers, and how it does each operation with them.

use sensormark_kit::{layouts, offer};
use sensormark_store::{
    Capability, DefaultSelection, Encoding, Family, Index, Layout, LayoutOption, Operation, Schema, Scope,
    Shape, Table, TimeKey, TimeResolution, WriteMethod,
};

/// Why a layout cannot be offered, if so.
pub(crate) fn missing(layout: &Layout) -> Option<String> {
    let reason = match layout.shape {
        Shape::RowPerReading => None,
        Shape::RecordPerSpan { encoding, .. } => (!matches!(encoding, Encoding::Blob | Encoding::Json))
            .then_some("Cassandra has no arrays and documents that queries look into"),
        Shape::Summary { .. } => Some(
            "sums kept at write time would be read, added to and written back, which loses updates, or counters, which count a repeated write twice",
        ),
        _ => Some("Cassandra keeps rows of readings and records of a span alone"),
    };
    let reason = reason.or_else(|| {
        if layout.scope != Scope::PerTable {
            Some("a table for each of the schema's tables is the only scope")
        } else if !matches!(layout.write, WriteMethod::Usual | WriteMethod::FastPath) {
            Some("writes are prepared inserts and unlogged batches of them alone")
        } else {
            None
        }
    });
    reason.map(str::to_owned)
}

/// What this store offers for a schema and a family.
pub(crate) fn layouts(schema: &Schema, family: Family) -> Vec<LayoutOption> {
    let usual =
        Layout { tags: layouts::tags_apart(schema), index: Index::Clustered, ..Layout::row_per_reading() };
    match family {
        Family::PerReading => per_reading(schema, usual),
        Family::PerSpan { span_ns } => {
            let layout = |encoding| usual.with_shape(Shape::RecordPerSpan { span_ns, encoding });
            vec![
                offer(
                    "",
                    layout(Encoding::Blob),
                    DefaultSelection::Usual,
                    "row a span, its readings packed in a blob; partition by (series, bucket of time), clustered by (span, write)",
                ),
                offer(
                    "json",
                    layout(Encoding::Json),
                    DefaultSelection::Further,
                    "row a span, its readings as JSON in a text; partition by (series, bucket of time), clustered by (span, write)",
                ),
            ]
        }
        Family::Bucketed { .. } | Family::Summary { .. } | Family::GrowingArray => Vec::new(),
    }
}

fn per_reading(schema: &Schema, usual: Layout) -> Vec<LayoutOption> {
    let mut offers = vec![
        offer(
            "",
            usual,
            DefaultSelection::Usual,
            "row a reading; partition by (series, bucket of time), clustered by time in ns; prepared INSERT for one, unlogged batches by partition for many",
        ),
        offer(
            "partition-per-series",
            usual.with_index(Index::Series),
            DefaultSelection::OnRequest,
            "row a reading; all of a series is one partition, clustered by time in ns",
        ),
    ];
    let mut tables = schema.tables.iter();
    if tables.all(|table| table.time_resolution >= TimeResolution::Milliseconds) {
        offers.push(offer(
            "timestamp",
            usual.with_time(TimeKey::Native),
            DefaultSelection::OnRequest,
            "row a reading; clustered by timestamp (whole milliseconds)",
        ));
    }
    offers
}

/// How the store does an operation.
pub(crate) fn capability(operation: Operation, layout: &Layout, _: &Table) -> Capability {
    if let Some(missing) = missing(layout) {
        return Capability::Unsupported(missing);
    }
    let client = |reason: &str| Capability::ClientSide(reason.to_owned());
    match operation {
        Operation::FromSums | Operation::ExtremesOfPartsFromSums => {
            return Capability::Unsupported("no layout keeps sums at write time".to_owned());
        }
        Operation::SearchWithoutBound => {
            return Capability::Unsupported(
                "rows lie in partitions of time, which a search without a bound would have to try one by one; by value it filters (ALLOW FILTERING) whole partitions"
                    .to_owned(),
            );
        }
        Operation::Write | Operation::UpsertSeparately | Operation::UpsertAtomically => {
            return Capability::Native;
        }
        _ => {}
    }
    if matches!(layout.shape, Shape::RecordPerSpan { .. }) {
        return match operation {
            Operation::Range => Capability::Native,
            Operation::RangeOfSomeFields => client("a record comes whole; the client takes the fields out"),
            _ => client("Cassandra does not look into records; the client reads and unpacks them"),
        };
    }
    match operation {
        Operation::AggregateByWindow => {
            client("no GROUP BY a window of a bigint; the client fetches the readings and groups them")
        }
        Operation::AggregateByDayPart => {
            client("no GROUP BY an expression; the client fetches the readings and groups them")
        }
        Operation::AggregateAcrossSeries => {
            client("Cassandra aggregates within each partition; the client adds the partitions' results up")
        }
        Operation::TimeWeightedShare => {
            client("no window functions; the client fetches the readings and weights them")
        }
        Operation::MostFrequent => {
            client("no GROUP BY a value; the client fetches the readings and counts them")
        }
        _ => Capability::Native,
    }
}
