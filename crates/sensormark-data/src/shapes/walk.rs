//! A walk: midpoint displacement (Fournier, Fussell and Carpenter, "Computer rendering of stochastic models", 1982) laid out as a sum of lattice noises.
//!
//! Its increments over 1, 2, 4, … ticks grow with the root of the time, as a random walk's do, up to the period. Beyond the period it turns back. It stays
//! within its bounds without touching them, and needs no value before it. Neighbouring ticks share most of their noises, which are kept from one to the next.

use crate::prelude::*;

/// The most powers of two of a walk: a million ticks.
const MOST_OCTAVES: usize = 20;

/// The roots of 1, 2, 4, …, exact as far as a double is: every second one is twice the one before the last.
const WEIGHTS: [f64; MOST_OCTAVES] = {
    let mut weights = [1.0; MOST_OCTAVES];
    weights[1] = std::f64::consts::SQRT_2;
    let mut octave = 2;
    while octave < weights.len() {
        weights[octave] = 2.0 * weights[octave - 2];
        octave += 1;
    }
    weights
};

/// The walk of one field of one series.
pub struct Walk {
    stream: Stream,
    weights: f64,
    octaves: Vec<Octave>,
}

/// The noises of a power of two on both sides of the tick that was asked last.
#[derive(Clone)]
struct Octave {
    /// The multiple of the power at or before the tick; none asked yet where it is the largest number.
    place: u64,
    noise: f64,
    /// That of the next multiple, once it was needed.
    next: Option<f64>,
}

impl Walk {
    /// A walk whose longest swing takes so many ticks.
    pub fn new(stream: Stream, ticks: u64) -> Self {
        let octaves = (ticks.max(1).ilog2() as usize + 1).min(MOST_OCTAVES);
        Self {
            stream,
            weights: WEIGHTS[..octaves].iter().fold(0.0, |sum, weight| sum + weight),
            octaves: vec![Octave { place: u64::MAX, noise: 0.0, next: None }; octaves],
        }
    }

    /// Where the walk is at a tick, within -1 and 1.
    pub fn at(&mut self, tick: u64) -> f64 {
        let mut sum = 0.0;
        for (power, (octave, weight)) in (0_u32..).zip(self.octaves.iter_mut().zip(WEIGHTS)) {
            let length = 1_u64 << power;
            let (place, within) = (tick >> power, tick & (length - 1));
            let noise = |place: u64| 2.0 * self.stream.unit(place * 32 + power as u64) - 1.0;
            if octave.place != place {
                let noise = octave.next.filter(|_| octave.place + 1 == place).unwrap_or_else(|| noise(place));
                *octave = Octave { place, noise, next: None };
            }
            let share = within as f64 / length as f64;
            let next =
                if within == 0 { 0.0 } else { *octave.next.get_or_insert_with(|| noise(place + 1)) * share };
            sum += weight * (octave.noise * (1.0 - share) + next);
        }
        sum / self.weights
    }
}
