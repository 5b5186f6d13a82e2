//! The layouts on offer, and what the others lack. How a layout becomes tables is the relational planner's, with the choices in
//! [`crate::dialect`].

pub(crate) mod layout_options;
#[cfg(test)]
mod pins;

use sensormark_relational::physical_schema::OWNER_TABLE;
use sensormark_store::{Encoding, Index, Layout, QueryStyle, Shape, TagPlacement, TimeKey, WriteMethod};

/// The owner's table; its one row is inserted with the mark as a parameter.
pub(crate) fn owner_table() -> String {
    format!("CREATE TABLE \"{OWNER_TABLE}\" (mark text NOT NULL)")
}

/// What a layout that this store does not have lacks, in words.
pub(crate) fn missing(layout: &Layout) -> Option<String> {
    let per_row = matches!(layout.shape, Shape::RowPerReading | Shape::RowPerField);
    let text = match layout.shape {
        Shape::Bucketed { .. } | Shape::GrowingArray | Shape::NativeTimeSeries => {
            "PostgreSQL users keep rows, not records that fill up; it has no container for time series of its own"
        }
        Shape::RecordPerSpan { encoding: Encoding::Blob | Encoding::Documents, .. } => {
            "records of a span are JSON, JSONB or arrays here"
        }
        Shape::Summary { .. } | Shape::RecordPerSpan { .. } if layout.time == TimeKey::Native => {
            "timestamptz keys are for rows of readings alone"
        }
        Shape::Summary { .. } | Shape::RecordPerSpan { .. } if layout.write != WriteMethod::Usual => {
            "other ways of writing are for rows of readings alone"
        }
        _ if layout.index == Index::Clustered => {
            "PostgreSQL keeps no table in the order of a key: CLUSTER sorts once and is not kept up"
        }
        _ if layout.index == Index::FirstTagTime => "an index holds all tags that tell series apart",
        _ if layout.write == WriteMethod::Datagram => "PostgreSQL takes no datagrams",
        _ if matches!(layout.tags, TagPlacement::Subdocument | TagPlacement::KeyValueArray) => {
            "tags are columns, inline or in a table of their own"
        }
        _ if layout.scope != sensormark_store::Scope::PerTable => {
            "one table for each table of the schema, series side by side, is how PostgreSQL is used"
        }
        _ if layout.queries != QueryStyle::Usual => "PostgreSQL is asked in one way",
        _ if layout.time == TimeKey::Native && !per_row => "timestamptz keys are for rows alone",
        _ => return None,
    };
    Some(text.to_owned())
}
