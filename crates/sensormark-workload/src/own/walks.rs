//! All walks of a measurement, from any turn on. Writers read them, and so does who knows what was written.
//!
//! Writers come to their turns nearly in order, so the one cursor that they share hardly ever goes back. What is kept for going back does not grow with the data.
//! Who asks goes along single walks from a position kept for every hour: 8 bytes an hour and walk, as far as was asked.

use sensormark_data::devops::{Cursor, Devops, Position, TICKS_AN_HOUR, Track};
use sensormark_data::shapes::shape::Walked;
use sensormark_store::Batch;
use std::collections::VecDeque;
use std::ops::Range;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// So many positions just passed are kept: writers come to their turns a little out of order.
const RECENT: usize = 12;
/// So many positions at most are kept over all of the data.
const KEPT: usize = 48;

/// The walks of a measurement.
#[derive(Debug)]
pub struct Walks {
    data: Devops,
    measurement: usize,
    lane: Mutex<Lane>,
    hours: Mutex<Hours>,
}

/// A cursor that goes to any turn.
#[derive(Debug)]
struct Lane {
    cursor: Cursor,
    /// Positions that were just passed.
    recent: VecDeque<Position>,
    /// Positions over all of the data, ascending.
    kept: Vec<Position>,
    /// Turns from one to the next of those.
    spacing: u64,
}

/// Positions at the beginning of each hour, and a cursor at the first of which there is none.
#[derive(Debug)]
struct Hours {
    cursor: Cursor,
    kept: Vec<Position>,
}

fn lock<T>(of: &Mutex<T>) -> MutexGuard<'_, T> {
    of.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Walks {
    /// All walks of a measurement.
    pub fn new(data: Devops, measurement: usize) -> Self {
        let cursor = || data.cursor(measurement, 0..data.hosts);
        let hours = Mutex::new(Hours { cursor: cursor(), kept: Vec::new() });
        Self { data, measurement, lane: Mutex::new(Lane::new(cursor())), hours }
    }
}

impl Walked for Walks {
    fn fill(&self, hosts: Range<u32>, turns: Range<u64>, batch: &mut Batch) {
        let mut lane = lock(&self.lane);
        if lane.cursor.hosts != hosts {
            *lane = Lane::new(self.data.cursor(self.measurement, hosts));
        }
        lane.seek(turns.start);
        lane.cursor.fill(turns.end - turns.start, batch);
        lane.keep();
    }

    fn track(&self, field: usize, host: u32, tick: u64) -> Option<Track> {
        let Hours { cursor, kept } = &mut *lock(&self.hours);
        let hour = usize::try_from(tick / TICKS_AN_HOUR).ok()?;
        while kept.len() <= hour {
            kept.push(cursor.position.clone());
            cursor.skip(TICKS_AN_HOUR * u64::from(self.data.hosts));
        }
        cursor.track(&kept[hour], field, host)
    }
}

impl Lane {
    fn new(cursor: Cursor) -> Self {
        let kept = vec![cursor.position.clone()];
        Self { kept, recent: VecDeque::new(), spacing: TICKS_AN_HOUR * cursor.hosts.len() as u64, cursor }
    }

    /// Puts the cursor before a turn.
    fn seek(&mut self, turn: u64) {
        let own = self.cursor.position.turn;
        if own != turn {
            let all = self.recent.iter().chain(&self.kept);
            let nearest = all.filter(|one| one.turn <= turn).max_by_key(|one| one.turn);
            if let Some(nearest) = nearest.filter(|nearest| own > turn || nearest.turn > own) {
                self.cursor.position.clone_from(nearest);
            }
            self.cursor.skip(turn - self.cursor.position.turn);
            self.keep();
        }
    }

    /// Keeps where the cursor stands, where that is a tick or more from the last one.
    fn keep(&mut self) {
        let position = &self.cursor.position;
        let near = self.cursor.hosts.len() as u64;
        if self.recent.back().is_none_or(|newest| newest.turn.abs_diff(position.turn) >= near) {
            if self.recent.len() == RECENT {
                self.recent.pop_front();
            }
            self.recent.push_back(position.clone());
        }
        let last = self.kept.last().map_or(0, |position| position.turn);
        if position.turn >= last + self.spacing {
            self.kept.push(position.clone());
            if self.kept.len() == KEPT {
                self.spacing *= 2;
                self.kept = std::mem::take(&mut self.kept).into_iter().step_by(2).collect();
            }
        }
    }
}
