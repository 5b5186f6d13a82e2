//! The machine-tool workload: a source sends 1,000 samples a second through the kernel's queue to a writer, and a
//! reader finds and sums machine cycles (study 000).
//!
//! The flow: [`source`] → [`queue`] → [`writer`] → database → [`reader`], each a process of its own, started and watched by
//! [`runner`] with [`write_trial`] and [`read_trial`]; [`answers`] computes what the reader should have found. It is not the signal itself, which is
//! `dataset::machine_tool`, and knows no database.

pub mod parameters;

pub mod source;

pub mod queue;

pub mod start;

pub mod writer;

pub mod cycle;

pub mod reader;

pub mod read_cycle;

pub mod answers;

pub mod cells;

pub mod trial;

pub mod runner;

pub mod explain;

pub mod write_trial;

mod write_account;

pub mod read_trial;

use crate::dataset::machine_tool::CHANNELS;
use sensormark_store::{Field, FieldType, Schema, Series, Table, TimeResolution};

pub use parameters::Parameters;

/// The workload's name.
pub const NAME: &str = "machine-tool";

/// The span of one record of the bulk layouts, in ns: a second.
pub const SPAN_NS: i64 = 1_000_000_000;

/// One table, no tags, five channels of 16 bits, times as finely as the layout keeps them.
pub fn schema(time_resolution: TimeResolution) -> Schema {
    let field = |channel: usize| Field {
        name: format!("m{channel}"),
        kind: FieldType::U16,
        nullable: false,
    };
    Schema {
        tables: vec![Table {
            name: "measurement".to_owned(),
            tags: Vec::new(),
            fields: (0..CHANNELS).map(field).collect(),
            entity: None,
            time_resolution,
            series: Series::single(),
        }],
    }
}
