//! The layouts on offer, each family's usual one first, and what the store can do with a layout.
//!
//! It decides by the schema's form alone: tags, types of fields, resolution of time.

use super::{field_type, is_short};
use sensormark_kit::{offer, on_request};
use sensormark_relational::layouts;
use sensormark_relational::table::SECOND_NS;
use sensormark_store::{
    Capability, DefaultSelection, Encoding, Family, FieldType, Index, Layout, LayoutOption, Operation,
    QueryStyle, Schema, Scope, Shape, Table, TagPlacement, TimeKey, WriteMethod,
};

/// What this store offers for a schema and a family.
pub(crate) fn layouts(schema: &Schema, family: Family) -> Vec<LayoutOption> {
    let fits = |offer: &LayoutOption| {
        let mut tables = schema.tables.iter();
        tables.all(|table| missing(&offer.layout, table).is_none())
    };
    let mut offers = known(schema, family);
    offers.retain(fits);
    offers
}

/// The layouts of a family, whatever the schema's tables hold.
fn known(schema: &Schema, family: Family) -> Vec<LayoutOption> {
    let usual = layouts::usual(schema);
    match family {
        Family::PerReading => per_reading(schema, usual),
        Family::PerSpan { span_ns } => vec![offer(
            "",
            usual.with_shape(Shape::RecordPerSpan { span_ns, encoding: Encoding::Json }),
            DefaultSelection::Usual,
            if span_ns == SECOND_NS {
                "row a second of a series (second bigint, size int unsigned, measurements json), index on second"
            } else {
                "row a span of a series (span bigint, size int unsigned, measurements json), index on span"
            },
        )],
        Family::Summary { per_ns, split } => {
            let layout = usual.with_shape(Shape::Summary { per_ns, split });
            vec![
                offer(
                    "",
                    layout,
                    DefaultSelection::Usual,
                    "row a reading, and a table of sums by series, period and part of the day, kept by INSERT … ON DUPLICATE KEY UPDATE in the same transaction",
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

fn per_reading(schema: &Schema, usual: Layout) -> Vec<LayoutOption> {
    let row_per_field = usual.with_shape(Shape::RowPerField);
    let row = "row a reading (time bigint in ns, a column a field), index on (series, time)";
    let mut offers = Vec::new();
    match row_per_field_kind(schema) {
        // Channels of one device, as machines and meters have them: one narrow table for all.
        Some(FieldType::U16) if schema.tables.iter().all(|table| table.tags.is_empty()) => {
            offers.push(offer(
                "",
                row_per_field,
                DefaultSelection::Usual,
                "row a channel of a reading (second bigint, nanosecond int, number and measurement smallint unsigned), index on (second, nanosecond), one commit a reading",
            ));
            offers.push(offer("row-per-reading", usual, DefaultSelection::Further, row));
        }
        kind => {
            offers.push(offer("", usual, DefaultSelection::Usual, row));
            if let Some(kind) = kind {
                let value = field_type(kind).to_lowercase();
                offers.push(offer(
                    "row-per-field",
                    row_per_field,
                    DefaultSelection::OnRequest,
                    format!("row a field of a reading (second bigint, nanosecond int, number smallint unsigned, measurement {value})"),
                ));
            }
        }
    }
    let first = offers[0].layout;
    offers.extend(index_variants(schema, first));
    offers.extend(write_variants(first));
    offers
}

/// The one type of all fields, where a row a field is possible and not the same as a row a reading.
fn row_per_field_kind(schema: &Schema) -> Option<FieldType> {
    let mut fields = schema.tables.iter().flat_map(|table| &table.fields);
    let kind = fields.next()?.kind;
    let several = schema.tables.iter().any(|table| table.fields.len() > 1);
    (several && fields.all(|field| field.kind == kind)).then_some(kind)
}

fn index_variants(schema: &Schema, usual: Layout) -> Vec<LayoutOption> {
    let no_index = usual.with_index(Index::None);
    let mut offers = vec![on_request("no-index", no_index, "the same rows without an index")];
    if usual.shape == Shape::RowPerReading {
        let clustered = usual.with_index(Index::Clustered);
        // How InnoDB likes it best: rows of a series side by side. Of one series, rows come in that order anyhow.
        let default_selection =
            if schema.has_tags() { DefaultSelection::Further } else { DefaultSelection::OnRequest };
        offers.push(offer(
            "clustered",
            clustered,
            default_selection,
            "row a reading, kept in the order of PRIMARY KEY (series, time); refuses repeated readings",
        ));
    }
    if schema.has_tags() {
        offers.extend(tag_variants(schema, usual));
    }
    offers
}

/// Variants that make a difference where there are tags.
fn tag_variants(schema: &Schema, usual: Layout) -> Vec<LayoutOption> {
    let mut offers = Vec::new();
    let by_series = usual.with_index(Index::Series);
    // Where the series belong to something, a foreign key brings this index unasked.
    let default_selection =
        if layouts::has_entities(schema) { DefaultSelection::Further } else { DefaultSelection::OnRequest };
    offers.push(offer(
        "series-index",
        by_series,
        default_selection,
        "row a reading, index on the series alone, as a foreign key brings it",
    ));
    if layouts::has_entities(schema) {
        offers.push(on_request(
            "foreign-key",
            Layout { foreign_key: true, ..by_series },
            "the same with the foreign key itself: a reading without its entity is refused",
        ));
    }
    offers.push(layouts::other_tags(
        usual,
        "row a reading with all its tags in it",
        "row a reading with the series' number; tags in a table of their own",
    ));
    offers
}

fn write_variants(usual: Layout) -> Vec<LayoutOption> {
    [
        (
            "concatenated",
            WriteMethod::ConcatenatedStatements,
            "a batch is one string of INSERT statements between START TRANSACTION and COMMIT",
        ),
        ("multi-row", WriteMethod::MultiRow, "a batch is one INSERT with many rows, as text"),
        ("load-data", WriteMethod::FastPath, "a batch is one LOAD DATA LOCAL INFILE, streamed from columns"),
    ]
    .map(|(variant, write, description)| {
        offer(variant, usual.with_write(write), DefaultSelection::OnRequest, description)
    })
    .to_vec()
}

/// Why the store does not have this layout for this table, if it does not.
pub(crate) fn missing(layout: &Layout, table: &Table) -> Option<String> {
    let rows = matches!(layout.shape, Shape::RowPerReading | Shape::RowPerField);
    let text = match layout.shape {
        Shape::Bucketed { .. } | Shape::GrowingArray => {
            "records that grow are for document databases: MariaDB would rewrite the document with each reading"
        }
        Shape::NativeTimeSeries => "MariaDB has no container for time series",
        Shape::RecordPerSpan { encoding, .. } if encoding != Encoding::Json => {
            "MariaDB keeps JSON as text: the encoding of a record is json"
        }
        Shape::RowPerField if table.fields.windows(2).any(|pair| pair[0].kind != pair[1].kind) => {
            "a row a field has one column of values: all fields must be of one type"
        }
        _ if layout.index == Index::Clustered && layout.shape != Shape::RowPerReading => {
            "a clustered primary key is for rows of readings: records of a span repeat"
        }
        _ if layout.index == Index::Clustered && layout.write == WriteMethod::FastPath => {
            "LOAD DATA LOCAL skips repeated keys instead of refusing them"
        }
        _ if layout.write != WriteMethod::Usual && !rows => {
            "other ways of writing are for rows of readings alone"
        }
        _ if layout.index == Index::FirstTagTime => "an index holds all tags that tell series apart",
        _ if layout.write == WriteMethod::Datagram => "MariaDB takes no datagrams",
        _ if matches!(layout.tags, TagPlacement::Subdocument | TagPlacement::KeyValueArray) => {
            "tags are columns, inline or in a table of their own"
        }
        _ if layout.scope != Scope::PerTable => {
            "one table for each table of the schema, series side by side, is how MariaDB is used"
        }
        _ if layout.time == TimeKey::Native => {
            "keys of time are integers: DATETIME(6) keeps whole microseconds"
        }
        _ if layout.tags == TagPlacement::Inline && !table.series.columns().iter().all(is_short) => {
            "a tag of over 190 characters does not fit into an InnoDB key as a whole: keep tags in a table of their own"
        }
        _ if layout.queries != QueryStyle::Usual => "MariaDB is asked in one way",
        _ => return None,
    };
    Some(text.to_owned())
}

/// How the store does an operation: natively, or not at all.
pub(crate) fn capability(operation: Operation, layout: &Layout, table: &Table) -> Capability {
    if let Some(missing) = missing(layout, table) {
        return Capability::Unsupported(missing);
    }
    layouts::capability(operation, layout)
}
