//! The layouts on offer, each family's usual one first.

use super::missing;
use sensormark_kit::{offer, on_request};
use sensormark_relational::layouts;
use sensormark_store::{
    Capability, DefaultSelection, Encoding, Family, Index, Layout, LayoutOption, Operation, Schema, Shape,
    Table, TimeKey, TimeResolution, WriteMethod,
};

/// What this store offers for a schema and a family.
pub(crate) fn layouts(schema: &Schema, family: Family) -> Vec<LayoutOption> {
    let usual = layouts::usual(schema);
    match family {
        Family::PerReading => {
            let mut offers = vec![offer(
                "",
                usual,
                DefaultSelection::Usual,
                "row a reading, btree on (series, time); prepared INSERT for one, binary COPY for many",
            )];
            offers.extend(row_per_field(schema, usual));
            offers.extend(row_variants(schema, usual));
            offers
        }
        Family::PerSpan { span_ns } => per_span(usual, span_ns),
        Family::Summary { per_ns, split } => {
            let layout = usual.with_shape(Shape::Summary { per_ns, split });
            vec![
                offer(
                    "",
                    layout,
                    DefaultSelection::Usual,
                    "row a reading, and a table of sums by series, period and part of the day, upserted in the same statement",
                ),
                offer(
                    "no-index",
                    layout.with_index(Index::None),
                    DefaultSelection::OnRequest,
                    "the same without an index on the readings",
                ),
            ]
        }
        Family::Bucketed { .. } | Family::GrowingArray => Vec::new(),
    }
}

/// A row a channel is measured where all fields are alike and few, as channels of one device are.
fn row_per_field(schema: &Schema, usual: Layout) -> Option<LayoutOption> {
    if schema.tables.iter().all(|table| table.fields.len() < 2) {
        return None;
    }
    let alike = |table: &Table| {
        table.fields.len() <= 8
            && table.fields.iter().all(|field| field.kind == table.fields[0].kind && !field.nullable)
    };
    let default_selection =
        if schema.tables.iter().all(alike) { DefaultSelection::Further } else { DefaultSelection::OnRequest };
    Some(offer(
        "row-per-field",
        usual.with_shape(Shape::RowPerField),
        default_selection,
        "row a field of a reading (series, time, field, value), btree on (series, time)",
    ))
}

fn row_variants(schema: &Schema, usual: Layout) -> Vec<LayoutOption> {
    let without = usual.with_index(Index::None);
    let mut offers = vec![on_request("no-index", without, "row a reading, no index")];
    if schema.has_tags() {
        offers.extend(tag_variants(usual));
    }
    if layouts::has_entities(schema) {
        let layout = Layout { index: Index::Series, foreign_key: true, ..usual };
        offers.push(on_request(
            "foreign-key",
            layout,
            "row a reading, btree on the series alone, and a foreign key: a reading without its entity is refused",
        ));
    }
    if schema.tables.iter().all(|table| table.time_resolution >= TimeResolution::Microseconds) {
        let layout = usual.with_time(TimeKey::Native);
        offers.push(on_request(
            "timestamptz",
            layout,
            "row a reading keyed by timestamptz (whole microseconds)",
        ));
    }
    for (variant, write, description) in WAYS_OF_WRITING {
        offers.push(on_request(variant, usual.with_write(write), description));
    }
    offers
}

const WAYS_OF_WRITING: [(&str, WriteMethod, &str); 3] = [
    (
        "concatenated",
        WriteMethod::ConcatenatedStatements,
        "row a reading; a batch is one string of INSERT statements",
    ),
    (
        "multi-row",
        WriteMethod::MultiRow,
        "row a reading; a batch is one INSERT of many rows, 65,535 values at most",
    ),
    ("copy", WriteMethod::FastPath, "row a reading; every write is a binary COPY"),
];

fn tag_variants(usual: Layout) -> [LayoutOption; 2] {
    [
        on_request(
            "series-index",
            usual.with_index(Index::Series),
            "row a reading, btree on the series alone",
        ),
        layouts::other_tags(
            usual,
            "row a reading with its tags in it",
            "row a reading with the series' number; tags in a table of their own",
        ),
    ]
}

fn per_span(usual: Layout, span_ns: i64) -> Vec<LayoutOption> {
    [
        (
            "",
            Encoding::BinaryJson,
            DefaultSelection::Usual,
            "row a span of a series, its readings in a jsonb document",
        ),
        (
            "arrays",
            Encoding::Arrays,
            DefaultSelection::Further,
            "row a span of a series, its readings in arrays, one a field",
        ),
        (
            "json-text",
            Encoding::Json,
            DefaultSelection::OnRequest,
            "row a span of a series, its readings in a json document kept as text",
        ),
    ]
    .map(|(variant, encoding, default_selection, description)| {
        let layout = usual.with_shape(Shape::RecordPerSpan { span_ns, encoding });
        offer(variant, layout, default_selection, description)
    })
    .to_vec()
}

/// How the store does an operation: natively, or not at all.
pub(crate) fn capability(operation: Operation, layout: &Layout, _: &Table) -> Capability {
    if let Some(missing) = missing(layout) {
        return Capability::Unsupported(missing);
    }
    layouts::capability(operation, layout)
}
