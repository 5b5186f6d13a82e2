//! Records of a span as PostgreSQL takes them: a document, or arrays.

use crate::cell::array;
use crate::cell::native;
use sensormark_relational::cell::Cell;
use sensormark_relational::column_type::ColumnType;
use sensormark_relational::write::arrays::EncodeArray;
use sensormark_store::record::{Record, json};
use sensormark_store::{Batch, Encoding};

/// Arrays in the binary form.
pub(crate) struct BinaryArrays;

impl EncodeArray for BinaryArrays {
    fn encode<'a>(kind: ColumnType, count: usize, cells: impl Iterator<Item = Cell<'a>>) -> Vec<u8> {
        array(&native(kind), count, cells)
    }
}

/// A record's document; the binary form of jsonb is its version, 1, and the same text.
pub(crate) fn document(batch: &Batch, record: &Record<'_>, encoding: Encoding) -> Vec<u8> {
    let readings = record.readings();
    let mut out = Vec::with_capacity(32 + readings * (20 + 8 * batch.columns.len()));
    if encoding == Encoding::BinaryJson {
        out.push(1);
    }
    json::encode(batch, record, &mut out);
    out
}
