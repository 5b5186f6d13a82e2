//! The walks of one field over some hosts: what it takes to go on by a tick, and what shows. A cursor holds one for each field that moves.

use super::*;

/// A field that moves, with what it takes to go on.
#[derive(Debug)]
pub struct Mover {
    pub field: usize,
    rule: Rule,
    walk: Walk,
    pub streams: Vec<Stream>,
    /// Of floats, one a host.
    pub bounds: Vec<FloatBounds>,
}

/// What holds a float's walk: 0 and the top.
#[derive(Debug, Clone, Copy)]
pub struct FloatBounds {
    walk: Walk,
    top: f64,
    sigma: f64,
}

impl FloatBounds {
    /// The state after a step.
    #[inline]
    pub fn advance(self, state: f64, normal: f64) -> f64 {
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
    pub fn shown(self, state: f64) -> f64 {
        if state > self.top { 2.0 * self.top - state } else { state }
    }
}

impl Mover {
    /// A field of a measurement that moves by this rule.
    pub fn new(data: &Devops, measurement: usize, field: usize, rule: Rule, hosts: Range<u32>) -> Self {
        let stream = |host| Stream::new(data.seed, host as u64, number(measurement, field));
        let bounds = |host| {
            let (top, step) = match rule {
                Memory => (data.memory_bytes(host) as f64, 1.0 / 64.0),
                _ => (100.0, 0.01),
            };
            FloatBounds { walk: data.walk, top, sigma: top * step }
        };
        let streams = hosts.clone().map(stream).collect();
        Self { field, rule, walk: data.walk, streams, bounds: hosts.map(bounds).collect() }
    }

    /// Where the walks begin, one entry a host. Counters and bounded walks of whole numbers are in parts of one; those that turn back go round a circle of twice
    /// their range. Floats are within 0 to the top, or on a circle of twice that.
    pub fn start(&self) -> Values {
        if let Whole { start, .. } = self.rule {
            return Values::I64(vec![start << PART_BITS; self.streams.len()]);
        }
        let starts = self.streams.iter().zip(&self.bounds);
        Values::F64(starts.map(|(stream, bounds)| stream.unit(0) * bounds.top).collect())
    }

    /// Goes on by some turns. The values go into a column from a row on, until it ends.
    pub fn go(&self, turns: Range<u64>, states: &mut Values, to: &mut Values, row: usize) {
        let normals = &*NORMALS;
        let shown = |state, place: usize| self.bounds[place].shown(state);
        let step = |state, place: usize, word| self.bounds[place].advance(state, normals.float(word));
        match (self.rule, states, to) {
            (Whole { mean, top, .. }, Values::I64(states), Values::I64(to)) => {
                let bound = top.unwrap_or(i64::MAX >> (PART_BITS + 2)) << PART_BITS; // out of reach without a top
                let step = |state: i64, _, word| {
                    let step = (mean << PART_BITS) + normals.parts(word);
                    match (top, self.walk) {
                        (None, _) => state + step.abs(),
                        (_, Walk::Clamped) => (state + step).clamp(0, bound),
                        (_, Walk::Reflected) => (state + step).rem_euclid(2 * bound),
                    }
                };
                let shown = |state, _| (if state > bound { 2 * bound - state } else { state }) >> PART_BITS;
                self.each(turns, states, &mut to[row..], shown, step);
            }
            (_, Values::F64(states), Values::F64(to)) => {
                self.each(turns, states, &mut to[row..], shown, step);
            }
            (_, Values::F64(states), Values::I64(to)) => {
                self.each(turns, states, &mut to[row..], |state, place| whole(shown(state, place)), step);
            }
            _ => unreachable!("walks of whole numbers have columns of such"),
        }
    }

    /// Goes on by some turns: what each state shows goes out, unless that is empty, and then the state takes its step.
    fn each<S: Copy, V>(
        &self,
        turns: Range<u64>,
        states: &mut [S],
        out: &mut [V],
        shown: impl Fn(S, usize) -> V,
        step: impl Fn(S, usize, u64) -> S,
    ) {
        let mut out = out.iter_mut();
        for (tick, places) in ticks(turns, states.len() as u64) {
            let walks = states[places.clone()].iter_mut().zip(&self.streams[places.clone()]);
            for (after, (state, stream)) in walks.enumerate() {
                let place = places.start + after;
                if let Some(out) = out.next() {
                    *out = shown(*state, place);
                }
                *state = step(*state, place, stream.word(tick + 1));
            }
        }
    }
}
