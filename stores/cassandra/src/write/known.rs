//! What a session knows to be stored, so that it writes it once.

use crate::schema::PhysicalSchema;
use std::collections::HashSet;
use std::hash::{BuildHasher, RandomState};
use std::time::{SystemTime, UNIX_EPOCH};

/// What a session knows to be stored already.
#[derive(Debug)]
pub(crate) struct Known {
    pub(super) buckets: Vec<HashSet<(u32, i64)>>,
    pub(super) entities: Vec<HashSet<u32>>,
    pub(super) session: u64,
    pub(super) writes: u32,
}

impl Known {
    /// Nothing yet.
    pub(crate) fn new(physical: &PhysicalSchema) -> Self {
        let tables = physical.tables.len();
        Self {
            buckets: vec![HashSet::new(); tables],
            entities: vec![HashSet::new(); tables],
            session: RandomState::new().hash_one(0),
            writes: 0,
        }
    }

    /// A name for a record that no other has: when, by whom, which.
    pub(super) fn name(&mut self) -> [u8; 20] {
        self.writes = self.writes.wrapping_add(1);
        let mut name = [0; 20];
        name[..8].copy_from_slice(&micros().to_be_bytes());
        name[8..12].copy_from_slice(&self.writes.to_be_bytes());
        name[12..].copy_from_slice(&self.session.to_be_bytes());
        name
    }
}

/// Microseconds since the Unix epoch.
pub(super) fn micros() -> i64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    since.map_or(0, |since| i64::try_from(since.as_micros()).unwrap_or(i64::MAX))
}
