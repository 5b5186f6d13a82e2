//! A walk: midpoint displacement (Fournier, Fussell and Carpenter, "Computer rendering of stochastic models", 1982) laid out as a sum of lattice noises.
//!
//! Its increments over 1, 2, 4, … ticks grow with the root of the time, as a random walk's do, up to the period. Beyond the period it turns back. It stays
//! within its bounds without touching them, and needs no value before it. Neighbouring ticks share most of their noises, which are kept from one to the next.

use crate::prelude::*;

/// The most powers of two of a walk: a million ticks.
const MOST_OCTAVES: u32 = 20;

/// The walk of one field of one series.
pub struct Walk {
    stream: Stream,
    weights: f64,
    octaves: Vec<Octave>,
}

/// The noises of a power of two on both sides of the tick that was asked last.
struct Octave {
    power: u32,
    /// The root of 2^power, exact as far as a double is.
    weight: f64,
    /// The multiple of the power at or before the tick; none asked yet where it is the largest number.
    place: u64,
    noise: f64,
    /// That of the next multiple, once it was needed.
    next: Option<f64>,
}

impl Walk {
    /// A walk whose longest swing takes so many ticks.
    pub fn new(stream: Stream, ticks: u64) -> Self {
        let octaves = (0..=ticks.max(1).ilog2().min(MOST_OCTAVES - 1)).map(|power| {
            let root = if power % 2 == 0 { 1.0 } else { std::f64::consts::SQRT_2 };
            let weight = (1_u64 << (power / 2)) as f64 * root;
            Octave { power, weight, place: u64::MAX, noise: 0.0, next: None }
        });
        let octaves = octaves.collect_vec();
        Self { stream, weights: octaves.iter().map(|octave| octave.weight).sum(), octaves }
    }

    /// Where the walk is at a tick, within -1 and 1.
    pub fn at(&mut self, tick: u64) -> f64 {
        let mut sum = 0.0;
        for octave in &mut self.octaves {
            let power = octave.power;
            let length = 1_u64 << power;
            let (place, within) = (tick >> power, tick & (length - 1));
            let noise = |place: u64| 2.0 * self.stream.unit(place * 32 + power as u64) - 1.0;
            if octave.place != place {
                octave.noise =
                    octave.next.filter(|_| octave.place + 1 == place).unwrap_or_else(|| noise(place));
                (octave.place, octave.next) = (place, None);
            }
            let share = within as f64 / length as f64;
            let next =
                if within == 0 { 0.0 } else { *octave.next.get_or_insert_with(|| noise(place + 1)) * share };
            sum += octave.weight * (octave.noise * (1.0 - share) + next);
        }
        sum / self.weights
    }
}
