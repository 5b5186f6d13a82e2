//! The layouts that the store offers, and how it does each operation with them.

use sensormark_kit::{layouts, offer};
use sensormark_store::{
    Capability, DefaultSelection, Encoding, Family, FieldType, Index, Layout, LayoutOption, Operation,
    Schema, Scope, Shape, Table, TimeKey, TimeResolution, WriteMethod,
};

/// Why a layout cannot be offered, if so.
pub(crate) fn missing(layout: &Layout) -> Option<String> {
    let reason = match (layout.shape, layout.time) {
        (Shape::RowPerReading, TimeKey::Nanoseconds) | (Shape::NativeTimeSeries, TimeKey::Native) => None,
        (Shape::RecordPerSpan { encoding, .. }, TimeKey::Nanoseconds) => {
            (!matches!(encoding, Encoding::Blob | Encoding::Json))
                .then_some("GridDB has no documents that questions look into")
        }
        (Shape::Summary { .. }, _) => {
            Some("a transaction ends at a container, so that sums and readings cannot be written together")
        }
        _ => Some("GridDB keeps rows of readings, time series and records of a span alone"),
    };
    let reason = reason.or_else(|| {
        if layout.scope != Scope::PerSeries {
            Some("a container for each series is the only scope")
        } else if layout.write != WriteMethod::Usual {
            Some("writes are puts of rows alone: the C client has no SQL")
        } else {
            None
        }
    });
    reason.map(str::to_owned)
}

/// What this store offers for a schema and a family.
pub(crate) fn layouts(schema: &Schema, family: Family) -> Vec<LayoutOption> {
    let usual = Layout {
        tags: layouts::tags_apart(schema),
        index: Index::Clustered,
        scope: Scope::PerSeries,
        ..Layout::row_per_reading()
    };
    match family {
        Family::PerReading => per_reading(schema, usual),
        Family::PerSpan { span_ns } => {
            let layout = |encoding| {
                usual.with_shape(Shape::RecordPerSpan { span_ns, encoding }).with_index(Index::SeriesTime)
            };
            vec![
                offer(
                    "",
                    layout(Encoding::Blob),
                    DefaultSelection::Usual,
                    "collection a series, row a span without a key, its readings packed in a blob; tree index on the span",
                ),
                offer(
                    "json",
                    layout(Encoding::Json),
                    DefaultSelection::Further,
                    "collection a series, row a span without a key, its readings as JSON text in a blob (a string holds 31 KB); tree index on the span",
                ),
            ]
        }
        Family::Bucketed { .. } | Family::Summary { .. } | Family::GrowingArray => Vec::new(),
    }
}

fn per_reading(schema: &Schema, usual: Layout) -> Vec<LayoutOption> {
    let mut offers = vec![offer(
        "",
        usual,
        DefaultSelection::Usual,
        "collection a series, row a reading, row key LONG of nanoseconds",
    )];
    let mut tables = schema.tables.iter();
    let coarse = tables.all(|table| table.time_resolution >= TimeResolution::Milliseconds);
    offers.push(offer(
        "time-series",
        usual.with_shape(Shape::NativeTimeSeries).with_time(TimeKey::Native),
        if coarse {
            DefaultSelection::Further
        } else {
            DefaultSelection::OnRequest
        },
        "time series a series, row a reading, row key TIMESTAMP of milliseconds: finer times are cut off, and of readings in one millisecond the last stays",
    ));
    offers
}

/// How the store does an operation.
pub(crate) fn capability(operation: Operation, layout: &Layout, table: &Table) -> Capability {
    if let Some(missing) = missing(layout) {
        return Capability::Unsupported(missing);
    }
    let client = |reason: &str| Capability::ClientSide(reason.to_owned());
    match operation {
        Operation::UpsertAtomically => {
            return Capability::Unsupported("a transaction ends at a container".to_owned());
        }
        Operation::FromSums | Operation::ExtremesOfPartsFromSums => {
            return Capability::Unsupported("no layout keeps sums at write time".to_owned());
        }
        Operation::Write | Operation::UpsertSeparately | Operation::Range => {
            return Capability::Native;
        }
        Operation::RangeOfSomeFields => {
            return client("TQL answers with whole rows; the client takes the fields out");
        }
        _ => {}
    }
    if matches!(layout.shape, Shape::RecordPerSpan { .. }) {
        return client("GridDB does not look into records; the client reads and unpacks them");
    }
    match operation {
        Operation::AggregateByWindow => client(
            "TQL has no GROUP BY; one aggregate a window is asked, many together, and where windows are more than 1,000 the client fetches the readings and groups them",
        ),
        Operation::AggregateByDayPart => {
            client("TQL has no GROUP BY; the client fetches the readings and groups them")
        }
        Operation::AggregateAcrossSeries => client(
            "TQL asks one container; containers are asked together, and the client adds their results up",
        ),
        Operation::TimeWeightedShare => {
            client("TQL's TIME_AVG interpolates; the client fetches the readings and weights them")
        }
        Operation::MostFrequent => {
            client("no GROUP BY a value; the client fetches the readings and counts them")
        }
        Operation::Aggregate if table.fields.iter().any(|field| field.kind == FieldType::U16) => client(
            "SUM of an INTEGER overflows in silence at 2^31; sums of over 32,768 readings of a 16-bit field are added up by the client",
        ),
        _ => Capability::Native,
    }
}
