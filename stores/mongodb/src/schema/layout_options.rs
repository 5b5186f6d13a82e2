//! The layouts on offer, each family's usual one first, and what can be done with them.

use super::missing;
use crate::topology::Topology;
use sensormark_kit::{offer, on_request};
use sensormark_store::{
    Capability, DefaultSelection, Encoding, Extremes, Family, Index, Layout, LayoutOption, Operation,
    QueryStyle, Schema, Scope, Shape, Table, TagPlacement, TimeKey, WriteMethod,
};

/// What this store offers for a schema and a family.
pub(crate) fn layouts(schema: &Schema, family: Family) -> Vec<LayoutOption> {
    let base = Layout::row_per_reading();
    match family {
        Family::PerReading => per_reading(schema, base),
        Family::PerSpan { span_ns } => per_span(schema, base, span_ns),
        Family::Bucketed { limit, per_ns, split } => {
            let shape = |extremes| Shape::Bucketed { limit, per_ns, split, extremes };
            let layout = |extremes| base.with_shape(shape(extremes));
            bucketed(layout(Extremes::PerPart), layout(Extremes::PerBucket))
        }
        Family::GrowingArray => vec![offer(
            "",
            base.with_shape(Shape::GrowingArray).with_index(Index::Series),
            DefaultSelection::Usual,
            "document a series {_id: its tags, samples: [{timestamp: int64 ns, fields…}]}, growing by $push until 16 MiB",
        )],
        Family::Summary { .. } => Vec::new(),
    }
}

fn native(layout: Layout) -> Layout {
    layout.with_time(TimeKey::Native)
}

fn unindexed(layout: Layout) -> Layout {
    layout.with_index(Index::None)
}

/// The study's index on device and day, where the rule (`SeriesKey`) has the thing between them.
fn first_tag_indexed(layout: Layout) -> Layout {
    layout.with_index(Index::FirstTagTime)
}

fn unordered(layout: Layout) -> Layout {
    layout.with_write(WriteMethod::FastPath)
}

fn time_series(layout: Layout) -> Layout {
    Layout {
        shape: Shape::NativeTimeSeries,
        tags: TagPlacement::Subdocument,
        time: TimeKey::Native,
        ..layout
    }
}

/// Dates of milliseconds are measured too where there is one series of one device, as published; else on request.
fn selection_of_dates(schema: &Schema) -> DefaultSelection {
    if schema.tables.iter().all(|table| table.tags.is_empty()) {
        DefaultSelection::Further
    } else {
        DefaultSelection::OnRequest
    }
}

fn per_reading(schema: &Schema, usual: Layout) -> Vec<LayoutOption> {
    let is_tagged = |table: &Table| !table.tags.is_empty();
    let tagged = schema.tables.iter().any(is_tagged);
    let further = if tagged { DefaultSelection::Further } else { DefaultSelection::OnRequest };
    let mut offers = vec![
        offer(
            "",
            usual,
            DefaultSelection::Usual,
            "a collection a table, document a reading {time: int64 ns, tags…, fields… or sensors: [values]}, index on (series, time)",
        ),
        offer(
            "dates",
            native(usual),
            selection_of_dates(schema),
            "document a reading keyed by a BSON date: times are cut to milliseconds",
        ),
        offer(
            "time-series",
            time_series(usual),
            further,
            "time-series collection a table {time: date of milliseconds, tags: metaField, fields…}, index on (series, time)",
        ),
        on_request("no-index", unindexed(usual), "document a reading, no index but _id"),
        on_request("unordered", unordered(usual), "document a reading; a batch is an unordered insert"),
    ];
    if tagged {
        let series = usual.with_index(Index::Series);
        offers.push(on_request("series-index", series, "document a reading, index on the series alone"));
    }
    if schema.tables.len() > 1 && schema.tables.iter().all(is_tagged) {
        offers.extend(shared_collection(usual));
    }
    offers
}

fn shared_collection(usual: Layout) -> [LayoutOption; 2] {
    let published = Layout { tags: TagPlacement::KeyValueArray, scope: Scope::Shared, ..usual };
    [
        offer(
            "as-published",
            published,
            DefaultSelection::Further,
            "one collection, document a point {measurement, tags: [{key, val}…], fields: {…}, timestamp_ns: int64}, \
             multikey index (measurement, tags, timestamp_ns)",
        ),
        on_request(
            "tags-subdocument",
            published.with_tags(TagPlacement::Subdocument),
            "one collection, document a point {measurement, tags: {…}, fields: {…}, timestamp_ns: int64}, \
             index (measurement, the tag that names the series, timestamp_ns)",
        ),
    ]
}

fn per_span(schema: &Schema, base: Layout, span_ns: i64) -> Vec<LayoutOption> {
    let usual = base.with_shape(Shape::RecordPerSpan { span_ns, encoding: Encoding::Documents });
    vec![
        offer(
            "",
            usual,
            DefaultSelection::Usual,
            "document a span of a series {time: int64 ns, tags…, measurements: [{time: int64 ns, fields… or sensors: [values]}]}",
        ),
        offer(
            "dates",
            native(usual),
            selection_of_dates(schema),
            "the same with BSON dates: times are cut to milliseconds",
        ),
        on_request("no-index", unindexed(usual), "document a span of a series, no index but _id"),
    ]
}

fn asked(layout: Layout, queries: QueryStyle) -> Layout {
    Layout { queries, ..layout }
}

fn bucketed(usual: Layout, one_pair: Layout) -> Vec<LayoutOption> {
    let published = asked(native(one_pair), QueryStyle::UnwindFirst);
    vec![
        offer(
            "",
            usual,
            DefaultSelection::Usual,
            "document a device (all tags but the last) and day, filled by upserts: properties.<last tag>.{samples, and by field \
             nsamples, sum, min, max, each {day, night}}; index on (device's tags, day)",
        ),
        offer(
            "no-index",
            unindexed(usual),
            DefaultSelection::Further,
            "the same documents, no index but _id",
        ),
        on_request(
            "first-tag-index",
            first_tag_indexed(usual),
            "the same documents, index on (first tag, day)",
        ),
        on_request("dates", native(usual), "the same with BSON dates: times are cut to milliseconds"),
        on_request(
            "back-filled",
            unordered(usual),
            "the same documents, made ready in the client and inserted whole",
        ),
        on_request(
            "unwind",
            asked(usual, QueryStyle::UnwindFirst),
            "the same documents; asked by $match (day) → $project → $unwind → $match (time) → $group: each reading is taken out \
             before it is compared, and a range comes as one document (at most 16 MiB)",
        ),
        on_request(
            "set-window-fields",
            asked(usual, QueryStyle::WindowFunctions),
            "the same documents; asked as by unwind, and means by $setWindowFields, which needs MongoDB 5.0",
        ),
        on_request(
            "one-min-max",
            one_pair,
            "the same documents with one min and one max a field, beside nsamples and sum by {day, night}",
        ),
        on_request(
            "as-published",
            unindexed(published),
            "BSON dates, one min and one max a field, asked as by unwind; no index but _id",
        ),
        on_request(
            "as-published-indexed",
            first_tag_indexed(published),
            "BSON dates, one min and one max a field, asked as by unwind; index on (first tag, day)",
        ),
    ]
}

/// Whether a bucket keeps one smallest and one largest value of a field, not one by day and one by night.
pub(crate) fn has_one_pair(shape: Shape) -> bool {
    matches!(shape, Shape::Bucketed { extremes: Extremes::PerBucket, .. })
}

/// How the store does an operation.
pub(crate) fn capability(operation: Operation, layout: &Layout, _: &Table, topology: Topology) -> Capability {
    if let Some(missing) = missing(layout) {
        return Capability::Unsupported(missing.to_owned());
    }
    let unsupported = |reason: &str| Capability::Unsupported(reason.to_owned());
    match operation {
        Operation::UpsertAtomically if layout.shape == Shape::NativeTimeSeries => {
            unsupported("time-series collections refuse writes in transactions")
        }
        Operation::UpsertAtomically => topology.transactions(),
        Operation::FromSums | Operation::ExtremesOfPartsFromSums
            if !matches!(layout.shape, Shape::Bucketed { .. }) =>
        {
            unsupported("only the bucketed layout keeps sums")
        }
        Operation::ExtremesOfPartsFromSums if has_one_pair(layout.shape) => {
            unsupported("a bucket keeps one smallest and one largest value for day and night")
        }
        _ => Capability::Native,
    }
}
