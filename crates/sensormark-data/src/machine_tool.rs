//! The machine tool's signal: five channels of 12 bits, 1,000 samples a second.
//!
//! Source: study 000 (product.md's *machine-tool*), section II and figure 1. There is a sawtooth, which is the angle of the main drive and turns about 3 times
//! a second. There are four sine waves, and all signals have small noise. The study gives neither the noise's size nor the sines' frequencies; those here are
//! ours, stated below and pinned by golden checksums.
//!
//! | channel | signal before noise | unit |
//! | --- | --- | --- |
//! | 0 | sawtooth, 4 to 4,092 over one cycle | counts of the converter, 0 to 4,095 |
//! | 1 to 4 | sines around 2,048, amplitudes 2,000, 1,600, 1,200, 800, periods 211, 503, 1,009, 2,003 samples | counts |
//!
//! **Cycles.** Cycle k starts at k·P − jitter(k), with P = 333.333 samples and jitter uniform in 0 to 4 % of P, in 2^-16ths of a sample. Boundaries fall
//! between samples. A cycle lasts 320.0 to 346.7 samples, under 0.45 s.
//!
//! **Noise.** A fair binomial of eight coins less four: a hard bound of ±[`NOISE_BOUND`] = 4 counts, standard deviation √2. The angle climbs by more than 11.7
//! counts a sample. Even rounded down and with the worst noise it climbs by at least 3. So it rises strictly within a cycle and crosses A/8 and A/2 exactly
//! once upwards. It falls through both between two samples at the cycle's end, from above 4,067 to below 22.
//!
//! It is not a model of wear, of operating modes or of time stamps: a sample's time is the source's matter.

use crate::prelude::*;

/// Channels of the machine: the angle and four more.
pub const CHANNELS: usize = 5;
/// Samples a second.
pub const SAMPLES_PER_SECOND: u64 = 1_000;
/// From one sample to the next, in nanoseconds.
pub const SAMPLE_PERIOD_NS: u64 = 1_000_000_000 / SAMPLES_PER_SECOND;
/// The angle's amplitude A, in counts: thresholds are A/2 and A/8 of it. Also the largest value of any channel.
pub const AMPLITUDE: u16 = 4_095;
/// No value is further than this from the noiseless signal (rounded down), in counts.
pub const NOISE_BOUND: u16 = 4;
/// Indices stay below this (557 years of samples).
pub const INDEX_LIMIT: u64 = 1 << 44;

/// Boundaries of cycles are in 2^-16ths of a sample.
const BOUNDARY_BITS: u32 = 16;
/// The mean length of a cycle: 1,000 / 3 samples, rounded down to a 2^-16th.
const MEAN_CYCLE: u64 = (SAMPLES_PER_SECOND << BOUNDARY_BITS) / 3;
/// A cycle starts at most this much early: 4 % of the mean.
const GREATEST_JITTER: u64 = MEAN_CYCLE / 25;
/// The angle is reckoned in 2^-20ths of a count, so that a cycle's slope errs by less than 0.001 counts at its end.
const ANGLE_BITS: u32 = 20;
/// The noiseless angle covers this many counts, which leaves room for the noise on both sides.
const ANGLE_SPAN: u64 = AMPLITUDE as u64 + 1 - 2 * NOISE_BOUND as u64;
/// Period (samples) and amplitude (counts) of each sine.
const SINES: [(u64, f64); CHANNELS - 1] = [(211, 2_000.0), (503, 1_600.0), (1_009, 1_200.0), (2_003, 800.0)];
/// The signal of one machine under one seed; sample i is a pure function of (seed, i).
#[derive(Debug, Clone)]
pub struct MachineTool {
    noise: [Stream; CHANNELS],
    jitter: Stream,
    /// One period of each sine without its noise's mean, starting at the phase of sample 0.
    sines: [Box<[u16]>; CHANNELS - 1],
}

impl MachineTool {
    /// The machine under a seed.
    pub fn new(seed: u64) -> Self {
        let stream = |field| Stream::new(seed, 0, field);
        let phases = stream(6);
        let mut channel = 0;
        Self {
            noise: [0, 1, 2, 3, 4].map(stream),
            jitter: stream(5),
            sines: SINES.map(|(period, amplitude)| {
                channel += 1;
                sine(period, amplitude, phases.below(channel, period))
            }),
        }
    }

    /// All channels at sample `index`, in counts.
    ///
    /// # Panics
    ///
    /// When `index` is [`INDEX_LIMIT`] or more.
    pub fn sample(&self, index: u64) -> [u16; CHANNELS] {
        std::array::from_fn(|channel| {
            let mut value = [0];
            self.fill(index, channel, &mut value);
            value[0]
        })
    }

    /// Fills one column with one channel's samples from `start` on.
    ///
    /// # Panics
    ///
    /// When there is no such channel, or an index would be [`INDEX_LIMIT`] or more.
    pub fn fill(&self, start: u64, channel: usize, column: &mut [u16]) {
        match channel.checked_sub(1) {
            None => self.fill_angle(start, column),
            Some(sine) => fill_sine(&self.sines[sine], start, column),
        }
        add_noise(self.noise[channel], start, column);
    }

    /// Samples 0 to `samples` in the workload's table as a data set that can be exported. The first is at `start_ns` (ns since the Unix epoch), the next ones
    /// are so far apart. The caller has checked that their times end before 2262. (In a run the writer stamps samples as they come; a file has no such clock.)
    ///
    /// # Panics
    /// When there are more samples than the signal has.
    pub fn data_set(self, schema: Schema, start_ns: i64, period_ns: u64, samples: u64) -> DataSet {
        assert!(samples <= INDEX_LIMIT, "the signal has 2^44 samples");
        DataSet::new(schema, move |shard, sink| {
            sink.put_all(0, if shard.series(1).is_empty() { 0 } else { samples }, BATCH, |indices, batch| {
                batch
                    .times_ns
                    .extend(indices.clone().map(|index| start_ns.wrapping_add_unsigned(index * period_ns)));
                batch.series.resize(batch.times_ns.len(), 0);
                for (channel, column) in batch.columns.iter_mut().enumerate() {
                    if let Values::U16(values) = &mut column.values {
                        values.resize(batch.times_ns.len(), 0);
                        self.fill(indices.start, channel, values);
                    }
                }
            })
        })
    }

    /// The number of the cycle that sample `index` lies in.
    ///
    /// # Panics
    ///
    /// When `index` is [`INDEX_LIMIT`] or more.
    pub fn cycle_at(&self, index: u64) -> u64 {
        assert!(index < INDEX_LIMIT, "sample {index} is beyond the signal's limit");
        let position = (index << BOUNDARY_BITS).cast_signed();
        // Boundaries are early, never late, and by less than a cycle: it is this cycle or the next.
        let cycle = (index << BOUNDARY_BITS) / MEAN_CYCLE;
        cycle + (self.boundary(cycle + 1) <= position) as u64
    }

    /// The samples of a cycle: from its true start, a minimum of the angle, to before the next one's.
    ///
    /// Cycle 0 began before sample 0 unless its jitter is zero; only what was sampled of it is given.
    pub fn cycle(&self, cycle: u64) -> Range<u64> {
        self.first_sample(cycle)..self.first_sample(cycle + 1)
    }

    /// Where a cycle starts, in 2^-16ths of a sample; never later than cycle · P.
    fn boundary(&self, cycle: u64) -> i64 {
        (cycle * MEAN_CYCLE).cast_signed() - self.jitter.below(cycle, GREATEST_JITTER + 1).cast_signed()
    }

    fn first_sample(&self, cycle: u64) -> u64 {
        self.boundary(cycle).max(0).cast_unsigned().div_ceil(1 << BOUNDARY_BITS)
    }

    fn fill_angle(&self, start: u64, mut column: &mut [u16]) {
        // 4,088 counts in 2^-20ths are below 2^32, and so is the slope.
        let low_word = |value: u64| u32::try_from(value).unwrap_or(u32::MAX);
        let mut index = start;
        while !column.is_empty() {
            // The only division of the signal, once a cycle.
            let cycle = self.cycle_at(index);
            let (begin, end) = (self.boundary(cycle), self.boundary(cycle + 1));
            let slope = (ANGLE_SPAN << (ANGLE_BITS + BOUNDARY_BITS)) / begin.abs_diff(end);
            let elapsed = (index << BOUNDARY_BITS).cast_signed().abs_diff(begin);
            let (mut angle, slope) = (low_word((slope * elapsed) >> BOUNDARY_BITS), low_word(slope));
            let left = usize::try_from(self.first_sample(cycle + 1) - index).unwrap_or(usize::MAX);
            let (part, rest) = column.split_at_mut(left.min(column.len()));
            for value in &mut *part {
                *value = (angle >> ANGLE_BITS) as u16; // 12 bits
                // One step past the cycle's end may overflow; that value is never used.
                angle = angle.wrapping_add(slope);
            }
            index += part.len() as u64;
            column = rest;
        }
    }
}

fn sine(period: u64, amplitude: f64, phase: u64) -> Box<[u16]> {
    (0..period)
        .map(|step| {
            let turns = ((step + phase) % period) as f64 / period as f64;
            u16::try_from(whole(
                (2_048.0 - NOISE_BOUND as f64 + amplitude * sine_of_turns(turns) + 0.5).floor(),
            ))
            .expect("sines lie between 44 and 4,044 counts")
        })
        .collect()
}

fn fill_sine(period: &[u16], start: u64, mut column: &mut [u16]) {
    let mut offset = usize::try_from(start % period.len() as u64).unwrap_or(0);
    while !column.is_empty() {
        let (part, rest) = column.split_at_mut((period.len() - offset).min(column.len()));
        part.copy_from_slice(&period[offset..][..part.len()]);
        offset = 0;
        column = rest;
    }
}

/// Adds noise from 0 to 2 · [`NOISE_BOUND`]: of sample i the ones of byte i % 8 of word i / 8.
fn add_noise(stream: Stream, start: u64, column: &mut [u16]) {
    let mut coins = stream.word(start / 8).to_le_bytes();
    for (index, value) in (start..).zip(column) {
        let lane = (index % 8) as usize;
        if lane == 0 {
            coins = stream.word(index / 8).to_le_bytes();
        }
        *value += u16::try_from(coins[lane].count_ones()).unwrap_or(0);
    }
}

/// One table, no tags, five channels of 16 bits, times as finely as the layout keeps them.
pub fn schema(time_resolution: TimeResolution) -> Schema {
    let fields = (0..CHANNELS).map(|channel| field(format!("m{channel}"), U16));
    Schema {
        tables: vec![table(
            "measurement",
            &[],
            fields,
            time_resolution,
            Series::single().every(SAMPLE_PERIOD_NS.cast_signed()),
        )],
    }
}

#[cfg(test)]
mod tests;
