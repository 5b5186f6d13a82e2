//! The walks of one field over some hosts: what it takes to go on by a tick, and what shows. A cursor holds one for each field that moves.

use super::Walk;
use super::fields::{Motion, Rule};
use super::steps::{Normals, PART_BITS};
use crate::random::Stream;
use std::ops::Range;

/// Where one field's walks stand, one entry a host.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum States {
    /// In parts of one (counters, bounded walks; those that turn back on a circle of twice their range).
    Whole(Vec<i64>),
    /// Within 0 to the top, or on a circle of twice that.
    Float(Vec<f64>),
}

/// A field that moves, with what it takes to go on.
#[derive(Debug, Clone)]
pub(super) struct Mover {
    pub(super) field: usize,
    pub(super) rule: Rule,
    pub(super) streams: Vec<Stream>,
    /// Of floats, the top of each host's range; their steps have this part of it as standard deviation.
    pub(super) tops: Vec<f64>,
    pub(super) step: f64,
}

/// What holds a float's walk: 0 and the top.
#[derive(Debug, Clone, Copy)]
pub(super) struct FloatBounds {
    walk: Walk,
    top: f64,
    sigma: f64,
}

impl FloatBounds {
    /// The state after a step.
    #[inline]
    pub(super) fn advance(self, state: f64, normal: f64) -> f64 {
        let moved = state + normal * self.sigma;
        match self.walk {
            Walk::Clamped => moved.max(0.0).min(self.top),
            Walk::Reflected => {
                let circle = 2.0 * self.top;
                let moved = if moved < 0.0 { moved + circle } else { moved };
                if moved >= circle { moved - circle } else { moved }
            }
        }
    }

    /// What a state shows.
    #[inline]
    pub(super) fn shown(self, state: f64) -> f64 {
        if state > self.top { 2.0 * self.top - state } else { state }
    }
}

impl Mover {
    /// Where the walks begin.
    pub(super) fn start(&self) -> States {
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

    /// What holds the walk of the host at this place.
    pub(super) const fn bounds(&self, walk: Walk, place: usize) -> FloatBounds {
        let top = self.tops.as_slice()[place];
        FloatBounds { walk, top, sigma: top * self.step }
    }
}

/// Where values of a field go, one a host and tick: nowhere, or into a column of whole numbers or of floats.
pub(super) enum Sink<'a> {
    Nowhere,
    Whole(&'a mut [i64]),
    Float(&'a mut [f64]),
}

impl Mover {
    /// Goes on by some ticks.
    pub(super) fn go(&self, walk: Walk, first: u64, ticks: u64, states: &mut States, sink: Sink<'_>) {
        match (self.rule, states, sink) {
            (Rule::Whole(motion), States::Whole(states), sink) => {
                let out = match sink {
                    Sink::Whole(out) => Some(out),
                    _ => None,
                };
                self.go_whole(motion, walk, first..first + ticks, states, out);
            }
            (_, States::Float(states), sink) => self.go_float(walk, first..first + ticks, states, sink),
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
        for (tick, row) in ticks.zip(out.chunks_exact_mut(states.len())) {
            for ((state, stream), out) in states.iter_mut().zip(&self.streams).zip(row) {
                *out = shown(*state) >> PART_BITS;
                step(state, stream, tick);
            }
        }
    }

    fn go_float(&self, walk: Walk, ticks: Range<u64>, states: &mut [f64], sink: Sink<'_>) {
        match sink {
            Sink::Nowhere => self.float_loop(walk, ticks, states, |_, _| {}),
            Sink::Float(out) => self.float_loop(walk, ticks, states, |row, shown| out[row] = shown),
            Sink::Whole(out) => {
                self.float_loop(walk, ticks, states, |row, shown| out[row] = whole_bytes(shown));
            }
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
                let bounds = FloatBounds { walk, top, sigma: top * self.step };
                emit(row, bounds.shown(*state));
                row += 1;
                *state = bounds.advance(*state, normals.float(stream.word(tick + 1)));
            }
        }
    }
}

#[expect(clippy::cast_possible_truncation, reason = "at most 2^34 bytes of memory")]
#[inline]
const fn whole_bytes(bytes: f64) -> i64 {
    bytes as i64
}
