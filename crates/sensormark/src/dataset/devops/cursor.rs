//! Reading the walks in the order of time: a cursor over one measurement of some hosts, and a track along one float's walk of one host.
//!
//! A cursor stands before a tick and holds what every walk shows at it; going on takes one random word a walk. Nothing is computed twice, nothing grows.

use super::fields::{DISK_BYTES, INODE_BYTES, MEASUREMENTS, Motion, Rule};
use super::steps::{Normals, ONE, PART_BITS};
use super::{Devops, INTERVAL_NS, Walk, fields, time_ns};
use crate::dataset::random::Stream;
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

/// Where one field's walks stand, one entry a host.
#[derive(Debug, Clone, PartialEq)]
enum States {
    /// In parts of one (counters, bounded walks; those that turn back on a circle of twice their range).
    Whole(Vec<i64>),
    /// Within 0 to the top, or on a circle of twice that.
    Float(Vec<f64>),
}

/// A field that moves, with what it takes to go on.
#[derive(Debug, Clone)]
struct Mover {
    field: usize,
    rule: Rule,
    streams: Vec<Stream>,
    /// Of floats, the top of each host's range; their steps have this part of it as standard deviation.
    tops: Vec<f64>,
    step: f64,
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

#[derive(Debug, Clone, Copy)]
struct FloatBounds {
    walk: Walk,
    top: f64,
    sigma: f64,
}

impl FloatBounds {
    /// The state after a step.
    #[inline]
    fn advance(self, state: f64, normal: f64) -> f64 {
        let moved = state + normal * self.sigma;
        match self.walk {
            Walk::Clamped => moved.max(0.0).min(self.top),
            Walk::Reflected => {
                let circle = 2.0 * self.top;
                let moved = if moved < 0.0 { moved + circle } else { moved };
                if moved >= circle {
                    moved - circle
                } else {
                    moved
                }
            }
        }
    }

    /// What a state shows.
    #[inline]
    fn shown(self, state: f64) -> f64 {
        if state > self.top {
            2.0 * self.top - state
        } else {
            state
        }
    }
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
        let position = Position {
            tick: 0,
            states: movers.iter().map(Mover::start).collect(),
        };
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
        Mover {
            field,
            rule,
            streams: hosts.map(stream).collect(),
            tops,
            step,
        }
    }
}

impl Mover {
    fn start(&self) -> States {
        match self.rule {
            Rule::Whole(motion) => {
                let start = match motion {
                    Motion::Counter { .. } => 0,
                    Motion::Bounded { start, .. } => start << PART_BITS,
                };
                States::Whole(vec![start; self.streams.len()])
            }
            _ => {
                let hosts = self.streams.iter().zip(&self.tops);
                States::Float(hosts.map(|(stream, top)| stream.unit(0) * top).collect())
            }
        }
    }

    const fn bounds(&self, walk: Walk, place: usize) -> FloatBounds {
        let top = self.tops.as_slice()[place];
        FloatBounds {
            walk,
            top,
            sigma: top * self.step,
        }
    }
}

/// Where values of a field go: nowhere, or one a host and tick into a column.
enum Sink<'a> {
    Nowhere,
    Whole(&'a mut [i64]),
    Float(&'a mut [f64]),
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
        for tick in first..first + ticks {
            batch.series.extend(self.hosts.clone());
            let time = time_ns(tick);
            batch.times_ns.resize(batch.series.len(), time);
        }
        let end = batch.series.len();
        for column in &mut batch.columns {
            match &mut column.values {
                Values::I64(values) => values.resize(end, 0),
                Values::F64(values) => values.resize(end, 0.0),
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
        let mut column =
            std::mem::replace(&mut batch.columns[field].values, Values::I64(Vec::new()));
        match &mut column {
            Values::I64(values) => self.follow_whole(rule, batch, begin, &mut values[begin..]),
            Values::F64(values) => self.follow_float(rule, batch, begin, &mut values[begin..]),
            _ => {}
        }
        batch.columns[field].values = column;
    }

    fn follow_whole(&self, rule: Rule, batch: &Batch, begin: usize, out: &mut [i64]) {
        let of = |name: &str| self.whole(batch, name, begin);
        let from = |source: &[i64], out: &mut [i64], show: &dyn Fn(i64) -> i64| {
            let both = out.iter_mut().zip(source);
            both.for_each(|(out, source)| *out = show(*source));
        };
        match rule {
            Rule::DiskTotal => out.fill(DISK_BYTES),
            Rule::InodesTotal => out.fill(DISK_BYTES / INODE_BYTES),
            Rule::DiskUsed => from(of("free"), out, &|free| DISK_BYTES - free),
            Rule::DiskUsedPercent => from(of("free"), out, &|free| {
                ((DISK_BYTES - free) * 100) / DISK_BYTES
            }),
            Rule::InodesFree => from(of("free"), out, &|free| free / INODE_BYTES),
            Rule::InodesUsed => from(of("free"), out, &|free| {
                DISK_BYTES / INODE_BYTES - free / INODE_BYTES
            }),
            Rule::Uptime => from(&batch.times_ns[begin..], out, &|time| {
                (time - super::START_NS) / 1_000_000_000
            }),
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

    fn follow_float(&self, rule: Rule, batch: &Batch, begin: usize, out: &mut [f64]) {
        let part = match rule {
            Rule::BufferedPercent => self.whole(batch, "buffered", begin),
            _ => self.whole(batch, "used", begin),
        };
        let hundredth = |place: usize| 100.0 / self.constants[place].1 as f64;
        let hosts = self.constants.len();
        let hundredths: Vec<f64> = (0..hosts).map(hundredth).collect();
        let is_rest = rule == Rule::AvailablePercent;
        for (out, part) in out.chunks_exact_mut(hosts).zip(part.chunks_exact(hosts)) {
            for (place, (out, part)) in out.iter_mut().zip(part).enumerate() {
                let bytes = if is_rest {
                    self.constants[place].1 - part
                } else {
                    *part
                };
                *out = bytes as f64 * hundredths[place];
            }
        }
    }

    /// Gives each value of a column by its host's place and its row.
    fn each(&self, out: &mut [i64], value: impl Fn(usize, usize) -> i64) {
        let hosts = self.constants.len();
        for (tick, out) in out.chunks_exact_mut(hosts).enumerate() {
            for (place, out) in out.iter_mut().enumerate() {
                *out = value(place, tick * hosts + place);
            }
        }
    }

    /// A column of whole numbers that is filled already.
    fn whole<'b>(&self, batch: &'b Batch, name: &str, begin: usize) -> &'b [i64] {
        let fields = MEASUREMENTS[self.measurement].fields;
        let field = fields.iter().position(|(known, _)| *known == name);
        match field.map(|field| &batch.columns[field].values) {
            Some(Values::I64(values)) => &values[begin..],
            _ => unreachable!("fields follow others of their measurement"),
        }
    }
}

impl Mover {
    /// Goes on by some ticks.
    fn go(&self, walk: Walk, first: u64, ticks: u64, states: &mut States, sink: Sink<'_>) {
        match (self.rule, states, sink) {
            (Rule::Whole(motion), States::Whole(states), sink) => {
                let out = match sink {
                    Sink::Whole(out) => Some(out),
                    _ => None,
                };
                self.go_whole(motion, walk, first..first + ticks, states, out);
            }
            (_, States::Float(states), sink) => {
                self.go_float(walk, first..first + ticks, states, sink)
            }
            _ => unreachable!("floats and whole numbers keep apart"),
        }
    }

    fn go_whole(
        &self,
        motion: Motion,
        walk: Walk,
        ticks: Range<u64>,
        states: &mut [i64],
        out: Option<&mut [i64]>,
    ) {
        match (motion, walk) {
            (Motion::Counter { mean }, _) => {
                let mean = mean << PART_BITS;
                let advance = |state: i64, normal: i64| state + (mean + normal).abs();
                self.whole_loop(ticks, states, out, advance, |state| state);
            }
            (Motion::Bounded { mean, top, .. }, Walk::Clamped) => {
                let (mean, top) = (mean << PART_BITS, top << PART_BITS);
                let advance = |state: i64, normal: i64| (state + mean + normal).clamp(0, top);
                self.whole_loop(ticks, states, out, advance, |state| state);
            }
            (Motion::Bounded { mean, top, .. }, Walk::Reflected) => {
                let (mean, top) = (mean << PART_BITS, top << PART_BITS);
                let advance = |state: i64, normal: i64| (state + mean + normal).rem_euclid(2 * top);
                let shown = |state: i64| if state > top { 2 * top - state } else { state };
                self.whole_loop(ticks, states, out, advance, shown);
            }
        }
    }

    #[inline]
    fn whole_loop(
        &self,
        ticks: Range<u64>,
        states: &mut [i64],
        out: Option<&mut [i64]>,
        advance: impl Fn(i64, i64) -> i64,
        shown: impl Fn(i64) -> i64,
    ) {
        let normals = Normals::get();
        let hosts = states.len();
        let step = |state: &mut i64, stream: &Stream, tick: u64| {
            *state = advance(*state, normals.parts(stream.word(tick + 1)));
        };
        let Some(out) = out else {
            for tick in ticks {
                let walks = states.iter_mut().zip(&self.streams);
                walks.for_each(|(state, stream)| step(state, stream, tick));
            }
            return;
        };
        for (tick, out) in ticks.zip(out.chunks_exact_mut(hosts)) {
            for ((state, stream), out) in states.iter_mut().zip(&self.streams).zip(out) {
                *out = shown(*state) >> PART_BITS;
                step(state, stream, tick);
            }
        }
    }

    fn go_float(&self, walk: Walk, ticks: Range<u64>, states: &mut [f64], sink: Sink<'_>) {
        match sink {
            Sink::Nowhere => self.float_loop(walk, ticks, states, |_, _| {}),
            Sink::Float(out) => self.float_loop(walk, ticks, states, |row, shown| out[row] = shown),
            Sink::Whole(out) => self.float_loop(walk, ticks, states, |row, shown| {
                out[row] = whole_bytes(shown);
            }),
        }
    }

    #[inline]
    fn float_loop(
        &self,
        walk: Walk,
        ticks: Range<u64>,
        states: &mut [f64],
        mut emit: impl FnMut(usize, f64),
    ) {
        let normals = Normals::get();
        let mut row = 0;
        for tick in ticks {
            let walks = states.iter_mut().zip(&self.streams).zip(&self.tops);
            for ((state, stream), &top) in walks {
                let bounds = FloatBounds {
                    walk,
                    top,
                    sigma: top * self.step,
                };
                emit(row, bounds.shown(*state));
                row += 1;
                *state = bounds.advance(*state, normals.float(stream.word(tick + 1)));
            }
        }
    }
}

#[expect(
    clippy::cast_possible_truncation,
    reason = "at most 2^34 bytes of memory"
)]
#[inline]
const fn whole_bytes(bytes: f64) -> i64 {
    bytes as i64
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
