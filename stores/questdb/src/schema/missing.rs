//! What a layout that QuestDB does not have lacks.

use sensormark_store::{Index, Layout, QueryStyle, Scope, Shape, TagPlacement, TimeKey, WriteMethod};

/// What a layout that this store does not have lacks, in words.
pub(crate) fn missing(layout: &Layout) -> Option<String> {
    let text = match layout.shape {
        Shape::RowPerReading => return missing_in_rows(layout).map(str::to_owned),
        Shape::RowPerField => {
            "tables in QuestDB are wide: a column takes no part in a question that does not name it"
        }
        Shape::RecordPerSpan { .. } => "records of a span would hide readings from QuestDB's columns",
        Shape::Summary { .. } => {
            "QuestDB has no unique key, so no statement adds to sums; its views of sums are made afterwards"
        }
        Shape::Bucketed { .. } | Shape::GrowingArray | Shape::NativeTimeSeries => {
            "QuestDB keeps rows, not documents that fill up"
        }
    };
    Some(text.to_owned())
}

fn missing_in_rows(layout: &Layout) -> Option<&'static str> {
    if layout.tags != TagPlacement::Inline {
        return Some("tags are symbols in each row, which QuestDB keeps as numbers already");
    }
    if !matches!(layout.index, Index::SeriesTime | Index::None) {
        return Some("a table is in the order of time; what can be chosen is an index on its symbols");
    }
    if layout.time != TimeKey::Native {
        return Some("a table's time is a TIMESTAMP_NS, which holds every nanosecond");
    }
    if layout.scope != Scope::PerTable {
        return Some("one table for each table of the schema is how QuestDB is used");
    }
    if layout.write != WriteMethod::Usual {
        return Some("lines over HTTP are the way of writing that QuestDB's documentation advises");
    }
    if layout.foreign_key {
        return Some("QuestDB has no foreign keys");
    }
    if layout.queries != QueryStyle::Usual {
        return Some("QuestDB is asked in one way");
    }
    None
}
