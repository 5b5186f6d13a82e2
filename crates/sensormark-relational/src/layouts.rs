//! What the layouts that relational stores offer have in common.
//!
//! A store says which layouts it has, in its database's words. Here is what all of them begin with.

use sensormark_kit::on_request;
use sensormark_store::{
    Capability, Layout, LayoutOption, Operation, Schema, Scope, Shape, Table, TagPlacement,
};

/// Why a layout without sums refuses to answer from sums.
pub const NO_SUMS: &str = "only the layout with a summary keeps sums";

/// Whether a table of the schema has an entity.
pub fn has_entities(schema: &Schema) -> bool {
    schema.tables.iter().any(|table| table.entity.is_some())
}

/// A row a reading. Tags are in a table of their own where series have several, because each row would repeat them.
pub fn usual(schema: &Schema) -> Layout {
    let several = schema.tables.iter().any(|table| table.tags.len() > 1);
    let tags = if several { TagPlacement::OwnTable } else { TagPlacement::Inline };
    Layout::row_per_reading().with_tags(tags)
}

/// A layout with its tags where they usually are not: in every row, or in a table of their own. The store describes each.
pub fn other_tags(usual: Layout, inline: &str, own_table: &str) -> LayoutOption {
    let (variant, tags, description) = if usual.tags == TagPlacement::OwnTable {
        ("tags-inline", TagPlacement::Inline, inline)
    } else {
        ("tags-in-table", TagPlacement::OwnTable, own_table)
    };
    on_request(variant, usual.with_tags(tags), description)
}

/// The values of a reading in one row: tags or the series' number, time, fields.
pub fn values_in_a_row(layout: &Layout, table: &Table) -> usize {
    let tags = match layout.tags {
        TagPlacement::OwnTable => table.tags.len().min(1),
        _ => table.tags.len(),
    };
    tags + table.fields.len() + 1
}

/// Why an embedded relational database does not have a layout, where that does not depend on which one it is.
pub const fn not_embedded(layout: &Layout) -> Option<&'static str> {
    use sensormark_store::WriteMethod::Datagram;
    match (layout.shape, layout.scope, layout.tags, layout.write) {
        (Shape::RecordPerSpan { span_ns, .. }, ..) if span_ns <= 0 => Some("a span lasts at least 1 ns"),
        (Shape::Summary { per_ns, .. }, ..) if per_ns <= 0 => Some("a period lasts at least 1 ns"),
        (_, Scope::Shared | Scope::PerSeries, ..) => Some("a table for each of the schema's is offered"),
        (_, _, TagPlacement::Subdocument | TagPlacement::KeyValueArray, _) => {
            Some("tags are columns, or rows of their own table")
        }
        (_, _, _, Datagram) => Some("an embedded database gets no datagrams"),
        _ => None,
    }
}

/// Whether a statement answers this operation, which [`Operation::is_derived`], in this layout: not a grid, and not several fields where each is a row.
pub fn derives(operation: Operation, layout: &Layout) -> bool {
    match operation {
        Operation::Interpolated => false,
        Operation::RowsByValue | Operation::Correlation | Operation::CrossMean | Operation::Nearest => {
            layout.shape != Shape::RowPerField
        }
        _ => true,
    }
}

/// What a relational store says of an operation by the layout alone: native, or no sums to answer from.
pub fn capability(operation: Operation, layout: &Layout) -> Capability {
    match operation {
        Operation::FromSums | Operation::ExtremesOfPartsFromSums
            if !matches!(layout.shape, Shape::Summary { .. }) =>
        {
            Capability::Unsupported(NO_SUMS.to_owned())
        }
        _ => Capability::Native,
    }
}
