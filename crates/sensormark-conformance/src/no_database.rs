//! What the null and the memory store say of themselves, because neither has a database behind it: where they are, that they have no server, and sizes.

use sensormark_store::error::StoreError;
use sensormark_store::layout::{Encoding, Extremes, Family, Layout, Shape};
use sensormark_store::server::Installation;
use sensormark_store::write_size::WriteSize;
use std::path::PathBuf;

/// The plainest layout of a family: all readings are kept in the same way.
pub(crate) const fn plain(family: Family) -> Layout {
    let mut layout = Layout::row_per_reading();
    layout.shape = match family {
        Family::PerReading => Shape::RowPerReading,
        Family::PerSpan { span_ns } => Shape::RecordPerSpan { span_ns, encoding: Encoding::Blob },
        Family::Bucketed { limit, per_ns, split } => {
            Shape::Bucketed { limit, per_ns, split, extremes: Extremes::PerPart }
        }
        Family::Summary { per_ns, split } => Shape::Summary { per_ns, split },
        Family::GrowingArray => Shape::GrowingArray,
    };
    layout
}

/// The program itself.
pub(crate) fn installation() -> Installation {
    Installation {
        path: PathBuf::new(),
        version: env!("CARGO_PKG_VERSION").to_owned(),
        origin: "part of sensormark".to_owned(),
    }
}

/// That there is no server of the store of this name.
pub(crate) fn no_server(name: &str) -> StoreError {
    let operation = format!("start a server of the {name} store");
    StoreError::unsupported(operation, "it has none; use it as an embedded store")
}

/// As good as any.
pub(crate) const fn write_size() -> WriteSize {
    WriteSize {
        readings: 1_000,
        bytes: usize::MAX,
        reading_bytes: 1,
        advice: "No database is behind it; 1,000 readings.",
        link: "https://doc.rust-lang.org/std/collections/",
    }
}
