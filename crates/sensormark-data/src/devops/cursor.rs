//! Reading the walks in the order of time: a cursor over one measurement of some hosts, and a track along one float's walk of one host.
//!
//! A cursor stands before a tick and holds what every walk shows at it; going on takes one random word a walk. Nothing is computed twice, nothing grows.

use super::fields::{DISK_BYTES, INODE_BYTES, MEASUREMENTS, Rule};
use super::mover::{FloatBounds, Mover, Sink, States};
use super::steps::{Normals, ONE};
use super::{Devops, INTERVAL_NS, fields, time_ns};
use crate::random::Stream;
use sensormark_store::{Batch, Values};
use std::ops::Range;

/// Where all walks of a cursor stand: kept, it leads back to its tick.
#[derive(Debug, Clone, PartialEq)]
pub struct Position {
    tick: u64,
    states: Vec<States>,
}

impl Position {
    /// The tick.
    pub const fn tick(&self) -> u64 {
        self.tick
    }
}

/// Goes through one measurement of some hosts, tick by tick.
#[derive(Debug, Clone)]
pub struct Cursor {
    data: Devops,
    measurement: usize,
    hosts: Range<u32>,
    movers: Vec<Mover>,
    /// What hosts have for ever: boot time and memory, where the measurement has it.
    constants: Vec<(i64, i64)>,
    position: Position,
}

/// Goes along one float's walk of one host.
#[derive(Debug, Clone)]
pub struct Track {
    stream: Stream,
    bounds: FloatBounds,
    tick: u64,
    state: f64,
}

impl Devops {
    /// A cursor over a measurement of some hosts, before the first tick.
    ///
    /// # Panics
    /// When there is no such measurement or host: a defect of the caller.
    #[must_use]
    pub fn cursor(&self, measurement: usize, hosts: Range<u32>) -> Cursor {
        assert!(hosts.end <= self.hosts, "hosts {hosts:?} of {}", self.hosts);
        let rules = MEASUREMENTS[measurement].fields.iter().enumerate();
        let movers: Vec<Mover> = rules
            .filter(|(_, (_, rule))| rule.moves())
            .map(|(field, (_, rule))| self.mover(measurement, field, *rule, hosts.clone()))
            .collect();
        let constant = |host| (self.boot_seconds(host), self.memory_bytes(host));
        let position = Position { tick: 0, states: movers.iter().map(Mover::start).collect() };
        Cursor {
            data: *self,
            measurement,
            constants: hosts.clone().map(constant).collect(),
            hosts,
            movers,
            position,
        }
    }

    fn mover(&self, measurement: usize, field: usize, rule: Rule, hosts: Range<u32>) -> Mover {
        let number = fields::number(measurement, field);
        let stream = |host| Stream::new(self.seed, u64::from(host), number);
        let (step, tops) = match rule {
            Rule::Memory => {
                let top = |host| self.memory_bytes(host) as f64;
                (1.0 / 64.0, hosts.clone().map(top).collect())
            }
            _ => (0.01, vec![100.0; hosts.len()]),
        };
        Mover { field, rule, streams: hosts.map(stream).collect(), tops, step }
    }
}

impl Cursor {
    /// The tick that comes next.
    pub const fn tick(&self) -> u64 {
        self.position.tick
    }

    /// The hosts.
    pub fn hosts(&self) -> Range<u32> {
        self.hosts.clone()
    }

    /// Where it stands.
    pub const fn position(&self) -> &Position {
        &self.position
    }

    /// Puts it where it, or another one like it, has been.
    pub fn set(&mut self, position: &Position) {
        self.position.clone_from(position);
    }

    /// Goes on without readings.
    pub fn skip(&mut self, ticks: u64) {
        let first = self.position.tick;
        for (mover, states) in self.movers.iter().zip(&mut self.position.states) {
            mover.go(self.data.walk, first, ticks, states, Sink::Nowhere);
        }
        self.position.tick += ticks;
    }

    /// Goes on and appends the readings of these ticks to a batch of the measurement's table, in the order of time and then of hosts.
    ///
    /// # Panics
    /// When the batch is not of this table.
    pub fn fill(&mut self, ticks: u64, batch: &mut Batch) {
        assert_eq!(batch.table, self.measurement, "a batch of this measurement");
        let first = self.position.tick;
        let begin = batch.len();
        // A load's clients hold one of these each: no more memory than it takes.
        let more = usize::try_from(ticks).unwrap_or(0) * self.hosts.len();
        batch.series.reserve_exact(more);
        batch.times_ns.reserve_exact(more);
        for tick in first..first + ticks {
            batch.series.extend(self.hosts.clone());
            let time = time_ns(tick);
            batch.times_ns.resize(batch.series.len(), time);
        }
        let end = batch.series.len();
        for column in &mut batch.columns {
            match &mut column.values {
                Values::I64(values) => {
                    values.reserve_exact(end - begin);
                    values.resize(end, 0);
                }
                Values::F64(values) => {
                    values.reserve_exact(end - begin);
                    values.resize(end, 0.0);
                }
                _ => {}
            }
        }
        for (mover, states) in self.movers.iter().zip(&mut self.position.states) {
            let sink = match &mut batch.columns[mover.field].values {
                Values::I64(values) => Sink::Whole(&mut values[begin..]),
                Values::F64(values) => Sink::Float(&mut values[begin..]),
                _ => Sink::Nowhere,
            };
            mover.go(self.data.walk, first, ticks, states, sink);
        }
        let rules = MEASUREMENTS[self.measurement].fields;
        for (field, (_, rule)) in rules.iter().enumerate() {
            if !rule.moves() {
                self.follow(field, *rule, begin, batch);
            }
        }
        self.position.tick += ticks;
    }

    /// The walk of a float field of one host from this position on; none where the field has no such walk.
    pub fn track(&self, field: usize, host: u32) -> Option<Track> {
        let place = host.checked_sub(self.hosts.start)? as usize;
        let number = self.movers.iter().position(|mover| mover.field == field)?;
        let States::Float(states) = &self.position.states[number] else {
            return None;
        };
        let mover = &self.movers[number];
        Some(Track {
            stream: *mover.streams.get(place)?,
            bounds: mover.bounds(self.data.walk, place),
            tick: self.position.tick,
            state: states[place],
        })
    }

    /// Fills a field that has no walk from those that have.
    fn follow(&self, field: usize, rule: Rule, begin: usize, batch: &mut Batch) {
        let mut column = std::mem::replace(&mut batch.columns[field].values, Values::I64(Vec::new()));
        let rows = begin..batch.len();
        match &mut column {
            Values::I64(values) => self.follow_whole(rule, batch, rows, &mut values[begin..]),
            Values::F64(values) => self.follow_float(rule, batch, rows, &mut values[begin..]),
            _ => {}
        }
        batch.columns[field].values = column;
    }

    fn follow_whole(&self, rule: Rule, batch: &Batch, rows: Range<usize>, out: &mut [i64]) {
        let of = |name: &str| &self.whole(batch, name)[rows.clone()];
        let from = |name: &str, out: &mut [i64], show: &dyn Fn(i64) -> i64| {
            out.iter_mut().zip(of(name)).for_each(|(out, value)| *out = show(*value));
        };
        match rule {
            Rule::DiskTotal => out.fill(DISK_BYTES),
            Rule::InodesTotal => out.fill(DISK_BYTES / INODE_BYTES),
            Rule::DiskUsed => from("free", out, &|free| DISK_BYTES - free),
            Rule::DiskUsedPercent => from("free", out, &|free| ((DISK_BYTES - free) * 100) / DISK_BYTES),
            Rule::InodesFree => from("free", out, &|free| free / INODE_BYTES),
            Rule::InodesUsed => from("free", out, &|free| DISK_BYTES / INODE_BYTES - free / INODE_BYTES),
            Rule::Uptime => {
                let times = batch.times_ns[rows].iter();
                let seconds = times.map(|time| (time - super::START_NS) / 1_000_000_000);
                out.iter_mut().zip(seconds).for_each(|(out, seconds)| *out = seconds);
            }
            Rule::Boot => self.each(out, |place, _| self.constants[place].0),
            Rule::MemoryTotal => self.each(out, |place, _| self.constants[place].1),
            Rule::MemoryAvailable => {
                let used = of("used");
                self.each(out, |place, row| self.constants[place].1 - used[row]);
            }
            Rule::MemoryFree => {
                let (used, cached) = (of("used"), of("cached"));
                self.each(out, |place, row| {
                    let total = self.constants[place].1;
                    // The total is whole GiB and the parts are under 2^35: nothing overflows or is lost.
                    ((total - used[row]) >> 10) * ((total - cached[row]) >> 10) / (total >> 20)
                });
            }
            _ => unreachable!("the other rules move, or are floats"),
        }
    }

    fn follow_float(&self, rule: Rule, batch: &Batch, rows: Range<usize>, out: &mut [f64]) {
        let part = match rule {
            Rule::BufferedPercent => self.whole(batch, "buffered"),
            _ => self.whole(batch, "used"),
        };
        let hundredth = |place: usize| 100.0 / self.constants[place].1 as f64;
        let hosts = self.constants.len();
        let hundredths: Vec<f64> = (0..hosts).map(hundredth).collect();
        let is_rest = rule == Rule::AvailablePercent;
        for (out, first) in out.chunks_exact_mut(hosts).zip(rows.step_by(hosts)) {
            for (place, out) in out.iter_mut().enumerate() {
                let part = part[first + place];
                let bytes = if is_rest { self.constants[place].1 - part } else { part };
                *out = bytes as f64 * hundredths[place];
            }
        }
    }

    /// Fills a column, each value by its host's place and its row.
    fn each(&self, out: &mut [i64], value: impl Fn(usize, usize) -> i64) {
        let hosts = self.constants.len();
        out.iter_mut().enumerate().for_each(|(row, out)| *out = value(row % hosts, row));
    }

    /// A column of whole numbers that is filled already.
    fn whole<'b>(&self, batch: &'b Batch, name: &str) -> &'b [i64] {
        let fields = MEASUREMENTS[self.measurement].fields;
        let field = fields.iter().position(|(known, _)| *known == name);
        match field.map(|field| &batch.columns[field].values) {
            Some(Values::I64(values)) => values,
            _ => unreachable!("fields follow others of their measurement"),
        }
    }
}

impl Track {
    /// The tick of the next value.
    pub const fn tick(&self) -> u64 {
        self.tick
    }

    /// Goes on to a tick that is not before the next one.
    pub fn skip_to(&mut self, tick: u64) {
        while self.tick < tick {
            self.next();
        }
    }

    /// The value at the next tick, and on.
    #[inline]
    #[expect(
        clippy::should_implement_trait,
        reason = "it has no end, so that nothing would stop an iterator's user"
    )]
    pub fn next(&mut self) -> f64 {
        let shown = self.bounds.shown(self.state);
        self.tick += 1;
        let normal = Normals::get().float(self.stream.word(self.tick));
        self.state = self.bounds.advance(self.state, normal);
        shown
    }
}

const _: () = {
    // Steps of 2^-20 fit beside the largest counter's value for all ticks, and times stay before 2262.
    assert!(ONE == 1 << 20 && INTERVAL_NS > 0);
};
